"""What f is: formulation (2) against Sec. 3.3, and the f of Assumption 3."""

from __future__ import annotations

from typing import Any

from cflag_theory.claims.cfl.symbols import A2, B2, D2, G2
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement, shown
from cflag_theory.claims.engine.notation import symbol
from cflag_theory.claims.engine.relation import at_most, equal

# One dimension and one w; xi is the time drift of the one client in round 1.
xi = symbol("setting_xi", r"\xi_{1,1}", real=True)
delta = symbol("setting_delta", r"\delta_1", real=True)
summed = symbol("setting_summed", r"w^*_1", real=True)
w_star = symbol("setting_expected", r"w^*", real=True)
value = symbol("setting_value", "f(w)", real=True)
slope = symbol("setting_slope", r"\nabla f(w)", real=True)
own_slope = symbol("setting_own_slope", r"\nabla f_{1,1}(w)", real=True)
# Second moments at a fixed w, of a client's gradient and of the drifts.
grad2 = symbol("setting_grad2", r"\|\nabla f(w)\|^2", nonnegative=True)
client2 = symbol("setting_client2", r"\mathbb{E}\|\nabla f_i(w)\|^2", nonnegative=True)
delta2 = symbol("setting_delta2", r"\mathbb{E}\|\delta_i\|^2", nonnegative=True)
xi2 = symbol("setting_xi2", r"\mathbb{E}\|\xi_{t,i}\|^2", nonnegative=True)


def objectives() -> Claim:
    """(2) and Sec. 3.3."""
    facts = (
        Fact("(2)", equal(summed - xi, 0), "Where the derivative of f_{1,1} is zero."),
        Fact("mean", equal(w_star, 0), "Where that of 𝔼 f_{1,1} is zero."),
    )
    same = Statement(
        "f_{t,1} = w^2/2 - xi_{t,1} w, where xi_{t,1} has mean zero; T = S = 1, p_{1,1} = 1: the minimiser of (2), "
        "f = f_{1,1}, is that of f = 𝔼 f_{1,1}.",
        equal(summed, w_star),
        definitions=facts,
    )
    return Claim(
        "cfl.objectives",
        "(2), Sec. 3.3",
        "Two meanings of f",
        (Part("1", same, kind="question"),),
        (
            "(2) defines f as the sum over the rounds of a run, which is random; Sec. 3.3 assumes f = 𝔼 f_{t,i}. They "
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


def corollary_2022(factor: Any = 1) -> Claim:
    """The corollary of the version of 2022; `factor` is what the repair adds to B^2."""
    clients = Fact("client drift", at_most(delta2, G2 + B2 * grad2), "𝔼||delta||^2 <= G^2 + B^2 𝔼||grad f||^2.")
    drifts = Fact("time drift", at_most(xi2, D2 + A2 * client2), "𝔼||xi||^2 <= D^2 + A^2 𝔼||grad f_i||^2.")
    moment = Fact("mean zero", equal(client2, grad2 + delta2), "grad f_i = grad f - delta, with 𝔼 delta = 0.")
    words = "Time drifts that are bounded by the client's gradient: 𝔼||xi||^2 <= D^2 + A^2 G^2 + A^2"
    return Claim(
        "cfl.corollary_2022",
        "Version of 2022, after Assumption 3",
        "Time drifts bounded by the client's gradient",
        (
            Part(
                "1",
                Statement(
                    f"{words} B^2 𝔼||grad f||^2.",
                    at_most(xi2, D2 + A2 * G2 + A2 * B2 * grad2),
                    (clients, drifts),
                    definitions=(moment,),
                ),
                Repair(
                    "typo",
                    "A^2 (1 + B^2) for A^2 B^2",
                    shown(
                        f"{words} (1 + B^2) 𝔼||grad f||^2.",
                        at_most(xi2, D2 + A2 * G2 + A2 * (factor + B2) * grad2),
                        given=("client drift", "time drift", "mean zero"),
                        under=(clients, drifts),
                        where=(moment,),
                    ),
                ),
            ),
        ),
        (
            "Assumption 3 of 2022 bounds xi by the client's gradient, and says that A^2 B^2 may be called A^2 again. "
            "With A^2 (1 + B^2) it may. The later version assumes the bound by grad f.",
            "The text of that version at hand is damaged here and there; D^2 is read once where it stands twice.",
        ),
    )


CLAIMS = {"cfl.objectives": objectives, "cfl.assumption3": assumption3, "cfl.corollary_2022": corollary_2022}
