"""Compiled local steps from one fused sweep over a vector each.

A lane is one client of one replica. All lanes of a group do step k before any does step k + 1: one lane's steps wait
for each other, and different lanes fill the gaps. What a lane computes does not depend on its group.

In a sweep the step moves D = x_k - x_t against V = estimate + u and, as the next component is known beforehand, its
row meets the new D at once. z of a row is that at x_t, from the full pass, plus <row, D>.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cflag_theory.kernels import formulas
from cflag_theory.kernels.engines.codegen.cache import apart, inner
from cflag_theory.kernels.engines.codegen.vector_loops import (
    Chained,
    Later,
    Lined,
    Number,
    Read,
    Summed,
    Write,
    Written,
    add_multiple,
    ask_for,
    copy,
    fold_lines,
    folded_slopes,
    scale,
    sweep,
)
from cflag_theory.kernels.engines.codes import DELAYED, Numbers
from cflag_theory.kernels.engines.cpu.coordinate_gradients import fill_coordinate_slopes
from cflag_theory.kernels.engines.cpu.layout import Padded
from cflag_theory.kernels.engines.cpu.ridge_gradients import client_gradients, fill_panels
from cflag_theory.kernels.numbers import Array, Ints

CAUCHY, GEMAN_MCCLURE = formulas.CAUCHY, formulas.GEMAN_MCCLURE
cauchy_slopes, geman_mcclure_slopes = folded_slopes(CAUCHY), folded_slopes(GEMAN_MCCLURE)


class Lanes(NamedTuple):
    """What the lanes of a group write on."""

    #: (lanes, width): x_k - x_t, the correction, and estimate + u (delayed) or u alone.
    D: Array
    u: Array
    V: Array
    #: (lanes, width).
    estimate: Array
    #: (local steps or 0, width): For errors of estimates, in groups of one lane: D and the estimate of every step.
    path: Array
    estimates: Array
    #: (1, width): A full gradient and where it is taken.
    rho: Array
    point: Array
    #: (lanes,): Of the component of the next step.
    z: Array
    row: Ints
    #: (lanes,), (lanes, numbers of a line) three times, (lanes,): phi' there; sums of the next z that are not summed
    #: up; in the first column what they start from, and in the second what a slope's change counts; zeros; ||D||^2.
    slopes_met: Array
    lines: Array
    starts: Array
    nothing: Array
    squares: Array
    #: (lanes,): Where the order of its steps begins, where z of row 0 stands, and the client's components as a number.
    client: Ints
    replica: Ints
    drawn: Ints
    base: Ints
    components: Array
    #: (lanes, 8): Of steps together: row, `drawn` and `base`.
    places: Ints
    #: (lanes, local steps, width), last : (lanes, components of a client): Of elementwise problems: phi' met so far,
    #: and which step met a component last, counted over all groups.
    history: Array
    last: Ints
    #: (1, rows), (1, rows), (1,).
    zs: Array
    slopes: Array
    value: Array
    #: (replicas,): The largest ||D||^2 and ||estimate - rho||^2 of the round.
    drift2: Array
    error2: Array
    #: (replicas, width).
    rho_sum: Array
    error_sum: Array


@sweep
def square(vector: Read) -> Summed:
    """||vector||^2."""
    return vector * vector


@sweep
def _meet(row: Read, D: Read) -> Summed:
    """<row, D>."""
    return row * D


@sweep
def _meet_line(row: Read, D: Read) -> Lined:
    """The same as a line."""
    return row * D


@sweep
def _meet_at(row: Read, x: Read, D: Read) -> Lined:
    """<row, x + D>."""
    return row * (x + D)


@sweep
def _refresh(
    row: Read, following: Read, later: Later, V: Write, D: Write, change: Number, keep: Number, beta: Number
) -> Lined:  # fmt: skip
    """V += change row, D = keep D - beta V, and the product of the following row with the new D."""
    v = V + change * row
    moved = keep * D - beta * v
    return v, moved, following * moved


@sweep
def _refresh_chained(
    row: Read, following: Read, later: Later, V: Write, D: Write, change: Number, keep: Number
) -> Chained:
    """The same of a V that is held times beta."""
    v = V + change * row
    moved = keep * D - v
    return v, moved, following * moved


@sweep
def _descend(
    row: Read, following: Read, later: Later, x: Read, V: Read, D: Write, factor: Number, keep: Number, beta: Number
) -> Lined:
    """D = keep D - beta (V + factor row), and the product of the following row with the new x + D."""
    moved = keep * D - beta * (V + factor * row)
    return moved, following * (x + moved)


@sweep
def _move(V: Read, D: Write, keep: Number, beta: Number) -> Written:
    """D = keep D - beta V."""
    return keep * D - beta * V


@sweep
def step_down(estimate: Read, u: Read, D: Write, keep: Number, beta: Number) -> Written:
    """D = keep D - beta (estimate + u)."""
    return keep * D - beta * (estimate + u)


@inner
def note(k: int, g: Any, D: Array, estimate: Array, path: Array, estimates: Array) -> None:
    """Keep D and the estimate of step k."""
    copy(D, g, path, k)
    copy(estimate, g, estimates, k)


@sweep
def _square_line(vector: Read) -> Lined:
    """||vector||^2 as a line."""
    return vector * vector


@inner
def _measure_drifts(lanes: int, w: Lanes) -> None:
    """The largest ||D||^2 so far; on w.lines between two uses."""
    for g in range(lanes):
        _square_line(w.D, g, w.lines, g)
    fold_lines(w.lines, w.nothing, w.squares)
    for g in range(lanes):
        w.drift2[w.replica[g]] = max(w.drift2[w.replica[g]], w.squares[g])


@apart
def _fill_slopes(
    potential: int, together: bool, lanes: int, lines: Array, starts: Array, z: Array, slopes: Array
) -> None:
    """phi'(z) of the lanes, for some potentials as a vector."""
    # Slopes of float32 were rounded from float64 in replicas alone, and still are.
    fit = z.itemsize == 8 or together
    if fit and potential == CAUCHY:
        cauchy_slopes(lines, starts, slopes)
    elif fit and potential == GEMAN_MCCLURE:
        geman_mcclure_slopes(lines, starts, slopes)
    else:
        fold_lines(lines, starts, z)
        for g in range(lanes):
            slopes[g] = formulas.slope(potential, z[g])


