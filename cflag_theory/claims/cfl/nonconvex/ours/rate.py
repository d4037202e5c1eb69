"""In place of the non-convex statements of the CFL paper: explicit constants, and the floor that stays.

Every local gradient is that of f at the local iterate, less an error e and plus noise: grad bar f_{t,i} = grad f - e,
with e = delta_i + sum_tau p_tau xi_{tau,i} + sum_{tau<t} p_tau Delta_{tau,i}. Errors may depend on all that happened
before; the noise has mean zero given that, and the noises of different clients and steps are uncorrelated.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.past_task.runs import T, t
from cflag_theory.claims.cfl.nonconvex.descent import f, f_star, pair, past, squares
from cflag_theory.claims.cfl.nonconvex.floor import floor
from cflag_theory.claims.cfl.symbols import D2, G2, R2, K, N, eta, eta_l, sigma2
from cflag_theory.claims.cfl.vectors import averaged, draw, w
from cflag_theory.claims.cfl.vectors import over_past as E
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement, setting, shown
from cflag_theory.claims.engine.notation import L, sequence, symbol, unfold
from cflag_theory.claims.engine.operators import Operator, index, sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Instance, Obligation, Proof, Step, Use, by_induction
from cflag_theory.claims.engine.terms import dot, norm, norm2, vector

# By round: grad f, the iterates, errors and noises of clients and steps, and the means u and v of gradients and noises.
# Clients and steps are numbered so that the k steps to the farthest local iterate come first.
steps = symbol("nc_steps", "k", positive=True, integer=True)
everyone, own = sum_over(pair, N * K), sum_over(pair, steps)
G = f.grad(w(t))
x = vector("nc iterate of a run", r"\omega_{@1,@2}")(t, pair, draw)
e = vector("nc error", r"e_{@1,@2}")(t, pair, draw)
nu = vector("nc noise of a run", r"\nu_{@1,@2}")(t, pair, draw)
error, v = everyone(e) / (N * K), everyone(nu) / (N * K)
u = vector("nc mean gradient", r"u_{@1}")(t, draw)
GRADIENTS = setting(
    "nc gradients", equal(u, everyone(f.grad(x)) / (N * K) - error), "A local gradient is that of f, less an error."
)
ROUND = setting("nc round", equal(w(t + 1), w(t) - eta * (u + v)), "w_{t+1} = w_t - eta (u + v).")
far = vector("nc farthest", r"(\omega_{@1,i,k}-\omega_{@1})")(t, draw)
FARTHEST = setting(
    "nc farthest",
    equal(far, -eta_l * own(f.grad(x) - e + nu)),
    "The farthest local iterate of a round is k local steps from w_t.",
)


def _by_round(name: str, latex: str, of: sp.Expr) -> Any:
    """𝔼||of||^2 by round."""
    return sequence(
        name, rf"\mathbf{{E}}\|{latex}\|^2", lambda round_: E(norm2(of)).xreplace({t: round_}), nonnegative=True
    )


rounds = index("s")
grad2_t = _by_round("nc_grad2_t", r"\nabla f(\omega_{@})", G)
#: Of the error averaged over clients and local steps.
error2_t = _by_round("nc_error2_t", r"\bar e_{@}", error)
far_t = sequence(
    "nc_far_t",
    r"\max_{i,k<K}\mathbb{E}\|\omega_{@,i,k}-\omega_{@}\|^2",
    lambda round_: E(norm2(far)).xreplace({t: round_}),
)
f_mean = sequence("nc_f_mean", r"\mathbb{E}f(\omega_{@})", lambda round_: E(f(w(round_))))
fall = symbol("nc_fall", "(f_0-f_*)", E(f(w(0))) - f_star)
mean_grad2 = symbol(
    "nc_all_grad2", r"\frac1T\sum_t\mathbb{E}\|\nabla f(\omega_t)\|^2", sum_over(rounds, T)(grad2_t(rounds)) / T
)
error2_mean = symbol(
    "nc_error2_mean", r"\frac1T\sum_t\mathbb{E}\|\bar e_t\|^2", sum_over(rounds, T)(error2_t(rounds)) / T
)
#: Of the noise and of the error of one client at one step of one round, largest.
noise2 = symbol("nc_noise2_of_run", r"\max\mathbb{E}\|\nu\|^2", nonnegative=True)
error2 = symbol("nc_error2", r"e^2", nonnegative=True)

NOISE = Fact("Assumption 2", at_most(noise2, sigma2), "𝔼||nu||^2 <= sigma^2; given the past, nu has mean zero.")
CENTRED = Fact("inner", equal(E(dot(G, v)), 0), "The noises of a round have mean zero given w_t.", (t,))


def uncorrelated(name: str, mean: sp.Expr, count: sp.Expr) -> Fact:
    """𝔼||mean of the noises||^2 <= 𝔼||nu||^2 / count, the largest."""
    words = "The noises of different clients and steps are uncorrelated: 𝔼<nu, nu'> = 0."
    return Fact(name, at_most(E(norm2(mean)), noise2 / count), words, (t,))


def errors_at_most(bound: sp.Expr) -> Fact:
    """The errors of single clients and steps."""
    return Fact("e", at_most(E(norm2(e)), bound), "e^2 is the largest 𝔼||e||^2.", (t, pair))


FAR = (
    Fact("farthest", at_most(E(norm(x - w(t)) ** 2), far_t(t)), "No local iterate is farther off.", (t, pair)),
    uncorrelated("k noises", own(nu) / steps, steps),
)


def whole_run(
    of_round: tuple[Use | Obligation, ...],
    one_round: Obligation,
    lead: sp.Expr,
    errors: Any,
    rest: sp.Expr,
    constant: Any,
) -> tuple[Step, ...]:
    """From grad2_t <= lead (f_t - f_{t+1}) + errors error2_t + rest to the mean; `constant` is before its errors."""

    def bound(count: Any) -> Relation:
        total = sum_over(rounds, count)
        fallen = lead * (f_mean(0) - f_mean(count))
        right = fallen + errors * total(unfold(error2_t(rounds))) + count * rest
        return at_most(total(unfold(grad2_t(rounds))), right)

    more = [
        rules.last_term(name, rounds, t, unfold(of(rounds))) for name, of in (("more", grad2_t), ("errors", error2_t))
    ]
    return (
        by_induction(
            "sum",
            t,
            bound(t),
            *of_round,
            one_round,
            *more,
            given=(one_round.name, "more", "errors"),
        ),
        Instance("all rounds", "sum", t, T),
        *averaged(rules.bounded_below("(19)", f, w(T)), E),
        Obligation("mean of all rounds", mean_bound(lead, constant, rest), ("all rounds", "(19)")),
    )


def mean_bound(lead: sp.Expr, constant: Any, rest: sp.Expr) -> Relation:
    """The mean over the rounds of 𝔼||grad f(w_t)||^2 <= lead (f_0 - f_*)/T + constant times the errors + rest."""
    return at_most(mean_grad2, lead * fall / T + constant * error2_mean + rest)


def descent() -> tuple[Use, ...]:
    """f between w_t and w_{t+1}, in the mean, with the step put in."""
    moved = w(t + 1) - w(t)
    return (
        *averaged(rules.smooth("(25)", f, w(t), w(t + 1)), E),
        *averaged(rules.rewrite("slope", dot(G, moved), given=ROUND), E),
        *averaged(rules.rewrite("length", norm2(moved), given=ROUND), E),
    )


_DESCENT = ("(25)", "slope", "length", "inner", "noise", "Assumption 2", "eta")


def one_step(constant: Any = 1) -> Statement:
    """K = 1; `constant` is before the mean squared error."""
    rest = L * eta * sigma2 / N
    round_goal = at_most(grad2_t(t), 2 / eta * (f_mean(t) - f_mean(t + 1)) + error2_t(t) + rest)
    first = (
        *descent(),
        rules.rewrite("u", E(norm2(u)), given=(GRADIENTS, "K = 1")),
        rules.rewrite("slope of u", E(dot(G, u)), given=(GRADIENTS, "K = 1")),
    )
    given = (*_DESCENT, "u", "slope of u", "known gradients")
    return Statement(
        "K = 1 and eta <= 1/L: the mean over T rounds of 𝔼||grad f(w_t)||^2 is at most 2 (f_0 - f_*)/(eta T) + the "
        "mean over t of 𝔼||e_t||^2 + L eta sigma^2/N, e_t being the mean error of the clients.",
        mean_bound(2 / eta, constant, rest),
        (Fact("eta", at_most(eta, 1 / L), "eta <= 1/L."), NOISE),
        Proof(whole_run(first, Obligation("one round", round_goal, given), 2 / eta, 1, rest, constant)),
        (
            Fact("K = 1", equal(x, w(t)), "K = 1: all gradients are at w_t.", (t, pair)),
            CENTRED,
            Fact("known gradients", equal(E(dot(u, v)), 0), "K = 1: the noises have mean zero given u.", (t,)),
            uncorrelated("noise", v, N),
        ),
    )


def local_drift(error: sp.Expr = error2) -> tuple[Use | Obligation, ...]:
    """L^2 times the largest squared distance of a local iterate, as "near", for 20 K^2 eta_l^2 L^2 <= 1.

    `error` bounds 𝔼||e||^2 of one client at one step.
    """
    share = K**2 * eta_l**2
    inside = grad2_t(t) + L**2 * far_t(t) + error + sigma2 / K
    changed = f.grad(x) - G
    parts = (steps * G, own(changed), -own(e), own(nu))
    # ||a + b + c + d||^2 <= 4 (||a||^2 + ...): the squares of the six differences are not negative.
    apart = [(f"{i} less {j}", a - b) for j, b in enumerate(parts) for i, a in enumerate(parts) if i > j]
    goal = at_most(E(norm2(far)), 4 * eta_l**2 * sum(E(norm2(one)) for one in parts))
    return (
        rules.rewrite("displacement", E(norm2(far)), given=FARTHEST),
        *(rules.square(name, difference, E) for name, difference in apart),
        Obligation("four", goal, ("displacement", *(name for name, _ in apart))),
        *averaged(rules.jensen("changes", own, changed), E),
        *change_at_most(own),
        *averaged(rules.jensen("errors of the steps", own, e), E),
        *at_most_in_the_mean("errors at most", own, norm2(e), "e"),
        Obligation(
            "by parts",
            at_most(far_t(t), 4 * steps**2 * eta_l**2 * (grad2_t(t) + L**2 * far_t(t) + error + noise2 / steps)),
            (
                *("four", "changes", "change", "errors of the steps", "errors at most"),
                *("errors at most, exchanged", "k noises"),
            ),
        ),
        Obligation("far", at_most(far_t(t), 4 * share * inside), ("by parts", "Assumption 2", "k")),
        Obligation("near", at_most(L**2 * far_t(t), 5 * share * L**2 * (inside - L**2 * far_t(t))), ("far", "steps")),
    )


def change_at_most(mean: Operator, name: str = "change") -> tuple[Use | Obligation, ...]:
    """The mean of 𝔼||grad f(w_{t,i,k}) - grad f(w_t)||^2 is at most L^2 far, as `name`."""
    changed = f.grad(x) - G
    apart = x - w(t)
    goal = at_most(norm(changed) ** 2, L**2 * norm(apart) ** 2)
    return (
        rules.lipschitz(f"{name}: L", f, x, w(t)),
        Obligation(f"{name}: squares", goal, (f"{name}: L",)),
        *averaged(rules.mean(f"{name}: mean", mean, given=f"{name}: squares"), E),
        rules.norm_squared(f"{name}: expanded", changed, mean, E),
        *at_most_in_the_mean(f"{name}: far", mean, norm(apart) ** 2, "farthest"),
        Obligation(
            name,
            at_most(E(mean(norm2(changed))), mean.total * L**2 * far_t(t)),
            (f"{name}: expanded", f"{name}: mean", f"{name}: far", f"{name}: far, exchanged"),
        ),
    )


def at_most_in_the_mean(name: str, mean: Operator, of: sp.Expr, given: str) -> tuple[Use, ...]:
    """What is at most something in expectation, for every client and step, is so in the mean over them."""
    return (rules.mean(name, mean, given=given), rules.exchange(f"{name}, exchanged", E, mean, of))


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
    moved = everyone(f.grad(x) - G) / (N * K)
    first = (
        *local_drift(),
        *descent(),
        rules.square("u - v", u - v, E),
        rules.rewrite("off", E(norm2(G - u)), given=GRADIENTS),
        rules.square("moved + error", moved + error, E),
        *averaged(rules.jensen("moves", everyone, f.grad(x) - G), E),
        *change_at_most(everyone, "move"),
    )
    given = (*_DESCENT, "u - v", "off", "moved + error", "moves", "move", "near", "steps")
    return Statement(
        "Any K, eta <= 1/(2L) and 20 K^2 eta_l^2 L^2 <= 1: the mean over T rounds of 𝔼||grad f(w_t)||^2 is at most 4 "
        "(f_0 - f_*)/(eta T) + 4 times the mean over t of 𝔼||e_t||^2 + 20 K^2 eta_l^2 L^2 (e^2 + sigma^2/K) + 4 L eta "
        "sigma^2/(N K), e_t the error averaged over clients and steps, e^2 the largest 𝔼||e||^2 of one client at one "
        "step of any round.",
        mean_bound(4 / eta, constant, rest),
        LOCAL,
        Proof(whole_run(first, Obligation("one round", round_goal, given), 4 / eta, 4, rest, constant)),
        (CENTRED, uncorrelated("noise", v, N * K), errors_at_most(error2), *FAR),
    )


# The drift model: what the drifts and the losses of a round add to the error.
_drifts = vector("nc drifts of a round", r"(\bar\delta+\bar\xi)")(draw)
_losses = vector("nc losses of a round", r"\bar\Delta")(draw)
client2 = symbol("nc_client2", r"\mathbb{E}\|\delta_i\|^2", nonnegative=True)
time2 = symbol("nc_time2", r"\mathbb{E}\|\xi_{\tau,i}\|^2", nonnegative=True)
bar2 = symbol("nc_bar2", r"\mathbb{E}\|\bar e\|^2_\mathrm{drift}", E(norm(_drifts + _losses) ** 2))


def drift_model() -> Statement:
    """The error in the drift model."""
    goal = at_most(bar2, 2 * (G2 + D2 * squares) / N + 2 * past**2 * R2)
    return shown(
        "If the drifts do not depend on w (A = B = 0, as in Sec. 5.1.1): 𝔼||e_t||^2 <= 2 (G^2 + D^2 sum p^2)/N + 2 (1 "
        "- p_t)^2 R^2, all N clients taking part with equal weights; e^2 is at most the same with N = 1.",
        goal,
        rules.norm_squared("error", _drifts + _losses, E),
        rules.square("drifts - losses", _drifts - _losses, E),
        given=("error", "drifts - losses", "drifts", "losses", "client", "time"),
        under=(
            Fact("client", at_most(client2, G2), "𝔼||delta_i||^2 <= G^2."),
            Fact("time", at_most(time2, D2), "𝔼||xi_{tau,i}||^2 <= D^2."),
        ),
        where=(
            Fact(
                "drifts",
                equal(E(norm2(_drifts)), (client2 + squares * time2) / N),
                "delta_i and xi_{tau,i} have mean zero and are uncorrelated over clients and rounds, whatever w is.",
            ),
            Fact(
                "losses",
                at_most(E(norm2(_losses)), past**2 * R2),
                "sum_{tau<t} p_tau Delta_tau with ||Delta_tau|| <= R, over clients.",
            ),
        ),
    )


def nonconvex(constant: Any = 1, local: Any = 4) -> Claim:
    """The theorem, the errors in the drift model, and the floor; the constants are before the errors."""
    below_floor = floor()
    return Claim(
        "ours.cfl_nonconvex",
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
            "The constant 1 of part 1 is sharp, and the floor stays: for eta = 1/L the family of part 4 has 𝔼||grad "
            "f(w_t)||^2 = G^2 = 𝔼||e_t||^2 in every round, T/(T + 1) times the bound.",
            "The K local steps cost the factor 2 of 2||r||^2 + 2||e||^2 and the step size of part 2; sharp constants "
            "for K >= 2 are not claimed.",
        ),
    )


CLAIMS = {"ours.cfl_nonconvex": nonconvex}
