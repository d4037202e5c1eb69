"""CFL-Regularization: the losses of past rounds by their Taylor expansions, sent by the clients and kept by the server.

After its local steps a client expands the loss on its data at its local model w_i: gradient g_i and an estimate h_i of
the Hessian's diagonal. With h and c the clients' means of h_i and h_i w_i - g_i, the mean of the expansions has the
gradient h x - c, so that two vectors hold a round exactly. The server keeps the newest ones, and a step is given

    grad f_{t,i}(x) + beta (1/n) sum_tau (h_tau x - c_tau),

beta being a number for each coordinate: that of the last layer, that of the last block, and 0 elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import torch

from cflag_theory.bridge.methods.base import Local, Own, Round, Vectors
from cflag_theory.bridge.methods.finetune import FedAvg
from cflag_theory.bridge.models.clients import Client, ClientData
from cflag_theory.bridge.models.flat_model import FlatModel, full_gradient
from cflag_theory.bridge.settings.evolving import FISHER, HUTCHINSON, MEAN, RegProxOptions, TaylorOptions
from cflag_theory.bridge.settings.options import Work

CURVATURE, LINEAR = "curvature", "linear"


class CflRegularization(FedAvg):
    """FedAvg with the expansions of the last rounds; with `mu` also FedProx."""

    name = "cfl_reg"
    closes = True

    def __init__(self, work: Work, options: TaylorOptions) -> None:
        super().__init__(work)
        self.options = options
        #: Rows h and c of the rounds kept, oldest first, in the coordinates with a weight.
        self.h: torch.Tensor | None = None
        self.c: torch.Tensor | None = None
        self._pull: tuple[torch.Tensor, torch.Tensor] | None = None

    def given(self, gradients: torch.Tensor, x: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
        if self._pull is not None:
            h, c = self._pull
            gradients = gradients + (h * x - c)
        mu = getattr(self.options, "mu", 0.0)
        return torch.add(gradients, x - start, alpha=mu) if mu else gradients

    def locals_of(
        self, round: Round, clients: Sequence[Client], state: torch.Tensor, means: Vectors, own: Own
    ) -> dict[int, Local]:
        weights = layer_weights(round.model, self.options).to(state)
        # Of a ResNet only the top layers are sent and kept.
        held = torch.nonzero(weights)[:, 0]
        self._pull = None
        if self.h is not None and self.c is not None:
            share = weights[held] / len(self.h) if self.options.combine == MEAN else weights[held]
            h, c = (torch.zeros_like(weights).index_copy_(0, held, share * rows.sum(0)) for rows in (self.h, self.c))
            self._pull = h, c
        found = super().locals_of(round, clients, state, means, own)
        for client in clients:
            local = found[client.index]
            h, c, gradients = self._expansion(round, client, state - local.move)
            local.sent.update({CURVATURE: h[held], LINEAR: c[held]})
            local.numbers["gradients"] += gradients
        return found

    def _expansion(self, round: Round, client: Client, at: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, float]:
        """h_i, c_i, and what they cost in gradients of samples; a Hessian's product counts as two."""
        n, options = client.current.n, self.options
        _, gradient = full_gradient(round.model, at, client.current, self.work.batch)
        if options.hessian == HUTCHINSON:
            random = round.random("hutchinson", client.index)
            signs = 2.0 * random.integers(0, 2, (options.probes, round.model.d)) - 1
            h = hutchinson(round.model, at, client.current, torch.from_numpy(signs).to(at), self.work.batch)
            # A negative curvature, or an estimate below zero, would leave the sum without a minimum.
            h, cost = h.clamp_(min=0), n * (1 + 2 * options.probes)
        elif options.hessian == FISHER:
            h, cost = fisher(round.model, at, client.current), 2 * n
        else:
            h, cost = gradient.square(), n
        return h, h * at[: round.model.d] - gradient, cost

    def close_round(self, round: Round, state: torch.Tensor, means: Vectors, kept: Sequence[Sequence[float]]) -> None:
        def newest(rows: torch.Tensor | None, row: torch.Tensor) -> torch.Tensor:
            whole = row[None] if rows is None else torch.cat([rows, row[None]])
            return whole[-self.options.keep :]

        self.h, self.c = newest(self.h, means[CURVATURE]), newest(self.c, means[LINEAR])

    def memory(self) -> dict[str, torch.Tensor]:
        return {} if self.h is None or self.c is None else {CURVATURE: self.h, LINEAR: self.c}

    def restore(self, memory: Vectors) -> None:
        self.h, self.c = memory.get(CURVATURE), memory.get(LINEAR)


class CflRegularizationProx(CflRegularization):
    """CFL-Regularization + FedProx."""

    name = "cfl_reg_prox"

    def __init__(self, work: Work, options: RegProxOptions) -> None:
        super().__init__(work, options)


def layer_weights(model: FlatModel, options: TaylorOptions) -> torch.Tensor:
    """beta of every coordinate, (d,): of the heads, of the last block of the body, and of what is before."""
    names = [name for name, _, _ in model.tensors if not name.startswith("heads.")]
    block = last_block(names)
    weights = torch.empty(model.d, dtype=torch.float64)
    for name, where, _ in model.tensors:
        last = name.startswith("heads.")
        weights[where] = options.last if last else options.block if name.startswith(block) else options.rest
    return weights


def last_block(names: Sequence[str]) -> str:
    """The prefix of a body's last block: a ResNet's last stage, else its last layer with parameters."""
    if not names:
        return "none"
    found = re.match(r"body\.layer\d+\.", names[-1])
    return found.group() if found else names[-1].rpartition(".")[0] + "."


def hutchinson(
    model: FlatModel, state: torch.Tensor, data: ClientData, signs: torch.Tensor, batch: int
) -> torch.Tensor:
    """The Hessian's diagonal as the mean of z H z over the rows z of `signs` (m, d), entries 1 and -1: (d,)."""
    diagonal = torch.zeros(model.d, dtype=torch.float64, device=state.device)
    for first in range(0, data.n, batch):
        count = min(batch, data.n - first)
        products = model.products(state, data.batch(slice(first, first + count)), signs)
        diagonal.add_((signs * products).mean(0), alpha=count / data.n)
    return diagonal.to(state.dtype)


def fisher(model: FlatModel, state: torch.Tensor, data: ClientData) -> torch.Tensor:
    """The mean of the squared gradients of single samples, in evaluation mode: (d,)."""
    found = state.new_zeros(model.d)
    for position in range(data.n):
        _, gradient = model.gradient(state, data.batch(slice(position, position + 1)), training=False)
        found.addcmul_(gradient, gradient, value=1 / data.n)
    return found
