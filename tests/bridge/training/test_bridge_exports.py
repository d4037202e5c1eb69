"""What other programs get: lines of CSV, models that load without this package's classes, TensorBoard's events."""

from __future__ import annotations

import csv
import sys
import types
from pathlib import Path

import pytest
import torch

from cflag_theory.bridge.data.datasets import load_images
from cflag_theory.bridge.measures.results import read_results
from cflag_theory.bridge.models.flat_model import make_model
from cflag_theory.bridge.settings.run_settings import run_settings
from cflag_theory.bridge.training.checkpoints import read_checkpoint
from cflag_theory.bridge.training.exports import RoundLines, read_model, write_model
from cflag_theory.bridge.training.run import run_bridge
from cflag_theory.errors import DataError, MissingExtra, OutputError

SMALL = {"rounds": 2, "epochs": 1, "seeds": [5], "threads": 1, "clients": 3, "past_every": 0, "methods": ["finetune"]}


def lines(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_line_for_every_round(tmp_path):
    at = []

    def progress(**where):
        at.append([int(line["round"]) for line in lines(tmp_path / "finetune-5.csv")])

    run_bridge(run_settings(SMALL), out=tmp_path, progress=progress)
    assert at == [list(range(1, n + 1)) for n in range(1, 11)]
    columns = read_results(tmp_path)["runs"][0]["columns"]
    found = lines(tmp_path / "finetune-5.csv")
    assert [float(line["loss"]) for line in found] == columns["loss"]
    assert [len(line["alphas"].split(";")) for line in found] == [3] * 10
    assert {line["Gamma"] for line in found} == {""}


def test_lines_after_a_stop_are_those_of_an_unbroken_run(tmp_path):
    """With a checkpoint at the end of each task, the lines of rounds that are repeated go."""
    run_bridge(run_settings(SMALL), out=tmp_path / "whole")

    def stop(**at):
        if at["overall"] == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_bridge(run_settings(SMALL), out=tmp_path / "stopped", progress=stop)
    assert len(lines(tmp_path / "stopped" / "finetune-5.csv")) == 3
    run_bridge(run_settings(SMALL), out=tmp_path / "stopped")
    one, two = ((tmp_path / name / "finetune-5.csv").read_bytes() for name in ("whole", "stopped"))
    assert one == two


def test_a_file_that_cannot_be_written(tmp_path):
    found = RoundLines(tmp_path / "a.csv", {})
    (tmp_path / "a.csv").unlink()
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(OutputError, match=r"cannot write .*a\.csv' \(Is a directory\)"):
        found.add(1, {"loss": 1.0})


@pytest.mark.parametrize("heads", ["shared", "growing"])
@pytest.mark.parametrize("channels_last", [False, True])
def test_models_do_what_the_run_has_measured(tmp_path, channels_last, heads):
    """Also where the numbers of a kernel lie in another order in the state, and where heads grow."""
    given = SMALL | {"methods": ["finetune"]}
    run_bridge(
        run_settings(given, model="cnn", export_models=True, channels_last=channels_last, heads=heads), out=tmp_path
    )
    (stored,) = read_results(tmp_path)["runs"]
    network, config = read_model(tmp_path / "finetune-5-last.pt")
    images = load_images("digits")
    pixels = torch.tensor(images.test_images.transpose(0, 3, 1, 2) / 255, dtype=torch.float32)
    mean, std = (torch.tensor(config[name], dtype=torch.float32).view(1, -1, 1, 1) for name in ("mean", "std"))
    labels = torch.from_numpy(images.test_labels)
    with torch.no_grad():
        found = network((pixels - mean) / std, labels // 2).argmax(dim=1)
    right = found == (labels if heads == "growing" else labels % 2)
    for task in range(5):
        share = right[labels // 2 == task].double().mean()
        assert 100 * float(share) == pytest.approx(stored["accuracy"][4][task])


def test_the_best_and_the_last_model(tmp_path):
    run_bridge(run_settings(SMALL, model="cnn", export_models=True), out=tmp_path)
    stored = read_results(tmp_path)["runs"][0]
    network, config = read_model(tmp_path / "finetune-5-last.pt")
    assert (config["method"], config["seed"], config["task"], config["rounds_done"]) == ("finetune", 5, 4, 10)
    assert (config["tasks"][1], config["classes_per_task"]) == (["2", "3"], [2] * 5)
    state = read_checkpoint(tmp_path / "finetune-5.npz").arrays["state"]
    model = make_model("cnn", (1, 8, 8), (2,) * 5, heads="shared")
    for name, where, shape in model.tensors + model.statistics:
        assert torch.equal(network.state_dict()[name], torch.from_numpy(state[where]).view(shape))
    scores = [sum(row) for row in stored["accuracy"]]
    best = read_model(tmp_path / "finetune-5-best.pt")[1]
    assert best["task"] == scores.index(max(scores))


def test_models_that_were_not_asked_for_in_time(tmp_path):
    """What rounds without exports would have left is not there, and the notes say so."""
    short = SMALL | {"rounds": 1, "tasks": 2}
    assert run_bridge(run_settings(short), out=tmp_path).notes == ()
    late = run_bridge(run_settings(short, export_models=True), out=tmp_path)
    assert late.notes == (
        "finetune with seed 5: no best and no last model, because its rounds were done with export_models = false: run "
        "again in another folder to have it",
    )
    assert run_bridge(run_settings(short, export_models=True), out=tmp_path / "other").notes == ()


def test_a_model_is_the_same_whatever_else_its_process_has_done(tmp_path):
    """PyTorch's counters of batches are those of the network, which all parts share."""
    short = SMALL | {"model": "cnn", "rounds": 1, "tasks": 1, "export_models": True}
    run_bridge(run_settings(short), out=tmp_path / "alone")
    run_bridge(run_settings(short, methods=["er_ring", "finetune"]), out=tmp_path / "both")
    one, two = (
        torch.load(tmp_path / name / "finetune-5-last.pt", weights_only=True)["state_dict"]
        for name in ("alone", "both")
    )
    assert list(one) == list(two)
    assert all(torch.equal(one[name], two[name]) for name in one)


def test_models_are_read_as_plain_values(tmp_path):
    run_bridge(run_settings(SMALL, rounds=1, tasks=1, export_models=True), out=tmp_path)
    found = torch.load(tmp_path / "finetune-5-last.pt", weights_only=True)
    assert sorted(found) == ["config", "format", "state_dict"]
    assert all(type(value) is torch.Tensor for value in found["state_dict"].values())
    assert found["config"]["settings"]["rounds"] == 1


def test_where_data_change_the_best_round_counts(tmp_path):
    words = {"protocol": "rounds", "methods": ["fedavg"], "rounds": 4, "seeds": [5], "export_models": True}
    result = run_bridge(run_settings(words), out=tmp_path)
    accuracy = result.runs[0].columns["test_accuracy"]
    assert read_model(tmp_path / "fedavg-5-best.pt")[1]["rounds_done"] == accuracy.index(max(accuracy)) + 1
    assert read_model(tmp_path / "fedavg-5-last.pt")[1]["rounds_done"] == 4


@pytest.mark.parametrize("damage", ["gone", "text", "format", "shape"])
def test_what_is_no_model(tmp_path, damage):
    path = tmp_path / "a.pt"
    model = make_model("linear", (1, 2, 2), (2,))
    config = {"model": "linear", "shape": [1, 2, 2], "classes_per_task": [2], "heads": "list", "dtype": "float32"}
    write_model(path, model, model.start(0), config)
    assert read_model(path)[1] == config
    if damage == "gone":
        path.unlink()
    elif damage == "text":
        path.write_text("nothing of the kind")
    elif damage == "format":
        torch.save({"format": "other"}, path)
    else:
        write_model(path, model, model.start(0), config | {"shape": [1, 3, 3]})
    with pytest.raises(DataError, match="is missing" if damage == "gone" else "is no model that cflag bridge wrote"):
        read_model(path)


def test_tensorboard(tmp_path, monkeypatch):
    settings = run_settings(SMALL, tasks=1, tensorboard=True)
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(MissingExtra, match="pip install tensorboard"):
        run_bridge(settings, out=tmp_path)
    told = []

    class Writer:
        def __init__(self, folder, purge_step):
            told.append((Path(folder).relative_to(tmp_path).as_posix(), purge_step))

        def add_scalar(self, name, value, number):
            told.append((name, number))

        def flush(self):
            pass

        def close(self):
            told.append("closed")

    fake = types.ModuleType("torch.utils.tensorboard")
    fake.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", fake)
    run_bridge(settings, out=tmp_path)
    assert told[0] == ("tensorboard/finetune-5", 1)
    assert [one for one in told if one[0] == "loss"] == [("loss", 1), ("loss", 2)]
    assert told[-1] == "closed"
    # What is not defined, and lists, have no curve.
    assert not any(one[0] in ("Gamma", "alphas") for one in told)
    # The end of the task has its gradients in the last round's point, which is drawn again.
    assert [one for one in told if one[0] == "ifo_calls"] == [("ifo_calls", 1), ("ifo_calls", 2)]
    told.clear()
    run_bridge(run_settings(SMALL | {"methods": ["ewc"]}, tasks=1, tensorboard=True), out=tmp_path / "ewc")
    assert [one for one in told if one[0] == "ifo_calls"] == [("ifo_calls", 1), ("ifo_calls", 2), ("ifo_calls", 2)]
