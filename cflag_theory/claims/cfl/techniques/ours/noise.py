"""What we prove in place of the CFL paper's techniques and of its moments at iterates that depend on the drifts."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.moments.gradient_noise import client2, grad2, mixed2, time_sum2
from cflag_theory.claims.cfl.symbols import A2, B2, D2, G2, T, eta, sigma2
from cflag_theory.claims.cfl.symbols import mu as convexity
from cflag_theory.claims.cfl.techniques.norms import (
    DIFFERENCE2,
    GRAM,
    VARIANCES,
    M,
    deviations2,
    down,
    f_x,
    f_y,
    f_z,
    grad_x_dot_h,
    grad_y_dot_h,
    means2,
    reach2,
    step2,
    tau,
    total2,
    under,
)
from cflag_theory.claims.cfl.techniques.summation import WEIGHTS, Phi, W, d, mu, omega, powers, q, total
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import L, k, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof, RuleUse

# Lemma A.1 with what a round leaves besides progress, in (23) c_1^t eta + c_2^t eta^2 + phi_t.
rest = sequence("rest_of_round", r"r_{@}", real=True)
rests = sequence("sum_of_rests", r"\sum_{t\le @}\omega_tr_t", real=True)
mean_rest = symbol("mean_rest", r"\frac{\sum_t\omega_tr_t}{W_T}", real=True)

# Interpolation: L - mu and ||x - y||^2.
excess = symbol("L_less_mu", r"(L-\mu)", positive=True)
h2 = symbol("x_minus_y2", r"{\|x-y\|^2}", nonnegative=True)

# Sums whose conditional means m_i are random: Xi_i = m_i + nu_i.
square_sum = symbol("square_sum", r"\sum_i\mathbb{E}\|\Xi_i\|^2", nonnegative=True)
drift_total2 = symbol("conditional_total2", r"\mathbb{E}\|\sum_i m_i\|^2", nonnegative=True)
noise_total2 = symbol("noise_total2", r"\mathbb{E}\|\sum_i\nu_i\|^2", nonnegative=True)
noises2 = symbol("noises2", r"\sum_i\mathbb{E}\|\nu_i\|^2", nonnegative=True)
cross = symbol("conditional_cross", r"\mathbb{E}\langle\sum_i m_i,\sum_i\nu_i\rangle", real=True)
split2 = symbol("split2", r"\mathbb{E}\|\sum_i m_i-\sum_i\nu_i\|^2", nonnegative=True)

# Moments along the run.
mean_time2 = symbol("mean_time2", r"\sum_\tau p_{\tau,i}\mathbb{E}\|\xi_{\tau,i}\|^2", nonnegative=True)
slope_client = symbol("slope_dot_client", r"\mathbb{E}\langle\nabla f,\delta\rangle", real=True)
slope_time = symbol("slope_dot_time", r"\mathbb{E}\langle\nabla f,\bar\xi\rangle", real=True)
client_time = symbol("client_dot_time_mean", r"\mathbb{E}\langle\delta,\bar\xi\rangle", real=True)
first2 = symbol("slope_plus_client2", r"\mathbb{E}\|\nabla f+\delta\|^2", nonnegative=True)
second2 = symbol("slope_plus_time2", r"\mathbb{E}\|\nabla f+\bar\xi\|^2", nonnegative=True)
third2 = symbol("client_less_time2", r"\mathbb{E}\|\delta-\bar\xi\|^2", nonnegative=True)

ONE = sp.S.One


def linear_rate(constant: Any = 1) -> Claim:
    """Lemma A.1 with the terms that (23) has; `constant` scales the right side."""
    definitions = (
        *WEIGHTS,
        Fact("no round", equal(total(0), 0), "An empty sum."),
        Fact(
            "round",
            equal(
                eta * total(k + 1),
                eta * total(k) + omega(k + 1) * (q * d(k) - d(k + 1)) + omega(k + 1) * eta * rest(k + 1),
            ),
            "One more term: omega_t ((1 - mu eta) d_{t-1}/eta - d_t/eta + r_t).",
        ),
        Fact("Phi", equal(Phi * W(T + 1), total(T + 1)), "Phi_T."),
        Fact("no rest", equal(rests(0), 0), "An empty sum."),
        Fact("rest", equal(rests(k + 1), rests(k) + omega(k + 1) * rest(k + 1)), "Partial sums of omega_t r_t."),
        Fact("mean rest", equal(mean_rest * W(T + 1), rests(T + 1)), "The weighted mean of the r_t."),
    )
    relation = equal(eta * total(k), q * d(0) - omega(k) * d(k) + eta * rests(k))
    goal = at_most((Phi - mean_rest) * (1 - q ** (T + 1)), constant * mu * d(0) * q ** (T + 1))
    hypothesis = "summed (hypothesis)"
    proof = Proof(
        (
            *powers(T + 1),
            Induction(
                "summed",
                k,
                relation,
                Obligation(
                    "summed at 0",
                    relation.subs({k: 0}),
                    ("no round", "omega_0", "no rest"),
                    eta * residual("no rest") - eta * residual("no round") - d(0) * residual("omega_0"),
                ),
                (
                    Obligation(
                        "summed at k + 1",
                        relation.subs({k: k + 1}),
                        (hypothesis, "round", "omega", "rest"),
                        eta * residual("rest") - residual(hypothesis) - residual("round") - d(k) * residual("omega"),
                    ),
                ),
            ),
            Instance("whole sum", "summed", k, T + 1),
            Obligation(
                "the statement follows",
                goal,
                ("whole sum", "Phi", "mean rest", "all weights", "last power"),
                mu * d(T + 1)
                + (mu * d(T + 1) + Phi - mean_rest) * residual("last power") / q
                + q**T
                * (
                    (Phi - mean_rest) * residual("all weights")
                    - mu * residual("whole sum")
                    - mu * eta * (residual("Phi") - residual("mean rest"))
                )
                + (constant - 1) * mu * d(0) * q ** (T + 1),
            ),
        )
    )
    statement = Statement(
        "(1/W_T) sum_{t=1}^{T+1} omega_t ((1 - mu eta) d_{t-1}/eta - d_t/eta + r_t) <= mu d_0 q^(T+1)/(1 - q^(T+1)) + "
        "(1/W_T) sum_{t=1}^{T+1} omega_t r_t with omega_t = q^(1-t), q = 1 - mu eta > 0, multiplied by 1 - q^(T+1).",
        goal,
        (),
        proof,
        definitions,
    )
    return Claim(
        "ours.cfl_linear_rate",
        "ours",
        "in place of Lemma A.1",
        "Weighted mean of one round's progress, strongly convex",
        (Part("1", statement),),
        (
            "An equality where d_{T+1} = 0.",
            "(23) has mu/2 for mu and r_t = c_1^t eta + c_2^t eta^2 + phi_t. For mu eta (T + 1) >= 1/2 the first term "
            "is at most 2.55 mu d_0 exp(-mu eta (T + 1)), as q <= exp(-mu eta).",
            "With r_t = c_1 eta and c_1 > 0 no step makes the sum O(mu d_0 exp(-mu eta_max T)): eta must fall with T.",
        ),
    )


def interpolation(constant: Any = 1) -> Claim:
    """Co-coercivity with what mu > 0 adds; `constant` scales the term with the gradients."""
    step = {"h": convexity / excess, "u": -1 / excess, "v": 1 / excess}
    gram = {**GRAM, ("h", "h"): h2}
    tilted2 = DIFFERENCE2 - 2 * convexity * (grad_x_dot_h - grad_y_dot_h) + convexity**2 * h2
    goal = at_most(constant * tilted2 / (2 * excess) + convexity * h2 / 2, f_x - f_y - grad_y_dot_h)
    proof = Proof(
        (
            rules.smoothness("down", f_z, f_x, down, step2, L, "f between x and z = x + (mu h - u + v)/(L - mu)."),
            rules.convexity("under", f_y, under, reach2, f_z, convexity, "f between y and z."),
            rules.bilinearity("slope at x", down, {"u": ONE}, step, gram, "z - x by the choice of z."),
            rules.bilinearity("step", step2, step, step, gram, "z - x by the choice of z."),
            rules.bilinearity(
                "slope at y", under, {"v": ONE}, {**step, "h": 1 + step["h"]}, gram, "z - y = h + (z - x)."
            ),
            rules.bilinearity(
                "reach",
                reach2,
                {**step, "h": 1 + step["h"]},
                {**step, "h": 1 + step["h"]},
                gram,
                "z - y = h + (z - x).",
            ),
            Obligation(
                "the statement follows",
                goal,
                ("down", "under", "slope at x", "step", "slope at y", "reach", "L"),
                slack("down")
                + slack("under")
                - residual("slope at x")
                - L / 2 * residual("step")
                + residual("slope at y")
                + convexity / 2 * residual("reach")
                - residual("L") / 2 * tilted2 / excess**2
                + (1 - constant) * tilted2 / (2 * excess),
            ),
        )
    )
    statement = Statement(
        "(mu/2) ||x - y||^2 + ||grad f(x) - grad f(y) - mu (x - y)||^2/(2 (L - mu)) <= f(x) - f(y) - <grad f(y), x - "
        "y> for L-smooth, mu-convex f with mu < L.",
        goal,
        (),
        proof,
        (Fact("L", equal(L, convexity + excess), "L - mu > 0."),),
    )
    return Claim(
        "ours.cfl_interpolation",
        "ours",
        "on Assumption 1's corollary",
        "Co-coercivity with strong convexity",
        (Part("1", statement),),
        ("At mu = 0 it is the corollary, repaired. Attained by every quadratic with Hessian mu or L on x - y.",),
    )


def separation(constant: Any = 1) -> Claim:
    """Lemma A.4 without independence; `constant` scales tau^2 sigma^2 and the noise of part 2."""
    goal = at_most(total2, tau * (1 + M) * means2 + constant * tau**2 * sigma2)
    first = Statement(
        "E||sum_i Xi_i||^2 <= tau (1 + M) sum_i ||xi_i||^2 + tau^2 sigma^2 for any dependence.",
        goal,
        (VARIANCES,),
        Proof(
            (
                rules.jensen("sum", total2, tau * square_sum, "Lemma A.3 for every draw, averaged."),
                rules.variance(
                    "each",
                    square_sum,
                    means2,
                    deviations2,
                    "over the draws of each Xi_i with mean xi_i, summed over i.",
                ),
                Obligation(
                    "the statement follows",
                    goal,
                    ("sum", "each", "variance"),
                    slack("sum") + tau * (slack("variance") - residual("each")) + (constant - 1) * tau**2 * sigma2,
                ),
            )
        ),
    )
    sums = {("m", "m"): drift_total2, ("nu", "nu"): noise_total2, ("m", "nu"): cross}
    uncorrelated = Fact(
        "martingale", at_most(noise_total2, noises2), "The noises have mean zero given all that came before them."
    )
    bound = at_most(total2, 2 * drift_total2 + 2 * constant * noises2)
    second = Statement(
        "E||sum_i (m_i + nu_i)||^2 <= 2 E||sum_i m_i||^2 + 2 sum_i E||nu_i||^2, where m_i may depend on the noises "
        "before nu_i, as in (14) and (17).",
        bound,
        (uncorrelated,),
        Proof(
            (
                rules.bilinearity(
                    "sum", total2, {"m": ONE, "nu": ONE}, {"m": ONE, "nu": ONE}, sums, "in the mean over the draws."
                ),
                rules.bilinearity(
                    "difference", split2, {"m": ONE, "nu": -ONE}, {"m": ONE, "nu": -ONE}, sums, "in the mean."
                ),
                Obligation(
                    "the statement follows",
                    bound,
                    ("sum", "difference", "martingale"),
                    split2
                    + 2 * slack("martingale")
                    - residual("sum")
                    - residual("difference")
                    + 2 * (constant - 1) * noises2,
                ),
            )
        ),
    )
    return Claim(
        "ours.cfl_separation",
        "ours",
        "in place of Lemma A.4",
        "Mean and variance of dependent sums",
        (Part("1", first), Part("2", second)),
        (
            "Part 1 is attained by copies of one variable with mean zero; part 2 by nu_1 = s, m_2 = s, m_1 = nu_2 = 0.",
            "Lemma A.4 itself has fixed means; in (14) the means are gradients at iterates that earlier noises have "
            "moved, and then a factor stands before both terms.",
        ),
    )


def moments_on_the_run(constant: Any = 3) -> Claim:
    """Lemma B.2 (2) for any dependence of the iterate on the drifts; `constant` before the whole right side."""
    one = {"g": ONE, "d": -ONE, "x": -ONE}
    gram = {
        ("g", "g"): grad2,
        ("d", "d"): client2,
        ("x", "x"): time_sum2,
        ("d", "g"): slope_client,
        ("g", "x"): slope_time,
        ("d", "x"): client_time,
    }
    total_bound = (1 + A2 + B2) * grad2 + G2 + D2
    goal = at_most(mixed2, constant * total_bound)

    def pair(name: str, entry: sp.Expr, a: str, b: str, sign: sp.Expr) -> RuleUse:
        return rules.bilinearity(name, entry, {a: ONE, b: sign}, {a: ONE, b: sign}, gram, "in the mean over the draws.")

    client = Fact(
        "client drift",
        at_most(client2, G2 + B2 * grad2),
        "||delta_i(w)||^2 <= G^2 + B^2 ||grad f(w)||^2 at every w and for every draw; averaged over the run.",
    )
    time = Fact(
        "time drift",
        at_most(mean_time2, D2 + A2 * grad2),
        "||xi_{t,i}(w)||^2 <= D^2 + A^2 ||grad f(w)||^2 likewise.",
    )
    proof = Proof(
        (
            rules.bilinearity("mixed", mixed2, one, one, gram, "sum p grad f_tau = grad f - delta - sum p xi by (5)."),
            pair("a", first2, "g", "d", ONE),
            pair("b", second2, "g", "x", ONE),
            pair("c", third2, "d", "x", -ONE),
            rules.jensen("rounds", time_sum2, mean_time2, "weights p_tau >= 0 with sum one, for every draw."),
            Obligation(
                "the statement follows",
                goal,
                ("mixed", "a", "b", "c", "rounds", "client drift", "time drift"),
                first2
                + second2
                + third2
                - residual("mixed")
                - residual("a")
                - residual("b")
                - residual("c")
                + 3 * (slack("rounds") + slack("client drift") + slack("time drift"))
                + (constant - 3) * total_bound,
            ),
        )
    )
    statement = Statement(
        "E||sum_tau p_tau grad f_{tau,i}(w)||^2 <= 3 ((1 + A^2 + B^2) E||grad f(w)||^2 + G^2 + D^2) at w = w_t or "
        "w_{t,i,k}, for drifts that are bounded at every w for every draw, and p_tau >= 0.",
        goal,
        (client, time),
        proof,
    )
    return Claim(
        "ours.cfl_moments_on_the_run",
        "ours",
        "in place of Lemma B.2 in (15) and (18)",
        "Second moment at iterates that depend on the drifts",
        (Part("1", statement),),
        (
            "The factor 3 is attained by a single draw in which both drifts are -grad f (A = B = 1, G = D = 0), whose "
            "drifts do not have mean zero: that it is attained by drifts with mean zero at every w is not shown.",
            "sum p^2, the gain by averaging the rounds' drifts, is lost: a shared past can align them with the "
            "iterate.",
            "Bounds in the mean at every fixed w, as in Assumption 3, say nothing at an iterate that depends on the "
            "draw.",
        ),
    )


CLAIMS = {
    "ours.cfl_linear_rate": linear_rate,
    "ours.cfl_interpolation": interpolation,
    "ours.cfl_separation": separation,
    "ours.cfl_moments_on_the_run": moments_on_the_run,
}
