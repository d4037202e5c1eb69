"""The local drifts of a round, from one client's path to their mean over steps and clients."""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.cfl.one_round.leaning import CENTRED, GRADIENT, PATH, S
from cflag_theory.claims.cfl.one_round.local_drift import SUMS
from cflag_theory.claims.cfl.one_round.progress import drift2
from cflag_theory.claims.cfl.symbols import K, eta_l, sigma2
from cflag_theory.claims.cfl.vectors import (
    EXPECTATION,
    E,
    F,
    all_clients,
    all_steps,
    averaged,
    client,
    clients,
    draw,
    i,
    j,
    loss,
    over_noises,
    over_past,
    steps,
    true_gradient,
    w_t,
    x,
)
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Fact
from cflag_theory.claims.engine.notation import L, k, sequence, symbol
from cflag_theory.claims.engine.operators import index, sum_over
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Step, by_induction
from cflag_theory.claims.engine.terms import norm, norm2

l_ = index("l")
n = sp.Symbol("n", integer=True, nonnegative=True)
#: The gradients of the clients' objectives at w_t, and their mean.
at_start = F[i, draw].grad(w_t)

client_loss2 = sequence("client_loss2", r"\rho_{@}^2", nonnegative=True)
rms_loss = symbol("rms_loss", r"r_t", sp.sqrt(clients(client_loss2(i))))
each_start2 = clients(over_past(norm2(at_start)))
lost_sum = sum_over(j, k)(loss(client, j))
_HUNDREDTH = sp.Rational(1, 100)

STEP_OF_ROUND = Fact("k < K", at_most(l_ + 1, K), "l runs over the steps of the round.")


def _sum_of(name: str, power: int, value: sp.Expr) -> tuple[Step, ...]:
    """sum_{l<K} l^power == value, a polynomial in K."""
    relation = equal(sum_over(l_, k)(l_**power), value.subs(K, k))
    return (
        by_induction(
            f"{name}: n", k, relation, rules.last_term(f"{name}: last", l_, k, l_**power), given=(f"{name}: last",)
        ),
        rules.at(name, k, K, given=f"{name}: n"),
    )


def _one_client() -> tuple[Step, ...]:
    """𝔼||w_{t,i,l} - w_t||^2 of one client after l < K steps, by the sum of these over all steps; "one client"."""
    start = F[client, draw].grad(w_t)
    total = sum_over(j, k)
    change = true_gradient(client, j) - start
    noisy, rest = k * start + S(client, k), total(change) - lost_sum
    moved = norm(x(client, j) - w_t) ** 2
    each = E(moved)
    of_step = each.xreplace({j: l_})

    def bound(steps_done: sp.Expr, path: sp.Expr) -> sp.Expr:
        return eta_l**2 * (
            2 * steps_done**2 * over_past(norm2(start))
            + 2 * steps_done * sigma2
            + 4 * steps_done * L**2 * path
            + 4 * steps_done**2 * client_loss2(client)
        )

    return (
        rules.norm_squared("distance of a client", x(client, k) - w_t, *EXPECTATION),
        rules.rewrite("path of a client", E(norm2(x(client, k) - w_t)), given=(PATH, SUMS, GRADIENT)),
        rules.square("parts", noisy - rest, *EXPECTATION),
        *averaged(rules.along("noise given w_t", start, given=CENTRED), over_past),
        rules.square("rest", total(change) + lost_sum, *EXPECTATION),
        *averaged(rules.jensen("Jensen", total, change), *EXPECTATION),
        rules.lipschitz("Lipschitz", F[client, draw], x(client, j), w_t),
        rules.norm_squared("change", change),
        Obligation("change of a step", at_most(norm2(change), L**2 * moved), ("Lipschitz", "change")),
        rules.mean("changes", total, given="change of a step"),
        rules.mean("changes given the past", over_noises, given="changes"),
        rules.mean("changes in the mean", over_past, given="changes given the past"),
        rules.exchange("noises inside", over_noises, total, moved),
        rules.mean("noises inside in the mean", over_past, given="noises inside"),
        rules.exchange("past inside", over_past, total, over_noises(moved)),
        Obligation(
            "after k steps",
            at_most(E(norm(x(client, k) - w_t) ** 2), bound(k, total(each))),
            (
                *(
                    "distance of a client",
                    "path of a client",
                    "parts",
                    "noise given w_t",
                    "rest",
                    "Jensen",
                    "changes in the mean",
                ),
                *("noises inside in the mean", "past inside", "summed noise", "summed loss"),
            ),
        ),
        rules.last_term("one more step", j, k, each),
        Obligation("longer paths", at_most(total(each), sum_over(j, k + 1)(each)), ("one more step",)),
        Obligation("within the round", at_most(l_, K), ("k < K",)),
        rules.monotone("whole path", k, total(each), given=("longer paths", "within the round")),
        rules.at("after l steps", k, l_, given="after k steps"),
        Obligation(
            "one client",
            at_most(of_step, bound(l_, all_steps(each))),
            ("after l steps", "whole path"),
        ),
    )


