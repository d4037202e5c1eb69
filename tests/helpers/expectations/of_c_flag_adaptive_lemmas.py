"""What the checks of `c_flag.adaptive.lemmas` must find and reject."""

from __future__ import annotations

import sympy as sp
from expecting import Expectation
from planting import shifted, without

from cflag_theory.claims.c_flag.adaptive import clients
from cflag_theory.claims.c_flag.adaptive import lemmas as claim
from cflag_theory.claims.engine.notation import L, alpha, beta


def _gain(case):
    """Gamma_ad - Gamma is what is left out minus the gain: true so, and false with more gain."""
    gain = case * L / 2 * claim.spread
    rest = claim.left_out(case)
    return (*shifted(rest - gain, verdict="open"), *shifted(rest - sp.Rational(1001, 1000) * gain))


#: A little more than what alpha_{t,i} gains, before beta Lambda_i^2.
_MORE = sp.Rational(1001, 1000) * alpha * L / clients.memory**2


EXPECTED = {
    "cflag.lemma6": Expectation(
        "typo holds",
        plants=(
            *shifted(-_MORE * beta * clients.Lambda_i**2, on="repair"),
            *shifted(-_MORE * alpha * clients.Lambda_i**2, part="equal"),
        ),
    ),
    "cflag.lemma7_average": Expectation(
        "needs-hypothesis holds",
        undrawn={"1": "shares of memory, or sets of clients", "sum": "shares of memory, or sets of clients"},
        plants=(
            *without("no interference", "rescaled", on="repair"),
            *_gain(1),
            *shifted(-_MORE * beta * claim.Lambda2_I - L / 2 * claim.spread, part="sum"),
        ),
    ),
    "cflag.lemma7_worst": Expectation(
        "needs-hypothesis typo",
        undrawn={"1": "shares of memory, or sets of clients", "sum": "shares of memory, or sets of clients"},
        plants=(
            *without("beta", on="repair"),
            *without("all transfer", "no interference", "N_T", "mean alpha", on="repair", verdict="open"),
            *_gain(clients.N),
            *shifted(-_MORE * beta * claim.Lambda2_I - L * clients.N / 2 * claim.spread, part="sum", on="repair"),
        ),
    ),
}
