"""Squares that a certificate needs: proposed where the linear program's prices say that a form is negative."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import sympy as sp
from scipy.linalg import eigh

from cflag_theory.claims.engine.algebra import square
from cflag_theory.claims.engine.finding.linear import Column, Program, Rows, solved
from cflag_theory.claims.engine.finding.polynomials import Powers

#: The largest form, the rounds of proposals, and the denominators that coefficients are rounded to.
_SIZE, _ROUNDS, _DENOMINATORS = 10, 8, (1, 2, 3, 4, 6, 12, 60, 1000)
_ENOUGH = 1e-7
#: Programs with more columns are too slow to be solved again and again.
_COLUMNS = 500


def with_squares(program: Program, symbols: Sequence[sp.Expr], signed: Sequence[bool]) -> Program:
    """The program with squares of sums of monomials, times a monomial of known sign, as further columns."""
    if len(program.columns) > _COLUMNS:
        return program
    forms = [(w, basis) for w, basis in _forms(program.rows, signed).items() if 1 < len(basis) <= _SIZE]
    pairs = [
        (w, {u: Fraction(1), v: Fraction(t)}) for w, basis in forms for u, v in combinations(basis, 2) for t in (1, -1)
    ]
    columns = [*program.columns, *(_column(w, parts, symbols) for w, parts in pairs)]
    for _ in range(_ROUNDS):
        now = Program(program.targets, columns, program.strictly)
        if not any(now.marked):
            return now
        answer = solved(now, [1e-6 * one.cost for one in now.every], elastic=True)
        if answer is None or answer.left < _ENOUGH:
            return now
        rows = now.rows
        more = [
            _column(w, parts, symbols)
            for w, basis in forms
            for parts in _proposals(w, basis, {p: answer.prices[at] for p, at in rows.items()})
        ]
        if not more:
            return now
        columns += more
    return Program(program.targets, columns, program.strictly)


def _forms(rows: Rows, signed: Sequence[bool]) -> dict[Powers, list[Powers]]:
    """Monomials w without squares, each with the b for which w b^2 is a row: a square on the diagonal has one form."""
    forms: dict[Powers, list[Powers]] = {}
    for row in rows:
        w = tuple(power % 2 for power in row)
        if all(sign or not odd for sign, odd in zip(signed, w, strict=True)):
            forms.setdefault(w, []).append(tuple(power // 2 for power in row))
    return forms


def _proposals(w: Powers, basis: list[Powers], prices: dict[Powers, float]) -> list[dict[Powers, Fraction]]:
    """Sums whose squares, times w, the prices call profitable, with rounded coefficients."""
    form = [[prices.get(_product(w, u, v), 0.0) for v in basis] for u in basis]
    values, vectors = eigh(form)
    found = []
    for value, vector in zip(values.tolist(), vectors.T.tolist(), strict=True):
        if value <= _ENOUGH:
            continue
        largest = max(vector, key=abs)
        for most in _DENOMINATORS:
            rounded = [Fraction(one / largest).limit_denominator(most) for one in vector]
            gain = sum(float(a) * float(b) * form[i][j] for i, a in enumerate(rounded) for j, b in enumerate(rounded))
            if gain > value * float(sum(one**2 for one in rounded)) / 2:
                found.append({u: one for u, one in zip(basis, rounded, strict=True) if one})
                break
    return found


def _product(*parts: Powers) -> Powers:
    return tuple(map(sum, zip(*parts, strict=True)))


def _column(w: Powers, parts: dict[Powers, Fraction], symbols: Sequence[sp.Expr]) -> Column:
    polynomial: dict[Powers, Fraction] = {}
    for u, a in parts.items():
        for v, b in parts.items():
            at = _product(w, u, v)
            polynomial[at] = polynomial.get(at, Fraction(0)) + a * b

    def term() -> sp.Expr:
        inside = sp.Add(*(sp.Rational(a.numerator, a.denominator) * monomial(u, symbols) for u, a in parts.items()))
        return monomial(w, symbols) * square(inside)

    return Column(polynomial, term, cost=4.0 + len(parts))


def monomial(powers: Powers, symbols: Sequence[sp.Expr]) -> sp.Expr:
    """The product of powers of symbols."""
    return sp.Mul(*(symbol**power for symbol, power in zip(symbols, powers, strict=True)))
