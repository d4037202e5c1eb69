"""What the drift model of the CFL paper allows at best."""

from __future__ import annotations

from typing import Any

from cflag_theory.claims.cfl.rates.floors import apart2, curvature, drift_floor, gap, start2
from cflag_theory.claims.cfl.symbols import D2, G2, N, T
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import k, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Instance, Obligation, Proof, by_induction

#: ||w - w*||^2 that the drift alone would give: G^2/(N lambda^2) or D^2/(N T lambda^2).
reach2 = symbol("drift_distance2", "g", positive=True)
# From some round t_0 >= 2 on, since p_1 = 1.
mean_at = sequence("mean_at", r"\mathbb{E}w_{t_0+@}-w^*", real=True)
pull = sequence("loss_pull", r"(1-p_{t_0+@})R", real=True)
later_step = sequence("later_step", r"\eta_{t_0+@}", positive=True)
later_gap = sequence("later_suboptimality", r"\mathbb{E}f(w_{t_0+@})-f^*", nonnegative=True)
shift = symbol("shift", r"\rho/\lambda", nonnegative=True)
spread2 = sequence("spread2_at", r"\mathrm{Var}\,w_{t_0+@}", nonnegative=True)

#: D^2/(N lambda^2 ||w_0 - w*||^2).
s = symbol("delay", "s", positive=True)


def _floor(stay: bool, constant: Any) -> Statement:
    """The floor of the fixed client drifts, or that of T time drifts."""
    reach = N * curvature**2 * reach2
    chosen = equal(G2, reach) if stay else equal(D2, T * reach)
    value = "g = G^2/(N lambda^2)" if stay else "g = D^2/(N T lambda^2)"
    words = f"{'fixed clients' if stay else 'T independent time drifts'}, {value}"
    return drift_floor(
        f"𝔼 f(w_T) - f* >= (lambda/2) h g/(h + g) with h = ||w_0 - w*||^2 and {words}.",
        G2 if stay else D2,
        Fact("g", chosen, f"{value}."),
        reach2,
        constant,
    )


def _loss(constant: Any) -> Statement:
    """The floor of the information loss."""
    beyond = by_induction(
        "beyond",
        k,
        at_most(shift, mean_at(k)),
        start=("start",),
        given=("mean", "loss", "short"),
    )
    goal = at_most(constant * curvature / 2 * shift**2, later_gap(T))
    follows = Obligation("the statement follows", goal, ("last", "gap"))
    return Statement(
        "On the line, 𝔼 f(w_t) - f* >= rho^2/(2 lambda) in every round from t_0 on, if from this round t_0 >= 2 on (1 "
        "- p_t) R >= rho, the losses point away from w* and eta_t <= 1/lambda, and 𝔼 w_{t_0} - w* >= rho/lambda. In "
        "the first round p_1 = 1, and nothing is lost.",
        goal,
        proof=Proof((beyond, Instance("last", "beyond", k, T), follows)),
        definitions=(
            Fact("start", at_most(shift, mean_at(0)), "𝔼 w_{t_0} - w* >= rho/lambda."),
            Fact(
                "mean",
                equal(mean_at(k + 1), (1 - curvature * later_step(k)) * mean_at(k) + later_step(k) * pull(k)),
                "The expectation of a round: drifts and noise have mean zero, the loss has not.",
            ),
            Fact("loss", at_most(curvature * shift, pull(k)), "(1 - p_t) R >= rho."),
            Fact("short", at_most(curvature * later_step(k), 1), "eta_t <= 1/lambda."),
            Fact("gap", equal(later_gap(T), curvature / 2 * (mean_at(T) ** 2 + spread2(T))), "Mean and variance."),
        ),
    )


def _attained(constant: Any) -> Statement:
    """FedAvg with a falling step on the floor of the time drifts."""
    h, g, squared = start2, reach2, N * curvature**2
    _hypothesis, n = "exact (hypothesis)", k + s
    exact = by_induction(
        "exact",
        k,
        equal(apart2(k) * n, s * h),
        given=("round", "s"),
    )
    goal = equal(gap(T) * (h + g), constant * curvature * h * g / 2)
    follows = Obligation(
        "the statement follows",
        goal,
        ("last", "gap", "s", "g"),
    )
    return Statement(
        "FedAvg (p_t = 1) with G = sigma = 0, K = 1 and the steps eta_t = 1/(lambda (t + 1 + s)), t = 0, 1, ..., s = "
        "D^2/(N lambda^2 h), has 𝔼 f(w_T) - f* = (lambda/2) h g/(h + g), g = D^2/(N T lambda^2), for every T: the "
        "floor of the time drifts itself.",
        goal,
        proof=Proof((exact, Instance("last", "exact", k, T), follows)),
        definitions=(
            Fact(
                "round",
                equal(apart2(k + 1), (n / (n + 1)) ** 2 * apart2(k) + D2 / (squared * (n + 1) ** 2)),
                "w - w* keeps n/(n + 1) of itself, n = t + s, and takes 1/(n + 1) of the mean of N new drifts over "
                "lambda.",
                (k,),
            ),
            Fact("s", equal(D2, squared * s * h), "s = D^2/(N lambda^2 h)."),
            Fact("g", equal(D2, squared * T * g), "g = D^2/(N T lambda^2)."),
            Fact("gap", equal(gap(T), curvature / 2 * apart2(T)), "f = lambda ||w - w*||^2/2."),
        ),
    )


def lower_bounds(constant: Any = 1) -> Claim:
    """Floors for every start, every number of rounds, all positive steps and all round weights chosen beforehand."""
    parts = (
        Part("clients", _floor(True, constant)),
        Part("time", _floor(False, constant)),
        Part("loss", _loss(constant)),
        Part("attained", _attained(constant)),
    )
    return Claim(
        "ours.cfl_lower_bounds",
        "on Theorems 4.1, 4.4, B.5 and B.6",
        "What no step size and no round weights can beat",
        parts,
        (
            "Algorithm 2 on f = lambda ||w - w*||^2/2 with K = 1, additive drifts, any positive steps and any weights "
            "that sum to one, all chosen beforehand: steps that look at the gradients can do better. The parts clients "
            "and time are without information loss. For K > 1 read (1 - (1 - eta_l lambda)^K)/lambda for the step; "
            "averages of the iterates have the same form and the same floors.",
            "Clients that stay: a floor of order G^2/(N lambda) that no T removes. Time drifts: D^2/(N lambda T), with "
            "R = 0 too.",
            "Remark 4.6, on this f: no weights for the past do better than FedAvg with the step of the last part, "
            "which is on the floor for every T and every start: here reuse of the past gains nothing. For every "
            "strongly convex f ours.cfl_decaying_fedavg comes within a factor of about 4 L/mu. With one step for all "
            "rounds it does gain: ours.cfl_time_drift.",
            "f is 𝔼 f_{t,i}. For the sum over rounds, (2), see part sum of cfl.sc_rate and ours.cfl_sum_over_rounds.",
            "Part clients is attained by one round, and with h to infinity by part exact of ours.cfl_decaying_fedavg.",
            "The weights of Lemma B.4 have 1 - p_t >= D^2/(2 D^2 + R^2) from the second round on, where the third part "
            "may start.",
        ),
    )


CLAIMS = {"ours.cfl_lower_bounds": lower_bounds}
