"""What adapted rates do to forgetting: Lemma 6 for a client's term, Lemma 7 for the step really taken.

Sums over the clients with interference carry "int", those over the clients with transference "tr"; in code I and T.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.adaptive.clients import (
    ALPHA_I,
    INTERFERENCE,
    MEMORY,
    NO_CROSS,
    Lambda_i,
    N,
    a,
    a_i,
    alpha_i,
    beta_i,
    beta_of,
    client_term,
    cross,
    memory,
    memory_gradient,
    p_i,
    q,
    weight_of,
)
from cflag_theory.claims.c_flag.adaptive.server import forgetting
from cflag_theory.claims.c_flag.past_task.descent import STEP_SIZE
from cflag_theory.claims.c_flag.vectors import client
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement
from cflag_theory.claims.engine.notation import L, alpha, beta, i, symbol
from cflag_theory.claims.engine.operators import Operator, sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, Step
from cflag_theory.claims.engine.terms import dot, norm2

own_I = symbol("own_I", r"\sum_{\mathrm{int}} p_i^2\|\mathbf{a}_i\|^2", nonnegative=True)
# The clients are numbered so that those with transference come first.
N_T = symbol("N_T", r"N_{\mathrm{tr}}", nonnegative=True, integer=True)
over_T = sum_over(i, N_T)
_own = weight_of(i) ** 2 * norm2(a(i))
own_T = symbol("own_T", r"\sum_{\mathrm{tr}} p_i^2\|\mathbf{a}_i\|^2", over_T(_own))
own_once = symbol("own_once", r"\sum_{\mathrm{tr}} p_i^2\beta_{t,i}\|\mathbf{a}_i\|^2", over_T(beta_of(i) * _own))
own_adapted = symbol(
    "own_adapted", r"\sum_{\mathrm{tr}} p_i^2\beta_{t,i}^2\|\mathbf{a}_i\|^2", over_T(beta_of(i) ** 2 * _own)
)
spread = symbol(
    "spread",
    r"\sum_{\mathrm{tr}} p_i^2(\beta_{t,i}-\beta)^2\|\mathbf{a}_i\|^2",
    over_T((beta_of(i) - beta) ** 2 * _own),
)
cross_adapted = symbol("cross_adapted", r"\sum_{i\ne j}p_ip_j\beta_{t,i}\beta_{t,j}C_{i,j}", real=True)
Lambda_I = symbol("Lambda_I", r"\sum_{\mathrm{int}} p_i\Lambda_{t,i}", real=True)
_product = weight_of(i) * dot(memory_gradient, a(i))
Lambda_T = symbol("Lambda_T", r"\sum_{\mathrm{tr}} p_i\Lambda_{t,i}", over_T(_product))
Lambda_adapted = symbol(
    "Lambda_adapted", r"\sum_{\mathrm{tr}} p_i\beta_{t,i}\Lambda_{t,i}", over_T(beta_of(i) * _product)
)
Lambda2_I = symbol("Lambda2_I", r"\sum_{\mathrm{int}} p_i\Lambda_{t,i}^2", nonnegative=True)
raised_I = symbol("raised_I", r"\sum_{\mathrm{int}} p_i\alpha_{t,i}\Lambda_{t,i}", real=True)
alpha_mean = symbol("alpha_mean", r"\sum_i p_i\alpha_{t,i}", real=True)


#: Each rate is at least beta/(2 (sqrt(2) - 1)).
root_2 = symbol("root_2", r"\sqrt{2}", positive=True)
ROOT_2 = Fact("2", equal(root_2**2, 2), "The square root of 2.")
ALL_CROSS = Fact("worst case", below(0, cross), "C_ij > 0 for all i != j.")


STEP_TAKEN = "Gamma_ad as the forgetting term of the step that is taken"
AS_195 = "Gamma_ad as (195) writes it, sum_i p_i Gamma_{i,ad}"


def lemma6() -> Claim:
    """Lemma 6 with beta_i = alpha as printed, and with beta_i = beta as its proof and Algorithm 3 have it."""
    known = (INTERFERENCE, MEMORY)
    lower = at_most(client_term(beta, alpha_i), client_term(beta, alpha))
    common = at_most(client_term(alpha, alpha_i), client_term(alpha, alpha))
    follows = Obligation("the statement follows", lower, ("alpha_i", "interference", "memory"))
    return Claim(
        "cflag.lemma6",
        "Lemma 6, (192)-(194)",
        "Interference lowers the client's term",
        (
            Part(
                "1",
                Statement(
                    "Under interference alpha_{t,i} of Table 1 and beta_{t,i} = alpha do not raise the client's term, "
                    "in both cases.",
                    at_most(client_term(alpha, alpha_i), client_term(beta, alpha)),
                    known,
                    None,
                    (ALPHA_I,),
                ),
                Repair(
                    "typo",
                    "beta_{t,i} = beta_t, as in (194) and in line 11 of Algorithm 3",
                    Statement("The same with beta_{t,i} = beta_t.", lower, known, Proof((follows,)), (ALPHA_I,)),
                ),
                reading="two step sizes, alpha_t = alpha and beta_t, as Algorithm 3 has them",
            ),
            Part(
                "equal",
                Statement(
                    "Under interference alpha_{t,i} of Table 1 and beta_{t,i} = alpha do not raise the client's term, "
                    "in both cases.",
                    common,
                    known,
                    Proof((Obligation("the statement follows", common, ("alpha_i", "interference", "memory")),)),
                    (ALPHA_I,),
                ),
                reading="one step size, alpha_t = beta_t = alpha, as Sec. 5 fixes them before Table 1",
            ),
        ),
        (
            "Exactly: the term falls by alpha beta L Lambda_i^2 / ||grad_f_memory||^2.",
            "1 - L alpha may have any sign. The lemma is about the client's term alone; alpha_{t,i} need not be "
            "feasible.",
        ),
    )


def adapted_forgetting() -> sp.Expr:
    """Gamma of the step really taken, sum_i p_i alpha_i grad_f_memory + sum_i p_i beta_i a_i, with Table 1's rates."""
    norm2 = beta**2 * own_I + own_adapted + cross_adapted
    return L / 2 * norm2 - (1 - L * alpha_mean) * (beta * Lambda_I + Lambda_adapted)


