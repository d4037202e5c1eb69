"""Adaptive rates: what Lemma 7 leaves out, and that runs are searched."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp
from rows import points_of

from cflag_theory.claims.c_flag.adaptive import lemmas as adaptive_lemmas
from cflag_theory.claims.c_flag.adaptive import server as adaptive
from cflag_theory.claims.engine.points import holds_at
from cflag_theory.claims.ledger import LEDGER
from cflag_theory.verify.check import Check, run_check
from cflag_theory.verify.checks.c_flag import adaptive as checks


def part_of(subject, key):
    return next(part for part in subject.parts if part.key == key)


def test_lemma_7_read_as_the_sum_of_the_clients_terms():
    # With (195) for Gamma_ad: true in the average case with alpha = beta, and not in the worst.
    for mode in ("average", "worst"):
        found = []
        for point in points_of(f"cflag.lemma7_{mode}"):
            v, c = point.values, adaptive_lemmas
            if v[c.alpha] == v[c.beta]:
                best = -(1 - v[c.L] * v[c.alpha]) * v[c.Lambda_adapted] / 2
                rest = v[c.L] * v[c.beta] ** 2 / 2 * (1 if mode == "average" else v[c.N]) * v[c.own_I]
                # Under interference alpha_i only lowers the term: with alpha it is at its largest.
                most = best + rest - v[c.beta] * (1 - v[c.L] * v[c.alpha]) * v[c.Lambda_I]
                found.append((most, c.constant_forgetting().subs(v)))
        assert found
        if mode == "average":
            assert all(most <= gamma for most, gamma in found)
        else:
            assert (sp.Rational(-81, 250), sp.Rational(-9, 25)) in found


def test_both_faults_of_the_average_case_are_instances():
    # The raised alpha with orthogonal a_i, and cancelling products that rescaling brings back at the same alpha.
    c = adaptive_lemmas
    relation = part_of(c.CLAIMS["cflag.lemma7_average"](), "1").printed.relation
    points = points_of("cflag.lemma7_average")
    broken = [p.values for p in points if p.values[c.cross] == 0 and not holds_at(relation, p.values)]
    assert any(v[c.cross_adapted] == 0 and v[c.alpha_mean] > v[c.alpha] for v in broken)
    assert any(v[c.cross_adapted] > 0 and v[c.alpha_mean] == v[c.alpha] for v in broken)


def test_a_run_of_the_descent_rule_names_its_ranges():
    run = LEDGER["ours.adaptive_descent"]().parts[1].printed
    assert [fact.name for fact in run.hypotheses] == ["alpha", "m", "end"]
    assert "rule of part round" in run.words


def test_a_run_that_raised_gamma_would_be_seen():
    # The worst case of Table 1 does raise Gamma in some random rounds: the same search must say so.
    found = list(checks.lowers_gamma("worst", "1")(LEDGER["ours.adaptive_clients"](), 0, 60))
    assert found[0].finding == "refutes"
    assert found[0].data["violations"] == found[0].data["table1_raised"] > 0


@pytest.mark.parametrize("key", ["f", "g"])
def test_ten_rounds_of_a_run_say_nothing_about_a_limit(key):
    part = part_of(LEDGER["cflag.sec5_guarantee"](), key)
    wrong = replace(part.refutation, relation=part.refutation.relation.subs({adaptive.alpha: 2 * adaptive.alpha}))
    bare = replace(LEDGER["cflag.sec5_guarantee"](), parts=(replace(part, refutation=replace(wrong, proof=None)),))
    assert run_check(bare, Check()).verdict == "open"
