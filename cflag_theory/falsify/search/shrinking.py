"""From a counterexample to a small one: fewer clients, components and steps, then shorter numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.ranges import INTEGER, ORDER, REAL, Range
from cflag_theory.falsify.search.cases import Case, as_fractions, inside

#: Denominators that are tried one after the other, from short to long.
LADDER = (1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 128, 256, 1024, 1 << 14, 1 << 20, 1 << 30, 1 << 52, 1 << 200)


def size(conjecture: Conjecture, case: Case) -> tuple[int, int]:
    """What shrinking lowers: first the integers that are not arrays, such as sizes, then the length of all numbers."""
    whole = [name for name, one in conjecture.variables.items() if one.kind == INTEGER and not one.shape]
    rest = sum(
        _length(entry)
        for name, value in case.items()
        if name not in whole
        for entry in (value.ravel().tolist() if isinstance(value, np.ndarray) else [value])
    )
    return sum(abs(int(case[name])) for name in whole), rest


def _length(value: Any) -> int:
    number = Fraction(value)
    negative = int(number < 0)
    return 2 * (number.numerator.bit_length() + 2 * (number.denominator.bit_length() - 1)) + negative


def shrink(
    conjecture: Conjecture, case: Case, broken: Callable[[Case], bool], *, tries: int, tick: Callable[[], None]
) -> Case:
    """The smallest case that steps downhill from this one reach within so many tries.

    Parameters
    ----------
    broken : callable
        Whether a case refutes the conjecture, in exact arithmetic.
    tries : int
        How often it may be asked.
    tick : callable
        Called after every try.
    """
    left, seen = tries, set[str]()
    found = True
    while found and left > 0:
        found = False
        for candidate in _smaller(conjecture, case):
            if left <= 0:
                break
            mark = repr(sorted((name, np.asarray(value).tolist()) for name, value in candidate.items()))
            if mark in seen or size(conjecture, candidate) >= size(conjecture, case):
                continue
            seen.add(mark)
            if inside(conjecture, candidate) is not None:
                continue
            left -= 1
            tick()
            if broken(candidate):
                case, found = candidate, True
                break
    return case


def _smaller(conjecture: Conjecture, case: Case) -> Iterator[Case]:
    """Candidates, the boldest first."""
    for name in conjecture.sizes:
        yield from _with_less(conjecture, case, name)
    yield from (as_fractions(conjecture, case, denominator) for denominator in LADDER[:8])
    free = [name for name in case if name not in conjecture.sizes and not conjecture.variables[name].fixed]
    scalars = [name for name in free if not isinstance(case[name], np.ndarray)]
    for entry in (Fraction(1), Fraction(0), Fraction(1, 2), Fraction(2)):
        # Together, because many claims are about differences and quotients.
        if all(conjecture.variables[name].holds(entry) for name in scalars):
            yield case | dict.fromkeys(scalars, entry)
    for name in free:
        value = case[name]
        if isinstance(value, np.ndarray):
            for entry in _nice(conjecture.variables[name], None):
                yield case | {name: _filled(value, entry)}
    for name in free:
        value, one = case[name], conjecture.variables[name]
        if not isinstance(value, np.ndarray):
            yield from (case | {name: entry} for entry in _nice(one, value))
            continue
        for at in np.ndindex(value.shape):
            for entry in _nice(one, value[at]):
                changed = value.copy()
                changed[at] = entry
                yield case | {name: changed}


def _filled(value: Any, entry: Any) -> Any:
    changed = value.copy()
    changed[...] = entry
    return changed


def _nice(one: Range, value: Any) -> list[Any]:
    """Shorter entries of a range, the shortest first; without a value, the few that arrays are filled with."""
    if one.kind == ORDER:
        return [0] if value is None or value > 0 else []
    if one.kind != REAL:
        found: set[Any] = {1, 0, -1, one.low}
        if value is not None:
            found |= {int(value) // 2, int(value) - 1, int(value) + 1}
    else:
        found = {Fraction(0), Fraction(1), Fraction(-1), one.low, one.high}
        if value is not None:
            found |= {Fraction(1, 2), Fraction(-1, 2)}
            found |= {one.nearest(value, denominator) for denominator in LADDER[:12]}
    shorter = [entry for entry in found if value is None or _size_of(one, entry) < _size_of(one, value)]
    inner = [entry for entry in shorter if one.holds(entry)]
    return sorted(inner, key=lambda entry: (_length(entry), entry))


def _size_of(one: Range, value: Any) -> int:
    return abs(int(value)) if one.kind == INTEGER else _length(value)


def _with_less(conjecture: Conjecture, case: Case, name: str) -> Iterator[Case]:
    """The case with a size lowered; arrays lose an entry along every axis of that size."""
    now, low = int(case[name]), int(conjecture.variables[name].low)
    if now <= low:
        return
    for index in range(now - 1, -1, -1):
        smaller: Case = dict(case) | {name: now - 1}
        for other, one in conjecture.variables.items():
            value = case[other]
            for axis, label in enumerate(one.shape):
                if label == name:
                    value = np.delete(value, index, axis=axis)
            if one.kind == ORDER and one.high == name:
                value = np.where(value > index, value - 1, np.where(value == index, 0, value))
            smaller[other] = value if other != name else now - 1
        yield smaller
