"""The CFL paper's methods: rounds written out on linear models, where they must coincide, and what they keep."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from bridge_clients import Rows, clients_of_rows, draw_rows, image_clients, linear_model, round_of

from cflag_theory.bridge.methods.descent import component_order, minibatches
from cflag_theory.bridge.methods.rehearsal import by_class, fisher, herding, langevin, last_block, layer_weights
from cflag_theory.bridge.methods.table import make_method
from cflag_theory.bridge.models.flat_model import make_model
from cflag_theory.bridge.settings.evolving import (
    CFL_NAMES,
    OPTIONS,
    CoreSetOptions,
    McmcOptions,
    MimeOptions,
    ProxOptions,
    RegProxOptions,
    TaylorOptions,
)
from cflag_theory.bridge.training.communication import InOneProcess
from cflag_theory.bridge.training.evaluation import information_loss
from cflag_theory.bridge.training.rounds import one_round

N, D, SAMPLES, BETA = 3, 5, 7, 0.06
RANDOM = np.random.default_rng(3)
#: Two data sets of every client.
PARTS = [[draw_rows(RANDOM, SAMPLES, D, 0.5) for _ in range(N)] for _ in range(2)]
START = RANDOM.standard_normal(D)
MODEL = linear_model(D)
P = np.full(N, 1 / N)
NOTHING = [Rows(np.zeros((0, D)), np.zeros(0))] * N


def clients_at(part: int) -> list[Any]:
    """The samples of both parts lie in one array, as in a run: the second part's indices begin at SAMPLES."""
    both = [Rows(np.concatenate([a.a, b.a]), np.concatenate([a.b, b.b])) for a, b in zip(*PARTS, strict=True)]
    found = []
    for client in clients_of_rows(both, NOTHING, P):
        here, data = slice(part * SAMPLES, (part + 1) * SAMPLES), client.current
        data = replace(data, indices=data.indices[here], labels=data.labels[here], tasks=data.tasks[here])
        found.append(replace(client, current=data, part=part))
    return found


def make(name: str, options: Any = None) -> Any:
    return make_method(name, lr=BETA, epochs=2, batch=3, optimizer="plain", options=options)


def rounds(method: Any, parts: list[int], state: np.ndarray = START, first: int = 0) -> tuple[np.ndarray, list[Any]]:
    x, steps = torch.from_numpy(state), []
    for t, part in enumerate(parts, start=first):
        steps.append(one_round(method, round_of(MODEL, N, t), clients_at(part), x, InOneProcess()))
        x = steps[-1].state
    return x.numpy(), steps


def fedavg(x: np.ndarray, t: int, part: int, given: Any) -> tuple[np.ndarray, list[np.ndarray]]:
    """A round, and the local models, with the steps' gradients given(i, y, gradient)."""
    ends = []
    for i, client in enumerate(clients_at(part)):
        round_ = round_of(MODEL, N, t)
        cut, y = minibatches(round_, client, 3), x.copy()
        for j in component_order(round_, client, len(cut), 2):
            y = y - BETA * given(i, y, PARTS[part][i].gradient(y, cut[j]))
        ends.append(y)
    return np.mean(ends, axis=0), ends


VISITS = [0, 1, 0, 1]


def test_fedprox_written_out() -> None:
    x = START
    for t, part in enumerate(VISITS):
        start = x
        x, _ = fedavg(x, t, part, lambda i, y, g, start=start: g + 0.3 * (y - start))
    found, _ = rounds(make("fedprox", ProxOptions(mu=0.3)), VISITS)
    np.testing.assert_allclose(found, x, rtol=0, atol=1e-13)


