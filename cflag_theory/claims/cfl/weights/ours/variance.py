"""What we prove about the weights of all of (23), and about correlated time drifts: values, constants and a floor."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.moments.gradient_noise import some
from cflag_theory.claims.cfl.rates.correlated import C_BOUNDS, least_value, needed, printed_constant, products, squares
from cflag_theory.claims.cfl.rates.remarks import LESS, MORE, rise
from cflag_theory.claims.cfl.symbols import A2, C2, D2, F2, G2, N, eta, eta_g, p_t
from cflag_theory.claims.cfl.vectors import (
    all_clients,
    client,
    clients,
    delta,
    draw,
    i,
    over_past,
    p,
    rounds,
    tau,
    w_star,
    xi,
)
from cflag_theory.claims.cfl.vectors import w_0 as first_point
from cflag_theory.claims.cfl.weights.independent import APART, SUM, past, past2, v
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack, square
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement, shown
from cflag_theory.claims.engine.notation import L, k, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Induction, Obligation, Proof
from cflag_theory.claims.engine.terms import norm, norm2

R = symbol("R", "R", nonnegative=True)
start = symbol("start_to_optimum", r"{\|\omega_0-\omega^*\|}", norm(first_point - w_star))
#: What c_{p_G} + c_R is multiplied by in (23), and what the bound has besides.
lead = symbol("noise_lead", "a", positive=True)


def _bound(current: sp.Expr, squares: sp.Expr) -> sp.Expr:
    """The right side of (23) as far as it depends on the round's weights."""
    return lead * (G2 + R**2 * (1 - current) ** 2 + D2 * (squares + current**2)) + 2 * R * start * (1 - current)


LEAD = Fact("a", equal(lead, 2 * eta + L * eta**2 / (3 * eta_g**2)), "What (23) multiplies c_{p_G} + c_R by.")


def bound_weights(factor: Any = 1) -> Claim:
    """The weights that minimise the right side of (23); `factor` scales the threshold of part 1."""
    small = Fact("small a", at_most(lead * D2, factor * R * start), "a D^2 <= R ||w_0 - w*||.")
    least_past = Fact("p_t <= 1", at_most(p_t, 1), "The past weights do not sum to less than 0.")
    first = at_most(_bound(sp.S.One, sp.S.Zero), _bound(p_t, past2))
    alone = Obligation("the statement follows", first, ("p_t <= 1", "small a"))
    balance = Fact(
        "p_tau*",
        equal(lead * (past * R**2 + (past + 1) * D2) * v, lead * D2 - R * start),
        "The weight of every past round.",
    )
    second = at_most(_bound(1 - past * v, past * v**2), _bound(p_t, past2))
    else_where = Obligation(
        "the statement follows",
        second,
        ("apart", SUM.name, "p_tau*"),
        lead * ((R**2 + D2) * square(1 - p_t - past * v) + D2 * (slack("apart") + 2 * v * residual(SUM.name)))
        + 2 * (1 - p_t - past * v) * residual("p_tau*"),
    )
    return Claim(
        "ours.cfl_bound_weights",
        "in place of 'best convergence' in Lemma B.4",
        "The weights that minimise the whole right side of (23)",
        (
            Part(
                "1",
                Statement(
                    "Where a D^2 <= R ||w_0 - w*||, a = 2 eta + L eta^2 / (3 eta_g^2), the right side c_1 eta + c_2 "
                    "eta^2 + phi_t of (23) is least at p_t = 1, that is for FedAvg.",
                    first,
                    (small, least_past),
                    Proof((alone,)),
                    (LEAD,),
                ),
            ),
            Part(
                "2",
                Statement(
                    "Otherwise it is least at p_tau = (a D^2 - R ||w_0 - w*||) / (a (t D^2 + (t-1) R^2)) for all tau < "
                    "t.",
                    second,
                    proof=Proof((APART, else_where)),
                    definitions=(LEAD, SUM, balance),
                ),
            ),
        ),
        (
            "phi_t is put at its bound c_3 ||w_0 - w*|| = 2 R (1 - p_t) ||w_0 - w*||, and c_1, c_2 are taken as "
            "printed. For a step size that tends to 0 with R > 0 and w_0 != w*, FedAvg's weights minimise the paper's "
            "own bound.",
        ),
    )


