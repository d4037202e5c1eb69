"""The noisy quadratic model: FedAvg with steps 1/t is CFL, and which rates of Table 3 can be stable."""

from __future__ import annotations

from typing import Any

from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import sequence, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, by_induction

t = symbol("nqm_t", "t", nonnegative=True, integer=True)
drift = sequence("nqm_drift", r"\bar z_{@}", real=True)
drifts = sequence("nqm_drift_sum", r"\sum_{s\le @}\bar z_s", real=True)
by_fedavg = sequence("nqm_u_fedavg", r"u_{@}^{\mathrm{FedAvg}}", real=True)
by_cfl = sequence("nqm_u_cfl", r"u_{@}^{\mathrm{CFL}}", real=True)

rate = symbol("nqm_rate_L", r"\eta_l L", nonnegative=True)
mean_now = symbol("nqm_mean_now", r"(\mathbb{E}\,u_t)^2", nonnegative=True)
mean_next = symbol("nqm_mean_next", r"(\mathbb{E}\,u_{t+1})^2", nonnegative=True)


def decaying(step: Any = None) -> Claim:
    """FedAvg with eta_t = 1/(lambda t) is CFL with eta = 1/lambda; `step` is eta_{t+1} lambda instead."""
    size = 1 / (t + 1) if step is None else step
    definitions = (
        Fact("no drift", equal(drifts(0), 0), "An empty sum."),
        Fact("sum", equal(drifts(t + 1), drifts(t) + drift(t + 1)), "The clients' mean drift of one more round."),
        Fact(
            "FedAvg",
            equal(by_fedavg(t + 1), by_fedavg(t) - size * (by_fedavg(t) + drift(t + 1))),
            "FedAvg, K = 1, eta lambda = 1/(t + 1) in round t + 1; u = lambda (w - w*).",
        ),
        Fact(
            "CFL",
            equal(by_cfl(t + 1), -drifts(t + 1) / (t + 1)),
            "CFL without information loss, K = 1, eta lambda = 1, weights 1/(t + 1): w_t cancels and the mean of all "
            "drifts stays.",
        ),
    )
    goal = equal(t * by_fedavg(t), -drifts(t))
    equal((t + 1) * by_fedavg(t + 1), -drifts(t + 1))
    mean = by_induction(
        "mean",
        t,
        goal,
        start=("no drift",),
        given=("sum", "FedAvg"),
    )
    final = equal(by_fedavg(t + 1), by_cfl(t + 1))
    same = Obligation("the statement follows", final, ("mean", "sum", "FedAvg", "CFL"))
    return Claim(
        "ours.cfl_nqm_decaying",
        "beside cfl.nqm_fig2",
        "FedAvg with steps 1/t is CFL",
        (
            Part(
                "1",
                Statement(
                    "On the noisy quadratic model with A = lambda I, K = 1 and without gradient noise, FedAvg with "
                    "eta_t = 1/(lambda t) has the same w_t, draw by draw, as CFL without information loss with eta = "
                    "1/lambda and weights 1/t, for every t >= 1.",
                    final,
                    proof=Proof((mean, same)),
                    definitions=definitions,
                ),
            ),
        ),
        (
            "So CFL's advantage over FedAvg at a constant rate is that of an averaging over one at a constant rate; "
            "it needs all past objectives, decaying steps need none. With several eigenvalues no one schedule does "
            "this for all of them; `cflag nqm` tunes it.",
        ),
    )


def rates(factor: Any = 2) -> Claim:
    """Stability: the mean does not depend on the weights of rounds; `factor` is the edge of eta L."""
    beyond = Fact("beyond", at_most(factor, rate), f"eta L >= {factor}.")
    step = Fact(
        "round",
        equal(mean_next, (1 - rate) ** 2 * mean_now),
        "One local step along the eigenvalue L with zero-mean drifts; weights that sum to one do not enter.",
    )
    goal = at_most(mean_now, mean_next)
    grows = Obligation("the mean grows", goal, ("beyond", "round"))
    return Claim(
        "ours.cfl_nqm_rates",
        "instead of cfl.nqm_table3",
        "CFL is stable for the same learning rates as FedAvg",
        (
            Part(
                "1",
                Statement(
                    "With the gradient A w + B and lambda_max = L, a rate eta_l >= 2/L does not shrink the mean of "
                    "A w_t + B along the eigenvalue L, in FedAvg as in CFL without information loss.",
                    goal,
                    (beyond,),
                    Proof((grows,)),
                    (step,),
                ),
            ),
            Part("2", Statement("All 24 rates of Table 3 are below 2/L.", None)),
            Part(
                "3",
                Statement(
                    "With the gradient 2 A w + B of the printed f and lambda_max = L the edge is 1/L, and 15 of the "
                    "24 rates are not below it.",
                    None,
                ),
            ),
        ),
        ("For K local steps the factor is the K-th power, with the same edge.",),
    )


CLAIMS = {"ours.cfl_nqm_decaying": decaying, "ours.cfl_nqm_rates": rates}
