"""Memory and current data of clients on the line, and exact runs on them: (67)-(68), and Algorithm 1.

(67)-(68) with a step size beta are Algorithm 1 with alpha = beta whose past and current data are both the union of
memory and current data: its memory gradient is then grad h~, and its trace records h~ as f.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import combinations

import numpy as np

from cflag_theory.kernels import Problem, Trace
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.instances.on_the_line import (
    Component,
    exact_run,
    on_the_line,
    rationals,
    root,
    slopes,
    visited,
)

Clients = Sequence[Sequence[Component]]
#: Of every replay of a round.
SEED = 68
_ZERO, _ONE, _HALF = Fraction(0), Fraction(1), Fraction(1, 2)


@dataclass(frozen=True)
class Union:
    """Memory and current components of clients on the line, and where a run starts."""

    memory: Clients
    current: Clients
    start: Fraction
    p: tuple[Fraction, ...] = (_ONE,)
    note: str = ""

    @property
    def words(self) -> str:
        """The data in words."""
        return (
            f"N = {len(self.p)}, p = {', '.join(map(str, self.p))}, memory {_show(self.memory)}, current data "
            f"{_show(self.current)}, x_0 = {self.start}, L = 1.{self.note}"
        )

    @property
    def data(self) -> list[tuple[Fraction, list[Component], list[Component]]]:
        """Of every client the weight, the memory and the current components."""
        return [(p, [*kept], [*new]) for p, kept, new in zip(self.p, self.memory, self.current, strict=True)]

    def problem(self, separate: bool = False) -> Problem:
        """Past data M u C and current data M u C, or past data M and current data C."""
        both = [kept + new for _, kept, new in self.data]
        past, current = (self.memory, self.current) if separate else (both, both)
        return on_the_line(past, current, start=self.start, L=max(_ONE, self.smoothness), p=self.p)

    @property
    def smoothness(self) -> Fraction:
        """The largest smoothness constant of a component in memory or among the current data."""
        return max(abs(Fraction(a)) for components in (*self.memory, *self.current) for a, _ in components)

    @property
    def share(self) -> Fraction:
        """|M| / (|M| + |C|)."""
        kept, new = (sum(map(len, task)) for task in (self.memory, self.current))
        return Fraction(kept, kept + new)

    @property
    def spread(self) -> Fraction:
        """sum_i p_i (s_i - s)^2 of the clients' shares."""
        shares = [(p, Fraction(len(kept), len(kept) + len(new))) for p, kept, new in self.data]
        return sum((p * (own - self.share) ** 2 for p, own in shares), _ZERO)

    def by_sizes(self, at: Fraction) -> tuple[Fraction, Fraction]:
        """h~ of (3), (|M| f_memory + |C| g) / (|M| + |C|), and its slope."""
        value = slope = _ZERO
        for share, task in ((self.share, self.memory), (1 - self.share, self.current)):
            for p, components in zip(self.p, task, strict=True):
                weight = share * p / len(components)
                value += weight * sum((a * at**2 / 2 - b * at for a, b in components), _ZERO)
                slope += weight * sum((a * at - b for a, b in components), _ZERO)
        return value, slope

    @property
    def omega2(self) -> Fraction:
        """omega^2 over all C^i in D^i in M^i u C^i, for components of one curvature: every gap is constant in x."""
        assert len({a for task in (self.memory, self.current) for components in task for a, _ in components}) == 1
        return sum((p * max(self._gaps(kept, new)) for p, kept, new in self.data), _ZERO)

    @property
    def gap2(self) -> Fraction:
        """sum_i p_i ||grad g_i - grad h~_i||^2, for components of one curvature."""
        return sum((p * self._gaps(kept, new)[0] for p, kept, new in self.data), _ZERO)

    def _gaps(self, kept: list[Component], new: list[Component]) -> list[Fraction]:
        """The gap of every D^i, that of C^i first."""
        parts = [list(part) for size in range(len(kept) + 1) for part in combinations(kept, size)]
        return [(_mean(part + new) - _mean(kept + new)) ** 2 for part in parts]


def _mean(components: list[Component]) -> Fraction:
    return sum((Fraction(b) for _, b in components), _ZERO) / len(components)


def _show(clients: Clients) -> str:
    return "; ".join(", ".join(f"({a}) x^2/2 - ({b}) x" for a, b in components) for components in clients)


