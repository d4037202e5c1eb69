"""Clients of very different sizes on a network with heads: rounds written out once more, and what rates are for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from bridge_clients import HandAdam, round_of

from cflag_theory.bridge.measures.round_numbers import measured, round_numbers
from cflag_theory.bridge.methods.base import Round
from cflag_theory.bridge.methods.descent import component_order, memory_positions, minibatches
from cflag_theory.bridge.methods.table import make_method
from cflag_theory.bridge.models.clients import Client, ClientData, pixels
from cflag_theory.bridge.models.flat_model import make_model
from cflag_theory.bridge.settings.options import FlagOptions
from cflag_theory.bridge.training.communication import InOneProcess
from cflag_theory.bridge.training.rounds import Step, one_round

CLASSES, SIZES, MEMORIES = (3, 2, 4), (9, 14, 1, 6, 0, 5), (8, 0, 3, 12, 4, 1)
N = len(SIZES)
P = [n / sum(SIZES) for n in SIZES]
LR, ALPHA, L, BATCH, EPOCHS, SAMPLE = 0.05, 0.03, 2.0, 4, 3, 5
MODEL = make_model("mlp", (1, 3, 3), CLASSES, hidden=(6,), dtype=torch.float64)
#: Adam divides entries that are all rounding by 1e-8.
CLOSE = {"plain": 1e-13, "adam": 1e-9}
Vector = np.ndarray


def _samples() -> tuple[Vector, list[int], list[int], Vector]:
    """Bytes of images, classes, tasks, and where the clients' parts begin: current, remembered, forgotten."""
    random = np.random.default_rng(0)
    of_task = [2] * sum(SIZES) + [int(random.integers(2)) for _ in range(sum(MEMORIES) + 5 * N)]
    images = random.integers(0, 256, (len(of_task), 3, 3, 1), dtype=np.uint8)
    starts = np.cumsum([0, *SIZES, *MEMORIES, *([5] * N)])
    return images, [int(random.integers(CLASSES[task])) for task in of_task], of_task, starts


IMAGES, LABELS, TASKS, STARTS = _samples()
CURRENT, REMEMBERED = ([range(STARTS[k], STARTS[k + 1]) for k in range(first, first + N)] for first in (0, N))
PAST = [[*REMEMBERED[i], *range(STARTS[2 * N + i], STARTS[2 * N + i + 1])] for i in range(N)]


def _clients() -> list[Client]:
    taken = pixels(IMAGES, np.array([0.4]), np.array([0.3]), MODEL)

    def data(places: Any) -> ClientData:
        rows = torch.tensor([int(place) for place in places], dtype=torch.int64)
        return ClientData(taken, rows, torch.tensor(LABELS)[rows], torch.tensor(TASKS)[rows])

    return [
        Client(index=i, p=P[i], current=data(CURRENT[i]), memory=data(REMEMBERED[i]), past=data(PAST[i]))
        for i in range(N)
    ]


CLIENTS = _clients()


def value(x: Vector, places: Any, positions: Any = slice(None)) -> tuple[float, Vector]:
    """The mean cross-entropy over these samples, each with its task's head, and its gradient: the network again."""
    flat = torch.tensor(x, requires_grad=True)
    part = {name: flat[where].view(shape) for name, where, shape in MODEL.pieces}
    losses = []
    for k in np.array(places, dtype=int)[positions]:
        image = torch.tensor((IMAGES[k].reshape(-1) / 255 - 0.4) / 0.3)
        hidden = torch.relu(part["body.1.weight"] @ image + part["body.1.bias"])
        logits = part[f"heads.{TASKS[k]}.weight"] @ hidden + part[f"heads.{TASKS[k]}.bias"]
        losses.append(torch.logsumexp(logits, 0) - logits[LABELS[k]])
    if not losses:
        return 0.0, np.zeros(MODEL.d)
    loss = torch.stack(losses).mean()
    loss.backward()
    return loss.item(), flat.grad.numpy()


def gradient(x: Vector, places: Any, positions: Any = slice(None)) -> Vector:
    return value(x, places, positions)[1]


def remembered(x: Vector, i: int, random: np.random.Generator) -> tuple[Vector, int]:
    """A client's gradient on a batch of its memory, and how many samples that has."""
    positions = memory_positions(CLIENTS[i].memory, SAMPLE, random)
    # So many of each past task, or all that there are.
    owners = [TASKS[REMEMBERED[i][position]] for position in set(positions)]
    for task in (0, 1):
        assert owners.count(task) == min(SAMPLE, [TASKS[place] for place in REMEMBERED[i]].count(task))
    return gradient(x, REMEMBERED[i], positions), len(positions)


