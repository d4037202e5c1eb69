"""Where claim and run meet: verdicts, studies, the command line and the report."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "verify": "check",
    "Verdict": "verdict",
    "Evidence": "verdict",
    "rate": "rates",
    "Rate": "rates",
    "cfl_step_sizes": "conditions",
    "nqm_study": "nqm_runs",
    "step_sizes": "conditions",
    "write_report": "report",
}
__all__ = ["Evidence", "Rate", "Verdict", "cfl_step_sizes", "nqm_study", "rate", "step_sizes", "verify", "write_report"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
