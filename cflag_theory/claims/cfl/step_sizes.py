"""Every condition on the step sizes in the CFL paper, and what each one is needed for."""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.cfl.symbols import K, T, c_O, eta_g, eta_l, mu, p_t
from cflag_theory.claims.claim import at_most, below, equal
from cflag_theory.claims.step_sizes import Condition
from cflag_theory.claims.symbols import L

eta = K * eta_l * eta_g
#: s of the conditions: what the paper divides by 6L and, simplified, by 12L.
ROOTS = (sp.sqrt(3 * eta_g**2 + 4 * c_O * eta_g**4) - sp.sqrt(4 * c_O * eta_g**4)) / sp.sqrt(c_O)
#: 4 K^2 eta_l^2 L^2 c_O, the ratio of the geometric sum in (20).
_DRIFT = 4 * K**2 * eta_l**2 * L**2 * c_O

CONDITIONS: tuple[Condition, ...] = (
    Condition("eta_g = 1", equal(eta_g, 1), "Theorems 4.1, 4.4, 4.7, B.5, B.6, B.8", "what the rates are stated for"),
    Condition(
        "eta <= s/(6L)",
        at_most(eta, ROOTS / (6 * L)),
        "Theorems 4.1, 4.4, 4.7, B.5, B.6, B.8; first condition after (22)",
        "the convex rates as printed",
    ),
    Condition(
        "eta <= s/(12L)",
        at_most(eta, ROOTS / (12 * L)),
        "second condition after (22)",
        "(23): the factor -eta of f(w_t) - f*",
    ),
    Condition(
        "4 K^2 eta_l^2 L^2 c < 1",
        below(_DRIFT, 1),
        "(20), the geometric sum",
        "the bound on the local drift; (21), (22) and (31) divide by 1 minus it",
    ),
    Condition("eta <= 1/(2L)", at_most(eta, 1 / (2 * L)), "after (27)", "the non-convex A_2 part, (29)"),
    Condition(
        "8 K^2 eta_l^2 c <= 1",
        at_most(8 * K**2 * eta_l**2 * c_O, 1),
        "before (31)",
        "(31); it has no L, so that it depends on the units of w",
    ),
    Condition(
        "(L^2 + 1) c < 1 + p_t/2",
        below((L**2 + 1) * c_O, 1 + p_t / 2),
        "(32), c_0 < 0 in App. B.5",
        "the non-convex rates: the factor of ||grad f||^2 in (32) is negative",
    ),
    Condition(
        "T >= 1/(2 eta mu)",
        at_most(1 / (2 * eta), mu * T),
        "Lemma A.1",
        "the strongly convex rates; with mu = 0 never",
    ),
)
