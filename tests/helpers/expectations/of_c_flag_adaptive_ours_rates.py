"""What the checks of `c_flag.adaptive.ours.rates` must find and reject."""

from __future__ import annotations

import sympy as sp
from expecting import Expectation
from planting import related, scaled, shifted, without

from cflag_theory.claims.c_flag.adaptive.ours import rates as claim
from cflag_theory.claims.engine.notation import L, f_before

EXPECTED = {
    "ours.adaptive_clients": Expectation(
        "holds", undrawn={"1": "shares of memory, or sets of clients"}, plants=shifted(-L * claim.moved2 / 1000)
    ),
    "ours.adaptive_descent": Expectation(
        "holds holds",
        undrawn={"round": "shares of memory, or sets of clients"},
        plants=(
            *related(
                "a thousandth more decrease",
                right=f_before - sp.Rational(1001, 1000) * claim.decrease * claim.size_f**2,
                part="round",
            ),
            *scaled("11/10", "run", left=True),
            *without("alpha", "rate", "(27)", part="round", verdict="open"),
        ),
    ),
}
