"""Certificates are found, kept by what the obligation says, and checked at every use."""

from __future__ import annotations

import pytest
import sympy as sp

from cflag_theory.claims import find
from cflag_theory.claims.engine import certificates, finder
from cflag_theory.claims.engine.algebra import certificate_fault, slack, square
from cflag_theory.claims.engine.claim import Fact, Statement
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.relation import Relation, at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof
from cflag_theory.claims.engine.transcript import inferences

a, b, c = sp.symbols("a b c", real=True)
x, y = sp.symbols("x y", nonnegative=True)
L = sp.Symbol("L", positive=True)
k = sp.Symbol("k", integer=True, nonnegative=True)
term = sp.Function("term", nonnegative=True)

ORDER = {"h": at_most(a, b)}

TRUE = {
    "an identity": (equal((a + b) ** 2, a**2 + 2 * a * b + b**2), {}),
    "a monomial times a slack": (at_most(x * a, x * b), ORDER),
    "two slacks": (at_most(a, c), {"1": at_most(a, b), "2": at_most(b, c)}),
    "a product of slacks": (at_most(0, (b - a) * (c - b)), {"1": at_most(a, b), "2": at_most(b, c)}),
    "a positive denominator": (at_most(a / (L + x), b / (L + x)), ORDER),
    "a strict slack under": (below(0, 1 / (b - a)), {"h": below(a, b)}),
    "a strict fact": (below(2 * a, 2 * b + 1), {"h": below(a, b)}),
    "division by a positive factor": (at_most(a, b), {"h": at_most(L * a, L * b)}),
    "an equation solved": (equal(a, b / (L + x)), {"h": equal(a * (L + x), b)}),
    "a term of a sequence": (at_most(0, L * term(k + 1) + x), {}),
    "a power with a symbolic exponent": (at_most((1 + L) ** k, (1 + L) ** (k + 1)), {}),
}


@pytest.mark.parametrize("case", TRUE)
def test_a_certificate_is_found_kept_and_read_again(case):
    goal, given = TRUE[case]
    found = finder.find(goal, given)
    assert found is not None
    assert certificate_fault(goal, given, found) is None
    facts = tuple(given.items())
    read = certificates.read(certificates.entry(goal, facts, found), goal, facts)
    assert certificate_fault(goal, given, read) is None


FALSE = {
    "the wrong way round": (at_most(b, a), ORDER),
    "a factor of unknown sign": (at_most(c * a, c * b), ORDER),
    "a slack that may vanish under": (below(0, 1 / (b - a)), ORDER),
    "strict from weak": (below(a, b), ORDER),
    "an equation from an inequality": (equal(a, b), ORDER),
    "a denominator of either sign": (at_most(a / c, b / c), ORDER),
}


@pytest.mark.parametrize("case", FALSE)
def test_nothing_is_found_for_what_is_false(case):
    assert finder.find(*FALSE[case]) is None


def test_the_key_depends_on_what_is_said_and_not_on_names_or_order():
    first, second = at_most(a, b), at_most(b, c)
    here = certificates.key(at_most(a, c), (("1", first), ("2", second)))
    assert here == certificates.key(at_most(a, c), (("of this", second), ("or that", first)))
    signed = sp.Symbol("a", nonnegative=True)
    others = [
        (at_most(a, c), (("1", first),)),
        (below(a, c), (("1", first), ("2", second))),
        (at_most(signed, c), (("1", at_most(signed, b)), ("2", second))),
    ]
    assert len({here, *(certificates.key(*one) for one in others)}) == 4


GOAL, FACTS = at_most(2 * a, 2 * c), (Fact("1", at_most(a, b), ""), Fact("2", at_most(b, c), ""))


def proved(goal: Relation = GOAL) -> Statement:
    return Statement("", goal, FACTS, Proof((Obligation("s", goal, ("1", "2")),)))


@pytest.fixture
def store(tmp_path, monkeypatch):
    """An empty store, to be filled with entries for the statement above."""
    path = tmp_path / "certificates.json"
    monkeypatch.setattr(certificates, "STORE", path)
    given = tuple((fact.name, fact.relation) for fact in FACTS)

    def fill(certificate: sp.Expr | None) -> None:
        kept = (
            {} if certificate is None else {certificates.key(GOAL, given): certificates.entry(GOAL, given, certificate)}
        )
        certificates.save(kept)

    yield fill
    monkeypatch.undo()
    certificates.load.cache_clear()
    certificates.certificate_for.cache_clear()


RIGHT = 2 * slack("1") + 2 * slack("2")


def test_what_is_kept_is_used_without_a_search(store, monkeypatch):
    store(RIGHT)
    monkeypatch.setattr(finder, "find", lambda goal, given: pytest.fail("searched"))
    assert [one.certificate for one in inferences(proved())] == [RIGHT]


@pytest.mark.parametrize("kept", [None, slack("1") + slack("2"), 2 * slack("1"), RIGHT + square(a), sp.S.Zero])
def test_a_missing_stale_or_edited_entry_is_found_out_and_found_anew(store, kept):
    store(kept)
    assert [one.certificate for one in inferences(proved())] == [RIGHT]
    assert examine(proved()).accepted


#: Terms that are no terms, or too large to be what was found.
UNREADABLE = (
    *(
        "__import__('os')",
        "2*{slack 9}",
        "2*{slack 1",
        "2*{slack 1} 2",
        "1/0",
        "1/0-1/0",
        "0**(1/0)",
        "braced_7",
        "",
        "\0",
    ),
    *("\ud800", "lambda: 1", "square()", "square(1, 2)", "a if a else b", "a < b", "[1]", "f'{1}'", "1e400", "None"),
    *("9**9**9**9", "(2**64)**65", "((({slack 1} + 1)**64 + 1)**64 + 1)**64", "exp(exp(10**300))", "1" * 5000),
    *("-" * 90_000 + "1", "(" * 5000 + "1" + ")" * 5000, "+".join(["{slack 1}"] * 9000)),
)


@pytest.mark.parametrize("text", UNREADABLE, ids=range(len(UNREADABLE)))
def test_an_entry_that_cannot_be_read_is_found_anew(store, text):
    store(RIGHT)
    certificates.save({key: {**kept, "sum": [text]} for key, kept in certificates.load().items()})
    assert [one.certificate for one in inferences(proved())] == [RIGHT]
    store(RIGHT)
    certificates.save({key: {**kept, "times": text} for key, kept in certificates.load().items()})
    assert [one.certificate for one in inferences(proved())] == [RIGHT]


def test_an_entry_does_not_prove_another_goal(store):
    store(RIGHT)
    assert not examine(proved(at_most(2 * a, 2 * c - 1))).accepted


@pytest.mark.full
def test_the_store_has_every_entry_that_the_ledger_needs_and_no_other():
    entries, unfound = find.refreshed()
    assert not unfound
    assert entries == certificates.load()
