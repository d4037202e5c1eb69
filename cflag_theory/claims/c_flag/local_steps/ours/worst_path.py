"""The exact worst case of C-FLAG's local steps for a given order of refreshes: drift, error and their sums.

The majorants d and table of `c_flag.drift` are what the triangle inequality leaves of the local step (4). One
instance turns all of its uses into equalities: clients whose components are all -(L/2) x^2 - ||grad g(x_t)|| x on the
line, which move away from x_t at y_k >= 0. So d and what is made of it are not bounds among others, but the worst
case, for every step size.
"""

from __future__ import annotations

from collections.abc import Callable

from cflag_theory.claims.c_flag.local_steps.drift import (
    MAJORANTS,
    START,
    d,
    drift,
    error,
    errors_by_path,
    largest,
    path,
    table,
)
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import L, beta, grad_g, k, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Induction, Obligation, Proof, RuleUse

y = sequence("y", r"y_{@}", nonnegative=True)
y_table = sequence("y_table", r"\bar{y}_{@}", nonnegative=True)
error_met = symbol("error_met", r"{\|e_k\|_y}", nonnegative=True)

RECURSION = MAJORANTS[:2]
CONCAVE = (
    Fact("y at 0", equal(y(0), 0), "x_{t,0} = x_t."),
    Fact(
        "(4) on the line",
        equal(y(k + 1), y(k) + beta * (grad_g + L * y_table(k))),
        "The local step (4) for components -(L/2) x^2 - ||grad g(x_t)|| x, whose slopes at x_t + y are -||grad "
        "g(x_t)|| - L y: the delayed gradient is -||grad g(x_t)|| - L mean_j y_{tau_{k,j}}.",
    ),
)
ATTAINING = "for clients whose components are all -(L/2) x^2 - ||grad g(x_t)|| x, with y_k = |x_{t,k} - x_t|"


def same_table(name: str, premise: str) -> RuleUse:
    words = "over the components with weights 1/n: y_tau = d_tau at tau = tau_{k,j} <= k."
    return rules.weighted_sum(name, equal(y_table(k), table(k)), words, (premise,))


def positions() -> Induction:
    """y(k) = d(k) for every k."""
    hypothesis = "positions (hypothesis)"
    return Induction(
        "positions",
        k,
        equal(y(k), d(k)),
        base=Obligation(
            "positions at 0", equal(y(0), d(0)), ("y at 0", "d at 0"), residual("d at 0") - residual("y at 0")
        ),
        step=(
            same_table("table of y", hypothesis),
            Obligation(
                "positions at k + 1",
                equal(y(k + 1), d(k + 1)),
                (hypothesis, "table of y", "(4) on the line", "d after k"),
                residual("d after k")
                - residual("(4) on the line")
                - residual(hypothesis)
                - beta * L * residual("table of y"),
            ),
        ),
    )


def worst_drift() -> Claim:
    """The drift."""
    goal = at_most(drift(k), d(k))
    bound = Statement(
        "||x_{t,k}^i - x_t|| <= d_k with d_0 = 0 and d_{k+1} = d_k + beta (||grad g(x_t)|| + L mean_j "
        "d_{tau_{k,j}}), for every order of refreshes, every k and every step size.",
        goal,
        (),
        Proof(
            (
                path(),
                rules.largest_member("one of the points", drift(k), largest(k), "x_{t,k} is one of them."),
                Obligation(
                    "the statement follows",
                    goal,
                    ("one of the points", "path"),
                    slack("one of the points") + slack("path"),
                ),
            )
        ),
        (START, *RECURSION),
    )
    attained = Statement(
        f"y_k = d_k for every k {ATTAINING}.", equal(y(k), d(k)), (), Proof((positions(),)), (*RECURSION, *CONCAVE)
    )
    return Claim(
        "ours.worst_drift",
        "ours",
        "for Lemma 13",
        "Client drift, exactly, for a given order",
        (Part("bound", bound), Part("attained", attained)),
        (
            "For one component d_k = ||grad g(x_t)|| ((1 + beta L)^k - 1) / L, which is the largest over n and orders: "
            "ours.worst_order.",
            "d_k / (beta k ||grad g(x_t)||) at k = E - 1 tends to (exp(u) - 1)/u from below as E grows with u = "
            "beta L E fixed, so Lemma 13 with its 4 is true for every n and E up to u = 2.3366..., the root of "
            "exp(u) = 1 + 4 u, and not beyond.",
        ),
    )


def worst_iag_error() -> Claim:
    """The error of the delayed gradient."""
    value = L * (d(k) - table(k))
    goal = at_most(error(k), value)
    bound = Statement(
        "||e_{t,k}^i|| <= L (d_k - mean_j d_{tau_{k,j}}) for every order of refreshes, every k and every step size.",
        goal,
        (),
        Proof(
            (
                *errors_by_path(),
                Obligation(
                    "the statement follows",
                    goal,
                    ("(94)", "gaps"),
                    slack("(94)") + L * slack("gaps"),
                ),
            )
        ),
        (START, *RECURSION),
    )
    met = equal(error_met, value)
    attained = Statement(
        f"||e_{{t,k}}|| = L (d_k - mean_j d_{{tau_{{k,j}}}}) {ATTAINING}.",
        met,
        (),
        Proof(
            (
                positions(),
                same_table("table of y", "positions"),
                Obligation(
                    "the statement follows",
                    met,
                    ("error of y", "positions", "table of y"),
                    -residual("error of y") - L * residual("positions") + L * residual("table of y"),
                ),
            )
        ),
        (
            *RECURSION,
            *CONCAVE,
            Fact(
                "error of y",
                equal(error_met, L * (y(k) - y_table(k))),
                "The slopes at y_tau and y_k differ by L (y_k - y_tau) >= 0, for every component.",
            ),
        ),
    )
    return Claim(
        "ours.worst_iag_error",
        "ours",
        "for Lemma 12 and Corollary 14",
        "Error of the delayed gradient, exactly, for a given order",
        (Part("bound", bound), Part("attained", attained)),
        (
            "With u = beta L E the error is, over n and orders, at most u ||grad g(x_t)|| for u <= 1 and at most "
            "exp(u - 1) ||grad g(x_t)|| beyond, and comes as near as one likes: ours.worst_order and "
            "ours.worst_error_beyond. So Corollary 14 with its 2 is true up to u = 2.6783..., the root of "
            "exp(u - 1) = 2 u.",
        ),
    )


CLAIMS: dict[str, Callable[[], Claim]] = {
    "ours.worst_drift": worst_drift,
    "ours.worst_iag_error": worst_iag_error,
}
