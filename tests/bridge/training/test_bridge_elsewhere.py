"""Runs on augmented images; runs side by side in a folder, or that go on elsewhere"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from image_files import write_cifar, write_tiny_imagenet
from small_bridge import WORDS, in_two_processes, small, stopped, what_was_found

import cflag_theory.bridge.training.run as run_module
from cflag_theory.bridge.measures.results import read_results
from cflag_theory.bridge.settings.run_settings import run_settings
from cflag_theory.bridge.training.exports import read_model
from cflag_theory.bridge.training.rounds import one_round
from cflag_theory.bridge.training.run import run_bridge
from cflag_theory.errors import DataError

RELEASED = {"methods": ["c_flag"], "mode": "released", "crop": True, "flip": True, "jitter": True, "image_size": 12}


def test_augmented_images_are_the_same_after_a_stop(tmp_path, monkeypatch):
    """Also those of what is remembered; and without the switches it is another run."""
    settings = small(**RELEASED)
    run_bridge(settings, out=tmp_path / "whole")
    stopped(settings, tmp_path / "stopped", monkeypatch, 5)
    run_bridge(settings, out=tmp_path / "stopped")
    found, wanted = what_was_found(tmp_path / "stopped"), what_was_found(tmp_path / "whole")
    assert found == wanted
    for name in ("crop", "flip", "jitter", "image_size"):
        run_bridge(small(**RELEASED | {name: None if name == "image_size" else False}), out=tmp_path / name)
        assert what_was_found(tmp_path / name)[1] != wanted[1]


@pytest.mark.full
@pytest.mark.parametrize("data", ["cifar10", "tinyimagenet"])
def test_mode_released_on_small_files(tmp_path, data):
    """Colour images with everything that the mode changes; TinyImageNet's larger, if not at 224 pixels."""
    if data == "cifar10":
        write_cifar(tmp_path, data, "python")
    else:
        pytest.importorskip("PIL")
        write_tiny_imagenet(tmp_path, classes=200, train=1, test=1)
    small = {"rounds": 2, "epochs": 1, "clients": 2, "batch": 8, "memory_size": 4, "memory_sample": 2, "threads": 1}
    settings = run_settings(small, data=data, root=str(tmp_path), mode="released", model="cnn", methods=["c_flag"])
    assert settings.image_size == (224 if data == "tinyimagenet" else None)
    side = 72 if settings.image_size else 32
    settings = replace(settings, seeds=(1,), image_size=settings.image_size and side, rounds=1)
    (run,) = run_bridge(settings, out=tmp_path / "run").runs
    assert (run.status, run.rounds_done) == ("OK", settings.tasks)
    network, config = read_model(tmp_path / "run" / "c_flag-1-last.pt")
    assert (config["shape"], config["data"]) == ([3, side, side], data)
    assert network(torch.zeros(2, 3, side, side), torch.tensor([0, 1])).shape == (2, len(config["tasks"][0]))


@pytest.mark.full
def test_two_processes_augment_the_same(tmp_path):
    words = ["--method", "c_flag", "--mode", "released", "--set", "crop=true", "--set", "jitter=true"]
    run_bridge(small(methods=["c_flag"], mode="released", crop=True, jitter=True), out=tmp_path / "one")
    in_two_processes(tmp_path / "two", words)
    assert what_was_found(tmp_path / "two")[1:] == what_was_found(tmp_path / "one")[1:]


def test_weights_may_be_equal(tmp_path, monkeypatch):
    seen = []

    def look(method, round, clients, *arguments, **options):
        seen.append([client.p for client in clients])
        return one_round(method, round, clients, *arguments, **options)

    monkeypatch.setattr("cflag_theory.bridge.training.parts.one_round", look)
    run_bridge(small(methods=["finetune"], rounds=1, weights="equal", zeta=0.1, clients=6), out=tmp_path)
    some = [[share for share in shares if share] for shares in seen]
    assert all(shares == pytest.approx([1 / len(shares)] * len(shares)) for shares in some)
    assert {len(shares) for shares in some} > {6}


def test_what_another_run_is_at_is_left_to_it(tmp_path, monkeypatch):
    folder = run_module.Folder(tmp_path, small(), {}, {})
    run_bridge(small(methods=["finetune"]), out=tmp_path)
    with folder.part("er_ring", 5):
        found = run_bridge(small(methods=["er_ring", "ewc"]), out=tmp_path)
    assert ([run.method for run in found.runs], found.complete) == (["finetune", "ewc"], False)
    assert found.notes == ("er_ring with seed 5: another run is at it",)
    found = run_bridge(small(methods=["er_ring", "ewc"]), out=tmp_path)
    assert ([run.method for run in found.runs], found.complete, found.notes) == (
        ["finetune", "ewc", "er_ring"],
        True,
        (),
    )


def test_results_are_there_after_a_round(tmp_path, monkeypatch):
    monkeypatch.setattr("cflag_theory.bridge.training.gathered.EVERY", 0.0)
    done = []

    def progress(**at):
        done.append((at["overall"], read_results(tmp_path)["runs"][0]["rounds_done"]))

    run_bridge(small(methods=["finetune"]), out=tmp_path, progress=progress)
    assert done == [(n, n) for n in range(1, 11)]


def test_other_threads_are_recorded(tmp_path):
    alone = {"methods": ["finetune"], "together": "no"}
    with pytest.raises(KeyboardInterrupt):
        run_bridge(small(**alone), out=tmp_path, progress=stop_at(3))
    with pytest.raises(DataError, match=r"holds a run elsewhere \(threads was 1 and is 2\).*--resume-anyway"):
        run_bridge(small(**alone, threads=2), out=tmp_path)
    result = run_bridge(small(**alone, threads=2), out=tmp_path, anyway=True)
    assert result.complete
    stored = read_results(tmp_path)
    assert stored["changes"] == [{"what": "threads", "was": "1", "is": "2", "after": {"finetune-5": 3}}]
    (note,) = stored["notes"]
    assert note.startswith("resumed anyway: threads was 1 and became 2 (finetune-5 after 3 rounds); last bits are not")


def stop_at(number):
    """A progress that interrupts after so many rounds."""

    def progress(**at):
        if at["overall"] == number:
            raise KeyboardInterrupt

    return progress


@pytest.mark.full
def test_two_runs_at_once_in_one_folder(tmp_path):
    """As with a GPU each: every part is done once, and the folder is that of one run."""
    out = tmp_path / "two"
    command = [sys.executable, "-m", "cflag_theory", "bridge", *WORDS, "--out", str(out)]
    runs = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [run.wait() for run in runs] == [0, 0]
    run_bridge(small(), out=tmp_path / "one")
    found, wanted = what_was_found(out), what_was_found(tmp_path / "one")
    assert found[0]["complete"]
    assert found[0]["runs"] == wanted[0]["runs"]
    assert found[1:] == wanted[1:]
