"""What one replica writes on in CUDA kernels, cut from one array in shared or in global memory."""

from __future__ import annotations

from typing import NamedTuple

from cflag_theory.kernels.engines.cuda.team import device
from cflag_theory.kernels.numbers import Array, Ints


class Work(NamedTuple):
    """What one replica writes on; vectors of all clients lie one after the other."""

    #: (d,).
    x: Array
    grad_f: Array
    grad_memory: Array
    b: Array
    grad_g: Array
    S: Array
    step: Array
    control_mean: Array
    #: (N d,): The last two are empty where they would be zero. At the start of a round `local`, `a` and `estimate` hold
    #: the clients' parts of grad f, of grad_f_memory and of grad g.
    local: Array
    estimate: Array
    u: Array
    a: Array
    control: Array
    memory_offset: Array
    #: (current rows,), (past rows,), (past rows or 0,), (past rows,).
    table: Array
    slopes: Array
    kept_slopes: Array
    factors: Array
    #: (past components + N,): What the clients keep, each from its first component on, and how many.
    order: Ints
    #: (N,): The clients' parts of f, f_memory and g; <grad_f_memory, a_i>, ||a_i||^2 and the largest drift of a round.
    f: Array
    f_memory: Array
    g: Array
    products: Array
    norms: Array
    drift: Array
    #: (warps,).
    scratch: Array


@device
def work_on(
    flat: Array,
    N: int,
    d: int,
    control: int,
    offset: int,
    table: Array,
    slopes: Array,
    kept_slopes: Array,
    factors: Array,
    order: Ints,
    scratch: Array,
) -> Work:
    """A replica's `Work`, its vectors cut from `flat` of 8 d + 4 N d + control + offset + 6 N numbers."""
    per_client = 8 * d
    u = per_client + 2 * N * d
    rest = per_client + 4 * N * d
    tail = rest + control + offset
    return Work(
        flat[0:d],
        flat[d : 2 * d],
        flat[2 * d : 3 * d],
        flat[3 * d : 4 * d],
        flat[4 * d : 5 * d],
        flat[5 * d : 6 * d],
        flat[6 * d : 7 * d],
        flat[7 * d : per_client],
        flat[per_client : per_client + N * d],
        flat[per_client + N * d : u],
        flat[u : u + N * d],
        flat[u + N * d : rest],
        flat[rest : rest + control],
        flat[rest + control : tail],
        table,
        slopes,
        kept_slopes,
        factors,
        order,
        flat[tail : tail + N],
        flat[tail + N : tail + 2 * N],
        flat[tail + 2 * N : tail + 3 * N],
        flat[tail + 3 * N : tail + 4 * N],
        flat[tail + 4 * N : tail + 5 * N],
        flat[tail + 5 * N : tail + 6 * N],
        scratch,
    )
