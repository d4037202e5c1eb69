import itertools

import numba
import numpy as np
import pytest

from cflag_theory.kernels import draws
from cflag_theory.kernels.engines import components

# From the Random123 distribution, file kat_vectors: counter, key, words.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@numba.njit
def compiled_philox(c0, c1, c2, c3, k0, k1):
    return draws.philox(c0, c1, c2, c3, k0, k1)


@numba.njit
def compiled_draw(seed, purpose, replica, client, round_, step, n):
    return draws.below(draws.lane(draws.words(seed, purpose, replica, client, round_, step >> 2), step), n)


def plain_draw(seed, purpose, replica, client, round_, step, n):
    return draws.below(draws.lane(draws.words(seed, purpose, replica, client, round_, step >> 2), step), n)


@pytest.mark.parametrize("philox", [draws.philox, compiled_philox])
@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_published_vectors(philox, counter, key, words):
    assert tuple(philox(*counter, *key)) == words


def test_compiled_draws_are_the_plain_ones():
    # The drawing functions are registered for compiled callers when `components` is imported.
    assert components.draws is draws
    random = np.random.default_rng(0)
    for _ in range(300):
        where = [int(random.integers(0, bound)) for bound in (1 << 63, 4, 1 << 32, 1 << 24, 1 << 32, 1 << 31)]
        n = int(random.integers(1, 10_000))
        assert compiled_draw(*where, n) == plain_draw(*where, n)


def test_every_part_of_the_counter_matters():
    base = [7, draws.COMPONENT, 0, 0, 0, 0]
    seen = {draws.words(*base)}
    for position, value in itertools.product(range(6), (1, 2, 3)):
        changed = base.copy()
        changed[position] += value
        seen.add(draws.words(*changed))
    assert len(seen) == 1 + 18
    assert draws.words(7 + (1 << 40), *base[1:]) not in seen


def test_no_client_runs_into_another_purpose():
    clients = [0, *(1 << bit for bit in range(24)), draws.MAX_CLIENTS - 1]
    purposes = (draws.COMPONENT, draws.MEMORY, draws.SIGN, draws.STOCHASTIC)
    assert len({draws.words(0, purpose, 0, client, 0, 0) for purpose in purposes for client in clients}) == 4 * 26


def test_below_covers_its_range_evenly():
    assert draws.below(0, 7) == 0
    assert draws.below(draws.MASK, 7) == 6
    counts = np.bincount([plain_draw(3, draws.COMPONENT, 0, 0, 0, step, 5) for step in range(4000)], minlength=5)
    assert counts.size == 5
    # Five standard deviations of a binomial count around 800.
    assert np.abs(counts - 800).max() < 5 * np.sqrt(4000 * 0.2 * 0.8)


def test_lanes_are_the_words_in_order():
    assert [draws.lane((10, 11, 12, 13), step) for step in range(8)] == [10, 11, 12, 13] * 2
