"""(60)-(63): exact runs over every draw of the memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from cflag_theory.claims.c_flag.past_task import averages as claim
from cflag_theory.claims.c_flag.past_task.runs import T, f_mean, grad_f2_sum, least
from cflag_theory.claims.engine.notation import (
    L,
    alpha,
    beta,
    bias_dot_sum,
    f_after,
    f_before,
    grad_dot_bias,
    grad_dot_sum,
    grad_f2,
    m,
    sum2,
    t,
)
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.past_task.theorem2 import scaled as scaled_run
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.quantities.c_flag import of
from cflag_theory.verify.witnesses.runs import Exact


def _terms(run: Exact, entries: dict[str, Fraction]) -> Fraction:
    """B(t) + Gamma(t) from sums of Gram entries."""
    lead = run.L * run.alpha**2 - run.alpha
    products = entries["grad_dot_S"] + entries["bias_dot_S"]
    Gamma = run.L * run.beta**2 / 2 * entries["S2"] - run.beta * (1 - run.L * run.alpha) * products
    return lead * entries["grad_dot_bias"] + run.beta * entries["bias_dot_S"] + Gamma


def points() -> Iterator[Point]:
    """Runs of one, two and three rounds, for every draw of the memory; in the first round (59) for that draw."""
    for scale, push, rounds in product((Fraction(1, 2), Fraction(0)), (Fraction(1), Fraction(-1, 2)), (1, 2, 3)):
        base = scaled_run(scale, push)
        run = Exact(base.problem, base.alpha, base.beta, base.local_steps, rounds)
        first = Exact(base.problem, base.alpha, base.beta, base.local_steps, 1)
        sums = run.sums
        common: dict[Any, Any] = {
            **of(run, L, alpha, beta, T, least),
            m: scale**2,
            grad_f2_sum: sums.entries["grad_f2"],
            claim.terms_sum: _terms(run, sums.entries),
            claim.lost_mean: sums.f[0] - sums.f[-1],
            t: 0,
            claim.grad_f2_mean(t): first.sums.entries["grad_f2"],
            claim.terms_mean(t): _terms(first, first.sums.entries),
            f_mean(t): first.sums.f[0],
            f_mean(t + 1): first.sums.f[1],
        }
        for kept in run.draws():
            f = [run.f(x) for x in run.path(kept)]
            one = Exact(base.problem, base.alpha, base.beta, base.local_steps, 1, only=(kept,)).sums
            own = {
                grad_f2: one.entries["grad_f2"],
                grad_dot_bias: one.entries["grad_dot_bias"],
                grad_dot_sum: one.entries["grad_dot_S"],
                bias_dot_sum: one.entries["bias_dot_S"],
                sum2: one.entries["S2"],
                f_before: f[0],
                f_after: f[1],
                claim.f_at(0): f[0],
                claim.f_at(T): f[-1],
                claim.lost: sum(f[at] - f[at + 1] for at in range(rounds)),
            }
            yield Point(common | own, (run.words, f"This run keeps component {kept[0] + 1}."))


CHECKS = {
    "cflag.eq63": Check(
        points,
    )
}
