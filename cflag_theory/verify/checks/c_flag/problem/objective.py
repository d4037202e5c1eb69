"""(3), (5) and the cost of (5): exact instances, and rounds whose evaluations are counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import Any

import numpy as np

from cflag_theory.claims.c_flag.problem import objective as claim
from cflag_theory.claims.c_flag.problem.update import delayed
from cflag_theory.claims.engine.notation import E
from cflag_theory.kernels import Problem
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.problems.objective import component_gradient, gradients, mean_value, values
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point
from cflag_theory.verify.witnesses.instances import described, exact_run, on_the_line, visited

_HALF = Fraction(1, 2)
_COMPONENTS = claim.c1, claim.c2, claim.c3
#: Sizes (|P^i|, |C^i|) of two clients: shares that differ, at equal and at unequal amounts of data, and shares alike.
_SIZES = (((1, 3), (3, 1)), ((1, 1), (2, 1)), ((1, 2), (2, 4)), ((2, 2), (1, 1)))


def union(problem: Problem) -> tuple[Fraction, ...]:
    """h_i at the start for every client: the mean over its past and current components together."""
    found = []
    for past, current in zip(_members(problem.past), _members(problem.current), strict=True):
        sums = [
            mean_value(problem.potential, part, chosen, problem.start) * len(chosen)
            for part, chosen in ((problem.past, past), (problem.current, current))
        ]
        found.append(sum(sums) / Fraction(len(past) + len(current)))
    return tuple(found)


def _members(part: Any) -> list[Any]:
    return [np.arange(first, last) for first, last in zip(part.client_start[:-1], part.client_start[1:], strict=True)]


def split_problems() -> Iterator[tuple[Problem, Sequence[tuple[int, int]]]]:
    """Two clients whose data sets have the sizes above, with weights 1/2 and with weights by size."""
    for sizes, by_size in product(_SIZES, (False, True)):
        whole = sum(sum(pair) for pair in sizes)
        p = [Fraction(sum(pair), whole) if by_size else _HALF for pair in sizes]
        tasks = [
            [[(1, i + 2 * task + j) for j in range(pair[task])] for i, pair in enumerate(sizes)] for task in (0, 1)
        ]
        yield on_the_line(tasks[0], tasks[1], start=1, L=1, p=p), sizes


def eq3_values(problem: Problem, sizes: Sequence[tuple[int, int]], client: int = 0) -> dict[Any, Any]:
    """What (3) speaks of, by the kernels' values; h from the union of each client's data."""
    h_i = union(problem)
    f_i, g_i = (values(problem.potential, part, problem.start) for part in (problem.past, problem.current))
    h, f, g = (sum(problem.p * np.array(found, dtype=object)) for found in (h_i, f_i, g_i))
    past, current = (sum(pair[task] for pair in sizes) for task in (0, 1))
    return {
        claim.h: h,
        claim.f: f,
        claim.g: g,
        claim.past: past,
        claim.current: current,
        claim.past_i: sizes[client][0],
        claim.current_i: sizes[client][1],
        claim.h_i: h_i[client],
        claim.f_i: f_i[client],
        claim.g_i: g_i[client],
    }


def eq3_points() -> Iterator[Point]:
    """Two clients, with weights 1/2 and with weights by size."""
    for problem, sizes in split_problems():
        own = [eq3_values(problem, sizes, client) for client in range(len(sizes))]
        yield Point(own[0], (f"{described(problem)}; x = x_0.",), members={"h_i": own})


def eq5_points() -> Iterator[Point]:
    """A second round of the toy example: delayed gradients as differences of S for E = 1, 2, 3."""
    problem = on_the_line([[(1, 0)]], [[(1, 0), (2, 1), (-1, 3)]], start=1, L=2)
    step = Fraction(1, 4)
    # The first local order is c_2; the second round samples c_1 at k = 1 and c_3 at k = 2.
    first = _after(problem, step, [[0, 1, 1]])
    later = replace(problem, start=np.array([first], dtype=object))
    local = [later.start[0]]
    S = [Fraction(0)]
    for steps in (1, 2, 3):
        end = _after(later, step, [[0, 0, 2][:steps]])
        S.append((later.start[0] - end) / step)
        # With one client the local step (4) is -beta grad g_i', so the end of a round of E steps is x_{t,E}.
        local.append(end)
    estimates = [b - a for a, b in pairwise(S)]
    kind = problem.potential

    def at(j: int, x: Fraction) -> Fraction:
        found: Fraction = component_gradient(kind, problem.current, j, np.array([x], dtype=object))[0]
        return found

    numbers: dict[Any, Any] = {delayed(k): value for k, value in enumerate(estimates)}
    initial = (claim.c1_initial, claim.c2_initial, claim.c3_initial)
    for j, (component, first) in enumerate(zip(_COMPONENTS, initial, strict=True)):
        numbers |= {component(k): at(j, local[k]) for k in range(3)}
        numbers[first] = at(j, problem.start[0])
    numbers[claim.grad_g_i] = gradients(kind, problem.current, later.start)[0, 0]
    yield Point(
        numbers,
        (
            "N = 1, c_1 = x^2/2, c_2 = x^2 - x, c_3 = -x^2/2 - 3x, alpha = 0, beta = 1/4, x_0 = 1; round t = 1 after a "
            "round of E = 3 that refreshed c_2 twice; it samples c_1 at k = 1 and c_3 at k = 2.",
            f"x_t = {first}; the delayed gradients at k = 0, 1, 2 are {', '.join(map(str, estimates))}, the "
            "differences of S for E = 1, 2, 3.",
        ),
    )


def _after(problem: Problem, beta: Fraction, order: Sequence[Sequence[int]]) -> Fraction:
    """x after one round without a memory step, with the given component order of every client."""
    return visited(exact_run(problem, alpha=0, beta=beta, local_steps=len(order[0]), orders=np.array([order])))[1]


def counted_round(n: int, steps: int) -> tuple[int, Fraction, Problem]:
    """(component gradients evaluated, end of the round, the problem) for a round by the text of Sec. 3, counted."""
    problem = on_the_line([[(1, 0)]], [[(j + 1, j) for j in range(n)]], start=1, L=n)
    count = 0

    def gradient(j: int, x: Any) -> Any:
        nonlocal count
        count += 1
        return component_gradient(problem.potential, problem.current, j, x)

    x = problem.start
    table = [gradient(j, x) for j in range(n)]
    for k in range(steps):
        if k > 0:
            table[k % n] = gradient(k % n, x)
        x = x - Fraction(1, 8 * n) * sum(table) / n
    return count, x[0], problem


def cost_points() -> Iterator[Point]:
    """Counted rounds, each of which ends where the simulator's does."""
    for n, steps in product((1, 2, 3, 5), (1, 2, 3, 7)):
        count, end, problem = counted_round(n, steps)
        simulated = _after(problem, Fraction(1, 8 * n), [[k % n for k in range(steps)]])
        assert end == simulated, (n, steps)
        yield Point(
            {claim.n: n, E: steps, claim.cost: count},
            (
                f"n = |C^i| = {n} components, E = {steps}: a round by (4) and (5) evaluated {count} component "
                f"gradients and ended at {end}, as the simulator's did; full local gradients would take {n * steps}.",
            ),
        )


CHECKS = {
    "cflag.eq3": Check(eq3_points),
    "cflag.eq5": Check(eq5_points),
    "cflag.iag_cost": Check(cost_points),
}
