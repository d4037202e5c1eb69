"""What the checks of `c_flag.local_steps.drift` must find and reject."""

from __future__ import annotations

import sympy as sp
from expecting import Expectation
from planting import built, related

from cflag_theory.claims.engine.notation import beta, grad_g, k

EXPECTED = {
    "cflag.lemma13": Expectation(
        "loose",
        reached={"1": 0.99},
        plants=(
            *built("11/10", "9/8", 1, "1/2"),
            # No finite E attains the constant, so that no instance refutes what is just below it.
            *built("113/100", verdict="open"),
            *built(4, 2, "8/7", 4 * (sp.exp(sp.Rational(1, 4)) - 1), verdict="holds"),
            *related("k - 1 for k", right=beta * (k - 1) * grad_g),
        ),
    ),
}
