"""Lemmas 12 to 16 in units of ||grad g(x_t)||: the printed constant, and the one that the worst case needs.

With u = beta L E every lemma is "left side <= constant x something", and the smallest constant that a given order, n,
E and u allow is a rational number. For all but Lemma 12 it is attained: `recursions` gives the left side's exact
worst case.

Lemma 12 bounds one quantity of a run, ||e_{t,k}||, by another, M = L max_{b<k} ||x_{t,b} - x_t||, and the two need
not be large together. `_lemma12_ceiling` bounds the constant from above by three lines in M; the attaining instance
bounds it from below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from cflag_theory.errors import UnknownName
from cflag_theory.public import Count, taking
from cflag_theory.verify.instances import orders
from cflag_theory.verify.instances.recursions import LocalWorst, Place, Steps, local_worst

#: Orders that are enumerated where only that tells the worst.
_FEW = 1_000
#: Ends of turns that are tried where the worst order is not known.
_TRIED = 12


@dataclass(frozen=True)
class Lemma:
    """One of the lemmas on local steps.

    Attributes
    ----------
    id, where : str
        Its claim in the ledger, and the place in the paper.
    words : str
        Which constant is meant.
    quantity : str
        What `orders.worst_order` maximises.
    printed : callable
        u to the printed constant.
    range : Fraction or None
        The printed (or, for Lemmas 15 and 16, the needed) range u <= range; None for every step size.
    constant : callable
        The smallest constant that a worst case needs, attained by its instance.
    limit : (int, callable) or None
        shift and a function of e and x: the least constant for every n, E and order is its value at x = max(u, shift)
        and e = exp(x - shift). None for Lemma 12, of which only bounds are proved.
    estimated : callable or None
        The constant by a worst case that the solver found, with E and u.
    """

    id: str
    where: str
    words: str
    quantity: str
    printed: Callable[[Fraction], Fraction]
    range: Fraction | None
    constant: Callable[[LocalWorst], Fraction]
    limit: tuple[int, Callable[[Fraction, Fraction], Fraction]] | None = None
    estimated: Callable[[float, int, float], float] | None = None

    @property
    def exact(self) -> bool:
        """Whether the attained constant is the worst of every instance, for the order at hand."""
        return self.limit is not None

    @property
    def argued(self) -> bool:
        """Whether worst order and range rest, beyond beta L (E - 1) = 1, on arguments that are not in the ledger.

        Those of `orders` and `ranges` for the sum of the errors; they are given there in full.
        """
        return self.quantity == "error_sum"


@dataclass(frozen=True)
class Worst:
    """The worst constant of a lemma for n, E and u."""

    #: The refreshes at k = 1, ..., E - 1.
    order: tuple[int, ...]
    #: Why no other order is worse: "proof" in the ledger, "argument" (`Lemma.argued`) or "enumeration"; "given" where
    #: the order was, and "bounds" where the constant is proved for every order and the order is the worst of those
    #: tried.
    how: str
    #: No instance needs a larger one.
    constant: Fraction
    #: What the attaining instance needs.
    attained: Fraction

    @property
    def exact(self) -> bool:
        """Whether the two agree."""
        return self.constant == self.attained


def _drift_constant(worst: LocalWorst) -> Fraction:
    return max(
        (worst.drift[k] / (worst.step * k) for k in range(1, worst.local_steps)),
        default=Fraction(0),
    )


def _error_constant(worst: LocalWorst) -> Fraction:
    return max(worst.error) / (worst.step * worst.local_steps)


def _sum_constant(worst: LocalWorst) -> Fraction:
    return (worst.gradient_sum - worst.local_steps) / (worst.step * worst.local_steps**2)


def _square_constant(worst: LocalWorst) -> Fraction:
    return (worst.gradient_sum / worst.local_steps) ** 2


def _error_sum_constant(worst: LocalWorst) -> Fraction:
    return worst.error_sum / (worst.step * worst.local_steps**2)


def _lemma12_constant(worst: LocalWorst) -> Fraction:
    u = worst.step * worst.local_steps
    needed = [(worst.error[k] - u) / (u * worst.drift[k - 1]) for k in range(2, worst.local_steps)]
    return max([Fraction(0), *needed])


_QUARTER, _TWELFTH = Fraction(1, 4), Fraction(1, 12)
LEMMAS: dict[str, Lemma] = {
    lemma.id: lemma
    for lemma in (
        Lemma(
            "cflag.lemma12",
            "Lemma 12",
            "the constant of beta L^2 E max_{b<k} ||x_{t,b} - x_t||",
            "error",
            lambda u: Fraction(3),
            None,
            _lemma12_constant,
        ),
        Lemma(
            "cflag.lemma13",
            "Lemma 13",
            "the constant of beta k ||grad g(x_t)||",
            "drift",
            lambda u: Fraction(4),
            _QUARTER,
            _drift_constant,
            (0, lambda e, x: (e - 1) / x),
            lambda value, E, u: value / (E - 1),
        ),
        Lemma(
            "cflag.cor14",
            "Corollary 14",
            "the constant of beta L E ||grad g(x_t)||",
            "error",
            lambda u: Fraction(2),
            _TWELFTH,
            _error_constant,
            (1, lambda e, x: e / x),
            lambda value, E, u: value / u,
        ),
        Lemma(
            "cflag.lemma15_1",
            "Lemma 15 (I)",
            "the constant of L beta E^2 ||grad g(x_t)||",
            "gradient_sum",
            lambda u: Fraction(4),
            _QUARTER,
            _sum_constant,
            (0, lambda e, x: (e - 1 - x) / x**2),
            lambda value, E, u: (value - E) / (u * E),
        ),
        Lemma(
            "cflag.lemma15_2",
            "Lemma 15 (II)",
            "||sum_k rho_k||^2 over E^2 ||grad g(x_t)||^2; printed 32 u^2 + 2",
            "gradient_sum",
            lambda u: 32 * u**2 + 2,
            _QUARTER,
            _square_constant,
            (0, lambda e, x: ((e - 1) / x) ** 2),
            lambda value, E, u: (value / E) ** 2,
        ),
        Lemma(
            "cflag.lemma16",
            "Lemma 16",
            "the constant of beta L E^2 ||grad g(x_t)||",
            "error_sum",
            lambda u: Fraction(2),
            _TWELFTH,
            _error_sum_constant,
            (2, lambda e, x: 2 * e / x**2),
            lambda value, E, u: value / (u * E),
        ),
    )
}


def find(name: str) -> Lemma:
    """A lemma by its claim's id, with or without "cflag."."""
    id = name if name.startswith("cflag.") else f"cflag.{name}"
    if id not in LEMMAS:
        known = ", ".join(one.removeprefix("cflag.") for one in LEMMAS)
        raise UnknownName(f"no lemma on local steps is called {name!r}: use {known}")
    return LEMMAS[id]


