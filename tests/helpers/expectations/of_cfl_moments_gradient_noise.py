"""What the checks of `cfl.moments.gradient_noise` must find and reject."""

from __future__ import annotations

from cflag_theory.claims.cfl.symbols import eta_g
from expecting import Expectation
from planting import related

from cflag_theory.claims.cfl.moments import gradient_noise as claim

EXPECTED = {
    "cfl.aggregation": Expectation(
        "typo", plants=related("half the update", left=claim.w + eta_g * claim.update / 2, on="repair")
    ),
}
