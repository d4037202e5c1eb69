"""The same algorithms on PyTorch: C-FLAG and other task-incremental methods on images.

Names load when they are first used. Data, settings, presets and metrics do without torch; what needs it says what to
install.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "FlatModel": "models.flat_model",
    "Images": "data.datasets",
    "Metrics": "measures.metrics",
    "RunSettings": "settings.run_settings",
    "Stream": "data.streams",
    "check_data": "data.findings",
    "forgetting": "measures.metrics",
    "load_images": "data.datasets",
    "make_method": "methods.table",
    "make_model": "models.flat_model",
    "preset": "settings.presets",
    "read_model": "training.exports",
    "read_results": "measures.results",
    "read_settings_file": "settings.file",
    "remembered": "data.streams",
    "run_bridge": "training.run",
    "run_settings": "settings.run_settings",
    "split_tasks": "data.streams",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
