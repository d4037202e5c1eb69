"""The tables about the kernels."""

from __future__ import annotations

from benchmarks.kernels.contest import PEERS, Contest, Row
from benchmarks.kernels.costs import Cost
from benchmarks.kernels.goals import Goal
from benchmarks.kernels.growth import Growth
from benchmarks.kernels.roofline import work
from benchmarks.sheets import Sheet, number

AT_THE_CEILING = (
    "At the ceiling: the ratio if our round took the bound of the roofline. Where that is below the limit, only code "
    "doing fewer flops, or reading fewer bytes, would meet the goal against this peer."
)


def ratio_sheet(contests: list[Contest]) -> Sheet:
    """The table of ratios: a case a row, a peer a column."""
    rows = []
    for contest in contests:
        cells = [_ratio_cell(contest.row(who)) for who in PEERS]
        rows.append((contest.case.name, number(contest.seconds * 1e6), contest.ours.removeprefix("ours "), *cells))
    return Sheet(
        "Time of each peer over ours: median (least to largest) of the repetitions",
        ("case", "ours, us", "mode", *PEERS),
        tuple(rows),
        frozenset({"case", "mode"}),
        "Microseconds a round of one replica, one thread, float64; above 1 the peer is slower. Every peer in its "
        "fastest form.",
    )


def _ratio_cell(row: Row | None) -> str:
    if row is None:
        return ""
    if row.ratio is None:
        return row.note
    return f"{number(row.ratio[0])} ({number(row.ratio[1])} to {number(row.ratio[2])})"


def time_sheet(contests: list[Contest]) -> Sheet:
    """Every contestant of every case with its time, spread, form and distance."""
    rows = []
    for contest in contests:
        for row in contest.rows:
            if row.timing is None or row.error is None:
                rows.append((contest.case.name, row.who, "", "", "", "", "", "", row.note))
                continue
            timing = row.timing
            rows.append(
                (
                    contest.case.name,
                    row.who,
                    number(timing.median * 1e6),
                    f"{timing.spread:.0%}",
                    f"{timing.busy:.0%}",
                    number(timing.call * 1e3),
                    str(timing.rounds),
                    f"{row.error:.0e}",
                    row.form,
                )
            )
    return Sheet(
        "Times",
        ("case", "who", "us", "spread", "busy", "call, ms", "rounds", "distance", "form"),
        tuple(rows),
        frozenset({"case", "who", "form"}),
        "Spread: half the range over the median. Busy: share of the time in which this process had its core; well "
        "below 100% the machine was not quiet, and nothing here counts. Call: what a call costs besides its rounds. "
        "Distance: largest difference of the iterates from ours in bitwise mode, over the largest entry; float32 is "
        "not held to 1e-10.",
    )


def roofline_sheet(contests: list[Contest], ceilings: dict[str, float]) -> Sheet:
    """What a round needs by formula, at which rate we do it, and what the ceilings would allow."""
    rows = []
    for contest in contests:
        needs, R = work(contest.case), contest.case.R
        rows.append(
            (
                contest.case.name,
                number(needs.flops / R / 1e6),
                number(needs.bytes / R / 1e6),
                number(contest.flop_rate / 1e9),
                f"{contest.flop_rate / ceilings['dgemm']:.0%}",
                number(needs.bytes / R / contest.seconds / 1e9),
                number(contest.bound * 1e6),
                contest.binds,
                f"{contest.bound / contest.seconds:.0%}",
            )
        )
    columns = ("case", "Mflop", "MB", "Gflop/s", "of dgemm", "GB/s", "bound, us", "binds", "of bound")
    note = ", ".join(f"{name} {number(rate / 1e9)}" for name, rate in ceilings.items())
    return Sheet(
        "Roofline of our fastest row, a round of one replica",
        columns,
        tuple(rows),
        frozenset({"case", "binds"}),
        f"Measured ceilings of one thread, Gflop/s and GB/s (read: arrays of so many bytes): {note}.",
    )


def goal_sheet(found: list[Goal]) -> Sheet:
    """Every goal with its value, and whether it is met."""
    rows = []
    for goal in found:
        rows.append(
            (
                goal.name,
                goal.where,
                number(goal.value),
                f"{'>=' if goal.at_least else '<='} {goal.limit:g}",
                "met" if goal.met else f"not met, by {goal.distance:.0%}",
                "" if goal.reachable is None else number(goal.reachable),
            )
        )
    return Sheet(
        "Goals",
        ("goal", "where", "measured", "limit", "", "at the ceiling"),
        tuple(rows),
        frozenset({"goal", "where", ""}),
        "" if all(goal.reachable is None for goal in found) else AT_THE_CEILING,
    )


def growth_sheet(found: list[Growth]) -> Sheet:
    """Powers with which the time grows along every axis."""
    names = list(dict.fromkeys(who for growth in found for who in growth.seconds))
    rows = []
    for growth in found:
        for who in names:
            times = " ".join(number(seconds * 1e6) for seconds in growth.seconds[who])
            rows.append((growth.axis, who, " ".join(map(str, growth.values)), times, f"{growth.powers[who]:.2f}"))
    return Sheet(
        "Growth of the time of a round of all replicas",
        ("axis", "who", "values", "us", "power"),
        tuple(rows),
        frozenset({"axis", "who", "values", "us"}),
        "About N = 10, n = 200, d = 50, E = 10, 16 replicas. Power: slope of log time on log value.",
    )


def cost_sheet(found: list[Cost]) -> Sheet:
    """What our kernels cost besides a round."""
    rows = tuple(
        (
            cost.name,
            cost.where,
            number(cost.median),
            cost.unit,
            f"{number(min(cost.values))} to {number(max(cost.values))}",
        )
        for cost in found
    )
    return Sheet(
        "Costs of our kernels", ("what", "where", "median", "", "range"), rows, frozenset({"what", "where", ""})
    )
