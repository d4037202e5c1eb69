"""Adaptive rates client by client: (184)-(191) and Table 1.

own = sum_i p_i^2 ||a_i||^2, and cross = sum_{i != j} p_i p_j <a_i, a_j> is a symbol of its own.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.adaptive.server import forgetting, step_sizes
from cflag_theory.claims.c_flag.past_task.descent import STEP_SIZE
from cflag_theory.claims.c_flag.vectors import client
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Source, Statement
from cflag_theory.claims.engine.notation import L, alpha, beta, bias, draw, draws, grad_f, i, m, omega, sequence, symbol
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, Step
from cflag_theory.claims.engine.terms import dot, norm, norm2, vector

N = symbol("N", "N", positive=True, integer=True)
# A client's a_i and rate, and the gradient of the memory, of one round.
a = vector("a", r"\mathbf{a}_{@}")
beta_of = sequence("beta_of", r"\beta_{t,@}", real=True)
weight_of = sequence("p_of", "p_{@}", positive=True)
memory_gradient = grad_f + bias
total = sum_over(i, N)
S = total(weight_of(i) * a(i))
p_i = symbol("p_i", "p_i", weight_of(client), positive=True)
weight = symbol("w_i", "w_i", positive=True)
a_i = symbol("a_i", r"{\|\mathbf{a}_i\|}", norm(a(client)), nonnegative=True)
Lambda_i = symbol("Lambda_i", r"\Lambda_{t,i}", dot(memory_gradient, a(client)), real=True)
memory = symbol("grad_f_memory", r"{\|\nabla f^\dagger(x_t)\|}", norm(memory_gradient), nonnegative=True)
alpha_i = symbol("alpha_i", r"\alpha_{t,i}", real=True)
beta_i = symbol("beta_i", r"\beta_{t,i}", beta_of(client), real=True)

sum2 = symbol("sum_pa2", r"{\|S\|^2}", norm2(S), nonnegative=True)
Lambda = symbol("Lambda_pa", r"\Lambda_t", dot(memory_gradient, S), real=True)
_Gamma_of = sequence("Gamma_of", r"\Gamma_{@}", real=True)
_Gamma = sequence("Gamma_drawn", r"\Gamma_{@}", real=True)
Gamma_i = symbol("Gamma_i", r"\Gamma_i(t)", _Gamma_of(client, draw), real=True)
Gamma = symbol("Gamma_t", r"\Gamma(t)", _Gamma(draw), real=True)
client_sum = symbol("sum_p_Gamma_i", r"\sum_i p_i\Gamma_i(t)", total(weight_of(i) * _Gamma_of(i, draw)), real=True)
mean_Gamma = symbol("mean_Gamma", r"\mathbb{E}[\Gamma(t)]", draws(_Gamma(omega)), real=True)
mean_client_sum = symbol(
    "mean_client_sum",
    r"\sum_i p_i\mathbb{E}[\Gamma_i(t)]",
    total(weight_of(i) * draws(_Gamma_of(i, omega))),
    real=True,
)
own = symbol("own", r"\sum_i p_i^2\|\mathbf{a}_i\|^2", total(weight_of(i) ** 2 * norm2(a(i))), nonnegative=True)
cross = symbol("cross", r"\sum_{i\ne j}p_ip_jC_{i,j}", real=True)
plain = symbol("plain", r"\sum_i p_i\|\mathbf{a}_i\|^2", total(weight_of(i) * norm2(a(i))), nonnegative=True)
plain_Lambda = symbol("plain_Lambda", r"\sum_i\Lambda_{t,i}", dot(memory_gradient, total(a(i))), real=True)

q = 1 - L * alpha
NORM = Fact("norm", equal(sum2, own + cross), "||S||^2 = sum_i p_i^2 ||a_i||^2 + sum_{i != j} p_i p_j C_ij.")
FORGETTING = Fact("(15)", equal(Gamma, forgetting(beta, alpha, sum2, Lambda)), "Gamma(t) of (15).")
NO_CROSS = Fact("average case", equal(cross, 0), "sum_{i != j} p_i p_j C_ij = 0.")
MEMORY = Fact("memory", below(0, memory), "grad_f_memory(x_t) is not zero; Table 1 divides by its square.")
INTERFERENCE = Fact("interference", at_most(Lambda_i, 0), "Lambda_{t,i} <= 0.")
TRANSFERENCE = Fact("transference", below(0, Lambda_i), "Lambda_{t,i} > 0.")
ALPHA_I = Fact(
    "alpha_i",
    equal(alpha_i * memory**2, alpha * (memory**2 - Lambda_i)),
    "alpha_{t,i} = alpha (1 - Lambda_{t,i} / ||grad_f_memory||^2).",
)


def term(factor: sp.Expr) -> Fact:
    """The client's term of (184) or (189)."""
    return Fact(
        "Gamma_i",
        equal(Gamma_i, forgetting(beta, alpha, factor * p_i * a_i**2, Lambda_i)),
        "The client's term, with p_i ||a_i||^2 in the average case and N p_i ||a_i||^2 in the worst.",
    )


