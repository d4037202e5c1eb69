"""Clients computed together take the same steps as one after another, whatever their sizes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from bridge_clients import clients_of_rows, draw_rows, image_clients, linear_model, round_of
from small_runs import FedAvg, World

from cflag_theory.bridge.methods import finetune
from cflag_theory.bridge.methods.base import Method
from cflag_theory.bridge.methods.baselines import Ewc
from cflag_theory.bridge.methods.table import METHODS, make_method
from cflag_theory.bridge.models import stacked
from cflag_theory.bridge.models.flat_model import make_model
from cflag_theory.bridge.settings.evolving import CFL_NAMES
from cflag_theory.bridge.settings.options import OPTIONS
from cflag_theory.bridge.training import rounds as together
from cflag_theory.bridge.training.communication import InOneProcess
from cflag_theory.bridge.training.rounds import Step, end_task, one_round
from cflag_theory.errors import UnknownName

TASKS, ROUNDS = 3, 2
CASES = [
    ("c_flag", {"mode": "theory", "adaptive": "none"}),
    ("c_flag", {"mode": "paper", "adaptive": "average", "rates_from": "gradients"}),
    ("fedtrack", {"mode": "theory", "table": "recomputed", "epochs": 1}),
    ("fedtrack", {"mode": "theory", "table": "float32", "place": "cpu"}),
    *((name, {"mode": mode}) for name in ("c_flag", "fedtrack") for mode in ("theory", "paper", "released")),
    ("c_flag", {"mode": "theory", "order": "random", "adaptive": "average"}),
    ("c_flag", {"mode": "paper", "shuffle": False, "adaptive": "printed"}),
    *(
        (name, {"optimizer": optimizer})
        for name in ("finetune", "ewc", "nccl", "er_ring", "lwf", "icarl", "target", *CFL_NAMES)
        for optimizer in ("plain", "adam")
    ),
]


def method_of(name: str, switches: dict[str, Any]) -> Method:
    own = dict(switches)
    optimizer = own.pop("optimizer", "plain")
    lr = 0.05 if optimizer == "plain" and own.get("mode", "theory") == "theory" else 1e-3
    epochs = own.pop("epochs", 2)
    options = OPTIONS[name](**own) if name in OPTIONS else None
    return make_method(name, lr=lr, epochs=epochs, batch=16, optimizer=optimizer, sample=7, options=options)


@pytest.fixture(scope="module")
def uneven(digits) -> World:
    """Seven clients, of which every task leaves some without samples or with few of them."""
    return World(digits, "mlp", dtype=torch.float64, clients=7, zeta=0.1)


def course(world: World, method: Method, how: str) -> list[Step]:
    state, steps = world.model.start(1), []
    for task in range(TASKS):
        clients = world.clients(task)
        for number in range(ROUNDS):
            step = one_round(method, world.round(task, number, ROUNDS), clients, state, InOneProcess(), together=how)
            steps.append(step)
            state = step.state
        end_task(method, world.round(task, ROUNDS - 1, ROUNDS), clients, state, InOneProcess())
    return steps


def difference(one: torch.Tensor, other: torch.Tensor) -> float:
    return float((one - other).abs().max() / other.abs().max())


def compare(world: World, name: str, switches: dict[str, Any]) -> None:
    together, alone = (course(world, method_of(name, switches), how) for how in ("yes", "no"))
    assert difference(alone[-1].state, alone[0].before) > 1e-3
    for ours, theirs in zip(together, alone, strict=True):
        assert difference(ours.state, theirs.state) < 1e-12
        for vector, mean in theirs.means.items():
            assert difference(ours.means[vector], mean) < 1e-11
        assert ours.locals.keys() == theirs.locals.keys()
        for client, numbers in theirs.locals.items():
            mine = dict(ours.locals[client])
            assert mine["steps"] == numbers["steps"]
            assert mine["gradients"] == numbers["gradients"]
            np.testing.assert_allclose(list(mine.values()), list(numbers.values()), rtol=1e-9, atol=1e-13)


def test_the_clients_differ(uneven: World) -> None:
    """The comparisons below meet what they are for."""
    sizes = [[len(own) for own in task] for task in uneven.stream.train[:TASKS]]
    assert any(n == 0 for task in sizes for n in task)
    assert all(len({n for n in task if n}) > 2 for task in sizes)
    assert any(n % 16 for task in sizes for n in task)
    memories = [client.memory.n for client in uneven.clients(1) if client.p > 0]
    assert 0 in memories
    assert max(memories) > 7


@pytest.mark.parametrize(("name", "switches"), CASES, ids=lambda value: value if isinstance(value, str) else None)
def test_together_as_one_after_another(uneven: World, name: str, switches: dict[str, Any]) -> None:
    compare(uneven, name, switches)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("name", "switches"), CASES, ids=lambda value: value if isinstance(value, str) else None)
def test_the_bits_of_a_client_do_not_depend_on_its_group(
    digits, name: str, switches: dict[str, Any], dtype: torch.dtype
) -> None:
    """So that a run over processes is the run of one."""
    world = World(digits, "mlp", dtype=dtype, clients=7, zeta=0.1)
    state, clients = world.model.start(1), [client for client in world.clients(1) if client.p > 0]
    round_ = replace(world.round(1, 0, ROUNDS), everybody=clients)

    def found(groups: int) -> dict[int, torch.Tensor]:
        method, own, locals_ = method_of(name, switches), {}, {}
        if isinstance(method, Ewc):
            method.restore({"fisher": state.square(), "centre": state / 2})
        parts = [clients[first::groups] for first in range(groups)]
        for part in parts:
            own |= method.vectors_of(round_, part, state)
        means = InOneProcess().mean(own, [client.p for client in world.clients(1)])
        for part in parts:
            locals_ |= method.locals_of(round_, part, state, means, own)
        return {index: local.move for index, local in locals_.items()}

    alone = found(len(clients))
    assert all(bool(move.any()) for move in alone.values())
    for groups in (1, 2, 3):
        for index, move in found(groups).items():
            assert torch.equal(move, alone[index])


def test_all_methods_are_compared() -> None:
    assert {name for name, _ in CASES} == set(METHODS)


@pytest.mark.parametrize(
    "heads",
    [{"heads": "masked"}, {"heads": "shared"}, {"heads": "growing"}, {"heads": "growing", "old_logits": "masked"}],
)
def test_other_heads(digits, heads: dict[str, str]) -> None:
    world = World(digits, "mlp", dtype=torch.float64, clients=7, zeta=0.1)
    classes = [len(of_task) for of_task in world.stream.classes]
    world.model = make_model("mlp", (1, 8, 8), classes, dtype=torch.float64, **heads)
    compare(world, "er_ring", {"optimizer": "plain"})
    compare(world, "c_flag", {"mode": "theory"})


def test_squared_loss_and_images_in_several_places() -> None:
    """Rows of a linear model, of which each client has its own tensor."""
    random = np.random.default_rng(0)
    rows = [[draw_rows(random, n, 4) for n in sizes] for sizes in ((3, 17, 9), (5, 0, 2))]
    clients, model = clients_of_rows(*rows, p=(0.2, 0.5, 0.3)), linear_model(4)
    # iCaRL-FL's loss is of classes.
    for name in (name for name in METHODS if name != "icarl"):
        states = [
            one_round(
                method_of(name, {}),
                round_of(model, 3, 0),
                clients,
                torch.ones(4, dtype=torch.float64),
                InOneProcess(),
                together=how,
            ).state
            for how in ("yes", "no")
        ]
        assert difference(*states) < 1e-13
        assert difference(states[1], torch.ones(4, dtype=torch.float64)) > 0.01


def unweighted(self: stacked.Stack, samples: torch.Tensor, weights: torch.Tensor) -> Any:
    return whole_given(self, samples, torch.ones_like(weights) / weights.shape[1])


def first_of_all(self: stacked.Stack, samples: torch.Tensor, weights: torch.Tensor) -> Any:
    return whole_given(self, samples[:1].expand_as(samples), weights[:1].expand_as(weights))


whole_given = stacked.Stack.given


@pytest.mark.parametrize("wrong", [unweighted, first_of_all])
def test_wrong_passes_are_noticed(uneven: World, monkeypatch: pytest.MonkeyPatch, wrong: Callable[..., Any]) -> None:
    """What fills up a short minibatch must not count, and every client must have its own samples."""
    monkeypatch.setattr(stacked.Stack, "given", wrong)
    with pytest.raises(AssertionError):
        compare(uneven, "finetune", {"optimizer": "plain"})


def test_a_row_that_goes_on_too_long_is_noticed(uneven: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client that has done its steps stands still: only for the group as a whole there are more."""
    order = finetune.component_order

    def longer(round: Any, client: Any, components: int, epochs: int) -> list[int]:
        return (order(round, client, components, epochs) * 9)[: 2 * LONGEST]

    LONGEST = 9
    alone = course(uneven, method_of("finetune", {}), "no")
    monkeypatch.setattr(finetune, "component_order", longer)
    assert difference(course(uneven, method_of("finetune", {}), "yes")[0].state, alone[0].state) > 1e-6


