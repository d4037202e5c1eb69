"""FedAvg with a decaying step in the drift model of the CFL paper: O(1/T) to its clients' minimiser."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.rates.floors import apart2, curvature
from cflag_theory.claims.cfl.rates.ours.strongly_convex import (
    MINIMUM,
    averaged,
    beta,
    f,
    g,
    g2,
    in_every_round,
    r,
    v,
    x,
    x2,
)
from cflag_theory.claims.cfl.rates.theorems import mu
from cflag_theory.claims.cfl.symbols import D2, G2, N, T
from cflag_theory.claims.cfl.symbols import mu as convexity
from cflag_theory.claims.cfl.vectors import draw
from cflag_theory.claims.cfl.vectors import over_past as expectation
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement, shown
from cflag_theory.claims.engine.notation import L, k, sequence, symbol
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Instance, Obligation, Proof, by_induction

s = symbol("delay", "s", positive=True)
M = symbol("M_decay", "M", nonnegative=True)
rate = sequence("decaying_step", r"\eta_{@}", positive=True)
# In one draw.
position = sequence("position", "x_{@}", real=True)
drift_at = sequence("drift_at", "c_{@}", real=True)
drift_sum = sequence("drift_sum", r"\sum_{t<@}c_t", real=True)
mean_square = sequence("mean_square_at", r"\mathbb{E}x_{@}^2", lambda t: expectation(position(t, draw) ** 2))
sum_square = sequence("sum_square_at", r"\mathbb{E}(\sum_{t<@}c_t)^2", lambda t: expectation(drift_sum(t, draw) ** 2))


def decaying_rate(constant: Any = 4) -> Statement:
    """O(1/T) to the minimiser of the clients' mean objective; `constant` is that of v/mu^2."""
    at = k + s

    def bound(rounds: Any) -> Relation:
        return at_most(apart2(rounds) * (rounds + s), M)

    induction = by_induction(
        "distance",
        k,
        bound(k),
        Obligation("step above 2/s", at_most(2 / at, 1), ("s",)),
        Obligation(
            "contracted",
            at_most(apart2(k + 1), (1 - 2 / at) * apart2(k) + 4 / (mu * at) ** 2 * v),
            ("round", "eta"),
        ),
        start=("start",),
        given=("contracted", "step above 2/s", "noise"),
    )
    goal = at_most(apart2(T), M / (T + s))
    follows = Obligation("the statement follows", goal, ("last",))
    return Statement(
        "FedAvg with K = 1 and additive drifts, w_{t+1} = w_t - eta_t (grad F(w_t) + n_t) with F(w) = f(w) - "
        "<delta_bar, w> and 𝔼[n_t | everything before] = 0: 𝔼||w_T - w_delta||^2 <= M/(T + s) with M = max(s 𝔼||w_0 - "
        "w_delta||^2, 4 v/mu^2), eta_t = 2/(mu (t + s)) and s >= 2 and s >= (mu + L)/mu, w_delta the minimiser of the "
        "clients' mean objective, v = (sigma^2 + D^2)/N.",
        goal,
        proof=Proof((induction, Instance("last", "distance", k, T), follows)),
        definitions=(
            Fact("s", at_most(2, s), "s >= 2."),
            Fact("short", at_most(mu + L, mu * s), "s >= (mu + L)/mu."),
            Fact("start", at_most(apart2(0) * s, M), "M >= s 𝔼||w_0 - w_delta||^2."),
            Fact("noise", at_most(constant * v, M * mu**2), "M >= 4 v/mu^2."),
            Fact("eta", equal(rate(k) * mu * at, 2), "eta_t = 2/(mu (t + s)).", (k,)),
            Fact(
                "round",
                at_most(apart2(k + 1), (1 - mu * rate(k)) * apart2(k) + rate(k) ** 2 * v),
                "A round of ours.cfl_strongly_convex for the mean objective (no bias), and r^2 <= r.",
                (k,),
                (in_every_round(("beta", "v"), ((beta, sp.S.Zero), (r, 1 - mu * rate(k))), eta_now=rate(k)),),
            ),
        ),
    )


