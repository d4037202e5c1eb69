"""Lemmas 12, 15 and 16 and the exact worst cases: closed forms and instances by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from cflag_theory.claims.c_flag.local_steps.drift import drift, error
from cflag_theory.claims.c_flag.local_steps.iag import before
from rows import decided, points_of

from cflag_theory.claims.engine.notation import E, L, beta, grad_g, k
from cflag_theory.claims.engine.points import holds_at
from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.errors import InconsistentEvidence
from cflag_theory.verify.check import run_check
from cflag_theory.verify.checks import CHECKS
from cflag_theory.verify.checks.c_flag import local_steps as checks
from cflag_theory.verify.instances.attaining import walk_attaining
from cflag_theory.verify.instances.c_flag import concave_round
from cflag_theory.verify.instances.orders import repeated, settled


def test_the_closed_forms_of_the_instances():
    # One component: sum rho = ((1 + w)^E - 1) / w. Two, one of them old: sum e = sum ((1 + w/2)^k - 1).
    one, two = concave_round(4, 1, Fraction(8)), concave_round(4, 2, Fraction(12))
    assert (one.root("rho_sum2"), one.root("error_sum2")) == ((9**4 - 1) // 8, 0)
    assert two.root("error_sum2") == sum(7**k - 1 for k in range(4))


def test_103_as_printed_fails_where_the_table_is_old():
    (found,) = (e for e in decided("cflag.eq105").evidence if e.part == "2" and e.kind == "counterexample")
    assert "current (1, 1) (1, 1) (1, 1) (1, 1); " in found.data["instance"][0]
    assert "client 1 refreshes [0, 1, 2, 3]" in found.data["instance"][0]
    assert (found.data["left"], found.data["right"]) == ("3/128", "1/64")


def test_129_as_printed_is_right_for_large_gradients_only():
    relation = LEDGER["cflag.eq129"]().parts[1].printed.relation
    at = {beta: sp.Rational(1, 12), L: 1, E: 1}
    assert holds_at(relation, {**at, grad_g: 2})
    assert holds_at(relation, {**at, grad_g: 1})
    assert not holds_at(relation, {**at, grad_g: sp.Rational(1, 2)})


def test_step_zero_is_covered():
    for point in points_of("cflag.lemma12"):
        if point.values[k] == 0:
            assert point.values[before(k)] == point.values[error(k)] == point.values[drift(k)] == 0
            break
    else:
        pytest.fail("no instance at k = 0")


def test_turns_that_end_too_early_or_too_late_are_beaten():
    step, n, E = Fraction(2), 3, 6
    last = checks.turns(n, E, step)
    most = walk_attaining(settled(n, E, last), n=n, step=step).error[-1]
    assert last == 4
    for other in (1, 2, 3, 5):
        assert walk_attaining(settled(n, E, other), n=n, step=step).error[-1] < most


def test_all_orders_are_enumerated():
    check = checks.CHECKS["ours.worst_order"]
    (found,) = check.further(claim("ours.worst_order"), 0, 1)
    assert found.finding == "supports"
    assert found.data["cases"] > 2000
    assert found.data["above"] == []


def test_the_enumeration_rejects_a_wrong_worst_order(monkeypatch):
    monkeypatch.setattr(checks.orders, "worst_order", lambda *_, n, local_steps, step: repeated(local_steps))
    (found,) = checks.enumerated(claim("ours.worst_order"), 0, 1)
    assert found.finding == "refutes"
    # And no verdict is given while a proof and an enumeration disagree.
    with pytest.raises(InconsistentEvidence, match="exceed the one that is the worst"):
        run_check(claim("ours.worst_order"), CHECKS["ours.worst_order"])


def test_what_lemma_12_says_of_its_constant():
    """The note's instance: two components, one refreshed at k = 1 and 2, needs 1/8 - 1/(2 beta L) at k = 2."""
    assert "1/8 - 1/(2 beta L)" in " ".join(claim("cflag.lemma12").notes)
    for b in (Fraction(5), Fraction(1000)):
        met = walk_attaining((0, 0), n=2, step=b)
        assert (met.error[2] - 2 * b) / (2 * b * met.drift[1]) == Fraction(1, 8) - 1 / (2 * b)