@dataclass(frozen=True, eq=False)
class UnionRun:
    """An exact run from the start of a union: (67)-(68), or `separate`, Algorithm 1 with all of the memory kept; L = 1.

    Its first round is round t.
    """

    union: Union
    alpha: Fraction
    beta: Fraction
    local_steps: int
    rounds: int = 1
    separate: bool = False
    L: Fraction = _ONE
    t: int = 0

    @property
    def words(self) -> str:
        """The data and what runs on them."""
        what = f"Algorithm 1 with alpha = {self.alpha}," if self.separate else "(67)-(68) with"
        return f"{self.union.words} {what} beta = {self.beta}, E = {self.local_steps}, seed {SEED}."

    @cached_property
    def trace(self) -> Trace:
        """The run in the exact simulation."""
        problem, steps = self.union.problem(self.separate), self.local_steps
        return exact_run(problem, alpha=self.alpha, beta=self.beta, local_steps=steps, rounds=self.rounds, seed=SEED)

    @property
    def visited(self) -> list[Fraction]:
        """x_0, ..., x_T."""
        return visited(self.trace)

    def at(self, x: Fraction) -> UnionRun:
        """The same from another start."""
        return replace(self, union=replace(self.union, start=x))

    def path(self, name: str) -> list[Fraction]:
        """A column with its value at the end."""
        return [*self.trace.column(name)[0].tolist(), self.trace.at_end(name)[0]]

    @cached_property
    def losses(self) -> list[Fraction]:
        """h~(x_0), ..., h~(x_T)."""
        return self.path("h" if self.separate else "f")

    @property
    def sizes2(self) -> list[Fraction]:
        """||grad h~(x_t)||^2 for t = 0, ..., T - 1."""
        found: list[Fraction] = self.trace.column("grad_h2" if self.separate else "grad_f2")[0].tolist()
        return found

    @property
    def by_sizes(self) -> list[tuple[Fraction, Fraction]]:
        """h~ of (3) and its slope at x_0, ..., x_T, where all shares are equal: elsewhere it would take other steps."""
        assert self.union.spread == 0
        return [self.union.by_sizes(x) for x in self.visited]

    first = before = property(lambda self: self.losses[0])
    after = property(lambda self: self.losses[1])
    last = property(lambda self: self.losses[-1])
    size = property(lambda self: root(self.sizes2[0]))
    least = property(lambda self: min(self.sizes2))
    L_memory = property(lambda self: self.union.smoothness)
    x = property(lambda self: self.union.start)
    # grad f_memory and grad g, and the gradient of h~ = sum_i p_i h~_i, at x_0.
    f_memory = property(lambda self: slopes(self.union.problem(True))[0])
    g = property(lambda self: slopes(self.union.problem(True))[1])
    h = property(lambda self: slopes(self.union.problem())[0])
    ratio = property(lambda self: abs(self.f_memory / self.g) if self.g else _ZERO)

    @property
    def S(self) -> Fraction:
        """S of the first round: from Lambda_i = grad f_memory a_i, or by (24) where that vanishes."""
        gradient = self.f_memory if self.separate else self.h
        if gradient:
            found: Fraction = self.trace.column("Lambda")[0, 0] @ np.array(self.union.p, dtype=object) / gradient
            return found
        before, after = self.visited[:2]
        return Fraction((before - after - self.alpha * gradient) / self.beta)

    # Of Algorithm 1, and of (67)-(68) whose memory gradient is grad h~: x_mean takes the last term of (68) away again.
    S_own = property(lambda self: replace(self, separate=True).S)
    S_union = property(lambda self: replace(self, separate=False).S)
    x_mean = property(lambda self: replace(self, separate=False).visited[1] + self.beta * self.h)

    @property
    def targets(self) -> list[Fraction]:
        """(alpha f_memory + beta E g) / (alpha + beta E) at x_0, ..., x_T."""
        return [self._weighed(f, g) for f, g in zip(self.path("f"), self.path("g"), strict=True)]

    @property
    def least_target(self) -> Fraction:
        """The least square of its slope."""
        return min(self._weighed(*slopes(self.union.problem(True), x)) ** 2 for x in self.visited[:-1])

    def _weighed(self, f: Fraction, g: Fraction) -> Fraction:
        weight = self.alpha / (self.alpha + self.beta * self.local_steps)
        return weight * f + (1 - weight) * g

    @property
    def curvature(self) -> Fraction:
        """|f_memory''|."""
        return abs(sum((p * sum(Fraction(a) for a, _ in kept) / len(kept) for p, kept, _ in self.union.data), _ZERO))


