"""What the checks of `cfl.experiments.ours.quadratic_model` must find and reject."""

from __future__ import annotations

from expecting import Expectation
from planting import built

from cflag_theory.claims.cfl.experiments.ours import quadratic_model as ours

EXPECTED = {
    "ours.cfl_nqm_decaying": Expectation("holds", plants=built(1, "1/2", 1 / (ours.t + 2), verdict="open")),
}
