"""All claims by id, in paper order, and what is taken for granted once for all of them."""

from __future__ import annotations

from functools import cache

from cflag_theory.claims.c_flag import descent, drift, forgetting, update
from cflag_theory.claims.claim import Claim
from cflag_theory.errors import UnknownName

#: Hypotheses that the field always makes, or that a paper states in passing; no verdict counts them as missing.
PREAMBLE: tuple[str, ...] = (
    "The client weights p_i are non-negative and sum to one; step sizes are positive; N, E, T are at least 1.",
    "grad f_memory, grad f, grad g, b are the p-weighted means of the clients' (Sec. 2, (6)).",
    "S = sum_i p_i sum_{k=0}^{E-1} of the delayed gradients, and a round is (24): x_{t+1} = x_t - alpha "
    "grad_f_memory - beta S.",
    "Every component g_{i,j} is L-smooth, as the supplement says after Assumption 6.",
)

#: Builders in paper order.
LEDGER = {
    "cflag.eq7": update.eq7,
    "cflag.eq22": update.eq22,
    "cflag.eq25": update.eq25,
    "cflag.lemma1": descent.lemma1,
    "cflag.eq65": descent.eq65,
    "cflag.lemma13": drift.lemma13,
    "cflag.cor14": drift.cor14,
    "cflag.eq177": forgetting.eq177,
}


@cache
def claim(id: str) -> Claim:
    """The claim with this id.

    Raises
    ------
    UnknownName
        If there is none; the message lists those that exist.
    """
    if id not in LEDGER:
        raise UnknownName(f"no claim is called {id!r}; the ledger has {', '.join(LEDGER)}")
    return LEDGER[id]()
