"""Assumptions 2 and 3: exact instances, runs that break them, and every memory of two small finite sums."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.problem import assumptions as claim
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import L, grad_g
from cflag_theory.kernels import Problem
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.problems.objective import gradients, mean_gradient
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.verdict import REFUTES, UNDECIDED, Evidence
from cflag_theory.verify.witnesses.instances import Component, exact_run, on_the_line, visited

_HALF = Fraction(1, 2)
#: Least squares without an interpolating solution, and with one: components a (x - s)^2 / 2 as (a, s).
_CROSSING = ((1, 0), (1, 2), (2, 1), (1, 4))
_COMMON = ((_HALF, 1), (3 * _HALF, 1), (1, 1), (4, 1))


def bias_at(components: Sequence[tuple[Any, Any]], kept: Sequence[int], x: Fraction) -> tuple[Fraction, Fraction]:
    """(grad f_i, b_i) at x for components a (x - s)^2 / 2 and the memory `kept`."""
    past: list[Component] = [(a, a * s) for a, s in components]
    problem = on_the_line([past], [[(0, 1)]], start=x, L=max(a for a, _ in components))
    grad_f = gradients(problem.potential, problem.past, problem.start)[0, 0]
    memory = mean_gradient(problem.potential, problem.past, np.array(kept), problem.start)[0]
    return grad_f, memory - grad_f


def shape(components: Sequence[tuple[Any, Any]], kept: Sequence[int]) -> tuple[Fraction, Fraction, Fraction]:
    """(kappa, b_i(s), s): relative curvature error of the memory, bias at the minimiser s of f_i, and s."""
    n = len(components)
    a = sum((Fraction(a) for a, _ in components), Fraction(0)) / n
    kept_a = sum((Fraction(components[j][0]) for j in kept), Fraction(0)) / len(kept)
    rest = sum((Fraction(weight * s) for weight, s in components), Fraction(0)) / n / a
    return abs(kept_a / a - 1), bias_at(components, kept, rest)[1], rest


def assumption2_points() -> Iterator[Point]:
    """Memories that break it at rest, by too much curvature and at the boundary m_i = 1; and good ones."""
    cases: tuple[tuple[tuple[tuple[Any, Any], ...], tuple[int, ...]], ...] = (
        (((1, 0), (1, 2)), (0,)),
        (((3, 1), (0, 1)), (0,)),
        (((3, 1), (0, 1), (0, 1)), (0,)),
        (((_HALF, 1), (3 * _HALF, 1)), (0,)),
        (((_HALF, 1), (3 * _HALF, 1)), (0, 1)),
        (((1, 0), (2, 1), (1, 2)), (0, 2)),
    )
    for components, kept in cases:
        kappa, rest_bias, rest = shape(components, kept)
        for x, bias in product((rest, rest + 1, rest - 3), (Fraction(0), Fraction(1, 4), Fraction(99, 100))):
            grad_f, b = bias_at(components, kept, x)
            shown = ", ".join(f"({a})(x - {s})^2/2" for a, s in components)
            yield Point(
                {
                    claim.bias_i: abs(b),
                    claim.grad_f_i: abs(grad_f),
                    claim.m_i: bias,
                    claim.kappa: kappa,
                    claim.bias_at_rest: abs(rest_bias),
                    claim.moved: abs(b - rest_bias),
                },
                (f"f_i is the mean of {shown}; the memory keeps number {[j + 1 for j in kept]}; x = {x}.",),
            )


def satisfying(components: Sequence[tuple[Any, Any]]) -> tuple[list[tuple[int, ...]], int]:
    """The proper memories that satisfy Assumption 2 with some m_i < 1, and how many proper memories there are.

    On the line that is b_i(s) = 0 and kappa < 1, by `ours.assumption2`.
    """
    count = len(components)
    every = [kept for size in range(1, count) for kept in combinations(range(count), size)]
    found = []
    for kept in every:
        kappa, rest_bias, _ = shape(components, kept)
        if rest_bias == 0 and kappa < 1:
            found.append(kept)
    return found, len(every)


def assumption2_further(subject: Claim, seed: int, count: int) -> Iterable[Evidence]:
    """Every proper memory of two least-squares sums with four components."""
    crossing, total = satisfying(_CROSSING)
    common, _ = satisfying(_COMMON)
    summary = (
        f"Of the {total} proper memories of four components (a, s) = {_shown(_CROSSING)} without a common minimiser "
        f"{len(crossing)} have some m_i < 1; of {_shown(_COMMON)} with one, {len(common)}."
    )
    data = {
        "exact": True,
        "cases": total,
        "without_common_minimiser": [list(kept) for kept in crossing],
        "with_common_minimiser": [list(kept) for kept in common],
    }
    finding = REFUTES if len(crossing) < total else UNDECIDED
    yield Evidence("enumeration", subject.parts[0].key, "printed", finding, summary, data)


def _shown(components: Sequence[tuple[Any, Any]]) -> str:
    return ", ".join(f"({a}, {s})" for a, s in components)


def assumption3_points() -> Iterator[Point]:
    """A run of Algorithm 1 that meets the minimiser of g, and runs on nested tasks."""
    # x_1 = 2 - 2 alpha - beta = 1 for alpha = 11/24, beta = 1/12: inside every step-size range of the paper.
    meeting = on_the_line([[(1, 0)]], [[(1, 1)]], start=2, L=1)
    words = "N = 1, E = 1, f = x^2/2 kept whole (m = 0), g = (x - 1)^2/2, x_0 = 2, alpha = 11/24, beta = 1/12"
    # At x_1 the right side is zero whatever r_i is.
    x_1 = _iterates(meeting, Fraction(11, 24), Fraction(1, 12))[1]
    for bound in (Fraction(10**6), Fraction(1)):
        yield _assumption3(meeting, x_1, Fraction(1), bound, 1, f"{words}; t = 1.", "1")
    for slope, start in product((Fraction(1, 3), Fraction(1)), (Fraction(2), Fraction(-5, 2))):
        nested = on_the_line([[(1, 0)]], [[(slope, 0)]], start=start, L=1)
        for t, x in enumerate(_iterates(nested, Fraction(1, 4), _HALF)):
            words = f"N = 1, E = 1, f = x^2/2 kept whole, g = ({slope}) x^2/2, x_0 = {start}, alpha = 1/4, beta = 1/2"
            yield _assumption3(nested, x, slope, 1 / slope, 0, f"{words}; t = {t}.", None)


def _iterates(problem: Problem, alpha: Fraction, beta: Fraction) -> list[Fraction]:
    return visited(exact_run(problem, alpha=alpha, beta=beta, local_steps=1, rounds=3))


def _assumption3(
    problem: Problem, x: Fraction, mu: Fraction, bound: Fraction, rest: int, words: str, part: str | None
) -> Point:
    """Values at x_t, all of the past kept, `rest` the minimiser of g."""
    here, there = (np.array([value], dtype=object) for value in (x, Fraction(rest)))
    memory, new = (abs(gradients(problem.potential, task, here)[0, 0]) for task in (problem.past, problem.current))
    at_rest = abs(gradients(problem.potential, problem.past, there)[0, 0])
    assert gradients(problem.potential, problem.current, there)[0, 0] == 0
    return Point(
        {
            claim.memory_i: memory,
            grad_g: new,
            claim.r_i: bound,
            claim.memory_at_rest: at_rest,
            claim.mu: mu,
            claim.distance: abs(x - rest),
            L: 1,
        },
        (words, f"x_t = {x}; g is stationary at {rest}."),
        part,
    )


CHECKS = {
    "cflag.assumption2": Check(assumption2_points, further=assumption2_further),
    "cflag.assumption3": Check(assumption3_points),
}
