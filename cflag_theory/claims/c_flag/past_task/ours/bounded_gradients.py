"""When grad g stays bounded in the mean: what Lemmas 4 and 18 need besides their printed hypotheses."""

from __future__ import annotations

from typing import Any

from cflag_theory.claims.c_flag.past_task.runs import (
    T,
    grad_g2_sum,
    memory,
    reach,
    s,
    sum_bound,
    summed,
    t,
    throughout,
)
from cflag_theory.claims.c_flag.vectors import ROUND
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, shown
from cflag_theory.claims.engine.notation import (
    L,
    alpha,
    beta,
    clients,
    components,
    delayed_sum,
    draw,
    draws,
    g,
    grad_current,
    i,
    j,
    sequence,
    symbol,
    unfold,
    x,
    x_next,
    x_t,
)
from cflag_theory.claims.engine.notation import omega as any_draw
from cflag_theory.claims.engine.relation import Relation, at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation
from cflag_theory.claims.engine.terms import norm2

omega = symbol("gradient_gap", r"\omega", nonnegative=True)
q = symbol("q", "q", positive=True)
g_mean = sequence("g_mean", r"\mathbb{E}g(x_{@})", lambda t: draws(clients(components(g[i, j](x(any_draw, t))))))
#: grad f_memory - grad g.
delta = memory - grad_current
delta2_sum = symbol("delta2_sum", r"\sum_t\mathbb{E}\|\nabla f^\dagger-\nabla g\|^2", summed(norm2(delta)))


def bound(first: Any = 2, second: Any = 1) -> Relation:
    """(1/T) sum 𝔼||grad g||^2 <= first (g(x_0) - g(x_T)) / (alpha (1 - q) T) + second (omega/(1 - q))^2."""
    drop = first * (g_mean(0) - g_mean(T)) / (alpha * (1 - q) * T)
    return at_most(grad_g2_sum / T, drop + second * (omega / (1 - q)) ** 2)


def bounded_gradients(first: Any = 2, second: Any = 1) -> Claim:
    """Memory and current data that differ by a bounded gradient."""
    goal = bound(first, second)
    z = beta / alpha * delayed_sum
    now, later = (clients(components(g[i, j](point))) for point in (x_t, x(draw, t + 1)))
    statement = shown(
        "(1/T) sum_t 𝔼||grad g(x_t)||^2 <= 2 𝔼(g(x_0) - g(x_T)) / (alpha (1 - q) T) + (omega/(1 - q))^2 with q = ((1 + "
        "beta L)^E - 1)/(L alpha) < 1 and ||grad f_memory(x_t) - grad g(x_t)|| <= omega in every round.",
        goal,
        rules.smooth("component", g[i, j], x_t, x_next),
        rules.mean("client", components, given="component"),
        rules.mean("clients on g", clients, given="client"),
        rules.rewrite("next point", later, given=ROUND),
        *sum_bound(),
        rules.square("step", memory + z),
        rules.square("Young", q * delta - (1 - q) * z),
        Obligation(
            "q S", at_most(beta**2 * norm2(delayed_sum), (alpha * q) ** 2 * norm2(grad_current)), ("one round", "q")
        ),
        Obligation(
            "error",
            at_most(norm2(delta + z), norm2(delta) / (1 - q) + q * norm2(grad_current)),
            ("Young", "q S", "q < 1"),
        ),
        Obligation(
            "descent",
            at_most(alpha / 2 * (norm2(grad_current) - norm2(delta + z)), now - later),
            ("clients on g", "next point", "step", "alpha"),
        ),
        Obligation(
            "each round",
            at_most(alpha / 2 * (1 - q) * norm2(grad_current), now - later + alpha / 2 / (1 - q) * norm2(delta)),
            ("descent", "error", "q < 1"),
        ),
        *throughout("all rounds", "each round"),
        rules.telescoping("telescoped", s, T, unfold(g_mean(s))),
        given=("all rounds", "telescoped", "omega", "q < 1"),
        under=(
            Fact("alpha", at_most(L * alpha, 1), "alpha <= 1/L."),
            Fact("q < 1", below(q, 1), "q < 1: beta E is small against alpha."),
            Fact("omega", at_most(delta2_sum, T * omega**2), "||grad f_memory(x_t) - grad g(x_t)|| <= omega."),
        ),
        where=(Fact("q", equal(q, reach() / alpha), "q = ((1 + beta L)^E - 1)/(L alpha)."),),
    )
    return Claim(
        "ours.bounded_gradients",
        "for Lemmas 4 and 18",
        "Bounded mean of ||grad g||^2",
        (Part("1", statement),),
        (
            "With equal shares |M^i| / |C^i| the omega of Lemma 11 bounds (|M| / (|M| + |C|)) ||grad f_memory - grad "
            "g||; "
            "in general it bounds the difference with other factors, where every client keeps some memory.",
            "So where omega is finite and g is bounded below, Lemma 4 holds for alpha <= 1/L and T large, and Lemma 18 "
            "for exp(1/60) - 1 < L alpha <= 1, the range in which q < 1; Assumption 3 gives way to ||grad f_memory|| "
            "<= "
            "||grad g|| + omega.",
            "As beta tends to 0 both constants are attained: 1 by g = x^2/2 - omega x and f_memory = x^2/2 at rest "
            "at 0; 2 "
            "by g = f_memory = x^2/2 with x_0 = 1, alpha = 1, T = E = 1.",
        ),
    )


CLAIMS = {"ours.bounded_gradients": bounded_gradients}
