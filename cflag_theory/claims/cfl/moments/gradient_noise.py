"""The server update, and second moments of sums of drifting gradients: Lemmas B.1 and B.2, and their use.

Expectations are over all draws of the drifts, at a fixed w unless a row says otherwise; delta stands for delta_i, xi
for sum_tau p_tau xi_{tau,i}, and the weights sum to one.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.symbols import A2, B2, D2, G2, eta_g
from cflag_theory.claims.cfl.vectors import (
    client,
    delta,
    draw,
    f,
    mean_xi,
    mixed_gradient,
    over_past,
    p,
    point,
    rounds,
    tau,
    xi,
)
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement, shown
from cflag_theory.claims.engine.notation import symbol
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Use, deduced
from cflag_theory.claims.engine.terms import dot, norm2, vector

# One coordinate of the server's model, of the mean of the clients' last iterates and of the mean update.
w = symbol("w_round", r"\omega_t", real=True)
w_mean = symbol("w_mean", r"\frac{1}{S}\sum_i\omega_{t,i,K}", real=True)
update = symbol("mean_update", r"\frac{1}{S}\sum_i\Delta\omega_{t,i}", real=True)

#: Any round.
some = sp.Symbol("some_round", integer=True, nonnegative=True)
grad = f.grad(point)
grad2 = symbol("grad2_mean", r"\mathbb{E}\|\nabla f(\omega)\|^2", over_past(norm2(grad)))
client2 = symbol("client_drift2", r"\mathbb{E}\|\delta_i\|^2", over_past(norm2(delta(client))))
time2 = symbol("time_drift_size2", r"\mathbb{E}\|\xi_{t,i}\|^2", over_past(norm2(xi(some, client))))
weights2 = symbol("weights2", r"\sum_\tau p_{\tau,i}^2", rounds(p(tau) ** 2))
time_sum2 = symbol("time_sum2", r"\mathbb{E}\|\sum_\tau p_{\tau,i}\xi_{\tau,i}\|^2", over_past(norm2(mean_xi)))
squares = symbol(
    "weighted_drift2",
    r"\sum_\tau p_{\tau,i}^2\mathbb{E}\|\xi_{\tau,i}\|^2",
    rounds(p(tau) ** 2 * over_past(norm2(xi(tau, client)))),
)
correlated = symbol(
    "weighted_correlations",
    r"\sum_{\tau_1\ne\tau_2}p_{\tau_1,i}p_{\tau_2,i}\mathbb{E}\langle\xi_{\tau_1,i},\xi_{\tau_2,i}\rangle",
    over_past(norm2(mean_xi)) - rounds(p(tau) ** 2 * over_past(norm2(xi(tau, client)))),
)

# One round alone, and Lemma B.1, whose A and B are not Assumption 3's: varsigma_i = delta_i + xi_{t,i}.
varsigma = delta(client) + xi(some, client)
local2 = symbol("one_round_moment2", r"\mathbb{E}\|\nabla f_{t,i}(\omega)\|^2", over_past(norm2(grad - varsigma)))
noise2 = symbol("sigma_noise2", r"\mathbb{E}\|\varsigma_i\|^2", over_past(norm2(varsigma)))
noise_cross = symbol(
    "gradient_dot_noise", r"\mathbb{E}\langle\nabla f(\omega),\varsigma_i\rangle", over_past(dot(grad, varsigma))
)
local_between = symbol(
    "client_dot_one_time",
    r"\mathbb{E}\langle\delta_i,\xi_{t,i}\rangle",
    over_past(dot(delta(client), xi(some, client))),
)
A = symbol("A_B1", "A", nonnegative=True)
B = symbol("B_B1", "B", nonnegative=True)

# One client in all rounds.
mixed2 = symbol(
    "mixed_grad2", r"\mathbb{E}\|\sum_\tau p_{\tau,i}\nabla f_{\tau,i}(\omega)\|^2", over_past(norm2(mixed_gradient))
)
drift_cross = symbol(
    "gradient_dot_drifts",
    r"\mathbb{E}\langle\nabla f(\omega),\delta_i+\sum_\tau p_{\tau,i}\xi_{\tau,i}\rangle",
    over_past(dot(grad, delta(client) + mean_xi)),
)
between = symbol(
    "client_dot_time",
    r"\mathbb{E}\langle\delta_i,\sum_\tau p_{\tau,i}\xi_{\tau,i}\rangle",
    over_past(dot(delta(client), mean_xi)),
)

#: What the proof of Lemma B.2 expands, grad f_{tau,i} + delta_i + xi_{tau,i}, and the same with grad f.
expanded2 = symbol(
    "expanded2",
    r"\mathbb{E}\|\sum_\tau p_{\tau,i}(\nabla f_{\tau,i}(\omega)+\delta_i+\xi_{\tau,i})\|^2",
    over_past(norm2(mixed_gradient + delta(client) + mean_xi)),
)
meant2 = symbol(
    "meant2",
    r"\mathbb{E}\|\sum_\tau p_{\tau,i}(\nabla f(\omega)+\delta_i+\xi_{\tau,i})\|^2",
    over_past(norm2(grad + delta(client) + mean_xi)),
)

# Another client in every round.
_delta = vector("client_drift_of_round", r"\delta_{@1,@2}")
mean_delta = rounds(p(tau) * _delta(tau, client, draw))
each_client2 = symbol(
    "each_client_drift2", r"\mathbb{E}\|\delta_{t,i}\|^2", over_past(norm2(_delta(some, client, draw)))
)
clients_correlated = symbol(
    "weighted_client_correlations",
    r"\sum_{\tau_1\ne\tau_2}p_{\tau_1,i}p_{\tau_2,i}\mathbb{E}\langle\delta_{\tau_1,i},\delta_{\tau_2,i}\rangle",
    over_past(norm2(mean_delta)) - rounds(p(tau) ** 2 * over_past(norm2(_delta(tau, client, draw)))),
)
once2 = symbol(
    "mixed_once2",
    r"\mathbb{E}\|\sum_\tau p_{\tau,i}\nabla f_{\tau,i}(\omega)\|^2",
    over_past(norm2(grad - mean_delta - mean_xi)),
)
once_cross = symbol(
    "gradient_dot_once",
    r"\mathbb{E}\langle\nabla f(\omega),\sum_\tau p_{\tau,i}(\delta_{\tau,i}+\xi_{\tau,i})\rangle",
    over_past(dot(grad, mean_delta + mean_xi)),
)
once_between = symbol(
    "clients_dot_time",
    r"\mathbb{E}\langle\sum_\tau p_{\tau,i}\delta_{\tau,i},\sum_\tau p_{\tau,i}\xi_{\tau,i}\rangle",
    over_past(dot(mean_delta, mean_xi)),
)
pairs = symbol("weight_pairs", r"\sum_{\tau_1\ne\tau_2}p_{\tau_1,i}p_{\tau_2,i}", real=True)


def _sized(name: str, size: sp.Expr, offset: sp.Expr, slope: sp.Expr, words: str) -> Fact:
    return Fact(name, at_most(size, offset + slope * grad2), words, (some,))


def _apart(cross: sp.Expr, between: sp.Expr) -> tuple[Fact, Fact]:
    """What a fixed w and Assumption 3 give."""
    return (
        Fact("mean zero", equal(cross, 0), "The drifts have mean zero at a fixed w."),
        Fact(
            "independent",
            equal(between, 0),
            "delta_i and the time drifts are independent of each other: the proof of Lemma B.2 names the independence "
            "of noise, Assumption 3 does not.",
        ),
    )


CLIENT = _sized("client drift", client2, G2, B2, "𝔼||delta||^2 <= G^2 + B^2 𝔼||grad f||^2.")
TIME = _sized("time drift", time2, D2, A2, "𝔼||xi||^2 <= D^2 + A^2 𝔼||grad f||^2, for every round.")
CENTRED, APART = _apart(drift_cross, between)


def aggregation() -> Claim:
    """The global update of Sec. 3.1.1 against the mean of the clients' models."""
    definition = Fact("Delta", equal(update, w_mean - w), "Delta w_{t,i} = w_{t,i,K} - w_t, averaged over the clients.")
    average = (1 - eta_g) * w + eta_g * w_mean
    printed = Statement(
        "w_{t+1} = w_t - (eta_g/S) sum_i Delta w_{t,i} with Delta w_{t,i} = w_{t,i,K} - w_t moves w_t towards the mean "
        "of the clients' models: it is (1 - eta_g) w_t + eta_g times that mean, as lines 9 and 10 of Algorithm 1.",
        equal(w - eta_g * update, average),
        (definition,),
    )
    mended = equal(w + eta_g * update, average)
    repaired = shown(
        "The same with a plus sign, as Algorithms 1 and 2 have it.", mended, given=("Delta",), under=(definition,)
    )
    return Claim(
        "cfl.aggregation",
        "Sec. 3.1.1",
        "The server's update with global step size",
        (Part("1", printed, Repair("typo", "w_{t+1} = w_t + (eta_g/S) sum_i Delta w_{t,i}", repaired)),),
        (
            "With the minus sign FedAvg with eta_g = 1 reflects the mean of the clients' models at w_t: it climbs.",
            "The sum runs over the clients that were selected, i in S_t, not over i = 1, ..., S.",
        ),
    )


