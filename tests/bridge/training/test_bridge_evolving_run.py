"""Whole runs on data that change from round to round: what they give, what stops them, and in two processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from cflag_theory.bridge.data.evolving import evolving
from cflag_theory.bridge.measures.results import read_results
from cflag_theory.bridge.settings.evolving import CFL_NAMES
from cflag_theory.bridge.settings.presets import C_FLAG_PRESETS, PRESETS, preset
from cflag_theory.bridge.settings.rules import WrongSetting
from cflag_theory.bridge.settings.run_settings import run_settings
from cflag_theory.bridge.training.checkpoints import read_checkpoint
from cflag_theory.bridge.training.run import run_bridge
from cflag_theory.errors import DataError
from cflag_theory.kernels import read_trace

SMALL = {
    "protocol": "rounds",
    "rounds": 4,
    "clients": 3,
    "subsets": 14,
    "epochs": 1,
    "seeds": [5],
    "past_every": 2,
    "cfl_core": {"size": 9, "choice": "herding"},
    "cfl_gen": {"size": 3, "steps": 5},
    "cfl_reg": {"keep": 2},
}


def states(folder):
    return {
        name: {key: array.tobytes() for key, array in read_checkpoint(folder / f"{name}-5.npz").arrays.items()}
        for name in CFL_NAMES
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole")
    return out, run_bridge(run_settings(SMALL), out=out)


def test_every_method_is_evaluated_every_round(whole):
    out, result = whole
    assert result.complete
    assert [run.method for run in result.runs] == list(CFL_NAMES)
    for run in read_results(out)["runs"]:
        assert len(run["columns"]["test_accuracy"]) == len(run["columns"]["test_loss"]) == 4
        assert run["accuracy"][0][0] == pytest.approx(run["columns"]["test_accuracy"][-1], rel=1e-12)
        # Measured in every second round, and in the first there is no past.
        assert [value is None for value in run["columns"]["f"]] == [True, True, False, True]
        lost = run["columns"]["information_loss"]
        kept = run["method"] in ("cfl_core", "cfl_gen")
        assert [value is None for value in lost] == ([False, True, False, True] if kept else [True] * 4)
    by_name = {run.method: run for run in result.runs}
    assert by_name["fedavg"].communicated * 3 == by_name["cfl_reg"].communicated
    assert by_name["fedavg"].gradients < by_name["cfl_core"].gradients


@pytest.mark.parametrize("at", [1, 3])
def test_a_stopped_run_goes_on_to_the_same_end(whole, tmp_path, at):
    def stop(**where):
        if where["overall"] == at:
            raise KeyboardInterrupt

    for _ in CFL_NAMES:
        with pytest.raises(KeyboardInterrupt):
            run_bridge(run_settings(SMALL), out=tmp_path, progress=stop)
    # Each interrupted once, and the last one has its other rounds to do.
    assert run_bridge(run_settings(SMALL), out=tmp_path).complete
    assert states(tmp_path) == states(whole[0])


@pytest.mark.full
def test_two_processes_give_the_same_bits(whole, tmp_path):
    words = [f"{key}={value}" for key, value in SMALL.items() if not isinstance(value, dict | list)]
    words += [
        f"{method}.{key}={value}"
        for method, given in SMALL.items()
        if isinstance(given, dict)
        for key, value in given.items()
    ]
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "-m", "cflag_theory", "bridge"]
    sets = [word for pair in [*words, "seeds=5"] for word in ("--set", pair)]
    done = subprocess.run(
        [*command, "--out", str(tmp_path), *sets],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert states(tmp_path) == states(whole[0])


@pytest.mark.parametrize(
    ("past_every", "why"),
    [
        (0, "it takes passes over all data, use past_every"),
        (2, "there is no past in the first round, and no other one was measured"),
    ],
)
def test_a_trace_says_why_it_has_no_past(tmp_path, past_every, why):
    """There is one task only, and a past in it."""
    changes = SMALL | {"rounds": 2, "past_every": past_every, "methods": ["fedavg"]}
    (run,) = run_bridge(run_settings(changes), out=tmp_path).runs
    absent = read_trace(tmp_path / run.traces[0]).absent
    assert {absent[name] for name in ("f", "grad_f2", "b2", "grad_f_change2")} == {why}
    assert absent["Lambda"] == "the method does not have it"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"stateless": True}, r"'cfl_core' has each client keep a core set .* \(Table 8\): leave the method out"),
        ({"stateless": True, "methods": ["cfl_gen"]}, r"its generated samples .* \(Table 8\)"),
        ({"methods": ["c_flag"]}, "'c_flag' is none of protocol = 'rounds': use fedavg, "),
        ({"protocol": "tasks", "methods": ["fedprox"]}, "'fedprox' is none of protocol = 'tasks'"),
        ({"tasks": 5}, "tasks is 5 with protocol 'rounds'"),
        ({"overlap": 1.0}, "overlap is 1.0: use a number from 0 to below 1"),
        ({"mimelite": {"gamma": 1.5}}, "gamma is 1.5: use a number from 0 to 1"),
        ({"c_flag": {"clamp": 1.0}}, "the key 'c_flag' is unknown"),
    ],
)
def test_what_does_not_go_together_is_one_sentence(change, words):
    with pytest.raises(WrongSetting, match=words):
        run_settings({"protocol": "rounds"} | change)


def test_presets_have_the_papers_settings():
    for name in PRESETS.keys() - C_FLAG_PRESETS.keys():
        for variation in preset(name).variations:
            found = variation.settings()
            if found.data == "digits":
                continue
            table4 = name == "cfl-table4"
            assert (found.clients, found.subsets, found.lr, found.optimizer) == (10 if table4 else 7, 30, 0.01, "plain")
            assert found.rounds == {"cfl-table4": 300, "cfl-figure6": 85}.get(name, 300 if "figure7" in name else 500)
            assert found.zeta == (0.2 if table4 or name[4:] in ("table7", "figure3", "figure6") else found.zeta)
            assert found.model == ("mlp" if found.data == "fashion-mnist" else "resnet18")
    table9 = [variation.settings() for variation in preset("cfl-table9").variations]
    assert [(each.overlap, each.visits, each.zeta) for each in table9] == [(o, "pointer", 0.1) for o in (0, 0.25, 0.5)]
    assert np.unique([each.settings().protocol for each in preset("digits-all").variations]).tolist() == [
        "rounds",
        "tasks",
    ]


def test_the_command_compares_and_reports(cflag, tmp_path):
    words = ["--protocol", "rounds", "--rounds", 2, "--clients", 3, "--seeds", "1,2", "--method", "fedavg"]
    words += ["--method", "mimelite", "--set", "subsets=14", "--set", "overlap=0.5", "--set", "visits=pointer"]
    code, out, err = cflag("bridge", *words, "--out", tmp_path / "run")
    assert (code, err) == (0, "")
    assert "by round: 3 clients of 14 data sets, alpha = 1, overlap 50% (pointer), mlp" in out
    assert (tmp_path / "run" / "rounds.png").stat().st_size > 1000
    code, out, err = cflag("bridge", "--report", tmp_path / "run", "--out", tmp_path / "page", "--format", "json")
    (found,) = json.loads(out)["by_round"]
    gain = found["methods"][1]["gain"]
    assert (code, gain["seeds"], found["rounds"]) == (0, 2, 2)
    page = (tmp_path / "page" / "runs.md").read_text(encoding="utf-8")
    assert f"{gain['mean']:.2f} +- {gain['deviation']:.2f}" in page


def test_285_samples_of_cifar10_do_not_exist():
    labels = np.arange(50000) % 10
    with pytest.raises(DataError, match="285 samples need 59850, and there are 50000: use at most 238"):
        evolving(labels, clients=7, subsets=30, size=285, zeta=0.1, seed=0)
