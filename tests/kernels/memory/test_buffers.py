"""Buffers: what a stream leaves in them, and that they never need what they dropped."""

from __future__ import annotations

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels.memory import buffers
from cflag_theory.kernels.memory.buffers import Buffer, content, reservoir, ring, unlimited

STREAMS = st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=12), min_size=1, max_size=4)
BUFFERS = st.one_of(st.builds(ring, st.integers(1, 9)), st.builds(reservoir, st.integers(1, 9)), st.just(unlimited()))


def held(buffer, tasks, **counter):
    return content(buffer, [np.array(task) for task in tasks], **counter).tolist()


@given(tasks=STREAMS, buffer=BUFFERS, replica=st.integers(0, 2**32 - 1))
def test_a_buffer_only_forgets(tasks, buffer, replica):
    """After one more task it holds part of what it held and part of what came: it can be kept online."""
    seen: list[int] = []
    total = 0
    for n in range(1, len(tasks) + 1):
        now = held(buffer, tasks[:n], replica=replica)
        arrived = range(total, total + len(tasks[n - 1]))
        total += len(tasks[n - 1])
        assert now == sorted(set(now))
        assert set(now) <= {*seen, *arrived}
        assert len(now) <= (total if buffer.kind == "all" else buffer.size)
        seen = now


@given(tasks=STREAMS, buffer=BUFFERS)
def test_a_buffer_with_room_for_all_keeps_all(tasks, buffer):
    """A ring keeps all if each class has room: its places are shared out among classes."""
    count = sum(map(len, tasks))
    classes = len({label for task in tasks for label in task})
    roomy = buffer if buffer.kind == "all" else Buffer(buffer.kind, count * classes)
    assert held(roomy, tasks) == list(range(count))


@given(tasks=STREAMS, size=st.integers(1, 9))
def test_a_ring_is_balanced_over_the_classes_and_keeps_the_newest(tasks, size):
    stream = [label for task in tasks for label in task]
    kept = held(ring(size), tasks)
    order = list(dict.fromkeys(stream))
    for place, label in enumerate(order):
        mine = [position for position in kept if stream[position] == label]
        newest = [position for position, other in enumerate(stream) if other == label]
        room = size // len(order) + (place < size % len(order))
        assert len(mine) <= room
        # The newest of its class, as many as its queue can have held since the last class arrived.
        assert mine == newest[len(newest) - len(mine) :]
        assert mine or room == 0 or len(order) > size


@given(count=st.integers(1, 30), size=st.integers(1, 12))
def test_a_ring_with_one_class_is_the_newest_of_the_stream(count, size):
    assert held(ring(size), [[7] * count]) == list(range(max(0, count - size), count))


def test_a_ring_shortens_its_queues_as_classes_arrive():
    assert held(ring(4), [[0, 0, 0, 0, 0]]) == [1, 2, 3, 4]
    assert held(ring(4), [[0, 0, 0, 0, 0], [1]]) == [3, 4, 5]
    assert held(ring(4), [[0, 0, 0, 0, 0], [1, 1, 1, 2]]) == [3, 4, 7, 8]


def test_a_reservoir_is_uniform_over_the_whole_stream():
    draws, size, tasks = 6000, 3, [[0] * 4, [1] * 3, [0] * 3]
    seen = Counter(
        position for replica in range(draws) for position in held(reservoir(size), tasks, replica=replica, seed=11)
    )
    fair = draws * size / 10
    # Five standard deviations of a binomial count: a fixed seed, so this cannot flicker.
    assert set(seen) == set(range(10))
    assert all(abs(count - fair) < 5 * math.sqrt(fair * (1 - size / 10)) for count in seen.values())
    pairs = Counter(tuple(held(reservoir(2), [[0] * 5], replica=replica, seed=11)) for replica in range(draws))
    assert len(pairs) == 10
    assert all(abs(count - draws / 10) < 5 * math.sqrt(draws / 10) for count in pairs.values())