def lemB1(constant: Any = 1) -> Claim:
    """Second moment of a local gradient; `constant` stands before 𝔼||grad f||^2 besides A^2."""
    centred = Fact("mean zero", equal(noise_cross, 0), "𝔼[varsigma_i] = 0 at every w, since f = E f_i.")
    bounded = Fact("bound", at_most(noise2, A**2 * grad2 + B**2), "𝔼||varsigma_i||^2 <= A^2 𝔼||grad f||^2 + B^2.")
    goal = at_most(local2, (A**2 + constant) * grad2 + B**2)
    words = "𝔼||grad f_i(w)||^2 <= (A^2 + 1) 𝔼||grad f(w)||^2 + B^2."
    first = shown(words, goal, given=("mean zero", "bound"), under=(centred, bounded))
    last = Statement(
        "The last line of the proof: 𝔼||grad f_i(w)||^2 <= (A + 1) 𝔼||grad f(w)||^2 + B.",
        at_most(local2, (A + 1) * grad2 + B),
        (centred, bounded),
    )
    return Claim(
        "cfl.lemB1",
        "Lemma B.1",
        "Bound of gradient noise",
        (Part("1", first), Part("2", last, Repair("typo", "A and B are squares there: A^2 and B^2", first))),
        (
            "An equality where the bound on varsigma_i is one; so a bound on 𝔼||grad f_i||^2 with constants 1 + A^2 "
            "and B^2 is the same assumption as the one on varsigma_i, which is the equivalence claimed after "
            "Assumption 3.",
            "The proof writes grad f + varsigma_i for grad f - varsigma_i; with mean zero the sign is harmless.",
        ),
    )


