"""What the checks of `c_flag.union.surrogate` must find and reject."""

from __future__ import annotations

from expecting import Expectation
from planting import built, related, scaled, shifted

from cflag_theory.claims.c_flag.union import surrogate as claim
from cflag_theory.claims.engine.notation import L, beta

EXPECTED = {
    "cflag.eq71": Expectation(
        "holds typo typo",
        plants=(
            *built({"lead": "1499/100"}, {"inverse_limit": 3}),
            *built({"lead": 0}, part="decrease", on="repair"),
            *shifted(-2 * beta * claim.h(claim.t) ** 2, part="strict", on="repair"),
        ),
    ),
    "cflag.eq74": Expectation(
        "holds typo",
        undrawn={"1": "runs over many rounds"},
        plants=(
            *related("15 for 30", right=15 * L / claim.T * claim.printed_sum),
            *scaled(2, "2", on="repair"),
        ),
    ),
}
