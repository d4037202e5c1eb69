"""torchvision next to a CPU build of torch that is not the one it was built for."""

from __future__ import annotations

import sys
from typing import Any

_KEPT: list[Any] = []


def allow_torchvision() -> None:
    """Make torchvision's models importable where its operators are not: they need none of them."""
    try:
        import torchvision  # noqa: F401
    except RuntimeError:
        from torch.library import Library

        for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
            del sys.modules[name]
        # As long as the library lives the operators do.
        library = Library("torchvision", "DEF")
        for operator in ("nms", "qnms"):
            library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _KEPT.append(library)
    except ImportError:
        # The network says what to install.
        return
