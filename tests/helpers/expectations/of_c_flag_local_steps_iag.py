"""What the checks of `c_flag.local_steps.iag` must find and reject."""

from __future__ import annotations

from cflag_theory.claims.c_flag.local_steps.iag import before
from expecting import Expectation
from planting import built, related, scaled

from cflag_theory.claims.engine.notation import beta, grad_g, k

EXPECTED = {
    "cflag.eq129": Expectation(
        "loose typo",
        reached={"1": 1},
        plants=(
            *scaled("99/100", "2"),
            *built(1, verdict="open"),
            *related("the maximum at most beta k", left=before(k), right=beta * k * grad_g),
        ),
    ),
}
