"""The generator of TARGET: from noise and a label to an image."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from cflag_theory.bridge.data.keyed import as_seed


class Generator(nn.Module):  # type: ignore[misc]
    """Maps of a quarter of the sides, made twice as large twice, each time with a 3 x 3 convolution and BatchNorm.

    Parameters
    ----------
    shape : (C, H, W)
    classes : int
        Labels are given one-hot behind the noise.
    """

    #: Numbers of noise, and channels of the maps.
    NOISE, CHANNELS = 64, 32

    def __init__(self, shape: Sequence[int], classes: int) -> None:
        super().__init__()
        self.shape = tuple(shape)
        self.small = tuple(-(-side // 4) for side in shape[1:])
        self.first = nn.Linear(self.NOISE + classes, self.CHANNELS * self.small[0] * self.small[1])
        width = self.CHANNELS
        self.convolutions = nn.ModuleList([nn.Conv2d(width, width, 3, padding=1) for _ in range(2)])
        self.norms = nn.ModuleList([nn.BatchNorm2d(width) for _ in range(3)])
        self.last = nn.Conv2d(width, shape[0], 3, padding=1)

    def forward(self, given: Tensor) -> Tensor:
        """Images with entries from 0 to 1, (B, C, H, W), for noise with labels behind, (B, NOISE + classes)."""
        x = self.norms[0](self.first(given).view(-1, self.CHANNELS, *self.small))
        half = tuple(min(2 * side, whole) for side, whole in zip(self.small, self.shape[1:], strict=True))
        for convolution, norm, size in zip(self.convolutions, self.norms[1:], (half, self.shape[1:]), strict=True):
            larger = nn.functional.interpolate(x, size=size, mode="nearest")
            x = nn.functional.leaky_relu(norm(convolution(larger)), 0.2)
        return torch.sigmoid(self.last(x))

    @classmethod
    def fresh(cls, shape: Sequence[int], classes: int, seed: int) -> Generator:
        """One whose numbers are drawn on the CPU, the same for a seed everywhere."""
        with torch.random.fork_rng(devices=[]):
            torch.random.default_generator.manual_seed(as_seed(seed))
            return cls(shape, classes)
