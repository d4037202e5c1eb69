"""Claims that a constant exists: what is false for every C is refuted by an instance for every C, and nothing else."""

from __future__ import annotations

import json

import pytest
import sympy as sp
from needs import quick

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify import Conjecture, decide, dot, function, index, mean, norm, norm2, vector, vectors
from cflag_theory.falsify.saving import replay, save

C, D, L, mu, a, b = sp.symbols("C D L mu a b", positive=True)
i = index("i")
x, y, z = vectors("x y z")
f, h = function("f", smooth=L), function("h", smooth=L, convex=True)
st = function("st", smooth=L, mu=mu)
E = mean("E", i)
v = vector("v", i)


def claim(left, right, *given, of=(), **more):
    return Conjecture(name="constant", left=left, right=right, given=given, exists={"C": of} | more)


FALSE = {
    "one of two vectors": claim(norm2(x + y), C * norm2(x)),
    "a square by a length": claim(norm2(f.grad(x) - f.grad(y)), C * norm(x - y), of=(L,)),
    "values by lengths": claim(f(x) - f(y), C * norm(x - y), of=(L,)),
    "dissimilarity for nothing": claim(E(norm2(v)), C * norm2(E(v))),
    "domination without strong convexity": claim(h(x) - h(y), C * norm2(h.grad(x)), sp.Eq(h.grad(y), 0), of=(L,)),
    "a step without a bound": claim(norm2(x - a * f.grad(x)), C * norm2(x), of=(L,)),
    "numbers": claim(a**2, C * a),
    "numbers, small": claim(C * a, a**2),
    "descent at any step": claim(f(x - a * f.grad(x)) + C * a * norm2(f.grad(x)), f(x), of=(L,)),
    "from below": claim(C * norm2(x), norm2(x + y)),
    "from below, at a rate": claim(C * norm2(x - y), dot(h.grad(x) - h.grad(y), x - y), of=(L,)),
    "of L alone": claim(norm2(st.grad(x)), C * (st(x) - st(y)) * b, sp.Eq(st.grad(y), 0), of=(L, mu)),
    "two constants": Conjecture(
        name="two", left=norm2(x + y + z), right=C * norm2(x) + D * norm2(y), exists={"C": (), "D": ()}
    ),
}
#: True claims; for those whose formula is too strange no answer is right, and a refutation is not.
TRUE = {
    "both vectors": claim(norm2(x + y), C * (norm2(x) + norm2(y))),
    "a square by a square": claim(norm2(f.grad(x) - f.grad(y)), C * norm2(x - y), of=(L,)),
    "values by squares": claim(f(x) - f(y) - dot(f.grad(y), x - y), C * norm2(x - y), of=(L,)),
    "a mean": claim(norm2(E(v)), C * E(norm2(v))),
    "domination": claim(st(x) - st(y), C * norm2(st.grad(x)), sp.Eq(st.grad(y), 0), of=(mu,)),
    "a bounded step": claim(norm2(x - a * f.grad(x) - y + a * f.grad(y)), C * norm2(x - y), a * L <= 1),
    "a strange formula": claim((L**5 + sp.sqrt(L) + 1 / (1 + L**3)) * norm2(x), C * norm2(x), of=(L,)),
    "a large number": claim(10**9 * norm2(x), C * norm2(x)),
    "a small number": claim(C * norm2(x), norm2(x) / 10**9),
    "a bound on the numbers": claim(a**2, C * a, a <= 10**4),
    "two numbers": claim((a**3 + b**7) * norm2(x), C * norm2(x), of=(a, b)),
    "for whoever depends on all": claim(a * norm2(x) / (1 + b), C * norm2(x), of=(a,)),
    "a constant in a hypothesis": claim(norm2(x), norm2(y), norm2(x) <= C * norm2(y)),
    "a hypothesis that bounds": claim(norm2(x), C * norm2(y), norm2(x) <= a * norm2(y), of=(a,)),
}


LONG = ("a square by a square", "a bounded step", "a hypothesis that bounds", "values by squares", "two numbers")


@pytest.mark.parametrize("name", quick(FALSE, of=2))
def test_it_is_refuted_for_every_constant(name):
    found = decide(FALSE[name])
    assert found.outcome == "refuted", found.finding.not_covered
    assert found.instance[0].startswith("for every C")
    assert set(found.finding.engines) == {"sympy", "z3"}


@pytest.mark.parametrize("name", quick(TRUE, *LONG, of=2))
def test_what_is_true_is_not_refuted(name):
    assert decide(TRUE[name]).outcome != "refuted"


def test_a_number_that_the_ledger_knows_under_its_name_stays_fixed_too():
    """Other names stand for such numbers in a claim of one's own: C may depend on it, so no instance lets it grow."""
    from cflag_theory.claims.ledger import LEDGER
    from cflag_theory.claims.ledger import claim as of_the_ledger

    for id in [*LEDGER][:40]:
        of_the_ledger(id)
    known = sp.Symbol("grad_g", nonnegative=True)
    assert decide(claim((1 + known**2) * norm2(x), C * norm2(x), of=(known,))).outcome != "refuted"
    assert decide(claim((1 + known**2) * norm2(x), C * norm2(x))).outcome == "refuted"


def test_growth_alone_is_a_sentence_and_no_verdict():
    found = decide(TRUE["a large number"])
    assert found.outcome == "neither"
    assert any("for every constant it is refuted" in words for words in found.finding.not_covered)


def test_it_is_saved_and_replayed_with_the_constant_as_a_symbol(tmp_path):
    one = FALSE["a square by a length"]
    path = save(decide(one).finding, tmp_path)
    assert replay(path, conjecture=one).broken
    saved = json.loads(path.read_text())
    text = json.dumps(saved).replace("*n^", "*n^-")
    path.write_text(text)
    with pytest.raises(InvalidInput, match="not seen to break"):
        replay(path, conjecture=one)
