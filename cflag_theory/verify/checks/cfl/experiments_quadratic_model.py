"""Sec. 5.1 put to the test: exact gradients, Table 3 in exact decimals, second moments; splitting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, pairwise, product
from typing import Any, NamedTuple

import numpy as np
import sympy as sp

from cflag_theory.claims.cfl.experiments import quadratic_model as model
from cflag_theory.claims.cfl.published import PRINTED, SETTINGS
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.kernels.cfl.round_weights import RoundWeights
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.cfl.experiments_reported import recomputed
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence

CURRENT, UNIFORM = RoundWeights("current"), RoundWeights("uniform")
#: 𝔼||delta||^2, 𝔼||nu||^2 and 𝔼||xi||^2 of small and big round drift.
G2, SIGMA2, SMALL, BIG = Fraction(1, 100), Fraction(1, 100000), Fraction(1, 100), Fraction(100)
eta = sp.Symbol("eta", real=True)


class Moments(NamedTuple):
    """u_T by cause: the factor of u_0, the shift per unit of mean information loss, and variances per unit variance."""

    start: Any
    shift: Any
    client: Any
    time: Any
    loss_noise: Any
    step_noise: Any


def recursion(weights: RoundWeights, rounds: int, rho: Any) -> Moments:
    """Exact responses of u = lambda (w - w*) for K = 1, on fractions or polynomials; eta lambda = 1 - rho."""
    start, shift, client, step_noise = 1 + 0 * rho, 0 * rho, 0 * rho, 0 * rho
    drifts: list[Any] = []
    lost: list[Any] = []
    for t in range(1, rounds + 1):
        p = [sp.Rational(str(value)) if isinstance(rho, sp.Basic) else value for value in weights.at(t)]
        drifts, lost = [*drifts, 0 * rho], [*lost, 0 * rho]
        drifts = [rho * s - (1 - rho) * q for s, q in zip(drifts, p, strict=True)]
        lost = [rho * s - (1 - rho) * q for s, q in zip(lost, [*p[:-1], 0], strict=True)]
        start, client = rho * start, rho * client - (1 - rho)
        shift = rho * shift - (1 - rho) * sum(p[:-1])
        step_noise = rho**2 * step_noise + (1 - rho) ** 2
    squares = [sum((s**2 for s in sensitivities), 0 * rho) for sensitivities in (drifts, lost)]
    return Moments(start, shift, client**2, squares[0], squares[1], step_noise)


def _ordered() -> Iterator[Point]:
    """Part 3 of Figure 2: two sizes of information loss."""
    low, high = Fraction(1, 1000), Fraction(1, 100)
    for rounds, rho, u0 in ((2, Fraction(1, 2), 1), (6, Fraction(1, 5), 1), (4, Fraction(1, 2), -1)):
        m = recursion(UNIFORM, rounds, rho)
        mean, variance = m.start * u0, m.client * G2 + m.time * SMALL + m.step_noise * SIGMA2
        seconds = [(mean + m.shift * lost) ** 2 + m.loss_noise * lost / 1000 + variance for lost in (low, high)]
        values = {
            model.left: mean,
            model.response: -m.shift,
            model.spread: m.loss_noise,
            model.rest: variance,
            model.I_low: low,
            model.I_high: high,
            model.loss_low: seconds[0],
            model.loss_high: seconds[1],
        }
        story = (
            f"n = 1, lambda = 1, N = 1, K = 1, T = {rounds}, u_0 = {u0}, eta = {1 - rho}, small drift, weights 1/t",
            f"CFL-{float(low)} and CFL-{float(high)}, all drifts and losses propagated exactly",
        )
        yield Point({key: sp.Rational(str(value)) for key, value in values.items()}, story, "3")


def loss(
    weights: RoundWeights, *, rounds: int, D2: Fraction, clients: int, u0: Fraction, lost: Fraction = Fraction(0)
) -> sp.Poly:
    """𝔼 u_T^2 as a polynomial of eta, for lambda = 1 and K = 1."""
    m = recursion(weights, rounds, 1 - eta)
    rational = [sp.Rational(str(value)) for value in (G2, D2, SIGMA2, lost / 1000, u0, lost)]
    client, time, noise, spread, start, shift = rational
    variance = (m.client * client + m.time * time + m.step_noise * noise + m.loss_noise * spread) / clients
    return sp.Poly(sp.expand((m.start * start + m.shift * shift) ** 2 + variance), eta)


def lowest(polynomial: sp.Poly) -> sp.Rational:
    """A learning rate near the best one, as a fraction with two decimals."""
    function = sp.lambdify(eta, polynomial.as_expr(), "numpy")
    return sp.Rational(int(np.argmin(function(np.arange(200) / 100))), 100)


def never_below(polynomial: sp.Poly, value: sp.Rational) -> bool:
    """Whether a polynomial exceeds a value at every real number, by Sturm's theorem."""
    gap = sp.Poly(polynomial.as_expr() - value, eta)
    return bool(gap.LC() > 0 and gap.degree() % 2 == 0 and gap.count_roots() == 0)


