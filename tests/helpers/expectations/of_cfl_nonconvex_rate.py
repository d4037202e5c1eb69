"""What the checks of `cfl.nonconvex.rate` must find and reject."""

from __future__ import annotations

from cflag_theory.claims.cfl.symbols import D2
from expecting import Expectation
from planting import built, scaled

EXPECTED = {
    "cfl.nc_rate": Expectation(
        "needs-hypothesis false false typo typo typo typo",
        undrawn={"1a": "runs over many rounds"},
        plants=(
            *built(D2 / 2, part="3", on="repair"),
            *scaled(2, "1a", left=True, on="refutation", verdict="open"),
            *built((D2, 1), part="1c", on="refutation", verdict="open"),
        ),
    ),
}
