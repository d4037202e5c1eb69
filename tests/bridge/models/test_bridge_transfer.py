"""Copies to a device: the same numbers, and pinned memory where a GPU waits for them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from cflag_theory.bridge.models.compiled import put


@pytest.mark.parametrize("array", [np.arange(6), np.arange(12.0).reshape(3, 4)[:, ::2], np.zeros(0, dtype=np.uint8)])
def test_the_numbers_arrive(array: np.ndarray) -> None:
    there = put(array, torch.device("cpu"))
    assert there.numpy().dtype == array.dtype
    np.testing.assert_array_equal(there.numpy(), array)


def test_a_gpu_copies_from_pinned_memory_without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Any] = []
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda self: calls.append("pinned") or self)
    monkeypatch.setattr(torch.Tensor, "to", lambda self, *where, **how: calls.append((where, how)) or self)
    device = torch.device("cuda:1")
    put(np.arange(3), device)
    assert calls == ["pinned", ((device,), {"non_blocking": True})]
