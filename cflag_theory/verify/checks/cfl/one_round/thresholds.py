"""The step sizes after (22), c_1 and c_2 at rational roots."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from cflag_theory.claims.cfl.one_round import thresholds as claim
from cflag_theory.claims.cfl.one_round.progress import c_B
from cflag_theory.claims.cfl.one_round.recursion import c_G, rho2
from cflag_theory.claims.cfl.symbols import K, N, eta, eta_g, sigma2
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point

_ONE, _HALF = Fraction(1), Fraction(1, 2)


def step_values(smoothness: Fraction, step: Fraction, g: Fraction, c: Fraction) -> dict[Any, Any]:
    """L, eta, eta_g and c_pB."""
    return {L: smoothness, eta: step, eta_g: g, c_B: c}


def _steps() -> Iterator[dict[Any, Any]]:
    """Steps at the bounds with 6 and 12, and half of the latter, where all roots are rational."""
    # sqrt(3 + 4 v) - 2 sqrt(v) = s at sqrt(v) = (3/s - s)/4, with v = eta_g^2 c.
    for s, g, smoothness in product(
        (_HALF, Fraction(1, 3), Fraction(1, 50)), (_ONE, _HALF, Fraction(2)), (_ONE, Fraction(5))
    ):
        root_v = (3 / s - s) / 4
        root_c, long_root = root_v / g, g * (s + 2 * root_v)
        if root_c < 1:
            continue
        for factor in (6, 12, 24):
            step = (long_root - 2 * g**2 * root_c) / (factor * smoothness * root_c)
            known = {claim.root_c: root_c, claim.long_root: long_root}
            yield step_values(smoothness, step, g, root_c**2) | known


def step_points() -> Iterator[Point]:
    """Coefficients and ratios at those steps."""
    for values in _steps():
        words = f"L = {values[L]}, eta = {values[eta]}, eta_g = {values[eta_g]}, c_pB = {values[c_B]}."
        yield Point(values, (f"{words} The left side is what the line bounds, the right side its bound.",))


def constant_points() -> Iterator[Point]:
    """c_1 and c_2 with drifts, loss and noise one by one and together."""
    sizes = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, Fraction(1, 3), 2))
    for values, (drift, loss, noise) in product(_steps(), sizes):
        words = (
            f"L = {values[L]}, eta = {values[eta]}, eta_g = {values[eta_g]}, c_pB = {values[c_B]}, c_pG = {drift}, c_R "
            f"= {loss}, sigma^2 = {noise}, K = 2, N = 3. On the left the terms of (21), on the right what the constant "
            f"makes of them."
        )
        yield Point({**values, c_G: drift, rho2: loss, sigma2: noise, K: 2, N: 3}, (words,))


CHECKS = {
    "cfl.step6": Check(step_points),
    "cfl.step12": Check(step_points),
    "cfl.ratio_bound": Check(step_points),
    "cfl.c1": Check(constant_points),
    "cfl.c2": Check(constant_points),
}
