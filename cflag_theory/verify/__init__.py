"""Checks, evidence and verdicts.

Public names of `falsify`, `studies` and the report load from here too.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_FALSIFY = "Conjecture Decision Finding Range decide falsify prove quadratics repair replay ridges"
_STUDIES = (
    "Rate RateCase adaptive_study bridge_report cfl_step_sizes estimate_constants forgetting_study instance_rate "
    "nqm_study rate rate_family read_results sharp step_sizes sweep task_study"
)
_HOME = {
    "Evidence": "verify.verdict",
    "Verdict": "verify.verdict",
    "verify": "verify.check",
    "write_report": "cli",
    **dict.fromkeys(_FALSIFY.split(), "falsify"),
    **dict.fromkeys(_STUDIES.split(), "studies"),
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"cflag_theory.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
