"""The round loop: exchanges and step, what a round may draw, resuming, and the numbers of the analysis."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
import torch
from bridge_clients import Rows, clients_of_rows, data_of, linear_model
from small_runs import FedAvg, WithMemory, World, run

from cflag_theory.bridge.measures.round_numbers import measured, round_numbers
from cflag_theory.bridge.methods.base import Local, Round
from cflag_theory.bridge.models.flat_model import full_gradient
from cflag_theory.bridge.training.communication import InOneProcess
from cflag_theory.bridge.training.rounds import one_round
from cflag_theory.errors import InvalidInput


def test_one_client_and_one_step_are_gradient_descent(digits):
    world = World(digits, "mlp", dtype=torch.float64, clients=1)
    (client,) = world.clients(0)
    state = expected = world.model.start(0)
    for t in range(4):
        state = one_round(FedAvg(0.3, 10_000), world.round(0, t, 4), [client], state, InOneProcess()).state
        expected = expected - 0.3 * full_gradient(world.model, expected, client.current, 100)[1]
    assert float((state - world.model.start(0)).abs().max()) > 0.01
    torch.testing.assert_close(state, expected, rtol=0, atol=1e-13)


def test_a_round_takes_the_weighted_mean_of_the_clients_moves(world):
    """By (22) and line 12 of Algorithm 1: with weights that sum to one the states are averaged."""
    clients, state, method = world.clients(0), world.model.start(0), FedAvg()
    before = state.clone()
    round_ = world.round(0, 0, 1)
    step = one_round(method, round_, clients, state, InOneProcess())
    ends = [state - method.local(round_, client, state, {}, {}).move for client in clients]
    expected = sum(client.p * end for client, end in zip(clients, ends, strict=True))
    torch.testing.assert_close(step.state, expected, rtol=0, atol=1e-14)
    assert torch.equal(state, before)
    assert step.before is state
    assert step.means == {}
    assert step.sent == 2 * 3 * world.model.size
    assert [numbers["gradients"] for numbers in step.locals.values()] == [client.current.n for client in clients]


def test_the_first_exchange_gives_everyone_the_mean_and_its_own(world):
    clients, state = world.clients(1), world.model.start(0)
    seen = {}

    class Listener(WithMemory):
        def local(self, round, client, state, means, own):
            seen[client.index] = (means, own)
            return super().local(round, client, state, means, own)

    step = one_round(Listener(), world.round(1, 0, 1), clients, state, InOneProcess())
    for name, data in (("grad_f_memory", "memory"), ("grad_g", "current")):
        each = [full_gradient(world.model, state, getattr(client, data), 50)[1] for client in clients]
        mean = sum(client.p * vector for client, vector in zip(clients, each, strict=True))
        torch.testing.assert_close(step.means[name], mean, rtol=0, atol=1e-15)
        for i, vector in enumerate(each):
            assert torch.equal(seen[i][0][name], step.means[name])
            assert torch.equal(seen[i][1][name], vector)
    assert step.sent == 2 * 3 * (world.model.size + 2 * world.model.d)


def test_a_client_without_current_samples_takes_no_part(world):
    """Whatever it remembers: its share is zero, and its minibatches do not exist."""
    clients = list(world.clients(1))
    empty = dataclasses.replace(clients[1].current, indices=torch.zeros(0).long())
    weights = [clients[0].p / (1 - clients[1].p), 0.0, clients[2].p / (1 - clients[1].p)]
    with_idle = [dataclasses.replace(client, p=p) for client, p in zip(clients, weights, strict=True)]
    with_idle[1] = dataclasses.replace(with_idle[1], current=empty)
    round_, state = world.round(1, 0, 1), world.model.start(0)
    step = one_round(WithMemory(), round_, with_idle, state, InOneProcess())
    expected = one_round(WithMemory(), round_, [with_idle[0], with_idle[2]], state, _Places())
    torch.testing.assert_close(step.state, expected.state, rtol=0, atol=1e-15)
    assert sorted(step.locals) == [0, 2]
    numbers = round_numbers(world.model, step, with_idle, L=1.0)
    assert [math.isnan(value) for value in numbers.Lambda] == [False, True, False]
    assert numbers.gradients == clients[0].current.n + clients[2].current.n


class _Places(InOneProcess):
    """Clients 0 and 2 as a list of two."""

    def mean(self, vectors, p):
        return super().mean(vectors, [p[0], 0.0, p[1]])

    def table(self, rows, clients, columns):
        return super().table(rows, 3, columns)


def test_draws_depend_on_what_they_are_for_and_on_nothing_else(world):
    def first(purpose="order", client=0, overall=3, seed=1):
        round_ = Round(world.model, 3, task=0, number=2, overall=overall, seed=seed)
        round_.random("other", client).random(5)
        return round_.random(purpose, client).integers(1 << 62)

    drawn = {first(), first("memory"), first(client=1), first(overall=4), first(seed=2)}
    assert len(drawn) == 5
    assert first() == first()


def test_a_run_goes_on_bit_for_bit_from_every_round(digits):
    """From the state, the method's memory and the place in the run; with BatchNorm, momentum and shuffling."""

    def fresh() -> World:
        return World(digits, "cnn", dtype=torch.float32)

    events = run(fresh(), WithMemory(), InOneProcess())
    assert len(events) == 4
    for task, number, state, memory, _ in events[:-1]:
        method = WithMemory()
        method.restore(memory)
        rest = run(fresh(), method, InOneProcess(), state=state, task=task, number=number)
        assert len(rest) == 4 - (2 * task + number)
        assert torch.equal(rest[-1][2], events[-1][2])
        assert torch.equal(rest[-1][3]["momentum"], events[-1][3]["momentum"])
    # Without the memory it would be another run.
    task, number, state, _, _ = events[0]
    assert not torch.equal(run(fresh(), WithMemory(), InOneProcess(), state=state, number=1)[-1][2], events[-1][2])


