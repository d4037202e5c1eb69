"""The number types that all kernels share: arrays, and which Python values count as numbers."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Ints = NDArray[np.int64]


def is_finite_real(value: Any) -> bool:
    """Whether `value` is a real number (no truth value) other than an infinity or NaN."""
    return not isinstance(value, bool) and isinstance(value, Real) and math.isfinite(value)


def is_integer(value: Any) -> bool:
    """Whether `value` is an integer and no truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)
