"""The worst case of C-FLAG's local steps (4) for a given order of refreshes, exactly.

With d_k the largest possible drift ||x_{t,k} - x_t||, the triangle inequality gives d_{k+1} = d_k + beta (||grad
g(x_t)|| + L mean_j d_{tau_{k,j}}), because the delayed gradient has left grad g_i(x_t) by at most L times the mean
distance of the points at which the table was filled. The steps between tau_{k,j} and k add up to d_k - d_{tau_{k,j}},
so the error ||e_{t,k}|| is at most L (d_k - mean_j d_{tau_{k,j}}). Components -(L/2) x^2 - G x on the line make every
inequality an equality at once: `attaining`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from numbers import Rational
from typing import Annotated, Any

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.exact import Fraction
from cflag_theory.public import Count, Rule, at_least, taking


def _exact(called: str, wanted: str, fits: Callable[[Any], bool]) -> Rule:
    def test(value: Any) -> bool:
        return not isinstance(value, bool) and isinstance(value, Rational) and fits(value)

    return Rule(test, f"a Fraction or a whole number that is {wanted}", called=called)


#: beta L, and beta L E.
POSITIVE = _exact("beta L E", "positive", lambda value: bool(value > 0))
Step = Annotated[Fraction | int, _exact("beta L", "not negative", lambda value: bool(value >= 0))]
Place = Annotated[Fraction | int, POSITIVE]
#: E.
Steps = Annotated[int, at_least(1)._replace(called="E")]


@dataclass(frozen=True)
class LocalWorst:
    """The worst of E local steps for one order, in units of ||grad g(x_t)||, with L = 1: attained, all by one instance.

    `n` components of the client, `step` beta L; `order` is the component that is refreshed at k = 1, ..., E - 1.
    `drift` is L ||x_{t,k} - x_t|| / ||grad g(x_t)|| for k = 0, ..., E, and `table` the mean over components of the
    drift at which the table was filled, for k = 0, ..., E - 1.
    """

    n: int
    step: Fraction
    order: tuple[int, ...]
    drift: tuple[Fraction, ...]
    table: tuple[Fraction, ...]

    @property
    def local_steps(self) -> int:
        """E."""
        return len(self.table)

    @property
    def error(self) -> tuple[Fraction, ...]:
        """||e_{t,k}|| / ||grad g(x_t)|| for k = 0, ..., E - 1, the left side of Lemma 12 and Corollary 14."""
        return tuple(d - mean for d, mean in zip(self.drift, self.table, strict=False))

    @property
    def gradient_sum(self) -> Fraction:
        """||sum_k rho_k|| / ||grad g(x_t)||, the left side of Lemma 15 (I)."""
        return self.local_steps + sum(self.drift[:-1], Fraction(0))

    @property
    def error_sum(self) -> Fraction:
        """||sum_k e_k|| / ||grad g(x_t)||, the left side of Lemma 16."""
        return sum(self.error, Fraction(0))

    @property
    def delayed_sum(self) -> Fraction:
        """||S|| / ||grad g(x_t)||, with S the sum of the delayed gradients."""
        return self.local_steps + sum(self.table, Fraction(0))


@taking
def local_worst(order: Sequence[int], *, n: Count, step: Step) -> LocalWorst:
    """The exact worst case of E = len(order) + 1 local steps, for clients that all refresh in this order."""
    # Integers of NumPy overflow.
    n, chosen, length = int(n), check_order(order, n), Fraction(step)
    return LocalWorst(n, length, chosen, *_steps(chosen, n, length))


def local_descent(order: Sequence[int], *, n: int, step: Fraction) -> Fraction:
    """||S|| / ||grad g(x_t)|| for components (L/2) x^2, with step = beta L: the same recursion, towards the minimum."""
    _, table = _steps(tuple(order), n, -step)
    return abs(len(table) + sum(table, Fraction(0)))


def _steps(chosen: tuple[int, ...], size: int, length: Fraction) -> tuple[tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Drift and mean drift of the table, signed, where every gradient changes by length / beta times the way gone.

    With length = p/q every number at k is a whole number over scale^k, scale = q n: whole numbers need no common
    divisors on the way, which for long rounds cost more than all the rest.
    """
    p, scale = length.numerator, length.denominator * size
    # d_k scale^k, n t_k scale^k, scale^k, and of every entry of the table its drift and when it was filled.
    d, total, power = 0, 0, 1
    entries = [(0, 0)] * size
    drift, table = [Fraction(0)], [Fraction(0)]
    for k in range(1, len(chosen) + 2):
        d, total, power = scale * d + p * (size * power + total), scale * total, scale * power
        drift.append(Fraction(d, power))
        if k <= len(chosen):
            value, tau = entries[chosen[k - 1]]
            total += d - value * scale ** (k - tau)
            entries[chosen[k - 1]] = (d, k)
            table.append(Fraction(total, size * power))
    return tuple(drift), tuple(table)


def check_order(order: Sequence[int], n: int) -> tuple[int, ...]:
    """The order as a tuple, every entry from 0 to n - 1."""
    for j in order:
        if not 0 <= j < n:
            raise InvalidInput(f"the order refreshes component {j!r}: use components from 0 to {n - 1}")
    return tuple(map(int, order))
