"""In place of the non-convex statements of the CFL paper: explicit constants, and the floor that stays.

Every local gradient is that of f at the local iterate, less an error e and plus noise: grad bar f_{t,i} = grad f - e,
with e = delta_i + sum_tau p_tau xi_{tau,i} + sum_{tau<t} p_tau Delta_{tau,i}. Errors may depend on all that happened
before; the noise has mean zero given that, and the noises of different clients and steps are uncorrelated.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.past_task.runs import T, f_mean, t
from cflag_theory.claims.cfl.nonconvex.descent import NOISE, noise2, parallelogram, past, squares
from cflag_theory.claims.cfl.nonconvex.floor import floor
from cflag_theory.claims.cfl.symbols import D2, G2, R2, K, N, eta, eta_l, sigma2
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import L, sequence, symbol
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof, RuleUse, Step

mean_grad2 = symbol("nc_all_grad2", r"\frac1T\sum_t\mathbf{E}\|\nabla f(\omega_t)\|^2", nonnegative=True)
fall = symbol("nc_fall", "(f_0-f_*)", nonnegative=True)
# One round, by its index: means over clients and local steps.
grad2_t = sequence("nc_grad2_t", r"\mathbf{E}\|\nabla f(\omega_{@})\|^2", nonnegative=True)
inner_t = sequence("nc_inner_t", r"\mathbf{E}\langle\nabla f(\omega_{@}),\Delta\omega_{@}\rangle", real=True)
move2_t = sequence("nc_move2_t", r"\mathbf{E}\|\Delta\omega_{@}\|^2", nonnegative=True)
mean2_t = sequence("nc_mean2_t", r"\mathbf{E}\|u_{@}\|^2", nonnegative=True)
shake2_t = sequence("nc_shake2_t", r"\mathbf{E}\|v_{@}\|^2", nonnegative=True)
cross_t = sequence("nc_cross_t", r"\mathbf{E}\langle\nabla f(\omega_{@}),u_{@}\rangle", real=True)
off2_t = sequence("nc_off2_t", r"\mathbf{E}\|\nabla f(\omega_{@})-u_{@}\|^2", nonnegative=True)
#: Of the error averaged over clients and local steps.
error2_t = sequence("nc_error2_t", r"\mathbf{E}\|\bar e_{@}\|^2", nonnegative=True)
error2_mean = symbol("nc_error2_mean", r"\frac1T\sum_t\mathbf{E}\|\bar e_t\|^2", nonnegative=True)
total = sequence("nc_total", r"\sum_{s<@}\mathbf{E}\|\nabla f(\omega_s)\|^2", nonnegative=True)
error2_total = sequence("nc_error2_total", r"\sum_{s<@}\mathbf{E}\|\bar e_s\|^2", nonnegative=True)
#: Of the error of one client at one step of one round, largest.
error2 = symbol("nc_error2", r"e^2", nonnegative=True)
both2_t = sequence("nc_both2_t", r"\mathbf{E}\|u_{@}+v_{@}\|^2", nonnegative=True)
less2_t = sequence("nc_less2_t", r"\mathbf{E}\|u_{@}-v_{@}\|^2", nonnegative=True)
u_dot_v_t = sequence("nc_u_dot_v_t", r"\mathbf{E}\langle u_{@},v_{@}\rangle", real=True)
moved2_t = sequence("nc_moved2_t", r"\mathbf{E}\|r_{@}\|^2", nonnegative=True)
moved_dot_error = sequence("nc_moved_dot_error", r"\mathbf{E}\langle r_{@},\bar e_{@}\rangle", real=True)
moved_less2_t = sequence("nc_moved_less2_t", r"\mathbf{E}\|r_{@}-\bar e_{@}\|^2", nonnegative=True)
far_t = sequence("nc_far_t", r"\max_{i,k<K}\mathbf{E}\|\omega_{@,i,k}-\omega_{@}\|^2", nonnegative=True)
# The farthest local iterate: k steps, the means over them of the change of grad f, of e and of nu.
steps = symbol("nc_steps", "k", positive=True, integer=True)
walk2 = symbol("nc_walk2", r"\mathbf{E}\|\bar r\|^2", nonnegative=True)
pull2 = symbol("nc_pull2", r"\mathbf{E}\|\bar e\|^2", nonnegative=True)
noise_mean2 = symbol("nc_noise_mean2", r"\mathbf{E}\|\bar\nu\|^2", nonnegative=True)
# The drift model.
bar2 = symbol("nc_bar2", r"\mathbf{E}\|\bar e\|^2_\mathrm{drift}", nonnegative=True)
bar_less2 = symbol("nc_bar_less2", r"\mathbf{E}\|\bar\delta+\bar\xi-\bar\Delta\|^2", nonnegative=True)
drifts2 = symbol("nc_drifts2", r"\mathbf{E}\|\bar\delta+\bar\xi\|^2", nonnegative=True)
losses2 = symbol("nc_losses2", r"\mathbf{E}\|\bar\Delta\|^2", nonnegative=True)
drift_dot_loss = symbol("nc_drift_dot_loss", r"\mathbf{E}\langle\bar\delta+\bar\xi,\bar\Delta\rangle", real=True)
client2 = symbol("nc_client2", r"\mathbf{E}\|\delta_i\|^2", nonnegative=True)
time2 = symbol("nc_time2", r"\mathbf{E}\|\xi_{\tau,i}\|^2", nonnegative=True)

#: A step inside of a round.
Inner = Obligation | RuleUse
SMOOTH_WORDS = "f between w_t and w_{t+1}, in the mean over all draws."


#: What a run's sums and means stand for.
SUMS = (
    Fact("no round", equal(total(0), 0), "An empty sum."),
    Fact("one more", equal(total(t + 1), total(t) + grad2_t(t)), "The squared gradients, round by round."),
    Fact("mean", equal(T * mean_grad2, total(T)), "The mean over T rounds."),
)
ERROR_SUMS = (
    Fact("no error", equal(error2_total(0), 0), "An empty sum."),
    Fact("one more error", equal(error2_total(t + 1), error2_total(t) + error2_t(t)), "The errors, round by round."),
    Fact("mean error", equal(T * error2_mean, error2_total(T)), "Their mean over T rounds."),
)


def whole_run(
    round_steps: tuple[Inner, ...], one_round: Obligation, lead: sp.Expr, errors: Any, rest: sp.Expr, constant: Any
) -> tuple[Step, ...]:
    """From grad2_t <= lead (f_t - f_{t+1}) + errors error2_t + rest to the mean; `constant` is before its errors."""
    relation = at_most(total(t), lead * (f_mean(0) - f_mean(t)) + errors * error2_total(t) + t * rest)
    counted = errors != 0
    start, more = ("no round", "no error"), ("one more", "one more error")
    follows = slack("all rounds") / T + lead / T * slack("(19)") - residual("mean") / T
    if counted:
        follows += errors / T * residual("mean error") + (constant - errors) * error2_mean
    run = Induction(
        "sum",
        t,
        relation,
        Obligation(
            "sum at 0",
            relation.subs({t: 0}),
            start if counted else start[:1],
            -residual("no round") + (errors * residual("no error") if counted else 0),
        ),
        (
            *round_steps,
            one_round,
            Obligation(
                "sum at t + 1",
                relation.subs({t: t + 1}),
                ("sum (hypothesis)", one_round.name, *(more if counted else more[:1])),
                slack("sum (hypothesis)")
                + slack(one_round.name)
                - residual("one more")
                + (errors * residual("one more error") if counted else 0),
            ),
        ),
    )
    return (
        run,
        Instance("all rounds", "sum", t, T),
        rules.lower_bound("(19)", f_mean(0) - f_mean(T), fall, "f_* = inf f."),
        Obligation(
            "mean of all rounds",
            mean_bound(lead, constant, rest),
            ("all rounds", "(19)", "mean", *(("mean error",) if counted else ())),
            follows,
        ),
    )


def mean_bound(lead: sp.Expr, constant: Any, rest: sp.Expr) -> Relation:
    """The mean over the rounds of E||grad f(w_t)||^2 <= lead (f_0 - f_*)/T + constant times the errors + rest."""
    return at_most(mean_grad2, lead * fall / T + constant * error2_mean + rest)


def _expansion(steps_of_noise: sp.Expr) -> tuple[Inner, ...]:
    """Smoothness, the step, and ||grad f - u||^2, with u and v the means of the gradients and of the noise."""
    one = sp.S.One
    gram = {("G", "G"): grad2_t(t), ("G", "u"): cross_t(t), ("u", "u"): mean2_t(t)}
    off = {"G": one, "u": -one}
    return (
        rules.smoothness("(25)", f_mean(t + 1), f_mean(t), inner_t(t), move2_t(t), L, SMOOTH_WORDS),
        rules.tower("inner", equal(inner_t(t), -eta * cross_t(t)), "v has mean zero given w_t."),
        rules.bilinearity("off", off2_t(t), off, off, gram, "grad f(w_t) - u."),
        rules.tower(
            "noise", equal(shake2_t(t), noise2 / steps_of_noise), "noises of different clients and steps uncorrelated."
        ),
    )


def one_step(constant: Any = 1) -> Statement:
    """K = 1; `constant` is before the mean squared error."""
    rest = L * eta * sigma2 / N
    round_goal = at_most(grad2_t(t), 2 / eta * (f_mean(t) - f_mean(t + 1)) + error2_t(t) + rest)
    certificate = (
        2
        / eta
        * (
            slack("(25)")
            - residual("inner")
            - L / 2 * residual("step")
            + eta / 2 * (residual("error") + residual("off"))
            - L / 2 * eta**2 * residual("noise")
            + L / 2 * eta**2 / N * slack("Assumption 2")
            + eta / 2 * L * mean2_t(t) * slack("eta")
        )
    )
    steps_of_round = (
        *_expansion(N),
        rules.tower(
            "step", equal(move2_t(t), eta**2 * (mean2_t(t) + shake2_t(t))), "v has mean zero given u, as K = 1."
        ),
    )
    given = ("(25)", "inner", "step", "off", "noise", "Assumption 2", "eta", "error")
    one_round = Obligation("one round", round_goal, given, certificate)
    return Statement(
        "K = 1 and eta <= 1/L: the mean over T rounds of E||grad f(w_t)||^2 is at most 2 (f_0 - f_*)/(eta T) + the "
        "mean over t of E||e_t||^2 + L eta sigma^2/N, e_t being the mean error of the clients.",
        mean_bound(2 / eta, constant, rest),
        (Fact("eta", at_most(eta, 1 / L), "eta <= 1/L."), NOISE),
        Proof(whole_run(steps_of_round, one_round, 2 / eta, 1, rest, constant)),
        (
            *SUMS,
            *ERROR_SUMS,
            Fact(
                "error",
                equal(error2_t(t), off2_t(t)),
                "grad f(w_t) - u is the mean error, as all gradients are at w_t.",
            ),
        ),
    )


def local_drift(error: sp.Expr = error2) -> tuple[Inner, ...]:
    """L^2 times the largest squared distance of a local iterate, for 20 K^2 eta_l^2 L^2 <= 1.

    `error` bounds E||e||^2 of one client at one step.
    """
    share = K**2 * eta_l**2
    inside = grad2_t(t) + L**2 * far_t(t) + error + sigma2 / K
    far = at_most(far_t(t), 4 * share * inside)
    near = at_most(L**2 * far_t(t), 5 * share * L**2 * (grad2_t(t) + error + sigma2 / K))
    # k <= K, in squares.
    longer = (K + steps) * slack("k")
    return (
        rules.jensen(
            "four",
            far_t(t) / (16 * steps**2 * eta_l**2),
            (grad2_t(t) + walk2 + pull2 + noise_mean2) / 4,
            "the farthest local iterate is -k eta_l times the sum of grad f(w_t) and the means over its k steps of the "
            "change of grad f, of -e and of nu.",
        ),
        rules.jensen("errors", pull2, error, "k errors, each with E||e||^2 at most the largest."),
        rules.jensen("changes", walk2, L**2 * far_t(t), "k changes of grad f, each with E||.||^2 <= L^2 far."),
        rules.tower("noises", equal(noise_mean2, noise2 / steps), "k noises, uncorrelated."),
        Obligation(
            "far",
            far,
            ("four", "errors", "changes", "noises", "Assumption 2", "k"),
            16 * steps**2 * eta_l**2 * slack("four")
            + 4 * steps**2 * eta_l**2 * (slack("errors") + slack("changes") - residual("noises"))
            + 4 * steps * eta_l**2 * slack("Assumption 2")
            + 4 * eta_l**2 * (longer * (grad2_t(t) + L**2 * far_t(t) + error) + slack("k") * sigma2),
        ),
        Obligation(
            "near",
            near,
            ("far", "steps"),
            sp.Rational(5, 4) * L**2 * slack("far") + L**2 * far_t(t) * slack("steps") / 4,
        ),
    )


LOCAL = (
    Fact("eta", at_most(eta, 1 / (2 * L)), "eta <= 1/(2L)."),
    Fact("steps", at_most(20 * K**2 * eta_l**2 * L**2, 1), "20 K^2 eta_l^2 L^2 <= 1."),
    Fact("k", at_most(steps, K), "The farthest local iterate comes after k <= K steps (after none, far = 0)."),
    NOISE,
)


def local_steps(constant: Any = 4) -> Statement:
    """Any K; `constant` is before the mean squared error of the averages."""
    share = K**2 * eta_l**2 * L**2
    rest = 20 * share * (error2 + sigma2 / K) + 4 * L * eta * sigma2 / (N * K)
    round_goal = at_most(grad2_t(t), 4 / eta * (f_mean(t) - f_mean(t + 1)) + 4 * error2_t(t) + rest)
    moved = slack("moves") + slack("near") + grad2_t(t) * slack("steps") / 4
    certificate = (
        4
        / eta
        * (
            slack("(25)")
            - residual("inner")
            - L / 2 * residual("step")
            + L / 2 * eta**2 * (less2_t(t) - residual("both +") - residual("both -"))
            - L * eta**2 * residual("noise")
            + L * eta**2 / (N * K) * slack("Assumption 2")
            + L * eta * mean2_t(t) * slack("eta")
            + eta / 2 * residual("off")
            + eta / 2 * (moved_less2_t(t) - residual("apart +") - residual("apart -"))
            + eta * moved
        )
    )
    steps_of_round = (
        *local_drift(),
        *_expansion(N * K),
        rules.linear_expectation("step", equal(move2_t(t), eta**2 * both2_t(t)), "Delta w_t = -eta (u + v)."),
        *parallelogram("both", (both2_t(t), less2_t(t), mean2_t(t), shake2_t(t)), u_dot_v_t(t), "u and v."),
        *parallelogram(
            "apart",
            (off2_t(t), moved_less2_t(t), moved2_t(t), error2_t(t)),
            moved_dot_error(t),
            "grad f(w_t) - u is the mean change r of grad f plus the mean error.",
        ),
        rules.jensen("moves", moved2_t(t), L**2 * far_t(t), "changes of grad f, each with E||.||^2 <= L^2 far."),
    )
    one_round = Obligation(
        "one round",
        round_goal,
        (
            *("(25)", "inner", "step", "both +", "both -", "off", "noise", "Assumption 2", "eta"),
            *("apart +", "apart -", "moves", "near", "steps"),
        ),
        certificate,
    )
    return Statement(
        "Any K, eta <= 1/(2L) and 20 K^2 eta_l^2 L^2 <= 1: the mean over T rounds of E||grad f(w_t)||^2 is at most 4 "
        "(f_0 - f_*)/(eta T) + 4 times the mean over t of E||e_t||^2 + 20 K^2 eta_l^2 L^2 (e^2 + sigma^2/K) + 4 L eta "
        "sigma^2/(N K), e_t the error averaged over clients and steps, e^2 the largest E||e||^2 of one client at one "
        "step of any round.",
        mean_bound(4 / eta, constant, rest),
        LOCAL,
        Proof(whole_run(steps_of_round, one_round, 4 / eta, 4, rest, constant)),
        (*SUMS, *ERROR_SUMS),
    )


def drift_model() -> Statement:
    """The error in the drift model."""
    goal = at_most(bar2, 2 * (G2 + D2 * squares) / N + 2 * past**2 * R2)
    known = (
        Fact("client", at_most(client2, G2), "E||delta_i||^2 <= G^2."),
        Fact("time", at_most(time2, D2), "E||xi_{tau,i}||^2 <= D^2."),
    )
    proof = Proof(
        (
            *parallelogram("both", (bar2, bar_less2, drifts2, losses2), drift_dot_loss, "the drifts, and the losses."),
            rules.tower(
                "drifts",
                equal(drifts2, (client2 + squares * time2) / N),
                "delta_i and xi_{tau,i} have mean zero and are uncorrelated over clients and rounds, whatever w is.",
            ),
            rules.jensen(
                "losses", losses2, past**2 * R2, "sum_{tau<t} p_tau Delta_tau with ||Delta_tau|| <= R, over clients."
            ),
            Obligation(
                "the statement follows",
                goal,
                ("both +", "both -", "drifts", "losses", "client", "time"),
                bar_less2
                - residual("both +")
                - residual("both -")
                - 2 * residual("drifts")
                + 2 * slack("losses")
                + 2 / N * (slack("client") + squares * slack("time")),
            ),
        )
    )
    return Statement(
        "If the drifts do not depend on w (A = B = 0, as in Sec. 5.1.1): E||e_t||^2 <= 2 (G^2 + D^2 sum p^2)/N + 2 (1 "
        "- p_t)^2 R^2, all N clients taking part with equal weights; e^2 is at most the same with N = 1.",
        goal,
        known,
        proof,
    )


def nonconvex(constant: Any = 1, local: Any = 4) -> Claim:
    """The theorem, the errors in the drift model, and the floor; the constants are before the errors."""
    below_floor = floor()
    return Claim(
        "ours.cfl_nonconvex",
        "ours",
        "in place of (31), (32), the non-convex rate, Theorems 4.1, 4.4, B.5, B.6",
        "Non-convex convergence to a floor",
        (
            Part("1", one_step(constant)),
            Part("2", local_steps(local)),
            Part("3", drift_model()),
            Part("4", below_floor),
        ),
        (
            "No condition on A, B or on the units: an error e that may depend on w in any way enters by its mean "
            "square.",
            "With eta = sqrt(N K)/(L sqrt(T)) the first and last terms of parts 1 and 2 are O(1/sqrt(N K T)), as the "
            "paper has them; the errors stay. The least of the rounds is at most their mean.",
            "The constant 1 of part 1 is sharp, and the floor stays: for eta = 1/L the family of part 4 has E||grad "
            "f(w_t)||^2 = G^2 = E||e_t||^2 in every round, T/(T + 1) times the bound.",
            "The K local steps cost the factor 2 of 2||r||^2 + 2||e||^2 and the step size of part 2; sharp constants "
            "for K >= 2 are not claimed.",
        ),
    )


CLAIMS: dict[str, Callable[[], Claim]] = {"ours.cfl_nonconvex": nonconvex}
