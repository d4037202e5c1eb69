"""Lemma 1 and the factor of Theorem 2: exact rounds, instances that break a part, and random runs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.past_task import descent as claim
from cflag_theory.claims.engine.notation import (
    L,
    alpha,
    beta,
    bias2,
    bias_dot_sum,
    f_after,
    f_before,
    grad_dot_bias,
    grad_dot_sum,
    grad_f2,
    m,
    sum2,
)
from cflag_theory.kernels import Memory, Problem, everything, sign_bias, uniform
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.witnesses.instances import (
    Component,
    described,
    exact_run,
    on_the_line,
    random_runs,
    slopes,
    visited,
)


def _round(
    problem: Problem,
    memory: Memory,
    step: Fraction,
    local: Fraction,
    steps: int,
    bias: Fraction,
    *,
    part: str | None = None,
    seed: int = 0,
) -> Point:
    """One exact round on the line as values of Lemma 1's symbols."""
    trace = exact_run(problem, alpha=step, beta=local, local_steps=steps, memory=memory, seed=seed)
    (before, after), (grad_f, grad_g) = visited(trace), slopes(problem)
    # On the line the last step tells b and S apart: Lambda_i = grad_f_memory a_i would vanish with grad_f_memory.
    S = _sum(problem, memory, local, steps, seed)
    b = (before - after - local * S) / step - grad_f
    f0, f1 = trace.column("f")[0, 0], trace.at_end("f")[0]
    late = S - grad_g
    values: dict[Any, Any] = {
        L: problem.constants["L"].value,
        m: bias,
        alpha: step,
        beta: local,
        f_before: f0,
        f_after: f1,
        grad_f2: grad_f**2,
        bias2: b**2,
        grad_dot_bias: grad_f * b,
        sum2: S**2,
        grad_dot_sum: grad_f * S,
        bias_dot_sum: b * S,
        claim.late_sum2: late**2,
        claim.late_grad_dot_sum: grad_f * late,
        claim.late_bias_dot_sum: b * late,
        claim.inner: grad_f * (after - before),
        claim.step2: (after - before) ** 2,
        # Of the simulation itself, which adds up the clients' inner products.
        claim.Lambda: trace.column("Lambda")[0, 0] @ problem.p,
        claim.memory_dot_sum: (grad_f + b) * S,
    }
    story = f"{described(problem)}; memory: {memory.kind}, seed {seed}: b = {b}; E = {steps}. S = {S} from k = 0."
    return Point(values, (story,), part)


def _sum(problem: Problem, memory: Memory, local: Fraction, steps: int, seed: int) -> Fraction:
    """S as the displacement of a round without a memory step, by (22)."""
    trace = exact_run(problem, alpha=0, beta=local, local_steps=steps, memory=memory, seed=seed)
    before, after = visited(trace)
    return (before - after) / local


def lemma1_points() -> Iterator[Point]:
    """Rounds that leave out the step k = 0, rounds whose biases do not cancel, and rounds that attain the bound."""
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    for steps in (2, 1, 3):
        # The current task pushes x away from the minimiser of f; sums from k = 1 miss the first push.
        problem = on_the_line([[(1, 0)]], [[(0, 1)]], start=1, L=1)
        yield _round(problem, everything(), half, half, steps, Fraction(0), part="1")
    # Equality: f has curvature exactly L and the bias exactly m.
    for scale, steps in product((Fraction(0), half, Fraction(1), Fraction(2)), (1, 3)):
        problem = on_the_line([[(2, 0)]], [[(-1, 1), (1, 3)]], start=3, L=2)
        bias = scale**2
        step = 1 / (2 * (1 + bias))
        yield _round(problem, sign_bias(scale=scale), step, quarter, steps, bias, part="1")
    # Gradients of the clients cancel in grad f, their biases do not: Assumption 2 holds and (27) fails for every m.
    cancelling = on_the_line(
        [[(0, -half * 3), (0, -half)], [(0, half * 3), (0, half)]], [[(half, 1)]] * 2, start=0, L=1
    )
    # E = 2: as printed, the sums of E = 1 are empty.
    for steps, seed, bias in product((2, 1), range(6), (Fraction(0), Fraction(3))):
        step = 1 / (1 + bias)
        yield _round(cancelling, uniform(1), step, step / 4, steps, bias, part="2", seed=seed)


