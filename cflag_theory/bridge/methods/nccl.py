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
from cflag_theory.bridge.methods.descent import Ints, column, memory_positions
from cflag_theory.bridge.methods.finetune import FineTune, Job, by_memory
from cflag_theory.bridge.models.clients import Client
from cflag_theory.bridge.models.rates import client_rates
from cflag_theory.bridge.models.rows import Pool
from cflag_theory.bridge.settings.options import AVERAGE, Work


class Nccl(FineTune):
    """Each local step is given a memory gradient and the minibatch's, weighed by rates adapted in that step."""

    name = "nccl"

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        work.check_adaptive()

    def jobs(self, round: Round, clients: Sequence[Client]) -> list[Job]:
        return by_memory(clients, lambda some: _Adapted(self, round, some), lambda some: Job(self, round, some))


class _Adapted(Job):
    def __init__(self, method: Nccl, round: Round, clients: Sequence[Client]) -> None:
        super().__init__(method, round, clients)
        self.beta = [0.0] * len(clients)
        self.memory = Pool([client.memory for client in clients])
        self.randoms = [round.random("memory", client.index) for client in clients]
        self.steps = 0

    def gradient(self, positions: Sequence[Ints], local: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        moving = list(zip(self.clients, self.randoms, positions, strict=False))
        remembered = [memory_positions(client.memory, self.work.sample, random) for client, random, _ in moving]
        _, grad_f = self.evaluate(self.memory, remembered, local, statistics=False)
        losses, grad_g = super().gradient(positions, local)
        rates = [
            client_rates(
                AVERAGE,
                L=self.work.L,
                alpha=self.work.alpha,
                beta=self.work.lr,
                clients=1,
                share=1.0,
                grad_f_memory=f,
                a=g,
            )
            for f, g in zip(grad_f, grad_g, strict=True)
        ]
        if self.Lambda is None:
            self.Lambda = losses.new_zeros(len(self.clients))
        self.Lambda[: len(moving)] += torch.linalg.vecdot(grad_f, grad_g)
        self.steps += 1
        for row, (alpha, beta) in enumerate((each.alpha, each.beta) for each in rates):
            self.alpha[row] += (alpha - self.alpha[row]) / self.steps
            self.beta[row] += (beta - self.beta[row]) / self.steps
        alphas, betas = (column(each, grad_g) for each in zip(*((one.alpha, one.beta) for one in rates), strict=True))
        return losses, (alphas * grad_f + betas * grad_g) / self.work.lr
