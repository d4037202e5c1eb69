"""Server updates: (7) in the main text, (17)-(25) in the supplement.

The statements are linear in the vectors, so they are stated for one coordinate; every coordinate is alike.
"""

from __future__ import annotations

import sympy as sp

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement
from cflag_theory.claims.engine.notation import E, alpha, beta, k, sequence, symbol
from cflag_theory.claims.engine.relation import Relation, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof

x = symbol("x_t", r"x_t", real=True)
x_next = symbol("x_next", r"x_{t+1}", real=True)
x_mean = symbol("x_mean", r"\sum_i p_i x_{t,E}^i", real=True)
S = symbol("S", r"S", real=True)
grad_f_memory = symbol("grad_f_memory", r"\nabla f^\dagger(x_t)", real=True)
memory_mean = symbol("sum_p_grad_f_memory", r"\sum_i p_i\nabla f_i^\dagger(x_t)", real=True)
grad_g = symbol("grad_g", r"\nabla g(x_t)", real=True)
grad_g_i = symbol("grad_g_i", r"\nabla g_i(x_t)", real=True)
grad_g_mean = symbol("sum_p_grad_g", r"\sum_i p_i\nabla g_i(x_t)", real=True)
total_weight = symbol("sum_p", r"\sum_i p_i", real=True)
x_local = sequence("x_local", r"x_{t,@}^i", real=True)
delayed = sequence("delayed", r"\nabla g_i'(x_{t,@}^i)", real=True)
a = sequence("a", r"\sum_{l<@}\nabla g_i'(x_{t,l}^i)", real=True)

WEIGHTS = Fact("weights", equal(total_weight, 1), "The client weights sum to one.")
MEAN_DRIFT = Fact("(22)", equal(x_mean - x, -beta * S), "The weighted mean drift (22), a claim of its own.")


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
        Proof((Obligation("the statement follows", mended, ("(22)",), -residual("(22)")),)),
    )
    repair = Repair("typo", "replace beta_t x_{t,E}^i in the last sum by x_t - x_{t,E}^i", repaired)
    return Claim("cflag.eq7", "C-FLAG", "(7)", "Server update of the main text", (Part("1", printed, repair),))


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
        Proof((Obligation("the statement follows", mended, ("(22)",), -residual("(22)")),)),
    )
    repair = Repair("typo", "transmit Delta_i = x_t - (x_{t,E}^i - alpha grad_f_memory)", repaired)
    return Claim(
        "cflag.alg1",
        "C-FLAG",
        "Algorithm 1, line 12, and Sec. 3",
        "Server update of Algorithm 1",
        (Part("1", printed, repair),),
        (
            "The printed pair gives x_t - sum_i p_i x_{t,E}^i + alpha grad_f_memory = alpha grad_f_memory + beta S: "
            "the model itself is lost and the memory step climbs.",
            "Keeping what Sec. 3 transmits and writing line 12 as x_{t+1} = sum_i p_i Delta_i mends it as well; that "
            "is (23).",
        ),
    )


def _drift_relation(index: sp.Expr) -> Relation:
    return equal(x_local(index) - x, -beta * index * (grad_g - grad_g_i) - beta * a(index))


