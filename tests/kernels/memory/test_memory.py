"""Memories: validated rows of data, and draws that are uniform, balanced and without repetition."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels.memory import memory

SEED = 7


def draw(labels, first, count, size, balanced, *, seed=SEED, replica=0, client=0, round_=0):
    order = np.zeros(count, dtype=np.int64)
    labels = np.asarray(labels, dtype=np.int64)
    kept = memory.draw_subset(seed, replica, client, round_, labels, first, count, size, balanced, order)
    return order[:kept].tolist()


@settings(max_examples=100, deadline=None)
@given(
    labels=st.lists(st.integers(0, 4), min_size=1, max_size=30),
    first=st.integers(0, 5),
    size=st.integers(1, 35),
    balanced=st.booleans(),
    replica=st.integers(0, 2**32 - 1),
)
def test_a_draw_is_distinct_in_range_and_balanced(labels, first, size, balanced, replica):
    count = len(labels)
    drawn = draw([9] * first + labels, first, count, size, balanced, replica=replica)
    assert len(drawn) == len(set(drawn)) == min(size, count)
    assert all(first <= j < first + count for j in drawn)
    if balanced:
        present = Counter(labels)
        kept = Counter(labels[j - first] for j in drawn)
        not_exhausted = [kept[label] for label in present if kept[label] < present[label]]
        # A class gives less than another only if it has no more; among the rest, counts differ by at most one.
        assert all(kept[label] <= min(not_exhausted, default=count) + 1 for label in present)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_subsets_are_uniform(size):
    draws = 6000
    seen = Counter(tuple(sorted(draw([0] * 5, 0, 5, size, False, replica=k))) for k in range(draws))
    subsets = list(combinations(range(5), size))
    assert set(seen) == set(subsets)
    fair = draws / len(subsets)
    # Five standard deviations of a binomial count: a fixed seed, so this cannot flicker.
    assert all(abs(seen[subset] - fair) < 5 * math.sqrt(fair) for subset in subsets)


def test_balanced_draws_are_uniform_within_classes_and_in_the_remainder():
    # Classes of 4, 3 and 1; five kept: all of the last class and two of each of the others.
    labels = [2, 0, 0, 1, 0, 1, 0, 1]
    draws = 6000
    five = Counter(tuple(sorted(draw(labels, 0, 8, 5, True, replica=k))) for k in range(draws))
    expected = {tuple(sorted((0, *a, *b))) for a in combinations((1, 2, 4, 6), 2) for b in combinations((3, 5, 7), 2)}
    assert set(five) == expected
    fair = draws / len(expected)
    assert all(abs(count - fair) < 5 * math.sqrt(fair) for count in five.values())
    # Four kept: the one left over goes to either of the two larger classes with equal chance.
    extra = Counter(Counter(labels[j] for j in draw(labels, 0, 8, 4, True, replica=k))[0] for k in range(draws))
    assert set(extra) == {1, 2}
    assert abs(extra[1] - draws / 2) < 5 * math.sqrt(draws / 4)
    # One kept: every class is as likely, whatever its size.
    single = Counter(labels[draw(labels, 0, 8, 1, True, replica=k)[0]] for k in range(draws))
    assert all(abs(single[label] - draws / 3) < 5 * math.sqrt(draws / 3) for label in (0, 1, 2))


def test_every_part_of_the_counter_changes_the_draw():
    base = dict(seed=SEED, replica=0, client=0, round_=0)
    reference = draw([0] * 40, 0, 40, 20, False, **base)
    assert draw([0] * 40, 0, 40, 20, False, **base) == reference
    for part in base:
        assert draw([0] * 40, 0, 40, 20, False, **{**base, part: base[part] + 1}) != reference


def test_signs_are_fair_and_common_to_all_clients():
    signs = Counter(memory.draw_sign(SEED, replica, round_) for replica in range(40) for round_ in range(50))
    assert set(signs) == {1, -1}
    assert abs(signs[1] - 1000) < 5 * math.sqrt(500)


@pytest.mark.parametrize("d", [2, 3, 5, 6])
@pytest.mark.parametrize("angle", [0.3, math.pi / 2, -2.0])
def test_a_rotation_keeps_norms_and_turns_by_its_angle(d, angle):
    vector = np.random.default_rng(d).standard_normal(d)
    out = np.empty(d)
    memory.rotate(vector, angle, out)
    assert out @ out == pytest.approx(vector @ vector, rel=1e-14)
    even = d - d % 2
    assert out[:even] @ vector[:even] == pytest.approx(
        math.cos(angle) * (vector[:even] @ vector[:even]), rel=1e-12, abs=1e-14
    )
    assert (out[even:] == vector[even:]).all()
    assert out[0] == pytest.approx(math.cos(angle) * vector[0] - math.sin(angle) * vector[1], abs=1e-15)


def test_a_quarter_turn_is_exact():
    vector = np.array([Fraction(1, 3), Fraction(2), Fraction(5)])
    out = np.empty(3, dtype=object)
    memory.rotate(vector, math.pi / 2, out)
    assert out.tolist() == [-2, Fraction(1, 3), 5]


def test_m_and_scale_are_two_ways_to_say_one_thing():
    assert memory.sign_bias(m=0.25) == memory.sign_bias(scale=0.5)
    assert memory.sign_bias(m=Fraction(4, 9)).scale == Fraction(2, 3)
    assert isinstance(memory.sign_bias(m=Fraction(4, 9)).scale, Fraction)
    assert memory.rotation_bias(scale=Fraction(1, 2)).scale == Fraction(1, 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: memory.uniform(0), "size is 0"),
        (lambda: memory.class_balanced(-3), "size is -3"),
        (lambda: memory.uniform(2.5), "size is 2.5"),
        (lambda: memory.sign_bias(), "pass one of them"),
        (lambda: memory.sign_bias(m=1, scale=1), "pass one of them"),
        (lambda: memory.sign_bias(m=-0.1), "m is -0.1"),
        (lambda: memory.sign_bias(m=math.nan), "m is nan"),
        (lambda: memory.sign_bias(m="half"), "m is 'half': use a finite number"),
        (lambda: memory.rotation_bias(scale=-1), "scale is -1"),
        (lambda: memory.rotation_bias(scale=math.inf), "scale is inf"),
        (lambda: memory.rotation_bias(m=1, angle=math.inf), "angle is inf"),
        (lambda: memory.sign_bias(m=Fraction(1, 2)), "no rational square root"),
    ],
)
def test_bad_memories_are_refused(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()


def test_an_unknown_kind_lists_the_known_ones():
    with pytest.raises(UnknownName, match="all, subset, balanced, sign, rotation"):
        memory.Memory("ring")
