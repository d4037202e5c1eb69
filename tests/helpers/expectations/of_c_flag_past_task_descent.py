"""What the checks of `c_flag.past_task.descent` must find and reject."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack

import sympy as sp
from expecting import Expectation
from planting import LESS, MORE, Plants, Where, assumed, built, changed, scaled, shifted, without

from cflag_theory.claims.c_flag.past_task import descent as claim
from cflag_theory.claims.engine.notation import L, alpha, beta


def _lead(lead: sp.Expr, proved: sp.Expr, **where: Unpack[Where]) -> Plants:
    """Another coefficient than L before beta^2 ||S||^2, and a proof that ends in `proved`."""
    return changed(
        f"{lead} for L, proof for {proved}",
        lambda s: replace(s, relation=claim.bound(lead), proof=claim.mended(proved).proof),
        **where,
    )


EXPECTED = {
    "cflag.lemma1": Expectation(
        "typo needs-hypothesis",
        plants=(
            *_lead(L / 4, L / 4, on="sharp"),
            *_lead(L / 4, L / 2, on="sharp"),
            *_lead(LESS * L / 2, LESS * L / 2, on="sharp"),
            *_lead(sp.S.Zero, sp.S.Zero, on="sharp"),
            *_lead(L / 4, L / 4, on="repair"),
            *_lead(L / 4, L / 4, part="2", on="repair", verdict="open"),
            *scaled("9/10", on="sharp"),
            *without("(27)", part="2", on="repair"),
        ),
    ),
    "cflag.lemma1_supp": Expectation("typo needs-hypothesis", plants=built(LESS * L / 2, on="repair")),
    "cflag.eq15": Expectation(
        "holds", plants=(*built(L, L / 4, MORE * L / 2), *shifted(2 * beta * (1 - L * alpha) * claim.Lambda))
    ),
    "cflag.eq65": Expectation(
        "holds", plants=(*built(3, 1, 2 * MORE, 2 * LESS, -2), *assumed("alpha", right=1 / L, verdict="open"))
    ),
}
