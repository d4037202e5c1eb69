"""How large a step size each lemma allows: the largest beta L E at which it is true in the worst case.

For fixed n and E the worst constant of a lemma is a polynomial in beta L with coefficients that are not negative,
order by order, so it grows with the step size and passes the printed constant once; the place is enclosed between two
fractions by bisection in exact arithmetic. Only Lemma 15 (II) prints a constant that grows too: there bisection
begins where `_unfolded` shows that nothing has failed before and that what fails later fails for good.

For E to infinity at fixed u the worst constants over all n and orders tend, from below, to `supremum`; where that
meets the printed constant lies the largest step size that is right for every n, E and order.

Lemma 13 and 15: the drift is at most (1 + beta L)^k - 1 <= exp(u k / E) - 1, attained by n = 1. Corollary 14 and
Lemma 16: the mean m_k of the table does not decrease and is at most d_k, d_{k+1} = d_k + beta L (1 + m_k), and for
such m the error at k is at most max_s beta L (k - s) (1 + beta L)^s, the sum of the errors at most max_s beta L (1 +
beta L)^s (E - s) (E - s - 1) / 2: the increments of m enter with weights beta L (k - i) - 1, and (E - i)(beta L (E -
1 - i)/2 - 1), that change sign once, so m = d until then and constant afterwards is the best. With sigma = beta L s
these are at most exp(sigma) (u - sigma) and exp(sigma) (u - sigma)^2 E / (2 u), largest at sigma = u - 1 and u - 2 or
at 0. A table of many components that are all refreshed in turn while beta L k <= sigma and then only one comes as
near as one likes, as n and then E / n grow. The error's part of this is proved in the ledger, by
`ours.worst_error_beyond`; the part of the sum of the errors is this argument (`Lemma.argued`). exp is
enclosed in rational arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import ceil

from cflag_theory.errors import InvalidInput
from cflag_theory.studies.worst_cases.lemmas import Lemma, worst_constant
from cflag_theory.verify.instances import orders
from cflag_theory.verify.instances.recursions import local_worst

#: No step size above beta L E = 64 is asked for.
_TOP = 64
_BITS = 24


def supremum(lemma: Lemma, u: Fraction) -> Interval:
    """Fractions around the least constant that is right at beta L E = u > 0 for every n, E and order.

    For Lemma 12 it is 0 for u <= 1; above, 0 and 1 are what is proved, and the interval is that wide.
    """
    if lemma.limit is None:
        return Fraction(0), Fraction(0) if u <= 1 else Fraction(1)
    shift, of_exp = lemma.limit
    x = max(u, Fraction(shift))
    if x == shift:
        return of_exp(Fraction(1), x), of_exp(Fraction(1), x)
    low, high = exp_bounds(x - shift)
    return of_exp(low, x), of_exp(high, x)


def largest_step(lemma: Lemma, *, n: int, local_steps: int) -> Interval | None:
    """The largest beta L E at which the printed inequality is true for n, E and every order.

    Returns
    -------
    (Fraction, Fraction) or None
        It is true up to the first and false at the second; None if it is true for every step size.
    """
    if not lemma.exact or not _ever(lemma, n, local_steps):
        return None

    def holds(u: Fraction) -> bool:
        return worst_constant(lemma, n=n, local_steps=local_steps, u=u).constant <= lemma.printed(u)

    begin = _unfolded(n, local_steps) if lemma.id == "cflag.lemma15_2" else Fraction(1, 64)
    # Without a top: the place grows with n without end, and `_ever` says that there is one.
    return last_place(holds, begin, bits=_BITS, top=None)


def _ever(lemma: Lemma, n: int, local_steps: int) -> bool:
    """Whether the left side ever grows faster than the right side: not before a refreshed table has moved something."""
    return local_steps > 2 and not (lemma.quantity in ("error", "error_sum") and n == 1)


def _unfolded(n: int, local_steps: int) -> Fraction:
    """A u up to which Lemma 15 (II) holds, and beyond which the worst case over the printed bound grows.

    G(u) = ||sum rho|| / (E ||grad g(x_t)||) is convex with G(0) = 1. Where G(u) >= 2 G(u/2), its slope is at least
    G(u)/u, there and later, so G^2 grows faster than u^2, hence than 32 u^2 + 2. Up to that u it lies below its chord
    1 + a u, and (1 + a u)^2 <= 32 u^2 + 2 for all u if a <= 4.
    """

    def mean(u: Fraction) -> Fraction:
        order = orders.cyclic(n, local_steps)
        return local_worst(order, n=n, step=u / local_steps).gradient_sum / local_steps

    u = Fraction(1)
    while mean(u) < 2 * mean(u / 2):
        u *= Fraction(9, 8)
    if mean(u) - 1 > 4 * u:
        raise ArithmeticError(f"Lemma 15 (II) is not settled by its chord at n = {n}, E = {local_steps}")
    return u


def largest_for_all(lemma: Lemma) -> Interval | None:
    """The largest beta L E at which the printed inequality is true for every n, E and order; None for no limit.

    It is the root of (exp(u) - 1)/u = 4 for Lemma 13, exp(u - 1) = 2 u for Corollary 14, exp(u) - 1 - u = 4 u^2 for
    Lemma 15 (I), ((exp(u) - 1)/u)^2 = 32 u^2 + 2 for (II) and exp(u - 2) = u^2 for Lemma 16.
    """
    if not lemma.exact:
        return None
    low = last_place(lambda u: supremum(lemma, u)[1] <= lemma.printed(u), Fraction(1), bits=_BITS, top=_TOP)
    high = last_place(lambda u: supremum(lemma, u)[0] <= lemma.printed(u), Fraction(1), bits=_BITS, top=_TOP)
    return None if low is None or high is None else (low[0], high[1])


#: A number between two fractions.
Interval = tuple[Fraction, Fraction]


def exp_bounds(x: Fraction, *, terms: int = 24) -> Interval:
    """Fractions below and above exp(x), for x >= 0.

    exp(x) = exp(x / m)^m with x / m <= 1/2; of exp(y) the first `terms` terms of the series are taken, and the rest
    of it is at most twice the next term.
    """
    if x < 0:
        raise InvalidInput(f"x = {x} is negative: use 1 / exp(-x)")
    m = max(1, ceil(2 * x))
    y = Fraction(x) / m
    term, low = Fraction(1), Fraction(0)
    for place in range(1, terms + 1):
        low += term
        term *= y / place
    return low**m, (low + 2 * term) ** m


def last_place(
    holds: Callable[[Fraction], bool], low: Fraction, *, bits: int = 24, top: int | None = 10_000
) -> Interval | None:
    """Where a condition that holds at `low` and, once it fails, fails for good, comes to its end.

    Parameters
    ----------
    holds : callable
        The condition.
    low : Fraction
        A positive place at which it holds.
    bits : int
        The interval found is at most 2^-bits of its place wide.
    top : int or None
        The largest place that is searched; None for a condition that is known to fail somewhere.

    Returns
    -------
    (Fraction, Fraction) or None
        It holds at the first and not at the second; None if it still holds at `top`.
    """
    if not holds(low):
        raise InvalidInput(f"the condition does not hold at {low}: begin lower")
    high = low
    while holds(high):
        if top is not None and high >= top:
            return None
        low, high = high, 2 * high
    while (high - low) * 2**bits > low:
        middle = (low + high) / 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low, high
