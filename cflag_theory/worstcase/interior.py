"""An interior-point method for small dense programs with many conditions: HKM direction, predictor and corrector.

    maximise t over M >= 0, D >= 0 and free values v with A(M, D) + F v <= b,
    minimise b.y over y >= 0 with A*(y) >= 0 and F'y = c.

Its answer is no proof: `certificate` makes one of the multipliers, and `attaining` an instance of the matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from cflag_theory.kernels.numbers import Array, Ints
from cflag_theory.worstcase.programme import Conditions

#: Ridges that are tried in turn where the matrix of the normal equations is not numerically positive definite.
_RIDGES = (1e-15, 1e-13, 1e-11, 1e-9)
#: How far towards the boundary a step goes, and below which length a step is replaced by one towards the centre.
_NEAR, _SHORT = 0.97, 0.1
#: Residuals of multipliers that prove something.
_EXACT = 1e-9
#: Values beyond this are taken for those of an unbounded program.
FAR = 1e7
#: Slacks of new conditions, in roots of the mean product: less, and steps are short; more, and they are lost.
_SLACK = 0.1
#: Of the mean product that new conditions get: the first with which the multipliers stay feasible.
_SHARES = (1.0, 0.1, 0.01, 1e-3, 1e-4)


@dataclass(frozen=True, eq=False)
class Iterate:
    """M and D, their multipliers, slacks, multipliers of the conditions, and the free values."""

    X: list[Array]
    Z: list[Array]
    s: Array
    y: Array
    v: Array


@dataclass(frozen=True, eq=False)
class Solved:
    """The best iterate, the values of both programs there, its gap, and how far it is from a solution."""

    value: float
    dual: float
    iterate: Iterate
    gap: float
    accuracy: float
    unbounded: bool


def _factor(A: Array) -> Array:
    """A's Cholesky factor, in its upper triangle; LAPACK itself, as matrices are small."""
    factor, info = lapack.dpotrf(A, clean=False)
    if info:
        raise np.linalg.LinAlgError("not positive definite")
    return np.asarray(factor)


def _inverse(A: Array) -> Array:
    return np.asarray(lapack.dpotrs(_factor(A), np.eye(len(A)))[0]) if len(A) else A


def _longest(matrices: Sequence[Array], changes: Sequence[Array], slack: Array, change: Array) -> float:
    """How far a step may go, 1 at most, before a matrix is singular or a slack is 0."""
    limit = 1.0 / _NEAR
    for A, dA in zip(matrices, changes, strict=True):
        if len(A):
            factor = np.linalg.cholesky(A)
            half = lapack.dtrtrs(factor, dA, lower=True)[0]
            whole = lapack.dtrtrs(factor, half.T, lower=True)[0]
            low = np.linalg.eigvalsh((whole + whole.T) / 2)[0]
            if low < 0:
                limit = min(limit, -1 / float(low))
    falling = change < 0
    if falling.any():
        limit = min(limit, float((-slack[falling] / change[falling]).min()))
    return min(1.0, _NEAR * limit)


class _Newton:
    """The linear system of one iteration, factored."""

    def __init__(self, rows: Conditions, now: Iterate, c: Array, mu: float) -> None:
        self.rows, self.now, self.mu = rows, now, mu
        self.Zi = [_inverse(z) for z in now.Z]
        self.rp = rows.b - rows.apply(now.X) - now.s - rows.F @ now.v
        self.Rd = [a - z for a, z in zip(rows.adjoint(now.y), now.Z, strict=True)]
        self.rf = c - rows.F.T @ now.y
        self.B = rows.schur(now.X, self.Zi)
        self.B[np.diag_indices(len(self.B))] += now.s / now.y
        self.factor = self._ridged()
        self.W = lapack.dpotrs(self.factor, rows.F, lower=True)[0]
        K = rows.F.T @ self.W
        K[np.diag_indices(len(c))] += 1e-15 * np.trace(K) / len(c)
        self.small = _factor(K)

    def _ridged(self) -> Array:
        diagonal = np.diag(self.B).copy()
        for ridge in _RIDGES:
            R = self.B.copy()
            R[np.diag_indices(len(R))] += ridge * diagonal
            factor, info = lapack.dpotrf(R, lower=True, clean=False)
            if not info:
                return np.asarray(factor)
        raise np.linalg.LinAlgError("no ridge is large enough")

    def direction(self, sigma: float, dX: Sequence[Array], dZ: Sequence[Array], ds_dy: Array) -> Iterate:
        """The step towards the point of the central path at sigma mu, corrected by products of an earlier step."""
        rows, now = self.rows, self.now
        target = [
            sigma * self.mu * zi - x - (x @ r + d @ e) @ zi
            for zi, x, r, d, e in zip(self.Zi, now.X, self.Rd, dX, dZ, strict=True)
        ]
        ts = (sigma * self.mu - ds_dy) / now.y - now.s
        right = rows.apply([(t + t.T) / 2 for t in target]) + ts - self.rp
        dv, dy = np.zeros(len(now.v)), np.zeros(len(now.y))
        e, g = right, self.rf
        # Refinement takes out the ridge; without it the residuals stall at 1e-6.
        for _ in range(4):
            u = lapack.dpotrs(self.small, g - self.W.T @ e)[0]
            dv += u
            dy += lapack.dpotrs(self.factor, e + rows.F @ u, lower=True)[0]
            e, g = right + rows.F @ dv - self.B @ dy, self.rf - rows.F.T @ dy
        dA = rows.adjoint(dy)
        moved = [t - x @ d @ zi for t, x, d, zi in zip(target, now.X, dA, self.Zi, strict=True)]
        return Iterate(
            [(d + d.T) / 2 for d in moved],
            [d + r for d, r in zip(dA, self.Rd, strict=True)],
            ts - now.s / now.y * dy,
            dy,
            dv,
        )

    def lengths(self, step: Iterate) -> tuple[float, float]:
        """How far the step may go, for the matrices and for the multipliers."""
        now = self.now
        return _longest(now.X, step.X, now.s, step.s), _longest(now.Z, step.Z, now.y, step.y)


