"""Against the non-convex CFL theorems: clients that are drawn once and kept, and drifts of any size."""

from __future__ import annotations

from typing import Any

from cflag_theory.claims.c_flag.past_task.runs import t
from cflag_theory.claims.cfl.symbols import T, eta
from cflag_theory.claims.engine.claim import Fact, Statement, shown
from cflag_theory.claims.engine.notation import L, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Instance, by_induction

G = symbol("nc_G", "G", nonnegative=True)
w_plus = sequence("nc_w_plus", r"\omega^+_{@}", real=True)
w_minus = sequence("nc_w_minus", r"\omega^-_{@}", real=True)
#: delta = G and delta = -G, each with probability 1/2.
family_grad2 = symbol(
    "nc_family_grad2", r"\mathbb{E}\|\nabla f(\omega_{t})\|^2", ((L * w_plus(t)) ** 2 + (L * w_minus(t)) ** 2) / 2
)
D = symbol("nc_D", "D", nonnegative=True)
second_grad2 = symbol(
    "nc_second_grad2", r"\mathbb{E}\|\nabla f(\omega_{2})\|^2", ((L * w_plus(1)) ** 2 + (L * w_minus(1)) ** 2) / 2
)
average_grad2 = symbol(
    "nc_average_grad2", r"\frac{1}{T}\sum_{t\le T}\mathbb{E}\|\nabla f(\omega_{t})\|^2", nonnegative=True
)
accuracy = symbol("nc_accuracy", r"\epsilon", positive=True)


def one_drift(size: Any = 2) -> Statement:
    """For every number of rounds some D leaves the mean of the squared gradients above epsilon; D^2 = size T^2 eps."""
    goal = below(accuracy, average_grad2)
    start = (Fact(f"start {sign}", equal(w(0), 0), "w_1 = w*.") for sign, w in (("+", w_plus), ("-", w_minus)))
    moved = (
        Fact(f"xi_1 = {sign}D", equal(w(1), w(0) - eta * (L * w(0) - drift)), "Algorithm 2, K = 1, p_{1,1} = 1.")
        for sign, w, drift in (("", w_plus, D), ("-", w_minus, -D))
    )
    return shown(
        "Both methods: in round 1 p_1 = 1. N = K = 1 and no noise, f_{t,1} = (L/2) w^2 - xi_t w, where xi_t = D or -D "
        "is drawn anew in every round, with equal chances; A = B = G = sigma = 0, w_1 = w*, so that f_0 = f_*, and eta "
        "= 1/(sqrt(T) L). Whatever T >= 2 the brackets, in which c_R1 and c_R2 are at most 1, give for an epsilon, D "
        "with D^2 = 2 T^2 epsilon leaves the mean above epsilon: round 2 alone has 𝔼||grad f(w_2)||^2 = D^2/T.",
        goal,
        given=("mean", "start +", "start -", "xi_1 = D", "xi_1 = -D", "eta", "D"),
        under=(
            Fact("eta", equal(eta**2 * L**2 * T, 1), "eta = 1/(sqrt(T) L)."),
            Fact("D", equal(D**2, size * T**2 * accuracy), f"D^2 = {size} T^2 epsilon."),
            *start,
        ),
        where=(
            *moved,
            Fact("mean", at_most(second_grad2, T * average_grad2), "One of T >= 2 terms, none of them negative."),
        ),
    )


def floor() -> Statement:
    """A client whose drift never changes: the gradient stays above G^2/2 in every round, for every step size."""
    plus = by_induction("stays", t, equal(L * w_plus(t), G), start=("start",), given=("delta = G",))
    goal = at_most(G**2 / 2, family_grad2)
    return shown(
        "FedAvg, and CFL with D = 0 < R, whose weights are then p_t = 1. Omega = {+G, -G}: two clients with f_{t,i} = "
        "(L/2) w^2 - delta_i w, delta_i = +-G, and f = (L/2) w^2 their mean. S = 1, and S_t = S_1 in every round, "
        "drawn once with equal chances: (3) asks the clients of S_t for their f of all earlier rounds. K = 1, no "
        "other noise, w_1 = G/L. Then 𝔼||grad f(w_t)||^2 >= G^2/2 for every t and every eta, since with probability "
        "1/2 the start is the client's own minimiser. A = B = sigma = 0, and L may be 1/2, so that the coefficient of "
        "(32) is negative; f_* = 0.",
        goal,
        plus,
        Instance("this round", "stays", t, t),
        given=("this round",),
        under=(Fact("start", equal(L * w_plus(0), G), "w_1 = G/L."),),
        where=(Fact("delta = G", equal(w_plus(t + 1), w_plus(t) - eta * (L * w_plus(t) - G)), "Algorithm 2, K = 1."),),
    )
