"""What a pass is given: images with their labels, data that they can be taken of, and a loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from cflag_theory.errors import InvalidInput
from cflag_theory.public import quoted


@dataclass(frozen=True, eq=False)
class Batch:
    """Images (B, C, H, W), normalised, of the model's dtype, with their labels; the loss is sum_b weights_b l_b, where
    None stands for weights of 1 / B.

    A label is the number of the class within its task; numbers of the model's dtype for the squared loss. `soft` (B,
    outputs) is what another model gives for these images, for a `Loss` that asks for it.
    """

    images: Tensor
    labels: Tensor
    tasks: Tensor
    weights: Tensor | None = None
    soft: Tensor | None = None


#: l_b of every image, (B,), for all outputs (B, outputs) of the network, unmasked: in place of `FlatModel.losses`.
Loss = Callable[[Tensor, Batch], Tensor]


class Samples(Protocol):
    """Data that batches can be taken of."""

    @property
    def n(self) -> int:
        """How many samples there are."""

    def batch(self, positions: np.ndarray | Tensor | slice) -> Batch:
        """The samples at these positions."""


def as_device(device: torch.device | str) -> torch.device:
    """The device of this name."""
    try:
        return torch.device(device)
    except RuntimeError as error:
        raise InvalidInput(f"device {quoted(device)} is none of torch's: use cpu, or one that torch finds") from error
