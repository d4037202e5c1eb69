"""Compiled full gradients in coordinates in which a separable problem is elementwise: O(d) for a full gradient."""

from __future__ import annotations

from cflag_theory.kernels import formulas
from cflag_theory.kernels.engines.codegen.cache import inner
from cflag_theory.kernels.engines.cpu.layout import Part
from cflag_theory.kernels.numbers import Array

CAUCHY, GEMAN_MCCLURE = formulas.CAUCHY, formulas.GEMAN_MCCLURE


@inner
def fill_coordinate_slopes(potential: int, shift: Array, X: Array, r: int, out: Array, g: int) -> None:
    """out[g, c] = phi'(X[r, c] - shift[c]); for one potential a loop, so that it vectorises."""
    if potential == CAUCHY:
        for c in range(X.shape[1]):
            out[g, c] = formulas.slope(CAUCHY, X[r, c] - shift[c])
    elif potential == GEMAN_MCCLURE:
        for c in range(X.shape[1]):
            out[g, c] = formulas.slope(GEMAN_MCCLURE, X[r, c] - shift[c])
    else:
        for c in range(X.shape[1]):
            out[g, c] = formulas.slope(potential, X[r, c] - shift[c])


@inner
def weighted_value(potential: int, part: Part, coefficients: Array, i: int, X: Array, r: int) -> float:
    """sum_c coefficients[i, c] phi(X[r, c] - shift[c])."""
    total = 0.0
    for c in range(X.shape[1]):
        total += coefficients[i, c] * formulas.potential(potential, X[r, c] - part.shift[c])
    return total


@inner
def coordinate_gradients(part: Part, i: int, slopes: Array, G: Array) -> None:
    """Client i's mean gradient at every point into G (R, width), from phi' there, slopes (R, width)."""
    for r in range(G.shape[0]):
        for c in range(G.shape[1]):
            G[r, c] = part.means[i, c] * slopes[r, c]
