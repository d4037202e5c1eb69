"""Compiled local steps from one fused sweep over a vector each.

A lane is one client of one replica. All lanes of a group do step k before any does step k + 1: one lane's steps wait
for each other, and different lanes fill the gaps. What a lane computes does not depend on its group.

In a sweep the step moves D = x_k - x_t against V = estimate + u and, as the next component is known beforehand, its
row meets the new D at once. z of a row is that at x_t, from the full pass, plus <row, D>.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from . import formulas
from .cache import inner
from .elementwise import fill_coordinate_slopes
from .packed import Packed, Part
from .passes import DELAYED
from .problem import Array, Ints
from .ridge_passes import client_pass
from .settings import Settings


class Lanes(NamedTuple):
    """What the lanes of a group write on.

    Attributes
    ----------
    D, u, V : (lanes, width)
        x_k - x_t, the correction, and estimate + u (delayed) or u alone.
    estimate : (lanes, width)
    path, estimates : (local steps or 0, width)
        For errors of estimates, in groups of one lane: D and the estimate of every step.
    rho, point : (1, width)
        A full gradient and where it is taken.
    z, row : (lanes,)
        Of the component of the next step.
    history : (lanes, local steps, width), last : (lanes, components of a client)
        Of elementwise problems: phi' met so far, and which step met a component last, counted over all groups.
    zs, slopes, value : (1, rows), (1, rows), (1,)
    drift2, error2 : (replicas,)
        The largest ||D||^2 and ||estimate - rho||^2 of the round.
    rho_sum, error_sum : (replicas, width)
    """

    D: Array
    u: Array
    V: Array
    estimate: Array
    path: Array
    estimates: Array
    rho: Array
    point: Array
    z: Array
    row: Ints
    history: Array
    last: Ints
    zs: Array
    slopes: Array
    value: Array
    drift2: Array
    error2: Array
    rho_sum: Array
    error_sum: Array


@inner
def square(vectors: Array, g: int) -> Any:
    """||vectors[g]||^2."""
    total = vectors.dtype.type(0)
    for c in range(vectors.shape[1]):
        total += vectors[g, c] * vectors[g, c]
    return total


@inner
def _meet(rows: Array, q: int, D: Array, g: int) -> Any:
    """<row_q, D[g]>."""
    total = D.dtype.type(0)
    for c in range(D.shape[1]):
        total += rows[q, c] * D[g, c]
    return total


@inner
def _meet_at(rows: Array, q: int, X: Array, r: int, D: Array, g: int) -> Any:
    """<row_q, X[r] + D[g]>."""
    total = D.dtype.type(0)
    for c in range(D.shape[1]):
        total += rows[q, c] * (X[r, c] + D[g, c])
    return total


@inner
def _refresh(
    rows: Array, q: int, following: int, change: float, keep: float, beta: float, D: Array, V: Array, g: int
) -> Any:
    """V += change row_q, D = keep D - beta V, and the product of the following row with the new D."""
    total = D.dtype.type(0)
    for c in range(D.shape[1]):
        v = V[g, c] + change * rows[q, c]
        moved = keep * D[g, c] - beta * v
        V[g, c] = v
        D[g, c] = moved
        total += rows[following, c] * moved
    return total


@inner
def _descend(
    rows: Array, q: int, following: int, factor: float, keep: float, beta: float, X: Array, r: int, D: Array, V: Array,
    g: int,
) -> Any:  # fmt: skip
    """D = keep D - beta (V + factor row_q), and the product of the following row with the new X + D."""
    total = D.dtype.type(0)
    for c in range(D.shape[1]):
        moved = keep * D[g, c] - beta * (V[g, c] + factor * rows[q, c])
        D[g, c] = moved
        total += rows[following, c] * (X[r, c] + moved)
    return total


@inner
def _move(keep: float, beta: float, D: Array, V: Array, g: int) -> None:
    """D = keep D - beta V."""
    for c in range(D.shape[1]):
        D[g, c] = keep * D[g, c] - beta * V[g, c]


@inner
def _note(k: int, g: int, D: Array, estimate: Array, path: Array, estimates: Array) -> None:
    """Keep D and the estimate of step k."""
    for c in range(D.shape[1]):
        path[k, c] = D[g, c]
        estimates[k, c] = estimate[g, c]


@inner
def _add_row(change: float, rows: Array, q: int, vectors: Array, g: int) -> None:
    """vectors[g] += change row_q."""
    for c in range(vectors.shape[1]):
        vectors[g, c] += change * rows[q, c]


@inner
def measure_errors(n: Settings, s: Packed, i: int, r: int, X: Array, w: Lanes) -> None:
    """Set the estimates of one lane's path against the full gradients there."""
    share = s.p[i]
    for k in range(n.local_steps):
        for c in range(w.D.shape[1]):
            w.point[0, c] = X[r, c] + w.path[k, c]
        full_gradient(n, s.current, i, w)
        error2 = 0.0
        for c in range(w.D.shape[1]):
            error = w.estimates[k, c] - w.rho[0, c]
            error2 += error * error
            w.rho_sum[r, c] += share * w.rho[0, c]
            w.error_sum[r, c] += share * error
        w.error2[r] = max(w.error2[r], error2)


