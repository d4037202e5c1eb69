"""What f is: formulation (2) against Sec. 3.3, and the f of Assumption 3."""

from __future__ import annotations

from typing import Any

from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement, shown
from cflag_theory.claims.engine.notation import symbol
from cflag_theory.claims.engine.relation import equal

# One dimension and one w; xi is the time drift of the one client in round 1.
xi = symbol("setting_xi", r"\xi_{1,1}", real=True)
delta = symbol("setting_delta", r"\delta_1", real=True)
summed = symbol("setting_summed", r"w^*_1", real=True)
expected = symbol("setting_expected", r"w^*", real=True)
value = symbol("setting_value", "f(w)", real=True)
slope = symbol("setting_slope", r"\nabla f(w)", real=True)
own_slope = symbol("setting_own_slope", r"\nabla f_{1,1}(w)", real=True)


def objectives() -> Claim:
    """(2) and Sec. 3.3."""
    facts = (
        Fact("(2)", equal(summed - xi, 0), "Where the derivative of f_{1,1} is zero."),
        Fact("mean", equal(expected, 0), "Where that of E f_{1,1} is zero."),
    )
    same = Statement(
        "f_{t,1} = w^2/2 - xi_{t,1} w, where xi_{t,1} has mean zero; T = S = 1, p_{1,1} = 1: the minimiser of (2), "
        "f = f_{1,1}, is that of f = E f_{1,1}.",
        equal(summed, expected),
        definitions=facts,
    )
    return Claim(
        "cfl.objectives",
        "(2), Sec. 3.3",
        "Two meanings of f",
        (Part("1", same, kind="question"),),
        (
            "(2) defines f as the sum over the rounds of a run, which is random; Sec. 3.3 assumes f = E f_{t,i}. They "
            "agree in the mean, for weights that sum to one, and not in a run.",
            "Rows on rates decide both, each as a part with its reading. How far the two f are from each other after T "
            "rounds: ours.cfl_sum_over_rounds.",
        ),
    )


def assumption3(wrong: Any = 0) -> Claim:
    """Assumption 3, first sentence; `wrong` is added in the repair."""
    five = Fact("(5)", equal(slope, own_slope + delta + xi), "(5), in one dimension.")
    words = "is grad f_{t,i}(w) + delta_i + xi_{t,i}, with the drifts of (5), in one dimension at t = i = 1."
    return Claim(
        "cfl.assumption3",
        "Assumption 3",
        "What the drifts are measured from",
        (
            Part(
                "1",
                Statement(f"f(w) {words}", equal(value, own_slope + delta + xi), definitions=(five,)),
                Repair(
                    "typo",
                    "grad f(w) for f(w), as in (5)",
                    shown(
                        f"grad f(w) {words}",
                        equal(slope, own_slope + delta + xi + wrong),
                        given=("(5)",),
                        where=(five,),
                    ),
                ),
                kind="assumption",
            ),
        ),
        (
            "A value is no gradient: in more than one dimension the line has no meaning. All rows read grad f.",
            "Assumption 4 prints |Delta_{t,i}(w)| of a vector: read as the Euclidean norm of Sec. 3.2.",
            "App. B has the drifts with the other sign, grad f_{t,i} = grad f + delta_i + xi_{t,i}: what is assumed of "
            "them is the same for both signs.",
        ),
    )


CLAIMS = {"cfl.objectives": objectives, "cfl.assumption3": assumption3}
