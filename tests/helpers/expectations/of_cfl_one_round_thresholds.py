"""What the checks of `cfl.one_round.thresholds` must find and reject."""

from __future__ import annotations

from cflag_theory.claims.cfl.symbols import eta
from expecting import Expectation
from planting import LESS, related

from cflag_theory.claims.cfl.one_round import thresholds as claim

EXPECTED = {
    "cfl.step6": Expectation(
        "typo needs-hypothesis",
        plants=related("less than nothing left", left=claim.LEFT, right=(LESS - 1) * eta, on="repair"),
    ),
}
