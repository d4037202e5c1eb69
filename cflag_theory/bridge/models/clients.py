"""What a client holds in a task: its current data, changed images of them, what it remembers, and all its past data.

The last are for measuring only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor, nn

from cflag_theory.bridge.data.datasets import Images
from cflag_theory.bridge.data.partition import Ints
from cflag_theory.bridge.data.streams import Stream
from cflag_theory.bridge.models.compiled import put
from cflag_theory.bridge.models.flat_model import FlatModel
from cflag_theory.bridge.models.networks import Batch
from cflag_theory.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Pixels:
    """Images on a device, once for all clients, as they are stored: normalised when they are taken."""

    #: (n, C, H, W) Tensor: uint8, or numbers that are taken as they are.
    images: Tensor
    #: (C, 1, 1) Tensor: A byte v becomes v scale + shift = (v / 255 - mean) / std, in the dtype of these.
    scale: Tensor
    shift: Tensor
    #: Images are made this high and wide when they are taken, by linear interpolation between pixels.
    side: int | None = None

    def take(self, indices: Tensor) -> Tensor:
        """Images at these places, (len(indices), C, H, W), in the dtype of `scale`."""
        found = self.images[indices]
        if found.dtype == torch.uint8:
            return self.shown(found.to(self.scale.dtype))
        return self._sized(found.to(self.scale.dtype))

    def shown(self, values: Tensor) -> Tensor:
        """What a network is given for images (B, C, H, W) whose bytes are these numbers, in the dtype of `scale`."""
        return self._sized(torch.addcmul(self.shift, values, self.scale))

    def _sized(self, images: Tensor) -> Tensor:
        if self.side is None or not len(images):
            return images
        return nn.functional.interpolate(images, size=(self.side, self.side), mode="bilinear", align_corners=False)


def pixels(images: np.ndarray, mean: np.ndarray, std: np.ndarray, model: FlatModel, side: int | None = None) -> Pixels:
    """Images (n, H, W, C) in bytes on a model's device; `mean` and `std` (C,) are those of the bytes divided by 255."""
    kind = {"dtype": model.dtype, "device": model.device}
    stored = put(images.transpose(0, 3, 1, 2), model.device)
    scale = torch.tensor(1 / (255 * std)[:, None, None], **kind)
    return Pixels(stored, scale, torch.tensor((-mean / std)[:, None, None], **kind), side)


@dataclass(frozen=True, eq=False)
class ClientData:
    """Samples of one client."""

    #: Shared with all others.
    pixels: Pixels
    #: (n,) int64 Tensor: Where the samples are in `pixels`.
    indices: Tensor
    #: (n,) Tensor: See `Batch`.
    labels: Tensor
    #: (n,) int64 Tensor.
    tasks: Tensor
    #: (n, outputs) Tensor or None: See `Batch`.
    soft: Tensor | None = None

    @cached_property
    def n(self) -> int:
        """How many samples there are."""
        return len(self.indices)

    @property
    def task_numbers(self) -> Ints:
        """The task of every sample, (n,), to choose positions by."""
        return np.asarray(self.tasks.cpu().numpy(), dtype=np.int64)

    @cached_property
    def by_task(self) -> tuple[Ints, ...]:
        """Positions of the samples of each task that there are some of."""
        numbers = self.task_numbers
        return tuple(np.flatnonzero(numbers == task) for task in np.unique(numbers))

    @property
    def none(self) -> ClientData:
        """No samples of this kind."""
        return ClientData(self.pixels, self.indices[:0], self.labels[:0], self.tasks[:0])

    def batch(self, positions: Ints | Tensor | slice) -> Batch:
        """The samples at these positions, in this order; each in [0, n)."""
        if isinstance(positions, np.ndarray):
            positions = put(positions, self.indices.device)
        images = self.pixels.take(self.indices[positions])
        soft = None if self.soft is None else self.soft[positions]
        return Batch(images, self.labels[positions], self.tasks[positions], soft=soft)


@dataclass(frozen=True, eq=False)
class Client:
    """One client in one task."""

    index: int
    #: Its share p_i of the task's samples. With 0 it takes no part in the task, whatever it remembers: its gradients
    #: and its move would have no weight, since (6) and (7) weigh the memory by the same p_i.
    p: float
    #: ``memory.n == 0`` where nothing is remembered.
    current: ClientData
    memory: ClientData
    #: All its samples of the past tasks, on which f_i is defined: no method may look at them, meters do.
    past: ClientData
    #: Which of its data sets it holds, where they change from round to round.
    part: int = 0


def client_data(
    pixels: Pixels, stream: Stream, labels: Ints, indices: Sequence[Ints], tasks: Sequence[int], device: torch.device
) -> ClientData:
    """Samples of several tasks: `indices` has an array for each of `tasks`, `labels` are those of all images."""
    numbers, owners = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for task, chosen in zip(tasks, indices, strict=True):
        numbers.append(within_task(stream.classes[task], labels[chosen]))
        owners.append(np.full(len(chosen), task, dtype=np.int64))
    places = np.concatenate([np.zeros(0, dtype=np.int64), *indices])
    columns = (places, np.concatenate(numbers), np.concatenate(owners))
    return ClientData(pixels, *(put(column.astype(np.int64), device) for column in columns))


