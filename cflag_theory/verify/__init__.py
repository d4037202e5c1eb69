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
    "Conjecture": "falsifier.conjecture",
    "Finding": "falsifier.finding",
    "Range": "falsifier.ranges",
    "falsify": "falsifier.falsify",
    "quadratics": "falsifier.families",
    "replay": "falsifier.saving",
    "ridges": "falsifier.families",
    "cfl_step_sizes": "stepsize.cfl_conditions",
    "bridge_report": "bridge.report",
    "adaptive_study": "forgetting.adaptive_rates",
    "forgetting_study": "forgetting.study",
    "nqm_study": "nqm.study",
    "task_study": "forgetting.tasks",
    "estimate_constants": "stepsize.estimates",
    "sharp": "worst_cases.study",
    "step_sizes": "stepsize.conditions",
    "sweep": "sweeps.sweeping",
    "write_report": "report",
}
__all__ = [
    "Conjecture",
    "Evidence",
    "Finding",
    "Range",
    "Rate",
    "RateCase",
    "Verdict",
    "adaptive_study",
    "bridge_report",
    "cfl_step_sizes",
    "estimate_constants",
    "falsify",
    "forgetting_study",
    "instance_rate",
    "nqm_study",
    "quadratics",
    "rate",
    "rate_family",
    "read_results",
    "replay",
    "ridges",
    "sharp",
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