def eq22() -> Claim:
    """The weighted mean drift is -beta times the sum of delayed gradients."""
    definitions = (
        Fact("start", equal(x_local(0), x), "x_{t,0}^i = x_t."),
        Fact(
            "(4)",
            equal(x_local(k + 1), x_local(k) - beta * (grad_g - grad_g_i + delayed(k))),
            "The local step (4).",
        ),
        Fact("empty sum", equal(a(0), 0), "a(k) is the sum of the first k delayed gradients."),
        Fact("next term", equal(a(k + 1), a(k) + delayed(k)), "a(k) is the sum of the first k delayed gradients."),
        Fact("g", equal(grad_g_mean, grad_g), "grad g = sum_i p_i grad g_i."),
    )
    goal = equal(x_mean - x, -beta * S)
    hypothesis = "one client's drift (hypothesis)"
    proof = Proof(
        (
            Induction(
                "one client's drift",
                k,
                _drift_relation(k),
                base=Obligation(
                    "(20) at k = 0",
                    _drift_relation(sp.S.Zero),
                    ("start", "empty sum"),
                    -residual("start") - beta * residual("empty sum"),
                ),
                step=(
                    Obligation(
                        "(20) from k to k + 1",
                        _drift_relation(k + 1),
                        (hypothesis, "(4)", "next term"),
                        -residual(hypothesis) - residual("(4)") - beta * residual("next term"),
                    ),
                ),
            ),
            Instance("(20)", "one client's drift", k, E),
            rules.weighted_sum(
                "(21)",
                equal(x_mean - total_weight * x, -beta * E * (total_weight * grad_g - grad_g_mean) - beta * S),
                "(20) weighted with p_i, with S = sum_i p_i a_i(E) and x_mean = sum_i p_i x_{t,E}^i.",
                ("(20)",),
            ),
            Obligation(
                "the statement follows",
                goal,
                ("(21)", "weights", "g"),
                -residual("(21)") - (x - beta * E * grad_g) * residual("weights") - beta * E * residual("g"),
            ),
        )
    )
    words = "sum_i p_i (x_{t,E}^i - x_t) = -beta S, with S = sum_i p_i sum_{k<E} grad g_i'(x_{t,k}^i)."
    printed = Statement(words, goal, (WEIGHTS,), proof, definitions)
    return Claim("cflag.eq22", "C-FLAG", "(17)-(22)", "Weighted mean drift of a round", (Part("1", printed),))


def eq25() -> Claim:
    """(23) gives (24), and (24) is (25)."""
    averaged = Fact(
        "(23)",
        equal(x_next, x_mean - alpha * total_weight * grad_f_memory),
        "The server averages x_{t,E}^i - alpha grad_f_memory(x_t) with weights p_i.",
    )
    update = equal(x_next, x - alpha * grad_f_memory - beta * S)
    proof = Proof(
        (
            Obligation(
                "the statement follows",
                update,
                ("(23)", "(22)", "weights"),
                -residual("(23)") - residual("(22)") + alpha * grad_f_memory * residual("weights"),
            ),
        )
    )
    first = Statement(
        "x_{t+1} = sum_i p_i (x_{t,E}^i - alpha grad_f_memory(x_t)) is x_t - alpha grad_f_memory(x_t) - beta S, that "
        "is (23) = (24).",
        update,
        (averaged, MEAN_DRIFT, WEIGHTS),
        proof,
    )
    definition = Fact(
        "(6)", equal(memory_mean, grad_f_memory), "grad_f_memory = sum_i p_i grad f_i_memory, the average of (6)."
    )
    expanded = equal(x_next, x - alpha * memory_mean - beta * S)
    round_update = Fact("(24)", update, "The round update (24), the first part of this claim.")
    second = Statement(
        "The round update with grad_f_memory written as sum_i p_i grad f_i_memory, that is (24) = (25).",
        expanded,
        (round_update, definition),
        Proof(
            (
                Obligation(
                    "the statement follows",
                    expanded,
                    ("(24)", "(6)"),
                    -residual("(24)") - alpha * residual("(6)"),
                ),
            )
        ),
    )
    return Claim(
        "cflag.eq25",
        "C-FLAG",
        "(23)-(25)",
        "Server update of the supplement",
        (Part("1", first), Part("2", second)),
        (
            "(23) evaluates the memory gradient at x_t^i, a symbol that the paper never defines. It is read as x_t, "
            "where "
            "line 2 of Algorithm 1 evaluates it; at the clients' last iterates x_{t,E}^i the equality fails.",
        ),
    )


CLAIMS = {"cflag.eq7": eq7, "cflag.alg1": alg1, "cflag.eq22": eq22, "cflag.eq25": eq25}
