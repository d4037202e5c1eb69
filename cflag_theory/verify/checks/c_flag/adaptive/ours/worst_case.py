"""Table 1's worst-case rates where clients transfer: exact rounds, some with parallel a_i, some near the limit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.c_flag.adaptive import clients, lemmas
from cflag_theory.claims.c_flag.adaptive.ours import worst_case as claim
from cflag_theory.claims.engine.notation import L, alpha, beta
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.adaptive.rounds import Round, norm, random_rounds, with_gradients
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.c_flag import of

_HALF = Fraction(1, 2)


def _round(local: Fraction, *gradients: Sequence[int | Fraction]) -> Round:
    """grad f_memory(x_t) = (1, 0) and alpha = 1/2, with these a_i."""
    return Round(with_gradients([1, 0], gradients), _HALF, local)


def bound_points() -> Iterator[Point]:
    """Rates of 0 under interference; parallel a_i, where the bound is attained."""
    parallel = _round(_HALF, [1, 2], [3, 6])
    for case in (parallel, _round(_HALF, [1, 2], [2, -1]), *random_rounds(10, 57)):
        rates = [rate if product > 0 else Fraction(0) for (_, rate), product in _rates(case)]
        found = [j for j, rate in enumerate(rates) if rate]
        taken = (case.problem.p * np.array(rates, dtype=object)) @ case.a
        for j in found:
            yield Point(
                {
                    **_client(case, j, rates[j]),
                    claim.moved_T2: taken @ taken,
                    claim.gained_T: sum((case.G @ case.a[i]) ** 2 / (case.a[i] @ case.a[i]) for i in found),
                    lemmas.Lambda_adapted: case.G @ taken,
                    lemmas.own_adapted: sum(
                        (case.problem.p[i] * rates[i]) ** 2 * (case.a[i] @ case.a[i]) for i in found
                    ),
                    lemmas.N_T: len(found),
                },
                (case.words(), f"beta_i = {', '.join(map(str, rates))}."),
                part="bound",
            )


def lowers_points() -> Iterator[Point]:
    """All clients transfer. Seven of ten have beta_i = beta/0.829, or beta/0.828, and the others a far larger one.

    Their p_i beta_i a_i are nearly parallel, in the ratio 0.414 that the constant comes from.
    """
    for limit in (Fraction(829, 1000), Fraction(828, 1000)):
        large, small = [1, 410], [Fraction(1, 10**8), Fraction(990, 10**8)]
        yield from _all_transfer(_round(limit * _HALF / (1 + 410**2), *[large] * 7, *[small] * 3))
    for local in (Fraction(1, 20), Fraction(1, 10), Fraction(2, 5)):
        yield from _all_transfer(Round(with_gradients([1, 1], [[2, 1], [1, 2]]), Fraction(2, 5), local))
    for case in random_rounds(30, 58):
        yield from _all_transfer(case)


def _all_transfer(case: Round) -> Iterator[Point]:
    if min(product for _, product in _rates(case)) <= 0:
        return
    p, a, rates = case.problem.p, case.a, [rate for (_, rate), _ in _rates(case)]
    S, taken = p @ a, (p * np.array(rates, dtype=object)) @ a
    after = case.L / 2 * (taken @ taken) - (1 - case.L * case.alpha) * (case.G @ taken)
    case.agree("Gamma of the adapted step", after == case.simulated("worst").column("Gamma")[0, 0])
    nearest = min(range(len(p)), key=lambda j: rates[j])
    yield Point(
        {
            **_client(case, nearest, rates[nearest]),
            claim.moved2: taken @ taken,
            claim.Lambda_moved: case.G @ taken,
            clients.sum2: S @ S,
            clients.Lambda: case.G @ S,
        },
        (case.words(), f"beta_i = {', '.join(map(str, rates))}; Gamma_ad = {after}."),
        part="lowers",
    )


def _rates(case: Round) -> list[tuple[tuple[Fraction, Fraction], Fraction]]:
    return list(zip(case.rates("worst"), case.a @ case.G, strict=True))


def _client(case: Round, j: int, rate: Fraction) -> dict[Any, Any]:
    """The round's numbers and those of one client."""
    product, size = case.G @ case.a[j], norm(case.a[j])
    return {
        **of(case, L, alpha, beta, clients.N),
        clients.p_i: case.problem.p[j],
        clients.a_i: size,
        clients.Lambda_i: product,
        clients.beta_i: rate,
        claim.pull: product / size,
        lemmas.root_2: sp.sqrt(2),
    }


CHECKS = {
    "ours.adaptive_worst_case": Check(
        lambda: (*bound_points(), *lowers_points()),
    )
}
