"""Products of all pairs of interpolation conditions, for the normal equations of a worst-case program.

A condition's matrix is V' A V, where V has the points and gradients of all functions as rows and A has entries at those
of x_i, x_j, g_i and g_j only; so <A_c, X A_d Z> needs entries of V X V' and V Z V', about 60 operations for a pair of
conditions.
"""

from __future__ import annotations

from typing import Any

from cflag_theory.kernels.engines.codegen.cache import compiled


@compiled
def add_pair_products(rows: Any, weights: Any, X: Any, Z: Any, total: Any) -> None:
    """Add <A_c, X A_d Z> to total[c, d] for d <= c.

    `rows` (conditions, 4) are the rows of x_i, x_j, g_i and g_j, `weights` (conditions, 4) the coefficients of
    ||dx||^2, <dx, dg>, ||dg||^2 and <dx, g_j> in the symmetric matrix of (dx, dg, g_j); X and Z are V X V' and V Z V'.
    """
    for c in range(len(rows)):
        xi, xj, gi, gj = rows[c, 0], rows[c, 1], rows[c, 2], rows[c, 3]
        a0, a1, a2, a3 = weights[c, 0], weights[c, 1], weights[c, 2], weights[c, 3]
        for d in range(c + 1):
            yi, yj, hi, hj = rows[d, 0], rows[d, 1], rows[d, 2], rows[d, 3]
            b0, b1, b2, b3 = weights[d, 0], weights[d, 1], weights[d, 2], weights[d, 3]
            p00 = X[xi, yi] - X[xi, yj] - X[xj, yi] + X[xj, yj]
            p01 = X[xi, hi] - X[xi, hj] - X[xj, hi] + X[xj, hj]
            p02 = X[xi, hj] - X[xj, hj]
            p10 = X[gi, yi] - X[gi, yj] - X[gj, yi] + X[gj, yj]
            p11 = X[gi, hi] - X[gi, hj] - X[gj, hi] + X[gj, hj]
            p12 = X[gi, hj] - X[gj, hj]
            p20 = X[gj, yi] - X[gj, yj]
            p21 = X[gj, hi] - X[gj, hj]
            p22 = X[gj, hj]
            z00 = Z[xi, yi] - Z[xi, yj] - Z[xj, yi] + Z[xj, yj]
            z01 = Z[xi, hi] - Z[xi, hj] - Z[xj, hi] + Z[xj, hj]
            z02 = Z[xi, hj] - Z[xj, hj]
            z10 = Z[gi, yi] - Z[gi, yj] - Z[gj, yi] + Z[gj, yj]
            z11 = Z[gi, hi] - Z[gi, hj] - Z[gj, hi] + Z[gj, hj]
            z12 = Z[gi, hj] - Z[gj, hj]
            z20 = Z[gj, yi] - Z[gj, yj]
            z21 = Z[gj, hi] - Z[gj, hj]
            z22 = Z[gj, hj]
            total[c, d] += (
                (a0 * p00 + a1 * p10 + a3 * p20) * (b0 * z00 + b1 * z01 + b3 * z02)
                + (a0 * p01 + a1 * p11 + a3 * p21) * (b1 * z00 + b2 * z01)
                + (a0 * p02 + a1 * p12 + a3 * p22) * b3 * z00
                + (a1 * p00 + a2 * p10) * (b0 * z10 + b1 * z11 + b3 * z12)
                + (a1 * p01 + a2 * p11) * (b1 * z10 + b2 * z11)
                + (a1 * p02 + a2 * p12) * b3 * z10
                + a3 * p00 * (b0 * z20 + b1 * z21 + b3 * z22)
                + a3 * p01 * (b1 * z20 + b2 * z21)
                + a3 * p02 * b3 * z20
            )
