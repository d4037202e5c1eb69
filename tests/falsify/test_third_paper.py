"""Lemmas of a paper that the ledger does not have, decided."""

from __future__ import annotations

import runpy
from functools import cache
from pathlib import Path

import pytest
from needs import needs_coq

from cflag_theory.falsify import decide
from cflag_theory.verify.coq import check

pytestmark = pytest.mark.full

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
CLAIMS = runpy.run_path(str(EXAMPLES / "fedprox_lemmas.py"))
TWELVE = runpy.run_path(str(EXAMPLES / "twelve_conjectures.py"))["conjectures"]


@cache
def decided(name):
    return decide(CLAIMS[name], budget=600)


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("drift", "proved"),
        ("too_small", "refuted"),
        ("averaged", "proved"),
        ("one_round", "proved"),
        ("without_curvature", "refuted"),
    ],
)
def test_the_lemmas_of_fedprox(name, outcome):
    assert decided(name).outcome == outcome


@pytest.mark.parametrize("claim", TWELVE, ids=lambda claim: claim.name[:2])
def test_twelve_claims_that_the_ledger_does_not_have(claim):
    expected = "proved" if " true: " in claim.name else "refuted"
    assert decide(claim).outcome == expected


@needs_coq
def test_the_lemmas_of_fedprox_are_theorems_of_coq():
    names = ("drift", "averaged", "one_round")
    theorems = [decided(name).derivation.theorem(name) for name in names]
    assert check(theorems, wholes=True).accepted == frozenset(names)
