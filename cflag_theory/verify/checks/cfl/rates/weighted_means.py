"""App. B.4.4: means over the rounds computed term by term, in fractions, with the weights q_t."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from cflag_theory.claims.cfl.rates import weighted_means as claim
from cflag_theory.claims.cfl.symbols import D2, G2, R2, T, t
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point

_HALF = Fraction(1, 2)
_SIZES = (Fraction(0), Fraction(1, 9), Fraction(1), Fraction(25))


def least_noise(index: int, D2: Fraction, R2: Fraction) -> Fraction:
    """min of D^2 sum p^2 + (1 - p_t)^2 R^2 with the weights of Lemma B.4, from the weights themselves."""
    total = index * D2 + (index - 1) * R2
    past, now = D2 / total, ((index - 1) * R2 + D2) / total
    return D2 * ((index - 1) * past**2 + now**2) + (1 - now) ** 2 * R2


def loss(index: int, D2: Fraction, R2: Fraction) -> Fraction:
    """1 - p_t with the weights of Lemma B.4."""
    return (index - 1) * D2 / (index * D2 + (index - 1) * R2)


def mean(values: list[Fraction], x: Fraction) -> Fraction:
    """The mean of the values of rounds 1, 2, ... with weights (1 - x)^{1-t}."""
    weights = [1 / (1 - x) ** index for index in range(len(values))]
    return sum((q * value for q, value in zip(weights, values, strict=True)), Fraction(0)) / sum(weights)


def inverse(index: int, D2: Fraction, R2: Fraction) -> Fraction:
    """1/(t - R^2/(R^2 + D^2))."""
    return 1 / (index - R2 / (R2 + D2))


def partial_fraction_points() -> Iterator[Point]:
    """Small rounds and sizes, wherever the weights are defined; D^2 times the left side is Lemma B.4's minimum."""
    for index, d, r in product((1, 2, 5), _SIZES, _SIZES):
        if index * d + (index - 1) * r:
            assert least_noise(index, d, r) == d * (d + (index - 1) * r) / (index * d + (index - 1) * r)
            yield Point({t: index, D2: d, R2: r})


def worlds() -> Iterator[tuple[int, Fraction, Fraction, Fraction]]:
    """T, D^2, R^2 and mu eta/2."""
    yield from product((2, 7), (Fraction(1), Fraction(1, 100)), _SIZES, (Fraction(0), _HALF))


def lnT_points() -> Iterator[Point]:
    """Every case with the C of the repair, which grows with R^2/D^2."""
    for rounds, d, r, x in worlds():
        G = Fraction(1, 4) if x else Fraction(0)
        indices = range(1, rounds + 1)
        noise = mean([G + least_noise(index, d, r) for index in indices], x)
        weighted = mean([inverse(index, d, r) for index in indices], x)
        values: dict[Any, Any] = {
            T: rounds,
            claim.drift2: d,
            R2: r,
            G2: G,
            claim.x: x,
            claim.noise: noise,
            claim.weighted: weighted,
            claim.rho: r / d,
            claim.C: 4 + 3 * (r / d) / 2,
        }
        yield Point(values)


CHECKS = {
    "cfl.partial_fraction": Check(partial_fraction_points),
    "cfl.lnT": Check(lnT_points),
}
