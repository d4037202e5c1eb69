"""The worst order for the error at any step size: turns up to some step, then one component again and again."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from cflag_theory.claims.c_flag.local_steps.drift import d, table
from cflag_theory.claims.c_flag.local_steps.ours.worst_order import SOME, TURNS, d_turns, in_turn, n, old, rest, s
from cflag_theory.claims.c_flag.local_steps.ours.worst_path import RECURSION
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import L, beta, grad_g, k, sequence, symbol
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof, RuleUse

j = symbol("j", "j", nonnegative=True, integer=True)
rest_turns = sequence("rest_turns", r"r^{\circ}_{@}", nonnegative=True)

_b, _w = beta * L, beta * L / n
_AT = s + j + 1
OLD_TABLE = "The refresh takes the drift d_tau of the chosen component's old entry out of the mean."


def _recursion(name: str, at: sp.Expr) -> Fact:
    following = equal(d(at + 1), d(at) + beta * (grad_g + L * table(at)))
    return Fact(f"d after {name}", following, f"The recursion of d at {name}.")


def _split(name: str, at: sp.Expr, others: sp.Expr) -> Fact:
    words = "r is what the components other than the one refreshed last add to the mean."
    return Fact(f"table at {name}", equal(table(at), d(at) / n + others), words)


def _refreshed(name: str, at: sp.Expr) -> Fact:
    return Fact(f"refresh after {name}", equal(rest(at + 1), table(at) - old(at) / n), OLD_TABLE)


def _powers() -> Induction:
    """1 <= (1 + beta L / n)^j."""
    return Induction(
        "at least one",
        j,
        at_most(1, (1 + _w) ** j),
        base=Obligation("power at 0", at_most(1, (1 + _w) ** 0), (), sp.S.Zero),
        step=(
            Obligation(
                "power at j + 1",
                at_most(1, (1 + _w) ** (j + 1)),
                ("at least one (hypothesis)",),
                (1 + _w) * slack("at least one (hypothesis)") + _w,
            ),
        ),
    )


def _grows(name: str, at: sp.Expr) -> tuple[RuleUse, Obligation]:
    """The rest does not fall: rest(at) <= rest(at + 1), called "rest grows after" the name."""
    table_name, refresh = f"table at {name}", f"refresh after {name}"
    entry = f"old entry at {name}"
    return (
        rules.largest_member(entry, old(at), d(at), "d_tau with an earlier tau, and d does not decrease."),
        Obligation(
            f"rest grows after {name}",
            at_most(rest(at), rest(at + 1)),
            (table_name, refresh, entry),
            slack(entry) / n + residual(refresh) + residual(table_name),
        ),
    )


def _since() -> Induction:
    """rest(s) <= rest(s + j + 1)."""
    hypothesis = "rest since s (hypothesis)"
    return Induction(
        "rest since s",
        j,
        at_most(rest(s), rest(_AT)),
        base=Obligation(
            "rest at s + 1", at_most(rest(s), rest(s + 1)), ("rest grows after s",), slack("rest grows after s")
        ),
        step=(
            *_grows("s + j + 1", _AT),
            Obligation(
                "rest at s + j + 2",
                at_most(rest(s), rest(_AT + 1)),
                (hypothesis, "rest grows after s + j + 1"),
                slack(hypothesis) + slack("rest grows after s + j + 1"),
            ),
        ),
    )


def _drift() -> Induction:
    """d(s + j + 1), by d and the rest at s and the growth of the rest since."""
    hypothesis = "drift since s (hypothesis)"

    def bound(index: sp.Expr) -> Relation:
        q = (1 + _w) ** index
        begun = (1 + _w) * q * d(s) + n * ((1 + _w) * q - 1) * (grad_g / L + rest(s))
        return at_most(d(s + index + 1), begun + n * (q - 1) * (rest(s + index + 1) - rest(s)))

    more = (1 + _w) * slack("at least one") + _w
    return Induction(
        "drift since s",
        j,
        bound(j),
        base=Obligation(
            "drift at s + 1",
            bound(sp.S.Zero),
            ("d after s", "table at s"),
            -residual("d after s") - _b * residual("table at s"),
        ),
        step=(
            *_grows("s + j + 1", _AT),
            Obligation(
                "drift at s + j + 2",
                bound(j + 1),
                (hypothesis, "at least one", "rest grows after s + j + 1", "d after s + j + 1", "table at s + j + 1"),
                (1 + _w) * slack(hypothesis)
                + n * more * slack("rest grows after s + j + 1")
                - residual("d after s + j + 1")
                - _b * residual("table at s + j + 1"),
            ),
        ),
    )


def value() -> sp.Expr:
    """The error at s + j + 1 after turns up to s and one component from there on."""
    q = (1 + _w) ** (j + 1)
    whole = q * d_turns(s) + n * (q - 1) * (grad_g / L + rest_turns(s))
    return L * ((1 - 1 / n) * whole - rest_turns(s))


def _bound() -> Statement:
    goal = at_most(L * (d(_AT) - table(_AT)), value())
    q = (1 + _w) ** (j + 1)
    why = (
        "the i-th freshest entry of the others was filled at s - i at the latest, since one component is refreshed "
        "at a step; d does not decrease, and d_b is at most that of the components in turn for b <= s."
    )
    certificate = L * (
        slack("n") / n * (slack("drift since s") + q * slack("in turn at s"))
        + slack("turns pay") * slack("others in turn")
        + slack("another turn does not") * slack("rest since s")
        + residual("table at s + j + 1")
    )
    proof = Proof(
        (
            in_turn(),
            Instance("in turn at s", "in turn", k, s),
            rules.mean_of_bounds("others in turn", rest(s), rest_turns(s), why, ("in turn",)),
            *_grows("s", s),
            _powers(),
            _since(),
            _drift(),
            Obligation(
                "the statement follows",
                goal,
                (
                    "n",
                    "drift since s",
                    "in turn at s",
                    "turns pay",
                    "others in turn",
                    "another turn does not",
                    "rest since s",
                    "table at s + j + 1",
                ),
                certificate,
            ),
        )
    )
    after = (n - 1) * ((1 + _w) ** (j + 1) - 1)
    return Statement(
        "For every order the error that is possible at k = s + j + 1, L (d_k - mean_j d_{tau_{k,j}}), is at most "
        "that of the order which takes the components in turn up to s and the last one again and again from there "
        "on, where s is the last step with (n - 1)((1 + beta L / n)^{k - s} - 1) >= 1.",
        goal,
        (
            SOME,
            Fact("turns pay", at_most(1, after), "1 <= (n - 1)((1 + beta L / n)^{k - s} - 1), ..."),
            Fact(
                "another turn does not",
                at_most((n - 1) * ((1 + _w) ** j - 1), 1),
                "... and with s + 1 in the place of s it is at most 1.",
            ),
        ),
        proof,
        (
            *RECURSION,
            *TURNS,
            _recursion("s", s),
            _split("s", s, rest(s)),
            _refreshed("s", s),
            _recursion("s + j + 1", _AT),
            _split("s + j + 1", _AT, rest(_AT)),
            _refreshed("s + j + 1", _AT),
        ),
    )


def _attained() -> Statement:
    goal = equal(L * (d(s + j) - table(s + j)), value().subs({j: j - 1}))
    hypothesis = "drift after turns (hypothesis)"

    def met(index: sp.Expr) -> Relation:
        q = (1 + _w) ** index
        return equal(d(s + index), q * d_turns(s) + n * (q - 1) * (grad_g / L + rest_turns(s)))

    return Statement(
        "That order has this error, with j in the place of j + 1: L (d_k - mean_j d_{tau_{k,j}}) at k = s + j.",
        goal,
        (),
        Proof(
            (
                Induction(
                    "drift after turns",
                    j,
                    met(j),
                    base=Obligation("drift at s", met(sp.S.Zero), ("turns",), -residual("turns")),
                    step=(
                        Obligation(
                            "drift at s + j + 1",
                            met(j + 1),
                            (hypothesis, "d after s + j", "table at s + j"),
                            -(1 + _w) * residual(hypothesis)
                            - residual("d after s + j")
                            - _b * residual("table at s + j"),
                        ),
                    ),
                ),
                Obligation(
                    "the statement follows",
                    goal,
                    ("drift after turns", "table at s + j"),
                    L * residual("table at s + j") - L * (1 - 1 / n) * residual("drift after turns"),
                ),
            )
        ),
        (
            Fact("turns", equal(d(s), d_turns(s)), "Up to s the components are taken in turn."),
            _recursion("s + j", s + j),
            _split("s + j", s + j, rest_turns(s)),
        ),
    )


def worst_turns() -> Claim:
    """The worst order for the error."""
    return Claim(
        "ours.worst_turns",
        "ours",
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


CLAIMS: dict[str, Callable[[], Claim]] = {"ours.worst_turns": worst_turns}
