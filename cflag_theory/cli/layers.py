"""A layered drawing of a directed graph: boxes in rows, arrows downwards that cross no box.

Sugiyama's method: rows by longest path with at most so many boxes each, orders by barycentres of neighbours, places
by least squares under the order, which pooling of adjacent violators solves exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

Edge = tuple[str, str]
#: A box is a name; where an arrow passes a row, it has a place there, named by the arrow and the row.
Place = str | tuple[str, str, int]
_SWEEPS = 24
_SETTLING = 101


@dataclass(frozen=True)
class Drawing:
    """Where boxes and arrows are."""

    #: Middle of the upper side of each box.
    at: dict[str, tuple[float, float]]
    #: Points of each arrow, from the lower side of a box to the upper
    #: side of another: after the first one, pairs at the foot of a row and at the top of the next, so that curves lie
    #: between rows only.
    paths: dict[Edge, list[tuple[float, float]]]
    #: Of the whole drawing; it begins at (0, 0).
    width: float
    height: float


def draw(
    nodes: Sequence[str],
    edges: Sequence[Edge],
    *,
    width: float,
    heights: Mapping[str, float],
    gaps: tuple[float, float] = (14.0, 36.0),
    most: int = 6,
) -> Drawing:
    """Place boxes so that arrows, `edges` from the upper to the lower box, go down; in a circle, arrows against the
    given order go up.

    `nodes` are in the order in which they are read, which breaks ties. All boxes have one width; those of a row, `most`
    at most, begin at the same height. `gaps` are the least distances between boxes in a row, and between rows.
    """
    if not nodes:
        return Drawing({}, {}, 0.0, 0.0)
    row = _rows(nodes, edges, most)
    rows, links = _with_passages(nodes, edges, row)
    rows = _ordered(rows, links)
    across = _across(rows, links, width, gaps[0])
    low = min(across[one] - _half(one, width) for line in rows for one in line)
    x = {one: place - low for one, place in across.items()}
    tops, foot = [], 0.0
    feet = []
    for line in rows:
        tops.append(foot)
        feet.append(foot + max(heights[one] for one in line if isinstance(one, str)))
        foot = feet[-1] + gaps[1]
    paths = {}
    for upper, lower in edges:
        points = [(x[upper], tops[row[upper]] + heights[upper])]
        if row[upper] < row[lower]:
            points.append((x[upper], feet[row[upper]]))
        for level in range(row[upper] + 1, row[lower]):
            here = x[upper, lower, level]
            points += [(here, tops[level]), (here, feet[level])]
        paths[upper, lower] = [*points, (x[lower], tops[row[lower]])]
    at = {one: (x[one], tops[row[one]]) for one in nodes}
    return Drawing(at, paths, max(x[one] + _half(one, width) for line in rows for one in line), feet[-1])


def _half(one: Place, width: float) -> float:
    return width / 2 if isinstance(one, str) else 2.0


def _rows(nodes: Sequence[str], edges: Sequence[Edge], most: int) -> dict[str, int]:
    """The row of each box: below all that leads to it, near to what it leads to, and no row overfull."""
    above: dict[str, list[str]] = {one: [] for one in nodes}
    below: dict[str, list[str]] = {one: [] for one in nodes}
    for upper, lower in edges:
        above[lower].append(upper)
        below[upper].append(lower)
    row: dict[str, int] = {}
    count: dict[int, int] = {}
    waiting = list(nodes)
    while waiting:
        # The first whose upper neighbours are placed; in a circle the first of all.
        one = next((one for one in waiting if all(other in row for other in above[one])), waiting[0])
        waiting.remove(one)
        level = max((row[other] + 1 for other in above[one] if other in row), default=0)
        while count.get(level, 0) >= most:
            level += 1
        row[one] = level
        count[level] = count.get(level, 0) + 1
    for one in sorted(nodes, key=lambda one: -row[one]):
        if len(below[one]) > len(above[one]):
            for level in range(min(row[other] for other in below[one]) - 1, row[one], -1):
                if count.get(level, 0) < most:
                    count[row[one]] -= 1
                    row[one] = level
                    count[level] = count.get(level, 0) + 1
                    break
    used = {level: place for place, level in enumerate(sorted(set(row.values())))}
    return {one: used[level] for one, level in row.items()}


def _with_passages(
    nodes: Sequence[str], edges: Sequence[Edge], row: dict[str, int]
) -> tuple[list[list[Place]], list[tuple[Place, Place]]]:
    """The rows with a place for every arrow that passes them, and the links between neighbouring rows."""
    rows: list[list[Place]] = [[] for _ in range(max(row.values()) + 1)]
    for one in nodes:
        rows[row[one]].append(one)
    links: list[tuple[Place, Place]] = []
    for upper, lower in edges:
        if row[upper] < row[lower]:
            passages: list[Place] = [(upper, lower, level) for level in range(row[upper] + 1, row[lower])]
            for level, passage in enumerate(passages, row[upper] + 1):
                rows[level].append(passage)
            links += pairwise([upper, *passages, lower])
    return rows, links


def _ordered(rows: list[list[Place]], links: Sequence[tuple[Place, Place]]) -> list[list[Place]]:
    """The rows in the order with the fewest crossings that was met."""
    above, below = _neighbours(rows, links)
    best, fewest = rows, _crossings(rows, below)
    for sweep in range(_SWEEPS):
        near, levels = (above, range(1, len(rows))) if sweep % 2 == 0 else (below, range(len(rows) - 2, -1, -1))
        rows = list(rows)
        for level in levels:
            beside = rows[level - 1 if sweep % 2 == 0 else level + 1]
            place = {one: index for index, one in enumerate(beside)}
            centre = {
                one: sum(place[other] for other in near[one]) / len(near[one]) if near[one] else float(index)
                for index, one in enumerate(rows[level])
            }
            rows[level] = sorted(rows[level], key=centre.__getitem__)
        if (count := _crossings(rows, below)) < fewest:
            best, fewest = rows, count
    return best


def _neighbours(
    rows: Sequence[Sequence[Place]], links: Sequence[tuple[Place, Place]]
) -> tuple[dict[Place, list[Place]], dict[Place, list[Place]]]:
    above: dict[Place, list[Place]] = {one: [] for line in rows for one in line}
    below: dict[Place, list[Place]] = {one: [] for line in rows for one in line}
    for upper, lower in links:
        above[lower].append(upper)
        below[upper].append(lower)
    return above, below


def _crossings(rows: Sequence[Sequence[Place]], below: dict[Place, list[Place]]) -> int:
    found = 0
    for upper, lower in pairwise(rows):
        place = {one: index for index, one in enumerate(lower)}
        ends = [end for one in upper for end in sorted(place[other] for other in below[one])]
        found += sum(first > second for index, first in enumerate(ends) for second in ends[index + 1 :])
    return found


def _across(
    rows: Sequence[Sequence[Place]], links: Sequence[tuple[Place, Place]], width: float, gap: float
) -> dict[Place, float]:
    """Places across: near the mean of the neighbours, in order, and far enough apart."""
    above, below = _neighbours(rows, links)
    x: dict[Place, float] = {}
    offsets = []
    for line in rows:
        offset = [0.0]
        for left, right in pairwise(line):
            apart = gap if isinstance(left, str) or isinstance(right, str) else gap / 2
            offset.append(offset[-1] + _half(left, width) + _half(right, width) + apart)
        offsets.append(offset)
        x |= {one: place - offset[-1] / 2 for one, place in zip(line, offset, strict=True)}
    for sweep in range(_SETTLING):
        levels = range(len(rows)) if sweep % 2 == 0 else range(len(rows) - 1, -1, -1)
        # At last an arrow that passes rows follows its upper end, and does not lean all the way.
        straight = sweep % 2 == 0 and sweep > _SETTLING - 8
        for level in levels:
            line, offset = rows[level], offsets[level]
            wanted, weight = [], []
            for one in line:
                # Long arrows are straight before boxes are centred.
                beside = above[one] if straight and not isinstance(one, str) else [*above[one], *below[one]]
                near = [(x[other], _pull(one, other)) for other in beside]
                total = sum(pull for _, pull in near)
                wanted.append(sum(place * pull for place, pull in near) / total if near else x[one])
                weight.append(total or 1.0)
            free = _monotone([place - shift for place, shift in zip(wanted, offset, strict=True)], weight)
            x |= {one: place + shift for one, place, shift in zip(line, free, offset, strict=True)}
    return x


def _pull(*ends: Place) -> float:
    return (1.0, 2.0, 8.0)[sum(not isinstance(one, str) for one in ends)]


def _monotone(wanted: Sequence[float], weight: Sequence[float]) -> list[float]:
    """The non-decreasing numbers nearest to those that are wanted, in the mean square."""
    pools: list[tuple[float, float, int]] = []
    for value, heavy in zip(wanted, weight, strict=True):
        pools.append((value, heavy, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (first, one, few), (second, other, more) = pools[-2:]
            pools[-2:] = [((first * one + second * other) / (one + other), one + other, few + more)]
    return [value for value, _, count in pools for _ in range(count)]
