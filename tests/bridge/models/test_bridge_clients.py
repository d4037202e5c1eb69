"""What clients hold, and how well a state does on the test images."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from small_runs import World

from cflag_theory.bridge.methods.descent import memory_positions, most_drawn
from cflag_theory.bridge.models.clients import ClientData, Pixels, clients_of, pixels, within_task
from cflag_theory.bridge.training import evaluation
from cflag_theory.bridge.training.evaluation import accuracies
from cflag_theory.errors import InvalidInput


def test_pixels_are_normalised_when_they_are_taken(world):
    images = np.random.default_rng(0).integers(0, 256, (5, 3, 4, 2), dtype=np.uint8)
    mean, std = np.array([0.2, 0.7]), np.array([0.5, 0.1])
    stored = pixels(images, mean, std, world.model)
    assert stored.images.dtype == torch.uint8
    taken = stored.take(torch.tensor([4, 1])).numpy()
    expected = ((images[[4, 1]] / 255 - mean) / std).transpose(0, 3, 1, 2)
    np.testing.assert_allclose(taken, expected, rtol=0, atol=1e-14)


def test_numbers_that_are_no_bytes_are_taken_as_they_are():
    one = torch.ones(1, 1, 1, dtype=torch.float64)
    rows = torch.arange(6.0).reshape(3, 1, 1, 2)
    assert torch.equal(Pixels(rows, 2 * one, one).take(torch.tensor([1])), rows[1:2].double())


def test_a_label_is_the_place_of_its_class_in_the_task():
    assert within_task((7, 3, 9), np.array([3, 9, 7, 7])).tolist() == [1, 2, 0, 0]
    assert within_task((7, 3), np.array([], dtype=np.int64)).tolist() == []
    for wrong in (8, 99, -1):
        with pytest.raises(InvalidInput, match=f"label {wrong} is of no class of the task \\(7, 3\\)"):
            within_task((7, 3), np.array([3, wrong]))


def test_clients_hold_the_streams_samples(world):
    stream, images = world.stream, world.images
    for task in (0, 2):
        clients = world.clients(task)
        assert [client.p for client in clients] == stream.shares[task].tolist()
        assert sum(client.p for client in clients) == pytest.approx(1, abs=1e-15)
        for i, client in enumerate(clients):
            assert client.index == i
            assert client.current.indices.tolist() == stream.train[task][i].tolist()
            assert set(client.current.tasks.tolist()) <= {task}
            before = [index for past in range(task) for index in stream.train[past][i]]
            assert client.past.indices.tolist() == before
            assert client.memory.n <= 20 * task
            assert set(client.memory.indices.tolist()) <= set(before)
            for data in (client.current, client.memory, client.past):
                numbers = zip(data.indices.tolist(), data.task_numbers, data.labels.tolist(), strict=True)
                for index, of_task, label in numbers:
                    assert stream.classes[of_task][label] == images.train_labels[index]
    assert [client.memory.n for client in world.clients(0)] == [0, 0, 0]


def test_memory_is_drawn_of_each_past_task(world):
    """So many of every task that is remembered, or all of it, never one twice; the first task has nothing."""
    for client in world.clients(2):
        owners = client.memory.task_numbers
        assert [owners[own].tolist() for own in client.memory.by_task] == [
            [task] * int((owners == task).sum()) for task in sorted(set(owners.tolist()))
        ]
        for sample in (1, 3, 1000):
            positions = memory_positions(client.memory, sample, np.random.default_rng(0))
            assert len(set(positions.tolist())) == len(positions) == most_drawn(client.memory, sample)
            counts = [int((owners[positions] == task).sum()) for task in range(3)]
            assert counts == [min(sample, int((owners == task).sum())) for task in range(3)]
    nothing = world.clients(0)[0].memory
    assert (memory_positions(nothing, 3, np.random.default_rng(0)).tolist(), most_drawn(nothing, 3)) == ([], 0)
    assert all(client.memory.n > 0 for client in world.clients(2))


def test_samples_are_taken_by_places_of_any_kind(world):
    data = world.clients(2)[0].memory
    assert len(set(data.task_numbers)) == 2
    chosen = data.batch(np.array([3, 0, data.n - 1]))
    for same in (data.batch(torch.tensor([3, 0, data.n - 1])), data.batch(slice(None))):
        picked = [3, 0, data.n - 1] if len(same.labels) == data.n else slice(None)
        for name in ("images", "labels", "tasks"):
            assert torch.equal(getattr(same, name)[picked], getattr(chosen, name))
    assert chosen.weights is None
    assert chosen.images.dtype == world.model.dtype


def test_accuracies_count_the_right_answers(world, monkeypatch):
    state = world.model.start(0)
    rows = accuracies(world.model, state, world.tests)
    parts = {name: value.numpy() for name, value in world.model.split(state).items()}
    images, stream = world.images, world.stream
    for task, found in enumerate(rows):
        x = (images.test_images[stream.test[task]] / 255 - images.mean) / images.std
        hidden = np.maximum(x.reshape(len(x), -1) @ parts["body.1.weight"].T + parts["body.1.bias"], 0)
        answers = (hidden @ parts[f"heads.{task}.weight"].T + parts[f"heads.{task}.bias"]).argmax(axis=1)
        right = np.array(stream.classes[task])[answers] == images.test_labels[stream.test[task]]
        assert found == right.mean()
    assert 0 < min(rows) < max(rows) < 1
    monkeypatch.setattr(evaluation, "BATCH", 7)
    assert accuracies(world.model, state, world.tests) == rows


def test_a_task_without_test_images_has_no_accuracy(world):
    empty = dataclasses.replace(world.tests[0], **dict.fromkeys(("indices", "labels", "tasks"), torch.zeros(0).long()))
    assert isinstance(empty, ClientData)
    found = accuracies(world.model, world.model.start(0), [empty, world.tests[1]])
    assert np.isnan(found[0])
    assert 0 <= found[1] <= 1


def test_clients_without_samples_are_there_with_a_share_of_zero(digits):
    world = World(digits, "mlp", dtype=torch.float32, clients=3)
    train = tuple((np.concatenate(of_task), of_task[0][:0], of_task[0][:0]) for of_task in world.stream.train)
    stream = dataclasses.replace(world.stream, train=train, shares=np.tile([1.0, 0.0, 0.0], (5, 1)))
    clients = clients_of(digits, stream, 0, (), world.train, world.model.device)
    assert [(client.p, client.current.n > 0, client.memory.n) for client in clients] == [
        (1.0, True, 0),
        (0.0, False, 0),
        (0.0, False, 0),
    ]
