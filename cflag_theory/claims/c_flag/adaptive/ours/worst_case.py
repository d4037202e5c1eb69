"""What Table 1's worst-case rates do where clients transfer: the useful form of Lemma 7.

With these rates L N p_i^2 beta_i^2 ||a_i||^2 = (1 - L alpha) p_i beta_i Lambda_i; and ||sum_i v_i||^2 <= N sum_i
||v_i||^2.
"""

from __future__ import annotations

from typing import Any

from cflag_theory.claims.c_flag.adaptive.clients import (
    Lambda,
    Lambda_i,
    N,
    a,
    a_i,
    beta_i,
    beta_of,
    memory_gradient,
    p_i,
    q,
    sum2,
    total,
    weight_of,
)
from cflag_theory.claims.c_flag.adaptive.lemmas import (
    N_T,
    ROOT_2,
    Lambda_adapted,
    not_raised,
    over_T,
    own_adapted,
    short_step,
)
from cflag_theory.claims.c_flag.adaptive.server import forgetting
from cflag_theory.claims.c_flag.vectors import client
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import L, alpha, beta, i, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, Step
from cflag_theory.claims.engine.terms import dot, norm2

_taken = weight_of(i) * beta_of(i) * a(i)
_pull_of = sequence("Lambda_over_a_of", r"\frac{\Lambda_{t,@}}{\|\mathbf{a}_{@}\|}", real=True)
pull = symbol("Lambda_over_a", r"\frac{\Lambda_{t,i}}{\|\mathbf{a}_i\|}", _pull_of(client))
#: ||sum_tr p_i beta_i a_i||^2, and what it brings at least.
moved_T2 = symbol("moved_T2", r"{\|\sum_{\mathrm{tr}} p_i\beta_{t,i}\mathbf{a}_i\|^2}", norm2(over_T(_taken)))
gained_T = symbol(
    "gained_T",
    r"\sum_{\mathrm{tr}}\frac{\Lambda_{t,i}^2}{\|\mathbf{a}_i\|^2}",
    over_T(_pull_of(i) ** 2),
)
# The same for all clients.
moved = total(_taken)
moved2 = symbol("moved_all2", r"{\|\sum_i p_i\beta_{t,i}\mathbf{a}_i\|^2}", norm2(moved))
Lambda_moved = symbol("Lambda_moved", r"\sum_i p_i\beta_{t,i}\Lambda_{t,i}", dot(memory_gradient, moved))

RATE = Fact(
    "rate",
    equal(L * N * p_i * a_i**2 * beta_i, q * Lambda_i),
    "beta_{t,i} of Table 1 under transference, worst case.",
    (client,),
)
PULL = Fact("ratio", equal(a_i * pull, Lambda_i), "Lambda_{t,i}/||a_i||.", (client,))
MOVES = Fact("a_i", below(0, a_i), "a_i is not zero, as Lambda_{t,i} > 0 implies.", (client,))
SOME = Fact("N_T", at_most(N_T, N), "N_tr of the N clients take it; the others have beta_{t,i} = 0.")


def _bound(constant: Any) -> Statement:
    goal = at_most(constant * q**2 / (2 * L * N) * gained_T, q * Lambda_adapted - L / 2 * moved_T2)
    square = norm2(a(client))
    steps: tuple[Step, ...] = (
        rules.norm_squared("||a_i||^2", a(client)),
        Obligation(
            "a client's square",
            equal(L * N * p_i**2 * beta_i**2 * square, q * p_i * beta_i * Lambda_i),
            ("rate", "||a_i||^2"),
        ),
        Obligation(
            "a client's gain",
            equal(L * N * p_i * beta_i * Lambda_i, q * pull**2),
            ("rate", "ratio", "a_i"),
        ),
        rules.at("any client's square", client, i, given="a client's square"),
        rules.mean("squares", over_T, given="any client's square"),
        rules.at("any client's gain", client, i, given="a client's gain"),
        rules.mean("gains", over_T, given="any client's gain"),
        rules.jensen("Jensen", over_T, _taken),
        Obligation(
            "the statement follows",
            goal,
            ("squares", "gains", "Jensen", "N_T"),
            L / 2 * (slack("Jensen") + slack("N_T") * own_adapted)
            - residual("squares") / 2
            + q / (2 * L * N) * residual("gains")
            + (1 - constant) * q**2 / (2 * L * N) * gained_T,
        ),
    )
    return Statement(
        "Clients with transference take the worst case's rate beta_{t,i} = (1 - L alpha) Lambda_{t,i}/(L N p_i "
        "||a_i||^2) of Table 1, and the rates of the others are 0. Then Gamma_ad <= -((1 - L alpha)^2/(2 L N)) sum_tr "
        "Lambda_{t,i}^2/||a_i||^2, where Gamma_ad = (L/2) ||sum_tr p_i beta_{t,i} a_i||^2 - (1 - L alpha) sum_tr p_i "
        "beta_{t,i} Lambda_{t,i} is the forgetting term of the step really taken, and tr are the clients with "
        "transference.",
        goal,
        (MOVES, SOME),
        Proof(steps),
        (RATE, PULL),
    )


def _lowers(share: Any) -> Statement:
    """Gamma_ad <= Gamma; `share` times 2 (sqrt(2) - 1) is the limit of beta/beta_i."""
    goal = at_most(L / 2 * moved2 - q * Lambda_moved, forgetting(beta, alpha, sum2, Lambda))
    follows = Obligation("the statement follows", goal, ("squares", "distances", "distance", "2"))
    return Statement(
        "All clients transfer and take the worst case's rate beta_{t,i} of Table 1. If none of these rates is below "
        "beta/(2 (sqrt(2) - 1)) = 1.208 beta, they do not raise forgetting: Gamma_ad <= Gamma.",
        goal,
        (short_step(share),),
        Proof((*not_raised(total), follows)),
        (RATE, ROOT_2),
    )


def worst_case(constant: Any = 1, share: Any = 1) -> Claim:
    """Table 1's worst-case rates where clients transfer."""
    return Claim(
        "ours.adaptive_worst_case",
        "instead of Lemma 7, worst case",
        "What Table 1's worst-case rates gain",
        (Part("bound", _bound(constant)), Part("lowers", _lowers(share))),
        (
            "Part bound is what Lemma 7 is for: where clients transfer and alpha is not 1/L, the forgetting term of "
            "the round is negative. No condition on alpha or on the signs of C_ij. The bound is attained where all "
            "clients transfer and the a_i are parallel. The rates need no S and no product of two clients.",
            "Of N only N_T <= N is used: with N_T in place of N, also in the rates, the gain is N/N_T times as large.",
            "Part lowers compares with constant rates, as Lemma 7 does; without its condition it fails, see "
            "cflag.lemma7_worst. The condition holds where beta is small: the rates tend to (1 - L alpha) <grad "
            "f_memory, grad g_i>/(L N E p_i ||grad g_i||^2) at x_t as beta tends to 0.",
            "No larger constant than 2 (sqrt(2) - 1) serves every N: where k of N clients have beta = c beta_{t,i} and "
            "the others far larger rates, c can be up to [1 - sqrt((1 - u)/(1 + u))]/u with u = k/N, which is least at "
            "u = 1/sqrt(2). The instance has k = 7, N = 10, and a_i that are nearly orthogonal to grad f_memory.",
        ),
    )


CLAIMS = {"ours.adaptive_worst_case": worst_case}
