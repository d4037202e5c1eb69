"""The weights of Theorem 4.9: closed forms against (7) solved in exact rationals, and all supports tried."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations, product
from typing import Any

from cflag_theory.claims.cfl.weights.correlated import further, other, sum_x, value
from cflag_theory.claims.cfl.weights.ours.correlated import (
    CURRENT,
    DENOMINATOR,
    FIRST,
    LAST_PAST,
    LONG_CURRENT,
    LONG_FIRST,
    LONG_LAST,
    MIDDLE,
    ONE_CURRENT,
    ONE_FIRST,
    after,
    before,
    beta,
    far,
    gamma,
    j,
    kept,
    near,
    next_power,
)
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import k
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.weights.correlated import (
    Vector,
    definite_points,
    entries,
    matrix_Q,
    quadratic,
    sizes,
    weights,
)
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence

Setting = tuple[Fraction, Fraction, Fraction, int]
ALPHAS = (Fraction(0), Fraction(1, 2), Fraction(4, 5))


def settings(least: int) -> list[Setting]:
    """alpha, D^2, R^2 and t."""
    sizes = (Fraction(1, 4), Fraction(2)), (Fraction(0), Fraction(1, 2), Fraction(3))
    return list(product(ALPHAS, *sizes, range(least, 6)))


def closed(correlation: Fraction, d2: Fraction, r2: Fraction, t: int) -> Vector:
    """The closed form of the solution of (7), t >= 2."""
    if t == 2:
        first = d2 * (1 - correlation) / (2 * d2 * (1 - correlation) + r2)
        return [first, 1 - first]
    at = sizes(correlation, d2, r2) | {further: t - 3}
    exact = [expr.xreplace(at) for expr in (FIRST, MIDDLE, LAST_PAST, CURRENT, DENOMINATOR)]
    first, middle, last, current, total = (Fraction(int(number.p), int(number.q)) for number in exact)
    return [number / total for number in (first, *[middle] * (t - 3), last, current)]


def support(correlation: Fraction, d2: Fraction, r2: Fraction, t: int) -> int:
    """k: the past rounds that keep a weight are 1, ..., k."""
    found = 1
    for last in range(2, t):
        gap = correlation ** (t - last)
        if (1 - gap) * (1 - correlation * gap) * d2 >= gap * r2 * (1 + (last - 2) * (1 - correlation)):
            found = last
    return found


def closed_nonnegative(correlation: Fraction, d2: Fraction, r2: Fraction, t: int) -> Vector:
    """The closed form of the optimum among weights that are not negative, t >= 2."""
    last = support(correlation, d2, r2, t)
    gap = correlation ** (t - last)
    at = sizes(correlation, d2, r2) | {beta: gap, gamma: 1 - gap}
    forms = (ONE_FIRST, ONE_CURRENT) if last == 1 else (LONG_FIRST, LONG_LAST, LONG_CURRENT)
    exact = [expr.xreplace(at | {kept: last - 2}) for expr in forms]
    numbers = [Fraction(int(number.p), int(number.q)) for number in exact]
    middle = [numbers[0] * (1 - correlation)] * max(last - 2, 0)
    unscaled = [numbers[0], *middle, *numbers[1:-1], *[Fraction(0)] * (t - 1 - last), numbers[-1]]
    return [number / sum(unscaled) for number in unscaled]


@cache
def searched(correlation: Fraction, d2: Fraction, r2: Fraction, t: int) -> tuple[Fraction, ...]:
    """The optimum among weights that are not negative, by trying every support: the one that satisfies KKT."""
    Q = matrix_Q(correlation, d2, r2, t)
    for size in range(1, t + 1):
        for chosen in combinations(range(t), size):
            p, multiplier = weights(correlation, d2, r2, t, chosen)
            rows = [sum((q * a for q, a in zip(row, p, strict=True)), Fraction(0)) for row in Q]
            if min(p) >= 0 and min(rows) >= -multiplier:
                return tuple(p)
    raise ArithmeticError(f"no support is optimal for alpha = {correlation}, D^2 = {d2}, R^2 = {r2}, t = {t}")


def row_points() -> Iterator[Point]:
    """The sums that a row of Q p meets, from the solution of (7) and not from the closed form."""
    for correlation, d2, r2, t in settings(3):
        p, _ = weights(correlation, d2, r2, t)
        at = sizes(correlation, d2, r2) | {further: t - 3}
        scale = DENOMINATOR.xreplace(at)

        def met_before(row: int, p: Vector = p, correlation: Fraction = correlation, scale: Any = scale) -> Any:
            return scale * sum((correlation ** (row - i) * p[i] for i in range(row)), Fraction(0))

        def met_after(row: int, p: Vector = p, correlation: Fraction = correlation, scale: Any = scale) -> Any:
            return scale * sum((correlation ** (i - row) * p[i] for i in range(row + 1, len(p))), Fraction(0))

        yield Point(at, part="1")
        yield Point(at | {k: t - 3, after(k): met_after(0)}, part="2")
        for row in range(1, t - 2):
            here = {k: row - 1, j: t - 3 - row, before(k): met_before(row), after(j): met_after(row)}
            yield Point(at | here, part="3")
        yield Point(at | {k: t - 3, before(k): met_before(t - 2)}, part="4")
        yield Point(at | {k: t - 3, before(k): met_before(t - 2)}, part="5")


def nonnegative_points() -> Iterator[Point]:
    """Kept and dropped rounds of the optimum, and other weights that are not negative."""
    for correlation, d2, r2, t in settings(2):
        last = support(correlation, d2, r2, t)
        gap = correlation ** (t - last)
        at = sizes(correlation, d2, r2) | {beta: gap, gamma: 1 - gap}
        first = "1" if last >= 2 else "3"
        long = {kept: last - 2} if last >= 2 else {}
        yield Point(at | long, part=first)
        for dropped in range(last + 1, t):
            powers = {
                near: correlation ** (dropped - last),
                far: correlation ** (t - dropped),
                next_power: correlation ** (t - last - 1),
            }
            yield Point(at | long | powers, part=str(int(first) + 1))
        yield from _better(correlation, d2, r2, t)


def _better(correlation: Fraction, d2: Fraction, r2: Fraction, t: int) -> Iterator[Point]:
    best = closed_nonnegative(correlation, d2, r2, t)
    Q = matrix_Q(correlation, d2, r2, t)
    for place in sorted({0, t - 2, t - 1}):
        p = [Fraction(int(i == place)) for i in range(t)]
        change = [a - b for a, b in zip(p, best, strict=True)]
        values = entries(correlation, d2, r2, change) | {sum_x: sum(change)}
        yield Point(values | {value: quadratic(Q, best), other: quadratic(Q, p)}, part="5")


def _agreement(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    cases = settings(2)
    signed = [case for case in cases if closed(*case) != weights(*case)[0]]
    yield _counted("1", signed, len(cases), "the closed form is the solution of (7), t = 2 included")


def _agreement_nonnegative(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    cases = settings(2)
    wrong = [case for case in cases if tuple(closed_nonnegative(*case)) != searched(*case)]
    yield _counted("5", wrong, len(cases), "the closed form is the optimum found by trying every support")


def _counted(part: str, wrong: list[Setting], total: int, words: str) -> Evidence:
    instances = [f"alpha = {a}, D^2 = {d2}, R^2 = {r2}, t = {t}" for a, d2, r2, t in wrong]
    summary = f"In {total - len(wrong)} of {total} settings {words}."
    return Evidence("property", part, "printed", REFUTES if wrong else SUPPORTS, summary, {"instance": instances})


def least_points() -> Iterator[Point]:
    """Lemma B.9's instances, and entries of alternating sign, which come near the bound."""
    yield from definite_points()
    for correlation, length in product(ALPHAS, (10, 40)):
        vector = [Fraction((-1) ** i) for i in range(length)]
        values = entries(correlation, Fraction(1), Fraction(0), vector)
        yield Point(values)


CHECKS = {
    "ours.cfl_correlated_weights": Check(row_points, further=_agreement),
    "ours.cfl_nonnegative_weights": Check(nonnegative_points, further=_agreement_nonnegative),
    "ours.cfl_least_eigenvalue": Check(least_points),
}
