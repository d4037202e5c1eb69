"""Hypotheses that earn their place, hints, constants that exist, and what is said where nothing is proved."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import sympy as sp
from typer.testing import CliRunner

from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.ledger import claim as of_the_ledger
from cflag_theory.claims.uses import idle, named, without
from cflag_theory.cli.main import app
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify import Conjecture, Range, audit, decide, dot, falsify, function, norm2, prove, vectors
from cflag_theory.falsify.decisions.writing import chain
from cflag_theory.falsify.search.guard import _line

L, a, b, C, s = sp.symbols("L a b C s", positive=True)
x, y, u = vectors("x y u")
f = function("audited", smooth=L)
h = function("audited convex", smooth=L, convex=True, lower=0)


def claim(left, right, *given, **more):
    return Conjecture(name="a claim", left=left, right=right, given=given, **more)


def step(loss, *given):
    return claim(loss(x - a * loss.grad(x)), loss(x) - a / 2 * norm2(loss.grad(x)), *given)


def told(found):
    return {one.words: (one.used, one.without) for one in found.needs}


def test_each_hypothesis_has_a_counterexample_or_a_proof_without_it():
    found = audit(step(h, a * L <= 1, norm2(u) <= s * norm2(x)))
    needs = told(found)
    assert needs.pop("L*a <= 1") == (True, "refuted")
    assert needs.pop("||u||^2 <= s*||x||^2") == (False, "proved")
    assert {words.partition(" is ")[2]: one[1] for words, one in needs.items()} == {
        "L-smooth": "refuted",
        "convex": "proved",
        "bounded below by 0": "proved",
    }
    assert found.needs[0].against[-1].startswith("left = ")


def test_an_equation_that_is_put_into_the_claim_is_not_idle():
    halved = claim(f(x - a * f.grad(x)), f(x) - norm2(f.grad(x)) / (2 * L), sp.Eq(a, 1 / L))
    assert told(audit(halved))["a == 1/L"] == (None, "refuted")


def test_numbers_are_audited_too():
    shrinks = claim(a**2, a, a <= 1, a <= sp.Rational(3, 2), ranges={"a": Range(0, 2, open="low")})
    assert told(audit(shrinks)) == {"a <= 1": (None, "refuted"), "a <= 3/2": (None, "proved")}


def test_what_is_refuted_has_no_audit():
    assert audit(step(f)).needs == ()


def test_idle_assumptions_of_the_ledger_are_those_without_which_the_proof_is_accepted():
    rate = next(part for part in of_the_ledger("cfl.sc_rate").parts if part.key == "log").repair.statement
    spare = idle(rate)
    assert {fact.name for fact in spare} == {fact.name for fact in rate.hypotheses if fact.name not in named(rate)}
    assert examine(without(rate, spare)).accepted
    for fact in rate.facts:
        if fact not in spare:
            assert not examine(without(rate, [fact])).accepted


def test_a_hint_is_proved_before_it_is_used():
    doubled = claim(norm2(x + y), 2 * norm2(x) + 2 * norm2(y), hints=(norm2(x - y) >= 0,))
    assert prove(doubled).proved
    false = claim(norm2(x), norm2(y), hints=(norm2(x) <= norm2(y),))
    assert not prove(false).proved
    assert decide(false).refuted
    number = claim(a, 1, ranges={"a": Range(0, 2, open="low")}, hints=(a <= 1,))
    assert decide(number).refuted


def gap(scale, *of):
    right = scale * (h(x) - h(y) - dot(h.grad(y), x - y))
    return claim(norm2(h.grad(x) - h.grad(y)), right, exists={"C": of})


@pytest.mark.full
def test_a_constant_speaks_of_the_numbers_alone_on_which_it_may_depend():
    assert decide(gap(C, L)).chosen == {"C": "2*L"}
    # L may be as large as one likes: f = L w^2/2.
    assert decide(gap(C)).outcome == "refuted"
    assert not decide(claim(norm2(x), C * norm2(y), exists={"C": ()})).proved
    square = {"left": a**2, "right": C * a, "name": "numbers"}
    assert decide(Conjecture(**square, ranges={"a": Range(0, 3, open="low")}, exists={"C": ()})).chosen == {"C": "3"}
    assert not decide(Conjecture(**square, exists={"C": ()}), budget=100).proved
    assert decide(Conjecture(**square, exists={"C": (a,)})).chosen == {"C": "a"}
    with pytest.raises(InvalidInput, match="which no case refutes"):
        falsify(gap(C, L))
    with pytest.raises(InvalidInput, match="use a positive symbol"):
        decide(claim(norm2(x), norm2(x), exists={"C": ()}))


def test_a_range_without_a_proof_is_named():
    free = claim(norm2(x), C * norm2(y), ranges={"C": Range(0, 4, open="low")}, free="C")
    assert decide(free, budget=400).constant.within == "in (0, 4]"


def test_neither_says_what_was_tried_and_where_it_fails():
    # Three orthogonal vectors of one length are 0 in the plane, where instances are looked for, and not in space.
    u, v, w = vectors("u_of_three v_of_three w_of_three")
    orthogonal = (sp.Eq(dot(one, other), 0) for one, other in ((u, v), (u, w), (v, w)))
    alike = (sp.Eq(norm2(u), norm2(v)), sp.Eq(norm2(v), norm2(w)))
    right = f(x) + dot(f.grad(x), y - x) + L / 2 * norm2(y - x)
    found = decide(claim(f(y) + norm2(u), right, *orthogonal, *alike), budget=200)
    assert found.outcome == "neither"
    words = " ".join(found.finding.not_covered)
    assert "smoothness (4)" in words
    assert "follows from no multiples of these facts" in words
    assert "it was not asked" not in words


def test_a_chain_ends_at_the_right_side_or_is_none():
    derivation = prove(step(f, a * L <= 1)).derivation
    links = derivation.chain
    assert links[-1].right == derivation.goal.right
    assert any("<= " in line and "(by " in line for line in derivation.text())
    assert r"\text{by }" in derivation.latex()
    shown = {line.name: line.relation for line in derivation.lines}
    summands = [(one.multiplier, one.lines) for one in derivation.summands]
    goal = derivation.goal
    assert chain(Relation(goal.left, goal.op, goal.right + 1), shown, summands) == []
    assert chain(goal, shown, [(2 * summands[0][0], summands[0][1]), *summands[1:]]) == []


def test_a_proof_is_a_page_that_is_verified(tmp_path):
    (tmp_path / "proof.page").write_text(prove(step(f, a * L <= 1)).derivation.page())
    found = CliRunner().invoke(app, ["verify", str(tmp_path / "proof.page")])
    assert "1 holds" in found.output
    planted = (tmp_path / "proof.page").read_text().replace("L a <= 1", "L a <= 3").replace("a L <= 1", "a L <= 3")
    (tmp_path / "planted.page").write_text(planted)
    assert "1 holds" not in CliRunner().invoke(app, ["verify", str(tmp_path / "planted.page")]).output


def test_more_cases_never_find_less():
    false = step(f, a * L <= 2)
    met = [falsify(false, budget=budget, seed=3).refuted for budget in (20, 60, 200, 700)]
    assert met == sorted(met)
    assert met[-1]
    small, large = (falsify(step(f, a * L <= 1), budget=budget) for budget in (150, 400))
    assert small.largest_ratio <= large.largest_ratio


FILE = """
import sympy as sp
from cflag_theory.falsify import Conjecture, norm2, vectors

