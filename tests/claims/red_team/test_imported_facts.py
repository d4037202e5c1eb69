"""Attacks through what a statement takes from another claim, and the ledger's own imports."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
import sympy as sp
from attacks import Attack, answer, fact, table

from cflag_theory.claims.engine.claim import Claim, Part, Repair, Source, Statement
from cflag_theory.claims.engine.claim import statements as roles
from cflag_theory.claims.engine.operators import index, sum_over
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof
from cflag_theory.claims.imports import faults
from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.verify.check import run_check
from cflag_theory.verify.checks import CHECKS
from cflag_theory.verify.verdict import UNDECIDED

k, n = (sp.Symbol(name, integer=True, nonnegative=True) for name in "kn")
u, v, w = sp.symbols("u v w", real=True)
c, q = sp.symbols("c q", nonnegative=True)
s = sp.Function("s", real=True)
j = index("j")
SHOWN = at_most(u, c * v)
SMALL, POSITIVE = fact("small", at_most(c, 1)), fact("positive", below(0, v))


def one(id, relation=SHOWN, *given, where=(), on="printed", proved=True):
    """A claim with one statement; its proof is not looked into."""
    statement = Statement("", relation, given, Proof((Obligation("f", relation, ()),)) if proved else None, where)
    part = Part("1", statement)
    if on == "repair":
        part = Part("1", Statement("", relation), Repair("typo", "", statement))
    return Claim(id, "", "", (part,))


SOURCE = one("cflag.source", SHOWN, SMALL, POSITIVE)
EVERY = one("cflag.source", at_most(s(k), c), fact("small", at_most(s(k + 1), 1)))


def takes(relation, *given, sources=None, forall=(), where=False, source=SOURCE, on="printed", id="cflag.user"):
    """What is wrong with a statement that takes a relation from other claims, in words."""
    named = (Source("cflag.source"),) if sources is None else sources
    taken = replace(fact("taken", relation, *forall), sources=named)
    user = one(id, relation, *given, *(() if where else (taken,)), where=(taken,) if where else (), on=on)

    def words():
        found = faults(user, {source.id: source, user.id: user}.__getitem__)
        return "; ".join(fault for several in found.values() for fault in several) or "nothing"

    return words


def named(**changes):
    return (Source("cflag.source", **changes),)


def circle():
    """Two claims that show each other."""
    first = one("cflag.a", SHOWN, replace(fact("taken", SHOWN), sources=(Source("cflag.b"),)))
    second = one("cflag.b", SHOWN, replace(fact("taken", SHOWN), sources=(Source("cflag.a"),)))
    return "; ".join(faults(first, {"cflag.b": second}.__getitem__)["1", "printed"])


def test_a_claim_of_another_id_is_no_source():
    user = one("cflag.user", SHOWN, replace(fact("taken", SHOWN), sources=named()), SMALL, POSITIVE)
    assert not faults(user, lambda _: SOURCE)
    found = faults(user, lambda _: replace(SOURCE, id="cflag.other"))
    assert found == {("1", "printed"): ["'taken': the ledger has no relation at cflag.source, part 1"]}


DEFINED = one("cflag.source", at_most(u, q), where=(fact("q", equal(q, 1 + v**2)),))
TOOK = (SMALL, POSITIVE)


@table(
    Attack("another constant", takes(at_most(u, c * v / 2), *TOOK), "it does not follow"),
    Attack("a strict inequality", takes(below(u, c * v), *TOOK), "it does not follow"),
    Attack("an equality", takes(equal(u, c * v), *TOOK), "it does not follow"),
    Attack("the converse", takes(at_most(c * v, u), *TOOK), "it does not follow"),
    Attack("a missing hypothesis", takes(SHOWN, SMALL), "assumes 'positive', which is not among the facts"),
    Attack(
        "a hypothesis of the same name that says less",
        takes(SHOWN, POSITIVE, fact("small", at_most(c, 2))),
        "assumes 'small', which is not among the facts",
    ),
    Attack(
        "the imported fact as its own hypothesis",
        takes(SHOWN, SMALL, source=one("cflag.source", SHOWN, fact("h", SHOWN))),
        "assumes 'h', which is not among the facts",
    ),
    Attack(
        "every value of an index from a hypothesis about one",
        takes(at_most(s(k), c), fact("small", at_most(s(k + 1), 1)), forall=(k,), source=EVERY),
        "assumes 'small', which is not among the facts",
    ),
    Attack(
        "a symbol that is defined otherwise",
        takes(at_most(u, q), fact("q", equal(q, v**2)), source=DEFINED),
        "assumes 'q', which is not among the facts",
    ),
    Attack(
        "a substitution that the hypotheses do not take part in",
        takes(at_most(u, 2 * v), *TOOK, sources=named(at=((c, sp.Integer(2)),))),
        "assumes 'small', which is not among the facts",
    ),
    Attack("a hypothesis that it does not have", takes(SHOWN, *TOOK, sources=named(besides=("x",))), "assumes no 'x'"),
    Attack("a source without a proof", takes(SHOWN, source=one("cflag.source", proved=False)), "has no proof"),
    Attack("a part that is not there", takes(SHOWN, sources=named(part="2")), "the ledger has no relation at"),
    Attack("a role that is not there", takes(SHOWN, sources=named(on="sharp")), "the ledger has no relation at"),
    Attack(
        "a printed statement, granted as a definition", takes(SHOWN, sources=named(granted=True), where=True), "only"
    ),
    Attack(
        "a repair, granted",
        takes(SHOWN, sources=named(on="repair", granted=True), source=one("cflag.source", on="repair")),
        "only what a paper prints is granted",
    ),
    Attack(
        "a statement of ours, granted",
        takes(SHOWN, sources=(Source("ours.source", granted=True),), source=one("ours.source")),
        "only what a paper prints is granted",
    ),
    Attack("a circle", circle, "it imports itself in a circle"),
    Attack("itself", takes(SHOWN, id="cflag.source"), "it imports itself in a circle"),
    Attack("the square of what may be negative", takes(SHOWN, *TOOK, sources=named(over=(2,))), "may be negative"),
)
def test_what_is_imported_must_be_what_is_shown(attack):
    assert attack.sentence in answer(attack)


@pytest.mark.parametrize(
    "sound",
    [
        takes(SHOWN, *TOOK),
        takes(SHOWN, SMALL, sources=named(besides=("positive",))),
        takes(SHOWN, POSITIVE, fact("other name", at_most(2 * c, 1))),
        takes(at_most(2 * u, 2 * c * v), *TOOK),
        takes(at_most(u, v), *TOOK),
        takes(at_most(w, q * v), POSITIVE, fact("q", at_most(q, 1)), sources=named(at=((u, w), (c, q)))),
        takes(at_most(u, q), *TOOK, sources=named(here=((q, c * v),))),
        takes(at_most(s(n), c), fact("small", at_most(s(k + 1), 1), k), sources=named(at=((k, n),)), source=EVERY),
        takes(at_most(s(k), c), fact("small", at_most(s(k + 1), 1), k), forall=(k,), source=EVERY),
        takes(
            at_most(sum_over(j, n)(s(j)), n * c),
            fact("small", at_most(s(k + 1), 1), k),
            sources=named(at=((k, j),), over=(sum_over(j, n),)),
            source=EVERY,
        ),
        takes(SHOWN, sources=named(granted=True), source=one("cflag.source", proved=False)),
    ],
)
def test_what_is_shown_may_be_imported(sound):
    assert sound() == "nothing"


def test_a_fault_of_an_import_leaves_a_proved_claim_open():
    subject = claim("cflag.eq184")
    other = replace(subject.parts[0].printed, relation=equal(subject.parts[0].printed.relation.left, 0))
    planted = replace(subject, parts=(replace(subject.parts[0], printed=other), subject.parts[1]))
    assert [one.verdict for one in run_check(subject, CHECKS[subject.id]).parts] == ["holds", "holds"]
    evidence = run_check(planted, CHECKS[subject.id]).evidence
    (proof,) = [one for one in evidence if (one.kind, one.part) == ("proof", "2")]
    assert proof.finding == UNDECIDED
    assert any("does not follow from cflag.eq184, part 1" in fault for fault in proof.data["faults"])


def _facts():
    for id in LEDGER:
        for part in claim(id).parts:
            for on, statement in {**roles(part), "refutation": part.refutation}.items():
                for one in () if statement is None else statement.facts:
                    yield id, part.key, on, one


def test_the_ledgers_imports_are_sound():
    assert {id: wrong for id in LEDGER if (wrong := faults(claim(id), claim))} == {}
    assert sum(bool(one.sources) for *_, one in _facts()) >= 98


#: Facts that name another row in passing, with the reason why there is nothing to compare.
NAMED_IN_PASSING = {
    ("cflag.alg3_line4", "(20)"): "open: cflag.eq22 shows the mean of it only",
    ("cflag.alg3_line8", "line 4"): "open: the line is a vector, and this its norm squared",
    ("cflag.alg3_line10", "line 4"): "open: as for cflag.alg3_line8",
    ("cfl.phi", "c_2"): "a definition",
    ("ours.assumption2", "worst point"): "an equation at the worst point; b_i(s) = 0 only says why",
    ("ours.assumption2", "M"): "open: part 2 bounds a norm by 0, and this is the vector",
}


def test_a_fact_that_names_a_row_says_what_it_takes_from_it():
    naming = re.compile(r"\b(cflag|cfl|ours)\.\w+|claim of its own|this claim|\b[Pp]art [2-9]|the first part")
    bare = {(id, one.name) for id, _, _, one in _facts() if naming.search(one.words) and not one.sources}
    assert bare <= set(NAMED_IN_PASSING)


#: Terms of sources that are taken to be something here, with the reason why nothing shows that they are equal.
TAKEN = {
    ("cflag.overfitting_mean", "mean_B"): "its bias is a mean over a draw of its own; here that draw is among all",
}


def test_what_is_taken_without_being_shown_is_listed_with_a_reason():
    found = {(s.claim, str(old)) for *_, one in _facts() for s in one.sources for old, _ in s.taken}
    assert found == set(TAKEN)
