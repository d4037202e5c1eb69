"""What the checks of `c_flag.adaptive.clients` must find and reject."""

from __future__ import annotations

import sympy as sp
from expecting import Expectation
from planting import built, related, shifted, without

from cflag_theory.claims.c_flag.adaptive import clients as claim
from cflag_theory.claims.engine.notation import L, alpha, beta

EXPECTED = {
    "cflag.eq188": Expectation(
        "holds typo",
        plants=(
            *shifted("-1/1000"),
            *built(claim.N - sp.Rational(1, 1000)),
            *shifted("-1/1000", part="2", on="repair"),
        ),
    ),
    "cflag.table1_interference": Expectation(
        "needs-hypothesis holds",
        plants=(
            # The gain is alpha beta L Lambda_i^2 / ||grad_f_memory||^2 exactly; half as much again is too much.
            *shifted(
                -sp.Rational(3, 2) * alpha * beta * L * claim.Lambda_i**2 / claim.memory**2,
                part="lowers",
            ),
            *without("norms", part="feasible", on="repair"),
            *built("101/50", part="feasible", on="repair"),
        ),
    ),
    "cflag.table1_transference": Expectation(
        "holds holds needs-hypothesis holds",
        plants=(
            # At twice the minimiser's rate some other rate is better.
            *related(
                "twice the rate",
                left=lambda side: side.subs({claim.beta_i: 2 * claim.beta_i}),
                part=("average", "worst"),
            ),
            *without("small alpha", part="step size", on="repair"),
            *without("m", part="large m"),
        ),
    ),
}
