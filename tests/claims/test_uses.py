"""What rests on what: the papers' cross-references as data, what checked proofs use, and paths among both."""

from __future__ import annotations

import pytest

from cflag_theory.claims import uses
from cflag_theory.claims.imports import faults
from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.claims.uses import KINDS, Arrow, arrows, behind, beyond, ids, printed_uses, proof_uses

PAPERS = ("C-FLAG", "CFL")


@pytest.mark.parametrize("paper", PAPERS)
def test_printed_references_name_claims_of_the_paper_once(paper):
    found = printed_uses(paper)
    assert len(found) > 80
    for arrow in found:
        assert {claim(arrow.user).paper, claim(arrow.used).paper} == {paper}
        assert arrow.place
        assert arrow.words
    assert len({(one.user, one.used, one.place) for one in found}) == len(found)


@pytest.mark.parametrize("paper", PAPERS)
def test_no_printed_proof_rests_on_itself(paper):
    found = printed_uses(paper)
    assert not [id for id in ids(paper) if id in behind(id, found)]


def test_what_the_papers_say_of_their_main_results():
    theorem = behind("cflag.thm5", printed_uses("C-FLAG"))
    assert {"cflag.thm2", "cflag.lemma4", "cflag.lemma13", "cflag.eq161", "cflag.eq68", "cflag.lemma8"} <= {*theorem}
    assert theorem.index("cflag.thm2") < theorem.index("cflag.lemma8")
    rate = beyond("cfl.eq21", printed_uses("CFL"))
    assert {"cfl.sc_rate", "cfl.gc_rate", "cfl.fedavg_rates", "cfl.rem4_8"} <= {*rate}
    assert "cfl.table2" not in rate


def test_checked_proofs_use_what_the_imports_are_compared_with():
    kinds = {(one.used, one.kind) for one in proof_uses("cfl.eq20")}
    assert ("cfl.eq17", "granted") in kinds
    assert ("cfl.eq17", "proof") in kinds
    assert [one.used for one in proof_uses("cflag.cor17")] == ["cflag.thm5"]
    # A claim without imports has nothing that could be wrong with them.
    alone = [id for id in ("cflag.lemma13", "cflag.eq65", "cfl.lemA3") if not proof_uses(id)]
    assert alone
    assert not any(faults(claim(id), claim) for id in alone)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_theorem_of_ours_that_a_note_names_is_on_the_map(paper):
    named = {one for id in LEDGER if claim(id).paper == paper for one in claim(id).instead}
    assert named
    assert named <= {*ids(paper)}
    assert {arrow.kind for arrow in arrows(paper)} <= {*KINDS}
    assert {arrow.used for arrow in arrows(paper) if arrow.kind == "instead"} == named


@pytest.mark.parametrize("paper", PAPERS)
def test_shortcuts_are_left_out_and_nothing_else(paper):
    all = [arrow for arrow in arrows(paper) if arrow.kind == "printed"]
    few = uses.without_shortcuts(all)
    assert len({(one.user, one.used) for one in few}) < len({(one.user, one.used) for one in all})
    for id in ids(paper):
        assert {*behind(id, few)} == {*behind(id, all)}
    for arrow in few:
        rest = [one for one in few if (one.user, one.used) != (arrow.user, arrow.used)]
        assert arrow.used not in behind(arrow.user, rest)


def test_a_printed_use_is_not_replaced_by_a_proof_of_ours():
    arrows = [Arrow("c", "a", "printed"), Arrow("c", "b", "proof"), Arrow("b", "a", "printed")]
    assert uses.without_shortcuts(arrows) == arrows
    assert uses.without_shortcuts([Arrow("c", "a", "proof"), *arrows[1:]]) == arrows[1:]
