"""Every line of every proof at the exact points of its claim: its conclusion must hold where its terms have values."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from lines import evaluate_lines, values_at
from rows import points_of

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Fact, Statement, statements
from cflag_theory.claims.engine.meanings import symbol
from cflag_theory.claims.engine.operators import Largest, index, sum_over
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Induction, Obligation, Proof, Use
from cflag_theory.claims.engine.terms import dot, norm, norm2, vector
from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.verify.evidence import Point

#: At most so many points of a part are used, evenly spaced: some claims have hundreds that differ in numbers alone.
MOST = 24


def evaluated(id):
    """(statement, line with its cases and faults) of every proof of a claim."""
    points = points_of(id)
    for part in claim(id).parts:
        here = [point for point in points if point.part in (None, part.key)]
        here = here[:: max(1, -(-len(here) // MOST))]
        for on, statement in statements(part).items():
            if statement.proof is not None:
                yield from ((f"{id}.{part.key} {on}", one) for one in evaluate_lines(statement, here))


def census(ids):
    """How many rule conclusions and obligations there are, and how many some point covers; and what is contradicted."""
    found, faults = Counter(), []
    for id in ids:
        for where, one in evaluated(id):
            kind = "rules" if isinstance(one.line.step, Use) else "obligations"
            found[kind] += 1
            found[f"{kind} covered"] += one.cases > 0
            faults += [(where, fault) for fault in one.faults]
    return found, faults


def test_the_lines_of_some_proofs_hold_at_their_exact_points():
    found, faults = census(["cflag.eq7", "cflag.lemma1", "cflag.eq16", "cfl.lemB4", "ours.adaptive_clients"])
    assert faults == []
    assert found["rules covered"] >= 5
    assert found["obligations covered"] >= 15


@pytest.mark.full
def test_every_line_of_every_proof_holds_at_the_exact_points_that_cover_it():
    found, faults = census(LEDGER)
    assert faults == []
    # Points give what statements speak of: most conclusions of rules are about vectors that no point measures.
    assert found["rules covered"] >= 270, found
    assert found["obligations covered"] >= 700, found


x, y = vector("x_lines", "x"), vector("y_lines", "y")()
k, n = sp.symbols("k_lines n_lines", integer=True, nonnegative=True)
length = symbol("length_lines", "l", norm(x(k)), nonnegative=True)
square = symbol("square_lines", "s", norm2(x(k) - y), real=True)
inner = symbol("inner_lines", "p", dot(x(k), y), real=True)
other = symbol("other_lines", "o", norm(y), nonnegative=True)
a = sp.Function("a_lines", nonnegative=True)
w = sp.Symbol("w_lines", real=True)


def point(values):
    return Point(values, ("a point",))


def test_a_point_gives_values_to_what_its_symbols_determine():
    found = values_at(point({length: 3, other: 2, square: 7, k: 0}))
    assert found[norm(x(0))] == 3
    assert found[norm2(x(0))] == 9
    assert found[dot(x(0), y)] == 3
    with pytest.raises(ValueError, match="contradicts its vectors"):
        values_at(point({length: 3, other: 2, square: 7, inner: 4, k: 0}))


def test_a_wrong_step_is_caught():
    goal = at_most(w, 3)
    proof = Proof((Obligation("too good", at_most(w, 1), ("small",)), Obligation("end", goal, ("too good",))))
    statement = Statement("", goal, (Fact("small", at_most(w, 2), ""),), proof)
    first, last = evaluate_lines(statement, [point({w: 1}), point({w: 2}), point({w: 5})])
    assert (first.cases, last.cases, last.faults) == (2, 2, ())
    (fault,) = first.faults
    assert "'too good' fails at 'a point'" in fault


def test_what_a_rule_concludes_is_evaluated_in_vectors():
    use = rules.cauchy_schwarz("s", x(k), y)
    statement = Statement("", at_most(inner, length * other), proof=Proof((use,)))
    (line,) = evaluate_lines(statement, [point({length: 3, other: 2, inner: 6, k: 1})])
    assert (line.cases, line.faults) == (1, ())
    (line,) = evaluate_lines(replace(statement, relation=None), [point({length: 3, other: 2, inner: 7, k: 1})])
    assert len(line.faults) == 1


def test_a_line_with_a_running_index_is_evaluated_at_every_member_that_the_point_gives():
    step = Obligation("grows", at_most(a(k + 1), 1 + Fraction(1, 2) * a(k)), ("(24)",))
    first = Obligation("first", at_most(a(0), 2), ("start",))
    second = Obligation("second", at_most(a(k + 1), 2), ("grows", "bound (hypothesis)"))
    proof = Proof((Induction("bound", k, at_most(a(k), 2), first, (step, second)),))
    where = (Fact("start", equal(a(0), 1), ""), Fact("(24)", equal(a(k + 1), 1 + a(k) / 2), ""))
    statement = Statement("", at_most(a(n), 2), (), proof, where)
    found = evaluate_lines(statement, [point({a(0): 1, a(1): Fraction(3, 2), a(2): Fraction(7, 4), a(n): 1, n: 0})])
    assert [(one.cases, one.faults) for one in found] == [(1, ()), (2, ()), (2, ())]
    wrong = replace(step, goal=at_most(a(k + 1), Fraction(4, 3) + Fraction(1, 6) * a(k)))
    proof = Proof((Induction("bound", k, at_most(a(k), 2), first, (wrong, second)),))
    found = evaluate_lines(
        replace(statement, proof=proof), [point({a(0): 1, a(1): Fraction(3, 2), a(2): Fraction(7, 4), n: 0, a(n): 1})]
    )
    assert len(found[1].faults) == 1
    assert "k_lines: 1" in found[1].faults[0]


def test_sums_and_maxima_are_made_of_their_members():
    t, b = index("t_lines"), index("b_lines")
    total, largest = sum_over(t, n)(a(t)), Largest(b, n, a(b))
    proof = Proof((Obligation("sum", at_most(total, 3), ()), Obligation("max", at_most(largest, 3), ())))
    statement = Statement("", at_most(w, 0), (), proof)
    found = evaluate_lines(statement, [point({a(0): 1, a(1): 2, a(2): 4, n: 2, w: 0})])
    assert [(one.cases > 0, len(one.faults)) for one in found] == [(True, 0), (True, 1)]
