"""LwF-FL, iCaRL-FL and TARGET: rounds written out on a linear model in float64, and where they must coincide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from bridge_clients import image_clients, round_of

from cflag_theory.bridge.methods.baselines import EXEMPLARS, Icarl, distillation
from cflag_theory.bridge.methods.descent import component_order, minibatches
from cflag_theory.bridge.methods.table import make_method
from cflag_theory.bridge.methods.target import MADE, Server, Target, divergence
from cflag_theory.bridge.models.clients import Client, ClientData
from cflag_theory.bridge.models.flat_model import FlatModel, make_model
from cflag_theory.bridge.settings.options import LwfOptions, TargetOptions
from cflag_theory.bridge.training.communication import InOneProcess
from cflag_theory.bridge.training.rounds import end_task, one_round

BETA, EPOCHS, BATCH, SAMPLE, T = 0.06, 2, 3, 4, 2.0
SIZES, MEMORIES = (7, 5, 3), (6, 0, 4)
FEW = TargetOptions(images=10, batch=4, steps=3)


def model_of(name: str = "linear", **more: str) -> FlatModel:
    return make_model(name, (1, 4, 4), (2, 2, 2), heads="growing", dtype=torch.float64, **more)


MODEL = model_of()
CLIENTS = image_clients(MODEL, SIZES, MEMORIES)
START, OLD = MODEL.start(1), MODEL.start(2)


def make(name: str, options: Any = None, step: str = "plain") -> Any:
    return make_method(name, lr=BETA, epochs=EPOCHS, batch=BATCH, optimizer=step, sample=SAMPLE, options=options)


def numbers(data: ClientData) -> tuple[np.ndarray, np.ndarray]:
    """Images as rows with a 1 behind, and the class of each among all."""
    batch = data.batch(slice(None))
    rows = np.hstack([batch.images.flatten(1).numpy(), np.ones((data.n, 1))])
    return rows, (2 * batch.tasks + batch.labels).numpy()


def matrix(vector: np.ndarray) -> np.ndarray:
    """Weights and shifts of the six classes, (6, 17), of a vector of parameters."""
    parts = MODEL.split(torch.from_numpy(vector))
    return np.hstack([parts["heads.weight"].numpy(), parts["heads.bias"].numpy()[:, None]])


def softmax(z: np.ndarray) -> np.ndarray:
    return np.exp(z) / np.exp(z).sum(1, keepdims=True)


#: The slope of the loss by the outputs z (n, 6), given the outputs of the old model and the classes.
Slope = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def by_hand(slope: Slope, together: bool = False, drawn: Any = None) -> np.ndarray:
    """FedAvg's round with these slopes; `together` with the memory, or beside samples that `drawn` gives."""
    total = 0.0
    for client in CLIENTS:
        data, now = numbers(client.current), round_of(MODEL, 3, 0)
        moving = client
        if together and client.memory.n:
            data = tuple(np.concatenate(pair) for pair in zip(data, numbers(client.memory), strict=True))
            indices = torch.arange(len(data[1]))
            moving = replace(client, current=replace(client.current, indices=indices))
        cut, y = minibatches(now, moving, BATCH), START.numpy().copy()
        more = drawn(now, client) if drawn else None
        for j in component_order(now, moving, len(cut), EPOCHS):
            x, classes = (each[cut[j]] for each in data)
            if more is not None:
                made = next(more)
                x, classes = np.vstack([x, made[0]]), np.concatenate([classes, made[1]])
            gradient = slope(x @ matrix(y).T, x @ matrix(OLD.numpy()).T, classes).T @ x
            y = y - BETA * flat(gradient)
        total = total + client.p * (START.numpy() - y)
    return START.numpy() - total


def flat(gradient: np.ndarray) -> np.ndarray:
    vector = torch.zeros(MODEL.d, dtype=torch.float64)
    parts = MODEL.split(vector)
    parts["heads.weight"].copy_(torch.from_numpy(gradient[:, :-1]))
    parts["heads.bias"].copy_(torch.from_numpy(gradient[:, -1]))
    return vector.numpy()


def after(method: Any, clients: list[Client] = CLIENTS, model: FlatModel = MODEL) -> np.ndarray:
    return one_round(method, round_of(model, 3, 0), clients, START, InOneProcess(), together="no").state.numpy()


