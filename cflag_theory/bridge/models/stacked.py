"""Several states of an mlp at once: one matrix product a layer for all of them, and the backward pass by hand.

A pass of a small network is all calls and no arithmetic, so that a call for all clients costs what one for a single
client does. What a row gives does not depend on how many others there are, to the bit where torch has one thread: every
row of every operand begins at a multiple of 64 bytes (minibatches are filled up to `FILL` samples, vectors to `WIDTH`
numbers), products are one call a row inside of the library, and no element is the odd one after the last vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from cflag_theory.bridge.data.partition import Ints
from cflag_theory.bridge.models.compiled import put
from cflag_theory.bridge.models.networks import Network, Place

#: Numbers of samples in a minibatch, and lengths of vectors, are multiples of these.
FILL, WIDTH = 16, 32
#: Added to the logits of other tasks' classes: their probability is exactly 0, and 0 times it is 0.
NEVER = -1e30
#: Numbers that the gradients of one call have at most, unless a single one has more.
AT_ONCE = 1 << 24


def filled(count: int, to: int) -> int:
    """The least multiple of `to` that is not below `count`."""
    return -(-count // to) * to


class Samples(Protocol):
    """What a table is made of: `clients.ClientData`."""

    @property
    def pixels(self) -> Any:
        """`clients.Pixels`."""

    @property
    def indices(self) -> Tensor:
        """(n,) int64, in the pixels."""

    @property
    def labels(self) -> Tensor:
        """(n,) int64, within the task."""

    @property
    def tasks(self) -> Tensor:
        """(n,) int64."""

    @property
    def n(self) -> int:
        """How many."""


class Stack:
    """Losses and gradients of rows of states, each for samples of its own. `width` is the length of a row: the d
    parameters filled up with zeros to a multiple of `WIDTH`.
    """

    def __init__(self, network: Network, tensors: Sequence[Place], loss: str) -> None:
        self._network, self._squared = network, loss == "squared"
        places: dict[str, dict[str, Place]] = {}
        for place in tensors:
            owner, _, leaf = place[0].rpartition(".")
            places.setdefault(owner, {})[leaf] = place
        self._layers = [(each["weight"], each.get("bias")) for each in places.values()]
        self.d = tensors[-1][1].stop
        self.width = filled(self.d, WIDTH)
        self.inputs = self._layers[0][0][2][1]
        self.outputs = self._layers[-1][0][2][0]

    def table(self, data: Sequence[Samples]) -> Tensor:
        """A line for every sample: its pixels, what is added to its logits, and its label one-hot; or its number."""
        parts = []
        for each in data:
            images = each.pixels.take(each.indices).flatten(1)
            parts.append(torch.cat([images, *self._targets(each.labels, each.tasks, images)], dim=1))
        return torch.cat(parts)

    def _targets(self, labels: Tensor, tasks: Tensor, like: Tensor) -> list[Tensor]:
        if self._squared:
            return [labels.to(like.dtype)[:, None]]
        places = (len(labels), self.outputs)
        numbers = self._network.class_numbers
        if numbers is None:
            return [like.new_zeros(places), nn.functional.one_hot(labels, self.outputs).to(like.dtype)]
        right = nn.functional.one_hot(numbers[tasks, labels], self.outputs)
        return [like.new_zeros(places).masked_fill_(self._network.others[tasks], NEVER), right.to(like.dtype)]

    @property
    def seen(self) -> int:
        """The newest task whose classes are seen, on which a table depends where heads grow."""
        return self._network.seen

    def gradients(self, states: Tensor, samples: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
        """Losses (n,) and gradients (n, width) at `states` (n, width), which may be one state, expanded; `samples` (n,
        B, ...) are lines of a `table`, and `weights` (n, B) theirs in the loss.
        """
        found = self.room(states, len(samples))
        return self.passed(self.layers(states), self.given(samples, weights), self.layers(found)), found

    def layers(self, rows: Tensor) -> list[Layer]:
        """Every layer's numbers in rows (n, width), of states or of gradients."""
        return [_layer(rows, weight, bias) for weight, bias in self._layers]

    def given(self, samples: Tensor, weights: Tensor) -> tuple[Tensor, ...]:
        """What a pass needs of lines of a `table` (..., B, line) with weights (..., B): images, and the loss's part."""
        images = samples[..., : self.inputs]
        if self._squared:
            return images, samples[..., self.inputs], weights
        labels, by_sample = self.inputs + self.outputs, weights[..., None]
        return images, samples[..., self.inputs : labels], samples[..., labels:] * by_sample, by_sample

    def passed(self, states: Sequence[Layer], given: Sequence[Tensor], found: Sequence[Layer]) -> Tensor:
        """Losses (n,) of what is `given`; the gradients are written to `found`."""
        last, (x, *right), met = len(states) - 1, given, []
        for number, layer in enumerate(states):
            met.append(x)
            x = torch.bmm(x, layer.turned) if layer.bias is None else torch.baddbmm(layer.bias, x, layer.turned)
            if number < last:
                x.relu_()
        losses, slope = self._loss(x, *right)
        for number in range(last, -1, -1):
            into = found[number]
            torch.bmm(slope.transpose(1, 2), met[number], out=into.weight)
            if into.bias is not None:
                torch.sum(slope, 1, keepdim=True, out=into.bias)
            if number:
                slope = torch.bmm(slope, states[number].weight)
                slope = torch.ops.aten.threshold_backward(slope, met[number], 0)
        return losses

    def room(self, like: Tensor, n: int) -> Tensor:
        """For n gradients, with zeros behind the d-th number."""
        found = like.new_empty((n, self.width))
        found[:, self.d :] = 0
        return found

    def _loss(self, outputs: Tensor, *right: Tensor) -> tuple[Tensor, Tensor]:
        """Losses (n,) and their slopes by the outputs (n, B, outputs)."""
        if self._squared:
            target, weights = right
            away = outputs[..., 0] - target
            return (weights * away * away).sum(1) / 2, (weights * away)[..., None]
        never, weighed, by_sample = right
        logs = torch.log_softmax(outputs.add_(never), dim=-1)
        losses = (logs * weighed).flatten(1).sum(1).neg_()
        return losses, logs.exp_().mul_(by_sample).sub_(weighed)


