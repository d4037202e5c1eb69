"""The convex rates of CFL: Theorems 4.1 and B.5 with the lines of App. B.4.4 that they come from.

T = O(.) is read as: there is a C such that for every problem in the stated class, every start, every epsilon > 0 and
every T of at least C times the bracket, some number of rounds up to T, with suitable steps in the stated range that are
chosen beforehand, gives 𝔼 f - f* <= epsilon + phi. Where f is the sum over rounds, (2), they are those of the run.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.one_round.ours.local_drift import rms_loss
from cflag_theory.claims.cfl.one_round.ours.round import bias, rms_dist, rms_error, spread
from cflag_theory.claims.cfl.one_round.progress import gap as round_gap
from cflag_theory.claims.cfl.one_round.progress import next2
from cflag_theory.claims.cfl.rates import floors, summed
from cflag_theory.claims.cfl.rates.floors import apart2, gap, start2
from cflag_theory.claims.cfl.rates.summed import EXPECTED, SUMMED
from cflag_theory.claims.cfl.rates.weighted_means import C, drift2, phi
from cflag_theory.claims.cfl.symbols import A2, B2, G2, R2, K, N, T, c_O, eta, eta_g, sigma2
from cflag_theory.claims.cfl.symbols import mu as convexity
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import FOR_NO_CONSTANT, Claim, Fact, Pairs, Part, Repair, Source, Statement
from cflag_theory.claims.engine.notation import L, k, sequence, symbol, unfold
from cflag_theory.claims.engine.operators import Least, index, sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Instance, Obligation, Proof, Step, by_induction

mu = symbol("convexity", r"\mu", positive=True)
eps = symbol("epsilon", r"\epsilon", positive=True)
#: The rounds t < T, for sums and minima.
round_index = index("l")
least = symbol("least_suboptimality", r"\min_{t<T}\mathbb{E}f(w_t)-f^*", Least(round_index, T, gap(round_index)))
total = sequence(
    "total_suboptimality",
    r"\sum_{t<@}(\mathbb{E}f(w_t)-f^*)",
    lambda count: sum_over(round_index, count)(gap(round_index)),
)

ENOUGH = "T is at least C times the bracket; some number of rounds up to T is to do."
CLASS = Fact("c_O", equal(c_O, 1 + A2 + B2), "c_O = 1 + A^2 + B^2.")
_TIME = drift2 * R2 / (R2 + drift2)
#: c_O = 1: no drift grows with the gradient.
NO_DRIFTS = (Fact("A", equal(A2, 0), "A = 0."), Fact("B", equal(B2, 0), "B = 0."))


STEP_SIZE = Fact("step size", at_most(eta, 1 / (10 * L)), "eta <= 1 / (10 L).")
ETA_G = Fact("eta_g", at_most(1, eta_g), "eta_g >= 1.")
L_AT_LEAST_MU = Fact("L >= mu", at_most(mu, L), "mu <= L.")


def _enough(bracket: sp.Expr) -> Fact:
    return Fact("T", at_most(C * bracket, T), ENOUGH)


#: No error of the gradients, no loss and no noise in ours.cfl_round, and eta_g = 1.
NOTHING = tuple((one, sp.S.Zero) for one in (rms_error, spread, rms_loss, bias))
NO_NOISE = ((sigma2, sp.S.Zero), (eta_g, sp.S.One))


def of_cfl_round(
    part: str, at: Pairs = (), taken: Pairs = (), here: Pairs = (), besides: tuple[str, ...] = ()
) -> Source:
    """A part of ours.cfl_round in round k of a run."""
    in_run = ((next2, apart2(k + 1)), (rms_dist, sp.sqrt(apart2(k))), (round_gap, gap(k)))
    noises = ("steps", "mean noise", "summed noise", "mean loss", "summed loss", "eta")
    return Source("ours.cfl_round", part, at=at, taken=(*in_run, *taken), here=here, besides=(*noises, *besides))


def reached(words: str, bracket: sp.Expr, bias: Any = phi, left: sp.Expr | None = None) -> Statement:
    return Statement(words, at_most(gap(T) if left is None else left, eps + bias), (_enough(bracket), CLASS))


def _noiseless_linear() -> Repair:
    """Without drifts, noise and loss: the logarithm that the printed rate lacks."""
    u = mu * eta / 2
    contraction = by_induction(
        "distance",
        k,
        at_most(apart2(k), (1 - u) ** k * start2),
        given=(
            "(23)",
            "eta",
        ),
    )
    goal = at_most(gap(T), eps)
    follows = Obligation("the statement follows", goal, ("last", "decay", "T", "smooth"))
    return Repair(
        "typo",
        "a factor ln(L ||w_0 - w*||^2/(2 epsilon)) in L c_O/mu: exp(-mu eta T/2) must fall below epsilon",
        Statement(
            "Without drifts, noise and loss (A = B = G = D = R = sigma = 0, c_O = 1), T >= (2/(mu eta)) ln(L ||w_0 - "
            "w*||^2/(2 epsilon)) rounds give f(w_T) - f* <= epsilon: (L c_O/mu) times the logarithm, at the largest "
            "eta.",
            goal,
            (
                Fact("T", at_most(L * start2 * sp.exp(-u * T), 2 * eps), "T >= (2/(mu eta)) ln(L h/(2 epsilon))."),
                Fact("eta", at_most(u, 1), "mu eta <= 2; the largest eta is far below."),
                STEP_SIZE,
                L_AT_LEAST_MU,
                Fact("smooth", at_most(gap(T), L / 2 * apart2(T)), "f is L-smooth."),
            ),
            Proof(
                (
                    contraction,
                    Instance("last", "distance", k, T),
                    rules.decay("decay", T, given="eta"),
                    follows,
                )
            ),
            (
                Fact(
                    "(23)",
                    at_most(apart2(k + 1), (1 - u) * apart2(k)),
                    "(23) without drifts, noise and loss, f(w_t) - f* >= 0 left out: gradient descent.",
                    (k,),
                    (of_cfl_round("1", ((convexity, mu), *NO_NOISE), NOTHING),),
                ),
            ),
        ),
    )


def sc_rate() -> Claim:
    """The strongly convex rate of CFL."""
    noise = G2 + _TIME
    bracket = L * c_O / mu + sigma2 / (mu * N * K * eps) + noise / (mu * eps)
    first = reached(
        "Theorem 4.1, strongly convex, with clients that stay: 𝔼 f(w_T) - f* <= epsilon + phi after T = O(L c_O/mu + "
        "sigma^2/(mu N K epsilon) + (G^2 + D^2 R^2/(R^2 + D^2))/(mu epsilon)) rounds.",
        bracket,
    )
    stay = floors.fixed_clients(
        "f = mu ||w - w*||^2/2, lambda = mu = L, K = 1, R = 0 (so phi = 0), any D: 𝔼 f(w_T) - f* >= G^2/(4 N mu) for "
        "every T, all positive steps and all round weights chosen beforehand, if ||w_0 - w*||^2 = G^2/(N mu^2); "
        "averages of the iterates too.",
    )
    once = floors.new_in_every_round(
        "f = mu ||w - w*||^2/2, lambda = mu = L, K = 1, G = R = sigma = 0 (so phi = 0): 𝔼 f(w_T') - f* >= D^2/(4 N mu "
        "T) for every number T' of rounds up to T, all positive steps and all round weights chosen beforehand, if "
        "||w_0 - w*||^2 = D^2/(N T mu^2). So T >= D^2/(4 N mu epsilon), where the theorem prints O(L/mu), and Theorem "
        "B.5 powers of 1/epsilon up to 1/2.",
    )
    second = reached(
        "The same with G = 0: the time drifts enter as D^2 R^2/(R^2 + D^2)/(mu epsilon); in Theorem B.5 further as "
        "(D^6/(R^2 + D^2)^2/(mu epsilon))^{1/2} and (L D^6/(R^2 + D^2)^2/(mu^2 epsilon))^{1/3}.",
        L * c_O / mu + sigma2 / (mu * N * K * eps) + _TIME / (mu * eps),
    )
    third = Statement(
        "The same without drifts, noise and loss (A = B = G = D = R = sigma = 0, c_O = 1; the weights of Lemma B.4 are "
        "then 0/0, and all that sum to one are alike): f(w_T) - f* <= epsilon after T = O(L c_O/mu) rounds.",
        at_most(gap(T), eps),
        (_enough(L * c_O / mu), CLASS, *NO_DRIFTS),
    )
    fourth = reached(
        "The same with G = R = sigma = 0 (so phi = 0 and p_tau = 1/t), f with the weights 1/(N T), as the objective of "
        "the last round: 𝔼[f(w_T) - f*] <= epsilon after the rounds of Theorem B.5, T = O(L c_O/mu + (D^2/(mu "
        "epsilon))^{1/2} + (L D^2/(mu^2 epsilon))^{1/3}), of which Theorem 4.1 has the first term.",
        L * c_O / mu + sp.sqrt(drift2 / (mu * eps)) + sp.cbrt(L * drift2 / (mu**2 * eps)),
        0,
        summed.gap,
    )
    behind = summed.behind(
        "f_{t,i} = mu ||w||^2/2 - <xi_{t,i}, w>, lambda = mu, L = n mu/3 with n <= T, K = 1: 𝔼[f(w_T) - f*] >= 2 L "
        "D^2/(3 N mu^2 T^2) for every T, any start and all steps in the range; earlier iterates and averages too. So T "
        ">= (2 L D^2/(3 N mu^2 epsilon))^{1/2}: with epsilon to 0 and L/mu to infinity no C serves, nor would it with "
        "a logarithm at L c_O/mu."
    )
    slow = floors.geometric(
        "f = L ||w - w*||^2/2, mu = L, c_O = N = K = 1, no noise: f(w_T) - f* >= (L h/2) (64/81)^T for all steps in "
        "the range; at T = C L c_O/mu = C, and before, this is a fixed number, and not below every epsilon."
    )
    return Claim(
        "cfl.sc_rate",
        "App. B.4.4, Theorem 4.1, App. B.5 (Theorem B.5)",
        "Strongly convex rate of CFL",
        (
            Part("clients", first, refutation=stay, unseen=FOR_NO_CONSTANT, reading=EXPECTED),
            Part("time", second, refutation=once, unseen=FOR_NO_CONSTANT, reading=EXPECTED),
            Part("sum", fourth, refutation=behind, unseen=FOR_NO_CONSTANT, reading=SUMMED),
            Part("log", third, _noiseless_linear(), refutation=slow, unseen=FOR_NO_CONSTANT),
        ),
        (
            "Clients that stay keep their delta_i: what the rounds find is the minimiser of their mean objective. Its "
            "distance is of order G/(sqrt(N) mu), and no step size removes it; for K > 1 lambda eta_t is 1 - (1 - "
            "eta_l lambda)^K, and nothing else changes.",
            "𝔼[delta|w] = 0 read at the iterates would leave no clients that stay: after one round from a fixed w_1 "
            "the mean drift has 𝔼<delta, w_2> = eta G^2/N. f as the mean of the N clients at hand, sum_i delta_i = 0, "
            "is not the model either: the delta_i are independent, f = 𝔼 f_{t,i} (Sec. 3.3), and Sec. 5.1 draws them "
            "so. Nor is a fresh S_t in every round from very many clients: Lemma B.2, (2) and Prop. 4.3 set that case "
            "apart.",
            "A past drift is used again in every later round, so it is not noise that averages out: T rounds have T "
            "drifts and their mean has the second moment D^2/T. Where R = 0 the theorem promises more than that.",
            "Under (2) the floors of parts clients and time fall, as w* moves with the drifts: on the f of part time "
            "with mu = L, T^2 (f - f*) tends to 1.955 D^2/mu at the largest step, which Theorem B.5 allows and Theorem "
            "4.1 does not. Part sum is what is left of it with L > mu. Part log has no drift and serves both readings. "
            "In the model of Sec. 3.3 the two f differ by no more than ours.cfl_sum_over_rounds has.",
            "The version of 2022 has this theorem as its Theorem 4.2, with all terms of Theorem B.5, and defines f by "
            "(2) alone; its drifts are delta_{t,i}, which are said not to depend on t.",
            "The line with mu exp(-mu T/(L c_O)) comes from eta_max of order 1/(8 L c_O): exp(-mu T/(16 L c_O)) is "
            "what follows, and the constants in an exponent are not free.",
            "All rests on Lemma B.2 at points that depend on the drifts: cfl.lemB2_use.",
            "Instead: ours.cfl_strongly_convex; ours.cfl_lower_bounds has the floors for every start.",
        ),
    )


def telescoped(noise: sp.Expr) -> tuple[Step, ...]:
    """d_T + eta sum_{t<T} gap <= h + T eta noise, as "last", and T least <= sum_{t<T} gap, as "best"."""

    def bound(rounds: Any) -> Relation:
        return at_most(apart2(rounds) + eta * total(rounds), start2 + rounds * eta * noise)

    return (
        by_induction(
            "sum",
            k,
            bound(k),
            rules.last_term("gap", round_index, k, unfold(gap(round_index))),
            given=("round", "gap"),
        ),
        Instance("last", "sum", k, T),
        BEST,
    )


BEST = rules.minimum("best", unfold(least))


def _noiseless_convex() -> Repair:
    """Without drifts, noise and loss: the factor L that the printed rate lacks."""
    goal = at_most(least, eps)
    follows = Obligation("the statement follows", goal, ("best", "last", "eta", "T"))
    return Repair(
        "typo",
        "L c_O ||w_0 - w*||^2/epsilon for c_O ||w_0 - w*||^2/epsilon, whose unit is not that of a number",
        Statement(
            "Without drifts, noise and loss (A = B = G = D = R = sigma = 0, c_O = 1), T >= C L c_O ||w_0 - "
            "w*||^2/epsilon rounds with eta >= 1/(C L c_O) give min_t f(w_t) - f* <= epsilon.",
            goal,
            (
                Fact("T", at_most(C * L * c_O * start2, T * eps), "T >= C L c_O h/epsilon."),
                Fact("eta", at_most(1, C * L * c_O * eta), "eta is of the order of the largest one allowed."),
                STEP_SIZE,
                CLASS,
                *NO_DRIFTS,
            ),
            Proof((*telescoped(sp.S.Zero), follows)),
            (
                Fact(
                    "round",
                    at_most(apart2(k + 1), apart2(k) - eta * gap(k)),
                    "(23) with mu = 0, without drifts, noise and loss: gradient descent.",
                    (k,),
                    (of_cfl_round("1", ((convexity, sp.S.Zero), *NO_NOISE), NOTHING),),
                ),
            ),
        ),
    )


def gc_rate() -> Claim:
    """The general convex rate of CFL."""
    bracket = c_O * start2 / eps + sigma2 * start2 / (N * K * eps**2) + (G2 + _TIME) * start2 / eps**2
    first = reached(
        "Theorem 4.1, general convex, with clients that stay: 𝔼 f(w_T) - f* <= epsilon + phi after T = O(c_O H/epsilon "
        "+ sigma^2 H/(N K epsilon^2) + (G^2 + D^2 R^2/(R^2 + D^2)) H/epsilon^2) rounds, H = ||w_0 - w*||^2.",
        bracket,
    )
    second = reached(
        "The same with G = 0: the time drifts enter as D^2 R^2/(R^2 + D^2) H/epsilon^2; in Theorem B.5 further as "
        "terms in 1/epsilon.",
        c_O * start2 / eps + sigma2 * start2 / (N * K * eps**2) + _TIME * start2 / eps**2,
    )
    third = Statement(
        "The same without drifts, noise and loss (A = B = G = D = R = sigma = 0, c_O = 1): min_t f(w_t) - f* <= "
        "epsilon after T = O(c_O H/epsilon) rounds.",
        at_most(least, eps),
        (Fact("T", at_most(C * c_O * start2, T * eps), ENOUGH), CLASS, *NO_DRIFTS),
    )
    fourth = Statement(
        "The same with G = D = A = R = sigma = 0 and clients that stay: min_t 𝔼 f(w_t) - f* <= epsilon after T = O(c_O "
        "H/epsilon) rounds, where the C of O(.) may depend on L.",
        at_most(least, eps),
        (Fact("T", at_most(C * c_O * start2, T * eps), ENOUGH), CLASS),
    )
    none = floors.no_gradient(
        "f_{t,i} = (1 - s_i) f with fair signs s_i and f (L/2)-smooth, so delta_i = s_i grad f, B = 1, c_O = 2: with "
        "probability 2^{-N} every f_{t,i} is 0 and nothing moves, so 𝔼 f(w_T) - f* >= 2^{-N} (f(w_0) - f*) for every T "
        "and all steps. No T reaches an epsilon below that."
    )
    stay = floors.fixed_clients(
        "f = lambda ||w - w*||^2/2 with lambda = G/sqrt(N H) <= L, K = 1, R = 0 (so phi = 0), any D: 𝔼 f(w_T) - f* >= "
        "G sqrt(H/N)/4 for every T, all positive steps and all round weights chosen beforehand.",
    )
    once = floors.new_in_every_round(
        "f = lambda ||w - w*||^2/2 with lambda = D/sqrt(N T H) <= L, K = 1, G = R = sigma = 0 (so phi = 0): 𝔼 f(w_T') "
        "- f* >= D sqrt(H/(N T))/4 for every number T' of rounds up to T, for all steps and weights as above. So T >= "
        "D^2 H/(16 N epsilon^2), where the theorem prints O(1/epsilon).",
    )
    fifth = reached(
        "The same with G = R = sigma = 0 and f with the weights 1/(N T): 𝔼[f(w_T) - f*] <= epsilon after the rounds of "
        "Theorem B.5 with the missing L put in, T = O((L c_O H + (D^2 H)^{1/2} + (L D^2 H^2)^{1/3})/epsilon), H = "
        "𝔼||w_0 - w*||^2.",
        (L * c_O * start2 + sp.sqrt(drift2 * start2) + sp.cbrt(L * drift2 * start2**2)) / eps,
        0,
        summed.gap,
    )
    plateau = summed.plateau(
        "f_t = L max(||w|| - 1, 0)^2/2 - <xi_t, w> with xi_t = 0, but +-D e_j with fair signs in the last n rounds, j "
        "= 1, ..., n; N = K = 1, w_0 = 0, T >= 2 n and T >= 4 n^{3/2} D/(9 L): f(w_T) - f* >= sqrt(n) D/(2 T) in every "
        "draw, for all steps in the range; earlier iterates and averages too. Here ||w_0 - w*|| = 1 + sqrt(n) D/(L T) "
        "<= 2 for n >= 3, so that the printed bracket is at most 9 D/epsilon where D >= L: with n to infinity no C "
        "serves."
    )
    slow = floors.flat(
        "f = L ||w - w*||^2/(2 T), which is L-smooth, c_O = N = K = 1, no noise, H = h: f(w_T) - f* >= 7 L H/(18 T), "
        "as after fewer rounds, so T >= 7 L H/(18 epsilon); with L to infinity no C serves.",
    )
    return Claim(
        "cfl.gc_rate",
        "App. B.4.4, Theorem 4.1, App. B.5 (Theorem B.5)",
        "General convex rate of CFL, to epsilon + phi",
        (
            Part("clients", first, refutation=stay, unseen=FOR_NO_CONSTANT, reading=EXPECTED),
            Part("time", second, refutation=once, unseen=FOR_NO_CONSTANT, reading=EXPECTED),
            Part("sum", fifth, refutation=plateau, unseen=FOR_NO_CONSTANT, reading=SUMMED),
            Part("units", third, _noiseless_convex(), refutation=slow, unseen=FOR_NO_CONSTANT),
            Part("gradient", fourth, refutation=none, unseen=FOR_NO_CONSTANT, reading=EXPECTED),
        ),
        (
            "The class mu = 0 contains the quadratics of every curvature up to L; a flat one turns a small mean drift "
            "into a distance as large as ||w_0 - w*||.",
            "Drifts that grow with the gradient are all gone at w*, where the strongly convex clients then have their "
            "minimum too; without strong convexity a client need not pull at all.",
            "Under (2) the floors of parts clients, time and gradient fall, as the drifts belong to f; part units has "
            "no drift and serves both readings. Theorem 4.1 leaves out two terms of part sum; the version of 2022 has "
            "them in its Theorem 4.2.",
            "phi <= c_3 ||w_0 - w*|| needs ||w_t - w*|| <= ||w_0 - w*||: cfl.phi.",
            "Instead: ours.cfl_general_convex.",
        ),
    )


CLAIMS = {"cfl.sc_rate": sc_rate, "cfl.gc_rate": gc_rate}
