"""What a run records: definitions, and the inequality of Lemma 1 that they belong to."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from cflag_theory.bridge.data.datasets import load_images
from cflag_theory.bridge.data.streams import remembered, split_tasks
from cflag_theory.bridge.measures.meters import MEASURED, MORE, row_of
from cflag_theory.bridge.measures.round_numbers import Measured, RoundNumbers
from cflag_theory.bridge.models.clients import clients_of, pixels
from cflag_theory.bridge.models.flat_model import full_gradient, make_model
from cflag_theory.bridge.settings.run_settings import run_settings
from cflag_theory.bridge.training.run import run_bridge
from cflag_theory.kernels import COLUMNS, read_trace

ROUNDS = 4


def smoothness():
    """An L of every f_i and g_i: for a linear network with bias the Hessian of the loss is at most |(x, 1)|^2 / 2."""
    images = load_images("digits")
    x = (images.train_images / 255 - images.mean) / images.std
    return float((np.sum(x.reshape(len(x), -1) ** 2, axis=1) + 1).max() / 2)


def linear(**more):
    """Where L is known, and steps are as long as it allows."""
    L = smoothness()
    usual = {"model": "linear", "dtype": "float64", "rounds": ROUNDS, "epochs": 1, "seeds": [3], "L": L, "lr": 0.2 / L}
    return run_settings(usual | {"methods": ["c_flag"], "threads": 1, "zeta": 0.5}, **more)


@pytest.fixture(scope="module", params=["none", "worst"])
def done(request, tmp_path_factory):
    out = tmp_path_factory.mktemp("linear")
    settings = linear(c_flag={"adaptive": request.param})
    result = run_bridge(settings, out=out)
    return settings, result.runs[0], [read_trace(out / name) for name in result.runs[0].traces]


def lemma_1_slacks(settings, traces, *, gamma=1.0):
    """Right side less left side of f(x_{t+1}) <= f(x_t) - ... + B + Gamma, for the steps within each task."""
    slacks = []
    for trace in traces[1:]:
        f, grad, b2 = (trace.column(name)[0] for name in ("f", "grad_f2", "b2"))
        L, alpha = settings.L, settings.lr
        rest = L * alpha**2 / 2 * b2 + trace.column("B")[0] + gamma * trace.column("Gamma")[0]
        bound = f - alpha * (1 - L * alpha / 2) * grad + rest
        slacks.append((bound[:-1] - f[1:]) / f[1:])
    return np.concatenate(slacks)


def test_lemma_1_holds_along_a_run(tmp_path):
    """With constant rates x_{t+1} = x_t - alpha grad_f_memory - beta S, and smoothness gives exactly this."""
    settings = linear(c_flag={"adaptive": "none"})
    run = run_bridge(settings, out=tmp_path).runs[0]
    traces = [read_trace(tmp_path / name) for name in run.traces]
    slacks = lemma_1_slacks(settings, traces)
    assert len(slacks) == 4 * (ROUNDS - 1)
    assert slacks.min() >= -1e-12
    # The same check rejects a Gamma of another sign, and half of it.
    assert lemma_1_slacks(settings, traces, gamma=-1.0).min() < -1e-6


def test_a_task_is_a_trace(done):
    settings, run, traces = done
    assert len(traces) == 5
    for task, trace in enumerate(traces):
        assert (trace.rounds, trace.ok, trace.replicas) == (ROUNDS, True, 1)
        assert set(trace.columns) | set(trace.absent) == set(COLUMNS)
        assert task == 0 or trace.column("Lambda").shape == (1, ROUNDS, 5)
        for name in trace.columns:
            assert np.array_equal(
                trace.column(name)[0],
                np.array(run.columns[name][task * ROUNDS : (task + 1) * ROUNDS]),
                equal_nan=True,
            )
        assert trace.config["beta"] == trace.config["alpha"] == str(settings.lr)
        assert trace.config["algorithm"]["adaptive"] == settings.options["c_flag"].adaptive
        assert trace.config["local_steps"] >= 1
    first = traces[0]
    assert "no past in the first task" in first.absent["Gamma"]
    assert {"f", "Gamma", "B", "b2", "m_met", "Lambda"} <= set(first.absent)
    assert set(traces[1].columns) == set(MEASURED)


def test_columns_hold_what_they_say(done):
    settings, run, traces = done
    for trace in traces[1:]:
        alpha = np.array(run.columns["alpha"])[trace.config["task"] * ROUNDS :][:ROUNDS]
        memory, S = trace.root("grad_memory2")[0], trace.root("delayed_sum2")[0]
        step = trace.root("step2")[0]
        # x_{t+1} - x_t = -alpha grad_f_memory - beta S: the triangle inequality on both sides.
        longest = alpha * memory + settings.lr * S
        assert (step <= longest * (1 + 1e-12)).all()
        assert (step >= abs(alpha * memory - settings.lr * S) * (1 - 1e-9)).all()
        assert np.allclose(trace.column("m_met"), trace.column("b2") / trace.column("grad_f2"))
        assert np.allclose(trace.column("r2_met"), trace.column("grad_memory2") / trace.column("grad_g2"))
        # grad g moves by at most L times the step.
        assert (trace.root("grad_g_change2")[0] <= settings.L * step * (1 + 1e-12)).all()
        assert (trace.root("grad_f_change2")[0] <= settings.L * step * (1 + 1e-12)).all()
    # Jensen over clients: the mean bias is no larger than the largest of a client.
    for t, b2 in enumerate(run.columns["b2"]):
        if t >= ROUNDS:
            assert 0 < b2 < math.inf
            assert any(each > 0 for each in run.columns["client_m"][t])


def test_f_and_g_are_those_of_the_data(tmp_path):
    """Measured again from scratch at the start of the run, where x is known."""
    settings = linear(rounds=1)
    run = run_bridge(settings, out=tmp_path).runs[0]
    images = load_images("digits")
    stream = split_tasks(images, tasks=5, clients=5, zeta=settings.zeta, partition=settings.partition, seed=3)
    model = make_model("linear", (1, 8, 8), [2] * 5, dtype=torch.float64, device="cpu")
    kept = remembered(stream, images.train_labels, 0, kind="ring", size=20, seed=3)
    clients = clients_of(images, stream, 0, kept, pixels(images.train_images, images.mean, images.std, model), "cpu")
    state, g, grad_g = model.start(3), 0.0, torch.zeros(model.d, dtype=torch.float64)
    for client in clients:
        value, gradient = full_gradient(model, state, client.current, 7)
        g, grad_g = g + client.p * float(value), grad_g + client.p * gradient
    assert run.columns["g"][0] == pytest.approx(g, rel=1e-12)
    assert run.columns["grad_g2"][0] == pytest.approx(float(grad_g @ grad_g), rel=1e-12)


def test_what_is_not_measured_says_how_to(tmp_path):
    settings = linear(past_every=0, rounds=2, methods=["finetune", "c_flag"])
    result = run_bridge(settings, out=tmp_path)
    flag, finetune = (read_trace(tmp_path / run.traces[1]) for run in result.runs)
    for name in ("f", "g", "b2", "B", "m_met", "grad_f_change2", "grad_g_change2"):
        assert "use past_every" in flag.absent[name]
    assert {"Gamma", "grad_g2", "grad_memory2", "step2", "Lambda"} <= set(flag.columns)
    assert "exchanges no grad g" in finetune.absent["grad_g2"]
    assert finetune.absent["Lambda"] == "the method does not have it"
    assert {"step2", "drift2_max", "ifo_calls", "communicated"} <= set(finetune.columns)
    # Only every second round, and nan between.
    sparse = run_bridge(linear(past_every=2, rounds=3), out=tmp_path / "sparse").runs[0]
    assert [math.isnan(value) for value in sparse.columns["g"]] == [False, True, False] * 5
    assert not any(math.isnan(value) for value in sparse.columns["grad_g2"])


NUMBERS = RoundNumbers(
    loss=1.0,
    grad_g2=4.0,
    grad_memory2=9.0,
    Gamma=0.5,
    alpha=0.1,
    beta=0.2,
    current_step2=0.16,
    step2=0.3,
    drift2_max=0.7,
    gradients=10,
    communicated=20,
    Lambda=(1.0, -1.0),
    alphas=(0.1, 0.2),
    memory2=(16.0, math.nan),
)
FULL = Measured(
    f=2.0,
    g=3.0,
    grad_f2=0.0,
    grad_g2=5.0,
    b2=1.0,
    B=0.25,
    grad_f_change2=6.0,
    grad_g_change2=7.0,
    client_b2=(1.0, math.nan),
    client_f2=(4.0, math.nan),
)


def test_a_row():
    row = row_of(2, NUMBERS, FULL, lr=0.2, normalised=False)
    assert set(row) == set(MEASURED) | set(MORE)
    assert (row["task"], row["delayed_sum2"], row["r2_met"], row["m_met"]) == (2, pytest.approx(4.0), 2.25, math.inf)
    assert (row["grad_g2"], row["f"], row["B"]) == (5.0, 2.0, 0.25)
    assert (row["client_r2"][0], row["client_m"][0]) == (4.0, 0.25)
    assert math.isnan(row["client_r2"][1])
    assert math.isnan(row["client_m"][1])


def test_a_gradient_of_the_rounds_minibatches_is_no_gradient_of_g():
    assert row_of(0, NUMBERS, None, lr=0.2, normalised=False)["grad_g2"] == 4.0
    assert math.isnan(row_of(0, NUMBERS, None, lr=0.2, normalised=True)["grad_g2"])
    assert row_of(0, NUMBERS, FULL, lr=0.2, normalised=True)["grad_g2"] == 5.0
