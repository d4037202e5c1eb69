"""Attacks through definitions: equations that look like definitions and restrict something."""

from __future__ import annotations

import graphlib
import itertools
import random

import pytest
import sympy as sp
from attacks import claims, fact

from cflag_theory.claims.engine.definitions import assumptions
from cflag_theory.claims.engine.operators import Largest, index, mean_over, sum_over
from cflag_theory.claims.engine.relation import at_most, equal

k, j = (sp.Symbol(name, integer=True, nonnegative=True) for name in "kj")
E = sp.Symbol("E", integer=True, positive=True)
c = sp.Symbol("c", real=True)
s, z, u, b = (sp.Function(f"definitions_{name}", real=True) for name in "szub")
w, v = (sp.Function(f"definitions_{name}", real=True) for name in "wv")
i = index("i")
mean = mean_over("definitions mean", i)
tau = sp.Function("definitions_tau", integer=True, nonnegative=True)


def assumed(*relations):
    """The names of those equations that are assumptions, all of them written as definitions."""
    where = tuple(fact(str(i), relation) for i, relation in enumerate(relations))
    return [one.name for one in assumptions(claims(at_most(0, 1), where=where)()) if one in where]


@pytest.mark.parametrize(
    "relations",
    [
        pytest.param((equal(s(k), z(k + 2) ** 2 + 1), equal(z(k + 1), s(k))), id="later, hidden by an earlier"),
        pytest.param((equal(z(k + 1), s(k)), equal(s(k), z(k + 2) ** 2 + 1)), id="the other way round"),
        pytest.param((equal(s(k), z(k + 1) ** 2 + 1), equal(z(k + 1), s(k))), id="the same member"),
        pytest.param((equal(s(k), z(k + 1) + z(k)), equal(z(k + 1), s(k))), id="an earlier and a later member"),
        pytest.param(
            (equal(s(k), b(k + 3) + 1), equal(z(k + 1), s(k)), equal(b(k + 1), z(k))), id="a later one through three"
        ),
        pytest.param((equal(s(k + 1), s(tau(k)) + 1),), id="a member of any index"),
        pytest.param((equal(z(k + 1), w(k + 2, 0)), equal(w(k, j), z(k) + 1)), id="one index and two"),
        pytest.param((equal(w(k, j + 1), z(k)), equal(z(k), w(k, E) + 1)), id="one index and two, in one round"),
        pytest.param((equal(c, s(3) + 1), equal(s(k + 1), c)), id="a symbol and a sequence"),
        pytest.param((equal(w(k, j), v(j, k)), equal(v(k, j), w(j, k) + 1)), id="two places swapped"),
        pytest.param((equal(w(k + 1, j), v(k, j + 2)), equal(v(k, j + 1), w(k + 2, j))), id="each smaller in turn"),
        pytest.param((equal(s(k), Largest(i, k, s(i)) + 1),), id="the largest up to itself"),
        pytest.param((equal(s(k), sum_over(i, k + 1)(s(i)) + 1),), id="a sum up to itself"),
        pytest.param((equal(s(i + 1), mean(s(i)) + 1),), id="a mean over every member"),
    ],
)
def test_no_circle_is_a_definition(relations):
    assert assumed(*relations)


@pytest.mark.parametrize(
    "relation",
    [equal(s(k + j), u(k)), equal(s(2 * k), u(k)), equal(s(tau(k)), u(k)), equal(w(k, k + j), u(k))],
    ids=str,
)
def test_a_member_defined_many_times_is_assumed(relation):
    assert assumed(relation) == ["0"]


@pytest.mark.parametrize(
    "relations",
    [
        pytest.param((equal(s(k + 1), s(k) + 1), equal(s(0), 0)), id="a recursion"),
        pytest.param((equal(s(k + 2), s(k + 1) + s(k)), equal(s(0), 0), equal(s(1), 1)), id="two steps back"),
        pytest.param((equal(s(k + 1), s(k) - z(k)), equal(z(k), s(k) ** 2)), id="a recursion through another"),
        pytest.param(
            (equal(w(k, j + 1), w(k, j) + 1), equal(w(k, 0), z(k)), equal(z(k + 1), w(k, E)), equal(z(0), c)),
            id="rounds of local steps",
        ),
        pytest.param((equal(z(k), u(k + 2)), equal(s(k), z(k + 1))), id="later members, and no circle"),
        pytest.param((equal(w(k, j + 1), w(k + 1, j) + 1),), id="a smaller second index, whatever the first"),
        pytest.param((equal(w(k, k + 1), u(k)),), id="one symbol in two places"),
        pytest.param((equal(c, s(3)), equal(s(k), u(k))), id="a symbol after a sequence"),
        pytest.param((equal(c, s(0)), equal(s(k + 1), c)), id="a symbol after the first member"),
        pytest.param((equal(s(k + 1), Largest(i, k, s(i)) + 1),), id="the largest of all before"),
        pytest.param((equal(s(k), sum_over(i, k)(s(i)) + 1),), id="the sum of all before"),
        pytest.param((equal(w(k + 1, j + 1), w(k, 2 * j) + w(k + 1, j)),), id="the first index before the second"),
        pytest.param((equal(w(k, j + 1), v(j, k + 5)), equal(v(k, j), w(j, k))), id="two places swapped, and earlier"),
    ],
)
def test_what_defines_is_no_assumption(relations):
    assert assumed(*relations) == []


def _systems(seed):
    """Random equations between members of two sequences with two indices, as (head, places, what they use)."""
    rng = random.Random(seed)
    places = lambda: tuple((rng.choice("kkjj0"), rng.randint(0, 2)) for _ in "ab")  # noqa: E731
    for head in rng.choice(("w", "v", "wv")):
        own = [("k", rng.randint(0, 2)), ("j", rng.randint(0, 2))]
        yield head, tuple(own), [(rng.choice("wv"), places()) for _ in range(rng.randint(1, 2))]


def _circle(system, size=6):
    """Whether members with small indices use themselves, found by going through them."""
    graph = {}
    for at in itertools.product(range(size), repeat=2):
        value = dict(zip("kj", at, strict=True)) | {"0": 0}
        for head, own, used in system:
            member = head, *(value[s] + shift for s, shift in own)
            graph[member] = {(other, *(value[s] + shift for s, shift in places)) for other, places in used}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError:
        return True
    return False


def test_what_is_accepted_has_no_circle_among_small_members():
    heads, symbols = {"w": w, "v": v}, {"k": k, "j": j, "0": 0}
    seen = {(True, True): 0, (True, False): 0, (False, False): 0}
    for seed in range(300):
        system = list(_systems(seed))
        term = lambda head, places: heads[head](*(symbols[s] + shift for s, shift in places))  # noqa: E731
        told = [equal(term(head, own), sum(term(*one) for one in used) + 1) for head, own, used in system]
        seen[bool(assumed(*told)), _circle(system)] += 1
    # What has no circle among small members and is not accepted goes to later members for ever.
    assert all(count > 20 for count in seen.values()), seen