def clients_sum(factor: sp.Expr) -> sp.Expr:
    """sum_i p_i Gamma_i with Gamma_i = (L beta^2 / 2) factor p_i ||a_i||^2 - beta (1 - L alpha) Lambda_i."""
    return forgetting(beta, alpha, factor * own, Lambda)


def _sum_over_clients(factor: sp.Expr) -> tuple[Step, ...]:
    """p_i times the client's term, summed over the clients as "clients"."""
    each = equal(p_i * Gamma_i, p_i * forgetting(beta, alpha, factor * p_i * norm2(a(client)), Lambda_i))
    return (
        rules.norm_squared("||a_i||^2", a(client)),
        Obligation("p_i Gamma_i", each, ("Gamma_i", "||a_i||^2")),
        rules.at("any client", client, i, given="p_i Gamma_i"),
        rules.mean("clients", total, given="any client"),
    )


def client_term(step: sp.Expr, memory_step: sp.Expr) -> sp.Expr:
    """Gamma_i with the weight w_i: p_i in the average case, N p_i in the worst."""
    return forgetting(step, memory_step, weight * a_i**2, Lambda_i)


def eq184() -> Claim:
    """The average case: Gamma is the weighted sum of the clients' terms, and so are the expectations."""
    given = ("(15)", "norm", "average case", "clients")
    goal = equal(Gamma, client_sum)
    same = Obligation("the statement follows", goal, given)
    first = Statement(
        "In the average case Gamma(t) = sum_i p_i Gamma_i,av(t), (184).",
        goal,
        (NO_CROSS,),
        Proof((*_sum_over_clients(sp.S.One), same)),
        (FORGETTING, NORM, term(sp.S.One)),
    )
    means = equal(mean_Gamma, mean_client_sum)
    definitions = ("(15)", "norm", "Gamma_i")
    part1 = Source("cflag.eq184", besides=("average case", *definitions))
    drawn = Fact("(184)", goal, "(184) for every draw of the memories.", (draw,), (part1,))
    second = Statement(
        "𝔼 Gamma(t) = sum_i p_i 𝔼 Gamma_i,av(t), (185).",
        means,
        (drawn,),
        Proof(
            (
                rules.at("any draw", draw, omega, given="(184)"),
                rules.mean("mean", draws, given="any draw"),
                rules.exchange("term by term", draws, total, weight_of(i) * _Gamma_of(i, omega)),
                Obligation("the statement follows", means, ("mean", "term by term")),
            )
        ),
    )
    return Claim("cflag.eq184", "(184)-(185)", "Average case", (Part("1", first), Part("2", second)))


def eq188(count: Any = N) -> Claim:
    """The worst case: the upper bound, and the client's term as it is defined after (190)."""
    bound = at_most(Gamma, clients_sum(count))
    upper = Statement(
        "Gamma(t) <= (L beta^2 / 2) sum_i p_i^2 N ||a_i||^2 - beta (1 - L alpha) sum_i p_i Lambda_i, (187)-(188).",
        bound,
        (),
        Proof(
            (
                rules.jensen("(a)", total, weight_of(i) * a(i)),
                Obligation("the statement follows", bound, ("(15)", "(a)")),
            )
        ),
        (FORGETTING,),
    )
    as_defined = equal(forgetting(beta, alpha, N * plain, plain_Lambda), clients_sum(N))
    without = equal(client_sum, clients_sum(N))
    mended = Statement(
        "The same with Gamma_i,w = (L beta^2 / 2) p_i N ||a_i||^2 - beta (1 - L alpha) Lambda_i.",
        without,
        (),
        Proof(
            (
                *_sum_over_clients(N),
                Obligation("the statement follows", without, ("clients",)),
            )
        ),
        (term(N),),
    )
    definition = Part(
        "2",
        Statement(
            "sum_i p_i Gamma_i,w is (189), with Gamma_i,w = (L beta^2 / 2) sum_i p_i N ||a_i||^2 - beta (1 - L alpha) "
            "sum_i Lambda_i as defined after (190); this is the same for all i, so its weighted sum is itself.",
            as_defined,
        ),
        Repair("typo", "drop both sums from the definition of Gamma_i,w", mended),
    )
    return Claim(
        "cflag.eq188",
        "(186)-(191)",
        "Worst case",
        (Part("1", upper), definition),
        (
            "The bound does not need C_ij > 0. N is the best constant: it is attained where all p_i a_i are equal.",
            "Jensen with the weights p_i gives ||S||^2 <= sum_i p_i ||a_i||^2 as well, which is smaller than "
            "N sum_i p_i^2 ||a_i||^2 where the clients with p_i > 1/N have the long a_i.",
            "(191) is the expectation of (190).",
        ),
    )


