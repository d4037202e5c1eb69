"""What the checks of `c_flag.adaptive.rescaling` must find and reject."""

from __future__ import annotations

from cflag_theory.claims.c_flag.adaptive.server import Lambda
from expecting import Expectation
from planting import related, scaled, shifted, without

from cflag_theory.claims.engine.notation import beta

EXPECTED = {
    "cflag.sec5_transference": Expectation(
        "holds holds needs-hypothesis",
        plants=(
            *related("beta Lambda in full", right=lambda side: side - beta * Lambda, part="lowers"),
            *scaled(2, "raises", left=True),
            *without("m", part=("lowers", "raises")),
            *without("transference", part="lowers"),
            *without("bias", part="learning", on="repair"),
            *shifted("-10", part="learning", on="repair"),
        ),
    ),
}
