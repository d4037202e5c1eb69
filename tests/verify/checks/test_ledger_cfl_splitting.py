"""How the CFL paper splits its data: verdicts, and what a wrong line or number does to them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp
from rows import parts

from cflag_theory.claims.cfl.experiments import splitting
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.verify.check import run_check
from cflag_theory.verify.checks.cfl.experiments import splitting as check

BUILDERS = splitting.CLAIMS
ROWS = {
    "cfl.alg5": {"1": "typo"},
    "cfl.alg6": {"1": "typo", "2": "needs-hypothesis", "3": "typo", "4": "needs-hypothesis"},
    "cfl.setup_overlap": {"1": "holds", "2": "needs-hypothesis", "3": "holds"},
    "ours.cfl_renormalize": {"1": "holds"},
    "ours.cfl_test_images": {"1": "holds"},
}


def examined(subject):
    """The verdicts of the parts, whose proofs both engines must have accepted."""
    verdict = run_check(subject, check.CHECKS[subject.id])
    for item in verdict.evidence:
        if item.kind == "proof" and item.finding == "supports":
            assert (item.data["engines"], item.data["undecided"], item.data["pieces"]) == (["sympy", "z3"], [], [])
    return parts(verdict)


@pytest.mark.parametrize("id", ROWS)
def test_verdicts(id):
    assert examined(BUILDERS[id]()) == ROWS[id]


def test_algorithm5_by_hand():
    quarter = Fraction(1, 4)
    assert check.renormalize([2 * quarter, quarter, quarter], 2) == [Fraction(2, 3), Fraction(3, 11), quarter]
    # One class left: the loop divides by that class alone.
    assert check.renormalize([quarter, 3 * quarter], 1)[0] == 1


@pytest.mark.parametrize("small", [Fraction(1, 100), Fraction(1, 10**6)])
def test_the_printed_sum_can_be_as_small_as_one_likes(small):
    share = Fraction(1, 100)
    after = check.renormalize([share * small, (1 - share) * small, 1 - small], 2)
    assert sum(after[:2]) == share + (1 - share) * small / (share + (1 - share) * small)


def test_the_gap_of_algorithm5_as_the_notes_give_it():
    theta = [Fraction(1, 8), Fraction(1, 4), Fraction(1, 8), Fraction(1, 2)]
    running, gap, weights = sum(theta[:3]), theta[3], list(theta)
    for j in range(3):
        gap *= 1 - weights[j] / running
        weights[j] /= running
        running = sum(weights[:3])
    assert 1 - sum(check.renormalize(theta, 3)[:3]) == gap > 0


@pytest.mark.parametrize("factor", [sp.Rational(999, 1000), sp.Rational(1001, 1000)])
def test_another_factor_of_the_gap_is_false(factor):
    assert examined(splitting.renormalize(factor)) == {"1": "false"}


def test_an_index_list_without_the_extra_entry_would_hold():
    subject = splitting.alg6()
    mended = subject.parts[0].repair.statement
    assert examine(mended).accepted
    planted = subject.with_printed(equal(splitting.entries, splitting.classes + 1), "1")
    assert examined(planted)["1"] == "open"


def test_algorithm6_fails_where_it_is_said_to():
    ended, failures = check.split((1, 1), 1, Fraction(2), frozenset())
    assert ended
    assert any(line.endswith("G[1] = 2 is no class") for line in failures)
    assert check.split((1, 1), 1, Fraction(2)) == (1, [])
    # More is asked for than there is.
    assert check.split((1, 1), 3, Fraction(1))[0] == 0
    assert check.split((1, 1), 3, Fraction(1))[1]


@pytest.mark.parametrize(
    ("changes", "failures"),
    [
        (frozenset(), 72),
        (frozenset({check.INDEX}), 72),
        (frozenset({check.INDEX, check.DELETE}), 48),
        (frozenset({check.INDEX, check.REDRAW}), 50),
        (check.ALL, 0),
    ],
)
def test_each_change_of_algorithm6_is_needed(changes, failures):
    assert len(check.failing(changes)) == failures


def test_termination_needs_enough_data():
    """The repair without its hypothesis is refuted by the same instance as the printed statement."""
    subject = splitting.alg6()
    part = subject.parts[1]
    bare = replace(part.repair.statement, hypotheses=part.printed.hypotheses)
    assert not examine(bare).accepted
    planted = replace(part, repair=replace(part.repair, statement=bare))
    assert examined(replace(subject, parts=(planted,)))["2"] == "false"


@pytest.mark.parametrize(("size", "expected"), [(285, "needs-hypothesis"), (286, "false")])
def test_the_largest_subset_size(size, expected):
    """285 is the largest size of 210 disjoint subsets of 60000 images; the proof for 286 is not accepted."""
    subject = splitting.setup_overlap(size)
    assert examine(subject.parts[1].repair.statement).accepted == (size == 285)
    if size == 285:
        assert examined(subject)["2"] == expected


def test_238_would_fit_the_training_images():
    assert 210 * 238 <= 50000 < 210 * 239


@pytest.mark.parametrize(("step", "share"), [(285, 0), (213, Fraction(72, 285)), (142, Fraction(143, 285))])
def test_overlaps(step, share):
    starts = check.windows(step)
    assert starts[-1] + 285 <= 30 * 285 < starts[-1] + step + 285
    assert Fraction(max(0, 285 - step), 285) == share


def test_fewer_unused_images_leave_more_of_the_test_set():
    relation = splitting.test_images_used().parts[0].printed.relation
    attained = [
        point for point in check.CHECKS["ours.cfl_test_images"].points() if relation.at(point.values)[1] == 9850
    ]
    assert attained
    assert not at_most(9851, splitting.used_test).holds_at(attained[0].values)
