"""The hand-written theory: what the files may say, that they compile, and that they are the ledger's statements.

Then Coq's answers on the whole ledger, which need the theory compiled.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from expecting import expectations
from needs import LONG, in_turn, needs_coq

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import statements
from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.claims.pages.records import word
from cflag_theory.verify import theory
from cflag_theory.verify.check import verify
from cflag_theory.verify.coq import AXIOMS, census

#: What another process is asked again.
ALWAYS = ("cflag.lemma13", "cflag.thm2")
VERDICTS = (Path(__file__).parents[2] / "docs" / "verdicts.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def compiled():
    return theory.compile_theory()


@pytest.fixture(scope="module")
def with_coq(compiled):
    """A twelfth of the ledger, in turn; CFLAG_LONG=1: all of it."""
    ids = {*in_turn(LEDGER, 12), *ALWAYS}
    return list(verify([id for id in LEDGER if id in ids], prover="coq", theorems=compiled))


def test_every_file_is_in_the_project():
    assert sorted(path.name for path in theory.files()) == sorted(path.name for path in theory.PROOFS.glob("*.v"))
    assert {path.suffix for path in theory.PROOFS.iterdir()} == {".v", ".md", ".tsv", ""}


@pytest.mark.parametrize("path", theory.files(), ids=lambda path: path.stem)
def test_nothing_is_admitted(path):
    assert theory.FORBIDDEN.search(path.read_text(encoding="utf-8")) is None


def test_the_map_names_statements_of_the_ledger():
    assert len(theory.theorems()) > 100
    for id, part, on in theory.theorems():
        parts = {word(one.key): one for one in claim(id).parts}
        assert part in parts, (id, part)
        found = statements(parts[part]).get(on)
        assert found is not None, (id, part, on)
        assert found.proof is not None, (id, part, on)


@needs_coq
def test_every_theorem_is_accepted(compiled):
    assert set(compiled) == {name for names in theory.theorems().values() for name in names}
    assert all(found.statement.startswith(name.partition(".")[2]) for name, found in compiled.items())


def test_every_rule_has_a_theorem_behind_it():
    # What holds for every value of an index holds at one: nothing is behind it but the meaning of "every".
    # R^d is such a space: that is not a rule.
    assert set(rules.RULES) ^ set(theory.rules()) == {"at one value", "space of coordinates"}


@needs_coq
def test_the_theorem_behind_every_rule_is_accepted_in_any_inner_product_space():
    compiled = theory.compile_rules()
    assert set(compiled) == {name for names in theory.rules().values() for name in names}
    assert compiled["Inner.cauchy_schwarz_abs"].statement.endswith(
        ": forall (V : space) (u v : V), Rabs (dot u v) <= norm u * norm v"
    )


@needs_coq
def test_headline_theorems_rest_on_the_real_numbers_alone(compiled):
    assert {"DrawnOnce.drawn_once", "Redrawn.redrawn", "Surrogate.lemma3_surrogate"} <= theory.headlines()
    for name in theory.headlines():
        assert set(compiled[name].axioms) <= AXIOMS


@needs_coq
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Drift.lemma13", "<= 4 * beta * INR k * norm"),
        ("DrawnOnce.drawn_once", "2 * (f x0 - f (run"),
        ("Surrogate.lemma3_surrogate", "60 * L"),
        ("Memory.lemma8", "forall"),
    ],
)
def test_theorems_say_what_the_ledger_says(compiled, name, words):
    assert words in " ".join(compiled[name].statement.split())


@needs_coq
@pytest.mark.parametrize(
    ("file", "said", "planted", "words"),
    [
        ("Vectors.v", "Qed.", "Admitted.", "says Admitted"),
        ("Vectors.v", "Open Scope", "Axiom cheat : False. Open Scope", "says Axiom"),
        ("Vectors.v", "Open Scope", "Unset Guard Checking. Open Scope", "says Unset Guard Checking"),
        ("Drift.v", "<= 4 * beta", "<= 1 * beta", "Drift.v does not compile"),
    ],
)
def test_a_planted_fault_fails_the_build(tmp_path, monkeypatch, file, said, planted, words):
    for path in theory.PROOFS.iterdir():
        shutil.copy(path, tmp_path)
    text = (tmp_path / file).read_text(encoding="utf-8")
    assert said in text
    (tmp_path / file).write_text(text.replace(said, planted, 1), encoding="utf-8")
    monkeypatch.setattr(theory, "PROOFS", tmp_path)
    with pytest.raises(theory.TheoryError, match=words):
        theory.compile_theory()


@needs_coq
def test_a_theorem_that_rests_on_a_hypothesis_of_its_own_is_refused(tmp_path, monkeypatch):
    """Outside of a section a Hypothesis is an axiom under another name."""
    for path in theory.PROOFS.iterdir():
        shutil.copy(path, tmp_path)
    with (tmp_path / "Vectors.v").open("a", encoding="utf-8") as file:
        file.write("\nHypothesis cheat' : False.\nLemma cheated : False.\nProof. exact cheat'. Qed.\n")
    monkeypatch.setattr(theory, "PROOFS", tmp_path)
    monkeypatch.setattr(theory, "theorems", lambda: {("cflag.eq7", "1", "repair"): ("Vectors.cheated",)})
    monkeypatch.setattr(theory, "files", lambda: [tmp_path / "Numbers.v", tmp_path / "Vectors.v"])
    with pytest.raises(theory.TheoryError, match="more than Coq's real numbers"):
        theory.compile_theory()


#: What automation does not close, or Coq's library has no words for: their other witnesses stand.
WITHOUT_COQ = {
    ("cflag.eq164", "2", "printed", "counterexample"),
    # Simulated runs and roots of polynomials: exact, and no lemma.
    ("cflag.eq14", "1", "printed", "counterexample"),
    ("cflag.sec5_guarantee", "f", "printed", "counterexample"),
    ("cflag.sec5_guarantee", "g", "printed", "counterexample"),
    ("cflag.alg3_line14", "bounded", "printed", "counterexample"),
    ("cflag.lemma7_average", "1", "printed", "counterexample"),
    ("cflag.lemma7_worst", "1", "printed", "counterexample"),
    ("cflag.lemma7_worst", "sum", "printed", "counterexample"),
    ("cfl.partial_fraction", "1", "printed", "proof"),
    ("cfl.phi", "1", "printed", "counterexample"),
    ("cfl.fedavg_rates", "sign", "printed", "counterexample"),
    ("cfl.thm4_7", "1", "printed", "counterexample"),
    ("cfl.thm4_7_cO", "1", "printed", "counterexample"),
    ("cfl.nqm_fig2", "1", "printed", "counterexample"),
    ("cfl.nqm_fig2", "3", "printed", "counterexample"),
    ("ours.cfl_nonconvex_coefficient", "3", "printed", "proof"),
}


@needs_coq
def test_coq_accepts_every_proof_and_every_rational_instance_but_those_listed(with_coq):
    found = census(with_coq)
    ids = {verdict.claim.id for verdict in with_coq}
    assert set(found.left) == {one for one in WITHOUT_COQ if one[0] in ids}
    behind = {name for (id, _, _), names in theory.theorems().items() if id in ids for name in names}
    assert found.theorems == len(behind)
    for verdict in with_coq:
        assert [part.verdict for part in verdict.parts] == expectations()[verdict.claim.id].verdicts.split()


@needs_coq
@pytest.mark.skipif(not LONG, reason="a quarter of an hour: set CFLAG_LONG=1")
def test_the_documents_say_how_much_coq_has_checked(with_coq):
    assert str(census(with_coq)) in " ".join(VERDICTS.split())


@needs_coq
def test_one_process_gives_the_same_evidence_with_coq(with_coq, compiled):
    found = {verdict.claim.id: verdict for verdict in with_coq}
    for verdict in verify(ALWAYS, jobs=1, prover="coq", theorems=compiled):
        assert verdict.to_json() == found[verdict.claim.id].to_json()