def product(a: Vector, b: Vector, how: str | None) -> float:
    if how == "plain":
        return float(a @ b)
    return float(sum(np.mean(a[where] * b[where]) for _, where, _ in MODEL.pieces))


def rates(options: FlagOptions, f: Vector, a: Vector, p: float) -> tuple[float, float]:
    """Table 1, and Algorithm 3 with its a_i in line 4."""
    seen = LR * a if options.adaptive == "printed" else a
    if options.adaptive == "none":
        return ALPHA, LR
    Lambda = product(f, seen, options.product)
    if Lambda > 0:
        weight = p if options.adaptive == "average" else N * p
        return ALPHA, (1 - L * ALPHA) * Lambda / (L * weight * product(seen, seen, options.product))
    return ALPHA * (1 - Lambda / product(f, f, options.product)), LR


def flag_by_hand(x: Vector, t: int, options: FlagOptions) -> tuple[Vector, dict[int, dict[str, float]], Vector]:
    """The mean move of a round of C-FLAG, its clients' numbers, and grad_f_memory."""
    round_, active = round_of(MODEL, N, t, task=2), [i for i in range(N) if P[i] > 0]
    grad_g = {i: gradient(x, CURRENT[i]) for i in active}
    g = sum(P[i] * grad_g[i] for i in active)
    f = sum(P[i] * remembered(x, i, round_.random("memory", i))[0] for i in active if MEMORIES[i])
    whole, found = np.zeros(MODEL.d), {}
    for i in active:
        cut = minibatches(round_, CLIENTS[i], BATCH)
        order = component_order(round_, CLIENTS[i], len(cut), EPOCHS)
        latest, correction = [gradient(x, CURRENT[i], positions) for positions in cut], g - grad_g[i]
        step = HandAdam() if options.step == "adam" else lambda given: given
        y, total, chosen, drift2, losses = x, np.zeros(MODEL.d), [], 0.0, []
        in_steps = options.adapt == "gradient" and options.adaptive != "none"
        for k, j in enumerate(order):
            drift2 = max(drift2, float((y - x) @ (y - x)))
            loss, new = value(y, CURRENT[i], cut[j])
            if k > 0:
                latest[j] = new
            # At k = 0 the delayed gradient is that of all samples.
            losses.append(value(x, CURRENT[i])[0] if k == 0 and options.estimate == "table" else loss)
            shares = [len(positions) / SIZES[i] for positions in cut]
            estimate = sum(share * each for share, each in zip(shares, latest, strict=True))
            estimate = new if options.estimate == "minibatch" else estimate
            given = estimate + correction
            total = total + (given if options.rates_from == "corrected" else estimate)
            if in_steps:
                source = given if options.rates_from == "corrected" else estimate
                at_server = options.rates_at == "server"
                # A single client whose p is 1; N is in the worst case's weight.
                alone = 1.0 if options.adaptive == "average" else 1 / N
                chosen.append(rates(options, f, g, alone) if at_server else rates(options, f, source, P[i]))
                given = given * chosen[-1][1] / LR
            y = y - LR * step(np.clip(given, -options.clamp, options.clamp) if options.clamp else given)
        moved = (x - y) / LR - len(order) * correction
        a = total if in_steps or options.rates_from != "displacement" else moved
        alpha, beta = np.mean(chosen, axis=0) if in_steps else rates(options, f, a, P[i])
        if not in_steps and options.adaptive != "none":
            move = beta * (moved + (len(order) * correction if options.adaptive == "printed" else 0))
        else:
            move = x - y
        if options.memory_step == "mean":
            move = move + alpha * f
        elif MEMORIES[i]:
            own, fresh = remembered(x - move, i, round_.random("memory", i))[0], HandAdam()
            length, own = (ALPHA, own * alpha / ALPHA) if options.adapt == "gradient" else (alpha, own)
            move = move + length * (fresh(own) if options.step == "adam" else own)
        whole += P[i] * move
        found[i] = {"alpha": alpha, "beta": beta, "Lambda": f @ a, "drift2_max": drift2, "steps": len(order)}
        found[i]["loss"] = np.mean(losses)
    return whole, found, f


def step_of(method: Any, x: Vector, t: int, together: str = "no") -> Step:
    return one_round(
        method, round_of(MODEL, N, t, task=2), CLIENTS, torch.from_numpy(x), InOneProcess(), together=together
    )


