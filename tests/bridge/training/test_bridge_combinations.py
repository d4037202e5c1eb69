"""Runs with settings drawn at random: features that were made apart from each other have to go together."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
import torch
from small_bridge import SMALL, stopped, what_was_found

from cflag_theory.bridge.data.datasets import load_images
from cflag_theory.bridge.settings.evolving import CFL_NAMES
from cflag_theory.bridge.settings.rules import CLASS_NAMES, METHOD_NAMES
from cflag_theory.bridge.settings.run_settings import run_settings
from cflag_theory.bridge.training.exports import read_model
from cflag_theory.bridge.training.run import run_bridge
from cflag_theory.errors import CflagError

#: What any run may have; a setting is drawn, or left as it is.
ANY = {
    "rounds": (1, 2, 3),
    "epochs": (1, 2),
    "clients": (1, 2, 4),
    "checkpoint_every": (1, 2, 10),
    "past_every": (0, 1, 2),
    "batch": (7, 64),
    "zeta": (0.05, 1e5),
    "model": ("linear", "mlp", "cnn"),
    "heads": ("list", "masked", "shared", "growing", "growing"),
    "optimizer": ("plain", "adam"),
    "autocast": (True, False),
    "channels_last": (True, False),
}
OF_TASKS = {
    "tasks": (1, 2, 5),
    "mode": ("theory", "paper", "released"),
    "old_logits": ("kept", "masked"),
    "memory_kind": ("ring", "reservoir", "by-task", "herding"),
    "memory_size": (4, 10, 60),
    "partition": ("class-over-clients", "client-over-classes", "balanced"),
    "weights": ("samples", "equal"),
    "crop": (True, False),
    "flip": (True, False),
    "jitter": (True, False),
    "image_size": (9, 12),
    "class_order": ("given", "shuffled"),
    "c_flag": {
        "step": ("plain", "adam"),
        "estimate": ("table", "minibatch"),
        "table": ("model", "bfloat16", "recomputed"),
        "place": ("device", "cpu"),
        "order": ("epochs", "random"),
        "adaptive": ("none", "average", "worst", "printed"),
        "adapt": ("displacement", "gradient"),
        "rates_from": ("gradients", "displacement", "corrected"),
        "rates_at": ("client", "server"),
        "product": ("plain", "per-tensor"),
        "memory_step": ("mean", "own"),
    },
}
OF_ROUNDS = {
    "subsets": (1, 6),
    "overlap": (0.25, 0.9),
    "visits": ("random", "pointer"),
    "split": ("repaired", "printed"),
    "stateless": (True, False),
    "cfl_core": {"size": (1, 300), "choice": ("uniform", "herding")},
    "cfl_reg": {"hessian": ("hutchinson", "squared-gradient"), "block": (0.0, 1.0), "combine": ("mean", "sum")},
    "cfl_gen": {"size": (1, 6), "steps": (1, 5)},
}
#: What always is there: exports, and few images that are made.
ALWAYS = SMALL | {"dtype": "float64", "export_models": True}
IMAGES = {"target": {"images": 9, "batch": 4, "steps": 2}, "ewc": {"fisher_samples": 20}}


def drawn(choose, kinds, share):
    """Of every kind one, or nothing; options of a method in a mapping of their own."""
    found = {}
    for name, values in kinds.items():
        if isinstance(values, dict):
            found[name] = drawn(choose, values, 0.4)
        elif choose.random() < share:
            found[name] = choose.choice(values)
    return found


def combination(seed):
    choose = random.Random(seed)
    found = ALWAYS | drawn(choose, ANY, 0.6)
    if choose.random() < 0.3:
        found |= {"protocol": "rounds"} | drawn(choose, OF_ROUNDS, 0.5)
        return found | {"methods": choose.sample(CFL_NAMES, 2)}, choose
    names = [*METHOD_NAMES, *CLASS_NAMES] if found.get("heads") == "growing" else METHOD_NAMES
    return found | {"tasks": 2} | IMAGES | drawn(choose, OF_TASKS, 0.5) | {"methods": choose.sample(names, 2)}, choose


def accuracies(path):
    """What an exported model gives for the test images, task by task."""
    network, config = read_model(path)
    images = load_images("digits")
    mean, std = (torch.tensor(config[name]).view(1, -1, 1, 1) for name in ("mean", "std"))
    shown = ((torch.tensor(images.test_images.transpose(0, 3, 1, 2) / 255) - mean) / std).double()
    if config["image_size"]:
        shown = torch.nn.functional.interpolate(shown, size=(config["image_size"],) * 2, mode="bilinear")
    found, apart = [], config["heads"] in ("masked", "growing")
    for task, names in enumerate(config["tasks"]):
        labels = [images.classes[label] for label in images.test_labels]
        mine = [place for place, label in enumerate(labels) if label in names]
        wanted = torch.tensor([names.index(labels[place]) + apart * task * len(names) for place in mine])
        with torch.no_grad():
            logits = network(shown[mine], torch.full((len(mine),), -1 if config["heads"] == "growing" else task))
        found.append(100 * float((logits.argmax(dim=1) == wanted).double().mean()))
    return found


@pytest.mark.full
@pytest.mark.parametrize("seed", range(160, 176))
def test_settings_go_together(tmp_path, monkeypatch, cflag, seed):
    """Refused before anything is computed; or a whole run, the same after a stop and in both ways to compute it."""
    changes, choose = combination(seed)
    try:
        run_bridge(run_settings(changes), out=tmp_path / "whole")
    except CflagError:
        assert not list(tmp_path.glob("*/*.npz"))
        return
    settings, found = run_settings(changes), what_was_found(tmp_path / "whole")
    stopped(settings, tmp_path / "stopped", monkeypatch, choose.randint(1, 2 * settings.tasks))
    run_bridge(settings, out=tmp_path / "stopped")
    assert json.dumps(what_was_found(tmp_path / "stopped"), default=repr) == json.dumps(found, default=repr)
    one_by_one = run_bridge(run_settings(changes, together="no"), out=tmp_path / "one by one")
    for run, other in zip(found[0]["runs"], one_by_one.runs, strict=True):
        assert run["status"] == "OK"
        assert run["rounds_done"] == settings.total_rounds
        assert np.allclose(run["columns"]["step2"], other.columns["step2"], rtol=1e-6, atol=1e-12)
        assert all(0 <= value <= 100 for row in [run["before"], *run["accuracy"]] for value in row)
        lines = (tmp_path / "whole" / f"{run['method']}-5.csv").read_text().splitlines()
        assert len(lines) == 1 + settings.total_rounds
        name = f"{run['method']}-5-last.pt"
        models = [read_model(tmp_path / which / name)[0].state_dict() for which in ("whole", "stopped")]
        assert all(torch.equal(models[0][name], models[1][name]) for name in models[0])
        exported = accuracies(tmp_path / "whole" / name)
        # iCaRL-FL names the nearest mean of exemplars, and passes in bfloat16 round otherwise.
        if run["method"] != "icarl" and not settings.autocast:
            assert exported == pytest.approx(run["accuracy"][-1])
    code, out, _ = cflag("bridge", "--report", tmp_path / "whole", "--out", tmp_path / "page", "--format", "json")
    assert (code, len(json.loads(out)["by_round"])) == (0, settings.protocol == "rounds")
    assert "### whole" in (tmp_path / "page" / "runs.md").read_text(encoding="utf-8")
