"""App. B.4.4: phi_t averaged in fractions, with the weights q_t."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.rates import bias as claim
from cflag_theory.claims.cfl.rates import weighted_means as rates
from cflag_theory.claims.cfl.symbols import T
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.rates.weighted_means import inverse, loss, mean, worlds
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence


def phi_points() -> Iterator[Point]:
    """Part 1 for all, part 2's repair where mu = 0. One hundred rounds with mu eta = 1/10 are within the step size."""
    long = ((100, Fraction(1), Fraction(0), Fraction(1, 20)), (100, Fraction(1), Fraction(1), Fraction(1, 20)))
    extreme = ((6, Fraction(1), Fraction(1, 100), Fraction(99, 100)),)
    for rounds, d, r2, x in (*worlds(), *long, *extreme):
        # R must be rational.
        r = Fraction(sp.sqrt(r2) if r2 != Fraction(1, 9) else sp.Rational(1, 3))
        indices = range(1, rounds + 1)
        phi = mean([2 * r * loss(index, d, r2) for index in indices], x)
        values: dict[Any, Any] = {
            T: rounds,
            rates.drift2: d,
            claim.R: r,
            rates.x: x,
            claim.distance: 1,
            rates.phi: phi,
            rates.weighted: mean([inverse(index, d, r2) for index in indices], x),
            rates.plain(T): sum((inverse(index, d, r2) for index in indices), Fraction(0)),
            claim.c: 1,
        }
        values[rates.plain(rounds)] = values[rates.plain(T)]
        yield Point(values, part="1")
        if x == 0:
            yield Point(values, part="2")


def late(rounds: int) -> tuple[Fraction, Fraction]:
    """phi at D = R = ||w_0 - w*|| = 1 and mu eta = 1/10, and what `claims` proves it to exceed."""
    phi = mean([2 * loss(index, Fraction(1), Fraction(1)) for index in range(1, rounds + 1)], Fraction(1, 20))
    return phi, 1 - Fraction(1600, rounds)


def _fixed_step(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    for rounds in (40, 120):
        phi, least = late(rounds)
        words = f"D = R = 1, mu eta = 1/10, T = {rounds}: phi is {float(phi):.6g} ||w_0 - w*||"
        words += f", so 2 T (1 - phi) = {float(2 * rounds * (1 - phi)):.4g}, which is to grow like c ln T."
        finding = REFUTES if phi >= least else SUPPORTS
        yield Evidence("property", "2", "printed", finding, words, {"phi": str(phi), "least": str(least)})


CHECKS = {
    "cfl.phi_rate": Check(
        phi_points,
        further=_fixed_step,
    )
}