def within_task(classes: Sequence[int], labels: Ints) -> Ints:
    """Numbers of classes within their task, (n,): the place of each label among the task's classes."""
    order = np.argsort(classes)
    place = np.searchsorted(classes, labels, sorter=order).clip(max=len(classes) - 1)
    numbers: Ints = order[place].astype(np.int64)
    wrong = np.flatnonzero(np.asarray(classes)[numbers] != labels)
    if len(wrong):
        raise InvalidInput(
            f"label {labels[wrong[0]]} is of no class of the task {tuple(classes)}: use the task's own samples"
        )
    return numbers


def clients_of(
    images: Images, stream: Stream, task: int, memory: Sequence[Sequence[Ints]], taken: Pixels, device: torch.device
) -> tuple[Client, ...]:
    """All clients in a task; `memory` is [client][past task] indices into the train images, as from `remembered`."""
    here, before = task, tuple(range(task))

    def data(indices: Sequence[Ints], tasks: Sequence[int]) -> ClientData:
        return client_data(taken, stream, images.train_labels, indices, tasks, device)

    return tuple(
        Client(
            index=i,
            p=float(stream.shares[task, i]),
            current=data([stream.train[here][i]], [here]),
            memory=data(memory[i], before) if task else data([], []),
            past=data([stream.train[past][i] for past in before], before),
        )
        for i in range(stream.clients)
    )


def test_data(images: Images, stream: Stream, taken: Pixels, device: torch.device) -> tuple[ClientData, ...]:
    """The test images of every task; `taken` are the test images."""
    return tuple(
        client_data(taken, stream, images.test_labels, [stream.test[task]], [task], device)
        for task in range(stream.tasks)
    )


#: A crop moves an image by up to this part of its side, 4 pixels of 32, and fills with black.
MARGIN = 1 / 8
#: Factors of brightness, contrast and saturation are uniform in 1 - STRENGTH to 1 + STRENGTH.
STRENGTH = 0.2
#: Parts of red, green and blue in grey, in thousandths.
GREY = (299, 587, 114)


def augmented(
    data: ClientData, random: np.random.Generator, *, crop: bool = False, flip: bool = False, jitter: bool = False
) -> ClientData:
    """The same samples with images changed at random for a round: shifted and cropped, mirrored, with other brightness,
    contrast and saturation, in bytes.

    Every image is changed once a round, so that a component of the round stays one function. The draws are a function
    of the seed, the round and the client alone, and all are made whatever is asked for. Arithmetic is on bytes and
    exact sums, so that the images do not depend on threads or on which others are changed with them.
    """
    images = data.pixels.images[data.indices]
    count, _, height, width = images.shape
    margin = int(MARGIN * min(height, width))
    shifts = random.integers(-margin, margin, (count, 2), endpoint=True)
    mirrored = random.integers(2, size=count)
    factors = random.uniform(1 - STRENGTH, 1 + STRENGTH, (count, 3))

    if crop:
        images = shifted(images, put(shifts, images.device), margin)
    if flip:
        images = torch.where(put(mirrored, images.device)[:, None, None, None] > 0, images.flip(-1), images)
    if jitter:
        images = coloured(images, put(factors.astype(np.float32), images.device))
    places = torch.arange(count, device=data.indices.device)
    return replace(data, pixels=replace(data.pixels, images=images), indices=places)


def shifted(images: Tensor, shifts: Tensor, margin: int) -> Tensor:
    """Images (n, C, H, W) moved by shifts (n, 2), down and right, each within the margin; what comes in is 0."""
    count, channels, height, width = images.shape
    wide = torch.nn.functional.pad(images, (margin,) * 4)
    each, channel = (torch.arange(size, device=images.device) for size in (count, channels))
    rows = torch.arange(height, device=images.device) + margin - shifts[:, :1]
    columns = torch.arange(width, device=images.device) + margin - shifts[:, 1:]
    return wide[each[:, None, None, None], channel[:, None, None], rows[:, None, :, None], columns[:, None, None, :]]


def coloured(images: Tensor, factors: Tensor) -> Tensor:
    """Images (n, C, H, W) in bytes with brightness, contrast about the mean grey and saturation times factors (n, 3).

    In this order, without rounding in between. Grey images have no saturation.
    """
    brightness, contrast, saturation = (factors[:, which, None, None, None] for which in range(3))
    parts = GREY if images.shape[1] == 3 else (sum(GREY),)
    thousandths = sum(part * images[:, channel].long() for channel, part in enumerate(parts))
    assert isinstance(thousandths, Tensor)
    size = 1000 * images.shape[2] * images.shape[3]
    mean = (thousandths.sum(dim=(1, 2)).double() / size).float()[:, None, None, None]
    found = contrast * (brightness * images.float()) + (1 - contrast) * (brightness * mean)
    if len(parts) > 1:
        grey = sum(part / 1000 * found[:, channel] for channel, part in enumerate(parts))
        assert isinstance(grey, Tensor)
        found = saturation * found + (1 - saturation) * grey[:, None]
    return found.round_().clamp_(0, 255).to(torch.uint8)
