"""A claim as a semidefinite program at drawn values of its numbers.

Every relation is linear in inner products, values, means and members of sequences. A goal holds if its slack is a sum
of non-negative multiples of what is known, and of a form with positive semidefinite matrices: one for all vectors, and
one for the distances v_i - mean v of what stands under a mean, or under means of means. Floating-point answers only say
where to look.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine.algebra import residual
from cflag_theory.claims.engine.operators import Atom, Index, Operator, Total
from cflag_theory.claims.engine.relation import Relation, at_most, below
from cflag_theory.claims.engine.terms import Dot, dot, is_vector, parts

#: Larger matrices and longer lists of relations are not put into one program.
_MOST_VECTORS, _MOST_RELATIONS = 16, 150
#: Values that are drawn.
_DRAWS = 30000

Array = Any
Linear = dict[sp.Expr, sp.Expr]
Vectors = Mapping[sp.Expr, sp.Expr]
#: Operators, the outermost first.
Nest = tuple[Operator, ...]
#: What a relation is linear in.
_UNKNOWN = (*Atom, AppliedUndef)


def _added(pairs: Iterable[tuple[sp.Expr, sp.Expr]]) -> Linear:
    found: Linear = {}
    for key, value in pairs:
        found[key] = found.get(key, sp.S.Zero) + value
    divided = {key for key, value in found.items() if any(p.exp.is_negative for p in value.atoms(sp.Pow))}
    tidy = ((key, (sp.cancel if key in divided else sp.expand)(value)) for key, value in found.items())
    return {key: value for key, value in tidy if value != 0}


def linear(expr: sp.Expr, moved: Vectors, apart: bool = True) -> Linear:
    """Coefficients by inner products, values and means, that of 1 being free of them; `moved` vectors are replaced.

    If `apart`, the mean of <v, w> stands for that of <v - mean v, w - mean w>.
    """
    return dict(_linear(expr, tuple(moved.items()), apart))


@lru_cache(maxsize=1 << 12)
def _linear(expr: sp.Expr, moved_ones: tuple[tuple[sp.Expr, sp.Expr], ...], apart: bool) -> Linear:
    # Facts come again with every goal that is asked.
    found, moved = list[tuple[sp.Expr, sp.Expr]](), dict(moved_ones)
    for term in sp.Add.make_args(sp.expand(expr)):
        factors = sp.Mul.make_args(term)
        key = sp.Mul(*(one for one in factors if one.atoms(*_UNKNOWN)))
        rest = sp.Mul(*(one for one in factors if not one.atoms(*_UNKNOWN)))
        found += [(inner, rest * times) for inner, times in _of_key(key, moved, apart).items()]
    return _added(found)


def _of_key(key: sp.Expr, moved: Vectors, apart: bool) -> Linear:
    nest, inner = opened(key)
    dots = [one for one in sp.Mul.make_args(inner) if isinstance(one, Dot)]
    if len(dots) != 1:
        return {key: sp.S.One}
    u, v = dots[0].args
    if u in moved or v in moved:
        changed = dot(replaced(u, moved), replaced(v, moved)) * inner / dots[0]
        return linear(under(nest, changed), moved, apart)
    if inner != dots[0]:
        return {key: sp.S.One}
    if not nest or not apart:
        return {key: sp.S.One}
    *outer, last = nest
    means = linear(under(outer, dot(last(u), last(v)) / last.total), moved)
    return _added([(key, sp.S.One), *means.items()])


def opened(key: sp.Expr) -> tuple[Nest, sp.Expr]:
    """The operators that a term stands under, and the term."""
    nest: Nest = ()
    while isinstance(key, Total):
        nest, key = (*nest, key.operator), key.body
    return nest, key


def under(nest: Iterable[Operator], expr: sp.Expr) -> sp.Expr:
    """An expression under operators, the outermost of which comes first."""
    for operator in reversed([*nest]):
        expr = operator(expr)
    return expr


def replaced(v: sp.Expr, moved: Vectors) -> sp.Expr:
    """A vector with basis vectors replaced; the points of functions stay."""
    return sp.Add(*(c * moved.get(basis, basis) for basis, c in parts(v).items()))


def _solved(known: Iterable[Relation], operators: Collection[Operator]) -> dict[sp.Expr, sp.Expr]:
    """Basis vectors that equations between vectors express by others, gradients and plain coefficients first."""
    moved: dict[sp.Expr, sp.Expr] = {}
    for one in known:
        if one.op != "==" or not (is_vector(one.left) or is_vector(one.right)):
            continue
        apart = [one.right - one.left]
        apart += [over(apart[0]) for over in operators if over.index in apart[0].free_symbols]
        for difference in apart:
            of = parts(replaced(difference, moved))
            order = sorted(of, key=lambda b: (not of[b].is_Rational, "grad" not in str(b), str(b)))
            lead = next((b for b in order if of[b].is_Rational or of[b].is_positive or (-of[b]).is_positive), None)
            if lead is not None:
                value = sp.Add(*(-c / of[lead] * v for v, c in of.items() if v != lead))
                moved = {old: replaced(new, {lead: value}) for old, new in moved.items()} | {lead: value}
    return moved


class Equal(NamedTuple):
    """A number by the others, what an equation between numbers was then, and that by residuals of equations."""

    number: sp.Symbol
    value: sp.Expr
    slack: sp.Expr
    mark: sp.Expr


def reduced(coefficient: sp.Expr, equal: Sequence[Equal]) -> tuple[sp.Expr, sp.Expr]:
    """A coefficient without the numbers that equations give, and what it was more, by residuals."""
    total = sp.S.Zero
    for number, value, slack, mark in equal:
        before, coefficient = coefficient, coefficient.xreplace({number: value})
        if before != coefficient:
            total += sp.cancel((before - coefficient) / slack) * mark
    return coefficient, total


def _equal(numbers: Mapping[str, Relation]) -> dict[str, Equal]:
    """Numbers that equations express by others, by the names of these."""
    found: dict[str, Equal] = {}
    for name, one in numbers.items():
        slack, more = reduced(one.slack, [*found.values()]) if one.op == "==" else (sp.S.Zero, sp.S.Zero)
        for s in sorted(slack.free_symbols, key=str):
            by = slack.diff(s)
            signed = by.is_Rational or by.is_positive or (-by).is_positive
            if signed and not s.is_integer and s not in by.free_symbols:
                found[name] = Equal(s, sp.expand(s - slack / by), slack, -residual(name) - more)
                break
    return found


class Form:
    """A goal and what is known as linear forms, and the vectors whose squares may be added, by operator."""

    def __init__(self, goal: Relation, known: Mapping[str, Relation]) -> None:
        operators = {u for one in (goal, *known.values()) for u in one.slack.atoms(Operator)}
        self.moved = _solved(known.values(), sorted(operators, key=str))
        plain = {n: one for n, one in known.items() if not (is_vector(one.left) or is_vector(one.right))}
        numbers = {n: one for n, one in plain.items() if not one.slack.atoms(*_UNKNOWN, Index)}
        given = _equal(numbers)
        self.equal = [*given.values()]
        self.numbers = {n: one.map(self._reduced) for n, one in numbers.items() if n not in given}
        #: What the sorts of numbers say that equations give.
        self.sorts = {f"value of {s}": s for s, *_ in self.equal if s.is_nonnegative}
        self.numbers |= {
            name: (below if s.is_positive else at_most)(0, self._reduced(s)) for name, s in self.sorts.items()
        }
        self.goal = self.linear(goal.slack)
        #: The goal's coefficients as they are written: multipliers are often made of their factors.
        self.written = [
            c
            for side in (goal.slack, goal.left, goal.right)
            for c in self.linear(side, {}, apart=False).values()
            if c.free_symbols <= _symbols(self.goal)
        ]
        # What holds for each i matters under the means over i, unless the goal speaks of one i or there is no mean.
        averaged = {u.index for u in operators} - _indices(goal)
        rows = {n: self.linear(one.slack) for n, one in plain.items() if not _indices(one) & averaged}
        # The same twice, once vectors are replaced, makes programs hard to solve.
        first: dict[Any, str] = {}
        for n, row in rows.items():
            first.setdefault((plain[n].op, frozenset(row.items())), n)
        self.rows = {n: rows[n] for n in first.values() if rows[n] and n not in numbers}
        self.equations = {n for n in self.rows if plain[n].op == "=="}
        self.vectors: dict[Nest, list[sp.Expr]] = {(): []}
        self.opaque: list[sp.Expr] = []
        for key in sorted({k for one in self.every for k in one}, key=sp.default_sort_key):
            nest, pair = opened(key)
            if isinstance(pair, Dot):
                of = self.vectors.setdefault(nest, [])
                of += [v for v in dict.fromkeys(pair.args) if v not in of]
            elif key != 1:
                self.opaque.append(key)
        self._join()
        self.signs = {f"sign of {key}": key for key in self.opaque if key.is_nonnegative}
        self.rows |= {name: {key: sp.S.One} for name, key in self.signs.items()}
        slacks = (one.slack for one in self.numbers.values())
        self.coefficients = [*(c for one in self.every for c in one.values()), *slacks]
        self.symbols = sorted(set().union(*(c.free_symbols for c in self.coefficients)), key=str)

    def _reduced(self, coefficient: sp.Expr) -> sp.Expr:
        return reduced(coefficient, self.equal)[0]

    def linear(self, expr: sp.Expr, moved: Vectors | None = None, apart: bool = True) -> Linear:
        """As `linear`, without the vectors and numbers that equations give."""
        found = linear(expr, self.moved if moved is None else moved, apart)
        return _added((key, self._reduced(c)) for key, c in found.items()) if self.equal else found

    @property
    def every(self) -> list[Linear]:
        return [self.goal, *self.rows.values()]

    @cached_property
    def layout(self) -> tuple[list[sp.Expr], dict[sp.Expr, float], list[int], list[int], list[float]]:
        """Products of vectors, in the order of the matrices; what the coefficient of each key is multiplied by; and of
        every coefficient its place, its column, and that factor.
        """
        pairs = [(of, u, v) for of, one in self.vectors.items() for b, v in enumerate(one) for u in one[: b + 1]]
        parts_of = {key: float(part) ** 0.5 for key, part in (self.entry(*pair) for pair in pairs)}
        sizes = dict.fromkeys((*self.opaque, sp.S.One), 1.0) | parts_of
        place = {key: n for n, key in enumerate(sizes)}
        keys = [(column, key) for column, one in enumerate(self.every) for key in one]
        return (
            list(parts_of),
            sizes,
            [place[key] for _, key in keys],
            [column for column, _ in keys],
            [sizes[key] for _, key in keys],
        )

    def numbers_at(self, row: Iterable[Any]) -> dict[sp.Symbol, Any]:
        """The numbers where those that no equation gives are a row."""
        at = dict(zip(self.symbols, row, strict=True))
        for s, value, *_ in reversed(self.equal):
            at[s] = value.xreplace(at)
        return at

    def vectors_of(self, name: str | None) -> set[sp.Expr]:
        """Vectors in a relation's inner products, or, without a name, in the goal's."""
        row = self.goal if name is None else self.rows[name]
        pairs = (key.body if isinstance(key, Total) else key for key in row)
        return {v for pair in pairs if isinstance(pair, Dot) for v in pair.args}

    @property
    def fits(self) -> bool:
        """Whether it is small enough, with quotients of polynomials as coefficients, no product in two matrices."""
        sizes = [len(vectors) for vectors in self.vectors.values()]
        small = len(self.rows) <= _MOST_RELATIONS and max(sizes) <= _MOST_VECTORS
        rational = small and all(c.is_rational_function(*c.free_symbols) for c in self.coefficients)
        return rational and len(self.layout[0]) == sum(n * (n + 1) // 2 for n in sizes)

    @property
    def whole(self) -> bool:
        """Whether the programs see all that is known: they take products of unknowns as they are."""
        return all(isinstance(key, _UNKNOWN) for key in self.opaque)

    def entry(self, nest: Nest, u: sp.Expr, v: sp.Expr) -> tuple[sp.Expr, sp.Rational]:
        """The key of an entry of a matrix, and what part of its coefficient stands there."""
        return under(nest, Dot(u, v)), sp.Rational(1, 1 if u == v else 2)

    def _join(self) -> None:
        """Put the vectors of a mean among those of a mean of that mean: E(mean <u_i, v_i>) is mean <u_i, v_i>."""
        for small in sorted(self.vectors, key=len):
            for large in self.vectors:
                rest = [one for one in large if one not in small]
                same = rest and large[-1:] == small[-1:] and tuple(one for one in large if one in small) == small
                moving = {one.index for one in rest} & sp.Tuple(*self.vectors[small]).free_symbols
                if same and not moving and all(one.total == 1 for one in rest):
                    self.vectors[large] += [v for v in self.vectors.pop(small) if v not in self.vectors[large]]
                    break


def _symbols(of: Linear) -> set[sp.Symbol]:
    return set().union(*(c.free_symbols for c in of.values()))


def _indices(one: Relation) -> set[sp.Symbol]:
    return {s for s in one.left.free_symbols | one.right.free_symbols if isinstance(s, Index)}


def draws(form: Form, count: int) -> Array:
    """Values of the numbers that satisfy the hypotheses about numbers, a row for each; fewer where few were met."""
    random = np.random.default_rng(0)
    size = np.exp(random.uniform(-2.5, 2.5, (_DRAWS, len(form.symbols))))
    for at, symbol in enumerate(form.symbols):
        if not symbol.is_nonnegative:
            size[:, at] *= random.choice((-1, 1), _DRAWS)
        if symbol.is_integer:
            size[:, at] = np.maximum(np.rint(size[:, at]), 1)
        if not symbol.is_positive:
            # What is needed at zero may be more than elsewhere.
            size[::7, at] = 0
    slacks = [one.slack for one in form.numbers.values()]
    return size[(evaluated(slacks, form.symbols, size) > 0).all(axis=1)][:count]


def evaluated(exprs: Sequence[sp.Expr], symbols: Sequence[sp.Symbol], at: Array) -> Array:
    """Values of expressions at rows of numbers."""
    found = np.zeros((len(at), len(exprs)))
    with np.errstate(all="ignore"):
        for n, column in enumerate(_compiled(tuple(symbols), tuple(exprs))(*at.T) if exprs else ()):
            found[:, n] = column
    return found


@lru_cache(maxsize=64)
def _compiled(symbols: tuple[sp.Symbol, ...], exprs: tuple[sp.Expr, ...]) -> Any:
    return sp.lambdify(symbols, exprs, "numpy", cse=True)
