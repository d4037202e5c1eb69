"""The worst order of refreshes for C-FLAG's local steps, and the error beyond beta L k = 1."""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.c_flag.local_steps.delayed import errors_by_path, refreshed
from cflag_theory.claims.c_flag.local_steps.drift import MAJORANTS, d, error, majorant, table
from cflag_theory.claims.c_flag.local_steps.ours.worst_path import compared
from cflag_theory.claims.c_flag.vectors import TABLE, b, client, tau
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement, setting, shown
from cflag_theory.claims.engine.notation import L, beta, components, grad_g, j, k, sequence, symbol, unfold
from cflag_theory.claims.engine.operators import Largest, index, sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Induction, Obligation, Proof, Step, by_induction

n = symbol("n_components", "n", positive=True, integer=True)
s = symbol("s", "s", nonnegative=True, integer=True)
#: max(k - q, 0): the local step at which the entry refreshed q-th last was filled, the components being taken in turn.
turn = sp.Function("turn", integer=True, nonnegative=True)
q = index("q")
TURN = setting("turn", at_most(turn(k, q), k), "No entry is filled later than now.")
#: The component refreshed at k + 1.
chosen = sp.Function("chosen", integer=True, nonnegative=True)
d_turns = sequence("d_turns", r"d^{\circ}_{@}", nonnegative=True)
table_turns = sequence("table_turns", r"\bar{d}^{\circ}_{@}", lambda k: sum_over(q, n)(d_turns(turn(k, q))) / n)
latest = sequence(
    "latest", r"\frac{1}{n}\sum_{q<n}d_{\max(@-q,0)}", lambda k: sum_over(q, n)(majorant(client, turn(k, q))) / n
)
#: The part of the table's mean that is not of the component refreshed last, and what leaves it at the next refresh.
rest = sequence("rest", r"r_{@}", nonnegative=True)
old = sequence("old", r"d_{\tau_{@}}", lambda k: majorant(client, tau(client, k, chosen(k))))

_b = beta * L
_w = beta * L / n
SOME = Fact("n", at_most(1, n), "There is a component.")
SHORT = Fact("short", at_most(_b * k, 1), "beta L k <= 1.")
FRESHEST = Fact(
    "freshest",
    at_most(table(k), latest(k)),
    "One component is refreshed at a step, so the entry refreshed q-th last was filled at k - q at the latest.",
    forall=(k,),
)
TURNS = (
    Fact("d in turn at 0", equal(d_turns(0), 0), "The recursion of d for the components in turn."),
    Fact(
        "d in turn after k",
        equal(d_turns(k + 1), d_turns(k) + beta * (grad_g + L * table_turns(k))),
        "The same recursion; its table at k was filled at k, k - 1, ..., k - n + 1, and at 0 where that is negative.",
    ),
)
OTHERS = (
    Fact(
        "parts of the table",
        equal(rest(k), table(k) - d(k) / n),
        "r_k is what the components other than the one refreshed at k add to the mean; at k = 0 all terms are 0.",
    ),
    Fact(
        "refreshed",
        equal(rest(k + 1), table(k) - old(k) / n),
        "The refresh at k + 1 takes the drift d_tau of the chosen component's old entry out of the mean.",
    ),
)


def in_turn() -> tuple[Step, ...]:
    """Steps to d(k) <= d_turns(k) for every k, the last called "in turn"."""
    entries = (turn(k, q), TURN, sum_over(q, n))
    after = ("freshest", "d after k", "d in turn after k")
    return compared("in turn", majorant, lambda _, at: d_turns(at), ("d at 0", "d in turn at 0"), entries, after)


def _in_turn() -> Statement:
    return Statement(
        "d_k <= d_k of the order that refreshes the components in turn, for every order, every k and every step size.",
        at_most(d(k), d_turns(k)),
        (FRESHEST,),
        Proof(in_turn()),
        (*MAJORANTS, *TURNS),
    )


