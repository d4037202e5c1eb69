"""The error of the delayed gradient along a round: Corollary 14, and the majorant d of the path that gives it."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.local_steps.drift import (
    MAJORANTS,
    STEPS,
    change,
    d,
    difference,
    drift,
    error,
    gap_mean,
    majorant,
    moved,
    step,
    step_range,
    table,
    table_mean,
)
from cflag_theory.claims.c_flag.vectors import REFRESHED, ROUND_START, TABLE, b, client, table_point, tau, x_local
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Part, Sharp, Statement
from cflag_theory.claims.engine.notation import E, L, beta, components, grad_g, j, k, x_t
from cflag_theory.claims.engine.operators import Largest
from cflag_theory.claims.engine.relation import Relation, at_most
from cflag_theory.claims.engine.steps import Induction, Obligation, Proof, Step, Use, by_induction, deduced
from cflag_theory.claims.engine.terms import norm


def _excess(index: sp.Expr) -> sp.Expr:
    return Largest(b, index, norm(moved(b)) - majorant(client, b))


def _spread(index: sp.Expr) -> sp.Expr:
    return Largest(b, k, norm(x_local(client, index) - x_local(client, b)) + majorant(client, b))


def table_below(path: str) -> tuple[Use | Obligation, ...]:
    """Steps to table_mean(k) <= table(k) and to change(k) <= L table_mean(k)."""
    entry = at_most(norm(table_point(k) - x_t), majorant(client, tau(client, k, j)))
    return (
        rules.member("entry on the path", _excess(k), tau(client, k, j), given=TABLE),
        Obligation("entry below d", entry, ("entry on the path", path)),
        rules.mean("table below d", components, given="entry below d"),
        *difference("table", change(k), x_t, table_mean(k)),
    )


def path() -> Induction:
    """max_{b <= k} (drift(b) - d(b)) <= 0 for every k, whatever the step size."""
    hypothesis = "path (hypothesis)"
    return Induction(
        "path",
        k,
        at_most(_excess(k), 0),
        base=(
            rules.rewrite("start of the round", norm(moved(sp.S.Zero)), given=ROUND_START),
            Obligation("path at 0", at_most(_excess(sp.S.Zero), 0), ("start of the round", "d at 0")),
        ),
        step=(
            *table_below(hypothesis),
            rules.member("x_k on the path", _excess(k), k),
            step("(113)", moved(k)),
            Obligation(
                "the new point",
                at_most(drift(k + 1) - d(k + 1), 0),
                ("(113)", "x_k on the path", hypothesis, "table", "table below d", "d after k"),
            ),
            rules.maximum("path up to k + 1", _excess(k), given=(hypothesis, "the new point")),
        ),
    )


def drift_by_path() -> tuple[Step, ...]:
    """Steps to drift(k) <= d(k), the last called "drift"."""
    return (
        path(),
        rules.member("x_k on the path", _excess(k), k),
        Obligation("drift", at_most(drift(k), d(k)), ("x_k on the path", "path")),
    )


def errors_by_path() -> tuple[Step, ...]:
    """Steps to error(k) <= L (d(k) - table(k)) for every k and every step size, the last called "(94)"."""
    here = x_local(client, k)
    hypothesis = "spread (hypothesis)"
    return (
        path(),
        *table_below("path"),
        step("one step", sp.S.Zero),
        Obligation(
            "each step",
            at_most(norm(x_local(client, k + 1) - here), d(k + 1) - d(k)),
            ("one step", "table", "table below d", "d after k"),
        ),
        Induction(
            "spread",
            k,
            at_most(_spread(k), d(k)),
            base=Obligation("no step yet", at_most(d(0), d(0)), ()),
            step=(
                rules.member("older point", _spread(k), b, given="b"),
                rules.triangle(
                    "through x_k",
                    x_local(client, k + 1) - x_local(client, b),
                    x_local(client, k + 1) - here,
                    here - x_local(client, b),
                ),
                Obligation(
                    "older than k + 1",
                    at_most(norm(x_local(client, k + 1) - x_local(client, b)) + majorant(client, b), d(k + 1)),
                    ("older point", "through x_k", "each step", hypothesis),
                ),
                rules.maximum_of_bounds("older points", _spread(k + 1), given="older than k + 1"),
                Obligation("x_{k+1} itself", at_most(d(k + 1), d(k + 1)), ()),
                rules.maximum("spread at k + 1", _spread(k + 1), given=("older points", "x_{k+1} itself")),
            ),
        ),
        rules.member("spread of an entry", _spread(k), tau(client, k, j), given=TABLE),
        Obligation(
            "gap of an entry",
            at_most(norm(here - table_point(k)), majorant(client, k) - majorant(client, tau(client, k, j))),
            ("spread of an entry", "spread"),
        ),
        rules.mean("gaps", components, given="gap of an entry"),
        *difference("errors", error(k), here, gap_mean(k)),
        Obligation("(94)", at_most(error(k), L * (d(k) - table(k))), ("errors", "gaps")),
    )


def refreshed() -> tuple[Step, ...]:
    """Steps to d(k) <= d(k + 1) and table(k) <= table(k + 1), called "d grows" and "fresher"."""
    return (
        Obligation("d grows", at_most(d(k), d(k + 1)), ("d after k",)),
        rules.monotone("fresher entry", k, majorant(client, k), given=("d grows", REFRESHED)),
        rules.mean("fresher", components, given="fresher entry"),
    )


def error_by_table() -> tuple[Step, ...]:
    """Steps to "(94)", and to d(k) <= beta k ||grad g|| + beta L k table(k), called "path by the table"."""

    def bound(index: sp.Expr) -> Relation:
        return at_most(d(index), beta * index * (grad_g + L * table(index)))

    return (
        *errors_by_path(),
        *refreshed(),
        by_induction(
            "path by the table",
            k,
            bound(k),
            start=("d at 0",),
            given=("d after k", "fresher"),
        ),
    )


def _error_proof(constant: sp.Expr) -> Proof:
    """error(k) <= constant * beta L E ||grad g||, for beta L E <= 1."""
    return deduced(
        at_most(error(k), constant * beta * L * E * grad_g),
        *error_by_table(),
        Obligation("range", at_most(beta * L * k, 1), ("beta", "k")),
        Obligation("in terms of k", at_most(error(k), beta * L * k * grad_g), ("(94)", "path by the table", "range")),
        given=("in terms of k", "k"),
    )


def cor14(constant: Any = 2) -> Claim:
    """Corollary 14 with the printed constant, or another one in its place."""
    limit = sp.Rational(1, 12)
    hypotheses = (step_range(limit), STEPS)

    def statement(value: sp.Expr, words: str) -> Statement:
        goal = at_most(error(k), value * beta * L * E * grad_g)
        return Statement(words, goal, hypotheses, _error_proof(value), MAJORANTS)

    printed = statement(
        constant, "||e_{t,k}^i|| <= 2 beta L E ||grad g(x_t)|| for k = 0, ..., E - 1 and beta <= 1/(12 L E)."
    )
    sharp = statement(sp.S.One, "||e_{t,k}^i|| <= beta L E ||grad g(x_t)||, in the same range.")
    return Claim(
        "cflag.cor14",
        "Corollary 14, (127)",
        "Error of the delayed gradient",
        (
            Part(
                "1",
                printed,
                sharp=Sharp("the constant of beta L E ||grad g(x_t)||", sp.sympify(constant), sp.S.One, sharp),
            ),
        ),
        (
            "The proof gives beta L k ||grad g(x_t)|| for every k with beta L k <= 1, twelve times the printed range.",
            "The constant 1 is approached by n components -(L/2) x^2 + G x of which one is refreshed again and "
            "again: the error at "
            "k = E - 1 is G (n - 1) ((1 + beta L / n)^{E-1} - 1), which tends to beta L (E - 1) G as n grows.",
            "That is the exact worst case for n components and every order while beta L k <= 1 (ours.worst_order); "
            "beyond, ours.worst_error_beyond keeps the printed bound true up to beta L E = 2.6783...: `cflag sharp "
            "cor14`.",
        ),
    )


CLAIMS = {"cflag.cor14": cor14}
