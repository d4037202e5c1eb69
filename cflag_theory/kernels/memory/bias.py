"""m of the bias (6) and r of the memory gradient (Assumptions 2 and 3), exact where the family allows.

In the separable family every gradient is, in rotated coordinates, (coefficient_c phi'(z_c))_c with one common phi', so
that ratios of gradients are ratios of coefficients, and their suprema over all x are maxima over coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, inf
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.memory.memory import BALANCED, GIVEN, ROTATION, SIGN_BIAS, SUBSET, Memory, check_kept
from cflag_theory.kernels.numbers import Array, Ints
from cflag_theory.kernels.problems.problem import EXACT, INFINITE, MEASURED, UPPER_BOUND, Components, Constant, Problem


def bias_bound(
    problem: Problem,
    memory: Memory,
    *,
    chosen: Sequence[ArrayLike] | None = None,
    client: int | None = None,
) -> Constant:
    """m = sup over x of ||b||^2 / ||grad f||^2, or m_i of Assumption 2 for one client.

    Parameters
    ----------
    memory : Memory
        "sign" and "rotation" have m = scale^2 in every family.
    chosen : sequence of N integer sequences, optional
        The kept components of each client, as indices into all past components; without it, the largest m over
        all memories that can be drawn.
    client : int, optional
        Gives m_i of this client.

    Returns
    -------
    Constant
        In the separable family the largest over coordinates of (memory coefficient / coefficient - 1)^2, infinite
        where the coefficient is zero and that of the memory is not. Elsewhere a proper subset has the kind
        "measured" and the value None: only a run can say.

    Raises
    ------
    InvalidInput
        `client` or `chosen` does not fit the problem.
    """
    kept = _check(problem, memory, chosen, client)
    if memory.kind in (SIGN_BIAS, ROTATION):
        return Constant(memory.scale**2, EXACT, "||b||^2 = scale^2 ||grad f||^2 at every x")
    if _keeps_everything(problem, memory, kept):
        return Constant(0 * problem.p[0], EXACT, "every past component is kept, so b = 0")
    if problem.family != "separable":
        return _unknown(problem, "b")
    share = _share(problem, client)
    mean = client_means(problem.past, problem.dimension)
    low, high, kind, why = _memory_means(problem, memory, kept)
    deviation = np.maximum(share @ (high - mean), share @ (mean - low))
    worst = _largest_ratio(deviation, share @ mean)
    if worst == inf:
        return Constant(inf, INFINITE, "a coordinate of grad f is zero for all x and that of the memory is not")
    return Constant(worst**2, kind, f"largest over coordinates of (memory coefficient / coefficient - 1)^2, {why}")


def ratio_bound(
    problem: Problem,
    memory: Memory,
    *,
    chosen: Sequence[ArrayLike] | None = None,
    client: int | None = None,
) -> Constant:
    """r = sup over x of ||grad f_memory|| / ||grad g||, or r_i of Assumption 3 for one client.

    Parameters and errors are those of `bias_bound`.

    Returns
    -------
    Constant
        In the separable family the largest over coordinates of |memory coefficient / coefficient of g| while both
        tasks share their stationary points; infinite when some grad g vanishes where grad f_memory does not. In
        other families "measured" with the value None.
    """
    kept = _check(problem, memory, chosen, client)
    if problem.family != "separable":
        return _unknown(problem, "grad f_memory")
    d = problem.dimension
    share = _share(problem, client)
    low, high, kind, why = _memory_means(problem, memory, kept)
    size = np.maximum(abs(share @ low), abs(share @ high))
    conflicts = int(((problem.past.shifts[:d] != problem.current.shifts[:d]) & (size != 0)).sum())
    if conflicts:
        return Constant(
            inf,
            INFINITE,
            f"the tasks have different stationary points in {conflicts} of {d} coordinates, so grad g vanishes where "
            "grad f_memory does not, which Assumption 3 forbids",
        )
    worst = _largest_ratio(size, problem.p @ client_means(problem.current, d))
    if worst == inf:
        return Constant(inf, INFINITE, "a coordinate of grad g is zero for all x and that of the memory is not")
    why = f"largest over coordinates of |memory coefficient / coefficient of g|, {why}"
    if memory.kind == SIGN_BIAS:
        return Constant((1 + memory.scale) * worst, EXACT, f"{why}, times 1 + scale (the sign +)")
    if memory.kind == ROTATION and d % 2 == 1:
        return Constant((1 + memory.scale) * worst, UPPER_BOUND, f"{why}, times 1 + scale")
    if memory.kind == ROTATION:
        stretch = (1 + 2 * memory.scale * cos(memory.angle) + memory.scale**2) ** 0.5
        return Constant(float(stretch * worst), EXACT, f"{why}, times ||I + scale R||")
    return Constant(worst, kind, why)


def client_means(part: Components, d: int) -> Array:
    """(N, d) coefficients of the coordinate potentials in every client's objective."""
    values = part.weights.reshape(-1, d)
    spans = zip(part.client_start[:-1], part.client_start[1:], strict=True)
    return np.array([values[a:b].sum(axis=0) / int(b - a) for a, b in spans])