def rest_grows() -> tuple[Step, ...]:
    """Steps to rest(k) <= rest(k + 1), the last called "rest grows"."""
    return (
        Obligation("d grows", at_most(d(k), d(k + 1)), ("d after k",)),
        rules.at("chosen entry", j, chosen(k), given=TABLE),
        rules.monotone("old entry", k, majorant(client, k), given=("d grows", "chosen entry")),
        Obligation("rest grows", at_most(rest(k), rest(k + 1)), ("parts of the table", "refreshed", "old entry")),
    )


def at_least_one(p: sp.Symbol) -> Induction:
    """1 <= (1 + beta L / n)^p for every p, as "at least one"."""

    def above(index: sp.Expr) -> Relation:
        return at_most(1, (1 + _w) ** index)

    return by_induction("at least one", p, above(p))


def _not_much_more() -> Induction:
    """(1 + w)^k (1 - w k) <= 1 with w = beta L / n."""

    def bound(index: sp.Expr) -> Relation:
        return at_most((1 + _w) ** index * (1 - _w * index), 1)

    return Induction(
        "not much more",
        k,
        bound(k),
        base=Obligation("product at 0", bound(sp.S.Zero), ()),
        # (1 + w)(1 - w (k + 1)) = 1 - w k - w^2 (k + 1).
        step=(Obligation("product at k + 1", bound(k + 1), ("not much more (hypothesis)",)),),
    )


def _excess() -> Induction:
    """d(k) <= D(k) + n (q - 1) rest(k): D of one component again and again, q = (1 + beta L / n)^k."""
    hypothesis = "excess (hypothesis)"

    def bound(index: sp.Expr) -> Relation:
        return at_most(d(index), n * ((1 + _w) ** index - 1) * (grad_g / L + rest(index)))

    return Induction(
        "excess",
        k,
        bound(k),
        base=Obligation("excess at 0", bound(sp.S.Zero), ("d at 0",)),
        step=(
            Obligation(
                "excess at k + 1",
                bound(k + 1),
                (hypothesis, "rest grows", "parts of the table", "d after k", "at least one"),
                (1 + _w) * slack(hypothesis)
                + n * ((1 + _w) * slack("at least one") + _w) * slack("rest grows")
                - residual("d after k")
                + _b * residual("parts of the table"),
            ),
        ),
    )


def _again() -> Statement:
    power = (1 + _w) ** k
    goal = at_most(error(k), (n - 1) * (power - 1) * grad_g)
    steps: tuple[Step, ...] = (
        *errors_by_path(),
        *rest_grows(),
        at_least_one(k),
        _not_much_more(),
        _excess(),
        # (n - 1)(q - 1) <= 1 is q (1 - 1/n) <= 1, and 1/n >= w k.
        Obligation("no gain", at_most((n - 1) * (power - 1), 1), ("not much more", "short")),
        Obligation(
            "the statement follows",
            goal,
            ("(94)", "parts of the table", "excess", "no gain", "n"),
        ),
    )
    return Statement(
        "||e_{t,k}^i|| <= (n - 1) ((1 + beta L / n)^k - 1) ||grad g(x_t)|| for every order of refreshes of n "
        "components and beta L k <= 1; it is the error of the order that refreshes one component again and again.",
        goal,
        (SOME, SHORT),
        Proof(steps),
        (*MAJORANTS, *OTHERS),
    )


