"""Whether recursive definitions end: the size-change principle of Lee, Jones and Ben-Amram (2001).

A use leads from a defined member to one that it uses. Its `Arcs` say which index of the used member is at most an index
of the defined one, or smaller. No chain of uses is infinite if in each circle that is its own square some index
becomes smaller: indices are 0, 1, 2, ...
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

#: (place in the defined member, place in the used one, whether it is smaller there).
Arcs = frozenset[tuple[int, int, bool]]


def endless(uses: Mapping[Any, Mapping[Any, Iterable[Arcs]]]) -> set[Any]:
    """Those that use themselves, directly or not, in a way that need not end."""
    inside = {one: reachable(one, uses) for one in uses}
    edges = {(a, b, arcs) for a in uses for b in uses[a] if a in inside[b] for arcs in uses[a][b]}
    found, new = set(edges), set(edges)
    while new:
        new = {(a, c, _after(f, g)) for a, b, f in new for again, c, g in edges if again == b} - found
        found |= new
    return {a for a, b, f in found if a == b and _after(f, f) == f and not any(i == j and less for i, j, less in f)}


def _after(first: Arcs, second: Arcs) -> Arcs:
    """The arcs of two uses, one after the other."""
    return frozenset((i, j, smaller or less) for i, k, smaller in first for again, j, less in second if k == again)


def reachable(start: Any, uses: Mapping[Any, Iterable[Any]]) -> set[Any]:
    """What one uses, directly or not."""
    seen, waiting = set[Any](), [start]
    while waiting:
        more = {*uses[waiting.pop()]} - seen
        seen |= more
        waiting += more
    return seen
