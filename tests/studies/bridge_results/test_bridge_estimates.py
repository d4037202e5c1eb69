"""What a Trace of real training says about L, m and r, where L is known."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

# What follows imports torch.
pytest.importorskip("torch")

from cflag_theory.bridge.data.datasets import load_images
from cflag_theory.bridge.settings.run_settings import run_settings
from cflag_theory.bridge.training.run import run_bridge
from cflag_theory.cli.main import app
from cflag_theory.kernels import read_trace
from cflag_theory.verify import estimate_constants


@pytest.fixture(scope="module")
def smoothness():
    """Of a linear network with bias: the Hessian of its loss is at most |(x, 1)|^2 / 2."""
    images = load_images("digits")
    x = (images.train_images / 255 - images.mean) / images.std
    return float((np.sum(x.reshape(len(x), -1) ** 2, axis=1) + 1).max() / 2)


@pytest.fixture(scope="module")
def traces(smoothness, tmp_path_factory):
    """Of plain steps, of adapted rates and of Adam: alpha and beta say nothing about the length of the last two."""
    found = {}
    linear = {
        "model": "linear",
        "rounds": 3,
        "epochs": 1,
        "seeds": [3],
        "methods": ["c_flag"],
        "threads": 1,
        "tasks": 2,
    }
    for name, changes in (
        ("plain", {"c_flag": {"adaptive": "none"}}),
        ("adapted", {}),
        ("adam", {"mode": "paper", "lr": 0.01}),
        ("single", {"dtype": "float32"}),
        ("cheap", {"past_every": 0}),
    ):
        out = tmp_path_factory.mktemp(name)
        changes = {"dtype": "float64", "lr": 0.2 / smoothness} | changes
        run = run_bridge(run_settings(linear, **changes, L=smoothness), out=out).runs[0]
        found[name] = out / run.traces[1]
    return found


@pytest.mark.parametrize("name", ["plain", "adapted", "adam", "single", "cheap"])
def test_no_estimate_of_L_is_above_it(name, traces, smoothness):
    trace = read_trace(traces[name])
    found = estimate_constants(trace, lowest=0.0)
    L = next(one for one in found.estimates if one.name == "L")
    # The bound is that of the largest sample; what a run meets is near its mean.
    assert smoothness / 100 < L.value <= smoothness
    assert L.samples > 0
    if name == "cheap":
        assert "use past_every" in next(one for one in found.estimates if one.name == "m").how
    else:
        assert L.how.startswith(("change", "descent"))
        largest = math.sqrt((trace.column("b2") / trace.column("grad_f2")).max())
        assert math.sqrt(found.value("m")) == pytest.approx(largest)
    assert found.value("r") == pytest.approx(trace.r_met)


def test_the_command_reads_a_bridge_trace(traces):
    done = CliRunner().invoke(app, ["stepsize", "--from-trace", str(traces["plain"]), "--format", "json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    names = {one["name"]: one["value"] for one in told["estimates"]["estimates"]}
    assert names["L"] > 0
    assert names["m"] > 0
