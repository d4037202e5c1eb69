"""Theorem 4.9, Lemma B.9, Table 2 and Example 1: (7) solved in exact rationals, drifts by all their signs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from typing import Any

from cflag_theory.claims.cfl.symbols import A2, D2, R2
from cflag_theory.claims.cfl.symbols import correlation as alpha
from cflag_theory.claims.cfl.weights.correlated import (
    TABLE_2,
    Row,
    alpha_1,
    before,
    before_1,
    before_2,
    delta,
    delta_2,
    drift2,
    excess,
    first_high,
    first_low,
    form,
    front,
    further,
    grad2,
    high,
    kms,
    least_weight,
    low,
    norm2,
    now,
    now_1,
    now_2,
    other,
    pair,
    past_sum,
    power,
    rise,
    sum_x,
    value,
    x,
)
from cflag_theory.claims.cfl.weights.correlated import D2_positive as D2_here
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import k
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence

Vector = list[Fraction]
#: Signs of the rounds with their probabilities.
Draws = list[tuple[Fraction, tuple[int, ...]]]


def solve(matrix: Sequence[Sequence[Fraction]], right: Sequence[Fraction]) -> Vector:
    """Gauss and Jordan, exactly.

    Raises
    ------
    StopIteration
        If the matrix is singular.
    """
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
    return [
        [d2 * correlation ** abs(i - j) + (r2 if i < t - 1 and j < t - 1 else 0) for j in range(t)] for i in range(t)
    ]


def weights(
    correlation: Fraction, d2: Fraction, r2: Fraction, t: int, support: Sequence[int] | None = None
) -> tuple[Vector, Fraction]:
    """The weights and lambda of (7), with weights on `support` only where it is given."""
    chosen = list(range(t)) if support is None else list(support)
    Q = matrix_Q(correlation, d2, r2, t)
    system = [[Q[i][j] for j in chosen] + [Fraction(1)] for i in chosen]
    found = solve([*system, [Fraction(1)] * len(chosen) + [Fraction(0)]], [Fraction(0)] * len(chosen) + [Fraction(1)])
    p = [Fraction(0)] * t
    for place, weight in zip(chosen, found, strict=False):
        p[place] = weight
    return p, found[-1]


def quadratic(Q: Sequence[Sequence[Fraction]], p: Sequence[Fraction]) -> Fraction:
    """p^T Q p."""
    return sum((a * q * b for a, row in zip(p, Q, strict=True) for q, b in zip(row, p, strict=True)), Fraction(0))


def sizes(correlation: Fraction, d2: Fraction, r2: Fraction) -> dict[Any, Any]:
    """What (7) is made of, besides t."""
    return {alpha: correlation, delta: 1 - correlation, D2: d2, R2: r2}


def entries(correlation: Fraction, d2: Fraction, r2: Fraction, vector: Sequence[Fraction]) -> dict[Any, Any]:
    """Values of the sums over a vector of k + 1 entries."""
    last = len(vector) - 1
    kernel = matrix_Q(correlation, Fraction(1), Fraction(0), len(vector))
    found: dict[Any, Any] = {k: last, x(k): vector[0]}
    for place in range(last + 1):
        # The definitions begin with the last entry and take one more in front at a time.
        rest = vector[last - place :]
        rows = [row[: place + 1] for row in kernel[: place + 1]]
        sums = {
            x: rest[0],
            form: quadratic(rows, rest),
            front: sum((correlation**i * entry for i, entry in enumerate(rest)), Fraction(0)),
            norm2: sum((entry**2 for entry in rest), Fraction(0)),
        }
        found |= {sequence(place): value for sequence, value in sums.items()}
        if place == last:
            found |= {sequence(k): value for sequence, value in sums.items()}
    return {
        **found,
        past_sum: sum(vector[:-1], Fraction(0)),
        **sizes(correlation, d2, r2),
    }


_ALPHAS = (Fraction(0), Fraction(1, 2), Fraction(9, 10))
_VECTORS = ((0, 1), (1, -1), (1, 0, -1), (2, -3, 1), (1, -1, 1, -1, 1), (1,), (0, 0))


def definite_points() -> Iterator[Point]:
    """x^T Q x, with D = 0 among the instances."""
    for correlation, vector, d2, r2 in product(
        _ALPHAS, _VECTORS, (Fraction(0), Fraction(1, 9), Fraction(4)), (Fraction(1), Fraction(0))
    ):
        exact = [Fraction(entry) for entry in vector]
        values = entries(correlation, d2, r2, exact)
        words = f"alpha = {correlation}, D^2 = {d2}, R^2 = {r2}, x = ({', '.join(map(str, vector))})."
        yield Point(values, (words,))


def optimal_points() -> Iterator[Point]:
    """The solution of (7) and other weights; a bound that the solution makes useless."""
    singular = ([Fraction(0), Fraction(0), Fraction(1)], Fraction(0), [Fraction(1), Fraction(-1), Fraction(0)])
    yield from _against(Fraction(1, 2), Fraction(0), Fraction(1), *singular)
    changes = ([0, 0, 0], [1, -1, 0], [0, 1, -1], [2, -1, -1])
    for correlation, d2, r2, change in product(
        _ALPHAS, (Fraction(1), Fraction(4)), (Fraction(0), Fraction(1)), changes
    ):
        p, multiplier = weights(correlation, d2, r2, 3)
        yield from _against(correlation, d2, r2, p, multiplier, [Fraction(entry) for entry in change])
    for t in (3, 4):
        story = f"Independent signs: xi = (s_1, ..., s_{t}) D. All {2**t} draws are enumerated."
        yield bounded(Fraction(4, 5), Fraction(1), Fraction(1), independent(t), story)
    for row in TABLE_2:
        correlation = Fraction(row.alpha)
        story = (
            "A chain of signs s_1, ..., s_4, each the one before with probability (1+alpha)/2, and a fair sign s; xi = "
            "D (s_1, s_2, s, s_4). All 32 draws are enumerated: every 𝔼 <xi_s, xi_t> is alpha^|s-t| D^2 or 0."
        )
        yield bounded(correlation, Fraction(row.D), Fraction(row.R), chain(correlation, 4), story)


def _against(
    correlation: Fraction, d2: Fraction, r2: Fraction, p: Vector, multiplier: Fraction, change: Vector
) -> Iterator[Point]:
    Q = matrix_Q(correlation, d2, r2, len(p))
    rows = [sum((q * a for q, a in zip(row, p, strict=True)), Fraction(0)) for row in Q]
    if any(row != -multiplier for row in rows) or sum(p) != 1:
        raise ArithmeticError(f"p = {p} does not solve (7) for alpha = {correlation}, D^2 = {d2}, R^2 = {r2}")
    moved = [a + b for a, b in zip(p, change, strict=True)]
    values = entries(correlation, d2, r2, change) | {sum_x: sum(change)}
    story = tuple(f"{name} = ({', '.join(map(str, weights))})." for name, weights in (("p, by (7),", p), ("p'", moved)))
    compared = values | {value: quadratic(Q, p), other: quadratic(Q, moved)}
    # The solution minimises, and is the only minimiser.
    yield Point(compared, story, "1")
    unseen = "x = p' - p and the rows of Q p are -lambda: both are computed with the instance, in fractions"
    yield Point(compared, story, "3", unseen=unseen)


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
    """Drifts that Assumption 7 allows, D times the signs drawn, with the solution of (7).

    Raises
    ------
    ArithmeticError
        If the drifts violate the assumption, or have a mean.
    """
    t = len(draws[0][1])
    p, _ = weights(correlation, d2, r2, t)
    products = {
        (i, j): d2 * sum((chance * draw[i] * draw[j] for chance, draw in draws), Fraction(0))
        for i, j in product(range(t), repeat=2)
    }
    if any(found > correlation ** abs(i - j) * d2 for (i, j), found in products.items()):
        raise ArithmeticError(f"the drifts for alpha = {correlation} violate Assumption 7")
    if any(sum((chance * draw[i] for chance, draw in draws), Fraction(0)) for i in range(t)):
        raise ArithmeticError(f"the drifts for alpha = {correlation} have a mean")
    moment = sum(
        (chance * sum(a * s for a, s in zip(p, draw, strict=True)) ** 2 for chance, draw in draws), Fraction(0)
    )
    values = {
        drift2: d2 * moment,
        kms: quadratic(matrix_Q(correlation, Fraction(1), Fraction(0), t), p),
        # The pair of rounds 1 and 2.
        pair: products[0, 1],
        power: correlation,
        least_weight: min(p),
        D2: d2,
        A2: 0,
        grad2: 0,
    }
    words = f"t = {t}, alpha = {correlation}, R^2 = {r2}; (7) gives p = ({', '.join(map(str, p))})."
    pairs = [{pair: found, power: correlation ** abs(i - j)} for (i, j), found in products.items()]
    return Point(values, (words, drifts), "2", members={"Assumption 7": pairs})


def rounded(number: Fraction) -> str:
    """Four digits after the point, a half away from zero, and no negative zero."""
    shifted = int(abs(number) * 10_000 + Fraction(1, 2))
    sign = "-" if number < 0 and shifted else ""
    return f"{sign}{shifted // 10_000}.{shifted % 10_000:04d}"


def reproduced(row: Row, *, squared_D: bool, squared_R: bool) -> bool:
    """Whether (7) gives the printed row, its columns holding D^2 and R^2 (or D and R)."""
    d2 = Fraction(row.D) if squared_D else Fraction(row.D) ** 2
    r2 = Fraction(row.R) if squared_R else Fraction(row.R) ** 2
    return tuple(map(rounded, weights(Fraction(row.alpha), d2, r2, 4)[0])) == row.p


def _table(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    names = [f"alpha = {row.alpha}, {row.D}, {row.R}" for row in TABLE_2]
    by_reading = {
        f"{'D^2' if d else 'D'}, {'R^2' if r else 'R'}": [reproduced(row, squared_D=d, squared_R=r) for row in TABLE_2]
        for d, r in product((False, True), repeat=2)
    }
    table = {
        reading: [name for name, good in zip(names, found, strict=True) if good]
        for reading, found in by_reading.items()
    }
    for on, reading in (("printed", "D, R"), ("repair", "D^2, R^2")):
        good = by_reading[reading]
        summary = f"Columns read as {reading}: {sum(good)} of {len(good)} rows are reproduced."
        finding = SUPPORTS if all(good) else REFUTES
        yield Evidence(
            "recomputation", "1", on, finding, summary, {"instance": names, "reproduced": table, "compared": len(good)}
        )


def _exponents(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    """Q_ij of App. B.8 against (34), at whole exponents: alpha = 1/2, D = 2 and R = 1, four rounds."""
    half, d2, r2 = Fraction(1, 2), 4, 1
    right = matrix_Q(half, Fraction(d2), Fraction(r2), 4)
    past = [[i < 3 and j < 3 for j in range(4)] for i in range(4)]
    gaps = [[abs(i - j) for j in range(4)] for i in range(4)]
    entries = {
        "printed": [
            [half ** (g * d2 + r2 * p) for g, p in zip(*rows, strict=True)] for rows in zip(gaps, past, strict=True)
        ],
        "repair": [
            [half**g * d2 + r2 * p for g, p in zip(*rows, strict=True)] for rows in zip(gaps, past, strict=True)
        ],
    }
    for on, found in entries.items():
        equal = sum(a == b for rows in zip(found, right, strict=True) for a, b in zip(*rows, strict=True))
        words = f"alpha = 1/2, D = 2, R = 1, t = 4: {equal} of 16 entries are those of (34); Q_11 is {found[0][0]}."
        finding = SUPPORTS if equal == 16 else REFUTES
        yield Evidence(
            "recomputation",
            "2",
            on,
            finding,
            words,
            {"instance": [str(row[0]) for row in found], "compared": len(found) ** 2},
        )


def rising_points() -> Iterator[Point]:
    """p_t of (7) at two values of alpha, solved without the closed form."""
    grid = (Fraction(0), Fraction(3, 10), Fraction(1, 2), Fraction(4, 5), Fraction(99, 100))
    for t, d2, r2 in product((3, 4, 6), (Fraction(1), Fraction(4)), (Fraction(0), Fraction(1, 4), Fraction(9))):
        for a, b in pairwise(grid):
            inputs: dict[Any, Any] = {alpha_1: a, rise: b - a, delta_2: 1 - b, D2_here: d2, R2: r2, further: t - 3}
            u_1, v_1 = (share(alpha_1, rise + delta_2).subs(inputs) for share in (now, before))
            u_2, v_2 = (share(alpha_1 + rise, delta_2).subs(inputs) for share in (now, before))
            found = {now_1: u_1, before_1: v_1, now_2: u_2, before_2: v_2, excess: u_2 * v_1 - u_1 * v_2}
            solved = {low: weights(a, d2, r2, t)[0][-1], high: weights(b, d2, r2, t)[0][-1]}
            first = {first_low: weights(a, d2, r2, t)[0][0], first_high: weights(b, d2, r2, t)[0][0]}
            story = (f"t = {t}, D^2 = {d2}, R^2 = {r2}; (7) solved for alpha = {a} and {b}.",)
            yield Point(inputs | found | solved, story, "1")
            yield Point(inputs | first, story, "2")


CHECKS = {
    "cfl.thm4_9": Check(optimal_points),
    "cfl.lemB9": Check(definite_points, further=_exponents),
    "cfl.table2": Check(further=_table),
    "cfl.ex1": Check(rising_points),
}