def test_the_end_of_a_task_averages_what_clients_send(world):
    method = WithMemory()
    run(world, method, InOneProcess(), tasks=1, rounds=1)
    shares = world.stream.shares[0]
    assert method.closed == pytest.approx(shares[1] + 2 * shares[2], abs=1e-15)


D, N = 4, 3


class Given(FedAvg):
    """Moves that are known: alpha_i grad_f_memory + beta a_i, with a_i drawn once."""

    name = "given"
    alphas, beta = (0.3, 0.5, 0.2), 0.7
    a = torch.from_numpy(np.random.default_rng(8).standard_normal((N, D)))

    def vectors(self, round, client, state):
        return {"grad_f_memory": full_gradient(round.model, state, client.memory, 10)[1]}

    def local(self, round, client, state, means, own):
        i, memory = client.index, means["grad_f_memory"]
        numbers = {"alpha": self.alphas[i], "beta": self.beta, "Lambda": float(memory @ self.a[i]), "gradients": 0}
        return Local(self.alphas[i] * memory + self.beta * self.a[i], numbers | {"drift2_max": 0.0, "loss": 0.0})


@pytest.fixture
def isotropic():
    """Clients whose f_i and g_i have the Hessian 2 I, and biased memories; p, and all rows."""
    random = np.random.default_rng(2)

    def rows() -> Rows:
        return Rows(math.sqrt(2 * D) * np.eye(D)[random.permutation(D)], random.standard_normal(D))

    p, current, past = (0.5, 0.2, 0.3), [rows() for _ in range(N)], [rows() for _ in range(N)]
    memory = [Rows(each.a[:2], each.b[:2] + 0.3) for each in past]
    clients = [
        dataclasses.replace(client, memory=data_of(kept, torch.float64))
        for client, kept in zip(clients_of_rows(current, past, p), memory, strict=True)
    ]
    return p, current, past, memory, clients


