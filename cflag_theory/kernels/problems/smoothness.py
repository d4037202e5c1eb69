"""L of Assumption 1 from the rows: curvature matrices, their norms, and exact certificates for `Fraction`.

A `Constant` is exact, an upper bound, measured or infinite; on floats "exact" means up to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigvalsh

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.formulas import QUADRATIC
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.own.potentials import OWN
from cflag_theory.kernels.problems.problem import EXACT, MEASURED, STATED, UPPER_BOUND, Components, Constant
from cflag_theory.sizes import require_room

# A float eigenvalue is raised by this factor before the exact test that certifies it as a bound.
_MARGIN = 1 + Fraction(1, 2**30)


class Curvature(NamedTuple):
    """A symmetric matrix whose eigenvalues are those x with det(matrix - x diag(metric)) = 0."""

    matrix: Array
    metric: Array


def curvature_matrices(part: Components, *, signed: bool) -> list[Curvature]:
    """Per client (1/n_i) sum of weight * row row^T over its rows; |weight| instead unless `signed`.

    Where there are fewer rows than entries, only eigenvalues 0 are left out: floats are turned into the span of their
    rows, and of fractions with weights of one sign the products of rows are taken, which have the other eigenvalues
    in the metric n_i / weight.
    """
    spans = [slice(part.row_start[a], part.row_start[b]) for a, b in pairwise(part.client_start.tolist())]
    clients = [(part.rows[span], part.weights[span] if signed else abs(part.weights[span])) for span in spans]
    products = [_has_products(rows, weights) for rows, weights in clients]
    if part.rows.dtype == object:
        # A fraction takes 200 bytes and more, and certificates hold a second copy of one matrix.
        sides = [rows.shape[not small] for (rows, _), small in zip(clients, products, strict=True)]
        words = f"exact curvature of {len(sides)} clients with matrices of up to {max(sides)} rows"
        require_room(200 * (sum(side * side for side in sides) + max(sides) ** 2), words, "use floats or fewer rows")
    matrices: list[Curvature] = []
    for (rows, weights), small, count in zip(clients, products, part.counts.tolist(), strict=True):
        kept = weights != 0
        if small and kept.any():
            sign = -1 if (weights < 0).any() else 1
            matrices.append(Curvature(sign * _products(rows[kept]), count / abs(weights[kept])))
            continue
        if small:
            rows, weights = rows[:1, :1], weights[:1]
        if rows.dtype != object and 0 < len(rows) < rows.shape[1]:
            rows = np.linalg.qr(rows.astype(np.float64).T).R.T
        matrices.append(_plain((rows.T * weights) @ rows / count))
    return matrices


def _has_products(rows: Array, weights: Array) -> bool:
    """Whether products of rows stand for a client's curvature: fractions, fewer than entries, weights of one sign."""
    return rows.dtype == object and 0 < len(rows) < rows.shape[1] and not ((weights < 0).any() and (weights > 0).any())


def _products(rows: Array) -> Array:
    """Of fractions, in whole numbers, which are fast."""
    common = lcm(*(one.denominator for one in rows.ravel()))
    whole = np.array([[int(one * common) for one in row] for row in rows], dtype=object)
    found: Array = whole @ whole.T * Fraction(1, common**2)
    return found


def _plain(matrix: Array) -> Curvature:
    return Curvature(matrix, np.ones(len(matrix), dtype=matrix.dtype))


def component_matrices(part: Components) -> list[Curvature]:
    """Per component the sum of weight * row row^T."""
    spans = [slice(a, b) for a, b in pairwise(part.row_start)]
    return [_plain((part.rows[span].T * part.weights[span]) @ part.rows[span]) for span in spans]


def positive_semidefinite(matrix: Array) -> tuple[bool, bool]:
    """Whether a symmetric `Fraction` matrix is positive semidefinite, and whether it is singular: exact LDL^T."""
    rest = matrix.copy()
    singular = False
    for k in range(len(rest)):
        pivot = rest[k, k]
        if pivot < 0 or (pivot == 0 and any(rest[k, k + 1 :])):
            return False, singular
        if pivot == 0:
            singular = True
            continue
        column = rest[k + 1 :, k].copy()
        rest[k + 1 :, k + 1 :] -= np.outer(column, column) / pivot
    return True, singular


