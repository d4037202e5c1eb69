"""What replaces Lemma 3 and the text around it: verdicts, and that the constants cannot be moved."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
import rows
import sympy as sp
from rows import in_order, points_of

from cflag_theory.claims.c_flag.union.lemma3 import S
from cflag_theory.claims.c_flag.union.ours import rounds as ours_union
from cflag_theory.claims.engine.claim import Part
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.relation import equal
from cflag_theory.verify.evidence import replay

MORE, LESS = sp.Rational(1001, 1000), sp.Rational(999, 1000)
decide = partial(rows.decide, samples=12)


@pytest.mark.parametrize("id", ours_union.CLAIMS)
def test_verdicts(id):
    verdict = decide(ours_union.CLAIMS[id]())
    assert {part.verdict for part in verdict.parts} == {"holds"}
    assert not any(e.finding == "refutes" for e in verdict.evidence)
    for evidence in verdict.evidence:
        if evidence.kind == "proof":
            assert evidence.data["engines"] == ["sympy", "z3"]


def test_the_decrease_is_attained():
    assert decide(ours_union.union_descent(scale=MORE)).verdict == "false"


def test_the_last_term_of_algorithm_1_is_attained():
    """Held at rest by a linear memory loss, Algorithm 1 keeps ||grad h^|| at the bound."""
    verdict = decide(ours_union.algorithm1_descent(residue=LESS))
    assert verdict.parts[0].verdict == "false"
    verdict = decide(ours_union.algorithm1_descent(residue=0))
    assert in_order(verdict) == ["false", "false"]
    reached = {
        e.part: e.data["largest_ratio"]
        for e in decide(ours_union.algorithm1_descent()).evidence
        if "largest_ratio" in e.data
    }
    assert reached["1"] == 1
    assert reached["2"] > 0.97


def test_the_factors_from_the_union_to_the_current_task_are_attained():
    verdict = decide(ours_union.current_from_union(scale=LESS))
    assert in_order(verdict) == ["false", "false"]


def test_rounds_are_compared_with_what_was_run():
    subject = ours_union.union_round().with_printed(equal(S, 2 * S), "2")
    assert decide(subject).parts[1].verdict == "false"


def test_the_descent_of_algorithm_1_needs_a_smooth_memory_loss():
    for part in ours_union.algorithm1_descent().parts:
        kept = tuple(fact for fact in part.printed.hypotheses if fact != ours_union.SMOOTH_MEMORY)
        weaker = replace(part.printed, hypotheses=kept)
        assert not examine(weaker).accepted
        # 89 x^2/2 in memory sends x from 1 to -2.
        (evidence,) = replay(Part(part.key, weaker), points_of("ours.algorithm1_descent"))
        assert evidence.finding == "refutes"


def test_the_descent_on_the_union_needs_smooth_components_in_memory():
    printed = ours_union.union_descent().parts[0].printed
    assert not examine(replace(printed, hypotheses=printed.hypotheses[:1])).accepted
