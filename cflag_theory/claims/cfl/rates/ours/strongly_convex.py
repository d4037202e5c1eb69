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

from cflag_theory.claims.cfl.one_round.ours.local_drift import rms_loss
from cflag_theory.claims.cfl.one_round.ours.round import rms_error, spread
from cflag_theory.claims.cfl.rates.floors import apart2, start2
from cflag_theory.claims.cfl.rates.theorems import ETA_G, L_AT_LEAST_MU, STEP_SIZE, mu, of_cfl_round
from cflag_theory.claims.cfl.symbols import D2, G2, K, N, T, eta, eta_g, sigma2
from cflag_theory.claims.cfl.symbols import mu as convexity
from cflag_theory.claims.cfl.vectors import E, draw, fresh, over_noises, over_past
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Pairs, Part, Source, Statement, setting
from cflag_theory.claims.engine.notation import L, k, sequence, symbol, unfold
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof, Step, Use
from cflag_theory.claims.engine.terms import dot, function, norm2, vector

# One round: x = w_t - w*, u = x - eta grad f(w_t) and the bias b_t depend on the earlier draws, the noise n_t on new
# ones too. The origin is at w*.
f = function("f of a round", "f", smooth=L, mu=convexity)
x = vector("apart in a round", "(w_t-w^*)")(draw)
u = vector("apart after the gradient", "u")(draw)
b = vector("bias of a round", "b_t")(draw)
n = vector("noise of a round", "n_t")(draw, fresh)
after = vector("apart after a round", "(w_{t+1}-w^*)")(draw, fresh)
g = f.grad(x)
MINIMUM = setting("w* of a round", equal(f.grad(0), 0), "w* minimises f.")
STEPPED = setting("u of a round", equal(u, x - eta * g), "u = w_t - eta grad f(w_t) - w*.")
ROUND = setting(
    "w_{t+1} of a rate", equal(after, u + eta * b - eta * n), "w_{t+1} = w_t - eta (grad f(w_t) - b_t + n_t)."
)
UNBIASED = setting("noise of a rate", equal(over_noises(n), 0), "𝔼[n_t | everything before] = 0.")


def _moment(name: str, latex: str, of: sp.Expr) -> sp.Symbol:
    return symbol(name, rf"\mathbb{{E}}\|{latex}\|^2", E(norm2(of)), nonnegative=True)


def _root(name: str, latex: str, of: sp.Expr) -> sp.Symbol:
    return symbol(name, rf"{{\|{latex}\|_2}}", sp.sqrt(over_past(norm2(of))), nonnegative=True)


x2, x_root = _moment("x_second_moment", "w_t-w^*", x), _root("x_root", "w_t-w^*", x)
b2, b_root = _moment("b_second_moment", "b_t", b), _root("b_root", "b_t", b)
after2 = _moment("after_second_moment", "w_{t+1}-w^*", after)
g2 = _moment("g_second_moment", r"\nabla f(w_t)", g)
n2 = _moment("n_second_moment", "n_t", n)
g_dot_x = symbol("g_dot_x", r"\mathbb{E}\langle\nabla f(w_t),w_t-w^*\rangle", over_past(dot(g, x)), real=True)
f_now = symbol("f_now_gap", r"\mathbb{E}f(w_t)-f^*", over_past(f(x)) - f(0), real=True)
u2 = over_past(norm2(u))
#: Bounds of ||b_t||_2 and of 𝔼||n_t||^2.
beta = symbol("bias_bound", r"\beta", nonnegative=True)
v = symbol("noise_bound", "v", nonnegative=True)
r = symbol("contraction", r"r", nonnegative=True)

STEP = Fact("eta", at_most(eta * (mu + L), 2), "eta <= 2/(mu + L).")


def averaged(name: str, rule: Use, *equations: str) -> tuple[Use, ...]:
    """A rule about w_t and w*, in the mean: the last step, called `name`; `equations` define vectors in it."""
    known = (rule.name, *equations)
    replaced = (rules.replaced(f"{rule.name}, replaced", given=known),) if equations else ()
    return (rule, *replaced, rules.mean(name, over_past, given=[rule, *replaced][-1].name))


