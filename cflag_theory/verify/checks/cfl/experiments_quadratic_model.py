"""Sec. 5.1 put to the test: exact gradients, Table 3 in exact decimals, second moments in fractions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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


CHECKS = {
    "cfl.nqm_table3": Check(further=_table3),
    "cfl.nqm_fig2": Check(points=_ordered, further=_best_rates),
    "ours.cfl_nqm_rates": Check(further=_edges),
}
