"""What the checks of `cfl.experiments.splitting` must find and reject."""

from __future__ import annotations

import sympy as sp
from expecting import Expectation
from planting import related, without

from cflag_theory.claims.cfl.experiments import splitting as claim

EXPECTED = {
    "cfl.alg6": Expectation(
        "typo needs-hypothesis typo needs-hypothesis",
        plants=(
            *related("one entry more", left=claim.entries, right=claim.classes + 1, verdict="open"),
            *without("enough data", part="2", on="repair"),
        ),
    ),
    "ours.cfl_test_images": Expectation(
        "holds", plants=related("one image more", left=sp.Integer(9851), right=claim.used_test)
    ),
}
