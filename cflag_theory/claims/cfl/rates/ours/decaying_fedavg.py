"""FedAvg with a decaying step in the drift model of the CFL paper: O(1/T) to its clients' minimiser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.rates.floors import curvature
from cflag_theory.claims.cfl.rates.ours.strongly_convex import g2, g_dot_x, v, x2
from cflag_theory.claims.cfl.rates.theorems import apart2, mu
from cflag_theory.claims.cfl.symbols import D2, G2, N, T
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import k, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof

f_star = symbol("f_star", "f^*", real=True)
f_moved = symbol("f_moved", r"f(w_\delta)", real=True)
gap_vector2 = symbol("gap_vector2", r"\mathbb{E}\|\nabla f(w_\delta)-\mu(w_\delta-w^*)\|^2", nonnegative=True)
s = symbol("delay", "s", positive=True)
M = symbol("M_decay", "M", nonnegative=True)
rate = sequence("decaying_step", r"\eta_{@}", positive=True)
position = sequence("position", "x_{@}", real=True)
drift_at = sequence("drift_at", "c_{@}", real=True)
drift_sum = sequence("drift_sum", r"\sum_{t<@}c_t", real=True)
mean_square = sequence("mean_square_at", r"\mathbb{E}x_{@}^2", nonnegative=True)
sum_square = sequence("sum_square_at", r"\mathbb{E}(\sum_{t<@}c_t)^2", nonnegative=True)


def decaying_rate(constant: Any = 4) -> Statement:
    """O(1/T) to the minimiser of the clients' mean objective; `constant` is that of v/mu^2."""
    hypothesis = "distance (hypothesis)"
    at = k + s
    induction = Induction(
        "distance",
        k,
        at_most(apart2(k) * at, M),
        Obligation("distance at 0", at_most(apart2(0) * s, M), ("start",), slack("start")),
        (
            Obligation(
                "step above 2/s",
                at_most(2 / at, 1),
                ("s",),
                (k + slack("s")) / at,
            ),
            Obligation(
                "contracted",
                at_most(apart2(k + 1), (1 - 2 / at) * apart2(k) + 4 / (mu * at) ** 2 * v),
                ("round", "eta"),
                slack("round") + residual("eta") / (mu * at) * (mu * apart2(k) - (rate(k) + 2 / (mu * at)) * v),
            ),
            Obligation(
                "distance from k to k + 1",
                at_most(apart2(k + 1) * (at + 1), M),
                (hypothesis, "contracted", "step above 2/s", "noise"),
                (at + 1)
                * (
                    slack("contracted")
                    + slack("step above 2/s") * slack(hypothesis) / at
                    + slack("noise") / (mu * at) ** 2
                    + (constant - 4) * v / (mu * at) ** 2
                )
                + M / at**2,
            ),
        ),
    )
    goal = at_most(apart2(T), M / (T + s))
    follows = Obligation("the statement follows", goal, ("last",), slack("last") / (T + s))
    return Statement(
        "FedAvg with K = 1 and additive drifts, w_{t+1} = w_t - eta_t (grad F(w_t) + n_t) with F(w) = f(w) - "
        "<delta_bar, w> and E[n_t | everything before] = 0: E||w_T - w_delta||^2 <= M/(T + s) with M = max(s E||w_0 - "
        "w_delta||^2, 4 v/mu^2), eta_t = 2/(mu (t + s)) and s >= 2 and s >= (mu + L)/mu, w_delta the minimiser of the "
        "clients' mean objective, v = (sigma^2 + D^2)/N.",
        goal,
        (),
        Proof((induction, Instance("last", "distance", k, T), follows)),
        (
            Fact("s", at_most(2, s), "s >= 2."),
            Fact("start", at_most(apart2(0) * s, M), "M >= s E||w_0 - w_delta||^2."),
            Fact("noise", at_most(constant * v, M * mu**2), "M >= 4 v/mu^2."),
            Fact("eta", equal(rate(k) * mu * at, 2), "eta_t = 2/(mu (t + s))."),
            Fact(
                "round",
                at_most(apart2(k + 1), (1 - mu * rate(k)) * apart2(k) + rate(k) ** 2 * v),
                "ours.cfl_strongly_convex, part round, for the mean objective (no bias), and r^2 <= r.",
            ),
        ),
    )


