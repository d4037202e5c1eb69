"""Values and gradients of a finite sum, for floats and for exact fractions alike.

The number type is that of the arrays; nothing here is compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cflag_theory.kernels.formulas import curvature, potential, slope
from cflag_theory.kernels.numbers import Array, Ints
from cflag_theory.kernels.problems.problem import Components


def values(kind: int, components: Components, x: Array) -> Array:
    """f_i(x) of every client, shape (N,); `kind` is a code of `formulas.POTENTIALS`."""
    per_client = [mean_value(kind, components, chosen, x) for chosen in _clients(components)]
    return np.array(per_client, dtype=x.dtype)


def gradients(kind: int, components: Components, x: Array) -> Array:
    """grad f_i(x) of every client, shape (N, d)."""
    return np.stack([mean_gradient(kind, components, chosen, x) for chosen in _clients(components)])


def mean_value(kind: int, components: Components, chosen: Ints, x: Array) -> Any:
    """The mean of the components with the indices `chosen`, at x of shape (d,)."""
    if components.functions is not None:
        return components.functions.mean_value(chosen, x)
    rows = _rows(components, chosen)
    residuals = components.rows[rows] @ x - components.shifts[rows]
    phi = np.array([potential(kind, z) for z in residuals], dtype=x.dtype)
    # The zeros of x's number type keep an empty sum of fractions a fraction.
    total = x[0] * 0 + np.sum(components.weights[rows] * phi)
    if len(components.offsets):
        total = total + np.sum(components.offsets[chosen] @ x)
    return total / len(chosen)


def mean_gradient(kind: int, components: Components, chosen: Ints, x: Array) -> Array:
    """The gradient of that mean, shape (d,)."""
    if components.functions is not None:
        return components.functions.mean_gradient(chosen, x)
    rows = _rows(components, chosen)
    residuals = components.rows[rows] @ x - components.shifts[rows]
    slopes = np.array([slope(kind, z) for z in residuals], dtype=x.dtype)
    total: Array = x * 0 + (components.weights[rows] * slopes) @ components.rows[rows]
    if len(components.offsets):
        total = total + np.sum(components.offsets[chosen], axis=0)
    return total / len(chosen)


def client_gradient(kind: int, components: Components, i: int, x: Array) -> Array:
    """grad f_i(x) of client i, shape (d,)."""
    return mean_gradient(kind, components, np.arange(*components.client_start[i : i + 2]), x)


def component_gradient(kind: int, components: Components, component: int, x: Array) -> Array:
    """The gradient of one component, shape (d,)."""
    return mean_gradient(kind, components, np.array([component]), x)


def combined_gradient(kind: int, components: Components, coefficients: Array, x: Array) -> Array:
    """sum_j coefficients[j] grad q_j(x) over all components, shape (d,)."""
    total: Array = x * 0
    for j in np.flatnonzero(coefficients):
        total = total + coefficients[j] * component_gradient(kind, components, int(j), x)
    return total


def mean_hessian(kind: int, components: Components, chosen: Ints, x: Array) -> Array:
    """The Hessian of the mean of the components with the indices `chosen`, shape (d, d)."""
    rows = _rows(components, chosen)
    residuals = components.rows[rows] @ x - components.shifts[rows]
    curvatures = np.array([curvature(kind, z) for z in residuals], dtype=x.dtype)
    weighted = (components.weights[rows] * curvatures)[:, None] * components.rows[rows]
    return np.asarray((components.rows[rows].T @ weighted) / len(chosen))


def _clients(components: Components) -> list[Ints]:
    start = components.client_start
    return [np.arange(start[i], start[i + 1]) for i in range(len(start) - 1)]


def _rows(components: Components, chosen: Ints) -> Ints:
    start = components.row_start
    return np.concatenate([np.arange(start[j], start[j + 1]) for j in chosen])
