"""What one writes in NumPy: a plain loop, and the same with all replicas and clients at once."""

from __future__ import annotations

import numpy as np

from benchmarks.cases import Array, World


def slope(z: Array) -> Array:
    """phi'(z) of the Cauchy potential log(1 + z^2 / 2)."""
    return z / (1 + 0.5 * z * z)


class Loop:
    """Replicas, rounds, clients and steps one after another; `shown` replicas are run, the others take as long."""

    name = "one after another"

    def __init__(self, world: World, shown: int | None = None) -> None:
        case = self.case = world.case
        self.replicas = case.R if shown is None else min(shown, case.R)
        self.world = world
        self.A, self.b = world.rows, world.targets
        kept = world.kept[: self.replicas, :, :, None]
        self.memory_rows = np.take_along_axis(world.past_rows[None], kept, axis=2)
        self.memory_targets = np.take_along_axis(world.past_targets[None], kept[..., 0], axis=2)

    def run(self, rounds: int) -> Array:
        """x_T of the replicas, (replicas, d)."""
        orders = self.world.orders(rounds)
        return np.stack([self._replica(r, orders[:, r]) for r in range(self.replicas)])

    def _replica(self, r: int, orders: Array) -> Array:
        N, n, d = self.case.N, self.case.n, self.case.d
        alpha, beta, A, b = self.world.alpha, self.world.beta, self.A, self.b
        x = self.world.start.copy()
        for order in orders:
            grad_memory = np.zeros(d)
            for rows, targets in zip(self.memory_rows[r], self.memory_targets[r], strict=True):
                grad_memory += slope(rows @ x - targets) @ rows / (N * len(rows))
            table = [slope(A[i] @ x - b[i]) for i in range(N)]
            grads = [table[i] @ A[i] / n for i in range(N)]
            grad_g = sum(grads) / N
            moved = np.zeros(d)
            for i in range(N):
                u = grad_g - grads[i]
                delayed_gradient, local = grads[i].copy(), x.copy()
                local -= beta * (delayed_gradient + u)
                for j in order[i, 1:]:
                    row = A[i, j]
                    new = slope(row @ local - b[i, j])
                    delayed_gradient += (new - table[i][j]) / n * row
                    table[i][j] = new
                    local -= beta * (delayed_gradient + u)
                moved += (local - x) / N
            x = x + moved - alpha * grad_memory
        return x


class Batched:
    """Arrays over replicas and clients. The memory's rows are copied for every replica, or shared under a mask."""

    def __init__(self, world: World, *, masked: bool) -> None:
        case = self.case = world.case
        self.world, self.masked = world, masked
        self.name = f"memory {'masked' if masked else 'copied'}"
        self.replicas = case.R
        self.A, self.b = np.ascontiguousarray(world.rows), world.targets
        self.past, self.past_targets, self.factors = world.remembered(masked=masked)

    def run(self, rounds: int) -> Array:
        """x_T of all replicas, (R, d)."""
        N, n, d, E, R = self.case.N, self.case.n, self.case.d, self.case.E, self.case.R
        alpha, beta, A, b = self.world.alpha, self.world.beta, self.A, self.b
        flat = A.reshape(-1, d)
        x = np.tile(self.world.start, (R, 1))
        replicas, clients = np.arange(R)[:, None], np.arange(N)
        for order in self.world.orders(rounds):
            if self.masked:
                grad_memory = (self.factors * slope(x @ self.past.T - self.past_targets)) @ self.past
            else:
                z = np.matmul(self.past, x[:, :, None])[..., 0] - self.past_targets
                grad_memory = np.matmul((self.factors * slope(z))[:, None], self.past)[:, 0]
            table = slope((x @ flat.T).reshape(R, N, n) - b)
            grads = np.matmul(table.transpose(1, 0, 2), A).transpose(1, 0, 2) / n
            direction = np.repeat(grads.mean(axis=1)[:, None], N, axis=1)
            local = x[:, None] - beta * direction
            for k in range(1, E):
                j = order[:, :, k]
                row = A[clients, j]
                new = slope(np.matmul(row[:, :, None], local[..., None])[..., 0, 0] - b[clients, j])
                row *= ((new - table[replicas, clients, j]) / n)[..., None]
                direction += row
                table[replicas, clients, j] = new
                local -= beta * direction
            x = local.mean(axis=1) - alpha * grad_memory
        return x
