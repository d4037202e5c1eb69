"""Whole runs on Split-Digits: what they give, and that nothing that stops one changes it."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import torch
from image_files import write_tiny_imagenet
from small_bridge import SMALL, in_two_processes, small, stopped, what_was_found

import cflag_theory.bridge.training.run as run_module
from cflag_theory.bridge.measures.results import read_results
from cflag_theory.bridge.settings.presets import PRESETS, Preset, Variation
from cflag_theory.bridge.settings.run_settings import run_settings
from cflag_theory.bridge.training.checkpoints import read_checkpoint
from cflag_theory.bridge.training.environment import digest, find_device
from cflag_theory.bridge.training.rounds import one_round
from cflag_theory.bridge.training.run import run_bridge
from cflag_theory.errors import DataError, InvalidInput
from cflag_theory.kernels import read_trace


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """All methods, never interrupted."""
    out = tmp_path_factory.mktemp("whole")
    calls = []
    torch.set_num_threads(1)
    result = run_bridge(small(), out=out, preset="mine", progress=lambda **at: calls.append(at))
    return out, result, calls


def test_a_run_gives_every_method(whole):
    out, result, calls = whole
    assert result.complete
    assert [run.method for run in result.runs] == ["c_flag", "finetune", "ewc", "nccl", "fedtrack", "er_ring"]
    for run in result.runs:
        assert run.accuracy.shape == (5, 5)
        # The whole matrix: tasks that are still to come were measured too.
        assert ((run.accuracy >= 0) & (run.accuracy <= 100)).all()
        assert run.accuracy[0, 0] > 90
        assert (run.status, run.rounds_done, len(run.traces)) == ("OK", 10, 5)
        assert run.columns["task"] == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
        assert run.gradients == sum(run.columns["ifo_calls"]) > 0
        assert run.communicated == sum(run.columns["communicated"]) > 0
        assert len(run.before) == 5
    # Every method starts at the same point, on the same data.
    assert len({run.before for run in result.runs}) == 1
    assert all(run.columns["drift2_max"][0] > 0 for run in result.runs)
    assert [call["overall"] for call in calls] == [*range(1, 11)] * 6
    assert calls[3] == {"method": "c_flag", "seed": 5, "task": 1, "round": 2, "overall": 4, "total": 10}
    stored = read_results(out)
    assert stored == json.loads(json.dumps(result.to_json()))
    assert (stored["preset"], stored["complete"], stored["settings"]["rounds"]) == ("mine", True, 2)
    assert stored["environment"]["torch"] == torch.__version__


def test_only_methods_with_memory_exchange_more(whole):
    sent = {run.method: run.communicated for run in whole[1].runs}
    assert sent["finetune"] == sent["ewc"]
    assert sent["finetune"] < sent["fedtrack"] < sent["c_flag"]


def test_what_is_finished_is_not_run_again(whole, monkeypatch):
    out, result, _ = whole

    def never(*_, **__):
        raise AssertionError("a round was run")

    monkeypatch.setattr("cflag_theory.bridge.training.parts.one_round", never)
    again = run_bridge(small(), out=out, preset="mine")
    assert again.to_json() == result.to_json()


def test_methods_and_seeds_are_added_to_a_folder(tmp_path, whole):
    first = run_bridge(small(methods=["er_ring"]), out=tmp_path)
    assert (len(first.runs), first.complete) == (1, True)
    both = run_bridge(small(methods=["finetune"], seeds=[5, 6]), out=tmp_path)
    assert [(run.seed, run.method) for run in both.runs] == [(5, "finetune"), (5, "er_ring"), (6, "finetune")]
    alone = {run.method: run for run in whole[1].runs}
    # What else is run has no influence.
    for run in both.runs[:2]:
        assert run.accuracy.tolist() == alone[run.method].accuracy.tolist()
    assert both.runs[0].columns["loss"] != both.runs[2].columns["loss"]
    with pytest.raises(DataError, match=r"holds a run with lr = 0.05, and this one has 0.1: choose another"):
        run_bridge(small(lr=0.1), out=tmp_path)


KILLED = """
import os, signal, sys, threading
from cflag_theory.bridge.training.run import run_bridge
from cflag_theory.bridge.settings.run_settings import run_settings
import json
settings, out, at, delay = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
left = [at]
def progress(**_):
    left[0] -= 1
    if left[0] == 0:
        # Somewhere in what follows: a round, a file half-written, the end of a task.
        threading.Timer(delay, os.kill, (os.getpid(), signal.SIGKILL)).start()