def test_mimelite_written_out() -> None:
    x, m = START, np.zeros(D)
    for t, part in enumerate(VISITS):
        c = np.mean([rows.gradient(x) for rows in PARTS[part]], axis=0)
        x, _ = fedavg(x, t, part, lambda i, y, g, m=m: 0.8 * g + 0.2 * m)
        m = 0.8 * c + 0.2 * m
    found, steps = rounds(make("mimelite", MimeOptions(gamma=0.2)), VISITS)
    np.testing.assert_allclose(found, x, rtol=0, atol=1e-13)
    # Two passes in steps, one for the whole gradient.
    assert steps[0].locals[0]["gradients"] == 3 * SAMPLES


def curvature(kind: str, t: int, i: int, rows: Rows, y: np.ndarray) -> np.ndarray:
    if kind == "fisher":
        return ((rows.a * (rows.a @ y - rows.b)[:, None]) ** 2).mean(axis=0)
    if kind == "squared-gradient":
        return rows.gradient(y) ** 2
    z = 2.0 * round_of(MODEL, N, t).random("hutchinson", i).integers(0, 2, (2, D)) - 1
    hessian = rows.a.T @ rows.a / len(rows.b)
    return np.maximum((z * (z @ hessian)).mean(axis=0), 0)


@pytest.mark.parametrize("kind", ["hutchinson", "fisher", "squared-gradient"])
@pytest.mark.parametrize(("name", "combine", "mu"), [("cfl_reg", "mean", 0.0), ("cfl_reg_prox", "sum", 0.2)])
def test_regularization_written_out(kind: str, name: str, combine: str, mu: float) -> None:
    """The expansions one by one, each at the local model that it was taken at; two rounds are kept."""
    x, past = START, []
    for t, part in enumerate(VISITS):

        def given(i: int, y: np.ndarray, g: np.ndarray, start: np.ndarray = x, past: list[Any] = past) -> np.ndarray:
            share = 1 / max(1, len(past)) if combine == "mean" else 1.0
            pulls = [np.mean([gi + h * (y - w) for gi, h, w in each], axis=0) for each in past]
            return g + 0.7 * share * np.sum(pulls, axis=0) + mu * (y - start)

        x, ends = fedavg(x, t, part, given)
        each = [
            (rows.gradient(w), curvature(kind, t, i, rows, w), w)
            for i, (rows, w) in enumerate(zip(PARTS[part], ends, strict=True))
        ]
        past = [*past, each][-2:]
    options = {"hessian": kind, "probes": 2, "last": 0.7, "keep": 2, "combine": combine}
    kinds = TaylorOptions(**options) if name == "cfl_reg" else RegProxOptions(**options, mu=mu)
    found, steps = rounds(make(name, kinds), VISITS)
    np.testing.assert_allclose(found, x, rtol=0, atol=1e-12)
    assert steps[0].sent == 2 * N * 3 * D


def test_a_core_set_is_learned_with_the_current_samples() -> None:
    """Uniform, 3 of 7: the round on part 1 has 3 samples of part 0 behind its own, and none of its own again."""
    method = make("cfl_core", CoreSetOptions(size=3))
    x, kept = START, {}
    for t, part in enumerate([0, 1, 1]):
        ends = []
        for i, client in enumerate(clients_at(part)):
            others = [k for p in kept.get(i, {}) if p != part for k in kept[i][p]]
            rows = Rows(
                np.concatenate([PARTS[part][i].a, PARTS[0][i].a[others]]),
                np.concatenate([PARTS[part][i].b, PARTS[0][i].b[others]]),
            )
            round_, y = round_of(MODEL, N, t), x.copy()
            whole = replace(client, current=replace(client.current, indices=torch.arange(len(rows.b))))
            cut = minibatches(round_, whole, 3)
            for j in component_order(round_, client, len(cut), 2):
                y = y - BETA * rows.gradient(y, cut[j])
            ends.append(y)
            chosen = round_.random("core set", i).choice(SAMPLES, size=3, replace=False)
            kept.setdefault(i, {}).setdefault(part, chosen.tolist())
        x = np.mean(ends, axis=0)
    found, steps = rounds(method, [0, 1, 1])
    np.testing.assert_allclose(found, x, rtol=0, atol=1e-13)
    assert [step.locals[0]["gradients"] for step in steps] == [14.0, 20.0, 20.0]