def bound(whole: sp.Expr, client_share: sp.Expr, time_share: sp.Expr, one: sp.Expr = sp.S.One) -> Relation:
    """(one + B^2 client_share + A^2 time_share) 𝔼||grad f||^2 + G^2 client_share + D^2 time_share, as a bound."""
    return at_most(whole, (one + B2 * client_share + A2 * time_share) * grad2 + G2 * client_share + D2 * time_share)


def _summed(fact: Fact, each: str) -> tuple[Use, ...]:
    """The bound on every round, weighted with p_tau^2 and summed, as `each`."""
    return (
        rules.at(f"{each}: one round", some, tau, given=fact.name),
        rules.mean(each, rounds, p(tau) ** 2, given=f"{each}: one round"),
    )


def lemB2(one: Any = 1) -> Claim:
    """The three second moments of Lemma B.2; `one` stands for the 1 before 𝔼||grad f||^2."""
    each_client = _sized("client drift", each_client2, G2, B2, "𝔼||delta||^2 <= G^2 + B^2 𝔼||grad f||^2, likewise.")
    rounds_apart = Fact(
        "rounds apart", equal(correlated, 0), "The time drifts of different rounds are independent with mean zero."
    )
    clients_apart = Fact(
        "clients apart", equal(clients_correlated, 0), "Clients that take part once have independent drifts."
    )
    known = (
        (CLIENT, TIME, *_apart(noise_cross, local_between)),
        (CLIENT, TIME, CENTRED, APART, rounds_apart),
        (each_client, TIME, *_apart(once_cross, once_between), rounds_apart, clients_apart),
    )
    goals = (
        bound(local2, sp.S.One, sp.S.One, one),
        bound(mixed2, sp.S.One, weights2, one),
        bound(once2, weights2, weights2, one),
    )
    time = _summed(TIME, "time drifts")
    sums = ((), time, (*time, *_summed(each_client, "client drifts")))
    names = (("time drift", "client drift"), ("time drifts", "client drift"), ("time drifts", "client drifts"))
    proofs = [
        deduced(goal, *steps, given=(*bounds, *(fact.name for fact in facts[2:])))
        for goal, facts, steps, bounds in zip(goals, known, sums, names, strict=True)
    ]
    words = (
        "(1) FedAvg: 𝔼||grad f_{t,i}(w)||^2 <= (1 + A^2 + B^2) 𝔼||grad f(w)||^2 + G^2 + D^2.",
        "(2) 𝔼||sum_tau p_tau grad f_{tau,i}(w)||^2 <= (1 + B^2 + A^2 sum p^2) 𝔼||grad f(w)||^2 + G^2 + D^2 sum p^2.",
        "(3) Clients that take part once: the same with (A^2 + B^2) sum p^2 and (G^2 + D^2) sum p^2.",
    )
    parts = [Part(str(i + 1), Statement(words[i], goals[i], known[i], proof)) for i, proof in enumerate(proofs)]
    line = "𝔼||sum_tau p_tau grad f_{{tau,i}}||^2 = 𝔼||sum_tau p_tau ({} + delta_i + xi_{{tau,i}})||^2"
    parts.append(
        Part(
            "4",
            Statement(
                f"The line from which the proofs of (2) and (3) start: {line.format('grad f_{tau,i}')}.",
                equal(mixed2, expanded2),
                (CENTRED,),
            ),
            Repair(
                "typo",
                "grad f in place of grad f_{tau,i} on the right",
                shown(f"{line.format('grad f')}.", equal(mixed2, meant2), given=("mean zero",), under=(CENTRED,)),
            ),
        )
    )
    return Claim(
        "cfl.lemB2",
        "Lemma B.2",
        "Second moments of mixed gradients at a fixed w",
        tuple(parts),
        (
            "Equalities where Assumption 3's bounds are; weights of either sign are allowed, only their squares enter.",
            "The mean is over the draws, at a w that does not depend on them. Where the paper uses the lemma it does: "
            "cfl.lemB2_use.",
            "Part 4: by (5) the right side as printed is 𝔼||grad f||^2. The line stands in the proofs of Lemmas B.7 "
            "and B.10 too. By (5) the signs of delta and xi are minus; with mean zero that makes no difference.",
        ),
    )


