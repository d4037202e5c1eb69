"""What the checks of `cfl.weights.independent` must find and reject."""

from __future__ import annotations

from cflag_theory.claims.cfl.weights.independent import shared
from expecting import Expectation
from planting import MORE, related, scaled

EXPECTED = {
    "cfl.eq33": Expectation(
        "holds",
        plants=(
            *related("without what the drifts share", right=lambda side: side.subs({shared: 0})),
            *scaled(MORE, left=True),
        ),
    ),
}
