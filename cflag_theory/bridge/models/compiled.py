"""A network through `torch.compile`, whatever the sizes of its batches; and arithmetic on long vectors.

A graph for one size is the fastest one, and `torch.compile` makes no more than eight of them: then it goes on without
compiling, and only a log line says so. Minibatches of clients with unequal samples end in last batches of many sizes.
Filling these up would change what batch normalisation sees. So the first sizes have graphs of their own, and all others
share one whose number of images is free. Here too: numbers on their way to a device.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

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
