"""The standing assumptions of each paper: what the field always assumes, or what a paper states in passing.

No verdict counts them as missing, and no counterexample may break one. Those that speak of quantities which exact
instances value are relations as well, by the names of the ledger's symbols.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.points import covered_by, holds_at
from cflag_theory.claims.engine.relation import Relation


@dataclass(frozen=True)
class Standing:
    """One line of a paper's standing assumptions, and the relations of it that values can break."""

    words: str
    relations: tuple[str, ...] = ()


STANDING: Mapping[str, tuple[Standing, ...]] = MappingProxyType(
    {
        "C-FLAG": (
            Standing(
                "The client weights p_i are non-negative and sum to one; step sizes are positive; N, E, T are at "
                "least 1.",
                (
                    "0 <= p_i",
                    "p_i <= 1",
                    "sum_p == 1",
                    "0 < alpha",
                    "0 < beta",
                    "1 <= N",
                    "1 <= E",
                    "1 <= T",
                ),
            ),
            Standing("grad f_memory, grad f, grad g, b are the p-weighted means of the clients' (Sec. 2, (6))."),
            Standing(
                "S = sum_i p_i sum_{k=0}^{E-1} of the delayed gradients, and a round is (24): x_{t+1} = x_t - alpha "
                "grad_f_memory - beta S."
            ),
            Standing("Every component g_{i,j} is L-smooth, as the supplement says after Assumption 6.", ("0 < L",)),
            Standing(
                "f is bounded below: the past tasks have an optimal point x_P* (Figure 1). Of g no sentence says so. "
                "An instance may be quadratic: only its values near the points of the run count."
            ),
        ),
        "CFL": (
            Standing(
                "The round weights p_{1,i}, ..., p_{t,i} sum to one (App. B.4.1), and are not negative unless the row "
                "is about their sign; step sizes are positive; N, S, K, T are at least 1.",
                (
                    "0 <= p_current",
                    "p_current <= 1",
                    "0 <= past_weights_sum",
                    "p_current + past_weights_sum == 1",
                    "past_weights2 <= past_weights_sum**2",
                    "past_weight <= 1",
                    "current_weight <= 1",
                    "nc_p_best <= 1",
                    "nc_past_weight <= 1",
                    "nc_past_weight2 <= nc_past_weight**2",
                    "0 <= weight_pairs",
                    "weights2 + weight_pairs == 1",
                    "0 <= weights_cross",
                    "0 <= weights_products",
                    "weights_squares + weights_products == 1",
                    "0 < eta",
                    "0 < eta_l",
                    "0 < eta_g",
                    "1 <= N",
                    "1 <= K",
                    "1 <= T",
                    "1 <= t",
                ),
            ),
            Standing(
                "f(w) = 𝔼[f_{t,i}(w)], unless a part's reading is formulation (2), and grad f(w) = grad f_{t,i}(w) + "
                "delta_i + xi_{t,i} (5); Assumption 3 prints f(w) for its gradient. E is the expectation over all "
                "draws; at a fixed w drifts have mean zero, those of different rounds are independent (Remark 3.2), "
                "and so are client and time drifts (the proof of Lemma B.2; Assumption 3 does not say it)."
            ),
            Standing(
                "The noises of Assumption 2 have mean zero given the drifts and everything that came before them, and "
                "are independent between clients."
            ),
            Standing(
                "eta = K eta_l eta_g (App. B.4.1), and N stands for the selected clients (footnote 3).",
                ("eta == K*eta_l*eta_g",),
            ),
            Standing(
                "w_{t,i,k} and w_{t,i,k-1}, which the paper's sums over k mix, are both read as w_{t,i,k-1}, the point "
                "of the k-th local gradient."
            ),
        ),
    }
)
#: By paper, the words alone.
PREAMBLE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {paper: tuple(one.words for one in listed) for paper, listed in STANDING.items()}
)


@cache
def relations(paper: str) -> tuple[tuple[str, Relation], ...]:
    """The standing assumptions of a paper that values can break, with the text of each; none of our own theorems."""
    return tuple((text, _read(text)) for one in STANDING.get(paper, ()) for text in one.relations)


def _read(text: str) -> Relation:
    left, op, right = re.split(" (==|<=|<) ", text)
    names = {name: sp.Symbol(name, real=True) for name in re.findall(r"[A-Za-z]\w*", text)}
    return Relation(sp.sympify(left, locals=names), op, sp.sympify(right, locals=names))


def broken(paper: str, values: Mapping[sp.Expr, Any]) -> Iterator[str]:
    """What of a paper's standing assumptions exact values break, as words; those that they cannot speak of are left."""
    named = {sp.Symbol(str(key), real=True): sp.sympify(value) for key, value in values.items() if key.is_Symbol}
    for text, relation in relations(paper):
        if covered_by(relation, named) and not holds_at(relation, named):
            yield f"it breaks the standing assumption {text}"
