"""Fine-FL, EWC-FL, NCCL-FL and Er-ring-FL: rounds written out on linear models, and where they must coincide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from bridge_clients import HandAdam, Rows, clients_of_rows, draw_rows, linear_model, round_of, run

from cflag_theory.bridge.methods.baselines import Ewc
from cflag_theory.bridge.methods.descent import component_order, minibatches
from cflag_theory.bridge.methods.table import make_method
from cflag_theory.bridge.models.clients import Client
from cflag_theory.bridge.settings.options import EwcOptions
from cflag_theory.bridge.training.communication import InOneProcess
from cflag_theory.bridge.training.rounds import end_task

N, D, SAMPLES, PAST, SAMPLE = 3, 5, 7, 6, 4
P = np.array([0.2, 0.3, 0.5])
ALPHA, BETA, L = 0.04, 0.06, 2.0
RANDOM = np.random.default_rng(2)
CURRENT, OLD = [draw_rows(RANDOM, SAMPLES, D, 0.5) for _ in range(N)], [draw_rows(RANDOM, PAST, D) for _ in range(N)]
START = RANDOM.standard_normal(D)
MODEL = linear_model(D)
CLIENTS = clients_of_rows(CURRENT, OLD, P)
NOBODY = clients_of_rows(CURRENT, [Rows(rows.a[:0], rows.b[:0]) for rows in OLD], P)


def make(name: str, step: str = "plain", **more: Any) -> Any:
    return make_method(name, lr=BETA, alpha=ALPHA, L=L, epochs=2, batch=3, optimizer=step, sample=SAMPLE, **more)


#: The gradient of a step, given the client, the iterate, the minibatch and the remembered samples drawn for the step.
Given = Callable[[int, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def by_hand(x: np.ndarray, t: int, step: str, given: Given) -> np.ndarray:
    """FedAvg's round with these gradients."""
    total = np.zeros(D)
    for i, client in enumerate(CLIENTS):
        cut = minibatches(round_of(MODEL, N, t), client, 3)
        memory = round_of(MODEL, N, t).random("memory", i)
        y, adam = x.copy(), HandAdam()
        for j in component_order(round_of(MODEL, N, t), client, len(cut), 2):
            g = given(i, y, cut[j], memory.choice(PAST, size=SAMPLE, replace=False))
            y = y - BETA * (adam(g) if step == "adam" else g)
        total += P[i] * (x - y)
    return x - total


def fine(i: int, y: np.ndarray, batch: np.ndarray, remembered: np.ndarray) -> np.ndarray:
    return CURRENT[i].gradient(y, batch)


def union(i: int, y: np.ndarray, batch: np.ndarray, remembered: np.ndarray) -> np.ndarray:
    both = len(batch) * CURRENT[i].gradient(y, batch) + SAMPLE * OLD[i].gradient(y, remembered)
    return both / (len(batch) + SAMPLE)


def adapted(i: int, y: np.ndarray, batch: np.ndarray, remembered: np.ndarray) -> np.ndarray:
    f, g = OLD[i].gradient(y, remembered), CURRENT[i].gradient(y, batch)
    if f @ g > 0:
        return (ALPHA * f + (1 - L * ALPHA) * (f @ g) / (L * (g @ g)) * g) / BETA
    return (ALPHA * (1 - (f @ g) / (f @ f)) * f + BETA * g) / BETA


@pytest.mark.parametrize("step", ["plain", "adam"])
@pytest.mark.parametrize(("name", "given"), [("finetune", fine), ("er_ring", union), ("nccl", adapted), ("ewc", fine)])
def test_rounds_written_out(name: str, given: Given, step: str) -> None:
    iterates, steps = run(make(name, step), MODEL, CLIENTS, START, 4)
    for t in range(4):
        np.testing.assert_allclose(iterates[t + 1], by_hand(iterates[t], t, step, given), rtol=0, atol=1e-12)
    if name != "finetune":
        return
    # Two passes over 3 + 4 samples: the last of 3 + 3 + 1 has no minibatch of its own.
    assert {step.locals[i]["steps"] for step in steps for i in range(N)} == {4.0}
    assert {step.locals[i]["gradients"] for step in steps for i in range(N)} == {14.0}


def test_nccl_reports_its_rates() -> None:
    """With a single step, the means over the steps are its rates."""
    method = make_method("nccl", lr=BETA, alpha=ALPHA, L=L, epochs=1, batch=SAMPLES, optimizer="plain", sample=PAST)
    _, steps = run(method, MODEL, CLIENTS, START, 6)
    signs = set()
    for step in steps:
        x = step.before.numpy()
        for i in range(N):
            f, g, numbers = OLD[i].gradient(x), CURRENT[i].gradient(x), step.locals[i]
            transference = f @ g > 0
            beta = (1 - L * ALPHA) * (f @ g) / (L * (g @ g)) if transference else BETA
            alpha = ALPHA if transference else ALPHA * (1 - (f @ g) / (f @ f))
            expected = {"Lambda": f @ g, "alpha": alpha, "beta": beta}
            assert {key: numbers[key] for key in expected} == pytest.approx(expected, rel=1e-10)
            signs.add(transference)
    assert signs == {True, False}


