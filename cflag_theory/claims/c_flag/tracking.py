"""How far delayed gradients move S away from E times the gradient at x_t, for local steps that track a gradient.

The local steps (4) track grad g, those of (67) grad h~. Both move by beta times that gradient plus the change of the
client's delayed gradient since k = 0, which is at most L times the largest drift so far. So the drift grows by a
factor 1 + beta L a step, and the changes add up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from cflag_theory.claims.c_flag.vectors import LOCAL_STEP, ROUND_START, TABLE, b, client, ell, tau, x_local
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Fact
from cflag_theory.claims.engine.notation import E, L, beta, clients, components, g, i, j, k, symbol, x_t
from cflag_theory.claims.engine.operators import Largest, Operator, sum_over
from cflag_theory.claims.engine.relation import Relation, at_most
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Step, Use, by_induction
from cflag_theory.claims.engine.terms import Function, norm

L_memory = symbol("L_memory", r"L_{\mathcal{M}}", nonnegative=True)

WITHIN = Fact("k", at_most(k + 1, E), "The local steps are k = 0, ..., E - 1.")
KEPT = Fact(
    "kept",
    at_most(L_memory, L),
    "Every past component that is kept in memory is L-smooth: L_M, the largest constant of these and of the current "
    "ones, is at most L.",
)


@dataclass(frozen=True)
class Tracked:
    """Local steps from `start` that track the gradient of the clients' means of `components`; any round.

    `local` and `tau` take a client and a local step. `settings` are where the steps start, what a step is, and that
    tau is no later step. `smooth` names the hypotheses that make every component L-smooth.
    """

    component: Function
    mean: Operator
    start: sp.Expr
    local: Callable[..., sp.Expr]
    tau: Callable[..., sp.Expr]
    settings: tuple[str, str, str]
    smooth: tuple[str, ...] = ()

    @property
    def vector(self) -> sp.Expr:
        """The gradient that is tracked."""
        return clients(self.mean(self.component[i, j].grad(self.start)))

    @property
    def gradient(self) -> sp.Expr:
        """Its norm."""
        return norm(self.vector)

    def entry(self, of: sp.Expr, step: sp.Expr) -> sp.Expr:
        """How far a component's gradient in the table is from the one at the start."""
        at_table = self.component[of, j].grad(self.local(of, self.tau(of, step, j)))
        return at_table - self.component[of, j].grad(self.start)

    def changes(self, step: sp.Expr) -> sp.Expr:
        """The mean change of the clients' delayed gradients."""
        return clients(self.mean(self.entry(i, step)))

    @property
    def deviation(self) -> sp.Expr:
        """e_t = S - E times the gradient."""
        return sum_over(ell, E)(self.changes(ell))

    def moved(self, step: sp.Expr) -> sp.Expr:
        return self.local(client, step) - self.start

    def largest(self, step: sp.Expr) -> sp.Expr:
        """The largest drift of the client so far."""
        return Largest(b, step, norm(self.moved(b)))


def ratio() -> sp.Expr:
    """rho = ((1 + beta L)^E - 1) / (beta L) - E: how far S may be from E times the gradient, in units of it."""
    return ((1 + beta * L) ** E - 1) / (beta * L) - E


def _changes(of: Tracked, prefix: str) -> tuple[Obligation | Use, ...]:
    """The client's change is at most L times its largest drift, as "table"."""
    entry, change = of.entry(client, k), norm(of.mean(of.entry(client, k)))
    return (
        rules.lipschitz(f"{prefix}entry", of.component[client, j], of.local(client, of.tau(client, k, j)), of.start),
        rules.member(f"{prefix}point", of.largest(k), of.tau(client, k, j), given=of.settings[2]),
        Obligation(
            f"{prefix}each entry",
            at_most(norm(entry), L * of.largest(k)),
            (f"{prefix}entry", f"{prefix}point", *of.smooth),
        ),
        rules.mean(f"{prefix}mean entry", of.mean, given=f"{prefix}each entry"),
        rules.norm_of_mean(f"{prefix}norm", of.mean, entry),
        Obligation(f"{prefix}table", at_most(change, L * of.largest(k)), (f"{prefix}mean entry", f"{prefix}norm")),
    )


def deviation(of: Tracked) -> tuple[Step, ...]:
    """||e_t|| <= rho ||gradient||, by the growth of the drift; the last step is named "deviation"."""
    start, step, _ = of.settings
    G, change = of.gradient, of.mean(of.entry(client, k))
    lengths = norm(of.changes(ell))
    further = (1 + beta * L) * of.largest(k) + beta * G

    def growth(index: sp.Expr) -> Relation:
        return at_most(of.largest(index), G * ((1 + beta * L) ** index - 1) / L)

    def total(index: sp.Expr) -> Relation:
        return at_most(sum_over(ell, index)(lengths), G * (((1 + beta * L) ** index - 1) / (beta * L) - index))

    return (
        Induction(
            "growth",
            k,
            growth(k),
            base=(
                rules.rewrite("start of the round", norm(of.moved(sp.S.Zero)), given=start),
                Obligation("growth at 0", growth(sp.S.Zero), ("start of the round",)),
            ),
            step=(
                *_changes(of, "so far: "),
                rules.member("x_k", of.largest(k), k),
                rules.triangle(
                    "next point", of.moved(k + 1), of.moved(k), -beta * of.vector, -beta * change, given=step
                ),
                Obligation(
                    "the new point", at_most(norm(of.moved(k + 1)), further), ("next point", "x_k", "so far: table")
                ),
                Obligation("the old points", at_most(of.largest(k), further), ()),
                rules.maximum("all points", of.largest(k), given=("the old points", "the new point")),
                Obligation("growth from k to k + 1", growth(k + 1), ("all points", "growth (hypothesis)")),
            ),
        ),
        *_changes(of, ""),
        Obligation("one client", at_most(norm(change), G * ((1 + beta * L) ** k - 1)), ("table", "growth")),
        rules.at("any client", client, i, given="one client"),
        rules.mean("all clients", clients, given="any client"),
        rules.norm_of_mean("their mean", clients, of.mean(of.entry(i, k))),
        by_induction(
            "sum of changes",
            k,
            total(k),
            rules.last_term("one more", ell, k, lengths),
            given=("one more", "all clients", "their mean"),
        ),
        Instance("all changes", "sum of changes", k, E),
        rules.norm_of_mean("norm of the sum", sum_over(ell, E), of.changes(ell)),
        Obligation("deviation", at_most(norm(of.deviation), ratio() * G), ("all changes", "norm of the sum")),
    )


def second_order(of: Tracked, limit: sp.Expr) -> tuple[Step, ...]:
    """||e_t|| <= c beta L E (E - 1) ||gradient|| with c = 1 / (2 - limit), given "range": beta L E <= limit.

    The last step is named "short deviation"; it is exact to first order in beta and at E = 1.
    """
    c, v = 1 / (2 - limit), beta * L
    power = at_most((1 + v) ** k, 1 + k * v + c * k * (k - 1) * v**2)
    return (
        by_induction("power", k, power, given=("power (range)", "range"), within="k"),
        Obligation("the end", at_most(E, E), ()),
        Instance("power at E", "power", k, E, within="the end"),
        Obligation(
            "short deviation",
            at_most(norm(of.deviation), c * v * E * (E - 1) * of.gradient),
            ("deviation", "power at E"),
        ),
    )


#: The local steps (4) track grad g.
current = Tracked(g, components, x_t, x_local, tau, (ROUND_START, LOCAL_STEP, TABLE))
#: e_t: how far S is from E times grad g(x_t).
error = current.deviation
