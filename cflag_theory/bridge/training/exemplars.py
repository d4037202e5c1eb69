"""Memory chosen by herding with the model of the run: exemplars, one after another nearest to the mean of features.

When a task is over every client takes of each of its classes the first `memory_size` / (classes of the task) samples
that iCaRL's Algorithm 4 chooses (Rebuffi et al., 2017), whose features of length one are those of the new global model.
Other memories follow from the data alone. These depend on the method, so they belong to one method with one seed and
are part of its checkpoint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isnan

import numpy as np
import torch

from cflag_theory.bridge.methods.baselines import normal_features
from cflag_theory.bridge.methods.rehearsal import herding
from cflag_theory.bridge.models.clients import Client, ClientData
from cflag_theory.bridge.models.flat_model import FlatModel
from cflag_theory.bridge.training.communication import Communication
from cflag_theory.bridge.training.rounds import of_this_process


class Exemplars:
    """What the clients of a run remember: of each task of so many `classes` at most `size` samples a client."""

    def __init__(self, size: int, classes: int) -> None:
        self.size, self.classes = size, classes
        #: Rows (client, place in the train images, number within the task, task).
        self.rows = torch.zeros((0, 4), dtype=torch.int64)
        self._given: tuple[Sequence[Client], tuple[Client, ...]] | None = None

    def choose(
        self, model: FlatModel, clients: Sequence[Client], state: torch.Tensor, communication: Communication
    ) -> None:
        """Keep samples of what the clients have now; every process learns those of all clients."""
        here = of_this_process(clients, communication)
        found = {client.index: self._chosen(model, client.current, state) for client in here}
        width = 3 * min(self.size, max(client.current.n for client in clients))
        blank = [float("nan")] * width
        table = communication.table(
            {index: [*row, *blank][:width] for index, row in found.items()}, len(clients), width
        )
        new = [
            [index, *map(int, row[first : first + 3])]
            for index, row in enumerate(table)
            for first in range(0, len(row), 3)
            if not isnan(row[first])
        ]
        self.rows = torch.cat([self.rows, torch.tensor(new, dtype=torch.int64).view(-1, 4)])
        self._given = None

    def _chosen(self, model: FlatModel, data: ClientData, state: torch.Tensor) -> list[float]:
        """Place, number and task of every sample that is kept."""
        if not data.n:
            return []
        features = normal_features(model, state, data).double().cpu().numpy()
        labels, kept = data.labels.cpu().numpy(), []
        for label in np.unique(labels):
            members = np.flatnonzero(labels == label)
            share = min(len(members), self.size // self.classes)
            kept += [int(members[k]) for k in herding(features[members], share)]
        rows = torch.stack((data.indices[kept], data.labels[kept], data.tasks[kept]), dim=1)
        return list(map(float, rows.flatten().tolist()))

    def given(self, clients: Sequence[Client]) -> tuple[Client, ...]:
        """The clients with these memories; the same objects for the same clients."""
        if self._given is not None and self._given[0] is clients:
            return self._given[1]
        found = []
        for client in clients:
            mine = self.rows[self.rows[:, 0] == client.index].to(client.current.indices.device)
            indices, labels, tasks = mine[:, 1:].unbind(dim=1)
            memory = ClientData(client.current.pixels, indices, labels, tasks)
            found.append(replace(client, memory=memory))
        self._given = clients, tuple(found)
        return self._given[1]
