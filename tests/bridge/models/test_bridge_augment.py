"""Images of a round: exact where they are moved or mirrored, by hand where colours change, the same bits wherever."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from cflag_theory.bridge.data.keyed import keyed
from cflag_theory.bridge.models.clients import ClientData, Pixels, augmented, coloured, shifted
from cflag_theory.bridge.training.environment import threads


def data(count=40, channels=3, side=16) -> ClientData:
    random = torch.Generator().manual_seed(0)
    images = torch.randint(256, (2 * count, channels, side, side), generator=random, dtype=torch.uint8)
    one = torch.ones(channels, 1, 1)
    # Every second image, backwards.
    places = torch.arange(2 * count - 1, 0, -2)
    return ClientData(Pixels(images, one, 0 * one), places, torch.arange(count), torch.zeros(count, dtype=torch.int64))


def images_of(found: ClientData) -> torch.Tensor:
    return found.pixels.images[found.indices]


def test_a_shift_by_hand():
    image = torch.arange(1, 10, dtype=torch.uint8).view(1, 1, 3, 3)
    moved = shifted(image.repeat(3, 1, 1, 1), torch.tensor([[1, 0], [0, -1], [-1, 1]]), 1)[:, 0].tolist()
    assert moved == [
        [[0, 0, 0], [1, 2, 3], [4, 5, 6]],
        [[2, 3, 0], [5, 6, 0], [8, 9, 0]],
        [[0, 4, 5], [0, 7, 8], [0, 0, 0]],
    ]


def test_every_image_is_moved_by_its_own_shift():
    before, after = data(), augmented(data(), keyed(1, "x"), crop=True)
    seen = set()
    for one, two in zip(images_of(before), images_of(after), strict=True):
        padded = torch.nn.functional.pad(one, (2,) * 4)
        fits = [(y, x) for y in range(5) for x in range(5) if torch.equal(padded[:, y : y + 16, x : x + 16], two)]
        assert len(fits) == 1
        seen |= set(fits)
    assert len(seen) > 10
    assert torch.equal(before.labels, after.labels)


def test_half_of_the_images_are_mirrored():
    before, after = images_of(data(400)), images_of(augmented(data(400), keyed(1, "x"), flip=True))
    mirrored = (after == before.flip(-1)).flatten(1).all(dim=1)
    assert torch.equal(after[~mirrored], before[~mirrored])
    assert 0.4 < float(mirrored.double().mean()) < 0.6


@pytest.mark.parametrize("channels", [1, 3])
def test_colours_in_float64(channels):
    images = images_of(data(channels=channels))
    factors = torch.tensor(np.random.default_rng(2).uniform(0.8, 1.2, (len(images), 3)), dtype=torch.float32)
    found = coloured(images, factors)
    parts = np.array([0.299, 0.587, 0.114]) if channels == 3 else np.ones(1)
    for image, (b, c, s), mine in zip(images.double().numpy(), factors.double().numpy(), found.numpy(), strict=True):
        x = b * image
        x = c * x + (1 - c) * np.tensordot(parts, x, 1).mean()
        x = s * x + (1 - s) * np.tensordot(parts, x, 1) if channels == 3 else x
        # Half a byte of rounding.
        assert np.abs(mine - x.clip(0, 255)).max() <= 0.5 + 1e-4
    assert not torch.equal(found, images)


def test_factors_of_one_and_no_switch_leave_images_as_they_are():
    assert torch.equal(coloured(images_of(data()), torch.ones(40, 3)), images_of(data()))
    assert torch.equal(images_of(augmented(data(), keyed(1, "x"))), images_of(data()))


def test_draws_depend_on_the_key_alone():
    both = {"crop": True, "flip": True, "jitter": True}
    one, two, other = (images_of(augmented(data(), keyed(seed, "x", 3, 1), **both)) for seed in (1, 1, 2))
    assert torch.equal(one, two)
    assert not torch.equal(one, other)
    with threads(2):
        assert torch.equal(images_of(augmented(data(), keyed(1, "x", 3, 1), **both)), one)
    # Other switches draw the same: the last column of what is not moved tells who was mirrored.
    assert torch.equal(
        images_of(augmented(augmented(data(), keyed(1, "y"), flip=True), keyed(1, "y"), jitter=True)),
        images_of(augmented(data(), keyed(1, "y"), flip=True, jitter=True)),
    )


def test_no_samples_and_other_sizes():
    empty = replace(data(), indices=torch.zeros(0, dtype=torch.int64), labels=torch.zeros(0), tasks=torch.zeros(0))
    assert augmented(empty, keyed(1, "x"), crop=True, flip=True, jitter=True).n == 0
    large = replace(data().pixels, side=32)
    assert large.take(torch.arange(3)).shape == (3, 3, 32, 32)
    changed = augmented(replace(data(), pixels=large), keyed(1, "x"), crop=True)
    assert changed.batch(slice(0, 2)).images.shape == (2, 3, 32, 32)


def test_scaling_is_linear_interpolation():
    row = torch.tensor([[0.0, 4.0]]).repeat(2, 1)
    pixels = Pixels(row[None, None], torch.ones(1, 1, 1), torch.zeros(1, 1, 1), side=4)
    # Pixels are squares: the new centres lie at -1/4, 1/4, 3/4 and 5/4 of the old ones.
    assert pixels.take(torch.tensor([0]))[0, 0].tolist() == [[0.0, 1.0, 3.0, 4.0]] * 4
