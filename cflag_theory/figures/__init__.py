"""Pictures: results in, a `Picture` out, which is a figure that notebooks show. Nothing here computes a result."""

from __future__ import annotations

from typing import Any

from cflag_theory.errors import InvalidInput
from cflag_theory.public import names

_load, __all__ = names(
    __name__,
    {
        "rate": "rate_details_figure rate_figure",
        "cfl_rate": "cfl_rate_figure nqm_figure rate_family_figure",
        "bridge": "bridge_accuracy_figure bridge_gamma_figure bridge_levels_figure bridge_rounds_figure",
        "forgetting": "adaptive_rates_figure forgetting_figure tasks_figure",
        "style": "Picture save",
        "worst_case": "drift_figure expectation_figure floors_figure published_figure sharp_figure sharp_plane_figure "
        "step_sizes_figure worst_case_figure",
        "sweep": "curves_figure map_figure series_figure",
    },
)


def __getattr__(name: str) -> Any:
    try:
        found = _load(name)
        if name.endswith("_figure"):
            from cflag_theory.figures.forms import of_form

            found = globals()[name] = of_form(found)
        return found
    except ValueError as error:
        # From the environment or a file, which matplotlib reads while it loads.
        raise InvalidInput(f"matplotlib refuses its settings ({error}): correct MPLBACKEND or matplotlibrc") from error
