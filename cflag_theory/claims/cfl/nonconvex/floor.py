"""The floor of the non-convex CFL theorems: clients that are drawn once and kept."""

from __future__ import annotations

from cflag_theory.claims.c_flag.past_task.runs import t
from cflag_theory.claims.cfl.symbols import eta
from cflag_theory.claims.engine.claim import Fact, Statement, shown
from cflag_theory.claims.engine.notation import L, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Instance, by_induction

G = symbol("nc_G", "G", nonnegative=True)
w_plus = sequence("nc_w_plus", r"\omega^+_{@}", real=True)
w_minus = sequence("nc_w_minus", r"\omega^-_{@}", real=True)
#: delta = G and delta = -G, each with probability 1/2.
family_grad2 = symbol(
    "nc_family_grad2", r"\mathbf{E}\|\nabla f(\omega_{t})\|^2", ((L * w_plus(t)) ** 2 + (L * w_minus(t)) ** 2) / 2
)


def floor() -> Statement:
    """A client whose drift never changes: the gradient stays above G^2/2 in every round, for every step size."""
    plus = by_induction("stays", t, equal(L * w_plus(t), G), start=("start",), given=("delta = G",))
    goal = at_most(G**2 / 2, family_grad2)
    return shown(
        "FedAvg, and CFL with D = 0 < R, whose weights are then p_t = 1. Omega = {+G, -G}: two clients with f_{t,i} = "
        "(L/2) w^2 - delta_i w, delta_i = +-G, and f = (L/2) w^2 their mean. S = 1, and S_t = S_1 in every round, "
        "drawn once with equal chances: (3) asks the clients of S_t for their f of all earlier rounds. K = 1, no "
        "other noise, w_1 = G/L. Then E||grad f(w_t)||^2 >= G^2/2 for every t and every eta, since with probability "
        "1/2 the start is the client's own minimiser. A = B = sigma = 0, and L may be 1/2, so that the coefficient of "
        "(32) is negative; f_* = 0.",
        goal,
        plus,
        Instance("this round", "stays", t, t),
        given=("this round",),
        under=(Fact("start", equal(L * w_plus(0), G), "w_1 = G/L."),),
        where=(Fact("delta = G", equal(w_plus(t + 1), w_plus(t) - eta * (L * w_plus(t) - G)), "Algorithm 2, K = 1."),),
    )