def certify(name: str, bound: Fraction, matrices: Sequence[Curvature]) -> bool:
    """Prove in exact arithmetic that no eigenvalue exceeds `bound` in modulus; True if one attains it."""
    attained = False
    for one in matrices:
        for sign in (1, -1):
            shifted = -sign * one.matrix
            shifted[np.diag_indices_from(shifted)] += bound * one.metric
            holds, singular = positive_semidefinite(shifted)
            if not holds:
                about = f"{_spectral_norm(one):.6g}"
                raise InvalidInput(f"{name} = {bound} is below the curvature (about {about}): use a larger {name}")
            attained = attained or singular
    return attained


def largest_norm(name: str, matrices: Sequence[Curvature]) -> tuple[Any, bool]:
    """The largest spectral norm of symmetric matrices, and whether it is exact: else a certified upper bound."""
    if matrices[0].matrix.dtype != object:
        return max(map(_spectral_norm, matrices)), True
    if not any((matrix != np.diag(np.diag(matrix))).any() for matrix, _ in matrices):
        return max(max(abs(np.diag(matrix)) / metric) for matrix, metric in matrices), True
    bound = Fraction(max(map(_spectral_norm, matrices))) * _MARGIN
    certify(name, bound, matrices)
    return bound, False


def ridge_smoothness(potential: int, past: Components, current: Components) -> dict[str, Constant]:
    """L and L_component of components with one ridge row each, from |phi''| <= 1 = phi''(0).

    L is the largest eigenvalue of (1/n_i) A_i^T |W_i| A_i over clients and tasks.
    """
    norms = [max((abs(part.weights) * (part.rows * part.rows).sum(axis=1)).tolist()) for part in (past, current)]
    matrices = [*curvature_matrices(past, signed=False), *curvature_matrices(current, signed=False)]
    L, computed = largest_norm("L", matrices)
    sharp = [
        norm >= L * (1 - 1e-12) and _reaches(potential, part, i)
        for part, first in ((past, 0), (current, len(past.counts)))
        for i, norm in enumerate(_spectral_norm(matrix) for matrix in matrices[first : first + len(part.counts)])
    ]
    why = "largest eigenvalue of (1/n_i) A_i^T |W_i| A_i over clients and tasks, as |phi''| <= 1"
    constants = {
        "L": Constant(L, EXACT, f"{why}; all of that client's residuals vanish at one x, where it is attained")
        if computed and any(sharp)
        else Constant(L, UPPER_BOUND, why),
        "L_component": Constant(max(norms), EXACT, "largest |w| ||a||^2, attained where a.x = b"),
    }
    return with_bound(constants, potential)


def with_bound(constants: dict[str, Constant], potential: int) -> dict[str, Constant]:
    """L and L_component for |phi''| <= 1, as they are for the bound of a potential of the user."""
    own = OWN.get(potential)
    if own is None:
        return constants
    kind, how = (STATED, "as stated") if own.stated else (MEASURED, "or more, as measured: a lower bound")
    found = {}
    for name in ("L", "L_component"):
        value = constants[name].value
        bound = Fraction(own.bound) if isinstance(value, Fraction) else float(own.bound)
        found[name] = Constant(bound * value, kind, f"sup |phi''| = {own.bound} {how}, times curvature of the rows")
    return {**constants, **found}


def _spectral_norm(of: Curvature) -> float:
    root = 1 / np.sqrt(of.metric.astype(np.float64))
    dense, last = root[:, None] * of.matrix.astype(np.float64) * root, len(root) - 1
    if not np.isfinite(dense).all():
        raise InvalidInput("the squares of the rows leave the floats: use smaller rows")
    # The two ends of the spectrum are enough, and are cheaper than all of it.
    ends = [eigvalsh(dense, subset_by_index=(i, i))[0] for i in (0, last)]
    return float(max(abs(end) for end in ends))


def _reaches(potential: int, part: Components, i: int) -> bool:
    """Whether the |phi''| of a client's rows are 1 at a common x and their weights have one sign."""
    span = slice(part.row_start[part.client_start[i]], part.row_start[part.client_start[i + 1]])
    weights = part.weights[span]
    if (weights < 0).any() and (weights > 0).any():
        return False
    if potential == QUADRATIC:
        return True
    rows = part.rows[span][weights != 0].astype(np.float64)
    shifts = part.shifts[span][weights != 0].astype(np.float64)
    # Squares of large ones leave the floats.
    size = max(1.0, float(abs(shifts).max(initial=0)))
    shifts /= size
    residual = rows @ np.linalg.lstsq(rows, shifts)[0] - shifts
    return bool(np.linalg.norm(residual) <= 1e-10 * (1 / size + np.linalg.norm(shifts)))
