"""Weights of the rounds under Assumption 7: (7) solved in exact rationals, drifts by all signs, all supports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, pairwise, product
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.published import TABLE_2, Row
from cflag_theory.claims.cfl.symbols import A2, D2, R2
from cflag_theory.claims.cfl.symbols import correlation as alpha
from cflag_theory.claims.cfl.weights import correlated as page
from cflag_theory.claims.cfl.weights.ours import correlated as ours
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import k
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence

Vector = list[Fraction]
#: alpha, D^2, R^2 and t.
Setting = tuple[Fraction, Fraction, Fraction, int]
#: Signs of the rounds with their probabilities.
Draws = list[tuple[Fraction, tuple[int, ...]]]
_ZERO, _ONE = Fraction(0), Fraction(1)
ALPHAS = (_ZERO, Fraction(1, 2), Fraction(4, 5))


def dot(u: Sequence[Any], v: Sequence[Any]) -> Fraction:
    """<u, v>."""
    return sum((a * b for a, b in zip(u, v, strict=True)), _ZERO)


def solve(matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> Vector:
    """Gauss and Jordan, exactly."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for column in range(len(rows)):
        pivot = next(i for i in range(column, len(rows)) if rows[i][column])
        rows[column], rows[pivot] = rows[pivot], rows[column]
        rows[column] = [entry / rows[column][column] for entry in rows[column]]
        for i, row in enumerate(rows):
            if i != column and row[column]:
                rows[i] = [a - row[column] * b for a, b in zip(row, rows[column], strict=True)]
    return [row[-1] for row in rows]


def matrix_Q(correlation: Fraction, d2: Fraction, r2: Fraction, t: int) -> list[Vector]:
    """(34)."""
    return [[d2 * correlation ** abs(i - j) + r2 * (max(i, j) < t - 1) for j in range(t)] for i in range(t)]


def weights(
    correlation: Fraction, d2: Fraction, r2: Fraction, t: int, support: Sequence[int] | None = None
) -> tuple[Vector, Fraction]:
    """The weights and lambda of (7), with weights on `support` only where it is given."""
    chosen = list(range(t)) if support is None else list(support)
    Q = matrix_Q(correlation, d2, r2, t)
    system = [[Q[i][j] for j in chosen] + [_ONE] for i in chosen]
    found = solve([*system, [_ONE] * len(chosen) + [_ZERO]], [_ZERO] * len(chosen) + [_ONE])
    p = dict(zip(chosen, found, strict=False))
    return [p.get(place, _ZERO) for place in range(t)], found[-1]


def quadratic(Q: Sequence[Sequence[Fraction]], p: Sequence[Fraction]) -> Fraction:
    """p^T Q p."""
    return dot(p, [dot(row, p) for row in Q])


def sizes(correlation: Fraction, d2: Fraction, r2: Fraction) -> dict[Any, Any]:
    """What (7) is made of, besides t."""
    return {alpha: correlation, page.delta: 1 - correlation, D2: d2, R2: r2}


def compared(
    correlation: Fraction, d2: Fraction, r2: Fraction, best: Sequence[Fraction], others: Sequence[Fraction]
) -> dict[Any, Any]:
    """The solution against other weights: both values, and the sums over the k + 1 entries of the difference x."""
    x = [a - b for a, b in zip(others, best, strict=True)]
    kernel, last = matrix_Q(correlation, _ONE, _ZERO, len(x)), len(x) - 1
    found = sizes(correlation, d2, r2) | {k: last, page.past_sum: sum(x[:-1], _ZERO), page.sum_x: sum(x)}
    for place in range(last + 1):
        # The definitions begin with the last entry and take one more in front at a time.
        rest = x[last - place :]
        for at in {place, k if place == last else place}:
            found |= {
                page.x(at): rest[0],
                page.form(at): quadratic([row[: place + 1] for row in kernel[: place + 1]], rest),
                page.front(at): dot(kernel[0][: place + 1], rest),
                page.norm2(at): dot(rest, rest),
            }
    Q = matrix_Q(correlation, d2, r2, len(x))
    return found | {page.value: quadratic(Q, best), page.other: quadratic(Q, others)}


