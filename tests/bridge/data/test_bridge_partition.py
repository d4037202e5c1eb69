"""The three Dirichlet partitions: who gets what, that nothing is lost or doubled, and that they have the right laws."""

from __future__ import annotations

import numpy as np
import pytest

from cflag_theory.bridge.data import partition
from cflag_theory.bridge.data.keyed import keyed
from cflag_theory.bridge.data.partition import (
    BALANCED,
    CLASS_OVER_CLIENTS,
    CLIENT_OVER_CLASSES,
    PARTITIONS,
    partition_task,
)
from cflag_theory.errors import InvalidInput, UnknownName

ZETAS = [1e-300, 0.1, 1.0, 1e5]


def labels_of(counts, seed=0):
    return np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts))


def table(parts, labels, classes):
    """Samples of each class (row) that each client (column) has."""
    return np.array([[np.count_nonzero(labels[part] == label) for part in parts] for label in classes])


@pytest.mark.parametrize("form", PARTITIONS)
@pytest.mark.parametrize("zeta", ZETAS)
@pytest.mark.parametrize(
    ("counts", "classes", "clients"),
    [
        ([100, 100, 100, 100], [1, 2], 5),
        ([31, 7, 0, 58, 3], [0, 1, 2, 3, 4], 4),
        ([50, 40], [0], 6),
        ([50, 40], [1, 0], 1),
        ([2, 1], [0, 1], 7),
        ([0, 0, 4], [0, 1], 3),
        ([9] * 20, list(range(20)), 50),
    ],
)
def test_every_sample_has_one_client(form, zeta, counts, classes, clients):
    labels = labels_of(counts)
    for seed in range(5):
        parts = partition_task(labels, classes, clients=clients, zeta=zeta, partition=form, seed=seed)
        assert len(parts) == clients
        assert np.array_equal(np.sort(np.concatenate(parts)), np.flatnonzero(np.isin(labels, classes)))
        assert all(part.dtype == np.int64 and (np.diff(part) > 0).all() for part in parts)
        if form != CLASS_OVER_CLIENTS:
            total = sum(counts[label] for label in classes)
            sizes = sorted((len(part) for part in parts), reverse=True)
            assert sizes == [total // clients + (place < total % clients) for place in range(clients)]


@pytest.mark.parametrize("form", PARTITIONS)
def test_large_zeta_gives_everyone_the_same(form):
    labels = labels_of([1000, 1000, 500])
    parts = partition_task(labels, [0, 1, 2], clients=5, zeta=1e9, partition=form, seed=3)
    # Clients that draw their classes have the noise of 500 draws and of what the others left.
    room = 60 if form == CLIENT_OVER_CLASSES else 1
    expected = np.full((3, 5), 500 / 3) if form == CLIENT_OVER_CLASSES else np.outer([1000, 1000, 500], np.full(5, 0.2))
    assert abs(table(parts, labels, [0, 1, 2]) - expected)[:, :2].max() <= room


@pytest.mark.parametrize("zeta", [0.1, 1.0, 10.0])
def test_shares_over_clients_have_the_moments_of_the_dirichlet_law(zeta):
    """E sum_i s_i^2 = (zeta + 1) / (N zeta + 1) over N clients."""
    clients, classes, each = 4, 300, 200
    labels = np.repeat(np.arange(classes), each)
    parts = partition_task(labels, range(classes), clients=clients, zeta=zeta, seed=1)
    squares = ((table(parts, labels, range(classes)) / each) ** 2).sum(axis=1)
    expected = (zeta + 1) / (clients * zeta + 1)
    assert abs(squares.mean() - expected) < 5 * squares.std() / np.sqrt(classes)
    assert squares.std() / np.sqrt(classes) < 0.03


@pytest.mark.parametrize("zeta", [0.1, 1.0, 10.0])
def test_mixtures_of_classes_have_the_moments_of_the_dirichlet_law(zeta):
    """The same over K classes, where no class runs out; the draws of n samples add (1 - sum) / n."""
    classes, clients, size = 4, 600, 100
    available = np.full(classes, clients * size)
    counts = partition.client_over_classes(available, np.full(clients, size), zeta, task=0, seed=1)
    squares = ((counts / size) ** 2).sum(axis=0)
    plain = (zeta + 1) / (classes * zeta + 1)
    assert abs(squares.mean() - (plain + (1 - plain) / size)) < 5 * squares.std() / np.sqrt(clients)
    assert squares.std() / np.sqrt(clients) < 0.02


def test_a_class_that_runs_out_is_drawn_again_as_if_sample_by_sample():
    """The counts of the last of three clients have the law of single draws without replacement."""
    available, sizes, runs = np.array([6, 30, 4]), np.array([12, 12, 12]), 1000

    def one_by_one(seed):
        left = available.copy()
        random = np.random.default_rng(seed)
        for client, size in enumerate(sizes):
            mixture = keyed(seed, "classes", 0, client).dirichlet(np.full(3, 1.0))
            before = left.copy()
            for _ in range(size):
                law = np.where(left > 0, mixture, 0)
                left[random.choice(3, p=law / law.sum())] -= 1
        return before - left

    found = np.array([partition.client_over_classes(available, sizes, 1.0, task=0, seed=s)[:, 2] for s in range(runs)])
    wanted = np.array([one_by_one(seed) for seed in range(runs)])
    error = np.sqrt((found.var(axis=0) + wanted.var(axis=0)) / runs)
    assert (abs(found.mean(axis=0) - wanted.mean(axis=0)) < 5 * error).all()
    assert (
        abs((found**2).mean(axis=0) - (wanted**2).mean(axis=0)) < 5 * np.sqrt(2 * (wanted**2).var(axis=0) / runs)
    ).all()
    assert (found[:, 0] == 0).mean() > 0.2


def test_given_sizes():
    labels = labels_of([40, 60])
    sizes = [10, 0, 25, 1]
    parts = partition_task(labels, [0, 1], clients=4, zeta=1.0, partition=CLIENT_OVER_CLASSES, sizes=sizes, seed=0)
    assert [len(part) for part in parts] == sizes
    assert len(np.unique(np.concatenate(parts))) == 36
    everything = partition_task(
        labels, [0, 1], clients=2, zeta=0.1, partition=CLIENT_OVER_CLASSES, sizes=[70, 30], seed=0
    )
    assert np.array_equal(np.sort(np.concatenate(everything)), np.arange(100))


@pytest.mark.parametrize("zeta", [1.0, 10.0])
def test_balancing_is_sinkhorns(zeta):
    """The balanced table is the drawn one with rows and columns scaled: its cross ratios are those of the draw."""
    shares = np.array([keyed(5, "clients", 0, label).dirichlet(np.full(3, zeta)) for label in range(4)])
    available = np.array([10**9, 3 * 10**9, 10**9, 10**9])
    counts = partition.balanced(shares, available)
    assert np.array_equal(counts.sum(axis=1), available)
    assert np.array_equal(counts.sum(axis=0), np.full(3, 2 * 10**9))

    def ratios(values):
        return np.log(values[1:, 1:] * values[:1, :1] / (values[1:, :1] * values[:1, 1:]))

    np.testing.assert_allclose(ratios(counts.astype(float)), ratios(shares), atol=1e-4)


@pytest.mark.parametrize("zeta", [1e-300, 1e-3, 0.1, 1.0, 1e5])
def test_balanced_sums_are_exact_for_any_table(zeta):
    random = np.random.default_rng(0)
    for seed in range(15):
        classes, clients = random.integers(1, 21), random.integers(1, 51)
        available = random.integers(0, 600, size=classes)
        shares = random.dirichlet(np.full(clients, zeta), size=classes)
        counts = partition.balanced(shares, available)
        assert counts.min() >= 0
        assert np.array_equal(counts.sum(axis=1), available), seed
        assert counts.sum(axis=0).max() - counts.sum(axis=0).min() <= 1


def test_rounding_moves_no_cell_by_more_than_one(monkeypatch):
    chains = []
    chain = partition._chain
    monkeypatch.setattr(partition, "_chain", lambda *given: chains.append(chain(*given)) or chains[-1])
    random = np.random.default_rng(1)
    for _ in range(60):
        rows, columns = random.integers(1, 16, size=2)
        values = random.exponential(size=(rows, columns))
        wanted_rows = np.ceil(values.sum(axis=1)).astype(np.int64)
        wanted_columns = partition._equal(int(wanted_rows.sum()), int(columns))
        values = partition.transport(values, wanted_rows, wanted_columns)
        np.testing.assert_allclose(values.sum(axis=1), wanted_rows)
        np.testing.assert_allclose(values.sum(axis=0), wanted_columns)
        counts = partition.rounded(values, wanted_rows, wanted_columns)
        assert np.array_equal(counts.sum(axis=1), wanted_rows)
        assert np.array_equal(counts.sum(axis=0), wanted_columns)
        assert abs(counts - values).max() < 1 + 1e-6
    assert len(chains) > 10


def test_rounding_finds_the_way_out_of_a_corner():
    """Nearest first fills (0, 0) and (1, 1); row 2 then needs column 0, and must be given it by a chain."""
    values = np.array([[0.9, 0.1], [0.05, 0.95], [0.05, 0.95]])
    counts = partition.rounded(values, np.array([1, 1, 1]), np.array([1, 2]))
    assert counts.tolist() == [[1, 0], [0, 1], [0, 1]]
    more = np.array([[True, False], [False, False]])
    assert partition._chain(more, 1, np.array([0, 1])) == 1
    assert more.tolist() == [[True, False], [False, True]]
    # Row 0 lacks only column 2, which misses none: it takes the place of row 1 there, and row 1 one in column 0.
    more = np.array([[True, True, False], [False, True, True], [True, True, False]])
    assert partition._chain(more, 0, np.array([1, 0, 0])) == 0
    assert more.tolist() == [[True, True, True], [True, True, False], [True, True, False]]


def test_draws_depend_on_their_keys_alone():
    labels = labels_of([300, 300, 300])
    for form in (CLASS_OVER_CLIENTS, CLIENT_OVER_CLASSES, BALANCED):

        def deal(classes, form=form, **changes):
            options = {"clients": 4, "zeta": 1.0, "partition": form, "task": 2, "seed": 9} | changes
            return [part.tolist() for part in partition_task(labels, classes, **options)]

        assert deal([0, 1]) == deal([0, 1])
        assert len({str(deal([0, 1], **change)) for change in ({}, {"seed": 10}, {"task": 3})}) == 3
        # Not only which samples, but how many.
        sizes = [[labels[part].sum() for part in deal([0, 1], task=task)] for task in range(4)]
        assert all(sizes[task] != sizes[0] for task in range(1, 4))
    # A class is cut in the same way whatever the other classes of its task.
    alone, both = (partition_task(labels, classes, clients=4, zeta=1.0, task=2, seed=9) for classes in ([0], [2, 1, 0]))
    assert all(np.array_equal(part[labels[part] == 0], other) for part, other in zip(both, alone, strict=True))


def test_streams_of_numbers_are_apart():
    first = keyed(7, "a", 1, 2).random(4).tolist()
    assert keyed(7, "a", 1, 2).random(4).tolist() == first
    others = [keyed(8, "a", 1, 2), keyed(7, "b", 1, 2), keyed(7, "a", 2, 1), keyed(7, "a", 1, 3), keyed(7, "a")]
    assert not {value for other in others for value in other.random(1000).tolist()} & set(first)
    assert keyed(2**63 - 1, "a").integers(10) in range(10)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"clients": 0}, InvalidInput, "clients is 0: use an integer of at least 1"),
        ({"clients": 2.5}, InvalidInput, "clients is 2.5"),
        ({"zeta": 0}, InvalidInput, "zeta is 0: use a number above 0"),
        ({"zeta": float("nan")}, InvalidInput, "zeta is nan"),
        ({"zeta": 1e13}, InvalidInput, "at most 1e12"),
        ({"classes": []}, InvalidInput, r"classes are \[\]: name at least one"),
        ({"classes": [0, 0]}, InvalidInput, r"classes are \[0, 0\]"),
        ({"partition": "iid"}, UnknownName, "partition 'iid' is unknown: use one of class-over-clients, "),
        ({"seed": -1}, InvalidInput, "seed is -1: use an integer of at least 0"),
        ({"seed": 1.5}, InvalidInput, "seed is 1.5"),
        ({"sizes": [1, 1]}, InvalidInput, "go with 'client-over-classes'"),
        ({"sizes": [1], "partition": CLIENT_OVER_CLASSES}, InvalidInput, "for each of the 2 clients"),
        ({"sizes": [1, -1], "partition": CLIENT_OVER_CLASSES}, InvalidInput, "integer of at least 0"),
        ({"sizes": [1, 0.5], "partition": CLIENT_OVER_CLASSES}, InvalidInput, r"sizes\[1\] is 0.5: use an integer"),
        ({"sizes": [15, 6], "partition": CLIENT_OVER_CLASSES}, InvalidInput, "sum to 21, but a task has 20 samples"),
    ],
)
def test_arguments(options, error, words):
    arguments = {"classes": [0, 1], "clients": 2, "zeta": 1.0, "seed": 0} | options
    with pytest.raises(error, match=words):
        partition_task(labels_of([10, 10]), arguments.pop("classes"), **arguments)
