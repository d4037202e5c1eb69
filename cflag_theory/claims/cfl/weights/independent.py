"""Lemma B.4 and (33): the weights of the rounds, for time drifts that are independent or bounded by Assumption 6."""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.cfl.one_round.progress import dist
from cflag_theory.claims.cfl.symbols import D2, F2, G2, R2, K, N, eta, eta_g, p_t, sigma2
from cflag_theory.claims.cfl.vectors import p, tau
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack, square
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import L, symbol
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, Step

#: The number of past rounds; t itself is one more.
past = symbol("past_rounds", "(t-1)", nonnegative=True, integer=True)
#: The optimal weights, of a past and of the current round, and their denominator.
v = symbol("past_weight", r"p_{\tau,i}^\star", nonnegative=True)
w = symbol("current_weight", r"p_{t,i}^\star", nonnegative=True)
over_past_rounds = sum_over(tau, past)
past2 = symbol("past_weights2", r"\sum_{\tau<t}p_{\tau,i}^2", over_past_rounds(p(tau) ** 2))
past_sum = symbol("past_weights_sum", r"\sum_{\tau<t}p_{\tau,i}", over_past_rounds(p(tau)))
W = symbol("weights_total", "W", positive=True)

loss_size = symbol("loss_R", "R", nonnegative=True)

# Assumption 6: what two time drifts share, at most, and what is left.
shared = symbol("shared2", r"\min(F^2,D^2)", nonnegative=True)
M2 = symbol("M2", "M^2", nonnegative=True)
cross = symbol("weights_cross", r"\sum_{\tau_1\ne\tau_2}p_{\tau_1,i}p_{\tau_2,i}", real=True)


def chosen(left_over: sp.Expr) -> tuple[Fact, ...]:
    """The weights of Lemma B.4 for X = D^2, and those after (33) for X = M^2."""
    denominator = "The denominator of the weights; they have a value where it is positive."
    return (
        Fact("W", equal(W, (past + 1) * left_over + past * R2), denominator),
        Fact("p_tau*", equal(v, left_over / W), "The weight of every past round."),
        Fact("p_t*", equal(w, (past * R2 + left_over) / W), "The weight of the current round."),
    )


SHARED = (
    Fact("min(F^2, D^2)", equal(shared, sp.Min(F2, D2)), "What two time drifts share, by Assumption 6, at most."),
    Fact("M^2", equal(D2, M2 + shared), "M^2 = max(0, D^2 - F^2) = D^2 - min(F^2, D^2)."),
)
SUM = Fact("sum of the past", equal(past_sum, 1 - p_t), "The weights sum to one.")
ONE = Fact("one", equal(cross + past2 + p_t**2, 1), "The weights sum to one, and so does the square of their sum.")


def noise(left_over: sp.Expr, current: sp.Expr = p_t, squares: sp.Expr = past2) -> sp.Expr:
    """c_{p_G,i} + c_{R,i} for weights that sum to one."""
    return G2 + (1 - current) ** 2 * R2 + left_over * (squares + current**2)


def least_noise(left_over: sp.Expr) -> sp.Expr:
    """The same at the weights of `chosen`."""
    return noise(left_over, w, past * v**2)


def balanced(left_over: sp.Expr) -> tuple[Step, ...]:
    """The weights sum to one, as "sum", and the derivatives agree, as "balance"."""
    sums = equal(past * v + w, 1)
    balance = equal(R2 * (1 - w) + left_over * v, left_over * w)
    return (
        Obligation("sum", sums, ("W", "p_tau*", "p_t*")),
        Obligation("balance", balance, ("p_tau*", "p_t*", "sum")),
    )


#: How far the past weights are from the optimal ones is no less than 0.
APART = rules.square("apart", p(tau) - v, over_past_rounds)


_USED = ("sum", "balance", "apart", SUM.name)


def gap(left_over: sp.Expr) -> sp.Expr:
    """noise - least_noise, written with residuals."""
    squares = (R2 + left_over) * square(p_t - w) + left_over * slack("apart")
    return squares + 2 * (w - p_t) * residual("balance") + 2 * left_over * v * (residual(SUM.name) - residual("sum"))


def _minimum(words: str, scale: sp.Expr, rest: sp.Expr) -> Statement:
    goal = at_most(scale * least_noise(D2) + rest, scale * noise(D2) + rest)
    follows = Obligation("the statement follows", goal, _USED, scale * gap(D2))
    return Statement(words, goal, proof=Proof((*balanced(D2), APART, follows)), definitions=(SUM, *chosen(D2)))


def value(left_over: sp.Expr) -> Obligation:
    """noise(X) at the weights is G^2 + X p_t*, as "value", after the steps of `balanced`."""
    return Obligation("value", equal(least_noise(left_over), G2 + left_over * w), ("sum", "balance"))


