"""Lemmas 15 and 16: the concave quadratic, within the step sizes of the proofs and far beyond them, and random runs."""

from __future__ import annotations

from collections.abc import Iterator

from cflag_theory.claims.c_flag.local_steps.sums import error_sum, rho_sum
from cflag_theory.claims.engine.notation import E, L, beta, grad_g, k
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.local_steps.drift import concave_round
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.quantities.c_flag import of
from cflag_theory.verify.witnesses.instances import random_runs

# (E, components, beta): where the lemmas fail, boundaries, and where the sharper bounds are nearly attained.
_FAR = ((4, 1, Fraction(8)), (3, 1, Fraction(50)), (4, 2, Fraction(12)), (3, 2, Fraction(68)))
_WITHIN = tuple(
    (steps, n, share / steps)
    for steps, n in ((1, 1), (1, 2), (2, 1), (2, 2), (3, 2), (40, 1), (32, 64))
    for share in (Fraction(1, 4), Fraction(1, 12), Fraction(1, 100))
)


def concave_sums(steps: int, n: int, step: Fraction) -> tuple[Fraction, Fraction]:
    """||sum_k rho_k|| and ||sum_k e_k|| of `concave_round`."""
    rho, error = of(concave_round(steps, n, step), rho_sum, error_sum).values()
    return rho, error


def points() -> Iterator[Point]:
    """One exact round each."""
    for steps, n, step in (*_FAR, *_WITHIN):
        at = concave_round(steps, n, step)
        yield Point(of(at, rho_sum, error_sum, beta, L, E, k, grad_g), (at.words,))


def samples(seed: int, count: int, limit: float) -> Iterator[Sample]:
    """Every round of random runs."""
    for run in random_runs(seed, count, beta_limit=limit):
        yield Sample(of(run, rho_sum, error_sum, beta, L, E, k, grad_g))


def _within(limit: float) -> Check:
    return Check(points, lambda seed, count: samples(seed, count, limit))


CHECKS = {
    "cflag.lemma15_1": _within(1 / 4),
    "cflag.lemma15_2": _within(1 / 4),
    "cflag.lemma16": _within(1 / 12),
}
