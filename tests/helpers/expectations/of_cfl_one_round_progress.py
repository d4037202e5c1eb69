"""What the checks of `cfl.one_round.progress` must find and reject."""

from __future__ import annotations

from expecting import Expectation
from planting import shifted

from cflag_theory.claims.cfl.one_round import progress as claim
from cflag_theory.claims.engine.notation import L

EXPECTED = {
    "cfl.eq10": Expectation("typo typo", plants=shifted(-L * claim.step**2 / 2, part="2", on="repair")),
}
