"""Clients as the rows of tensors: their minibatches of a round, and the gradients on them.

The methods' arithmetic is written on rows, and a client by itself is a group with one row. Rows stand in the order of
their numbers of steps, so that those that still move are always the first ones, and a client that has finished stands
still without masks. An mlp has all rows in one pass by hand, see `stacked`; every other network has one row, and the
passes of PyTorch. Which samples a step takes does not depend on the group, so both ways differ in last bits only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from cflag_theory.bridge.data.partition import Ints
from cflag_theory.bridge.models.clients import ClientData, Pixels
from cflag_theory.bridge.models.flat_model import FlatModel, full_gradient
from cflag_theory.bridge.models.networks import Loss
from cflag_theory.bridge.models.stacked import AT_ONCE, stacked_passes


class Passes(Protocol):
    """The minibatches of clients in a round."""

    def gradients(
        self, rows: Sequence[int], numbers: Sequence[int], states: Tensor, *, statistics: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Losses (n,) and gradients (n, width) of minibatches, given by row and number, each at its own state (n,
        width); `statistics` as in `FlatModel.gradient`.
        """

    def step(self, k: int, count: int, states: Tensor, *, statistics: bool = False) -> tuple[Tensor, Tensor]:
        """The same of the minibatches k of the first `count` rows, fewer from step to step.

        The next step may write over the gradients.
        """

    def ordered(self, rows: Sequence[int], orders: Sequence[Sequence[int]]) -> Passes:
        """The minibatches of these rows in other orders, one a row; the first order is the longest."""


class OneByOne:
    """Passes of PyTorch, a row after the other: `parts` are positions in a row's samples, by row and number, and `loss`
    another one than the model's.
    """

    def __init__(
        self,
        model: FlatModel,
        data: Sequence[Sequence[ClientData]],
        parts: Sequence[Sequence[Ints]],
        loss: Loss | None = None,
    ) -> None:
        self._model, self._parts, self._loss = model, parts, loss
        self._data = [side_by_side(row) for row in data]

    def gradients(
        self, rows: Sequence[int], numbers: Sequence[int], states: Tensor, *, statistics: bool = False
    ) -> tuple[Tensor, Tensor]:
        """See `Passes`."""
        found = []
        for row, number, state in zip(rows, numbers, states, strict=True):
            batch = self._data[row].batch(self._parts[row][number])
            found.append(self._model.gradient(state, batch, statistics=statistics, loss=self._loss))
        losses, gradients = zip(*found, strict=True)
        return on_rows(losses), on_rows(gradients)

    def step(self, k: int, count: int, states: Tensor, *, statistics: bool = False) -> tuple[Tensor, Tensor]:
        """See `Passes`."""
        return self.gradients(range(count), [k] * count, states, statistics=statistics)

    def ordered(self, rows: Sequence[int], orders: Sequence[Sequence[int]]) -> OneByOne:
        """See `Passes`."""
        parts = [[self._parts[row][j] for j in order] for row, order in zip(rows, orders, strict=True)]
        return OneByOne(self._model, [[self._data[row]] for row in rows], parts, self._loss)


def passes_of(
    model: FlatModel,
    data: Sequence[Sequence[ClientData]],
    parts: Sequence[Sequence[Ints]],
    longest: int | None,
    loss: Loss | None = None,
) -> Passes:
    """Minibatches by row; filled up to `longest` and stacked, or one by one without it or with a loss of their own."""
    if longest is None or model.stack is None or loss is not None:
        return OneByOne(model, data, parts, loss)
    return stacked_passes(model.stack, data, parts, longest)


def side_by_side(data: Sequence[ClientData]) -> ClientData:
    """All samples of several `ClientData`, one after another; images that are not stored together are copied."""
    first = data[0]
    if len(data) == 1:
        return first
    labels, tasks = torch.cat([each.labels for each in data]), torch.cat([each.tasks for each in data])
    # All have soft targets, or none.
    given = [each.soft for each in data if each.soft is not None]
    soft = torch.cat(given) if given else None
    if all(each.pixels is first.pixels for each in data):
        return ClientData(first.pixels, torch.cat([each.indices for each in data]), labels, tasks, soft)
    images = torch.cat([each.pixels.take(each.indices) for each in data])
    places = torch.arange(len(images), device=images.device)
    return ClientData(Pixels(images, first.pixels.scale, first.pixels.shift), places, labels, tasks, soft)


def on_rows(vectors: Sequence[Tensor]) -> Tensor:
    """Vectors as the rows of one tensor; a single one is not copied, which a ResNet's vectors would feel."""
    return vectors[0][None] if len(vectors) == 1 else torch.stack(list(vectors))


def wide(vector: Tensor, width: int) -> Tensor:
    """A vector, or rows of vectors, with zeros behind up to `width` numbers."""
    more = width - vector.shape[-1]
    return torch.nn.functional.pad(vector, (0, more)) if more > 0 else vector


def full_gradients(
    model: FlatModel, state: Tensor, data: Sequence[ClientData], batch: int, longest: int
) -> tuple[Tensor, Tensor]:
    """Mean losses (n,) and gradients (n, d) in float64 at one state, each over all samples of its `data`.

    As `flat_model.full_gradient`, whose words on `batch` hold here; `longest` is the number of samples that a row of
    any process has at most, so that the shapes, and with them the bits, are the same everywhere.
    """
    if model.stack is None or not data:
        found = [full_gradient(model, state, each, batch) for each in data]
        return (on_rows([loss for loss, _ in found]), on_rows([each for _, each in found])) if found else (state, state)
    losses = torch.zeros(len(data), dtype=torch.float64, device=model.device)
    gradients = torch.zeros((len(data), model.stack.width), dtype=torch.float64, device=model.device)
    parts = [np.split(np.arange(each.n), range(batch, each.n, batch)) if each.n else [] for each in data]
    if any(parts):
        passes = stacked_passes(model.stack, [[each] for each in data], parts, min(batch, longest))
        start = wide(state, model.stack.width)
        for number in range(max(map(len, parts))):
            rows = [row for row, own in enumerate(parts) if number < len(own)]
            loss, gradient = passes.gradients(rows, [number] * len(rows), start.expand(len(rows), -1))
            shares = torch.tensor([len(parts[row][number]) / data[row].n for row in rows], dtype=torch.float64)
            shares, where = shares.to(model.device), torch.tensor(rows, device=model.device)
            losses.index_add_(0, where, shares * loss)
            gradients.index_add_(0, where, shares[:, None] * gradient)
    return losses, gradients[:, : model.d].to(model.dtype)


def gradients_by_sample(
    model: FlatModel, state: Tensor, data: ClientData, positions: Sequence[int] | Ints
) -> Iterator[Tensor]:
    """The gradient (d,) of every single sample, normalised by running statistics if at all."""
    if model.stack is None or not len(positions):
        for position in positions:
            batch = data.batch(slice(int(position), int(position) + 1))
            yield model.gradient(state, batch, training=False)[1]
        return
    passes = stacked_passes(model.stack, [[data]], [[np.array([each]) for each in positions]], 1)
    start, most = wide(state, model.stack.width), max(1, AT_ONCE // model.stack.width)
    for first in range(0, len(positions), most):
        numbers = range(len(positions))[first : first + most]
        found = passes.gradients([0] * len(numbers), numbers, start.expand(len(numbers), -1))[1]
        yield from found[:, : model.d]
