"""What the checks of `cfl.nonconvex.descent` must find and reject."""

from __future__ import annotations

from expecting import Expectation
from planting import LESS, built, related

from cflag_theory.claims.cfl.nonconvex import descent as claim

EXPECTED = {
    "cfl.nc_eq26": Expectation(
        "holds typo holds",
        undrawn={"2": "moments along noisy local steps"},
        plants=(
            *related("less information loss", right=lambda side: side.subs({claim.past: LESS * claim.past})),
            *built((4, 1), (4, "101/100"), (2, 1), part="2", on="repair"),
            *built({"limit": 2 * LESS}, part="3", verdict="open"),
        ),
    ),
}
