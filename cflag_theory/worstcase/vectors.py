"""Vectors of one client as unknowns, and what is linear in their inner products; all coefficients are fractions.

Client i's vector is v_i = m + d_i with sum_i p_i d_i = 0: the clients' mean and a deviation. Clients are exchangeable,
so that two Gram matrices hold all that an average over them can see, and the number of clients is in neither:

    M_uv = <m_u, m_v>,    D_uv = sum_i p_i <d_{u,i}, d_{v,i}>,    sum_i p_i <u_i, v_i> = M_uv + D_uv.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import zip_longest
from numbers import Rational
from typing import Any

from cflag_theory.errors import InvalidInput

Pair = tuple[int, int]


class NotLinear(InvalidInput):
    """The method does more with its gradients than add and scale them: its worst case is not covered."""


def mixed(u: Mapping[Any, Fraction], a: Fraction, v: Mapping[Any, Fraction], b: Fraction) -> dict[Any, Fraction]:
    """a u + b v, without zeros."""
    out = {key: a * value for key, value in u.items()} if a != 1 else dict(u)
    for key, value in v.items():
        out[key] = out.get(key, 0) + b * value
    return {key: value for key, value in out.items() if value != 0}


class Vector:
    """A client's vector: coefficients on the basis of the means and on that of the deviations."""

    __slots__ = ("mean", "own")
    # NumPy's numbers leave products with a vector to it.
    __array_ufunc__ = None

    def __init__(self, mean: Mapping[int, Fraction] | None = None, own: Mapping[int, Fraction] | None = None) -> None:
        self.mean, self.own = dict(mean or {}), dict(own or {})

    def _plus(self, other: Any, factor: int) -> Vector:
        if not isinstance(other, Vector):
            # sum() starts with 0.
            if isinstance(other, int | float | Rational) and other == 0:
                return self
            raise NotLinear(f"a vector and {other!r} do not add: only vectors do")
        one, by = Fraction(1), Fraction(factor)
        return Vector(mixed(self.mean, one, other.mean, by), mixed(self.own, one, other.own, by))

    def __add__(self, other: Any) -> Vector:
        return self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Vector:
        return self._plus(other, -1)

    def __rsub__(self, other: Any) -> Vector:
        return (-self)._plus(other, 1)

    def __neg__(self) -> Vector:
        return self * -1

    def __mul__(self, by: Any) -> Vector:
        if not isinstance(by, int | float | Rational):
            raise NotLinear(
                f"a vector times {type(by).__name__} is not linear in gradients: only numbers may multiply it"
            )
        a = Fraction(by)
        return Vector(mixed(self.mean, a, {}, a), mixed(self.own, a, {}, a))

    __rmul__ = __mul__

    def __truediv__(self, by: Any) -> Vector:
        return self * (1 / Fraction(by))

    def __getattr__(self, name: str) -> Any:
        raise NotLinear(f"a vector has no {name!r} here: only sums, differences and multiples by numbers are linear")

    def copy(self) -> Vector:
        """The vector itself, which nothing changes."""
        return self

    @property
    def key(self) -> tuple[tuple[tuple[int, Fraction], ...], tuple[tuple[int, Fraction], ...]]:
        """What equal vectors have in common."""
        return tuple(sorted(self.mean.items())), tuple(sorted(self.own.items()))

    @property
    def averaged(self) -> Vector:
        """The mean over the clients."""
        return Vector(self.mean)

    @property
    def deviation(self) -> Vector:
        """The vector minus that mean."""
        return Vector(None, self.own)


class Form:
    """<A, M> + <B, D> + values + constant, as coefficients of M_kl and D_kl (k <= l) and of function values.

    `others` are further Gram matrices', those of `drawing`.
    """

    __slots__ = ("D", "M", "constant", "others", "values")

    def __init__(
        self,
        M: Mapping[Pair, Fraction] | None = None,
        D: Mapping[Pair, Fraction] | None = None,
        values: Mapping[int, Fraction] | None = None,
        constant: Fraction | int = 0,
        others: tuple[Mapping[Pair, Fraction], ...] = (),
    ) -> None:
        self.M, self.D, self.values, self.constant = M or {}, D or {}, values or {}, Fraction(constant)
        self.others = others

    @property
    def parts(self) -> tuple[Mapping[Pair, Fraction], ...]:
        """The coefficients of every Gram matrix."""
        return (self.M, self.D, *self.others)

    def plus(self, other: Form, by: Fraction | int = 1) -> Form:
        """This form plus a multiple of another."""
        one, by = Fraction(1), Fraction(by)
        return Form(
            mixed(self.M, one, other.M, by),
            mixed(self.D, one, other.D, by),
            mixed(self.values, one, other.values, by),
            self.constant + by * other.constant,
            tuple(mixed(u or {}, one, v or {}, by) for u, v in zip_longest(self.others, other.others)),
        )

    def __add__(self, other: Form) -> Form:
        return self.plus(other)

    def __sub__(self, other: Form) -> Form:
        return self.plus(other, -1)

    def __rmul__(self, by: Fraction | int) -> Form:
        return Form().plus(self, by)

    def below(self, limit: Fraction | int) -> Form:
        """The form minus a number."""
        return self.plus(Form(constant=1), -Fraction(limit))


def inner(u: Vector, v: Vector) -> Form:
    """sum_i p_i <u_i, v_i>."""
    return Form(_outer(u.mean, v.mean), _outer(u.own, v.own))


def square(u: Vector) -> Form:
    """sum_i p_i ||u_i||^2."""
    return inner(u, u)


def _outer(u: Mapping[int, Fraction], v: Mapping[int, Fraction]) -> dict[Pair, Fraction]:
    out: dict[Pair, Fraction] = {}
    for k, a in u.items():
        for j, b in v.items():
            pair = (k, j) if k <= j else (j, k)
            out[pair] = out.get(pair, Fraction(0)) + a * b
    return out
