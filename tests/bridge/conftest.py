"""What the bridge's tests share: one thread, torchvision next to a CPU build of torch, and a small Split-Digits."""

from __future__ import annotations

import sys

import pytest
import torch
from small_runs import World

from cflag_theory.bridge.datasets import Images, load_images


def _torchvision() -> None:
    """Make torchvision importable where its operators were built for another torch: none of them is used."""
    try:
        import torchvision  # noqa: F401
    except RuntimeError:
        for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
            del sys.modules[name]
        # As long as the library lives the operators do.
        _torchvision.library = torch.library.Library("torchvision", "DEF")
        for operator in ("nms", "qnms"):
            _torchvision.library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


_torchvision()


@pytest.fixture(autouse=True)
def _one_thread():
    """Sums over threads differ in last bits, and processes share two cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def digits() -> Images:
    return load_images("digits")


@pytest.fixture(scope="session")
def world(digits) -> World:
    """Split-Digits for three clients, an mlp in float64."""
    return World(digits, "mlp", dtype=torch.float64)
