"""Batch normalisation: whole rounds against copies of the network itself, moved by torch.optim."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
import torch
from bridge_clients import image_clients, round_of

from cflag_theory.bridge.measures.round_numbers import round_numbers
from cflag_theory.bridge.methods.descent import component_order, memory_positions, minibatches
from cflag_theory.bridge.methods.table import make_method
from cflag_theory.bridge.models.clients import ClientData
from cflag_theory.bridge.models.flat_model import make_model
from cflag_theory.bridge.settings.options import OPTIONS
from cflag_theory.bridge.training.communication import InOneProcess
from cflag_theory.bridge.training.rounds import one_round

LR, ALPHA, L, BATCH, EPOCHS, SAMPLE = 0.05, 0.03, 2.0, 4, 2, 5
MODEL = make_model("cnn", (1, 5, 5), (2, 2), hidden=(4, 5), dtype=torch.float64)
#: Two or three minibatches, and a client with one sample.
CLIENTS = image_clients(MODEL, (9, 1, 6), (8, 3, 0), side=5)
N, D = len(CLIENTS), MODEL.d


class Copy:
    """The network by itself, with a flat state as its parameters and running statistics."""

    def __init__(self, state: torch.Tensor, *, training: bool = True) -> None:
        self.network = copy.deepcopy(MODEL.network).train(training)
        named = dict(self.network.named_parameters()) | dict(self.network.named_buffers())
        self.parts = [named[name] for name, _, _ in MODEL.tensors + MODEL.statistics]
        self.parameters = self.parts[: len(MODEL.tensors)]
        with torch.no_grad():
            for part, (_, where, shape) in zip(self.parts, MODEL.tensors + MODEL.statistics, strict=True):
                part.copy_(state[where].view(shape))

    def state(self) -> torch.Tensor:
        return torch.cat([part.detach().reshape(-1) for part in self.parts])

    def gradient(self, data: ClientData, positions: np.ndarray) -> torch.Tensor:
        """In training mode running statistics move. A single image goes through twice."""
        images, labels, tasks = data.pixels.take(data.indices), data.labels, data.tasks
        twice = np.repeat(positions, 2) if len(positions) == 1 else positions
        self.network.zero_grad()
        features = self.network.body(images[twice])
        logits = torch.nn.functional.linear(features, self.network.heads.weight, self.network.heads.bias)
        for row, task in enumerate(tasks[twice].tolist()):
            logits = logits.index_put(
                (torch.tensor([row]), torch.arange(4)[torch.arange(4) // 2 != task]), torch.tensor(-torch.inf).double()
            )
        torch.nn.functional.cross_entropy(logits, labels[twice] + 2 * tasks[twice]).backward()
        return torch.cat([part.grad.reshape(-1) for part in self.parameters])


def move_of(name: str, optimizer: str, state: torch.Tensor, round_: Any, i: int, g: Any, own: Any, f: Any) -> Any:
    """x_t less where a client's local steps lead, and for C-FLAG the step on memory; all `size` numbers."""
    client, net = CLIENTS[i], Copy(state)
    cut = minibatches(round_, client, BATCH)
    order, random = component_order(round_, client, len(cut), EPOCHS), round_.random("memory", i)
    steps = {"adam": torch.optim.Adam, "plain": torch.optim.SGD}[optimizer](net.parameters, lr=LR)
    tracks = name in ("fedtrack", "c_flag")
    latest = [Copy(state).gradient(client.current, positions) for positions in cut] if tracks else []
    for k, j in enumerate(order):
        before = net.state()
        given = net.gradient(client.current, cut[j])
        if name == "nccl" and client.memory.n:
            old = Copy(before).gradient(client.memory, memory_positions(client.memory, SAMPLE, random))
            if old @ given > 0:
                given = (ALPHA * old + (1 - L * ALPHA) * (old @ given) / (L * given @ given) * given) / LR
            else:
                given = (ALPHA * (1 - old @ given / (old @ old)) * old + LR * given) / LR
        if tracks:
            latest[j] = given if k > 0 else latest[j]
            shares = [len(positions) / client.current.n for positions in cut]
            given = sum(share * each for share, each in zip(shares, latest, strict=True)) + g - own
        for part, (_, where, shape) in zip(net.parameters, MODEL.tensors, strict=True):
            part.grad = given[where].view(shape).clone()
        assert torch.equal(net.state()[:D], before[:D])
        steps.step()
    move = state - net.state()
    if name == "c_flag":
        a = move[:D] / LR - len(order) * (g - own)
        if f @ a > 0:
            move[:D] = ALPHA * f + (1 - L * ALPHA) * (f @ a) / (L * N * client.p * a @ a) * a
        else:
            move[:D] = ALPHA * (1 - f @ a / (f @ f)) * f + LR * a
    return move


