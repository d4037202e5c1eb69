"""The same algorithms on PyTorch: C-FLAG and other task-incremental methods on images.

Names load when they are first used. Data, settings, presets and metrics do without torch; what needs it says what to
install.
"""

from __future__ import annotations

from cflag_theory.public import names

__getattr__, __all__ = names(
    __name__,
    {
        "models.flat_model": "FlatModel make_model",
        "data.datasets": "Images load_images",
        "measures.metrics": "Metrics forgetting",
        "settings.run_settings": "RunSettings run_settings",
        "data.streams": "Stream remembered split_tasks",
        "data.findings": "check_data",
        "methods.table": "make_method",
        "settings.presets": "preset",
        "training.exports": "read_model",
        "measures.results": "read_results",
        "settings.file": "read_settings_file",
        "training.run": "run_bridge",
    },
)
