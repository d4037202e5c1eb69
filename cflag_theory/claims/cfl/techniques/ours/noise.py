"""What we prove in place of the CFL paper's techniques and of its moments at iterates that depend on the drifts."""

from __future__ import annotations

from typing import Any

from cflag_theory.claims.cfl.moments.gradient_noise import client2, grad2
from cflag_theory.claims.cfl.symbols import A2, B2, D2, G2, T, eta, sigma2
from cflag_theory.claims.cfl.symbols import mu as convexity
from cflag_theory.claims.cfl.techniques.norms import (
    DIFFERENCE2,
    VARIANCES,
    M,
    Xi,
    difference,
    f_x,
    f_y,
    grad_x_dot_h,
    grad_y_dot_h,
    h2,
    means2,
    summed,
    total2,
    x,
    y,
)
from cflag_theory.claims.cfl.techniques.norms import tau as count
from cflag_theory.claims.cfl.techniques.summation import WEIGHTS, Phi, W, d, mu, omega, powers, q, total
from cflag_theory.claims.cfl.vectors import averaged, client, delta, draw, f, i, over_past, point, tau, xi
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, shown
from cflag_theory.claims.engine.notation import L, k, sequence, symbol
from cflag_theory.claims.engine.operators import mean_over
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Instance, by_induction
from cflag_theory.claims.engine.terms import norm, norm2, vector

# Lemma A.1 with what a round leaves besides progress, in (23) c_1^t eta + c_2^t eta^2 + phi_t.
rest = sequence("rest_of_round", r"r_{@}", real=True)
rests = sequence("sum_of_rests", r"\sum_{t\le @}\omega_tr_t", real=True)
mean_rest = symbol("mean_rest", r"\frac{\sum_t\omega_tr_t}{W_T}", real=True)

# Interpolation.
excess = symbol("L_less_mu", r"(L-\mu)", positive=True)

# Sums whose conditional means m_i are random: Xi_i = m_i + nu_i.
m = vector("conditional_mean", "m_{@1}")(i, draw)
drift_total2 = symbol("conditional_total2", r"\mathbb{E}\|\sum_i m_i\|^2", over_past(norm2(summed(m))))
noise_total2 = symbol("noise_total2", r"\mathbb{E}\|\sum_i\nu_i\|^2", over_past(norm2(summed(Xi - m))))
noises2 = symbol("noises2", r"\sum_i\mathbb{E}\|\nu_i\|^2", summed(over_past(norm(Xi - m) ** 2)))

