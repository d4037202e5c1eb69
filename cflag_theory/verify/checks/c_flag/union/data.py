"""Data of (67)-(68) on the line: memory and current components of every client, and the instances that matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cflag_theory.kernels import Problem, Trace
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.witnesses.instances import Component, exact_run, on_the_line, rationals, root

Clients = Sequence[Sequence[Component]]
#: Of every replay of a round.
SEED = 68


@dataclass(frozen=True)
class Union:
    """Memory and current components of clients on the line, and where a run starts."""

    memory: Clients
    current: Clients
    start: Fraction
    p: tuple[Fraction, ...]
    note: str = ""

    @property
    def words(self) -> str:
        """The data in words."""
        return (
            f"N = {len(self.p)}, p = {', '.join(map(str, self.p))}, memory {_show(self.memory)}, current data "
            f"{_show(self.current)}, x_0 = {self.start}, L = 1.{self.note}"
        )

    def problem(self) -> Problem:
        """Past data M u C and current data M u C."""
        both = [[*kept, *new] for kept, new in zip(self.memory, self.current, strict=True)]
        return on_the_line(both, both, start=self.start, L=max(Fraction(1), kept_smoothness(self)), p=self.p)


def _show(clients: Clients) -> str:
    return "; ".join(", ".join(f"({a}) x^2/2 - ({b}) x" for a, b in components) for components in clients)


def single(memory: Sequence[Component], current: Sequence[Component], start: Fraction | int) -> Union:
    """One client."""
    return Union([memory], [current], Fraction(start), (Fraction(1),))


def random_unions(count: int, seed: int = SEED) -> Iterator[tuple[Union, int]]:
    """Unions with up to three clients and up to two components a task, and E up to 4."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        clients = int(rng.integers(1, 4))
        tasks: list[list[list[Component]]] = [
            [
                list(zip(rationals(rng, n, span=4), rationals(rng, n), strict=True))
                for n in rng.integers(1, 3, clients).tolist()
            ]
            for _ in range(2)
        ]
        raw = [int(v) for v in rng.integers(1, 4, clients)]
        p = tuple(Fraction(v, sum(raw)) for v in raw)
        start = rationals(rng, 1)[0]
        yield Union(tasks[0], tasks[1], start, p), int(rng.integers(1, 5))


@dataclass(frozen=True, eq=False)
class UnionRun:
    """An exact run from the start of a union, and h~ along it, which its trace calls `loss`; L = 1."""

    union: Union
    alpha: Fraction
    beta: Fraction
    local_steps: int
    trace: Trace
    loss: str = "f"
    L: Fraction = Fraction(1)

    @cached_property
    def path(self) -> list[Fraction]:
        """h~(x_0), ..., h~(x_T)."""
        return [*self.trace.column(self.loss)[0].tolist(), self.trace.at_end(self.loss)[0]]

    @property
    def sizes2(self) -> list[Fraction]:
        """||grad h~(x_t)||^2 for t = 0, ..., T - 1."""
        found: list[Fraction] = self.trace.column(f"grad_{self.loss}2")[0].tolist()
        return found

    rounds = property(lambda self: len(self.sizes2))
    first = before = property(lambda self: self.path[0])
    after = property(lambda self: self.path[1])
    last = property(lambda self: self.path[-1])
    size = property(lambda self: root(self.sizes2[0]))
    least = property(lambda self: min(self.sizes2))
    L_memory = property(lambda self: kept_smoothness(self.union))


def run_union(union: Union, step: Fraction, steps: int, rounds: int) -> UnionRun:
    """(67)-(68) in exact arithmetic."""
    trace = exact_run(union.problem(), alpha=step, beta=step, local_steps=steps, rounds=rounds, seed=SEED)
    return UnionRun(union, step, step, steps, trace)


def by_sizes(union: Union, at: Fraction) -> tuple[Fraction, Fraction]:
    """h~ of (3), (|M| f_memory + |C| g) / (|M| + |C|), and its slope."""
    sizes = [sum(map(len, task)) for task in (union.memory, union.current)]
    value = slope = Fraction(0)
    for size, task in zip(sizes, (union.memory, union.current), strict=True):
        for p, components in zip(union.p, task, strict=True):
            weight = Fraction(size, sum(sizes)) * p / len(components)
            value += weight * sum((a * at**2 / 2 - b * at for a, b in components), Fraction(0))
            slope += weight * sum((a * at - b for a, b in components), Fraction(0))
    return value, slope


def shares(union: Union) -> tuple[list[Fraction], Fraction, Fraction]:
    """Every client's share of memory, the total share, and the spread sum_i p_i (s_i - s)^2."""
    kept, new = ([len(c) for c in task] for task in (union.memory, union.current))
    total = Fraction(sum(kept), sum(kept) + sum(new))
    own = [Fraction(a, a + b) for a, b in zip(kept, new, strict=True)]
    spread = sum((p * (s - total) ** 2 for p, s in zip(union.p, own, strict=True)), Fraction(0))
    return own, total, spread


def kept_smoothness(union: Union) -> Fraction:
    """The largest smoothness constant of a component in memory or among the current data."""
    return max(abs(Fraction(a)) for components in (*union.memory, *union.current) for a, _ in components)


# h~ = x^2/4 + (x^2/2 - x)/2 is -1/8 at its minimiser 1/2, where nothing moves.
AT_REST = single([(1, 0)], [(1, 1)], Fraction(1, 2))
CONVEX = single([(1, 0)], [(1, 0)], 1)
LINEAR = single([(1, 1)], [(-1, 1)], 0)


def _steep() -> Union:
    """Past data 89 x^2/2 and -89 x^2/2, of which the first is kept: Assumption 1 holds with L = 1."""
    past: list[Component] = [(89, 0), (-89, 0)]
    current: list[Component] = [(1, 0)]
    for data in (past, current, past + current):
        assert abs(sum((Fraction(a) for a, _ in data), Fraction(0))) <= len(data)
    note = f" Past data {_show([past])}, of which the first is kept: f, g and h are 1-smooth."
    return replace(single(past[:1], current, 1), note=note)


def _uneven() -> Union:
    """Two clients whose shares of memory are 1/5 and 4/5: the gradient of h~ by (3) vanishes at x_0."""
    memory: list[list[Component]] = [[(1, 0)], [(1, 2)] * 4]
    current: list[list[Component]] = [[(1, -4)] * 4, [(1, 2)]]
    return Union(memory, current, Fraction(0), (Fraction(1, 2),) * 2)


#: Shares 1/2 and 1/4 of memory, and grad f_memory = 0: sum_i p_i grad h~_i vanishes at x_0, and grad g = 1/2 does not.
APART = Union([[(1, 0)], [(1, 0)]], [[(1, -3)], [(1, 2)] * 3], Fraction(0), (Fraction(1, 2),) * 2)
STEEP = _steep()
UNEVEN = _uneven()
