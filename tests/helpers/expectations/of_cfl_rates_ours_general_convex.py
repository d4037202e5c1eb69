"""What the checks of `cfl.rates.ours.general_convex` must find and reject."""

from __future__ import annotations

import sympy as sp
from expecting import Expectation
from planting import LESS, built

EXPECTED = {
    "ours.cfl_general_convex": Expectation(
        "holds holds",
        undrawn={"rounds": "runs over many rounds"},
        plants=built(sp.E * LESS, part="rounds", verdict="open"),
    ),
}
