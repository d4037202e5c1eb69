"""The whole ledger, decided once as `cflag verify` does it, and what the documents say of it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from cflag_theory.claims.ledger import LEDGER
from cflag_theory.verify.check import verify

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def ledger():
    return {verdict.claim.id: verdict for verdict in verify()}


def test_every_claim_is_decided(ledger):
    assert list(ledger) == list(LEDGER)
    assert {id for id, verdict in ledger.items() if verdict.verdict == "open"} == set()


def test_every_proof_is_accepted_by_both_engines(ledger):
    for id, verdict in ledger.items():
        for item in verdict.evidence:
            if item.kind == "proof" and item.finding == "supports":
                assert item.data["engines"] == ["sympy", "z3"], id
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


def test_one_process_gives_the_same_evidence(ledger):
    for verdict in verify(["cflag.lemma13", "cflag.thm2"], jobs=1):
        assert verdict.to_json() == ledger[verdict.claim.id].to_json()


def test_the_readme_prints_the_verdicts_that_are_computed(ledger):
    rows = re.findall(r"^\| `((?:cflag|cfl|ours)\.\w+)` \| [^|]+ \| ([a-z-]+) \|", README, re.MULTILINE)
    assert len(rows) > 8
    for id, printed in rows:
        assert printed == ledger[id].verdict, id


@pytest.mark.parametrize(("paper", "prefix"), [("C-FLAG", "cflag."), ("CFL", "cfl.")])
def test_the_readme_counts_what_is_computed(ledger, paper, prefix):
    counts = Counter(verdict.verdict for id, verdict in ledger.items() if id.startswith(prefix))
    own = sum(id.startswith("ours.") for id in ledger)
    text = " ".join(README.split())
    start = text.index(f"All {sum(counts.values())} statements of the {paper} paper")
    said = text[start : start + 400]
    assert f"{counts['holds']} hold as printed, {counts['loose']} hold and are not sharp" in said
    assert f"{counts['typo']} have an evident typo, {counts['needs-hypothesis']} need a hypothesis" in said
    assert f"{counts['false']} are false" in said
    assert f"{own} claims of our own" in text
