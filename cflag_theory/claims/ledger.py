"""All claims by id, in paper order, and the standing assumptions of each paper."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from functools import cache, partial
from importlib import import_module
from importlib.resources import files
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cflag_theory.claims.printed import of_part
from cflag_theory.errors import UnknownName

if TYPE_CHECKING:
    from cflag_theory.claims.engine.claim import Claim

#: The module of each claim, in this folder: the papers' claims in paper order, then what we prove instead. Every module
#: has its claims in `CLAIMS`; `verify.checks` has a module of the same name.
PLACES: Mapping[str, str] = MappingProxyType(
    dict(
        line.split("\t")
        for line in files(__package__).joinpath("order.tsv").read_text(encoding="utf-8").splitlines()[1:]
    )
)

#: By paper, hypotheses that the field always makes or that are stated in passing; no verdict counts them as missing.
PREAMBLE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "C-FLAG": (
            "The client weights p_i are non-negative and sum to one; step sizes are positive; N, E, T are at least 1.",
            "grad f_memory, grad f, grad g, b are the p-weighted means of the clients' (Sec. 2, (6)).",
            "S = sum_i p_i sum_{k=0}^{E-1} of the delayed gradients, and a round is (24): x_{t+1} = x_t - alpha "
            "grad_f_memory - beta S.",
            "Every component g_{i,j} is L-smooth, as the supplement says after Assumption 6.",
            "f is bounded below: the past tasks have an optimal point x_P* (Figure 1). Of g no sentence says so. An "
            "instance may be quadratic: only its values near the points of the run count.",
        ),
        "CFL": (
            "The round weights p_{1,i}, ..., p_{t,i} sum to one (App. B.4.1), and are not negative unless the row is "
            "about their sign; step sizes are positive; N, S, K, T are at least 1.",
            "f(w) = 𝔼[f_{t,i}(w)], unless a part's reading is formulation (2), and grad f(w) = grad f_{t,i}(w) + "
            "delta_i + xi_{t,i} (5); Assumption 3 prints f(w) for its gradient. E is the expectation over all draws; "
            "at a fixed w drifts have mean zero, those of different rounds are independent (Remark 3.2), and so are "
            "client and time drifts (the proof of Lemma B.2; Assumption 3 does not say it).",
            "The noises of Assumption 2 have mean zero given the drifts and everything that came before them, and are "
            "independent between clients.",
            "eta = K eta_l eta_g (App. B.4.1), and N stands for the selected clients (footnote 3).",
            "w_{t,i,k} and w_{t,i,k-1}, which the paper's sums over k mix, are both read as w_{t,i,k-1}, the point of "
            "the k-th local gradient.",
        ),
    }
)


def _build(id: str, *listed: Any, **named: Any) -> Claim:
    built: Claim = import_module(f"{__package__}.{PLACES[id]}").CLAIMS[id](*listed, **named)
    return built


#: Builders by id; some take constants other than the printed ones, which tests plant. A module is imported when one of
#: its claims is asked for: all of them take seconds.
LEDGER: dict[str, Callable[..., Claim]] = {id: partial(_build, id) for id in PLACES}


def check_id(id: str) -> None:
    """Raise UnknownName, naming the nearest claims, if there is no claim with this id."""
    if id not in LEDGER:
        # Ids are often given without their paper: lemma13 for cflag.lemma13.
        bare = {one.partition(".")[2]: one for one in LEDGER}
        near = [one for name, one in bare.items() if name == id] or get_close_matches(id, LEDGER, n=3)
        near = near or [bare[name] for name in get_close_matches(id, bare, n=3)]
        meant = f"did you mean {' or '.join(near)}? " if near else ""
        raise UnknownName(f"no claim is called {id!r}: {meant}cflag list names all")


@cache
def claim(id: str) -> Claim:
    """The claim with this id.

    Raises
    ------
    UnknownName
        If there is none; the message names the nearest.
    """
    check_id(id)
    return LEDGER[id]()


def search(text: str = "") -> list[Claim]:
    """The claims, in ledger order, of which the id, the place, the title or the printed lines hold all these words."""
    words = text.lower().split()
    return [one for one in map(claim, LEDGER) if all(word in _searched(one.id) for word in words)]


@cache
def _searched(id: str) -> str:
    subject = claim(id)
    lines = (line.text for part in subject.parts for line in of_part(id, part.key))
    return " ".join((id, subject.paper, subject.where, subject.title, *lines)).lower()
