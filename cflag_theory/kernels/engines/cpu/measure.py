"""Compiled measurements of one replica of a batch, in float64 whatever the iterates are."""

from __future__ import annotations

from cflag_theory.kernels import formulas
from cflag_theory.kernels.engines.codegen.cache import inner
from cflag_theory.kernels.engines.codegen.vector_loops import Measured, Number, Read, sweep
from cflag_theory.kernels.engines.codes import Numbers
from cflag_theory.kernels.engines.components import dot, finite
from cflag_theory.kernels.engines.cpu.local_steps import Lanes
from cflag_theory.kernels.engines.cpu.workspace import Workspace


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
