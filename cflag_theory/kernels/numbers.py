"""The number types that all kernels share: arrays, and which Python values count as numbers."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    """Whether `value` is a real number (no truth value) other than an infinity or NaN."""
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)


def is_integer(value: Any) -> bool:
    """Whether `value` is an integer and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)