run_bridge(run_settings(settings), out=out, preset="mine", progress=progress)
"""


@pytest.mark.full
def test_a_killed_run_goes_on_to_the_same_result(whole, tmp_path):
    """Whenever it is killed: results, Traces and last states are those of the unbroken run, byte for byte."""
    drawn = np.random.default_rng(0)
    kills = 0
    for at in (3, 17, 13):
        delay = str(float(drawn.uniform(0, 0.03)))
        command = [sys.executable, "-c", KILLED, json.dumps(SMALL), str(tmp_path), str(at), delay]
        kills += subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert kills == 3
    unfinished = [path for path in tmp_path.glob("*-5.npz") if read_checkpoint(path).plain["status"] == "RUNNING"]
    assert unfinished
    resumed = run_bridge(small(), out=tmp_path, preset="mine")
    assert resumed.complete
    found, wanted = what_was_found(tmp_path), what_was_found(whole[0])
    assert found[0] == wanted[0]
    assert found[1] == wanted[1]
    assert found[2] == wanted[2]
    assert len(found[1]) == 6
    assert len(found[2]) == 30


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_a_checkpoint_between_any_two_steps_is_enough(tmp_path, monkeypatch, whole, number):
    """Stopped right after the n-th file is in its place, also between the last round and the end of its task."""
    stopped(small(methods=["ewc"]), tmp_path, monkeypatch, number)
    stored = read_results(tmp_path)
    assert (stored["complete"], stored["runs"][0]["status"]) == (False, "RUNNING")
    run_bridge(small(methods=["ewc"]), out=tmp_path)
    wanted = what_was_found(whole[0])
    found = what_was_found(tmp_path)
    assert found[0]["runs"] == [run for run in wanted[0]["runs"] if run["method"] == "ewc"]
    assert found[1]["ewc-5.npz"] == wanted[1]["ewc-5.npz"]


def test_fewer_checkpoints_lead_to_the_same(tmp_path, monkeypatch, whole):
    """With one in every so many rounds and at the end of a task, a run that is stopped repeats the rounds since."""
    write, at = run_module.Folder.write, []

    def stop(self, *arguments):
        write(self, *arguments)
        at.append((arguments[2].plain["task"], arguments[2].plain["number"]))
        if len(at) == 3:
            raise KeyboardInterrupt

    rounds = {"methods": ["ewc"], "rounds": 2, "checkpoint_every": 5}
    with monkeypatch.context() as patch:
        patch.setattr(run_module.Folder, "write", stop)
        with pytest.raises(KeyboardInterrupt):
            run_bridge(small(**rounds), out=tmp_path)
    assert at == [(1, 0), (2, 0), (3, 0)]
    # How often may change in the middle.
    run_bridge(small(methods=["ewc"]), out=tmp_path)
    assert what_was_found(tmp_path)[1]["ewc-5.npz"] == what_was_found(whole[0])[1]["ewc-5.npz"]


def test_a_forgotten_memory_would_be_seen(tmp_path, monkeypatch, whole):
    """The comparison can fail: without EWC's memory in the checkpoint the rest of the run is another one."""
    write = run_module.Folder.write

    def stop(self, method, seed, checkpoint):
        kept = {name: array for name, array in checkpoint.arrays.items() if name == "state"}
        write(self, method, seed, replace(checkpoint, arrays=kept))
        if checkpoint.plain["task"] == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(run_module.Folder, "write", stop)
        with pytest.raises(KeyboardInterrupt):
            run_bridge(small(methods=["ewc"]), out=tmp_path)
    run_bridge(small(methods=["ewc"]), out=tmp_path)
    assert what_was_found(tmp_path)[1]["ewc-5.npz"]["state"] != what_was_found(whole[0])[1]["ewc-5.npz"]["state"]


def test_a_method_that_diverges_leaves_the_others_alone(tmp_path):
    settings = small(methods=["c_flag", "er_ring"], lr=1e15, c_flag={"adaptive": "none", "step": "plain"})
    result = run_bridge(settings, out=tmp_path)
    for run in result.runs:
        assert run.status == "DIVERGED"
        assert run.message.startswith("diverged in round ")
        assert run.rounds_done < 10
        assert np.isnan(run.accuracy[-1]).all()
        for name in run.traces:
            assert read_trace(tmp_path / name).rounds <= 2
    assert result.complete
    stored = read_results(tmp_path)
    assert stored["runs"][0]["accuracy"][-1] == [None] * 5
    # It is not tried again, and another method in the same folder runs.
    assert run_bridge(settings, out=tmp_path).to_json() == result.to_json()


