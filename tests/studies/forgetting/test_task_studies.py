"""Task sequences: what coincides with a plain run, what is forgotten by hand, and what a task costs."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import everything, load_tasks, random_tasks, reservoir, simulate, task_sequence, unlimited
from cflag_theory.kernels.problems.by_name import quadratic
from cflag_theory.kernels.problems.tasks import objectives
from cflag_theory.studies.forgetting.heterogeneity import Setting
from cflag_theory.studies.forgetting.tasks import Learner, read_learner
from cflag_theory.verify import task_study

SMALL = Setting(local_steps=3, rounds=5, replicas=3, seed=7)
SEQUENCE = {"tasks": 3, "clients": 2, "components": 5, "dimension": 4, "seed": 3}


def study(learners, sequence=None, setting=SMALL, **options):
    sequence = random_tasks(**SEQUENCE) if sequence is None else sequence
    return task_study(sequence, [read_learner(words) for words in learners], setting, **options)


@pytest.mark.parametrize("learner", ["c_flag/reservoir/3", "c_flag_adaptive/ring/4", "fedtrack", "scaffold"])
def test_a_sequence_of_one_transition_is_a_plain_run(learner):
    """Two tasks, the first learned at x_0: the same iterates as one call of `simulate` from there."""
    sequence = random_tasks(**SEQUENCE | {"tasks": 2})
    found = study([learner], sequence, first_rounds=0)
    (run,) = found.runs
    chosen = read_learner(learner)
    rows = []
    for replica in range(3):
        memory = everything()
        if chosen.buffer is not None:
            memory = sequence.remembered(2, chosen.buffer, seed=7, replica=replica)
        trace = simulate(
            sequence.problem,
            chosen.algorithm,
            alpha=found.alpha if chosen.buffer else 0,
            beta=found.beta,
            local_steps=3,
            rounds=5,
            memory=memory,
            replicas=replica + 1,
            seed=7,
            iterates=True,
        )
        rows.append((objectives(sequence, trace.iterates[replica]), trace.column("Gamma")[replica]))
    values, Gamma = (np.mean(parts, axis=0) for parts in zip(*rows, strict=True))
    for curve, expected in zip(run.objectives, values, strict=True):
        assert curve.mean == pytest.approx(expected, rel=1e-12)
    assert run.Gamma.mean == pytest.approx(Gamma, rel=1e-12)
    assert run.ends == (0, 0, 5)
    assert run.average[0].mean == pytest.approx(values[0, -1] - values[0, 0], rel=1e-9)
    assert run.along.mean == pytest.approx(values[0] - values[0, 0], rel=1e-9, abs=1e-15)


def test_every_task_starts_where_the_one_before_it_ended():
    """The whole path of one learner, phase by phase, by hand."""
    sequence = random_tasks(**SEQUENCE)
    found = study(["c_flag/all"], sequence, Setting(local_steps=3, rounds=5, replicas=2, seed=7), first_rounds=4)
    (run,) = found.runs
    paths = []
    for replica in range(2):
        x, path = sequence.problem.start, [sequence.problem.start[None]]
        for s in (1, 2, 3):
            at = sequence.first() if s == 1 else sequence.transition(s)
            trace = simulate(
                replace(at, start=x),
                "fedtrack" if s == 1 else "c_flag",
                alpha=0 if s == 1 else found.alpha,
                beta=found.beta,
                local_steps=3,
                rounds=4 if s == 1 else 5,
                memory=everything(),
                replicas=2,
                seed=sequence.transition_seed(s, 7),
                iterates=True,
            )
            path.append(trace.iterates[replica, 1:])
            x = trace.iterates[replica, -1].copy()
        paths.append(np.concatenate(path))
    values = np.mean([objectives(sequence, path) for path in paths], axis=0)
    assert run.ends == (0, 4, 9, 14)
    for curve, expected in zip(run.objectives, values, strict=True):
        assert curve.mean == pytest.approx(expected, rel=1e-9)
    # f_1 - f_1(end of 1) and f_2 - f_2(end of 2), after tasks 2 and 3.
    assert [value.mean for value in run.forgetting[0]] == pytest.approx([values[0, 9] - values[0, 4]], rel=1e-6)
    assert [value.mean for value in run.forgetting[1]] == pytest.approx(
        [values[0, 14] - values[0, 4], values[1, 14] - values[1, 9]], rel=1e-6
    )
    assert run.average[1].mean == pytest.approx(np.mean([value.mean for value in run.forgetting[1]]), rel=1e-9)
    assert [value.mean for value in run.learned] == pytest.approx(
        [values[0, 0] - values[0, 4], values[1, 4] - values[1, 9], values[2, 9] - values[2, 14]], rel=1e-6
    )
    assert run.along.mean[:5] == (0.0,) * 5
    assert run.along.mean[9] == pytest.approx(run.average[0].mean, rel=1e-9)
    assert run.along.mean[14] == pytest.approx(run.average[1].mean, rel=1e-9)
    assert len(run.along.mean) == 15
    assert len(run.Gamma.mean) == 10


def test_a_reservoir_with_room_for_all_is_everything():
    """Buffers of 10 and more hold the 10 past components of a client; smaller ones do not, and show it."""
    whole, roomy, small = study(["c_flag/all", "c_flag/reservoir/10", "c_flag/reservoir/2"]).runs
    for one, other in zip(whole.objectives, roomy.objectives, strict=True):
        assert one.mean == pytest.approx(other.mean, rel=1e-12)
    assert roomy.kept == whole.kept == (10.0, 20.0)
    assert small.kept == (4.0, 4.0)
    assert max(abs(np.array(whole.objectives[0].mean) - small.objectives[0].mean)) > 1e-6


def test_forgetting_by_hand_on_the_line():
    """Full gradients of x^2/2, then of x^2/2 - x, without memory: a geometric approach to each."""
    ones, owner = np.ones((1, 1, 1)), np.array([0])
    problem = quadratic(ones, [[0.0]], owner, ones, [[1.0]], owner, start=np.array([2.0]))
    sequence = task_sequence(problem, [[0]])
    setting = Setting(beta=0.5, local_steps=1, rounds=3, replicas=2)
    (run,) = study(["local_gd"], sequence, setting).runs
    # x: 2, 1, 1/2, 1/4, then 1 - 3/4 (1/2)^t.
    x = np.array([2, 1, 0.5, 0.25, 1 - 3 / 8, 1 - 3 / 16, 1 - 3 / 32])
    assert run.objectives[0].mean == pytest.approx(x**2 / 2)
    assert run.objectives[1].mean == pytest.approx(x**2 / 2 - x)
    assert run.average[0].mean == pytest.approx((x[6] ** 2 - x[3] ** 2) / 2)
    assert run.learned[0].mean == pytest.approx((4 - 1 / 16) / 2)


def test_memory_lowers_forgetting_on_the_digits():
    sequence = load_tasks("digits", tasks=((0, 1), (2, 3), (4, 5)), clients=3)
    setting = Setting(rounds=40, replicas=2)
    without, ring, kept = study(["fedtrack", "c_flag/ring/20", "c_flag/all"], sequence, setting).runs
    for s in (0, 1):
        assert ring.average[s].high < without.average[s].low
        assert kept.average[s].high < without.average[s].low


def test_costs_are_those_of_the_runs():
    sequence = random_tasks(**SEQUENCE)
    found = study(["c_flag/reservoir/3", "fedtrack"], sequence)
    run, plain = found.runs
    for s, problem in ((2, sequence.transition(2)), (3, sequence.transition(3))):
        memory = sequence.remembered(s, reservoir(3), seed=7)
        trace = simulate(
            problem, "c_flag", alpha=found.alpha, beta=found.beta, local_steps=3, rounds=5, memory=memory, seed=7
        )
        for name in ("ifo_calls", "communicated"):
            assert run.costs[name][s - 1] == trace.column(name).sum()
    assert all(second > 0 for second in run.seconds)
    # The memory step costs gradients of what is kept, and sends them.
    assert run.costs["ifo_calls"][2] > plain.costs["ifo_calls"][2]
    assert run.costs["communicated"][2] > plain.costs["communicated"][2]
    assert run.costs["ifo_calls"][0] == plain.costs["ifo_calls"][0]
    assert plain.kept == ()


def test_a_first_task_that_is_skipped_costs_nothing():
    (run,) = study(["c_flag/all"], first_rounds=0).runs
    assert run.costs["ifo_calls"][0] == run.costs["communicated"][0] == 0
    assert run.learned[0].mean == 0


def test_results_are_plain_json_and_progress_is_called():
    words = []
    found = study(["fedtrack", "c_flag/ring/4"], progress=words.append)
    assert words == ["fedtrack"] * 3 + ["c_flag, ring of 4"] * 3
    record = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert record["runs"][1]["average"][0].keys() == {"mean", "low", "high"}


def test_learners_from_words():
    assert read_learner("fedtrack") == Learner("fedtrack")
    assert read_learner("c_flag/all") == Learner("c_flag", unlimited())
    assert read_learner("c_flag_adaptive/reservoir/7") == Learner("c_flag_adaptive", reservoir(7))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("c_flag", "give it a buffer"),
        ("fedtrack/all", "leave the buffer out"),
        ("cfl", "remembers rounds, not tasks"),
        ("c_flag/ring/many", "write ALGORITHM/BUFFER/SIZE"),
        ("c_flag/ring/3/4", "write ALGORITHM/BUFFER/SIZE"),
        ("c_flag/ring", "buffer 'ring' has size 0"),
        ("c_flag/stack/3", "buffer 'stack' is unknown"),
        ("c_flagg/all", "algorithm 'c_flagg' is unknown"),
    ],
)
def test_bad_learners_are_refused(words, message):
    with pytest.raises(InvalidInput, match=message):
        read_learner(words)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"first_rounds": -1}, "first_rounds is -1"), ({"first_rounds": 1.5}, "first_rounds is 1.5")],
)
def test_bad_arguments_are_refused(options, message):
    with pytest.raises(InvalidInput, match=message):
        study(["fedtrack"], **options)
    with pytest.raises(InvalidInput, match="no learner"):
        study([])
