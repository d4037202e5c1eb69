"""Rounds in which one of N clients takes part, drawn uniformly: the expected worst case, in which N matters.

Client i is asked at points that depend on who was drawn before, a. Under permutations of the clients a family over i is
a mean and a deviation d_i, one over pairs i != a is m + r_i + c_a + s_ia + w_ia with s symmetric, w antisymmetric and
zero sums over either index. So four Gram matrices hold all that expectations see: of all m; of all d, r and c; of all
s; of all w. Inner products of different indices are rational in N.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np

from cflag_theory.kernels.numbers import Array
from cflag_theory.worstcase.attaining import Attained
from cflag_theory.worstcase.hulls import WorstFunction
from cflag_theory.worstcase.hulls import root as root_of
from cflag_theory.worstcase.methods import VALUE, Setting
from cflag_theory.worstcase.model import Function, Problem
from cflag_theory.worstcase.solving import Solution
from cflag_theory.worstcase.vectors import Form, mixed

#: Clients up to which all of them are written down and all draws are run.
_RUN = 6
#: An atom: its block, its number in it, and whose it is.
Atom = tuple[int, int, tuple[int, ...]]


class Indexed:
    """A vector that belongs to clients by name: coefficients of atoms."""

    def __init__(self, of: Mapping[Atom, Fraction] | None = None) -> None:
        self.of = dict(of or {})

    def __add__(self, other: Indexed) -> Indexed:
        return Indexed(mixed(self.of, Fraction(1), other.of, Fraction(1)))

    def __sub__(self, other: Indexed) -> Indexed:
        return Indexed(mixed(self.of, Fraction(1), other.of, Fraction(-1)))

    def __rmul__(self, by: Fraction) -> Indexed:
        return Indexed({atom: by * value for atom, value in self.of.items()})


def _overlap(block: int, one: tuple[int, ...], other: tuple[int, ...], N: int) -> Fraction:
    """The inner product of unit generators of a block at two indices."""
    if one == other:
        return Fraction(1)
    if block == 1:
        return Fraction(-1, N - 1)
    sign = 1 if block == 2 else -1
    (i, a), (j, b) = one, other
    if (i, a) == (b, j):
        return Fraction(sign)
    if i == j or a == b:
        return Fraction(-1, N - 2)
    if i == b or a == j:
        return Fraction(-sign, N - 2)
    return Fraction(2, (N - 2) * (N - 3)) if block == 2 else Fraction(0)


@dataclass(eq=False)
class Families:
    """The problem, and its vectors by index."""

    N: int
    problem: Problem

    def __post_init__(self) -> None:
        self.sizes = self.problem.blocks = [0, 0, 0, 0]

    def _new(self, block: int, index: tuple[int, ...] = ()) -> Atom:
        self.sizes[block] += 1
        return block, self.sizes[block] - 1, index

    def shared(self) -> Indexed:
        """A vector that is nobody's."""
        return Indexed({self._new(0): Fraction(1)})

    def single(self, *, mean: bool = True) -> Any:
        """i -> vector."""
        own = self._new(1)[1]
        start = self.shared() if mean else Indexed()
        return lambda i: start + Indexed({(1, own, (i,)): Fraction(1)})

    def double(self) -> Any:
        """(i, a) -> vector, for i != a."""
        start, r, one = self.shared(), self._new(1)[1], Fraction(1)
        # Of two clients the other is known; three have no symmetric part: there generators would depend on others.
        c = self._new(1)[1] if self.N > 2 else None
        pairs = [(block, self._new(block)[1]) for block in (2, 3) if {2: 4, 3: 3}[block] <= self.N]

        def at(i: int, a: int) -> Indexed:
            found: dict[Atom, Fraction] = {(block, k, (i, a)): one for block, k in pairs}
            found[1, r, (i,)] = one
            if c is not None:
                found[1, c, (a,)] = one
            return start + Indexed(found)

        return at

    def inner(self, u: Indexed, v: Indexed) -> Form:
        """Their inner product."""
        parts: list[dict[tuple[int, int], Fraction]] = [{}, {}, {}, {}]
        for ((block, k, one), x), ((of, j, other), y) in product(u.of.items(), v.of.items()):
            if block == of:
                pair = (min(k, j), max(k, j))
                parts[block][pair] = parts[block].get(pair, Fraction(0)) + x * y * _overlap(block, one, other, self.N)
        M, D, *others = parts
        return Form(M, D, others=tuple(others))

    def square(self, u: Indexed) -> Form:
        """Its squared length."""
        return self.inner(u, u)


@dataclass(frozen=True, eq=False)
class Drawn:
    """The families of a setting, its problem, and where client i is asked: (x, gradient, value) by index."""

    families: Families
    own: list[tuple[Any, Any, int]]
    others: list[tuple[Any, Any, int]]
    start: Indexed


def _local(setting: Setting, x: Any, ask: Any) -> Any:
    """The local steps from x, all as functions of indices; `ask(y)` is the gradient there."""
    step, W, rate = setting.step, Fraction(setting.row.proximal) / setting.L, Fraction(setting.row.server_rate)
    y = x
    for _ in range(setting.E):
        g = ask(y)
        y = _map(lambda y, g, x: y - step * (g + W * (y - x)), y, g, x)
    return _map(lambda y, x: x + rate * (y - x), y, x)


def _map(call: Any, *parts: Any) -> Any:
    return lambda *index: call(*(part(*index) for part in parts))


