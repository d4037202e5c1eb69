"""What we prove about the weights of all of (23), and about correlated time drifts: values, constants and a floor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.rates.correlated import C_BOUNDS, least_value, needed, printed_constant, products, squares
from cflag_theory.claims.cfl.rates.remarks import LESS, MORE, rise
from cflag_theory.claims.cfl.symbols import A2, C2, D2, F2, G2, N, eta, eta_g, p_t
from cflag_theory.claims.cfl.weights.correlated import least_weight, pair
from cflag_theory.claims.cfl.weights.independent import apart, apart2, past, past2, v
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack, square
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import L, k, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Induction, Obligation, Proof

R = symbol("R", "R", nonnegative=True)
start = symbol("start_to_optimum", r"{\|\omega_0-\omega^*\|}", nonnegative=True)
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
    s = slack("p_t <= 1")
    quadratic = lead * (R**2 + D2) * square(1 - p_t) + lead * D2 * past2
    alone = Obligation(
        "the statement follows",
        first,
        ("p_t <= 1", "small a"),
        quadratic + 2 * s * (slack("small a") + (1 - factor) * R * start),
    )
    balance = Fact(
        "p_tau*",
        equal(lead * (past * R**2 + (past + 1) * D2) * v, lead * D2 - R * start),
        "The weight of every past round.",
    )
    second = at_most(_bound(1 - past * v, past * v**2), _bound(p_t, past2))
    else_where = Obligation(
        "the statement follows",
        second,
        ("apart", "p_tau*"),
        lead * ((R**2 + D2) * square(1 - p_t - past * v) + D2 * (apart2 - residual("apart")))
        + 2 * (1 - p_t - past * v) * residual("p_tau*"),
    )
    return Claim(
        "ours.cfl_bound_weights",
        "ours",
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
                    (),
                    Proof((apart(), else_where)),
                    (LEAD, balance),
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
        "ours",
        "in place of Remark 4.8 and of the variance term of Theorem 4.7",
        "A larger F raises the bound's variance term",
        (
            Part(
                "1",
                Statement(
                    "The least value of (33), G^2 + min(F^2, D^2) + M^2 (M^2 + (t-1) R^2) / (t M^2 + (t-1) R^2), does "
                    "not decrease with F (F' >= F up to D, D fixed).",
                    goal,
                    (),
                    Proof((step,)),
                    (LESS, MORE),
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
    certificate = (
        products * slack("C <= A")
        + slack("B <= max(B, C)")
        - A2 * residual("one")
        + (factor - 1) * (printed_constant - 1)
    )
    uses = ("one", "C <= A", "B <= max(B, C)")
    return Claim(
        "ours.cfl_largest_constant",
        "ours",
        "beside cfl.thm4_7_cO",
        "When c_O of Theorem 4.7 is large enough as printed",
        (
            Part(
                "1",
                Statement(
                    "1 + B^2 + A^2 sum p^2 + C^2 sum_{tau1 != tau2} p p <= 1 + A^2 + max(B^2, C^2) for weights that "
                    "are not negative and C <= A.",
                    goal,
                    (below_A,),
                    Proof((Obligation("the statement follows", goal, uses, certificate),)),
                    C_BOUNDS,
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
c = symbol("mean_common", r"\bar{c}", real=True)
start2 = symbol("start2", r"\|\omega_0\|^2", nonnegative=True)
common2 = symbol("mean_common2", r"\mathbb{E}\bar{c}^2", nonnegative=True)
fresh2 = sequence("fresh2", r"\mathbb{E}z_{@}^2", nonnegative=True)
iterate2 = sequence("iterate2", r"\mathbb{E}\omega_{@}^2", nonnegative=True)


def correlated_floor(share: Any = 1) -> Claim:
    """A drift that stays moves the limit; `share` scales the floor."""
    split = equal(w(k), y(k) * w_0 + (1 - y(k)) * c + z(k))
    round_ = equal(w(k + 1), w(k) - step(k) * (w(k) - c - fresh(k)))
    facts = (
        Fact("w at 0", equal(w(0), w_0), "The start."),
        Fact("y at 0", equal(y(0), 1), "No round yet."),
        Fact("z at 0", equal(z(0), 0), "No round yet."),
        Fact(
            "round", round_, "sum_tau p_tau grad f_tau is w - c - (a weighted mean of fresh drifts), for any weights."
        ),
        Fact("y", equal(y(k + 1), (1 - step(k)) * y(k)), "What is left of the start."),
        Fact("z", equal(z(k + 1), (1 - step(k)) * z(k) + step(k) * fresh(k)), "What fresh drifts have added."),
        Fact("common", equal(common2 * N, F2), "The mean of N independent c_i with E c_i^2 = F^2."),
    )
    first = Obligation(
        "no round",
        split.subs({k: 0}),
        ("w at 0", "y at 0", "z at 0"),
        (w_0 - c) * residual("y at 0") + residual("z at 0") - residual("w at 0"),
    )
    more = Obligation(
        "one more round",
        split.subs({k: k + 1}),
        ("split (hypothesis)", "round", "y", "z"),
        (w_0 - c) * residual("y") + residual("z") - residual("round") - (1 - step(k)) * residual("split (hypothesis)"),
    )
    zero = sp.S.Zero
    gram = {
        ("w_0", "w_0"): start2,
        ("c", "c"): common2,
        ("z", "z"): fresh2(k),
        ("c", "w_0"): zero,
        ("w_0", "z"): zero,
        ("c", "z"): zero,
    }
    vector = {"w_0": y(k), "c": 1 - y(k), "z": sp.S.One}
    words = "<u, v> = E[u v]; w_0 is fixed, c and z have mean zero and are independent."
    goal = at_most(share * start2 * F2, (N * start2 + F2) * iterate2(k))
    a, b = start2, common2
    follows = Obligation(
        "the statement follows",
        goal,
        ("E w^2", "common", "split"),
        N * square(a * y(k) - b * (1 - y(k)))
        + N * (a + b) * (fresh2(k) + residual("E w^2"))
        + (a * share - iterate2(k)) * residual("common")
        + (1 - share) * N * a * b,
    )
    return Claim(
        "ours.cfl_correlated_floor",
        "ours",
        "in place of Theorem 4.7",
        "What a drift that stays leaves, for every number of rounds",
        (
            Part(
                "1",
                Statement(
                    "f_{t,i}(w) = (w - c_i - z_{t,i})^2 / 2 with independent draws of mean zero, E c_i^2 = F^2 <= D^2 "
                    "= E ||c_i + z_{t,i}||^2, the same N clients in every round, no information loss: Assumptions 1 to "
                    "6 with L = mu = 1. For every number of rounds, and all step sizes and weights that sum to one, "
                    "fixed in advance, E f(w_t) - f* = E w_t^2 / 2 >= ||w_0||^2 F^2 / (2 N ||w_0||^2 + 2 F^2).",
                    goal,
                    (),
                    Proof(
                        (
                            Induction("split", k, split, first, (more,)),
                            rules.bilinearity("E w^2", iterate2(k), vector, vector, gram, words),
                            follows,
                        )
                    ),
                    facts,
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
bias2 = symbol("correlated_bias2", r"\mathbb{E}\|\bar\delta+\sum_\tau p_\tau\bar\xi_\tau\|^2", nonnegative=True)
delta2 = symbol("client_drift2", r"\mathbb{E}\|\delta_i\|^2", nonnegative=True)
drift2 = symbol("one_drift2", r"\mathbb{E}\|\xi_{\tau,i}\|^2", nonnegative=True)
own2 = symbol("drifts_own2", r"\sum_\tau p_\tau^2\mathbb{E}\|\xi_{\tau,i}\|^2", nonnegative=True)
pairs = symbol(
    "drifts_pairs",
    r"\sum_{\tau_1\ne\tau_2}p_{\tau_1}p_{\tau_2}\mathbb{E}\langle\xi_{\tau_1,i},\xi_{\tau_2,i}\rangle",
    real=True,
)


def correlated_bias(factor: Any = 1) -> Claim:
    """What correlated drifts put into the bias of our rates; `factor` scales F^2."""
    goal = at_most(N * bias2, G2 + D2 * squares + factor * F2 * products)
    facts = (
        Fact("delta", at_most(delta2, G2), "Assumption 3 with B = 0."),
        Fact("xi", at_most(drift2, D2), "Assumption 3 with A = 0."),
        Fact("Assumption 6", at_most(pair, F2), "Assumption 6 with C = 0, for two different rounds."),
        Fact("p >= 0", at_most(0, least_weight), "No weight is negative."),
    )
    steps = (
        rules.linear_expectation(
            "clients",
            equal(N * bias2, delta2 + own2 + pairs),
            "clients are independent, and delta_i of xi_{tau,i}, all of mean zero; the moments on the right are means "
            "over the clients.",
        ),
        rules.mean_of_bounds("own", own2, D2 * squares, "with weights p_tau^2.", ("xi",)),
        rules.mean_of_bounds(
            "pairs", pairs, F2 * products, "with weights p_tau1 p_tau2 >= 0.", ("Assumption 6", "p >= 0")
        ),
        Obligation(
            "the statement follows",
            goal,
            ("clients", "delta", "own", "pairs"),
            slack("delta") + slack("own") + slack("pairs") - residual("clients") + (factor - 1) * F2 * products,
        ),
    )
    words = (
        "N E ||mean over clients of delta_i + sum_tau p_tau xi_{tau,i}||^2 <= G^2 + D^2 sum p^2 + F^2 (1 - sum p^2), "
        "for additive drifts, Assumption 6 and weights that are not negative."
    )
    one = Fact("one", equal(squares + products, 1), "The weights sum to one.")
    return Claim(
        "ours.cfl_correlated_bias",
        "ours",
        "in place of Theorem 4.7",
        "Rates under Assumption 6: the bias that correlated drifts leave",
        (Part("1", Statement(words, goal, facts, Proof(steps), (one,))),),
        (
            "With v = sigma^2/N and beta = sqrt((G^2 + F^2 + (D^2 - F^2) sum p^2)/N) + (1 - p_t) R at its largest over "
            "the rounds (sum p^2 = 1 on round 1, so that it is at least sqrt((G^2 + D^2)/N)) the theorems "
            "ours.cfl_strongly_convex and ours.cfl_general_convex hold under Assumption 6: their b_t may depend on w_t "
            "in any way, so that all drifts are counted as bias. F^2 is not divided by anything that grows with T.",
            "Attained by xi_{tau,i} = c_i + z_{tau,i} with independent parts, E ||c_i||^2 = F^2. That a floor is left "
            "for every number of rounds: ours.cfl_correlated_floor.",
        ),
    )


CLAIMS: dict[str, Callable[[], Claim]] = {
    "ours.cfl_bound_weights": bound_weights,
    "ours.cfl_correlated_minimum": correlated_minimum,
    "ours.cfl_largest_constant": largest_constant,
    "ours.cfl_correlated_floor": correlated_floor,
    "ours.cfl_correlated_bias": correlated_bias,
}
