"""The observations after the non-convex rate: the weights of Lemma B.4 in two rounds, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from cflag_theory.claims.cfl.nonconvex.local_drift import c_B
from cflag_theory.claims.cfl.rates.weighted_means import drift2
from cflag_theory.claims.cfl.symbols import A2, B2, R2, t
from cflag_theory.claims.cfl.weights.independent import past
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point


def observed() -> Iterator[Point]:
    """Rounds 1 to 5, with R = 0 too; A and B small enough for a negative c_0, or not."""
    sizes = (Fraction(0), Fraction(1), Fraction(9))
    for rounds, d2, r2, a2 in product((1, 2, 5), sizes[1:], sizes, (Fraction(0), Fraction(1, 4), Fraction(2))):
        b2 = a2 / 3
        values: dict[Any, Any] = {t: rounds, past: rounds - 1, drift2: d2, R2: r2, A2: a2, B2: b2, L: Fraction(1, 3)}
        story = f"L = 1/3, A^2 = {a2}, B^2 = {b2}, D^2 = {d2}, R^2 = {r2}, t = {rounds}."
        yield Point(values | {c_B: 1 + b2 + a2 / rounds}, (story,))


CHECKS = {
    "cfl.nc_observations": Check(observed),
}
