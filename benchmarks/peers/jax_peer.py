"""JAX on the CPU in float64: one jitted program a run, `lax.scan` over rounds and steps, `vmap` over replicas.

JAX reads its settings when it is first imported: `benchmarks.machine.one_thread` comes before.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.cases import Array, World


def slope(z: Any) -> Any:
    """phi'(z) of the Cauchy potential."""
    return z / (1 + 0.5 * z * z)


class Jitted:
    """The whole run as one program.

    The memory's rows are copied for every replica, or shared under a mask. The rows of a round's local steps are
    gathered before the steps, which then know where a component comes back and write no table; or they are looked up
    step by step.
    """

    def __init__(self, world: World, *, masked: bool, gathered: bool) -> None:
        import jax

        settings: Any = jax.config
        settings.update("jax_enable_x64", True)
        case = self.case = world.case
        self.world, self.replicas = world, case.R
        self.name = f"memory {'masked' if masked else 'copied'}, rows {'gathered' if gathered else 'looked up'}"
        memory_axes = (None, None, 0) if masked else (0, 0, 0)
        put = partial(jax.device_put, device=jax.devices("cpu")[0])
        self.data = (put(np.ascontiguousarray(world.rows)), put(np.ascontiguousarray(world.targets)), put(world.start))
        self.memory = tuple(map(put, world.remembered(masked=masked)))
        self.put = put
        self.orders: dict[int, Any] = {}
        numbers = (case.N, case.n, case.E, world.alpha, world.beta)
        one = partial(_replica, gathered, *numbers)
        self.program = jax.jit(jax.vmap(one, in_axes=(None, None, None, *memory_axes, 1)))

    def run(self, rounds: int) -> Array:
        """x_T of all replicas, (R, d); the orders are on the device already."""
        if rounds not in self.orders:
            self.orders[rounds] = self.put(self.world.orders(rounds))
        return np.asarray(self.program(*self.data, *self.memory, self.orders[rounds]))


def _replica(
    gathered: bool,
    N: int,
    n: int,
    E: int,
    alpha: float,
    beta: float,
    A: Any,
    b: Any,
    start: Any,
    past: Any,
    targets: Any,
    factors: Any,
    orders: Any,
) -> Any:
    """x_T of one replica; A (N, n, d), past (rows, d), orders (T, N, E)."""
    import jax
    import jax.numpy as jnp

    clients = jnp.arange(N)
    flat = A.reshape(N * n, -1)
    steps = _gathered_steps if gathered else _looked_up_steps

    def one_round(x: Any, order: Any) -> tuple[Any, None]:
        grad_memory = (factors * slope(past @ x - targets)) @ past
        table = slope((flat @ x).reshape(N, n) - b)
        grads = jnp.einsum("in,ind->id", table, A) / n
        # The delayed gradient starts at grad g_i, and u = grad g - grad g_i.
        direction = jnp.broadcast_to(grads.mean(axis=0), grads.shape)
        local = steps(A, b, clients, n, E, beta, x - beta * direction, direction, table, order[:, 1:])
        return local.mean(axis=0) - alpha * grad_memory, None

    return jax.lax.scan(one_round, start, orders)[0]


def _looked_up_steps(
    A: Any, b: Any, clients: Any, n: int, E: int, beta: float, local: Any, direction: Any, table: Any, picked: Any
) -> Any:
    import jax

    def step(state: Any, j: Any) -> tuple[Any, None]:
        local, direction, table = state
        row = A[clients, j]
        new = slope((row * local).sum(axis=1) - b[clients, j])
        direction = direction + ((new - table[clients, j]) / n)[:, None] * row
        return (local - beta * direction, direction, table.at[clients, j].set(new)), None

    return jax.lax.scan(step, (local, direction, table), picked.T)[0][0]


def _gathered_steps(
    A: Any, b: Any, clients: Any, n: int, E: int, beta: float, local: Any, direction: Any, table: Any, picked: Any
) -> Any:
    import jax
    import jax.numpy as jnp

    rows = jnp.take_along_axis(A, picked[:, :, None], axis=1)
    targets, held = jnp.take_along_axis(b, picked, axis=1), jnp.take_along_axis(table, picked, axis=1)
    same = picked[:, :, None] == picked[:, None, :]

    def step(state: Any, k: Any) -> tuple[Any, None]:
        local, direction, held = state
        row = rows[:, k]
        new = slope((row * local).sum(axis=1) - targets[:, k])
        direction = direction + ((new - held[:, k]) / n)[:, None] * row
        return (local - beta * direction, direction, jnp.where(same[:, k], new[:, None], held)), None

    return jax.lax.scan(step, (local, direction, held), jnp.arange(E - 1))[0][0]
