"""Adaptive rates that provably help: what we prove instead of Table 1, Lemma 7 and the guarantee of Sec. 5."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from cflag_theory.claims.c_flag.adaptive import lemmas
from cflag_theory.claims.c_flag.adaptive.clients import Lambda_i, N, a, beta_i, beta_of, memory_gradient, q
from cflag_theory.claims.c_flag.adaptive.server import Lambda, beta_star, forgetting
from cflag_theory.claims.c_flag.problem.memory import LEMMA9
from cflag_theory.claims.c_flag.vectors import client
from cflag_theory.claims.engine import notation, rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Source, Statement, shown
from cflag_theory.claims.engine.notation import (
    L,
    alpha,
    beta,
    bias2,
    bias_dot_sum,
    delayed_sum,
    f_before,
    grad_dot_sum,
    grad_f,
    grad_f2,
    i,
    k,
    m,
    sequence,
    sum2,
    symbol,
    x_t,
)
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Instance, Obligation, Proof, Step, by_induction
from cflag_theory.claims.engine.terms import dot, norm
from cflag_theory.claims.engine.terms import norm2 as square_of

# One client: its product with S, and the rate before it is made non-negative.
S = notation.clients(a(i))
a_i2 = symbol("a_i2", r"{\|\mathbf{a}_i\|^2}", square_of(a(client)))
a_dot_S = symbol("a_i_dot_S", r"\langle\mathbf{a}_i,S\rangle", dot(a(client), S))
_target_of = sequence("target_of", r"\hat\beta_{t,@}", real=True)
target = symbol("target", r"\hat\beta_{t,i}", _target_of(client))
# S and its product with the memory; D = sum_i p_i (beta_i - beta) a_i, what the adapted rates add to beta S.
S2 = symbol("sum_a2", r"{\|S\|^2}", square_of(S))
Lambda_S = symbol("Lambda_a", r"\Lambda_t", dot(memory_gradient, S))
_added = (beta_of(i) - beta) * a(i)
memory_dot_D = symbol(
    "memory_dot_D", r"\langle\nabla f^\dagger,D\rangle", dot(memory_gradient, notation.clients(_added))
)
moved2 = symbol("moved2", r"\sum_i p_i(\beta_{t,i}-\beta)^2\|\mathbf{a}_i\|^2", notation.clients(square_of(_added)))
norm2 = symbol("norm2", r"{\|\beta S+D\|^2}", square_of(notation.clients(beta_of(i) * a(i))))
# Descent with a biased memory: norms.
mu = symbol("mu", r"\sqrt{m}", nonnegative=True)
grad = symbol("grad_f", r"{\|\nabla f(x_t)\|}", norm(grad_f))
bias = symbol("bias", r"{\|b(x_t)\|}", norm(notation.bias))
memory_norm = symbol("grad_f_memory", r"{\|\nabla f^\dagger(x_t)\|}", norm(memory_gradient))
S_norm = symbol("S_norm", r"{\|S\|}", norm(delayed_sum))
rate = symbol("rate", r"\beta_t", nonnegative=True)
x_adapted = x_t - alpha * memory_gradient - rate * delayed_sum
f_adapted = symbol("f_adapted", "f(x_{t+1})", notation.f(x_adapted))
f = sequence("f", "f(x_{@})", real=True)
squares = sequence("squares", r"\sum_{t<@}\|\nabla f(x_t)\|^2", nonnegative=True)
gradient2 = sequence("gradient2", r"{\|\nabla f(x_{@})\|^2}", nonnegative=True)
T = symbol("T", "T", positive=True, integer=True)
f_least = symbol("f_least", r"\inf f", real=True)


def server() -> Claim:
    """One rate for all clients, chosen after the local steps: it lowers Gamma of the step really taken."""
    transfer = Fact("transference", below(0, q * Lambda), "(1 - L alpha) Lambda > 0.")
    star = Fact("rate", equal(L * sum2 * beta_star, q * Lambda), "beta' = (1 - L alpha) Lambda / (L ||S||^2), (16).")
    lower = equal(forgetting(beta_star, alpha), forgetting(beta, alpha) - L * sum2 / 2 * (beta - beta_star) ** 2)
    falls = shown(
        "Where (1 - L alpha) Lambda > 0: taking beta' S instead of beta S lowers Gamma by (L/2) ||S||^2 (beta - "
        "beta')^2.",
        lower,
        given=("rate",),
        under=(transfer,),
        where=(star,),
    )
    other = Fact("interference", at_most(q * Lambda, 0), "(1 - L alpha) Lambda <= 0.")
    none = at_most(L * beta**2 * sum2 / 2, forgetting(beta, alpha))
    waits = shown(
        "Elsewhere beta' = 0: then Gamma = 0, and every beta > 0 has Gamma >= (L/2) beta^2 ||S||^2.",
        none,
        given=("interference",),
        under=(other,),
    )
    return Claim(
        "ours.adaptive_server",
        "instead of (14), (16) and Lemma 7",
        "One rate for all clients",
        (Part("transference", falls), Part("interference", waits)),
        (
            "The server knows S from what the clients send. It takes one step x_t - alpha grad_f_memory - beta' S, so "
            "Gamma is that of the step really taken, whatever the cross terms; and Gamma <= 0 in every round.",
            "No condition on alpha. In the simulation: algorithm('c_flag', adaptive='server').",
        ),
    )


def clients() -> Claim:
    """A rate for each client that reckons with the others."""
    aim = Fact(
        "rate",
        equal(L * a_i2 * (target - beta), q * Lambda_i - L * beta * a_dot_S),
        "beta + ((1 - L alpha) Lambda_i - L beta <a_i, S>) / (L ||a_i||^2).",
        (client,),
    )
    nearest = Fact(
        "projection",
        at_most((beta_i - target) * (beta_i - beta), 0),
        "beta_i = max(0, that): the nearest point of [0, oo), where beta lies too.",
        (client,),
    )
    added = (beta_i - beta) * (L * beta * a_dot_S - q * Lambda_i) + L / 2 * (beta_i - beta) ** 2 * a_i2
    after = L / 2 * norm2 - q * (beta * Lambda_S + memory_dot_D)
    goal = at_most(after, forgetting(beta, alpha, S2, Lambda_S) - L / 2 * moved2)
    steps: tuple[Step, ...] = (
        Obligation("a client", at_most(added, -L / 2 * (beta_i - beta) ** 2 * a_i2), ("rate", "projection")),
        rules.at("any client", client, i, given="a client"),
        rules.mean("all clients", notation.clients, given="any client"),
        rules.jensen("Jensen", notation.clients, _added),
        Obligation("the statement follows", goal, ("all clients", "Jensen")),
    )
    statement = Statement(
        "With these rates Gamma of the step really taken, (L/2) ||sum_i p_i beta_i a_i||^2 - (1 - L alpha) sum_i p_i "
        "beta_i Lambda_i, is at most Gamma - (L/2) sum_i p_i (beta_i - beta)^2 ||a_i||^2.",
        goal,
        proof=Proof(steps),
        definitions=(aim, nearest),
    )
    return Claim(
        "ours.adaptive_clients",
        "instead of Table 1 and Lemma 7",
        "A rate for each client",
        (Part("1", statement),),
        (
            "A client needs S besides its own a_i: the server knows both. Without the projection and for N = 1 it is "
            "an equality, and beta_1 is (16).",
            "Table 1 leaves <a_i, S> out, or bounds it; with orthogonal a_i the rate is (1 - p_i) beta + p_i times the "
            "average case's. No condition on alpha, none on the signs of Lambda_i and C_ij.",
            "Started from beta' of ours.adaptive_server it keeps Gamma <= 0. In the simulation: algorithm('c_flag', "
            "adaptive='clients').",
        ),
    )


def condition() -> Claim:
    """Exactly when Table 1 does not raise Gamma of the step really taken."""

    def part(key: str, c: sp.Expr) -> Part:
        definitions, steps = lemmas.rates(c)
        goal = lemmas.relation_of_rates(c)
        follows = Obligation("the statement follows", goal, ("rates", "rates once"))
        words = (
            "Gamma_ad = Gamma - (L c/2) sum_tr p_i^2 (beta_i - beta)^2 ||a_i||^2 + L (sum_i p_i alpha_i - alpha) sum_i "
            "p_i beta_i Lambda_i + (L/2) [sum_{i != j} p_i p_j (beta_i beta_j - beta^2) C_ij + (c - 1) sum_tr p_i^2 "
            "(beta^2 - beta_i^2) ||a_i||^2], "
        )
        which = "c = 1, with the average case's rates." if c == 1 else "c = N, with the worst case's rates."
        return Part(key, Statement(words + which, goal, proof=Proof((*steps, follows)), definitions=definitions))

    return Claim(
        "ours.adaptive_condition",
        "instead of Lemma 7",
        "When Table 1 does not raise forgetting",
        (part("average", sp.S.One), part("worst", N)),
        (
            "So Table 1 does not raise Gamma if and only if the gain (second term) is at least what follows it. No "
            "assumption on C_ij.",
            "The term with alpha is harmful as soon as some client has Lambda_i < 0 while sum_i p_i beta_i Lambda_i is "
            "positive.",
        ),
    )


def decrease() -> sp.Expr:
    """What a round takes from f at least, over ||grad f||^2."""
    return alpha * (1 - mu) * (1 - L * alpha * (1 - mu) / 2)


def descent() -> Claim:
    """The guarantee on f that adapted rates can have: any memory with m < 1, no expectation, no Assumption 3."""
    round_words = "f(x_{t+1}) <= f(x_t) - alpha (1 - sqrt(m)) (1 - L alpha (1 - sqrt(m)) / 2) ||grad f(x_t)||^2"
    return Claim(
        "ours.adaptive_descent",
        "instead of the guarantee in Sec. 5",
        "What adapted rates guarantee for the past task",
        (Part("round", _one_round(round_words)), Part("run", _whole_run())),
        (
            "For m = 0 beta'' is beta' of ours.adaptive_server: a guarantee without knowing f.",
            "The server knows all that the rule asks for but m. Nothing of the kind holds for g: see "
            "cflag.sec5_guarantee.",
            "O(1/T) for a fixed alpha <= 1/L, where the paper has O(1/sqrt(T)) with beta_t below c / sqrt(T).",
        ),
    )


_RANGES = (Fact("alpha", at_most(L * alpha, 1), "alpha <= 1/L."), Fact("m", below(mu, 1), "m < 1."))


def _one_round(words: str) -> Statement:
    known = (
        *_RANGES,
        Fact(
            "(27)",
            at_most(bias, mu * grad),
            "||b(x_t)|| <= sqrt(m) ||grad f(x_t)||, (27).",
            sources=(replace(LEMMA9, at=((m, mu**2), (grad_f2, grad**2), (bias2, bias**2))),),
        ),
        Fact(
            "rate",
            at_most(
                rate
                * (
                    (1 - mu) * (L * rate * S_norm**2 - 2 * (1 - L * alpha) * (grad_dot_sum + bias_dot_sum))
                    + 2 * mu * memory_norm * S_norm
                ),
                0,
            ),
            "0 <= beta_t <= 2 beta'', L ||S||^2 beta'' = max(0, (1 - L alpha) Lambda - sqrt(m)/(1 - sqrt(m)) "
            "||grad_f_memory|| ||S||).",
        ),
    )
    goal = at_most(f_adapted, f_before - decrease() * grad**2)
    half = L * alpha**2 / 2 * (mu * grad + bias)
    certificate = (
        slack("(36)")
        + (L * alpha**2 / 2 - alpha) * residual("||grad f||^2")
        + L / 2 * (alpha**2 * residual("||b||^2") + rate**2 * residual("||S||^2"))
        + slack("rate") / (2 * slack("m"))
        + rate * (S_norm * slack("bias") + slack("b and S"))
        + alpha * slack("alpha") * slack("grad f and b")
        + slack("(27)") * (alpha * slack("alpha") * grad + half)
    )
    sizes = {"||grad f||^2": grad_f, "||b||^2": notation.bias, "||S||^2": delayed_sum}
    steps: tuple[Step, ...] = (
        rules.smooth("(36)", notation.f, x_t, x_adapted),
        *(rules.norm_squared(name, v) for name, v in sizes.items()),
        rules.triangle("grad f", grad_f, memory_gradient, -notation.bias),
        rules.cauchy_schwarz("grad f and b", -grad_f, notation.bias),
        rules.cauchy_schwarz("b and S", notation.bias, delayed_sum),
        Obligation("bias", at_most(bias, mu / (1 - mu) * memory_norm), ("grad f", "(27)", "m")),
        Obligation(
            "the statement follows",
            goal,
            ("alpha", "m", "(27)", "rate", "(36)", *sizes, "grad f and b", "b and S", "bias"),
            certificate,
        ),
    )
    return Statement(f"One rate for all clients, and m < 1: {words}, whatever the memory.", goal, known, Proof(steps))


def _whole_run() -> Statement:
    rounds = (
        Fact("start", equal(squares(0), 0), "An empty sum."),
        Fact("sum", equal(squares(k + 1), squares(k) + gradient2(k)), "The next term."),
        Fact(
            "round",
            at_most(f(k + 1), f(k) - decrease() * gradient2(k)),
            "The run: every round chooses beta_t by the rule of part round, and (27) holds at every x_t.",
            sources=(
                Source(
                    "ours.adaptive_descent",
                    "round",
                    taken=((f_before, f(k)), (f_adapted, f(k + 1)), (grad, sp.sqrt(gradient2(k)))),
                    besides=("(27)", "rate"),
                ),
            ),
        ),
    )
    sofar = at_most(decrease() * squares(k), f(0) - f(k))
    goal = at_most(decrease() * squares(T), f(0) - f_least)
    steps: tuple[Step, ...] = (
        by_induction(
            "so far",
            k,
            sofar,
            start=("start",),
            given=("sum", "round"),
        ),
        Instance("after T rounds", "so far", k, T),
        Obligation("the statement follows", goal, ("after T rounds", "end")),
    )
    end = Fact("end", at_most(f_least, f(T)), "inf f <= f(x_T).")
    return Statement(
        "The run in which every round has one rate for all clients, chosen by the rule of part round, with a memory of "
        "(27), m < 1 and alpha <= 1/L: (1/T) sum_{t<T} ||grad f(x_t)||^2 <= (f(x_0) - inf f) / (alpha (1 - sqrt(m)) "
        "(1 - L alpha (1 - sqrt(m)) / 2) T), for every T.",
        goal,
        (*_RANGES, end),
        Proof(steps),
        rounds,
    )


CLAIMS = {
    "ours.adaptive_server": server,
    "ours.adaptive_clients": clients,
    "ours.adaptive_condition": condition,
    "ours.adaptive_descent": descent,
}
