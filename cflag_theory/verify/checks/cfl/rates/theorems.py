"""The convex rates of CFL: the floors replayed over every draw, and gradient descent where there is no noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

from cflag_theory.claims.cfl.rates import theorems as claim
from cflag_theory.claims.cfl.rates.floors import apart2, gap, start2
from cflag_theory.claims.cfl.rates.weighted_means import C
from cflag_theory.claims.cfl.symbols import A2, B2, T, c_O, eta
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence
from cflag_theory.verify.witnesses.drift_rounds import DriftRounds, Rows, Run, current, even

_ZERO, _ONE = Fraction(0), Fraction(1)
#: Within eta <= (sqrt(7) - 2)/(6 L) = 0.1076/L.
STEP = Fraction(1, 10)


def gaps(world: DriftRounds) -> list[Fraction]:
    """𝔼 f(w_t) - f* at the start and after every round, over all draws, for f = a w^2 / 2."""
    return [world.expectation(lambda run, t=t: world.f(run.w[t])) for t in range(1, world.rounds + 2)]  # type: ignore[misc]


def fixed_clients(weights: Callable[[int], Rows], rounds: int, local_steps: int = 1) -> tuple[Fraction, Fraction]:
    """The least 𝔼 f(w_t) - f* over the rounds and the floor G^2/(4 N), with N = 1, G = D = w_0 = 1, eta_l = 1/2."""
    world = DriftRounds(
        weights=weights(rounds), start=_ONE, local_steps=local_steps, eta_l=Fraction(1, 2), G=_ONE, D=_ONE
    )
    return min(gaps(world)), Fraction(1, 4)


def time_drifts(rounds: int, eta_l: Fraction) -> tuple[Fraction, Fraction]:
    """The same for D = 1, G = 0, w_0 = 1/2 and four rounds: the floor is D^2/(4 N T)."""
    world = DriftRounds(weights=even(rounds), start=Fraction(1, 2), eta_l=eta_l, D=_ONE)
    return min(gaps(world)), Fraction(1, 4 * rounds)


def _finding(part: str, words: str, found: tuple[Fraction, Fraction]) -> Evidence:
    least, floor = found
    summary = f"{words}: the least 𝔼 f(w_t) - f* of the rounds is {float(least):.6g}, the floor {float(floor):.6g}."
    data = {"least": str(least), "floor": str(floor)}
    return Evidence("property", part, "printed", REFUTES if least >= floor else SUPPORTS, summary, data)


def _floors(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    for rounds in (1, 5):
        words = f"f = w^2/2, G = D = 1, R = 0, N = K = 1, p_tau = 1/t, eta_l = 1/2, w_0 = 1, T = {rounds}"
        yield _finding("clients", words, fixed_clients(even, rounds))
    for eta_l in (STEP, Fraction(1, 2)):
        words = f"f = w^2/2, D = 1, G = R = 0, N = K = 1, p_tau = 1/t, eta_l = {eta_l}, w_0 = 1/2, T = 4"
        yield _finding("time", words, time_drifts(4, eta_l))


def behind(rounds: int, smooth: int = 1) -> tuple[Fraction, Fraction]:
    """𝔼[f(w_T) - f*] over all draws, f the mean of the T losses w^2/2 - xi_t w, and 2 L/(3 T^2): eta = 1/(9 L)."""
    world = DriftRounds(weights=even(rounds), start=_ZERO, eta_l=Fraction(1, 9 * smooth), D=_ONE)

    def excess(run: Run) -> Fraction:
        least = sum((run.time[t][0][0] for t in range(1, rounds + 1)), _ZERO) / rounds
        return (run.w[rounds + 1] - least) ** 2 / 2

    return world.expectation(excess), Fraction(2 * smooth, 3 * rounds**2)


def plateau(root: int, rounds: int) -> tuple[Fraction, Fraction]:
    """f(w_T) - f* and sqrt(n) D/(2 T) for n = root^2 and L = D = 1, eta = 1/9, all signs being alike by symmetry.

    Raises
    ------
    ArithmeticError
        If an iterate leaves the unit ball, where the common part of the losses is constant.
    """
    n, eta = root**2, Fraction(1, 9)
    w = [_ZERO] * n
    for t in range(rounds - n + 1, rounds + 1):
        drawn = t - rounds + n
        w = [x + eta / t if j < drawn else x for j, x in enumerate(w)]
        if sum((x * x for x in w), _ZERO) > 1:
            raise ArithmeticError(f"round {t} leaves the unit ball")
    mean = Fraction(root, rounds)
    return mean + mean**2 / 2 - sum(w, _ZERO) / rounds, mean / 2


def _linear(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    yield from _floors(subject, seed, count)
    for rounds, smooth in ((3, 1), (9, 1), (6, 2)):
        words = f"f_t = w^2/2 - xi_t w, D = 1, L = {smooth}, p_tau = 1/t, eta_l = 1/(9 L), w_0 = 0, T = {rounds}"
        yield _finding("sum", words, behind(rounds, smooth))


def descent(rounds: int) -> list[Fraction]:
    """||w_t - w*||^2 for gradient descent on w^2/2 from w_0 = 1 with the step 1/10."""
    return [(1 - STEP) ** (2 * t) for t in range(rounds + 1)]


def linear_points() -> Iterator[Point]:
    """Gradient descent, T at least twenty times the logarithm."""
    for rounds, eps in ((20, Fraction(1, 5)), (60, Fraction(1, 40)), (100, Fraction(1, 250))):
        path = descent(rounds)
        assert all(after <= (1 - STEP / 2) * now for now, after in pairwise(path))
        yield Point(
            {
                **_PLAIN,
                claim.mu: 1,
                claim.eps: eps,
                T: rounds,
                C: 10,
                gap(T): path[-1] / 2,
                apart2(T): path[-1],
                apart2(0): 1,
            },
            part="log",
        )


_PLAIN: dict[Any, Any] = {L: 1, A2: 0, B2: 0, c_O: 1, eta: STEP, start2: 1}


def convex_points() -> Iterator[Point]:
    """The same descent, T = 10/epsilon."""
    for eps in (_ONE, Fraction(1, 3), Fraction(1, 10)):
        rounds = int(10 / eps)
        path = descent(rounds)
        total = sum(path[:-1], _ZERO) / 2
        assert all(after <= now - STEP * now / 2 for now, after in pairwise(path))
        yield Point(
            {
                **_PLAIN,
                claim.eps: eps,
                T: rounds,
                C: 10,
                claim.least: min(path[:-1]) / 2,
                claim.total(T): total,
                apart2(T): path[-1],
                apart2(0): 1,
            },
            part="units",
        )


def scaled(rounds: int, smooth: int) -> Fraction:
    """f(w_T) - f* after T steps 1/(10 L) on f = L w^2/(2 T) from w_0 = 1."""
    curvature = Fraction(smooth, rounds)
    return curvature / 2 * (1 - STEP / smooth * curvature) ** (2 * rounds)


def at_rest(clients: int, rounds: int) -> tuple[Fraction, Fraction]:
    """The least 𝔼 f(w_t) - f* over the rounds and 2^{-N} (f(w_0) - f*), with f_{t,i} = (1 - s_i) w^2/2, so B = 1."""
    # L = 2 and c_O = 2, so the largest step is 0.0575/L = 0.0288.
    step = Fraction(1, 40)
    world = DriftRounds(weights=current(rounds), start=_ONE, clients=clients, eta_l=step, B=_ONE)
    found = gaps(world)
    return min(found), found[0] / 2**clients


def _flat(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    yield from _floors(subject, seed, count)
    for clients, rounds in ((1, 40), (3, 6)):
        words = (
            f"f_i = (1 - s_i) w^2/2 with fair signs, N = {clients}, K = 1, p_t = 1, eta_l = 1/40, w_0 = 1, T = {rounds}"
        )
        yield _finding("gradient", words, at_rest(clients, rounds))
    for root, rounds in ((2, 8), (10, 500)):
        words = f"n = {root**2} orthogonal drifts in the last rounds, L = D = 1, eta_l = 1/9, w_0 = 0, T = {rounds}"
        yield _finding("sum", words, plateau(root, rounds))
    for smooth in (1, 100):
        found = scaled(10, smooth), Fraction(7 * smooth, 180)
        words = f"f = {smooth}/10 w^2/2, L = {smooth}, w_0 = 1, eta = 1/(10 L), T = 10, no noise"
        yield _finding("units", words, found)


CHECKS = {
    "cfl.sc_rate": Check(linear_points, further=_linear),
    "cfl.gc_rate": Check(convex_points, further=_flat),
}
