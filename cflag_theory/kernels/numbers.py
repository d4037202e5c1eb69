"""The number types that all kernels share: arrays, and which Python values count as numbers."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cflag_theory.errors import InvalidInput

Array = NDArray[Any]
Ints = NDArray[np.int64]


_NUMBER = re.compile(r"[+-]?(\d+/\d+|(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?)", re.ASCII)
_HEXADECIMAL = re.compile(r"-?0x[0-9a-f]+/0x[0-9a-f]+", re.ASCII)


def fraction(text: Any) -> Fraction:
    """A number of a file, such as -3/4, 0.25 or 1e-5, or two integers in hexadecimal."""
    if not isinstance(text, str):
        raise ValueError(f"{text!r} is not text")
    if _HEXADECIMAL.fullmatch(text):
        numerator, denominator = (int(part, 16) for part in text.split("/"))
        return Fraction(numerator, denominator)
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text[:40]!r} is not a number")
    return Fraction(text)


def written(value: Any) -> str:
    """A number as `fraction` reads it."""
    try:
        return str(value)
    # Python writes no longer integers in decimals.
    except ValueError:
        return f"{value.numerator:#x}/{value.denominator:#x}"


def is_finite_real(value: Any) -> bool:
    """Whether `value` is a real number (no truth value) within the range of floats."""
    try:
        return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)
    except OverflowError:
        return False


def is_integer(value: Any) -> bool:
    """Whether `value` is an integer and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def integer(name: str, value: Any, least: int) -> int:
    """An integer from `least` to 2^63 - 1, which compiled loops can hold."""
    if not is_integer(value) or value < least:
        raise InvalidInput(f"{name} is {value!r}: use an integer of at least {least}")
    if value >= 1 << 63:
        words = str(value) if value < 1 << 99 else f"an integer of {int(value).bit_length()} bits"
        raise InvalidInput(f"{name} is {words}: use an integer below 2^63")
    return int(value)


def require_kinds(**values: tuple[Any, Any]) -> None:
    """Raise `InvalidInput` unless each value is of its class, or of one of several."""
    for name, (value, kinds) in values.items():
        if not isinstance(value, kinds):
            known = kinds if isinstance(kinds, tuple) else (kinds,)
            words = " or ".join("None" if one is type(None) else one.__name__ for one in known)
            raise InvalidInput(f"{name} is {repr(value)[:200]}: pass {words}")
