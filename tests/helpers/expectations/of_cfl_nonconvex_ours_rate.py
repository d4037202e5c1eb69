"""What the checks of `cfl.nonconvex.ours.rate` must find and reject."""

from __future__ import annotations

from expecting import Expectation
from planting import LESS, built, related, scaled

from cflag_theory.claims.cfl.nonconvex.ours import rate as claim

EXPECTED = {
    "ours.cfl_nonconvex": Expectation(
        "holds holds holds holds",
        undrawn=dict.fromkeys(("1", "2"), "runs over many rounds"),
        plants=(
            # With T = 40 the run itself reaches T/(T + 1).
            *built("1/2", "97/100"),
            *built({"local": 4 * LESS}, part="2", verdict="open"),
            *related("without the errors", right=lambda side: side.subs({claim.error2_mean: 0})),
            *scaled(LESS, "3", verdict="open"),
            *scaled(LESS, "4"),
        ),
    ),
}
