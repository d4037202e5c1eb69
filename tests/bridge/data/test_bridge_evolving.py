"""Data that change from round to round: Algorithms 4 to 6, windows that overlap, clients that come once."""

from __future__ import annotations

import numpy as np
import pytest

from cflag_theory.bridge.data.evolving import PRINTED, _Printed, evolving, lda_split
from cflag_theory.bridge.data.keyed import keyed
from cflag_theory.errors import DataError, InvalidInput, UnknownName

LABELS = np.repeat(np.arange(5), 84)


def make(**more):
    return evolving(LABELS, **({"clients": 3, "subsets": 7, "zeta": 1.0, "seed": 4} | more))


def test_every_sample_has_one_place():
    found = make()
    assert (found.size, found.parts) == (20, 7)
    assert np.array_equal(np.sort(np.concatenate(found.sequences)), np.arange(420))
    again, other = make(), make(seed=5)
    assert all(map(np.array_equal, found.sequences, again.sequences))
    assert not np.array_equal(found.sequences[0], other.sequences[0])


def test_parameters_are_zeta_times_the_shares():
    """A class with share p has mean p and variance p (1 - p) / (zeta + 1) in the mixtures of Dir(zeta p)."""
    labels = np.repeat([0, 1], [30000, 10000])
    found = [
        (labels[lda_split(labels, 1, 400, zeta=3.0, random=keyed(seed, "test"))[0]] == 1).mean() for seed in range(2000)
    ]
    within = 0.25 * 0.75 * 3 / 4 / 400
    # Five deviations of a mean and of a variance over 2000 draws.
    assert abs(np.mean(found) - 0.25) < 5 * np.sqrt(0.1875 / 4 / 2000)
    assert abs(np.var(found) - (0.1875 / 4 + within)) < 5 * 0.0469 * np.sqrt(2 / 2000)


def test_what_is_left_is_taken_when_the_mixture_has_run_out():
    """At a tiny zeta a mixture is one class, and the last parts need the others."""
    parts = lda_split(LABELS, 4, 105, zeta=1e-9, random=keyed(0, "test"))
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(420))


def test_line_by_line():
    """Algorithm 5 divides by a sum that its loop changes and keeps the class; then places and classes do not fit."""
    mix = _Printed(3)
    mix.begin(np.array([0.5, 0.3, 0.2]), [])
    mix.i = 0
    mix.drop(0, [])
    first = 0.3 / 0.5
    np.testing.assert_allclose(mix.theta, [0.5, first, 0.2 / (first + 0.2)])
    assert mix.G == [1, 2, 3]
    mix.theta[:] = 0, 0, 1
    with pytest.raises(DataError, match="finds none of the 3: use split = 'repaired'"):
        mix.draw(keyed(0, "test"))
    plenty = lda_split(LABELS, 2, 10, zeta=1.0, random=keyed(1, "test"), split=PRINTED)
    assert [len(set(part.tolist())) for part in plenty] == [10, 10]
    with pytest.raises(DataError, match="as printed"):
        make(split=PRINTED)


@pytest.mark.parametrize(("overlap", "step"), [(0.0, 285), (0.25, 213), (0.5, 142)])
def test_the_pointer_moves_as_in_the_paper(overlap, step):
    labels = np.arange(285 * 4 * 2) % 5
    found = evolving(labels, clients=2, subsets=4, zeta=1.0, overlap=overlap, visits="pointer", seed=0)
    parts = (4 * 285 - 285) // step + 1
    assert (found.size, found.step, found.parts) == (285, step, parts)
    for t in (0, 1, parts - 1, parts):
        windows = found.at(t)
        first = (t % parts) * step
        assert [window.part for window in windows] == [t % parts] * 2
        for window, sequence in zip(windows, found.sequences, strict=True):
            assert np.array_equal(window.indices, sequence[first : first + 285])


def test_random_visits_are_uniform_and_what_was_seen_is_known():
    found = make()
    parts = np.array([[window.part for window in found.at(t)] for t in range(700)])
    counts = np.bincount(parts.ravel(), minlength=7)
    assert ((counts - 300) ** 2 / 300).sum() < 30
    seen = found.before(3)
    for client in range(3):
        wanted = set().union(*(found.at(t)[client].indices.tolist() for t in range(3)))
        assert seen[client].tolist() == sorted(wanted)
    assert [len(each) for each in found.before(0)] == [0, 0, 0]


def test_stateless_clients_draw_anew():
    found = make(stateless=True)
    rounds = [np.concatenate([window.indices for window in found.at(t)]) for t in range(3)]
    assert all(len(np.unique(each)) == 60 for each in rounds)
    assert not np.array_equal(rounds[0], rounds[1])
    assert np.array_equal(rounds[2], np.concatenate([window.indices for window in found.at(2)]))


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (
            {"size": 21},
            DataError,
            "3 clients with 7 subsets each of 21 samples need 441, and there are 420: use at most 20",
        ),
        ({"size": 141, "stateless": True}, DataError, "need 423, and there are 420: use at most 140"),
        ({"clients": 421}, DataError, "use at most 0"),
        ({"overlap": 1.0}, InvalidInput, "overlap is 1.0"),
        ({"visits": "never"}, UnknownName, "use one of random, pointer"),
        ({"split": "other"}, UnknownName, "use one of repaired, printed"),
    ],
)
def test_errors(change, error, words):
    with pytest.raises(error, match=words):
        make(**change)
