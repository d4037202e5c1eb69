"""(19) from (17) and (18) where an earlier local iterate was farther from w_t than the last one.

With s^2 the right side of (18) at the last step, and at most m <= k - 2 steps to the farthest iterate, the last one is
within eta_l m s of w_t, but for noise, and the step to the next one is eta_l s long.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from cflag_theory.claims.cfl.one_round.local_drift import k_steps
from cflag_theory.claims.cfl.one_round.progress import gap
from cflag_theory.claims.cfl.symbols import eta_l, sigma2
from cflag_theory.claims.cfl.vectors import (
    EXPECTATION,
    E,
    client,
    j,
    local_gradient,
    no_less_than_least,
    noise,
    w_t,
    x,
)
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import slack
from cflag_theory.claims.engine.claim import Fact, Source, Statement, setting
from cflag_theory.claims.engine.notation import k, symbol, unfold
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof
from cflag_theory.claims.engine.terms import dot, norm, norm2

turn = symbol("turn", "m", positive=True, integer=True)
turned2 = symbol(
    "moved_turn2", r"{\mathbb{E}\|\omega_{t,i,m}-\omega_t\|^2}", E(norm(x(client, turn) - w_t) ** 2), nonnegative=True
)
sum_turn2 = symbol(
    "sum_turn2",
    r"\sum_{\tau<m}\mathbb{E}\|\omega_{t,i,\tau}-\omega_t\|^2",
    sum_over(j, turn)(E(norm(x(client, j) - w_t) ** 2)),
    nonnegative=True,
)
#: The k-th step: its gradient, its noise, and what they have in common.
_last = k_steps - 1
last_gradient2 = symbol(
    "last_gradient2",
    r"{\mathbb{E}\|\nabla\bar{f}_{t,i}(\omega_{t,i,k-1})\|^2}",
    E(norm2(local_gradient(client, _last))),
)
last_noise2 = symbol("last_noise2", r"{\mathbb{E}\|\nu_{t,i,k}\|^2}", E(norm2(noise(client, _last))))
last_leaning = symbol(
    "last_leaning",
    r"\mathbb{E}\langle\omega_{t,i,k-1}-\omega_t-\eta_l\nabla\bar{f}_{t,i},\nu_{t,i,k}\rangle",
    E(dot(x(client, _last) - w_t - eta_l * local_gradient(client, _last), noise(client, _last))),
)
STEP = setting(
    "local step of a client",
    equal(x(client, k + 1), x(client, k) - eta_l * (local_gradient(client, k) + noise(client, k))),
    "A local step, line 7 of Algorithm 2.",
)


def turned(
    words: str,
    goal: Relation,
    *,
    before2: sp.Symbol,
    most_before2: sp.Symbol,
    bound: Callable[[sp.Expr], sp.Expr],
    sources: tuple[tuple[Source, ...], tuple[Source, ...]],
) -> Statement:
    """(19) after k steps; `bound` is the right side of (18), `sources` say where (17) with (18) and (18) stand."""
    constant = bound(sp.S.Zero)
    hypotheses = (
        Fact(
            "(17), (18)",
            at_most(
                turned2,
                turn * eta_l**2 * (bound(sum_turn2) - constant + turn * constant) + turn * eta_l**2 * sigma2,
            ),
            "(17) with (18) in it, after m steps.",
            sources=sources[0],
        ),
        Fact("(18)", at_most(last_gradient2, bound(before2)), "(18) at the last step.", sources=sources[1]),
        Fact("earlier", at_most(turn + 2, k_steps), "m <= k - 2."),
        Fact("largest", at_most(most_before2, turned2), "The largest local drift before step k is that after m steps."),
        Fact("nearer", below(before2, turned2), "The last one, after k - 1 steps, is smaller."),
        Fact("Assumption 2", at_most(last_noise2, sigma2), "𝔼||nu||^2 <= sigma^2."),
    )
    definitions = (
        Fact(
            "noise of the step",
            equal(last_leaning, 0),
            "The noise of a step has mean zero given what came before it.",
        ),
        Fact("j < m", at_most(j + 1, turn), "j runs over the steps before the m-th."),
    )
    ahead, behind = x(client, k + 1) - w_t, x(client, k) - w_t
    so_far = sum_over(j, turn)
    own = turn**2 * eta_l**2 * constant.subs(gap, slack("gap")) + turn * eta_l**2 * sigma2
    apart = slack("nearer")
    reached = at_most(goal.left, (turn + 1) ** 2 * eta_l**2 * bound(before2) + (turn + 2) * eta_l**2 * sigma2)
    proof = (
        Obligation("earlier step", at_most(j, _last), ("j < m", "earlier")),
        rules.member("each", unfold(most_before2), j, given="earlier step"),
        rules.mean("sum", so_far, given="each"),
        *no_less_than_least("gap"),
        Obligation(
            "at the turn",
            at_most(turned2, turn**2 * eta_l**2 * bound(turned2) + turn * eta_l**2 * sigma2),
            ("(17), (18)", "sum", "largest"),
        ),
        Obligation(
            "at the last step",
            at_most(before2, turn**2 * eta_l**2 * bound(before2) + turn * eta_l**2 * sigma2),
            ("at the turn", "nearer", "gap"),
            (before2 * slack("at the turn") + own * apart) / (before2 + apart),
        ),
        rules.norm_squared("distance", ahead, *EXPECTATION),
        rules.norm_squared("distance before", behind, *EXPECTATION),
        rules.rewrite("one step", E(norm2(ahead)), given=STEP),
        rules.square("Young", behind + turn * eta_l * local_gradient(client, k), *EXPECTATION),
        Obligation(
            "a step",
            at_most(
                turn * E(norm(ahead) ** 2),
                (turn + 1) * E(norm(behind) ** 2)
                + turn * (turn + 1) * eta_l**2 * E(norm2(local_gradient(client, k)))
                + turn * eta_l**2 * E(norm2(noise(client, k)))
                - 2 * turn * eta_l * E(dot(behind - eta_l * local_gradient(client, k), noise(client, k))),
            ),
            ("distance", "distance before", "one step", "Young"),
        ),
        rules.at("the last step", k, _last, given="a step"),
        Obligation(
            "reached",
            reached,
            ("the last step", "noise of the step", "(18)", "Assumption 2", "at the last step"),
        ),
        Obligation("the statement follows", goal, ("reached", "earlier", "gap")),
    )
    return Statement(words, goal, hypotheses, Proof(proof), definitions)
