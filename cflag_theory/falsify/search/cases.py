"""A case: a value for every variable, from coordinates in [0, 1], as fractions, floats or text, and made smaller."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.ranges import INTEGER, ORDER, REAL, SIGN, Range
from cflag_theory.falsify.search.exact_numbers import Exact, Whole
from cflag_theory.kernels.numbers import Array, fraction

#: A value for every variable: integers, fractions and floats, and arrays of them.
Case = dict[str, Any]
#: More entries than this no case may have: the search would never look at most of them.
MOST_ENTRIES = 4096


def shape_of(one: Range, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The shape of a variable, with `sizes` the integer variables."""
    return tuple(sizes[size] if isinstance(size, str) else int(size) for size in one.shape)


def entries(conjecture: Conjecture, sizes: Mapping[str, int]) -> int:
    """How many coordinates a case of these sizes has; fixed entries have none."""
    return sum(count for _, _, count in _free(conjecture, sizes))


def _free(conjecture: Conjecture, sizes: Mapping[str, int]) -> Iterator[tuple[str, Range, int]]:
    for name, one in conjecture.variables.items():
        if name not in conjecture.sizes:
            fixed = one.low == one.top(dict(sizes))
            yield name, one, 0 if fixed else int(np.prod(shape_of(one, sizes), dtype=np.int64))


def case_at(conjecture: Conjecture, sizes: Mapping[str, int], u: Sequence[Any]) -> Case:
    """The case at the coordinates u: floats where u holds floats, else exact."""
    known, case, used = dict(sizes), dict[str, Any](sizes), 0
    exact = not any(isinstance(one, float) for one in u)
    for name, one, count in _free(conjecture, sizes):
        shape = shape_of(one, sizes)
        if count == 0:
            whole = one.at(Fraction(0) if exact else 0.0, known)
            flat = [whole] * int(np.prod(shape, dtype=np.int64))
        else:
            flat = [one.at(entry, known) for entry in u[used : used + count]]
            used += count
        case[name] = _array(flat, shape, one) if one.shape else flat[0]
    return case


def _array(flat: Sequence[Any], shape: tuple[int, ...], one: Range) -> Array:
    if one.kind == ORDER:
        return np.array(flat, dtype=np.int64).reshape(shape)
    out = np.empty(len(flat), dtype=object if one.kind != REAL or isinstance(flat[0], Fraction) else np.float64)
    out[:] = flat
    return out.reshape(shape)


def as_floats(conjecture: Conjecture, case: Case) -> Case:
    """The case on floats; integers, signs and orders stay what they are."""
    found = {}
    for name, value in case.items():
        if conjecture.variables[name].kind != REAL:
            found[name] = value
        else:
            found[name] = value.astype(np.float64) if isinstance(value, np.ndarray) else float(value)
    return found


def as_fractions(conjecture: Conjecture, case: Case, denominator: int) -> Case:
    """The case on fractions of at most this denominator, inside of the ranges."""
    found = {}
    for name, value in case.items():
        one = conjecture.variables[name]
        if one.kind != REAL:
            found[name] = value
        elif isinstance(value, np.ndarray):
            flat = [one.nearest(entry, denominator) for entry in value.ravel().tolist()]
            found[name] = _array(flat, value.shape, one)
        else:
            found[name] = one.nearest(value, denominator)
    return found


def for_exact(conjecture: Conjecture, case: Case) -> Case:
    """The case as a run sees it in exact arithmetic: integers whose quotients are fractions."""
    return {
        name: _each(Whole, value) if conjecture.variables[name].kind not in (REAL, ORDER) else value
        for name, value in case.items()
    }


def for_functions(conjecture: Conjecture, case: Case) -> Case:
    """The case of `for_exact` as sides and hypotheses see it: fractions that do not become floats."""
    return {
        name: _each(Exact, value) if conjecture.variables[name].kind == REAL else value for name, value in case.items()
    }


