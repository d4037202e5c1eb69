"""The numbers that an implementation runs on, and bounds of the rounding errors of a round."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Number
from typing import Any

import numpy as np

from cflag_theory.errors import InvalidInput, MissingExtra

EXACT = "exact"
#: How numbers are made: fractions, NumPy floats, torch floats; and the unit roundoff of the floats.
ROUNDOFF = {EXACT: 0.0, "float64": 2.0**-53, "float32": 2.0**-24, "torch64": 2.0**-53, "torch32": 2.0**-24}
KINDS = tuple(ROUNDOFF)

#: A vector: an object array of fractions or of `Rounded`, an array of floats or a tensor.
Vector = Any


@dataclass(frozen=True, eq=False)
class Rounded:
    """A float together with a bound of its error in units of the roundoff: a running error analysis.

    The bound is that of the first order in the unit roundoff u. With |d| <= u for each operation,
    fl(a + b) = (a + b)(1 + d), and so for the other operations; errors of the operands go on as in exact arithmetic.
    """

    value: float
    error: float = 0.0

    # An array on the right side takes the operation over, entry by entry.

    def __add__(self, other: Any) -> Rounded:
        if isinstance(other, np.ndarray):
            return NotImplemented
        other = _rounded(other)
        value = self.value + other.value
        return Rounded(value, self.error + other.error + abs(value))

    def __mul__(self, other: Any) -> Rounded:
        if isinstance(other, np.ndarray):
            return NotImplemented
        other = _rounded(other)
        value = self.value * other.value
        return Rounded(value, abs(self.value) * other.error + abs(other.value) * self.error + abs(value))

    def __truediv__(self, other: Any) -> Rounded:
        if isinstance(other, np.ndarray):
            return NotImplemented
        other = _rounded(other)
        value = self.value / other.value
        return Rounded(value, (self.error + abs(value) * other.error) / abs(other.value) + abs(value))

    def __neg__(self) -> Rounded:
        return Rounded(-self.value, self.error)

    def __sub__(self, other: Any) -> Rounded:
        return NotImplemented if isinstance(other, np.ndarray) else self + -_rounded(other)

    def __rsub__(self, other: Any) -> Rounded:
        return _rounded(other) - self

    def __rtruediv__(self, other: Any) -> Rounded:
        return _rounded(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def sqrt(self) -> Rounded:
        """The root; `numpy.sqrt` calls it."""
        value = math.sqrt(self.value)
        return Rounded(value, value + (self.error / (2 * value) if value > 0 else 0.0))

    def __lt__(self, other: Any) -> bool:
        return self.value < _rounded(other).value

    def __gt__(self, other: Any) -> bool:
        return self.value > _rounded(other).value

    def __float__(self) -> float:
        return self.value


def _rounded(number: Any) -> Rounded:
    if isinstance(number, Rounded):
        return number
    value = float(number)
    return Rounded(value, 0.0 if Fraction(value) == number else abs(value))


#: A user may sum in another order and take a few operations more than the reference, whose bound this multiplies.
SLACK = 16


def vector_maker(kind: str) -> Callable[[Any], Vector]:
    """What turns rows of fractions into vectors or matrices of this kind."""
    if kind == EXACT:
        return lambda rows: np.array(rows, dtype=object)
    if kind in ("float64", "float32"):
        return lambda rows: np.array(rows, dtype=object).astype(kind)
    if kind not in ROUNDOFF:
        raise InvalidInput(f"numbers are {kind!r}: use one of {', '.join(KINDS)}, or auto")
    try:
        import torch
    except ImportError:
        raise MissingExtra(f"numbers={kind!r} needs PyTorch: pip install 'cflag-theory[torch]'") from None
    dtype = torch.float64 if kind == "torch64" else torch.float32
    return lambda rows: torch.tensor(np.array(rows, dtype=object).astype(float), dtype=dtype)


def rounded_vector(rows: Any) -> Vector:
    """Rows of fractions as `Rounded` numbers without error: all data are dyadic, so that floats hold them exactly."""
    return np.vectorize(lambda one: Rounded(float(one)), otypes=[object])(np.array(rows, dtype=object))


def scalar(number: Any, kind: str) -> Any:
    """A step size or weight: a fraction or a float."""
    return Fraction(number) if kind == EXACT else float(number)


def is_module(value: Any) -> bool:
    """Whether it is a module of PyTorch."""
    return hasattr(value, "parameters") and hasattr(value, "state_dict")


def is_vector(value: Any) -> bool:
    """Whether it holds numbers in a row: an array of any library, a tensor, a module, a list or tuple of numbers."""
    if isinstance(value, list | tuple):
        return bool(value) and all(isinstance(one, Number) or np.shape(one) == () for one in value)
    return hasattr(value, "__array__") or is_module(value)


def vector_of(value: Any) -> Vector:
    """What a user calls a vector as a tensor or as a NumPy array, which may be the user's own."""
    if is_module(value):
        import torch

        return torch.cat([one.detach().reshape(-1) for one in value.parameters()])
    if hasattr(value, "detach"):
        return value.detach()
    exact = isinstance(value, list | tuple) and any(isinstance(one, Fraction) for one in value)
    return np.array(value, dtype=object) if exact else np.asarray(value)


def plain(vector: Vector) -> Any:
    """A vector as NumPy: tensors and modules too."""
    vector = vector_of(vector)
    return vector.cpu().numpy() if hasattr(vector, "detach") else vector


def copied(vector: Vector) -> Vector:
    """Its numbers as they are now."""
    vector = vector_of(vector)
    return vector.clone() if hasattr(vector, "detach") else vector.copy()


def single_in(value: Any) -> bool:
    """Whether there are numbers in single precision in it, or in what it contains."""
    if isinstance(value, list | tuple):
        return any(map(single_in, value))
    if isinstance(value, dict):
        return any(map(single_in, value.values()))
    if is_module(value):
        return any(map(single_in, value.parameters()))
    return str(getattr(value, "dtype", "")).endswith("float32")