def _whole_bound() -> Part:
    """The right side of (23) at the weights of Lemma B.4 and at others."""
    factor = 2 * eta + L * eta**2 / (3 * eta_g**2)
    goal = at_most(
        factor * least_noise(D2) + 2 * loss_size * (1 - w) * dist, factor * noise(D2) + 2 * loss_size * (1 - p_t) * dist
    )
    return Part(
        "4",
        Statement(
            "At these weights c_1 eta + c_2 eta^2 + phi_t, what (23) adds, is at most what it is at any weights that "
            "sum to one, of one client; phi_t = c_3 𝔼||w_t - w*||, and terms without weights are left out.",
            goal,
            definitions=(SUM, Fact("R", equal(loss_size**2, R2), "R, from R^2."), *chosen(D2)),
        ),
        kind="question",
        reading="'best convergence' is the least right side of (23)",
    )


def lemB4() -> Claim:
    """Lemma B.4."""
    words = (
        "Wherever the formula for the weights of Lemma B.4 has a value, {} there is at most {} at any weights that sum "
        "to one, of one client."
    )
    least = (
        "min {c_{p_G} + c_R} = G^2 + D^2 (D^2 + (t-1) R^2) / (t D^2 + (t-1) R^2), the quotient being p_t, wherever it "
        "has a value."
    )
    last = value(D2)
    return Claim(
        "cfl.lemB4",
        "Lemma B.4",
        "The weights of the rounds that minimise c_1 and c_2",
        (
            Part("1", _minimum(words.format("c_1", "c_1"), sp.Integer(2), sigma2 / (N * K))),
            Part("2", _minimum(words.format("c_2", "c_2"), L / (3 * eta_g**2), L * sigma2 / (6 * eta_g**2 * K))),
            Part("3", Statement(least, last.goal, proof=Proof((*balanced(D2), last)), definitions=chosen(D2))),
            _whole_bound(),
        ),
        (
            "c_{p_G} and c_R are means over the clients of terms in their own weights, so that one client's weights "
            "may be looked at alone. No weight need be non-negative: the printed ones are.",
            "For D = 0 the formula reads 0/0 on round 1, where p_1 = 1 is the only choice, and for D = R = 0 on every "
            "round, where all weights are equally good. Otherwise the minimum is taken nowhere else, except that for "
            "D = 0 past weights that sum to zero may be added.",
            "The lemma says that these weights minimise c_1 and c_2; 'to get best convergence' names no quantity. "
            "Part 4 asks whether they minimise the right side of (23). They do not: t = 2, D = R = 1, G = 0, L = 3, "
            "eta = 1/100 and 𝔼||w_t - w*|| = 1 give 10201/15000 at the weights of the lemma and 201/10000 at "
            "FedAvg's, p_t = 1; without c_2 that is 17/25 and 1/50. It follows up to phi, which is how Theorem 4.1 "
            "counts, and not of (23) as a whole: c_3 = 2 R (1 - p_t), without a factor eta, is least at p_t = 1, that "
            "is for FedAvg. c_{p_B} is left out. The weights that minimise the whole right side, and when they are "
            "FedAvg's: ours.cfl_bound_weights.",
        ),
    )


def eq33() -> Claim:
    """(33) and the weights after it."""
    objective = G2 + (1 - p_t) ** 2 * R2 + D2 * (past2 + p_t**2) + shared * cross
    goal = at_most(least_noise(M2) + shared, objective)
    # D^2 = M^2 + min, and the weights' products sum to one.
    rest = shared * residual("one") + (past2 + p_t**2) * residual("M^2")
    follows = Obligation(
        "the statement follows", goal, ("sum", "balance", "apart", SUM.name, "one", "M^2"), gap(M2) + rest
    )
    statement = Statement(
        "Wherever the formula for the weights after (33) has a value, the objective of (33) there is at most what it "
        "is at any weights that sum to one, of one client.",
        goal,
        proof=Proof((*balanced(M2), APART, follows)),
        definitions=(*chosen(M2), SUM, ONE, *SHARED),
    )
    return Claim(
        "cfl.eq33",
        "(33) and the weights after it",
        "The optimal weights under Assumption 6",
        (Part("1", statement),),
        (
            "The sum over tau_1 != tau_2 runs over ordered pairs, as in the square that it comes from. At the optimum "
            "it is 1 - sum p_tau^2 and not 0: the value of (33) contains min(F^2, D^2), see cfl.thm4_7.",
            "For F >= D the objective is D^2 + R^2 (1 - p_t)^2 but for G^2: with R > 0 every choice with p_t = 1 is "
            "optimal, and with R = 0 every choice is, while the printed formula reads 0/0 then.",
            "c_{p_G,i}, which (33) is to minimise, is printed with F^2 for min(F^2, D^2). For F > D the printed "
            "weights minimise that too, among weights that are not negative; over all weights it has no minimum from "
            "t = 3 on.",
        ),
    )


CLAIMS = {"cfl.lemB4": lemB4, "cfl.eq33": eq33}
