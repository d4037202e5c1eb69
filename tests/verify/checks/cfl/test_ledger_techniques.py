"""Appendix A of the CFL paper: instances, and the rules about exp and ln."""

from __future__ import annotations

import sympy as sp
from rows import decided, points_of

from cflag_theory.claims.cfl.techniques import norms as techniques
from cflag_theory.claims.cfl.techniques import sublinear, summation
from cflag_theory.claims.engine.points import holds_at


def test_independent_variables_satisfy_lemma_A4():
    relation = techniques.CLAIMS["cfl.lemA4"]().parts[0].printed.relation
    broken = [not holds_at(relation, point.values) for point in points_of("cfl.lemA4")]
    assert broken == [True, True, *[False] * 6]
    correlations = [point.values[techniques.correlations] for point in points_of("cfl.lemA4")]
    assert [found > 0 for found in correlations] == broken


def test_no_step_helps_lemma_A2_at_the_optimum():
    verdict = decided("cfl.lemA2")
    family = [e for e in verdict.evidence if e.kind == "counterexample" and "family" in e.summary]
    assert len(family) == 1
    assert "every step eta > 0" in family[0].data["instance"][0]


def test_the_steps_of_lemma_A2_are_at_most_eta_max():
    for point in points_of("cfl.lemA2"):
        for step in (sublinear.eta, sublinear.eta_sharp):
            assert sp.sympify(point.values[step]) <= point.values[summation.eta_max]
