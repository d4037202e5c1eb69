"""One round of CFL with explicit constants: what stands in place of (13), (15), (20), (21) and (23)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.one_round.progress import (
    ORDER,
    difference,
    distance,
    drift2,
    gap,
    local_gap,
    next2,
    perturbed,
)
from cflag_theory.claims.cfl.symbols import K, N, eta, eta_g, eta_l, mu, sigma2
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack, square
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import L, symbol
from cflag_theory.claims.engine.relation import Relation, at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, RuleUse

# Roots of mean squares: distance to w*, mean error at w_t, information loss; V, beta; and the round's vectors.
rms_dist = symbol("rms_dist", r"d_t", nonnegative=True)
rms_error = symbol("rms_error", r"e_t", nonnegative=True)
rms_loss = symbol("rms_loss", r"r_t", nonnegative=True)
spread = symbol("spread_error2", r"V_t", nonnegative=True)
bias = symbol("round_bias", r"\beta_t", real=True)
step_dot = symbol("mean_step_dot", r"\mathbb{E}\langle\hat{g},\omega_t-\omega^*\rangle", real=True)
step2 = symbol("mean_step2", r"{\mathbb{E}\|\hat{g}\|^2}", nonnegative=True)
true_dot = symbol("true_dot", r"\mathbb{E}\langle\bar{\nabla F},\omega_t-\omega^*\rangle", real=True)
lost_dot = symbol("lost_dot", r"\mathbb{E}\langle\bar{\Delta},\omega_t-\omega^*\rangle", real=True)
start2 = symbol("start_step2", r"{\mathbb{E}\|\nabla\bar{F}(\omega_t)+\bar{\nu}\|^2}", nonnegative=True)
rest2 = symbol("rest_step2", r"{\mathbb{E}\|\hat{g}-\nabla\bar{F}(\omega_t)-\bar{\nu}\|^2}", nonnegative=True)
change2 = symbol("mean_change2", r"{\mathbb{E}\|\bar{\nabla F}-\nabla\bar{F}(\omega_t)\|^2}", nonnegative=True)
lost2 = symbol("mean_lost2", r"{\mathbb{E}\|\bar{\Delta}\|^2}", nonnegative=True)
at_start2 = symbol("at_start2", r"{\mathbb{E}\|\nabla\bar{F}(\omega_t)\|^2}", nonnegative=True)
round_noise2 = symbol("round_noise2", r"{\mathbb{E}\|\bar{\nu}\|^2}", nonnegative=True)
grad2 = symbol("round_grad2", r"{\mathbb{E}\|\nabla f(\omega_t)\|^2}", nonnegative=True)
each_start2 = symbol("each_start2", r"\frac{1}{N}\sum_i\mathbb{E}\|\nabla F_i(\omega_t)\|^2", nonnegative=True)
f_here = symbol("round_f_here", r"\mathbb{E}f(\omega_t)", real=True)
f_lower = symbol("round_f_lower", r"\mathbb{E}f(\omega_t-\nabla f(\omega_t)/L)", real=True)

# One client after j steps.
j = symbol("steps_done", "j", nonnegative=True, integer=True)
after2 = symbol("after2", r"{\mathbb{E}\|\omega_{t,i,j}-\omega_t\|^2}", nonnegative=True)
noisy2 = symbol("noisy2", r"{\mathbb{E}\|j\nabla F_i(\omega_t)+\sum\nu\|^2}", nonnegative=True)
rest_sum2 = symbol("rest_sum2", r"{\mathbb{E}\|\sum(\nabla F_i-\nabla F_i(\omega_t)-\Delta)\|^2}", nonnegative=True)
change_sum2 = symbol("change_sum2", r"{\mathbb{E}\|\sum(\nabla F_i-\nabla F_i(\omega_t))\|^2}", nonnegative=True)
lost_sum2 = symbol("lost_sum2", r"{\mathbb{E}\|\sum\Delta\|^2}", nonnegative=True)
noise_sum2 = symbol("noise_sum2", r"{\mathbb{E}\|\sum\nu\|^2}", nonnegative=True)
client_start2 = symbol("client_start2", r"{\mathbb{E}\|\nabla F_i(\omega_t)\|^2}", nonnegative=True)
path2 = symbol("path2", r"\sum_{l<K}\mathbb{E}\|\omega_{t,i,l}-\omega_t\|^2", nonnegative=True)
client_loss2 = symbol("client_loss2", r"\rho_i^2", nonnegative=True)

_HUNDREDTH = sp.Rational(1, 100)
_THIRDS = sp.Rational(10, 3)
NOISE = (
    "Noises have mean zero given the past and the drifts, E||nu||^2 <= sigma^2, and are independent between clients."
)
LOSS = "||Delta_{tau,i}(w)|| <= R at every w, and rho_i = sum_{tau<t} p_{tau,i} R."
HYPOTHESES = (
    ORDER,
    Fact("step size", at_most(eta, 1 / (10 * L)), "eta <= 1 / (10 L)."),
    Fact("eta_g", at_most(1, eta_g), "eta_g >= 1."),
    Fact("steps", at_most(1, K), "K >= 1."),
    Fact("mean noise", at_most(round_noise2, sigma2 / (N * K)), NOISE),
    Fact("summed noise", at_most(noise_sum2, j * sigma2), NOISE),
    Fact("mean loss", at_most(lost2, rms_loss**2), LOSS + " r_t^2 is the mean of rho_i^2."),
    Fact("summed loss", at_most(lost_sum2, j**2 * client_loss2), LOSS),
)
DEFINITIONS = (
    Fact("eta", equal(eta, K * eta_l * eta_g), "eta = K eta_l eta_g."),
    Fact(
        "beta",
        equal(local_gap, gap - bias),
        "beta_t = E[(f - F)(w_t) - (f - F)(w*)], F = (1/N) sum_i F_i, F_i = sum_tau p_{tau,i} f_{tau,i}.",
    ),
)


def _local_drift() -> tuple[RuleUse | Obligation, ...]:
    """The mean of E||w_{t,i,k-1} - w_t||^2, from one client after j steps."""
    y = K * eta_l
    one = eta_l**2 * (2 * j**2 * client_start2 + 2 * j * sigma2 + 4 * j * L**2 * path2 + 4 * j**2 * client_loss2)
    first, second = (K - 1) / 2, (K - 1) * (2 * K - 1) / 6
    mean = eta_l**2 * (
        2 * second * each_start2 + 2 * first * sigma2 + 4 * first * L**2 * K * drift2 + 4 * second * rms_loss**2
    )
    whole = sp.Rational(2, 3) * each_start2 + sigma2 / K + sp.Rational(4, 3) * rms_loss**2
    late = slack("steps")
    return (
        rules.jensen(
            "path",
            after2 / (4 * eta_l**2),
            noisy2 / 2 + rest_sum2 / 2,
            "w_{t,i,j} - w_t is -eta_l times the sum of j gradients, each grad F_i(w_t) + nu plus the rest.",
        ),
        rules.linear_expectation(
            "noisy part",
            equal(noisy2, j**2 * client_start2 + noise_sum2),
            "the noises have mean zero given w_t and the drifts.",
        ),
        rules.jensen("rest", rest_sum2 / 4, change_sum2 / 2 + lost_sum2 / 2, "changes of gradients, and losses."),
        rules.component_smoothness("Lipschitz", difference, distance, L, "F_i is an average of L-smooth functions."),
        Obligation(
            "squared",
            at_most(difference**2, L**2 * distance**2),
            ("Lipschitz",),
            slack("Lipschitz") * (L * distance + difference),
        ),
        rules.mean_of_bounds(
            "changes",
            change_sum2,
            j * L**2 * path2,
            "the squared norm of a sum of j vectors is at most j times the sum of their squared norms, over l < j <= "
            "K.",
            ("squared",),
        ),
        Obligation(
            "one client",
            at_most(after2, one),
            ("path", "noisy part", "rest", "changes", "summed noise", "summed loss"),
            eta_l**2
            * (
                4 * slack("path")
                - 2 * residual("noisy part")
                + 8 * slack("rest")
                + 4 * slack("changes")
                + 2 * slack("summed noise")
                + 4 * slack("summed loss")
            ),
        ),
        rules.mean_of_bounds(
            "drift",
            drift2,
            mean,
            "over j = 0, ..., K - 1, the means of j and j^2 being (K-1)/2 and (K-1)(2K-1)/6, and over i.",
            ("one client",),
        ),
        Obligation(
            "drift in K",
            at_most(drift2, y**2 * (whole + 2 * L**2 * drift2)),
            ("drift", "steps"),
            slack("drift")
            + eta_l**2 * ((3 * late + 2) / 3 * (each_start2 + 2 * rms_loss**2) + sigma2 + 2 * K * L**2 * drift2),
        ),
        Obligation(
            "local step",
            at_most(y * L, sp.Rational(1, 10)),
            ("step size", "eta_g", "eta"),
            L * (slack("step size") + y * slack("eta_g") + residual("eta")),
        ),
        Obligation(
            "local step squared",
            at_most(y**2 * L**2, _HUNDREDTH),
            ("local step",),
            slack("local step") * (sp.Rational(1, 10) + y * L),
        ),
        Obligation(
            "drift bound",
            at_most(drift2, sp.Rational(50, 49) * y**2 * whole),
            ("drift in K", "local step squared"),
            sp.Rational(50, 49) * slack("drift in K") + sp.Rational(100, 49) * drift2 * slack("local step squared"),
        ),
    )


def _moments() -> tuple[RuleUse | Obligation, ...]:
    """E||g||^2 of the mean step, and the mean squared gradients at w_t."""
    return (
        rules.jensen("parts", step2 / 4, start2 / 2 + rest2 / 2, "the mean step is grad F(w_t) + nu and a rest."),
        rules.linear_expectation(
            "mean noisy part",
            equal(start2, at_start2 + round_noise2),
            "the noises have mean zero given w_t and the drifts.",
        ),
        rules.jensen("mean rest", rest2 / 4, change2 / 2 + lost2 / 2, "changes of gradients, and losses."),
        rules.mean_of_bounds("mean change", change2, L**2 * drift2, "Jensen, over clients and steps.", ("squared",)),
        rules.jensen("mean error", at_start2 / 4, grad2 / 2 + rms_error**2 / 2, "grad F = grad f + its error."),
        rules.jensen(
            "each error", each_start2 / 4, grad2 / 2 + spread / 2, "grad F_i = grad f + its error; then over i."
        ),
        rules.smoothness(
            "descent", f_lower, f_here, -grad2 / L, grad2 / L**2, L, "between w_t and w_t - grad f(w_t) / L; E taken."
        ),
        rules.lower_bound("least", f_here - f_lower, gap, "gap = E f(w_t) - f(w*)."),
        Obligation(
            "gradient", at_most(grad2, 2 * L * gap), ("descent", "least"), 2 * L * (slack("descent") + slack("least"))
        ),
        Obligation(
            "second moment",
            at_most(
                step2,
                8 * L * gap + 4 * rms_error**2 + 2 * sigma2 / (N * K) + 4 * L**2 * drift2 + 4 * rms_loss**2,
            ),
            (
                "parts",
                "mean noisy part",
                "mean rest",
                "mean change",
                "mean error",
                "gradient",
                "mean noise",
                "mean loss",
            ),
            4 * slack("parts")
            - 2 * residual("mean noisy part")
            + 8 * slack("mean rest")
            + 4 * slack("mean change")
            + 8 * slack("mean error")
            + 4 * slack("gradient")
            + 2 * slack("mean noise")
            + 4 * slack("mean loss"),
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


def _round_steps(name: str, progress: Any, factor: Any) -> tuple[RuleUse | Obligation, ...]:
    y = K * eta_l
    gram = {("d", "d"): rms_dist**2, ("d", "g"): step_dot, ("g", "g"): step2}
    after = {"d": sp.S.One, "g": -eta}
    rest = sp.Rational(4, 3) * (spread + rms_loss**2) + sigma2 / K
    final = (
        -residual("square")
        + 2 * eta * slack("cross")
        + eta**2 * slack("second moment")
        + 4 * eta * L**2 * drift2 * slack("step size")
        + sp.Rational(12, 5) * eta * L * slack("drift bound")
        + sp.Rational(12, 5) * eta * L * sp.Rational(100, 147) * y**2 * slack("each start")
        + sp.Rational(5, 98) * eta * L * y**2 * rest
        + eta
        * gap
        * (
            8 * L * slack("step size")
            + sp.Rational(320, 49) * slack("local step squared")
            + sp.Rational(278, 245)
            - progress
        )
        + L * eta * rest * sp.Rational(5, 2) * (eta + y * eta_g) / eta_g**2 * residual("eta")
        + (factor - _THIRDS) * L * eta**3 / eta_g**2 * (spread + rms_loss**2)
    )
    return (
        *_local_drift(),
        *_moments(),
        Obligation(
            "each start",
            at_most(each_start2, 4 * L * gap + 2 * spread),
            ("each error", "gradient"),
            4 * slack("each error") + 2 * slack("gradient"),
        ),
        *perturbed("(12)"),
        rules.mean_of_bounds(
            "descent along the path",
            -true_dot,
            -local_gap - mu / 4 * rms_dist**2 + L * drift2,
            "over clients, steps and, with weights p_tau, rounds.",
            ("(12)",),
        ),
        rules.linear_expectation(
            "true and lost",
            equal(step_dot, true_dot - lost_dot),
            "E<nu, w_t - w*> = 0, the noises being later than w_t.",
        ),
        rules.cauchy_schwarz("loss", lost_dot, rms_loss, rms_dist, "in mean square."),
        Obligation(
            "cross",
            at_most(-step_dot, -(gap - bias) - mu / 4 * rms_dist**2 + L * drift2 + rms_loss * rms_dist),
            ("descent along the path", "true and lost", "loss", "beta"),
            slack("descent along the path") + residual("true and lost") + slack("loss") + residual("beta"),
        ),
        rules.bilinearity("square", next2, after, after, gram, "w_{t+1} - w* = (w_t - w*) - eta g."),
        Obligation(
            name,
            bound(_BIAS, progress, factor),
            (
                "square",
                "cross",
                "second moment",
                "step size",
                "drift bound",
                "each start",
                "local step squared",
                "eta",
            ),
            final,
        ),
    )


def cfl_round(progress: Any = 1, factor: Any = _THIRDS) -> Claim:
    """One round without assuming anything about how drifts and iterates depend on each other."""
    goal = bound(_BIAS, progress, factor)
    first = Statement(
        "For eta <= 1/(10 L) and eta_g >= 1: E||w_{t+1} - w*||^2 <= (1 - mu eta/2) E||w_t - w*||^2 - eta E(f(w_t) - "
        "f*) + 2 eta (beta_t + r_t d_t) + eta^2 (4 e_t^2 + 2 sigma^2/(NK) + 4 r_t^2) + (L eta^3/eta_g^2) ((10/3) (V_t "
        "+ r_t^2) + (5/2) sigma^2/K), with d_t^2 = E||w_t - w*||^2, e_t^2 = E||grad F(w_t) - grad f(w_t)||^2, V_t = "
        "(1/N) sum_i E||grad F_i(w_t) - grad f(w_t)||^2, r_t^2 = (1/N) sum_i (sum_{tau<t} p_{tau,i} R)^2.",
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
    second = Statement(
        "If also mu > 0 and beta_t <= e_t d_t: E||w_{t+1} - w*||^2 <= (1 - mu eta/2) E||w_t - w*||^2 - (eta/2) "
        "E(f(w_t) - f*) + (8 eta/mu) (e_t^2 + r_t^2) + the same terms in eta^2 and eta^3.",
        absorbed,
        (*HYPOTHESES, positive, additive),
        Proof(
            (
                *_round_steps("part 1", 1, factor),
                rules.convexity("growth", sp.S.Zero, sp.S.Zero, rms_dist**2, gap, mu, "f between w* and w_t."),
                Obligation(
                    "the statement follows",
                    absorbed,
                    ("part 1", "growth", "mu > 0", "additive"),
                    slack("part 1")
                    + eta / 2 * slack("growth")
                    + 2 * eta * slack("additive")
                    + eta
                    / (2 * slack("mu > 0"))
                    * (square(mu * rms_dist / 2 - 4 * rms_error) + square(mu * rms_dist / 2 - 4 * rms_loss)),
                ),
            )
        ),
        DEFINITIONS,
    )
    return Claim(
        "ours.cfl_round",
        "ours",
        "in place of (13)-(15), (17)-(23)",
        "One round of CFL with explicit constants",
        (Part("1", first), Part("2", second)),
        (
            "Assumption 1 for every f_{tau,i} and weights p >= 0; the drifts may depend on w_t in any way. beta_t is 0 "
            "where they are independent of it, and may be positive where past drifts are used again.",
            "With drifts that do not depend on w, N independent clients and the same weights for each of them, e_t^2 "
            "<= (G^2 + D^2 sum p^2)/N and V_t <= G^2 + D^2 sum p^2.",
            "c_pB does not enter: f_{t,i} is L-smooth itself, so that the change of its gradient along a local path "
            "needs no Lemma B.2. With A, B > 0, e_t and V_t contain E||grad f(w_t)||^2.",
            "Neither needs (19) nor that local steps do not increase distances.",
        ),
    )


CLAIMS: dict[str, Callable[[], Claim]] = {"ours.cfl_round": cfl_round}