def _again_attains() -> Statement:
    def met(index: sp.Expr) -> Relation:
        return equal(d(index), n * ((1 + _w) ** index - 1) * grad_g / L)

    error_then = equal(L * (d(k) - table(k)), (n - 1) * ((1 + _w) ** k - 1) * grad_g)
    growth = Induction(
        "growth again",
        k,
        met(k),
        base=Obligation("growth again at 0", met(sp.S.Zero), ("d at 0",)),
        step=(
            Obligation(
                "growth again at k + 1",
                met(k + 1),
                ("growth again (hypothesis)", "one component", "d after k"),
                -residual("d after k")
                - _b * residual("one component")
                - (1 + _w) * residual("growth again (hypothesis)"),
            ),
        ),
    )
    return shown(
        "L (d_k - mean_j d_{tau_{k,j}}) = (n - 1) ((1 + beta L / n)^k - 1) ||grad g(x_t)|| for one component again "
        "and again.",
        error_then,
        growth,
        given=("growth again", "one component"),
        where=(
            *MAJORANTS,
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


def _growth() -> tuple[Step, ...]:
    """Steps to d(k) <= ||grad g|| ((1 + beta L)^k - 1) / L, the last called "growth of d"."""

    def bound(index: sp.Expr) -> Relation:
        return at_most(d(index), grad_g * ((1 + _b) ** index - 1) / L)

    return (
        rules.monotone("older entry", k, majorant(client, k), given=("d grows", TABLE)),
        rules.mean("older entries", components, given="older entry"),
        by_induction(
            "growth of d",
            k,
            bound(k),
            start=("d at 0",),
            given=("older entries", "d after k"),
        ),
    )


def _since(index: sp.Expr) -> sp.Expr:
    """d(index) - d(b) less what index - b steps with the table of `index` add, the largest over b <= k."""
    gain = beta * (index - b) * (grad_g + L * table(index))
    return unfold(Largest(b, k, majorant(client, index) - majorant(client, b) - gain))


def _late_path() -> Induction:
    """d(k) - d(b) <= beta (k - b)(||grad g|| + L table(k)) for every b <= k, as "since"."""
    top = _since(k + 1)
    return Induction(
        "since",
        k,
        at_most(_since(k), 0),
        base=Obligation("since 0", at_most(0, 0), ()),
        step=(
            rules.member("b so far", _since(k), b, given="b"),
            Obligation("one b", at_most(top.body, 0), ("b so far", "since (hypothesis)", "d after k", "fresher", "b")),
            rules.maximum_of_bounds("every b", top, given="one b"),
            Obligation("b = k + 1", at_most(0, 0), ()),
            rules.maximum("since k + 1", top, given=("every b", "b = k + 1")),
        ),
    )


def worst_error_beyond() -> Claim:
    """The error where beta L k is at least 1."""
    goal = at_most(error(k), (1 + _b) ** s * _b * (k - s) * grad_g)
    steps: tuple[Step, ...] = (
        *errors_by_path(),
        *refreshed(),
        *_growth(),
        rules.at("at s", k, s, given="growth of d"),
        rules.at("at s + 1", k, s + 1, given="growth of d"),
        _late_path(),
        Obligation("s up to k", at_most(s, k), ("s",)),
        rules.member("from s", _since(k), s, given="s up to k"),
        rules.member("from s + 1", _since(k), s + 1, given="s"),
        # With c = beta L (k - s) - 1 in [0, beta L]: the bounds from s and s + 1 on, the table cancelling.
        Obligation(
            "the statement follows",
            goal,
            ("(94)", "since", "at s", "at s + 1", "from s", "from s + 1", "from", "to"),
            slack("(94)")
            + L
            * (
                slack("to") * (slack("at s") + slack("from s") + slack("since"))
                + slack("from") * (slack("at s + 1") + slack("from s + 1") + slack("since"))
            )
            / _b,
        ),
    )
    hypotheses = (
        Fact("from", at_most(1, _b * (k - s)), "s <= k - 1/(beta L), ..."),
        Fact("to", at_most(_b * (k - s - 1), 1), "... and s + 1 >= k - 1/(beta L): the last such s."),
        Fact("s", at_most(s + 1, k), "So s < k, being an integer."),
    )
    statement = Statement(
        "||e_{t,k}^i|| <= (1 + beta L)^s beta L (k - s) ||grad g(x_t)|| for every order of refreshes, with s the "
        "last integer such that beta L (k - s) >= 1.",
        goal,
        hypotheses,
        Proof(steps),
        MAJORANTS,
    )
    return Claim(
        "ours.worst_error_beyond",
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


CLAIMS = {
    "ours.worst_order": worst_order,
    "ours.worst_error_beyond": worst_error_beyond,
}
