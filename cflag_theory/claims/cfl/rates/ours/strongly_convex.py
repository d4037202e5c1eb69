"""Instead of the CFL paper's convex rates: what Algorithm 2 with additive drifts does, with explicit constants.

The model is f_{t,i}(w) = f(w) - <delta_i + xi_{t,i}, w>, f mu-convex and L-smooth, all drifts independent with mean
zero, and one local step (K = 1). A round is w_{t+1} = w_t - eta (grad f(w_t) - b_t + n_t): b_t holds what may depend on
w_t (the fixed drifts, the past time drifts and the information loss), n_t what is new (the current time drift and the
noise).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.rates.floors import start2
from cflag_theory.claims.cfl.rates.theorems import apart2, mu
from cflag_theory.claims.cfl.symbols import D2, G2, N, T, eta, eta_g
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack, square
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import L, k, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof, Step

# Second moments of one round: x = w_t - w*, g = grad f(w_t), u = x - eta g, b the bias, n the noise.
x2 = symbol("x_second_moment", r"\mathbb{E}\|w_t-w^*\|^2", nonnegative=True)
x_root = symbol("x_root", r"{\|w_t-w^*\|_2}", nonnegative=True)
after2 = symbol("after_second_moment", r"\mathbb{E}\|w_{t+1}-w^*\|^2", nonnegative=True)
g_dot_x = symbol("g_dot_x", r"\mathbb{E}\langle\nabla f(w_t),w_t-w^*\rangle", real=True)
g2 = symbol("g_second_moment", r"\mathbb{E}\|\nabla f(w_t)\|^2", nonnegative=True)
u2 = symbol("u_second_moment", r"\mathbb{E}\|u\|^2", nonnegative=True)
u_root = symbol("u_root", r"{\|u\|_2}", nonnegative=True)
b2 = symbol("b_second_moment", r"\mathbb{E}\|b_t\|^2", nonnegative=True)
b_root = symbol("b_root", r"{\|b_t\|_2}", nonnegative=True)
n2 = symbol("n_second_moment", r"\mathbb{E}\|n_t\|^2", nonnegative=True)
u_dot_b = symbol("u_dot_b", r"\mathbb{E}\langle u,b_t\rangle", real=True)
u_dot_n = symbol("u_dot_n", r"\mathbb{E}\langle u,n_t\rangle", real=True)
b_dot_n = symbol("b_dot_n", r"\mathbb{E}\langle b_t,n_t\rangle", real=True)
f_now = symbol("f_now_gap", r"\mathbb{E}f(w_t)-f^*", nonnegative=True)
#: Bounds of ||b_t||_2 and of E||n_t||^2.
beta = symbol("bias_bound", r"\beta", positive=True)
v = symbol("noise_bound", "v", nonnegative=True)
r = symbol("contraction", r"r", nonnegative=True)

CONTRACTION = Fact("r", equal(r, 1 - eta * mu), "r = 1 - eta mu.")
STEP = Fact("eta", at_most(eta * (mu + L), 2), "eta <= 2/(mu + L).")
BIAS = Fact("beta", at_most(b_root, beta), "||b_t||_2 = sqrt(E||b_t||^2) <= beta.")
NOISE = Fact("v", at_most(n2, v), "E||n_t||^2 <= v.")
ROOTS = (
    Fact("x root", equal(x_root**2, x2), "||w_t - w*||_2 is the root of E||w_t - w*||^2."),
    Fact("b root", equal(b_root**2, b2), "The root of E||b_t||^2."),
)
U_ROOT = Fact("u root", equal(u_root**2, u2), "The root of E||u||^2, u = w_t - eta grad f(w_t) - w*.")


def expanded_round() -> tuple[Step, ...]:
    """E||w_{t+1} - w*||^2 = E||u||^2 + 2 eta E<u, b> + eta^2 E||b||^2 + eta^2 E||n||^2, as "round"."""
    words = "in expectation."
    gram = {
        ("u", "u"): u2,
        ("b", "u"): u_dot_b,
        ("b", "b"): b2,
        ("n", "n"): n2,
        ("n", "u"): u_dot_n,
        ("b", "n"): b_dot_n,
    }
    moved = {"u": sp.S.One, "b": eta, "n": -eta}
    plain = {("x", "x"): x2, ("g", "x"): g_dot_x, ("g", "g"): g2}
    step = {"x": sp.S.One, "g": -eta}
    return (
        rules.bilinearity("expanded", after2, moved, moved, gram, words),
        rules.bilinearity("u", u2, step, step, plain, words),
        rules.tower("<u, n>", equal(u_dot_n, 0), "n_t has mean zero given everything before it, and u is known then."),
        rules.tower("<b, n>", equal(b_dot_n, 0), "the same for b_t."),
        Obligation(
            "round",
            equal(after2, u2 + 2 * eta * u_dot_b + eta**2 * b2 + eta**2 * n2),
            ("expanded", "<u, n>", "<b, n>"),
            2 * eta * residual("<u, n>") + 2 * eta**2 * residual("<b, n>") - residual("expanded"),
        ),
    )


def one_round(constant: Any = 1) -> Statement:
    """The distance in one round; `constant` scales the term of the bias."""
    bound = r**2 * x2 + 2 * constant * eta * r * beta * x_root + eta**2 * (beta**2 + v)
    goal = at_most(after2, bound)
    steps: tuple[Step, ...] = (
        *expanded_round(),
        rules.convexity("f(w*)", f_now, -g_dot_x, x2, sp.S.Zero, mu, "at w* from w_t; f* = 0."),
        rules.convexity("f(w_t)", sp.S.Zero, sp.S.Zero, x2, f_now, mu, "at w_t from w*, where grad f = 0."),
        rules.cocoercivity("co-coercive", g_dot_x, x2, g2, mu, L, "y = w*, in expectation."),
        Obligation("monotone", at_most(mu * x2, g_dot_x), ("f(w*)", "f(w_t)"), slack("f(w*)") + slack("f(w_t)")),
        Obligation(
            "u^2",
            at_most(u_root**2, (r * x_root) ** 2),
            ("u", "monotone", "co-coercive", "eta", "r", "x root", "u root"),
            -residual("u root")
            - residual("u")
            + eta * slack("eta") * slack("monotone")
            + eta**2 * slack("co-coercive")
            + r**2 * residual("x root")
            + x2 * (r + 1 - eta * mu) * residual("r"),
        ),
        rules.square_root("contraction", u_root, r * x_root, "u^2"),
        rules.cauchy_schwarz("<u, b>", u_dot_b, u_root, b_root, "in expectation."),
        Obligation(
            "the statement follows",
            goal,
            ("round", "<u, b>", "contraction", "u^2", "u root", "b root", "beta", "v", "x root"),
            -residual("round")
            + 2 * eta * (slack("<u, b>") + b_root * slack("contraction") + r * x_root * slack("beta"))
            + slack("u^2")
            + residual("u root")
            - r**2 * residual("x root")
            + eta**2 * (residual("b root") + slack("beta") * (beta + b_root) + slack("v"))
            + 2 * (constant - 1) * eta * r * beta * x_root,
        ),
    )
    return Statement(
        "K = 1, f_{t,i}(w) = f(w) - <delta_i + xi_{t,i}, w> with f mu-convex and L-smooth, so that a round is w_{t+1} "
        "= w_t - eta (grad f(w_t) - b_t + n_t): b_t is the mean over the clients of delta_i, the past time drifts and "
        "the information loss, with their weights, and may depend on w_t; n_t is what is new, p_t xi_{t,i} and the "
        "gradient noise, with E[n_t | everything before] = 0; the loss is fixed before the round's draws. Then "
        "E||w_{t+1} - w*||^2 <= r^2 E||w_t - w*||^2 + 2 eta r beta ||w_t - w*||_2 + eta^2 (beta^2 + v), r = 1 - eta "
        "mu.",
        goal,
        (STEP, CONTRACTION, BIAS, NOISE),
        Proof(steps),
        (*ROOTS, U_ROOT),
    )


# Many rounds: the root of the distance, and the distance that a run without noise could not exceed.
root_at = sequence("root_at", r"{\|w_{@}-w^*\|_2}", nonnegative=True)
reach = sequence("noiseless_reach", r"\rho_{@}", positive=True)
start = symbol("start_root", r"{\|w_0-w^*\|_2}", nonnegative=True)


def all_rounds(constant: Any = 1) -> Statement:
    """The distance after T rounds; `constant` scales the floor eta v/mu of the noise."""
    V = constant * eta * v / mu
    here, there = "distance (hypothesis)", "reach (hypothesis)"
    closed = Induction(
        "reach",
        k,
        equal(reach(k), r**k * start + beta / mu),
        Obligation("reach at 0", equal(reach(0), start + beta / mu), ("rho_0",), -residual("rho_0")),
        (
            Obligation(
                "reach from k to k + 1",
                equal(reach(k + 1), r ** (k + 1) * start + beta / mu),
                (there, "rho", "r"),
                -residual("rho") - r * residual(there) - beta / mu * residual("r"),
            ),
        ),
    )
    far = Obligation(
        "beta <= mu rho", at_most(beta, mu * reach(k)), ("reach",), mu * (r**k * start + residual("reach"))
    )
    cross = Obligation(
        "cross",
        at_most(2 * beta * root_at(k), 2 * beta * reach(k) + mu * V),
        (here, "beta <= mu rho", "root"),
        beta / reach(k) * (slack(here) + square(root_at(k) - reach(k)) - residual("root"))
        + V / reach(k) * slack("beta <= mu rho"),
    )
    step = Obligation(
        "distance from k to k + 1",
        at_most(apart2(k + 1), reach(k + 1) ** 2 + V),
        (here, "cross", "round", "rho", "r"),
        slack("round")
        + r**2 * slack(here)
        + r * eta * slack("cross")
        + residual("rho") * (reach(k + 1) + r * reach(k) + eta * beta)
        - V * (r + 0) * residual("r")
        - V * residual("r")
        + (constant - 1) * eta**2 * v,
    )
    distance = Induction(
        "distance",
        k,
        at_most(apart2(k), reach(k) ** 2 + V),
        Obligation(
            "distance at 0",
            at_most(apart2(0), reach(0) ** 2 + V),
            ("rho_0", "h"),
            V
            + residual("rho_0") * (reach(0) + start + beta / mu)
            - residual("h")
            + 2 * start * beta / mu
            + beta**2 / mu**2,
        ),
        (far, cross, step),
    )
    goal = at_most(apart2(T), (r**T * start + beta / mu) ** 2 + V)
    follows = Obligation(
        "the statement follows",
        goal,
        ("d_T", "rho_T"),
        slack("d_T") - residual("rho_T") * (reach(T) + r**T * start + beta / mu),
    )
    return Statement(
        "In the model of part round: E||w_T - w*||^2 <= ((1 - eta mu)^T ||w_0 - w*|| + beta/mu)^2 + eta v/mu, for "
        "every T.",
        goal,
        (STEP,),
        Proof((closed, distance, Instance("d_T", "distance", k, T), Instance("rho_T", "reach", k, T), follows)),
        (
            Fact("r", equal(r, 1 - eta * mu), "r = 1 - eta mu, not negative."),
            Fact("h", equal(apart2(0), start**2), "The distance at the start."),
            Fact("root", equal(root_at(k) ** 2, apart2(k)), "The root of E||w_t - w*||^2."),
            Fact(
                "round",
                at_most(
                    apart2(k + 1),
                    r**2 * apart2(k) + 2 * eta * r * beta * root_at(k) + eta**2 * (beta**2 + v),
                ),
                "The first part, in every round.",
            ),
            Fact("rho_0", equal(reach(0), start + beta / mu), "rho_0 = ||w_0 - w*|| + beta/mu."),
            Fact("rho", equal(reach(k + 1), r * reach(k) + eta * beta), "rho_{t+1} = r rho_t + eta beta."),
        ),
    )


# ours.cfl_round: e^2 + rho^2, and its terms in eta^2 and eta^3.
bias2 = symbol("round_bias2", r"(e^2+\rho^2)", nonnegative=True)
second = symbol("second_order", r"(4e^2+\tfrac{2\sigma^2}{NK}+4\rho^2)", nonnegative=True)
third = symbol("third_order", r"(\tfrac{10}{3}(V+\rho^2)+\tfrac{5\sigma^2}{2K})", nonnegative=True)
q = symbol("half_contraction", "q", nonnegative=True)


def local_steps(constant: Any = 2) -> Statement:
    """K local steps: ours.cfl_round summed; `constant` over mu eta multiplies the terms of one round."""
    one = 8 * eta / mu * bias2 + eta**2 * second + L * eta**3 / eta_g**2 * third
    floor = constant / (mu * eta) * one
    here = "distance (hypothesis)"
    distance = Induction(
        "distance",
        k,
        at_most(apart2(k), q**k * start2 + floor),
        Obligation("distance at 0", at_most(apart2(0), start2 + floor), ("h",), floor - residual("h")),
        (
            Obligation(
                "distance from k to k + 1",
                at_most(apart2(k + 1), q ** (k + 1) * start2 + floor),
                (here, "round", "q"),
                slack("round") + q * slack(here) - floor * residual("q") + sp.Rational(1, 2) * (constant - 2) * one,
            ),
        ),
    )
    goal = at_most(apart2(T), q**T * start2 + sp.expand(floor))
    return Statement(
        "K local steps, eta <= 1/(10 L), eta_g >= 1: E||w_T - w*||^2 <= (1 - mu eta/2)^T ||w_0 - w*||^2 + (16/mu^2) "
        "(e^2 + rho^2) + (2 eta/mu) (4 e^2 + 2 sigma^2/(N K) + 4 rho^2) + (2 L eta^2/(mu eta_g^2)) (10 (V + rho^2)/3 + "
        "5 sigma^2/(2 K)), with e^2 = (G^2 + D^2 sum p^2)/N, V = G^2 + D^2 sum p^2, rho = (1 - p_t) R at their "
        "largest.",
        goal,
        (),
        Proof(
            (
                distance,
                Instance("last", "distance", k, T),
                Obligation("the statement follows", goal, ("last",), slack("last")),
            )
        ),
        (
            Fact("q", equal(q, 1 - mu * eta / 2), "q = 1 - mu eta/2."),
            Fact("h", equal(apart2(0), start2), "The distance at the start."),
            Fact("round", at_most(apart2(k + 1), q * apart2(k) + one), "ours.cfl_round, part 2, in every round."),
        ),
    )


def strongly_convex(bias: Any = 1, noise: Any = 1, local: Any = 2) -> Claim:
    """The strongly convex theorem; `bias`, `noise` and `local` are constants of its parts."""
    return Claim(
        "ours.cfl_strongly_convex",
        "ours",
        "in place of the strongly convex rates of Theorems 4.1 and 4.4",
        "Strongly convex rate with additive drifts",
        (
            Part("round", one_round(bias)),
            Part("rounds", all_rounds(noise)),
            Part("bias", bias_bound()),
            Part("local", local_steps(local)),
        ),
        (
            "E f(w_T) - f* <= (L/2) E||w_T - w*||^2. The mean of a run needs no eta beyond eta <= 2/(mu + L), and no "
            "condition ties eta to the drifts; beta > 0 may be as small as one likes.",
            "b_t may depend on w_t in any way: nothing is asked of the drifts at w_t. v = (sigma^2 + p_t^2 D^2)/N.",
            "No term can be left out: beta/mu is exact (ours.cfl_lower_bounds, clients and loss), and eta v/mu is "
            "within a factor 2 - eta mu of the stationary variance eta v/(mu (2 - eta mu)) of f = mu ||w||^2/2.",
            "With the weights of Lemma B.4, 1 - p_t <= D^2/(R^2 + D^2) and sum_{tau<t} p_tau^2 <= D^4/(2 D^2 + R^2)^2 "
            "for every t: so beta = sqrt((G^2 + D^6/(2 D^2 + R^2)^2)/N) + R D^2/(R^2 + D^2) serves.",
            "The last part allows K local steps, with coarser constants.",
            "FedAvg with clients that are new in every round: everything is noise, v = (sigma^2 + G^2 + D^2)/N, beta "
            "to 0.",
        ),
    )


shares2 = symbol("bias_weights2", r"\sum_{\tau<t}p_\tau^2", nonnegative=True)
past = symbol("bias_weight", r"(1-p_t)", nonnegative=True)
drift_root = symbol("drift_root", r"{\|\bar\delta+\sum_{\tau<t}p_\tau\bar\xi_\tau\|_2}", nonnegative=True)
loss_root = symbol("loss_root", r"{\|\sum_{\tau<t}p_\tau\bar\Delta_\tau\|_2}", nonnegative=True)
R = symbol("R", "R", nonnegative=True)


def bias_bound() -> Statement:
    """What beta is."""
    goal = at_most(b_root, beta)
    return Statement(
        "In the model of part round: ||b_t||_2 <= sqrt((G^2 + D^2 sum_{tau<t} p_tau^2)/N) + (1 - p_t) R = beta.",
        goal,
        (
            Fact(
                "loss",
                at_most(loss_root, past * R),
                "Assumption 4: each of the losses is at most R, weights p_tau >= 0.",
            ),
        ),
        Proof(
            (
                rules.triangle("parts", b_root, (drift_root, loss_root), "b_t is drift plus loss, in expectation."),
                Obligation(
                    "the statement follows",
                    goal,
                    ("parts", "loss", "sum"),
                    slack("parts") + slack("loss") + residual("sum"),
                ),
            )
        ),
        (
            Fact(
                "drift",
                equal(drift_root**2, (G2 + D2 * shares2) / N),
                "The drifts are independent, with mean zero and second moments G^2 and D^2, and do not depend on w.",
            ),
            Fact("sum", equal(beta, drift_root + past * R), "The bound."),
        ),
    )


CLAIMS: dict[str, Callable[[], Claim]] = {"ours.cfl_strongly_convex": strongly_convex}
