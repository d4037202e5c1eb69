"""Attacks through definitions: equations that look like definitions and restrict something."""

from __future__ import annotations

import pytest
import sympy as sp
from attacks import claims, fact

from cflag_theory.claims.engine.definitions import assumptions
from cflag_theory.claims.engine.relation import at_most, equal

k, j = (sp.Symbol(name, integer=True, nonnegative=True) for name in "kj")
E = sp.Symbol("E", integer=True, positive=True)
c = sp.Symbol("c", real=True)
s, z, u, b = (sp.Function(f"definitions_{name}", real=True) for name in "szub")
w = sp.Function("definitions_w", real=True)
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
    ],
)
def test_what_defines_is_no_assumption(relations):
    assert assumed(*relations) == []
