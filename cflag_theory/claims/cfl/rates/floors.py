"""What no step size and no round weights can beat: closed forms of Algorithm 2 on f(w) = lambda ||w - w*||^2 / 2.

With K = 1 and additive drifts a round is w_{t+1} = w_t - eta_t (lambda (w_t - w*) - c_t), where c_t is the mean over
the clients of delta_i + sum_tau p_tau xi_{tau,i}, the p_tau sum to one, and the steps eta_t are any positive numbers,
all of them chosen beforehand: steps that look at the gradients could do better. Hence w_T - w* = keep (w_0 - w*) +
(1/lambda) sum_i (along delta_i + sum_tau share_tau xi_{tau,i})/N, with coefficients that depend on the steps and
weights alone.
"""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.cfl.symbols import D2, G2, N, T, eta
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack, square
from cflag_theory.claims.engine.claim import Fact, Statement
from cflag_theory.claims.engine.notation import L, k, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof

curvature = symbol("quadratic_curvature", r"\lambda", positive=True)
#: ||w_0 - w*||^2.
start2 = symbol("start_apart2", r"{\|w_0-w^*\|^2}", nonnegative=True)
#: E f(w_@) - f*.
gap = sequence("suboptimality", r"\mathbb{E}f(w_{@})-f^*", nonnegative=True)
step = sequence("server_step", r"\eta_{@}", positive=True)
keep = sequence("kept_of_start", r"a_{@}", real=True)
along = sequence("drift_taken", r"b_{@}", real=True)
squares = sequence("drift_shares2", r"\sum_\tau b_{\tau,@}^2", nonnegative=True)
others = sequence("independent_noise", r"V_{@}", nonnegative=True)

KEEP = (
    Fact("start", equal(keep(0), 1), "At the start everything of w_0 - w* is kept."),
    Fact("keep", equal(keep(k + 1), (1 - curvature * step(k)) * keep(k)), "What a round keeps of w_0 - w*."),
)
ALONG = (
    Fact("no drift", equal(along(0), 0), "At the start there is no drift."),
    Fact(
        "along",
        equal(along(k + 1), (1 - curvature * step(k)) * along(k) + curvature * step(k)),
        "A round adds lambda eta_t of the drifts, with weights that sum to one.",
    ),
)


def complement() -> Induction:
    """along = 1 - keep in every round."""
    hypothesis = "complement (hypothesis)"
    return Induction(
        "complement",
        k,
        equal(along(k), 1 - keep(k)),
        Obligation(
            "complement at 0",
            equal(along(0), 1 - keep(0)),
            ("start", "no drift"),
            -residual("start") - residual("no drift"),
        ),
        (
            Obligation(
                "complement from k to k + 1",
                equal(along(k + 1), 1 - keep(k + 1)),
                (hypothesis, "keep", "along"),
                -residual("keep") - residual("along") - (1 - curvature * step(k)) * residual(hypothesis),
            ),
        ),
    )


def _half(scale: sp.Expr) -> sp.Expr:
    """scale (keep^2 + (1 - keep)^2 - 1/2)."""
    return 2 * scale * square(keep(T) - sp.Rational(1, 2))


def fixed_clients(words: str) -> Statement:
    """The floor of clients that stay: E f(w_T) - f* >= lambda h/4 where G^2 = N lambda^2 h."""
    goal = at_most(curvature * start2 / 4, gap(T))
    value = Fact(
        "gap",
        equal(
            gap(T),
            curvature / 2 * (keep(T) ** 2 * start2 + along(T) ** 2 * G2 / (N * curvature**2) + others(T)),
        ),
        "E delta_i = 0, E||delta_i||^2 = G^2, independent clients; V_T >= 0 is what xi and nu add, which are "
        "independent of delta_i and have mean zero.",
    )
    chosen = Fact("h", equal(G2, N * curvature**2 * start2), "||w_0 - w*||^2 = G^2/(N lambda^2).")
    follows = Obligation(
        "the statement follows",
        goal,
        ("gap", "h", "b_T"),
        residual("gap")
        + along(T) ** 2 / (2 * N * curvature) * residual("h")
        + curvature / 2 * others(T)
        + _half(curvature * start2 / 2)
        + curvature * start2 / 2 * (along(T) + 1 - keep(T)) * residual("b_T"),
    )
    return Statement(
        words,
        goal,
        (),
        Proof((complement(), Instance("b_T", "complement", k, T), follows)),
        (*KEEP, *ALONG, value, chosen),
    )