def constant_forgetting() -> sp.Expr:
    """Gamma with alpha and beta for all clients."""
    return forgetting(beta, alpha, own_I + own_T + cross, Lambda_I + Lambda_T)


def left_out(c: sp.Expr) -> sp.Expr:
    """What the proof of Lemma 7 leaves out of Gamma_ad - Gamma; c = 1 in the average case, N in the worst."""
    raised = L * (alpha_mean - alpha) * (beta * Lambda_I + Lambda_adapted)
    return raised + L / 2 * (cross_adapted - beta**2 * cross + (c - 1) * (beta**2 * own_T - own_adapted))


def rates(c: sp.Expr) -> tuple[tuple[Fact, ...], tuple[Any, ...]]:
    """Table 1's rates by their definition, and summed over the clients with transference."""
    definitions = (
        Fact(
            "rate",
            equal(L * c * p_i * a_i**2 * beta_i, q * Lambda_i),
            "beta_{t,i} of Table 1 under transference.",
            (client,),
        ),
        Fact("mean alpha", equal(alpha_mean * memory**2, alpha * (memory**2 - Lambda_I)), "The mean of alpha_{t,i}."),
    )
    square = norm2(a(client))
    once = equal(c * L * p_i**2 * beta_i * square, q * p_i * Lambda_i)
    twice = equal(c * L * p_i**2 * beta_i**2 * square, q * p_i * beta_i * Lambda_i)
    steps = (
        rules.norm_squared("||a_i||^2", a(client)),
        Obligation("a client, once", once, ("rate", "||a_i||^2")),
        rules.at("any client, once", client, i, given="a client, once"),
        rules.mean("rates once", over_T, given="any client, once"),
        Obligation("a client", twice, ("a client, once",)),
        rules.at("any client", client, i, given="a client"),
        rules.mean("rates", over_T, given="any client"),
    )
    return definitions, steps


def _printed(c: sp.Expr, case: Fact) -> Statement:
    """Lemma 7 in one case, for the step really taken."""
    words = (
        f"In the {case.name} Table 1's rates (beta_{{t,i}} = beta under interference) do not raise the forgetting term "
        "of the step really taken: Gamma_ad = (L/2) ||sum_i p_i beta_i a_i||^2 - (1 - L sum_i p_i alpha_i) sum_i p_i "
        "beta_i Lambda_i <= Gamma."
    )
    return Statement(
        words, at_most(adapted_forgetting(), constant_forgetting()), (STEP_SIZE, case, MEMORY), None, rates(c)[0]
    )


