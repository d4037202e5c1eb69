"""Compiled measurements of one replica of a block, in float64 whatever the iterates are."""

from __future__ import annotations

from cflag_theory.kernels import formulas
from cflag_theory.kernels.engines.codegen.cache import inner
from cflag_theory.kernels.engines.codegen.vector_loops import Measured, Number, Read, sweep
from cflag_theory.kernels.engines.components import dot, finite
from cflag_theory.kernels.engines.cpu.codes import Settings
from cflag_theory.kernels.engines.cpu.local_steps import Lanes
from cflag_theory.kernels.engines.cpu.workspace import Block


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
def measure_state(n: Settings, w: Block, r: int) -> bool:
    """The columns of `STATE` into w.state; whether all are finite."""
    share, out = n.memory_share, w.state
    rest = 1.0 - share
    out[0], out[1], out[2] = w.f[r], w.g[r], share * w.f_memory[r] + rest * w.g[r]
    out[3], out[4] = _square(w.grad_f, r), _square(w.grad_g, r)
    out[5] = _square_of_mean(w.grad_memory, r, w.grad_g, r, share, rest)
    out[6], out[7] = _square(w.grad_memory, r), _square(w.b, r)
    return finite(out)


@inner
def measure_round(n: Settings, alpha: float, w: Block, lanes: Lanes, r: int) -> None:
    """The columns of `ROUND` that every loop has, into the first seven of w.measured."""
    out = w.measured
    out[2] = _square(w.S, r)
    out[0] = formulas.forgetting(n.L, alpha, n.beta, out[2], _inner_product(w.grad_memory, r, w.S, r))
    out[1] = formulas.overfitting(
        n.L, alpha, n.beta, _inner_product(w.grad_f, r, w.b, r), _inner_product(w.b, r, w.S, r)
    )  # fmt: skip
    out[3], out[4] = lanes.drift2[r], lanes.error2[r]
    out[5] = dot(lanes.rho_sum[r], lanes.rho_sum[r]) if n.exact_errors else 0.0
    out[6] = dot(lanes.error_sum[r], lanes.error_sum[r]) if n.exact_errors else 0.0
