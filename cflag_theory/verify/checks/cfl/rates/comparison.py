"""The terms that are left out, and the comparison with FedAvg: grids of exact instances of the printed brackets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from cflag_theory.claims.cfl.nonconvex.rate import c_R1, shares
from cflag_theory.claims.cfl.rates import comparison as claim
from cflag_theory.claims.cfl.rates.remarks import D2_R2, G2_D2_R2
from cflag_theory.claims.cfl.rates.theorems import eps
from cflag_theory.claims.cfl.rates.weighted_means import phi
from cflag_theory.claims.cfl.symbols import D2, G2, R2, K, N, sigma2
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point

#: G^2, D^2, R^2, and the roots of c_A and c_B.
_DRIFTS = (
    *((Fraction(0), Fraction(d**2), Fraction(0), Fraction(0), Fraction(d)) for d in (1, 2)),
    (Fraction(4), Fraction(0), Fraction(1), Fraction(2), Fraction(0)),
    (Fraction(1, 4), Fraction(1), Fraction(3), Fraction(1), Fraction(1, 4)),
)


def left_out() -> Iterator[Point]:
    """Squares, so that the roots are exact; where one kind of noise is alone the bounds are reached."""
    for (g2, d2, r2, a, b), root, size in product(_DRIFTS, (1, 8), (0, 1)):
        values: dict[Any, Any] = {G2: g2, D2: d2, R2: r2, D2_R2: d2 + r2, claim.inverse: root**2}
        values |= {claim.first: 1, claim.condition: 1, claim.noise: size * root**2, N: root**2, claim.root_N: root}
        values |= {claim.noise_root: size * root, claim.drift_root: root * b, claim.bias_root: root * a}
        yield Point(values)


def compared() -> Iterator[Point]:
    """Both brackets at the errors 1 and 4; the first phi of each is as large as the repair allows, or 0."""
    for (g2, d2, r2, *_), sigma in product((*_DRIFTS, (*map(Fraction, (0, 1, 1, 0, 0)),)), (0, 1)):
        fall, fedavg = d2**2 / (d2 + r2), g2 + d2 + sigma
        for error, lost in product((1, 4), (fall / fedavg, Fraction(3, 4))):
            if lost < 1:
                share = r2 / (r2 + d2)
                values: dict[Any, Any] = {G2: g2, D2: d2, R2: r2, D2_R2: d2 + r2, sigma2: sigma, N: 1, K: 1}
                values |= {eps: error, phi: error * lost, claim.left: error * (1 - lost), claim.fall: fall}
                values |= {shares: share, c_R1: share}
                words = (
                    f"G^2 = {g2}, D^2 = {d2}, R^2 = {r2}, sigma^2 = {sigma}, N = K = 1, epsilon = {error}, phi = "
                    f"{error * lost}: the left "
                    "side is of Theorem 4.1, the right side of Theorem 4.4 (for non-convex f, what R^2/(R^2 + D^2) "
                    "gives)."
                )
                yield Point(values, (words,))


def stateless() -> Iterator[Point]:
    """R = 0, where the roots are D and sqrt(G^2 + D^2): G small, and G large."""
    for g, d, both in ((Fraction(2, 5), Fraction(3, 10), Fraction(1, 2)), (Fraction(4), Fraction(3), Fraction(5))):
        values: dict[Any, Any] = {G2: g**2, D2: d**2, R2: 0, D2_R2: d**2, G2_D2_R2: both**2}
        story = f"mu = 1, R = 0, D = {d}, G = {g}."
        yield Point(values | {claim.drift_term: d, claim.stateless_term: both}, (story,))


def added() -> Iterator[Point]:
    """One part alone, where both sides of part "lower" agree, two, and three that are nearly alike."""
    for noise, g, d, root in ((0, 0, 1, 1), (3, 4, 0, 5), (6, 6, 7, 11)):
        yield Point({claim.noise_part: noise, claim.G: g, claim.D: d, claim.root_C: root})


CHECKS = {
    "cfl.dominant": Check(left_out),
    "cfl.faster": Check(compared),
    "cfl.table1_2022": Check(added),
    "cfl.rem4_4_2022": Check(stateless),
}