def choose(names: Sequence[str]) -> list[Lemma]:
    """The lemmas of these names, each once; all of them without a name."""
    return list({id: LEMMAS[id] for id in (find(name).id for name in names)}.values()) or list(LEMMAS.values())


def ceiling(lemma: Lemma, worst: LocalWorst) -> Fraction:
    """A constant that no instance with this order, n, E and step exceeds; for all but Lemma 12 it is attained."""
    return lemma.constant(worst) if lemma.exact else _lemma12_ceiling(worst)


def _lemma12_ceiling(worst: LocalWorst) -> Fraction:
    """The largest c with ||e_k|| = u (1 + c M) over k and over M in [beta L, d_{k-1}], by upper bounds on ||e_k||.

    At k = 1 there is no maximum to multiply, and ||x_{t,1} - x_t|| = beta ||grad g(x_t)|| always.
    """
    u = worst.step * worst.local_steps
    if u <= 1:
        # ||e_k|| <= beta L k ||grad g(x_t)|| whatever the order: cflag.cor14.
        return Fraction(0)
    every = (_largest_quotient(lines, u, worst.step, worst.drift[k - 1]) for k, lines in _lemma12_lines(worst))
    return max(every, default=Fraction(0))


def _lemma12_for_every_order(n: int, local_steps: int, step: Fraction) -> Fraction:
    """The same by bounds that no order exceeds: that of cflag.lemma12, beta L k (1 + M), and the largest error.

    Both, and the largest M, grow with k, so that k = E - 1 needs the largest c.
    """
    order = orders.worst_order("error", n=n, local_steps=local_steps, step=step)
    most = local_worst(order, n=n, step=step).error[-1]
    turns = local_worst(orders.cyclic(n, local_steps), n=n, step=step)
    k = local_steps - 1
    lines = [(step * k, step * k), (most, Fraction(0))]
    return _largest_quotient(lines, step * local_steps, step, turns.drift[k - 1])


