"""The exact worst case of the sums over local steps, for a given order: those of Lemmas 15 and 16, and S."""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.c_flag.local_steps.delayed import drift_by_path, errors_by_path, path, table_below
from cflag_theory.claims.c_flag.local_steps.drift import MAJORANTS, d, majorant, table
from cflag_theory.claims.c_flag.local_steps.ours.worst_path import ATTAINING, CONCAVE, line, positions
from cflag_theory.claims.c_flag.local_steps.sums import (
    SUM,
    error_sum,
    norm_S,
    over_round,
    plain_change,
    rho_sum,
    split,
)
from cflag_theory.claims.c_flag.vectors import client, delayed, ell, grad_client, tau, x_local
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Part, Statement, shown
from cflag_theory.claims.engine.notation import E, L, clients, components, grad_g, i, j, k, sequence, symbol, x_t
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, Step, deduced
from cflag_theory.claims.engine.terms import norm


def _table(of: sp.Expr) -> sp.Expr:
    """The mean over the entries of a client's table at l, of d or y."""
    return components(of(i, tau(i, ell, j)))


# Sums of the clients' p-weighted means.
d_sum = sequence("d_sum", r"\sum_{l<@}d_l", lambda k: sum_over(ell, k)(clients(majorant(i, ell))))
table_sum = sequence("table_sum", r"\sum_{l<@}\bar{d}_l", lambda k: sum_over(ell, k)(clients(_table(majorant))))
y_sum, y_table_sum = (sum_over(ell, E)(clients(of)) for of in (line(i, ell), _table(line)))
# On the line, where all summands have one sign.
rho_met = symbol("rho_met", r"-\sum_k\bar\rho_k", E * grad_g + L * y_sum)
S_met = symbol("S_met", "-S", E * grad_g + L * y_table_sum)
errors_met = symbol("errors_met", r"\sum_k\bar e_k", L * (y_sum - y_table_sum))


def _summed(steps: tuple[Step, ...], given: tuple[str, ...], v: sp.Expr, bound: sp.Expr, goal: Relation) -> Proof:
    """The goal on a sum over the round, from ||v|| <= bound for each summand or its change, which `given` shows."""
    start = () if goal.left == error_sum else (split(goal.left),)
    return deduced(
        goal,
        *steps,
        Obligation("one summand", at_most(norm(v), bound), given),
        rules.at("at l", k, ell, given="one summand"),
        *over_round("at l", v, "norm of the sum"),
        *start,
        given=("norm of the sum", *SUM, *(("(135)",) if start else ())),
    )


def _attained(met: sp.Expr, value: sp.Expr, words: str) -> Statement:
    """met = value along the instance."""
    goal = equal(met, value)

    def summed(name: str) -> tuple[Step, ...]:
        return (
            rules.at(f"{name} at l", k, ell, given=name),
            rules.at(f"{name} at i", client, i, given=f"{name} at l"),
            rules.mean(f"{name} over clients", clients, given=f"{name} at i"),
            rules.mean(f"sum of {name}", sum_over(ell, E), given=f"{name} over clients"),
        )

    return shown(
        f"{words} {ATTAINING}.",
        goal,
        *positions(),
        *summed("positions"),
        *summed("tables"),
        given=("sum of positions", "sum of tables"),
        where=(*MAJORANTS, *CONCAVE),
    )


def worst_sums() -> Claim:
    """The sums of Lemmas 15 and 16, and S."""
    here = x_local(client, k)
    gradients, late = E * grad_g + L * d_sum(E), E * grad_g + L * table_sum(E)
    errors = L * (d_sum(E) - table_sum(E))
    changed = _summed(
        (*drift_by_path(), *plain_change()),
        ("change", "drift"),
        grad_client(here) - grad_client(x_t),
        L * d(k),
        at_most(rho_sum, gradients),
    )
    stale = _summed(
        (path(), *table_below("path")),
        ("table", "table below d"),
        delayed(k) - grad_client(x_t),
        L * table(k),
        at_most(norm_S, late),
    )
    wrong = _summed(
        errors_by_path(), ("(94)",), delayed(k) - grad_client(here), L * (d(k) - table(k)), at_most(error_sum, errors)
    )
    bounds = (
        ("gradients", "||sum_k rho_k|| <= E ||grad g(x_t)|| + L sum_{k<E} d_k.", rho_sum, gradients, changed),
        ("delayed", "||S|| <= E ||grad g(x_t)|| + L sum_{k<E} mean_j d_{tau_{k,j}}.", norm_S, late, stale),
        ("errors", "||sum_k e_k|| <= L sum_{k<E} (d_k - mean_j d_{tau_{k,j}}).", error_sum, errors, wrong),
    )
    attained = (
        ("gradients", rho_met, gradients, "||sum_k rho_k|| = E ||grad g(x_t)|| + L sum_k d_k"),
        ("delayed", S_met, late, "||S|| = E ||grad g(x_t)|| + L sum_k mean_j d_{tau_{k,j}}"),
        ("errors", errors_met, errors, "||sum_k e_k|| = L sum_k (d_k - mean_j d_{tau_{k,j}})"),
    )
    return Claim(
        "ours.worst_sums",
        "for Lemmas 15 and 16",
        "Sums over local steps, exactly, for a given order",
        (
            *(
                Part(key, Statement(words, at_most(whole, bound), proof=proof, definitions=MAJORANTS))
                for key, words, whole, bound, proof in bounds
            ),
            *(Part(f"attained {key}", _attained(*of)) for key, *of in attained),
        ),
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


CLAIMS = {"ours.worst_sums": worst_sums}
