"""Non-convex FedAvg whose clients are new in every round: the rate of the CFL paper, with constants.

Local gradients are grad f - e, e = delta_i + xi_{t,i} with A = B = 0. A new client's e is drawn when the round begins,
so that it has mean zero given w_t; it stays the same over the local steps, whose iterates depend on it.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.past_task.runs import t
from cflag_theory.claims.cfl.nonconvex.descent import f
from cflag_theory.claims.cfl.nonconvex.ours.rate import (
    CENTRED,
    FAR,
    GRADIENTS,
    LOCAL,
    G,
    change_at_most,
    descent,
    error,
    errors_at_most,
    everyone,
    f_mean,
    fall,
    far_t,
    grad2_t,
    local_drift,
    mean_bound,
    mean_grad2,
    noise2,
    u,
    v,
    whole_run,
    x,
)
from cflag_theory.claims.cfl.symbols import D2, G2, K, N, T, eta, eta_l, sigma2
from cflag_theory.claims.cfl.vectors import averaged, w
from cflag_theory.claims.cfl.vectors import over_past as E
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement
from cflag_theory.claims.engine.notation import L, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, Step
from cflag_theory.claims.engine.terms import dot, norm2

#: The largest of 𝔼<grad f(w_t), mean drift>, zero for drifts that are drawn anew.
bias = symbol("nc_bias", r"\max_t\mathbb{E}\langle\nabla f(\omega_t),\bar e_t\rangle", real=True)
drift2 = symbol("nc_client_time2", r"\mathbb{E}\|\delta_i+\xi_{t,i}\|^2", nonnegative=True)
eps = symbol("nc_eps", r"\epsilon", positive=True)

FRESH = (
    Fact("fresh", equal(bias, 0), "The drifts of a round are independent of w_t and have mean zero."),
    Fact("drift", at_most(drift2, G2 + D2), "𝔼||delta_i||^2 <= G^2, 𝔼||xi_{t,i}||^2 <= D^2, uncorrelated."),
)
#: What is assumed of the draws: the errors are the drifts of the round.
DRAWS = (
    CENTRED,
    Fact("bias", at_most(E(dot(G, error)), bias), "The largest over the rounds.", (t,)),
    errors_at_most(drift2),
    *FAR,
    Fact(
        "noise",
        at_most(E(norm2(v - error)), drift2 / N + noise2 / (N * K)),
        "Drifts of different clients are uncorrelated; noises have mean zero given all drifts and earlier noises.",
        (t,),
    ),
)
_LEAD = sp.Rational(8, 3)
_FAR = sp.Rational(20, 3)
#: What a step is made of.
_MOVED = (("<G, u>", dot(G, u)), ("||u + v||^2", norm2(u + v)))


def _variances(constant: Any) -> tuple[sp.Expr, sp.Expr]:
    """What is multiplied by (20/3) K^2 eta_l^2 L^2, and by (8/3) L eta; `constant` scales the drifts of the second."""
    return G2 + D2 + sigma2 / K, constant * (G2 + D2) / N + sigma2 / (N * K)


def _steps(constant: Any) -> tuple[Step, ...]:
    """The proof: the mean gradient is that of f over the local iterates, the rest of a step is noise less drift."""
    share = K**2 * eta_l**2 * L**2
    local, mean = _variances(constant)
    rest = _FAR * share * local + _LEAD * L * eta * mean
    gradients = everyone(f.grad(x)) / (N * K)
    spread = (G2 + D2) / N + sigma2 / (N * K)
    of_round = (
        *local_drift(drift2),
        *descent(),
        *(rules.rewrite(f"{name}, by gradients", E(of), given=GRADIENTS) for name, of in _MOVED),
        rules.square("parts", gradients - v + error, E),
        *averaged(rules.jensen("moves", everyone, f.grad(x) - G), E),
        *change_at_most(everyone, "move"),
        Obligation("away", at_most(E(norm2(G - gradients)), L**2 * far_t(t)), ("moves", "move")),
        Obligation("far at most", at_most(L**2 * far_t(t), 5 * share * (grad2_t(t) + local)), ("near", "drift")),
        Obligation(
            "down",
            at_most(
                E(dot(G, w(t + 1) - w(t))),
                eta / 2 * (5 * share * (grad2_t(t) + local) - grad2_t(t) - E(norm2(gradients))),
            ),
            ("slope", "<G, u>, by gradients", "inner", "bias", "fresh", "away", "far at most"),
        ),
        Obligation(
            "moved",
            at_most(E(norm2(w(t + 1) - w(t))), 2 * eta**2 * (E(norm2(gradients)) + spread)),
            ("length", "||u + v||^2, by gradients", "parts", "noise", "drift", "Assumption 2"),
        ),
    )
    one_round = Obligation(
        "one round",
        at_most(grad2_t(t), _LEAD / eta * (f_mean(t) - f_mean(t + 1)) + rest),
        ("(25)", "down", "moved", "eta", "steps"),
    )
    return whole_run(of_round, one_round, _LEAD / eta, 0, rest, 0)


def bound(constant: Any = 1) -> Statement:
    """The mean over T rounds for any step size."""
    local, mean = _variances(constant)
    return Statement(
        "FedAvg, any K, drifts drawn anew in every round that do not grow with the gradient (A = B = 0), eta <= "
        "1/(2L) and 20 K^2 eta_l^2 L^2 <= 1: the mean over T rounds of 𝔼||grad f(w_t)||^2 is at most 8 (f_0 - f_*)/(3 "
        "eta T) + (8/3) L eta ((G^2 + D^2)/N + sigma^2/(N K)) + (20/3) K^2 eta_l^2 L^2 (G^2 + D^2 + sigma^2/K).",
        mean_bound(_LEAD / eta, 0, _FAR * K**2 * eta_l**2 * L**2 * local + _LEAD * L * eta * mean),
        (*LOCAL, *FRESH),
        Proof(_steps(constant)),
        DRAWS,
    )


def reached(constant: Any = 1) -> Repair:
    """T = O(1/epsilon^2) with eta = sqrt(K N)/(sqrt(T) L); `constant` scales the drifts in the number of rounds."""
    local, mean = _variances(constant)
    goal = at_most(mean_grad2, eps)
    first = _LEAD * eta * L * (L * fall / (K * N) + mean)
    second = _FAR * eta**2 * L**2 * local
    steps = _steps(constant)
    follows = Obligation(
        "the statement follows", goal, ("mean of all rounds", "T, first", "T, second", "step size", "eta_g")
    )
    return Repair(
        "needs-hypothesis",
        "clients whose drifts are drawn anew in every round and do not grow with the gradient; and sqrt(K/N) (G^2 + "
        "D^2) in place of sqrt(K N)/L",
        Statement(
            "FedAvg with fresh additive drifts (A = B = 0), any K, eta_g = 1, eta = sqrt(K N)/(sqrt(T) L) and T >= 20 "
            "K N (the theorems ask for more): the mean over T rounds of 𝔼||grad f(w_t)||^2 is at most epsilon once T "
            ">= (2a/epsilon)^2 and T >= 40 K N (G^2 + D^2 + sigma^2/K)/(3 epsilon), where a = (8/3) (L (f_0 - "
            "f_*)/sqrt(K N) + sqrt(K/N) (G^2 + D^2) + sigma^2/sqrt(N K)).",
            goal,
            (
                *LOCAL,
                *FRESH,
                Fact("step size", equal(eta**2 * L**2 * T, K * N), "eta = sqrt(K N)/(sqrt(T) L)."),
                Fact("eta_g", equal(eta, K * eta_l), "eta_g = 1."),
                Fact("T, first", at_most(2 * first, eps), "T >= (2a/epsilon)^2: eta L = sqrt(K N/T)."),
                Fact("T, second", at_most(2 * second, eps), "T >= 40 K N (G^2 + D^2 + sigma^2/K)/(3 epsilon)."),
            ),
            Proof((*steps, follows)),
            DRAWS,
        ),
    )


def fedavg_nonconvex(constant: Any = 1) -> Claim:
    """The theorem; `constant` is before the mean drift."""
    return Claim(
        "ours.cfl_fedavg_nonconvex",
        "in place of Theorems 4.4 and B.6, non-convex",
        "Non-convex FedAvg whose clients are new in every round",
        (Part("1", bound(constant)),),
        (
            "With eta = sqrt(K N)/(sqrt(T) L) the first two terms are O(1/sqrt(T)), the last is O(1/T).",
            "Drifts that stay leave a floor instead: ours.cfl_nonconvex, part 4.",
            "The local iterates depend on the drifts of their round, so that K >= 2 is no case of ours.cfl_nonconvex.",
        ),
    )


CLAIMS = {"ours.cfl_fedavg_nonconvex": fedavg_nonconvex}
