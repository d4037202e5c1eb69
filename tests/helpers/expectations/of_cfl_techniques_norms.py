"""What the checks of `cfl.techniques.norms` must find and reject."""

from __future__ import annotations

from cflag_theory.claims.cfl.symbols import mu
from expecting import Expectation
from planting import MORE, built, related

from cflag_theory.claims.engine.notation import L

EXPECTED = {
    "cfl.assumption1_corollary": Expectation(
        "typo holds",
        undrawn={"2": "a function, and no number of it"},
        plants=(*built(MORE / 2, on="repair"), *related("2 mu for mu", left=2 * mu, right=L, part="2")),
    ),
}
