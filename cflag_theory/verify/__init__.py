"""Where claim and run meet: verdicts, studies, the command line and the report."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "verify": "check",
    "Verdict": "verdict",
    "Evidence": "verdict",
    "instance_rate": "rates.instances",
    "rate": "rates.study",
    "Rate": "rates.study",
    "RateCase": "rates.families",
    "rate_family": "rates.families",
    "read_results": "sweeps.store",
    "cfl_step_sizes": "stepsize.cfl_conditions",
    "adaptive_study": "forgetting.adaptive_rates",
    "forgetting_study": "forgetting.study",
    "nqm_study": "nqm.study",
    "task_study": "forgetting.tasks",
    "estimate_constants": "stepsize.estimates",
    "step_sizes": "stepsize.conditions",
    "sweep": "sweeps.sweeping",
    "write_report": "report",
}
__all__ = [
    "Evidence",
    "Rate",
    "RateCase",
    "Verdict",
    "adaptive_study",
    "cfl_step_sizes",
    "estimate_constants",
    "forgetting_study",
    "instance_rate",
    "nqm_study",
    "rate",
    "rate_family",
    "read_results",
    "step_sizes",
    "sweep",
    "task_study",
    "verify",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