c = sp.Symbol("c", positive=True)
x, y = vectors("x y")
empty = Conjecture(name="empty", left=norm2(x), right=norm2(y), given=(norm2(x) <= c, 2 * c <= norm2(x)))
true = Conjecture(name="true", left=norm2(x), right=norm2(x) + norm2(y))
"""


def test_one_bad_claim_does_not_end_a_file(tmp_path):
    (tmp_path / "two.py").write_text(FILE)
    command = ["decide", str(tmp_path / "two.py"), "--budget", "100", "--format", "json"]
    found = CliRunner().invoke(app, command)
    assert found.exit_code == 2
    empty, true = json.loads(found.stdout)
    assert "no case satisfies the hypotheses" in empty["error"]
    assert true["outcome"] == "proved"
    CliRunner().invoke(app, [*command, "true", "--proofs", str(tmp_path / "proofs")])
    assert sorted(path.name for path in (tmp_path / "proofs").glob("true.*")) == ["true.page", "true.tex"]


def test_show_marks_what_is_idle():
    shown = CliRunner().invoke(app, ["show", "cfl.thm4_7_cO"]).output
    assert shown.count("(idle: the checked proof holds without it)") == 2


def test_a_frame_without_a_line_has_a_place():
    assert _line("lemma.py", None).startswith("lemma.py, line ?")


def test_a_divisor_that_is_a_slack_and_one_prints():
    K = sp.Symbol("K", integer=True, positive=True)
    bound = claim(norm2(x + y), (1 + 1 / (K - 1)) * norm2(x) + K * norm2(y), sp.Integer(2) <= K)
    found = decide(replace(bound, name="with K - 1"))
    assert found.proved
    assert found.derivation.text()