def own_classes(z: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Of the cross-entropy over the classes 2 and 3."""
    found = np.zeros_like(z)
    found[:, 2:4] = softmax(z[:, 2:4]) - np.eye(6)[classes][:, 2:4]
    return found


def held(z: np.ndarray, old: np.ndarray) -> np.ndarray:
    """Of the distillation over the classes 0 and 1."""
    found = np.zeros_like(z)
    found[:, :2] = (softmax(z[:, :2] / T) - softmax(old[:, :2] / T)) / T
    return found


def test_lwf_written_out() -> None:
    method = make("lwf", LwfOptions(weight=0.7))
    method.restore({"old": OLD})
    expected = by_hand(lambda z, old, classes: (own_classes(z, classes) + 0.7 * held(z, old)) / len(z))
    np.testing.assert_allclose(after(method), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("step", ["plain", "adam"])
def test_without_distillation_lwf_is_fine_fl_on_the_classes_of_the_task(step: str) -> None:
    masked = model_of(old_logits="masked")
    method = make("lwf", LwfOptions(weight=0.0), step)
    method.restore({"old": OLD})
    wanted = after(make("finetune", None, step), model=masked)
    np.testing.assert_allclose(after(method), wanted, rtol=0, atol=1e-14)
    assert np.abs(wanted - after(make("finetune", None, step))).max() > 1e-3


@pytest.mark.parametrize("name", ["lwf", "target"])
def test_in_the_first_task_they_are_fine_fl(name: str) -> None:
    assert np.array_equal(after(make(name)), after(make("finetune")))


@pytest.mark.parametrize("name", ["lwf", "icarl", "target"])
def test_old_logits_do_not_concern_them(name: str) -> None:
    """Their losses say themselves which classes they are over; Fine-FL's does not, see above."""
    memory = {"old": OLD, MADE: torch.cat([torch.ones(10, 1), torch.arange(160.0).view(10, 16)], dim=1).double()}
    found = []
    for model in (MODEL, model_of(old_logits="masked")):
        method = make(name, FEW if name == "target" else None)
        method.restore(memory)
        found.append(after(method, model=model))
    assert np.array_equal(*found)


def test_icarl_written_out() -> None:
    """On the union of samples and exemplars, without the classes that are not seen."""
    method = make("icarl")
    method.restore({"old": OLD})

    def slope(z: np.ndarray, old: np.ndarray, classes: np.ndarray) -> np.ndarray:
        wanted = np.eye(6)[classes]
        wanted[:, :2] = 1 / (1 + np.exp(-old[:, :2]))
        found = 1 / (1 + np.exp(-z)) - wanted
        found[:, 4:] = 0
        return found / len(z)

    np.testing.assert_allclose(after(method), by_hand(slope, together=True), rtol=0, atol=1e-13)


def test_icarl_learns_the_first_classes_from_their_labels() -> None:
    def slope(z: np.ndarray, old: np.ndarray, classes: np.ndarray) -> np.ndarray:
        found = 1 / (1 + np.exp(-z)) - np.eye(6)[classes]
        found[:, 4:] = 0
        return found / len(z)

    np.testing.assert_allclose(after(make("icarl")), by_hand(slope, together=True), rtol=0, atol=1e-13)


def test_the_nearest_mean_of_exemplars() -> None:
    """Over the exemplars of all clients, also of one that takes no part in the task."""
    clients = [replace(client, p=p) for client, p in zip(CLIENTS, (0.4, 0.6, 0.0), strict=True)]
    method = make("icarl")
    assert torch.equal(
        method.scores(MODEL, START, CLIENTS[0].current.batch(slice(None)).images, 0),
        MODEL.logits(START, CLIENTS[0].current.batch(slice(None)).images, 0),
    )
    end_task(method, round_of(MODEL, 3, 0), clients, START, InOneProcess())
    rows, classes = (np.concatenate(each) for each in zip(*(numbers(c.memory) for c in CLIENTS), strict=True))
    features = rows[:, :-1] / np.linalg.norm(rows[:, :-1], axis=1, keepdims=True)
    means = np.array([features[classes == c].mean(0) for c in (0, 1)])
    means = means / np.linalg.norm(means, axis=1, keepdims=True)
    images = CLIENTS[0].current.batch(slice(None)).images
    own = images.flatten(1).numpy()
    own = own / np.linalg.norm(own, axis=1, keepdims=True)
    nearest = np.linalg.norm(own[:, None] - means, axis=2).argmin(1)
    scores = method.scores(MODEL, START, images, 1)
    assert scores.argmax(1).tolist() == nearest.tolist()
    assert len(set(nearest)) == 2
    # Classes without exemplars are never predicted.
    assert torch.isinf(scores[:, 2:]).all()


def test_sums_come_with_their_counts() -> None:
    sums = make("icarl").totals(round_of(MODEL, 3, 0), CLIENTS[0], START)[EXEMPLARS].view(6, 17)
    assert (
        sums[:, -1].tolist()
        == [int(((CLIENTS[0].memory.tasks == 0) & (CLIENTS[0].memory.labels == c)).sum()) for c in (0, 1)] + [0.0] * 4
    )
    assert not make("icarl").totals(round_of(MODEL, 3, 0), CLIENTS[1], START)[EXEMPLARS].any()


def made_by(method: Target) -> tuple[np.ndarray, np.ndarray]:
    """Images that were made, as `numbers` has them."""
    pixels, made = CLIENTS[0].current.pixels, method.made
    assert made is not None
    shown = made[:, 1:] * float(pixels.scale) + float(pixels.shift)
    return np.hstack([shown.numpy(), np.ones((len(made), 1))]), made[:, 0].long().numpy()


def test_target_written_out() -> None:
    """The mean over the minibatch, and the weighed mean over images drawn from those that were made."""
    method = make("target", replace(FEW, weight=0.7, temperature=T))
    random = np.random.default_rng(3)
    rows = np.hstack([random.integers(0, 2, (10, 1)), random.integers(0, 256, (10, 16))])
    method.restore({"old": OLD, MADE: torch.from_numpy(rows).double()})
    # As many of every past task, of which there is one.
    images, classes = made_by(method)

    def drawn(now: Any, client: Client) -> Any:
        memory = now.random("memory", client.index)
        while True:
            chosen = memory.choice(10, size=SAMPLE, replace=False)
            yield images[chosen], classes[chosen]

    def slope(z: np.ndarray, old: np.ndarray, of: np.ndarray) -> np.ndarray:
        new = (of >= 2)[:, None]
        real, made = own_classes(z, np.maximum(of, 2)), T * T * held(z, old)
        return np.where(new, real / new.sum(), 0.7 * made / (~new).sum())

    np.testing.assert_allclose(after(method), by_hand(slope, drawn=drawn), rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["linear", "cnn"])
def test_the_generators_slope_is_that_of_its_objective(name: str) -> None:
    """Differences of the objective along random directions; the student counts where it names another class."""
    model = model_of(name)
    pixels = image_clients(model, (4,), (0,))[0].current.pixels
    server = Server(round_of(model, 3, 0), model.start(1), pixels, FEW)
    random = np.random.default_rng(0)
    images = torch.from_numpy(random.standard_normal((12, 1, 4, 4)))
    labels = torch.arange(12) % 4
    soft = model.outputs(server.teacher, images)[:, :4]
    apart = soft.argmax(1) != model.outputs(server.student, images)[:, :4].argmax(1)
    assert 0 < int(apart.sum()) < 12

    def objective(at: torch.Tensor) -> float:
        z = model.outputs(server.teacher, at)[:, :4]
        student = model.outputs(server.student, at)[:, :4]
        gain = divergence(student, soft)[apart].sum() / 12
        right = torch.nn.functional.cross_entropy(z, labels) - FEW.disagreement * gain
        return float(right) + FEW.normalisation * batch_norms(model, server.teacher, at)

    slope, h = server.slope(images, labels), 1e-6
    for _ in range(3):
        direction = torch.from_numpy(random.standard_normal(images.shape))
        difference = (objective(images + h * direction) - objective(images - h * direction)) / (2 * h)
        assert float((slope * direction).sum()) == pytest.approx(difference, rel=1e-5)


def batch_norms(model: FlatModel, state: torch.Tensor, images: torch.Tensor) -> float:
    """How far the batch is from the running statistics, layer by layer."""
    parts, total, x = model.split(state), 0.0, images
    if not model.statistics:
        return 0.0
    for k in (0, 4):
        x = torch.nn.functional.conv2d(x, parts[f"body.{k}.weight"], padding=1)
        mean, variance = (parts[f"body.{k + 1}.running_{what}"] for what in ("mean", "var"))
        total += float((x.mean((0, 2, 3)) - mean).norm() + (x.var((0, 2, 3), unbiased=False) - variance).norm())
        gain, shift = parts[f"body.{k + 1}.weight"], parts[f"body.{k + 1}.bias"]
        x = torch.nn.functional.batch_norm(x, mean, variance, gain, shift, eps=1e-5).relu()
        x = torch.nn.functional.max_pool2d(x, 2, ceil_mode=True)
    return total


def test_divergence_by_hand() -> None:
    z, old = torch.tensor([[1.0, 3.0]]).double(), torch.tensor([[2.0, 0.0]]).double()
    p, q = softmax(old.numpy() / T), softmax(z.numpy() / T)
    assert float(divergence(z, old, T)) == pytest.approx(T * T * float((p * np.log(p / q)).sum()))
    assert float(distillation(z, old, T)) == pytest.approx(-float((p * np.log(q)).sum()))


def test_the_server_makes_images_of_the_classes_seen() -> None:
    method, before = make("target", FEW), CLIENTS[0].current.pixels.images.clone()
    end_task(method, round_of(MODEL, 3, 0, task=0), CLIENTS, OLD, InOneProcess())
    rows = method.memory()[MADE]
    assert rows.shape == (10, 17)
    assert set(rows[:, 0].tolist()) == {0.0, 1.0}
    assert torch.equal(rows[:, 1:], rows[:, 1:].round().clamp(0, 255))
    # The data set is as it was, and no image is one of it.
    assert torch.equal(CLIENTS[0].current.pixels.images, before)
    of_data = {bytes(image.flatten().tolist()) for image in before}
    assert not of_data & {bytes(row[1:].byte().tolist()) for row in rows}
    again, other = make("target", FEW), make("target", FEW)
    end_task(again, round_of(MODEL, 3, 0, task=0), CLIENTS, OLD, InOneProcess())
    assert torch.equal(again.memory()[MADE], rows)
    other.restore(method.memory())
    now = round_of(MODEL, 3, 1)
    states = [one_round(each, now, CLIENTS, START, InOneProcess()).state for each in (method, other)]
    assert torch.equal(*states)


def test_the_student_learns_from_all_images_so_far() -> None:
    """Batches of 4, 4 and 2: no step of Adam but these three, after the second batch on the first one again."""
    pixels, taught = CLIENTS[0].current.pixels, list[torch.Tensor]()
    server = Server(round_of(MODEL, 3, 0), OLD, pixels, FEW)
    teach = server._teach
    server._teach = lambda stored: (taught.append(stored), teach(stored))  # type: ignore[method-assign,func-returns-value]
    rows = server.images()[:, 1:].byte().view(-1, 1, 4, 4)
    assert [len(each) for each in taught] == [4, 4, 4]
    assert all(torch.equal(each, rows[first : first + 4]) for each, first in zip(taught, (0, 0, 4), strict=True))
    # As far from the teacher as before, or nearer: a step of size 1e-3 on ten numbers cannot do more.
    before = MODEL.start(int(round_of(MODEL, 3, 0).random("images", 3).integers(1 << 62)))
    shown = pixels.shown(rows[:8].double())
    soft = MODEL.outputs(OLD, shown)[:, : server.seen]
    far = [float(divergence(MODEL.outputs(x, shown)[:, : server.seen], soft).mean()) for x in (before, server.student)]
    assert far[1] < far[0]


def test_images_are_made_at_the_stored_size_and_shown_at_the_networks() -> None:
    model = make_model("cnn", (1, 8, 8), (2, 2, 2), heads="growing", dtype=torch.float64, hidden=(3,))
    clients = image_clients(model, (4,), (0,), side=8)
    stored = clients[0].current.pixels
    small = replace(stored, images=stored.images[:, :, ::2, ::2].contiguous(), side=8)
    assert Server(round_of(model, 1, 0), model.start(1), small, FEW).images().shape == (10, 1 + 16)


def test_steps_make_images_more_like_their_labels() -> None:
    """Without the other terms the teacher's cross-entropy falls."""
    losses = []
    for steps in (1, 60):
        options = TargetOptions(images=32, batch=32, steps=steps, rate=0.02, disagreement=0.0)
        server = Server(round_of(MODEL, 3, 0), OLD, CLIENTS[0].current.pixels, options)
        rows = server.images()
        shown = CLIENTS[0].current.pixels.shown(rows[:, 1:].view(-1, 1, 4, 4))
        z = MODEL.outputs(OLD, shown)[:, :4]
        losses.append(float(torch.nn.functional.cross_entropy(z, rows[:, 0].long())))
    assert losses[1] < losses[0] / 2


@pytest.mark.parametrize("kind", [Icarl, Target])
def test_memories_are_forgotten_on_request(kind: Any) -> None:
    method = make(kind.name, FEW if kind is Target else None)
    end_task(method, round_of(MODEL, 3, 0), CLIENTS, OLD, InOneProcess())
    assert "old" in method.memory()
    method.restore({})
    assert method.memory() == {}
