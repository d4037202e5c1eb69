"""What the checks of `cfl.moments.objectives` must find and reject."""

from __future__ import annotations

from expecting import Expectation
from planting import assumed

from cflag_theory.claims.cfl.moments import objectives as claim

EXPECTED = {
    "cfl.objectives": Expectation("false", plants=assumed("mean", left=claim.w_star - claim.xi, verdict="open")),
}
