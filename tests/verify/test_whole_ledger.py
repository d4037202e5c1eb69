"""The whole ledger, decided once as `cflag verify` does it, and what the documents say of it."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from pathlib import Path

import pytest

from cflag_theory.claims.ledger import LEDGER
from cflag_theory.verify.check import verify
from cflag_theory.verify.coq import census
from cflag_theory.verify.theory import compile_theory, theorems

#: Where Coq is at hand it is asked about every proof too.
PROVER = "coq" if shutil.which("coqc") else None
ROOT = Path(__file__).parents[2]
README, VERDICTS, RESULTS = (
    (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/verdicts.md", "docs/results.md")
)


@pytest.fixture(scope="module")
def by_hand():
    return compile_theory() if PROVER else None


@pytest.fixture(scope="module")
def ledger(by_hand):
    return {verdict.claim.id: verdict for verdict in verify(prover=PROVER, theorems=by_hand)}


def test_every_claim_is_decided(ledger):
    assert list(ledger) == list(LEDGER)
    assert {id for id, verdict in ledger.items() if verdict.verdict == "open"} == set()


def test_every_proof_is_accepted_by_both_engines(ledger):
    for id, verdict in ledger.items():
        for item in verdict.evidence:
            if item.kind == "proof" and item.finding == "supports":
                assert item.data["engines"][:2] == ["sympy", "z3"], id
                assert item.data["undecided"] == [], id
                assert item.data["pieces"] == [], id


def test_every_printed_statement_that_fails_is_refuted_exactly(ledger):
    for id, verdict in ledger.items():
        for part in verdict.parts:
            failed = part.verdict in ("typo", "needs-hypothesis", "false")
            kinds = {
                item.kind
                for item in verdict.evidence
                if item.part == part.key and item.on == "printed" and item.finding == "refutes"
            }
            assert failed == bool(kinds & {"counterexample", "enumeration", "recomputation"}), (id, part.key)


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
    ("cfl.partial_fraction", "1", "printed", "proof"),
    ("cfl.phi", "1", "printed", "counterexample"),
    ("cfl.fedavg_rates", "sign", "printed", "counterexample"),
    ("cfl.thm4_7", "1", "printed", "counterexample"),
    ("cfl.thm4_7_cO", "1", "printed", "counterexample"),
    ("cfl.nqm_fig2", "1", "printed", "counterexample"),
    ("cfl.nqm_fig2", "3", "printed", "counterexample"),
    ("ours.cfl_nonconvex_coefficient", "3", "printed", "proof"),
}


@pytest.mark.skipif(PROVER is None, reason="coqc is not installed")
def test_coq_accepts_every_proof_and_every_rational_instance_but_those_listed(ledger):
    found = census(list(ledger.values()))
    assert set(found.left) == WITHOUT_COQ
    assert found.theorems == len({name for names in theorems().values() for name in names})


@pytest.mark.skipif(PROVER is None, reason="coqc is not installed")
def test_the_documents_say_how_much_coq_has_checked(ledger):
    assert str(census(list(ledger.values()))) in " ".join(VERDICTS.split())


def test_one_process_gives_the_same_evidence(ledger, by_hand):
    for verdict in verify(["cflag.lemma13", "cflag.thm2"], jobs=1, prover=PROVER, theorems=by_hand):
        assert verdict.to_json() == ledger[verdict.claim.id].to_json()


def test_the_documents_print_the_verdicts_that_are_computed(ledger):
    rows = re.findall(r"^\| `((?:cflag|cfl|ours)\.\w+)` \| [^|]+ \| ([a-z-]+) \|", RESULTS, re.MULTILINE)
    assert len(rows) > 8
    for id, printed in rows:
        assert printed == ledger[id].verdict, id


def test_the_readme_counts_what_is_computed(ledger):
    head = re.search(r"^\| paper \| statements \| (holds .*) \|$", README, re.MULTILINE).group(1).split(" | ")
    for paper, prefix in (("C-FLAG", "cflag."), ("CFL", "cfl.")):
        counts = Counter(verdict.verdict for id, verdict in ledger.items() if id.startswith(prefix))
        row = re.search(rf"^\| {paper} \| ([\d |]+) \|$", README, re.MULTILINE).group(1)
        assert [int(cell) for cell in row.split(" | ")] == [sum(counts.values()), *(counts[word] for word in head)]
        assert set(counts) <= set(head)
    own = sum(id.startswith("ours.") for id in ledger)
    assert re.findall(r"(\d+) theorems of our own", README) == [str(own)]