# Moments along the run, for weights that are not negative.
rounds = mean_over("rounds", tau, r"\textstyle\sum_{@}p_{@,i}")
gradient, client_drift, time_drift = f.grad(point), delta(client), rounds(xi(tau, client))
mixed2 = symbol(
    "mixed_grad2_on_run",
    r"\mathbb{E}\|\sum_\tau p_{\tau,i}\nabla f_{\tau,i}(\omega)\|^2",
    over_past(norm2(gradient - client_drift - time_drift)),
)
mean_time2 = symbol(
    "mean_time2", r"\mathbb{E}\sum_\tau p_{\tau,i}\|\xi_{\tau,i}\|^2", over_past(rounds(norm2(xi(tau, client))))
)


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
    statement = shown(
        "(1/W_T) sum_{t=1}^{T+1} omega_t ((1 - mu eta) d_{t-1}/eta - d_t/eta + r_t) <= mu d_0 q^(T+1)/(1 - q^(T+1)) + "
        "(1/W_T) sum_{t=1}^{T+1} omega_t r_t with omega_t = q^(1-t), q = 1 - mu eta > 0, multiplied by 1 - q^(T+1).",
        goal,
        *powers(T + 1),
        by_induction(
            "summed",
            k,
            relation,
            start=("no round", "omega_0", "no rest"),
            given=("round", "omega", "rest"),
        ),
        Instance("whole sum", "summed", k, T + 1),
        given=("whole sum", "Phi", "mean rest", "all weights", "last power"),
        where=definitions,
    )
    return Claim(
        "ours.cfl_linear_rate",
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
    tilted2 = DIFFERENCE2 - 2 * convexity * (grad_x_dot_h - grad_y_dot_h) + convexity**2 * h2
    goal = at_most(constant * tilted2 / (2 * excess) + convexity * h2 / 2, f_x - f_y - grad_y_dot_h)
    lower = x + (convexity * (x - y) - difference) / excess
    statement = shown(
        "(mu/2) ||x - y||^2 + ||grad f(x) - grad f(y) - mu (x - y)||^2/(2 (L - mu)) <= f(x) - f(y) - <grad f(y), x - "
        "y> for L-smooth, mu-convex f with mu < L.",
        goal,
        rules.smooth("down", f, x, lower),
        rules.convex("under", f, y, lower),
        rules.square("tilted", convexity * (x - y) - difference),
        given=("down", "under", "tilted", "L"),
        where=(Fact("L", equal(L, convexity + excess), "L - mu > 0."),),
    )
    return Claim(
        "ours.cfl_interpolation",
        "on Assumption 1's corollary",
        "Co-coercivity with strong convexity",
        (Part("1", statement),),
        ("At mu = 0 it is the corollary, repaired. Attained by every quadratic with Hessian mu or L on x - y.",),
    )


def separation(constant: Any = 1) -> Claim:
    """Lemma A.4 without independence; `constant` scales tau^2 sigma^2 and the noise of part 2."""
    goal = at_most(total2, count * (1 + M) * means2 + constant * count**2 * sigma2)
    first = shown(
        "𝔼||sum_i Xi_i||^2 <= tau (1 + M) sum_i ||xi_i||^2 + tau^2 sigma^2 for any dependence.",
        goal,
        *averaged(rules.jensen("sum", summed, Xi), over_past),
        rules.exchange("each", over_past, summed, norm2(Xi)),
        given=("sum", "each", "variance"),
        under=(VARIANCES,),
    )
    uncorrelated = Fact(
        "martingale", at_most(noise_total2, noises2), "The noises have mean zero given all that came before them."
    )
    bound = at_most(total2, 2 * drift_total2 + 2 * constant * noises2)
    second = shown(
        "𝔼||sum_i (m_i + nu_i)||^2 <= 2 𝔼||sum_i m_i||^2 + 2 sum_i 𝔼||nu_i||^2, where m_i may depend on the noises "
        "before nu_i, as in (14) and (17).",
        bound,
        rules.square("difference", summed(2 * m - Xi), over_past),
        given=("difference", "martingale"),
        under=(uncorrelated,),
    )
    return Claim(
        "ours.cfl_separation",
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
    total_bound = (1 + A2 + B2) * grad2 + G2 + D2
    goal = at_most(mixed2, constant * total_bound)
    client_bound = Fact(
        "client drift",
        at_most(client2, G2 + B2 * grad2),
        "||delta_i(w)||^2 <= G^2 + B^2 ||grad f(w)||^2 at every w and for every draw; averaged over the run.",
    )
    time_bound = Fact(
        "time drift",
        at_most(mean_time2, D2 + A2 * grad2),
        "||xi_{t,i}(w)||^2 <= D^2 + A^2 ||grad f(w)||^2 likewise.",
    )
    statement = shown(
        "𝔼||sum_tau p_tau grad f_{tau,i}(w)||^2 <= 3 ((1 + A^2 + B^2) 𝔼||grad f(w)||^2 + G^2 + D^2) at w = w_t or "
        "w_{t,i,k}, for drifts that are bounded at every w for every draw, and p_tau >= 0.",
        goal,
        rules.square("a", gradient + client_drift, over_past),
        rules.square("b", gradient + time_drift, over_past),
        rules.square("c", client_drift - time_drift, over_past),
        *averaged(rules.jensen("rounds", rounds, xi(tau, client)), over_past),
        given=("a", "b", "c", "rounds", "client drift", "time drift"),
        under=(client_bound, time_bound),
    )
    return Claim(
        "ours.cfl_moments_on_the_run",
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