@inner
def full_gradient(n: Settings, part: Part, i: int, w: Lanes) -> None:
    """grad g_i at w.point into w.rho."""
    if len(part.coefficients) > 0:
        fill_coordinate_slopes(n.potential, part.shift, w.point, 0, w.rho, 0)
        for c in range(w.rho.shape[1]):
            w.rho[0, c] *= part.means[i, c]
    else:
        client_pass(
            n.potential, part, i, w.point, False, False, part.client_rows[i], w.zs, w.slopes, w.rho, w.value
        )  # fmt: skip


@inner
def sampled(orders: Ints, r: int, i: int, k: int, blocks: int) -> Any:
    """The component that client i of replica r draws at step k."""
    return orders[r, k & 3, i * blocks + (k >> 2)]


@inner
def delayed_steps(
    n: Settings, s: Packed, first: int, lanes: int, R: int, keep: float, beta: float, orders: Ints, X: Array, Z: Array,
    S: Array, w: Lanes,
) -> None:  # fmt: skip
    """All steps of the lanes first, ..., first + lanes - 1 with delayed gradients and one row a component."""
    # Reading a field of a tuple in a loop would count a reference there, which threads that share it wait for.
    rows, weights, begin, start = s.current.rows, s.current.weights, s.current.begin, s.current.client_start
    D, V, z, row, drift2 = w.D, w.V, w.z, w.row, w.drift2
    estimate, path, estimates = w.estimate, w.path, w.estimates
    E, blocks = n.local_steps, (n.local_steps + 3) >> 2
    for g in range(lanes):
        i, r = (first + g) // R, (first + g) % R
        if n.exact_errors:
            _note(0, g, D, estimate, path, estimates)
        _move(keep, beta, D, V, g)
        if E > 1:
            q = begin[sampled(orders, r, i, 1, blocks)]
            row[g] = q
            z[g] = Z[r, q] + _meet(rows, q, D, g)
    for k in range(1, E):
        i, r = first // R, first % R
        for g in range(lanes):
            q, count = row[g], start[i + 1] - start[i]
            new = weights[q] * formulas.slope(n.potential, z[g])
            change = X.dtype.type(formulas.refreshed_mean(0.0, new, S[r, q], count))
            S[r, q] = new
            if n.measures_drift:
                drift2[r] = max(drift2[r], square(D, g))
            if n.exact_errors:
                _add_row(change, rows, q, estimate, g)
                _note(k, g, D, estimate, path, estimates)
            following = q
            if k + 1 < E:
                following = begin[sampled(orders, r, i, k + 1, blocks)]
                row[g] = following
            z[g] = Z[r, following] + _refresh(rows, q, following, change, keep, beta, D, V, g)
            r += 1
            if r == R:
                i, r = i + 1, 0


