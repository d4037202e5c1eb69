"""Sequences of tasks: every transition is the Problem that it should be, and the last is where they come from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from worlds import exact_world, world

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import everything, load_data, random_quadratic, random_separable, simulate
from cflag_theory.kernels.memory.buffers import reservoir, ring, unlimited
from cflag_theory.kernels.problems.objective import mean_gradient, mean_value, values
from cflag_theory.kernels.problems.tasks import load_tasks, objectives, random_tasks, task_sequence
from cflag_theory.kernels.problems.validation import validate

SMALL = {"tasks": 4, "clients": 3, "components": 6, "dimension": 4}


def labelled(problem, labels):
    return replace(problem, labels=np.asarray(labels, dtype=np.int64))


def shuffled(seed=3):
    """A problem whose tasks are mixed within each client: three classes, of several rows and with offsets."""
    problem = world(seed, N=3, n=7, d=4, offsets=True)
    random = np.random.default_rng(seed)
    return labelled(problem, np.concatenate([random.permutation([0, 1, 2, 0, 1, 2, 1]) for _ in range(3)]))


@pytest.mark.parametrize("problem", [shuffled(), labelled(random_separable(clients=2, past=4), [0, 1, 0, 2] * 2)])
def test_a_task_is_the_mean_of_the_components_of_its_classes(problem):
    tasks = [(1,), (0, 2)]
    sequence = task_sequence(problem, tasks)
    x = np.random.default_rng(0).standard_normal(problem.dimension)
    for s, classes in enumerate(tasks, start=1):
        expected = 0.0
        for i in range(problem.clients):
            first, end = problem.past.client_start[i : i + 2]
            chosen = np.array([j for j in range(first, end) if problem.labels[j] in classes])
            expected += problem.p[i] * mean_value(problem.potential, problem.past, chosen, x)
        assert problem.p @ values(problem.potential, sequence.task(s), x) == pytest.approx(expected, rel=1e-12)
        assert objectives(sequence, [x])[s - 1, 0] == pytest.approx(expected, rel=1e-12)
    g = problem.p @ values(problem.potential, problem.current, x)
    assert objectives(sequence, [x, x])[2, 1] == pytest.approx(g, rel=1e-12)


def test_transitions_pool_the_earlier_tasks():
    sequence = random_tasks(**SMALL, seed=2)
    x = np.random.default_rng(1).standard_normal(4)
    f = objectives(sequence, [x])[:, 0]
    for s in (2, 3, 4):
        problem = validate(sequence.transition(s))
        assert problem.past.counts.tolist() == [6 * (s - 1)] * 3
        # Tasks of equal size: the past objective is their plain mean.
        assert problem.p @ values(problem.potential, problem.past, x) == pytest.approx(f[: s - 1].mean(), rel=1e-12)
        assert problem.p @ values(problem.potential, problem.current, x) == pytest.approx(f[s - 1], rel=1e-12)
        assert set(problem.labels.tolist()) <= set(range(2 * (s - 1)))
    first = validate(sequence.first())
    assert first.past is first.current
    assert first.p @ values(first.potential, first.past, x) == pytest.approx(f[0], rel=1e-12)


def test_the_last_transition_is_the_problem_itself():
    problem = load_data("digits", past_classes=(0, 1, 2, 3), current_classes=(4, 5), clients=3, seed=1)
    sequence = load_tasks("digits", tasks=((0, 1), (2, 3), (4, 5)), clients=3, seed=1)
    last = sequence.transition(3)
    for part, same in ((problem.past, last.past), (problem.current, last.current)):
        assert np.array_equal(part.rows, same.rows)
        assert np.array_equal(part.client_start, same.client_start)
    assert np.array_equal(problem.labels, last.labels)
    assert problem.constants["L"] == last.constants["L"]


@pytest.mark.parametrize(
    "sequence",
    [
        random_tasks(**SMALL),
        task_sequence(labelled(random_quadratic(clients=2, components=6), [0, 0, 1, 1, 2, 2] * 2), [[0], [1], [2]]),
    ],
    ids=["glm", "quadratic"],
)
def test_L_of_every_transition_bounds_its_curvature(sequence):
    random = np.random.default_rng(5)
    for problem in (sequence.first(), sequence.transition(2), sequence.transition(3)):
        L = float(problem.constants["L"].value)
        for part in (problem.past, problem.current):
            for i in range(problem.clients):
                chosen = np.arange(part.client_start[i], part.client_start[i + 1])
                for _ in range(20):
                    x, y = random.standard_normal((2, problem.dimension))
                    moved = mean_gradient(problem.potential, part, chosen, x) - mean_gradient(
                        problem.potential, part, chosen, y
                    )
                    assert np.linalg.norm(moved) <= L * np.linalg.norm(x - y) * (1 + 1e-12)


def test_clients_without_some_task_are_dropped_and_named():
    problem = shuffled()
    labels = problem.labels.copy()
    first, end = problem.past.client_start[1:3]
    labels[first:end] = 0
    sequence = task_sequence(labelled(problem, labels), [(0,), (1, 2)])
    kept = [0, 2]
    assert sequence.problem.notes[-1] == "1 of 3 clients have no data of some task and were dropped"
    assert sequence.problem.p == pytest.approx(problem.p[kept] / problem.p[kept].sum())
    assert sequence.problem.past.counts.tolist() == problem.past.counts[kept].tolist()
    assert np.array_equal(sequence.problem.current.rows[-1], problem.current.rows[-1])
    assert sequence.problem.constants["L"].kind == "upper bound"
    validate(sequence.problem)
    # What is left is what the two clients alone give.
    x = np.ones(problem.dimension)
    chosen = [np.arange(problem.past.client_start[i], problem.past.client_start[i + 1]) for i in kept]
    alone = [mean_value(problem.potential, problem.past, j, x) for j in chosen]
    assert values(problem.potential, sequence.problem.past, x) == pytest.approx(alone)


def test_the_memory_of_a_transition_is_what_the_buffers_hold():
    sequence = random_tasks(**SMALL, seed=4)
    problem = sequence.transition(4)
    whole = sequence.remembered(4, unlimited())
    assert [len(kept) for kept in whole.kept] == problem.past.counts.tolist()
    roomy = sequence.remembered(4, reservoir(18))
    assert roomy == whole
    # A buffer at one transition is part of what it was at the one before and of the new task.
    for buffer in (ring(5), reservoir(5)):
        before, after = (sequence.remembered(s, buffer, seed=3, replica=2) for s in (3, 4))
        for i in range(3):
            shift = [int(sequence.transition(s).past.client_start[i]) for s in (3, 4)]
            old = {j - shift[0] for j in before.kept[i]}
            new = {j - shift[1] for j in after.kept[i]}
            assert len(new) <= 5
            assert new <= old | set(range(12, 18))
    ring_classes = problem.labels[list(sequence.remembered(4, ring(6)).kept[0])]
    assert set(np.bincount(ring_classes)) <= {0, 1, 2}
    assert sequence.remembered(4, reservoir(5), replica=1) != sequence.remembered(4, reservoir(5), replica=2)


def test_a_run_of_a_transition_with_a_full_reservoir_is_one_with_all_data():
    sequence = random_tasks(**SMALL)
    run = {"alpha": 0.3, "beta": 0.05, "local_steps": 3, "rounds": 4, "iterates": True}
    problem = sequence.transition(3)
    full = simulate(problem, "c_flag", **run, memory=sequence.remembered(3, reservoir(12)))
    whole = simulate(problem, "c_flag", **run, memory=everything())
    np.testing.assert_allclose(full.iterates, whole.iterates, rtol=1e-12, atol=1e-14)


def test_transitions_have_seeds_of_their_own():
    sequence = random_tasks(**SMALL)
    seeds = [sequence.transition_seed(s, 5) for s in (1, 2, 3, 4)]
    assert seeds[1] == 5
    assert len(set(seeds)) == 4
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert sequence.transition_seed(3, 5) != sequence.transition_seed(3, 6)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: task_sequence(shuffled(), [(0,), (1,)]), "put each class into exactly one task"),
        (lambda: task_sequence(shuffled(), [(0, 1), (1, 2)]), "exactly one task"),
        (lambda: task_sequence(shuffled(), [(0, 1, 2), ()]), "at least one class into each task"),
        (lambda: task_sequence(labelled(shuffled(), [0] * 7 + [1] * 7 + [2] * 7), [(0,), (1, 2)]), "no client of"),
        (lambda: task_sequence(exact_world(1), [(0,)]), "holds fractions"),
        (lambda: random_tasks(tasks=1), "tasks is 1"),
        (lambda: random_tasks(noise=-1), "noise is -1"),
        (lambda: load_tasks("digits", tasks=((0, 1),)), "at least two"),
        (lambda: random_tasks(**SMALL).transition(1), "task 1 is not there: use 2 to 4"),
        (lambda: random_tasks(**SMALL).task(5), "use 1 to 4"),
        (lambda: objectives(random_tasks(**SMALL), np.zeros(4)), r"shape \(4,\)"),
    ],
)
def test_bad_arguments_are_refused(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()
