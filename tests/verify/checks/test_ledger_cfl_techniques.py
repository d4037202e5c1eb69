"""Assumption 1's corollary and Appendix A of the CFL paper: verdicts, and constants moved past what is attained."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp
from rows import decide, findings, parts

from cflag_theory.claims.cfl.techniques import chebyshev, sublinear, summation
from cflag_theory.claims.cfl.techniques import norms as techniques
from cflag_theory.claims.cfl.techniques.ours import noise as ours_cfl_noise
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.notation import L
from cflag_theory.claims.engine.relation import at_most
from cflag_theory.verify.checks.cfl.techniques import norms as techniques_checks
from cflag_theory.verify.checks.cfl.techniques import sublinear as sublinear_checks

TINY = sp.Rational(1, 10**6)
SMALL = sp.Rational(1, 1000)
HALF = sp.Rational(1, 2)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (techniques.corollary, {"1": "typo", "2": "holds"}),
        (techniques.lemA3, {"1": "holds"}),
        (techniques.lemA4, {"1": "needs-hypothesis"}),
        (techniques.lemA5, {"1": "loose"}),
        (summation.lemA1, {"1": "holds"}),
        (sublinear.lemA2, {"1": "needs-hypothesis"}),
        (chebyshev.lemA6, {"1": "holds", "2": "holds"}),
        (ours_cfl_noise.linear_rate, {"1": "holds"}),
        (ours_cfl_noise.interpolation, {"1": "holds"}),
        (ours_cfl_noise.separation, {"1": "holds", "2": "holds"}),
        (ours_cfl_noise.moments_on_the_run, {"1": "holds"}),
    ],
)
def test_verdict(build, expected):
    verdict = decide(build())
    assert parts(verdict) == expected
    proofs = [e for e in verdict.evidence if e.kind == "proof"]
    assert proofs
    for item in proofs:
        assert item.data["engines"] == ["sympy", "z3"]
        assert item.data["undecided"] == item.data["pieces"] == []


def test_the_corollary_with_the_other_gradient_is_proved():
    subject = techniques.corollary()
    first = replace(subject.parts[0], printed=subject.parts[0].repair.statement, repair=None)
    assert decide(replace(subject, parts=(first,))).verdict == "holds"


@pytest.mark.parametrize(
    ("subject", "on", "key"),
    [
        (techniques.corollary(HALF + TINY), "repair", "1"),
        (techniques.lemA3(1 - TINY), "printed", "1"),
        (techniques.lemA4(1 - TINY), "repair", "1"),
        (techniques.lemA5(HALF), "printed", "1"),
        (techniques.lemA5(half=HALF - TINY), "sharp", "1"),
        (summation.lemA1(sp.Rational(1, 4)), "printed", "1"),
        (sublinear.lemA2(first=2 - SMALL), "repair", "1"),
        (sublinear.lemA2(2 - SMALL), "repair", "1"),
        (sublinear.lemA2(best=sp.Rational(3, 2) - SMALL), "sharp", "1"),
        (chebyshev.lemA6(1 - TINY), "printed", "1"),
        (chebyshev.lemA6(lead=sp.Rational(3, 2) - TINY), "printed", "2"),
        (ours_cfl_noise.linear_rate(1 - TINY), "printed", "1"),
        (ours_cfl_noise.interpolation(1 + TINY), "printed", "1"),
        (ours_cfl_noise.separation(1 - TINY), "printed", "1"),
        (ours_cfl_noise.separation(1 - TINY), "printed", "2"),
        (ours_cfl_noise.moments_on_the_run(3 - TINY), "printed", "1"),
    ],
    ids=lambda value: getattr(value, "id", value),
)
def test_a_constant_past_what_is_attained(subject, on, key):
    verdict = decide(subject)
    assert findings(verdict, on, "counterexample", key) == ["refutes"]
    assert findings(verdict, on, "proof", key) == ["undecided"]
    if on == "sharp":
        assert parts(verdict)[key] in ("holds", "needs-hypothesis")
        assert verdict.sharp == ()
    else:
        assert parts(verdict)[key] == "false"


@pytest.mark.parametrize("constant", [2, 1])
def test_the_constant_of_the_linear_rate_is_not_sharp_but_the_proof_notices(constant):
    verdict = decide(summation.lemA1(constant))
    assert verdict.verdict == "open"
    assert findings(verdict, "printed", "proof") == ["undecided"]


def test_mu_above_L_is_not_claimed():
    subject = techniques.corollary()
    planted = subject.with_printed(at_most(2 * techniques.mu, L), "2")
    assert parts(decide(planted))["2"] == "false"


def test_independent_variables_satisfy_lemma_A4():
    relation = techniques.lemA4().parts[0].printed.relation
    broken = {p.story[0].partition(",")[0]: not relation.holds_at(p.values) for p in techniques_checks.lemA4_points()}
    assert broken["Xi_1 = Xi_2 = s"]
    assert not broken["Xi_1 = s_1"]
    assert sum(broken.values()) == 2


def test_no_step_helps_lemma_A2_at_the_optimum():
    verdict = decide(sublinear.lemA2())
    family = [e for e in verdict.evidence if e.kind == "counterexample" and "family" in e.summary]
    assert len(family) == 1
    assert "every step eta > 0" in family[0].data["instance"][0]


def test_the_steps_of_lemma_A2_are_at_most_eta_max():
    for point in sublinear_checks.lemA2_points():
        for step in (sublinear.eta, sublinear.eta_sharp):
            assert sp.sympify(point.values[step]) <= point.values[summation.eta_max]


@pytest.mark.parametrize(
    "step",
    [
        rules.tangent_of_exp("r", sp.Rational(-1, 2), sp.S(2)),
        replace(rules.tangent_of_ln("r", chebyshev.ln, sp.S(2), sp.S(3)), conclusion=at_most(1, chebyshev.ln(3))),
        rules.tangent_of_ln("r", chebyshev.ln, sp.S.Zero, sp.S(3)),
        rules.tangent_of_ln("r", chebyshev.ln, sp.S.Half, sp.S(3)),
        rules.tangent_of_ln("r", chebyshev.ln, sp.S(3), sp.S.Half),
        rules.tangent_of_ln("r", chebyshev.H, sp.S(2), sp.S(3)),
        replace(
            rules.tangent_of_ln("r", chebyshev.ln, sp.S(2), sp.S(3)),
            conclusion=at_most(sp.Rational(1, 2), chebyshev.ln(3) - chebyshev.ln(2)),
        ),
    ],
)
def test_a_bent_tangent_is_refused(step):
    assert rules.fault(step, []) is not None


@pytest.mark.parametrize("name", ["mean rest", "rest", "no rest"])
def test_the_linear_rate_needs_the_mean_of_what_the_rounds_leave(name):
    statement = ours_cfl_noise.linear_rate().parts[0].printed
    kept = tuple(fact for fact in statement.definitions if fact.name != name)
    assert not examine(replace(statement, definitions=kept)).accepted


def test_straight_tangents_are_accepted():
    assert rules.fault(rules.tangent_of_ln("r", chebyshev.ln, sp.S(2), chebyshev.k + 3), []) is None
    assert rules.fault(rules.tangent_of_exp("r", sp.Rational(-1, 2), sp.S.One), []) is None
