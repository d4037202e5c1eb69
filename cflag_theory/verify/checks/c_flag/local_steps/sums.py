"""Lemmas 15 and 16: the concave quadratic, within the step sizes of the proofs and far beyond them, and random runs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from cflag_theory.claims.c_flag.local_steps.sums import error_sum, rho_sum
from cflag_theory.claims.engine.notation import E, L, beta, grad_g, k
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.local_steps.drift import concave_round, root
from cflag_theory.verify.evidence import Point, Sample
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
    trace = concave_round(steps, n, step)
    return root(trace.column("rho_sum2")[0, 0]), root(trace.column("error_sum2")[0, 0])


def points() -> Iterator[Point]:
    """One exact round each."""
    for steps, n, step in (*_FAR, *_WITHIN):
        rho, error = concave_sums(steps, n, step)
        yield Point(
            {rho_sum: rho, error_sum: error, beta: step, L: 1, E: steps, k: steps - 1, grad_g: 1},
            (
                f"N = 1, {n} component{'s' if n > 1 else ''} -x^2/2 + x (L = 1), x_t = 0, ||grad g(x_t)|| = 1; "
                f"E = {steps}, beta = {step}, so beta L E = {step * steps}; the first component is refreshed at every "
                "step.",
                f"||sum_k rho_k|| = {float(rho):.8g} and ||sum_k e_k|| = {float(error):.8g}.",
            ),
        )


def samples(seed: int, count: int, limit: float) -> Iterator[Sample]:
    """Every round of random runs."""
    for run in random_runs(seed, count, beta_limit=limit):
        yield Sample(
            {
                rho_sum: run.trace.root("rho_sum2"),
                error_sum: run.trace.root("error_sum2"),
                beta: run.beta,
                L: max(run.L, run.L_component),
                E: run.local_steps,
                k: run.local_steps - 1,
                grad_g: run.trace.root("grad_g2"),
            }
        )


def _within(limit: float) -> Check:
    return Check(points, lambda seed, count: samples(seed, count, limit))


CHECKS = {
    "cflag.lemma15_1": _within(1 / 4),
    "cflag.lemma15_2": _within(1 / 4),
    "cflag.lemma16": _within(1 / 12),
}