@apart
def joint_steps(
    n: Numbers, s: Padded, lanes: int, R: int, keep: float, beta: float, orders: Ints, Z: Array, S: Array, w: Lanes
) -> None:
    """All steps of a group of lanes with delayed gradients and one row a component, where replicas go together.

    V is held times beta. Where they are `summed`, D stands for x_k itself and z is not known from the full pass.
    """
    # Reading a field of a tuple in a loop would change a count of references there, which slows other threads; and a
    # step is so short that places of its numbers count: those of a lane stand in one line.
    rows, weights, shifts = s.current.rows, s.current.shares if n.summed else s.current.weights, s.current.shifts
    D, V, slopes, lines, starts, places = w.D, w.V, w.slopes_met, w.lines, w.starts, w.places
    E, bits, stride, summed = n.local_steps, np.uint64(n.bits), np.uint64(R), n.summed
    for lane in range(lanes if E > 1 else 0):
        # Numba tests signed indices for counting from the end, and unsigned ones it does not.
        g, base = np.uint64(lane), w.base[lane]
        q = orders[w.drawn[lane] + stride]
        places[g, 0], places[g, 1], places[g, 2] = q, w.drawn[lane], base
        starts[g, 0] = -shifts[q] if summed else Z[base + (q << bits)]
        starts[g, 1] = beta / w.components[lane]
        if not summed:
            scale(V, g, beta)
        _meet_line(rows, q, D, g, lines, g)
    for k in range(1, E):
        # After the last step the product is taken with the last row again, and is not used.
        following_at, later_at = np.uint64(min(k + 1, E - 1)) * stride, np.uint64(min(k + 2, E - 1)) * stride
        _fill_slopes(n.potential, n.bits > 0, lanes, lines, starts, w.z, slopes)
        if n.measures_drift:
            _measure_drifts(lanes, w)
        for lane in range(lanes):
            g = np.uint64(lane)
            q, drawn, base = places[g, 0], places[g, 1], places[g, 2]
            at, new = base + (q << bits), weights[q] * slopes[g]
            change = (new - S[at]) * starts[g, 1]
            S[at] = new
            following, later = orders[drawn + following_at], orders[drawn + later_at]
            places[g, 0] = following
            starts[g, 0] = -shifts[following] if summed else Z[base + (following << bits)]
            ask_for(S, base + (later << bits))
            _refresh_chained(rows, q, rows, following, rows, later, V, g, D, g, change, keep, lines, g)


