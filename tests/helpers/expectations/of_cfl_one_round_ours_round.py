"""What the checks of `cfl.one_round.ours.round` must find and reject."""

from __future__ import annotations

import sympy as sp
from expecting import Expectation
from planting import MORE, built, related

from cflag_theory.claims.cfl.one_round.ours import round as claim

EXPECTED = {
    "ours.cfl_round": Expectation(
        "holds holds",
        undrawn={"1": "moments along noisy local steps", "2": "moments along noisy local steps"},
        plants=(
            *built(278 * MORE / 245, verdict="open"),
            # What the proof uses gives 33/10 too.
            *built(2, (1, sp.Rational(16, 5)), verdict="open"),
            # Small steps towards a client's own minimiser.
            *related("without the bias", right=lambda side: side.subs({claim.bias: 0})),
        ),
    ),
}
