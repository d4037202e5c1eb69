"""What the checks of `c_flag.adaptive.server` must find and reject."""

from __future__ import annotations

from expecting import Expectation
from planting import related, shifted, without

from cflag_theory.claims.c_flag.adaptive import server as claim

EXPECTED = {
    "cflag.eq16": Expectation(
        "needs-hypothesis holds needs-hypothesis holds typo",
        plants=(
            *related(
                "twice the rate", left=lambda side: side.subs({claim.beta_star: 2 * claim.beta_star}), part="minimiser"
            ),
            *shifted("1/1000", part="quadratic", on="repair"),
            *without("E", part="quadratic", on="repair"),
            *shifted("1/1000", part="value", on="repair"),
            *without("small alpha", part="step size", on="repair"),
            *without("m", part="large m"),
        ),
    ),
}