def local_drift() -> tuple[Step, ...]:
    """The mean of 𝔼||w_{t,i,k-1} - w_t||^2."""
    y = K * eta_l
    moved = norm(x(i, j) - w_t) ** 2
    each = E(moved)
    renamed = equal(sum_over(l_, k)(each.xreplace({j: l_})), sum_over(j, k)(each))
    first, second = K * (K - 1) / 2, K * (K - 1) * (2 * K - 1) / 6
    start = over_past(norm2(at_start))
    whole = sp.Rational(2, 3) * each_start2 + sigma2 / K + sp.Rational(4, 3) * rms_loss**2
    over_steps = eta_l**2 * (
        2 * second * start + 2 * first * sigma2 + 4 * first * L**2 * all_steps(each) + 4 * second * client_loss2(i)
    )
    return (
        *_one_client(),
        rules.at("each client", client, i, given="one client"),
        rules.mean("sum over the steps", sum_over(l_, K), given="each client"),
        by_induction(
            "another index",
            k,
            renamed,
            rules.last_term("last by l", l_, k, each.xreplace({j: l_})),
            rules.last_term("last by j", j, k, each),
            given=("last by l", "last by j"),
        ),
        rules.at("by another index", k, K, given="another index"),
        *_sum_of("sum of numbers", 1, first),
        *_sum_of("sum of squares", 2, second),
        Obligation(
            "over the steps",
            at_most(all_steps(each), over_steps),
            ("sum over the steps", "by another index", "sum of numbers", "sum of squares"),
        ),
        rules.mean("over the clients", all_clients, given="over the steps"),
        rules.exchange("E of clients: noises", over_noises, all_clients, all_steps(moved)),
        rules.mean("E of clients: past", over_past, given="E of clients: noises"),
        rules.exchange("E of clients", over_past, all_clients, over_noises(all_steps(moved))),
        rules.exchange("E of steps: noises", over_noises, all_steps, moved),
        rules.mean("E of steps: past", over_past, given="E of steps: noises"),
        rules.mean("E of steps of all: noises", all_clients, given="E of steps: past"),
        rules.exchange("E of steps: inside", over_past, all_steps, over_noises(moved)),
        rules.mean("E of steps of all", all_clients, given="E of steps: inside"),
        Obligation(
            "expectation inside",
            equal(drift2, clients(steps(each))),
            (
                *("E of clients: past", "E of clients"),
                *("E of steps of all: noises", "E of steps of all"),
            ),
        ),
        Obligation(
            "drift",
            at_most(
                clients(steps(each)),
                eta_l**2
                * (
                    (K - 1) * (2 * K - 1) / 3 * each_start2
                    + (K - 1) * sigma2
                    + 2 * (K - 1) * L**2 * K * clients(steps(each))
                    + (K - 1) * (2 * K - 1) / 3 * 2 * rms_loss**2
                ),
            ),
            ("over the clients",),
        ),
        Obligation(
            "drift in K",
            at_most(drift2, y**2 * (whole + 2 * L**2 * drift2)),
            ("drift", "expectation inside", "steps"),
        ),
        Obligation("local step", at_most(y * L, sp.Rational(1, 10)), ("step size", "eta_g", "eta")),
        Obligation("local step squared", at_most(y**2 * L**2, _HUNDREDTH), ("local step",)),
        Obligation(
            "drift bound",
            at_most(drift2, sp.Rational(50, 49) * y**2 * whole),
            ("drift in K", "local step squared"),
        ),
    )
