"""A problem in floats: its conditions as low-rank matrices, of which an interior-point method needs products.

The pair condition c has the symmetric matrix A_c = W_c' O_c W_c in each of M and D: the rows of W_c are x_i - x_j,
g_i - g_j and g_j, and O_c is 3 x 3. Stacked, with R = O W,

    <A_c, S> = sum of (R S) * W over its three rows,    sum_c y_c A_c = W' (y R).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import zip_longest

import numpy as np

from cflag_theory.kernels.engines.cpu.pair_products import add_pair_products
from cflag_theory.kernels.numbers import Array, Ints
from cflag_theory.worstcase.model import Problem
from cflag_theory.worstcase.vectors import Form, Pair, Vector


class Points:
    """Where the functions of a problem are asked, as arrays."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.sizes = problem, problem.sizes
        self.x = [self._rows([x for x, _, _ in one.points]) for one in problem.functions]
        self.g = [self._rows([g for _, g, _ in one.points]) for one in problem.functions]
        self.values = [np.array([value for _, _, value in one.points]) for one in problem.functions]
        self.coefficients = [tuple(map(float, one.coefficients)) for one in problem.functions]

    def _rows(self, vectors: Sequence[Vector]) -> list[Array]:
        """Vectors by their means, and by their deviations."""
        found = [np.zeros((len(vectors), size)) for size in self.sizes]
        for row, vector in enumerate(vectors):
            for part, known in zip(found, (vector.mean, vector.own), strict=False):
                for k, value in known.items():
                    part[row, k] = value
        return found

    def stacked(self, part: int) -> list[Array]:
        """Points and gradients of every function, by their means (0) or deviations (1)."""
        return [one[part] for x, g in zip(self.x, self.g, strict=True) for one in (x, g)]

    def violations(self, q: int, grams: Sequence[Array], values: Array) -> Array:
        """The left side of every pair condition of function q, (points, points)."""
        a, b, c = self.coefficients[q]
        x, g = self.x[q], self.g[q]
        xx, gx, gg = (_product(u, v, grams) for u, v in ((x, x), (g, x), (g, g)))
        f = values[self.values[q]]
        cross = np.diag(gx)[:, None] + np.diag(gx)[None, :] - gx - gx.T
        ahead = gx.T - np.diag(gx)[None, :]
        found: Array = f[None, :] - f[:, None] + ahead + b * cross + c * _distances(gg) + a * _distances(xx)
        np.fill_diagonal(found, 0.0)
        return found


def _product(u: Sequence[Array], v: Sequence[Array], grams: Sequence[Array]) -> Array:
    return np.asarray(sum(a @ S @ b.T for a, b, S in zip(u, v, grams, strict=True)))


def _distances(gram: Array) -> Array:
    return np.asarray(np.diag(gram)[:, None] + np.diag(gram)[None, :] - gram - gram.T)