def lemB2_use(one: Any = 1) -> Claim:
    """Lemma B.2 (2) at iterates that the drifts have shaped."""
    goal = bound(mixed2, sp.S.One, weights2, one)
    size = Fact(
        "time drift",
        at_most(time_sum2, weights2 * (D2 + A2 * grad2)),
        "𝔼||sum_tau p_tau xi_{tau,i}||^2 <= sum p^2 (D^2 + A^2 𝔼||grad f||^2) at this iterate.",
    )
    apart = Fact("drifts apart", at_most(between, 0), "𝔼<delta_i, sum p xi> <= 0 at this iterate.")
    known = (CLIENT, size, apart)
    doubled = at_most(goal.left, 2 * goal.right)
    places = (
        "at w_t, for t >= 2, as (15) does for k = 1",
        "at w_{t,i,k-1}, for k >= 2, as (15) and (18) do, already in the first round and for FedAvg",
    )
    parts = tuple(
        Part(
            key,
            Statement(f"Lemma B.2 (2) holds {place}, with E over all draws.", goal),
            Repair(
                "needs-hypothesis",
                "drifts that do not depend on w, or whose second moments at the iterate are those of a fixed w; and "
                "twice the right side",
                shown(
                    f"Twice the right side of Lemma B.2 (2) is enough {place}, for drifts that do not depend on w.",
                    doubled,
                    rules.square("gradient and drifts", grad + delta(client) + mean_xi, over_past),
                    given=("gradient and drifts", "client drift", "time drift", "drifts apart"),
                    under=known,
                ),
            ),
        )
        for key, place in zip("12", places, strict=True)
    )
    return Claim(
        "cfl.lemB2_use",
        "(15), (18)",
        "Lemma B.2 at iterates that depend on the drifts",
        parts,
        (
            "w_t is a function of delta_i and of xi_{tau,i}, tau < t, so that 𝔼[delta_i | w_t] is not zero, although "
            "𝔼[delta_i(w)] is zero at every fixed w.",
            "The instance has convex, 3/2-smooth f_i, drifts of constant length G and a step within Theorem 4.1's "
            "range; the drift turns round between w_1 and w_2.",
            "For offsets (drifts that do not depend on w) one step is harmless: w moves along its own drift, and grad "
            "f is monotone.",
            "Drifts that are merely uncorrelated with grad f at the iterate are not enough: Assumption 3 bounds "
            "𝔼||delta||^2 at a fixed w, which says nothing at an iterate that the draw has chosen. The instances keep "
            "the bounds at the iterate as well, so that those alone do not correct the lemma: the factor 2 does.",
            "Without the factor drifts that are independent of the iterate would be enough, or 𝔼<grad f, delta_i + sum "
            "p xi> >= 0 there. Neither is a hypothesis that Algorithm 2 can satisfy: with a memory the weights "
            "p_{tau,i}, tau < t, bring back the drifts that have moved w_t, and the steps of one round follow one "
            "drift with or without it. Clients that are new in every round, and no memory, would excuse part 1 alone.",
            "Another reading takes 𝔼[. | w] of Assumption 3 at the random iterate itself: that assumes what is "
            "missing.",
            "For any dependence, with drifts bounded at every w and not in the mean: ours.cfl_moments_on_the_run.",
        ),
    )


CLAIMS = {
    "cfl.aggregation": aggregation,
    "cfl.lemB1": lemB1,
    "cfl.lemB2": lemB2,
    "cfl.lemB2_use": lemB2_use,
}
