"""A network through `torch.compile`, whatever the sizes of its batches; CUDA graphs; arithmetic and steps on vectors.

A graph for one size is the fastest one, and `torch.compile` makes no more than eight of them: then it goes on without
compiling, and only a log line says so. Minibatches of clients with unequal samples end in last batches of many sizes.
Filling these up would change what batch normalisation sees. So the first sizes have graphs of their own, and all others
share one whose number of images is free. Here too: numbers on their way to a device.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from cflag_theory.bridge.settings.options import ADAM, STEPS
from cflag_theory.errors import InvalidInput
from cflag_theory.public import one_of, taking

#: Sizes that have graphs of their own, training, evaluation and passes without gradients apart.
OWN = 3


class Compiled:
    """Called as the network is. `sizes` says which numbers of images have a graph, with the network's mode and whether
    gradients are taken.
    """

    def __init__(self, network: nn.Module) -> None:
        self._network = network
        self._fixed = torch.compile(network, dynamic=False)
        self._free = torch.compile(network, dynamic=True)
        self.sizes: set[tuple[int, bool, bool]] = set()

    def __call__(self, images: Tensor, tasks: Tensor) -> Tensor:
        kind = len(images), self._network.training, torch.is_grad_enabled()
        if kind not in self.sizes and len(self.sizes) < OWN:
            self.sizes.add(kind)
        found: Tensor = (self._fixed if kind in self.sizes else self._free)(images, tasks)
        return found


@cache
def fused(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of long vectors as one pass over memory, where PyTorch makes one for every operation."""
    found: Callable[..., Any] = torch.compile(function)
    return found


def put(array: NDArray[Any], device: torch.device | str) -> torch.Tensor:
    """An array on a device; a GPU copies it while the CPU goes on.

    The copy is from pinned memory, which the CPU does not have to wait for, and which PyTorch takes back only when the
    copy is done.
    """
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    if torch.device(device).type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)


#: torch.optim.Adam's defaults.
BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8


class Step(ABC):
    """x <- x - lr * direction(gradient); one object serves the steps of one round."""

    @abstractmethod
    def direction(self, gradient: torch.Tensor) -> torch.Tensor:
        """The direction for this gradient, which stays as it is: (d,), or rows (n, d) for several clients.

        Rows may become fewer from step to step: the first ones go on.
        """


class Plain(Step):
    """The gradient itself."""

    def direction(self, gradient: torch.Tensor) -> torch.Tensor:
        return gradient


class Adam(Step):
    """Adam of Kingma and Ba (2015), with the corrections for its start at zero, as in torch.optim.Adam. If `compiled`,
    the arithmetic is one pass over memory: 14 ms instead of 34 for the 11 million parameters of a ResNet-18 on two
    cores.
    """

    def __init__(self, compiled: bool = False) -> None:
        self.steps, self._compiled = 0, compiled
        self.mean: torch.Tensor | None = None
        self.square: torch.Tensor | None = None

    def direction(self, gradient: torch.Tensor) -> torch.Tensor:
        if self.mean is None or self.square is None:
            self.mean, self.square = torch.zeros_like(gradient), torch.zeros_like(gradient)
        self.steps += 1
        moments = self.mean[: len(gradient)], self.square[: len(gradient)]
        corrections = 1 - BETA1**self.steps, (1 - BETA2**self.steps) ** 0.5
        if not self._compiled:
            return adam_direction(gradient, *moments, *corrections)
        # As tensors: numbers would be constants of the compiled code.
        given = (torch.full((), number, dtype=gradient.dtype, device=gradient.device) for number in corrections)
        found: torch.Tensor = fused(adam_direction)(gradient, *moments, *given)
        return found


def adam_direction(
    gradient: torch.Tensor,
    mean: torch.Tensor,
    square: torch.Tensor,
    first: float | torch.Tensor,
    second: float | torch.Tensor,
) -> torch.Tensor:
    """Adam's direction, whose two moments move; `first` and `second` correct for their start at zero."""
    mean.lerp_(gradient, 1 - BETA1)
    square.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
    root = square.sqrt().div_(second).add_(EPSILON)
    return torch.div(mean, root, out=root).div_(first)


@taking
def make_step(name: Annotated[str | None, one_of(*STEPS, called="step")], *, compiled: bool = False) -> Step:
    """A fresh step of this name."""
    return Adam(compiled) if name == ADAM else Plain()


#: Sizes of minibatches that have a graph; each keeps the memory of a pass.
MOST = 8
#: Passes before one is recorded, in which libraries choose their kernels.
WARM = 3
#: A pass over images, labels and tasks that leaves gradients behind and returns the loss.
Pass = Callable[[Tensor, Tensor, Tensor], Tensor]
#: What makes of a function without arguments how to run it again, and where its result then lies.
Record = Callable[[Callable[[], Tensor]], tuple[Callable[[], None], Tensor]]


class Graphs:
    """CUDA graphs of the pass `run` (zero, forward, loss and backward of a minibatch), one for each shape of a
    minibatch, up to `MOST`; other shapes have none.

    A pass of a ResNet is several hundred kernels, and a fast GPU ends small ones before the CPU has asked for the next.
    A graph is asked for once. It works on fixed memory: the network's parameters and gradients, which are views into a
    `FlatModel`'s vectors anyway, copies of the minibatch, and other memory that stays in its place. On an H200 a
    ResNet-18 passes 3.3 times as many images this way; the tests, without a GPU, replay by running again.
    """

    def __init__(self, run: Pass, record: Record | None = None) -> None:
        self._run, self._record = run, record or Recorder()
        self._kept: dict[tuple[object, ...], tuple[tuple[Tensor, ...], Callable[[], None], Tensor]] = {}

    def ready(self, *given: Tensor) -> bool:
        """Whether there is a graph for these images, labels and tasks; recorded now, if there is room for it.

        Recording runs passes, which write wherever `run` does: what a pass begins with is to be set afterwards.
        """
        kind = _kind(given)
        if kind not in self._kept and len(self._kept) < MOST:
            own = tuple(each.clone() for each in given)
            self._kept[kind] = own, *self._record(lambda: self._run(*own))
        return kind in self._kept

    def replay(self, *given: Tensor) -> Tensor:
        """What `run` would return, as a new tensor."""
        own, again, result = self._kept[_kind(given)]
        for place, each in zip(own, given, strict=True):
            place.copy_(each)
        again()
        return result.clone()


class Recorder:
    """Records CUDA graphs that share their memory: only one of them runs at a time, and results are copied."""

    def __init__(self) -> None:
        self._pool: tuple[int, int] | None = None

    def __call__(self, run: Callable[[], Tensor]) -> tuple[Callable[[], None], Tensor]:
        """How to run this again, and where its result then lies."""
        here, side, graph = torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.CUDAGraph()
        side.wait_stream(here)
        with torch.cuda.stream(side):
            for _ in range(WARM):
                run()
        here.wait_stream(side)
        try:
            # Another thread of NCCL's asks for events while this one records.
            with torch.cuda.graph(graph, pool=self._pool, capture_error_mode="thread_local"):
                result = run()
        except RuntimeError as error:
            raise InvalidInput(
                f"a pass of this network cannot be recorded as a CUDA graph ({str(error).splitlines()[0]}): run "
                "without graphs"
            ) from error
        self._pool = graph.pool()
        return graph.replay, result


def _kind(given: tuple[Tensor, ...]) -> tuple[object, ...]:
    return tuple((each.shape, each.dtype, each.stride()) for each in given)
