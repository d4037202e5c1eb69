"""Non-negative combinations of polynomials: a linear program proposes the support, exact rationals decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import sympy as sp
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from cflag_theory.claims.engine.finding.polynomials import Polynomial, Powers

#: Numbers below this in the linear program's answer count as zero when its support is read off.
_ZERO = 1e-9
_SECONDS = 5.0


@dataclass(frozen=True)
class Column:
    """A polynomial that may be used, and what stands for it in a certificate.

    `free` columns take coefficients of any sign. `positive` ones are above zero and not only non-negative. `cost`
    makes the program prefer short certificates.
    """

    polynomial: Polynomial
    term: Callable[[], sp.Expr]
    free: bool = False
    positive: bool = False
    cost: float = 1.0


Sum = list[tuple[Fraction, Column]]
Rows = dict[Powers, int]


@dataclass(frozen=True)
class Program:
    """Which scaled targets are sums of columns: scale * target = sum of coefficient * column.

    Some target that is positive must have a positive scale; if `strictly`, so must some column that is positive.
    """

    targets: Sequence[Column]
    columns: Sequence[Column]
    strictly: bool

    @cached_property
    def every(self) -> list[Column]:
        """The targets, negated, and the columns: what sums up to zero."""
        negated = [replace(one, polynomial={p: -value for p, value in one.polynomial.items()}) for one in self.targets]
        return [*negated, *self.columns]

    @cached_property
    def marked(self) -> list[bool]:
        """The coefficients that sum to one: of positive columns, to be strict at any scale, else of the targets."""
        first = len(self.targets)
        return [one.positive and (at >= first) == self.strictly for at, one in enumerate(self.every)]

    @cached_property
    def rows(self) -> Rows:
        """The monomials, numbered."""
        return {powers: at for at, powers in enumerate(dict.fromkeys(p for one in self.every for p in one.polynomial))}


def combination(program: Program) -> tuple[Sum, Sum] | None:
    """Scales of targets and coefficients of columns, exactly; None if none are found."""
    every, marked, rows = program.every, program.marked, program.rows
    answer = solved(program, [one.cost for one in every]) if any(marked) else None
    if answer is None:
        return None
    found = answer.values
    support = [at for at, value in enumerate(found) if abs(value) > _ZERO]
    sums: list[dict[int, Fraction]] = [{} for _ in range(len(rows) + 1)]
    for number, at in enumerate(support):
        for powers, value in every[at].polynomial.items():
            sums[rows[powers]][number] = value
        if marked[at]:
            sums[-1][number] = Fraction(1)
    sums[-1][len(support)] = Fraction(1)
    values = _solution(sums, [Fraction(found[at]).limit_denominator(10**6) for at in support])
    if values is None:
        return None
    exact = {at: value for at, value in zip(support, values, strict=True) if value}
    if any(value < 0 and not every[at].free for at, value in exact.items()):
        return None
    first = len(program.targets)
    scales = [(value, program.targets[at]) for at, value in exact.items() if at < first]
    if not any(one.positive for _, one in scales):
        return None
    return scales, [(value, every[at]) for at, value in exact.items() if at >= first]


@dataclass(frozen=True)
class Answer:
    """Coefficients, what is left over in sum (with elastic rows), and the value of every row, in floating point."""

    values: list[float]
    left: float
    prices: list[float]


def solved(program: Program, costs: Sequence[float], *, elastic: bool = False) -> Answer | None:
    """A vertex of the linear program; if `elastic`, one that leaves as little as possible of every row."""
    columns, marked, rows = program.every, program.marked, program.rows
    # A free coefficient is a difference of two non-negative ones, so that its size has a cost too.
    free = [number for number, column in enumerate(columns) if column.free]
    entries = [
        (rows[powers], at, sign * float(value))
        for sign, numbers, first in ((1, range(len(columns)), 0), (-1, free, len(columns)))
        for at, number in enumerate(numbers, start=first)
        for powers, value in columns[number].polynomial.items()
    ]
    entries += [(len(rows), number, 1.0) for number, mark in enumerate(marked) if mark]
    cost = [*costs, *(costs[number] for number in free)]
    width, over = len(cost), 2 * len(rows) if elastic else 0
    entries += [(at // 2, width + at, 1.0 - 2 * (at % 2)) for at in range(over)]
    row, place, values = zip(*entries, strict=True)
    answer = linprog(
        [*cost, *[1.0] * over],
        A_eq=coo_matrix((values, (row, place)), shape=(len(rows) + 1, width + over)),
        b_eq=[0.0] * len(rows) + [1.0],
        bounds=(0, None),
        method="highs-ds",
        options={"time_limit": _SECONDS},
    )
    if answer.status != 0:
        return None
    found: list[float] = answer.x.tolist()
    left = sum(found[width:])
    for at, number in enumerate(free, start=len(columns)):
        found[number] -= found[at]
    return Answer(found[: len(columns)], left, answer.eqlin.marginals.tolist())


def _solution(equations: Sequence[Mapping[int, Fraction]], near: Sequence[Fraction]) -> list[Fraction] | None:
    """The exact solution by elimination; unknowns that stay free take the value `near`. None if there is none.

    An equation maps unknowns to coefficients, and the number of unknowns to its right side.
    """
    right = len(near)
    pivots: dict[int, dict[int, Fraction]] = {}
    for equation in equations:
        row = dict(equation)
        for pivot, other in pivots.items():
            if pivot in row:
                _subtract(row, other, row[pivot])
        unknowns = [number for number in row if number != right]
        if not unknowns:
            if row:
                return None
            continue
        pivot = min(unknowns)
        lead = row[pivot]
        row = {number: value / lead for number, value in row.items()}
        for other in pivots.values():
            if pivot in other:
                _subtract(other, row, other[pivot])
        pivots[pivot] = row
    values = list(near)
    for pivot, row in pivots.items():
        rest = (value * near[number] for number, value in row.items() if number not in (pivot, right))
        values[pivot] = row.get(right, Fraction(0)) - sum(rest, Fraction(0))
    return values


def _subtract(row: dict[int, Fraction], other: Mapping[int, Fraction], times: Fraction) -> None:
    for number, value in other.items():
        left = row.get(number, Fraction(0)) - times * value
        if left:
            row[number] = left
        else:
            row.pop(number, None)
