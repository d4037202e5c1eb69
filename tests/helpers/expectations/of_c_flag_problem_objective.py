"""What the checks of `c_flag.problem.objective` must find and reject."""

from __future__ import annotations

from cflag_theory.claims.c_flag.problem.update import delayed
from expecting import Expectation
from planting import related, without

from cflag_theory.claims.c_flag.problem import objective as claim
from cflag_theory.claims.engine.notation import E
from cflag_theory.verify.checks.c_flag.problem import COMPONENTS


def _refreshed(step, *computed, **where):
    """Other steps at which the three components of (5) were computed."""
    mean = sum(c(k) for c, k in zip(COMPONENTS, computed, strict=True)) / 3
    return related(f"components of steps {computed}", left=delayed(step), right=mean, **where)


EXPECTED = {
    "cflag.eq5": Expectation(
        "typo holds typo",
        plants=(
            *_refreshed(0, 0, 0, 1, on="repair"),
            *_refreshed(1, 0, 0, 0, part="2"),
            *_refreshed(2, 1, 0, 1, part="3", on="repair"),
            *_refreshed(2, 2, 0, 2, part="3", on="repair"),
        ),
    ),
    "cflag.iag_cost": Expectation(
        "holds needs-hypothesis",
        plants=(
            *related("each once", right=claim.n + E),
            *related("all in each step", right=claim.n * E),
            *related("one too many", right=2 * claim.n + E - 1),
            *without("n", "E", part="2", on="repair"),
        ),
    ),
}
