"""Sums over local steps: Lemmas 15 and 16.

Both lemmas are stated without a step size and proved with one. The sums themselves are exact for every step size:
summing the growth of the drift gives ||grad g(x_t)|| ((1 + beta L)^E - 1) / (beta L).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.local_steps.drift import (
    MAJORANTS,
    START,
    STEPS,
    error_bound,
    growth,
    largest,
    step_range,
)
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Sharp, Statement
from cflag_theory.claims.engine.notation import E, L, beta, grad_g, k, sequence, symbol
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof, Step

rho_sum = symbol("rho_sum", r"{\|\sum_k\bar\rho_{t,k}\|}", nonnegative=True)
error_sum = symbol("error_sum", r"{\|\sum_k\bar e_{t,k}\|}", nonnegative=True)
mean_error = symbol("mean_error", r"\frac{1}{E}\sum_k\sum_i p_i\|e_{t,k}^i\|", nonnegative=True)

QUARTER, TWELFTH = sp.Rational(1, 4), sp.Rational(1, 12)


@dataclass(frozen=True)
class Changes:
    """How much gradients at the local points differ from those at x_t: of one client, in the mean, and summed."""

    one: Any
    mean: Any
    total: Any
    why: str

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Where the drift and the sum begin, and how the sum goes on."""
        return (
            START,
            Fact("empty sum", equal(self.total(0), 0), "The sum over l < 0 is empty."),
            Fact("next term", equal(self.total(k + 1), self.total(k) + self.mean(k)), "One more term at l = k."),
        )

    def bound(self, index: sp.Expr) -> Relation:
        """total(index) <= ||grad g|| (((1 + beta L)^index - 1) / (beta L) - index)."""
        return at_most(self.total(index), grad_g * (((1 + beta * L) ** index - 1) / (beta * L) - index))


def _changes(name: str, latex: str, why: str) -> Changes:
    late = latex.replace("@", "l")
    return Changes(
        sequence(name, rf"{{\|{latex}\|}}", nonnegative=True),
        sequence(f"mean_{name}", rf"\sum_i p_i\|{latex}\|", nonnegative=True),
        sequence(f"total_{name}", rf"\sum_{{l<@}}\sum_i p_i\|{late}\|", nonnegative=True),
        why,
    )


PLAIN = _changes(
    "client_change",
    r"\nabla g_i(x_{t,@}^i)-\nabla g_i(x_t)",
    "g_i is L-smooth, being a mean of L-smooth components.",
)
DELAYED = _changes(
    "delayed_change",
    r"\nabla g_i'(x_{t,@}^i)-\nabla g_i(x_t)",
    "a mean over components of differences between points tau_{k,j} <= k and x_t.",
)
u = beta * L * E


def exact_sum(name: str, whole: sp.Expr, words: str, changes: Changes = PLAIN) -> tuple[Step, ...]:
    """Steps to whole <= ||grad g|| ((1 + beta L)^E - 1) / (beta L), for a sum of E gradients.

    `words` say why the sum is at most E ||grad g|| plus the sum of the changes.
    """
    powers = grad_g * ((1 + beta * L) ** k - 1)
    one, mean, total = changes.one(k), changes.mean(k), changes.total(E)
    return (
        growth(),
        Induction(
            "sum of changes",
            k,
            changes.bound(k),
            base=Obligation("no change yet", changes.bound(sp.S.Zero), ("empty sum",), -residual("empty sum")),
            step=(
                rules.component_smoothness("one change", one, largest(k), L, changes.why),
                Obligation(
                    "by the growth",
                    at_most(one, powers),
                    ("one change", "growth"),
                    slack("one change") + L * slack("growth"),
                ),
                rules.mean_of_bounds("over clients", mean, powers, "with weights p_i.", ("by the growth",)),
                Obligation(
                    "one more change",
                    changes.bound(k + 1),
                    ("sum of changes (hypothesis)", "over clients", "next term"),
                    slack("sum of changes (hypothesis)") + slack("over clients") - residual("next term"),
                ),
            ),
        ),
        Instance("all changes", "sum of changes", k, E),
        rules.triangle("(135)", whole, (total, E * grad_g), words),
        Obligation(
            name,
            at_most(whole, grad_g * ((1 + beta * L) ** E - 1) / (beta * L)),
            ("(135)", "all changes"),
            slack("(135)") + slack("all changes"),
        ),
    )