def calls(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of rows of every group from now on."""
    seen, descend = [], finetune.descend

    def counted(state: torch.Tensor, d: int, orders: Any, *more: Any, **options: Any) -> Any:
        seen.append(len(orders))
        return descend(state, d, orders, *more, **options)

    monkeypatch.setattr(finetune, "descend", counted)
    return seen


def rows_of_passes(monkeypatch: pytest.MonkeyPatch, name: str, clients: int, how: str) -> set[int]:
    model = make_model(name, (1, 4, 4), (2, 2), dtype=torch.float64)
    seen = calls(monkeypatch)
    method = make_method("finetune", lr=0.1, epochs=1, batch=8)
    everybody = image_clients(model, [16] * clients, [0] * clients)
    one_round(method, round_of(model, clients, 0), everybody, model.start(0), InOneProcess(), together=how)
    return set(seen)


@pytest.mark.parametrize(
    ("network", "clients", "how", "rows"),
    [
        ("mlp", 5, "auto", 5),
        ("mlp", 3, "yes", 3),
        ("linear", 3, "auto", 3),
        ("mlp", 3, "no", 1),
        ("cnn", 3, "auto", 1),
    ],
)
def test_who_is_computed_together(
    monkeypatch: pytest.MonkeyPatch, network: str, clients: int, how: str, rows: int
) -> None:
    assert rows_of_passes(monkeypatch, network, clients, how) == {rows}


def test_the_reason_is_told() -> None:
    mlp, cnn = (make_model(name, (1, 4, 4), (2,)) for name in ("mlp", "cnn"))
    ours = make_method("finetune", lr=0.1)
    assert together.why_not(mlp, ours) is None
    assert "running statistics" in str(together.why_not(cnn, ours))
    assert together.why_not(mlp, FedAvg()) == "the method 'fedavg' takes its clients one by one"
    half = make_model("mlp", (1, 4, 4), (2,), autocast=True)
    assert "autocast" in str(together.why_not(half, ours))


def test_a_method_of_its_own_goes_one_by_one(world: World) -> None:
    steps = [
        one_round(FedAvg(), world.round(0, 0, 1), world.clients(0), world.model.start(0), InOneProcess(), together=how)
        for how in ("yes", "no")
    ]
    assert torch.equal(steps[0].state, steps[1].state)


def test_an_unknown_way_is_named(world: World) -> None:
    with pytest.raises(UnknownName, match="together 'always' is unknown: use one of auto, yes, no"):
        one_round(
            FedAvg(), world.round(0, 0, 1), world.clients(0), world.model.start(0), InOneProcess(), together="always"
        )
