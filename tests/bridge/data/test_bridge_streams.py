"""Tasks x clients, and what is remembered of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cflag_theory.bridge.data.datasets import Images, load_images
from cflag_theory.bridge.data.streams import Stream, remembered, split_tasks
from cflag_theory.errors import DataError, InvalidInput, UnknownName


def made(name="made", classes=10, train=60, test=7):
    """Images without meaning: `train` and `test` of each class, mixed."""
    random = np.random.default_rng(0)
    labels = [random.permutation(np.repeat(np.arange(classes), count)) for count in (train, test)]
    pixels = [np.zeros((len(each), 1, 1, 1), dtype=np.uint8) for each in labels]
    names = tuple(f"class {label}" for label in range(classes))
    return Images(name, pixels[0], labels[0], pixels[1], labels[1], names, np.zeros(1), np.ones(1))


@pytest.fixture(scope="module")
def digits():
    return load_images("digits")


@pytest.mark.parametrize("partition", ["class-over-clients", "client-over-classes", "balanced"])
@pytest.mark.parametrize("zeta", [0.1, 1.0, 1e5])
def test_digits_are_split(digits, partition, zeta):
    stream = split_tasks(digits, clients=5, zeta=zeta, partition=partition, seed=1234)
    assert (stream.tasks, stream.clients) == (5, 5)
    assert stream.classes == ((0, 1), (2, 3), (4, 5), (6, 7), (8, 9))
    taken = np.sort(np.concatenate([part for row in stream.train for part in row]))
    assert np.array_equal(taken, np.arange(1442))
    assert np.array_equal(np.sort(np.concatenate(stream.test)), np.arange(355))
    for task, classes in enumerate(stream.classes):
        assert set(digits.test_labels[stream.test[task]]) == set(classes)
        total = sum(map(len, stream.train[task]))
        for client, part in enumerate(stream.train[task]):
            assert set(digits.train_labels[part]) <= set(classes)
            assert stream.shares[task, client] == len(part) / total
    np.testing.assert_allclose(stream.shares.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("name", "classes", "tasks", "each"),
    [("cifar10", 10, 5, 2), ("cifar100", 100, 5, 20), ("tinyimagenet", 200, 10, 20), ("digits", 10, 5, 2)],
)
def test_the_papers_numbers_of_tasks_and_classes(name, classes, tasks, each):
    stream = split_tasks(made(name, classes, train=3, test=1), clients=2, zeta=1.0, seed=0)
    assert [len(chosen) for chosen in stream.classes] == [each] * tasks


def test_shuffled_classes_are_a_function_of_the_seed():
    images = made()
    options = {"tasks": 5, "clients": 2, "zeta": 1.0, "class_order": "shuffled"}
    first, again, other = (split_tasks(images, seed=seed, **options) for seed in (1, 1, 2))
    assert first.classes == again.classes != other.classes
    assert sorted(sum(first.classes, ())) == list(range(10))
    assert first.classes != split_tasks(images, seed=1, **options | {"class_order": "given"}).classes
    assert all(set(images.train_labels[first.train[task][1]]) <= set(first.classes[task]) for task in range(5))


def test_clients_with_few_or_no_samples_are_noted():
    images = made(classes=4, train=3)
    images = replace(images, notes=("made of nothing",))
    stream = split_tasks(images, tasks=2, clients=20, zeta=0.1, seed=0)
    lengths = [[len(part) for part in row] for row in stream.train]
    assert stream.notes[0] == "made of nothing"
    for task, row in enumerate(lengths):
        none = [str(client) for client, length in enumerate(row) if length == 0]
        few = [str(client) for client, length in enumerate(row) if 1 <= length <= 2]
        # Numbered as in every table, and ten by name.
        more = f" and {len(none) - 10} more" if len(none) > 10 else ""
        assert f"task {task + 1}: clients {', '.join(none[:10])}{more} of 0 to 19 have no samples" in stream.notes
        noun, verb = ("client", "has") if len(few) == 1 else ("clients", "have")
        note = f"task {task + 1}: {noun} {', '.join(few)} of 0 to 19 {verb} at most 2 samples"
        assert (note in stream.notes) == bool(few)
        assert (stream.shares[task][np.array(row) == 0] == 0).all()
    assert split_tasks(made(), tasks=2, clients=3, zeta=1e5, seed=0).notes == ()


def test_sizes_are_passed_on():
    stream = split_tasks(made(), tasks=5, clients=2, zeta=1.0, partition="client-over-classes", sizes=[20, 10], seed=0)
    assert [[len(part) for part in row] for row in stream.train] == [[20, 10]] * 5
    np.testing.assert_allclose(stream.shares, [[2 / 3, 1 / 3]] * 5)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"tasks": 3}, InvalidInput, "tasks is 3, but made has 10 classes: use one of 1, 2, 5, 10"),
        ({"tasks": 0}, InvalidInput, "tasks is 0"),
        ({"tasks": True}, InvalidInput, "tasks is True"),
        ({"tasks": None}, InvalidInput, "tasks is None, but made has 10 classes"),
        ({"class_order": "random"}, UnknownName, "class order 'random' is unknown: use one of given, shuffled"),
        ({"partition": "even"}, UnknownName, "partition 'even'"),
        ({"seed": -3}, InvalidInput, "seed is -3"),
        ({"zeta": -1.0}, InvalidInput, "zeta is -1.0"),
        ({"clients": 0}, InvalidInput, "clients is 0"),
    ],
)
def test_arguments(options, error, words):
    with pytest.raises(error, match=words):
        split_tasks(made(), **{"tasks": 5, "clients": 2, "zeta": 1.0, "seed": 0} | options)


def test_a_task_without_images():
    images = made()
    kept = images.test_labels < 8
    lost = replace(images, test_images=images.test_images[kept], test_labels=images.test_labels[kept])
    with pytest.raises(DataError, match=r"task 5 of made \(classes 8, 9\) has no test images: use fewer tasks"):
        split_tasks(lost, tasks=5, clients=2, zeta=1.0, seed=0)
    assert split_tasks(lost, tasks=1, clients=2, zeta=1.0, seed=0).tasks == 1
    kept = images.train_labels > 1
    lost = replace(images, train_images=images.train_images[kept], train_labels=images.train_labels[kept])
    with pytest.raises(DataError, match=r"task 1 of made .* has no train images"):
        split_tasks(lost, tasks=5, clients=2, zeta=1.0, seed=0)


#: Of two clients over three tasks: the second saw nothing of task 0, and only one class of task 1.
LABELS = np.array([0, 1, 0, 1, 0, 1, 1, 1, 2, 3, 2, 2, 2, 2, 4, 5])


@pytest.fixture
def small():
    parts = [[range(8), []], [[8, 9, 10], [11, 12, 13]], [[14], [15]]]
    train = tuple(tuple(np.array(part, dtype=np.int64) for part in row) for row in parts)
    lengths = np.array([[len(part) for part in row] for row in train], dtype=float)
    shares = lengths / lengths.sum(axis=1, keepdims=True)
    return Stream(((0, 1), (2, 3), (4, 5)), train, tuple(np.arange(2) for _ in range(3)), shares)


def lists(memory):
    return [[part.tolist() for part in client] for client in memory]


def test_nothing_is_remembered_before_the_first_task(small):
    for kind in ("ring", "reservoir", "by-task"):
        assert remembered(small, LABELS, 0, kind=kind, size=3, seed=0) == ((), ())


def test_a_ring_keeps_the_newest_of_each_class(small):
    # Client 0: classes 0, 1, 0, 1, 0, 1, 1, 1 at 0..7. The class seen first has the odd place.
    assert lists(remembered(small, LABELS, 1, size=4, seed=0)) == [[[2, 4, 6, 7]], [[]]]
    assert lists(remembered(small, LABELS, 2, size=5, seed=0)) == [[[0, 2, 4, 6, 7], [8, 9, 10]], [[], [11, 12, 13]]]
    assert lists(remembered(small, LABELS, 2, size=2, seed=0)) == [[[4, 7], [9, 10]], [[], [12, 13]]]


def test_a_ring_per_task_does_not_forget_when_tasks_arrive(small):
    early, late = (remembered(small, LABELS, task, size=3, seed=0) for task in (1, 3))
    for client in range(2):
        assert np.array_equal(early[client][0], late[client][0])
        assert len(late[client]) == 3


@pytest.mark.parametrize("kind", ["ring", "reservoir", "by-task"])
def test_everything_fits(small, kind):
    memory = remembered(small, LABELS, 3, kind=kind, size=100, seed=0)
    assert lists(memory) == [[small.train[past][client].tolist() for past in range(3)] for client in range(2)]
    assert all(part.dtype == np.int64 for client in memory for part in client)


def test_the_papers_buffer_is_balanced():
    images = made(classes=4, train=500)
    stream = split_tasks(images, tasks=2, clients=2, zeta=1e5, seed=0)
    for client in remembered(stream, images.train_labels, 1, size=400, seed=0):
        assert np.bincount(images.train_labels[client[0]]).tolist() == [200, 200]
        assert (np.diff(client[0]) > 0).all()


def test_random_exemplars_know_no_classes():
    images = made(classes=4, train=500)
    stream = split_tasks(images, tasks=2, clients=2, zeta=1e5, seed=0)
    options = {"kind": "by-task", "size": 40}
    counts = []
    for seed in range(60):
        (first, second) = remembered(stream, images.train_labels, 2, seed=seed, **options)
        assert [len(part) for part in (*first, *second)] == [40] * 4
        assert set(first[1]) <= set(stream.train[1][0])
        assert (np.diff(first[1]) > 0).all()
        counts.append(np.count_nonzero(images.train_labels[first[0]] == 0))
    # 40 of 500 without replacement, half of them of class 0: mean 20, standard deviation 3.03.
    assert abs(np.mean(counts) - 20) < 5 * 3.03 / np.sqrt(60)
    assert 1.8 < np.std(counts) < 4.5
    again = remembered(stream, images.train_labels, 1, seed=3, **options)
    assert np.array_equal(again[1][0], remembered(stream, images.train_labels, 2, seed=3, **options)[1][0])


def test_a_reservoir_shares_its_places_among_the_tasks():
    images = made(classes=6, train=100)
    stream = split_tasks(images, tasks=3, clients=2, zeta=1e5, seed=0)
    options = {"kind": "reservoir", "size": 30}
    kept = []
    for seed in range(40):
        before, after = (remembered(stream, images.train_labels, task, seed=seed, **options) for task in (2, 3))
        for client in range(2):
            assert sum(map(len, before[client])) == sum(map(len, after[client])) == 30
            for past in range(3):
                assert set(after[client][past]) <= set(stream.train[past][client])
                # What it has dropped never comes back.
                assert past == 2 or set(after[client][past]) <= set(before[client][past])
        kept.append([len(part) for part in after[0]])
    # 30 places over three tasks of equal size: 10 each, standard deviation 2.45.
    assert (abs(np.mean(kept, axis=0) - 10) < 5 * 2.45 / np.sqrt(40)).all()


@pytest.mark.parametrize("kind", ["reservoir", "by-task"])
def test_clients_draw_each_for_itself(kind):
    labels = np.zeros(200, dtype=np.int64)
    stream = Stream(((0,),), ((np.arange(100), np.arange(100, 200)),), (np.arange(1),), np.array([[0.5, 0.5]]))
    first, second = remembered(stream, labels, 1, kind=kind, size=20, seed=0)
    assert len(first[0]) == len(second[0]) == 20
    assert not np.array_equal(first[0], second[0] - 100)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"kind": "herding"}, UnknownName, "memory 'herding' is unknown: use one of ring, reservoir, by-task"),
        ({"task": 4}, InvalidInput, "task is 4: use an integer from 0 to 3"),
        ({"task": -1}, InvalidInput, "task is -1"),
        ({"size": 0}, InvalidInput, "memory size is 0: use an integer of at least 1"),
        ({"size": 2.0}, InvalidInput, "memory size is 2.0"),
        ({"seed": -1}, InvalidInput, "seed is -1"),
    ],
)
def test_memory_arguments(small, options, error, words):
    with pytest.raises(error, match=words):
        remembered(small, LABELS, **{"task": 1, "size": 2, "seed": 0} | options)
