"""What the checks of `c_flag.union.lemma3` must find and reject."""

from __future__ import annotations

import sympy as sp
from expecting import Expectation
from planting import built, related, scaled, without

from cflag_theory.claims.c_flag.union import lemma3 as claim
from cflag_theory.claims.engine.notation import alpha, beta

EXPECTED = {
    "cflag.eq68": Expectation(
        "false false",
        plants=related(
            "what the instances satisfy",
            left=alpha * claim.grad_g,
            right=beta * claim.grad_g,
            part=("1", "2"),
            verdict="open",
        ),
    ),
    "cflag.lemma3_remark": Expectation(
        "needs-hypothesis needs-hypothesis",
        undrawn={"2": "shares of memory"},
        plants=(
            *without("ratio", "shares", on="repair"),
            *without("equal shares", part="2", on="repair"),
            *scaled("999/1000", "1", on="repair"),
            *related("a bound that the instances satisfy", right=sp.Rational(1, 2), verdict="open"),
        ),
    ),
    "cflag.lemma11": Expectation(
        "holds needs-hypothesis",
        reached={"1": 1, "2": 1},
        undrawn={"2": "shares of memory, or sets of clients"},
        plants=(
            *built("199/100"),
            *built("199/100", part="2", on="repair"),
            *without("equal shares", part="2", on="repair"),
            *related("without omega", left=claim.grad_g2, right=2 * claim.by_client2),
        ),
    ),
}