@pytest.mark.parametrize("name", ["nccl", "er_ring", "ewc"])
def test_with_nothing_to_remember_all_are_fine_fl(name: str) -> None:
    expected, _ = run(make("finetune"), MODEL, NOBODY, START, 3)
    found, _ = run(make(name), MODEL, NOBODY, START, 3)
    assert np.array_equal(found, expected)


def finish(method: Ewc, clients: list[Client], x: np.ndarray, task: int, overall: int) -> None:
    round_ = round_of(MODEL, N, overall, task=task)
    end_task(method, round_, clients, torch.from_numpy(x), InOneProcess())


def fisher(tasks: list[Rows], x: np.ndarray) -> np.ndarray:
    squares = [((rows.a * (rows.a @ x - rows.b)[:, None]) ** 2).mean(axis=0) for rows in tasks]
    return sum(p * square for p, square in zip(P, squares, strict=True))


@pytest.mark.parametrize("step", ["plain", "adam"])
def test_ewc_after_two_tasks(step: str) -> None:
    """The penalty is the sum over both tasks, written out with two matrices and two centres.

    Adam is given its gradient. A plain step ends where the linearised loss, the squared distance over 2 beta and the
    penalty together are least.
    """
    past = clients_of_rows(OLD, OLD, P)
    first, second, penalty = START, START + 0.3, 5.0
    method = make("ewc", step, options=EwcOptions(penalty=penalty))
    finish(method, past, first, 0, 0)
    finish(method, CLIENTS, second, 1, 1)
    F = [fisher(OLD, first), fisher(CURRENT, second)]

    def held(i: int, y: np.ndarray, batch: np.ndarray, remembered: np.ndarray) -> np.ndarray:
        g = fine(i, y, batch, remembered)
        if step == "adam":
            return g + penalty * (F[0] * (y - first) + F[1] * (y - second))
        pulled = y / BETA - g + penalty * (F[0] * first + F[1] * second)
        return (y - pulled / (1 / BETA + penalty * (F[0] + F[1]))) / BETA

    iterates, _ = run(method, MODEL, CLIENTS, START, 4, task=2)
    for t in range(4):
        np.testing.assert_allclose(iterates[t + 1], by_hand(iterates[t], t, step, held), rtol=0, atol=1e-12)
    assert np.abs(iterates - run(make("finetune", step), MODEL, CLIENTS, START, 4)[0]).max() > 0.01


@pytest.mark.parametrize(("step", "held"), [("plain", True), ("adam", False)])
def test_plain_steps_bear_any_penalty(step: str, held: bool) -> None:
    """With lr lambda F far above 2 a plain step ends at the centre; Adam's steps of size lr never get there."""
    method = make("ewc", step, options=EwcOptions(penalty=1e9))
    finish(method, CLIENTS, START, 0, 0)
    iterates, _ = run(method, MODEL, CLIENTS, START + 1, 3)
    assert (np.abs(iterates[1:] - START).max() < 1e-6) == held


def test_without_a_penalty_ewc_is_fine_fl() -> None:
    method = make("ewc", options=EwcOptions(penalty=0.0))
    finish(method, CLIENTS, START, 0, 0)
    found, _ = run(method, MODEL, CLIENTS, START, 3)
    assert np.array_equal(found, run(make("finetune"), MODEL, CLIENTS, START, 3)[0])


def test_ewc_caps_its_samples() -> None:
    """With a cap of 2 the Fisher matrix is that of two samples, others in another round."""
    found = []
    for overall in range(6):
        method = make("ewc", options=EwcOptions(fisher_samples=2))
        vector = method.end_task(round_of(MODEL, N, overall), CLIENTS[0], torch.from_numpy(START))["fisher"].numpy()
        pairs = [(i, j) for i in range(SAMPLES) for j in range(i)]
        rows = CURRENT[0]
        of_pair = [
            ((rows.a[[i, j]] * (rows.a[[i, j]] @ START - rows.b[[i, j]])[:, None]) ** 2).mean(0) for i, j in pairs
        ]
        nearest = int(np.argmin([np.abs(vector - other).max() for other in of_pair]))
        np.testing.assert_allclose(vector, of_pair[nearest], rtol=1e-12)
        found.append(pairs[nearest])
    assert len(set(found)) > 1


def test_ewc_goes_on_from_its_memory() -> None:
    one, other = make("ewc"), make("ewc")
    assert one.memory() == {}
    finish(one, CLIENTS, START, 0, 0)
    other.restore(one.memory())
    finish(one, CLIENTS, START + 1, 1, 1)
    finish(other, CLIENTS, START + 1, 1, 1)
    assert set(one.memory()) == {"fisher", "centre"}
    assert all(torch.equal(one.memory()[key], other.memory()[key]) for key in one.memory())
    other.restore({})
    assert other.memory() == {}


def test_ewc_leaves_free_what_no_task_needed() -> None:
    """A coordinate that is zero in all rows has no Fisher information, and no division by zero comes of it."""
    blind = [Rows(rows.a * (np.arange(D) > 0), rows.b) for rows in CURRENT]
    clients = clients_of_rows(blind, OLD, P)
    method = make("ewc")
    for task in (0, 1):
        finish(method, clients, START + task, task, task)
    assert method.memory()["fisher"][0] == 0
    iterates, _ = run(method, MODEL, CLIENTS, START, 1)
    free, _ = run(make("finetune"), MODEL, CLIENTS, START, 1)
    assert np.isfinite(iterates).all()
    assert iterates[1][1:] != pytest.approx(free[1][1:])
