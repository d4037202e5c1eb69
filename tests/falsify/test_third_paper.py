"""Lemmas of a paper that the ledger does not have, decided."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from needs import needs_coq

from cflag_theory.falsify import decide, prove
from cflag_theory.verify.coq import check

pytestmark = pytest.mark.full

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
CLAIMS = runpy.run_path(str(EXAMPLES / "fedprox_lemmas.py"))
TWELVE = runpy.run_path(str(EXAMPLES / "twelve_conjectures.py"))["conjectures"]


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        pytest.param("drift", "proved", marks=pytest.mark.full),
        ("too_small", "refuted"),
        ("averaged", "proved"),
        ("one_round", "proved"),
        pytest.param("without_curvature", "refuted", marks=pytest.mark.full),
    ],
)
def test_the_lemmas_of_fedprox(name, outcome):
    assert decide(CLAIMS[name], budget=600).outcome == outcome


@pytest.mark.parametrize("claim", TWELVE, ids=lambda claim: claim.name[:2])
def test_twelve_claims_that_the_ledger_does_not_have(claim):
    expected = "proved" if " true: " in claim.name else "refuted"
    assert decide(claim).outcome == expected


@needs_coq
def test_the_lemmas_of_fedprox_are_theorems_of_coq():
    names = ("drift", "averaged", "one_round")
    theorems = [prove(CLAIMS[name], budget=60).derivation.theorem(name) for name in names]
    assert check(theorems, wholes=True).accepted == frozenset(names)
