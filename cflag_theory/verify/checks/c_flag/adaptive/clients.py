"""(184)-(191) and Table 1: exact rounds whose Lambda_i and Gamma the simulation confirms."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from cflag_theory.claims.c_flag.adaptive import clients as claim
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.adaptive.rounds import Round, at_rate, larger_m, random_rounds, with_gradients
from cflag_theory.verify.evidence import Point

_HALF = Fraction(1, 2)


def _average() -> list[Round]:
    """Rounds in which sum_{i != j} p_i p_j C_ij = 0: orthogonal a_i, and a_i whose products cancel."""
    return [
        Round(with_gradients([1], [[-2]]), _HALF, _HALF),
        Round(with_gradients([Fraction(3, 2), _HALF], [[-1, 1], [2, 2]]), _HALF, _HALF),
        Round(with_gradients([2, 3], [[1, 0], [1, 1], [-1, 1]]), _HALF, Fraction(1, 4)),
    ]


def eq184_points() -> Iterator[Point]:
    """The average case, rounds outside it, and all draws of two memories."""
    for case in [*_average(), *random_rounds(6, 184)]:
        yield Point(case.values(), (case.words(),), "1")
    # Two clients, orthogonal a_i; each memory keeps one of two past components with gradients (1, 1) and (2, 0).
    draws = []
    for kept in product(([1, 1], [2, 0]), repeat=2):
        mean = [sum(client[c] for client in kept) * _HALF for c in range(2)]
        draws.append(Round(with_gradients(mean, [[-1, 1], [2, 2]]), _HALF, _HALF).values())
    means = {
        claim.mean_Gamma: sum(values[claim.Gamma] for values in draws) / len(draws),
        claim.mean_client_sum: sum(values[claim.client_sum] for values in draws) / len(draws),
    }
    words = "N = 2, E = 1, a_1 = (-1, 1), a_2 = (2, 2); each memory draws its gradient from (1, 1) and (2, 0): 4 draws."
    for values in draws:
        yield Point(values | means, (words,), "2")


def eq188_points() -> Iterator[Point]:
    """Equal p_i a_i, where the bound is attained, and random rounds."""
    for count in (1, 2, 3):
        case = Round(with_gradients([1, 1], [[1, 2]] * count), _HALF, _HALF)
        yield Point(case.values("worst"), (case.words(),))
    for case in [*random_rounds(10, 188), *_average()]:
        yield Point(case.values("worst"), (case.words(),))


def interference_points() -> Iterator[Point]:
    """Interfering clients, with rates inside and outside the feasible set."""
    strong = Round(with_gradients([1], [[-4]]), _HALF, _HALF)
    # alpha_i = alpha (1 + v) for a_i = -v, just inside and just outside of 2/L.
    near = [Round(with_gradients([1], [[-3 + v]]), _HALF, _HALF) for v in (Fraction(1, 100), Fraction(-1, 100))]
    for case, bias in product((strong, *near, *_average(), *random_rounds(8, 1)), (Fraction(0), Fraction(1))):
        if case.alpha >= 2 / (case.L * (1 + bias)):
            continue
        for i in np.flatnonzero(case.a @ case.G <= 0):
            rate = case.rates("average")[i][0]
            words = f"Client {i + 1}: Lambda_i = {case.a[i] @ case.G}, alpha_i = {rate}, m = {bias}."
            for mode in ("average", "worst"):
                values = case.values(mode, int(i), bias)
                yield Point(values, (case.words(), words), "feasible")
                same = Round(case.problem, case.alpha, case.alpha, case.local_steps).values(mode, int(i), bias)
                yield Point(same, (case.words(), f"{words} With beta = alpha."), "lowers")


def transference_points() -> Iterator[Point]:
    """Transferring clients at several beta, alpha on both sides of 1/L."""
    beyond = Round(with_gradients([1], [[1]]), Fraction(5, 4), _HALF)
    for case in (beyond, *_average(), *random_rounds(8, 2)):
        if case.alpha >= 2 / case.L:
            continue
        for i in np.flatnonzero(case.a @ case.G > 0):
            for mode in ("average", "worst"):
                values = case.values(mode, int(i))
                words = (
                    f"Client {i + 1}, {mode} case: Lambda_i = {case.a[i] @ case.G}, beta_i = {values[claim.beta_i]}."
                )
                for local in (Fraction(1, 9), Fraction(1), Fraction(3)):
                    yield Point(at_rate(values, local), (case.words(), words), mode)
                yield Point(values, (case.words(), words), "step size", members=case.transferring(mode))
                yield Point(values | larger_m(case), (case.words(), words), "large m")


CHECKS = {
    "cflag.eq184": Check(eq184_points),
    "cflag.eq188": Check(eq188_points),
    "cflag.table1_interference": Check(interference_points),
    "cflag.table1_transference": Check(transference_points),
}
