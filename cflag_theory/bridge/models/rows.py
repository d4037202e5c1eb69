"""Clients of a small model computed together: one row of every tensor a client, and one pass for all gradients.

The methods' arithmetic is written on rows, and a client by itself is a group with one row. Rows stand in the order of
their numbers of steps, so that those that still move are always the first ones, and a client that has finished stands
still without masks. Where minibatches differ in length the shorter ones are filled up with images of weight zero.
Which samples a step takes does not depend on the group, so both ways differ in last bits only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from cflag_theory.bridge.data.partition import Ints
from cflag_theory.bridge.models.clients import ClientData, Pixels
from cflag_theory.bridge.models.flat_model import Batch, FlatModel


class Pool:
    """Samples of several clients side by side, of which a minibatch a client is taken at once.

    Parameters
    ----------
    data : sequence of ClientData
        Of every row.
    """

    def __init__(self, data: Sequence[ClientData]) -> None:
        self._all = side_by_side(data)
        self._starts = np.cumsum([0, *(each.n for each in data)])

    def batch(self, rows: Sequence[int], positions: Sequence[Ints]) -> Batch:
        """A batch of every one of `rows`, at these positions in its own samples: tensors (rows, longest, ...).

        Weights are 1 / |batch| for its samples and zero for what fills it up; None where all are equally long.
        """
        lengths = np.array([len(chosen) for chosen in positions])
        longest = int(lengths.max())
        places = np.empty((len(positions), longest), dtype=np.int64)
        for place, row, chosen in zip(places, rows, positions, strict=True):
            place[: len(chosen)] = chosen
            place[len(chosen) :] = chosen[0]
            place += self._starts[row]
        flat = self._all.batch(places.reshape(-1))
        shape = (len(places), longest)
        images, labels, tasks = (each.view(*shape, *each.shape[1:]) for each in (flat.images, flat.labels, flat.tasks))
        if lengths.min() == longest:
            return Batch(images, labels, tasks)
        weights = np.where(np.arange(longest) < lengths[:, None], 1 / lengths[:, None], 0.0)
        return Batch(images, labels, tasks, torch.as_tensor(weights, dtype=images.dtype, device=images.device))


def side_by_side(data: Sequence[ClientData]) -> ClientData:
    """All samples of several `ClientData`, one after another; images that are not stored together are copied."""
    first = data[0]
    if len(data) == 1:
        return first
    labels, tasks = torch.cat([each.labels for each in data]), torch.cat([each.tasks for each in data])
    if all(each.pixels is first.pixels for each in data):
        return ClientData(first.pixels, torch.cat([each.indices for each in data]), labels, tasks)
    images = torch.cat([each.pixels.take(each.indices) for each in data])
    places = torch.arange(len(images), device=images.device)
    return ClientData(Pixels(images, first.pixels.scale, first.pixels.shift), places, labels, tasks)


def on_rows(vectors: Sequence[Tensor]) -> Tensor:
    """Vectors as the rows of one tensor; a single one is not copied, which a ResNet's vectors would feel."""
    return vectors[0][None] if len(vectors) == 1 else torch.stack(list(vectors))


def gradients(model: FlatModel, states: Tensor, batch: Batch, *, statistics: bool = False) -> tuple[Tensor, Tensor]:
    """Losses (n,) and gradients (n, d) of n rows, each at its own state and for its own batch.

    Parameters
    ----------
    model : FlatModel
        Without running statistics, if there are several rows.
    states : (n, size) Tensor
    batch : Batch
        Of `Pool.batch`.
    statistics : bool
        See `FlatModel.gradient`.
    """
    if len(states) == 1:
        weights = None if batch.weights is None else batch.weights[0]
        one = Batch(batch.images[0], batch.labels[0], batch.tasks[0], weights)
        loss, gradient = model.gradient(states[0], one, statistics=statistics)
        return loss[None], gradient[None]
    named = {name: states[:, where].view(-1, *shape).detach().requires_grad_() for name, where, shape in model.tensors}
    with torch.enable_grad():
        outputs = torch.func.vmap(
            lambda tensors, images, tasks: torch.func.functional_call(model.network, tensors, (images, tasks))
        )(named, batch.images, batch.tasks)
        flat = Batch(batch.images.flatten(0, 1), batch.labels.flatten(), batch.tasks.flatten())
        each = model.losses(outputs.flatten(0, 1), flat).view(batch.labels.shape)
        losses = each.mean(1) if batch.weights is None else (batch.weights * each).sum(1)
        # A row's loss depends on its own state alone, so that this is the gradient of every row's loss.
        found = torch.autograd.grad(losses.sum(), list(named.values()))
    return losses.detach(), torch.cat([part.flatten(1) for part in found], 1)