def correlated_minimum(factor: Any = 1, share: Any = 1) -> Claim:
    """The least value of (33) against F; `factor` scales the value at F, `share` the min(F^2, D^2) of part 2."""
    goal, step = rise(sp.sympify(factor))
    return Claim(
        "ours.cfl_correlated_minimum",
        "in place of Remark 4.8 and of the variance term of Theorem 4.7",
        "A larger F raises the bound's variance term",
        (
            Part(
                "1",
                Statement(
                    "The least value of (33), G^2 + min(F^2, D^2) + M^2 (M^2 + (t-1) R^2) / (t M^2 + (t-1) R^2), does "
                    "not decrease with F (F' >= F up to D, D fixed).",
                    goal,
                    proof=Proof((step,)),
                    definitions=(LESS, MORE),
                ),
            ),
            Part("2", least_value(share)),
        ),
        (
            "It goes from the value of Theorem 4.1 at F = 0 to G^2 + D^2, FedAvg's, at F = D, for every R and t.",
            "Equal for t = 1, where nothing is averaged, and where D^2 - F^2 = 0 already.",
        ),
    )


def largest_constant(factor: Any = 1) -> Claim:
    """When the printed c_O of Theorem 4.7 is large enough; `factor` scales A^2 + max(B^2, C^2)."""
    below_A = Fact("C <= A", at_most(C2, A2), "C <= A.")
    goal = at_most(needed, 1 + factor * (printed_constant - 1))
    uses = ("one", "C <= A", "B <= max(B, C)")
    return Claim(
        "ours.cfl_largest_constant",
        "beside cfl.thm4_7_cO",
        "When c_O of Theorem 4.7 is large enough as printed",
        (
            Part(
                "1",
                shown(
                    "1 + B^2 + A^2 sum p^2 + C^2 sum_{tau1 != tau2} p p <= 1 + A^2 + max(B^2, C^2) for weights that "
                    "are not negative and C <= A.",
                    goal,
                    given=uses,
                    under=(below_A,),
                    where=C_BOUNDS,
                ),
            ),
        ),
        ("For C <= A and C <= B it is attained at p_t = 1.",),
    )


# N clients with drifts c_i + z_{t,i}: c_i stays, z_{t,i} is fresh. y is what is left of w_0, whatever the step sizes.
y = sequence("start_share", "y_{@}", real=True)
step = sequence("step_of_round", r"\eta_{@}", real=True)
w = sequence("iterate", r"\omega_{@}", real=True)
z = sequence("fresh_part", "z_{@}", real=True)
fresh = sequence("fresh_drift", r"\bar{z}_{@}", real=True)
w_0 = symbol("start_point", r"\omega_0", real=True)
c = sequence("mean_common", r"\bar{c}", real=True)
start2 = symbol("start2", r"\|\omega_0\|^2", w_0**2)
common2 = symbol("mean_common2", r"\mathbb{E}\bar{c}^2", over_past(c(draw) ** 2))
fresh2 = sequence("fresh2", r"\mathbb{E}z_{@}^2", lambda k: over_past(z(k, draw) ** 2))
iterate2 = sequence("iterate2", r"\mathbb{E}\omega_{@}^2", lambda k: over_past(w(k, draw) ** 2))