def lemma7_average() -> Claim:
    """Lemma 7 in the average case."""
    c = sp.S.One
    definitions, steps = rates(c)
    printed = _printed(c, NO_CROSS)
    goal = at_most(adapted_forgetting(), constant_forgetting())
    none = Fact("no interference", equal(Lambda_I, 0), "No client has Lambda_{t,i} < 0.")
    rescaled = Fact("rescaled", at_most(cross_adapted, 0), "sum_{i != j} p_i p_j beta_i beta_j C_ij <= 0.")
    follows = Obligation(
        "the statement follows",
        goal,
        ("no interference", "rescaled", "average case", "mean alpha", "memory", "rates", "rates once", "spread"),
    )
    repair = Repair(
        "needs-hypothesis",
        "no client has Lambda_{t,i} < 0, and the rescaled products stay harmless: sum_{i != j} p_i p_j beta_i beta_j "
        "C_ij <= 0, which need not follow from sum_{i != j} p_i p_j C_ij = 0",
        Statement(
            "The same where no client has Lambda_{t,i} < 0 and sum_{i != j} p_i p_j beta_i beta_j C_ij <= 0.",
            goal,
            (*printed.hypotheses, none, rescaled),
            Proof((*steps, rules.square("spread", (beta_of(i) - beta) * weight_of(i) * a(i), over_T), follows)),
            definitions,
        ),
    )
    return Claim(
        "cflag.lemma7_average",
        "Lemma 7, (195)-(200), average case",
        "Adapted rates improve forgetting, average case",
        (
            Part("1", printed, repair, reading=STEP_TAKEN),
            Part("sum", _sum_of_terms(c, NO_CROSS), reading=AS_195),
        ),
        (
            "Either condition alone is not enough: the raised alpha takes from what the transferring clients bring, "
            "and products that cancel at equal rates need not cancel after rescaling. Both hold where all clients "
            "transfer and the a_i are orthogonal in pairs.",
            "Exactly, without conditions: ours.adaptive_condition.",
            "The sum of part sum is not the forgetting term of the step taken: products C_ij that cancel at one rate "
            "are left out of it, and every client has the raised alpha_{t,i} for itself.",
            "The counterexamples have alpha = beta, where beta_{t,i} = alpha and beta_{t,i} = beta are the same.",
        ),
    )


def _sum_of_terms(c: sp.Expr, case: Fact, *, of_terms: bool = False) -> Statement:
    """sum_i p_i Gamma_{i,ad} against Gamma, or against sum_i p_i Gamma_i: the same in the average case."""
    definitions, steps = rates(c)
    terms = L * c * beta**2 * (own_I + own_T) / 2 - beta * q * (Lambda_I + Lambda_T)
    adapted = L * c * (beta**2 * own_I + own_adapted) / 2 - beta * (Lambda_I - L * raised_I) - q * Lambda_adapted
    goal = at_most(adapted, terms if of_terms else constant_forgetting())
    raised = Fact(
        "raised", equal(raised_I * memory**2, alpha * (Lambda_I * memory**2 - Lambda2_I)), "alpha_{t,i} of Table 1."
    )
    given = ("raised", "memory", "rates", "rates once", "spread", *([] if of_terms else [case.name]))
    spread_square = rules.square("spread", (beta_of(i) - beta) * weight_of(i) * a(i), over_T)
    proof = Proof((*steps, spread_square, Obligation("the statement follows", goal, given)))
    size = "p_i" if c == 1 else "N p_i"
    right = "sum_i p_i Gamma_i, with alpha and beta for all clients" if of_terms else "Gamma"
    return Statement(
        f"In the {case.name} Table 1's rates (beta_{{t,i}} = beta under interference) do not raise sum_i p_i Gamma_i: "
        f"sum_i p_i [(L/2) {size} beta_i^2 ||a_i||^2 - (1 - L alpha_i) beta_i Lambda_i] <= {right}.",
        goal,
        (STEP_SIZE, case, MEMORY),
        proof if of_terms or c == 1 else None,
        (definitions[0], raised),
    )