@pytest.mark.parametrize("optimizer", ["plain", "adam"])
@pytest.mark.parametrize("name", ["finetune", "nccl", "fedtrack", "c_flag"])
def test_rounds_written_out(name: str, optimizer: str) -> None:
    """Only the minibatches of local steps move running statistics, and these are averaged like parameters."""
    mode = {"plain": "theory", "adam": "paper"}[optimizer]
    options = OPTIONS[name](mode=mode) if name in OPTIONS else None
    common = {"lr": LR, "alpha": ALPHA, "L": L, "epochs": EPOCHS, "batch": BATCH, "sample": SAMPLE}
    method, state = make_method(name, **common, optimizer=optimizer, options=options), MODEL.start(1)
    for t in range(2):
        round_ = round_of(MODEL, N, t)
        step = one_round(method, round_, CLIENTS, state, InOneProcess())
        own, f = [], torch.zeros(D, dtype=torch.float64)
        for i, client in enumerate(CLIENTS):
            cut = minibatches(round_, client, BATCH)
            parts = [len(each) / client.current.n * Copy(state).gradient(client.current, each) for each in cut]
            own.append(sum(parts))
            if client.memory.n:
                positions = memory_positions(client.memory, SAMPLE, round_.random("memory", i))
                f += client.p * Copy(state).gradient(client.memory, positions)
        g = sum(client.p * each for client, each in zip(CLIENTS, own, strict=True))
        moves = [move_of(name, optimizer, state, round_, i, g, own[i], f) for i in range(N)]
        expected = state - sum(client.p * each for client, each in zip(CLIENTS, moves, strict=True))
        # Adam divides entries that are all rounding by 1e-8.
        torch.testing.assert_close(step.state, expected, rtol=0, atol=1e-13 if optimizer == "plain" else 1e-9)
        assert float((step.state - state)[D:].abs().max()) > 0.01
        # All norms are over the parameters alone.
        change = (step.state - state)[:D]
        assert round_numbers(MODEL, step, CLIENTS, L=L).step2 == pytest.approx(float(change @ change), rel=1e-12)
        state = step.state


def test_the_fisher_matrix_is_that_of_the_model_as_it_is_used() -> None:
    """Sample by sample in evaluation mode, by the running statistics, which stay."""
    state = one_round(
        make_method("finetune", lr=LR, epochs=EPOCHS, batch=BATCH, optimizer="plain"),
        round_of(MODEL, N, 0),
        CLIENTS,
        MODEL.start(1),
        InOneProcess(),
    ).state
    before, client = state.clone(), CLIENTS[2]
    found = make_method("ewc", lr=LR).end_task(round_of(MODEL, N, 0), client, state)["fisher"]
    squares = [Copy(state, training=False).gradient(client.current, np.array([k])) ** 2 for k in range(6)]
    torch.testing.assert_close(found, torch.stack(squares).mean(0), rtol=1e-9, atol=1e-15)
    assert torch.equal(state, before)
    by_batch = [Copy(state).gradient(client.current, np.array([k])) ** 2 for k in range(6)]
    assert not torch.allclose(found, torch.stack(by_batch).mean(0), rtol=0.1)
