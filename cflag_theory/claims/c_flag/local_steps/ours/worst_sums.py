"""The exact worst case of the sums over local steps, for a given order: those of Lemmas 15 and 16, and S."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.forgetting.ours.step import norm_S
from cflag_theory.claims.c_flag.local_steps.drift import (
    START,
    d,
    drift,
    error,
    errors_on_path,
    largest,
    path,
    table,
    table_mean,
    table_sum,
)
from cflag_theory.claims.c_flag.local_steps.ours.worst_path import (
    ATTAINING,
    CONCAVE,
    RECURSION,
    positions,
    same_table,
    y,
    y_table,
)
from cflag_theory.claims.c_flag.local_steps.sums import DELAYED, PLAIN, RHO, Changes, error_sum, rho_sum
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import E, L, grad_g, k, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof, RuleUse, Step

y_sum = sequence("y_sum", r"\sum_{l<@}y_l", nonnegative=True)
y_table_sum = sequence("y_table_sum", r"\sum_{l<@}\bar{y}_l", nonnegative=True)
d_sum = sequence("d_sum", r"\sum_{l<@}d_l", nonnegative=True)
mean_errors = sequence("mean_errors", r"\sum_i p_i\|e_{t,@}^i\|", nonnegative=True)
error_total = sequence("error_total", r"\sum_{l<@}\sum_i p_i\|e_{t,l}^i\|", nonnegative=True)
S_met = symbol("S_met", r"{\|S\|_y}", nonnegative=True)
rho_met = symbol("rho_met", r"{\|\sum_k\bar\rho_k\|_y}", nonnegative=True)
errors_met = symbol("errors_met", r"{\|\sum_k\bar e_k\|_y}", nonnegative=True)

_S = "delayed_{i,k} = grad g_i(x_t) + its change, and the weighted mean of grad g_i(x_t) is grad g(x_t)."


def _sums(name: str, total: Any, term: Any) -> tuple[Fact, Fact]:
    """A sequence of partial sums."""
    return (
        Fact(f"{name} at 0", equal(total(0), 0), "The sum over no terms."),
        Fact(f"{name} after k", equal(total(k + 1), total(k) + term(k)), "One more term."),
    )


D_SUM, TABLE_SUM = _sums("sum of d", d_sum, d), _sums("sum of table", table_sum, table)
ERROR_SUM = _sums("sum of errors", error_total, mean_errors)
Y_SUM, Y_TABLE_SUM = _sums("sum of y", y_sum, y), _sums("sum of y_table", y_table_sum, y_table)


def _changes_summed(
    changes: Changes, distance: sp.Expr, member: RuleUse, whole: sp.Expr, words: str, total: Any
) -> Proof:
    """whole <= E ||grad g|| + L total(E), for gradients whose changes are at most L times a distance.

    `member` bounds the distance by one term of `total`, or by max_{b<=k} ||x_b - x_t||; it is called "member".
    """
    name, each = ("sum of d", d(k)) if total is d_sum else ("sum of table", table(k))
    goal = at_most(whole, E * grad_g + L * total(E))
    given, more = (
        (("smooth", "member", "path"), L * slack("path")) if total is d_sum else (("smooth", "member"), sp.S.Zero)
    )
    return Proof(
        (
            path(),
            Induction(
                "sum of changes",
                k,
                at_most(changes.total(k), L * total(k)),
                base=Obligation(
                    "no change yet",
                    at_most(changes.total(0), L * total(0)),
                    ("empty sum", f"{name} at 0"),
                    L * residual(f"{name} at 0") - residual("empty sum"),
                ),
                step=(
                    rules.component_smoothness("smooth", changes.one(k), distance, L, changes.why),
                    member,
                    Obligation(
                        "one change",
                        at_most(changes.one(k), L * each),
                        given,
                        slack("smooth") + L * slack("member") + more,
                    ),
                    rules.mean_of_bounds("clients", changes.mean(k), L * each, "with weights p_i.", ("one change",)),
                    Obligation(
                        "one more change",
                        at_most(changes.total(k + 1), L * total(k + 1)),
                        ("sum of changes (hypothesis)", "clients", "next term", f"{name} after k"),
                        slack("sum of changes (hypothesis)")
                        + slack("clients")
                        - residual("next term")
                        + L * residual(f"{name} after k"),
                    ),
                ),
            ),
            Instance("all changes", "sum of changes", k, E),
            rules.triangle("(135)", whole, (changes.total(E), E * grad_g), words),
            Obligation("the statement follows", goal, ("(135)", "all changes"), slack("(135)") + slack("all changes")),
        )
    )


def _errors_summed() -> Proof:
    """||sum e|| <= L (sum of d - sum of table)."""
    value = L * (d(k) - table(k))
    return Proof(
        (
            path(),
            Induction(
                "sum of errors",
                k,
                at_most(error_total(k), L * (d_sum(k) - table_sum(k))),
                base=Obligation(
                    "no error yet",
                    at_most(error_total(0), L * (d_sum(0) - table_sum(0))),
                    ("sum of errors at 0", "sum of d at 0", "sum of table at 0"),
                    L * (residual("sum of d at 0") - residual("sum of table at 0")) - residual("sum of errors at 0"),
                ),
                step=(
                    *errors_on_path(),
                    Obligation(
                        "one error", at_most(error(k), value), ("(94)", "gaps"), slack("(94)") + L * slack("gaps")
                    ),
                    rules.mean_of_bounds("clients", mean_errors(k), value, "with weights p_i.", ("one error",)),
                    Obligation(
                        "one more error",
                        at_most(error_total(k + 1), L * (d_sum(k + 1) - table_sum(k + 1))),
                        (
                            "sum of errors (hypothesis)",
                            "clients",
                            "sum of errors after k",
                            "sum of d after k",
                            "sum of table after k",
                        ),
                        slack("sum of errors (hypothesis)")
                        + slack("clients")
                        - residual("sum of errors after k")
                        + L * (residual("sum of d after k") - residual("sum of table after k")),
                    ),
                ),
            ),
            Instance("all errors", "sum of errors", k, E),
            rules.triangle("(147)", error_sum, (error_total(E),), "a sum over k of weighted means over clients."),
            Obligation(
                "the statement follows",
                at_most(error_sum, L * (d_sum(E) - table_sum(E))),
                ("(147)", "all errors"),
                slack("(147)") + slack("all errors"),
            ),
        )
    )


def _same_sums() -> tuple[Step, ...]:
    """y_sum = d_sum and y_table_sum = table_sum at every k; the steps "distances" and "tables" say so at E."""
    return (
        positions(),
        Induction(
            "same distances",
            k,
            equal(y_sum(k), d_sum(k)),
            base=Obligation(
                "no distance",
                equal(y_sum(0), d_sum(0)),
                ("sum of y at 0", "sum of d at 0"),
                residual("sum of d at 0") - residual("sum of y at 0"),
            ),
            step=(
                Obligation(
                    "next distance",
                    equal(y_sum(k + 1), d_sum(k + 1)),
                    ("same distances (hypothesis)", "positions", "sum of y after k", "sum of d after k"),
                    residual("sum of d after k")
                    - residual("sum of y after k")
                    - residual("same distances (hypothesis)")
                    - residual("positions"),
                ),
            ),
        ),
        Induction(
            "same tables",
            k,
            equal(y_table_sum(k), table_sum(k)),
            base=Obligation(
                "no table",
                equal(y_table_sum(0), table_sum(0)),
                ("sum of y_table at 0", "sum of table at 0"),
                residual("sum of table at 0") - residual("sum of y_table at 0"),
            ),
            step=(
                same_table("table of y now", "positions"),
                Obligation(
                    "next table",
                    equal(y_table_sum(k + 1), table_sum(k + 1)),
                    ("same tables (hypothesis)", "table of y now", "sum of y_table after k", "sum of table after k"),
                    residual("sum of table after k")
                    - residual("sum of y_table after k")
                    - residual("same tables (hypothesis)")
                    - residual("table of y now"),
                ),
            ),
        ),
        Instance("distances", "same distances", k, E),
        Instance("tables", "same tables", k, E),
    )


def _attained_sum(met: sp.Expr, value: sp.Expr, on_line: sp.Expr, signs: tuple[int, int], words: str) -> Statement:
    """met = value, given that met is `on_line` along the instance; `signs` of the two sums in it."""
    goal = equal(met, value)
    certificate = -residual("sum on the line") - L * (signs[0] * residual("distances") + signs[1] * residual("tables"))
    return Statement(
        f"{words} {ATTAINING}.",
        goal,
        (),
        Proof(
            (
                *_same_sums(),
                Obligation("the statement follows", goal, ("sum on the line", "distances", "tables"), certificate),
            )
        ),
        (
            *RECURSION,
            *CONCAVE,
            *D_SUM,
            *TABLE_SUM,
            *Y_SUM,
            *Y_TABLE_SUM,
            Fact(
                "sum on the line",
                equal(met, on_line),
                "Summands on the line, all of one sign, add up with their lengths.",
            ),
        ),
    )


def worst_sums() -> Claim:
    """The sums of Lemmas 15 and 16, and S."""
    moved = rules.largest_member("member", drift(k), largest(k), "x_{t,k} is one of the points.")
    filled = rules.mean_of_bounds(
        "member", table_mean(k), table(k), "each ||x_tau - x_t|| <= d(tau), tau <= k.", ("path",)
    )
    gradients, delayed = E * grad_g + L * d_sum(E), E * grad_g + L * table_sum(E)
    errors = L * (d_sum(E) - table_sum(E))
    parts = (
        Part(
            "gradients",
            Statement(
                "||sum_k rho_k|| <= E ||grad g(x_t)|| + L sum_{k<E} d_k.",
                at_most(rho_sum, gradients),
                (),
                _changes_summed(PLAIN, drift(k), moved, rho_sum, RHO, d_sum),
                (START, *RECURSION, *PLAIN.facts[1:], *D_SUM),
            ),
        ),
        Part(
            "delayed",
            Statement(
                "||S|| <= E ||grad g(x_t)|| + L sum_{k<E} mean_j d_{tau_{k,j}}.",
                at_most(norm_S, delayed),
                (),
                _changes_summed(DELAYED, table_mean(k), filled, norm_S, _S, table_sum),
                (START, *RECURSION, *DELAYED.facts[1:], *TABLE_SUM),
            ),
        ),
        Part(
            "errors",
            Statement(
                "||sum_k e_k|| <= L sum_{k<E} (d_k - mean_j d_{tau_{k,j}}).",
                at_most(error_sum, errors),
                (),
                _errors_summed(),
                (START, *RECURSION, *D_SUM, *TABLE_SUM, *ERROR_SUM),
            ),
        ),
        Part(
            "attained gradients",
            _attained_sum(
                rho_met,
                gradients,
                E * grad_g + L * y_sum(E),
                (1, 0),
                "||sum_k rho_k|| = E ||grad g(x_t)|| + L sum_k d_k",
            ),
        ),
        Part(
            "attained delayed",
            _attained_sum(
                S_met,
                delayed,
                E * grad_g + L * y_table_sum(E),
                (0, 1),
                "||S|| = E ||grad g(x_t)|| + L sum_k mean_j d_{tau_{k,j}}",
            ),
        ),
        Part(
            "attained errors",
            _attained_sum(
                errors_met,
                errors,
                L * (y_sum(E) - y_table_sum(E)),
                (1, -1),
                "||sum_k e_k|| = L sum_k (d_k - mean_j d_{tau_{k,j}})",
            ),
        ),
    )
    return Claim(
        "ours.worst_sums",
        "ours",
        "for Lemmas 15 and 16",
        "Sums over local steps, exactly, for a given order",
        parts,
        (
            "d_k is the recursion of one order; if clients refresh in different orders, the p-weighted mean of "
            "theirs takes its place.",
            "Every bound holds for every step size. With u = beta L E, Lemma 15 (I) is true for every n and E up to"
            " u = 4.4299..., and (II) up to 4.9334..., the roots of exp(u) = 1 + u + 4 u^2 and ((exp(u) - 1)/u)^2 = "
            "32 u^2 + 2; beyond each of them an instance breaks the printed inequality.",
            "Lemma 16 is true up to u = 5.3566..., the root of exp(u - 2) = u^2, and not beyond, by an argument that "
            "is not one of the ledger's proofs: ||sum_k e_k|| <= ||grad g(x_t)|| max_s beta L (1 + beta L)^s (E - s)"
            "(E - s - 1)/2, as ours.worst_error_beyond has it for one error.",
        ),
    )


CLAIMS: dict[str, Callable[[], Claim]] = {"ours.worst_sums": worst_sums}
