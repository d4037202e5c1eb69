"""Pictures: results in, a `Picture` out, which is a figure that notebooks show. Nothing here computes a result."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from cflag_theory.errors import InvalidInput

_HOME = {
    "rate_details_figure": "rate",
    "rate_family_figure": "rate_family",
    "rate_figure": "rate",
    "cfl_rate_figure": "cfl_rate",
    "drift_figure": "ledger",
    "floors_figure": "ledger",
    "nqm_figure": "cfl_rate",
    "expectation_figure": "ledger",
    "adaptive_rates_figure": "adaptive_rates",
    "bridge_accuracy_figure": "bridge",
    "bridge_gamma_figure": "bridge",
    "bridge_levels_figure": "bridge",
    "bridge_rounds_figure": "bridge",
    "forgetting_figure": "forgetting",
    "tasks_figure": "forgetting",
    "Picture": "style",
    "save": "style",
    "sharp_figure": "sharp",
    "published_figure": "worst_case",
    "sharp_plane_figure": "worst_case",
    "worst_case_figure": "worst_case",
    "step_sizes_figure": "step_sizes",
    "curves_figure": "sweep",
    "map_figure": "sweep",
    "series_figure": "sweep",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        try:
            return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
        except ValueError as error:
            # From the environment or a file, which matplotlib reads while it loads.
            raise InvalidInput(
                f"matplotlib refuses its settings ({error}): correct MPLBACKEND or matplotlibrc"
            ) from error
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
