"""How far delayed gradients move S away from E times the gradient at x_t, for local steps that track a gradient.

The local steps (4) track grad g, those of (67) grad h~. Both move by beta times that gradient plus the change of the
client's delayed gradient since k = 0, which is at most L times the largest drift so far. So the drift grows by a
factor 1 + beta L a step, and the changes add up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Fact
from cflag_theory.claims.engine.notation import E, L, beta, k, sequence, symbol
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, RuleUse, Step

L_memory = symbol("L_memory", r"L_{\mathcal{M}}", nonnegative=True)

WITHIN = Fact("k", at_most(k + 1, E), "The local steps are k = 0, ..., E - 1.")
KEPT = Fact(
    "kept",
    at_most(L_memory, L),
    "Every past component that is kept in memory is L-smooth: the largest of their constants, L_M, is at most L.",
)


@dataclass(frozen=True)
class Tracked:
    """Local steps with tracking towards one gradient, that of h~ in (67) or of g in (4); round t is understood.

    `smooth` names the hypotheses, besides the ledger's preamble, that make every component L-smooth.
    """

    gradient: sp.Expr
    drift: Any
    largest: Any
    change: Any
    mean_change: Any
    total: Any
    smooth: tuple[str, ...] = ()

    @property
    def start(self) -> tuple[Fact, Fact]:
        """Where both sequences begin."""
        return (
            Fact("start", equal(self.largest(0), 0), "x_{t,0}^i = x_t."),
            Fact("empty sum", equal(self.total(0), 0), "Before the first local step nothing has been added up."),
        )


def tracked(function: str, latex: str, gradient: sp.Expr, smooth: tuple[str, ...] = ()) -> Tracked:
    """The sequences of a round whose local steps track the gradient of `function`, printed as `latex`."""
    delayed = rf"\nabla {latex}_i'(x_{{t,@}}^i)-\nabla {latex}_i(x_t)"
    late = rf"\nabla {latex}_i'(x_{{t,l}}^i)-\nabla {latex}_i(x_t)"
    return Tracked(
        gradient,
        sequence(f"drift_{function}", r"{\|x_{t,@}^i-x_t\|}", nonnegative=True),
        sequence(f"max_drift_{function}", r"\max_{b\le @}\|x_{t,b}^i-x_t\|", nonnegative=True),
        sequence(f"change_{function}", rf"{{\|{delayed}\|}}", nonnegative=True),
        sequence(f"mean_change_{function}", rf"\sum_i p_i\|{delayed}\|", nonnegative=True),
        sequence(f"deviation_{function}", rf"{{\|\sum_{{l<@}}\sum_i p_i({late})\|}}", nonnegative=True),
        smooth,
    )


def ratio() -> sp.Expr:
    """rho = ((1 + beta L)^E - 1) / (beta L) - E: how far S may be from E times the gradient, in units of it."""
    return ((1 + beta * L) ** E - 1) / (beta * L) - E


def deviation(of: Tracked) -> tuple[Step, ...]:
    """||e_t|| <= rho ||gradient||, by the growth of the drift; the last step is named "deviation"."""

    def growth(index: sp.Expr) -> Relation:
        return at_most(of.largest(index), of.gradient * ((1 + beta * L) ** index - 1) / L)

    def total(index: sp.Expr) -> Relation:
        return at_most(of.total(index), of.gradient * (((1 + beta * L) ** index - 1) / (beta * L) - index))

    further = (1 + beta * L) * of.largest(k) + beta * of.gradient
    powers = of.gradient * ((1 + beta * L) ** k - 1)
    table = "a mean over components of differences between points tau_{k,j} <= k and x_t."

    def delayed(name: str) -> RuleUse:
        return replace(rules.component_smoothness(name, of.change(k), of.largest(k), L, table), premises=of.smooth)

    return (
        Induction(
            "growth",
            k,
            growth(k),
            base=Obligation("growth at 0", growth(sp.S.Zero), ("start",), -residual("start")),
            step=(
                rules.triangle(
                    "next point",
                    of.drift(k + 1),
                    (of.largest(k), beta * of.gradient, beta * of.change(k)),
                    "x_{t,k+1} - x_t is x_{t,k} - x_t, less beta times the gradient at x_t, less beta times the "
                    "change of the delayed gradient.",
                ),
                delayed("table"),
                Obligation(
                    "the new point",
                    at_most(of.drift(k + 1), further),
                    ("next point", "table"),
                    slack("next point") + beta * slack("table"),
                ),
                Obligation(
                    "the old points",
                    at_most(of.largest(k), further),
                    (),
                    beta * L * of.largest(k) + beta * of.gradient,
                ),
                rules.maximum(
                    "all points", of.largest(k + 1), further, "over b <= k + 1.", ("the new point", "the old points")
                ),
                Obligation(
                    "growth from k to k + 1",
                    growth(k + 1),
                    ("all points", "growth (hypothesis)"),
                    slack("all points") + (1 + beta * L) * slack("growth (hypothesis)"),
                ),
            ),
        ),
        Induction(
            "sum of changes",
            k,
            total(k),
            base=Obligation("no change yet", total(sp.S.Zero), ("empty sum",), -residual("empty sum")),
            step=(
                delayed("one table"),
                Obligation(
                    "one client",
                    at_most(of.change(k), powers),
                    ("one table", "growth"),
                    slack("one table") + L * slack("growth"),
                ),
                rules.mean_of_bounds("all clients", of.mean_change(k), powers, "over the clients.", ("one client",)),
                rules.triangle(
                    "one more",
                    of.total(k + 1),
                    (of.total(k), of.mean_change(k)),
                    "the sum over l <= k is the sum over l < k and the term at k.",
                ),
                Obligation(
                    "changes from k to k + 1",
                    total(k + 1),
                    ("one more", "all clients", "sum of changes (hypothesis)"),
                    slack("one more") + slack("all clients") + slack("sum of changes (hypothesis)"),
                ),
            ),
        ),
        Instance("deviation", "sum of changes", k, E),
    )


def second_order(of: Tracked, limit: sp.Expr) -> tuple[Step, ...]:
    """||e_t|| <= c beta L E (E - 1) ||gradient|| with c = 1 / (2 - limit), given "range": beta L E <= limit.

    The last step is named "short deviation"; it is exact to first order in beta and at E = 1.
    """
    c, v = 1 / (2 - limit), beta * L

    power = at_most((1 + v) ** k, 1 + k * v + c * k * (k - 1) * v**2)
    hypothesis, end = "power (hypothesis)", "power (range)"
    spare = c * (slack("range") + v * slack(end) + 2 * v)
    return (
        Induction(
            "power",
            k,
            power,
            base=Obligation("power at 0", power.subs({k: 0}), (), sp.S.Zero),
            step=(
                Obligation(
                    "power from k to k + 1",
                    power.subs({k: k + 1}),
                    (hypothesis, end, "range"),
                    (1 + v) * slack(hypothesis) + v**2 * k * spare,
                ),
            ),
            within="k",
        ),
        Obligation("the end", at_most(E, E), (), sp.S.Zero),
        Instance("power at E", "power", k, E, within="the end"),
        Obligation(
            "short deviation",
            at_most(of.total(E), c * v * E * (E - 1) * of.gradient),
            ("deviation", "power at E"),
            slack("deviation") + of.gradient / v * slack("power at E"),
        ),
    )
