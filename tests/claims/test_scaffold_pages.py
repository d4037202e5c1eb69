"""SCAFFOLD's ledger in docs/examples: every proof is examined, every fault refuted, and no planted error accepted."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from cflag_theory.claims import imports
from cflag_theory.claims.engine.claim import statements
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.pages.folder import read_folder
from cflag_theory.verify.evidence import prove, refute
from cflag_theory.verify.folders import drawn
from cflag_theory.verify.verdict import REFUTES, SUPPORTS

pytestmark = pytest.mark.full

PLACE = Path(__file__).parents[2] / "docs/examples/scaffold"
#: What is false as it is remembered, and repaired.
FAILING = {("scaffold.drift_3K", "1"), ("scaffold.lemma4", "martingale")}


@cache
def ledger():
    return read_folder(PLACE)


PARTS = [(id, part.key) for id, subject in ledger().claims.items() for part in subject.parts]


def test_all_of_it_is_there():
    assert len(ledger().claims) == 24
    assert len(PARTS) == 28


@pytest.mark.parametrize(("id", "key"), PARTS, ids=lambda one: one)
def test_a_part_is_proved_or_refuted_and_repaired(id, key):
    subject = ledger().claim(id)
    part = next(one for one in subject.parts if one.key == key)
    wrong = imports.faults(subject, ledger().claim)
    proofs = {item.on: item for item in prove(part, wrong)}
    assert all(item.finding == SUPPORTS and not item.data["undecided"] for item in proofs.values())
    assert list(proofs) == (["repair"] if (id, key) in FAILING else ["printed"])
    refuted = refute(part, wrong)
    if (id, key) in FAILING and part.refutation is None:
        refuted = [drawn(id, key, "printed", part.printed, 300, 0)]
    assert [item.finding for item in refuted] == ([REFUTES] if (id, key) in FAILING else [])


def test_every_statement_says_whether_it_was_compared():
    said = [subject.where for subject in ledger().claims.values()]
    assert all(any(word in one for word in ("[checked", "[from memory]", "[ours]")) for one in said)


#: A page, what stands there, what is planted, and a claim that must fall.
PLANTED = [
    ("technical", "(1 + 1/a) |v|^2", "(1 + 1/(2 a)) |v|^2", "lemma3"),
    ("technical", "<= n sum(i, n)(|w_of(i)|^2)", "<= n/2 sum(i, n)(|w_of(i)|^2)", "lemma3"),
    ("technical", "with c = 1\n", "with c = 1/2\n", "lemma5"),
    ("technical", "+ mu/4 |y - z|^2 - c", "+ mu/3 |y - z|^2 - c", "lemma5"),
    ("problem", "mu/4 |low - high|^2", "mu/2 |low - high|^2", "lemma5"),
    ("technical", "(1 - mu eta) |x - y|^2", "(1 - 2 mu eta) |x - y|^2", "lemma6"),
    ("technical", "fact eta: eta beta <= 1", "fact eta: eta beta <= 3", "lemma6"),
    ("technical", "<= 2 beta (f(w)", "<= beta (f(w)", "eq9"),
    ("technical", "<= 2 beta (any(x)", "<= beta (any(x)", "nonconvex"),
    ("technical", "with c = 2\n", "with c = 1\n", "a1_convex"),
    ("technical", "with c = 4\n", "with c = 3\n", "a1_at_optimum"),
    ("problem", "clients(grad client[i](best)) = 0", "grad client[0](best) = 0", "eq9"),
    ("variance", "|sum(j, n)(centre(j))|^2 + n^2 sigma2", "|sum(j, n)(centre(j))|^2 + n sigma2", "lemma4"),
    (
        "variance",
        "2 expected(|first + second(s)|^2) + 4 sigma2",
        "2 expected(|first + second(s)|^2) + 3 sigma2",
        "lemma4",
    ),
    (
        "variance",
        "expected(|partial(n, s)|^2) <= n sigma2",
        "expected(|partial(n, s)|^2) <= n/2 sigma2",
        "lemma4_noises",
    ),
    ("drift", "(1 + 1/N) |away(k)|^2", "(1 + 1/(2 N)) |away(k)|^2", "drift_step"),
    (
        "drift",
        "2 K eta_l^2 |grad client[i](x)|^2\nscheme",
        "K eta_l^2 |grad client[i](x)|^2\nscheme",
        "drift_recursion",
    ),
    ("drift", "eta_l: 8 beta K eta_l <= 1", "eta_l: beta K eta_l <= 1", "drift_recursion"),
    ("drift", "with c = 4\n", "with c = 3\n", "drift_client"),
    ("drift", "say path(k) <= 4 k h", "say path(k) <= 3 k h", "drift_3K"),
    (
        "round",
        "progress(1 - mu eta/2, eta, 3 beta eta drift)\n    for",
        "progress(1 - mu eta, eta, 3 beta eta drift)\n    for",
        "lemma7",
    ),
    ("round", "eta: 8 beta (1 + B2) eta <= 1", "eta: 2 beta (1 + B2) eta <= 1", "lemma7"),
    ("round", "2/3 eta gap + 18 beta eta^3", "1/3 eta gap + 18 beta eta^3", "lemma8"),
    ("round", "eta/3, 18 beta eta^3 G2/eta_g^2)\n    for", "eta/2, 18 beta eta^3 G2/eta_g^2)\n    for", "progress"),
    ("round", "Lemma 7: progress(1 - mu eta/2, eta, 3", "Lemma 7: progress(1 - mu eta/2, eta, 2", "progress"),
    ("theorem", "<= 3 dist(0)/eta + 3 R V/eta", "<= 2 dist(0)/eta + 3 R V/eta", "lemma2"),
    ("theorem", "dist(t) - eta/3 gap_at(t) + V by", "dist(t) - eta/2 gap_at(t) + V by", "lemma2"),
    ("theorem", "3 dist(0)/(eta R) + 3 V/eta\n", "3 dist(0)/(eta R) + 2 V/eta\n", "theorem_convex"),
    ("theorem", "exp(-mu eta/2 R) dist(0) + 2 V", "exp(-mu eta R) dist(0) + 2 V", "lemma1"),
    ("theorem", "d0/(eta R) + c1 eta <= 2 root", "d0/(eta R) + c1 eta <= root", "tuning"),
    ("control", "<= 2 eta_l^2 (|control(i)", "<= eta_l^2 (|control(i)", "control_start"),
    ("control", "(1 - p) lag + p (4 beta gap", "(1 - p) lag + p (3 beta gap", "lemma12"),
    ("control", "|visited - slope|^2) <= 4 beta gap", "|visited - slope|^2) <= 2 beta gap", "lemma12"),
    ("control", "<= 3 K -- With", "<= 3/2 K -- With", "growth"),
    ("control", "44 beta eta^2 - 49/25 eta <= - eta", "44 beta eta^2 - 38/25 eta <= - eta", "lemma15"),
    ("control", "81 beta eta <= 1", "40 beta eta <= 1", "lemma15"),
    ("control", "9 mu eta/(2 p) - 1/3", "9 mu eta/(2 p) - 1/4", "lemma15"),
]


def accepted(folder, id):
    subject = folder.claim(id)
    wrong = imports.faults(subject, folder.claim)
    found = [item for part in subject.parts for item in prove(part, wrong)]
    return all(item.finding == SUPPORTS for item in found)


@pytest.mark.parametrize(("page", "right", "wrong", "name"), PLANTED, ids=[f"{p[3]}: {p[2].strip()}" for p in PLANTED])
def test_no_planted_error_is_accepted(tmp_path, page, right, wrong, name):
    for file in PLACE.glob("*.page"):
        shutil.copy(file, tmp_path)
    written = tmp_path / f"{page}.page"
    text = written.read_text(encoding="utf-8")
    assert right in text
    written.write_text(text.replace(right, wrong, 1), encoding="utf-8")
    assert not accepted(read_folder(tmp_path), f"scaffold.{name}")


def test_a_refutation_contradicts_what_is_said_and_nothing_else():
    """With the repaired statement in its place nothing is contradicted."""
    (part,) = ledger().claim("scaffold.drift_3K").parts
    assert examine(part.refutation).accepted
    (found,) = refute(replace(part, printed=statements(part)["repair"]))
    assert found.finding != REFUTES
