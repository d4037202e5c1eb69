"""What the checks of `cfl.rates.weighted_means` must find and reject."""

from __future__ import annotations

from cflag_theory.claims.cfl.symbols import D2, R2, t
from expecting import Expectation
from planting import MORE, built, related

EXPECTED = {
    "cfl.partial_fraction": Expectation(
        "holds",
        plants=(*built(-1, 0, MORE), *related("t for its pole", right=R2 / (R2 + D2) + D2**2 / (R2 + D2) ** 2 / t)),
    ),
}
