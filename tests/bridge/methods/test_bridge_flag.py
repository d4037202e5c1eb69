"""C-FLAG and FedTrack: equal to the kernels, and rounds written out for each mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from bridge_clients import HandAdam, Rows, clients_of_rows, draw_rows, linear_model, round_of, run

from cflag_theory.bridge.methods.descent import component_order, minibatches
from cflag_theory.bridge.methods.table import make_method
from cflag_theory.bridge.models.iag_table import KeptRows
from cflag_theory.bridge.settings.options import FlagOptions, TrackOptions
from cflag_theory.kernels.algorithms import algorithm
from cflag_theory.kernels.memory.memory import everything
from cflag_theory.kernels.problems.by_name import glm
from cflag_theory.kernels.problems.problem import Problem
from cflag_theory.kernels.simulation import simulate

N, D, COMPONENTS, PAST = 4, 6, 5, 7
P = np.array([0.1, 0.2, 0.3, 0.4])
ALPHA, BETA, ROUNDS = 0.07, 0.03, 25


def tasks(components: int = COMPONENTS) -> tuple[list[Rows], list[Rows]]:
    """Current and past rows of the clients; the tasks want different things."""
    random = np.random.default_rng(0)
    return [draw_rows(random, components, D, 0.7) for _ in range(N)], [draw_rows(random, PAST, D) for _ in range(N)]


def problem(current: list[Rows], past: list[Rows], start: np.ndarray) -> Problem:
    owners = [np.repeat(np.arange(N), n) for n in (PAST, COMPONENTS)]
    return glm(
        np.concatenate([rows.a for rows in past]),
        np.concatenate([rows.b for rows in past]),
        owners[0],
        np.concatenate([rows.a for rows in current]),
        np.concatenate([rows.b for rows in current]),
        owners[1],
        potential="quadratic",
        p=P,
        start=start,
    )


def against_the_kernels(adaptive: str, epochs: int) -> None:
    current, past = tasks()
    start = 3 * np.random.default_rng(9).standard_normal(D)
    world = problem(current, past, start)
    common = {"epochs": epochs, "batch": 1, "lr": BETA, "L": float(world.constants["L"].value), "sample": PAST}
    if adaptive == "fedtrack":
        row, alpha = algorithm("fedtrack"), 0.0
        method = make_method("fedtrack", **common, options=TrackOptions(order="random", shuffle=False))
    else:
        row = algorithm("c_flag", adaptive=adaptive)
        # As printed, rates are 1 / beta times too large: only with a small 1 - L alpha do they stay within bounds.
        alpha = 0.99 / common["L"] if adaptive == "printed" else ALPHA
        options = FlagOptions(adaptive=adaptive, order="random", shuffle=False)
        method = make_method("c_flag", **common, alpha=alpha, options=options)
    trace = simulate(
        world,
        row,
        alpha=alpha,
        beta=BETA,
        local_steps=epochs * COMPONENTS,
        rounds=ROUNDS,
        memory=everything() if row.memory else None,
        seed=5,
        iterates=True,
    )
    iterates, steps = run(method, linear_model(D), clients_of_rows(current, past, P), start, ROUNDS)
    assert trace.iterates is not None
    assert np.abs(iterates - trace.iterates[0]).max() < 1e-10
    assert np.abs(iterates[-1] - start).max() > 0.1
    drift2 = [max(step.locals[i]["drift2_max"] for i in range(N)) for step in steps]
    np.testing.assert_allclose(drift2, trace.columns["drift2_max"][0], rtol=1e-8, atol=1e-12)
    if row.memory:
        Lambda = np.array([[step.locals[i]["Lambda"] for i in range(N)] for step in steps])
        np.testing.assert_allclose(Lambda, trace.columns["Lambda"][0], rtol=1e-8, atol=1e-10)
        # Both rows of Table 1 were met.
        assert (Lambda > 0).any()
        assert (Lambda < 0).any()


@pytest.mark.parametrize("epochs", [1, 3])
@pytest.mark.parametrize("adaptive", ["none", "average", "worst", "printed", "fedtrack"])
def test_equal_to_the_kernels(adaptive: str, epochs: int) -> None:
    """The compiled kernel and the bridge take the same steps, component for component."""
    against_the_kernels(adaptive, epochs)


def test_a_stale_table_leaves_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison can fail: old gradients that stay those at x_t show at once."""

    refresh = KeptRows.refresh

    def stale(self: KeptRows, *step: Any) -> torch.Tensor:
        old = self._kept.clone()
        value = refresh(self, *step)
        self._kept.copy_(old)
        return value

    monkeypatch.setattr(KeptRows, "refresh", stale)
    with pytest.raises(AssertionError):
        against_the_kernels("none", 3)


