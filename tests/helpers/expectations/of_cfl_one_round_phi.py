"""What the checks of `cfl.one_round.phi` must find and reject."""

from __future__ import annotations

from cflag_theory.claims.cfl.symbols import eta
from expecting import Expectation
from planting import LESS, shifted, without

from cflag_theory.claims.cfl.one_round import phi as claim

EXPECTED = {
    "cfl.phi": Expectation(
        "false false holds",
        plants=(
            *without("one round", part="3"),
            *shifted(eta * claim.c_1 * (LESS - 1), eta**2 * claim.c_2 * (LESS - 1), part="3", verdict="open"),
        ),
    ),
}
