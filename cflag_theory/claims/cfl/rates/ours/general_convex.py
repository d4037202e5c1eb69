"""Instead of the CFL paper's general convex rates, in the model of `strongly_convex`, with mu = 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.rates.floors import apart2, gap, start2
from cflag_theory.claims.cfl.rates.ours.strongly_convex import (
    MINIMUM,
    after2,
    averaged,
    b,
    b2,
    beta,
    expanded_round,
    f,
    f_now,
    g2,
    g_dot_x,
    n2,
    u,
    u2,
    v,
    x,
    x2,
)
from cflag_theory.claims.cfl.rates.theorems import BEST, least, round_index, total
from cflag_theory.claims.cfl.symbols import T, eta
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Source, Statement
from cflag_theory.claims.engine.notation import L, k, sequence, unfold
from cflag_theory.claims.engine.relation import Relation, at_most
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof, Step

bias2_at = sequence("bias2_at", r"\mathbb{E}\|b_{@}\|^2", nonnegative=True)
noise2_at = sequence("noise2_at", r"\mathbb{E}\|n_{@}\|^2", nonnegative=True)


def convex_round() -> Statement:
    """The distance in one round without strong convexity."""
    goal = at_most(after2, (1 + 1 / T) * (x2 - eta * f_now) + eta**2 * ((1 + T) * b2 + n2))
    steps: tuple[Step, ...] = (
        *expanded_round(),
        *averaged("f(w*)", rules.interpolation("f at w*", f, x, sp.S.Zero), MINIMUM),
        *averaged("f(w_t)", rules.interpolation("f at w_t", f, sp.S.Zero, x), MINIMUM),
        *averaged("Young", rules.square("||u/T - eta b||^2", u / T - eta * b)),
        Obligation("least", at_most(0, f_now), ("f(w_t)",)),
        Obligation("short", at_most(eta * g2, g2 / L), ("eta",)),
        Obligation("pull", at_most(2 * f_now + eta * g2, 2 * g_dot_x), ("f(w*)", "short")),
        Obligation("contracted", at_most(u2, x2 - eta * f_now), ("u^2", "least", "pull")),
        Obligation("the statement follows", goal, ("round", "Young", "contracted")),
    )
    return Statement(
        "K = 1, in the model of ours.cfl_strongly_convex with mu = 0: w_{t+1} = w_t - eta (grad f(w_t) - b_t + n_t), "
        "b_t what may depend on w_t and n_t what is new, 𝔼[n_t | everything before] = 0, the loss fixed before the "
        "round's draws. Then 𝔼||w_{t+1} - w*||^2 <= (1 + 1/T) (𝔼||w_t - w*||^2 - eta 𝔼(f(w_t) - f*)) + eta^2 ((1 + T) "
        "𝔼||b_t||^2 + 𝔼||n_t||^2).",
        goal,
        (Fact("eta", at_most(eta * L, 1), "eta <= 1/L."),),
        Proof(steps),
    )


def convex_rounds(constant: Any = sp.E) -> Statement:
    """The best of T rounds; `constant` is the factor of the bracket."""
    theta, W = 1 + 1 / T, eta**2 * ((1 + T) * beta**2 + v)

    def bound(rounds: Any) -> Relation:
        return at_most(apart2(rounds) + eta * total(rounds), theta**rounds * (start2 + rounds * W))

    grows = Induction(
        "at least one",
        k,
        at_most(1, theta**k),
        Obligation("one", at_most(1, sp.S.One), ()),
        (Obligation("one more", at_most(1, theta ** (k + 1)), ("at least one (hypothesis)",)),),
    )
    summed = Induction(
        "sum",
        k,
        bound(k),
        Obligation("sum at 0", bound(0), ()),
        (
            rules.last_term("gap", round_index, k, unfold(gap(round_index))),
            Obligation("sum at k + 1", bound(k + 1), ("sum (hypothesis)", "round", "gap", "at least one")),
        ),
    )
    goal = at_most(least, constant * (start2 / (eta * T) + eta * ((1 + T) * beta**2 + v)))
    return Statement(
        "In the same model: min_t 𝔼 f(w_t) - f* <= e (||w_0 - w*||^2/(eta T) + eta ((1 + T) beta^2 + v)), for every T "
        "and eta <= 1/L.",
        goal,
        (Fact("eta", at_most(eta * L, 1), "eta <= 1/L."),),
        Proof(
            (
                grows,
                summed,
                Instance("last", "sum", k, T),
                rules.tangent_of_exp("power", 1 / T, T),
                BEST,
                Obligation("the statement follows", goal, ("best", "last", "power")),
            )
        ),
        (
            Fact("beta", at_most(bias2_at(k), beta**2), "𝔼||b_t||^2 <= beta^2 in every round.", (k,)),
            Fact("v", at_most(noise2_at(k), v), "𝔼||n_t||^2 <= v in every round.", (k,)),
            Fact(
                "round",
                at_most(apart2(k + 1), theta * (apart2(k) - eta * gap(k)) + W),
                "The first part, in every round.",
                (k,),
                (
                    Source(
                        "ours.cfl_general_convex",
                        "round",
                        taken=(
                            (after2, apart2(k + 1)),
                            (x2, apart2(k)),
                            (f_now, gap(k)),
                            (b2, bias2_at(k)),
                            (n2, noise2_at(k)),
                        ),
                    ),
                ),
            ),
        ),
    )


def general_convex(constant: Any = sp.E) -> Claim:
    """The general convex theorem; `constant` is the factor of the bracket in its second part."""
    return Claim(
        "ours.cfl_general_convex",
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
