"""Images changed at random for a round: shifted and cropped, mirrored, with other brightness, contrast and saturation.

Every image of a client is changed once a round, so that a component of the round stays one function. The draws are a
function of the seed, the round and the client alone: a run that goes on draws what it would have drawn. Arithmetic is
on bytes and exact sums, so that the images do not depend on threads or on which others are changed with them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from cflag_theory.bridge.models.clients import ClientData
from cflag_theory.bridge.models.compiled import put

#: A crop moves an image by up to this part of its side, 4 pixels of 32, and fills with black.
MARGIN = 1 / 8
#: Factors of brightness, contrast and saturation are uniform in 1 - STRENGTH to 1 + STRENGTH.
STRENGTH = 0.2
#: Parts of red, green and blue in grey, in thousandths.
GREY = (299, 587, 114)


def augmented(
    data: ClientData, random: np.random.Generator, *, crop: bool = False, flip: bool = False, jitter: bool = False
) -> ClientData:
    """The same samples with changed images, in bytes. All draws are made whatever is asked for, so that a change draws
    the same with and without the others.
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
