"""Lemma 3 for (67)-(68) at fifteen times the printed step size, which the worst case of the local steps allows."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.union.iterates import LOCAL_STEPS, ROUNDS, T, grad_h, h, least, s, union
from cflag_theory.claims.c_flag.union.surrogate import SUMMED, over_rounds, round_steps, small_steps
from cflag_theory.claims.c_flag.union.tracking import KEPT, WITHIN, deviation, second_order
from cflag_theory.claims.engine.claim import Claim, Fact, Part, shown
from cflag_theory.claims.engine.notation import E, L, beta, t
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Obligation

CONSTANT = sp.Rational(18, 5)
STEP = Fact("beta", equal(beta, 1 / (2 * L * E)), "beta = 1/(2 L E).")


def union_rate(constant: Any = CONSTANT) -> Claim:
    """(66) for (67)-(68) with beta = 1/(2 L E); `constant` stands for 60."""
    C, u = sp.sympify(constant), sp.S.Half
    goal = at_most(least, C * L / T * (h(0) - h(T)))
    statement = shown(
        "min_{t<T} ||grad h~(x_t)||^2 <= (18 L / (5 T)) (h~(x_0) - h~(x_T)) for the iterates of (67)-(68) with "
        "beta = 1/(2 L E), with h~ = sum_i p_i h~_i, if the components kept in memory are L-smooth.",
        goal,
        Obligation("range", at_most(beta * L * E, u), ("beta",)),
        *deviation(union),
        *second_order(union, u),
        small_steps(),
        *round_steps(),
        Obligation(
            "each round",
            at_most(grad_h(t) ** 2, C * L * h(t) - C * L * h(t + 1)),
            ("one round", "small", "short deviation", "beta", "E"),
        ),
        *over_rounds("each round", h(s), least),
        given=SUMMED,
        under=(STEP, LOCAL_STEPS, ROUNDS, WITHIN, KEPT),
    )
    return Claim(
        "ours.union_rate",
        "for Lemma 3",
        "Lemma 3 for (67)-(68) with 3.6 L in place of 60 L",
        (Part("1", statement),),
        (
            "The step size is fifteen times the printed one and the constant less than a sixteenth of it.",
            "The paper's own line (72) has its smallest factor at beta = 1/(30 L E), since it bounds ||S||^2 and "
            "the product of the gradient with S by constants that are not the worst case; with the exact worst case"
            " of the local steps the same argument is ours.union_descent, whose factor 2/(1 - q^2) is smallest near"
            " beta L E = ln 2 for large E, where it is 3.2083...: `cflag sharp` computes it for every E.",
            "h~ = (L/2) x^2 needs 2/(1 - exp(-1)) = 3.163... as E grows at this step size.",
        ),
    )


CLAIMS = {"ours.union_rate": union_rate}
