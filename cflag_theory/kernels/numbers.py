"""The number types that all kernels share: arrays, and which Python values count as numbers."""

from __future__ import annotations

import math
import os
import re
import sys
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cflag_theory.errors import InvalidInput
from cflag_theory.public import Rule, quoted

Array = NDArray[Any]
Ints = NDArray[np.int64]
#: Slow to ask for.
CORES = os.cpu_count() or 1


_NUMBER = re.compile(r"[+-]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?)", re.ASCII)
_HEXADECIMAL = re.compile(r"-?0x[0-9a-f]+/0x0*[1-9a-f][0-9a-f]*", re.ASCII)


def fraction(text: Any) -> Fraction:
    """A number of a file, such as -3/4, 0.25 or 1e-5, or two integers in hexadecimal."""
    if not isinstance(text, str):
        raise ValueError(f"{text!r} is not text")
    if _HEXADECIMAL.fullmatch(text):
        numerator, denominator = (int(part, 16) for part in text.split("/"))
        return Fraction(numerator, denominator)
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is not a number")
    try:
        return Fraction(text)
    except ZeroDivisionError as error:
        raise ValueError(f"{text[:40]!r} divides by 0") from error


def exact(value: Any) -> Fraction:
    """What `EXACT` allows, as a fraction."""
    return Fraction(value) if type(value) is int else fraction(value)


def _is_exact(value: Any) -> bool:
    try:
        return abs(exact(value)) <= sys.float_info.max
    except ValueError:
        return False


#: Numbers within the floats that a file holds exactly.
EXACT = Rule(_is_exact, 'an integer, or a number in quotes such as "1/3"')


def written(value: Any) -> str:
    """A number as `fraction` reads it."""
    try:
        return str(value)
    # Python writes no longer integers in decimals.
    except ValueError:
        return f"{value.numerator:#x}/{value.denominator:#x}"


def is_finite_real(value: Any) -> bool:
    """Whether `value` is a real number (no truth value) other than an infinity or NaN."""
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    # Of an integer or a fraction beyond the floats.
    except OverflowError:
        return False


def is_integer(value: Any) -> bool:
    """Whether `value` is an integer and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def at_least(name: str, value: Any, smallest: int) -> int:
    """An integer from `smallest` that fits into 63 bits."""
    if not is_integer(value) or value < smallest:
        raise InvalidInput(f"{name} is {quoted(value)}: use an integer of at least {smallest}")
    if value >= 1 << 63:
        raise InvalidInput(f"{name} is {quoted(value)}: use an integer below 2^63")
    return int(value)


def floats(array: Array) -> Array:
    """A contiguous float64 array that can be written to: one type, one compilation, also of read-only arrays."""
    return np.require(array, np.float64, ("C", "W"))


def integers(array: Ints) -> Ints:
    """The same of int64."""
    return np.require(array, np.int64, ("C", "W"))
