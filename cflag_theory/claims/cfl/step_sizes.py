"""Every condition on the step sizes in the CFL paper and in our own theorems, and what each one is needed for."""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.c_flag.step_sizes import Condition, hypothesis
from cflag_theory.claims.cfl import symbols
from cflag_theory.claims.cfl.nonconvex.descent import past
from cflag_theory.claims.cfl.nonconvex.local_drift import c_B
from cflag_theory.claims.cfl.nonconvex.ours import coefficient as ours_cfl_coefficient
from cflag_theory.claims.cfl.one_round.progress import c_B as c_pB
from cflag_theory.claims.cfl.rates.theorems import mu as positive_mu
from cflag_theory.claims.cfl.symbols import K, c_O, eta_g, eta_l, mu, p_t
from cflag_theory.claims.engine.notation import L
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.ledger import LEDGER
from cflag_theory.claims.pages.formula import Words, relation

eta = K * eta_l * eta_g
#: s of the conditions: what the paper divides by 6L and, simplified, by 12L.
ROOTS = (sp.sqrt(3 * eta_g**2 + 4 * c_O * eta_g**4) - sp.sqrt(4 * c_O * eta_g**4)) / sp.sqrt(c_O)
#: 4 K^2 eta_l^2 L^2 c_O, the ratio of the geometric sum in (20).
_DRIFT = 4 * K**2 * eta_l**2 * L**2 * c_O
_WORDS = Words({**vars(symbols), "L": L, "eta": eta, "s": ROOTS, "ratio": _DRIFT})

#: Name, relation, where it stands, what it unlocks, the claims of that.
_OF_CFL = """
eta_g = 1 | eta_g = 1 | Theorems 4.1, 4.4, 4.7, B.5, B.6, B.8 | what the rates are stated for
    | cfl.sc_rate, cfl.gc_rate, cfl.nc_rate, cfl.fedavg_rates, cfl.thm4_7
eta <= s/(6L) | eta <= s/(6 L) | Theorems 4.1, 4.4, 4.7, B.5, B.6, B.8; first condition after (22)
    | the convex rates as printed | cfl.sc_rate, cfl.gc_rate, cfl.fedavg_rates, cfl.thm4_7
eta <= s/(12L) | eta <= s/(12 L) | second condition after (22) | (23): the factor -eta of f(w_t) - f* | cfl.step12
4 K^2 eta_l^2 L^2 c < 1 | ratio < 1 | (20), the geometric sum
    | the bound on the local drift; (21), (22) and (31) divide by 1 minus it
    | cfl.eq20, cfl.eq21, cfl.nc_eq31, ours.cfl_step
eta <= 1/(2L) | eta <= 1/(2 L) | after (27) | the non-convex A_2 part, (29)
    | cfl.nc_eq28, ours.cfl_nonconvex, ours.cfl_fedavg_nonconvex
8 K^2 eta_l^2 c <= 1 | 8 K^2 eta_l^2 c_O <= 1 | before (31)
    | (31); it has no L, so that it depends on the units of w | cfl.nc_eq31
(L^2 + 1) c < 1 + p_t/2 | (L^2 + 1) c_O < 1 + p_t/2 | (32), c_0 < 0 in App. B.5
    | the non-convex rates: the factor of ||grad f||^2 in (32) is negative | cfl.nc_eq32, cfl.nc_rate
T >= 1/(2 eta mu) | 1/(2 eta) <= mu T | Lemma A.1 | the strongly convex rates; with mu = 0 never
    | cfl.lemA1, cfl.sc_rate
"""
#: Likewise, with the claim, the part and the name of the hypothesis that is the relation.
_OF_OURS = """
eta <= 1/(10L) | cfl_round, 0, step size | ours.cfl_round | one round of the convex case, any K
    | ours.cfl_round, ours.cfl_strongly_convex
eta_g >= 1 | cfl_round, 0, eta_g | ours.cfl_round | one round of the convex case, any K
    | ours.cfl_round, ours.cfl_strongly_convex
eta <= 2/(mu + L) | cfl_strongly_convex, 1, eta | ours.cfl_strongly_convex
    | the strongly convex rate with additive drifts, K = 1 | ours.cfl_strongly_convex
eta <= 1/L | cfl_nonconvex, 0, eta | ours.cfl_general_convex, ours.cfl_nonconvex
    | the general convex and the non-convex rate with additive drifts, K = 1
    | ours.cfl_general_convex, ours.cfl_nonconvex
20 K^2 eta_l^2 L^2 <= 1 | cfl_nonconvex, 1, steps | ours.cfl_nonconvex, ours.cfl_fedavg_nonconvex
    | the non-convex rates for any K | ours.cfl_nonconvex, ours.cfl_fedavg_nonconvex
16 eta L c + 20 (eta L/eta_g)^2 c <= 1 | cfl_step, 0, enough | ours.cfl_step, in place of those after (22)
    | the left side of (22) is at most -eta | ours.cfl_step
x (1 + p_t/2) < 1 + p_t/2 - c | cfl_nonconvex_coefficient, 2, short
    | ours.cfl_nonconvex_coefficient, x = 4 K^2 eta_l^2 L^2 c | (32) with the dimensions corrected is a descent
    | ours.cfl_nonconvex_coefficient
"""


def _of_paper(text: str) -> Relation:
    return relation(text, _WORDS)


def _of_ours(text: str) -> Relation:
    """In L, mu, K, eta_l, eta_g, c_O and p_t alone."""
    claim, part, name = text.split(", ")
    return hypothesis(LEDGER[f"ours.{claim}"](), name, int(part)).subs(
        {positive_mu: mu, symbols.eta: eta, c_pB: c_O, c_B: c_O, ours_cfl_coefficient.x: _DRIFT, past: 1 - p_t}
    )


def _condition(row: str, paper: str) -> Condition:
    name, text, where, unlocks, ids = row.split(" | ")
    read = _of_ours if paper == "ours" else _of_paper
    return Condition(name, read(text), where, unlocks, tuple(ids.split(", ")), paper)


def _conditions(rows: str, paper: str) -> tuple[Condition, ...]:
    return tuple(_condition(row, paper) for row in rows.replace("\n    |", " |").strip().splitlines())


CONDITIONS = _conditions(_OF_CFL, "CFL")
OUR_CONDITIONS = _conditions(_OF_OURS, "ours")