def _largest_quotient(
    lines: Sequence[tuple[Fraction, Fraction]], u: Fraction, low: Fraction, high: Fraction
) -> Fraction:
    """The largest (least of a + b M - u) / (u M) over low <= M <= high, and 0 at least; lines are pairs (a, b).

    It is monotone on every line, so that it is largest at an end or where two lines meet.
    """
    meet = [(a - c) / (d - b) for (a, b), (c, d) in combinations(lines, 2) if b != d]
    places = (low, high, *(one for one in meet if low < one < high))
    return max(Fraction(0), *((min(a + b * M for a, b in lines) - u) / (u * M) for M in places))


def _lemma12_lines(worst: LocalWorst) -> list[tuple[int, list[tuple[Fraction, Fraction]]]]:
    """For k = 2, ..., E - 1: bounds a + b M on ||e_k||, as pairs (a, b), M being the largest drift before k.

    A step from l is at most beta (1 + M x the part of the table refreshed by l). The error is at most the sum of the
    steps since the table was filled, over its entries; at most the mean distance of x_k, which is M and one step away
    from x_t at most, from points within M of x_t; and at most the exact worst case.
    """
    n, b = worst.n, worst.step
    filled, seen, found = [0] * n, [Fraction(0)], []
    for k, j in enumerate(worst.order, start=1):
        filled[j] = k
        seen.append(Fraction(sum(tau > 0 for tau in filled), n))
        if k < 2:
            continue
        old = [Fraction(sum(tau <= at for tau in filled), n) for at in range(k)]
        steps = (b * sum(old), b * sum((f * s for f, s in zip(old, seen, strict=False)), Fraction(0)))
        last = (b, b * seen[k - 1])
        start, between = old[0], old[k - 2] - old[0] if k > 2 else Fraction(0)
        apart = (old[k - 1] * last[0], old[k - 1] * last[1] + start + 2 * between)
        found.append((k, [steps, apart, (worst.error[k], Fraction(0))]))
    return found


@taking
def worst_constant(lemma: Lemma, *, n: Count, local_steps: Steps, u: Place) -> Worst:
    """The worst constant of a lemma over all orders.

    Parameters
    ----------
    lemma : Lemma
        One of `LEMMAS`.
    n, local_steps : int
        Components of a client, and E.
    u : Fraction
        beta L E, positive.
    """
    steps, step = int(local_steps), Fraction(u) / int(local_steps)
    if lemma.exact or u <= 1:
        order = orders.worst_order(lemma.quantity, n=n, local_steps=steps, step=step)
        unproved = lemma.argued and step * (steps - 1) > 1
        return of_order(lemma, order, n=n, u=u, how="argument" if unproved else "proof")
    if orders.count_up_to_relabelling(n, steps) <= _FEW:
        chosen = max(orders.all_worst(n, steps, step), key=_lemma12_ceiling)
        return Worst(chosen.order, "enumeration", _lemma12_ceiling(chosen), lemma.constant(chosen))
    tried = dict.fromkeys(1 + (steps - 2) * share // _TRIED for share in range(_TRIED + 1))
    family = (local_worst(orders.settled(n, steps, turns), n=n, step=step) for turns in tried)
    best = max(family, key=lemma.constant)
    return Worst(best.order, "bounds", _lemma12_for_every_order(n, steps, step), lemma.constant(best))


@taking
def of_order(lemma: Lemma, order: Sequence[int], *, n: Count, u: Place, how: str = "given") -> Worst:
    """The worst constant of a lemma for one order of E - 1 refreshes; u = beta L E, positive."""
    worst = local_worst(order, n=n, step=Fraction(u) / (len(order) + 1))
    return Worst(worst.order, how, ceiling(lemma, worst), lemma.constant(worst))
