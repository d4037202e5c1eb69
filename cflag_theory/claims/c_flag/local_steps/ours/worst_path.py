"""The exact worst case of C-FLAG's local steps for a given order of refreshes: drift, error and their sums.

The majorants d and table of `local_steps.drift` are what the triangle inequality leaves of the local step (4). One
instance turns all of its uses into equalities: clients whose components are all -(L/2) x^2 - ||grad g(x_t)|| x on the
line, which move away from x_t at y_k >= 0. So d and what is made of it are not bounds among others, but the worst
case, for every step size.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.local_steps.delayed import drift_by_path, errors_by_path
from cflag_theory.claims.c_flag.local_steps.drift import MAJORANTS, d, drift, error, majorant, table
from cflag_theory.claims.c_flag.vectors import TABLE, b, client, tau
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement, shown
from cflag_theory.claims.engine.notation import L, beta, components, grad_g, j, k, sequence, symbol
from cflag_theory.claims.engine.operators import Largest
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Induction, Obligation, Proof, Step, Use

line = sp.Function("line", nonnegative=True)
y = sequence("y", r"y_{@}", lambda k: line(client, k))
y_table = sequence("y_table", r"\bar{y}_{@}", lambda k: components(line(client, tau(client, k, j))))
error_met = symbol("error_met", "e_k", L * (y(k) - y_table(k)))

CONCAVE = (
    Fact("y at 0", equal(y(0), 0), "x_{t,0} = x_t."),
    Fact(
        "y after k",
        equal(y(k + 1), y(k) + beta * (grad_g + L * y_table(k))),
        "The local step (4) for components -(L/2) x^2 - ||grad g(x_t)|| x, whose slopes at x_t + y are -||grad "
        "g(x_t)|| - L y: the delayed gradient is -||grad g(x_t)|| - L mean_j y_{tau_{k,j}}.",
        (client,),
    ),
)
ATTAINING = "for clients whose components are all -(L/2) x^2 - ||grad g(x_t)|| x, with y_k = |x_{t,k} - x_t|"


def compared(
    name: str, low: Any, high: Any, start: tuple[str, ...], entries: tuple[Any, str, Any], after: tuple[str, ...]
) -> tuple[Step, ...]:
    """Steps to low(client, k) <= high(client, k) for every k, the last called `name`.

    `entries` are the local step at which an entry of the table was filled, the setting that puts it at k at the
    latest, and the mean or sum over entries; `after` and `start` name the two recursions and their first values.
    """
    filled, within, over = entries
    top = Largest(b, k, low(client, b) - high(client, b))
    begun = at_most(low(client, 0) - high(client, 0), 0)
    new = at_most(low(client, k + 1) - high(client, k + 1), 0)
    entry = at_most(low(client, filled), high(client, filled))
    so_far = f"{name}: so far"
    hypothesis = f"{so_far} (hypothesis)"
    return (
        Induction(
            so_far,
            k,
            at_most(top, 0),
            base=Obligation(f"{name} at 0", begun, start),
            step=(
                rules.member("member", top, filled, given=within),
                Obligation("entry", entry, ("member", hypothesis)),
                rules.mean("entries", over, given="entry"),
                rules.member("last member", top, k),
                Obligation(f"{name} at k + 1", new, ("last member", hypothesis, "entries", *after)),
                rules.maximum("up to k + 1", top, given=(hypothesis, f"{name} at k + 1")),
            ),
        ),
        rules.member(f"{name}: member", top, k),
        Obligation(name, at_most(low(client, k), high(client, k)), (f"{name}: member", so_far)),
    )


def positions() -> tuple[Step, ...]:
    """Steps to y(k) = d(k) and to y_table(k) = table(k) for every k, called "positions" and "tables"."""
    entries = (tau(client, k, j), TABLE, components)
    start, after = ("y at 0", "d at 0"), ("y after k", "d after k")

    def at_tables(name: str) -> tuple[Use, ...]:
        return (
            rules.at(f"{name} at b", k, b, given=name),
            rules.at(f"{name} at an entry", b, tau(client, k, j), given=f"{name} at b"),
            rules.mean(f"{name} in tables", components, given=f"{name} at an entry"),
        )

    return (
        *compared("y <= d", line, majorant, start, entries, after),
        *compared("d <= y", majorant, line, start, entries, after),
        rules.both_bounds("positions", given=("y <= d", "d <= y")),
        *at_tables("positions"),
        Obligation("tables", equal(y_table(k), table(k)), ("positions in tables",)),
    )


def worst_drift() -> Claim:
    """The drift."""
    bound = Statement(
        "||x_{t,k}^i - x_t|| <= d_k with d_0 = 0 and d_{k+1} = d_k + beta (||grad g(x_t)|| + L mean_j "
        "d_{tau_{k,j}}), for every order of refreshes, every k and every step size.",
        at_most(drift(k), d(k)),
        proof=Proof(drift_by_path()),
        definitions=MAJORANTS,
    )
    attained = Statement(
        f"y_k = d_k for every k {ATTAINING}.",
        equal(y(k), d(k)),
        proof=Proof(positions()[:-4]),
        definitions=(*MAJORANTS, *CONCAVE),
    )
    return Claim(
        "ours.worst_drift",
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
    bound = Statement(
        "||e_{t,k}^i|| <= L (d_k - mean_j d_{tau_{k,j}}) for every order of refreshes, every k and every step size.",
        at_most(error(k), value),
        proof=Proof(errors_by_path()),
        definitions=MAJORANTS,
    )
    met = equal(error_met, value)
    attained = shown(
        f"e_{{t,k}} = L (y_k - mean_j y_{{tau_{{k,j}}}}) = L (d_k - mean_j d_{{tau_{{k,j}}}}) {ATTAINING}.",
        met,
        *positions(),
        given=("positions", "tables"),
        where=(*MAJORANTS, *CONCAVE),
    )
    return Claim(
        "ours.worst_iag_error",
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


CLAIMS = {
    "ours.worst_drift": worst_drift,
    "ours.worst_iag_error": worst_iag_error,
}
