"""All claims by id, in paper order, and what is taken for granted once for all of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from cflag_theory.claims.c_flag import descent, drift, forgetting, update
from cflag_theory.claims.claim import Claim
from cflag_theory.errors import UnknownName

#: Paper order; a test holds it against the modules.
ORDER: tuple[str, ...] = (
    "cflag.eq7",
    "cflag.eq22",
    "cflag.eq25",
    "cflag.lemma1",
    "cflag.eq65",
    "cflag.lemma13",
    "cflag.cor14",
    "cflag.eq177",
)

#: Hypotheses that the field always makes, or that a paper states in passing; no verdict counts them as missing.
PREAMBLE: tuple[str, ...] = (
    "The client weights p_i are non-negative and sum to one; step sizes are positive; N, E, T are at least 1.",
    "grad f_memory, grad f, grad g, b are the p-weighted means of the clients' (Sec. 2, (6)).",
    "S = sum_i p_i sum_{k=0}^{E-1} of the delayed gradients, and a round is (24): x_{t+1} = x_t - alpha "
    "grad_f_memory - beta S.",
    "Every component g_{i,j} is L-smooth, as the supplement says after Assumption 6.",
)

_MODULES = (update, descent, drift, forgetting)
_BUILDERS: dict[str, Callable[[], Claim]] = {id: build for module in _MODULES for id, build in module.CLAIMS.items()}

#: Builders by id, in paper order.
LEDGER: dict[str, Callable[[], Claim]] = {id: _BUILDERS[id] for id in ORDER}


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
