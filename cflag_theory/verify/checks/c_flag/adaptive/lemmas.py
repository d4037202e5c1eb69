"""Lemmas 6 and 7: exact rounds in which the adapted step has the higher Gamma, and rounds in which it has not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.adaptive import clients
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.adaptive.rounds import Round, random_rounds, with_gradients
from cflag_theory.verify.evidence import Point

_HALF = Fraction(1, 2)


def lemma6_points() -> Iterator[Point]:
    """Interfering clients, with alpha above and below beta."""
    above = Round(with_gradients([1], [[-1]]), _HALF, Fraction(1, 10))
    for case in (above, *random_rounds(10, 6)):
        for i in np.flatnonzero(case.a @ case.G <= 0):
            for mode in ("average", "worst"):
                yield Point(case.values(mode, int(i)), (case.words(), f"{mode} case"))


def adapted_values(case: Round, mode: str) -> dict[Any, Any]:
    """The round's values; symbols of one client are of the transferring one with the least rate, if any."""
    transferring = np.flatnonzero(case.a @ case.G > 0)
    if len(transferring):
        rates = case.rates(mode)
        return case.values(mode, int(min(transferring, key=lambda j: rates[j][1])))
    values = case.values(mode)
    for symbol in (clients.p_i, clients.a_i, clients.Lambda_i, clients.beta_i):
        del values[symbol]
    return values


def _point(case: Round, mode: str) -> Point:
    words = f"Table 1, {mode} case: also by the simulation, algorithm('c_flag', adaptive={mode!r})."
    return Point(adapted_values(case, mode), (case.words(), words), members=case.transferring(mode))


def average_points() -> Iterator[Point]:
    """Orthogonal a_i with one client interfering; products C_ij that cancel until they are rescaled; no fault."""
    yield _point(Round(with_gradients([Fraction(3, 2), _HALF], [[-1, 1], [2, 2]]), _HALF, _HALF), "average")
    # All three transfer, so that alpha stays: what raises Gamma is that the products no longer cancel.
    cancelling = with_gradients([2, 3], [[1, 0], [1, 1], [-1, 1]])
    for step in (Fraction(1, 4), _HALF, Fraction(24, 29)):
        yield _point(Round(cancelling, step, step), "average")
    for memory in ([2, 1], [1, 3]):
        yield _point(
            Round(with_gradients(memory, [[1, 1], [1, -1] if memory[0] > memory[1] else [-1, 1]]), _HALF, _HALF),
            "average",
        )


def worst_points() -> Iterator[Point]:
    """Positive products of every pair: nearly orthogonal a_i at the best common beta, equal a_i, random rounds."""
    best = Fraction(2, 5)
    yield _point(Round(with_gradients([1, 1], [[2, 1], [1, 2]]), best, best), "worst")
    yield _point(Round(with_gradients([1, 1], [[1, 2], [1, 2]]), _HALF, _HALF), "worst")
    # beta_{t,i} = 9/25: the condition of the repair is beta <= 0.298.
    for local in (Fraction(1, 10), Fraction(29, 100)):
        yield _point(Round(with_gradients([1, 1], [[2, 1], [1, 2]]), best, local), "worst")
    for case in random_rounds(12, 7):
        if case.problem.clients > 1 and all(a @ b > 0 for a, b in combinations(case.a, 2)):
            yield _point(case, "worst")


CHECKS = {
    "cflag.lemma6": Check(lemma6_points),
    "cflag.lemma7_average": Check(average_points),
    "cflag.lemma7_worst": Check(worst_points),
}
