"""The weights p_1..p_t that CFL gives to the objectives of past rounds and of the current one."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, Any, NamedTuple

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.numbers import Array, is_integer
from cflag_theory.public import Count, NotNegative, Number, one_of, require_fields

#: The dials that each scheme reads.
SCHEMES: dict[str, tuple[str, ...]] = {
    "lemma B.4": ("D2", "R2", "F2"),
    "correlated": ("D2", "R2", "alpha"),
    "nonnegative": ("D2", "R2", "alpha"),
    "uniform": (),
    "current": (),
    "given": ("given",),
}
_OPTIMAL = ("lemma B.4", "correlated", "nonnegative")


@dataclass(frozen=True)
class RoundWeights:
    r"""Weights of rounds 1..t in the local objective of round t; they sum to one.

    The optimal schemes minimise the variance and loss terms :math:`c_{p_G} + c_R` of the CFL paper,

    .. math:: (1 - p_t)^2 R^2 + D^2 \sum_{\tau_1, \tau_2} \alpha^{|\tau_1 - \tau_2|} p_{\tau_1} p_{\tau_2},
              \qquad \sum_\tau p_\tau = 1.

    Attributes
    ----------
    scheme : str
        "lemma B.4": Lemma B.4, or (33) with F2: :math:`p_\tau = M / (t M + (t-1) R^2)` for :math:`\tau < t`, where
        :math:`M = \max(D^2 - F^2, 0)`. "correlated": the linear system (7) of Theorem 4.9; weights may be negative.
        "nonnegative": the same quadratic with :math:`p \ge 0`. "uniform": 1/t. "current": all weight on round t.
        "given": `given`.
    D2, R2, F2 : number, default 0
        D^2 of Assumption 3, R^2 of Assumption 4, F^2 of Assumption 6.
    alpha : number, default 0
        Correlation of consecutive rounds in Assumption 7, from 0 to below 1.
    given : sequence of sequences, optional
        Row t - 1 holds p_1..p_t; each row sums to one. Weights may be negative.
    window : int, optional
        Only this many of the latest past rounds keep a weight; the rounds before have weight 0. The optimal schemes
        and "uniform" are solved again for the remaining rounds; "given" is divided by the sum of the remaining weights.

    Raises
    ------
    UnknownName
        No such scheme.
    InvalidInput
        A number outside its range, a dial that the scheme does not read, D2 = 0 (or F2 >= D2) together with R2 = 0,
        where the minimiser is not unique, or rows that are not weights.

    Notes
    -----
    With r = R2/D2, h = 1 and m = t - 1 the system (7) has the solution :math:`p_t = c`,
    :math:`p_{1..m} = \lambda M_m^{-1} 1 - c \alpha^h e_m`, where M_m is the m x m matrix of :math:`\alpha^{|i-j|}`,
    :math:`s = 1^T M_m^{-1} 1`, :math:`c = (1 - \alpha^h + s r) / (s (1 - \alpha^{2h}) + s r + (1 - \alpha^h)^2)` and
    :math:`\lambda = (1 - c (1 - \alpha^h)) / s`. Only p_{t-1} can be negative. With p >= 0 the rounds
    next to t drop out, h - 1 of them, and the same formula holds for m = t - h with the smallest h that leaves
    no negative weight. If D2 = 0 (or F2 >= D2) and R2 > 0 all weight is on round t, the limit of the formula.
    """

    scheme: Annotated[str, one_of(*SCHEMES)]
    D2: NotNegative = 0
    R2: NotNegative = 0
    F2: NotNegative = 0
    alpha: NotNegative = 0
    given: Sequence[Sequence[Number]] | None = None
    # None keeps all rounds.
    window: Count | None = None

    def __post_init__(self) -> None:
        require_fields(self)
        for name in ("D2", "R2", "F2", "alpha"):
            object.__setattr__(self, name, _number(getattr(self, name)))
            if getattr(self, name) != 0 and name not in SCHEMES[self.scheme]:
                raise InvalidInput(
                    f"{name} is {getattr(self, name)} and round weights {self.scheme!r} do not read it: leave it out"
                )
        if not self.alpha < 1:
            raise InvalidInput(f"alpha is {self.alpha}: Assumption 7 needs alpha below 1")
        if self.scheme in _OPTIMAL and self._variance() == 0 and self.R2 == 0:
            drift = f"D2 is {self.D2} and F2 is {self.F2}" if self.F2 else f"D2 is {self.D2}"
            raise InvalidInput(
                f"{drift} and R2 is 0, so that every choice of round weights is optimal: use 'uniform' or 'current'"
            )
        if (self.given is not None) != (self.scheme == "given"):
            raise InvalidInput("rows of round weights belong to the scheme 'given': give both or neither")
        if self.given is not None:
            object.__setattr__(self, "given", _rows(self.given))

    @cached_property
    def exact(self) -> bool:
        """Whether all numbers are integers or fractions, so that the weights are `Fraction`."""
        numbers_ = [self.D2, self.R2, self.F2, self.alpha, *(value for row in self.given or () for value in row)]
        return all(isinstance(value, Fraction) for value in numbers_)

    def at(self, t: int) -> Array:
        """The weights p_1..p_t of round t = 1, 2, ...

        Returns
        -------
        (t,) array
            float64, or `Fraction` objects if `exact`.

        Raises
        ------
        InvalidInput
            t is not a positive integer, there is no row for round t, or the rows within the window sum to zero.
        """
        if not is_integer(t) or t < 1:
            raise InvalidInput(f"t is {t!r}: rounds are counted from 1")
        kept = self._kept(t := int(t))
        out = np.zeros(t, dtype=object if self.exact else np.float64)
        if self.exact:
            out[:] = Fraction(0)
        out[t - kept :] = [value for value, times in self._row(t, kept) for _ in range(times)]
        return out

    def floats(self, t: int) -> Array:
        """`at(t)` as float64, each fraction rounded once however often it stands there; t = 1, 2, ..."""
        kept = self._kept(t)
        values, times = zip((0, t - kept), *self._row(t, kept), strict=True)
        return np.repeat(np.array([float(value) for value in values]), times)

    def current(self, t: int) -> Any:
        """p_t, the last of `at(t)`, without the others where a closed form gives it.

        Raises
        ------
        InvalidInput
            As `at`.
        """
        if self.given is not None or not is_integer(t) or t < 1:
            return self.at(t)[-1]
        one, kept = self._one, self._kept(int(t))
        if self.scheme == "uniform":
            return one / kept
        return one if self._alone(kept) else self._solution(kept, one).current

    @property
    def _one(self) -> Any:
        return Fraction(1) if self.exact else 1.0

    def _kept(self, t: int) -> int:
        return t if self.window is None else min(t, int(self.window) + 1)

    def _alone(self, kept: int) -> bool:
        return bool(kept == 1 or self.scheme == "current" or self._variance() == 0)

    def _row(self, t: int, kept: int) -> list[tuple[Any, int]]:
        """The weights that are kept, and how often each stands there."""
        one = self._one
        if self.given is not None:
            if t > len(self.given):
                raise InvalidInput(f"round {t} has no row among the {len(self.given)} given: give one row a round")
            row = list(self.given[t - 1])[t - kept :]
            total = sum(row)
            if kept < t and abs(total) <= (0 if self.exact else 1e-12):
                raise InvalidInput(
                    f"the weights given for the latest {kept} rounds at round {t} sum to {total}: use a larger window"
                )
            return [(value / total if kept < t else value, 1) for value in row]
        if self.scheme == "uniform":
            return [(one / kept, kept)]
        if self._alone(kept):
            return [(0 * one, kept - 1), (one, 1)]
        found = self._solution(kept, one)
        past = [(found.ends, min(1, found.members - 1)), (found.middle, max(0, found.members - 2)), (found.latest, 1)]
        return [*past, (0 * one, kept - 1 - found.members), (found.current, 1)]

    def _variance(self) -> Any:
        return max(self.D2 - self.F2, 0 * self.D2)

    def _solution(self, t: int, one: Any) -> _Solution:
        """The closed form of the Notes for the first h that fits."""
        # Only the ratio matters; dividing by the larger keeps floats from overflowing.
        largest = max(self._variance(), self.R2)
        D2, R2 = self._variance() / largest * one, self.R2 / largest * one
        alpha, power = self.alpha * one, one
        for h in range(1, t):
            m, power = t - h, power * alpha
            s = one if m == 1 else (m - (m - 2) * alpha) / (1 + alpha)
            c = ((1 - power) * D2 + s * R2) / ((s * (1 - power**2) + (1 - power) ** 2) * D2 + s * R2)
            multiplier = (1 - c * (1 - power)) / s
            ends = multiplier if m == 1 else multiplier / (1 + alpha)
            latest = ends - c * power
            if latest >= 0 or self.scheme != "nonnegative" or m == 1:
                break
        return _Solution(m, ends, ends * (1 - alpha), latest, c)


class _Solution(NamedTuple):
    """How many past rounds keep a weight; the first's, those in between, the latest's; the current round's."""

    members: int
    ends: Any
    middle: Any
    latest: Any
    current: Any


def _number(value: Any) -> Any:
    """`value` as `Fraction` if it is exact, else as a float."""
    return Fraction(value) if isinstance(value, numbers.Rational) else float(value)


def _rows(given: Sequence[Sequence[Any]]) -> tuple[tuple[Any, ...], ...]:
    """The rows as tuples of `Fraction` or float, each of its own length and of sum one."""
    rows: list[tuple[Any, ...]] = []
    for t, row in enumerate(given, start=1):
        rows.append(tuple(map(_number, row)))
        total: Any = sum(rows[-1])
        exact = all(isinstance(value, Fraction) for value in rows[-1])
        if len(row) != t or abs(total - 1) > (0 if exact else 1e-12):
            raise InvalidInput(
                f"row {t} of the given round weights has {len(row)} numbers and sum {total}: use {t} of sum 1"
            )
    if not rows:
        raise InvalidInput("no rows of round weights are given: give one row a round")
    return tuple(rows)