def correlated_floor(share: Any = 1) -> Claim:
    """A drift that stays moves the limit; `share` scales the floor."""
    parts = y(k) * w_0 + (1 - y(k)) * c(draw) + z(k, draw)
    split = equal(w(k, draw), parts)
    round_ = equal(w(k + 1, draw), w(k, draw) - step(k) * (w(k, draw) - c(draw) - fresh(k, draw)))
    added = equal(z(k + 1, draw), (1 - step(k)) * z(k, draw) + step(k) * fresh(k, draw))
    facts = (
        Fact("w at 0", equal(w(0, draw), w_0), "The start."),
        Fact("y at 0", equal(y(0), 1), "No round yet."),
        Fact("z at 0", equal(z(0, draw), 0), "No round yet."),
        Fact(
            "round", round_, "sum_tau p_tau grad f_tau is w - c - (a weighted mean of fresh drifts), for any weights."
        ),
        Fact("y", equal(y(k + 1), (1 - step(k)) * y(k)), "What is left of the start."),
        Fact("z", added, "What fresh drifts have added."),
        Fact("common", equal(common2 * N, F2), "The mean of N independent c_i with E c_i^2 = F^2."),
        Fact("c has mean zero", equal(over_past(c(draw)), 0), "Each c_i has mean zero."),
        Fact("z has mean zero", equal(over_past(z(k, draw)), 0), "Fresh drifts have mean zero.", (k,)),
        Fact("apart", equal(over_past(c(draw) * z(k, draw)), 0), "Fresh drifts are independent of the c_i.", (k,)),
    )
    first = Obligation("no round", split.subs({k: 0}), ("w at 0", "y at 0", "z at 0"))
    more = Obligation("one more round", split.subs({k: k + 1}), ("split (hypothesis)", "round", "y", "z"))
    goal = at_most(share * start2 * F2, (N * start2 + F2) * iterate2(k))
    a, b = start2, common2
    follows = Obligation(
        "the statement follows",
        goal,
        ("𝔼 w^2", "common"),
        N * square(a * y(k) - b * (1 - y(k)))
        + N * (square(w_0) + b) * (fresh2(k) + residual("𝔼 w^2"))
        + (a * share - iterate2(k)) * residual("common")
        + (1 - share) * N * square(w_0) * b,
    )
    return Claim(
        "ours.cfl_correlated_floor",
        "in place of Theorem 4.7",
        "What a drift that stays leaves, for every number of rounds",
        (
            Part(
                "1",
                Statement(
                    "f_{t,i}(w) = (w - c_i - z_{t,i})^2 / 2 with independent draws of mean zero, E c_i^2 = F^2 <= D^2 "
                    "= 𝔼 ||c_i + z_{t,i}||^2, the same N clients in every round, no information loss: Assumptions 1 to "
                    "6 with L = mu = 1. For every number of rounds, and all step sizes and weights that sum to one, "
                    "fixed in advance, 𝔼 f(w_t) - f* = 𝔼 w_t^2 / 2 >= ||w_0||^2 F^2 / (2 N ||w_0||^2 + 2 F^2).",
                    goal,
                    proof=Proof(
                        (
                            Induction("split", k, split, first, (more,)),
                            Obligation("w^2", equal(w(k, draw) ** 2, parts**2), ("split",)),
                            rules.mean("squares", over_past, given="w^2"),
                            Obligation(
                                "𝔼 w^2",
                                equal(iterate2(k), y(k) ** 2 * a + (1 - y(k)) ** 2 * b + fresh2(k)),
                                ("squares", "c has mean zero", "z has mean zero", "apart"),
                            ),
                            follows,
                        )
                    ),
                    definitions=facts,
                ),
            ),
        ),
        (
            "So an error below it is never reached, whereas Theorem 4.7 promises every epsilon (phi = 0 where R = 0, "
            "or where p_t = 1). K local steps or averages of iterates change y alone.",
            "Attained: with z = 0 and y = F^2 / (F^2 + N ||w_0||^2), which step sizes below 1 reach in one round.",
            "As N grows it falls like F^2 / (2 N).",
        ),
    )


