"""Recorded passes: the same numbers as passes that are not, with a stand-in for CUDA that replays by running again."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from bridge_clients import image_clients, round_of

from cflag_theory.bridge.methods.table import make_method
from cflag_theory.bridge.models.compiled import MOST, WARM, Graphs, Recorder
from cflag_theory.bridge.models.flat_model import FlatModel, make_model
from cflag_theory.bridge.settings.options import FlagOptions
from cflag_theory.bridge.training.communication import InOneProcess
from cflag_theory.bridge.training.rounds import one_round
from cflag_theory.errors import InvalidInput

Run = Callable[[], torch.Tensor]


class Again:
    """Warms up, and replays by running: on the fixed memory, where its result lies, too."""

    def __init__(self) -> None:
        self.recorded = self.replayed = 0

    def __call__(self, run: Run) -> tuple[Callable[[], None], torch.Tensor]:
        self.recorded += 1
        for _ in range(WARM):
            result = run()

        def again() -> None:
            self.replayed += 1
            result.copy_(run())

        return again, result


def model_of(name: str, record: Any = None, **more: Any) -> FlatModel:
    model = make_model(name, (1, 8, 8), (2, 2, 2), dtype=torch.float64, **{"hidden": (3, 4)} | more)
    model._graphs = Graphs(model._backward, record) if record else None
    return model


@pytest.mark.parametrize(("heads", "name"), [("list", "cnn"), ("growing", "cnn"), ("masked", "mlp")])
def test_a_recorded_pass_is_the_pass(heads: str, name: str) -> None:
    record = Again()
    plain, recorded = model_of(name, heads=heads), model_of(name, record, heads=heads)
    (client,) = image_clients(plain, (12,), (0,), side=8)
    for seed, first, last in ((1, 0, 5), (2, 5, 10), (3, 0, 1), (4, 2, 12)):
        # What growing heads have seen lies in memory that a graph reads.
        for model in (plain, recorded):
            model.see(1 + (seed > 2))
        states = [plain.start(seed) for _ in range(2)]
        results = [
            model.gradient(state, client.current.batch(slice(first, last)), statistics=True)
            for model, state in zip((plain, recorded), states, strict=True)
        ]
        assert torch.equal(results[0][0], results[1][0])
        assert torch.equal(results[0][1], results[1][1])
        assert torch.equal(*states)
        assert (states[0][plain.d :] != plain.start(seed)[plain.d :]).all()
    # Batches of 5, 5, 1 (two with BatchNorm) and 10.
    assert (record.recorded, record.replayed) == (3, 4)


def test_what_is_returned_stays_as_it_is() -> None:
    model = model_of("cnn", Again())
    (client,) = image_clients(model, (6,), (0,), side=8)
    state, batch = model.start(0), client.current.batch(slice(0, 3))
    loss, gradient = model.gradient(state, batch)
    kept = loss.clone(), gradient.clone()
    model.gradient(model.start(1), client.current.batch(slice(3, 6)))
    assert torch.equal(loss, kept[0])
    assert torch.equal(gradient, kept[1])


def test_what_has_no_graph() -> None:
    """More sizes than are kept, other losses, weights, and passes in evaluation mode."""
    record = Again()
    plain, recorded = model_of("cnn"), model_of("cnn", record)
    (client,) = image_clients(plain, (MOST + 3,), (0,), side=8)
    state = plain.start(0)
    for count in range(MOST + 3, 1, -1):
        batch = client.current.batch(slice(0, count))
        assert torch.equal(recorded.gradient(state, batch)[1], plain.gradient(state, batch)[1])
    assert (record.recorded, record.replayed) == (MOST, MOST)
    batch = client.current.batch(slice(0, MOST + 3))
    weighed = replace(batch, weights=torch.rand(MOST + 3, dtype=torch.float64))

    def loss(outputs: torch.Tensor, batch: Any) -> torch.Tensor:
        return outputs.square().sum(dim=1)

    for each, more in ((weighed, {}), (batch, {"loss": loss}), (batch, {"training": False})):
        found, expected = (model.gradient(state, each, **more)[1] for model in (recorded, plain))
        assert torch.equal(found, expected)
    assert record.replayed == MOST


@pytest.mark.parametrize("name", ["c_flag", "er_ring"])
def test_a_round_with_graphs_is_the_round(name: str) -> None:
    states, record = [], Again()
    for model in (model_of("cnn"), model_of("cnn", record)):
        clients = image_clients(model, (9, 5), (4, 3), side=8)
        options = FlagOptions(mode="paper") if name == "c_flag" else None
        method = make_method(name, lr=0.01, epochs=2, batch=4, optimizer="adam", sample=3, L=2.0, options=options)
        states.append(one_round(method, round_of(model, 2, 0), clients, model.start(3), InOneProcess()).state)
    assert torch.equal(*states)
    assert record.replayed > 2 * record.recorded


def test_on_a_cpu_there_are_none() -> None:
    assert make_model("cnn", (1, 8, 8), (2,), graphs=True)._graphs is None


def test_recording_warms_up_on_another_stream_and_shares_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """In PyTorch's order: the side stream waits, passes run on it, the usual one waits, then a pass is captured."""
    told: list[Any] = []

    def stream(name: str) -> Any:
        return SimpleNamespace(name=name, wait_stream=lambda other: told.append(f"{name} waits for {other.name}"))

    @contextmanager
    def on(each: Any) -> Any:
        told.append(f"on {each.name}")
        yield
        told.append("back")

    @contextmanager
    def graph(each: Any, pool: Any, capture_error_mode: str) -> Any:
        told.append(("capture", pool, capture_error_mode))
        yield

    kept = SimpleNamespace(pool=lambda: (1, 2), replay="again")
    fakes = {"current_stream": lambda: stream("usual"), "Stream": lambda: stream("side"), "stream": on}
    for name, fake in (fakes | {"graph": graph, "CUDAGraph": lambda: kept}).items():
        monkeypatch.setattr(torch.cuda, name, fake)
    run, record = lambda: told.append("run") or "loss", Recorder()
    assert record(run) == ("again", "loss")
    first = ["side waits for usual", "on side", *["run"] * WARM, "back", "usual waits for side"]
    assert told == [*first, ("capture", None, "thread_local"), "run"]
    told.clear()
    record(run)
    assert told[-2] == ("capture", (1, 2), "thread_local")

    def refuse() -> None:
        if ("capture", (1, 2), "thread_local") in told:
            raise RuntimeError("operation not permitted when stream is capturing\nmore")

    told.clear()
    with pytest.raises(InvalidInput, match=r"as a CUDA graph \(operation not permitted .* capturing\): run without"):
        record(refuse)