def moved_minimiser(constant: Any = 1) -> Statement:
    """How far the minimiser of the clients' mean objective lies from w*."""
    goal = at_most(convexity**2 * x2, constant * G2 / N)
    return shown(
        "𝔼||w_delta - w*||^2 <= G^2/(N mu^2), w_delta in place of w_t.",
        goal,
        *averaged("f(w*)", rules.convex("f at w*", f, x, sp.S.Zero)),
        *averaged("f(w_delta)", rules.convex("f at w_delta", f, sp.S.Zero, x), MINIMUM),
        *averaged("difference", rules.square("||grad f - mu x||^2", g - convexity * x)),
        given=("f(w*)", "f(w_delta)", "difference", "gradient"),
        where=(
            Fact(
                "gradient",
                equal(g2, G2 / N),
                "grad f(w_delta) is the mean of the delta_i: N independent drifts with mean zero.",
            ),
        ),
    )


def exact_mean(share: Any = 1) -> Statement:
    """One eigenvalue: FedAvg that averages all drifts; `share` scales the time drifts' part."""

    def mean(rounds: Any) -> Relation:
        return equal(rounds * curvature * position(rounds, draw), drift_sum(rounds, draw))

    averaged_drifts = by_induction(
        "mean",
        k,
        mean(k),
        start=("no drift",),
        given=("round", "sum"),
    )
    goal = equal(mean_square(T), G2 / (N * curvature**2) + share * D2 / (N * T * curvature**2))
    squared = equal((T * curvature * position(T, draw)) ** 2, drift_sum(T, draw) ** 2)
    return shown(
        "On f = lambda ||w - w*||^2/2, without gradient noise, FedAvg with 1 - (1 - eta_l lambda)^K = 1/(t + 1) in "
        "round t = 0, 1, ... has 𝔼||w_T - w*||^2 = G^2/(N lambda^2) + D^2/(N T lambda^2), whatever w_0 (one "
        "coordinate).",
        goal,
        averaged_drifts,
        Instance("T rounds", "mean", k, T),
        Obligation("square", squared, ("T rounds",)),
        rules.mean("squares", expectation, given="square"),
        given=("squares", "variance"),
        where=(
            Fact("no drift", equal(drift_sum(0, draw), 0), "An empty sum."),
            Fact(
                "sum",
                equal(drift_sum(k + 1, draw), drift_sum(k, draw) + drift_at(k, draw)),
                "c_t is the mean of delta_i + xi_{t,i}.",
            ),
            Fact(
                "round",
                equal((k + 1) * position(k + 1, draw), k * position(k, draw) + drift_at(k, draw) / curvature),
                "x = w - w*: K local steps leave (1 - eta_l lambda)^K x and add 1 minus that of c_t/lambda.",
                (k, draw),
            ),
            Fact(
                "variance",
                equal(sum_square(T), T**2 * G2 / N + T * D2 / N),
                "T delta + sum_t xi_t: independent, mean zero; the delta_i stay.",
            ),
        ),
    )


def decaying_fedavg(constant: Any = 4, moved: Any = 1, share: Any = 1) -> Claim:
    """FedAvg with a decaying step on the drift model, clients that stay."""
    return Claim(
        "ours.cfl_decaying_fedavg",
        "in place of Theorems 4.4 and B.6, strongly convex",
        "FedAvg with a decaying step and clients that stay",
        (
            Part("rate", decaying_rate(constant)),
            Part("clients", moved_minimiser(moved)),
            Part("exact", exact_mean(share)),
        ),
        (
            "Together: ||w_T - w*||_2 <= sqrt(M/(T + s)) + G/(sqrt(N) mu): no logarithm, and a floor that is exact on "
            "f = mu ||w||^2/2 by the third part. The first part is for one local step; the third, on quadratics, for "
            "any K.",
            "With clients that are new in every round w_delta = w* and v = (sigma^2 + G^2 + D^2)/N: then 𝔼 f(w_T) - f* "
            "<= L M/(2 (T + s)), which is what the D^2 + G^2 of Theorem 4.4 is about.",
            "The third part reaches the floors of ours.cfl_lower_bounds, clients and time, as h goes to infinity. "
            "Gradient noise adds to it a term of order sigma^2/T.",
        ),
    )


CLAIMS = {"ours.cfl_decaying_fedavg": decaying_fedavg}
