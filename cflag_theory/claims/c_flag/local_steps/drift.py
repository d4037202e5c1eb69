"""Client drift and delayed-gradient error: Lemma 13 and Corollary 14.

Both follow from one observation. The local step (4) moves by beta times grad g(x_t) plus the difference
grad g_i'(x_{t,k}) - grad g_i(x_t), and that difference is at most L times the mean distance from x_t of the points at
which the table was filled.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Sharp, Statement
from cflag_theory.claims.engine.notation import E, L, beta, grad_g, k, sequence
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Induction, Obligation, Proof, RuleUse, Step

drift = sequence("drift", r"{\|x_{t,@}^i-x_t\|}", nonnegative=True)
largest = sequence("max_drift", r"\max_{b\le @}\|x_{t,b}^i-x_t\|", nonnegative=True)
change = sequence("change", r"{\|\nabla g_i'(x_{t,@}^i)-\nabla g_i(x_t)\|}", nonnegative=True)
error = sequence("e", r"{\|e_{t,@}^i\|}", nonnegative=True)
# Majorants of the path and of the table: d(k) bounds the drift, table(k) the mean drift of the table's points.
d = sequence("d", r"d_{@}", nonnegative=True)
table = sequence("table", r"\bar{d}_{@}", nonnegative=True)
table_sum = sequence("table_sum", r"\sum_{l<@}\bar{d}_l", nonnegative=True)
step_length = sequence("step", r"{\|x_{t,@+1}^i-x_{t,@}^i\|}", nonnegative=True)
table_mean = sequence("mean_drift", r"\mathrm{mean}_j\|x_{t,\tau_{@,j}}^i-x_t\|", nonnegative=True)
gap_mean = sequence("mean_gap", r"\mathrm{mean}_j\|x_{t,@}^i-x_{t,\tau_{@,j}}^i\|", nonnegative=True)

STEPS = Fact("k", at_most(k + 1, E), "k stands for any of 0, ..., E - 1.")
START = Fact("start", equal(largest(0), 0), "x_{t,0}^i = x_t.")
MAJORANTS = (
    Fact("d at 0", equal(d(0), 0), "d(0) = 0."),
    Fact(
        "d after k",
        equal(d(k + 1), d(k) + beta * (grad_g + L * table(k))),
        "d(k + 1) = d(k) + beta (||grad g|| + L table(k)).",
    ),
    Fact("d by sums", equal(d(k), beta * k * grad_g + beta * L * table_sum(k)), "The same, summed."),
)


def step_range(limit: sp.Expr) -> Fact:
    """beta L E <= limit."""
    return Fact("beta", at_most(beta * L * E, limit), f"beta <= 1/({1 / limit} L E).")


def exact_drift(index: sp.Expr) -> Relation:
    return at_most(largest(index), grad_g * ((1 + beta * L) ** index - 1) / L)


def growth() -> Induction:
    """max_{b<=k} drift(b) <= ||grad g|| ((1 + beta L)^k - 1) / L for every k."""
    hypothesis = "growth (hypothesis)"
    next_bound = (1 + beta * L) * largest(k) + beta * grad_g
    return Induction(
        "growth",
        k,
        exact_drift(k),
        base=Obligation("growth at 0", exact_drift(sp.S.Zero), ("start",), -residual("start")),
        step=(
            rules.triangle(
                "(113)",
                drift(k + 1),
                (largest(k), beta * grad_g, beta * change(k)),
                "x_{t,k+1} - x_t is (x_{t,k} - x_t) - beta grad g(x_t) - beta (grad g_i'(x_{t,k}) - grad g_i(x_t)) "
                "by (4), and the first "
                "is no longer than max_{b<=k} ||x_{t,b} - x_t||.",
            ),
            rules.component_smoothness(
                "table",
                change(k),
                largest(k),
                L,
                "grad g_i' - grad g_i(x_t) is a mean over components of differences between points tau_{k,j} <= k "
                "and x_t.",
            ),
            Obligation(
                "the new point",
                at_most(drift(k + 1), next_bound),
                ("(113)", "table"),
                slack("(113)") + beta * slack("table"),
            ),
            Obligation("the old points", at_most(largest(k), next_bound), (), beta * L * largest(k) + beta * grad_g),
            rules.maximum(
                "all points", largest(k + 1), next_bound, "over b <= k + 1.", ("the new point", "the old points")
            ),
            Obligation(
                "growth from k to k + 1",
                exact_drift(k + 1),
                ("all points", hypothesis),
                slack("all points") + (1 + beta * L) * slack(hypothesis),
            ),
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
    within = slack("beta") + beta * L * (slack("k") + 1) + end - limit
    steps: tuple[Step, ...] = (
        growth(),
        Obligation("range", at_most(y, end), ("beta", "k"), within),
        rules.tangent_of_exp("power", beta * L, k),
        rules.chord_of_exp("chord", y, end, ("range",)),
    )
    lead: sp.Expr = sp.S.Zero
    given: tuple[str, ...] = ("growth", "power", "chord")
    if not attained:
        # e <= 2.7183 in the form that lets both engines compare the constants: exp(1/4) <= 9/7.
        steps += (rules.exp_quarter("exp"),)
        lead = (constant - sp.Rational(8, 7)) * beta * k * grad_g + 4 * beta * k * grad_g * slack("exp")
        given += ("exp",)
    certificate = slack("growth") + grad_g / L * (slack("power") + slack("chord")) + lead
    return (*steps, Obligation(name, goal, given, certificate))


def _drift_proof(constant: sp.Expr) -> Proof:
    """drift(k) <= constant * beta k ||grad g|| from the growth bound, through exp."""
    goal = at_most(drift(k), constant * beta * k * grad_g)
    return Proof(
        (
            *path_bound("all points up to k", constant, sp.Rational(1, 4)),
            rules.largest_member("one of the points", drift(k), largest(k), "x_{t,k} is one of them."),
            Obligation(
                "the statement follows",
                goal,
                ("one of the points", "all points up to k"),
                slack("one of the points") + slack("all points up to k"),
            ),
        )
    )


def lemma13(constant: Any = 4) -> Claim:
    """Lemma 13 with the printed constant, or another one in its place."""
    hypotheses = (step_range(sp.Rational(1, 4)), STEPS)
    sharp_constant = 4 * (sp.exp(sp.Rational(1, 4)) - 1)

    def statement(value: sp.Expr, words: str) -> Statement:
        return Statement(words, at_most(drift(k), value * beta * k * grad_g), hypotheses, _drift_proof(value), (START,))

    printed = statement(
        constant, "||x_{t,k}^i - x_t|| <= 4 beta k ||grad g(x_t)|| for k = 0, ..., E - 1 and beta <= 1/(4 L E)."
    )
    sharp = statement(
        sharp_constant, "||x_{t,k}^i - x_t|| <= 4 (exp(1/4) - 1) beta k ||grad g(x_t)||, in the same range."
    )
    return Claim(
        "cflag.lemma13",
        "C-FLAG",
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
            "The components g_{i,j} are L-smooth, as the supplement says after Assumption 6; with g_i alone smooth "
            "the table's "
            "difference has no bound.",
            "The second inequality of (110), 4 beta k <= 4 beta E, is k < E.",
            "For each k the exact worst case is ||grad g(x_t)|| ((1 + beta L)^k - 1) / L, attained by one client "
            "with the one "
            "component -(L/2) x^2 + G x. Its ratio to beta k ||grad g|| grows to 4 (exp(1/4) - 1) as E grows with "
            "beta L E = 1/4.",
            "For n components it is the recursion of ours.worst_drift, largest for the components in turn "
            "(ours.worst_order); with it the printed bound is true up to beta L E = 2.3366... for every n and E: "
            "`cflag sharp lemma13`.",
        ),
    )


def _path(index: sp.Expr) -> Relation:
    return at_most(largest(index), d(index))


def _step_rules(path: str, prefix: str = "") -> tuple[RuleUse, ...]:
    """What bounds one local step, given that the path so far lies below d."""
    return (
        rules.triangle(
            prefix + "one step",
            step_length(k),
            (beta * grad_g, beta * change(k)),
            "the local step (4) is -beta grad g(x_t) - beta (grad g_i' - grad g_i(x_t)).",
        ),
        rules.component_smoothness(
            prefix + "table", change(k), table_mean(k), L, "a mean of differences between table points and x_t."
        ),
        rules.mean_of_bounds(
            prefix + "table points", table_mean(k), table(k), "each ||x_tau - x_t|| <= d(tau), tau <= k.", (path,)
        ),
    )


def path() -> Induction:
    """max_{b<=k} drift(b) <= d(k) for every k, whatever the step size."""
    hypothesis = "path (hypothesis)"
    return Induction(
        "path",
        k,
        _path(k),
        base=Obligation("path at 0", _path(sp.S.Zero), ("start", "d at 0"), residual("d at 0") - residual("start")),
        step=(
            rules.triangle(
                "(113)",
                drift(k + 1),
                (largest(k), step_length(k)),
                "x_{t,k+1} - x_t is (x_{t,k} - x_t) + (x_{t,k+1} - x_{t,k}).",
            ),
            *_step_rules(hypothesis),
            Obligation(
                "the new point",
                at_most(drift(k + 1), d(k + 1)),
                ("(113)", "one step", "table", "table points", hypothesis, "d after k"),
                slack("(113)")
                + slack("one step")
                + beta * slack("table")
                + beta * L * slack("table points")
                + slack(hypothesis)
                + residual("d after k"),
            ),
            Obligation(
                "the old points",
                at_most(largest(k), d(k + 1)),
                (hypothesis, "d after k"),
                slack(hypothesis) + beta * (grad_g + L * table(k)) + residual("d after k"),
            ),
            rules.maximum(
                "all points", largest(k + 1), d(k + 1), "over b <= k + 1.", ("the new point", "the old points")
            ),
        ),
    )


def errors_by_path() -> tuple[Step, ...]:
    """Steps to error(k) <= L (d(k) - table(k)), which "gaps" and the last, "(94)", give for every step size."""
    return (path(), *errors_on_path())


def errors_on_path() -> tuple[Obligation | RuleUse, ...]:
    """The steps of `errors_by_path` after "path"."""
    return (
        *_step_rules("path", "on the path: "),
        Obligation(
            "each step",
            at_most(step_length(k), d(k + 1) - d(k)),
            ("on the path: one step", "on the path: table", "on the path: table points", "d after k"),
            slack("on the path: one step")
            + beta * slack("on the path: table")
            + beta * L * slack("on the path: table points")
            + residual("d after k"),
        ),
        rules.mean_of_bounds(
            "gaps",
            gap_mean(k),
            d(k) - table(k),
            "||x_{t,k} - x_{t,tau}|| is at most the sum of the steps from tau to k - 1, and these telescope to "
            "d(k) - d(tau).",
            ("each step",),
        ),
        rules.component_smoothness(
            "(94)", error(k), gap_mean(k), L, "e_{t,k} is a mean of differences between table points and x_{t,k}."
        ),
    )


def error_bound(limit: sp.Expr) -> tuple[Step, ...]:
    """Steps to error(k) <= beta L k ||grad g||, the last called "in terms of k", for beta L E <= limit <= 1."""
    return (
        *errors_by_path(),
        rules.monotone_refresh("fresher", table(k), table(k + 1), "table(k) is that mean."),
        rules.monotone_sum("table sum", table_sum(k), k, table(k), ("fresher",)),
        Obligation(
            "range",
            at_most(beta * L * k, 1),
            ("beta", "k"),
            slack("beta") + beta * L * (slack("k") + 1) + (1 - limit),
        ),
        Obligation(
            "in terms of k",
            at_most(error(k), beta * L * k * grad_g),
            ("(94)", "gaps", "d by sums", "table sum", "range"),
            slack("(94)")
            + L * slack("gaps")
            + L * (slack("range") * table(k) + beta * L * slack("table sum"))
            + L * residual("d by sums") * -1,
        ),
    )


def _error_proof(constant: sp.Expr, limit: sp.Expr) -> Proof:
    """error(k) <= constant * beta L E ||grad g||."""
    goal = at_most(error(k), constant * beta * L * E * grad_g)
    return Proof(
        (
            *error_bound(limit),
            Obligation(
                "the statement follows",
                goal,
                ("in terms of k", "k"),
                slack("in terms of k") + beta * L * grad_g * (slack("k") + 1) + (constant - 1) * beta * L * E * grad_g,
            ),
        )
    )


def cor14(constant: Any = 2) -> Claim:
    """Corollary 14 with the printed constant, or another one in its place."""
    limit = sp.Rational(1, 12)
    hypotheses = (step_range(limit), STEPS)

    def statement(value: sp.Expr, words: str) -> Statement:
        goal = at_most(error(k), value * beta * L * E * grad_g)
        return Statement(words, goal, hypotheses, _error_proof(value, limit), (START, *MAJORANTS))

    printed = statement(
        constant, "||e_{t,k}^i|| <= 2 beta L E ||grad g(x_t)|| for k = 0, ..., E - 1 and beta <= 1/(12 L E)."
    )
    sharp = statement(sp.S.One, "||e_{t,k}^i|| <= beta L E ||grad g(x_t)||, in the same range.")
    return Claim(
        "cflag.cor14",
        "C-FLAG",
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
            "d, table and their sums are majorants defined from the order of the sampled components; they restrict "
            "nothing.",
            "The proof gives beta L k ||grad g(x_t)|| for every k with beta L k <= 1, twelve times the printed range.",
            "The constant 1 is approached by n components -(L/2) x^2 + G x of which one is refreshed again and "
            "again: the error at "
            "k = E - 1 is G (n - 1) ((1 + beta L / n)^{E-1} - 1), which tends to beta L (E - 1) G as n grows.",
            "That is the exact worst case for n components and every order while beta L k <= 1 (ours.worst_order); "
            "beyond, ours.worst_error_beyond keeps the printed bound true up to beta L E = 2.6783...: `cflag sharp "
            "cor14`.",
        ),
    )


CLAIMS = {"cflag.lemma13": lemma13, "cflag.cor14": cor14}