# One client, the mean of all clients: second moments of the drifts, and what a single pair of rounds has at most.
_mix = rounds(p(tau) * xi(tau, i))
_own = rounds(p(tau) ** 2 * over_past(norm2(xi(tau, i))))
bias2 = symbol(
    "correlated_bias2",
    r"\mathbb{E}\|\bar\delta+\sum_\tau p_\tau\bar\xi_\tau\|^2",
    over_past(norm2(clients(delta(i) + _mix))),
)
delta2 = symbol("mean_client_drift2", r"\mathbb{E}\|\delta_i\|^2", clients(over_past(norm2(delta(i)))))
drift2 = symbol("one_drift2", r"\mathbb{E}\|\xi_{\tau,i}\|^2", over_past(norm2(xi(some, client))))
own2 = symbol("drifts_own2", r"\sum_\tau p_\tau^2\mathbb{E}\|\xi_{\tau,i}\|^2", clients(_own))
pairs = symbol(
    "drifts_pairs",
    r"\sum_{\tau_1\ne\tau_2}p_{\tau_1}p_{\tau_2}\mathbb{E}\langle\xi_{\tau_1,i},\xi_{\tau_2,i}\rangle",
    clients(over_past(norm2(_mix)) - _own),
)


def correlated_bias(factor: Any = 1) -> Claim:
    """What correlated drifts put into the bias of our rates; `factor` scales F^2."""
    goal = at_most(N * bias2, G2 + D2 * squares + factor * F2 * products)
    facts = (
        Fact("delta", at_most(delta2, G2), "Assumption 3 with B = 0."),
        Fact("xi", at_most(drift2, D2), "Assumption 3 with A = 0, for every round and client.", (some, client)),
        Fact(
            "Assumption 6",
            at_most(pairs, F2 * products),
            "Assumption 6 with C = 0, weighted with p_{tau_1} p_{tau_2} >= 0 and summed.",
        ),
        Fact(
            "clients",
            equal(N * bias2, delta2 + own2 + pairs),
            "Clients are independent, and delta_i of xi_{tau,i}, all of mean zero; the moments on the right are means "
            "over the clients.",
        ),
    )
    steps = (
        rules.at("a round", some, tau, given="xi"),
        rules.at("a client", client, i, given="a round"),
        rules.mean("all rounds", rounds, p(tau) ** 2, given="a client"),
        rules.mean("own", all_clients, given="all rounds"),
        Obligation("the statement follows", goal, ("clients", "delta", "own", "Assumption 6", "squares")),
    )
    words = (
        "N 𝔼 ||mean over clients of delta_i + sum_tau p_tau xi_{tau,i}||^2 <= G^2 + D^2 sum p^2 + F^2 (1 - sum p^2), "
        "for additive drifts, Assumption 6 and weights that are not negative."
    )
    one = Fact("one", equal(squares + products, 1), "The weights sum to one.")
    weights2 = Fact("squares", equal(squares, rounds(p(tau) ** 2)), "The sum of the squared weights.")
    return Claim(
        "ours.cfl_correlated_bias",
        "in place of Theorem 4.7",
        "Rates under Assumption 6: the bias that correlated drifts leave",
        (Part("1", Statement(words, goal, facts, Proof(steps), (one, weights2))),),
        (
            "With v = sigma^2/N and beta = sqrt((G^2 + F^2 + (D^2 - F^2) sum p^2)/N) + (1 - p_t) R at its largest over "
            "the rounds (sum p^2 = 1 on round 1, so that it is at least sqrt((G^2 + D^2)/N)) the theorems "
            "ours.cfl_strongly_convex and ours.cfl_general_convex hold under Assumption 6: their b_t may depend on w_t "
            "in any way, so that all drifts are counted as bias. F^2 is not divided by anything that grows with T.",
            "Attained by xi_{tau,i} = c_i + z_{tau,i} with independent parts, 𝔼 ||c_i||^2 = F^2. That a floor is left "
            "for every number of rounds: ours.cfl_correlated_floor.",
        ),
    )


CLAIMS = {
    "ours.cfl_bound_weights": bound_weights,
    "ours.cfl_correlated_minimum": correlated_minimum,
    "ours.cfl_largest_constant": largest_constant,
    "ours.cfl_correlated_floor": correlated_floor,
    "ours.cfl_correlated_bias": correlated_bias,
}