def expanded_round() -> tuple[Step, ...]:
    """𝔼||w_{t+1} - w*||^2 = 𝔼||u||^2 + 2 eta 𝔼<u, b> + eta^2 (𝔼||b||^2 + 𝔼||n||^2), as "round"; "u^2" is 𝔼||u||^2."""
    return (
        rules.rewrite("after", norm2(after), given=ROUND),
        rules.mean("after, given the past", over_noises, given="after"),
        rules.mean("expanded", over_past, given="after, given the past"),
        *averaged("<u, n>", rules.along("<u, n>, given the past", u, given=UNBIASED)),
        *averaged("<b, n>", rules.along("<b, n>, given the past", b, given=UNBIASED)),
        *averaged("u^2", rules.rewrite("||u||^2", norm2(u), given=STEPPED)),
        Obligation(
            "round",
            equal(after2, u2 + 2 * eta * over_past(dot(u, b)) + eta**2 * b2 + eta**2 * n2),
            ("expanded", "<u, n>", "<b, n>"),
        ),
    )


def one_round(constant: Any = 1) -> Statement:
    """The distance in one round; `constant` scales the term of the bias."""
    goal = at_most(after2, r**2 * x2 + 2 * constant * eta * r * beta * x_root + eta**2 * (beta**2 + v))
    steps: tuple[Step, ...] = (
        *expanded_round(),
        *averaged("f(w*)", rules.convex("f at w*", f, x, sp.S.Zero)),
        *averaged("co-coercive", rules.cocoercive("gradients", f, x, sp.S.Zero), MINIMUM),
        *averaged("f(w_t)", rules.convex("f at w_t", f, sp.S.Zero, x), MINIMUM),
        Obligation("monotone", at_most(convexity * x2, g_dot_x), ("f(w*)", "f(w_t)")),
        Obligation("contracted", at_most(u2, r**2 * x2), ("u^2", "monotone", "co-coercive", "eta", "r")),
        rules.square_root("contraction", sp.sqrt(u2), r * unfold(x_root), given="contracted"),
        rules.cauchy_schwarz_mean("<u, b>", over_past, u, b),
        rules.square_root("b", unfold(b_root), beta, given="beta"),
        Obligation(
            "the statement follows",
            goal,
            ("round", "<u, b>", "contraction", "contracted", "b", "beta", "v"),
        ),
    )
    return Statement(
        "K = 1, f_{t,i}(w) = f(w) - <delta_i + xi_{t,i}, w> with f mu-convex and L-smooth, so that a round is w_{t+1} "
        "= w_t - eta (grad f(w_t) - b_t + n_t): b_t is the mean over the clients of delta_i, the past time drifts and "
        "the information loss, with their weights, and may depend on w_t; n_t is what is new, p_t xi_{t,i} and the "
        "gradient noise, with 𝔼[n_t | everything before] = 0; the loss is fixed before the round's draws. Then "
        "𝔼||w_{t+1} - w*||^2 <= r^2 𝔼||w_t - w*||^2 + 2 eta r beta ||w_t - w*||_2 + eta^2 (beta^2 + v), r = 1 - eta "
        "mu.",
        goal,
        (
            Fact("eta", at_most(eta * (convexity + L), 2), STEP.words),
            Fact("r", equal(r, 1 - eta * convexity), "r = 1 - eta mu."),
            Fact("beta", at_most(b2, beta**2), "𝔼||b_t||^2 <= beta^2."),
            Fact("v", at_most(n2, v), "𝔼||n_t||^2 <= v."),
        ),
        Proof(steps),
    )


def in_every_round(besides: tuple[str, ...], at: Pairs = (), taken: Pairs = (), eta_now: sp.Expr = eta) -> Source:
    """Part round of ours.cfl_strongly_convex in round k, its step called `eta_now` there."""
    at, in_run = ((convexity, mu), (eta, eta_now), *at), ((after2, apart2(k + 1)), (x2, apart2(k)))
    return Source("ours.cfl_strongly_convex", "round", at=at, taken=(*in_run, *taken), besides=besides)


# Many rounds: the root of the distance, and the distance that a run without noise could not exceed.
root_at = sequence("root_at", r"{\|w_{@}-w^*\|_2}", nonnegative=True)
reach = sequence("noiseless_reach", r"\rho_{@}", positive=True)
start = symbol("start_root", r"{\|w_0-w^*\|_2}", nonnegative=True)