def test_one_method_diverges_and_the_next_does_not(tmp_path, monkeypatch):
    def broken(method, round, *arguments, **options):
        step = one_round(method, round, *arguments, **options)
        return replace(step, state=step.state * math.nan) if (method.name, round.overall) == ("nccl", 3) else step

    monkeypatch.setattr("cflag_theory.bridge.training.parts.one_round", broken)
    result = run_bridge(small(methods=["nccl", "er_ring"]), out=tmp_path)
    failed, fine = result.runs
    assert (failed.status, failed.rounds_done) == ("DIVERGED", 3)
    assert failed.message == "diverged in round 2 of task 2: use a smaller lr, or smaller alpha"
    assert not np.isnan(failed.accuracy[0]).any()
    assert np.isnan(failed.accuracy[1:]).all()
    assert [read_trace(tmp_path / name).ok for name in failed.traces] == [True, False]
    assert (fine.status, fine.rounds_done) == ("OK", 10)


def test_a_preset_runs_each_of_its_variations(cflag, tmp_path, monkeypatch):
    two = tuple(Variation(f"clients{n}", {**SMALL, "clients": n, "methods": ["finetune"]}) for n in (2, 3))
    monkeypatch.setattr(
        "cflag_theory.bridge.settings.presets.PRESETS", {**PRESETS, "two": Preset("two", "Two runs.", two)}
    )
    code, out, err = cflag("bridge", "--preset", "two", "--set", "rounds=1", "--out", tmp_path)
    assert (code, err) == (0, "")
    assert "clients2" in out
    assert "clients3" in out
    for n in (2, 3):
        stored = read_results(tmp_path / f"clients{n}")
        assert (stored["preset"], stored["settings"]["clients"], stored["runs"][0]["rounds_done"]) == ("two", n, 5)


@pytest.mark.full
def test_two_processes_find_the_same(tmp_path, whole):
    """Under torchrun clients are dealt out, and what is gathered is added in their order: bit for bit the same."""
    in_two_processes(tmp_path, ["--set", "methods=c_flag,ewc"])
    found, wanted = what_was_found(tmp_path), what_was_found(whole[0])
    assert found[0]["runs"] == [run for run in wanted[0]["runs"] if run["method"] in ("c_flag", "ewc")]
    assert all(found[1][name] == wanted[1][name] for name in ("c_flag-5.npz", "ewc-5.npz"))


def test_clients_at_once(tmp_path):
    settings = {"methods": ["finetune"], "rounds": 1, "tasks": 1, "dtype": "float64"}
    apart, at_once = (
        run_bridge(small(**settings, together=together), out=tmp_path / together) for together in ("no", "yes")
    )
    assert at_once.runs[0].columns["step2"] == pytest.approx(apart.runs[0].columns["step2"], rel=1e-12)
    # One thread: the same bits over any number of processes.
    assert "processes" not in at_once.environment
    noted = run_bridge(small(**settings, together="yes", model="cnn"), out=tmp_path / "cnn").notes
    assert any(note.startswith("finetune: clients are computed one after another, because ") for note in noted)


def test_options_that_do_not_fit_stop_a_run_before_it_begins(tmp_path):
    settings = small(methods=["finetune", "c_flag"], epochs=2, c_flag={"table": "recomputed"})
    with pytest.raises(InvalidInput, match="the table is 'recomputed' with epochs = 2"):
        run_bridge(settings, out=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_long_reading_is_told(tmp_path):
    """TinyImageNet's JPEGs are decoded before anything else can be shown."""
    pytest.importorskip("PIL")
    write_tiny_imagenet(tmp_path)
    told = []

    def reading(done, total):
        told.append((done, total))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_bridge(run_settings(data="tinyimagenet", root=str(tmp_path)), out=tmp_path / "run", reading=reading)
    assert told == [(20, 20)]
    assert not (tmp_path / "run").exists()


def test_devices():
    assert find_device("cpu").type == "cpu"
    for name in ("gpu", "cuda:99"):
        with pytest.raises(InvalidInput, match=rf"device '{name}' is not available \(.*\): use cpu"):
            find_device(name)


def test_other_data_are_told_apart(digits):
    changed = replace(digits, train_labels=digits.train_labels[::-1].copy())
    assert digest(digits) == digest(digits)
    assert digest(changed) != digest(digits)


@pytest.mark.full
def test_threads_are_put_back(tmp_path):
    before = torch.get_num_threads()
    run_bridge(small(methods=["finetune"], rounds=1, tasks=1, threads=2), out=tmp_path)
    assert torch.get_num_threads() == before
    assert read_results(tmp_path)["environment"]["threads"] == "2"