@inner
def stochastic_steps(
    n: Settings, s: Packed, first: int, lanes: int, R: int, keep: float, beta: float, orders: Ints, X: Array, w: Lanes
) -> None:
    """The same with the gradient of the drawn component alone."""
    rows, weights, shifts, begin = s.current.rows, s.current.weights, s.current.shifts, s.current.begin
    D, V, z, row, drift2 = w.D, w.V, w.z, w.row, w.drift2
    estimate, path, estimates = w.estimate, w.path, w.estimates
    E, blocks = n.local_steps, (n.local_steps + 3) >> 2
    for g in range(lanes):
        i, r = (first + g) // R, (first + g) % R
        q = begin[sampled(orders, r, i, 0, blocks)]
        row[g] = q
        z[g] = _meet_at(rows, q, X, r, D, g) - shifts[q]
    for k in range(E):
        i, r = first // R, first % R
        for g in range(lanes):
            q = row[g]
            factor = X.dtype.type(weights[q] * formulas.slope(n.potential, z[g]))
            if n.measures_drift and k > 0:
                drift2[r] = max(drift2[r], square(D, g))
            if n.exact_errors:
                for c in range(D.shape[1]):
                    estimate[g, c] = factor * rows[q, c]
                _note(k, g, D, estimate, path, estimates)
            following = q
            if k + 1 < E:
                following = begin[sampled(orders, r, i, k + 1, blocks)]
                row[g] = following
            z[g] = _descend(rows, q, following, factor, keep, beta, X, r, D, V, g) - shifts[following]
            r += 1
            if r == R:
                i, r = i + 1, 0


@inner
def general_steps(
    n: Settings, s: Packed, first: int, lanes: int, R: int, keep: float, beta: float, orders: Ints, X: Array, Z: Array,
    S: Array, w: Lanes,
) -> None:  # fmt: skip
    """Delayed or stochastic steps with components of any number of rows and a linear term."""
    rows, weights, shifts, offsets = s.current.rows, s.current.weights, s.current.shifts, s.current.offsets
    begin, end, start = s.current.begin, s.current.end, s.current.client_start
    D, V, drift2, estimate, path, estimates = w.D, w.V, w.drift2, w.estimate, w.path, w.estimates
    E, blocks, delayed, zero = n.local_steps, (n.local_steps + 3) >> 2, n.estimator == DELAYED, X.dtype.type(0)
    for k in range(E):
        for g in range(lanes):
            i, r = (first + g) // R, (first + g) % R
            j, count = sampled(orders, r, i, k, blocks), start[i + 1] - start[i]
            if n.measures_drift and k > 0:
                drift2[r] = max(drift2[r], square(D, g))
            if not delayed:
                for c in range(D.shape[1]):
                    estimate[g, c] = zero
                if len(offsets) > 0:
                    _add_row(X.dtype.type(1), offsets, j, estimate, g)
            for q in range(begin[j], end[j]):
                if delayed and k == 0:
                    break
                if delayed:
                    z = Z[r, q] + _meet(rows, q, D, g)
                    new = weights[q] * formulas.slope(n.potential, z)
                    change = X.dtype.type(formulas.refreshed_mean(0.0, new, S[r, q], count))
                    S[r, q] = new
                else:
                    z = _meet_at(rows, q, X, r, D, g) - shifts[q]
                    change = X.dtype.type(weights[q] * formulas.slope(n.potential, z))
                _add_row(change, rows, q, estimate, g)
            if n.exact_errors:
                _note(k, g, D, estimate, path, estimates)
            _step_down(keep, beta, estimate, V, D, g)


