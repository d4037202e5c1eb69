"""What the checks of `c_flag.problem.overfitting` must find and reject."""

from __future__ import annotations

from expecting import Expectation
from planting import MORE, built, shifted, without

from cflag_theory.claims.c_flag.problem import overfitting as claim

EXPECTED = {
    "cflag.overfitting_mean": Expectation(
        "false false false holds",
        plants=(
            *built(claim.FAMILY_VALUE * MORE, part="2", on="refutation", verdict="open"),
            *without(part="anew"),
            *shifted("1/1000000", part="anew"),
        ),
    ),
}
