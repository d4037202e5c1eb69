"""Theorems 4.4 and B.6: the convex rates of FedAvg. T = O(.) is read as in `rate_theorems`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from cflag_theory.claims import rules
from cflag_theory.claims.algebra import residual, slack
from cflag_theory.claims.cfl import floors
from cflag_theory.claims.cfl.floors import gap, start2
from cflag_theory.claims.cfl.rate_theorems import (
    BEST,
    CLASS,
    ENOUGH,
    TOTAL,
    apart2,
    eps,
    least,
    mu,
    reached,
    telescoped,
)
from cflag_theory.claims.cfl.rates import C, drift2
from cflag_theory.claims.cfl.symbols import G2, K, N, T, c_O, eta, sigma2
from cflag_theory.claims.claim import Claim, Fact, Part, Repair, Statement, at_most, equal
from cflag_theory.claims.proof import Instance, Obligation, Proof
from cflag_theory.claims.symbols import L, k, symbol

root = symbol("root_c_C", r"\sqrt{\hat{c}_C/\epsilon}", nonnegative=True)
#: The largest bias of a round: E[(f - F)(w_t) - (f - F)(w*)] with F the mean objective of its clients.
bias = symbol("round_bias", r"\max_t b_t", nonnegative=True)
#: The exponent mu T/(L c_O) of the printed rate, and exp(-z).
z = symbol("exponent", "z", nonnegative=True)
factor = symbol("decay_factor", "e^{-z}", nonnegative=True)


def _fresh(constant: Any) -> Repair:
    """FedAvg whose clients are new in every round, with the constants of ours.cfl_round; `constant` scales T."""
    drift = G2 + drift2
    first = 4 * drift / N + 2 * sigma2 / (N * K)
    second = sp.Rational(10, 3) * drift + sp.Rational(5, 2) * sigma2 / K
    noise = eta * first + L * eta**2 * second
    goal = at_most(least, eps)
    rest = 10 * L + 4 * first / eps
    square_root = Obligation(
        "second order",
        at_most(4 * L * eta**2 * second, eps),
        ("root", "eta"),
        eta**2 * residual("root") + eps * (1 + eta * root) * (eta * rest - residual("eta")),
    )
    half = Obligation(
        "noise",
        at_most(2 * noise, eps),
        ("second order", "eta"),
        slack("second order") / 2 + eps / 2 * (eta * (10 * L + root) - residual("eta")),
    )
    last = "sum of all rounds"
    follows = Obligation(
        "the statement follows",
        goal,
        ("best", last, "noise", "T", "fresh"),
        slack("best")
        + (slack(last) + apart2(T)) / (eta * T)
        + slack("noise") / 2
        + slack("T") / (2 * T * eta)
        - 2 * residual("fresh")
        + (constant - 1) * start2 / (eta * T),
    )
    return Repair(
        "needs-hypothesis",
        "clients whose drifts are drawn anew in every round (and do not grow with the gradient)",
        Statement(
            "With fresh additive drifts (A = B = 0, c_O = 1), T >= (2 H/epsilon)(10 L + 16 (G^2 + D^2)/(N epsilon) + 8 "
            "sigma^2/(N K epsilon) + sqrt(c/epsilon)) with c = L (40 (G^2 + D^2)/3 + 10 sigma^2/K) rounds give min_t E "
            "f(w_t) - f* <= epsilon, where 1/eta is the last bracket.",
            goal,
            (
                Fact("T", at_most(2 * constant * start2, T * eta * eps), "T is at least 2 H/(eta epsilon)."),
                Fact("eta", equal(eta * (rest + root), 1), "1/eta is the bracket."),
                Fact("fresh", equal(bias, 0), "The drifts of a round are independent of w_t: it has no bias."),
            ),
            Proof((telescoped(noise + 2 * bias), Instance(last, "sum", k, T), BEST, square_root, half, follows)),
            (
                *TOTAL,
                Fact("root", equal(root**2 * eps, 4 * L * second), "The square of sqrt(c/epsilon)."),
                Fact(
                    "round",
                    at_most(apart2(k + 1), apart2(k) - eta * gap(k) + eta * (noise + 2 * bias)),
                    "(24) as ours.cfl_round, part 1, has it: mu = 0, eta_g = 1, e^2 = (G^2 + D^2)/N, V = G^2 + D^2.",
                ),
            ),
        ),
    )


def _sign() -> Part:
    """The exponent of the printed FedAvg rate."""
    printed = Statement(
        "In the strongly convex rate of FedAvg the first term is mu ||w_0 - w*||^2 times exp(mu T/(L c_O)), which is "
        "to fall from its value at T = 0 (z stands for mu T/(L c_O)).",
        at_most(sp.exp(z), 1),
    )
    goal = at_most(factor, 1)
    mended = Statement(
        "The same with exp(-mu T/(L c_O)).",
        goal,
        (),
        Proof(
            (
                rules.tangent_of_exp("tangent", z, sp.S.One),
                Obligation(
                    "the statement follows",
                    goal,
                    ("tangent", "inverse"),
                    factor * (slack("tangent") + z) - residual("inverse"),
                ),
            )
        ),
        (Fact("inverse", equal(factor * sp.exp(z), 1), "exp(-z) exp(z) = 1."),),
    )
    return Part("sign", printed, Repair("typo", "the sign of the exponent: exp(-mu T/(L c_O))", mended))


def fedavg_rates(constant: Any = 1) -> Claim:
    """The rates of FedAvg; `constant` scales the number of rounds in the repair of the general convex one."""
    noise = G2 + drift2
    first = reached(
        "Theorem 4.4, strongly convex: E f(w_T) - f* <= epsilon after T = O(L c_O/mu + sigma^2/(mu N K epsilon) + (G^2 "
        "+ D^2)/(mu epsilon)) rounds, and Theorem B.6 with sqrt(c_C/(mu^2 epsilon)) more.",
        L * c_O / mu + sigma2 / (mu * N * K * eps) + noise / (mu * eps),
        0,
    )
    third = Statement(
        "Theorem 4.4, general convex: min_t E f(w_t) - f* <= epsilon after T = O(c_O H/epsilon + sigma^2 H/(N K "
        "epsilon^2) + (G^2 + D^2) H/epsilon^2) rounds, H = ||w_0 - w*||^2, and Theorem B.6 with sqrt(c_C "
        "H^2/epsilon^3) more; the C of O(.) may depend on L.",
        at_most(least, eps),
        (
            Fact(
                "T",
                at_most(C * (c_O * start2 / eps + sigma2 * start2 / (N * K * eps**2) + noise * start2 / eps**2), T),
                ENOUGH,
            ),
            CLASS,
        ),
    )
    strongly = floors.fixed_clients(
        "f = mu ||w - w*||^2/2, lambda = mu = L, K = 1, p_t = 1, any D and sigma: E f(w_T) - f* >= G^2/(4 N mu) for "
        "every T and all positive steps, if ||w_0 - w*||^2 = G^2/(N mu^2); averages of the iterates too. No T reaches "
        "an epsilon below that."
    )
    generally = floors.fixed_clients(
        "f = lambda ||w - w*||^2/2 with lambda = G/sqrt(N H) <= L, K = 1, p_t = 1: E f(w_T) - f* >= G sqrt(H/N)/4 for "
        "every T and all positive steps."
    )
    return Claim(
        "cfl.fedavg_rates",
        "CFL",
        "App. B.4.4, Theorem 4.4, App. B.6 (Theorem B.6)",
        "Rates of FedAvg under time-evolving data",
        (
            Part("strongly", first, refutation=strongly),
            _sign(),
            Part("generally", third, _fresh(constant), refutation=generally),
        ),
        (
            "Full participation with clients that stay, delta_i independent of t as Sec. 3.3 has it: FedAvg finds the "
            "minimiser of the mean of these clients' objectives, not w*.",
            "With fresh drifts the strongly convex rate still lacks a logarithm: cfl.sc_rate, part log, has no drift "
            "at all. A decaying step has O(1/T): ours.cfl_decaying_fedavg.",
            "The repair keeps the term sqrt(c_C H^2/epsilon^3) that Theorem 4.4 leaves out as dominated; its sigma^2/K "
            "is not bounded by the printed sigma^2/(N K) for large N.",
            "c_O H/epsilon lacks a factor L, as in cfl.gc_rate.",
        ),
    )


CLAIMS: dict[str, Callable[[], Claim]] = {"cfl.fedavg_rates": fedavg_rates}
