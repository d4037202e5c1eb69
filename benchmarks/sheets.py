"""Results as tables: one list of sheets, shown with rich or written as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .contest import PEERS, Contest, Row
from .costs import Cost
from .goals import Goal
from .growth import Growth
from .roofline import work

AT_THE_CEILING = (
    "At the ceiling: the ratio if our round took the bound of the roofline. Where that is below the limit, only code "
    "doing fewer flops, or reading fewer bytes, would meet the goal against this peer."
)


@dataclass(frozen=True)
class Sheet:
    """A table of words; the first column is a name, the others are numbers unless `text` says so."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text: frozenset[str] = frozenset()
    note: str = ""


def number(value: float) -> str:
    """Three digits, without an exponent where that is readable."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        return f"{value:.{max(0, 2 - _magnitude(value))}f}"
    return f"{value:.2e}"


def _magnitude(value: float) -> int:
    return int(f"{value:e}".partition("e")[2])


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
                "met" if goal.met else "not met",
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


def show(sheets: list[Sheet]) -> None:
    """Print the sheets as rich tables."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        # A file has no width, and 80 columns would break every cell.
        console = Console(width=150)
    for sheet in sheets:
        table = Table(title=sheet.title, title_justify="left", caption=sheet.note or None, caption_justify="left")
        for column in sheet.columns:
            table.add_column(column, justify="left" if column in sheet.text else "right")
        for row in sheet.rows:
            table.add_row(*row)
        console.print(table)


def markdown(sheets: list[Sheet]) -> Iterator[str]:
    """Lines of Markdown."""
    for sheet in sheets:
        yield f"### {sheet.title}"
        yield ""
        yield "| " + " | ".join(sheet.columns) + " |"
        yield "|" + "|".join("---" if column in sheet.text else "---:" for column in sheet.columns) + "|"
        for row in sheet.rows:
            yield "| " + " | ".join(cell.replace("|", "/") for cell in row) + " |"
        yield ""
        if sheet.note:
            yield sheet.note
            yield ""


def as_json(value: Any) -> Any:
    """Dataclasses, tuples and numpy numbers as plain values; numbers that are not finite become None."""
    from dataclasses import fields, is_dataclass
    from math import isfinite

    if is_dataclass(value) and not isinstance(value, type):
        found = {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
        derived = ("median", "spread", "met", "powers")
        return found | {name: as_json(getattr(value, name)) for name in derived if hasattr(type(value), name)}
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(item) for item in value]
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    return value