def test_information_loss_written_out() -> None:
    """Part 0 was met once and part 1 twice, and 3 of the 7 samples of each are kept."""
    method = make("cfl_core", CoreSetOptions(size=3))
    x, _ = rounds(method, [0, 1, 1])
    norms = []
    for i in range(N):
        for part, t, times in ((0, 0, 1), (1, 1, 2)):
            kept = round_of(MODEL, N, t).random("core set", i).choice(SAMPLES, size=3, replace=False)
            rows = PARTS[part][i]
            norms += [np.linalg.norm(rows.gradient(x) - rows.gradient(x, kept))] * times
    both = [clients_at(part) for part in (0, 1)]
    seen = [{0: (both[0][i].current, 1), 1: (both[1][i].current, 2)} for i in range(N)]
    state = torch.from_numpy(x)
    assert information_loss(MODEL, method, state, both[1], seen, 4) == pytest.approx(np.mean(norms), rel=1e-12)
    assert np.isnan(information_loss(MODEL, make("fedavg"), state, both[1], seen, 4))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("fedprox", ProxOptions(mu=0)),
        ("mimelite", MimeOptions(gamma=0)),
        ("cfl_reg", TaylorOptions(last=0)),
        ("cfl_reg_prox", RegProxOptions(last=0, mu=0)),
    ],
)
def test_with_weight_zero_all_are_fedavg(name: str, options: Any) -> None:
    expected, _ = rounds(make("fedavg"), VISITS)
    assert np.array_equal(rounds(make(name, options), VISITS)[0], expected)


def test_fedavg_is_fine_fl_with_equal_shares() -> None:
    assert np.array_equal(rounds(make("fedavg"), VISITS)[0], rounds(make("finetune"), VISITS)[0])


@pytest.mark.parametrize("name", list(OPTIONS))
def test_memory_is_all_that_a_checkpoint_needs(name: str) -> None:
    size = {"size": 3} if name in ("cfl_core", "cfl_gen") else {}
    whole, _ = rounds(make(name, OPTIONS[name](**size)), VISITS)
    first, second = (make(name, OPTIONS[name](**size)) for _ in range(2))
    half, _ = rounds(first, VISITS[:2])
    second.restore(first.memory())
    assert np.array_equal(rounds(second, VISITS[2:], half, first=2)[0], whole)


def test_herding_by_hand() -> None:
    """On a line with mean 3: 3.5 is nearest, then 2 for the mean 2.75, then 6 for the mean 3.83."""
    assert herding(np.array([[0.0], [2.0], [3.5], [6.0], [3.5]]), 3) == [2, 1, 4]
    points = np.array([[0.0], [2.0], [3.5], [6.5]])
    assert herding(points, 4)[0] in (1, 2)
    assert sorted(herding(points, 4)) == [0, 1, 2, 3]
    labels = np.array([1, 0, 0, 0, 0, 0, 1])
    assert [sorted(labels[by_class(labels, size, np.arange(7.0)[:, None])]) for size in (2, 4)] == [
        [0, 1],
        [0, 0, 0, 1],
    ]


def test_langevin_by_hand() -> None:
    options = McmcOptions(size=1, steps=1, eta=0.25, sigma=0.1, width=2.0)
    real, x = np.array([[1.0, 0.0], [0.0, 3.0]]), np.array([0.5, 0.5])
    # h^2 = 4 times 2 pixels.
    w = np.exp(-np.array([0.5, 6.5]) / 16)
    w = w / w.sum()
    noise = np.random.default_rng(5).standard_normal(2)
    expected = x - 0.25 * (x - w @ real) + 0.1 * noise
    np.testing.assert_allclose(langevin(x, real, options, np.random.default_rng(5)), expected, rtol=1e-14)
    still = McmcOptions(steps=400, sigma=0.0, width=0.1)
    np.testing.assert_allclose(langevin(x, real, still, np.random.default_rng(0)), real[0], atol=1e-8)


