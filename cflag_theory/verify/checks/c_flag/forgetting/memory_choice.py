"""(166) and (181): linear tasks, on which h~ and omega of every memory are exact."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from cflag_theory.claims.c_flag.forgetting import memory_choice as claim
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point

_ROUNDS = 4


def _memories(past: tuple[int, ...], current: int, alpha: Fraction, rounds: int) -> Iterator[Point]:
    """Every memory of one component of f, the mean of s x over `past`; g = current x, beta = 1/60, L = E = 1."""
    beta = Fraction(1, 60)
    # Assumptions 2 and 3, with m = ||b||^2 / ||grad f||^2 and r at every x.
    mean = Fraction(sum(past), len(past))
    m = max((slope - mean) ** 2 / mean**2 for slope in past)
    r = Fraction(max(map(abs, past)), abs(current))
    assert m < 1
    assert alpha < 2 / (1 + m)
    sets = [kept for size in range(len(past) + 1) for kept in combinations(past, size)]
    slopes = [Fraction(sum(kept) + current, len(kept) + 1) for kept in sets]
    # x_0 - x_T by the round update (24), whose gradients are the slopes.
    moved = [rounds * (alpha * slope + beta * current) for slope in past]
    lost = [Fraction(slope + current, 2) * way for slope, way in zip(past, moved, strict=True)]
    best = [max(slope * way for slope in slopes) for way in moved]
    spread = [Fraction(slope - current, 2) ** 2 for slope in past]
    q = 1 - alpha
    values = {
        claim.lost_mean: sum(lost) / len(past),
        claim.best_mean: sum(best) / len(past),
        claim.largest: max(best),
        claim.omega2_mean: sum(spread) / len(past),
        # (180).
        claim.first: (16 * r * q + 22) / rounds,
        claim.second: Fraction(11, 60) + 2 * r / 15 * q,
    }
    drawn = [{claim.lost: lost[j], claim.best: best[j], claim.omega2: spread[j]} for j in range(len(past))]
    for slope, own in zip(past, drawn, strict=True):
        words = (
            f"N = E = L = 1, past components {', '.join(f'{s} x' for s in past)}, of which the memory keeps one (m = "
            f"{m}), g = {current} x, r = {r}, alpha = {alpha}, beta = {beta}, T = {rounds}; this one keeps {slope} x."
        )
        yield Point(values | own, (words,), members={"(166)": drawn})


def points() -> Iterator[Point]:
    """Tasks that conflict and tasks that agree; the largest Delta may be that of C, of M u C or of P u C."""
    yield from _memories((3, 6), -1, Fraction(1, 240), _ROUNDS)
    yield from _memories((1, 2), 1, Fraction(1, 2), _ROUNDS)
    yield from _memories((1, 1), -1, Fraction(1, 4), 1)
    yield from _memories((2, 3, 4), -2, Fraction(1, 60), 2)


CHECKS = {
    "cflag.eq166": Check(
        points,
    )
}
