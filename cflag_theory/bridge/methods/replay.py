"""Er-ring-FL: experience replay (Chaudhry et al., 2019) at every client, averaged as in FedAvg."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cflag_theory.bridge.methods.base import Round
from cflag_theory.bridge.methods.descent import Ints, longest_minibatch, memory_draws, most_drawn
from cflag_theory.bridge.methods.finetune import FineTune, Job, by_memory
from cflag_theory.bridge.models.clients import Client
from cflag_theory.bridge.models.rows import Passes


class ErRing(FineTune):
    """Each local step is given the gradient of the mean loss over its minibatch and a batch of memory together.

    Every sample of the union weighs the same. A client that remembers nothing takes Fine-FL's steps.
    """

    name = "er_ring"

    def jobs(self, round: Round, clients: Sequence[Client], cut: Sequence[list[Ints]]) -> list[Job]:
        return by_memory(self, round, clients, cut, Union)


class Union(Job):
    """Steps on the union."""

    def samples(self) -> Passes:
        """A client's samples, and behind them those that it remembers."""
        steps = []
        for client, parts, order in zip(self.clients, self.cut, self.orders, strict=True):
            drawn = memory_draws(self.round, client, self.work.sample, len(order))
            steps.append(
                [np.concatenate([parts[j], client.current.n + each]) for j, each in zip(order, drawn, strict=True)]
            )
        return self.passing(
            [[client.current, client.memory] for client in self.clients],
            steps,
            lambda client: longest_minibatch(client, self.work.batch) + most_drawn(client.memory, self.work.sample),
        )
