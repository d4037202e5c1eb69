"""A sequence keeps its sort for ever: what goes down in equal steps ends somewhere, if it may not be negative."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from cflag_theory.falsify import Conjecture, decide, index, sequence
from cflag_theory.falsify.vector_terms.checking import fault
from cflag_theory.falsify.vector_terms.evaluating import World
from cflag_theory.falsify.vector_terms.reading import read_vectors, with_entries

T = sp.Symbol("T", integer=True, positive=True)
t = index("t")
c = sp.Symbol("part", positive=True)
b, m = sp.symbols("down rest", nonnegative=True)
r = sp.Symbol("fall", real=True)
A, B = sequence("a_", nonnegative=True), sequence("b_", nonnegative=True)
P, R = sequence("p_", positive=True), sequence("r_", real=True)
K, J = sequence("k_", integer=True, nonnegative=True), sequence("j_", integer=True, positive=True)


def family(name, *members):
    return {(name, (place,)): [Fraction(one)] for place, one in enumerate(members)}


#: Claims that hold, with members and numbers that would refute them if sequences could leave their sort.
TRUE = {
    "b is 0": ((b, m, A(t + 1) <= A(t) - b), {"a_": (2, 1, 0)}, {b: 1, m: 0}),
    "b is 0, by an equation": ((b, m, sp.Eq(A(t + 1), A(t) - b)), {"a_": (2, 1, 0)}, {b: 1, m: 0}),
    "so is b B(t)": ((b * B(t), m, A(t + 1) <= A(t) - b), {"a_": (2, 1, 0), "b_": (1, 1)}, {b: 1, m: 0}),
    "b is 0 for positive ones": ((b, m, P(t + 1) <= P(t) - b), {"p_": (3, 2, 1)}, {b: 1, m: 0}),
    "whole ones cannot sink": ((1 + b, m, J(t + 1) <= J(t) - 1), {"j_": (3, 2, 1)}, {b: 0, m: 0}),
    "through another": (
        (b, m, sp.Eq(B(t + 1), A(t)), A(t + 1) <= A(t) - b),
        {"a_": (2, 1, 0), "b_": (3, 2, 1)},
        {b: 1, m: 0},
    ),
    "two steps": (
        (b, m, sp.Eq(A(t + 1), A(t) + B(t)), sp.Eq(B(t + 1), B(t) - b)),
        {"a_": (0, 2, 3), "b_": (2, 1, 0)},
        {b: 1, m: 0},
    ),
    "a real number": ((r, m, sp.Eq(A(t + 1), A(t) - r)), {"a_": (2, 1, 0)}, {r: 1, m: 0}),
    "what is left": ((T * b, A(0), A(t + 1) <= A(t) - b), {"a_": (2, 1, 0)}, {b: 1, T: 3}),
    "a power that turns": ((A(0), m, sp.Eq(A(t + 1), -2 * A(t))), {"a_": (1,)}, {m: 0}),
    "a factor below 0": ((A(0), m, sp.Eq(A(t + 1), (1 - c) * A(t))), {"a_": (1,)}, {c: 2, m: 0}),
    "halves of whole ones": ((K(0), m, sp.Eq(2 * K(t + 1), K(t))), {"k_": (4, 2, 1)}, {m: 0}),
    "halves of whole ones, by a step": ((K(0), m, sp.Eq(K(t + 1), K(t) / 2)), {"k_": (4, 2, 1)}, {m: 0}),
}
FALSE = {
    "real ones sink": (b, m, R(t + 1) <= R(t) - b),
    "sinking ever less": (A(0), b, sp.Eq(A(t + 1), A(t) / (1 + A(t)))),
    "halves of positive ones": (P(0), b, sp.Eq(P(t + 1), P(t) / 2)),
    "a factor of at least 0": (A(T), A(0) / 2, sp.Eq(A(t + 1), (1 - c) * A(t)), c <= 1),
    "whole ones that rise": (b, m, K(t + 1) <= K(t) + b),
    "positive whole ones": (J(T), J(0), sp.Eq(J(t + 1), 2 * J(t))),
}


def _of(name, left, right, *given):
    return Conjecture(name=name, left=left, right=right, given=given)


@pytest.mark.parametrize("name", TRUE)
def test_no_instance_leaves_its_sort(name):
    sides, members, numbers = TRUE[name]
    vectors = {key: member for one, values in members.items() for key, member in family(one, *values).items()}
    assert fault(with_entries(read_vectors(_of(name, *sides))), World(1, numbers, vectors)) is not None


def test_a_true_claim_is_not_refuted():
    assert decide(_of("b is 0", *TRUE["b is 0"][0]), budget=60).outcome == "neither"


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_is(name):
    assert decide(_of(name, *FALSE[name]), budget=300).outcome == "refuted"
