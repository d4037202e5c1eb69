"""Numbers on their way to a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray


def put(array: NDArray[Any], device: torch.device | str) -> torch.Tensor:
    """An array on a device; a GPU copies it while the CPU goes on.

    The copy is from pinned memory, which the CPU does not have to wait for, and which PyTorch takes back only when the
    copy is done.
    """
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    if torch.device(device).type != "cuda":
        return tensor.to(device)
    return tensor.pin_memory().to(device, non_blocking=True)
