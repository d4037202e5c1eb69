"""One check a claim, mirroring `claims`."""

from __future__ import annotations

from cflag_theory.verify.check import Check
from cflag_theory.verify.checks import (
    ours,
    ours_adaptive,
    ours_bounded,
    ours_first_rounds,
    ours_forgetting,
    ours_memory,
    ours_union,
)
from cflag_theory.verify.checks.c_flag import (
    adaptive,
    adaptive_clients,
    adaptive_lemmas,
    algorithm3,
    assumptions,
    average_forgetting,
    descent,
    drift,
    forgetting,
    iag,
    limits,
    memory,
    overfitting,
    problem,
    published,
    sums,
    surrogate,
    terms,
    theorem2,
    union,
    update,
)

_MODULES = (
    problem,
    assumptions,
    update,
    memory,
    overfitting,
    descent,
    theorem2,
    union,
    surrogate,
    drift,
    iag,
    sums,
    forgetting,
    terms,
    average_forgetting,
    limits,
    adaptive,
    adaptive_clients,
    adaptive_lemmas,
    algorithm3,
    published,
    ours,
    ours_first_rounds,
    ours_bounded,
    ours_memory,
    ours_union,
    ours_forgetting,
    ours_adaptive,
)
CHECKS: dict[str, Check] = {id: check for module in _MODULES for id, check in module.CHECKS.items()}
