"""The two meanings of f in the CFL paper: how far the sum over rounds, (2), and 𝔼 f_{t,i} of Sec. 3.3 are apart.

The model is that of `strongly_convex`. With equal weights (2) is f(w) - <m, w>, m the mean of the drifts of all N
clients and T rounds.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.rates.ours.strongly_convex import MINIMUM, averaged, f, f_now, x
from cflag_theory.claims.cfl.symbols import D2, G2, N, T
from cflag_theory.claims.cfl.symbols import mu as convexity
from cflag_theory.claims.cfl.vectors import draw, over_past
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement, setting, shown
from cflag_theory.claims.engine.notation import symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.terms import dot, norm2, vector

m = vector("mean drift of a run", "m")(draw)
y = vector("minimiser of the sum", "(w_T^*-w^*)")(draw)
LEAST = setting("minimiser of (2)", equal(f.grad(y), m), "w_T* minimises f(w) - <m, w>, which is (2).")

m2 = symbol("mean_drift2", r"\mathbb{E}\|m\|^2", over_past(norm2(m)), nonnegative=True)
y_gap = symbol("minimiser_gap", r"\mathbb{E}f(w_T^*)-f^*", over_past(f(y)) - f(0), real=True)
#: 𝔼[h(w) - h(w_T*)] with h(w) = f(w) - <m, w>.
summed = symbol(
    "sum_gap",
    r"\mathbb{E}[h(w)-h^*]",
    over_past(f(x)) - over_past(dot(m, x)) - over_past(f(y)) + over_past(dot(m, y)),
    real=True,
)
#: 𝔼||m||^2.
moment = G2 / N + D2 / (N * T)
MEAN = Fact(
    "m",
    equal(m2, moment),
    "m is the mean of delta_i + xi_{t,i}: independent, with mean zero; the delta_i stay.",
)
_WHERE = "f mu-convex, h the mean of the f_{t,i}(w) = f(w) - <delta_i + xi_{t,i}, w> over N clients and T rounds"


def _nearby(constant: Any) -> Statement:
    """(2) by 𝔼 f_{t,i}."""
    goal = at_most(convexity * summed, 2 * convexity * f_now + constant * moment)
    return shown(
        f"{_WHERE}: mu 𝔼[h(w) - h*] <= 2 mu (𝔼 f(w) - f*) + G^2/N + D^2/(N T) at any w, which may depend on the draws.",
        goal,
        *averaged("f(w)", rules.convex("f at w*, w", f, sp.S.Zero, x), MINIMUM),
        *averaged("f(y)", rules.convex("f at w*, y", f, sp.S.Zero, y), MINIMUM),
        *averaged("Young w", rules.square("||m + mu w||^2", m + convexity * x)),
        *averaged("Young y", rules.square("||m - mu y||^2", m - convexity * y)),
        given=("f(w)", "f(y)", "Young w", "Young y", "m"),
        where=(MEAN,),
    )


def _back(constant: Any) -> Statement:
    """𝔼 f_{t,i} by (2)."""
    goal = at_most(convexity * f_now, 2 * convexity * summed + constant * moment)
    return shown(
        f"{_WHERE}: mu (𝔼 f(w) - f*) <= 2 mu 𝔼[h(w) - h*] + G^2/N + D^2/(N T) at any w.",
        goal,
        *averaged("f(w)", rules.convex("f at y, w", f, y, x), LEAST),
        *averaged("f(w*)", rules.convex("f at y, w*", f, y, sp.S.Zero), LEAST),
        *averaged("Young w", rules.square("||m - mu (w - y)||^2", m - convexity * (x - y))),
        *averaged("Young y", rules.square("||m - mu y||^2", m - convexity * y)),
        given=("f(w)", "f(w*)", "Young w", "Young y", "m"),
        where=(MEAN,),
    )


def sum_over_rounds(constant: Any = 1) -> Claim:
    """The two meanings of f; `constant` is that of the drifts."""
    return Claim(
        "ours.cfl_sum_over_rounds",
        "on formulation (2) and f = 𝔼 f_{t,i} of Sec. 3.3",
        "How far the two meanings of f are apart",
        (Part("sum", _nearby(constant)), Part("expectation", _back(constant))),
        (
            "For time drifts alone a rate in 1/T for one f is one for the other; a faster rate need not be. Clients "
            "that stay leave G^2/(N mu): no floor for (2), to which they belong.",
            "Without mu > 0 there is no such bound: (2) need not have a minimum where f has one.",
        ),
    )


CLAIMS = {"ours.cfl_sum_over_rounds": sum_over_rounds}
