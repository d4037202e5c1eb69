"""What falls with a false claim, and what stands again."""

from __future__ import annotations

import pytest

from cflag_theory.claims.uses import ids
from cflag_theory.verify.resting import FATES, breaks, result_name, roots, sentence


def labels(paper, **changed):
    return {id: "holds" for id in ids(paper)} | {name.replace("__", "."): label for name, label in changed.items()}


def test_nothing_falls_where_nothing_is_false():
    assert breaks("C-FLAG", labels("C-FLAG")) == []
    assert sentence("C-FLAG", labels("C-FLAG")) == "C-FLAG: no claim rests on one that is false."


@pytest.mark.parametrize(
    ("label", "fate"),
    [
        ("holds", "proved"),
        ("loose", "proved"),
        ("typo", "repaired"),
        ("needs-hypothesis", "repaired"),
        ("false", "ours"),
        ("open", "ours"),
        ("question", "stated"),
    ],
)
def test_what_becomes_of_a_lemma_whose_proof_uses_a_false_line(label, fate):
    (first, *_) = breaks("C-FLAG", labels("C-FLAG", cflag__eq161="false", cflag__lemma4=label))
    assert first.claim == "cflag.eq161"
    assert first.instead == ("ours.forgetting_step",)
    assert first.fates["cflag.lemma4"] == fate
    assert list(first.fates) == sorted(first.fates, key=ids("C-FLAG").index)
    assert "cflag.lemma13" not in first.fates


def test_a_theorem_of_ours_that_is_not_proved_replaces_nothing():
    found = labels("C-FLAG", cflag__eq161="false", cflag__lemma4="false", ours__bounded_gradients="open")
    assert breaks("C-FLAG", found)[0].fates["cflag.lemma4"] == "lost"


def test_a_proof_that_takes_the_false_claim_as_printed_does_not_carry():
    (only,) = breaks("CFL", labels("CFL", cfl__nc_eq28="false"))
    # The checked proof of (29)-(31) takes (28) as a hypothesis, and (32) takes it too.
    assert only.fates["cfl.nc_eq31"] == "given"
    assert only.fates["cfl.nc_eq32"] == "given"
    assert set(only.fates.values()) <= {*FATES}


def test_roots_and_the_sentence():
    found = labels("C-FLAG", cflag__eq161="false", cflag__eq163="false", cflag__lemma4="needs-hypothesis")
    assert [one.claim for one in roots(breaks("C-FLAG", found))] == ["cflag.eq161"]
    # (162)-(163) fall with (161), and so do the lines and lemmas after them.
    words = sentence("C-FLAG", found)
    count = len(breaks("C-FLAG", found)[0].fates)
    assert words.startswith(f"C-FLAG: {count} claims rest on 2 that are false in some part.")
    assert "1 has nothing in its place" in words
    assert f"{count - 1} are saved by other proofs" in words
    assert "Of the numbered results, these are saved: Lemma 4, Theorem 5, Lemma 18." in words
    falls = labels("C-FLAG", cflag__eq161="false", cflag__lemma4="false")
    assert "these are replaced: Lemma 4 (ours.bounded_gradients)." in sentence("C-FLAG", falls)


@pytest.mark.parametrize(
    ("id", "name"),
    [
        ("cflag.thm5", "Theorem 5"),
        ("cflag.lemma3", "Lemma 3, (11)"),
        ("cflag.lemma3_remark", ""),
        ("cflag.eq161", ""),
        ("cfl.sc_rate", "Theorem 4.1 and Theorem B.5"),
        ("cfl.dominant", ""),
    ],
)
def test_names_of_results(id, name):
    assert result_name(id) == name
