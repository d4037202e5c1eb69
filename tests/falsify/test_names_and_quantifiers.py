"""Names that a claim shares with what proofs make, and facts that hold for every number: none is decided wrongly."""

from __future__ import annotations

import pytest
import sympy as sp

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify import (
    Conjecture,
    decide,
    dot,
    draws,
    function,
    index,
    largest,
    mean,
    norm2,
    sequence,
    sum_over,
    vector,
    vectors,
)
from cflag_theory.falsify.saving import of_page
from cflag_theory.falsify.vector_terms.proving import prove_vectors
from cflag_theory.falsify.vector_terms.reading import read_vectors

n, K = sp.symbols("n K", integer=True, positive=True)
eta, lam = sp.symbols("eta lambda", positive=True)
i, t = index("i"), index("t")
x, y, w = vectors("x y w")
A, chosen = sequence("A", nonnegative=True), sequence("chosen_1", nonnegative=True)
TOP, S = largest(i, n, A(i)), sum_over(i, n)
f = function("f", smooth=sp.Symbol("root_eta", positive=True))
g = function("g", smooth=sp.Symbol("max_1", nonnegative=True))
clients, v = mean("clients", i), vector("v", i)
E, some = draws("S", clients, K)


def claim(left, right, *given, name="names"):
    return Conjecture(name=name, left=left, right=right, given=given)


def above(of, bend):
    """That f(y) is below a parabola."""
    return claim(of(y), of(x) + dot(of.grad(x), y - x) + bend / 2 * norm2(x - y))


@pytest.mark.parametrize(
    "wrong",
    [claim(S(chosen(i)), 1000 + TOP), claim(S(chosen(i) * A(i)), TOP), above(f, 9 * sp.sqrt(eta)), above(g, TOP)],
    ids=["weights", "weighed", "root", "maximum"],
)
def test_a_name_that_a_proof_makes_is_none_of_the_claim(wrong):
    """A proof gave the weights of a maximum, a root or the maximum itself the name of a number of the claim."""
    assert prove_vectors(read_vectors(wrong).as_proved()) is None
    assert decide(wrong, budget=60).outcome != "proved"


@pytest.mark.parametrize(
    "right",
    [
        claim(norm2(x), eta, norm2(x) <= eta / 2, name="hypothesis 1"),
        claim(A(n), A(0), A(t + 1) <= A(t), name="hypothesis 1"),
        claim(2 * dot(x, y), norm2(x) + norm2(y), name="square of x - y"),
        claim(lam * norm2(x + y), 2 * lam * norm2(x) + 2 * lam * norm2(y)),
        claim(A(n - 1), A(n - 1) + 1),
    ],
    ids=["fact", "round", "square", "keyword", "place before"],
)
def test_no_name_and_no_place_ends_in_an_error(right):
    assert decide(right, budget=60).outcome == "proved"


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        (lambda: claim(norm2(some(v)), clients(norm2(v))), "stands outside of its expectation"),
        (lambda: claim(norm2(w - x), norm2(clients(v)), sp.Eq(w, x - some(v))), "stands outside of its expectation"),
        (lambda: claim(E(norm2(some(vector("u", i, index("S_draw"))))), 0), "a member does not depend on"),
        (lambda: claim(0, norm2(function("x", smooth=1).grad(x))), "two things are called x"),
    ],
    ids=["draw alone", "draw of a vector", "member of a draw", "function and vector"],
)
def test_what_would_be_read_otherwise_is_refused(stated, words):
    with pytest.raises(InvalidInput, match=words):
        decide(stated(), budget=60)


