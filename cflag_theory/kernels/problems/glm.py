"""The glm family: components phi(a.x - b), one ridge row each, with a smooth non-convex or the squared loss."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.own.potentials import Potential, potential_code
from cflag_theory.kernels.problems.problem import Problem
from cflag_theory.kernels.problems.smoothness import ridge_smoothness
from cflag_theory.kernels.problems.validation import (
    Task,
    as_numbers,
    check_ratio,
    grid,
    has_fractions,
    of_tasks,
    with_multiple,
)
from cflag_theory.public import Count, NotNegative, Whole, taking


def glm(
    past_rows: ArrayLike,
    past_targets: ArrayLike,
    past_clients: ArrayLike,
    current_rows: ArrayLike,
    current_targets: ArrayLike,
    current_clients: ArrayLike,
    *,
    potential: str | Potential = "cauchy",
    past_weights: ArrayLike | None = None,
    current_weights: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    p: ArrayLike | None = None,
    start: ArrayLike | None = None,
    name: str = "glm",
    notes: tuple[str, ...] = (),
) -> Problem:
    """A problem whose components are weight * phi(a.x - b); on `Fraction` where any of the numbers is one.

    Parameters
    ----------
    past_rows, current_rows : (n, d)
        The a of every component; n may differ between the tasks.
    past_targets, current_targets : (n,)
        The b of every component.
    past_clients, current_clients : (n,)
        Its client, 0 to N - 1.
    potential : str or Potential
        "cauchy", "cosine", "geman_mcclure", "quadratic" (squared loss), "huber", or "logistic", which is
        4 log(1 + e^-z): all have sup |phi''| = 1. Or `own_potential(...)`, or FILE.py:name for one that a file holds.
    past_weights, current_weights : (n,), optional
        All one by default; negative ones need a bounded potential.
    labels : (n,), optional
        Class of every past component, for class-balanced memories.
    p : (N,), optional
        Client weights, by default in proportion to the clients' numbers of components.
    start : (d,), optional
        x_0, by default zero.

    Raises
    ------
    InvalidInput
        Arrays that disagree or are not finite, a client without past or current components, negative weights with
        an unbounded potential.
    """
    exact = has_fractions(
        past_rows, past_targets, current_rows, current_targets, past_weights, current_weights, p, start
    )
    code = potential_code(potential)
    a = as_numbers("past_rows", past_rows, (None, None), exact=exact)
    d = a.shape[1]
    c = as_numbers("current_rows", current_rows, (None, d), exact=exact)
    return of_tasks(
        "glm",
        name,
        code,
        _task("past", a, past_targets, past_weights, past_clients),
        _task("current", c, current_targets, current_weights, current_clients),
        labels=labels,
        p=p,
        start=start,
        constants=partial(ridge_smoothness, code),
        notes=notes,
    )


def _task(task: str, rows: Array, targets: ArrayLike, weights: ArrayLike | None, clients: ArrayLike) -> Task:
    n, d = rows.shape
    exact = rows.dtype == object
    shifts = as_numbers(f"{task}_targets", targets, (n,), exact=exact)
    scales = as_numbers(f"{task}_weights", np.ones(n, dtype=int) if weights is None else weights, (n,), exact=exact)
    return Task(rows.reshape(n, 1, d), shifts.reshape(n, 1), scales.reshape(n, 1), None, clients)


@taking
def random_glm(
    *,
    clients: Count = 5,
    components: Count = 20,
    dimension: Count = 10,
    heterogeneity: NotNegative = 0.5,
    conflict: NotNegative = 1.0,
    noise: NotNegative = 0.1,
    potential: str | Potential = "cauchy",
    r: NotNegative | None = None,
    seed: Whole = 0,
) -> Problem:
    """A synthetic regression: a.x_task,i + noise are the targets, with one optimum per task and client.

    Parameters
    ----------
    components : int
        Per client and task.
    heterogeneity : float
        Distance between the clients' optima of one task.
    conflict : float
        Distance between the tasks' optima.
    noise : float
        Spread of the targets about a.x.
    r : float, optional
        Makes every past component r times a current one, f = r g and all f_i = r g_i: so ||grad f|| = r ||grad g|| at
        every x, and r is exact. Needs conflict = 0.
    seed : int
        Of the construction; runs have their own.

    Raises
    ------
    InvalidInput
        A dial outside its range.
    """
    N, n, d, random = clients, components, dimension, np.random.default_rng(seed)
    owners = np.repeat(np.arange(N), n)
    between = random.standard_normal(d)
    tasks: list[Any] = []
    for side in (-0.5, 0.5):
        common = side * conflict * between / np.linalg.norm(between)
        optima = common + heterogeneity * random.standard_normal((N, d)) / np.sqrt(2 * d)
        rows = grid(random.standard_normal((N * n, d)) / np.sqrt(d))
        targets = grid((rows * optima[owners]).sum(axis=1) + noise * random.standard_normal(N * n))
        tasks += [rows, targets, owners]
    if r is not None:
        check_ratio(r, conflict)
        tasks[:3] = tasks[3:]
    problem = glm(
        *tasks,
        potential=potential,
        past_weights=None if r is None else np.full(N * n, float(r)),
        start=grid(random.standard_normal(d) / np.sqrt(d)),
        name=f"random glm ({potential})",
    )
    return problem if r is None else with_multiple(problem, r)
