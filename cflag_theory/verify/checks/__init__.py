"""One check a claim, mirroring `claims`."""

from __future__ import annotations

from cflag_theory.verify.check import Check
from cflag_theory.verify.checks import ours
from cflag_theory.verify.checks.c_flag import (
    adaptive,
    algorithm3,
    descent,
    drift,
    forgetting,
    limits,
    memory,
    problem,
    published,
    sums,
    union,
    update,
)

_MODULES = (
    problem,
    update,
    memory,
    descent,
    union,
    drift,
    sums,
    forgetting,
    limits,
    adaptive,
    algorithm3,
    published,
    ours,
)
CHECKS: dict[str, Check] = {id: check for module in _MODULES for id, check in module.CHECKS.items()}