def _each(kind: Callable[[Any], Any], value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return kind(value)
    found = np.empty(value.size, dtype=object)
    found[:] = [kind(one) for one in value.ravel()]
    return found.reshape(value.shape)


def inside(conjecture: Conjecture, case: Case) -> str | None:
    """None if every value lies in its range and has its shape, else what is wrong."""
    sizes = {name: int(case[name]) for name in conjecture.sizes}
    for name, one in conjecture.variables.items():
        value = case[name]
        if np.shape(value) != shape_of(one, sizes):
            return f"{name} has shape {np.shape(value)} and its range has {shape_of(one, sizes)}"
        for entry in value.ravel().tolist() if isinstance(value, np.ndarray) else [value]:
            if not one.holds(entry, sizes):
                return f"{name} holds {entry}, which is not in {one}"
    return None


def to_text(case: Case) -> dict[str, Any]:
    """The case as JSON: numbers as strings, arrays as nested lists of them."""
    return {name: _text(value.tolist() if isinstance(value, np.ndarray) else value) for name, value in case.items()}


def _text(value: Any) -> Any:
    return [_text(one) for one in value] if isinstance(value, list) else str(value)


def from_text(conjecture: Conjecture, words: Mapping[str, Any], *, what: str) -> Case:
    """The case that `to_text` wrote."""
    if set(words) != set(conjecture.variables):
        odd = ", ".join(sorted(set(words) ^ set(conjecture.variables)))
        raise InvalidInput(f"{what} and the claim differ in the variables {odd}: use the claim that it was made from")
    case = {}
    for name, one in conjecture.variables.items():
        try:
            array = np.array(words[name])
            flat = [fraction(entry) if one.kind == REAL else int(entry) for entry in array.ravel().tolist()]
            if array.ndim != len(one.shape):
                raise ValueError
            case[name] = _array(flat, array.shape, one) if one.shape else flat[0]
        except (TypeError, ValueError, ZeroDivisionError, IndexError):
            raise InvalidInput(f"{what} holds {words[name]!r} for {name}, which cannot be read: save it anew") from None
    fault = inside(conjecture, case)
    if fault is not None:
        raise InvalidInput(f"{what} is not a case of the claim: {fault}; the claim's ranges or the file were changed")
    return case


def story(case: Case) -> tuple[str, ...]:
    """One line a variable."""
    words = to_text(case)
    return tuple(f"{name} = {_listed(value)}" for name, value in words.items())


def _listed(value: Any) -> str:
    return f"({', '.join(map(_listed, value))})" if isinstance(value, list) else str(value)


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
    """The smallest case that steps downhill from this one reach within so many tries; `broken` says in exact arithmetic
    whether a case refutes the conjecture, and `tick` is called after every try.
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


def all_cases(conjecture: Conjecture, most: int) -> list[Case] | None:
    """All cases, where they are finitely many, `most` at most."""
    variables = conjecture.variables
    if any(one.kind == REAL and not one.fixed for one in variables.values()):
        return None
    ranges = [range(int(variables[name].low), int(variables[name].high) + 1) for name in conjecture.sizes]
    if math.prod(len(one) for one in ranges) > most:
        return None
    found: list[Case] = []
    for point in product(*ranges):
        sizes = dict(zip(conjecture.sizes, point, strict=True))
        coordinates = list(_levels(conjecture, sizes, most))
        if len(found) + math.prod(len(one) for one in coordinates) > most:
            return None
        found += [case_at(conjecture, sizes, u) for u in product(*coordinates)]
    return found


def _levels(conjecture: Conjecture, sizes: dict[str, int], most: int) -> Iterator[list[Fraction]]:
    """For every free entry of a case without real variables, a coordinate for each of its values."""
    for name, one in conjecture.variables.items():
        values = one.top(sizes) - one.low + 1 if one.kind != SIGN else 2
        if name not in conjecture.sizes and values > 1:
            # One more than is allowed is enough to see that they are too many.
            count = min(int(values), most + 1)
            levels = [Fraction(2 * k + 1, 2 * int(values)) for k in range(count)]
            yield from [levels] * int(np.prod(shape_of(one, sizes), dtype=np.int64))