class UnevenRound(UnionRun):
    """A round of (67)-(68) with the h~ of (3) for E = 1, where it needs no table of delayed gradients."""

    @property
    def words(self) -> str:
        """The data and the two gradients that differ."""
        slope = self.union.by_sizes(self.x)[1]
        told = f"grad h~(x_0) = {slope}, sum_i p_i grad h~_i(x_0) = {self.h}."
        return f"{self.union.words} (67)-(68) with h~ by (3): {told}"

    @property
    def by_sizes(self) -> list[tuple[Fraction, Fraction]]:
        """h~ of (3) and its slope before the round and after it."""
        before = self.union.by_sizes(self.x)
        return [before, self.union.by_sizes(self.x - self.beta * (before[1] + self.h))]


def single(memory: Sequence[Component], current: Sequence[Component], start: Fraction | int) -> Union:
    """One client."""
    return Union([memory], [current], Fraction(start))


def union_run(
    beta: Fraction,
    E: int,
    T: int = 1,
    *,
    kept: Fraction,
    pull: Fraction,
    curve: Fraction,
    push: Fraction,
    start: Fraction,
    alpha: Fraction = _ZERO,
) -> UnionRun:
    """One client, f_memory = kept x^2/2 - pull x and g = curve x^2/2 - push x; with `alpha`, Algorithm 1."""
    union = single([(kept, pull)], [(curve, push)], start)
    # The first of two past components, of mean 0: f, g and h are 1-smooth, which is Assumption 1.
    note = f" Past data {_show([[(kept, 0), (-kept, 0)]])}, of which the first is kept: f, g and h are 1-smooth."
    if union.smoothness > 1:
        assert abs(curve) <= pull + 1 == 1
        union = replace(union, note=note)
    return UnionRun(union, alpha or beta, beta, E, T, bool(alpha))


@cache
def random_unions(count: int = 12) -> tuple[tuple[Union, int], ...]:
    """Unions with up to three clients and up to two components a task, and E up to 4."""
    rng = np.random.default_rng(SEED)
    found = []
    for _ in range(count):
        clients = int(rng.integers(1, 4))
        memory, current = (
            [
                list(zip(rationals(rng, n, span=4), rationals(rng, n), strict=True))
                for n in rng.integers(1, 3, clients).tolist()
            ]
            for _ in range(2)
        )
        raw = [int(v) for v in rng.integers(1, 4, clients)]
        start = rationals(rng, 1)[0]
        found.append(
            (Union(memory, current, start, tuple(Fraction(v, sum(raw)) for v in raw)), int(rng.integers(1, 5)))
        )
    return tuple(found)


def random_union(
    number: int, share: Fraction, T: int = 1, more: int = 0, alpha: Fraction = _ZERO, separate: int = 0
) -> UnionRun:
    """A run on a random union with its E and beta = share/(E + more); with `alpha` or `separate`, Algorithm 1."""
    union, E = random_unions()[number]
    beta = Fraction(share) / (E + more)
    return UnionRun(union, alpha or beta, beta, E, T, bool(alpha or separate))


# h~ = x^2/4 + (x^2/2 - x)/2 is -1/8 at its minimiser 1/2, where nothing moves.
AT_REST = single([(1, 0)], [(1, 1)], _HALF)
#: Shares 1/2 and 1/4 of memory, and grad f_memory = 0: sum_i p_i grad h~_i vanishes at x_0, and grad g = 1/2 does not.
APART = Union([[(1, 0)], [(1, 0)]], [[(1, -3)], [(1, 2)] * 3], _ZERO, (_HALF,) * 2)
#: Shares 1/5 and 4/5 of memory: the gradient of h~ by (3) vanishes at x_0.
UNEVEN = Union([[(1, 0)], [(1, 2)] * 4], [[(1, -4)] * 4, [(1, 2)]], _ZERO, (_HALF,) * 2)


def uneven_round() -> UnionRun:
    """On unequal shares, with the h~ of (3)."""
    return UnevenRound(UNEVEN, Fraction(1, 30), Fraction(1, 30), 1)