def moved_minimiser(constant: Any = 1) -> Statement:
    """How far the minimiser of the clients' mean objective lies from w*."""
    goal = at_most(mu**2 * x2, constant * G2 / N)
    difference = {"g": sp.S.One, "x": -mu}
    gram = {("g", "g"): g2, ("g", "x"): g_dot_x, ("x", "x"): x2}
    return Statement(
        "E||w_delta - w*||^2 <= G^2/(N mu^2).",
        goal,
        (),
        Proof(
            (
                rules.convexity("f(w*)", f_moved, -g_dot_x, x2, f_star, mu, "in expectation."),
                rules.convexity("f(w_delta)", f_star, sp.S.Zero, x2, f_moved, mu, "grad f(w*) = 0; in expectation."),
                rules.bilinearity("difference", gap_vector2, difference, difference, gram, "in expectation."),
                Obligation(
                    "the statement follows",
                    goal,
                    ("f(w*)", "f(w_delta)", "difference", "gradient"),
                    2 * mu * (slack("f(w*)") + slack("f(w_delta)"))
                    + gap_vector2
                    - residual("difference")
                    - residual("gradient")
                    + (constant - 1) * G2 / N,
                ),
            )
        ),
        (
            Fact(
                "gradient",
                equal(g2, G2 / N),
                "grad f(w_delta) is the mean of the delta_i: N independent drifts with mean zero.",
            ),
        ),
    )


def exact_mean(share: Any = 1) -> Statement:
    """One eigenvalue: FedAvg that averages all drifts; `share` scales the time drifts' part."""
    hypothesis = "mean (hypothesis)"
    averaged = Induction(
        "mean",
        k,
        equal(k * curvature * position(k), drift_sum(k)),
        Obligation("nothing yet", equal(sp.S.Zero, drift_sum(0)), ("no drift",), residual("no drift")),
        (
            Obligation(
                "mean from k to k + 1",
                equal((k + 1) * curvature * position(k + 1), drift_sum(k + 1)),
                (hypothesis, "round", "sum"),
                residual("sum") - residual(hypothesis) - curvature * residual("round"),
            ),
        ),
    )
    goal = equal(mean_square(T), G2 / (N * curvature**2) + share * D2 / (N * T * curvature**2))
    follows = Obligation(
        "the statement follows",
        goal,
        ("squares", "variance"),
        -(residual("squares") + residual("variance")) / (T * curvature) ** 2,
    )
    return Statement(
        "On f = lambda ||w - w*||^2/2, without gradient noise, FedAvg with 1 - (1 - eta_l lambda)^K = 1/(t + 1) in "
        "round t = 0, 1, ... has E||w_T - w*||^2 = G^2/(N lambda^2) + D^2/(N T lambda^2), whatever w_0 (one "
        "coordinate).",
        goal,
        (),
        Proof(
            (
                averaged,
                Instance("T rounds", "mean", k, T),
                replace(
                    rules.linear_expectation(
                        "squares", equal(T**2 * curvature**2 * mean_square(T), sum_square(T)), "squares of both sides."
                    ),
                    premises=("T rounds",),
                ),
                follows,
            )
        ),
        (
            Fact("no drift", equal(drift_sum(0), 0), "An empty sum."),
            Fact("sum", equal(drift_sum(k + 1), drift_sum(k) + drift_at(k)), "c_t is the mean of delta_i + xi_{t,i}."),
            Fact(
                "round",
                equal((k + 1) * position(k + 1), k * position(k) + drift_at(k) / curvature),
                "x = w - w*: K local steps leave (1 - eta_l lambda)^K x and add 1 minus that of c_t/lambda.",
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
        "ours",
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
            "With clients that are new in every round w_delta = w* and v = (sigma^2 + G^2 + D^2)/N: then E f(w_T) - f* "
            "<= L M/(2 (T + s)), which is what the D^2 + G^2 of Theorem 4.4 is about.",
            "The third part reaches the floors of ours.cfl_lower_bounds, clients and time, as h goes to infinity. "
            "Gradient noise adds to it a term of order sigma^2/T.",
        ),
    )


CLAIMS: dict[str, Callable[[], Claim]] = {"ours.cfl_decaying_fedavg": decaying_fedavg}