RHO = "grad g_i(x_{t,k}^i) = grad g_i(x_t) + the change, and the weighted mean of grad g_i(x_t) is grad g(x_t)."


def _within(end: sp.Expr, limit: sp.Expr) -> tuple[Step, ...]:
    return (
        Obligation("range", at_most(u, end), ("beta",), slack("beta") + end - limit),
        rules.tangent_of_exp("power", beta * L, E),
    )


def rho_bound(name: str, constant: sp.Expr, limit: sp.Expr) -> tuple[Step, ...]:
    """Steps to (131), ||sum rho|| <= constant * beta L E^2 ||grad g|| + E ||grad g||, for beta L E <= limit.

    The constant is (exp(limit) - 1 - limit) / limit^2, or one that exp(1/4) <= 9/7 shows to be larger.
    """
    goal = at_most(rho_sum, constant * L * beta * E**2 * grad_g + E * grad_g)
    attained = constant == (sp.exp(limit) - 1 - limit) / limit**2
    end = limit if attained else QUARTER
    steps = (
        *exact_sum("exact sum", rho_sum, RHO),
        *_within(end, limit),
        rules.parabola_over_exp("parabola", u, end, ("range",)),
    )
    certificate = slack("exact sum") + grad_g / (beta * L) * (slack("power") + slack("parabola"))
    given: tuple[str, ...] = ("exact sum", "power", "parabola")
    if not attained:
        # exp(1/4) <= 9/7 puts 16 exp(1/4) - 20 below 4/7.
        steps += (rules.exp_quarter("exp"),)
        lead = (constant - sp.Rational(4, 7)) + 16 * slack("exp")
        certificate += lead * L * beta * E**2 * grad_g
        given += ("exp",)
    return (*steps, Obligation(name, goal, given, certificate))


def rho_linear(name: str, constant: sp.Expr, limit: sp.Expr) -> tuple[Step, ...]:
    """Steps to ||sum rho|| <= constant * E ||grad g||, for beta L E <= limit.

    The constant is (exp(limit) - 1) / limit, or 8/7, which exp(1/4) <= 9/7 shows to be larger.
    """
    attained = constant == (sp.exp(limit) - 1) / limit
    end = limit if attained else QUARTER
    steps = (
        *exact_sum("exact sum", rho_sum, RHO),
        *_within(end, limit),
        rules.chord_of_exp("chord", u, end, ("range",)),
    )
    certificate = slack("exact sum") + grad_g / (beta * L) * (slack("power") + slack("chord"))
    given: tuple[str, ...] = ("exact sum", "power", "chord")
    if not attained:
        steps += (rules.exp_quarter("exp"),)
        certificate += (constant - sp.Rational(8, 7) + 4 * slack("exp")) * E * grad_g
        given += ("exp",)
    return (*steps, Obligation(name, at_most(rho_sum, constant * E * grad_g), given, certificate))


def errors_in_mean(limit: sp.Expr) -> tuple[Step, ...]:
    """Steps to "mean error" and "(147)": ||sum e|| is at most E times a mean, at most beta L (E - 1)/2 ||grad g||.

    For beta L E <= limit <= 1.
    """
    return (
        *error_bound(limit),
        rules.mean_of_bounds(
            "mean error",
            mean_error,
            beta * L * (E - 1) / 2 * grad_g,
            "over clients with weights p_i, and over k = 0, ..., E - 1, whose mean is (E - 1)/2.",
            ("in terms of k",),
        ),
        rules.triangle("(147)", error_sum, (E * mean_error,), "a sum of E weighted means over clients."),
    )


