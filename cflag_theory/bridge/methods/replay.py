"""Er-ring-FL: experience replay (Chaudhry et al., 2019) at every client, averaged as in FedAvg."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from cflag_theory.bridge.methods.base import Round
from cflag_theory.bridge.methods.descent import Ints, memory_positions
from cflag_theory.bridge.methods.finetune import FineTune, Job, by_memory
from cflag_theory.bridge.models.clients import Client
from cflag_theory.bridge.models.rows import Pool, side_by_side


class ErRing(FineTune):
    """Each local step is given the gradient of the mean loss over its minibatch and a batch of memory together.

    Every sample of the union weighs the same. A client that remembers nothing takes Fine-FL's steps.
    """

    name = "er_ring"

    def jobs(self, round: Round, clients: Sequence[Client]) -> list[Job]:
        return by_memory(clients, lambda some: _Union(self, round, some), lambda some: Job(self, round, some))


class _Union(Job):
    def __init__(self, method: ErRing, round: Round, clients: Sequence[Client]) -> None:
        super().__init__(method, round, clients)
        self.randoms = [round.random("memory", client.index) for client in clients]

    def samples(self) -> Pool:
        """A client's samples, and behind them those that it remembers."""
        return Pool([side_by_side([client.current, client.memory]) for client in self.clients])

    def gradient(self, positions: Sequence[Ints], local: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        union = []
        for client, random, chosen in zip(self.clients, self.randoms, positions, strict=False):
            remembered = memory_positions(client.memory, self.work.sample, random)
            union.append(np.concatenate([chosen, client.current.n + remembered]))
        return super().gradient(union, local)