def all_rounds(constant: Any = 1) -> Statement:
    """The distance after T rounds; `constant` scales the floor eta v/mu of the noise."""
    V = constant * eta * v / mu

    def closed(rounds: Any) -> Relation:
        return equal(reach(rounds), r**rounds * start + beta / mu)

    def bound(rounds: Any) -> Relation:
        return at_most(apart2(rounds), reach(rounds) ** 2 + V)

    goal = at_most(apart2(T), (r**T * start + beta / mu) ** 2 + V)
    proof = (
        Induction(
            "reach",
            k,
            closed(k),
            Obligation("reach at 0", closed(0), ("rho_0",)),
            (Obligation("reach at k + 1", closed(k + 1), ("reach (hypothesis)", "rho", "r")),),
        ),
        Induction(
            "distance",
            k,
            bound(k),
            Obligation("distance at 0", bound(0), ("rho_0", "h")),
            (
                Obligation("beta <= mu rho", at_most(beta, mu * reach(k)), ("reach",)),
                Obligation(
                    "cross",
                    at_most(2 * beta * root_at(k), 2 * beta * reach(k) + mu * V),
                    ("distance (hypothesis)", "beta <= mu rho", "root"),
                ),
                Obligation("distance at k + 1", bound(k + 1), ("distance (hypothesis)", "cross", "round", "rho", "r")),
            ),
        ),
        Instance("d_T", "distance", k, T),
        Instance("rho_T", "reach", k, T),
        Obligation("the statement follows", goal, ("d_T", "rho_T")),
    )
    one = r**2 * apart2(k) + 2 * eta * r * beta * root_at(k) + eta**2 * (beta**2 + v)
    return Statement(
        "In the model of part round: 𝔼||w_T - w*||^2 <= ((1 - eta mu)^T ||w_0 - w*|| + beta/mu)^2 + eta v/mu, for "
        "every T.",
        goal,
        (STEP,),
        Proof(proof),
        (
            Fact("r", equal(r, 1 - eta * mu), "r = 1 - eta mu, not negative."),
            Fact("h", equal(apart2(0), start**2), "The distance at the start."),
            Fact("root", equal(root_at(k) ** 2, apart2(k)), "The root of 𝔼||w_t - w*||^2.", (k,)),
            Fact(
                "round",
                at_most(apart2(k + 1), one),
                "The first part, in every round.",
                (k,),
                (in_every_round(("beta", "v"), taken=((x_root, root_at(k)),)),),
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
error, V = symbol("error_at_most", "e", nonnegative=True), symbol("spread_at_most", "V", nonnegative=True)


def local_steps(constant: Any = 2) -> Statement:
    """K local steps: ours.cfl_round summed; `constant` over mu eta multiplies the terms of one round."""
    one = 8 * eta / mu * bias2 + eta**2 * second + L * eta**3 / eta_g**2 * third
    floor = constant / (mu * eta) * one

    def bound(rounds: Any) -> Relation:
        return at_most(apart2(rounds), q**rounds * start2 + floor)

    distance = Induction(
        "distance",
        k,
        bound(k),
        Obligation("distance at 0", bound(0), ()),
        (Obligation("distance at k + 1", bound(k + 1), ("distance (hypothesis)", "round", "q")),),
    )
    goal = at_most(apart2(T), q**T * start2 + sp.expand(floor))
    return Statement(
        "K local steps, eta <= 1/(10 L), eta_g >= 1: 𝔼||w_T - w*||^2 <= (1 - mu eta/2)^T ||w_0 - w*||^2 + (16/mu^2) "
        "(e^2 + rho^2) + (2 eta/mu) (4 e^2 + 2 sigma^2/(N K) + 4 rho^2) + (2 L eta^2/(mu eta_g^2)) (10 (V + rho^2)/3 + "
        "5 sigma^2/(2 K)), with e^2 = (G^2 + D^2 sum p^2)/N, V = G^2 + D^2 sum p^2, rho = (1 - p_t) R at their "
        "largest.",
        goal,
        (STEP_SIZE, ETA_G, L_AT_LEAST_MU),
        Proof(
            (
                distance,
                Instance("last", "distance", k, T),
                Obligation("the statement follows", goal, ("last",)),
            )
        ),
        (
            Fact("q", equal(q, 1 - mu * eta / 2), "q = 1 - mu eta/2."),
            Fact(
                "round",
                at_most(apart2(k + 1), q * apart2(k) + one),
                "Part 2 of ours.cfl_round, in every round, -(eta/2)(f(w_t) - f*) left out.",
                (k,),
                (
                    of_cfl_round(
                        "2",
                        at=((convexity, mu), (rms_error, error), (spread, V)),
                        here=(
                            (bias2, error**2 + rms_loss**2),
                            (second, 4 * error**2 + 4 * rms_loss**2 + 2 * sigma2 / (N * K)),
                            (third, sp.Rational(10, 3) * (V + rms_loss**2) + sp.Rational(5, 2) * sigma2 / K),
                        ),
                        besides=("additive",),
                    ),
                ),
            ),
        ),
    )


def strongly_convex(bias: Any = 1, noise: Any = 1, local: Any = 2) -> Claim:
    """The strongly convex theorem; `bias`, `noise` and `local` are constants of its parts."""
    return Claim(
        "ours.cfl_strongly_convex",
        "in place of the strongly convex rates of Theorems 4.1 and 4.4",
        "Strongly convex rate with additive drifts",
        (
            Part("round", one_round(bias)),
            Part("rounds", all_rounds(noise)),
            Part("bias", bias_bound()),
            Part("local", local_steps(local)),
        ),
        (
            "𝔼 f(w_T) - f* <= (L/2) 𝔼||w_T - w*||^2. The mean of a run needs no eta beyond eta <= 2/(mu + L), and no "
            "condition ties eta to the drifts; beta > 0 may be as small as one likes.",
            "b_t may depend on w_t in any way: nothing is asked of the drifts at w_t. v = (sigma^2 + p_t^2 D^2)/N.",
            "beta/mu is met by drifts of clients that stay, and by the loss (ours.cfl_lower_bounds, clients and loss). "
            "By time drifts it is not: where the weights spread, their part falls with T, as ours.cfl_time_drift has "
            "it for p_tau = 1/t. eta v/mu is within a factor 2 - eta mu of the stationary variance eta v/(mu (2 - eta "
            "mu)) of f = mu ||w||^2/2.",
            "With the weights of Lemma B.4, 1 - p_t <= D^2/(R^2 + D^2) and sum_{tau<t} p_tau^2 <= D^4/(2 D^2 + R^2)^2 "
            "for every t: so beta = sqrt((G^2 + D^6/(2 D^2 + R^2)^2)/N) + R D^2/(R^2 + D^2) serves.",
            "The last part allows K local steps, with coarser constants.",
            "FedAvg with clients that are new in every round: everything is noise, v = (sigma^2 + G^2 + D^2)/N, beta "
            "to 0.",
        ),
    )


shares2 = symbol("bias_weights2", r"\sum_{\tau<t}p_\tau^2", nonnegative=True)
past = symbol("bias_weight", r"(1-p_t)", nonnegative=True)
drift = vector("drift of a round", r"(\bar\delta+\sum_{\tau<t}p_\tau\bar\xi_\tau)")(draw)
loss = vector("loss of a round", r"\sum_{\tau<t}p_\tau\bar\Delta_\tau")(draw)
drift_root = _root("drift_root", r"\bar\delta+\sum_{\tau<t}p_\tau\bar\xi_\tau", drift)
loss_root = _root("loss_root", r"\sum_{\tau<t}p_\tau\bar\Delta_\tau", loss)
R = symbol("R", "R", nonnegative=True)
BIAS = setting(
    "bias of a rate", equal(b, drift + loss), "b_t is what the clients' fixed and past drifts and their losses add."
)


def bias_bound() -> Statement:
    """What beta is."""
    goal = at_most(b_root, beta)
    moments = [over_past(norm2(one)) for one in (drift, loss)]
    whole = drift_root + loss_root
    return Statement(
        "In the model of part round: ||b_t||_2 <= sqrt((G^2 + D^2 sum_{tau<t} p_tau^2)/N) + (1 - p_t) R = beta.",
        goal,
        (Fact("loss", at_most(loss_root, past * R), "Assumption 4: each of the losses is at most R, p_tau >= 0."),),
        Proof(
            (
                *averaged("b^2", rules.rewrite("||b||^2", norm2(b), given=BIAS)),
                rules.cauchy_schwarz_mean("<drift, loss>", over_past, drift, loss),
                Obligation(
                    "squares",
                    at_most(b2, moments[0] + 2 * drift_root * loss_root + moments[1]),
                    ("b^2", "<drift, loss>"),
                ),
                rules.square_root("parts", unfold(b_root), unfold(whole), given="squares"),
                Obligation("the statement follows", goal, ("parts", "loss", "sum")),
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
