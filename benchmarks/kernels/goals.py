"""The goals of the project, each met or not met, with what the machine's ceilings would allow."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.kernels.contest import JAX, LOOP, TORCH, C, Contest
from benchmarks.kernels.costs import Cost

#: Least ratio of a peer's time to ours, in batches of replicas that share data and in single runs.
BATCHES = {JAX: 3.0, TORCH: 5.0, LOOP: 50.0, C: 1.1}
SINGLE = {JAX: 2.0, C: 1.1}
#: Least share of the measured dgemm rate, in this case.
DGEMM, DGEMM_CASE = 0.6, "L x64"


@dataclass(frozen=True)
class Goal:
    """One goal in one case.

    Attributes
    ----------
    value, limit, at_least : float, float, bool
        What was measured, and the limit that it should reach or stay under.
    reachable : float or None
        What the ratio would be if our round took no longer than the measured ceilings allow.
    """

    name: str
    where: str
    value: float
    limit: float
    at_least: bool = True
    reachable: float | None = None

    @property
    def met(self) -> bool:
        """Whether the value keeps the limit."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    @property
    def distance(self) -> float:
        """What the value lacks to the limit, or has above it, as a share of the limit."""
        return abs(self.value - self.limit) / self.limit


def goals(contests: list[Contest], costs: list[Cost], dgemm: float) -> list[Goal]:
    """All goals that the measurements speak about."""
    found = []
    for contest in contests:
        for who, limit in (SINGLE if contest.case.R == 1 else BATCHES).items():
            row = contest.row(who)
            if row is not None and row.ratio is not None and row.timing is not None:
                most = row.timing.median / contest.bound
                found.append(Goal(f"{who} over ours", contest.case.name, row.ratio[0], limit, True, most))
        if contest.case.name == DGEMM_CASE:
            found.append(Goal("share of dgemm", contest.case.name, contest.flop_rate / dgemm, DGEMM))
    for cost in costs:
        if cost.limit is not None:
            found.append(Goal(cost.name, cost.where, cost.median, cost.limit, cost.at_least))
    return found
