"""Where evidence comes from: small exact problems, and random problems to run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import Any

import numpy as np

from cflag_theory.kernels import (
    Algorithm,
    Memory,
    Problem,
    Trace,
    everything,
    random_glm,
    random_quadratic,
    random_separable,
    rotation_bias,
    sign_bias,
    simulate,
    uniform,
)
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.problems.by_name import quadratic
from cflag_theory.kernels.problems.objective import component_gradient, gradients
from cflag_theory.kernels.problems.problem import Components

#: A component a x^2 / 2 - b x on the line, as (a, b).
Component = tuple[int | Fraction, int | Fraction]


def on_the_line(
    past: Sequence[Sequence[Component]],
    current: Sequence[Sequence[Component]],
    *,
    start: int | Fraction,
    L: int | Fraction,
    p: Sequence[Fraction] | None = None,
) -> Problem:
    """An exact problem on R^1: for each client its past and current components a x^2 / 2 - b x."""

    def arrays(clients: Sequence[Sequence[Component]]) -> tuple[Array, Array, Array]:
        flat = [(i, Fraction(a), Fraction(b)) for i, components in enumerate(clients) for a, b in components]
        curvatures = np.array([a for _, a, _ in flat], dtype=object).reshape(-1, 1, 1)
        slopes = np.array([b for _, _, b in flat], dtype=object).reshape(-1, 1)
        return curvatures, slopes, np.array([i for i, _, _ in flat])

    weights = [Fraction(1, len(past))] * len(past) if p is None else list(p)
    return quadratic(
        *arrays(past),
        *arrays(current),
        L=Fraction(L),
        p=np.array(weights, dtype=object),
        start=np.array([Fraction(start)], dtype=object),
    )


def described(problem: Problem) -> str:
    """An exact problem on the line in words."""

    def slopes(part: Components, j: int) -> list[Fraction]:
        return [component_gradient(problem.potential, part, j, np.array([Fraction(x)]))[0] for x in (0, 1)]

    def shown(part: Components) -> str:
        pairs = [slopes(part, j) for j in range(int(part.client_start[-1]))]
        words = [f"({there - here}, {-here})" for here, there in pairs]
        return "; ".join(" ".join(words[a:b]) for a, b in pairwise(part.client_start.tolist()))

    return (
        f"N = {problem.clients}, p = {', '.join(map(str, problem.p))}, components (a, b) of a x^2/2 - b x by client: "
        f"past {shown(problem.past)}, current {shown(problem.current)}; x_0 = {problem.start[0]}, L = "
        f"{problem.constants['L'].value}"
    )


def exact_run(
    problem: Problem,
    *,
    alpha: int | Fraction,
    beta: int | Fraction,
    local_steps: int,
    rounds: int = 1,
    algorithm: str | Algorithm = "c_flag",
    memory: Memory | None = None,
    seed: int = 0,
    orders: Array | None = None,
    diagnostics: str = "cheap",
) -> Trace:
    """Algorithm 1, or another, in exact arithmetic, with its iterates; without a memory, all of the past is kept.

    `orders` and `diagnostics` as in `simulate`.
    """
    return simulate(
        problem,
        algorithm,
        alpha=alpha,
        beta=beta,
        local_steps=local_steps,
        rounds=rounds,
        memory=everything() if memory is None else memory,
        seed=seed,
        engine="reference",
        diagnostics=diagnostics,
        iterates=True,
        orders=orders,
    )


def visited(trace: Trace) -> list[Fraction]:
    """x_0, ..., x_T on the line."""
    assert trace.iterates is not None
    return list(trace.iterates[0, :, 0])


def slopes(problem: Problem, at: Fraction | None = None) -> tuple[Fraction, Fraction]:
    """grad f_memory with all of the past kept, and grad g, on the line: at x_0 by default."""
    x = problem.start if at is None else np.array([at], dtype=object)
    f, g = (problem.p @ gradients(problem.potential, part, x) for part in (problem.past, problem.current))
    return f[0], g[0]


def root(square: Fraction) -> Fraction:
    """The root of a rational square; on the line every norm is rational."""
    found = Fraction(isqrt(square.numerator), isqrt(square.denominator))
    if found**2 != square:
        raise ValueError(f"{square} has no rational root")
    return found


def rationals(rng: np.random.Generator, size: int, *, span: int = 6, denominator: int = 4) -> list[Fraction]:
    """Small fractions in [-span/denominator, span/denominator]."""
    return [Fraction(int(v), denominator) for v in rng.integers(-span, span + 1, size)]


def random_problem(family: int, clients: int, components: int, dimension: int, seed: int) -> Problem:
    """A random problem: 0 generalized linear, 1 quadratic, 2 separable."""
    size: dict[str, Any] = {"clients": clients, "dimension": dimension, "seed": seed}
    potential = ("cauchy", "geman_mcclure", "cosine")[seed % 3]
    if family == 0:
        return random_glm(components=components, potential=potential, **size)
    if family == 1:
        return random_quadratic(components=components, **size)
    return random_separable(past=components, current=components, potential=potential, conflict=0.5, **size)


@dataclass(frozen=True)
class Run:
    """A simulated run with the numbers it was started from.

    Every component, and so f, g and h, is L-smooth; f, g and h are `L_objective`-smooth.
    """

    problem: Problem
    memory: Memory
    trace: Trace
    alpha: float
    beta: float
    local_steps: int
    seed: int
    L: float
    L_objective: float

    @property
    def rounds(self) -> int:
        """T."""
        return int(self.trace.column("f").shape[1])

    def root(self, name: str) -> Array:
        """The root of a column of squared norms."""
        return self.trace.root(name)

    def first_round(self, local_steps: int) -> Trace:
        """The first round again, with another number of local steps."""
        return _simulate(self.problem, self.memory, self.alpha, self.beta, local_steps, 1, self.seed)


def _simulate(
    problem: Problem, memory: Memory, alpha: float, beta: float, local_steps: int, rounds: int, seed: int
) -> Trace:
    return simulate(
        problem,
        "c_flag",
        alpha=alpha,
        beta=beta,
        local_steps=local_steps,
        rounds=rounds,
        memory=memory,
        replicas=3,
        seed=seed,
        diagnostics="all",
        threads=1,
        throw=False,
    )


def random_runs(seed: int, count: int, *, beta_limit: float, alpha_limit: float = 2.0) -> Iterator[Run]:
    """C-FLAG on random problems of every family, with every kind of memory.

    Each has up to 4 clients, 6 components a client, 4 dimensions and 8 local steps, runs 5 rounds in 3 replicas, and
    draws beta L E up to `beta_limit` (which it reaches) and L alpha up to `alpha_limit`, with L of the components.
    """
    rng = np.random.default_rng([seed, 177])
    for case in range(count):
        clients, components, dimension = int(rng.integers(1, 5)), int(rng.integers(1, 7)), int(rng.integers(2, 5))
        local_steps = int(rng.integers(1, 9))
        problem = random_problem(case % 3, clients, components, dimension, int(rng.integers(1 << 31)))
        memory: Memory = (
            everything(),
            uniform(int(rng.integers(1, components + 1)), redraw=bool(case % 2)),
            sign_bias(m=float(rng.uniform(0, 1.5)), redraw=True),
            rotation_bias(m=float(rng.uniform(0, 1.5)), angle=float(rng.uniform(0, np.pi))),
        )[case // 3 % 4]
        L_objective, of_components = (float(problem.constants[name].value) for name in ("L", "L_component"))
        L = max(L_objective, of_components)
        beta = (1.0 if case % 4 == 0 else rng.uniform(0.05, 1)) * beta_limit / (L * local_steps)
        alpha = float(rng.uniform(0.05, 1)) * alpha_limit / L
        draws = int(rng.integers(1 << 31))
        trace = _simulate(problem, memory, alpha, beta, local_steps, 5, draws)
        yield Run(problem, memory, trace, alpha, beta, local_steps, draws, L, L_objective)