PAGE = """
symbol b, s real
symbol n positive natural
symbol m natural
index k, m'
sequence a(k) nonnegative
sequence c(k) nonnegative
fact FROM_ONE = one: for every n, a(n) <= b
fact FROM_NONE = none: for every m, a(m) <= b
fact BEFORE = before: for every n, a(n) <= a(n - 1)
fact BOTH = both: for every m and m', a(m) <= c(m')
fact WITHIN = within: k + 1 <= n
fact ONE_K = one k: a(k) <= b
fact SHORT = short: for every k, k + 1 <= n
fact EVERY_K = every k: for every k, a(k) <= b

"""
#: True or not, by what a page says and for which facts; None where it is true and need not be proved.
FOR_EVERY = [
    ("a(0) <= b", "FROM_ONE", False),
    ("a(k) <= b", "FROM_ONE", False),
    ("a(1) <= b", "FROM_ONE", True),
    ("a(0) <= b", "FROM_NONE", True),
    ("a(n) <= a(0)", "BEFORE", True),
    ("a(3) <= c(2)", "BOTH", None),
    ("min(k, n, a(k)) <= b", "WITHIN; ONE_K", None),
    ("min(k, n, a(k)) <= b", "ONE_K", False),
    ("max(k, m, a(k)) <= b", "WITHIN; ONE_K", False),
    ("a(n) <= b", "WITHIN; EVERY_K", True),
    ("a(0) <= b", "SHORT", None),
]


@pytest.mark.parametrize(("said", "given", "true"), FOR_EVERY)
def test_a_fact_for_every_number_is_one_for_those_of_its_sort(tmp_path, said, given, true):
    """A positive n became an index 0, 1, 2, ..., and a number the index beside it; k in a range was any k elsewhere."""
    page = tmp_path / "p.page"
    page.write_text(f"{PAGE}claim p.x | 1 | for every\n    say {said}\n    for {given}\n", encoding="utf-8")
    (one,) = of_page(page)
    found = decide(one, budget=300).outcome
    assert found != "refuted" if true is None else found == ("proved" if true else "refuted")


@pytest.mark.parametrize("number", ["s", "n + 1", "a"])
def test_no_fact_is_for_every_real_number(tmp_path, number):
    """That s b <= s^2 for every real s says b = 0, and for every whole s less."""
    page = tmp_path / "p.page"
    fact = f"fact F = f: for every {number}, s b <= s^2\n"
    page.write_text(f"{PAGE}{fact}claim p.x | 1 | b\n    say b <= 0\n    for F\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="neither an index nor a natural number"):
        of_page(page)


VECTORS = "symbol m natural\nsymbol n positive natural\nsymbol b real\nindex k\n"


@pytest.mark.parametrize("declared", ["vector w(k)", "vector w : w_{@}"])
@pytest.mark.parametrize(
    ("said", "wrong"),
    [("|w(m)| <= |w(n)|; for every k, |w(k + 1)| <= |w(k)|", "proved"), ("|w(2)| = 2 |w(1)|", "proved"),
     ("|w(m)| <= b; for every k, |w(k)| <= b", "refuted")],
)  # fmt: skip
def test_a_vector_with_an_index_is_called_with_others(tmp_path, declared, said, wrong):
    """w(m) was m times w(k)."""
    page = tmp_path / "p.page"
    lines = said.replace("; ", "\n    for h: ")
    page.write_text(f"{VECTORS}{declared}\n\nclaim p.x | 1 | members\n    say {lines}\n", encoding="utf-8")
    (one,) = of_page(page)
    assert decide(one, budget=300).outcome != wrong


@pytest.mark.parametrize("said", ["|w|", "|2 w(1) - w|", "<w(1), w>", "|w/2|"])
def test_a_vector_with_an_index_is_not_called_without_one(tmp_path, said):
    page = tmp_path / "p.page"
    page.write_text(f"{VECTORS}vector w(k)\n\nclaim p.x | 1 | bare\n    say {said} <= b\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"line 8, .*w has indices: write w\(k\)"):
        of_page(page)


def test_a_claim_is_printed_as_it_was_read():
    """It was called left <= right, whatever it said."""
    found = decide(claim(norm2(x) * (eta / eta), 2 * norm2(x)), budget=60)
    assert found.finding.claim == "||x||^2 <= 2*||x||^2"