def lemma7_worst(share: Any = 1) -> Claim:
    """Lemma 7 in the worst case; `share` times 2 (sqrt(2) - 1) is the limit of beta/beta_i in the repair."""
    definitions, _ = rates(N)
    printed = _printed(N, ALL_CROSS)
    goal = at_most(adapted_forgetting(), constant_forgetting())
    all_transfer = (
        Fact(
            "all transfer",
            equal(own_I, 0),
            "Every client transfers: the sum of p_i^2 ||a_i||^2 over the others is empty,",
        ),
        Fact("no interference", equal(Lambda_I, 0), "and so is that of p_i Lambda_{t,i}."),
        Fact("N_T", at_most(N_T, N), "N_tr of the N clients transfer."),
    )
    own = weight_of(i) * a(i)
    in_parts = (
        Fact("products", equal(norm2(over_T(own)), own_T + cross), "||S||^2 by the clients' squares and products."),
        Fact(
            "rescaled products",
            equal(norm2(over_T(beta_of(i) * own)), own_adapted + cross_adapted),
            "The same for sum_i p_i beta_i a_i.",
        ),
    )
    used = ("squares", "distances", "distance", "2", "mean alpha", "memory")
    facts = tuple(fact.name for fact in (*all_transfer, *in_parts))
    repair = Repair(
        "needs-hypothesis",
        "all clients transfer, and no rate of Table 1 is below beta/(2 (sqrt(2) - 1)) = 1.208 beta",
        Statement(
            "The same where all clients transfer and beta <= 2 (sqrt(2) - 1) beta_{t,i} for every client.",
            goal,
            (*printed.hypotheses, *all_transfer, short_step(share)),
            Proof((*not_raised(over_T), Obligation("the statement follows", goal, (*used, *facts)))),
            (*definitions, *in_parts, ROOT_2),
        ),
    )
    return Claim(
        "cflag.lemma7_worst",
        "Lemma 7, (195)-(200), worst case",
        "Adapted rates improve forgetting, worst case",
        (
            Part("1", printed, repair, reading=STEP_TAKEN),
            Part(
                "sum",
                _sum_of_terms(N, ALL_CROSS),
                Repair(
                    "typo",
                    "sum_i p_i Gamma_{i,w}, which (191) shows to be at least Gamma, in place of Gamma in (200)",
                    _sum_of_terms(N, ALL_CROSS, of_terms=True),
                ),
                reading=AS_195,
            ),
        ),
        (
            "The condition on beta can be met: the rates of Table 1 do not tend to 0 with beta. Why 2 (sqrt(2) - 1) is "
            "the best constant, and what the rates gain without the condition: ours.adaptive_worst_case. The exact "
            "difference Gamma_ad - Gamma: ours.adaptive_condition. Rates that never raise Gamma: ours.adaptive_server "
            "and ours.adaptive_clients.",
            "(195) and (200) are equalities in the proof, where (190) gives Gamma <= sum_i p_i Gamma_i,w only: for "
            "(200) that is the wrong direction.",
        ),
    )


def short_step(share: Any = 1) -> Fact:
    """beta is at most `share` times 2 (sqrt(2) - 1) beta_i for every client that takes its rate."""
    return Fact(
        "beta",
        at_most(beta, share * 2 * (root_2 - 1) * beta_i),
        "beta <= 2 (sqrt(2) - 1) beta_{t,i} for every client with transference.",
        (client,),
    )


def not_raised(over: Operator) -> tuple[Step, ...]:
    """Gamma_ad <= Gamma for the clients of `over`, by the steps behind it; "rate", "beta" and "2" are given.

    With V = sum_i p_i beta_i a_i, the square of V - N p_i (2 beta_i - sqrt(2) beta) a_i for each client, and that of
    sqrt(2) beta S - V.
    """
    S, V, square = over(weight_of(i) * a(i)), over(weight_of(i) * beta_of(i) * a(i)), norm2(a(client))
    one = at_most(
        (2 * beta_i - root_2 * beta) * p_i * dot(a(client), V),
        norm2(V) / (2 * N) + 2 * N * p_i**2 * beta_i * (beta_i - beta) * square,
    )
    apart = V - N * weight_of(client) * (2 * beta_of(client) - root_2 * beta) * a(client)
    return (
        rules.norm_squared("||a_i||^2", a(client)),
        Obligation(
            "a client's square",
            equal(L * N * p_i**2 * beta_i * (beta_i - beta) * square, q * p_i * (beta_i - beta) * Lambda_i),
            ("rate", "||a_i||^2"),
        ),
        rules.square("a client's distance", apart),
        Obligation(
            "a client",
            one,
            ("a client's distance", "beta", "2"),
            slack("a client's distance") / (2 * N)
            + N * p_i**2 * square * beta * (slack("beta") - beta * residual("2") / 2),
        ),
        rules.at("any client's square", client, i, given="a client's square"),
        rules.mean("squares", over, given="any client's square"),
        rules.at("any client's distance", client, i, given="a client"),
        rules.mean("distances", over, given="any client's distance"),
        rules.square("distance", root_2 * beta * S - V),
    )


def relation_of_rates(c: sp.Expr) -> Relation:
    """Gamma_ad as Gamma, minus what the rates gain, plus what Lemma 7 leaves out."""
    return equal(adapted_forgetting(), constant_forgetting() - c * L / 2 * spread + left_out(c))


CLAIMS = {"cflag.lemma6": lemma6, "cflag.lemma7_average": lemma7_average, "cflag.lemma7_worst": lemma7_worst}