@inner
def elementwise_steps(
    n: Settings, s: Packed, first: int, lanes: int, R: int, keep: float, beta: float, stamp: int, orders: Ints,
    X: Array, slopes: Array, w: Lanes,
) -> None:  # fmt: skip
    """Delayed or stochastic steps of an elementwise problem; slopes (R, width) are phi' at the X[r].

    `stamp` grows by E from one lane to the next, so that w.last never needs to be cleared.
    """
    shift, coefficients, start = s.current.shift, s.current.coefficients, s.current.client_start
    D, V, drift2, estimate, path, estimates = w.D, w.V, w.drift2, w.estimate, w.path, w.estimates
    point, history, last = w.point, w.history, w.last
    E, blocks, width, delayed = n.local_steps, (n.local_steps + 3) >> 2, w.D.shape[1], n.estimator == DELAYED
    for k in range(E):
        i, r = first // R, first % R
        for g in range(lanes):
            if n.measures_drift and k > 0:
                drift2[r] = max(drift2[r], square(D, g))
            if k > 0 or not delayed:
                j, begin, now = sampled(orders, r, i, k, blocks), start[i], g * E + k
                for c in range(width):
                    point[0, c] = X[r, c] + D[g, c]
                fill_coordinate_slopes(n.potential, shift, point, 0, history, now)
                if delayed:
                    before, count = last[g, j - begin] - stamp, start[i + 1] - begin
                    last[g, j - begin] = stamp + now
                    if before < 0:
                        _refresh_coordinates(coefficients, j, history, now, slopes, r, count, estimate, g)
                    else:
                        _refresh_coordinates(coefficients, j, history, now, history, before, count, estimate, g)
                else:
                    for c in range(width):
                        estimate[g, c] = coefficients[j, c] * history[now, c]
            if n.exact_errors:
                _note(k, g, D, estimate, path, estimates)
            _step_down(keep, beta, estimate, V, D, g)
            r += 1
            if r == R:
                i, r = i + 1, 0


@inner
def _refresh_coordinates(
    coefficients: Array, j: int, new: Array, now: int, old: Array, before: int, count: int, estimate: Array, g: int
) -> None:
    """estimate[g] after phi' of component j went from old[before] to new[now]."""
    share = estimate.dtype.type(count)
    for c in range(estimate.shape[1]):
        factor = coefficients[j, c]
        estimate[g, c] = formulas.refreshed_mean(estimate[g, c], factor * new[now, c], factor * old[before, c], share)


@inner
def _step_down(keep: float, beta: float, estimate: Array, u: Array, D: Array, g: int) -> None:
    """D = keep D - beta (estimate + u)."""
    for c in range(D.shape[1]):
        D[g, c] = keep * D[g, c] - beta * (estimate[g, c] + u[g, c])


@inner
def full_steps(
    n: Settings, s: Packed, i: int, R: int, tiled: bool, keep: float, beta: float, X: Array, points: Array, Z: Array,
    S: Array, values: Array, w: Lanes,
) -> None:  # fmt: skip
    """All steps of client i in all R replicas with full local gradients; points (R, width) is scratch."""
    width = w.D.shape[1]
    for k in range(n.local_steps):
        for r in range(R):
            for c in range(width):
                points[r, c] = X[r, c] + w.D[r, c]
            if n.measures_drift and k > 0:
                w.drift2[r] = max(w.drift2[r], square(w.D, r))
        if len(s.current.coefficients) > 0:
            for r in range(R):
                fill_coordinate_slopes(n.potential, s.current.shift, points, r, w.estimate, r)
                for c in range(width):
                    w.estimate[r, c] *= s.current.means[i, c]
        else:
            client_pass(n.potential, s.current, i, points, tiled, False, 0, Z, S, w.estimate[:R], values)
        for r in range(R):
            if n.exact_errors:
                # The estimate is the full gradient, without error.
                for c in range(width):
                    w.rho_sum[r, c] += s.p[i] * w.estimate[r, c]
            _step_down(keep, beta, w.estimate, w.V, w.D, r)
