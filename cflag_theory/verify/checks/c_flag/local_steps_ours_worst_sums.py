"""The exact worst case of the sums over local steps: the attaining instance, and random exact rounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cflag_theory.claims.c_flag.local_steps.ours import worst_sums as claim
from cflag_theory.claims.c_flag.local_steps.sums import error_sum, norm_S, rho_sum
from cflag_theory.claims.engine.notation import E, L, beta, grad_g
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.local_steps_ours_worst_path import cases
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.instances.c_flag import of_worst
from cflag_theory.verify.instances.paths import norm


def points() -> Iterator[Point]:
    """Every round."""
    for case in cases():
        worst, whole, size = case.worst, case.round, case.size
        rho, errors, both = (norm(v) for v in (whole.rho_sum, whole.error_sum, whole.rho_sum + whole.error_sum))
        values: dict[Any, Any] = {
            **{symbol: of_worst(worst, 0, size)[symbol] for symbol in (beta, L, grad_g)},
            E: worst.local_steps,
            claim.d_sum(E): size * (worst.gradient_sum - worst.local_steps),
            claim.table_sum(E): size * (worst.delayed_sum - worst.local_steps),
            rho_sum: rho,
            error_sum: errors,
            norm_S: both,
        }
        met = {claim.rho_met: rho, claim.errors_met: errors, claim.S_met: both}
        for part in ("gradients", "delayed", "errors"):
            yield Point(values, part=part)
            if case.attaining:
                yield Point(values | met, part=f"attained {part}")


CHECKS = {
    "ours.worst_sums": Check(
        points,
    )
}
