"""Client drift: Lemma 13.

It follows from one observation. The local step (4) moves by beta times grad g(x_t) plus the difference
grad g_i'(x_{t,k}) - grad g_i(x_t), and that difference is at most L times the mean distance from x_t of the points at
which the table was filled.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.vectors import (
    LOCAL_STEP,
    ROUND_START,
    TABLE,
    b,
    client,
    delayed,
    grad_client,
    table_point,
    tau,
    x_local,
)
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Sharp, Statement
from cflag_theory.claims.engine.notation import (
    E,
    L,
    beta,
    components,
    g,
    grad_current,
    grad_g,
    j,
    k,
    sequence,
    unfold,
    x_t,
)
from cflag_theory.claims.engine.operators import Largest
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Induction, Obligation, Proof, Step, Use, deduced
from cflag_theory.claims.engine.terms import norm


def moved(step: sp.Expr) -> sp.Expr:
    """x_{t,k} - x_t."""
    return x_local(client, step) - x_t


drift = sequence("drift", r"{\|x_{t,@}^i-x_t\|}", lambda k: norm(moved(k)))
largest = sequence("max_drift", r"\max_{b\le @}\|x_{t,b}^i-x_t\|", lambda k: Largest(b, k, norm(moved(b))))
change = sequence(
    "change", r"{\|\nabla g_i'(x_{t,@}^i)-\nabla g_i(x_t)\|}", lambda k: norm(delayed(k) - grad_client(x_t))
)
error = sequence("e", r"{\|e_{t,@}^i\|}", lambda k: norm(delayed(k) - grad_client(x_local(client, k))))
table_mean = sequence(
    "mean_drift", r"\mathrm{mean}_j\|x_{t,\tau_{@,j}}^i-x_t\|", lambda k: components(norm(table_point(k) - x_t))
)
gap_mean = sequence(
    "mean_gap",
    r"\mathrm{mean}_j\|x_{t,@}^i-x_{t,\tau_{@,j}}^i\|",
    lambda k: components(norm(x_local(client, k) - table_point(k))),
)
#: d_k of a client: what the triangle inequality leaves of the path.
majorant = sp.Function("majorant", nonnegative=True)
d = sequence("d", r"d_{@}", lambda k: majorant(client, k))
table = sequence("table", r"\bar{d}_{@}", lambda k: components(majorant(client, tau(client, k, j))))

STEPS = Fact("k", at_most(k + 1, E), "k stands for any of 0, ..., E - 1.")
#: For the members of maxima.
UP_TO_K = Fact("b", at_most(b, k), "b stands for any of 0, ..., k.")
MAJORANTS = (
    Fact("d at 0", equal(d(0), 0), "d(0) = 0."),
    Fact(
        "d after k",
        equal(d(k + 1), d(k) + beta * (grad_g + L * table(k))),
        "d(k + 1) = d(k) + beta (||grad g|| + L mean_j d(tau_{k,j})), for every client.",
        (client,),
    ),
    UP_TO_K,
)


def step_range(limit: sp.Expr) -> Fact:
    """beta L E <= limit."""
    return Fact("beta", at_most(beta * L * E, limit), f"beta <= 1/({1 / limit} L E).")


def exact_drift(index: sp.Expr) -> Relation:
    return at_most(largest(index), grad_g * ((1 + beta * L) ** index - 1) / L)


def difference(
    name: str, size: sp.Expr, point: sp.Expr, distance: sp.Expr, of: sp.Expr | None = None
) -> tuple[Use | Obligation, ...]:
    """Steps to size <= L distance: the delayed gradient, or that at `of`, less that at a point, in the mean over j."""
    of = table_point(k) if of is None else of
    return (
        rules.lipschitz(f"{name}: entry", g[client, j], of, point),
        rules.mean(f"{name}: entries", components, given=f"{name}: entry"),
        rules.norm_of_mean(f"{name}: mean", components, g[client, j].grad(of) - g[client, j].grad(point)),
        Obligation(name, at_most(size, L * distance), (f"{name}: mean", f"{name}: entries")),
    )


def filled() -> tuple[Use, ...]:
    """Steps to table_mean(k) <= max_{b<=k} drift(b), the last called "table points"."""
    return (
        rules.member("entry's point", unfold(largest(k)), tau(client, k, j), given=TABLE),
        rules.mean("table points", components, given="entry's point"),
    )


def step(name: str, start: sp.Expr) -> Use:
    """||x_{k+1} - y|| by the triangle inequality, `start` being x_k - y."""
    parts = (-beta * grad_current, -beta * (delayed(k) - grad_client(x_t)))
    return rules.triangle(name, x_local(client, k + 1) - x_local(client, k) + start, start, *parts, given=LOCAL_STEP)


def growth() -> Induction:
    """max_{b<=k} drift(b) <= ||grad g|| ((1 + beta L)^k - 1) / L for every k."""
    next_bound = (1 + beta * L) * largest(k) + beta * grad_g
    return Induction(
        "growth",
        k,
        exact_drift(k),
        base=(
            rules.rewrite("start of the round", norm(moved(sp.S.Zero)), given=ROUND_START),
            Obligation("growth at 0", exact_drift(sp.S.Zero), ("start of the round",)),
        ),
        step=(
            *difference("table", change(k), x_t, table_mean(k)),
            *filled(),
            rules.member("x_k", unfold(largest(k)), k),
            step("(113)", moved(k)),
            Obligation("the new point", at_most(drift(k + 1), next_bound), ("(113)", "x_k", "table", "table points")),
            Obligation("the old points", at_most(largest(k), next_bound), ()),
            rules.maximum("all points", unfold(largest(k)), given=("the old points", "the new point")),
            Obligation("growth from k to k + 1", exact_drift(k + 1), ("all points", "growth (hypothesis)")),
        ),
    )


def path_bound(name: str, constant: sp.Expr, limit: sp.Expr) -> tuple[Step, ...]:
    """Steps to max_{b<=k} drift(b) <= constant * beta k ||grad g||, the last called `name`, for beta L E <= limit.

    The constant is (exp(limit) - 1) / limit, or one that exp(1/4) <= 9/7 shows to be larger.
    """
    y = k * beta * L
    goal = at_most(largest(k), constant * beta * k * grad_g)
    attained = constant == (sp.exp(limit) - 1) / limit
    end = limit if attained else sp.Rational(1, 4)
    steps: tuple[Step, ...] = (
        growth(),
        Obligation("range", at_most(y, end), ("beta", "k")),
        rules.tangent_of_exp("power", beta * L, k),
        rules.chord_of_exp("chord", given="range"),
    )
    given: tuple[str, ...] = ("growth", "power", "chord")
    if not attained:
        # e <= 2.7183 in the form that lets both engines compare the constants: exp(1/4) <= 9/7.
        steps += (rules.exp_quarter("exp"),)
        given += ("exp",)
    return (*steps, Obligation(name, goal, given))


def _drift_proof(constant: sp.Expr) -> Proof:
    """drift(k) <= constant * beta k ||grad g|| from the growth bound, through exp."""
    goal = at_most(drift(k), constant * beta * k * grad_g)
    return deduced(
        goal,
        *path_bound("all points up to k", constant, sp.Rational(1, 4)),
        rules.member("one of the points", unfold(largest(k)), k),
        given=("one of the points", "all points up to k"),
    )


def lemma13(constant: Any = 4) -> Claim:
    """Lemma 13 with the printed constant, or another one in its place."""
    hypotheses = (step_range(sp.Rational(1, 4)), STEPS)
    sharp_constant = 4 * (sp.exp(sp.Rational(1, 4)) - 1)

    def statement(value: sp.Expr, words: str) -> Statement:
        goal = at_most(drift(k), value * beta * k * grad_g)
        return Statement(words, goal, hypotheses, _drift_proof(value))

    printed = statement(
        constant, "||x_{t,k}^i - x_t|| <= 4 beta k ||grad g(x_t)|| for k = 0, ..., E - 1 and beta <= 1/(4 L E)."
    )
    sharp = statement(
        sharp_constant, "||x_{t,k}^i - x_t|| <= 4 (exp(1/4) - 1) beta k ||grad g(x_t)||, in the same range."
    )
    return Claim(
        "cflag.lemma13",
        "Lemma 13, (110)",
        "Client drift",
        (
            Part(
                "1",
                printed,
                sharp=Sharp("the constant of beta k ||grad g(x_t)||", sp.sympify(constant), sharp_constant, sharp),
            ),
        ),
        (
            "The components g_{i,j} are L-smooth, as the supplement says after Assumption 6; with g_i alone "
            "smooth the table's difference has no bound.",
            "For each k the exact worst case is ||grad g(x_t)|| ((1 + beta L)^k - 1) / L, attained by one client "
            "with the one "
            "component -(L/2) x^2 + G x. Its ratio to beta k ||grad g|| grows to 4 (exp(1/4) - 1) as E grows with "
            "beta L E = 1/4.",
            "For n components it is the recursion of ours.worst_drift, largest for the components in turn "
            "(ours.worst_order); with it the printed bound is true up to beta L E = 2.3366... for every n and E: "
            "`cflag sharp lemma13`.",
        ),
    )


CLAIMS = {"cflag.lemma13": lemma13}
