"""Objective, memory, assumptions and overfitting: what is said of instances and enumerations, by other means."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from rows import with_part

from cflag_theory.claims.c_flag.problem import objective as problem
from cflag_theory.claims.c_flag.problem import overfitting
from cflag_theory.claims.engine.notation import E
from cflag_theory.claims.engine.points import holds_at
from cflag_theory.claims.engine.relation import at_most
from cflag_theory.claims.ledger import LEDGER
from cflag_theory.errors import InconsistentEvidence
from cflag_theory.kernels.memory.memory import draw_subset
from cflag_theory.verify.check import run_check
from cflag_theory.verify.checks import CHECKS
from cflag_theory.verify.checks.c_flag import problem as checks
from cflag_theory.verify.checks.c_flag import problem_memory as checks_memory
from cflag_theory.verify.instances.on_the_line import exact_run, on_the_line, visited


def test_memories_that_satisfy_assumption2_by_a_search_over_x():
    """The condition on (kappa, bias at rest) against the largest ratio on a grid of x that contains the minimiser."""
    for components in (
        checks_memory._CROSSING,
        checks_memory._COMMON,
        ((1, 0), (2, 1), (1, 2)),
        ((3, 1), (0, 1), (0, 1)),
    ):
        found, _ = checks_memory.satisfying(components)
        for kept in [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]:
            _, _, rest = checks_memory.shape(components, kept)
            ratio = Fraction(0)
            for x in [rest + Fraction(i, 7) for i in range(-6, 7)]:
                grad_f, b = checks_memory.bias_at(components, kept, x)
                ratio = max(ratio, b**2 / grad_f**2) if grad_f else ratio + (10**6 if b else 0)
            assert (kept in found) is (ratio < 1)


def test_eq3_fails_with_weights_by_size_too():
    sizes = {problem.past: 1 + 2, problem.current: 1 + 1}
    by_size = [point for point in checks.eq3_points() if sizes.items() <= point.values.items()]
    assert {point.story[0].partition("p = ")[2].partition(", components")[0] for point in by_size} == {
        "1/2, 1/2",
        "2/5, 3/5",
    }
    printed = problem.CLAIMS["cflag.eq3"]().parts[0].printed.relation
    assert not any(holds_at(printed, point.values) for point in by_size)


def test_iag_cost_is_never_below_its_share():
    """cost / (n E) > 1 / E, with nothing to spare but what n gives."""
    for point in checks.cost_points():
        assert holds_at(at_most(problem.n + E - 1, problem.cost), point.values)


def test_lemma8_for_draws_that_are_not_uniform():
    subject = LEDGER["cflag.lemma8"]()
    part = subject.parts[0]
    changed = with_part(subject, "1", printed=replace(part.printed, hypotheses=()))
    # The enumeration speaks of uniform draws only, the class-balanced instance of the others.
    with pytest.raises(InconsistentEvidence, match="1/3 on the left and 0 on the right"):
        run_check(changed, CHECKS["cflag.lemma8"])


def test_the_shares_of_a_class_balanced_memory_in_the_note():
    """Classes {0, 1, 2} and {3}, two kept: expected shares 1/6, 1/6, 1/6, 1/2, from the memory's own draws."""
    labels, order, total = np.array([0, 0, 0, 1]), np.empty(4, dtype=np.int64), np.zeros(4)
    draws = 6000
    for seed in range(draws):
        kept = draw_subset(seed, 0, 0, 0, labels, 0, 4, 2, True, order)
        total[order[:kept]] += 1 / kept
    assert total[3] == draws / 2
    # Each of the three is kept with probability 1/3: five standard deviations.
    assert np.abs(total[:3] / draws - 1 / 6).max() < 5 * np.sqrt(2 / 9 / draws) / 2


def test_lemma9_counterexample_satisfies_assumption2_at_every_x():
    world = checks_memory.cancelling()
    for x, draw in product(range(-3, 4), checks_memory.draws(world, 1)):
        here = replace(world, start=np.array([Fraction(x, 2)], dtype=object))
        grad_f_i = checks_memory.gradients(here.potential, here.past, here.start)[:, 0]
        assert all(checks_memory.biases(here, draw) ** 2 == grad_f_i**2 / 4)


def test_the_runs_on_the_page_of_assumption3():
    """x_1 = 1 from x_0 = 2, and a factor 3/4 - slope/2 a round where g = slope x^2/2."""
    meeting = on_the_line([[(1, 0)]], [[(1, 1)]], start=2, L=1)
    assert visited(exact_run(meeting, alpha=Fraction(11, 24), beta=Fraction(1, 12), local_steps=1))[1] == 1
    for slope in (Fraction(1, 3), Fraction(1)):
        nested = on_the_line([[(1, 0)]], [[(slope, 0)]], start=2, L=1)
        found = visited(exact_run(nested, alpha=HALF / 2, beta=HALF, local_steps=1, rounds=3))
        assert found == [2 * (Fraction(3, 4) - slope / 2) ** t for t in range(4)]


