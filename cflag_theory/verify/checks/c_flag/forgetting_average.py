"""Lemmas 4 and 18: exact runs within the repairs, and the family that refutes, replayed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.c_flag.forgetting import average as claim
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import E, L, alpha, beta, m, r
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Array
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.instances.c_flag import SUMS, of
from cflag_theory.verify.instances.on_the_line import on_the_line
from cflag_theory.verify.instances.runs import Exact, Kept
from cflag_theory.verify.verdict import REFUTES, Evidence

_HALF = Fraction(1, 2)
#: T with a rational root.
ROUNDS = (1, 4, 9)


def past(scale: Fraction) -> list[list[tuple[Fraction, int]]]:
    return [[(1 + scale, 0), (1 - scale, 0)]]


def climbing(local: Fraction, rounds: int) -> Exact:
    """f = 0, g = -x^2/2, E = 1, x_0 = 1; alpha = 3/2 moves nothing."""
    return Exact(on_the_line([[(0, 0)]], [[(-1, 0)]], start=1, L=1), Fraction(3, 2), local, 1, rounds)


def _forgetting(diminishing: bool) -> Iterator[Point]:
    """Runs on which grad g stays bounded, with their G; beta = c/(2 sqrt(T)) or 1/(60 L E)."""
    rate = Fraction(1, 4)
    for scale, steps, step, rounds in product((Fraction(0), _HALF), (1, 3), (_HALF, Fraction(1)), (1, 4)):
        root = Fraction(1, int(np.sqrt(rounds)))
        local = rate * root / 2 if diminishing else Fraction(1, 60 * steps)
        run = Exact(on_the_line(past(scale), [[(1, 0)]], start=1, L=1), step, local, steps, rounds)
        ratio, e = 1 + scale, run.sums.entries
        # f_memory and g are multiples of x^2/2, and |x_t| never grows past x_0 = 1.
        assert all(abs(x[0]) <= 1 for kept in run.draws() for x in run.path(kept))
        Gamma = local**2 / 2 * e["S2"] - local * (1 - step) * e["memory_dot_S"]
        if diminishing:
            K = (sp.exp(sp.Rational(rate) * steps) - 1) / sp.Rational(rate)
            C = rate * ratio * K + rate**2 * K**2 / 2
        else:
            K = 60 * steps * (sp.exp(sp.Rational(1, 60)) - 1)
            C = local * ratio * K + local**2 * K**2 / 2
        values: dict[Any, Any] = {
            **of(run, *SUMS, L),
            m: scale**2,
            **of(run, alpha, beta, E),
            r: ratio,
            claim.c: rate,
            claim.w: root,
            claim.G: 1,
            claim.K: sp.sympify(K),
            claim.C: sp.sympify(C),
            claim.Gamma_sum: Gamma,
        }
        yield Point(values)


def lemma4_points() -> Iterator[Point]:
    """Runs within the repair of Lemma 4."""
    return _forgetting(True)


def lemma18_points() -> Iterator[Point]:
    """Runs within the repair of Lemma 18."""
    return _forgetting(False)


def paths(run: Exact) -> dict[Kept, list[Array]]:
    """x_0, ..., x_T for every memory."""
    return {kept: run.path(kept) for kept in run.draws()}


def climbing_family(local: Fraction, rounds: int) -> tuple[bool, Fraction]:
    """Whether the exact run follows the recursion of the claim and its assumptions, and the mean of Gamma(t)."""
    run = climbing(local, rounds)
    ((kept, path),) = paths(run).items()
    follows = all(x[0] == (1 + local) ** k for k, x in enumerate(path))
    for x in path:
        grad_f, memory, _ = run.gradients(x, kept)
        follows &= grad_f[0] == memory[0] == 0
    e = run.sums.entries
    return bool(follows), (local**2 / 2 * e["S2"] + local / 2 * e["memory_dot_S"]) / rounds


#: beta and T: beta = 1/(2 sqrt(T)) with Lemma 4, 1/(60 L E) with Lemma 18.
CLIMBS = {
    "cflag.lemma4": [(Fraction(1, 2 * root), root**2) for root in (2, 4, 6)],
    "cflag.lemma18": [(Fraction(1, 60), rounds) for rounds in (20, 60, 120)],
}


def _climbing_evidence(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    for local, rounds in CLIMBS[subject.id]:
        follows, mean = climbing_family(local, rounds)
        words = "follows" if follows else "does not follow"
        least = local**4 * rounds * (2 * rounds - 3) / 12
        summary = (
            f"The exact run of the family with beta = {local}, T = {rounds} {words} its recursion and Assumptions 2 "
            f"and 3; mean of Gamma(t): {float(mean):.4g}, at least beta^4 T (2T - 3)/12 = {float(least):.4g}."
        )
        yield Evidence("property", "1", "printed", REFUTES, summary, {"mean_Gamma": str(mean), "T": rounds})


CHECKS = {
    "cflag.lemma4": Check(lemma4_points, further=_climbing_evidence),
    "cflag.lemma18": Check(lemma18_points, further=_climbing_evidence),
}