@apart
def single_steps(
    n: Numbers, s: Padded, lanes: int, R: int, keep: float, beta: float, orders: Ints, X: Array, Z: Array, S: Array,
    w: Lanes,
) -> None:  # fmt: skip
    """The same where every replica goes alone, or with the gradient of the drawn component alone."""
    rows, weights, shifts, D, V, row = s.current.rows, s.current.weights, s.current.shifts, w.D, w.V, w.row
    base, components, replica = w.base, w.components, w.replica
    estimate, path, estimates, slopes, lines, starts = w.estimate, w.path, w.estimates, w.slopes_met, w.lines, w.starts
    E, errors, zero, drawn, stride = n.local_steps, n.exact_errors, X.dtype.type(0), w.drawn, np.uint64(R)
    delayed = n.estimator == DELAYED
    first = int(delayed)
    for lane in range(lanes):
        if delayed and errors:
            note(0, lane, D, estimate, path, estimates)
            _move(V, lane, D, lane, keep, beta)
        if first < E:
            q = orders[drawn[lane] + np.uint64(first) * stride]
            row[lane], starts[lane, 0] = q, Z[base[lane] + q] if delayed else -shifts[q]
            if delayed:
                _meet_line(rows, q, D, lane, lines, lane)
            else:
                _meet_at(rows, q, X, replica[lane], D, lane, lines, lane)
    for k in range(first, E):
        following_at, later_at = np.uint64(min(k + 1, E - 1)) * stride, np.uint64(min(k + 2, E - 1)) * stride
        _fill_slopes(n.potential, n.bits > 0, lanes, lines, starts, w.z, slopes)
        if n.measures_drift and k > 0:
            _measure_drifts(lanes, w)
        for lane in range(lanes):
            g = np.uint64(lane)
            q = row[g]
            new = weights[q] * slopes[g]
            following, later = orders[drawn[g] + following_at], orders[drawn[g] + later_at]
            row[g], starts[g, 0] = following, Z[base[g] + following] if delayed else -shifts[following]
            change = new
            if delayed:
                at = base[g] + q
                change = formulas.refreshed_mean(0.0, new, S[at], components[g])
                S[at] = new
            elif errors:
                for c in range(estimate.shape[1]):
                    estimate[g, c] = zero
            if errors:
                add_multiple(rows, q, estimate, g, change)
                note(k, g, D, estimate, path, estimates)
            if delayed:
                _refresh(rows, q, rows, following, rows, later, V, g, D, g, change, keep, beta, lines, g)
            else:
                _descend(rows, q, rows, following, rows, later, X, replica[g], V, g, D, g, change, keep, beta, lines, g)


@apart
def general_steps(
    n: Numbers, s: Padded, lanes: int, R: int, keep: float, beta: float, orders: Ints, X: Array, Z: Array, S: Array,
    w: Lanes,
) -> None:  # fmt: skip
    """Delayed or stochastic steps with components of any number of rows and a linear term."""
    rows, weights, shifts, offsets = s.current.rows, s.current.weights, s.current.shifts, s.current.offsets
    begin, end, bits = s.current.begin, s.current.end, np.uint64(n.bits)
    D, V, drift2, estimate, path, estimates = w.D, w.V, w.drift2, w.estimate, w.path, w.estimates
    replica, base, components, drawn = w.replica, w.base, w.components, w.drawn
    delayed, zero, one = n.estimator == DELAYED, X.dtype.type(0), X.dtype.type(1)
    for k in range(n.local_steps):
        for g in range(lanes):
            r, j = replica[g], np.int64(orders[drawn[g] + np.uint64(k * R)])
            if n.measures_drift and k > 0:
                drift2[r] = max(drift2[r], square(D, g))
            if not delayed:
                for c in range(D.shape[1]):
                    estimate[g, c] = zero
                if len(offsets) > 0:
                    add_multiple(offsets, j, estimate, g, one)
            for q in range(begin[j], end[j]):
                if delayed and k == 0:
                    break
                if delayed:
                    at = base[g] + (np.uint64(q) << bits)
                    new = weights[q] * formulas.slope(n.potential, Z[at] + _meet(rows, q, D, g))
                    change = formulas.refreshed_mean(0.0, new, S[at], components[g])
                    S[at] = new
                else:
                    z = _meet(rows, q, X, r) + _meet(rows, q, D, g) - shifts[q]
                    change = weights[q] * formulas.slope(n.potential, z)
                add_multiple(rows, q, estimate, g, change)
            if n.exact_errors:
                note(k, g, D, estimate, path, estimates)
            step_down(estimate, g, V, g, D, g, keep, beta)


@apart
def full_steps(
    n: Numbers, s: Padded, i: int, R: int, keep: float, beta: float, X: Array, points: Array, panels: Array,
    Z: Array, S: Array, potentials: Array, values: Array, w: Lanes,
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
            if n.bits > 0:
                fill_panels(points, panels)
            client_gradients(
                n.potential, s.current, i, points, panels, n.bits, False, 0, len(s.current.rows), Z, S,
                potentials, w.estimate[:R], values,
            )  # fmt: skip
        for r in range(R):
            if n.exact_errors:
                # The estimate is the full gradient, without error.
                for c in range(width):
                    w.rho_sum[r, c] += s.p[i] * w.estimate[r, c]
            step_down(w.estimate, r, w.V, r, w.D, r, keep, beta)
