"""The worst order for the error at any step size: turns up to some step, then one component again and again."""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.c_flag.local_steps.drift import MAJORANTS, d, majorant, table
from cflag_theory.claims.c_flag.local_steps.ours.worst_order import (
    FRESHEST,
    OTHERS,
    SOME,
    TURNS,
    at_least_one,
    d_turns,
    in_turn,
    n,
    q,
    rest,
    rest_grows,
    s,
    turn,
)
from cflag_theory.claims.c_flag.vectors import client
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement, shown
from cflag_theory.claims.engine.notation import L, beta, grad_g, k, sequence, symbol
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Induction, Obligation

j = symbol("j", "j", nonnegative=True, integer=True)
rest_turns = sequence("rest_turns", r"r^{\circ}_{@}", lambda k: sum_over(q, n - 1)(d_turns(turn(k, q + 1))) / n)
latest_others = sequence(
    "latest_others",
    r"\frac{1}{n}\sum_{0<q<n}d_{\max(@-q,0)}",
    lambda k: sum_over(q, n - 1)(majorant(client, turn(k, q + 1))) / n,
)
FRESHEST_OTHERS = Fact(
    "freshest others",
    at_most(rest(s), latest_others(s)),
    "The same without the component that was refreshed last.",
)

_b, _w = beta * L, beta * L / n
_AT = s + j + 1


def _drift() -> Induction:
    """d(s + j + 1), by d and the rest at s and the growth of the rest since."""
    hypothesis = "drift since s (hypothesis)"

    def bound(index: sp.Expr) -> Relation:
        power = (1 + _w) ** index
        begun = (1 + _w) * power * d(s) + n * ((1 + _w) * power - 1) * (grad_g / L + rest(s))
        return at_most(d(s + index + 1), begun + n * (power - 1) * (rest(s + index + 1) - rest(s)))

    return Induction(
        "drift since s",
        j,
        bound(j),
        base=(
            rules.at("d after s", k, s, given="d after k"),
            rules.at("table at s", k, s, given="parts of the table"),
            Obligation("drift at s + 1", bound(sp.S.Zero), ("d after s", "table at s")),
        ),
        step=(
            rules.at("rest grows now", k, _AT, given="rest grows"),
            rules.at("d after now", k, _AT, given="d after k"),
            rules.at("table now", k, _AT, given="parts of the table"),
            Obligation(
                "drift at s + j + 2",
                bound(j + 1),
                (hypothesis, "at least one", "rest grows now", "d after now", "table now"),
                (1 + _w) * slack(hypothesis)
                + n * ((1 + _w) * slack("at least one") + _w) * slack("rest grows now")
                - residual("d after now")
                + _b * residual("table now"),
            ),
        ),
    )


def value() -> sp.Expr:
    """The error at s + j + 1 after turns up to s and one component from there on."""
    power = (1 + _w) ** (j + 1)
    whole = power * d_turns(s) + n * (power - 1) * (grad_g / L + rest_turns(s))
    return L * ((1 - 1 / n) * whole - rest_turns(s))


def _bound() -> Statement:
    goal = at_most(L * (d(_AT) - table(_AT)), value())
    power = (1 + _w) ** (j + 1)
    certificate = L * (
        slack("n") / n * (slack("drift since s") + power * slack("in turn at s"))
        + slack("turns pay") * slack("others in turn")
        + slack("another turn does not") * slack("rest since s")
        - residual("table at s + j + 1")
    )
    after = (n - 1) * ((1 + _w) ** (j + 1) - 1)
    return shown(
        "For every order the error that is possible at k = s + j + 1, L (d_k - mean_j d_{tau_{k,j}}), is at most "
        "that of the order which takes the components in turn up to s and the last one again and again from there "
        "on, where s is the last step with (n - 1)((1 + beta L / n)^{k - s} - 1) >= 1.",
        goal,
        *in_turn(),
        rules.at("in turn at s", k, s, given="in turn"),
        rules.at("an entry in turn", k, turn(s, q + 1), given="in turn"),
        rules.mean("entries in turn", sum_over(q, n - 1), given="an entry in turn"),
        Obligation("others in turn", at_most(rest(s), rest_turns(s)), ("freshest others", "entries in turn")),
        *rest_grows(),
        Obligation("s up to s + j + 1", at_most(s, _AT), ()),
        rules.monotone("rest since s", k, rest(k), given=("rest grows", "s up to s + j + 1")),
        at_least_one(j),
        _drift(),
        rules.at("table at s + j + 1", k, _AT, given="parts of the table"),
        given=(
            *("n", "drift since s", "in turn at s", "turns pay", "others in turn"),
            *("another turn does not", "rest since s", "table at s + j + 1"),
        ),
        certificate=certificate,
        under=(
            SOME,
            Fact("turns pay", at_most(1, after), "1 <= (n - 1)((1 + beta L / n)^{k - s} - 1), ..."),
            Fact(
                "another turn does not",
                at_most((n - 1) * ((1 + _w) ** j - 1), 1),
                "... and with s + 1 in place of s it is at most 1.",
            ),
            FRESHEST,
            FRESHEST_OTHERS,
        ),
        where=(*MAJORANTS, *TURNS, *OTHERS),
    )


def _attained() -> Statement:
    goal = equal(L * (d(s + j) - table(s + j)), value().subs({j: j - 1}))
    hypothesis = "drift after turns (hypothesis)"

    def met(index: sp.Expr) -> Relation:
        power = (1 + _w) ** index
        return equal(d(s + index), power * d_turns(s) + n * (power - 1) * (grad_g / L + rest_turns(s)))

    return shown(
        "That order has this error, with j in place of j + 1: L (d_k - mean_j d_{tau_{k,j}}) at k = s + j.",
        goal,
        Induction(
            "drift after turns",
            j,
            met(j),
            base=Obligation("drift at s", met(sp.S.Zero), ("turns",)),
            step=(
                rules.at("d after s + j", k, s + j, given="d after k"),
                Obligation(
                    "drift at s + j + 1",
                    met(j + 1),
                    (hypothesis, "d after s + j", "table at s + j"),
                    -(1 + _w) * residual(hypothesis) - residual("d after s + j") - _b * residual("table at s + j"),
                ),
            ),
        ),
        given=("drift after turns", "table at s + j"),
        where=(
            *MAJORANTS,
            Fact("turns", equal(d(s), d_turns(s)), "Up to s the components are taken in turn."),
            Fact(
                "table at s + j",
                equal(table(s + j), d(s + j) / n + rest_turns(s)),
                "From s on only one component is refreshed.",
            ),
        ),
    )


def worst_turns() -> Claim:
    """The worst order for the error."""
    return Claim(
        "ours.worst_turns",
        "for Corollary 14",
        "The worst order for the error, at any step size",
        (Part("bound", _bound()), Part("attained", _attained())),
        (
            "If no s >= 1 meets the first condition, one component again and again is the worst: ours.worst_order "
            "has the case beta L k <= 1.",
            "By ours.worst_iag_error the possible error is attained; so this is the largest error at k over all "
            "orders and instances.",
            "The sum of the errors has its worst order by the same argument, with the sum of these conditions over "
            "k; no proof of the ledger has it beyond beta L (E - 1) = 1. Enumeration confirms both for small n and E.",
        ),
    )


CLAIMS = {"ours.worst_turns": worst_turns}