def test_wrong_corrections_leave_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """So does a correction of the wrong sign."""
    monkeypatch.setattr("cflag_theory.bridge.methods.flag.torch.add", torch.sub)
    with pytest.raises(AssertionError):
        against_the_kernels("fedtrack", 1)


def by_hand(
    x: np.ndarray,
    orders: list[tuple[list[np.ndarray], list[int]]],
    make_step: Callable[[], Any],
    L: float,
    *,
    released: bool,
    from_displacement: bool,
) -> np.ndarray:
    """x_{t+1} of C-FLAG with Table 1's worst case, minibatches of any size, from the rows; batches as they were cut."""
    current, past = tasks(10)
    grad_g_clients = [rows.gradient(x) for rows in current]
    grad_g = sum(p * g for p, g in zip(P, grad_g_clients, strict=True))
    memory = sum(p * rows.gradient(x) for p, rows in zip(P, past, strict=True))
    total = np.zeros(D)
    for i in range(N):
        cut, order = orders[i]
        latest = [current[i].gradient(x, positions) for positions in cut]
        sizes = np.array([len(positions) for positions in cut])
        y, u, estimates, step, alphas = x.copy(), grad_g - grad_g_clients[i], np.zeros(D), make_step(), []
        for k, j in enumerate(order):
            if released:
                estimate = current[i].gradient(y, cut[j])
            else:
                if k > 0:
                    latest[j] = current[i].gradient(y, cut[j])
                estimate = sum(size * g for size, g in zip(sizes, latest, strict=True)) / sizes.sum()
            given = estimate + u
            if released:
                # The model has one tensor of D entries: both products are divided by D, which cancels in beta_i, and
                # in alpha_i, too.
                product = memory @ estimate
                rate = (1 - L * ALPHA) * product / (L * N * P[i] * (estimate @ estimate)) if product > 0 else BETA
                alphas.append(ALPHA if product > 0 else ALPHA * (1 - product / (memory @ memory)))
                given = np.clip(rate / BETA * given, -0.5, 0.5)
            estimates += estimate
            y = y - BETA * step(given)
        if released:
            total += P[i] * (np.mean(alphas) * memory + x - y)
            continue
        moved = (x - y) / BETA - len(order) * u
        a = moved if from_displacement else estimates
        product = memory @ a
        if product > 0:
            total += P[i] * (ALPHA * memory + (1 - L * ALPHA) * product / (L * N * P[i] * (a @ a)) * moved)
        else:
            total += P[i] * (ALPHA * (1 - product / (memory @ memory)) * memory + BETA * moved)
    return x - total


@pytest.mark.parametrize(
    ("mode", "rates_from"),
    [("theory", "gradients"), ("paper", "gradients"), ("paper", "displacement"), ("released", "gradients")],
)
def test_a_round_written_out(mode: str, rates_from: str) -> None:
    """Two passes over minibatches of 4, 4 and 2 samples."""
    current, past = tasks(10)
    # Near what is best for the past tasks, as in Figure 1: there both signs of Lambda occur.
    start = np.linalg.lstsq(np.concatenate([r.a for r in past]), np.concatenate([r.b for r in past]))[0]
    start, L, model = start + 0.4, 1.5, linear_model(D)
    # The other switches of "released" are written out in test_bridge_uneven.py.
    options = FlagOptions(mode=mode, rates_from=rates_from, rates_at="client", memory_step="mean")
    method = make_method("c_flag", epochs=2, batch=4, lr=BETA, alpha=ALPHA, L=L, sample=PAST, options=options)
    clients = clients_of_rows(current, past, P)
    iterates, steps = run(method, model, clients, start, 10)
    signs = set()
    for t, step in enumerate(steps):
        orders = []
        for client in clients:
            cut = minibatches(round_of(model, N, t), client, 4)
            assert [len(positions) for positions in cut] == [4, 4, 2]
            orders.append((cut, component_order(round_of(model, N, t), client, 3, 2)))
        hand = by_hand(
            iterates[t],
            orders,
            HandAdam if mode != "theory" else lambda: lambda g: g,
            L,
            released=mode == "released",
            from_displacement=rates_from == "displacement",
        )
        np.testing.assert_allclose(iterates[t + 1], hand, rtol=0, atol=1e-12)
        signs |= {step.locals[i]["Lambda"] > 0 for i in range(N)}
        assert {step.locals[i]["steps"] for i in range(N)} == {6.0}
    assert signs == {True, False}