def error_total(name: str, constant: sp.Expr, limit: sp.Expr) -> tuple[Step, ...]:
    """Steps to (146), ||sum e|| <= constant * beta L E^2 ||grad g||, for beta L E <= limit <= 1; 1/2 is enough."""
    half = sp.Rational(1, 2)
    goal = at_most(error_sum, constant * beta * L * E**2 * grad_g)
    return (
        *errors_in_mean(limit),
        Obligation(
            name,
            goal,
            ("(147)", "mean error"),
            slack("(147)") + E * slack("mean error") + beta * L * E * grad_g * (half + (constant - half) * E),
        ),
    )


def lemma15_1(constant: Any = 4) -> Claim:
    """Lemma 15 (I) with the printed constant, or another one in its place."""
    best = 16 * (sp.exp(QUARTER) - sp.Rational(5, 4))

    def statement(value: sp.Expr, words: str) -> Statement:
        steps = rho_bound("the statement follows", value, QUARTER)
        goal = at_most(rho_sum, value * L * beta * E**2 * grad_g + E * grad_g)
        return Statement(words, goal, (step_range(QUARTER),), Proof(steps), PLAIN.facts)

    words = f"||sum_k rho_k|| <= {constant} L beta E^2 ||grad g(x_t)|| + E ||grad g(x_t)||"
    mended = statement(sp.sympify(constant), f"{words} for beta <= 1/(4 L E).")
    sharp = statement(best, "The same with 16 exp(1/4) - 20 = 0.544... in place of 4.")
    assert mended.relation is not None
    printed = Statement(f"{words}, under Assumption 1 alone.", mended.relation)
    return Claim(
        "cflag.lemma15_1",
        "C-FLAG",
        "Lemma 15 (I), (131)",
        "Sum of the clients' gradients over local steps",
        (
            Part(
                "1",
                printed,
                Repair("needs-hypothesis", "beta <= 1/(4 L E), the range of Lemma 13, which step (d) uses", mended),
                Sharp("the constant of L beta E^2 ||grad g(x_t)||", sp.sympify(constant), best, sharp),
            ),
        ),
        (
            "For every step size the exact worst case is ||grad g(x_t)|| ((1 + beta L)^E - 1) / (beta L), attained by "
            "one client with the one component -(L/2) x^2 + G x: see ours.local_sums. It grows like (beta L)^{E-1}, so "
            "no bound that is linear in beta can hold without a range.",
            "For n components it is that of ours.worst_sums with the components in turn; the printed bound is true up "
            "to beta L E = 4.4299... for every n and E: `cflag sharp lemma15_1`.",
        ),
    )