def optimal_points() -> Iterator[Point]:
    """The solution of (7) and other weights; a bound that the solution makes useless."""
    yield from _against(Fraction(1, 2), _ZERO, _ONE, [_ZERO, _ZERO, _ONE], _ZERO, (1, -1, 0))
    changes = ((0, 0, 0), (1, -1, 0), (0, 1, -1), (2, -1, -1))
    for a, d2, r2, change in product((*ALPHAS[:2], Fraction(9, 10)), (_ONE, Fraction(4)), (_ZERO, _ONE), changes):
        yield from _against(a, d2, r2, *weights(a, d2, r2, 3), change)
    for t in (3, 4):
        story = f"Independent signs: xi = (s_1, ..., s_{t}) D. All {2**t} draws are enumerated."
        yield bounded(Fraction(4, 5), _ONE, _ONE, independent(t), story)
    for row in TABLE_2:
        a = Fraction(row.alpha)
        story = (
            "A chain of signs s_1, ..., s_4, each the one before with probability (1+alpha)/2, and a fair sign s; xi = "
            "D (s_1, s_2, s, s_4). All 32 draws are enumerated: every 𝔼 <xi_s, xi_t> is alpha^|s-t| D^2 or 0."
        )
        yield bounded(a, Fraction(row.D), Fraction(row.R), chain(a, 4), story)


def _against(
    a: Fraction, d2: Fraction, r2: Fraction, p: Vector, multiplier: Fraction, change: Sequence[int]
) -> Iterator[Point]:
    if any(dot(row, p) != -multiplier for row in matrix_Q(a, d2, r2, len(p))) or sum(p) != 1:
        raise ArithmeticError(f"p = {p} does not solve (7) for alpha = {a}, D^2 = {d2}, R^2 = {r2}")
    moved = [one + more for one, more in zip(p, change, strict=True)]
    values = compared(a, d2, r2, p, moved)
    story = tuple(f"{name} = ({', '.join(map(str, one))})." for name, one in (("p, by (7),", p), ("p'", moved)))
    # The solution minimises, and is the only minimiser.
    yield Point(values, story, "1")
    unseen = "x = p' - p and the rows of Q p are -lambda: both are computed with the instance, in fractions"
    yield Point(values, story, "3", unseen=unseen)


def independent(t: int) -> Draws:
    """All draws of t fair signs, with their probabilities."""
    return [(Fraction(1, 2**t), draw) for draw in product((1, -1), repeat=t)]


def chain(correlation: Fraction, t: int) -> Draws:
    """All draws, with their probabilities, of t signs of which each repeats the one before with chance (1+alpha)/2.

    Their inner products are alpha^|i-j|. The last but one is then replaced by a fair sign of its own, which Assumption
    7 allows: it bounds inner products from above only.
    """
    found = []
    for draw in product((1, -1), repeat=t):
        chance = Fraction(1, 4)
        for one, two in pairwise(draw):
            chance *= (1 + one * two * correlation) / 2
        found += [(chance, (*draw[:-2], own, draw[-1])) for own in (1, -1)]
    return found


def bounded(correlation: Fraction, d2: Fraction, r2: Fraction, draws: Draws, drifts: str) -> Point:
    """Drifts that Assumption 7 allows, D times the signs drawn, with the solution of (7)."""
    t = len(draws[0][1])
    p, _ = weights(correlation, d2, r2, t)
    pairs = list(product(range(t), repeat=2))
    products = {(i, j): d2 * sum(chance * draw[i] * draw[j] for chance, draw in draws) for i, j in pairs}
    if any(products[i, j] > correlation ** abs(i - j) * d2 for i, j in pairs):
        raise ArithmeticError(f"the drifts for alpha = {correlation} violate Assumption 7")
    if any(sum(chance * draw[i] for chance, draw in draws) for i in range(t)):
        raise ArithmeticError(f"the drifts for alpha = {correlation} have a mean")
    values = {
        page.drift2: d2 * sum(chance * dot(p, draw) ** 2 for chance, draw in draws),
        page.kms: quadratic(matrix_Q(correlation, _ONE, _ZERO, t), p),
        # The pair of rounds 1 and 2.
        page.pair: products[0, 1],
        page.power: correlation,
        page.least_weight: min(p),
        D2: d2,
        A2: 0,
        page.grad2: 0,
    }
    words = f"t = {t}, alpha = {correlation}, R^2 = {r2}; (7) gives p = ({', '.join(map(str, p))})."
    members = [{page.pair: products[i, j], page.power: correlation ** abs(i - j)} for i, j in pairs]
    return Point(values, (words, drifts), "2", members={"Assumption 7": members})


def rounded(number: Fraction) -> str:
    """Four digits after the point, a half away from zero, and no negative zero."""
    shifted = int(abs(number) * 10_000 + Fraction(1, 2))
    sign = "-" if number < 0 and shifted else ""
    return f"{sign}{shifted // 10_000}.{shifted % 10_000:04d}"