def test_products_are_the_hessians() -> None:
    model = make_model("mlp", (1, 2, 2), (3,), hidden=(4,), dtype=torch.float64)
    state, images = model.start(3), torch.from_numpy(RANDOM.standard_normal((6, 1, 2, 2)))
    labels = torch.tensor([0, 1, 2, 1, 0, 2])
    from cflag_theory.bridge.models.networks import Batch

    batch = Batch(images, labels, torch.zeros(6, dtype=torch.int64))
    found = model.products(state, batch, torch.eye(model.d, dtype=torch.float64))
    step = 1e-6
    for k in range(model.d):
        moved = torch.zeros_like(state)
        moved[k] = step
        slope = (model.gradient(state + moved, batch)[1] - model.gradient(state - moved, batch)[1]) / (2 * step)
        torch.testing.assert_close(found[k], slope, rtol=0, atol=1e-7)


def test_which_layers_are_held() -> None:
    model = make_model("mlp", (1, 2, 2), (3,), hidden=(4, 6), dtype=torch.float64)
    weights = layer_weights(model, TaylorOptions())
    by_name = {name: set(weights[where].tolist()) for name, where, _ in model.tensors}
    assert by_name == {
        "body.1.weight": {0.0},
        "body.1.bias": {0.0},
        "body.3.weight": {0.1},
        "body.3.bias": {0.1},
        "heads.weight": {1.0},
        "heads.bias": {1.0},
    }
    assert last_block(["body.conv1.weight", "body.layer3.0.bn1.bias", "body.layer4.1.conv2.weight"]) == "body.layer4."
    full = layer_weights(model, TaylorOptions(last=1, block=1, rest=1))
    assert set(full.tolist()) == {1.0}


def test_with_batch_normalisation_statistics_come_from_real_images() -> None:
    """And all methods run on uneven clients of a network that has them."""
    model = make_model("cnn", (1, 4, 4), (2,), hidden=(3,), dtype=torch.float64)
    clients = [
        replace(client, current=replace(client.current, tasks=client.current.tasks * 0))
        for client in image_clients(model, (9, 5), (0, 0))
    ]
    for name in OPTIONS:
        method = make_method(name, lr=0.1, epochs=1, batch=4, optimizer="plain")
        state = model.start(1)
        for t, part in enumerate((0, 1)):
            here = [replace(client, part=part) for client in clients]
            step = one_round(method, round_of(model, 2, t), here, state, InOneProcess())
            before, state = state, step.state
            assert bool(torch.isfinite(state).all())
            assert not torch.equal(state[model.d :], before[model.d :])
    assert len(fisher(model, state, clients[0].current)) == model.d
    # The last method generates: what its second round moves is one pass over real images from where it began.
    local = method.local(round_of(model, 2, 2), replace(clients[0], part=2), state, {}, {})
    at = state.clone()
    at[: model.d] -= local.move[: model.d]
    for positions in minibatches(round_of(model, 2, 2), clients[0], 4):
        model.gradient(at, clients[0].current.batch(positions), statistics=True)
    torch.testing.assert_close((state - local.move)[model.d :], at[model.d :], rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", CFL_NAMES)
def test_together_as_one_after_another(name: str) -> None:
    ends = []
    for how in ("yes", "no"):
        method = make(name, OPTIONS[name](size=3) if name in ("cfl_core", "cfl_gen") else None)
        x = torch.from_numpy(START)
        for t, part in enumerate(VISITS):
            x = one_round(method, round_of(MODEL, N, t), clients_at(part), x, InOneProcess(), together=how).state
        ends.append(x)
    torch.testing.assert_close(*ends, rtol=0, atol=1e-12)
