"""How well a state does: the accuracy on each task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn

from cflag_theory.bridge.methods.base import Method
from cflag_theory.bridge.models.clients import Client, ClientData
from cflag_theory.bridge.models.flat_model import FlatModel, full_gradient

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
    """Accuracy in percent and mean cross-entropy on the test images of one task, as `meters.EVALUATED` names them."""
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