def reproduced(row: Row, *, squared_D: bool, squared_R: bool) -> bool:
    """Whether (7) gives the printed row, its columns holding D^2 and R^2 (or D and R)."""
    d2, r2 = Fraction(row.D) ** (1 if squared_D else 2), Fraction(row.R) ** (1 if squared_R else 2)
    return tuple(map(rounded, weights(Fraction(row.alpha), d2, r2, 4)[0])) == row.p


def _recomputed(part: str, on: str, good: bool, words: str, **data: Any) -> Evidence:
    return Evidence("recomputation", part, on, SUPPORTS if good else REFUTES, words, data)


def _table(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    names = [f"alpha = {row.alpha}, {row.D}, {row.R}" for row in TABLE_2]
    by_reading = {
        f"{'D^2' if d else 'D'}, {'R^2' if r else 'R'}": [
            name for row, name in zip(TABLE_2, names, strict=True) if reproduced(row, squared_D=d, squared_R=r)
        ]
        for d, r in product((False, True), repeat=2)
    }
    for on, reading in (("printed", "D, R"), ("repair", "D^2, R^2")):
        good, total = len(by_reading[reading]), len(TABLE_2)
        words = f"Columns read as {reading}: {good} of {total} rows are reproduced."
        yield _recomputed("1", on, good == total, words, instance=names, reproduced=by_reading, compared=total)


def _exponents(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    """Q_ij of App. B.8 against (34), at whole exponents: alpha = 1/2, D = 2 and R = 1, four rounds."""
    half, d2, r2 = Fraction(1, 2), 4, 1
    pairs = list(product(range(4), repeat=2))
    right = matrix_Q(half, Fraction(d2), Fraction(r2), 4)
    printed = {(i, j): half ** (abs(i - j) * d2 + (max(i, j) < 3) * r2) for i, j in pairs}
    repaired = {(i, j): half ** abs(i - j) * d2 + (max(i, j) < 3) * r2 for i, j in pairs}
    for on, found in (("printed", printed), ("repair", repaired)):
        equal = sum(found[i, j] == right[i][j] for i, j in pairs)
        words = f"alpha = 1/2, D = 2, R = 1, t = 4: {equal} of 16 entries are those of (34); Q_11 is {found[0, 0]}."
        yield _recomputed("2", on, equal == 16, words, instance=[str(found[i, 0]) for i in range(4)], compared=16)


def rising_points() -> Iterator[Point]:
    """p_t of (7) at two values of alpha, solved without the closed form."""
    grid = tuple(map(Fraction, ("0", "3/10", "1/2", "4/5", "99/100")))
    for t, d2, r2 in product((3, 4, 6), (_ONE, Fraction(4)), (_ZERO, Fraction(1, 4), Fraction(9))):
        for a, b in pairwise(grid):
            inputs = {page.alpha_1: a, page.rise: b - a, page.delta_2: 1 - b, page.D2_positive: d2}
            inputs |= {R2: r2, page.further: t - 3}
            u_1, v_1 = (one(page.alpha_1, page.rise + page.delta_2).subs(inputs) for one in (page.now, page.before))
            u_2, v_2 = (one(page.alpha_1 + page.rise, page.delta_2).subs(inputs) for one in (page.now, page.before))
            found = {page.now_1: u_1, page.before_1: v_1, page.now_2: u_2, page.before_2: v_2}
            low, high = (weights(one, d2, r2, t)[0] for one in (a, b))
            last = {page.excess: u_2 * v_1 - u_1 * v_2, page.low: low[-1], page.high: high[-1]}
            story = (f"t = {t}, D^2 = {d2}, R^2 = {r2}; (7) solved for alpha = {a} and {b}.",)
            yield Point(inputs | found | last, story, "1")
            yield Point(inputs | {page.first_low: low[0], page.first_high: high[0]}, story, "2")


def settings(least: int) -> list[Setting]:
    """Those at which our closed forms are put to the test."""
    sizes = (Fraction(1, 4), Fraction(2)), (_ZERO, Fraction(1, 2), Fraction(3))
    return list(product(ALPHAS, *sizes, range(least, 6)))


def _at(values: dict[Any, Any], *forms: sp.Expr) -> Vector:
    exact = (form.xreplace(values) for form in forms)
    return [Fraction(int(number.p), int(number.q)) for number in exact]


def closed(correlation: Fraction, d2: Fraction, r2: Fraction, t: int) -> Vector:
    """The closed form of the solution of (7), t >= 2."""
    if t == 2:
        first = d2 * (1 - correlation) / (2 * d2 * (1 - correlation) + r2)
        return [first, 1 - first]
    at = sizes(correlation, d2, r2) | {page.further: t - 3}
    first, middle, last, now, total = _at(at, ours.FIRST, ours.MIDDLE, ours.LAST_PAST, ours.CURRENT, ours.DENOMINATOR)
    return [number / total for number in (first, *[middle] * (t - 3), last, now)]


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
    at = sizes(correlation, d2, r2) | {ours.beta: gap, ours.gamma: 1 - gap, ours.kept: last - 2}
    long = (ours.LONG_FIRST, ours.LONG_LAST, ours.LONG_CURRENT)
    first, *rest, now = _at(at, *((ours.ONE_FIRST, ours.ONE_CURRENT) if last == 1 else long))
    middle, dropped = [first * (1 - correlation)] * max(last - 2, 0), [_ZERO] * (t - 1 - last)
    unscaled = [first, *middle, *rest, *dropped, now]
    return [number / sum(unscaled) for number in unscaled]


@cache
def searched(correlation: Fraction, d2: Fraction, r2: Fraction, t: int) -> Vector:
    """The optimum among weights that are not negative, by trying every support: the one that satisfies KKT."""
    Q = matrix_Q(correlation, d2, r2, t)
    for chosen in (one for size in range(1, t + 1) for one in combinations(range(t), size)):
        p, multiplier = weights(correlation, d2, r2, t, chosen)
        if min(p) >= 0 and min(dot(row, p) for row in Q) >= -multiplier:
            return p
    raise ArithmeticError(f"no support is optimal for alpha = {correlation}, D^2 = {d2}, R^2 = {r2}, t = {t}")


def row_points() -> Iterator[Point]:
    """The sums that a row of Q p meets, from the solution of (7) and not from the closed form."""
    for a, d2, r2, t in settings(3):
        p, _ = weights(a, d2, r2, t)
        at = sizes(a, d2, r2) | {page.further: t - 3}
        scale = ours.DENOMINATOR.xreplace(at)
        before = [scale * dot([a ** (row - i) for i in range(row)], p[:row]) for row in range(t)]
        after = [scale * dot([a ** (i - row) for i in range(row + 1, t)], p[row + 1 :]) for row in range(t)]
        yield Point(at, part="1")
        yield Point(at | {k: t - 3, ours.after(k): after[0]}, part="2")
        for row in range(1, t - 2):
            here = {k: row - 1, ours.j: t - 3 - row, ours.before(k): before[row], ours.after(ours.j): after[row]}
            yield Point(at | here, part="3")
        for part in ("4", "5"):
            yield Point(at | {k: t - 3, ours.before(k): before[t - 2]}, part=part)


def nonnegative_points() -> Iterator[Point]:
    """Kept and dropped rounds of the optimum, and other weights that are not negative."""
    for a, d2, r2, t in settings(2):
        last = support(a, d2, r2, t)
        gap = a ** (t - last)
        at = sizes(a, d2, r2) | {ours.beta: gap, ours.gamma: 1 - gap} | ({ours.kept: last - 2} if last >= 2 else {})
        first, second = ("1", "2") if last >= 2 else ("3", "4")
        yield Point(at, part=first)
        for dropped in range(last + 1, t):
            powers = {ours.near: a ** (dropped - last), ours.far: a ** (t - dropped)}
            yield Point(at | powers | {ours.next_power: a ** (t - last - 1)}, part=second)
        for place in sorted({0, t - 2, t - 1}):
            others = [Fraction(int(i == place)) for i in range(t)]
            yield Point(compared(a, d2, r2, closed_nonnegative(a, d2, r2, t), others), part="5")


def _agreement(part: str, wrong: list[Setting], words: str) -> Iterator[Evidence]:
    total = len(settings(2))
    data = {"instance": [f"alpha = {a}, D^2 = {d2}, R^2 = {r2}, t = {t}" for a, d2, r2, t in wrong]}
    summary = f"In {total - len(wrong)} of {total} settings the closed form is the {words}."
    yield Evidence("property", part, "printed", REFUTES if wrong else SUPPORTS, summary, data)


def _signed(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    wrong = [case for case in settings(2) if closed(*case) != weights(*case)[0]]
    yield from _agreement("1", wrong, "solution of (7), t = 2 included")


def _nonnegative(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    wrong = [case for case in settings(2) if closed_nonnegative(*case) != searched(*case)]
    yield from _agreement("5", wrong, "optimum found by trying every support")


CHECKS = {
    "cfl.thm4_9": Check(optimal_points),
    "cfl.lemB9": Check(further=_exponents),
    "cfl.table2": Check(further=_table),
    "cfl.ex1": Check(rising_points),
    "ours.cfl_correlated_weights": Check(row_points, further=_signed),
    "ours.cfl_nonnegative_weights": Check(nonnegative_points, further=_nonnegative),
}
