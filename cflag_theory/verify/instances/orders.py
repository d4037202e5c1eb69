"""Orders of refreshes: all of them up to relabelling, and the worst one.

Two orders that differ by the names of the components have the same worst case, because all components may be chosen
alike. In units of ||grad g(x_t)|| with L = 1 and b = beta L, write the mean drift of the table as d_k / n + r_k,
where r_k comes from the components other than the one refreshed at k.

Drift. At most one component is refreshed at a step, so the i-th freshest entry of the table was filled at k - i + 1
at the latest, and among the others at k - i. The cyclic order reaches both at every step, so it makes d_k and r_k,
and with them the sums of the gradients, as large as any order does, for all k together.

Error. d_{k+1} = (1 + b/n) d_k + b (1 + r_k) is linear, and the error at k is (1 - 1/n) d_k - r_k. Refreshing the
first component again and again leaves r = 0; every other order adds r_i - r_{i-1} >= 0 at i = 2, 3, ..., which
changes the error at k by c_i = (n - 1) ((1 + b/n)^{k-i} - 1) - 1 times that, and the sum of the errors up to K = E -
1 by C_i, the sum of these c_i over k = i, ..., K. Both weights change their sign once at most, from plus to minus,
and decrease in i while they are not negative. So by summation by parts both quantities are largest when r is as large
as possible up to the last i with a weight that is not negative, and does not grow afterwards: the cyclic order so
far, and then the same component again and again (`settled`). The error's part of this is proved in the ledger, by
`ours.worst_turns`, and for beta L k <= 1, where no weight is positive, by `ours.worst_order`. The sum's part beyond
beta L (E - 1) = 1 is proved nowhere but here; enumeration confirms it for small n and E.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.exact import Fraction
from cflag_theory.public import Count, one_of, taking
from cflag_theory.verify.instances.recursions import LocalWorst, Step, Steps, local_worst

#: Orders that an enumeration may look at.
LIMIT = 25_000


@taking
def cyclic(n: Count, local_steps: Steps) -> tuple[int, ...]:
    """Components 0, 1, ..., n - 1 in turn at k = 1, ..., E - 1."""
    return tuple(k % n for k in range(local_steps - 1))


@taking
def repeated(local_steps: Steps) -> tuple[int, ...]:
    """The first component again and again."""
    return (0,) * (local_steps - 1)


@taking
def count_up_to_relabelling(n: Count, local_steps: Steps) -> int:
    """How many orders `up_to_relabelling` gives: partitions of the E - 1 refreshes into at most n sets."""
    # by_used[u]: orders so far that use u components.
    by_used = {0: 1}
    for _ in range(local_steps - 1):
        after: dict[int, int] = {}
        for used, count in by_used.items():
            after[used] = after.get(used, 0) + used * count
            if used < n:
                after[used + 1] = after.get(used + 1, 0) + count
        by_used = after
    return sum(by_used.values())


@taking
def up_to_relabelling(n: Count, local_steps: Steps) -> Iterator[tuple[int, ...]]:
    """Every order of E - 1 refreshes of n components, one of each class: components are named as they first appear."""

    def extended(order: tuple[int, ...], used: int) -> Iterator[tuple[int, ...]]:
        if len(order) == local_steps - 1:
            yield order
            return
        for j in range(min(used + 1, n)):
            yield from extended((*order, j), max(used, j + 1))

    yield from extended((), 0)


@taking
def settled(n: Count, local_steps: Steps, turns: Count) -> tuple[int, ...]:
    """Components in turn at k = 1, ..., turns, and the last one of these again and again."""
    return tuple(min(k, turns - 1) % n for k in range(local_steps - 1))


_MEASURES: dict[str, Callable[[LocalWorst], Fraction]] = {
    "drift": lambda worst: worst.drift[-2],
    "error": lambda worst: worst.error[-1],
    "gradient_sum": lambda worst: worst.gradient_sum,
    "error_sum": lambda worst: worst.error_sum,
    "delayed_sum": lambda worst: worst.delayed_sum,
}


@taking
def measure(quantity: Annotated[str, one_of(*_MEASURES)], worst: LocalWorst) -> Fraction:
    """A quantity of `worst_order` in the worst case of one order."""
    return _MEASURES[quantity](worst)


@taking
def worst_order(
    quantity: Annotated[str, one_of(*_MEASURES)], *, n: Count, local_steps: Steps, step: Step
) -> tuple[int, ...]:
    """An order, the refreshes at k = 1, ..., E - 1, that makes a quantity as large as any order does: "drift" or
    "error" (at k = E - 1, where it is largest over k and orders), "gradient_sum", "error_sum" or "delayed_sum". n is
    the number of components, and `step` beta L.
    """
    if quantity not in ("error", "error_sum"):
        return cyclic(n, local_steps)
    n, turns, weight, power = int(n), 1, Fraction(0), Fraction(1)
    # From i = E - 1 down to 2: the first weight that is not negative belongs to the last such i.
    for i in range(local_steps - 1, 1, -1):
        c = (n - 1) * (power - 1) - 1
        weight = c if quantity == "error" else weight + c
        if weight >= 0:
            turns = i
            break
        power *= 1 + Fraction(step) / n
    return settled(n, local_steps, turns)


def all_worst(n: int, local_steps: int, step: Fraction) -> Iterator[LocalWorst]:
    """The worst case of every order up to relabelling."""
    count = count_up_to_relabelling(n, local_steps)
    if count > LIMIT:
        raise InvalidInput(
            f"n = {n} and E = {local_steps} have {count} orders, too many to enumerate (the limit is "
            f"{LIMIT}): use a smaller n or E"
        )
    return (local_worst(order, n=n, step=step) for order in up_to_relabelling(n, local_steps))
