"""Every form of every peer does the rounds that `simulate` does, on the same draws."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.cases import CASES, FULL, QUICK, SEED, Case, World
from benchmarks.kernels import contest
from benchmarks.peers import c_peer
from benchmarks.peers.ours import Ours
from cflag_theory.kernels import simulate
from cflag_theory.kernels.draws import COMPONENT, below, lane, words

pytestmark = pytest.mark.full

SMALL = Case("small", N=3, n=12, d=5, E=7, R=3)
# Groups of replicas and tiles of rows with remainders.
UNEVEN = Case("uneven", N=2, n=14, d=6, E=5, R=7)
SINGLE = Case("single", N=2, n=20, d=9, E=4)
# Components come back within a round, clients remember one component, and nothing fits a tile.
CROWDED = Case("crowded", N=1, n=3, d=1, E=9, R=5)
ROUNDS = 12


@pytest.fixture(scope="module", params=[UNEVEN, SINGLE, CROWDED], ids=lambda case: case.name)
def world(request):
    return World(request.param)


@pytest.mark.parametrize("who", contest.PEERS)
def test_every_form_of_a_peer_agrees(world, who):
    if contest.missing(who):
        pytest.skip(contest.missing(who))
    expected = Ours(world).end(ROUNDS)
    assert expected.shape == (world.case.R, world.case.d)
    assert contest.distance(expected, np.tile(world.start, (world.case.R, 1))) > 1e-6
    for make in contest.forms(who, world):
        peer = make()
        found = peer.run(ROUNDS)
        assert found.shape == (peer.replicas, world.case.d)
        assert contest.distance(found, expected) < 1e-12, peer.name


@pytest.mark.parametrize("who", contest.PEERS)
@pytest.mark.parametrize("what", ["orders", "kept"])
def test_other_draws_are_seen(who, what):
    """The check of agreement can fail: a peer with another order, or another memory, is told apart."""
    if contest.missing(who):
        pytest.skip(contest.missing(who))
    world = World(CROWDED)
    expected = Ours(world).end(ROUNDS)
    if what == "orders":
        world._orders = (world.orders(ROUNDS) + 1) % CROWDED.n
    else:
        world.__dict__["kept"] = (world.kept + 1) % CROWDED.n
    for make in contest.forms(who, world):
        assert contest.distance(make().run(ROUNDS), expected) > 1e-8


def test_orders_are_the_draws_of_the_package():
    world = World(SMALL)
    orders = world.orders(3)
    assert orders.shape == (3, SMALL.R, SMALL.N, SMALL.E)
    for t, r, i, k in np.ndindex(orders.shape):
        word = lane(words(SEED, COMPONENT, r, i, t, k >> 2), k)
        assert orders[t, r, i, k] == below(word, SMALL.n)


def test_a_longer_array_of_orders_begins_with_the_shorter_one():
    world = World(SMALL)
    short = world.orders(2).copy()
    assert np.array_equal(world.orders(5)[:2], short)
    assert np.array_equal(world.orders(2), short)


def test_the_loop_runs_the_first_replicas_only():
    world = World(SMALL)
    maker = next(iter(contest.forms(contest.LOOP, world)))
    assert maker().replicas == 1


@pytest.mark.parametrize("lanes", [False, True])
def test_c_does_not_depend_on_threads(lanes):
    if contest.missing(contest.C):
        pytest.skip(contest.missing(contest.C))
    world = World(UNEVEN)
    one, two = (c_peer.Fused(world, lanes=lanes, table=True, threads=threads).run(ROUNDS) for threads in (1, 2))
    assert np.array_equal(one, two)


def test_c_with_narrow_vectors_agrees(world, monkeypatch):
    """Also a processor with AVX-512 tests what others run."""
    monkeypatch.setattr(c_peer, "FLAGS", (*c_peer.FLAGS, "-mno-avx512f"))
    c_peer.built.cache_clear()
    try:
        if contest.missing(contest.C):
            pytest.skip(contest.missing(contest.C))
        expected = Ours(world).end(ROUNDS)
        for make in contest.forms(contest.C, world):
            assert contest.distance(make().run(ROUNDS), expected) < 1e-12
    finally:
        c_peer.built.cache_clear()


def test_without_a_compiler_the_peer_is_a_line(monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    c_peer.built.cache_clear()
    try:
        assert contest.missing(contest.C) == "no C compiler: install gcc"
    finally:
        c_peer.built.cache_clear()


@pytest.mark.parametrize(("who", "library"), [(contest.JAX, "jax"), (contest.TORCH, "torch")])
def test_without_its_library_a_peer_is_a_line(monkeypatch, who, library):
    monkeypatch.setattr(contest, "find_spec", lambda name: None)
    assert contest.missing(who) == f"{library} is not installed: pip install -e '.[bench]'"
    assert contest.missing(contest.LOOP) == ""


def test_large_copies_are_not_tried():
    """Masked alone where a copy of the memory for every replica would fill gigabytes."""
    world = World(CASES["L x64"])
    assert len(list(contest.forms(contest.BATCHED, world))) == 1
    assert len(list(contest.forms(contest.BATCHED, World(SMALL)))) == 2


def test_the_cases_and_their_sizes():
    assert set(QUICK) <= set(FULL) == set(CASES)
    sizes = {name: (case.N, case.n, case.d, case.E) for name, case in CASES.items() if case.R == 1}
    assert sizes == {"S": (5, 100, 50, 10), "M": (50, 200, 100, 20), "L": (10, 1000, 1000, 50)}
    assert {case.name for case in CASES.values() if case.R > 1} == {
        *("S x64", "S x256"),
        *("M x16", "M x64"),
        *("L x16", "L x64"),
    }


def test_our_row_is_simulate_with_its_draws():
    world = World(SMALL)
    trace = simulate(
        world.problem,
        "c_flag",
        alpha=world.alpha,
        beta=world.beta,
        local_steps=SMALL.E,
        rounds=4,
        memory=world.memory,
        replicas=SMALL.R,
        seed=SEED,
        iterates=True,
    )
    assert np.array_equal(Ours(world).end(4), trace.iterates[:, -1])
    assert Ours(world).trace(4).absent
