"""The ledger as data: what a claim carries, how it prints, and how relations are evaluated."""

from __future__ import annotations

import re
from fractions import Fraction
from importlib import import_module
from pathlib import Path

import pytest
import sympy as sp

import cflag_theory.claims as package
from cflag_theory.claims.c_flag.step_sizes import CONDITIONS
from cflag_theory.claims.engine.points import holds_at, sides_at
from cflag_theory.claims.engine.printing import in_latex, to_latex
from cflag_theory.claims.engine.relation import Relation, at_most, below, equal
from cflag_theory.claims.ledger import LEDGER, PLACES, claim
from cflag_theory.claims.standing import PREAMBLE
from cflag_theory.errors import UnknownName

x, y = sp.symbols("x y", real=True)


def statements(part):
    yield part.printed
    if part.repair:
        yield part.repair.statement
    if part.sharp:
        yield part.sharp.statement
    if part.refutation:
        yield part.refutation


def test_the_ledger_leaves_no_claim_of_a_page_out():
    built = []
    for page in Path(package.__file__).parent.rglob("*.page"):
        built += re.findall("^claim ([^ ]+)", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(built) == sorted(LEDGER)


def test_the_ledger_is_in_paper_order():
    """The papers before what is ours; of one module, the claims in the module's order."""
    ids = list(LEDGER)
    papers = [id.partition(".")[0] for id in ids]
    assert papers == sorted(papers, key=["cflag", "cfl", "ours"].index)
    for name in set(PLACES.values()):
        module = import_module(f"{package.__name__}.{name}")
        places = [ids.index(id) for id in module.CLAIMS if not id.startswith("ours.")]
        assert places == sorted(places)
    assert ids[:3] == ["cflag.eq3", "cflag.eq5", "cflag.iag_cost"]
    assert ids[ids.index("cflag.thm2") + 1 :][:3] == ["cflag.eq63", "cflag.eq65", "cflag.eq68"]


def test_the_first_eight_claims_are_there():
    first = ("eq7", "eq22", "eq25", "lemma1", "eq65", "lemma13", "cor14", "eq177")
    assert {f"cflag.{name}" for name in first} <= set(LEDGER)


def test_every_claim_is_complete():
    for id in LEDGER:
        check_complete(id)


def check_complete(id):
    subject = claim(id)
    assert subject.id == id
    assert re.fullmatch(r"(cflag|cfl|ours)\.[A-Za-z0-9_]+", id)
    assert subject.paper == {"cflag": "C-FLAG", "cfl": "CFL", "ours": "ours"}[id.partition(".")[0]]
    assert subject.where
    assert subject.title
    keys = [part.key for part in subject.parts]
    assert len(set(keys)) == len(keys) > 0
    for part in subject.parts:
        if part.repair:
            assert part.repair.kind in ("typo", "needs-hypothesis")
            assert part.repair.words
        if part.sharp:
            assert part.sharp.factor >= 1
        for statement in statements(part):
            assert statement.words.strip()
            assert all(fact.words.strip() for fact in statement.facts)
            names = [fact.name for fact in statement.facts]
            assert len(names) == len(set(names))
    assert claim(id) is subject


def test_claims_print_in_the_notation_of_the_papers():
    """No name of a variable of ours reaches the reader: every symbol has its LaTeX."""
    told = [one for id in LEDGER for part in claim(id).parts for one in statements(part) if one.relation is not None]
    assert len(told) > len(LEDGER)
    for statement in told:
        # Words that are set as words are meant to be read.
        formula = re.sub(r"\\(mathrm|text|operatorname)\{[^}]*\}", " ", in_latex(statement.relation))
        bare = re.sub(r"\\[a-zA-Z]+", " ", formula)
        assert not re.search(r"[a-zA-Z]{4,}", bare), in_latex(statement.relation)


def test_an_unknown_claim_names_those_that_exist():
    with pytest.raises(UnknownName, match=r"'lemma13': did you mean cflag\.lemma13\?"):
        claim("lemma13")
    with pytest.raises(UnknownName, match=r"'cflag\.nosuch': did you mean cflag\."):
        claim("cflag.nosuch")


def test_the_preamble_says_what_is_granted():
    for lines in PREAMBLE.values():
        assert len(lines) == len(set(lines)) > 0


def test_the_package_is_lazy_and_complete():
    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match="nosuch"):
        package.nosuch  # noqa: B018


@pytest.mark.parametrize(
    ("relation", "value", "holds"),
    [
        (equal(x, 1), 1, True),
        (equal(x, 1), Fraction(999, 1000), False),
        (at_most(x, 1), 1, True),
        (at_most(x, 1), Fraction(1001, 1000), False),
        (below(x, 1), 1, False),
        (below(x, 1), Fraction(999, 1000), True),
        (at_most(sp.exp(x), sp.exp(sp.Rational(1, 4))), Fraction(1, 4), True),
        (below(1, sp.exp(x)), Fraction(1, 10**6), True),
    ],
)
def test_a_relation_at_an_exact_point(relation, value, holds):
    assert holds_at(relation, {x: value}) is holds


def test_a_relation_stays_what_was_printed():
    assert str(at_most(x, x)) == "x <= x"
    assert at_most(x, x) != at_most(y, y)
    assert at_most(x, y) != below(x, y)
    assert at_most(x, y).slack == y - x


def test_a_point_must_cover_the_relation():
    with pytest.raises(KeyError, match="no value for y"):
        sides_at(at_most(x, y), {x: 1})


def test_replacement_is_simultaneous():
    assert at_most(x, y).subs({x: y, y: x}) == at_most(y, x)


def test_relations_print_in_latex():
    assert [in_latex(Relation(x, op, y)) for op in ("==", "<=", "<")] == ["x = y", r"x \le y", "x < y"]
    drift = next(iter(claim("cflag.lemma13").parts)).printed.relation.left
    assert to_latex(drift) == r"{\|x_{t,k}^i-x_t\|}"


def test_step_size_conditions_are_distinct_and_explained():
    names = [condition.name for condition in CONDITIONS]
    assert len(names) == len(set(names))
    assert all(condition.where and condition.unlocks for condition in CONDITIONS)
