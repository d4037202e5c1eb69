"""Gradients of a Problem from the definition, one row at a time, on any number type: a witness for the tests."""

from __future__ import annotations

import numpy as np

from cflag_theory.kernels import formulas


def component_gradient(problem, part, j, x):
    total = part.offsets[j].copy() if len(part.offsets) else 0 * x
    for row in range(part.row_start[j], part.row_start[j + 1]):
        z = sum(part.rows[row] * x) - part.shifts[row]
        total = total + part.weights[row] * formulas.slope(problem.potential, z) * part.rows[row]
    return total


def client_gradient(problem, part, i, x, kept=None):
    indices = range(part.client_start[i], part.client_start[i + 1]) if kept is None else kept
    return sum(component_gradient(problem, part, j, x) for j in indices) / len(indices)


def gradient(problem, part, x, kept=None):
    """Of f or g; with `kept`, one list of components per client, of f_memory."""
    clients = range(problem.clients)
    return sum(problem.p[i] * client_gradient(problem, part, i, x, None if kept is None else kept[i]) for i in clients)


def norm2(vector):
    return sum(np.asarray(vector) ** 2)


def L_bounds_the_change(problem, x, y):
    """Whether clients' gradients change by at most L between x and y, and components' by at most L_component."""
    L, L_component = (problem.constants[name].value for name in ("L", "L_component"))
    parts = problem.past, problem.current
    levels = [(L, client_gradient, part, range(problem.clients)) for part in parts]
    levels += [(L_component, component_gradient, part, range(len(part.row_start) - 1)) for part in parts]
    room = norm2(x - y) * (1 + 1e-12)
    return all(
        norm2(gradient_of(problem, part, j, x) - gradient_of(problem, part, j, y)) <= bound**2 * room
        for bound, gradient_of, part, indices in levels
        for j in indices
    )


def point(problem, z):
    """Separable family: the x with rotated coordinates z relative to the past task's shift."""
    d = problem.dimension
    return problem.past.rows[:d].T @ (problem.past.shifts[:d] + z)
