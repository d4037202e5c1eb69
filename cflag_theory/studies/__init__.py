"""The studies that commands run: rates, step sizes, sweeps, worst cases, stored bridge runs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "instance_rate": "rates.instances",
    "rate": "rates.past_task",
    "Rate": "rates.past_task",
    "RateCase": "rates.families",
    "rate_family": "rates.families",
    "read_results": "sweeps.store",
    "cfl_step_sizes": "stepsize.cfl_conditions",
    "bridge_report": "bridge_results.report",
    "adaptive_study": "forgetting.adaptive_rates",
    "forgetting_study": "forgetting.heterogeneity",
    "nqm_study": "nqm.table3",
    "task_study": "forgetting.tasks",
    "estimate_constants": "stepsize.estimates",
    "sharp": "worst_cases.constants",
    "step_sizes": "stepsize.conditions",
    "sweep": "sweeps.sweep",
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
