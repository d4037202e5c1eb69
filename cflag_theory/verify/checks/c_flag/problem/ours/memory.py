"""The instances of the paper's rows, random exact ones, and small sums enumerated."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, combinations_with_replacement, product

import numpy as np

from cflag_theory.claims.c_flag.problem import assumptions, memory
from cflag_theory.claims.c_flag.problem import objective as problem
from cflag_theory.claims.c_flag.problem.ours import memory as claim
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import bias2, grad_f2
from cflag_theory.kernels import Problem
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.problems.objective import gradients, values
from cflag_theory.verify.check import Check
from cflag_theory.verify.checks.c_flag.problem.assumptions import bias_at, satisfying, shape
from cflag_theory.verify.checks.c_flag.problem.memory import biases, cancelling, draws, shared, states
from cflag_theory.verify.checks.c_flag.problem.objective import eq3_values, split_problems
from cflag_theory.verify.evidence import Point, Sample
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence
from cflag_theory.verify.witnesses.instances import on_the_line, rationals

_HALF = Fraction(1, 2)
_SEED = 27


def eq3_points() -> Iterator[Point]:
    """The two clients of (3), with weights 1/2 and with weights by size."""
    for world, sizes in split_problems():
        found = eq3_values(world, sizes)
        f_i, g_i = (values(world.potential, part, world.start) for part in (world.past, world.current))
        past, current = found[problem.past], found[problem.current]
        shares = [Fraction(a, a + b) for a, b in sizes]
        share = Fraction(past, past + current)
        rest = sum(world.p[i] * (shares[i] - share) * (f_i[i] - g_i[i]) for i in range(2))
        yield Point(
            {
                **found,
                claim.share_i: shares[0],
                claim.remainder: rest,
                claim.p_i: world.p[0],
                claim.f_by_size: sum(sizes[i][0] * f_i[i] for i in range(2)) / past,
                claim.g_by_size: sum(sizes[i][1] * g_i[i] for i in range(2)) / current,
            }
        )


def assumption2_points() -> Iterator[Point]:
    """Memories with a common minimiser, m_i = kappa^2; part 1 is attained where the memory is the flatter one."""
    for components, kept in (
        (((_HALF, 1), (3 * _HALF, 1)), (0,)),
        (((_HALF, 1), (3 * _HALF, 1)), (1,)),
        (((1, -2), (2, -2), (3, -2)), (0, 1)),
    ):
        kappa, _, rest = shape(components, kept)
        for x in (rest, rest + 1, rest - Fraction(7, 3)):
            grad_f, b = bias_at(components, kept, x)
            numbers = {
                assumptions.bias_i: abs(b),
                assumptions.grad_f_i: abs(grad_f),
                claim.memory_i: abs(grad_f + b),
                claim.root_m: kappa,
            }
            yield Point(numbers, part="1")
            if x == rest:
                yield Point(
                    {assumptions.bias_at_rest: abs(b), assumptions.grad_f_i: abs(grad_f), claim.root_m: kappa}, part="2"
                )
                gradients_at_rest = [bias_at(components, (j,), rest)[1] for j in range(len(components))]
                yield Point(
                    {
                        claim.u_j: gradients_at_rest[0],
                        claim.u_l: gradients_at_rest[1],
                        claim.kept: gradients_at_rest[-1],
                        claim.total: sum(gradients_at_rest),
                        claim.n: len(components),
                    },
                    part="4",
                )
            else:
                # On the line every point but s is a worst point.
                worst = {claim.bias_worst: abs(b), claim.grad_worst: abs(grad_f)}
                yield Point({**worst, assumptions.kappa: kappa, claim.root_m: kappa}, part="3")


def assumption2_further(subject: Claim, seed: int, count: int) -> Iterable[Evidence]:
    """All sums of two or three components from a small grid: those that every uniform memory satisfies interpolate."""
    grid = list(product((1, 2, 3), (0, 1, 2)))
    sums = [chosen for size in (2, 3) for chosen in combinations_with_replacement(grid, size)]
    allowed, broken = 0, 0
    for components in sums:
        found, _ = satisfying(components)
        for size in range(1, len(components)):
            if set(combinations(range(len(components)), size)) <= set(found):
                allowed += 1
                broken += len({s for _, s in components}) > 1
    summary = (
        f"Of {len(sums)} sums of a (x - s)^2/2 with a in 1, 2, 3 and s in 0, 1, 2, every memory of one size satisfies "
        f"Assumption 2 in {allowed} cases; in {broken} of them the components have different minimisers."
    )
    data = {"exact": True, "cases": allowed}
    yield Evidence("enumeration", "4", "printed", REFUTES if broken else SUPPORTS, summary, data)


def _worlds() -> Iterator[Problem]:
    yield cancelling()
    yield shared(Fraction(2))
    rng = np.random.default_rng(_SEED)
    for case in range(8):
        clients = 1 + case % 3
        past = [list(zip(rationals(rng, 2), rationals(rng, 2), strict=True)) for _ in range(clients)]
        yield on_the_line(past, [[(1, 0)]] * clients, start=rationals(rng, 1)[0], L=2)


def bias_floor_points() -> Iterator[Point]:
    """Every draw of one component a client; m_i is the ratio at this x."""
    for world in _worlds():
        grad_f_i = gradients(world.potential, world.past, world.start)[:, 0]
        if not all(grad_f_i):
            continue
        grad_f = world.p @ grad_f_i
        for draw in draws(world, 1):
            b_i = biases(world, draw)
            ratios = list(b_i**2 / grad_f_i**2)
            b = world.p @ b_i
            spread = world.p @ (grad_f_i - grad_f) ** 2
            yield Point(
                {
                    bias2: b**2,
                    grad_f2: grad_f**2,
                    claim.spread2: spread,
                    claim.m_max: max(ratios),
                    memory.m_i: ratios[0],
                    memory.bias_i2: b_i[0] ** 2,
                    memory.grad_f_i2: grad_f_i[0] ** 2,
                }
            )


def bias_floor_samples(seed: int, count: int) -> Iterator[Sample]:
    """Random problems with several clients, m_i the observed ratio at a random x."""
    for state in states(seed, count):
        found, past = state.values(), state.past
        spread = state.p @ np.sum((past - state.p @ past) ** 2, axis=1)
        yield Sample(found | {claim.spread2: spread, claim.m_max: np.max(found[memory.m_i])})


CHECKS = {
    "ours.eq3": Check(eq3_points),
    "ours.assumption2": Check(assumption2_points, further=assumption2_further),
    "ours.bias_floor": Check(bias_floor_points, bias_floor_samples),
}
