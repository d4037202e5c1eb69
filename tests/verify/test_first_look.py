"""The core's look at a sixth of the ledger, by exact algebra; `test_whole_ledger` has all of it, and the rest."""

from __future__ import annotations

from expecting import expectations
from needs import in_turn
from test_whole_ledger import GRAVITY

from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.verify.check import first_look


def test_every_claim_has_the_verdict_that_is_expected_of_it():
    for id, verdict in first_look(in_turn(LEDGER, 6), jobs=1).items():
        parts = zip(claim(id).parts, expectations()[id].verdicts.split(), strict=True)
        claimed = [word for part, word in parts if part.kind == "claim"]
        assert verdict == (max(claimed, key=GRAVITY.index) if claimed else claim(id).parts[0].kind), id
