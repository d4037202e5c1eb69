"""The studies that commands run: rates, step sizes, sweeps, worst cases, stored bridge runs."""

from __future__ import annotations

from cflag_theory.public import names

__getattr__, __all__ = names(
    __name__,
    {
        "rates.instances": "instance_rate",
        "rates.past_task": "rate Rate",
        "rates.families": "RateCase rate_family",
        "sweeps.store": "read_results",
        "stepsize.cfl_conditions": "cfl_step_sizes",
        "bridge_results.report": "bridge_report",
        "forgetting.adaptive_rates": "adaptive_study",
        "forgetting.heterogeneity": "forgetting_study",
        "nqm.table3": "nqm_study",
        "forgetting.tasks": "task_study",
        "stepsize.estimates": "estimate_constants",
        "worst_cases.constants": "sharp",
        "stepsize.conditions": "step_sizes",
        "sweeps.sweep": "sweep",
    },
)
