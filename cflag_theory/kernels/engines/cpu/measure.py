"""Compiled measurements of one replica of a batch, in float64 whatever the iterates are."""

from __future__ import annotations

from cflag_theory.kernels import formulas
from cflag_theory.kernels.engines.codegen.cache import apart, inner
from cflag_theory.kernels.engines.codegen.vector_loops import Measured, Number, Read, sweep
from cflag_theory.kernels.engines.codes import Numbers
from cflag_theory.kernels.engines.components import dot, finite
from cflag_theory.kernels.engines.cpu.coordinate_gradients import fill_coordinate_slopes
from cflag_theory.kernels.engines.cpu.layout import Padded, Part
from cflag_theory.kernels.engines.cpu.local_steps import Lanes
from cflag_theory.kernels.engines.cpu.ridge_gradients import client_gradients
from cflag_theory.kernels.engines.cpu.workspace import Workspace
from cflag_theory.kernels.numbers import Array


@sweep
def _square(a: Read) -> Measured:
    """||a||^2."""
    return a * a


@sweep
def _inner_product(a: Read, b: Read) -> Measured:
    """<a, b>."""
    return a * b


@sweep
def _square_of_mean(a: Read, b: Read, share: Number, rest: Number) -> Measured:
    """||share a + rest b||^2."""
    mean = share * a + rest * b
    return mean * mean


@inner
def measure_state(n: Numbers, w: Workspace, r: int) -> bool:
    """The columns of `STATE` into w.state; whether all are finite."""
    share, out = n.memory_share, w.state
    rest = 1.0 - share
    out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7] = formulas.state_columns(
        share, rest, w.f[r], w.g[r], w.f_memory[r], _square(w.grad_f, r), _square(w.grad_g, r),
        _square_of_mean(w.grad_memory, r, w.grad_g, r, share, rest), _square(w.grad_memory, r), _square(w.b, r),
    )  # fmt: skip
    return finite(out)


@inner
def measure_round(n: Numbers, alpha: float, w: Workspace, lanes: Lanes, r: int) -> None:
    """The columns of `ROUND` that every loop has, into the first seven of w.measured."""
    out = w.measured
    rho_sum2 = dot(lanes.rho_sum[r], lanes.rho_sum[r]) if n.exact_errors else 0.0
    error_sum2 = dot(lanes.error_sum[r], lanes.error_sum[r]) if n.exact_errors else 0.0
    out[0], out[1], out[2], out[3], out[4], out[5], out[6] = formulas.round_columns(
        n.L, alpha, n.beta, _square(w.S, r), _inner_product(w.grad_memory, r, w.S, r),
        _inner_product(w.grad_f, r, w.b, r), _inner_product(w.b, r, w.S, r), lanes.drift2[r], lanes.error2[r],
        rho_sum2, error_sum2,
    )  # fmt: skip


@apart
def measure_errors(n: Numbers, s: Padded, i: int, r: int, X: Array, panels: Array, w: Lanes) -> None:
    """Set the estimates of one lane's path against the full gradients there."""
    share = s.p[i]
    for k in range(n.local_steps):
        for c in range(w.D.shape[1]):
            w.point[0, c] = X[r, c] + w.path[k, c]
        full_gradient(n, s.current, i, panels, w)
        error2 = 0.0
        for c in range(w.D.shape[1]):
            error = w.estimates[k, c] - w.rho[0, c]
            error2 += error * error
            w.rho_sum[r, c] += share * w.rho[0, c]
            w.error_sum[r, c] += share * error
        w.error2[r] = max(w.error2[r], error2)


@inner
def full_gradient(n: Numbers, part: Part, i: int, panels: Array, w: Lanes) -> None:
    """grad g_i at w.point into w.rho."""
    if len(part.coefficients) > 0:
        fill_coordinate_slopes(n.potential, part.shift, w.point, 0, w.rho, 0)
        for c in range(w.rho.shape[1]):
            w.rho[0, c] *= part.means[i, c]
    else:
        first = part.client_rows[i]
        client_gradients(
            n.potential, part, i, w.point, panels, 0, False, first, part.client_rows[i + 1] - first, w.zs, w.slopes,
            w.zs, w.rho, w.value,
        )  # fmt: skip