def _best_rates(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    common = {"rounds": 2, "u0": Fraction(1)}
    big: dict[str, Any] = {**common, "D2": BIG, "clients": 5}
    small: dict[str, Any] = {**common, "D2": SMALL, "clients": 1}
    cfl, fedavg = loss(UNIFORM, **big), loss(CURRENT, **big)
    setting = "n = 1, A = 1 (mu = 1, L = 5), w_0 - w* = 1, K = 1, T = 2"
    yield from _everywhere(
        "1", cfl, fedavg, f"{setting}, N = 5, big drift", ("CFL (weights 1/2, 1/2 in round 2)", "FedAvg")
    )
    low, high = Fraction(1, 1000), Fraction(1, 100)
    worse, better = loss(UNIFORM, **small, lost=low), loss(UNIFORM, **small, lost=high)
    yield from _everywhere("3", worse, better, f"{setting}, N = 1, small drift, weights 1/t", ("CFL-0.001", "CFL-0.01"))


def _everywhere(part: str, above: sp.Poly, below: sp.Poly, setting: str, names: Sequence[str]) -> Iterator[Evidence]:
    """A counterexample at best rates: one method at a single rate is better than the other at all of them."""
    rate = lowest(below)
    value = below.eval(rate)
    if not never_below(above, value):
        return
    summary = f"At eta = {rate} {names[1]} has {float(value):.6g}, and {names[0]} is above that at every learning rate."
    instance = [
        f"{setting}, sizes of Sec. 5.1.1",
        f"{names[0]}: 𝔼||A w_T + B||^2 = {above.as_expr()}",
        f"{names[1]}: 𝔼||A w_T + B||^2 = {below.as_expr()}",
        f"at eta = {rate} the second is {value}; by Sturm's theorem the first minus that has no real root",
    ]
    yield Evidence("counterexample", part, "printed", REFUTES, summary, {"instance": instance})


def ties(columns: Sequence[str]) -> tuple[list[str], int]:
    """Columns in which CFL's best rate is not above a baseline's, and how many comparisons were made."""
    found, compared = [], 0
    for column in columns:
        own = PRINTED["CFL", column]
        for other in ("FedAvg", "FedProx"):
            compared += 1
            theirs = PRINTED[other, column]
            if Fraction(own) <= Fraction(theirs):
                found.append(f"{column}: CFL {own}, {other} {theirs}")
    return found, compared


def _table3(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    yield recomputed("1", ties(list(SETTINGS)), "comparisons in Table 3")
    big = [column for column, (D2, _, _) in SETTINGS.items() if D2 == "100"]
    yield recomputed("1", ties(big), "comparisons with big round drift", "repair")


#: Of the 24 rates of Table 3, those that the gradient 2 A w + B would not allow.
NOT_STABLE = 15


def _edges(claim: Claim, seed: int, count: int) -> Iterator[Evidence]:
    for part, factor, expected in (("2", 1, 0), ("3", 2, NOT_STABLE)):
        beyond = [
            f"{method} {column}: {rate}"
            for (method, column), rate in PRINTED.items()
            if factor * Fraction(rate) * Fraction(SETTINGS[column][1]) >= 2
        ]
        finding = SUPPORTS if len(beyond) == expected else REFUTES
        words = f"{len(beyond)} of {len(PRINTED)} rates are not below {2 // factor}/L."
        data = {"instance": beyond, "compared": len(PRINTED)}
        yield Evidence("recomputation", part, "printed", finding, words, data)


@dataclass(frozen=True)
class _State:
    """Where Algorithm 6 is: data left by class, G, the number of entries of theta, and the sizes of the D_m so far."""

    left: tuple[int, ...]
    G: tuple[int, ...]
    entries: int
    filled: tuple[int, ...]


#: The changes that Algorithm 6 needs: an index for each class, theta without the empty class, theta anew over G.
INDEX, DELETE, REDRAW = "G = [0, ..., len(S) - 1]", "entry i deleted from theta", "theta drawn over G"
ALL = frozenset({INDEX, DELETE, REDRAW})


def split(sizes: Sequence[int], clients: int, size: Fraction, changes: frozenset[str] = ALL) -> tuple[int, list[str]]:
    """Follow Algorithm 6 with some changes through every sequence of classes that has a positive probability.

    theta is positive on all of its entries, as a Dirichlet draw is. Returns the number of states in which the algorithm
    ends, and a story for every state and draw in which it fails.
    """
    ended, failures = 0, []
    G = tuple(range(len(sizes) + (INDEX not in changes)))
    stories = {_State(tuple(sizes), G, len(sizes), (0,)): ""}
    waiting = [*stories]
    while waiting:
        state = waiting.pop()
        story = stories[state]
        if state.filled[-1] >= size:
            if len(state.filled) == clients:
                ended += 1
                continue
            # Line 5: a new theta, over all classes as printed.
            entries = len(state.G) if REDRAW in changes else len(sizes)
            state = replace(state, entries=entries, filled=(*state.filled, 0))
        if not state.entries:
            failures.append(f"{story} nothing is left to draw")
        for i in range(state.entries):
            told = f"{story} client {len(state.filled)} draws i = {i};"
            after = _pass(state, i, DELETE in changes)
            if isinstance(after, str):
                failures.append(f"{told} {after}")
            elif after not in stories:
                stories[after] = told
                waiting.append(after)
    return ended, failures


def _pass(state: _State, i: int, deletes: bool) -> _State | str:
    """Lines 8 to 15 of Algorithm 6, or what stops them."""
    if i >= len(state.G):
        return f"G has only {len(state.G)} entries"
    y = state.G[i]
    if y >= len(state.left):
        return f"G[{i}] = {y} is not a class"
    if not state.left[y]:
        return f"class {y} is empty"
    left = tuple(count - (c == y) for c, count in enumerate(state.left))
    filled = (*state.filled[:-1], state.filled[-1] + 1)
    if left[y]:
        return replace(state, left=left, filled=filled)
    # Algorithm 5 returns as many weights as it gets.
    return _State(left, tuple(c for c in state.G if c != y), state.entries - deletes, filled)


#: Up to three classes of up to three data, and all M and N <= 3 that there are data for.
_INSTANCES = tuple(
    (sizes, clients, Fraction(size))
    for classes in (1, 2, 3)
    for sizes in combinations_with_replacement((1, 2, 3), classes)
    for clients, size in product((1, 2, 3), repeat=2)
    if clients * size <= sum(sizes)
)


def failing(changes: frozenset[str]) -> list[str]:
    """The instances on which Algorithm 6 with these changes can fail, each with its shortest story, shortest first."""
    stories = []
    for sizes, clients, size in _INSTANCES:
        found = split(sizes, clients, size, changes)[1]
        if found:
            shortest = min(found, key=len)
            stories.append(f"classes of {', '.join(map(str, sizes))} data, M = {clients}, N = {size}:{shortest}.")
    return sorted(stories, key=len)


def _alg6(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    """All small instances with enough data; and the inner call of Algorithm 4."""
    failures = failing(frozenset({INDEX}))
    halves = ", ".join(f"{len(failing(frozenset({INDEX, change})))} with {change}" for change in (DELETE, REDRAW))
    summary = (
        f"With {INDEX} the algorithm can fail on {len(failures)} of {len(_INSTANCES)} instances, still on {halves}: "
        f"{failures[:1]}"
    )
    data = {"instance": failures[:3], "exact": True, "cases": len(_INSTANCES)}
    yield Evidence("enumeration", "3", "printed", REFUTES if failures else SUPPORTS, summary, data)
    wrong = failing(ALL)
    summary = (
        f"Through every sequence of draws the repaired algorithm ends, on all {len(_INSTANCES)} splits of at most "
        "three classes of at most three data with M, N <= 3."
    )
    data = {"exact": True, "cases": len(_INSTANCES), "instance": wrong}
    yield Evidence("enumeration", "3", "repair", REFUTES if wrong else SUPPORTS, summary, data)
    # Ten data in T = 3 subsets: N_local = 10/3, so that each subset takes four.
    fractional = split((10,), 3, Fraction(10, 3))[1]
    whole = split((10,), 3, Fraction(10 // 3))[1]
    finding = REFUTES if fractional and not whole else SUPPORTS
    summary = "Algorithm 4 with ten data of one class and T = 3 runs out of data with N_local = 10/3, not with 3."
    yield Evidence("enumeration", "2", "printed", finding, summary, {"instance": fractional, "exact": True, "cases": 1})


def windows(step: int, *, size: int = 285, count: int = 30) -> list[int]:
    """Starts of the windows until the next would pass the end of the client's sequence of images."""
    return list(range(0, size * count - size + 1, step))


def _setup(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    agree = 210 == 7 * 30
    yield Evidence(
        "recomputation", "1", "printed", SUPPORTS if agree else REFUTES, "7 times 30 is 210.", {"compared": 1}
    )
    shares, wrong = [], []
    for step, stated in ((285, 0), (213, 25), (142, 50)):
        starts = windows(step)
        overlaps = {max(0, a + 285 - b) for a, b in pairwise(starts)}
        if len(overlaps) != 1:
            wrong.append(f"s = {step}: overlaps of {sorted(overlaps)}")
        share = 100 * sp.Rational(overlaps.pop(), 285)
        shares.append(f"{float(share):.2f}% over {len(starts)} windows")
        if abs(share - stated) > sp.Rational(1, 2):
            wrong.append(f"s = {step}: {float(share):.2f}% instead of {stated}%")
    summary = f"Steps of 285, 213 and 142 make {', '.join(shares)}."
    yield Evidence(
        "recomputation", "3", "printed", REFUTES if wrong else SUPPORTS, summary, {"instance": wrong, "compared": 3}
    )


CHECKS = {
    "cfl.nqm_table3": Check(further=_table3),
    "cfl.nqm_fig2": Check(points=_ordered, further=_best_rates),
    "ours.cfl_nqm_rates": Check(further=_edges),
    "cfl.alg6": Check(further=_alg6),
    "cfl.setup_overlap": Check(further=_setup),
}
