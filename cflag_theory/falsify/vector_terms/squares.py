"""Multipliers and squares that prove a claim, as rational functions of its numbers.

Semidefinite programs at drawn values say between what bounds a multiplier lies. The simplest expression between them is
taken, the form that is left is decomposed into squares exactly, and every sign is proved from the hypotheses about
numbers. The certificate is checked before it is given back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from types import MappingProxyType
from typing import Any, NamedTuple

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from cflag_theory.claims.engine.algebra import as_power, certificate_fault, residual, slack, square, unknown
from cflag_theory.claims.engine.finder import searched
from cflag_theory.claims.engine.relation import Relation, at_most, below
from cflag_theory.claims.engine.terms import Term, is_vector, ln, norm2
from cflag_theory.falsify.vector_terms.gram import Array, Form, Nest, draws, evaluated, linear, reduced, under
from cflag_theory.falsify.vector_terms.multipliers import NEAR, between
from cflag_theory.falsify.vector_terms.programs import Programs

#: Draws for bounds, how many of them rounding may make infeasible, and draws at which a whole form is looked at.
_BOUNDS, _FAILED, _LOOK = 20, 2, 300
#: Draws that relations are left out at; programs, and forms to decompose, for one goal.
_FEW, _PROGRAMS, _FORMS = 4, 6000, 20
#: Larger matrices, in terms of their entries, are not written by pairs of vectors.
_MANY = 120
#: Linear programs that a sign is looked for with, see `searched`: products, rounds, and squares of numbers.
_SIGNS = tuple((n, rounds, 0, 500, squares) for squares in (False, True) for n in (1, 2) for rounds in (1, 2))[:5]


class Found(NamedTuple):
    """A checked certificate with the vectors, and their operators, whose squares it uses by name.

    Without one, `refused` says that there is none at some values of the numbers, whatever is squared.
    """

    certificate: sp.Expr | None = None
    squares: Mapping[str, tuple[sp.Expr, Nest]] = MappingProxyType({})
    refused: bool = False


def with_squares(goal: Relation, known: Mapping[str, Relation]) -> Found:
    """A certificate of the goal from what is known, from signs of terms and from squares."""
    powers: dict[sp.Expr, sp.Expr] = {}
    found = _with_squares(
        goal.map(lambda e: _powers_named(e, powers)),
        {name: one.map(lambda e: _powers_named(e, powers)) for name, one in known.items()},
    )
    if found.certificate is None or not powers:
        return found
    back = {letter: power for power, letter in powers.items()}
    squares = {name: (vector.xreplace(back), nest) for name, (vector, nest) in found.squares.items()}
    # Term by term, so that powers cancel before they are one power.
    certificate = sp.expand(found.certificate).xreplace(back)
    given = {**known, **{name: at_most(0, under(nest, norm2(v))) for name, (v, nest) in squares.items()}}
    return Found(certificate, squares) if certificate_fault(goal, given, certificate) is None else Found()


def _powers_named(expr: sp.Expr, named: dict[sp.Expr, sp.Expr]) -> sp.Expr:
    """The expression with a letter for every logarithm and every power whose exponent is a symbol.

    (1 + u)^(k + 1) is a product.
    """
    if isinstance(expr, ln | sp.NumberSymbol) or (isinstance(expr, sp.exp) and expr.exp.is_number):
        return named.setdefault(expr, unknown("number", expr))
    if isinstance(expr, Term) or not expr.args:
        return expr
    if isinstance(expr, sp.Pow | sp.exp) and not expr.exp.is_number:
        opened = sp.expand_power_exp(expr.func(*expr.args[:-1], sp.expand(expr.args[-1])))
        if not isinstance(opened, sp.Pow | sp.exp):
            return _powers_named(opened, named)
        if isinstance(opened, sp.Pow) and opened.exp.could_extract_minus_sign():
            return 1 / _powers_named(1 / opened, named)
        base, times = as_power(opened)
        return named.setdefault(base, unknown("power", base)) ** times
    return expr.func(*(_powers_named(one, named) for one in expr.args))


def _with_squares(goal: Relation, known: Mapping[str, Relation]) -> Found:
    form = Form(goal, known)
    at: Array = draws(form, _BOUNDS + _LOOK) if goal.op != "==" and form.fits else ()
    if len(at) <= _BOUNDS:
        return Found()
    programs = Programs(form, at[:_BOUNDS])
    rows = [n for n in range(_BOUNDS) if programs.solve(n, programs.names) is not None]
    if len(rows) < _BOUNDS - _FAILED:
        return Found(refused=form.whole)
    for small_first in (True, False):
        used, fitting = _needed(programs, rows, small_first)
        for way in _Fit(programs, at[at.all(axis=1)], used, [n for n in fitting if at[n].all()]).ways({}):
            if (found := _assembled(goal, known, way, form)) is not None:
                return found
    return Found()


def _needed(programs: Programs, rows: Sequence[int], small_first: bool) -> tuple[list[str], list[int]]:
    """Relations of which none can be left out at some draws, and the draws at which they are enough."""
    tried = sorted(rows, key=lambda row: programs.at[row].all())[:_FEW]
    while True:
        total = dict.fromkeys(programs.names, 0.0)
        for at in tried:
            for name, value in (programs.solve(at, programs.names) or {}).items():
                total[name] += abs(value)
        used = list(programs.names)
        order = sorted(used, key=lambda one: total[one] if small_first else -total[one])
        # What speaks of vectors that the goal does not have goes first: the proof that is left is short.
        strange = {n for n in used if not programs.form.vectors_of(n) <= programs.form.vectors_of(None)}
        for out in (strange, {n for n in used if total[n] <= NEAR}, *({one} for one in order)):
            fewer = [one for one in used if one not in out]
            if all(programs.solve(at, fewer) is not None for at in tried):
                used = fewer
        missed = [at for at in rows if at not in tried and programs.solve(at, used) is None]
        if len(missed) <= _FAILED:
            return used, [at for at in rows if at not in missed]
        tried.append(missed[0])


#: Multipliers of relations; weights of squares with their vectors and operators; what is left over.
Way = tuple[dict[str, sp.Expr], list[tuple[sp.Expr, sp.Expr, Nest]], sp.Expr]


def _assembled(goal: Relation, known: Mapping[str, Relation], way: Way, form: Form) -> Found | None:
    """The certificate that multipliers and squares make, if it is one."""
    multipliers, squares, rest = way
    given = {n: one for n, one in known.items() if not (is_vector(one.left) or is_vector(one.right))}
    named, terms = {}, [rest]
    for weight, vector, nest in squares:
        name = f"square of {vector}" + (f", under {' of '.join(map(str, nest))}" if nest else "")
        named[name] = vector, nest
        given[name] = at_most(0, under(nest, norm2(vector)))
        terms.append(weight * slack(name))
    for n, value in multipliers.items():
        terms.append(value * (form.signs[n] if n in form.signs else -residual(n) if given[n].op == "==" else slack(n)))
    certificate = sp.Add(*terms).xreplace({slack(name): s for name, s in form.sorts.items()})
    certificate = _with_equations(goal, given, certificate, form)
    if certificate is None or certificate_fault(goal, given, certificate) is not None:
        return None
    return Found(certificate, named)


def _with_equations(goal: Relation, given: Mapping[str, Relation], certificate: sp.Expr, form: Form) -> sp.Expr | None:
    """The certificate with multiples of equations for what replaced vectors and numbers changed; None if none fit."""
    if not (names := [n for n, one in given.items() if one.op == "=="]):
        return certificate
    means = {slack(n): one.slack for n, one in given.items()} | {residual(n): -one.slack for n, one in given.items()}

    def gap() -> sp.Expr:
        return goal.slack - certificate.replace(square, lambda inner: inner**2).xreplace(means)

    columns = [form.linear(one, {}, apart=False) for one in (*(given[n].slack for n in names), gap())]
    keys = list(dict.fromkeys(key for one in columns for key in one))
    symbols = {s for one in columns for c in one.values() for s in c.free_symbols}
    over = sp.QQ.frac_field(*(sorted(symbols, key=str) or [sp.Dummy()]))
    table = [[over.from_sympy(sp.together(one.get(key, sp.S.Zero))) for one in columns] for key in keys]
    solved, pivots = DomainMatrix(table, (len(keys), len(columns)), over).rref()
    if len(names) in pivots:
        return None
    values = (over.to_sympy(row[-1]) for row in solved.to_ddm())
    certificate -= sp.Add(*(value * residual(names[p]) for p, value in zip(pivots, values, strict=False)))
    if form.equal:
        left = linear(gap(), {}, apart=False)
        certificate += sp.Add(*(key * reduced(c, form.equal)[1] for key, c in left.items()))
    return certificate


class _Fit:
    """The multipliers of one list of relations as functions of the numbers."""

    def __init__(self, programs: Programs, at: Array, used: list[str], rows: Sequence[int]) -> None:
        self.form, self.programs, self.at, self.used, self.rows = programs.form, programs, at, used, rows
        form = programs.form
        self.field: Any = sp.QQ.frac_field(*(form.symbols or [sp.Dummy()])).field
        self.kept: dict[tuple[sp.Expr, bool], sp.Expr | None] = {}
        self.goal, *columns = (
            {key: self._quotient(c) for key, c in one.items()} for one in (form.goal, *(form.rows[n] for n in used))
        )
        self.columns = dict(zip(used, columns, strict=True))
        self.letters, self.forms = self._letters(), 0

    def _quotient(self, expr: sp.Expr) -> Any:
        return self.field.from_expr(sp.together(expr))

    def ways(self, fixed: Mapping[str, sp.Expr]) -> Iterator[Way]:
        """Multipliers, squares and what is left, of signs that are proved, the simplest first."""
        known = self._determined(fixed)
        if known is None or self.programs.count > _PROGRAMS or self.forms > _FORMS:
            return
        open_ = sorted((name for name in self.used if name not in known), key=lambda n: str(self.form.rows[n]))
        if not open_:
            values = evaluated(list(known.values()), self.form.symbols, self.programs.at[self.rows]).tolist()
            at_rows = ((row, dict(zip(known, of, strict=True))) for row, of in zip(self.rows, values, strict=True))
            if all(self.programs.is_form(*one) for one in at_rows):
                self.forms += 1
                if (way := self._decomposed(known)) is not None:
                    yield way
            return
        for name in open_[:2]:
            for candidate in self._candidates(name, known):
                yield from self.ways({**known, name: candidate})

    def _determined(self, fixed: Mapping[str, sp.Expr]) -> dict[str, sp.Expr] | None:
        """What follows for other multipliers from the terms that no square has; None if they contradict each other."""
        names = [name for name in self.used if name not in fixed]
        left = self._left(fixed)
        table = [
            [*(self.columns[n].get(key, self.field.zero) for n in names), left.get(key, self.field.zero)]
            for key in self.form.opaque
        ]
        solved, pivots = DomainMatrix(table, (len(table), len(names) + 1), self.field.to_domain()).rref()
        if len(names) in pivots:
            return None
        found = zip(pivots, solved.to_ddm(), strict=False)
        alone = {names[p]: row[-1].as_expr() for p, row in found if sum(map(bool, row[:-1])) == 1}
        return {**fixed, **alone}

    def _left(self, known: Mapping[str, sp.Expr]) -> dict[sp.Expr, Any]:
        """The goal without multiples of relations."""
        left = dict(self.goal)
        for name, value in known.items():
            times = self._quotient(value)
            for key, c in self.columns[name].items():
                left[key] = left.get(key, self.field.zero) - times * c
        return left

    def _letters(self) -> list[sp.Expr]:
        """The numbers, and the sums of one sign that the claim's coefficients are products of."""
        letters: list[sp.Expr] = list(self.form.symbols)
        parts = [self._quotient(one) for one in (*self.form.written, *(n.slack for n in self.form.numbers.values()))]
        for part in (*parts, *(c for one in (self.goal, *self.columns.values()) for c in one.values())):
            for polynomial in (part.numer, part.denom):
                for factor, _ in polynomial.factor_list()[1]:
                    expr = factor.as_expr()
                    letter = self.side(expr) * expr
                    if expr.is_Add and letter != 0 and letter not in letters:
                        letters.append(letter)
        return [one for one in letters if evaluated([one], self.form.symbols, self.at).all()][:12]

    def _candidates(self, name: str, known: Mapping[str, sp.Expr]) -> list[sp.Expr]:
        """Simple expressions between the bounds of a multiplier."""
        at = self.programs.at[self.rows]
        values = evaluated(list(known.values()), self.form.symbols, at)
        low, high = [], []
        for row, numbers in zip(self.rows, values.tolist(), strict=True):
            fixed = dict(zip(known, numbers, strict=True))
            ends = [self.programs.solve(row, self.used, fixed, (name, sign)) for sign in (1.0, -1.0)]
            least, most = (None if end is None else end[name] for end in ends)
            if least is None and most is None:
                return []
            # Where there is no bound: any large number.
            low.append(-1e4 * (1 + abs(most or 0.0)) if least is None else least)
            high.append(1e4 * (1 + abs(low[-1])) if most is None else max(most, low[-1]))
        return between(self.letters, evaluated(self.letters, self.form.symbols, at), low, high)

    def _decomposed(self, known: Mapping[str, sp.Expr]) -> Way | None:
        left = self._left(known)
        squares: list[tuple[sp.Expr, sp.Expr, Nest]] = []
        for nest, vectors in self.form.vectors.items():
            matrix = [[self.field.zero] * len(vectors) for _ in vectors]
            for (a, u), (b, v) in product(enumerate(vectors), repeat=2):
                key, part = self.form.entry(nest, u, v)
                matrix[a][b] = left.get(key, self.field.zero) * self.field(sp.QQ(part.p, part.q))
            if (made := self._squares(matrix, vectors)) is None:
                return None
            squares += [(w, v - nest[-1](v) / nest[-1].total if nest else v, nest) for w, v in made]
        signed = {n: v if n in self.form.equations else self.proved(self._quotient(v)) for n, v in known.items()}
        rest = self.proved(left.get(sp.S.One, self.field.zero))
        return None if rest is None or None in signed.values() else (signed, squares, rest)

    def _squares(self, matrix: list[list[Any]], vectors: Sequence[sp.Expr]) -> list[tuple[sp.Expr, sp.Expr]] | None:
        """Weights and vectors of squares by Lagrange's method, pivots with weights of proved signs."""
        places = list(range(len(matrix)))
        squares: list[tuple[sp.Expr, sp.Expr]] = []
        while places:
            # A row without a diagonal is zero.
            empty = [a for a in places if not matrix[a][a]]
            if any(matrix[a][b] for a in empty for b in places):
                return None
            places = [a for a in places if a not in empty]
            for a in sorted(places, key=lambda a: len(str(matrix[a][a]))):
                ratios = {b: matrix[a][b] / matrix[a][a] for b in places}
                common = self.field.one
                for one in ratios.values():
                    common *= self.field((common * one).denom)
                if (weight := self.proved(matrix[a][a] / common**2)) is not None:
                    break
            else:
                rest = self._paired([[matrix[a][b] for b in places] for a in places], [vectors[a] for a in places])
                return None if rest is None else squares + rest
            squares.append((weight, sp.Add(*((common * ratios[b]).as_expr() * vectors[b] for b in places))))
            places.remove(a)
            for b, c in product(places, repeat=2):
                matrix[b][c] = matrix[b][c] - ratios[b] * matrix[a][c]
        return squares

    def _paired(self, matrix: list[list[Any]], vectors: Sequence[sp.Expr]) -> list[tuple[sp.Expr, sp.Expr]] | None:
        """Weights and vectors of squares where all pivots may vanish: squares of two vectors each, and of one.

        The vectors are in units in which they are all the same where the form is zero, if there are such.
        """
        if sum(len(x.numer) + len(x.denom) for row in matrix for x in row) > _MANY:
            return None
        count, one = len(matrix), self.field.one
        null = DomainMatrix(matrix, (count, count), self.field.to_domain()).nullspace().to_ddm() if count else []
        units = null[0] if len(null) == 1 and all(null[0]) else [one] * count
        scaled = [[x * a * b for x, b in zip(row, units, strict=True)] for row, a in zip(matrix, units, strict=True)]
        wanted: list[tuple[Any, list[tuple[int, Any]]]] = []
        for a, b in combinations(range(count), 2):
            if x := scaled[a][b]:
                sign = one if self.proved(x) is not None else -one
                wanted.append((sign * x, [(a, one), (b, sign)]))
                for n in (a, b):
                    scaled[n][n] -= sign * x
        wanted += [(scaled[n][n], [(n, one)]) for n in range(count) if scaled[n][n]]
        found: list[tuple[sp.Expr, sp.Expr]] = []
        for value, of in wanted:
            common = one
            for n, times in of:
                common *= self.field((common * times / units[n]).denom)
            if (weight := self.proved(value / common**2)) is None:
                return None
            found.append((weight, sp.Add(*((common * times / units[n]).as_expr() * vectors[n] for n, times in of))))
        return found

    # Signs of numbers, factor by factor, from what is known of numbers.

    def proved(self, value: Any) -> sp.Expr | None:
        """An element of the field as an expression in slacks that is seen not to be negative, or None."""
        if not value:
            return sp.S.Zero
        above, under = value.numer.factor_list(), value.denom.factor_list()
        ratio = sp.Rational(str(above[0] / under[0]))
        written, sign = abs(ratio), int(sp.sign(ratio))
        for factors, up in ((above[1], 1), (under[1], -1)):
            for factor, power in factors:
                expr = factor.as_expr()
                strict = up < 0
                side = self.side(expr)
                known = self._one(side * expr, strict) if side else None
                if known is not None:
                    written *= known ** (up * power)
                    sign *= side**power
                elif power % 2 or strict:
                    return None
                else:
                    written *= square(expr ** (power // 2))
        return written if sign > 0 else None

    def side(self, expr: sp.Expr) -> int:
        """The sign that an expression has at all draws, 0 if it has both."""
        values = evaluated([expr], self.form.symbols, self.at)[:, 0]
        return 1 if (values >= 0).all() else -1 if (values <= 0).all() else 0

    def _one(self, expr: sp.Expr, strictly: bool) -> sp.Expr | None:
        if (expr, strictly) not in self.kept:
            goal = below(0, expr) if strictly else at_most(0, expr)
            given = self.form.numbers
            tried = (searched(goal, given, size) for size in _SIGNS)
            good = (one for one in tried if one is not None and certificate_fault(goal, given, one) is None)
            self.kept[expr, strictly] = next(good, None)
        return self.kept[expr, strictly]
