"""What the checks of `c_flag.forgetting.terms` must find and reject."""

from __future__ import annotations

import sympy as sp
from expecting import Expectation
from planting import built

EXPECTED = {
    "cflag.eq151": Expectation(
        "typo needs-hypothesis needs-hypothesis",
        plants=(
            *built((0, "127/100"), on="repair"),
            *built((0, "127/100"), part="2", on="repair"),
            *built({"third": sp.Rational(469, 1000) ** 2}, part="3", on="repair"),
        ),
    ),
}
