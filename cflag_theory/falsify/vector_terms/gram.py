"""A claim as a semidefinite program at drawn values of its numbers.

Every relation is linear in inner products, values, means and members of sequences. A goal holds if its slack is a sum
of non-negative multiples of what is known, and of a form with positive semidefinite matrices: one for all vectors, and
one for the distances v_i - mean v of what stands under a mean, or under means of means. Floating-point answers only say
where to look.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from typing import Any

import clarabel
import numpy as np
import sympy as sp
from scipy import sparse
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine.operators import Atom, Index, Operator, Total
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.terms import Dot, dot, is_vector, parts

#: Larger matrices and longer lists of relations are not put into one program.
_MOST_VECTORS, _MOST_RELATIONS = 16, 150
#: Values that are drawn; how far a held multiplier may move; errors of an answer although the solver stopped early.
_DRAWS, _ROOM, _NEAR = 30000, 1e-7, 1e-5

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


class Form:
    """A goal and what is known as linear forms, and the vectors whose squares may be added, by operator."""

    def __init__(self, goal: Relation, known: Mapping[str, Relation]) -> None:
        operators = {u for one in (goal, *known.values()) for u in one.slack.atoms(Operator)}
        self.moved = _solved(known.values(), sorted(operators, key=str))
        plain = {n: one for n, one in known.items() if not (is_vector(one.left) or is_vector(one.right))}
        self.numbers = {n: one for n, one in plain.items() if not one.slack.atoms(*_UNKNOWN, Index)}
        self.goal = linear(goal.slack, self.moved)
        #: The goal's coefficients as they are written: multipliers are often made of their factors.
        self.written = [
            c
            for side in (goal.slack, goal.left, goal.right)
            for c in linear(side, {}, apart=False).values()
            if c.free_symbols <= _symbols(self.goal)
        ]
        # What holds for each i matters under the means over i, unless the goal speaks of one i or there is no mean.
        averaged = {u.index for u in operators} - _indices(goal)
        rows = {n: linear(one.slack, self.moved) for n, one in plain.items() if not _indices(one) & averaged}
        self.rows = {n: row for n, row in rows.items() if row and n not in self.numbers}
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
                if same and all(one.total == 1 for one in rest):
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


def solved(quadratic: Any, cost: Array, rows: Array, right: Array, cones: list[Any]) -> Any:
    """The solver's answer; None where it has none."""
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads, settings.chordal_decomposition_enable = False, 1, False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-9
    if not (np.isfinite(rows).all() and np.isfinite(right).all()):
        return None
    solver = clarabel.DefaultSolver(quadratic, cost, sparse.csc_matrix(rows), right, cones, settings)
    # Where its eigenvalues do not converge it panics, which is no answer, and prints a stack on standard error.
    with _quiet():
        try:
            return solver.solve()
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            return None


@contextmanager
def _quiet() -> Iterator[None]:
    """Nothing reaches standard error, whoever writes there."""
    try:
        kept = os.dup(2)
    except OSError:
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


class Programs:
    """The semidefinite programs of a form at rows of numbers, in the multipliers of what is known."""

    def __init__(self, form: Form, at: Array) -> None:
        self.form, self.at, self.names = form, at, list(form.rows)
        self.count = 0
        self.pairs, self.sizes, places, columns, factors = form.layout
        values = evaluated([c for one in form.every for c in one.values()], form.symbols, at)
        self.tables = np.zeros((len(at), len(self.sizes), len(form.every)))
        self.tables[:, places, columns] = values * factors

    def _is_form(self, at: int) -> bool:
        """Whether the goal at a row is a sum of squares as it stands."""
        column = self.tables[at][:, 0]
        near, place = _NEAR * (np.abs(column).max() or 1.0), len(self.form.opaque)
        if np.abs(column[:place]).max(initial=0.0) > near or column[place] < -near:
            return False
        place += 1
        for vectors in self.form.vectors.values():
            matrix = np.zeros((len(vectors), len(vectors)))
            for b, a in zip(*np.tril_indices(len(vectors)), strict=True):
                matrix[a, b] = matrix[b, a] = column[place] * (1 if a == b else 0.5**0.5)
                place += 1
            if np.linalg.eigvalsh(matrix).min(initial=0.0) < -near:
                return False
        return True

    def solve(
        self,
        at: int,
        used: Sequence[str],
        fixed: Mapping[str, float] | None = None,
        aim: tuple[str, float] | None = None,
    ) -> dict[str, float] | None:
        """Multipliers at a row that leave a sum of squares, the smallest ones, or with the `aim` as small as can be.

        None if there are none, or if the aim has no bound.
        """
        self.count += 1
        if not used:
            return {} if self._is_form(at) else None
        fixed = fixed or {}
        table, first = self.tables[at], len(self.form.opaque) + 1
        # The goal and every relation in units of their largest terms, so that a claim times 10^8 is the same program.
        unit = np.abs(table[:, 0]).max() or 1.0
        columns = table[:, [1 + self.names.index(name) for name in used]]
        sizes = np.abs(columns).max(axis=0, initial=0.0) / unit
        sizes[sizes == 0] = 1.0
        # The last unknown is what is left over.
        with np.errstate(all="ignore"):
            columns = columns / (sizes * unit)
        a = np.column_stack([columns, np.eye(len(table))[first - 1]])
        b = table[:, 0] / unit
        held = [used.index(name) for name in fixed]
        ends = np.array(list(fixed.values())) * sizes[held]
        signed = [*(n for n, name in enumerate(used) if name not in self.form.equations), len(used)]
        picked, chosen = np.eye(len(used) + 1)[signed], np.eye(len(used) + 1)[held]
        # What is held may move a little: the multipliers of a tight claim have no inside.
        room = _ROOM * (1 + np.abs(ends))
        rows = np.vstack([a[:first], -picked, chosen, -chosen, a[first:]])
        right = np.concatenate([b[:first], np.zeros(len(signed)), ends + room, room - ends, b[first:]])
        cones = [clarabel.ZeroConeT(first), clarabel.NonnegativeConeT(len(signed) + 2 * len(held))]
        cones += [clarabel.PSDTriangleConeT(len(one)) for one in self.form.vectors.values() if one]
        cost = np.zeros(len(used) + 1)
        if aim is None:
            cost[signed[:-1]] = 1.0
        else:
            cost[used.index(aim[0])] = aim[1]
        none = sparse.csc_matrix((len(cost), len(cost)))
        answer = solved(none, cost, rows, right, cones)
        if answer is None:
            return None
        early = str(answer.status) in ("AlmostSolved", "InsufficientProgress")
        good = str(answer.status) == "Solved" or (early and max(answer.r_prim, answer.r_dual) <= _NEAR)
        return dict(zip(used, (np.array(answer.x[:-1]) / sizes).tolist(), strict=True)) if good else None
