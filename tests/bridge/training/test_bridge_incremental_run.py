"""Class-incremental runs on Split-Digits: herded memory, resuming, several processes, and what settings refuse."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from small_bridge import stopped
from small_runs import World

import cflag_theory.bridge.training.run as run_module
from cflag_theory.bridge.data.streams import split_tasks
from cflag_theory.bridge.measures.results import read_results
from cflag_theory.bridge.models.flat_model import make_model
from cflag_theory.bridge.settings.rules import CLASS_NAMES, METHOD_NAMES
from cflag_theory.bridge.settings.run_settings import run_settings
from cflag_theory.bridge.training.checkpoints import read_checkpoint
from cflag_theory.bridge.training.communication import InOneProcess
from cflag_theory.bridge.training.evaluation import Exemplars
from cflag_theory.bridge.training.run import run_bridge
from cflag_theory.errors import InvalidInput

SMALL = {
    "heads": "growing",
    "rounds": 2,
    "epochs": 1,
    "seeds": [5],
    "threads": 1,
    "clients": 3,
    "past_every": 0,
    "checkpoint_every": 1,
    "target": {"images": 24, "batch": 12, "steps": 3},
}


def small(**more):
    return run_settings(SMALL | more)


def arrays(folder, method):
    return {name: array.tobytes() for name, array in read_checkpoint(folder / f"{method}-5.npz").arrays.items()}


def lines(folder, method):
    """The rounds as CSV."""
    return (folder / f"{method}-5.csv").read_text()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("incremental")
    torch.set_num_threads(1)
    return out, run_bridge(small(), out=out)


def test_every_method_runs_and_sees_what_it_has_seen(whole):
    _, result = whole
    assert result.complete
    assert [run.method for run in result.runs] == [*METHOD_NAMES, *CLASS_NAMES]
    for run in result.runs:
        assert run.status == "OK"
        # Nobody names a class that was never seen.
        assert not np.triu(run.accuracy, 1).any()
        assert run.accuracy[0, 0] > 50
        assert not any(run.before[1:])
    assert len({run.before for run in result.runs}) == 1


@pytest.mark.parametrize("method", CLASS_NAMES)
@pytest.mark.parametrize("number", [3, 4, 8])
def test_a_checkpoint_is_enough_to_go_on(whole, tmp_path, monkeypatch, method, number):
    """Also where the task has just ended, with exemplars, images and the old model in it."""
    stopped(small(methods=[method]), tmp_path, monkeypatch, number)
    run_bridge(small(methods=[method]), out=tmp_path)
    assert arrays(tmp_path, method) == arrays(whole[0], method)
    (found,) = read_results(tmp_path)["runs"]
    (wanted,) = (run for run in read_results(whole[0])["runs"] if run["method"] == method)
    assert {**found, "seconds": 0} == {**wanted, "seconds": 0}
    assert lines(tmp_path, method) == lines(whole[0], method)


@pytest.mark.parametrize("method", ["ewc", "target", "finetune"])
def test_what_the_end_of_a_task_takes_counts_in_its_last_round(whole, method):
    """24 images, in 3 steps of the teacher and of the student each, and 12 that the student learns after the first."""
    run = next(run for run in whole[1].runs if run.method == method)
    (plain,) = (run for run in whole[1].runs if run.method == "finetune")
    calls = run.columns["ifo_calls"]
    current = plain.columns["ifo_calls"]
    # One pass a round, and 100 samples of each of three clients at most for EWC.
    ends = {"ewc": current[0], "target": 24 * 3 * 2 + 12, "finetune": 0}
    assert calls[1] - calls[0] == ends[method]
    assert run.gradients == sum(calls)
    assert [int(line["ifo_calls"]) for line in csv.DictReader(lines(whole[0], method).splitlines())] == calls


@pytest.mark.parametrize("method", CLASS_NAMES)
def test_images_that_change_every_round(whole, tmp_path, monkeypatch, method):
    """Stopped between the two rounds of the second task: the same bits, and others than without changes."""
    settings = small(methods=[method], crop=True)
    run_bridge(settings, out=tmp_path / "whole")
    stopped(settings, tmp_path / "stopped", monkeypatch, 4)
    run_bridge(settings, out=tmp_path / "stopped")
    assert arrays(tmp_path / "stopped", method) == arrays(tmp_path / "whole", method)
    assert arrays(tmp_path / "whole", method)["state"] != arrays(whole[0], method)["state"]


def test_exemplars_are_images_of_the_data(digits, tmp_path):
    """Also where the images that a round shows are changed ones: places, classes and owners are those of the split."""
    run_bridge(small(methods=["icarl"], crop=True), out=tmp_path)
    rows = read_checkpoint(tmp_path / "icarl-5.npz").arrays["exemplars"]
    stream = split_tasks(digits, clients=3, zeta=1.0, seed=5)
    assert len(rows) == len(np.unique(rows[:, 1])) > 20
    for client, place, number, task in rows.tolist():
        assert place in stream.train[task][client]
        assert digits.train_labels[place] == stream.classes[task][number]


def test_a_forgotten_memory_would_be_seen(whole, tmp_path, monkeypatch):
    """The comparison can fail: without the images in the checkpoint the rest is another run."""
    write = run_module.Folder.write

    def stop(self, method, seed, checkpoint):
        arrays = {name: array for name, array in checkpoint.arrays.items() if name != "memory made"}
        write(self, method, seed, type(checkpoint)(checkpoint.plain, arrays))
        if checkpoint.plain["task"] == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run_module.Folder, "write", stop)
        with pytest.raises(KeyboardInterrupt):
            run_bridge(small(methods=["target"]), out=tmp_path)
    run_bridge(small(methods=["target"]), out=tmp_path)
    assert arrays(tmp_path, "target")["state"] != arrays(whole[0], "target")["state"]


PROCESS = """
import json, sys
from cflag_theory.bridge.training.run import run_bridge
from cflag_theory.bridge.settings.run_settings import run_settings
run_bridge(run_settings(json.loads(sys.argv[1])), out=sys.argv[2])
"""


@pytest.mark.full
def test_two_processes_find_the_bits_of_one(whole, tmp_path):
    methods = (*CLASS_NAMES, "ewc")
    settings = json.dumps(SMALL | {"methods": list(methods)})
    port = str(29500 + os.getpid() % 2000)
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, settings, str(tmp_path)],
            env=os.environ | {"RANK": str(rank), "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port},
        )
        for rank in range(2)
    ]
    assert [process.wait(timeout=300) for process in running] == [0, 0]
    for method in methods:
        assert arrays(tmp_path, method) == arrays(whole[0], method)
        assert lines(tmp_path, method) == lines(whole[0], method)


@pytest.mark.parametrize("method", ["er_ring", "c_flag"])
def test_herding_is_a_memory_for_every_method(whole, tmp_path, method):
    """Another one than the ring, and part of the checkpoint."""
    herded = small(memory_kind="herding", methods=[method], memory_size=6)
    run_bridge(herded, out=tmp_path)
    kept = read_checkpoint(tmp_path / f"{method}-5.npz").arrays["exemplars"]
    assert kept.shape[1] == 4
    counts = np.unique(kept[:, [0, 3, 2]], axis=0, return_counts=True)[1]
    assert 1 <= counts.min() <= counts.max() == 3
    assert arrays(tmp_path, method)["state"] != arrays(whole[0], method)["state"]


@pytest.mark.parametrize("heads", ["shared", "masked", "list"])
def test_herding_goes_with_all_heads(tmp_path, heads):
    run_bridge(small(memory_kind="herding", methods=["er_ring"], memory_size=6, heads=heads, rounds=1), out=tmp_path)
    kept = read_checkpoint(tmp_path / "er_ring-5.npz").arrays["exemplars"]
    assert np.unique(kept[:, [0, 3, 2]], axis=0, return_counts=True)[1].max() == 3


def test_a_memory_may_be_larger_than_the_data(tmp_path):
    run_bridge(small(methods=["icarl"], memory_size=(1 << 31) - 1, rounds=1, tasks=1), out=tmp_path)
    assert len(read_checkpoint(tmp_path / "icarl-5.npz").arrays["exemplars"]) == 1442


def test_exemplars_are_those_of_a_search(digits):
    """Class by class, the sample that brings the mean of features of length one nearest to that of all, and so on."""
    world = World(digits, "mlp", dtype=torch.float64)
    model = world.model = make_model("mlp", (1, 8, 8), (2,) * 5, heads="growing", dtype=torch.float64)
    state, clients = model.start(4), world.clients(0)
    exemplars = Exemplars(7, 2)
    exemplars.choose(model, clients, state, InOneProcess())
    given = exemplars.given(clients)
    assert exemplars.given(clients) is given
    for client, now in zip(clients, given, strict=True):
        assert now.memory.n == 6
        features = model.features(state, client.current.batch(slice(None)).images).numpy()
        features = features / np.linalg.norm(features, axis=1, keepdims=True)
        for label in (0, 1):
            members = np.flatnonzero(client.current.labels.numpy() == label)
            chosen: list[int] = []
            for _ in range(3):
                far = {
                    j: np.linalg.norm(features[members].mean(0) - features[[*chosen, j]].mean(0))
                    for j in members
                    if j not in chosen
                }
                chosen.append(min(far, key=far.__getitem__))
            mine = now.memory.indices[now.memory.labels == label]
            assert mine.tolist() == client.current.indices[chosen].tolist()
    # The next task's stand behind.
    exemplars.choose(model, world.clients(1), state, InOneProcess())
    assert exemplars.given(world.clients(2))[0].memory.tasks.tolist() == [0] * 6 + [1] * 6


def test_what_does_not_go_together():
    with pytest.raises(InvalidInput, match="'icarl' is for class-incremental learning, and heads is 'list': use heads"):
        run_settings(methods=["icarl"], heads="list")
    with pytest.raises(InvalidInput, match=r"temperature is 0\.0: use a finite positive number"):
        run_settings(heads="growing", lwf={"temperature": 0.0})
    with pytest.raises(InvalidInput, match="images is 0: use an integer of at least 1"):
        run_settings(heads="growing", target={"images": 0})
    few = "memory_size is 4, and herding keeps equally many samples of each of a task's 5 classes, so none: use"
    for herds in ({"methods": ["icarl"], "heads": "growing"}, {"memory_kind": "herding"}):
        with pytest.raises(InvalidInput, match=few):
            run_settings(herds, tasks=2, memory_size=4)
    assert run_settings(tasks=2, memory_size=4).classes == 5
    assert run_settings(heads="growing", mode="released").old_logits == "masked"
    assert run_settings(heads="growing").old_logits == "kept"