def new_in_every_round(words: str, moment: sp.Expr = D2) -> Statement:
    """The floor of what T rounds draw independently: E f(w_T) - f* >= lambda h/4 where N T lambda^2 h <= `moment`.

    With the second moment D^2 these are the time drifts, and with sigma^2 and p_t = 1 the gradient noises of one local
    step, which enter each round as the time drifts of FedAvg do.
    """
    goal = at_most(curvature * start2 / 4, gap(T))
    value = Fact(
        "gap",
        equal(gap(T), curvature / 2 * (keep(T) ** 2 * start2 + squares(T) * moment / (N * curvature**2) + others(T))),
        "Mean zero, second moment D^2 (or sigma^2), all independent; V_T >= 0 is what the other draws add.",
    )
    chosen = Fact(
        "h",
        at_most(N * T * curvature**2 * start2, moment),
        "||w_0 - w*||^2 <= D^2/(N T lambda^2), with equality for the last T that is to be excluded.",
    )
    follows = Obligation(
        "the statement follows",
        goal,
        ("gap", "h", "b_T", "T shares"),
        residual("gap")
        + squares(T) / (2 * N * curvature) * slack("h")
        + curvature / 2 * others(T)
        + curvature * start2 / 2 * slack("T shares")
        + _half(curvature * start2 / 2)
        + curvature * start2 / 2 * (along(T) + 1 - keep(T)) * residual("b_T"),
    )
    shares = rules.jensen(
        "T shares", along(T) ** 2, T * squares(T), "b_T is the sum of the shares of T rounds, T times their mean."
    )
    return Statement(
        words,
        goal,
        (),
        Proof((complement(), Instance("b_T", "complement", k, T), shares, follows)),
        (*KEEP, *ALONG, value, chosen),
    )


stuck = symbol("probability_of_rest", r"2^{-N}", positive=True)
moving = symbol("gap_if_moving", r"\mathbb{E}[(f(w_T)-f^*)1_{\mathrm{moving}}]", nonnegative=True)


def no_gradient(words: str) -> Statement:
    """Clients that stay and whose objectives may all be 0: E f(w_T) - f* >= 2^{-N} (f(w_0) - f*)."""
    goal = at_most(stuck * gap(0), gap(T))
    return Statement(
        words,
        goal,
        (),
        Proof((Obligation("the statement follows", goal, ("draws",), residual("draws") + moving),)),
        (
            Fact(
                "draws",
                equal(gap(T), stuck * gap(0) + moving),
                "The draw in which no client has a gradient, and all others; f(w_T) - f* >= 0 in each.",
            ),
        ),
    )


STEP = Fact(
    "eta", at_most(step(k), 1 / (9 * L)), "eta_l <= (sqrt(7) - 2)/(6 K L) <= 1/(9 K L), the largest step for c_O = 1."
)


def geometric(words: str) -> Statement:
    """Gradient descent on f = L ||w - w*||^2 / 2: E f(w_T) - f* >= (L h/2) (64/81)^T."""
    ratio = sp.Rational(64, 81)
    hypothesis = "gap (hypothesis)"
    inside = L * slack("eta")
    relation = at_most(L * start2 / 2 * ratio**k, gap(k))
    induction = Induction(
        "gap",
        k,
        relation,
        Obligation("gap at 0", at_most(L * start2 / 2, gap(0)), ("start",), residual("start")),
        (
            Obligation(
                "gap from k to k + 1",
                at_most(L * start2 / 2 * ratio ** (k + 1), gap(k + 1)),
                (hypothesis, "round", "eta"),
                residual("round") + ratio * slack(hypothesis) + inside * (inside + sp.Rational(16, 9)) * gap(k),
            ),
        ),
    )
    goal = at_most(L * start2 / 2 * ratio**T, gap(T))
    return Statement(
        words,
        goal,
        (),
        Proof(
            (
                induction,
                Instance("last", "gap", k, T),
                Obligation("the statement follows", goal, ("last",), slack("last")),
            )
        ),
        (
            Fact("start", equal(gap(0), L * start2 / 2), "f(w_0) - f*."),
            Fact(
                "round", equal(gap(k + 1), (1 - L * step(k)) ** 2 * gap(k)), "w_{t+1} - w* = (1 - eta_t L)(w_t - w*)."
            ),
            STEP,
        ),
    )


def flat(words: str) -> Statement:
    """Gradient descent on f = L ||w - w*||^2 / (2 T): E f(w_T) - f* >= 7 L h/(18 T)."""
    u = L * eta / T
    first = L * start2 / (2 * T)
    hypothesis = "gap (hypothesis)"
    induction = Induction(
        "gap",
        k,
        at_most(first * (1 - 2 * u * k), gap(k)),
        Obligation("gap at 0", at_most(first, gap(0)), ("start",), residual("start")),
        (
            Obligation(
                "small steps",
                at_most(2 * u, 1),
                ("eta", "T"),
                2 * L / T * slack("eta") + (7 + 9 * slack("T")) / (9 * T),
            ),
            Obligation(
                "gap from k to k + 1",
                at_most(first * (1 - 2 * u * (k + 1)), gap(k + 1)),
                (hypothesis, "round", "small steps"),
                residual("round") + u**2 * gap(k) + slack("small steps") * slack(hypothesis) + first * 4 * u**2 * k,
            ),
        ),
    )
    goal = at_most(7 * L * start2 / (18 * T), gap(T))
    follows = Obligation("the statement follows", goal, ("last", "eta"), slack("last") + first * 2 * L * slack("eta"))
    return Statement(
        words,
        goal,
        (),
        Proof((induction, Instance("last", "gap", k, T), follows)),
        (
            Fact("start", equal(gap(0), first), "f(w_0) - f*."),
            Fact("round", equal(gap(k + 1), (1 - u) ** 2 * gap(k)), "w_{t+1} - w* = (1 - eta L/T)(w_t - w*)."),
            Fact("eta", at_most(eta, 1 / (9 * L)), STEP.words),
            Fact("T", at_most(1, T), "There is at least one round."),
        ),
    )
