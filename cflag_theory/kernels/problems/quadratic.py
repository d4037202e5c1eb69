"""The quadratic family: components x^T A x / 2 - b.x with any symmetric A, also exact and with closed-form runs."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.formulas import QUADRATIC
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.problems.problem import EXACT, UPPER_BOUND, Components, Constant, Problem
from cflag_theory.kernels.problems.smoothness import certify, component_matrices, curvature_matrices, largest_norm
from cflag_theory.kernels.problems.validation import (
    Task,
    as_numbers,
    grid,
    has_fractions,
    of_tasks,
    with_multiple,
)
from cflag_theory.public import Count, NotNegative, Share, Whole, taking


def quadratic(
    past_matrices: ArrayLike,
    past_vectors: ArrayLike,
    past_clients: ArrayLike,
    current_matrices: ArrayLike,
    current_vectors: ArrayLike,
    current_clients: ArrayLike,
    *,
    L: Any = None,
    labels: ArrayLike | None = None,
    p: ArrayLike | None = None,
    start: ArrayLike | None = None,
    name: str = "quadratic",
) -> Problem:
    """A problem with components x^T A x / 2 - b.x; on `Fraction` where any number is one.

    Parameters
    ----------
    past_matrices, current_matrices : (n, d, d)
        Symmetric, indefinite allowed; n may differ between the tasks.
    past_vectors, current_vectors : (n, d)
        The b of every component.
    past_clients, current_clients : (n,)
        The client of every component, 0 to N - 1.
    L : number, optional
        For `Fraction`: certified in exact arithmetic. By default the largest spectral norm of the clients'
        matrices; for `Fraction` matrices that are not all diagonal, a rational bound just above it.
    labels : (n,), optional
        Class of every past component, for class-balanced memories.
    p : (N,), optional
        Client weights, by default in proportion to the clients' numbers of components.
    start : (d,), optional
        x_0, by default zero.
    """
    exact = has_fractions(past_matrices, past_vectors, current_matrices, current_vectors, p, start)
    A = as_numbers("past_matrices", past_matrices, (None, None, None), exact=exact)
    d = A.shape[2]
    C = as_numbers("current_matrices", current_matrices, (None, d, d), exact=exact)
    if A.shape[1] != d:
        raise InvalidInput(f"past_matrices has shape {A.shape}: pass square matrices")
    return of_tasks(
        "quadratic",
        name,
        QUADRATIC,
        _task("past", A, past_vectors, past_clients),
        _task("current", C, current_vectors, current_clients),
        labels=labels,
        p=p,
        start=start,
        constants=partial(quadratic_smoothness, L=L),
    )


def quadratic_smoothness(past: Components, current: Components, *, L: Any = None) -> dict[str, Constant]:
    """L and L_component: the largest spectral norms of the clients' and of the components' matrices."""
    matrices = [*curvature_matrices(past, signed=True), *curvature_matrices(current, signed=True)]
    component, exact = largest_norm("L_component", [*component_matrices(past), *component_matrices(current)])
    why = "largest spectral norm of the components' matrices"
    constants = {"L_component": Constant(component, EXACT if exact else UPPER_BOUND, why)}
    why = "largest spectral norm of the clients' matrices"
    if L is None:
        value, exact = largest_norm("L", matrices)
        return {"L": Constant(value, EXACT if exact else UPPER_BOUND, why)} | constants
    if matrices[0].matrix.dtype != object:
        raise InvalidInput(f"L = {L} comes with floats: leave it out, it is computed")
    bound = Fraction(L)
    attained = certify("L", bound, matrices)
    why = "L I - A and L I + A are positive semidefinite for the clients' matrices A, in exact arithmetic"
    return {
        "L": Constant(bound, EXACT, f"{why}, and one is singular") if attained else Constant(bound, UPPER_BOUND, why)
    } | constants


@taking
def gradient_descent(matrix: ArrayLike, vector: ArrayLike, start: ArrayLike, *, beta: Any, steps: Whole) -> Array:
    """x_t of x <- x - beta (A x - b) after t steps, as a matrix power; on `Fraction` where any number is one.

    Parameters
    ----------
    matrix : (d, d), vector : (d,), start : (d,)
        A, b and x_0.

    Returns
    -------
    (d,)
    """
    exact = has_fractions(matrix, vector, start, beta)
    x = as_numbers("start", start, (None,), exact=exact)
    d = len(x)
    step = as_numbers("beta", beta, (), exact=exact)
    # One more coordinate, always 1, makes the affine map linear, so singular A need no separate case.
    affine = np.eye(d + 1, dtype=int) + np.zeros((d + 1, d + 1), dtype=x.dtype)
    affine[:d, :d] -= step * as_numbers("matrix", matrix, (d, d), exact=exact)
    affine[:d, d] = step * as_numbers("vector", vector, (d,), exact=exact)
    power = np.linalg.matrix_power(affine, steps)
    return np.asarray(power[:d, :d] @ x + power[:d, d])


@taking
def random_quadratic(
    *,
    clients: Count = 3,
    components: Count = 5,
    dimension: Count = 4,
    heterogeneity: Share = 0.5,
    convexity: NotNegative = 0.0,
    r: NotNegative | None = None,
    exact: bool = False,
    seed: Whole = 0,
) -> Problem:
    """Random symmetric matrices and vectors of short binary fractions.

    Parameters
    ----------
    components : int
        Per client and task.
    heterogeneity : float
        In [0, 1]: 0 gives a task one matrix and one vector, 1 gives every component its own.
    convexity : float
        Multiple of the identity that is added; 0 leaves the matrices indefinite.
    r : float, optional
        Makes every past component r times a current one, f = r g and all f_i = r g_i: so ||grad f|| = r ||grad g|| at
        every x, and r is exact.
    exact : bool
        Whether to use `Fraction`.
    seed : int
        Of the construction; runs have their own.

    Raises
    ------
    InvalidInput
        A dial outside its range.
    """
    N, n, d, random = clients, components, dimension, np.random.default_rng(seed)
    tasks: list[Any] = []
    for _ in range(2):
        mixed = (1 - heterogeneity) * random.uniform(-1, 1, (1, d, d + 1)) + heterogeneity * random.uniform(
            -1, 1, (N * n, d, d + 1)
        )
        matrices = grid(mixed[:, :, :d] + mixed[:, :, :d].transpose(0, 2, 1)) / 2 + grid(convexity * np.eye(d))
        tasks += [matrices, grid(mixed[:, :, d]), np.repeat(np.arange(N), n)]
    if r is not None:
        # Short binary fractions times one of them stay exact.
        tasks[:3] = [float(r) * tasks[3], float(r) * tasks[4], tasks[5]]
    start = grid(random.uniform(-1, 1, d))
    problem = quadratic(*tasks, start=as_numbers("start", start, (d,), exact=exact), name="random quadratic")
    return problem if r is None else with_multiple(problem, r)


def _task(task: str, matrices: Array, vectors: ArrayLike, clients: ArrayLike) -> Task:
    n, d, _ = matrices.shape
    exact = matrices.dtype == object
    offsets = -as_numbers(f"{task}_vectors", vectors, (n, d), exact=exact)
    if (matrices != matrices.transpose(0, 2, 1)).any():
        raise InvalidInput(f"{task}_matrices are not all symmetric: pass (A + A^T) / 2, which gives the same q")
    rows, weights = _polarised(matrices) if exact else _eigen(matrices)
    return Task(rows, 0 * weights, weights, offsets, clients)


def _eigen(matrices: Array) -> tuple[Array, Array]:
    values, vectors = np.linalg.eigh(matrices)
    return vectors.transpose(0, 2, 1), values


def _polarised(matrices: Array) -> tuple[Array, Array]:
    """Rows e_j and e_j + e_k, from 2 x_j x_k = (x_j + x_k)^2 - x_j^2 - x_k^2: exact for every number type."""
    n, d, _ = matrices.shape
    pairs = [(j, k) for j in range(d) for k in range(j + 1, d) if matrices[:, j, k].any()]
    rows = np.array([[Fraction(int(c in ends)) for c in range(d)] for ends in [*((j,) for j in range(d)), *pairs]])
    diagonal = 2 * matrices[:, range(d), range(d)] - matrices.sum(axis=2)
    weights = np.concatenate([diagonal, *(matrices[:, j, k].reshape(n, 1) for j, k in pairs)], axis=1)
    return np.tile(rows, (n, 1, 1)), weights