def test_a_sum_that_does_not_interpolate_is_seen(monkeypatch):
    """If memories with another minimiser passed, the enumeration would say so."""
    every = lambda components: (  # noqa: E731
        [
            kept
            for size in range(1, len(components))
            for kept in checks_memory.combinations(range(len(components)), size)
        ],
        0,
    )
    monkeypatch.setattr(checks_memory, "satisfying", every)
    (found,) = checks_memory.every_small_sum(LEDGER["ours.assumption2"](), 0, 1)
    assert found.finding == "refutes"


HALF = Fraction(1, 2)


def recursion(start, L, alpha, rounds, *, redraw, beta=Fraction(1, 4)):
    """E[B(t)] of the one-client family in plain fractions: no simulator."""
    states = [(HALF, start, kept) for kept in (HALF, 3 * HALF)] if not redraw else [(Fraction(1), start, None)]
    found = []
    for _ in range(rounds):
        mean, after = Fraction(0), []
        for weight, x, fixed in states:
            for kept in [fixed] if fixed is not None else [HALF, 3 * HALF]:
                part = weight if fixed is not None else weight / 2
                b, S = (kept - 1) * x, x - 2
                mean += part * ((L * alpha**2 - alpha) * x * b + beta * b * S)
                after.append((part, x - alpha * kept * x - beta * S, fixed))
        states = after
        found.append(mean)
    return found


@pytest.mark.parametrize("redraw", [False, True])
@pytest.mark.parametrize(
    ("start", "L", "alpha"), [(1, Fraction(8, 5), HALF), (1, Fraction(1), Fraction(4, 5)), (3, Fraction(8, 5), HALF)]
)
def test_enumeration_agrees_with_the_recursion(start, L, alpha, redraw):
    found = checks.expected(checks.family(start, L, alpha), 5, redraw=redraw)
    assert [round_.mean_B for round_ in found] == recursion(Fraction(start), L, alpha, 5, redraw=redraw)
    assert any(round_.mean_B for round_ in found) is not redraw


def test_the_numbers_in_the_notes():
    value = Fraction(str(overfitting.FAMILY_VALUE))
    assert recursion(Fraction(1), Fraction(8, 5), HALF, 40, redraw=False)[1:] == [value] * 39
    assert recursion(Fraction(1), Fraction(1), Fraction(4, 5), 2, redraw=False)[1] == Fraction(419, 5000)
    # At E = 1 the sum that (34) starts at k = 1 is empty: the first term alone.
    for world in (checks.family(), checks.family(L=Fraction(1), alpha=Fraction(4, 5))):
        assert checks.expected(world, 2, redraw=False)[1].first_term != 0


def test_two_clients_agree_with_rounds_written_out():
    """E[B(1)] with N = 2, E = 2: 4 memories, 4 component orders in each of two rounds."""
    alpha, beta, L = Fraction(1, 4), Fraction(1, 8), 2
    past = ((HALF, 3 * HALF), (Fraction(1), Fraction(2)))
    current = (((1, 1), (0, 1)), ((1, 3), (1, 1)))

    def gradient(i, j, x):
        a, b = current[i][j]
        return a * x - b

    def round_(x, kept, order):
        full = [sum(gradient(i, j, x) for j in (0, 1)) / Fraction(2) for i in (0, 1)]
        grad_g = sum(full) / 2
        S = Fraction(0)
        for i in (0, 1):
            at = x - beta * grad_g
            refreshed = full[i] + (gradient(i, order[i], at) - gradient(i, order[i], x)) / Fraction(2)
            S += (full[i] + refreshed) / 2
        grad_f = sum(sum(a) / 2 for a in past) / 2 * x
        memory = sum(past[i][kept[i]] for i in (0, 1)) / 2 * x
        b = memory - grad_f
        return (L * alpha**2 - alpha) * grad_f * b + beta * b * S, x - alpha * memory - beta * S

    pairs = list(product((0, 1), repeat=2))
    means = [Fraction(0), Fraction(0)]
    for kept, first in product(pairs, pairs):
        B, x = round_(Fraction(1), kept, first)
        means[0] += B / 16
        means[1] += sum(round_(x, kept, second)[0] for second in pairs) / 64
    found = checks.expected(checks.two_clients(), 2, redraw=False)
    assert [entry.mean_B for entry in found] == means
    assert means[0] == 0
    assert means[1] != 0


def test_the_data_of_the_figure():
    data = checks.expected_overfitting(6)
    assert data["t"] == list(range(6))
    assert data["drawn_once"] == recursion(Fraction(3), Fraction(8, 5), HALF, 6, redraw=False)
    assert data["drawn_every_round"] == [0] * 6
    assert abs(data["drawn_once"][-1] - data["limit"]) < abs(data["drawn_once"][2] - data["limit"])
