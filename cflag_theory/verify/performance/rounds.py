"""Rounds of the algorithms for vectors of any kind: unknowns of a semidefinite problem, or arrays of its instance.

Written from the papers' update rows, not from the simulator's loop, which is the other witness.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any, Protocol

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.numbers import Ints
from cflag_theory.verify.instances.orders import count_up_to_relabelling, up_to_relabelling
from cflag_theory.verify.instances.recursions import check_size

#: More rounds than this are not put into one semidefinite problem.
MOST_ROUNDS = 4
#: More sequences than this are not enumerated.
MOST_ORDERS = 5000


class World(Protocol):
    """Where an algorithm is played: among unknowns, or on the arrays of an instance."""

    zero: Any

    def gradient(self, client: int, component: int, x: Any) -> Any:
        """The gradient of a component at x."""

    def value(self, x: Any, weights: Sequence[float]) -> Any:
        """The mean over the first clients, with these weights, of the mean of their components at x."""

    def vector(self, name: str) -> Any:
        """A vector that is free within the hypotheses."""

    def dot(self, a: Any, b: Any) -> Any:
        """The inner product."""


@dataclass(frozen=True)
class Rule:
    """What a round does, in units of L = 1.

    Attributes
    ----------
    delayed : bool
        Whether a local step moves against the delayed gradient (5), full at k = 0 and with one component refreshed at
        every k >= 1, or against the gradient of the component drawn at k.
    tracking : bool
        Whether grad g(x_t) - grad g_i(x_t) is added, as in (4) and (67).
    server_gradient : bool
        Whether the server also moves by -beta grad h~(x_t), as in (68).
    beta : float
        Step size of the local steps.
    E : int
        Local steps.
    p : tuple of float
        The clients' weights.
    """

    delayed: bool
    tracking: bool
    server_gradient: bool
    beta: float
    E: int
    p: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class Round:
    """One round: x_t, the components' and the mean gradient there, the clients' points and estimates, S, x_{t+1}."""

    start: Any
    components: list[list[Any]]
    gradient: Any
    points: list[list[Any]]
    estimates: list[list[Any]]
    S: Any
    after: Any


def weighted(weights: Sequence[float], vectors: Sequence[Any]) -> Any:
    """The sum of weight times vector."""
    total = weights[0] * vectors[0]
    for weight, vector in zip(weights[1:], vectors[1:], strict=True):
        total = total + weight * vector
    return total


def mean(vectors: Sequence[Any]) -> Any:
    """The plain mean."""
    return weighted([1 / len(vectors)] * len(vectors), vectors)


def play(
    world: World,
    rule: Rule,
    orders: Ints,
    components: Sequence[int],
    offset: Callable[[int, int], Any] | None = None,
) -> list[Round]:
    """Play the rounds of `orders`, shape (rounds, N, E), from x_0 = 0, where every translation can bring it.

    `offset(t, i)` is added to every estimate of client i in round t.
    """
    found, x = [], world.zero
    for t in range(len(orders)):
        at = [[world.gradient(i, j, x) for j in range(count)] for i, count in enumerate(components)]
        means = [mean(row) for row in at]
        gradient = weighted(rule.p, means)
        points, estimates = [], []
        for i in range(len(components)):
            table, local, path, used = list(at[i]), x, [x], []
            for k in range(rule.E):
                j = int(orders[t, i, k])
                if rule.delayed:
                    if k > 0:
                        table[j] = world.gradient(i, j, local)
                    estimate = mean(table)
                else:
                    estimate = world.gradient(i, j, local)
                if offset is not None:
                    estimate = estimate + offset(t, i)
                step = estimate + gradient - means[i] if rule.tracking else estimate
                local = local - rule.beta * step
                path.append(local)
                used.append(estimate)
            points.append(path)
            estimates.append(used)
        S = weighted(rule.p, [weighted([1.0] * rule.E, used) for used in estimates])
        # The tracking terms of all clients sum to zero.
        after = x - rule.beta * (S + gradient if rule.server_gradient else S)
        found.append(Round(x, at, gradient, points, estimates, S, after))
        x = after
    return found


def orders_up_to_relabelling(
    n: int, E: int, *, clients: int = 1, rounds: int = 1, delayed: bool = True
) -> tuple[Ints, ...]:
    """All sample orders, one of each class that renaming components, or clients of equal weight, makes equal.

    Worst cases do not change under renaming, since every component fits the same hypotheses; only "drift" of
    `solve_algorithm` is about the first client and no other.

    Parameters
    ----------
    n, E : int
        Components of a client and local steps, at least 1.
    clients, rounds : int
        N and T, at least 1. Names of components are kept over the rounds.
    delayed : bool
        For delayed gradients the entry at k = 0 is not read, and is 0; otherwise it counts.

    Returns
    -------
    tuple of (rounds, clients, E) arrays of int
        In the form that ``simulate(orders=...)`` takes, lexicographically sorted for one client.
    """
    n, E = check_size("n", n, 1), check_size("E", E, 1)
    clients, rounds = check_size("clients", clients, 1), check_size("rounds", rounds, 1)
    read = E - 1 if delayed else E
    # The enumeration of one client's refreshes takes local steps, of which the first one refreshes nothing.
    length = rounds * read + 1
    total = math.comb(count_up_to_relabelling(n, length) + clients - 1, clients)
    if total > MOST_ORDERS:
        raise InvalidInput(f"there are {total} orders, more than {MOST_ORDERS}: use smaller n, E, clients or rounds")
    found = []
    for chosen in combinations_with_replacement(up_to_relabelling(n, length), clients):
        order = np.zeros((rounds, clients, E), dtype=np.int64)
        for i, sequence in enumerate(chosen):
            order[:, i, E - read :] = np.array(sequence, dtype=np.int64).reshape(rounds, read)
        order.setflags(write=False)
        found.append(order)
    return tuple(found)


def check_rounds(name: str, value: Any) -> int:
    """A number of rounds, 1 to `MOST_ROUNDS`."""
    rounds = check_size(name, value, 1)
    if rounds > MOST_ROUNDS:
        raise InvalidInput(f"{name} is {rounds}: use 1 to {MOST_ROUNDS} rounds")
    return rounds


def as_orders(order: Any, *, n: int, E: int, clients: int = 1, rounds: int = 1) -> Ints:
    """Orders as a (rounds, clients, E) array: as given, or E indices that every client uses in every round."""
    shape = (rounds, clients, E)
    try:
        array = np.array(order)
    except ValueError as error:
        raise InvalidInput(f"order {order!r} has rows of unequal length: give {E} indices") from error
    if array.dtype.kind not in "iu":
        raise InvalidInput(f"order {order!r} does not hold integers: give component indices from 0 to {n - 1}")
    if array.shape == (E,):
        array = np.broadcast_to(array, shape)
    if array.shape != shape:
        raise InvalidInput(f"order has shape {array.shape}: give {E} indices, or an array of shape {shape}")
    if array.min() < 0 or array.max() >= n:
        raise InvalidInput(f"order holds {sorted(set(array.ravel().tolist()))}: indices run from 0 to {n - 1}")
    array = array.astype(np.int64)
    array.setflags(write=False)
    return array
