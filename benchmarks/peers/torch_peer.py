"""PyTorch eager on the CPU in float64: arrays over replicas and clients, matrix products in batches, in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.cases import Array, World


def slope(z: Any) -> Any:
    """phi'(z) of the Cauchy potential; overwrites nothing."""
    return z / (z * z).mul_(0.5).add_(1)


class Eager:
    """One call an operation. The memory's rows are copied for every replica, or shared under a mask."""

    def __init__(self, world: World, *, masked: bool) -> None:
        import torch

        torch.set_num_threads(1)
        case = self.case = world.case
        self.world, self.replicas, self.masked = world, case.R, masked
        self.name = f"memory {'masked' if masked else 'copied'}"
        past, past_targets, factors = world.remembered(masked=masked)
        # A copy: the problem's own arrays may be read-only.
        self.past, self.past_targets, self.factors, self.A, self.b, self.start = (
            torch.tensor(array) for array in (past, past_targets, factors, world.rows, world.targets, world.start)
        )

    def run(self, rounds: int) -> Array:
        """x_T of all replicas, (R, d)."""
        import torch

        with torch.inference_mode():
            orders = torch.from_numpy(self.world.orders(rounds)).long()
            return np.asarray(self._run(orders))

    def _run(self, orders: Any) -> Any:
        import torch

        N, n, d, E, R = self.case.N, self.case.n, self.case.d, self.case.E, self.case.R
        alpha, beta, A, b = self.world.alpha, self.world.beta, self.A, self.b
        flat, targets, rows_of_client = A.view(N * n, d), b.view(-1), n * torch.arange(N)
        table_at = n * N * torch.arange(R)[:, None] + rows_of_client
        x = self.start.repeat(R, 1)
        for order in orders:
            if self.masked:
                z = torch.addmm(self.past_targets, x, self.past.T, beta=-1)
                grad_memory = slope(z).mul_(self.factors) @ self.past
            else:
                z = torch.baddbmm(self.past_targets[:, :, None], self.past, x[:, :, None], beta=-1)[..., 0]
                grad_memory = torch.bmm(slope(z).mul_(self.factors)[:, None], self.past)[:, 0]
            table = slope(torch.addmm(targets, x, flat.T, beta=-1))
            grads = torch.bmm(table.view(R, N, n).transpose(0, 1), A)
            # The delayed gradient starts at grad g_i, and u = grad g - grad g_i.
            direction = grads.sum(0).mul_(1 / (N * n))[:, None].repeat(1, N, 1)
            local = x[:, None] - beta * direction
            table = table.view(-1)
            which, held = order + rows_of_client[:, None], order + table_at[..., None]
            for k in range(1, E):
                at, slot = which[:, :, k].reshape(-1), held[:, :, k].reshape(-1)
                row = flat.index_select(0, at).view(R, N, d)
                z = torch.linalg.vecdot(row, local) - targets.index_select(0, at).view(R, N)
                new = slope(z)
                change = (new - table.index_select(0, slot).view(R, N)).mul_(1 / n)
                direction.addcmul_(row, change[..., None])
                table.index_copy_(0, slot, new.view(-1))
                local.sub_(direction, alpha=beta)
            x = local.mean(1).sub_(grad_memory, alpha=alpha)
        return x
