"""How well a state does: the accuracy on each task; and memory chosen by herding with the model of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isnan

import numpy as np
import torch
from torch import Tensor, nn

from cflag_theory.bridge.methods.base import Method
from cflag_theory.bridge.methods.baselines import normal_features
from cflag_theory.bridge.methods.rehearsal import herding
from cflag_theory.bridge.models.clients import Client, ClientData
from cflag_theory.bridge.models.flat_model import FlatModel, full_gradient
from cflag_theory.bridge.training.communication import Communication
from cflag_theory.bridge.training.rounds import of_this_process

#: Of images of a task, (B, columns).
Scores = Callable[[Tensor, int], Tensor]
#: Images evaluated at a time; it does not change the result.
BATCH = 1000


@torch.inference_mode()  # type: ignore[untyped-decorator]
def accuracies(
    model: FlatModel, state: Tensor, tests: Sequence[ClientData], scores: Scores | None = None
) -> tuple[float, ...]:
    """The share of test images of each task, between 0 and 1, whose largest score is that of the right class.

    Scores are `FlatModel.logits` unless others are given: of the task's classes, or of all seen where heads grow.

    A row of the accuracy matrix. In evaluation mode, with the running statistics in the state; nan for a task without
    test images.
    """
    rows = []
    for data in tests:
        right = torch.zeros((), dtype=torch.int64, device=model.device)
        for first in range(0, data.n, BATCH):
            batch = data.batch(slice(first, first + BATCH))
            task = int(batch.tasks[0])
            found = model.logits(state, batch.images, task) if scores is None else scores(batch.images, task)
            right += (found.argmax(dim=1) == model.places(batch)).sum()
        rows.append(int(right) / data.n if data.n else float("nan"))
    return tuple(rows)


@torch.inference_mode()  # type: ignore[untyped-decorator]
def evaluation(model: FlatModel, state: Tensor, data: ClientData) -> dict[str, float]:
    """Accuracy in percent and mean cross-entropy on the test images of one task."""
    right, loss = 0, 0.0
    for first in range(0, data.n, BATCH):
        batch = data.batch(slice(first, first + BATCH))
        logits = model.logits(state, batch.images, int(batch.tasks[0]))
        right += int((logits.argmax(dim=1) == batch.labels).sum())
        loss += float(nn.functional.cross_entropy(logits, batch.labels, reduction="sum"))
    return {"test_accuracy": 100 * right / data.n, "test_loss": loss / data.n}


def information_loss(
    model: FlatModel,
    method: Method,
    state: Tensor,
    clients: Sequence[Client],
    seen: Sequence[Mapping[int, tuple[ClientData, int]]],
    batch: int,
) -> float:
    """The mean norm of (4), grad f_{tau,i} - grad f~_{tau,i}, over the clients and rounds so far: footnote 6. `seen`
    maps, by client, a data set to (data, in how many rounds); nan where the method keeps no samples of one.
    """
    total, rounds = 0.0, 0
    for client, sets in zip(clients, seen, strict=True):
        for part, (data, times) in sets.items():
            kept = method.approximation(client, part)
            if kept is None:
                return float("nan")
            lost = full_gradient(model, state, data, batch)[1] - full_gradient(model, state, kept, batch)[1]
            total += times * float(torch.linalg.vector_norm(lost.double()))
            rounds += times
    return total / rounds


class Exemplars:
    """What the clients of a run remember: of each task of so many `classes` at most `size` samples a client.

    When a task is over every client takes of each of its classes the first size / classes samples that iCaRL's
    Algorithm 4 chooses (Rebuffi et al., 2017): one after another nearest to the mean of the new global model's features
    of length one. Other memories follow from the data alone. These depend on the method, so they belong to one method
    with one seed and are part of its checkpoint.
    """

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
