"""A grid of exact numbers."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from cflag_theory.claims.cfl.nonconvex.descent import past, squares
from cflag_theory.claims.cfl.nonconvex.local_drift import c_B
from cflag_theory.claims.cfl.nonconvex.ours import coefficient as claim
from cflag_theory.claims.cfl.nonconvex.progress import earlier, earlier2, q, q_best
from cflag_theory.claims.cfl.symbols import A2, B2, D2, G2, R2, eta
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point

_HALF = Fraction(1, 2)


def coefficient_points() -> Iterator[Point]:
    """Weights 1/t for several t, time drifts on both sides of 1/(2 (L^2 + 1))."""
    drifts = (Fraction(0), _HALF, Fraction(2))
    for rounds, time, client, curvature in product((1, 2, 5), drifts, (0, 1), (Fraction(1, 10), Fraction(2))):
        share = Fraction(1, rounds)
        values = {
            squares: share,
            past: 1 - share,
            A2: time,
            B2: client,
            L: curvature,
            c_B: 1 + client + time * share,
        }
        for part in ("1", "2"):
            yield Point(values, part=part)
    yield from shorter_steps()


def shorter_steps() -> Iterator[Point]:
    """Numbers in place of 8: the coefficient falls through zero at 12 when A = B = 0 and p_t = 1."""
    for number, drift, weight in product((8, 12, 13, 16, 24), (Fraction(1), Fraction(6, 5)), (Fraction(1), _HALF)):
        share = Fraction(4, number)
        yield Point({claim.x: share, c_B: drift, past: 1 - weight}, part="3")


def weights_points() -> Iterator[Point]:
    """Weights on both sides of the optimum, in both regimes."""
    step = Fraction(1, 4)
    for rounds, loss2, curvature in product((1, 3), (0, 1, 4, 9), (_HALF, Fraction(1))):
        lead = 1 + curvature**2
        bend = lead * (1 + Fraction(1, rounds)) + (2 * curvature * step + curvature**2) * loss2
        best = (lead - Fraction(loss2, 2)) / bend
        for weight in {max(best, Fraction(0)), Fraction(0), _HALF, Fraction(1)}:
            for squared in {weight**2 / rounds, weight**2}:
                values = {
                    D2: 1,
                    R2: loss2,
                    G2: 1,
                    L: curvature,
                    eta: step,
                    earlier: rounds,
                    q: weight,
                    earlier2: squared,
                }
                if best >= 0:
                    yield Point({**values, q_best: best, claim.bend: bend}, part="1")
                else:
                    yield Point(values, part="2")


CHECKS = {
    "ours.cfl_nonconvex_coefficient": Check(coefficient_points),
    "ours.cfl_nonconvex_weights": Check(weights_points),
}
