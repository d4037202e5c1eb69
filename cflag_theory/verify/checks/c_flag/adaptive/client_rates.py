"""Supplement 3.1 and 3.2: exact rounds, step sizes on both sides of 1/L and at it, and two memories."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from cflag_theory.claims.c_flag.adaptive import client_rates as claim
from cflag_theory.claims.c_flag.adaptive import clients
from cflag_theory.claims.engine.notation import L, alpha, beta, m
from cflag_theory.claims.engine.points import put_in
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.adaptive.rounds import Round, random_rounds, with_gradients
from cflag_theory.verify.evidence import Point

_HALF = Fraction(1, 2)
_LOCAL = Fraction(1, 4)


def _least(values: dict[Any, Any], memory_step: Fraction) -> dict[Any, Any]:
    """beta*_{t,i} and the client's term there, at alpha = memory_step."""
    scale = values[L] * values[clients.weight] * values[clients.a_i] ** 2
    rate = (1 - values[L] * memory_step) * values[clients.Lambda_i] / scale
    at = values | {alpha: memory_step, clients.beta_i: rate}
    return at | {claim.least: put_in(clients.client_term(clients.beta_i, alpha), at)}


def _rounds() -> Iterator[tuple[Round, int]]:
    """Rounds with a client each; the first has Lambda = -1 and p ||a||^2 = 1, the second Lambda = 0."""
    yield Round(with_gradients([1], [[-1]]), _HALF, _LOCAL), 0
    yield Round(with_gradients([1, 0], [[0, 1]]), _HALF, _LOCAL), 0
    yield Round(with_gradients([1], [[1]]), _HALF, _LOCAL), 0
    for case in random_rounds(8, 185):
        for i in range(case.problem.clients):
            yield case, i


def points() -> Iterator[Point]:
    """Every part, at alpha below, at and above 1/L."""
    for (case, i), mode, share in product(_rounds(), ("average", "worst"), (_HALF, Fraction(1), Fraction(3, 2))):
        values = case.values(mode, i)
        step = share / case.L
        at = _least(values, step)
        clients_at = [
            _least(case.values(mode, client), step)
            for client in range(case.problem.clients)
            if (case.a[client] @ case.a[client])
        ]
        words = f"Client {i + 1}, {mode} case, alpha = {step}, m = 0: Lambda_i = {values[clients.Lambda_i]}"
        story = (case.words(), f"{words}, beta*_i = {at[clients.beta_i]}, Gamma_i* = {at[claim.least]}.")
        for part in ("value", "negative", "interference"):
            # A memory of everything: the mean over its draws is the value itself.
            yield Point(at | {claim.mean_least: at[claim.least]}, story, part, members={"rate": clients_at})
        for more in (2 * case.beta, 16 * case.beta):
            here, there = (
                put_in(clients.client_term(rate, alpha), values | {alpha: step}) for rate in (case.beta, more)
            )
            told = f"{words}: the term is {here} at beta = {case.beta} and {there} at {more}."
            yield Point(
                values | {alpha: step, beta: case.beta, claim.beta_larger: more}, (case.words(), told), "increasing"
            )
    yield from _two_memories()
    yield from _effect()


def _effect() -> Iterator[Point]:
    """Rates of Table 1 under interference, with beta = alpha."""
    for case, i in _rounds():
        if case.a[i] @ case.G <= 0:
            values = Round(case.problem, case.alpha, case.alpha, case.local_steps).values("average", i)
            yield Point(values, part="effect")


def _two_memories() -> Iterator[Point]:
    """f_1 is the mean of x^2/4 and x^2/2, and each memory keeps one; a_1 = 1, x_t = 1."""
    products = (_HALF, Fraction(1))
    found = [-((_HALF * product_) ** 2) / 2 for product_ in products]
    mean = sum(found) / 2
    for product_, value in zip(products, found, strict=True):
        yield Point(
            {
                L: 1,
                m: Fraction(1, 9),
                alpha: _HALF,
                clients.weight: 1,
                clients.a_i: 1,
                clients.Lambda_i: product_,
                clients.beta_i: _HALF * product_,
                claim.least: value,
                claim.mean_least: mean,
            },
            (
                "N = 1, E = 1, f the mean of x^2/4 and x^2/2, g = x^2/2, x_t = 1, L = 1, alpha = 1/2; the memory keeps "
                "one of the two past components, each with probability 1/2.",
                f"Gamma_1* = {found[0]} or {found[1]}, its mean {mean}; this is the draw with Lambda_1 = {product_}.",
            ),
            "value",
        )


CHECKS = {
    "cflag.client_rates": Check(
        points,
    )
}