def _check(
    problem: Problem, memory: Memory, chosen: Sequence[ArrayLike] | None, client: int | None
) -> list[Ints] | None:
    if client is not None and not 0 <= client < problem.clients:
        raise InvalidInput(f"client {client} does not exist: use 0 to {problem.clients - 1}")
    if memory.kind == ROTATION and problem.dimension < 2:
        raise InvalidInput("the problem has dimension 1 and a rotation needs 2: use sign_bias")
    if memory.kind == GIVEN and chosen is None:
        return check_kept("kept", problem, memory.kept)
    if chosen is None:
        return None
    if memory.kind not in (SUBSET, BALANCED):
        raise InvalidInput(f"chosen components and the memory kind {memory.kind!r}: use a subset memory")
    return check_kept("chosen", problem, chosen)


def _keeps_everything(problem: Problem, memory: Memory, kept: list[Ints] | None) -> bool:
    counts = problem.past.counts
    if kept is not None:
        return all(len(indices) == count for indices, count in zip(kept, counts, strict=True))
    return memory.kind not in (SUBSET, BALANCED) or bool(memory.size >= counts.max())


def _unknown(problem: Problem, what: str) -> Constant:
    return Constant(None, MEASURED, f"no bound on {what} over all x is known in the {problem.family} family")


def _share(problem: Problem, client: int | None) -> Array:
    """Weights of the clients in the sum: p, or one client alone."""
    if client is None:
        return problem.p
    share = 0 * problem.p
    share[client] += 1
    return share


def _memory_means(problem: Problem, memory: Memory, kept: list[Ints] | None) -> tuple[Array, Array, str, str]:
    """(N, d) smallest and largest coefficients that memories give, what that makes of a bound, and why."""
    d = problem.dimension
    values = problem.past.weights.reshape(-1, d)
    if _keeps_everything(problem, memory, kept):
        mean = client_means(problem.past, d)
        return mean, mean, EXACT, "for all past components"
    if kept is not None:
        mean = np.array([values[indices].sum(axis=0) / len(indices) for indices in kept])
        return mean, mean, EXACT, "for the chosen memory"
    low, high, kind = [], [], EXACT
    for a, b in zip(problem.past.client_start[:-1], problem.past.client_start[1:], strict=True):
        size = min(memory.size, int(b - a))
        ranked = np.sort(values[a:b], axis=0)
        low.append(ranked[:size].sum(axis=0) / size)
        high.append(ranked[-size:].sum(axis=0) / size)
        if memory.kind == BALANCED and np.unique(problem.labels[a:b]).size > 1:
            kind = UPPER_BOUND
    # Each extreme is a memory that can be drawn: a client's smallest or largest weights in one coordinate.
    return np.array(low), np.array(high), kind, f"the worst of all subsets of size {memory.size}"


def _largest_ratio(numerators: Array, denominators: Array) -> Any:
    """The largest |a / b|, with 0/0 = 0 and a/0 infinite."""
    ratios = [
        abs(a / b) if b else (inf if a else 0 * a)
        for a, b in zip(numerators.tolist(), denominators.tolist(), strict=True)
    ]
    return max(ratios)