@pytest.mark.parametrize(("counts", "size"), [((4,), 1), ((3, 2), 2), ((2, 1, 3), 3), ((2,), 5)])
def test_every_subset_is_left_by_equally_many_draws(monkeypatch, counts, size):
    """The law of a reservoir by enumeration: all outcomes of its draws, each as likely as any other."""
    total = sum(counts)
    left = Counter()
    for outcome in product(*(range(seen + 1) for seen in range(size, total))):
        upcoming = iter(outcome)

        def below(word, n, upcoming=upcoming):
            drawn = next(upcoming)
            assert 0 <= drawn < n
            return drawn

        monkeypatch.setattr(buffers, "below", below)
        left[tuple(held(reservoir(size), [[0] * count for count in counts]))] += 1
        assert next(upcoming, None) is None
    assert len(left) == math.comb(total, min(size, total))
    assert len(set(left.values())) == 1


@pytest.mark.parametrize("part", ["replica", "client", "seed"])
def test_subsets_of_two_tasks_are_equally_frequent(part):
    """Chi-square over the 10 pairs of 5 components; fixed keys, so this cannot flicker."""
    draws = 3000
    seen = Counter(tuple(held(reservoir(2), [[0] * 3, [1] * 2], **{part: key})) for key in range(draws))
    assert len(seen) == 10
    assert sum((count - draws / 10) ** 2 / (draws / 10) for count in seen.values()) < chi2.ppf(0.9999, 9)


def test_clients_keep_independent_subsets():
    """Chi-square over the 36 pairs of outcomes of two clients that keep 2 of 4 components each."""
    draws = 4000
    tasks = [[0] * 4]
    seen = Counter(
        (
            tuple(held(reservoir(2), tasks, replica=replica, client=0)),
            tuple(held(reservoir(2), tasks, replica=replica, client=1)),
        )
        for replica in range(draws)
    )
    assert len(seen) == 36
    assert sum((count - draws / 36) ** 2 / (draws / 36) for count in seen.values()) < chi2.ppf(0.9999, 35)


@given(tasks=STREAMS, size=st.integers(1, 9))
def test_a_ring_drops_only_what_has_no_place(tasks, size):
    """Its queues by hand: arrivals one by one, each queue cut to its places among the classes seen so far."""
    stream = [label for task in tasks for label in task]
    queues: dict[int, list[int]] = {}
    for n, label in enumerate(stream):
        queues[label] = [*queues.get(label, []), n]
        seen = list(dict.fromkeys(stream[: n + 1]))
        rooms = {one: len(range(place, size, len(seen))) for place, one in enumerate(seen)}
        queues = {one: queue[max(0, len(queue) - rooms[one]) :] for one, queue in queues.items()}
    assert held(ring(size), tasks) == sorted(position for queue in queues.values() for position in queue)


def test_every_part_of_the_counter_changes_a_reservoir():
    tasks = [[0] * 40]
    base = {"seed": 1, "replica": 2, "client": 3}
    reference = held(reservoir(10), tasks, **base)
    assert held(reservoir(10), tasks, **base) == reference
    for part in base:
        assert held(reservoir(10), tasks, **{**base, part: base[part] + 1}) != reference
    # The second task has draws of its own, though its steps are counted from 0.
    twice = held(reservoir(10), [[0] * 40, [0] * 40], **base)
    assert held(reservoir(10), [[0] * 80], **base) != twice


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ring(0), "size 0: use an integer of at least 1"),
        (lambda: reservoir(-1), "size is -1"),
        (lambda: reservoir(2.5), "size is 2.5"),
        (lambda: Buffer("all", 3), "none for 'all'"),
    ],
)
def test_bad_buffers_are_refused(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()


def test_an_unknown_buffer_lists_the_known_ones():
    with pytest.raises(UnknownName, match="all, ring, reservoir"):
        Buffer("stack", 3)
