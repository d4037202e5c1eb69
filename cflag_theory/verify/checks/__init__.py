"""One check a claim, mirroring `claims`."""

from __future__ import annotations

from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag import descent, drift, forgetting, update

CHECKS: dict[str, Check] = {**update.CHECKS, **descent.CHECKS, **drift.CHECKS, **forgetting.CHECKS}
