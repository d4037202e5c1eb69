"""Methods for class-incremental learning whose loss holds on to the model at the end of the last task; and LwF-FL.

Each is Fine-FL with another loss. That model, x_old, is the global one, and its outputs z_old on the images of a step
are taken once a task, in evaluation mode. With z for the outputs of the model that is trained, both without masks, C
for the classes of the tasks before, T for a temperature and sigma_T = softmax(. / T) over C, LwF-FL (Li and Hoiem,
2016, Sec. 3) has on current images

    l = cross-entropy over the task's own classes - weight sum_{c in C} sigma_T(z_old)_c log sigma_T(z)_c,

with T = 2 and weight 1 as there. In the first task it is Fine-FL.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import nn

from cflag_theory.bridge.methods.base import Local, Own, Round, Vectors
from cflag_theory.bridge.methods.finetune import FineTune
from cflag_theory.bridge.models.batch import Batch, Loss
from cflag_theory.bridge.models.clients import Client, ClientData
from cflag_theory.bridge.models.flat_model import FlatModel
from cflag_theory.bridge.settings.options import LwfOptions, Work

#: Images that a pass takes at a time.
PASS = 500
OLD = "old"


class Distilled(FineTune):
    """What these methods have in common: the old model, and what it gives for images."""

    #: The pass of several clients at once knows one loss.
    on_rows = False

    def __init__(self, work: Work) -> None:
        super().__init__(work)
        self.old: torch.Tensor | None = None
        #: By index the client that was prepared, and what it became: images that change every round are other clients.
        self._prepared: dict[int, tuple[Client, Client]] = {}

    @abstractmethod
    def prepared(self, round: Round, client: Client) -> Client:
        """The client with the samples and soft targets that its steps need."""

    def locals_of(
        self, round: Round, clients: Sequence[Client], state: torch.Tensor, means: Vectors, own: Own
    ) -> dict[int, Local]:
        ready = []
        for client in clients:
            known = self._prepared.get(client.index)
            if known is None or known[0] is not client:
                known = self._prepared[client.index] = client, self.prepared(round, client)
            ready.append(known[1])
        # Passes one by one have no zeros behind their states.
        return super().locals_of(replace(round, everybody=()), ready, state, means, own)

    def softened(self, model: FlatModel, data: ClientData) -> ClientData:
        """With what the old model gives for every image, if there is one."""
        if self.old is None or not data.n:
            return data
        parts = [
            model.outputs(self.old, data.batch(slice(first, first + PASS)).images) for first in range(0, data.n, PASS)
        ]
        return replace(data, soft=torch.cat(parts))

    def close_task(self, round: Round, state: torch.Tensor, means: Vectors) -> None:
        self.old = state.clone()
        self._prepared = {}

    def memory(self) -> dict[str, torch.Tensor]:
        return {} if self.old is None else {OLD: self.old}

    def restore(self, memory: Vectors) -> None:
        self.old = memory.get(OLD)
        self._prepared = {}


class Lwf(Distilled):
    """Learning without forgetting."""

    name = "lwf"

    def __init__(self, work: Work, options: LwfOptions) -> None:
        super().__init__(work)
        self.options = options

    def prepared(self, round: Round, client: Client) -> Client:
        return replace(client, current=self.softened(round.model, client.current))

    def loss(self, round: Round) -> Loss | None:
        if self.old is None:
            return None
        own, options = round.model.columns(round.task), self.options

        def both(outputs: torch.Tensor, batch: Batch) -> torch.Tensor:
            assert batch.soft is not None
            held = distillation(outputs[:, : own.start], batch.soft[:, : own.start], options.temperature)
            return among(own, outputs, batch) + options.weight * held

        return both


def among(own: slice, outputs: torch.Tensor, batch: Batch) -> torch.Tensor:
    """Cross-entropy over a task's own classes, which are the outputs `own`: (B,)."""
    return nn.functional.cross_entropy(outputs[:, own], batch.labels, reduction="none")


def distillation(outputs: torch.Tensor, soft: torch.Tensor, temperature: float) -> torch.Tensor:
    """Cross-entropy of softened probabilities, (B,)."""
    wanted = torch.softmax(soft / temperature, dim=1)
    return -(wanted * torch.log_softmax(outputs / temperature, dim=1)).sum(dim=1)
