"""(23) and phi_t in second rounds, with the weights of Theorem 4.1, over all draws."""

from __future__ import annotations

from collections.abc import Iterator

import sympy as sp

from cflag_theory.claims.cfl.one_round import phi as claim
from cflag_theory.claims.cfl.one_round.progress import c_B, dist, dist2, gap, next2, rho
from cflag_theory.claims.cfl.one_round.recursion import c_G, rho2
from cflag_theory.claims.cfl.one_round.thresholds import long_root, root_c
from cflag_theory.claims.cfl.symbols import K, N, eta, eta_g, mu, sigma2
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.cfl import WorldRound
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds

_ZERO, _ONE, _HALF = Fraction(0), Fraction(1), Fraction(1, 2)


def phi_points() -> Iterator[Point]:
    """Starts at w* and away from it, with eta = 1/20 below the bound with 12, which is 0.0538."""
    for start, drift, loss, noise in (
        (_ZERO, _ONE, _ZERO, _ZERO),
        (_ZERO, _ONE, _HALF, _HALF),
        (Fraction(3), _ZERO, _HALF, _HALF),
        (Fraction(3), _HALF, _HALF, _HALF),
    ):
        first = drift**2 / (2 * drift**2 + loss**2)
        weights = ((_ONE,), (first, 1 - first))
        world = DriftRounds(weights, start=start, eta_l=Fraction(1, 20), D=drift, R=loss, sigma=noise)
        pulled = first * loss
        at = WorldRound(world)
        away, drifts = at[dist], at[c_G]
        values = {
            root_c: 1,
            long_root: sp.sqrt(7),
            claim.c_1: 2 * drifts + noise**2 + 2 * pulled**2,
            claim.c_2: 5 * (drifts + pulled**2 + noise**2 / 2),
            claim.phi_t: 2 * pulled * away,
            claim.start_dist: abs(start),
        }
        named = (L, mu, eta, eta_g, K, N, c_B, c_G, rho2, sigma2, rho, gap, dist, dist2, next2)
        yield at.point(*named, more=values)


CHECKS = {
    "cfl.phi": Check(
        phi_points,
    )
}
