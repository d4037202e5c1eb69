"""The splitting algorithms run as printed and as repaired, over every sequence of draws of small instances."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement, pairwise, product

import sympy as sp

from cflag_theory.claims.engine.claim import Claim
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence


@dataclass(frozen=True)
class _State:
    """Where Algorithm 6 is: data left by class, G, the number of entries of theta, and the sizes of the D_m so far."""

    left: tuple[int, ...]
    G: tuple[int, ...]
    entries: int
    filled: tuple[int, ...]


#: The changes that Algorithm 6 needs: an index for each class, theta without the empty class, theta anew over G.
INDEX, DELETE, REDRAW = "G = [0, ..., len(S) - 1]", "entry i deleted from theta", "theta drawn over G"
ALL = frozenset({INDEX, DELETE, REDRAW})


def split(sizes: Sequence[int], clients: int, size: Fraction, changes: frozenset[str] = ALL) -> tuple[int, list[str]]:
    """Follow Algorithm 6 with some changes through every sequence of classes that has a positive probability.

    theta is positive on all of its entries, as a Dirichlet draw is. Returns the number of states in which the algorithm
    ends, and a story for every state and draw in which it fails.
    """
    ended, failures = 0, []
    G = tuple(range(len(sizes) + (INDEX not in changes)))
    stories = {_State(tuple(sizes), G, len(sizes), (0,)): ""}
    waiting = [*stories]
    while waiting:
        state = waiting.pop()
        story = stories[state]
        if state.filled[-1] >= size:
            if len(state.filled) == clients:
                ended += 1
                continue
            # Line 5: a new theta, over all classes as printed.
            entries = len(state.G) if REDRAW in changes else len(sizes)
            state = replace(state, entries=entries, filled=(*state.filled, 0))
        if not state.entries:
            failures.append(f"{story} nothing is left to draw")
        for i in range(state.entries):
            told = f"{story} client {len(state.filled)} draws i = {i};"
            after = _pass(state, i, DELETE in changes)
            if isinstance(after, str):
                failures.append(f"{told} {after}")
            elif after not in stories:
                stories[after] = told
                waiting.append(after)
    return ended, failures


def _pass(state: _State, i: int, deletes: bool) -> _State | str:
    """Lines 8 to 15 of Algorithm 6, or what stops them."""
    if i >= len(state.G):
        return f"G has only {len(state.G)} entries"
    y = state.G[i]
    if y >= len(state.left):
        return f"G[{i}] = {y} is not a class"
    if not state.left[y]:
        return f"class {y} is empty"
    left = tuple(count - (c == y) for c, count in enumerate(state.left))
    filled = (*state.filled[:-1], state.filled[-1] + 1)
    if left[y]:
        return replace(state, left=left, filled=filled)
    # Algorithm 5 returns as many weights as it gets.
    return _State(left, tuple(c for c in state.G if c != y), state.entries - deletes, filled)


#: Up to three classes of up to three data, and all M and N <= 3 that there are data for.
_INSTANCES = tuple(
    (sizes, clients, Fraction(size))
    for classes in (1, 2, 3)
    for sizes in combinations_with_replacement((1, 2, 3), classes)
    for clients, size in product((1, 2, 3), repeat=2)
    if clients * size <= sum(sizes)
)


def failing(changes: frozenset[str]) -> list[str]:
    """The instances on which Algorithm 6 with these changes can fail, each with its shortest story, shortest first."""
    stories = []
    for sizes, clients, size in _INSTANCES:
        found = split(sizes, clients, size, changes)[1]
        if found:
            shortest = min(found, key=len)
            stories.append(f"classes of {', '.join(map(str, sizes))} data, M = {clients}, N = {size}:{shortest}.")
    return sorted(stories, key=len)


def _alg6(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    """All small instances with enough data; and the inner call of Algorithm 4."""
    failures = failing(frozenset({INDEX}))
    halves = ", ".join(f"{len(failing(frozenset({INDEX, change})))} with {change}" for change in (DELETE, REDRAW))
    summary = (
        f"With {INDEX} the algorithm can fail on {len(failures)} of {len(_INSTANCES)} instances, still on {halves}: "
        f"{failures[:1]}"
    )
    data = {"instance": failures[:3], "exact": True, "cases": len(_INSTANCES)}
    yield Evidence("enumeration", "3", "printed", REFUTES if failures else SUPPORTS, summary, data)
    wrong = failing(ALL)
    summary = (
        f"Through every sequence of draws the repaired algorithm ends, on all {len(_INSTANCES)} splits of at most "
        "three classes of at most three data with M, N <= 3."
    )
    data = {"exact": True, "cases": len(_INSTANCES), "instance": wrong}
    yield Evidence("enumeration", "3", "repair", REFUTES if wrong else SUPPORTS, summary, data)
    # Ten data in T = 3 subsets: N_local = 10/3, so that each subset takes four.
    fractional = split((10,), 3, Fraction(10, 3))[1]
    whole = split((10,), 3, Fraction(10 // 3))[1]
    finding = REFUTES if fractional and not whole else SUPPORTS
    summary = "Algorithm 4 with ten data of one class and T = 3 runs out of data with N_local = 10/3, not with 3."
    yield Evidence("enumeration", "2", "printed", finding, summary, {"instance": fractional, "exact": True, "cases": 1})


def windows(step: int, *, size: int = 285, count: int = 30) -> list[int]:
    """Starts of the windows until the next would pass the end of the client's sequence of images."""
    return list(range(0, size * count - size + 1, step))


def _setup(subject: Claim, seed: int, count: int) -> Iterator[Evidence]:
    agree = 210 == 7 * 30
    yield Evidence(
        "recomputation", "1", "printed", SUPPORTS if agree else REFUTES, "7 times 30 is 210.", {"compared": 1}
    )
    shares, wrong = [], []
    for step, stated in ((285, 0), (213, 25), (142, 50)):
        starts = windows(step)
        overlaps = {max(0, a + 285 - b) for a, b in pairwise(starts)}
        if len(overlaps) != 1:
            wrong.append(f"s = {step}: overlaps of {sorted(overlaps)}")
        share = 100 * sp.Rational(overlaps.pop(), 285)
        shares.append(f"{float(share):.2f}% over {len(starts)} windows")
        if abs(share - stated) > sp.Rational(1, 2):
            wrong.append(f"s = {step}: {float(share):.2f}% instead of {stated}%")
    summary = f"Steps of 285, 213 and 142 make {', '.join(shares)}."
    yield Evidence(
        "recomputation", "3", "printed", REFUTES if wrong else SUPPORTS, summary, {"instance": wrong, "compared": 3}
    )


CHECKS = {
    "cfl.alg6": Check(further=_alg6),
    "cfl.setup_overlap": Check(further=_setup),
}