def test_numbers_of_a_round_are_those_of_the_analysis(isotropic):
    """(15), (34) and (8): where the Hessian is L I, Lemma 1's inequality before it is weakened is an equation."""
    p, current, past, memory, clients = isotropic
    model, method, L = linear_model(D), Given(), 2.0
    x = np.random.default_rng(3).standard_normal(D)
    step = one_round(method, Round(model, N, 1, 0, 0, 0), clients, torch.from_numpy(x), InOneProcess())
    numbers = round_numbers(model, step, clients, L=L)
    full = measured(model, step, clients, InOneProcess(), L=L, batch=3)

    def mean(parts, point):
        return sum(share * rows.gradient(point) for share, rows in zip(p, parts, strict=True))

    grad_f, grad_g, grad_memory = mean(past, x), mean(current, x), mean(memory, x)
    alpha = sum(share * rate for share, rate in zip(p, method.alphas, strict=True))
    S = sum(share * a for share, a in zip(p, method.a.numpy(), strict=True))
    beta, b = method.beta, grad_memory - grad_f
    after = x - alpha * grad_memory - beta * S
    np.testing.assert_allclose(step.state.numpy(), after, rtol=0, atol=1e-14)
    expected = {
        "grad_memory2": grad_memory @ grad_memory,
        "Gamma": L * beta**2 / 2 * S @ S - beta * (1 - L * alpha) * grad_memory @ S,
        "alpha": alpha,
        "beta": beta,
        "current_step2": beta**2 * S @ S,
        "step2": (after - x) @ (after - x),
    }
    for name, value in expected.items():
        assert getattr(numbers, name) == pytest.approx(value, rel=1e-12), name
    assert numbers.Lambda == pytest.approx([grad_memory @ a for a in method.a.numpy()], rel=1e-12)
    assert numbers.memory2 == pytest.approx([rows.gradient(x) @ rows.gradient(x) for rows in memory], rel=1e-12)
    assert math.isnan(numbers.grad_g2)

    def value(parts, point):
        return sum(s * np.mean((rows.a @ point - rows.b) ** 2 / 2) for s, rows in zip(p, parts, strict=True))

    measured_expected = {
        "f": value(past, x),
        "g": value(current, x),
        "grad_f2": grad_f @ grad_f,
        "grad_g2": grad_g @ grad_g,
        "b2": b @ b,
        "B": (L * alpha**2 - alpha) * grad_f @ b + beta * b @ S,
        "grad_f_change2": L**2 * numbers.step2,
        "grad_g_change2": L**2 * numbers.step2,
    }
    for name, wanted in measured_expected.items():
        assert getattr(full, name) == pytest.approx(wanted, rel=1e-12), name
    biases = [kept.gradient(x) - rows.gradient(x) for kept, rows in zip(memory, past, strict=True)]
    assert full.client_b2 == pytest.approx([bias @ bias for bias in biases], rel=1e-12)
    assert full.client_f2 == pytest.approx([rows.gradient(x) @ rows.gradient(x) for rows in past], rel=1e-12)

    descent = alpha * full.grad_f2 - L * alpha**2 / 2 * (full.grad_f2 + full.b2)
    assert value(past, x) - value(past, after) + full.B + numbers.Gamma == pytest.approx(descent, rel=1e-11)


def test_before_anything_is_remembered_nothing_can_be_forgotten(world):
    step = run(world, WithMemory(), InOneProcess(), tasks=1, rounds=1)[0][4]
    clients = world.clients(0)
    numbers = round_numbers(world.model, step, clients, L=1.0)
    assert math.isnan(numbers.Gamma)
    assert math.isnan(numbers.grad_memory2)
    assert numbers.grad_g2 > 0
    full = measured(world.model, step, clients, InOneProcess(), L=1.0, batch=50)
    assert all(math.isnan(getattr(full, name)) for name in ("f", "grad_f2", "b2", "B", "grad_f_change2"))
    assert full.grad_g2 == pytest.approx(numbers.grad_g2, rel=1e-12)
    assert full.g > 0


def test_a_smoothness_constant_is_positive(world):
    step = run(world, FedAvg(), InOneProcess(), tasks=1, rounds=1)[0][4]
    with pytest.raises(InvalidInput, match="L is 0: give a positive smoothness constant"):
        round_numbers(world.model, step, world.clients(0), L=0)
