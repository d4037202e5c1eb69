"""What the checks of `c_flag.problem.ours.memory` must find and reject."""

from __future__ import annotations

from expecting import Expectation
from planting import related

from cflag_theory.claims.c_flag.problem import objective as problem

EXPECTED = {
    "ours.eq3": Expectation(
        "holds holds",
        plants=related("without the remainder", left=problem.h, right=problem.decomposed(problem.f, problem.g)),
    ),
}
