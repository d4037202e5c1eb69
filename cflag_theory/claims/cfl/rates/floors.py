"""What no step size and no round weights can beat: closed forms of Algorithm 2 on f(w) = lambda ||w - w*||^2 / 2.

With K = 1 and additive drifts a round is w_{t+1} = w_t - eta_t (lambda (w_t - w*) - c_t), where c_t is the mean over
the clients of delta_i + sum_tau p_tau xi_{tau,i}, the p_tau sum to one, and the steps eta_t are any positive numbers,
all of them chosen beforehand: steps that look at the gradients could do better. Hence w_T - w* = keep (w_0 - w*) +
(1/lambda) sum_i (along delta_i + sum_tau share_tau xi_{tau,i})/N, with coefficients that depend on the steps and
weights alone.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.symbols import D2, G2, N, T, eta
from cflag_theory.claims.cfl.vectors import draw
from cflag_theory.claims.cfl.vectors import over_past as expectation
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Fact, Statement, shown
from cflag_theory.claims.engine.notation import L, k, sequence, symbol
from cflag_theory.claims.engine.operators import index, sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Instance, Obligation, by_induction
from cflag_theory.claims.engine.terms import function, norm2, vector

#: w_t - w* in each draw of a run, and f - f*, least at the origin w*.
w = vector("apart in a run", "(w_{@1}-w^*)")
f = function("excess", "(f-f^*)", lower=0)
apart2 = sequence("distance2_at", r"\mathbb{E}\|w_{@}-w^*\|^2", lambda t: expectation(norm2(w(t, draw))))
start2 = symbol("start_apart2", r"{\|w_0-w^*\|^2}", expectation(norm2(w(0, draw))))
gap = sequence("suboptimality", r"\mathbb{E}f(w_{@})-f^*", lambda t: expectation(f(w(t, draw))))

curvature = symbol("quadratic_curvature", r"\lambda", positive=True)
step = sequence("server_step", r"\eta_{@}", positive=True)
keep = sequence("kept_of_start", r"a_{@}", real=True)
#: b_{tau,t}: what w_t holds of the drifts of round tau.
tau = index("tau")
share = sequence("drift_share", r"b_{\tau,@}", real=True)
along = sequence("drift_taken", r"\sum_\tau b_{\tau,@}", lambda t: sum_over(tau, t)(share(t, tau)))
squares = sequence("drift_shares2", r"\sum_\tau b_{\tau,@}^2", lambda t: sum_over(tau, t)(share(t, tau) ** 2))
others = sequence("independent_noise", r"V_{@}", nonnegative=True)

_COEFFICIENTS = (
    Fact("start", equal(keep(0), 1), "At the start everything of w_0 - w* is kept."),
    Fact("keep", equal(keep(k + 1), (1 - curvature * step(k)) * keep(k)), "What a round keeps of w_0 - w*."),
    Fact(
        "along",
        equal(along(k + 1), (1 - curvature * step(k)) * along(k) + curvature * step(k)),
        "A round adds lambda eta_t of the drifts, with weights that sum to one.",
        (k,),
    ),
)


def drift_floor(words: str, moment: sp.Expr, chosen: Fact, g: sp.Expr, constant: Any = 1) -> Statement:
    """𝔼 f(w_T) - f* >= (lambda/2) h g/(h + g), h = ||w_0 - w*||^2: `chosen` says how far g the drifts alone lead.

    Their second moment is `moment`: G^2 of clients that stay, else of what T rounds draw independently. With D^2 these
    are the time drifts, and with sigma^2 and p_t = 1 the gradient noises of one local step, which enter each round as
    the time drifts of FedAvg do.
    """
    h, stay = start2, moment == G2
    taken = along(T) ** 2 if stay else squares(T)
    goal = at_most(constant * curvature * h * g / (2 * (h + g)), gap(T))
    apart = equal(along(k), 1 - keep(k))
    complement = by_induction(
        "complement",
        k,
        apart,
        start=("start",),
        given=("keep", "along"),
    )
    shares = () if stay else (rules.jensen("T shares", sum_over(tau, T), share(T, tau)),)
    given = ("gap", chosen.name, "b_T", *(one.name for one in shares))
    return shown(
        words,
        goal,
        complement,
        Instance("b_T", "complement", k, T),
        *shares,
        given=given,
        where=(
            *_COEFFICIENTS,
            Fact(
                "gap",
                equal(gap(T), curvature / 2 * (keep(T) ** 2 * h + taken * moment / (N * curvature**2) + others(T))),
                "Draws of mean zero, independent over clients, and over rounds but for drifts that stay; V_T >= 0 is "
                "what the other draws add.",
            ),
            chosen,
        ),
    )


def fixed_clients(words: str) -> Statement:
    """The floor of clients that stay: 𝔼 f(w_T) - f* >= lambda h/4 where G^2 = N lambda^2 h."""
    chosen = Fact("h", equal(G2, N * curvature**2 * start2), "||w_0 - w*||^2 = G^2/(N lambda^2).")
    return drift_floor(words, G2, chosen, start2)


def new_in_every_round(words: str, moment: sp.Expr = D2) -> Statement:
    """The floor of what T rounds draw independently: 𝔼 f(w_T) - f* >= lambda h/4 where N T lambda^2 h <= `moment`."""
    chosen = Fact(
        "h",
        at_most(N * T * curvature**2 * start2, moment),
        "||w_0 - w*||^2 <= D^2/(N T lambda^2), with equality for the last T that is to be excluded.",
    )
    return drift_floor(words, moment, chosen, start2)


stuck = symbol("probability_of_rest", r"2^{-N}", positive=True)
moving = symbol("gap_if_moving", r"\mathbb{E}[(f(w_T)-f^*)1_{\mathrm{moving}}]", nonnegative=True)


def no_gradient(words: str) -> Statement:
    """Clients that stay and whose objectives may all be 0: 𝔼 f(w_T) - f* >= 2^{-N} (f(w_0) - f*)."""
    goal = at_most(stuck * gap(0), gap(T))
    return shown(
        words,
        goal,
        given=("draws",),
        where=(
            Fact(
                "draws",
                equal(gap(T), stuck * gap(0) + moving),
                "The draw in which no client has a gradient, and all others; f(w_T) - f* >= 0 in each.",
            ),
        ),
    )


STEP = Fact(
    "eta",
    at_most(step(k), 1 / (9 * L)),
    "eta_l <= (sqrt(7) - 2)/(6 K L) <= 1/(9 K L), the largest step for c_O = 1.",
    (k,),
)


def geometric(words: str) -> Statement:
    """Gradient descent on f = L ||w - w*||^2 / 2: 𝔼 f(w_T) - f* >= (L h/2) (64/81)^T."""

    def bound(rounds: sp.Expr) -> Relation:
        return at_most(L * start2 / 2 * sp.Rational(64, 81) ** rounds, gap(rounds))

    induction = by_induction(
        "gap",
        k,
        bound(k),
        start=("start",),
        given=("round", "eta"),
    )
    return shown(
        words,
        bound(T),
        induction,
        Instance("last", "gap", k, T),
        given=("last",),
        where=(
            Fact("start", equal(gap(0), L * start2 / 2), "f(w_0) - f*."),
            Fact(
                "round",
                equal(gap(k + 1), (1 - L * step(k)) ** 2 * gap(k)),
                "w_{t+1} - w* = (1 - eta_t L)(w_t - w*).",
                (k,),
            ),
            STEP,
        ),
    )


def flat(words: str) -> Statement:
    """Gradient descent on f = L ||w - w*||^2 / (2 T): 𝔼 f(w_T) - f* >= 7 L h/(18 T)."""
    u = L * eta / T
    first = L * start2 / (2 * T)

    def bound(rounds: sp.Expr) -> Relation:
        return at_most(first * (1 - 2 * u * rounds), gap(rounds))

    goal = at_most(7 * L * start2 / (18 * T), gap(T))
    induction = by_induction(
        "gap",
        k,
        bound(k),
        Obligation("small steps", at_most(2 * u, 1), ("eta", "T")),
        start=("start",),
        given=("round", "small steps"),
    )
    return shown(
        words,
        goal,
        induction,
        Instance("last", "gap", k, T),
        given=("last", "eta"),
        where=(
            Fact("start", equal(gap(0), first), "f(w_0) - f*."),
            Fact("round", equal(gap(k + 1), (1 - u) ** 2 * gap(k)), "w_{t+1} - w* = (1 - eta L/T)(w_t - w*).", (k,)),
            Fact("eta", at_most(eta, 1 / (9 * L)), STEP.words),
            Fact("T", at_most(1, T), "There is at least one round."),
        ),
    )
