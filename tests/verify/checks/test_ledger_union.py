"""Algorithm 1 against (67)-(68), Lemma 3 along it, its remark and Lemma 11: verdicts, and planted errors."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp
from rows import decide, in_order, points_of

from cflag_theory.claims.c_flag.union import lemma3 as union
from cflag_theory.claims.c_flag.union import surrogate
from cflag_theory.claims.engine.claim import Part
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.verify.checks.c_flag.union.lemma3 import at_rest, lemma3_points, lemma11_points
from cflag_theory.verify.evidence import replay


@pytest.mark.parametrize(
    ("id", "row", "parts"),
    [
        ("cflag.eq68", "false", ["false", "false"]),
        ("cflag.lemma3", "false", ["false"]),
        ("cflag.lemma3_remark", "needs-hypothesis", ["needs-hypothesis"]),
        ("cflag.lemma11", "needs-hypothesis", ["holds", "needs-hypothesis"]),
    ],
)
def test_verdicts(id, row, parts):
    verdict = decide(union.CLAIMS[id]())
    assert verdict.verdict == row
    assert in_order(verdict) == parts
    assert all(e.data["undecided"] == [] for e in verdict.evidence if e.kind == "proof")


def test_rows_are_false_because_of_what_they_say():
    """Statements that the same instances satisfy are not refuted by them."""
    harmless = {
        "cflag.eq68": equal(union.alpha * union.grad_g, union.beta * union.grad_g),
        "cflag.lemma3_remark": at_most(union.grad_g2, sp.Rational(1, 4)),
    }
    for id, relation in harmless.items():
        subject = union.CLAIMS[id]()
        for part in subject.parts:
            subject = subject.with_printed(relation, part.key)
        assert decide(subject).verdict == "open"


def test_lemma3_fails_with_any_constant():
    """The right side is zero where Algorithm 1 rests, so that no constant mends it."""
    assert decide(union.lemma3(constant=10**9)).verdict == "false"
    for point in lemma3_points():
        assert point.values[union.h(0)] == point.values[union.h(union.T)]
        assert point.values[union.least] > 0


def test_the_family_that_refutes_lemma3_rests_where_it_says():
    family = union.lemma3().parts[0].refutation
    assert examine(family).accepted
    start = family.hypotheses[0]
    moved = replace(start, relation=equal(start.relation.left, sp.Rational(2, 3)))
    assert not examine(replace(family, hypotheses=(moved,))).accepted
    # The closed form is the one of the simulated round.
    assert at_rest([(1, 0)], [(1, 1)], 2).start == start.relation.right


def test_weights_of_first_order_do_not_save_lemma3():
    """|C| = E |M| makes both algorithms agree to first order in beta; the distance that remains is beta / 2 of it."""
    step = sp.Rational(1, 60)
    rest = at_rest([(1, 0)], [(1, 1)] * 2, 2).start
    assert rest == (2 - step / 2) / (3 - step / 2)
    assert rest != sp.Rational(2, 3)


def test_the_remark_needs_gradients_that_do_not_conflict():
    mended = union.lemma3_remark().parts[0].repair.statement
    conflicting = tuple(fact for fact in mended.hypotheses if fact != union.NO_CONFLICT)
    assert len(conflicting) == len(mended.hypotheses) - 1
    weaker = replace(mended, hypotheses=conflicting)
    assert not examine(weaker).accepted
    (evidence,) = replay(Part("1", weaker), points_of("cflag.lemma3_remark"))
    assert evidence.finding == "refutes"
    # Without current data nothing can be said about them.
    assert not examine(replace(mended, hypotheses=mended.hypotheses[:2])).accepted


def test_lemma11_needs_both_factors():
    verdict = decide(union.lemma11(constant=sp.Rational(199, 100)))
    assert in_order(verdict) == ["false", "false"]
    ratio = [e.data["largest_ratio"] for e in decide(union.lemma11()).evidence if "largest_ratio" in e.data]
    assert ratio == [1.0, 1.0]


def test_lemma11_with_equal_shares_uses_them():
    """Without the hypothesis the two h~ differ on the instances, and the repair's proof does not go through."""
    mended = union.lemma11().parts[1].repair.statement
    assert not examine(replace(mended, hypotheses=())).accepted
    whole = [point for point in lemma11_points() if point.part == "2"]
    assert any(point.values[surrogate.share_spread] > 0 for point in whole)
    assert any(point.values[surrogate.share_spread] == 0 for point in whole)


def test_a_planted_bound_without_omega_is_refuted():
    subject = union.lemma11().with_printed(at_most(union.grad_g2, 2 * union.grad_h2), "1")
    assert decide(subject).parts[0].verdict == "false"
