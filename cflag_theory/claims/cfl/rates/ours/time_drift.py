"""What CFL gains under time drifts: with exact past losses and a constant step it averages them, and FedAvg does not.

The model is that of `strongly_convex` with R = sigma = 0 and the weights 1/t: round t is a gradient step on the mean of
the losses of rounds 1, ..., t.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.rates.floors import apart2, curvature, start2
from cflag_theory.claims.cfl.rates.ours.decaying_fedavg import drift_sum, mean_square, position, sum_square
from cflag_theory.claims.cfl.rates.ours.strongly_convex import (
    STEP,
    after2,
    averaged,
    beta,
    f,
    r,
    v,
    x2,
    x_root,
)
from cflag_theory.claims.cfl.rates.ours.sum_over_rounds import LEAST, MEAN, m, moment, y, y_gap
from cflag_theory.claims.cfl.rates.theorems import L_AT_LEAST_MU, mu
from cflag_theory.claims.cfl.symbols import D2, N, T, eta
from cflag_theory.claims.cfl.symbols import mu as convexity
from cflag_theory.claims.cfl.vectors import draw
from cflag_theory.claims.cfl.vectors import over_past as expectation
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Source, Statement, shown
from cflag_theory.claims.engine.notation import k, sequence, symbol
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Instance, Obligation, by_induction

#: A round from which on the drifts change slowly, and the excess over the constant 1.
since = symbol("since_round", "t_0", positive=True, integer=True)
excess = symbol("excess", r"\gamma", positive=True)
later2 = sequence("later_distance2", r"\mathbb{E}\|w_{t_0+@}-w^*\|^2", nonnegative=True)
later_root = sequence("later_root", r"{\|w_{t_0+@}-w^*\|_2}", nonnegative=True)
#: D/(mu sqrt(N t)) in round t = t_0 + @.
lead = sequence("mean_drift_reach", r"\frac{D}{\mu\sqrt{N(t_0+@)}}", nonnegative=True)
count = symbol("later_rounds", "n", nonnegative=True, integer=True)
#: What FedAvg with a constant step comes to.
floor = symbol("fedavg_floor", "F", nonnegative=True)
last_gap = symbol("cfl_gap", r"\mathbb{E}f(w_{t+1})-f^*", nonnegative=True)


def minimiser(constant: Any = 1) -> Statement:
    """The minimiser of the mean loss of T rounds."""
    goal = at_most(2 * convexity * y_gap, constant * moment)
    return shown(
        "f mu-convex: the minimiser w_T* of the mean of the f_{t,i} over N clients and T rounds has 𝔼 f(w_T*) - f* <= "
        "(G^2/N + D^2/(N T))/(2 mu).",
        goal,
        *averaged("f(w*)", rules.convex("f at y, w*", f, y, sp.S.Zero), LEAST),
        *averaged("Young", rules.square("||m - mu y||^2", m - convexity * y)),
        given=("f(w*)", "Young", "m"),
        where=(MEAN,),
    )


def iterates(constant: Any = 1) -> Statement:
    """CFL with a constant step; `constant` scales the term that stays."""
    c, t = 1 + excess, since + k

    def bound(rounds: Any) -> Relation:
        return at_most(later_root(rounds), r**rounds * later_root(0) + constant * c * lead(rounds))

    now = r * later_root(k) + eta * mu * lead(k + 1)
    one_round = Source(
        "ours.cfl_strongly_convex",
        "round",
        at=((convexity, mu), (beta, mu * lead(k + 1)), (v, sp.S.Zero)),
        taken=((after2, later2(k + 1)), (x2, later2(k)), (x_root, later_root(k))),
        besides=("beta", "v"),
    )
    before, after = r * c * lead(k), (excess + r) * lead(k + 1)
    return shown(
        "f mu-convex and L-smooth, G = R = sigma = 0, K = 1, p_tau = 1/t, eta <= 2/(mu + L), gamma > 0. From a round "
        "t_0 >= (1 + gamma)/(2 gamma eta mu) on, n rounds later, t = t_0 + n: ||w_t - w*||_2 <= (1 - eta mu)^n "
        "||w_{t_0} - w*||_2 + (1 + gamma) D/(mu sqrt(N t)).",
        bound(count),
        Obligation("at most one", at_most(r, 1), ("r",)),
        by_induction(
            "distance",
            k,
            bound(k),
            rules.at("next root", k, k + 1, given="root"),
            rules.at("next lead", k, k + 1, given="lead"),
            Obligation("squared", at_most(later_root(k + 1) ** 2, now**2), ("round", "root", "next root")),
            rules.square_root("one round", later_root(k + 1), now, given="squared"),
            Obligation("late", at_most(r**2 * c**2 * (t + 1), (excess + r) ** 2 * t), ("long", "at most one")),
            Obligation("slow squared", at_most(before**2, after**2), ("late", "lead", "next lead")),
            rules.square_root("slow", before, after, given="slow squared"),
            given=("one round", "slow", "r"),
        ),
        Instance("last", "distance", k, count),
        given=("last",),
        under=(
            STEP,
            L_AT_LEAST_MU,
            Fact("r", equal(r, 1 - eta * mu), "r = 1 - eta mu, not negative."),
            Fact("long", at_most(c, 2 * excess * (1 - r) * since), "t_0 >= (1 + gamma)/(2 gamma eta mu)."),
        ),
        where=(
            Fact("root", equal(later_root(k) ** 2, later2(k)), "The root of 𝔼||w_t - w*||^2.", (k,)),
            Fact("lead", equal(lead(k) ** 2, D2 / (N * mu**2 * t)), "D/(mu sqrt(N t)) in round t = t_0 + k.", (k,)),
            Fact(
                "round",
                at_most(
                    later2(k + 1),
                    r**2 * later2(k) + 2 * eta * r * mu * lead(k + 1) * later_root(k) + (eta * mu * lead(k + 1)) ** 2,
                ),
                "A round of ours.cfl_strongly_convex: the mean drift of t rounds is b_t, 𝔼||b_t||^2 = D^2/(N t).",
                (k,),
                (one_round,),
            ),
        ),
    )


def fedavg(constant: Any = 1) -> Statement:
    """FedAvg with a constant step on a quadratic."""
    keep = (1 - eta * curvature) ** 2

    def exact(rounds: Any) -> Relation:
        return equal(apart2(rounds) - floor, keep**rounds * (start2 - floor))

    return shown(
        "On f = lambda ||w - w*||^2/2 with G = sigma = 0 and K = 1, FedAvg (p_t = 1) with a constant step has 𝔼||w_T - "
        "w*||^2 = F + (1 - eta lambda)^{2 T} (||w_0 - w*||^2 - F), F = eta D^2/(N lambda (2 - eta lambda)).",
        exact(T),
        by_induction("exact", k, exact(k), given=("round", "F")),
        Instance("last", "exact", k, T),
        given=("last",),
        where=(
            Fact(
                "round",
                equal(apart2(k + 1), keep * apart2(k) + eta**2 * D2 / N),
                "The N drifts of a round are new, independent, with mean zero.",
                (k,),
            ),
            Fact(
                "F",
                equal(floor * N * curvature * (2 - eta * curvature), constant * eta * D2),
                "F = eta D^2/(N lambda (2 - eta lambda)).",
            ),
        ),
    )


def attained(constant: Any = 1) -> Statement:
    """CFL with the step 1/lambda on a quadratic."""
    drifts = drift_sum(k + 1, draw)
    goal = equal(2 * curvature * N * (k + 1) * last_gap, constant * D2)
    squared = equal(((k + 1) * curvature * position(k + 1, draw)) ** 2, drifts**2)
    return shown(
        "On the same f, CFL with p_tau = 1/t and the step 1/lambda has 𝔼 f(w_T) - f* = D^2/(2 lambda N T) after T = t "
        "+ 1 rounds: each round ends at the minimiser of the mean of the losses so far (one coordinate).",
        goal,
        Obligation("square", squared, ("round",)),
        rules.mean("squares", expectation, given="square"),
        given=("squares", "variance", "gap"),
        where=(
            Fact(
                "round",
                equal(position(k + 1, draw), position(k, draw) - (position(k, draw) - drifts / (curvature * (k + 1)))),
                "x = w - w*: a step 1/lambda against lambda x minus the mean drift of t + 1 rounds.",
                (k, draw),
            ),
            Fact(
                "variance",
                equal(sum_square(k + 1), (k + 1) * D2 / N),
                "t + 1 means of N time drifts: independent, mean zero.",
                (k,),
            ),
            Fact("gap", equal(last_gap, curvature / 2 * mean_square(k + 1)), "f = lambda ||w - w*||^2/2.", (k,)),
        ),
    )


def time_drift(least: Any = 1, late: Any = 1, exact: Any = 1, stays: Any = 1) -> Claim:
    """What CFL gains; the constants are those of the parts."""
    return Claim(
        "ours.cfl_time_drift",
        "on Theorem 4.1 and Remark 4.6",
        "What CFL gains under time drifts: a constant step",
        (
            Part("minimiser", minimiser(least)),
            Part("iterates", iterates(late)),
            Part("attained", attained(exact)),
            Part("fedavg", fedavg(stays)),
        ),
        (
            "With one step size for all rounds the error of CFL falls like D^2/(mu^2 N T), and that of FedAvg stays at "
            "a multiple of eta D^2/(mu N). CFL pays with the exact losses of all past rounds (R = 0).",
            "Part attained has the bound of part minimiser with equality, and that of part iterates for gamma to 0, "
            "with L = mu and eta = 1/mu.",
            "The gain is over constant steps: FedAvg with steps that fall like 1/t has 1/T too, by "
            "ours.cfl_decaying_fedavg and part attained of ours.cfl_lower_bounds.",
            "f is 𝔼 f_{t,i}. With clients that stay, w* of part iterates is the minimiser of their mean objective.",
            "𝔼 f(w_t) - f* <= (L/2) 𝔼||w_t - w*||^2: for the iterates a factor L/mu more than part minimiser has for "
            "what they follow.",
        ),
    )


CLAIMS = {"ours.cfl_time_drift": time_drift}
