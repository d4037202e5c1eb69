"""The largest drift so far, and that before the last step: how the two maxima go on."""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.c_flag.local_steps.drift import largest, moved
from cflag_theory.claims.c_flag.vectors import b, client, x_local
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import setting
from cflag_theory.claims.engine.notation import draw, k, sequence, t, unfold, x_t
from cflag_theory.claims.engine.operators import Largest
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Induction, Obligation, Use
from cflag_theory.claims.engine.terms import norm, vector

_x_before = vector("x_before", "x_{@4,@2-1}^{@1}")


def x_before(client: sp.Expr, step: sp.Expr) -> sp.Expr:
    """x_{t,b-1}^i, and x_t at b = 0: the maximum over b <= k - 1 is 0 at k = 0, where it runs over no point."""
    return _x_before(client, step, draw, t)


FIRST = setting("x_{t,-1}", equal(x_before(client, 0), x_t), "x_{t,-1}^i stands for x_t.")
PREVIOUS = setting("x_{t,b-1}", equal(x_before(client, k + 1), x_local(client, k)), "The local step before.")
before = sequence(
    "max_drift_before", r"\max_{b\le @-1}\|x_{t,b}^i-x_t\|", lambda k: Largest(b, k, norm(x_before(client, b) - x_t))
)


def _earlier_of(index: sp.Expr) -> sp.Expr:
    return norm(x_before(client, index) - x_t)


def up_to_last() -> tuple[Use | Obligation, ...]:
    """Steps to max_{b<=k} drift(b) <= before(k + 1), called "points so far"."""
    return (
        Obligation("b + 1", at_most(b + 1, k + 1), ("b",)),
        rules.member("x_b among those before k + 1", unfold(before(k + 1)), b + 1, given="b + 1"),
        rules.rewrite("x_{b+1-1} at k", _earlier_of(k + 1), given=PREVIOUS),
        rules.at("x_{b+1-1}", k, b, given="x_{b+1-1} at k"),
        Obligation("x_b", at_most(norm(moved(b)), before(k + 1)), ("x_b among those before k + 1", "x_{b+1-1}")),
        rules.maximum_of_bounds("points so far", unfold(largest(k)), given="x_b"),
    )


def more_points() -> tuple[Use | Obligation, ...]:
    """Steps to before(k) <= before(k + 1), called "more points"."""
    return (
        Obligation("b up to k + 1", at_most(b, k + 1), ("b",)),
        rules.member("x_{b-1} among more", unfold(before(k + 1)), b, given="b up to k + 1"),
        rules.maximum_of_bounds("more points", unfold(before(k)), given="x_{b-1} among more"),
    )


def earlier_points() -> tuple[Induction, ...]:
    """Steps to before(k) <= max_{b<=k} drift(b), the last called "earlier points"."""
    return (
        Induction(
            "earlier points",
            k,
            at_most(before(k), largest(k)),
            base=(
                rules.rewrite("x_{t,-1} - x_t", _earlier_of(sp.S.Zero), given=FIRST),
                Obligation("no earlier point", at_most(before(0), largest(0)), ("x_{t,-1} - x_t",)),
            ),
            step=(
                Obligation("b up to k + 1", at_most(b, k + 1), ("b",)),
                rules.member("x_b among more", unfold(largest(k + 1)), b, given="b up to k + 1"),
                rules.maximum_of_bounds("more points", unfold(largest(k)), given="x_b among more"),
                Obligation(
                    "old points", at_most(before(k), largest(k + 1)), ("earlier points (hypothesis)", "more points")
                ),
                Obligation("k up to k + 1", at_most(k, k + 1), (), sp.S.One),
                rules.member("x_k", unfold(largest(k + 1)), k, given="k up to k + 1"),
                rules.rewrite("x_{k+1-1}", _earlier_of(k + 1), given=PREVIOUS),
                Obligation("new point", at_most(_earlier_of(k + 1), largest(k + 1)), ("x_k", "x_{k+1-1}")),
                rules.maximum("points before k + 1", unfold(before(k)), given=("old points", "new point")),
            ),
        ),
    )