def _mean_product(now: Iterate) -> float:
    products = sum(float((x * z).sum()) for x, z in zip(now.X, now.Z, strict=True)) + float(now.s @ now.y)
    return products / (sum(map(len, now.X)) + len(now.s))


def _moved(now: Iterate, step: Iterate, first: float, second: float) -> Iterate:
    return Iterate(
        [x + first * d for x, d in zip(now.X, step.X, strict=True)],
        [z + second * d for z, d in zip(now.Z, step.Z, strict=True)],
        now.s + first * step.s,
        now.y + second * step.y,
        now.v + first * step.v,
    )


def begin(rows: Conditions) -> Iterate:
    """Multiples of the identity."""
    start = 10.0
    eye = [start * np.eye(size) for size in rows.sizes]
    return Iterate(
        eye, [one.copy() for one in eye], np.full(len(rows.b), start), np.ones(len(rows.b)), np.zeros(rows.F.shape[1])
    )


def widened(rows: Conditions, last: Iterate, at: Ints) -> Iterate:
    """Where a program with more conditions starts; `at` says which of them the iterate's are."""
    mu = _mean_product(last)
    s = np.maximum(rows.b - rows.apply(last.X) - rows.F @ last.v, _SLACK * np.sqrt(mu))
    s[at] = last.s
    for share in _SHARES:
        y = share * mu / s
        y[at] = last.y
        # The multipliers stay feasible: what steps must still repair makes them short.
        weighted = rows.F * (y**2)[:, None]
        lacking = rows.F.T @ y
        lacking[-1] -= 1
        y -= weighted @ np.linalg.lstsq(rows.F.T @ weighted, lacking, rcond=1e-14)[0]
        Z = rows.adjoint(y)
        if (y > 0).all() and all(np.linalg.eigvalsh(z)[0] > 0 for z in Z if len(z)):
            return Iterate(last.X, Z, s, y, last.v)
    y = mu / s
    y[at] = last.y
    return Iterate(last.X, last.Z, s, y, last.v)


def interior(rows: Conditions, tolerance: float, start: Iterate, limit: int = 120) -> Solved:
    """Solve to this gap and these residuals, or as far as it goes: see `Solved.accuracy`."""
    now, c = start, np.zeros(rows.F.shape[1])
    c[-1] = 1
    best, best_score, best_gap, scores = now, np.inf, np.inf, []
    unbounded = False
    for iteration in range(limit):
        mu = _mean_product(now)
        gap = mu * (sum(map(len, now.X)) + len(now.s))
        try:
            newton = _Newton(rows, now, c, mu)
        except (np.linalg.LinAlgError, ValueError):
            break
        dual_error = float(max(np.abs(newton.rf).max(), *(np.abs(one).max() for one in newton.Rd if one.size)))
        error = max(float(np.abs(newton.rp).max()), dual_error)
        score = max(gap, error)
        if score < best_score:
            best, best_score, best_gap = now, score, gap
        if gap < tolerance * (1 + abs(now.v[-1])) and error < tolerance and dual_error < _EXACT:
            break
        if np.abs(now.v).max() > FAR:
            unbounded = True
            break
        scores.append(best_score)
        stuck = iteration > 25 and scores[-8] < 1.5 * best_score and best_score < 1e-6
        if stuck or not np.isfinite(score) or (iteration > 15 and score > 1e4 * best_score):
            break
        none = [np.zeros_like(x) for x in now.X]
        try:
            step = newton.direction(0.0, none, none, np.zeros(len(now.y)))
            lengths = newton.lengths(step)
            after = _mean_product(_moved(now, step, *lengths))
            sigma = min(1.0, max(1e-6, (after / mu) ** 2)) if min(lengths) > _SHORT else 0.5
            if error > gap:
                # The gap must not fall before the residuals do: steps would be short from then on.
                sigma = max(sigma, 0.3)
            step = newton.direction(sigma, step.X, step.Z, step.s * step.y)
            lengths = newton.lengths(step)
            if min(lengths) < _SHORT:
                # Off the central path a corrected step is short; without this, large programs stall at 1e-3.
                centring = newton.direction(0.8, none, none, np.zeros(len(now.y)))
                longer = newton.lengths(centring)
                if min(longer) > min(lengths):
                    step, lengths = centring, longer
        except (np.linalg.LinAlgError, ValueError):
            break
        if max(lengths) < 0.06 and best_score < 1e-5:
            break
        now = _moved(now, step, *lengths)
    return Solved(float(best.v[-1]), float(rows.b @ best.y), best, best_gap, best_score, unbounded)
