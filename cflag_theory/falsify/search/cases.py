"""A case: a value for every variable, from coordinates in [0, 1], as fractions or floats, and as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.ranges import ORDER, REAL, Range
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