class Conditions:
    """Some of the conditions, each at most `b` and scaled to norm 1: pair conditions first, then rows and measures.

    `F` (conditions, free) are coefficients of function values and, last, of the maximised number. The first value of
    every function is 0: functions are known up to a constant.
    """

    def __init__(self, points: Points, pairs: Sequence[tuple[int, int, int]]) -> None:
        problem = points.problem
        forms = [(form, 0.0) for form in problem.rows] + [(-1 * form, 1.0) for form in problem.measures]
        self.pairs, self.sizes = len(pairs), points.sizes
        chosen: Ints = np.array(pairs, dtype=np.int64).reshape(self.pairs, 3)
        #: Points and gradients of all functions, and which of these rows a pair condition is about.
        self.V = [np.concatenate([np.zeros((0, size)), *points.stacked(k)]) for k, size in enumerate(points.sizes)]
        self.rows: Ints = np.zeros((len(pairs), 4), dtype=np.int64)
        first = 0
        self.W: list[Array] = [np.zeros((len(pairs), 3, size)) for size in points.sizes]
        coefficients = np.zeros((len(pairs), 3))
        F = np.zeros((len(pairs) + len(forms), problem.values + 1))
        for q in range(len(problem.functions)):
            at = np.flatnonzero(chosen[:, 0] == q)
            i, j = chosen[at, 1], chosen[at, 2]
            coefficients[at] = points.coefficients[q]
            for W, x, g in zip(self.W, points.x[q], points.g[q], strict=True):
                W[at, 0], W[at, 1], W[at, 2] = x[i] - x[j], g[i] - g[j], g[j]
            count = len(points.values[q])
            self.rows[at] = first + np.stack([i, j, count + i, count + j], axis=1)
            first += 2 * count
            F[at, points.values[q][j]] += 1
            F[at, points.values[q][i]] -= 1
        self.dense: list[Array] = [
            np.array([_matrix(part, size) for part in parts])
            for parts, size in zip(
                zip(*(_parts(form, len(self.sizes)) for form, _ in forms), strict=True), self.sizes, strict=True
            )
        ]
        for row, (form, t) in enumerate(forms, start=len(pairs)):
            F[row, -1] = t
            for k, value in form.values.items():
                F[row, k] += float(value)
        a, b, c = coefficients.T
        half, none = np.full(len(pairs), 0.5), np.zeros(len(pairs))
        self.O = np.array([[a, b / 2, half], [b / 2, c, none], [half, none, none]]).transpose(2, 0, 1)
        known = {int(values[0]) for values in points.values} | {problem.fixed}
        self.free = [k for k in range(problem.values + 1) if k not in known]
        self.F = F[:, self.free]
        self.b = np.array([0.0] * len(pairs) + [-float(form.constant) for form, _ in forms])
        self._scale()

    def _scale(self) -> None:
        grams = [self.O @ (W @ W.transpose(0, 2, 1)) for W in self.W]
        norms = sum(np.einsum("cij,cji->c", gram, gram) for gram in grams)
        rest = sum((dense**2).sum((1, 2)) for dense in self.dense)
        self.scale = 1 / np.sqrt(np.concatenate([norms, rest]) + (self.F**2).sum(1))
        self.O = self.O * self.scale[: self.pairs, None, None]
        self.dense = [dense * self.scale[self.pairs :, None, None] for dense in self.dense]
        self.F, self.b = self.F * self.scale[:, None], self.b * self.scale
        self.weights = np.ascontiguousarray(self.O[:, [0, 0, 1, 0], [0, 1, 1, 2]])
        self.R = [(self.O @ W).reshape(3 * self.pairs, size) for W, size in zip(self.W, self.sizes, strict=True)]
        self.W = [W.reshape(3 * self.pairs, size) for W, size in zip(self.W, self.sizes, strict=True)]

    def apply(self, matrices: Sequence[Array]) -> Array:
        """<A_c, S> of every condition, summed over M and D."""
        out = np.zeros(len(self.b))
        for W, R, dense, S in zip(self.W, self.R, self.dense, matrices, strict=True):
            out[: self.pairs] += ((R @ S) * W).sum(1).reshape(self.pairs, 3).sum(1)
            out[self.pairs :] += (dense * S).sum((1, 2))
        return out

    def adjoint(self, y: Array) -> list[Array]:
        """sum_c y_c A_c, of M and of D."""
        repeated = np.repeat(y[: self.pairs], 3)[:, None]
        found = []
        for W, R, dense in zip(self.W, self.R, self.dense, strict=True):
            total = W.T @ (repeated * R) + np.tensordot(y[self.pairs :], dense, 1)
            found.append((total + total.T) / 2)
        return found

    def schur(self, X: Sequence[Array], Z: Sequence[Array]) -> Array:
        """<A_c, X A_d Z> of all conditions c and d, summed over M and D; X and Z are positive definite."""
        B, k = np.zeros((len(self.b), len(self.b))), self.pairs
        for V, W, R, dense, x, z in zip(self.V, self.W, self.R, self.dense, X, Z, strict=True):
            add_pair_products(self.rows, self.weights, V @ x @ V.T, V @ z @ V.T, B)
            for row, A in enumerate(dense, start=k):
                T = x @ A @ z
                T = (T + T.T) / 2
                B[row, :k] += ((R @ T) * W).sum(1).reshape(k, 3).sum(1)
                B[row, k:] += (dense * T).sum((1, 2))
        return np.asarray(np.tril(B) + np.tril(B, -1).T)


def _parts(form: Form, count: int) -> list[Mapping[Pair, Fraction]]:
    return [part or {} for part, _ in zip_longest(form.parts, range(count))][:count]


def _matrix(part: Mapping[Pair, Fraction], size: int) -> Array:
    A = np.zeros((size, size))
    for (k, j), value in part.items():
        A[k, j] += float(value) / 2
        A[j, k] += float(value) / 2
    return A