def pose_drawn(setting: Setting) -> Drawn:
    """One client of N drawn in each of T <= 2 rounds; "f" for one round. In units of L = 1 and of `Setting.unit`."""
    N, problem = setting.clients, Problem(setting.clients)
    families = Families(N, problem)
    start = families.shared()
    own: list[tuple[Any, Any, int]] = []
    others: list[tuple[Any, Any, int]] = []

    def single(y: Any) -> Any:
        own.append((y, families.single(), problem.new_value()))
        return own[-1][1]

    def double(y: Any) -> Any:
        others.append((y, families.double(), problem.new_value()))
        return others[-1][1]

    x_1 = _local(setting, lambda i: start, single)
    best = families.single(mean=False)
    own.append((lambda i: Indexed(), best, problem.new_value()))
    star = own[-1][2]
    same: Any = x_1
    other: Any = lambda i, a: x_1(a)  # noqa: E731
    if setting.T == 2:
        same, other = _local(setting, same, single), _local(setting, other, double)
    elif setting.measure == VALUE:
        single(same)
        double(other)
    a, b, c = Function(problem, setting.curvature).coefficients

    def bounded(one: tuple[Indexed, Indexed, int], below: tuple[Indexed, Indexed, int]) -> None:
        (x, g, value), (y, h, least) = one, below
        dx, dg = x - y, g - h
        found = Form(values={least: Fraction(1)}) + Form(values={value: Fraction(-1)})
        found += families.inner(h + b * dg, dx) + c * families.square(dg) + a * families.square(dx)
        problem.at_most(found)

    def at(drawn: int) -> list[tuple[Indexed, Indexed, int]]:
        return [(x(1, drawn), g(1, drawn), value) for x, g, value in others]

    for pair in permutations([(x(1), g(1), value) for x, g, value in own] + at(2), 2):
        bounded(*pair)
    for pair in product(at(2), at(3)) if N >= 3 else ():
        bounded(*pair)
    limit, spread = setting.bounds
    problem.at_most(families.square(start), limit, "the start")
    problem.at_most(families.square(best(1)), spread, "heterogeneity at x*")
    problem.fixed = own[0][2]
    again = Fraction(1, N)
    if setting.measure == VALUE:
        values = {others[-1][2]: 1 - again, own[-1][2]: again, star: Fraction(-1)}
        problem.maximise(Form(values=values))
    elif setting.T == 2:
        problem.maximise((1 - again) * families.square(other(1, 2)) + again * families.square(same(1)))
    else:
        problem.maximise(families.square(x_1(1)))
    return Drawn(families, own, others, start)


def attain_drawn(setting: Setting, drawn: Drawn, solution: Solution) -> Attained | None:
    """The mean over all draws of runs on all N clients' functions; None for many clients."""
    N = setting.clients
    if N > _RUN:
        return None
    clients = list(range(N))
    pairs = list(permutations(clients, 2))
    kinds: list[Sequence[tuple[int, ...]]] = [[()], [(i,) for i in clients], pairs, pairs]
    places: list[tuple[Array, dict[tuple[int, ...], Array]]] = []
    for block, (gram, indices) in enumerate(zip(solution.grams, kinds, strict=True)):
        overlaps = (
            np.array([[float(_overlap(block, one, two, N)) for two in indices] for one in indices])
            if len(gram)
            else np.zeros((len(indices), 0))
        )
        rows = root_of(overlaps) if len(gram) else overlaps
        places.append((root_of(gram), dict(zip(indices, rows, strict=True))))

    def placed(vector: Indexed) -> Array:
        found = [np.zeros(root.shape[1] * len(next(iter(at.values())))) for root, at in places]
        for (block, k, index), value in vector.of.items():
            root, at = places[block]
            found[block] += float(value) * np.kron(root[k], at[index])
        return np.concatenate(found)

    functions = []
    for i in clients:
        data = [(x(i), g(i), value) for x, g, value in drawn.own]
        data += [(x(i, a), g(i, a), value) for x, g, value in drawn.others for a in clients if a != i]
        x, g = (np.array([placed(vector) for vector in some]) for some in list(zip(*data, strict=True))[:2])
        values = np.array([solution.values[one[2]] for one in data])
        functions.append(WorstFunction.through(x, g, values, float(setting.curvature)))
    start = placed(drawn.start)
    zero = np.zeros_like(start)
    rest = np.mean([one.gradient(zero) for one in functions], axis=0)
    functions = [one.tilted(-rest) for one in functions]
    limit, spread = map(float, setting.bounds)
    scale = max(
        float(start @ start) / limit,
        float(np.mean([one.gradient(zero) @ one.gradient(zero) for one in functions])) / spread,
    )
    step, W, rate = (float(v) for v in (setting.step, setting.row.proximal / setting.L, setting.row.server_rate))
    ends = [start]
    for _ in range(setting.T):
        following = []
        for x, one in product(ends, functions):
            y = x
            for _ in range(setting.E):
                y = y - step * (one.gradient(y) + W * (y - x))
            following.append(x + rate * (y - x))
        ends = following
    if setting.measure == VALUE:
        gaps = [float(np.mean([one.value(x) - one.value(zero) for one in functions])) for x in ends]
    else:
        gaps = [float(x @ x) for x in ends]
    value = float(np.mean(gaps)) / scale * float(setting.factor)
    return Attained(value, tuple(functions), start[None], scale, np.zeros((0, len(start))))
