"""NCCL-FL: the method of Han et al. (2023) at every client, averaged as in FedAvg.

NCCL steps along alpha_k grad f_I(x_k) + beta_k grad g_J(x_k), I a batch of memory and J the minibatch, with rates
adapted in every step. They are those of Table 1 for one client (p_i = 1, N = 1) with a_i = grad g_J(x_k), to which
C-FLAG's rates reduce: under transference beta_k = (1 - L alpha) Lambda / (L ||grad g_J||^2), under interference
alpha_k = alpha (1 - Lambda / ||grad f_I||^2). A step of rate lr is given this direction divided by lr: for plain steps
that is NCCL, and Adam is given what NCCL would move along. A client that remembers nothing takes Fine-FL's steps.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from cflag_theory.bridge.methods.base import Round
from cflag_theory.bridge.methods.descent import Ints, memory_draws, most_drawn
from cflag_theory.bridge.methods.finetune import FineTune, Job, by_memory
from cflag_theory.bridge.models.clients import Client
from cflag_theory.bridge.models.rates import table1_rows
from cflag_theory.bridge.settings.options import Work


class Nccl(FineTune):
    """Each local step is given a memory gradient and the minibatch's, weighed by rates adapted in that step."""

    name = "nccl"

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        work.check_adaptive()

    def jobs(self, round: Round, clients: Sequence[Client], cut: Sequence[list[Ints]]) -> list[Job]:
        return by_memory(self, round, clients, cut, _Adapted)


class _Adapted(Job):
    def __init__(self, method: FineTune, round: Round, clients: Sequence[Client], cut: Sequence[list[Ints]]) -> None:
        super().__init__(method, round, clients, cut)
        #: Means over the steps so far, alphas and betas. On the device: a number that the CPU reads makes it wait.
        self.means = torch.zeros((2, len(clients)), dtype=torch.float64, device=round.model.device)
        self.steps = 0
        sample = self.work.sample
        drawn = [
            memory_draws(round, client, sample, len(order)) for client, order in zip(clients, self.orders, strict=True)
        ]
        self.memory = self.passing(
            [[client.memory] for client in clients], drawn, lambda client: most_drawn(client.memory, sample)
        )

    def rates(self) -> tuple[list[float], list[float]]:
        alphas, betas = self.means.tolist()
        return alphas, betas

    def gradient(self, k: int, local: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        count = len(local)
        _, grad_f = self.memory.step(k, count, local)
        losses, grad_g = super().gradient(k, local)
        rates, products = table1_rows(
            1.0, L=self.work.L, alpha=self.work.alpha, beta=self.work.lr, grad_f_memory=grad_f, a=grad_g
        )
        if self.Lambda is None:
            self.Lambda = losses.new_zeros(len(self.clients))
        self.Lambda[:count] += products
        self.steps += 1
        self.means[:, :count] += (rates - self.means[:, :count]) / self.steps
        alphas, betas = rates.to(grad_g.dtype)[..., None]
        return losses, (alphas * grad_f + betas * grad_g) / self.work.lr
