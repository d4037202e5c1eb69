"""Repairs: each proposal is proved, the claim without it fails, and the ledger's own repairs are found again."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
from ledger_repairs import parts_about_numbers, repair_part
from needs import LONG, quick

from cflag_theory.claims.engine.models import look_for_model
from cflag_theory.claims.engine.points import holds_at
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify import Conjecture, Range, dot, function, norm2, repair, vectors
from cflag_theory.falsify.decisions.changes import EDIT, HYPOTHESIS
from cflag_theory.falsify.decisions.repairing import Repairing

a, b, c = sp.symbols("a b c", positive=True)
u = sp.Symbol("u", real=True)
L, alpha = sp.symbols("L alpha", positive=True)
x, y = vectors("x y")
f = function("f", smooth=L)

STATEMENTS = {
    "a constant": (Relation(4 * a * b, "<=", (a + b) ** 2 / 2), (), "right: 2 in place of 1"),
    "a sign": (Relation((a - b) ** 2, "==", a**2 + 2 * a * b + b**2), (), "right: the opposite sign of 2*a*b"),
    "a power": (Relation((a + b) * (a - b), "==", a**2 - b), (), "right: b^2 in place of b"),
    "a factor": (Relation(a * (b + c), "==", a * b + c), (), "right: c a in place of c"),
    "an exchange": (Relation(a + b**2, "==", b + c), (Relation(c, "==", a**2),), "left: exchange a and b"),
    "a step size": (
        Relation(a * (1 - a * L), "<=", a**2 * (1 - a * L)),
        (Relation(sp.S.One, "<=", a),),
        "assume L*a <= 1",
    ),
    "a sign of a number": (Relation(u * a, "<=", u * (a + b)), (), "assume 0 <= u"),
}


@pytest.mark.parametrize("name", quick(STATEMENTS, of=2))
def test_small_statements(name):
    goal, given, wanted = STATEMENTS[name]
    search = Repairing(goal, given)
    found = search.proposals()
    assert wanted in [one.change.words for one in found]
    for one in found:
        assert look_for_model(one.change.goal, one.change.given).word == "proved"
        against = {symbol: sp.Rational(value.numerator, value.denominator) for symbol, value in one.against.items()}
        assert holds_at(goal.subs(against), {}) is False
        assert all(holds_at(fact.subs(against), {}) for fact in given)
        if one.change.kind == HYPOTHESIS:
            assert holds_at(one.change.added.subs(against), {}) is False


def test_what_holds_needs_no_repair():
    assert Repairing(Relation(2 * a * b, "<=", a**2 + b**2), ()).proposals() == []


def test_a_claim_about_numbers():
    claim = Conjecture(
        name="a product",
        ranges={"x": Range(0, 1), "y": Range(0, 1)},
        left=lambda x, y: x * y,
        right=lambda x, y: (x**2 + y**2) * Fraction(2, 5),
    )
    found = repair(claim, budget=200)
    assert found.decision.refuted
    assert found.proposals[0].kind == EDIT
    assert found.proposals[0].words == "right: 5/4 in place of 1"
    assert found.to_json()["repairs"][0]["claim"].startswith("x*y <= ")


@pytest.mark.full
@pytest.mark.parametrize(
    ("claim", "wanted"),
    [
        (
            Conjecture(
                name="descent for every step", left=f(x - alpha * f.grad(x)), right=f(x) - alpha / 2 * norm2(f.grad(x))
            ),
            "assume L*alpha <= 1",
        ),
        (
            Conjecture(
                name="co-coercivity",
                left=norm2(f.grad(x) - f.grad(y)),
                right=L * dot(f.grad(x) - f.grad(y), x - y),
            ),
            "assume that f is convex",
        ),
    ],
)
def test_claims_with_vectors(claim, wanted):
    found = repair(claim, budget=150, seconds=8)
    assert found.decision.refuted
    assert [one.words for one in found.proposals] == [wanted]


def test_a_claim_about_runs_is_not_repaired():
    with pytest.raises(InvalidInput, match="has a free constant"):
        repair(Conjecture(name="a", ranges={"c": Range(0, 1)}, left=0, right=lambda c: c, free="c"))


EASY = ("cflag.alg1.1", "cfl.aggregation.1", "cfl.nc_eq32.3")


@pytest.mark.parametrize("name", quick(EASY, "cflag.alg1.1", "cfl.nc_eq32.3"))
def test_repairs_of_the_ledger(name):
    found = repair_part(name, dict(parts_about_numbers())[name])
    assert found.rank is not None


@pytest.mark.full
@pytest.mark.skipif(not LONG, reason="ten minutes: set CFLAG_LONG=1")
def test_half_of_the_ledgers_repairs_about_numbers_are_found(capsys):
    found = [repair_part(name, part) for name, part in parts_about_numbers()]
    with capsys.disabled():
        for one in found:
            print(f"{one.name} [{one.kind}]: {one.rank or 'not among'} of {len(one.proposals)} proposals")
    assert 2 * sum(one.rank is not None for one in found) >= len(found)
