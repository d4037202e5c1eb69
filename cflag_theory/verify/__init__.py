"""Checks, evidence and verdicts.

Public names of `falsify`, `studies` and the report load from here too.
"""

from __future__ import annotations

from cflag_theory.public import names

__getattr__, __all__ = names(
    __name__,
    {
        "verdict": "Evidence Verdict",
        "check": "verify",
        ".cli": "write_report",
        ".falsify": "Conjecture Decision Finding Range decide falsify prove quadratics repair replay ridges",
        ".studies": "Rate RateCase adaptive_study bridge_report cfl_step_sizes estimate_constants forgetting_study "
        "instance_rate nqm_study rate rate_family read_results sharp step_sizes sweep task_study",
    },
)
