"""Server updates: (7) in the main text, (17)-(25) in the supplement.

The statements are linear in the vectors, so they are stated for one coordinate; every coordinate is alike.
"""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.c_flag.vectors import (
    LOCAL_STEP,
    ROUND_START,
    ROUND_SUM,
    client,
    ell,
    grad_client,
)
from cflag_theory.claims.c_flag.vectors import delayed as table_mean
from cflag_theory.claims.c_flag.vectors import x_local as local
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Source, Statement
from cflag_theory.claims.engine.notation import (
    E,
    alpha,
    beta,
    bias,
    clients,
    delayed_sum,
    draw,
    grad_current,
    grad_f,
    i,
    k,
    sequence,
    symbol,
    t,
    x_t,
)
from cflag_theory.claims.engine.notation import x as iterate
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import Relation, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof
from cflag_theory.claims.engine.terms import dot, vector

#: The direction of the coordinate.
e = vector("e", "e")()
memory_i = vector("grad_f_memory_i", r"\nabla f_{@1}^\dagger(x_{@3})")
x = symbol("x_t", r"x_t", dot(x_t, e), real=True)
x_next = symbol("x_next", r"x_{t+1}", dot(iterate(draw, t + 1), e), real=True)
x_mean = symbol("x_mean", r"\sum_i p_i x_{t,E}^i", dot(clients(local(i, E)), e), real=True)
S = symbol("S", r"S", dot(delayed_sum, e), real=True)
grad_f_memory = symbol("grad_f_memory", r"\nabla f^\dagger(x_t)", dot(grad_f + bias, e), real=True)
memory_mean = symbol(
    "sum_p_grad_f_memory", r"\sum_i p_i\nabla f_i^\dagger(x_t)", dot(clients(memory_i(i, draw, t)), e), real=True
)
grad_g = symbol("grad_g", r"\nabla g(x_t)", dot(grad_current, e), real=True)
grad_g_i = symbol("grad_g_i", r"\nabla g_i(x_t)", dot(grad_client(x_t), e), real=True)
grad_g_mean = symbol("sum_p_grad_g", r"\sum_i p_i\nabla g_i(x_t)", dot(clients(grad_client(x_t, i)), e), real=True)
memory_at_clients = symbol("memory_at_clients", r"\sum_i p_i\nabla f^\dagger(x_{t,E}^i)", real=True)
total_weight = symbol("sum_p", r"\sum_i p_i", clients(sp.S.One), real=True)
x_local = sequence("x_local", r"x_{t,@}^i", lambda k: dot(local(client, k), e), real=True)
delayed = sequence("delayed", r"\nabla g_i'(x_{t,@}^i)", lambda k: dot(table_mean(k), e), real=True)
a = sequence("a", r"\sum_{l<@}\nabla g_i'(x_{t,l}^i)", lambda k: sum_over(ell, k)(dot(table_mean(ell), e)), real=True)

WEIGHTS = Fact("weights", equal(total_weight, 1), "The client weights sum to one.")
MEAN_DRIFT = Fact(
    "(22)", equal(x_mean - x, -beta * S), "The weighted mean drift (22).", sources=(Source("cflag.eq22"),)
)


def eq7() -> Claim:
    """The server update of the main text against the update that the supplement analyses."""
    update = x - alpha * grad_f_memory - beta * S
    printed = Statement(
        "The server update (7), x_{t+1} = x_t - alpha grad_f_memory - beta sum_i p_i x_{t,E}^i with local iterates "
        "(4), "
        "is the round update (24) that the analysis uses.",
        equal(x - alpha * grad_f_memory - beta * x_mean, update),
        (MEAN_DRIFT,),
    )
    mended = equal(x - alpha * grad_f_memory - (x - x_mean), update)
    repaired = Statement(
        "x_{t+1} = x_t - alpha grad_f_memory - sum_i p_i (x_t - x_{t,E}^i) is the round update (24).",
        mended,
        (MEAN_DRIFT,),
        Proof((Obligation("the statement follows", mended, ("(22)",)),)),
    )
    repair = Repair("typo", "replace beta_t x_{t,E}^i in the last sum by x_t - x_{t,E}^i", repaired)
    return Claim("cflag.eq7", "(7)", "Server update of the main text", (Part("1", printed, repair),))


def alg1() -> Claim:
    """Line 12 of Algorithm 1 with the transmitted quantity of Sec. 3, against the update that is analysed."""
    update = x - alpha * grad_f_memory - beta * S
    transmitted = x_mean - alpha * grad_f_memory
    printed = Statement(
        "Line 12, x_{t+1} = x_t - sum_i p_i Delta_i, with Delta_i = x_{t,E}^i - alpha grad_f_memory as Sec. 3 "
        "transmits it, is the round update (24) that the analysis uses.",
        equal(x - transmitted, update),
        (MEAN_DRIFT,),
    )
    mended = equal(x - (x - x_mean + alpha * grad_f_memory), update)
    repaired = Statement(
        "Line 12 with Delta_i = x_t - x_{t,E}^i + alpha grad_f_memory is the round update (24).",
        mended,
        (MEAN_DRIFT,),
        Proof((Obligation("the statement follows", mended, ("(22)",)),)),
    )
    repair = Repair("typo", "transmit Delta_i = x_t - (x_{t,E}^i - alpha grad_f_memory)", repaired)
    return Claim(
        "cflag.alg1",
        "Algorithm 1, line 12, and Sec. 3",
        "Server update of Algorithm 1",
        (Part("1", printed, repair),),
        (
            "The printed pair gives x_t - sum_i p_i x_{t,E}^i + alpha grad_f_memory = alpha grad_f_memory + beta S: "
            "the model itself is lost and the memory step climbs.",
            "Keeping what Sec. 3 transmits and writing line 12 as x_{t+1} = sum_i p_i Delta_i corrects it as "
            "well; that "
            "is (23).",
        ),
    )


