"""The separable family: a common potential per coordinate after a rotation, so that L, m and r are exact suprema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.formulas import CENTRED, POTENTIALS
from cflag_theory.kernels.memory.bias import client_means, ratio_bound
from cflag_theory.kernels.memory.memory import everything
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.own.potentials import OWN, Potential, potential_code
from cflag_theory.kernels.problems.problem import EXACT, INFINITE, Components, Constant, Problem
from cflag_theory.kernels.problems.smoothness import with_bound
from cflag_theory.kernels.problems.validation import (
    Task,
    as_numbers,
    check_ratio,
    grid,
    has_fractions,
    of_tasks,
)
from cflag_theory.public import Count, NotNegative, Part, Positive, Share, Whole, taking


def separable(
    past_weights: ArrayLike,
    past_clients: ArrayLike,
    current_weights: ArrayLike,
    current_clients: ArrayLike,
    *,
    potential: str | Potential = "geman_mcclure",
    rotation: ArrayLike | None = None,
    past_shift: ArrayLike | None = None,
    current_shift: ArrayLike | None = None,
    labels: ArrayLike | None = None,
    p: ArrayLike | None = None,
    start: ArrayLike | None = None,
    name: str = "separable",
) -> Problem:
    """A problem with components sum_c weight_c phi(q_c . x - shift_c); on `Fraction` where any number is one.

    Parameters
    ----------
    past_weights, current_weights : (n, d)
        The weights of every component; n may differ between the tasks. Negative ones need a bounded potential.
    past_clients, current_clients : (n,)
        The client of every component, 0 to N - 1.
    rotation : (d, d), optional
        Its rows are the q_c, orthonormal; the identity by default.
    past_shift, current_shift : (d,), optional
        Zero by default. Where they differ, the tasks conflict: r is infinite.
    labels : (n,), optional
        Class of every past component, for class-balanced memories.
    p : (N,), optional
        Client weights, by default in proportion to the clients' numbers of components.
    start : (d,), optional
        x_0, by default zero.
    """
    exact = has_fractions(past_weights, current_weights, rotation, past_shift, current_shift, p, start)
    w = as_numbers("past_weights", past_weights, (None, None), exact=exact)
    d = w.shape[1]
    v = as_numbers("current_weights", current_weights, (None, d), exact=exact)
    q = as_numbers("rotation", np.eye(d, dtype=int) if rotation is None else rotation, (d, d), exact=exact)
    error = abs(q @ q.T - np.eye(d, dtype=int)).max(initial=0)
    if error > (0 if exact else 1e-12):
        raise InvalidInput(f"the rows of rotation miss orthonormality by {float(error):.3g}: orthonormalise them")
    zero = np.zeros(d, dtype=int)
    shifts = [
        as_numbers(key, zero if value is None else value, (d,), exact=exact)
        for key, value in (("past_shift", past_shift), ("current_shift", current_shift))
    ]
    code = _centred(potential)
    past, current = (
        Task(np.tile(q, (len(x), 1, 1)), np.tile(shift, (len(x), 1)), x, None, clients)
        for x, shift, clients in zip((w, v), shifts, (past_clients, current_clients), strict=True)
    )
    problem = of_tasks(
        "separable", name, code, past, current, labels=labels, p=p, start=start, constants=partial(_smoothness, code)
    )
    r = ratio_bound(problem, everything())
    return replace(
        problem,
        constants={**problem.constants, "r": replace(r, why=f"memory of all past data: {r.why}")},
        notes=(f"Assumption 3 is violated: r is infinite, as {r.why}",) if r.kind == INFINITE else (),
    )


def _smoothness(potential: int, past: Components, current: Components) -> dict[str, Constant]:
    d = past.rows.shape[1]
    L = max(abs(client_means(part, d)).max() for part in (past, current))
    L_component = max(abs(part.weights).max() for part in (past, current))
    where = "attained where q_c.x = shift_c"
    constants = {
        "L": Constant(L, EXACT, f"largest |coefficient| of any client, {where}"),
        "L_component": Constant(L_component, EXACT, f"largest |weight|, {where}"),
    }
    return with_bound(constants, potential)


def _centred(potential: str | Potential) -> int:
    code = potential_code(potential)
    if not (OWN[code].centred if code in OWN else code in CENTRED):
        names = ", ".join(name for name, one in POTENTIALS.items() if one in CENTRED)
        raise InvalidInput(
            f"the potential {potential} has no minimum at 0, which a separable problem needs: use {names}"
        )
    return code


@taking
def random_separable(
    *,
    clients: Count = 5,
    past: Count = 20,
    current: Count = 20,
    dimension: Count = 10,
    potential: str | Potential = "geman_mcclure",
    heterogeneity: Part = 0.5,
    conflict: Share = 1.0,
    shift: NotNegative = 1.0,
    ratio: Positive = 1.0,
    anti_aligned: Share = 0.0,
    rotated: bool = True,
    r: NotNegative | None = None,
    seed: Whole = 0,
) -> Problem:
    """A separable problem with dials for r, m and the interference between the tasks.

    All random numbers are short binary fractions, so that `to_exact` loses nothing.

    Parameters
    ----------
    past, current : int
        Components per client.
    heterogeneity : float
        In [0, 1): the weights lie within this of 1, half of it between clients and half within them.
    conflict, shift : float
        The fraction of coordinates, in [0, 1], in which the tasks' stationary points lie `shift` apart.
    ratio : float
        Scale of f over that of g, positive: this is r if the tasks agree, up to heterogeneity.
    anti_aligned : float
        The fraction of coordinates, in [0, 1], in which the weights of g are negative: needs a bounded potential.
    rotated : bool
        Whether to rotate the coordinates (by a signed permutation below d = 4).
    r : float, optional
        Scales f so that r of Assumption 3 is this, up to rounding, for the memory of all past data. Needs conflict = 0
        or shift = 0.
    seed : int
        Of the construction; runs have their own.

    Raises
    ------
    InvalidInput
        A dial outside its range.
    """
    N, d, random = clients, dimension, np.random.default_rng(seed)
    tasks: list[Array] = []
    for n in (past, current):
        between = np.repeat(random.uniform(-1, 1, (N, d)), n, axis=0)
        within = random.uniform(-1, 1, (N * n, d))
        tasks += [grid(1 + heterogeneity * (between + within) / 2), np.repeat(np.arange(N), n)]
    order = random.permutation(d)
    tasks[2][:, order[: round(anti_aligned * d)]] *= -1
    past_shift = grid(random.uniform(-1, 1, d))
    apart = np.where(np.arange(d) < round(conflict * d), float(shift), 0)
    current_shift = past_shift.copy()
    current_shift[random.permutation(d)] += apart * random.choice([-1, 1], d)
    rotation = _dyadic_rotation(d, random) if rotated else np.eye(d)
    z = past_shift + grid(random.uniform(0.25, 0.75, d)) * random.choice([-1, 1], d)
    tasks[2] /= ratio
    if r is not None:
        check_ratio(r, conflict * shift)
        tasks[0] *= r / _present_ratio(tasks, N)
    return separable(
        *tasks,
        potential=potential,
        rotation=rotation,
        past_shift=past_shift,
        current_shift=current_shift,
        start=rotation.T @ z,
        name=f"random separable ({potential})",
    )


def _present_ratio(tasks: Sequence[Array], clients: int) -> float:
    """r of equally large clients that remember everything, with common stationary points."""
    f, g = (np.mean(weights.reshape(clients, -1, weights.shape[1]).mean(axis=1), axis=0) for weights in tasks[::2])
    return float(abs(f / g).max())


def _dyadic_rotation(d: int, random: np.random.Generator) -> Array:
    """An orthogonal matrix of short binary fractions, so that its rows are orthonormal also without rounding.

    Three times: change signs, shift by three, so that no coordinate is left out every time, and rotate blocks of four
    coordinates by half a Hadamard matrix.
    """
    pair = np.array([[1, 1], [1, -1]])
    block = np.kron(pair, pair) / 2
    rotation = np.eye(d)[random.permutation(d)]
    for _ in range(3):
        rotation = np.roll(rotation * random.choice([-1, 1], (d, 1)), 3, axis=0)
        for first in range(0, d - 3, 4):
            rotation[first : first + 4] = block @ rotation[first : first + 4]
    return rotation