class Layer(NamedTuple):
    """A layer's numbers in rows of vectors, as views."""

    #: (n, out, in) Tensor.
    weight: Tensor
    #: (n, in, out) Tensor.
    turned: Tensor
    #: (n, 1, out) Tensor or None.
    bias: Tensor | None


def _layer(rows: Tensor, weight: Place, bias: Place | None) -> Layer:
    _, where, (out, into) = weight
    # One view, where slicing would make three.
    matrix = rows.as_strided((len(rows), out, into), (rows.stride(0), into, 1), rows.storage_offset() + where.start)
    return Layer(matrix, matrix.transpose(1, 2), None if bias is None else rows[:, None, bias[1]])


def stack_of(network: nn.Module, tensors: Sequence[Place], loss: str) -> Stack | None:
    """A `Stack` of a network that has one: fully connected layers with ReLU between them."""
    if not isinstance(network, Network):
        return None
    body = list(network.body) if isinstance(network.body, nn.Sequential) else [network.body]
    kinds = [nn.Flatten, *([nn.Linear, nn.ReLU] * (len(body) // 2))]
    if [type(layer) for layer in body] != kinds or any(len(shape) > 2 for _, _, shape in tensors):
        return None
    return Stack(network, tensors, loss)


# A run takes its current, remembered and past samples in turn.
@lru_cache(maxsize=4)
def _table(stack: Stack, data: tuple[Samples, ...], seen: int) -> Tensor:
    return stack.table(data)


class StackedPasses:
    """The minibatches of clients in a round, all of them taken from one table at once where that is little. `places`
    and `weights` (most, rows, B) say where in the `table` the samples of every row's minibatches are, and how they
    count: 0 for what fills a minibatch up.
    """

    def __init__(self, stack: Stack, table: Tensor, places: Tensor, weights: Tensor) -> None:
        self._stack, self._table, self._shape = stack, table, places.shape
        self._places, self._weights = places.flatten(0, 1), weights.flatten(0, 1)
        self._found: Tensor | None = None
        self._at: Tensor | None = None
        little = places.numel() * table.shape[1] <= AT_ONCE
        self._samples = self._taken(self._places) if little else None
        self._given: list[tuple[Tensor, ...]] = []

    def _taken(self, places: Tensor) -> Tensor:
        return self._table.index_select(0, places.view(-1)).view(*places.shape, -1)

    def gradients(
        self, rows: Sequence[int], numbers: Sequence[int], states: Tensor, *, statistics: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Losses (n,) and gradients (n, width) of these rows' minibatches with these numbers; see `rows.Passes`."""
        index = self._index(rows, numbers)
        weights = self._weights.index_select(0, index)
        if self._samples is not None:
            return self._stack.gradients(states, self._samples.index_select(0, index), weights)
        return self._stack.gradients(states, self._taken(self._places.index_select(0, index)), weights)

    def step(self, k: int, count: int, states: Tensor, *, statistics: bool = False) -> tuple[Tensor, Tensor]:
        """The same of the minibatches k of the first `count` rows; the next step writes over the gradients."""
        stack = self._stack
        if self._found is None:
            self._found = stack.room(states, count)
        # The same rows are given step after step: their views are made once.
        if states is not self._at:
            self._at, self._layers = states, stack.layers(states)
            self._gradients = self._found[:count]
            self._into = stack.layers(self._gradients)
        losses = stack.passed(self._layers, self._of_step(k, count), self._into)
        return losses, self._gradients

    def _of_step(self, k: int, count: int) -> Sequence[Tensor]:
        most, rows, _ = self._shape
        if self._samples is None:
            some = slice(k * rows, k * rows + count)
            return self._stack.given(self._taken(self._places[some]), self._weights[some])
        if not self._given:
            whole = self._stack.given(self._samples, self._weights)
            steps = [each.view(most, rows, *each.shape[1:]).unbind(0) for each in whole]
            self._given = list(zip(*steps, strict=True))
        given = self._given[k]
        return given if count == rows else [each[:count] for each in given]

    def ordered(self, rows: Sequence[int], orders: Sequence[Sequence[int]]) -> StackedPasses:
        """Those of these rows in other orders, one a row; the first is the longest."""
        most = len(orders[0])
        numbers = np.array([[*order, *([0] * (most - len(order)))] for order in orders]).T
        index = put(numbers * self._shape[1] + np.array(rows), self._table.device).flatten()
        shape = (most, len(rows), self._shape[2])
        places, weights = (each.index_select(0, index).view(shape) for each in (self._places, self._weights))
        return StackedPasses(self._stack, self._table, places, weights)

    def _index(self, rows: Sequence[int], numbers: Sequence[int]) -> Tensor:
        chosen = [number * self._shape[1] + row for row, number in zip(rows, numbers, strict=True)]
        return put(np.array(chosen), self._table.device)


def stacked_passes(
    stack: Stack, data: Sequence[Sequence[Samples]], parts: Sequence[Sequence[Ints]], longest: int
) -> StackedPasses:
    """The minibatches of a round, by row; several `data` of a row stand behind each other, and `parts` are positions in
    them. `longest` is over the minibatches of all clients, also of those of other processes.
    """
    table = _table(stack, tuple(each for row in data for each in row), stack.seen)
    starts = np.cumsum([0, *(sum(each.n for each in row) for row in data)]).tolist()
    places = np.zeros((max(map(len, parts)), len(parts), filled(longest, FILL)), dtype=np.int64)
    weights = np.zeros(places.shape)
    for row, own in enumerate(parts):
        for number, positions in enumerate(own):
            places[number, row, : len(positions)] = positions + starts[row]
            weights[number, row, : len(positions)] = 1 / len(positions)
    return StackedPasses(stack, table, put(places, table.device), put(weights, table.device).to(table.dtype))