def lemma1_samples(seed: int, count: int) -> Iterator[Sample]:
    """Every round of random runs, with m the observed ratio in that round and alpha within 2/(L(1 + m))."""
    for run in random_runs(seed, count, beta_limit=1.0):
        trace = run.trace
        squares = {name: trace.column(name) for name in ("grad_f2", "b2", "grad_memory2", "delayed_sum2", "B", "Gamma")}
        bias = trace.column("m_met")
        after = np.concatenate([trace.column("f")[:, 1:], trace.at_end("f")[:, None]], axis=1)
        fits = np.isfinite(bias) & (run.alpha < 2 / (run.L_objective * (1 + bias)))
        if not fits.any():
            continue
        cross = (squares["grad_memory2"] - squares["grad_f2"] - squares["b2"]) / 2
        # B and Gamma of the Trace, at L of the problem, give back the inner products that they were made from.
        bias_sum = (squares["B"] - (run.L_objective * run.alpha**2 - run.alpha) * cross) / run.beta
        memory_sum = trace.column("Lambda") @ run.problem.p
        yield Sample(
            {
                symbol: np.broadcast_to(value, fits.shape)[fits]
                for symbol, value in (
                    (L, np.array(run.L_objective)),
                    (m, bias),
                    (alpha, np.array(run.alpha)),
                    (beta, np.array(run.beta)),
                    (f_before, trace.column("f")),
                    (f_after, after),
                    (grad_f2, squares["grad_f2"]),
                    (bias2, squares["b2"]),
                    (grad_dot_bias, cross),
                    (sum2, squares["delayed_sum2"]),
                    (grad_dot_sum, memory_sum - bias_sum),
                    (bias_dot_sum, bias_sum),
                )
            },
            part="1",
        )


def algebra_points() -> Iterator[Point]:
    """Exact rounds of two and three clients with biased memories, and rounds that attain (56)."""
    half, third = Fraction(1, 2), Fraction(1, 3)
    past: list[list[Component]] = [[(1, 2), (half, -1)], [(-half, 1), (1, 0)], [(half, half), (0, 3)]]
    current: list[list[Component]] = [[(1, -1)], [(-1, 2), (half, 0)], [(0, 1), (1, 1)]]
    for clients, seed, steps in product((2, 3), range(3), (1, 3)):
        problem = on_the_line(past[:clients], current[:clients], start=2, L=1)
        grad_f, b = _bias(problem, uniform(1), seed)
        yield _round(problem, uniform(1), half, third, steps, b**2 / grad_f**2, seed=seed)
    for scale, step in product((Fraction(0), half, Fraction(2)), (third, Fraction(3))):
        problem = on_the_line([[(2, 0)]], [[(-1, 1), (1, 3)]], start=3, L=2)
        yield _round(problem, sign_bias(scale=scale), step, half, 3, scale**2)


def _bias(problem: Problem, memory: Memory, seed: int) -> tuple[Fraction, Fraction]:
    """grad f and b at the start, on the line."""
    trace = exact_run(problem, alpha=1, beta=1, local_steps=1, memory=memory, seed=seed)
    (before, after), (grad_f, grad_g) = visited(trace), slopes(problem)
    return grad_f, before - after - grad_g - grad_f


def algebra_samples(seed: int, count: int) -> Iterator[Sample]:
    """Every round of random runs, with m the observed ratio in that round."""
    for sample in lemma1_samples(seed, count):
        yield Sample(sample.values)


def eq65_points() -> Iterator[Point]:
    """The factor at rational L and m."""
    for smoothness, bias in product(
        (Fraction(1, 3), Fraction(1), Fraction(7)), (Fraction(0), Fraction(1, 5), Fraction(4))
    ):
        step = 1 / (smoothness * (1 + bias))
        yield Point({L: smoothness, m: bias, alpha: step})


CHECKS = {
    "cflag.lemma1": Check(lemma1_points, lemma1_samples),
    "cflag.lemma1_supp": Check(lemma1_points, lemma1_samples),
    "cflag.eq15": Check(algebra_points),
    "cflag.eq56": Check(algebra_points, algebra_samples),
    "cflag.eq65": Check(eq65_points),
}
