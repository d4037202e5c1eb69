"""The modes of C-FLAG and their switches, on networks of several tensors; clients with little or nothing to work on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import pytest
import torch
from bridge_clients import image_clients, round_of

from cflag_theory.bridge.methods.descent import component_order, minibatches
from cflag_theory.bridge.methods.table import METHODS, make_method
from cflag_theory.bridge.models.flat_model import FlatModel, make_model
from cflag_theory.bridge.settings.options import (
    MODE_DATA,
    MODE_DEFAULTS,
    MODES,
    EwcOptions,
    FlagOptions,
    TrackOptions,
)
from cflag_theory.bridge.settings.rules import ALL_NAMES
from cflag_theory.bridge.settings.run_settings import RULES
from cflag_theory.bridge.training.communication import InOneProcess
from cflag_theory.bridge.training.rounds import Step, one_round
from cflag_theory.errors import InvalidInput, UnknownName

SIZES, MEMORIES = (9, 14, 6), (8, 0, 12)


def network(name: str = "mlp", dtype: torch.dtype = torch.float32) -> FlatModel:
    return make_model(name, (1, 4, 4), (2, 2), hidden=(6,), dtype=dtype)


def rounds_of(
    name: str,
    options: Any = None,
    *,
    model: FlatModel | None = None,
    task: int = 1,
    rounds: int = 3,
    memories: Sequence[int] = MEMORIES,
    **more: Any,
) -> list[Step]:
    model = network() if model is None else model
    method = make_method(name, **{"lr": 0.01, "epochs": 2, "batch": 4, "sample": 5} | more, options=options)
    clients, state, steps = image_clients(model, SIZES, memories), model.start(0), []
    for t in range(rounds):
        steps.append(one_round(method, round_of(model, len(clients), t, task=task), clients, state, InOneProcess()))
        state = steps[-1].state
    return steps


def end_of(*args: Any, **more: Any) -> torch.Tensor:
    return rounds_of(*args, **more)[-1].state


def relative_change(one: torch.Tensor, other: torch.Tensor, start: torch.Tensor) -> float:
    return float((one - other).norm() / (other - start).norm())


def test_released_with_every_switch_turned_is_paper() -> None:
    switches = MODE_DEFAULTS["paper"]
    turned = FlagOptions(mode="released", **switches)
    assert asdict(turned) == asdict(FlagOptions(mode="paper")) | {"mode": "released"}
    assert torch.equal(end_of("c_flag", turned), end_of("c_flag", FlagOptions(mode="paper")))


@pytest.mark.parametrize(
    "switch",
    [
        *("step", "estimate", "clamp", "adaptive", "adapt", "product", "shuffle", "order"),
        *("rates_from", "rates_at", "memory_step"),
    ],
)
def test_every_switch_does_something(switch: str) -> None:
    # A clamp at 0.5 does not bind on these gradients.
    other = {"adaptive": "none", "order": "random", "shuffle": False, "clamp": 0.01}
    value = other.get(switch, MODE_DEFAULTS["released"][switch])
    more = {"adapt": "gradient"} if switch == "rates_at" else {}
    one, two = (
        end_of("c_flag", FlagOptions(mode="theory", **more)),
        end_of("c_flag", FlagOptions(mode="theory", **{switch: value}, **more)),
    )
    assert not torch.equal(one, two)


@pytest.mark.parametrize("mode", ["theory", "paper"])
def test_what_rates_come_from_matters_to_adam_alone(mode: str) -> None:
    one, two = (
        rounds_of("c_flag", FlagOptions(mode=mode, rates_from=source), model=network(dtype=torch.float64))
        for source in ("gradients", "displacement")
    )
    error = relative_change(two[-1].state, one[-1].state, one[0].before)
    assert error < 1e-10 if mode == "theory" else error > 0.1


def test_a_clamp_bounds_what_the_step_is_given() -> None:
    """Of one plain step with clamp c and rate lr no coordinate moves further than lr c."""
    options = TrackOptions(clamp=1e-3)
    step = rounds_of("fedtrack", options, model=network(dtype=torch.float64), rounds=1, epochs=1, batch=20)[0]
    assert float(step.move.abs().max()) == pytest.approx(1e-5, rel=1e-9)


@pytest.mark.parametrize(("kind", "close"), [("float32", 1e-6), ("bfloat16", 1e-2)])
@pytest.mark.parametrize("place", ["device", "cpu"])
def test_tables_agree_within_their_precision(kind: str, close: float, place: str) -> None:
    model = network(dtype=torch.float64)
    exact = rounds_of("c_flag", FlagOptions(), model=model, epochs=4)
    rough = rounds_of("c_flag", FlagOptions(table=kind, place=place), model=model, epochs=4)
    error = relative_change(rough[-1].state, exact[-1].state, exact[0].before)
    assert 1e-4 * close < error < close


def test_a_recomputed_table_is_exact_for_one_pass() -> None:
    one, other = (end_of("c_flag", FlagOptions(table=table), epochs=1) for table in ("model", "recomputed"))
    assert torch.equal(one, other)


@pytest.mark.parametrize("more", [{"epochs": 2}, {"epochs": 1, "order": "random"}])
def test_a_recomputed_table_is_refused_for_more(more: dict[str, Any]) -> None:
    options = FlagOptions(table="recomputed", order=more.get("order"))
    with pytest.raises(InvalidInput, match="use epochs = 1 and order = 'epochs', or another table"):
        make_method("c_flag", lr=0.1, epochs=more["epochs"], options=options)


def test_without_a_table_its_kind_does_not_matter() -> None:
    one, other = (
        end_of("c_flag", FlagOptions(mode="released", table=table), epochs=2) for table in ("model", "recomputed")
    )
    assert torch.equal(one, other)


def test_the_server_chooses_for_single_steps_only() -> None:
    options = FlagOptions(rates_at="server")
    with pytest.raises(InvalidInput, match="use adapt = 'gradient', or rates_at = 'client'"):
        make_method("c_flag", lr=0.1, options=options)
    make_method("c_flag", lr=0.1, options=FlagOptions(rates_at="server", adaptive="none"))


def test_a_clients_own_step_on_memory_leaves_the_statistics() -> None:
    """With BatchNorm: both ways end at the same running statistics, and only the parameters differ."""
    model = network("cnn")
    own, mean = (
        rounds_of("c_flag", FlagOptions(memory_step=step, adaptive="none"), model=model, rounds=1)[0].state
        for step in ("own", "mean")
    )
    assert torch.equal(own[model.d :], mean[model.d :])
    assert not torch.equal(own[: model.d], mean[: model.d])


@pytest.mark.parametrize("mode", MODES)
def test_without_memory_c_flag_is_fedtrack(mode: str) -> None:
    fedtrack = TrackOptions(mode=mode)
    first_task = end_of("c_flag", FlagOptions(mode=mode), task=0)
    assert torch.equal(first_task, end_of("fedtrack", fedtrack, task=0))
    constant = FlagOptions(mode=mode, adaptive="none")
    later = end_of("c_flag", constant, memories=(0, 0, 0))
    assert torch.equal(later, end_of("fedtrack", fedtrack, memories=(0, 0, 0)))
    assert not torch.equal(end_of("c_flag", constant), end_of("fedtrack", fedtrack))


def test_clients_without_memory_add_zero() -> None:
    model = network()
    step = rounds_of("c_flag", FlagOptions(), model=model, rounds=1)[0]
    method = make_method("c_flag", lr=0.01, epochs=2, batch=4, sample=5, options=FlagOptions())
    clients = image_clients(model, SIZES, MEMORIES)
    vectors = [method.vectors(round_of(model, 3, 0), client, model.start(0)) for client in clients]
    assert not vectors[1]["grad_f_memory"].any()
    expected = sum(client.p * own["grad_f_memory"] for client, own in zip(clients, vectors, strict=True))
    torch.testing.assert_close(step.means["grad_f_memory"], expected)
    assert [round(step.locals[i]["alpha"] / 0.01, 3) >= 1 for i in range(3)] == [True] * 3


@pytest.mark.parametrize("name", METHODS)
def test_a_client_without_samples_moves_nothing(name: str) -> None:
    model = network()
    client = image_clients(model, (0, 5), (3, 3))[0]
    round_, state = round_of(model, 2, 0), model.start(0)
    method = make_method(name, lr=0.01, epochs=2, batch=4, sample=5)
    own = method.vectors(round_, client, state)
    local = method.local(round_, client, state, own, own)
    assert local.move.shape == state.shape
    assert not local.move.any()
    assert local.numbers["steps"] == 0
    assert not any(vector.any() for vector in method.end_task(round_, client, state).values())


@pytest.mark.parametrize("name", METHODS)
def test_work_leaves_the_state_and_moves_the_statistics(name: str) -> None:
    """With BatchNorm, the first exchange leaves everything as it is and local steps move the running statistics."""
    model = network("cnn")
    client = image_clients(model, SIZES, MEMORIES)[0]
    round_, state = round_of(model, 3, 0), model.start(0)
    before = state.clone()
    method = make_method(name, lr=0.01, epochs=1, batch=20, sample=5)
    own = method.vectors(round_, client, state)
    # Not one minibatch needs a second visit here: E = 1.
    local = method.local(round_, client, state, own, own)
    method.end_task(round_, client, state)
    assert torch.equal(state, before)
    assert local.numbers["steps"] == 1
    means = local.move[model.statistics[0][1]]
    assert means.any()
    # Momentum 0.1 after one minibatch, which for experience replay and iCaRL-FL holds memory too.
    moved = state - local.move
    probe = state.clone()
    if name not in ("er_ring", "icarl"):
        model.gradient(probe, client.current.batch(np.arange(client.current.n)), statistics=True)
        torch.testing.assert_close(moved[model.d :], probe[model.d :])


def test_the_bill() -> None:
    """Samples whose gradients were evaluated, for 9 samples in minibatches of 4, 4 and 1, which joins: 4 and 5."""
    bills = {
        name: rounds_of(name, rounds=1, epochs=2)[0].locals[0]["gradients"] for name in ("finetune", "nccl", "er_ring")
    }
    # Two passes; with memory 5 more in each of the 4 steps.
    assert bills == {"finetune": 18.0, "nccl": 38.0, "er_ring": 38.0}
    for name, kind, memory in (("fedtrack", TrackOptions, 0), ("c_flag", FlagOptions, 5)):
        # The first exchange, and two passes without the first minibatch (4 or 5 samples); gradients at x_t are kept.
        bill = rounds_of(name, kind(), rounds=1)[0].locals[0]["gradients"]
        assert bill - memory in {9 + 18 - 4.0, 9 + 18 - 5.0}
        # Tables of another kind take what is old at x_t again: each minibatch once, as both are visited after k = 0.
        again = rounds_of(name, kind(table="float32"), rounds=1)[0].locals[0]["gradients"]
        assert again == bill + 9
        fresh = rounds_of(name, kind(estimate="minibatch"), rounds=1)[0].locals[0]["gradients"]
        assert fresh - memory == 27.0


def test_minibatches_and_orders() -> None:
    model = network()
    client = image_clients(model, (13, 1), (0, 0))[0]
    round_ = round_of(model, 2, 4)
    cut = minibatches(round_, client, 4)
    assert [len(positions) for positions in cut] == [4, 4, 5]
    assert sorted(np.concatenate(cut).tolist()) == list(range(13))
    assert np.concatenate(cut).tolist() != list(range(13))
    assert all(np.array_equal(a, b) for a, b in zip(cut, minibatches(round_, client, 4), strict=True))
    other = minibatches(round_of(model, 2, 5), client, 4)
    assert not all(np.array_equal(a, b) for a, b in zip(cut, other, strict=True))
    assert np.concatenate(minibatches(round_, client, 4, shuffle=False)).tolist() == list(range(13))
    assert [len(positions) for positions in minibatches(round_, client, 1)] == [1] * 13
    order = component_order(round_, client, 3, 5)
    assert len(order) == 15
    assert all(sorted(order[first : first + 3]) == [0, 1, 2] for first in range(0, 15, 3))
    assert len({tuple(order[first : first + 3]) for first in range(0, 15, 3)}) > 1


def test_options_describe_themselves() -> None:
    for mode in MODES:
        options = FlagOptions(mode=mode)
        assert asdict(options) == {"mode": mode} | MODE_DEFAULTS[mode]
        assert FlagOptions(**asdict(options)) == options
        assert {"memory_kind", "partition", "weights"} <= set(MODE_DATA[mode]) <= set(RULES)
    track = {field.name for field in fields(TrackOptions)}
    assert {field.name for field in fields(FlagOptions)} - track == {
        *("adaptive", "adapt", "rates_from", "rates_at", "product", "memory_step"),
    }
    assert FlagOptions(mode="released", clamp=0).clamp == 0


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"mode": "fast"}, "mode 'fast' is unknown: use one of theory, paper, released"),
        ({"step": "sgd"}, "step 'sgd' is unknown"),
        ({"adaptive": "server"}, "adaptive 'server' is unknown: use one of none, average, worst, printed"),
        ({"adapt": "x"}, "adapt 'x' is unknown"),
        ({"product": "x"}, "product 'x' is unknown"),
        ({"rates_from": "x"}, "rates_from 'x' is unknown: use one of gradients, displacement, corrected"),
        ({"rates_at": "x"}, "rates_at 'x' is unknown: use one of client, server"),
        ({"memory_step": "x"}, "memory_step 'x' is unknown: use one of mean, own"),
        ({"estimate": "x"}, "estimate 'x' is unknown"),
        ({"clamp": -1.0}, "clamp is -1.0: use a finite number that is not negative"),
        ({"clamp": float("nan")}, "clamp is nan"),
        ({"shuffle": 1}, "shuffle is 1: use true or false"),
    ],
)
def test_wrong_switches_are_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        FlagOptions(**wrong)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"lr": 0.0}, "lr is 0.0: use a finite positive number"),
        ({"alpha": -1}, "alpha is -1: use"),
        ({"L": float("inf")}, "L is inf: use"),
        # An integer that no float holds.
        ({"L": 10**400}, "L is an integer of 1329 bits: use a finite positive number"),
        ({"epochs": 0}, "epochs is 0: use an integer of at least 1"),
        ({"batch": 2.5}, "batch is 2.5: use an integer"),
        ({"sample": True}, "sample is True: use an integer"),
        ({"optimizer": "sgd"}, "optimizer 'sgd' is unknown: use one of plain, adam"),
        ({"options": EwcOptions()}, "options of 'c_flag' are .*: pass FlagOptions"),
    ],
)
def test_wrong_methods_are_named(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        make_method("c_flag", **{"lr": 0.1} | wrong)


def test_rates_under_transference_stay_positive() -> None:
    """Where L alpha >= 1 Table 1's beta_i would be negative or 0; constant rates and other methods do not have it."""
    for name, alpha in (("c_flag", None), ("nccl", None), ("c_flag", 0.3)):
        with pytest.raises(InvalidInput, match=r"alpha is 0.[23] with L = 5.0: .* use an alpha below 1 / L"):
            make_method(name, lr=0.2, L=5.0, alpha=alpha)
    make_method("c_flag", lr=0.2, L=5.0, alpha=0.19)
    make_method("c_flag", lr=0.2, L=5.0, options=FlagOptions(adaptive="none"))
    make_method("er_ring", lr=0.2, L=5.0)


def test_unknown_methods_are_named() -> None:
    with pytest.raises(UnknownName, match="method 'sgd' is unknown: use one of c_flag, fedtrack, finetune, ewc"):
        make_method("sgd", lr=0.1)
    with pytest.raises(InvalidInput, match="method 'nccl' has no options"):
        make_method("nccl", lr=0.1, options=EwcOptions())
    with pytest.raises(InvalidInput, match="penalty is -1: use a finite number that is not negative"):
        EwcOptions(penalty=-1)
    assert set(METHODS) == set(ALL_NAMES)
