"""Heads that grow: masking what is not seen is appending what is, and test images are classified among all seen."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from bridge_clients import image_clients
from torch import Tensor

from cflag_theory.bridge.models.flat_model import FlatModel, make_model
from cflag_theory.bridge.models.networks import Batch
from cflag_theory.bridge.models.rows import full_gradients
from cflag_theory.bridge.training.evaluation import accuracies
from cflag_theory.errors import UnknownName

CLASSES = (2, 2, 3)
SHAPE = (1, 4, 4)


def model_of(name: str = "mlp", classes: tuple[int, ...] = CLASSES, heads: str = "growing", **more: str) -> FlatModel:
    return make_model(name, SHAPE, classes, heads=heads, dtype=torch.float64, **more)


def batch_of(tasks: list[int]) -> Batch:
    random = np.random.default_rng(0)
    images = torch.from_numpy(random.standard_normal((len(tasks), *SHAPE)))
    return Batch(images, torch.from_numpy(random.integers(0, 2, len(tasks))), torch.tensor(tasks))


def of_appended(model: FlatModel, appended: FlatModel, vector: Tensor) -> Tensor:
    """What of a vector belongs to a model that has the first classes only."""
    parts = model.split(vector)
    return torch.cat([parts[name][: shape[0]].reshape(-1) for name, _, shape in appended.tensors])


@pytest.mark.parametrize("task", [0, 1, 2])
def test_masked_is_appended(task: int) -> None:
    """The model that has only the heads of the tasks so far gives the same loss and gradient; the others get none."""
    model, appended = model_of(), model_of(classes=(sum(CLASSES[: task + 1]),), heads="masked")
    state, tasks = model.start(3), [0, task, task]
    batch = batch_of(tasks)
    model.see(task)
    loss, gradient = model.gradient(state, batch)
    firsts = torch.tensor([sum(CLASSES[:each]) for each in tasks])
    same = Batch(batch.images, batch.labels + firsts, torch.zeros(3, dtype=torch.int64))
    wanted, of_all = appended.gradient(of_appended(model, appended, state), same)
    torch.testing.assert_close(loss, wanted, rtol=1e-14, atol=0)
    torch.testing.assert_close(of_appended(model, appended, gradient), of_all, rtol=1e-12, atol=1e-15)
    assert int((gradient != 0).sum()) == int((of_all != 0).sum())
    logits = model.logits(state, batch.images, 0)
    assert torch.isinf(logits[:, firsts.max() + CLASSES[task] :]).all()
    torch.testing.assert_close(
        logits[:, : firsts.max() + CLASSES[task]],
        appended.logits(of_appended(model, appended, state), batch.images, 0),
        rtol=1e-13,
        atol=0,
    )


def test_old_logits_are_masked_on_current_data_alone() -> None:
    """On images of the newest task the loss is over its two classes, on others and in tests over all four seen."""
    model = model_of("linear", (2, 2, 2), old_logits="masked")
    model.see(1)
    state, batch = model.start(3), batch_of([0, 1, 1])
    z = model.outputs(state, batch.images)
    own = torch.logsumexp(z[1:, 2:4], 1) - z[[1, 2], 2 + batch.labels[1:]]
    old = torch.logsumexp(z[:1, :4], 1) - z[[0], batch.labels[:1]]
    torch.testing.assert_close(model.gradient(state, batch)[0], torch.cat([own, old]).mean(), rtol=1e-13, atol=0)
    kept = model_of("linear", (2, 2, 2))
    kept.see(1)
    all_seen = torch.logsumexp(z[:, :4], 1) - z[torch.arange(3), 2 * batch.tasks + batch.labels]
    torch.testing.assert_close(kept.gradient(state, batch)[0], all_seen.mean(), rtol=1e-13, atol=0)
    assert torch.equal(model.logits(state, batch.images, 1), kept.logits(state, batch.images, 0))
    model.see(0)
    # Going back is possible: methods of a run share the model.
    assert torch.isinf(model.logits(state, batch.images, 0)[:, 2:]).all()


def test_test_images_have_the_classes_of_all_tasks_seen() -> None:
    model = model_of("linear", (2, 2))
    (client,) = image_clients(model, (30,), (30,))
    state = model.start(0)
    z = model.outputs(state, torch.cat([each.batch(slice(None)).images for each in (client.memory, client.current)]))
    right = torch.cat([client.memory.labels, 2 + client.current.labels])
    for task, columns in ((0, 2), (1, 4)):
        model.see(task)
        hits = (z[:, :columns].argmax(1) == right).double()
        shares = accuracies(model, state, (client.memory, client.current))
        assert shares == pytest.approx((float(hits[:30].mean()), float(hits[30:].mean())))
        assert (shares[1] == 0) == (task == 0)
    biased = accuracies(model, state, (client.memory, client.current), lambda images, task: z.new_ones(len(images), 4))
    assert biased == (float((client.memory.labels == 0).double().mean()), 0.0)


def test_the_pass_of_several_clients_sees_the_same() -> None:
    """The table of samples is not that of another task."""
    model = model_of(classes=(2, 2))
    (client,) = image_clients(model, (9,), (5,))
    state = model.start(0)
    for task in (1, 0, 1):
        model.see(task)
        data = [client.memory] if task == 0 else [client.current, client.memory]
        losses, gradients = full_gradients(model, state, data, 50, 9)
        for row, each in enumerate(data):
            loss, gradient = model.gradient(state, each.batch(slice(None)))
            assert float(losses[row]) == pytest.approx(float(loss), rel=1e-12)
            torch.testing.assert_close(gradients[row], gradient, rtol=1e-10, atol=1e-13)


def test_unknown_values_are_named() -> None:
    with pytest.raises(UnknownName, match="old_logits 'gone' is unknown: use one of kept, masked"):
        model_of(old_logits="gone")
