"""What the checks of `cfl.rates.correlated` must find and reject."""

from __future__ import annotations

from dataclasses import replace

from cflag_theory.claims.cfl.rates.correlated import least_value
from expecting import Expectation
from planting import changed

EXPECTED = {
    "cfl.thm4_7": Expectation(
        "false false false",
        plants=changed(
            "with what the drifts share", lambda s: replace(s, relation=least_value().relation), verdict="open"
        ),
    ),
}