def flag(**switches: Any) -> tuple[Any, FlagOptions]:
    options = FlagOptions(**switches)
    common = {"lr": LR, "alpha": ALPHA, "L": L, "epochs": EPOCHS, "batch": BATCH, "sample": SAMPLE}
    return make_method("c_flag", **common, options=options), options


@pytest.mark.parametrize("together", ["no", "yes"])
@pytest.mark.parametrize(
    "switches",
    [
        {"mode": "theory", "adaptive": "none"},
        {"mode": "theory", "adaptive": "average", "product": "per-tensor"},
        {"mode": "theory", "adaptive": "worst", "clamp": 0.05, "rates_from": "displacement"},
        {"mode": "theory", "adaptive": "printed"},
        {"mode": "theory", "adaptive": "worst", "adapt": "gradient"},
        {"mode": "paper"},
        {"mode": "paper", "adaptive": "printed", "rates_from": "gradients"},
        {"mode": "released"},
        {"mode": "released", "adaptive": "none"},
        {"mode": "released", "memory_step": "mean", "rates_at": "client"},
        {"mode": "released", "rates_at": "client", "rates_from": "gradients", "product": "plain"},
        {"mode": "released", "adaptive": "average", "step": "plain", "clamp": 0.0},
        {"mode": "theory", "adaptive": "worst", "memory_step": "own", "rates_from": "corrected"},
        {"mode": "paper", "adaptive": "printed", "memory_step": "own"},
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(str(each) for each in value.values()),
)
def test_c_flag_written_out(switches: dict[str, Any], together: str) -> None:
    """One to four minibatches, memories of 0 to 12 samples, and a client that has only memory."""
    method, options = flag(**switches)
    x, signs = MODEL.start(3).numpy(), set()
    for t in range(3):
        step = step_of(method, x, t, together)
        move, numbers, f = flag_by_hand(x, t, options)
        np.testing.assert_allclose(step.state.numpy(), x - move, rtol=0, atol=CLOSE[options.step])
        assert set(step.locals) == set(numbers) == {0, 1, 2, 3, 5}
        for i, mine in numbers.items():
            assert {key: step.locals[i][key] for key in mine} == pytest.approx(mine, rel=1e-7), i
            signs.add(mine["Lambda"] > 0)
        alpha = sum(P[i] * mine["alpha"] for i, mine in numbers.items())
        # A client's own step on memory is one of its local steps: nothing else moves.
        apart = alpha if options.memory_step == "mean" else 0.0
        rest, seen = move - apart * f, round_numbers(MODEL, step, CLIENTS, L=L)
        assert seen.Gamma == pytest.approx(L / 2 * rest @ rest - (1 - L * apart) * f @ rest, rel=1e-8)
        assert seen.alpha == pytest.approx(alpha, rel=1e-8)
        x = step.state.numpy()
    assert {i: mine["steps"] for i, mine in numbers.items()} == {0: 6, 1: 12, 2: 3, 3: 6, 5: 3}
    # Corrected gradients of all clients lie near grad g, which transfers here.
    assert signs == {True, False} or (options.rates_from == "corrected" and signs == {True})


@pytest.mark.parametrize("mode", ["theory", "paper"])
@pytest.mark.parametrize("adaptive", ["average", "worst"])
def test_adapted_rates_are_the_best_for_what_they_scale(mode: str, adaptive: str) -> None:
    """Of all multiples of its part beta_i a_i a client that transfers takes the one with the least bound on Gamma,
    (L/2) w ||beta_i a_i||^2 - (1 - L alpha) <grad_f_memory, beta_i a_i>, w = p_i or N p_i; also of what Adam made."""
    method, _ = flag(mode=mode, adaptive=adaptive)
    state, transferring = MODEL.start(3), 0
    for t in range(4):
        round_ = round_of(MODEL, N, t, task=2)
        own = {client.index: method.vectors(round_, client, state) for client in CLIENTS if client.p > 0}
        means = InOneProcess().mean(own, P)
        f = means["grad_f_memory"].numpy()
        for i in own:
            local = method.local(round_, CLIENTS[i], state, means, own[i])
            if local.numbers["Lambda"] <= 0:
                continue
            part = local.move.numpy() - ALPHA * f
            weight = P[i] if adaptive == "average" else N * P[i]
            assert L * weight * part @ part == pytest.approx((1 - L * ALPHA) * f @ part, rel=1e-9)
            transferring += 1
        state = step_of(method, state.numpy(), t).state
    assert transferring > 3


@pytest.mark.parametrize("together", ["no", "yes"])
@pytest.mark.parametrize("optimizer", ["plain", "adam"])
@pytest.mark.parametrize("name", ["finetune", "nccl", "er_ring"])
def test_rivals_written_out(name: str, optimizer: str, together: str) -> None:
    common = {"lr": LR, "alpha": ALPHA, "L": L, "epochs": EPOCHS, "batch": BATCH, "sample": SAMPLE}
    x, round_ = MODEL.start(3).numpy(), round_of(MODEL, N, 0, task=2)
    step = step_of(make_method(name, **common, optimizer=optimizer), x, 0, together)
    whole = np.zeros(MODEL.d)
    for i in (i for i in range(N) if P[i] > 0):
        cut, random = minibatches(round_, CLIENTS[i], BATCH), round_.random("memory", i)
        y, adam, chosen, losses = x, HandAdam(), [], []
        for j in component_order(round_, CLIENTS[i], len(cut), EPOCHS):
            loss, given = value(y, CURRENT[i], cut[j])
            losses.append(loss)
            if name != "finetune" and MEMORIES[i]:
                f, count = remembered(y, i, random)
                if name == "er_ring":
                    given = (len(cut[j]) * given + count * f) / (len(cut[j]) + count)
                else:
                    transfers = f @ given > 0
                    beta = (1 - L * ALPHA) * (f @ given) / (L * given @ given) if transfers else LR
                    alpha = ALPHA if transfers else ALPHA * (1 - f @ given / (f @ f))
                    chosen.append((f @ given, alpha, beta))
                    given = (alpha * f + beta * given) / LR
            y = y - LR * (adam(given) if optimizer == "adam" else given)
        whole += P[i] * (x - y)
        numbers = step.locals[i]
        if name != "er_ring":
            assert numbers["loss"] == pytest.approx(np.mean(losses), rel=1e-7)
        if chosen:
            products, alphas, betas = zip(*chosen, strict=True)
            expected = {"Lambda": sum(products), "alpha": np.mean(alphas), "beta": np.mean(betas)}
            assert {key: numbers[key] for key in expected} == pytest.approx(expected, rel=1e-6)
    np.testing.assert_allclose(step.state.numpy(), x - whole, rtol=0, atol=CLOSE[optimizer])


def test_steps_on_memory_among_the_local_ones_are_no_part_of_alpha() -> None:
    """NCCL-FL reports its own alpha, and its whole move is beta S: B = <b, move> with the bias of all it remembers."""
    x = MODEL.start(3).numpy()
    common = {"lr": LR, "alpha": ALPHA, "L": L, "epochs": EPOCHS, "batch": BATCH, "sample": SAMPLE}
    step = step_of(make_method("nccl", **common, optimizer="plain"), x, 0)
    bias = sum(P[i] * (gradient(x, REMEMBERED[i]) - gradient(x, PAST[i])) for i in range(N))
    overfitting = measured(MODEL, step, CLIENTS, InOneProcess(), L=L, batch=4).B
    assert overfitting == pytest.approx(bias @ (x - step.state.numpy()), rel=1e-10)
    numbers = round_numbers(MODEL, step, CLIENTS, L=L)
    assert numbers.alpha > 0
    assert numbers.current_step2 == pytest.approx(numbers.step2, rel=1e-12)


@pytest.mark.parametrize("together", ["no", "yes"])
@pytest.mark.parametrize(
    ("name", "purposes"),
    [
        ("finetune", {"shuffle", "order"}),
        ("ewc", {"shuffle", "order"}),
        ("fedtrack", {"shuffle", "order"}),
        ("c_flag", {"shuffle", "order", "memory"}),
        ("nccl", {"shuffle", "order", "memory"}),
        ("er_ring", {"shuffle", "order", "memory"}),
    ],
)
def test_each_draw_has_its_own_numbers(
    name: str, purposes: set[str], together: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No two things that a client draws in a round start from the same generator."""
    drawn, random = [], Round.random

    def noted(self: Round, purpose: str, client: int) -> np.random.Generator:
        drawn.append((client, purpose))
        return random(self, purpose, client)

    monkeypatch.setattr(Round, "random", noted)
    step_of(make_method(name, lr=1e-3, epochs=EPOCHS, batch=BATCH, sample=SAMPLE), MODEL.start(3).numpy(), 0, together)
    taking_part = [i for i in range(N) if P[i] > 0]
    assert sorted(drawn) == sorted(
        (i, purpose) for i in taking_part for purpose in purposes if purpose != "memory" or MEMORIES[i] > 0
    )
