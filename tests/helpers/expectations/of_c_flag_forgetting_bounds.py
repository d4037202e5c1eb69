"""What the checks of `c_flag.forgetting.bounds` must find and reject."""

from __future__ import annotations

from cflag_theory.claims.c_flag.forgetting.terms import omega2
from expecting import Expectation
from planting import shifted

from cflag_theory.claims.c_flag.forgetting import bounds as claim

EXPECTED = {
    "cflag.eq163": Expectation(
        "holds false holds",
        plants=(
            *shifted(claim.Q_constant * omega2),
            *shifted(100, part="162", verdict="open"),
            *shifted(-100, part="step"),
        ),
    ),
}
