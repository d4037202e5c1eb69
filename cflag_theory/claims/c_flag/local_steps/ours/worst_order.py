"""The worst order of refreshes for C-FLAG's local steps, and the error beyond beta L k = 1."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from cflag_theory.claims.c_flag.local_steps.drift import START, d, error, errors_by_path, table
from cflag_theory.claims.c_flag.local_steps.ours.worst_path import RECURSION
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import L, beta, grad_g, k, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof, RuleUse, Step

n = symbol("n_components", "n", positive=True, integer=True)
s = symbol("s", "s", nonnegative=True, integer=True)
d_turns = sequence("d_turns", r"d^{\circ}_{@}", nonnegative=True)
table_turns = sequence("table_turns", r"\bar{d}^{\circ}_{@}", nonnegative=True)
#: The part of the table's mean that is not of the component refreshed last, and what leaves it at the next refresh.
rest = sequence("rest", r"r_{@}", nonnegative=True)
old = sequence("old", r"d_{\tau_{@}}", nonnegative=True)
late = sequence("table_from_s", r"\sum_{s\le l<@}\bar{d}_l", nonnegative=True)
later = sequence("table_after_s", r"\sum_{s<l<@}\bar{d}_l", nonnegative=True)

_b = beta * L
_w = beta * L / n
SOME = Fact("n", at_most(1, n), "There is a component.")
SHORT = Fact("short", at_most(_b * k, 1), "beta L k <= 1.")
TURNS = (
    Fact("d in turn at 0", equal(d_turns(0), 0), "The recursion of d for the components in turn."),
    Fact(
        "d in turn after k",
        equal(d_turns(k + 1), d_turns(k) + beta * (grad_g + L * table_turns(k))),
        "The same recursion; its table at k was filled at k, k - 1, ..., k - n + 1, and at 0 where that is negative.",
    ),
)
OTHERS = (
    Fact("rest at 0", equal(rest(0), 0), "At k = 0 nothing has been refreshed."),
    Fact(
        "parts of the table",
        equal(table(k), d(k) / n + rest(k)),
        "r_k is what the components other than the one refreshed at k add to the mean; at k = 0 all terms are 0.",
    ),
    Fact(
        "refreshed",
        equal(rest(k + 1), table(k) - old(k) / n),
        "The refresh at k + 1 takes the drift d_tau of the chosen component's old entry out of the mean.",
    ),
)


def in_turn() -> Induction:
    """d(k) <= d_turns(k) for every k."""
    hypothesis = "in turn (hypothesis)"
    why = (
        "the i-th freshest entry was filled at k - i + 1 at the latest, since one component is refreshed at a step; d "
        "does not decrease, and d_b is at most that of the components in turn for b <= k."
    )
    return Induction(
        "in turn",
        k,
        at_most(d(k), d_turns(k)),
        base=Obligation(
            "in turn at 0",
            at_most(d(0), d_turns(0)),
            ("d at 0", "d in turn at 0"),
            residual("d in turn at 0") - residual("d at 0"),
        ),
        step=(
            rules.mean_of_bounds("fresher tables", table(k), table_turns(k), why, (hypothesis,)),
            Obligation(
                "in turn at k + 1",
                at_most(d(k + 1), d_turns(k + 1)),
                (hypothesis, "fresher tables", "d after k", "d in turn after k"),
                slack(hypothesis)
                + _b * slack("fresher tables")
                + residual("d in turn after k")
                - residual("d after k"),
            ),
        ),
    )


def _in_turn() -> Statement:
    return Statement(
        "d_k <= d_k of the order that refreshes the components in turn, for every order, every k and every step size.",
        at_most(d(k), d_turns(k)),
        (),
        Proof((in_turn(),)),
        (*RECURSION, *TURNS),
    )


def _powers() -> tuple[Step, ...]:
    """1 <= (1 + w)^k and (1 + w)^k (1 - w k) <= 1 with w = beta L / n."""
    q = (1 + _w) ** k
    return (
        Induction(
            "at least one",
            k,
            at_most(1, q),
            base=Obligation("power at 0", at_most(1, (1 + _w) ** 0), (), sp.S.Zero),
            step=(
                Obligation(
                    "power at k + 1",
                    at_most(1, (1 + _w) ** (k + 1)),
                    ("at least one (hypothesis)",),
                    (1 + _w) * slack("at least one (hypothesis)") + _w,
                ),
            ),
        ),
        Induction(
            "not much more",
            k,
            at_most(q * (1 - _w * k), 1),
            base=Obligation("product at 0", at_most((1 + _w) ** 0, 1), (), sp.S.Zero),
            step=(
                # (1 + w)(1 - w (k + 1)) = 1 - w k - w^2 (k + 1).
                Obligation(
                    "product at k + 1",
                    at_most((1 + _w) ** (k + 1) * (1 - _w * (k + 1)), 1),
                    ("not much more (hypothesis)",),
                    slack("not much more (hypothesis)") + q * _w**2 * (k + 1),
                ),
            ),
        ),
    )


def _excess() -> Induction:
    """d(k) <= D(k) + n (q - 1) rest(k): D of one component again and again, q = (1 + beta L / n)^k."""
    hypothesis = "excess (hypothesis)"

    def bound(index: sp.Expr) -> sp.Expr:
        q = (1 + _w) ** index
        return n * (q - 1) * (grad_g / L + rest(index))

    return Induction(
        "excess",
        k,
        at_most(d(k), bound(k)),
        base=Obligation("excess at 0", at_most(d(0), bound(sp.S.Zero)), ("d at 0",), -residual("d at 0")),
        step=(
            rules.largest_member("old entry", old(k), d(k), "d_tau with tau <= k, and d does not decrease."),
            Obligation(
                "rest grows",
                at_most(rest(k), rest(k + 1)),
                ("parts of the table", "refreshed", "old entry"),
                slack("old entry") / n + residual("refreshed") + residual("parts of the table"),
            ),
            Obligation(
                "excess at k + 1",
                at_most(d(k + 1), bound(k + 1)),
                (hypothesis, "rest grows", "parts of the table", "d after k", "at least one"),
                (1 + _w) * slack(hypothesis)
                + n * ((1 + _w) * slack("at least one") + _w) * slack("rest grows")
                - residual("d after k")
                - _b * residual("parts of the table"),
            ),
        ),
    )


def _again() -> Statement:
    q = (1 + _w) ** k
    value = (n - 1) * (q - 1) * grad_g
    goal = at_most(error(k), value)
    steps: tuple[Step, ...] = (
        *errors_by_path(),
        *_powers(),
        _excess(),
        # (n - 1)(q - 1) <= 1 is q (1 - 1/n) <= 1, and 1/n >= w k.
        Obligation(
            "no gain",
            at_most((n - 1) * (q - 1), 1),
            ("not much more", "short"),
            n * slack("not much more") + q * slack("short"),
        ),
        Obligation(
            "the statement follows",
            goal,
            ("(94)", "gaps", "parts of the table", "excess", "no gain", "n"),
            slack("(94)")
            + L * slack("gaps")
            + L * residual("parts of the table")
            + L * slack("n") / n * slack("excess")
            + L * slack("no gain") * rest(k),
        ),
    )
    return Statement(
        "||e_{t,k}^i|| <= (n - 1) ((1 + beta L / n)^k - 1) ||grad g(x_t)|| for every order of refreshes of n "
        "components and beta L k <= 1; it is the error of the order that refreshes one component again and again.",
        goal,
        (SOME, SHORT),
        Proof(steps),
        (START, *RECURSION, *OTHERS),
    )


def _again_attains() -> Statement:
    q = (1 + _w) ** k
    goal = equal(d(k), n * (q - 1) * grad_g / L)
    hypothesis = "growth again (hypothesis)"
    proof = Induction(
        "growth again",
        k,
        goal,
        base=Obligation(
            "growth again at 0", equal(d(0), n * ((1 + _w) ** 0 - 1) * grad_g / L), ("d at 0",), -residual("d at 0")
        ),
        step=(
            Obligation(
                "growth again at k + 1",
                equal(d(k + 1), n * ((1 + _w) ** (k + 1) - 1) * grad_g / L),
                (hypothesis, "one component", "d after k"),
                -residual("d after k") - _b * residual("one component") - (1 + _w) * residual(hypothesis),
            ),
        ),
    )
    error_then = equal(L * (d(k) - table(k)), (n - 1) * (q - 1) * grad_g)
    return Statement(
        "L (d_k - mean_j d_{tau_{k,j}}) = (n - 1) ((1 + beta L / n)^k - 1) ||grad g(x_t)|| for one component again "
        "and again.",
        error_then,
        (),
        Proof(
            (
                proof,
                Obligation(
                    "the statement follows",
                    error_then,
                    ("growth again", "one component"),
                    L * residual("one component") - L * (1 - 1 / n) * residual("growth again"),
                ),
            )
        ),
        (
            *RECURSION,
            Fact(
                "one component",
                equal(table(k), d(k) / n),
                "One entry of the table is of x_{t,k}, or of x_t at k = 0, and the n - 1 others of x_t.",
            ),
        ),
    )


def worst_order() -> Claim:
    """The worst order for the drift, and for the error while beta L k <= 1."""
    return Claim(
        "ours.worst_order",
        "ours",
        "for Lemmas 12 to 16",
        "The worst order of refreshes",
        (Part("drift", _in_turn()), Part("error", _again()), Part("again", _again_attains())),
        (
            "The drift of the components in turn is the largest for all k together, so it is the worst for the sums"
            " of Lemma 15 too. With one component it is ||grad g(x_t)|| ((1 + beta L)^k - 1) / L.",
            "The bound on the error grows with n to beta L k ||grad g(x_t)||, the sharp form of Corollary 14, "
            "without reaching it; all orders up to relabelling confirm it for small n and E.",
            "beta L k <= 1 is used only through (n - 1)((1 + beta L / n)^k - 1) <= 1. Beyond, turns first and one "
            "component afterwards are worse.",
        ),
    )


def _growth() -> Induction:
    """d(k) <= ||grad g|| ((1 + beta L)^k - 1) / L."""
    hypothesis = "growth of d (hypothesis)"

    def bound(index: sp.Expr) -> sp.Expr:
        return grad_g * ((1 + _b) ** index - 1) / L

    return Induction(
        "growth of d",
        k,
        at_most(d(k), bound(k)),
        base=Obligation("growth of d at 0", at_most(d(0), bound(sp.S.Zero)), ("d at 0",), -residual("d at 0")),
        step=(
            rules.largest_member("entries", table(k), d(k), "a mean of d_tau with tau <= k, and d does not decrease."),
            Obligation(
                "growth of d at k + 1",
                at_most(d(k + 1), bound(k + 1)),
                (hypothesis, "entries", "d after k"),
                (1 + _b) * slack(hypothesis) + _b * slack("entries") - residual("d after k"),
            ),
        ),
    )


def _monotone(name: str, total: sp.Expr, count: sp.Expr) -> RuleUse:
    return rules.monotone_sum(name, total, count, table(k), ("fresher",))


def worst_error_beyond() -> Claim:
    """The error where beta L k is at least 1."""
    c = slack("from")
    goal = at_most(error(k), (1 + _b) ** s * _b * (k - s) * grad_g)
    # With c = beta L (k - s) - 1 in [0, beta L]: the bounds from s and s + 1 on, weighted so that the table cancels.
    first = slack("at s") + _b * slack("late sum") - residual("from s")
    second = slack("at s + 1") + _b * slack("later sum") - residual("from s + 1")
    steps: tuple[Step, ...] = (
        *errors_by_path(),
        _growth(),
        Instance("at s", "growth of d", k, s),
        Instance("at s + 1", "growth of d", k, s + 1),
        rules.monotone_refresh("fresher", table(k), table(k + 1), "table(k) is that mean."),
        _monotone("late sum", late(k), k - s),
        _monotone("later sum", later(k), k - s - 1),
        Obligation(
            "the statement follows",
            goal,
            ("(94)", "gaps", "at s", "at s + 1", "late sum", "later sum", "from s", "from s + 1", "from", "to"),
            slack("(94)") + L * slack("gaps") + L * (slack("to") * first + c * second) / _b,
        ),
    )
    hypotheses = (
        Fact("from", at_most(1, _b * (k - s)), "s <= k - 1/(beta L), ..."),
        Fact("to", at_most(_b * (k - s - 1), 1), "... and s + 1 >= k - 1/(beta L): the last such s."),
    )
    definitions = (
        START,
        *RECURSION,
        Fact(
            "from s",
            equal(d(k), d(s) + beta * (k - s) * grad_g + _b * late(k)),
            "The recursion summed from s to k - 1.",
        ),
        Fact(
            "from s + 1",
            equal(d(k), d(s + 1) + beta * (k - s - 1) * grad_g + _b * later(k)),
            "The same from s + 1.",
        ),
    )
    statement = Statement(
        "||e_{t,k}^i|| <= (1 + beta L)^s beta L (k - s) ||grad g(x_t)|| for every order of refreshes, with s the "
        "last integer such that beta L (k - s) >= 1.",
        goal,
        hypotheses,
        Proof(steps),
        definitions,
    )
    return Claim(
        "ours.worst_error_beyond",
        "ours",
        "for Corollary 14",
        "Error of the delayed gradient beyond beta L k = 1",
        (Part("1", statement),),
        (
            "It is at most exp(beta L k - 1) ||grad g(x_t)||, since (1 + beta L)^s <= exp(beta L s) and 1 + c <= "
            "exp(c) for c = beta L (k - s) - 1; and below beta L k = 1 the error is at most beta L k ||grad "
            "g(x_t)||: cflag.cor14.",
            "It is approached by many concave components that are all refreshed in turn until beta L k = u - 1 and "
            "of which only one is refreshed afterwards, with u = beta L E, as n and then E / n grow.",
            "So Corollary 14, printed for beta L E <= 1/12, is true up to the root u = 2.6783... of exp(u - 1) = 2 u.",
        ),
    )


CLAIMS: dict[str, Callable[[], Claim]] = {
    "ours.worst_order": worst_order,
    "ours.worst_error_beyond": worst_error_beyond,
}
