"""The sum of Lemma A.1 term by term."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.symbols import T, eta
from cflag_theory.claims.cfl.techniques import summation as claim
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point

_R = sp.Rational


def linear_sum(d: Sequence[Any], q: Any, step: Any) -> Any:
    """Phi_T of Lemma A.1 as printed, for d_0, ..., d_{T+1}."""
    weights = [q ** (1 - s) for s in range(len(d))]
    terms = (weights[s - 1] / step * q * d[s - 1] - weights[s] / step * d[s] for s in range(1, len(d)))
    return sp.sympify(sum(terms)) / sum(weights[1:])


def lemA1_points() -> Iterator[Point]:
    """mu eta_max = ln 2 or ln 4, so that the chosen step is rational; mu = 1."""
    sequences = ((1, 0, 0), (1, 1, 1), (3, 2, 1), (1, 5, 0), (0, 1, 2), (1, 0, 0, 0), (4, 2, 1, 0, 0), (1, 1, 1, 1))
    for power in (1, 2):
        q = _R(1, 2**power)
        step = 1 - q
        for d in sequences:
            Phi = linear_sum(d, q, step)
            yield Point(
                {
                    claim.mu: 1,
                    claim.eta_max: power * sp.log(2),
                    eta: step,
                    claim.q: q,
                    claim.growth: 2**power,
                    T: len(d) - 2,
                    claim.d(0): d[0],
                    claim.Phi: Phi,
                }
            )


CHECKS = {}