def table1_interference(reach: Any = 2) -> Claim:
    """The I rows: whether alpha_i stays below 2/(L(1 + m)), and whether the client's term falls."""
    c = L * (1 + m)
    goal = below(alpha_i, 2 / c)
    short = Fact(
        "norms",
        below(alpha * c * a_i, (reach - alpha * c) * memory),
        "||a_i|| < (2 / (L alpha (1 + m)) - 1) ||grad_f_memory||.",
    )
    proof = Proof(
        (
            rules.cauchy_schwarz("product", -memory_gradient, a(client)),
            Obligation("the statement follows", goal, ("alpha_i", "norms", "product", "memory")),
        )
    )
    known = (STEP_SIZE, INTERFERENCE, MEMORY)
    feasible = Part(
        "feasible",
        Statement("alpha_{t,i} of the I rows is feasible for (14).", goal, known, None, (ALPHA_I,)),
        Repair(
            "needs-hypothesis",
            "||a_i|| < (2 / (L alpha (1 + m)) - 1) ||grad_f_memory||; without it alpha_{t,i} grows without bound as "
            "grad_f_memory tends to 0",
            Statement("The same for such a_i.", goal, (*known, short), proof, (ALPHA_I,)),
        ),
    )
    setting = Fact("one rate", equal(beta, alpha), "The server fixes alpha_t = beta_t = alpha (Sec. 5).")
    lower = at_most(client_term(alpha, alpha_i), client_term(beta, alpha))
    lowers = Part(
        "lowers",
        Statement(
            "With beta_{t,i} = alpha, and alpha_t = beta_t = alpha before, the client's term does not rise, in both "
            "cases.",
            lower,
            (INTERFERENCE, MEMORY, setting),
            Proof((Obligation("the statement follows", lower, ("alpha_i", "one rate", "interference", "memory")),)),
            (ALPHA_I,),
        ),
    )
    return Claim(
        "cflag.table1_interference",
        "Table 1, I rows",
        "Rates under interference",
        (feasible, lowers),
        (
            "Exactly: alpha_{t,i} is feasible if and only if -Lambda_i < (2 / (L alpha (1 + m)) - 1) "
            "||grad_f_memory||^2.",
            "Part lowers reads beta_{t,i} = alpha with alpha_t = beta_t = alpha, as Sec. 5 fixes them. Lemma 6 prints "
            "the same sentence; cflag.lemma6 reads it for two rates, as Algorithm 3 has them, where it fails.",
            "The client's term falls by alpha beta L Lambda_i^2 / ||grad_f_memory||^2. For the term of the step really "
            "taken see Lemma 7: a larger alpha also lowers what the other clients' transference brings.",
            "Where grad_f_memory = 0 the rate is 0/0; the simulation then keeps alpha.",
        ),
    )


def _least(case: str, w: sp.Expr, words: str) -> Part:
    term = forgetting(beta, alpha, w * a_i**2, Lambda_i)
    goal = at_most(term.subs(beta, beta_i), term)
    rate = Fact("rate", equal(beta_i * L * w * a_i**2, q * Lambda_i), f"beta_{{t,i}} of Table 1, {words}.")
    follows = Obligation("the statement follows", goal, ("rate",))
    printed = Statement(
        f"beta_{{t,i}} minimises the client's term in the {words}.", goal, (TRANSFERENCE,), Proof((follows,)), (rate,)
    )
    return Part(case, printed)


def table1_transference() -> Claim:
    """The T rows minimise the client's term; they are step sizes only for alpha < 1/L."""
    rate = Fact("rate", equal(beta_i * L * weight * a_i**2, q * Lambda_i), "beta_{t,i} of Table 1, w_i = p_i or N p_i.")
    moving = Fact("a_i", below(0, a_i), "a_i is not zero, as Lambda_i > 0 implies.")
    sizes = step_sizes(
        "beta_{t,i} is a step size: positive, for alpha < 2/(L(1 + m)).",
        below(0, beta_i),
        (STEP_SIZE, TRANSFERENCE, moving),
        rate,
        ("rate", "transference", "small alpha", "a_i"),
    )
    return Claim(
        "cflag.table1_transference",
        "Table 1, T rows",
        "Rates under transference",
        (_least("average", p_i, "average case"), _least("worst", N * p_i, "worst case"), *sizes),
        (
            "Minimal for the given a_i, that is when the client's displacement is rescaled after its local steps.",
            "The client's term is not its share of Gamma: cross terms are left out (average) or bounded (worst); see "
            "Lemma 7.",
        ),
    )


CLAIMS = {
    "cflag.eq184": eq184,
    "cflag.eq188": eq188,
    "cflag.table1_interference": table1_interference,
    "cflag.table1_transference": table1_transference,
}
