"""One round of CFL with explicit constants: what stands in place of (13), (15), (20), (21) and (23)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.one_round.leaning import S
from cflag_theory.claims.cfl.one_round.ours.local_drift import (
    STEP_OF_ROUND,
    at_start,
    client_loss2,
    each_start2,
    local_drift,
    lost_sum,
    rms_loss,
)
from cflag_theory.claims.cfl.one_round.progress import ORDER, drift2, gap, local_gap, next2, perturbed
from cflag_theory.claims.cfl.symbols import K, N, eta, eta_g, eta_l, mu, sigma2
from cflag_theory.claims.cfl.vectors import (
    EXPECTATION,
    LATER_NOISE,
    MINIMISER,
    E,
    F,
    all_clients,
    all_steps,
    averaged,
    client,
    clients,
    draw,
    f,
    gradient_by_gap,
    i,
    j,
    mean_loss,
    mean_noise,
    no_less_than_least,
    over_noises,
    over_past,
    steps,
    true_gradient,
    w_next,
    w_star,
    w_t,
    x,
)
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement, shown
from cflag_theory.claims.engine.notation import L, k, symbol, unfold
from cflag_theory.claims.engine.relation import Relation, at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, Step
from cflag_theory.claims.engine.terms import dot, norm, norm2

mean_at_start = clients(at_start)

# Roots of mean squares: distance to w*, mean error at w_t, information loss; V, beta; and the round's vectors.
rms_dist = symbol("rms_dist", r"d_t", sp.sqrt(E(norm(w_t - w_star) ** 2)))
rms_error = symbol("rms_error", r"e_t", sp.sqrt(over_past(norm(mean_at_start - f.grad(w_t)) ** 2)))
spread = symbol("spread_error2", r"V_t", clients(over_past(norm(at_start - f.grad(w_t)) ** 2)))
bias = symbol("round_bias", r"\beta_t", gap - local_gap)
lost2 = symbol("mean_lost2", r"{\mathbb{E}\|\bar{\Delta}\|^2}", E(norm2(mean_loss)))
round_noise2 = symbol("round_noise2", r"{\mathbb{E}\|\bar{\nu}\|^2}", E(norm2(mean_noise)))


lost_sum2 = symbol("lost_sum2", r"{\mathbb{E}\|\sum\Delta\|^2}", E(norm2(lost_sum)))
noise_sum2 = symbol("noise_sum2", r"{\mathbb{E}\|\sum\nu\|^2}", E(norm2(S(client, k))))

_THIRDS = sp.Rational(10, 3)
NOISE = (
    "Noises have mean zero given the past and the drifts, 𝔼||nu||^2 <= sigma^2, and are independent between clients."
)
LOSS = "||Delta_{tau,i}(w)|| <= R at every w, and rho_i = sum_{tau<t} p_{tau,i} R."
HYPOTHESES = (
    ORDER,
    Fact("step size", at_most(eta, 1 / (10 * L)), "eta <= 1 / (10 L)."),
    Fact("eta_g", at_most(1, eta_g), "eta_g >= 1."),
    Fact("steps", at_most(1, K), "K >= 1."),
    Fact("mean noise", at_most(round_noise2, sigma2 / (N * K)), NOISE),
    Fact("summed noise", at_most(noise_sum2, k * sigma2), NOISE, (client, k)),
    Fact("mean loss", at_most(lost2, rms_loss**2), LOSS + " r_t^2 is the mean of rho_i^2."),
    Fact("summed loss", at_most(lost_sum2, k**2 * client_loss2(client)), LOSS, (client, k)),
)
DEFINITIONS = (
    Fact("eta", equal(eta, K * eta_l * eta_g), "eta = K eta_l eta_g."),
    STEP_OF_ROUND,
)


def _moments() -> tuple[Step, ...]:
    """𝔼||g||^2 of the mean step, and the mean squared gradients at w_t."""
    grad = f.grad(w_t)
    change = true_gradient(i, j) - at_start
    mean_change, noisy = clients(steps(change)), mean_at_start + mean_noise
    step2 = E(norm2(noisy + mean_change - mean_loss))
    moved = norm(x(i, j) - w_t) ** 2
    return (
        rules.square("step", noisy - mean_change + mean_loss, *EXPECTATION),
        *averaged(rules.along("mean noise given w_t", mean_at_start, given=LATER_NOISE), over_past),
        rules.square("mean rest", mean_change + mean_loss, *EXPECTATION),
        rules.lipschitz("gradients along the path", F[i, draw], x(i, j), w_t),
        rules.norm_squared("change of a gradient", change),
        Obligation(
            "each change", at_most(norm2(change), L**2 * moved), ("gradients along the path", "change of a gradient")
        ),
        rules.jensen("Jensen over the steps", all_steps, change),
        rules.mean("each client's change", all_steps, given="each change"),
        Obligation(
            "a client's change",
            at_most(norm2(all_steps(change)), K * L**2 * all_steps(moved)),
            ("Jensen over the steps", "each client's change"),
        ),
        rules.mean("all clients' changes", all_clients, given="a client's change"),
        rules.jensen("Jensen over the clients", all_clients, steps(change)),
        Obligation(
            "mean change in a draw",
            at_most(norm2(mean_change), L**2 * clients(steps(moved))),
            ("all clients' changes", "Jensen over the clients"),
        ),
        rules.mean("mean change given the past", over_noises, given="mean change in a draw"),
        rules.mean("mean change", over_past, given="mean change given the past"),
        rules.norm_squared("mean error", mean_at_start - grad, over_past),
        rules.square("mean start", mean_at_start - 2 * grad, over_past),
        rules.norm_squared("each error", at_start - grad, over_past, all_clients),
        rules.square("each start", at_start - 2 * grad, over_past, all_clients),
        *gradient_by_gap("gradient"),
        Obligation(
            "second moment",
            at_most(
                step2,
                8 * L * gap + 4 * rms_error**2 + 2 * sigma2 / (N * K) + 4 * L**2 * drift2 + 4 * rms_loss**2,
            ),
            (
                *("step", "mean noise given w_t", "mean rest", "mean change", "mean error", "mean start"),
                *("gradient", "mean noise", "mean loss"),
            ),
        ),
        Obligation(
            "mean of the starts",
            at_most(each_start2, 4 * L * gap + 2 * spread),
            ("each error", "each start", "gradient"),
        ),
    )


def _errors(factor: Any) -> sp.Expr:
    """The terms of the round in eta^2 and eta^3."""
    return eta**2 * (4 * rms_error**2 + 2 * sigma2 / (N * K) + 4 * rms_loss**2) + L * eta**3 / eta_g**2 * (
        factor * (spread + rms_loss**2) + sp.Rational(5, 2) * sigma2 / K
    )


def bound(bias_part: sp.Expr, progress: sp.Expr, factor: Any) -> Relation:
    """The round: (1 - mu eta/2) d^2 - progress eta gap + bias_part + errors."""
    return at_most(next2, (1 - mu * eta / 2) * rms_dist**2 - progress * eta * gap + bias_part + _errors(factor))


_BIAS = 2 * eta * (bias + rms_loss * rms_dist)


def _round_steps(name: str, progress: Any, factor: Any) -> tuple[Step, ...]:
    away = w_t - w_star
    mean_true = clients(steps(true_gradient(i, j)))
    goal = bound(_BIAS, progress, factor)
    return (
        *local_drift(),
        *_moments(),
        *perturbed("(12)", F[i, draw], x(i, j), w_t),
        *averaged(rules.mean("descent along the path", all_steps, given="(12)"), all_clients, *EXPECTATION),
        rules.norm_squared("away", away, *EXPECTATION),
        *averaged(rules.along("noise along the way", away, given=LATER_NOISE), over_past),
        rules.cauchy_schwarz("loss in a draw", mean_loss, away),
        rules.mean("loss given the past", over_noises, given="loss in a draw"),
        rules.mean("loss in the mean", over_past, given="loss given the past"),
        rules.cauchy_schwarz_numbers("loss by roots", norm(mean_loss), norm(away), *EXPECTATION),
        rules.norm_squared("squared loss", mean_loss, *EXPECTATION),
        Obligation("rms loss squared", at_most(E(norm(mean_loss) ** 2), rms_loss**2), ("squared loss", "mean loss")),
        rules.square_root("rms loss", sp.sqrt(E(norm(mean_loss) ** 2)), unfold(rms_loss), given="rms loss squared"),
        Obligation(
            "loss",
            at_most(E(dot(mean_loss, away)), rms_loss * rms_dist),
            ("loss in the mean", "loss by roots", "rms loss"),
        ),
        Obligation(
            "cross",
            at_most(
                -E(dot(mean_true - mean_loss, away)),
                -(gap - bias) - mu / 4 * rms_dist**2 + L * drift2 + rms_loss * rms_dist,
            ),
            ("descent along the path", "away", "loss"),
        ),
        rules.norm_squared("next distance", w_next - w_star, *EXPECTATION),
        *no_less_than_least("progress is no loss"),
        Obligation(
            "expanded",
            at_most(
                next2,
                rms_dist**2
                + 2 * eta * (-(gap - bias) - mu / 4 * rms_dist**2 + L * drift2 + rms_loss * rms_dist)
                + eta**2
                * (8 * L * gap + 4 * rms_error**2 + 2 * sigma2 / (N * K) + 4 * L**2 * drift2 + 4 * rms_loss**2),
            ),
            ("next distance", "away", "noise along the way", "cross", "second moment"),
        ),
        Obligation(
            name,
            goal,
            (
                *("expanded", "step size", "drift bound", "mean of the starts", "local step squared", "eta"),
                "progress is no loss",
            ),
        ),
    )


def cfl_round(progress: Any = 1, factor: Any = _THIRDS) -> Claim:
    """One round without assuming anything about how drifts and iterates depend on each other."""
    goal = bound(_BIAS, progress, factor)
    first = Statement(
        "For eta <= 1/(10 L) and eta_g >= 1: 𝔼||w_{t+1} - w*||^2 <= (1 - mu eta/2) 𝔼||w_t - w*||^2 - eta 𝔼(f(w_t) - "
        "f*) + 2 eta (beta_t + r_t d_t) + eta^2 (4 e_t^2 + 2 sigma^2/(NK) + 4 r_t^2) + (L eta^3/eta_g^2) ((10/3) (V_t "
        "+ r_t^2) + (5/2) sigma^2/K), with d_t^2 = 𝔼||w_t - w*||^2, e_t^2 = 𝔼||grad F(w_t) - grad f(w_t)||^2, V_t = "
        "(1/N) sum_i 𝔼||grad F_i(w_t) - grad f(w_t)||^2, r_t^2 = (1/N) sum_i (sum_{tau<t} p_{tau,i} R)^2.",
        goal,
        HYPOTHESES,
        Proof(_round_steps("the statement follows", progress, factor)),
        DEFINITIONS,
    )
    positive = Fact("mu > 0", below(0, mu), "f is strongly convex.")
    additive = Fact(
        "additive",
        at_most(bias, rms_error * rms_dist),
        "beta_t <= e_t d_t, by Cauchy-Schwarz, as where the drifts do not depend on w: f - F is then linear.",
    )
    absorbed = bound(8 * eta / mu * (rms_error**2 + rms_loss**2), sp.Rational(1, 2), factor)
    second = shown(
        "If also mu > 0 and beta_t <= e_t d_t: 𝔼||w_{t+1} - w*||^2 <= (1 - mu eta/2) 𝔼||w_t - w*||^2 - (eta/2) "
        "𝔼(f(w_t) - f*) + (8 eta/mu) (e_t^2 + r_t^2) + the same terms in eta^2 and eta^3.",
        absorbed,
        *_round_steps("part 1", 1, factor),
        *averaged(rules.convex("convexity", f, w_star, w_t), over_past),
        *averaged(rules.along("no slope", w_t - w_star, given=MINIMISER), over_past),
        Obligation("growth", at_most(mu / 2 * rms_dist**2, gap), ("convexity", "no slope", "away")),
        *(rules.square(f"Young: {one}", unfold(mu * rms_dist / 2 - 4 * one)) for one in (rms_error, rms_loss)),
        given=("part 1", "growth", "mu > 0", "additive", f"Young: {rms_error}", f"Young: {rms_loss}"),
        certificate=slack("part 1")
        + eta / 2 * slack("growth")
        + 2 * eta * slack("additive")
        + eta / (2 * slack("mu > 0")) * (slack(f"Young: {rms_error}") + slack(f"Young: {rms_loss}")),
        under=(*HYPOTHESES, positive, additive),
        where=DEFINITIONS,
    )
    return Claim(
        "ours.cfl_round",
        "in place of (13)-(15), (17)-(23)",
        "One round of CFL with explicit constants",
        (Part("1", first), Part("2", second)),
        (
            "Assumption 1 for every f_{tau,i} and weights p >= 0; the drifts may depend on w_t in any way. beta_t is 0 "
            "where they are independent of it, and may be positive where past drifts are used again.",
            "With drifts that do not depend on w, N independent clients and the same weights for each of them, e_t^2 "
            "<= (G^2 + D^2 sum p^2)/N and V_t <= G^2 + D^2 sum p^2.",
            "c_pB does not enter: f_{t,i} is L-smooth itself, so that the change of its gradient along a local path "
            "needs no Lemma B.2. With A, B > 0, e_t and V_t contain 𝔼||grad f(w_t)||^2.",
            "Neither needs (19) nor that local steps do not increase distances.",
        ),
    )


CLAIMS = {"ours.cfl_round": cfl_round}
