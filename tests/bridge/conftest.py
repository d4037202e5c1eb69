"""What the bridge's tests share: one thread, and a small Split-Digits."""

from __future__ import annotations

import pytest
import torch
from small_runs import World

from cflag_theory.bridge.data.datasets import Images, load_images
from cflag_theory.bridge.training.environment import threads


@pytest.fixture(autouse=True)
def _one_thread():
    """Sums over threads differ in last bits, and processes share two cores."""
    with threads(1):
        yield


@pytest.fixture(scope="session")
def digits() -> Images:
    return load_images("digits")


@pytest.fixture(scope="session")
def world(digits) -> World:
    """Split-Digits for three clients, an mlp in float64."""
    return World(digits, "mlp", dtype=torch.float64)