def _drift_relation(index: sp.Expr) -> Relation:
    return equal(x_local(index) - x, -beta * index * (grad_g - grad_g_i) - beta * a(index))


def eq22() -> Claim:
    """The weighted mean drift is -beta times the sum of delayed gradients."""
    goal = equal(x_mean - x, -beta * S)
    hypothesis = "one client's drift (hypothesis)"
    proof = Proof(
        (
            rules.along("start", e, given=ROUND_START),
            rules.along("local step", e, given=LOCAL_STEP),
            Induction(
                "one client's drift",
                k,
                _drift_relation(k),
                base=Obligation("(20) at k = 0", _drift_relation(sp.S.Zero), ("start",)),
                step=(
                    rules.last_term("next term", ell, k, dot(table_mean(ell), e)),
                    Obligation("(20) from k to k + 1", _drift_relation(k + 1), (hypothesis, "local step", "next term")),
                ),
            ),
            Instance("(20)", "one client's drift", k, E),
            rules.at("any client", client, i, given="(20)"),
            rules.mean("(21)", clients, given="any client"),
            rules.exchange("order", clients, sum_over(ell, E), dot(table_mean(ell, i), e)),
            rules.along("sum", e, given=ROUND_SUM),
            Obligation("the statement follows", goal, ("(21)", "order", "sum")),
        )
    )
    words = "sum_i p_i (x_{t,E}^i - x_t) = -beta S, with S = sum_i p_i sum_{k<E} grad g_i'(x_{t,k}^i)."
    printed = Statement(words, goal, (), proof)
    return Claim("cflag.eq22", "(17)-(22)", "Weighted mean drift of a round", (Part("1", printed),))


def eq25() -> Claim:
    """(23) gives (24) with x_t for x_t^i, and (24) is (25)."""
    averaged = Fact(
        "(23)",
        equal(x_next, x_mean - alpha * grad_f_memory),
        "The server averages x_{t,E}^i - alpha grad_f_memory(x_t) with weights p_i.",
    )
    update = equal(x_next, x - alpha * grad_f_memory - beta * S)
    proof = Proof((Obligation("the statement follows", update, ("(23)", "(22)")),))
    first = Statement(
        "x_{t+1} = sum_i p_i (x_{t,E}^i - alpha grad_f_memory(x_t)) is x_t - alpha grad_f_memory(x_t) - beta S, that "
        "is (23) = (24).",
        update,
        (averaged, MEAN_DRIFT),
        proof,
    )
    at_clients = Fact(
        "(23)",
        equal(x_next, x_mean - alpha * memory_at_clients),
        "The server averages x_{t,E}^i - alpha grad_f_memory(x_{t,E}^i) with weights p_i.",
    )
    client_iterate = Statement(
        "x_{t+1} = sum_i p_i (x_{t,E}^i - alpha grad_f_memory(x_{t,E}^i)) is x_t - alpha grad_f_memory(x_t) - beta S, "
        "that is (23) = (24).",
        update,
        (at_clients, MEAN_DRIFT),
    )
    definition = Fact(
        "(6)", equal(memory_mean, grad_f_memory), "grad_f_memory = sum_i p_i grad f_i_memory, the average of (6)."
    )
    expanded = equal(x_next, x - alpha * memory_mean - beta * S)
    part1 = Source("cflag.eq25", besides=("(23)", "(22)"))
    round_update = Fact("(24)", update, "The round update (24).", sources=(part1,))
    second = Statement(
        "The round update with grad_f_memory written as sum_i p_i grad f_i_memory, that is (24) = (25).",
        expanded,
        (round_update, definition),
        Proof((Obligation("the statement follows", expanded, ("(24)", "(6)")),)),
    )
    return Claim(
        "cflag.eq25",
        "(23)-(25)",
        "Server update of the supplement",
        (
            Part("1", first, reading="x_t^i is the client's model when the round begins, x_{t,0}^i = x_t"),
            Part("2", second),
            Part(
                "client",
                client_iterate,
                Repair("typo", "x_t in place of x_t^i", first),
                reading="x_t^i is the client's model when it sends, x_{t,E}^i",
            ),
        ),
        (
            "(23) evaluates the memory gradient at x_t^i, a symbol that the paper never defines. Line 2 of Algorithm 1 "
            "evaluates it at x_t.",
        ),
    )


CLAIMS = {"cflag.eq7": eq7, "cflag.alg1": alg1, "cflag.eq22": eq22, "cflag.eq25": eq25}
