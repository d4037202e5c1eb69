"""Instead of the CFL paper's general convex rates, in the model of `strongly_convex`, with mu = 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.rates.floors import gap, start2
from cflag_theory.claims.cfl.rates.ours.strongly_convex import (
    after2,
    b2,
    beta,
    expanded_round,
    f_now,
    g2,
    g_dot_x,
    n2,
    u2,
    u_dot_b,
    v,
    x2,
)
from cflag_theory.claims.cfl.rates.theorems import BEST, TOTAL, apart2, least, total
from cflag_theory.claims.cfl.symbols import T, eta
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import L, k, symbol
from cflag_theory.claims.engine.relation import at_most
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof, Step

young2 = symbol("young_gap", r"\mathbb{E}\|u/T-\eta b_t\|^2", nonnegative=True)


def convex_round() -> Statement:
    """The distance in one round without strong convexity."""
    goal = at_most(after2, (1 + 1 / T) * (x2 - eta * f_now) + eta**2 * ((1 + T) * b2 + n2))
    gram = {("u", "u"): u2, ("b", "u"): u_dot_b, ("b", "b"): b2}
    # T ||u/T - eta b||^2, without roots.
    young = {"u": 1 / T, "b": -eta}
    steps: tuple[Step, ...] = (
        *expanded_round(),
        rules.convexity("f(w*)", f_now, -g_dot_x, x2, sp.S.Zero, sp.S.Zero, "at w* from w_t; f* = 0."),
        rules.cocoercivity("co-coercive", g_dot_x, x2, g2, sp.S.Zero, L, "y = w*, in expectation."),
        rules.bilinearity("Young", young2, young, young, gram, "in expectation."),
        Obligation(
            "u^2",
            at_most(u2, x2 - eta * f_now),
            ("u", "f(w*)", "co-coercive", "eta"),
            -residual("u") + eta * slack("f(w*)") + eta * (slack("co-coercive") / L + slack("eta") * g2 / L),
        ),
        Obligation(
            "the statement follows",
            goal,
            ("round", "Young", "u^2"),
            -residual("round") + T * (young2 - residual("Young")) + (1 + 1 / T) * slack("u^2"),
        ),
    )
    return Statement(
        "K = 1, in the model of ours.cfl_strongly_convex with mu = 0: w_{t+1} = w_t - eta (grad f(w_t) - b_t + n_t), "
        "b_t what may depend on w_t and n_t what is new, E[n_t | everything before] = 0, the loss fixed before the "
        "round's draws. Then E||w_{t+1} - w*||^2 <= (1 + 1/T) (E||w_t - w*||^2 - eta E(f(w_t) - f*)) + eta^2 ((1 + T) "
        "E||b_t||^2 + E||n_t||^2).",
        goal,
        (Fact("eta", at_most(eta * L, 1), "eta <= 1/L."),),
        Proof(steps),
        (),
    )


def convex_rounds(constant: Any = sp.E) -> Statement:
    """The best of T rounds; `constant` is the factor of the bracket."""
    theta, W = 1 + 1 / T, eta**2 * ((1 + T) * beta**2 + v)
    here, one = "sum (hypothesis)", "at least one (hypothesis)"
    grows = Induction(
        "at least one",
        k,
        at_most(1, theta**k),
        Obligation("one", at_most(1, sp.S.One), (), sp.S.Zero),
        (Obligation("one more", at_most(1, theta ** (k + 1)), (one,), slack(one) + theta**k / T),),
    )
    summed = Induction(
        "sum",
        k,
        at_most(apart2(k) + eta * total(k), theta**k * (start2 + k * W)),
        Obligation(
            "sum at 0",
            at_most(apart2(0) + eta * total(0), start2),
            ("h", "no gap"),
            -residual("h") - eta * residual("no gap"),
        ),
        (
            Obligation(
                "sum from k to k + 1",
                at_most(apart2(k + 1) + eta * total(k + 1), theta ** (k + 1) * (start2 + (k + 1) * W)),
                (here, "round", "gap", "at least one"),
                theta * slack(here)
                + slack("round")
                - eta * residual("gap")
                + eta * (total(k)) / T
                + eta * gap(k) / T
                + W * (slack("at least one") + theta**k / T),
            ),
        ),
    )
    goal = at_most(least, constant * (start2 / (eta * T) + eta * ((1 + T) * beta**2 + v)))
    follows = Obligation(
        "the statement follows",
        goal,
        ("best", "last", "power"),
        slack("best")
        + (slack("last") + apart2(T) + slack("power") * (start2 + T * W)) / (eta * T)
        + (constant - sp.E) * (start2 + T * W) / (eta * T),
    )
    return Statement(
        "In the same model: min_t E f(w_t) - f* <= e (||w_0 - w*||^2/(eta T) + eta ((1 + T) beta^2 + v)), for every T "
        "and eta <= 1/L.",
        goal,
        (),
        Proof(
            (
                grows,
                summed,
                Instance("last", "sum", k, T),
                rules.tangent_of_exp("power", 1 / T, T),
                BEST,
                follows,
            )
        ),
        (
            *TOTAL,
            Fact(
                "round",
                at_most(apart2(k + 1), theta * (apart2(k) - eta * gap(k)) + W),
                "The first part, in every round, with E||b_t||^2 <= beta^2 and E||n_t||^2 <= v.",
            ),
        ),
    )


def general_convex(constant: Any = sp.E) -> Claim:
    """The general convex theorem; `constant` is the factor of the bracket in its second part."""
    return Claim(
        "ours.cfl_general_convex",
        "ours",
        "in place of the general convex rates of Theorems 4.1 and 4.4",
        "General convex rate with additive drifts",
        (Part("round", convex_round()), Part("rounds", convex_rounds(constant))),
        (
            "beta is that of ours.cfl_strongly_convex; no bound on ||w_t - w*|| is assumed.",
            "With beta to 0 (FedAvg with new clients) and eta = ||w_0 - w*||/sqrt(T v), which is at most 1/L from T = "
            "L^2 ||w_0 - w*||^2/v on, it is 2 e ||w_0 - w*|| sqrt(v/T).",
            "With eta = ||w_0 - w*||/(beta T), at most 1/L from T = L ||w_0 - w*||/beta on, it tends to 2 e beta ||w_0 "
            "- w*|| as T grows, and more rounds do not lower that: ours.cfl_lower_bounds has a floor of G ||w_0 - "
            "w*||/(4 sqrt(N)) for clients that stay.",
        ),
    )


CLAIMS: dict[str, Callable[[], Claim]] = {"ours.cfl_general_convex": general_convex}
