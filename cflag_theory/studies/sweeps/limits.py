"""What no run may be: too large to hold, or asked for twice."""

from __future__ import annotations

from typing import Any

from cflag_theory.studies.sweeps.file import SweepFile
from cflag_theory.studies.sweeps.grid import Block, Grid
from cflag_theory.studies.sweeps.keys import same

#: Rounds and replicas of a run, and numbers that it records, which are held at once (a gigabyte or so).
MOST_ROUNDS, MOST_REPLICAS, MOST_RECORDED = 1 << 22, 100_000, 1 << 27


def check_size(file: SweepFile, block: Block) -> None:
    """Refuse runs that do not fit into memory.

    Raises
    ------
    DataError
        Too many rounds, replicas or recorded numbers in one run, with the line.
    """
    run = {key: max(values) for section, key, values in block.axes if section == "run" and key in ("T", "replicas")}
    for key, most in (("T", MOST_ROUNDS), ("replicas", MOST_REPLICAS)):
        if run[key] > most:
            own = key in file.table(block.places[2]).axes
            more = ", and more seeds" if key == "replicas" else ""
            raise file.error(
                (*block.places[2 if own else 3], key), f"{key} is {run[key]}: use at most {most} in one run{more}"
            )
    recorded = run["replicas"] * len(file.record) * -(-run["T"] // file.every)
    if recorded > MOST_RECORDED:
        raise file.error(
            ("record",),
            f"one run records {recorded} numbers and can hold {MOST_RECORDED}: raise every, or use fewer replicas and "
            "more seeds",
        )


def check_overlaps(file: SweepFile, grid: Grid) -> None:
    """Refuse tables that share runs: the same run twice would count as two samples.

    Raises
    ------
    DataError
        Two combinations of tables have a run in common; with the line of the later table.
    """
    values: dict[int, set[Any]] = {}

    def different(one: tuple[Any, ...]) -> set[Any]:
        return values.setdefault(id(one), set(map(same, one)))

    # The shortest axes first: they decide most pairs.
    blocks = [
        {axis[:2]: axis[2] for axis in sorted(block.axes, key=lambda axis: len(axis[2]))} for block in grid.blocks
    ]
    for number, later in enumerate(blocks):
        for earlier, block in zip(blocks[:number], grid.blocks, strict=False):
            if later.keys() == earlier.keys() and not any(
                different(later[key]).isdisjoint(different(earlier[key])) for key in later
            ):
                places = zip(block.places, grid.blocks[number].places, strict=True)
                table = next(mine for theirs, mine in places if mine != theirs)
                raise file.error(table, "the table asks for runs that one above asks for too: name each run once")