def lemma15_2(first: Any = 32, second: Any = 2) -> Claim:
    """Lemma 15 (II) with the printed constants, or others in their place."""
    best = 4 * (sp.exp(QUARTER) - 1)
    goal = at_most(rho_sum**2, first * beta**2 * L**2 * E**4 * grad_g**2 + second * E**2 * grad_g**2)
    enough = sp.Rational(8, 7)

    def squared(relation: Relation, constant: sp.Expr, rest: sp.Expr) -> Proof:
        # a^2 - s^2 = (a - s)(a - s + 2 s).
        product = slack("(131)") * (slack("(131)") + 2 * rho_sum)
        return Proof(
            (
                *rho_linear("(131)", constant, QUARTER),
                Obligation("the statement follows", relation, ("(131)",), product + rest),
            )
        )

    rest = first * beta**2 * L**2 * E**4 * grad_g**2 + (second - enough**2) * E**2 * grad_g**2
    hypotheses = (step_range(QUARTER),)
    words = f"||sum_k rho_k||^2 <= {first} beta^2 L^2 E^4 ||grad g(x_t)||^2 + {second} E^2 ||grad g(x_t)||^2"
    mended = Statement(f"{words} for beta <= 1/(4 L E).", goal, hypotheses, squared(goal, enough, rest), PLAIN.facts)
    tight = at_most(rho_sum**2, best**2 * E**2 * grad_g**2)
    sharp = Statement(
        "||sum_k rho_k||^2 <= 16 (exp(1/4) - 1)^2 E^2 ||grad g(x_t)||^2, in the same range.",
        tight,
        hypotheses,
        squared(tight, best, sp.S.Zero),
        PLAIN.facts,
    )
    at_end = sp.sympify(first) / 16 + second
    return Claim(
        "cflag.lemma15_2",
        "C-FLAG",
        "Lemma 15 (II), (132), (145)",
        "Squared sum of the clients' gradients over local steps",
        (
            Part(
                "1",
                Statement(f"{words}, under Assumption 1 alone.", goal),
                Repair("needs-hypothesis", "beta <= 1/(4 L E), the range of Lemma 13, which step (d) uses", mended),
                Sharp(
                    "the right side over E^2 ||grad g(x_t)||^2 at beta = 1/(4 L E); a constant replaces both terms",
                    at_end,
                    best**2,
                    sharp,
                ),
            ),
        ),
        (
            "16 (exp(1/4) - 1)^2 = 1.2908...: the term 32 beta^2 L^2 E^4 is not needed at all, and 2 E^2 is enough.",
            "For n components the exact worst case is that of ours.worst_sums with the components in turn; the printed "
            "bound is true up to beta L E = 4.9334... for every n and E: `cflag sharp lemma15_2`.",
        ),
    )


def lemma16(constant: Any = 2) -> Claim:
    """Lemma 16 with the printed constant, or another one in its place."""
    half = sp.Rational(1, 2)
    # A local step k < E is a summand; the bound on it is taken for each.
    hypotheses = (STEPS, step_range(TWELFTH))

    def statement(value: sp.Expr, words: str) -> Statement:
        goal = at_most(error_sum, value * beta * L * E**2 * grad_g)
        proof = Proof(error_total("the statement follows", value, TWELFTH))
        return Statement(words, goal, hypotheses, proof, (START, *MAJORANTS))

    words = f"||sum_k e_k|| <= {constant} beta L E^2 ||grad g(x_t)||"
    mended = statement(sp.sympify(constant), f"{words} for beta <= 1/(12 L E).")
    assert mended.relation is not None
    sharp = statement(half, "||sum_k e_k|| <= (1/2) beta L E^2 ||grad g(x_t)||, in the same range.")
    return Claim(
        "cflag.lemma16",
        "C-FLAG",
        "Lemma 16, (146)",
        "Sum of the delayed gradients' errors over local steps",
        (
            Part(
                "1",
                Statement(f"{words}, with no condition on beta.", mended.relation, (STEPS,)),
                Repair("needs-hypothesis", "beta <= 1/(12 L E), the range of Corollary 14, which is used", mended),
                Sharp("the constant of beta L E^2 ||grad g(x_t)||", sp.sympify(constant), half, sharp),
            ),
        ),
        (
            "The proof gives (1/2) beta L E (E - 1) ||grad g(x_t)|| up to beta = 1/(L E): see ours.local_sums.",
            "For n components the exact worst case is that of ours.worst_sums; up to beta L E = 1 it is (n - 1) sum_k "
            "((1 + beta L / n)^k - 1) ||grad g(x_t)|| (ours.worst_order). The printed bound is true up to beta L E = "
            "5.3566..., by an argument that is not one of the ledger's proofs (ours.worst_sums): `cflag sharp "
            "lemma16`.",
        ),
    )


CLAIMS = {"cflag.lemma15_1": lemma15_1, "cflag.lemma15_2": lemma15_2, "cflag.lemma16": lemma16}
