"""What we prove instead of Lemma 3 and the text around it: rounds, descent and convergence on the union."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.problem.update import x_mean as x_mean_of_g
from cflag_theory.claims.c_flag.union.iterates import LOCAL_STEPS, ROUNDS, STEP, T, h, s, union
from cflag_theory.claims.c_flag.union.iterates import grad_h as slope_of_union
from cflag_theory.claims.c_flag.union.lemma3 import (
    S,
    S_union,
    from_clients,
    from_union,
    grad_f_memory,
    grad_g,
    grad_g2,
    grad_h,
    grad_h2,
    memory,
    share,
    x,
)
from cflag_theory.claims.c_flag.union.surrogate import SUMMED, over_rounds, round_steps
from cflag_theory.claims.c_flag.union.tracking import KEPT, WITHIN, Tracked, deviation, ratio, second_order
from cflag_theory.claims.c_flag.vectors import LOCAL_STEP, ROUND_START, ROUND_SUM, TABLE, tau, x_local
from cflag_theory.claims.c_flag.vectors import ROUND as NEXT
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Source, Statement, setting
from cflag_theory.claims.engine.notation import (
    E,
    L,
    alpha,
    beta,
    bias,
    clients,
    components,
    g,
    grad_current,
    grad_f,
    i,
    j,
    sequence,
    symbol,
    t,
    unfold,
    x_t,
)
from cflag_theory.claims.engine.operators import Least, sum_over
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, Step
from cflag_theory.claims.engine.terms import dot, function, norm, norm2

x_mean = symbol("x_mean_union", r"\sum_i p_i x_{t,E}^i", real=True)
memory_dot = symbol("memory_dot_g", r"\langle\nabla f^\dagger(x_t),\nabla g(x_t)\rangle", dot(memory, grad_current))
NO_CONFLICT = Fact("no conflict", at_most(0, memory_dot), "<grad f_memory(x_t), grad g(x_t)> >= 0.")

L_f_memory = symbol("L_f_memory", r"L_{f^\dagger}", nonnegative=True)
f_memory = function("f_memory", r"f^\dagger", smooth=L_f_memory)
MEMORY = setting("(6)", equal(bias, f_memory.grad(x_t) - grad_f), "b = grad f_memory(x_t) - grad f(x_t).")
# The mean of f_memory and g with weights alpha and beta E, which is what Algorithm 1 descends.
TOTAL = alpha + beta * E
_slope = alpha * f_memory.grad(x_t) + beta * E * grad_current


def _in_round(expr: sp.Expr, at: sp.Expr) -> sp.Expr:
    return expr.xreplace({t: at})


def _weighted(at: sp.Expr) -> sp.Expr:
    return _in_round(alpha * f_memory(x_t) + beta * E * clients(components(g[i, j](x_t))), at)


target = sequence(
    "target",
    r"\hat h(x_{@})",
    lambda at: _weighted(at) / TOTAL,
    real=True,
)
grad_target = sequence(
    "grad_target", r"{\|\nabla\hat h(x_{@})\|}", lambda at: _in_round(norm(_slope) / TOTAL, at), nonnegative=True
)
sizes_g = sequence("sizes_g", r"{\|\nabla g(x_{@})\|}", lambda at: _in_round(norm(grad_current), at), nonnegative=True)
least_target = symbol(
    "min_grad_target2",
    r"\min_{t<T}\|\nabla\hat h(x_t)\|^2",
    Least(s, T, unfold(grad_target(s)) ** 2),
    nonnegative=True,
)
mean_g2 = symbol(
    "mean_grad_g2",
    r"{\left[\frac1T\sum_{t<T}\|\nabla g(x_t)\|^2\right]}",
    sum_over(s, T)(unfold(sizes_g(s)) ** 2) / T,
    nonnegative=True,
)
current = Tracked(g, components, x_t, x_local, tau, (ROUND_START, LOCAL_STEP, TABLE))

SMALL = Fact("small", at_most(beta * L * (1 + E), 1), "beta L (1 + E) <= 1.")
SMOOTH_MEMORY = Fact(
    "f_memory",
    at_most(L_f_memory, L),
    "f_memory is L-smooth: its constant is at most L. So are g and every g_{i,j}, by Assumption 1 and the text after "
    "Assumption 6.",
)
COMMON_STEP = Fact("common step", equal(alpha, beta), "alpha = beta.")
SMOOTH_WORDS = "with f_memory, g and every g_{i,j} L-smooth"


def _one_round() -> tuple[Step, ...]:
    """(alpha + beta E)^2 ||grad h^||^2 <= 2 (alpha + beta E) (h^(x_t) - h^(x_{t+1})) + beta^2 ||e_t||^2, "one round".

    From the facts "step", L (alpha + beta E) <= 1, and "f_memory".
    """
    error = current.deviation
    move = -_slope - beta * error
    after, start = x_t + move, clients(components(g[i, j](x_t)))
    next_x = x_t.xreplace({t: t + 1})
    weighted = alpha * f_memory(next_x) + beta * E * clients(components(g[i, j](next_x)))
    return (
        rules.smooth("f_memory's", f_memory, x_t, after),
        rules.smooth("one component", g[i, j], x_t, after),
        rules.mean("their mean at a client", components, given="one component"),
        rules.mean("all components", clients, given="their mean at a client"),
        rules.rewrite("next x", weighted, given=(NEXT, MEMORY, ROUND_SUM)),
        rules.square("length", move),
        Obligation(
            "smooth",
            at_most(
                weighted, alpha * f_memory(x_t) + beta * E * start + dot(_slope, move) + L * TOTAL * norm2(move) / 2
            ),
            ("f_memory's", "all components", "next x", "length", "f_memory"),
        ),
        rules.norm_squared("||grad h^||^2", _slope),
        rules.norm_squared("||e||^2", error),
        Obligation(
            "one round",
            at_most(
                norm(_slope) ** 2,
                2 * (alpha * f_memory(x_t) + beta * E * start - weighted) + beta**2 * norm(error) ** 2,
            ),
            ("smooth", "length", "||grad h^||^2", "||e||^2", "step"),
        ),
    )


def union_round() -> Claim:
    """What (67)-(68) do together, and the case in which Algorithm 1 does the same."""
    on_union = Source("cflag.eq22", at=((S, S_union), (x_mean_of_g, x_mean)))
    drifted = Fact(
        "(22)",
        equal(x_mean - x, -beta * S_union),
        "(22) for the local steps (67), with h~ in place of g.",
        sources=(on_union,),
    )
    goal = equal(x - beta * grad_h - beta * S_union, x_mean - beta * grad_h)
    first = Statement(
        "(68) is the mean of the local iterates (67) and one more step -beta grad h~(x_t).",
        goal,
        (drifted,),
        Proof((Obligation("the statement follows", goal, ("(22)",)),)),
    )
    single = (
        Fact("S", equal(S, grad_g), "E = 1, so that S = grad g(x_t)."),
        Fact("S on the union", equal(S_union, grad_h), "E = 1, so that S~ = grad h~(x_t)."),
        Fact("halves", equal(grad_h, (grad_f_memory + grad_g) / 2), "|M^i| = |C^i| for every client."),
        Fact("common step", equal(alpha, beta), "alpha = beta."),
    )
    same = equal(x - alpha * grad_f_memory - beta * S, x - beta * grad_h - beta * S_union)
    names = tuple(fact.name for fact in single)
    second = Statement(
        "For E = 1, |M^i| = |C^i| and alpha = beta the round (25) of Algorithm 1 is (68).",
        same,
        single,
        Proof((Obligation("the statement follows", same, names),)),
    )
    return Claim(
        "ours.union_round",
        "for (67)-(68)",
        "What (67)-(68) do, and when Algorithm 1 does the same",
        (Part("1", first), Part("2", second)),
        ("So (67)-(68) are the delayed-gradient method on the union with one extra full gradient step a round.",),
    )


def union_descent(scale: Any = 1) -> Claim:
    """The decrease of h~ in one round of (67)-(68); `scale` multiplies it."""
    q = 1 - beta * L * (1 + E - ratio())
    kept = sp.sympify(scale) * (1 - q**2) / (2 * L)
    goal = at_most(h(t + 1) - h(t), -kept * slope_of_union(t) ** 2)
    follows = Obligation("the statement follows", goal, ("one round", "small", "deviation"))
    statement = Statement(
        "h~(x_{t+1}) <= h~(x_t) - (1 - q^2) / (2 L) ||grad h~(x_t)||^2 in one round of (67)-(68), with q = "
        "(1 + beta L)^E - beta L - 2 beta L E, if beta L (1 + E) <= 1 and the components kept in memory are L-smooth.",
        goal,
        (SMALL, KEPT),
        Proof((*deviation(union), *round_steps(), follows)),
    )
    return Claim(
        "ours.union_descent",
        "for (69)-(73)",
        "Descent of the union's loss in one round of (67)-(68)",
        (Part("1", statement),),
        (
            "Written with rho = ((1 + beta L)^E - 1) / (beta L) - E, q = 1 - beta L (1 + E - rho).",
            "For E = 1 it is attained by h~ = (L/2) ||x||^2. For larger E, with full local gradients, that loss "
            "decreases by (1 - q'^2) / (2 L) ||grad h~||^2 with q' = (1 - beta L)^E - beta L, and q - q' is less than "
            "(beta L E)^3.",
            "h~ = sum_i p_i h~_i, with h~_i the mean over the client's memory and current data.",
        ),
    )


def algorithm1_descent(residue: Any = 1) -> Claim:
    """Convergence of Algorithm 1 on the mean that it does descend; `residue` multiplies the last term."""
    D = norm(current.deviation)
    share_of_error = sp.sympify(residue) * (beta * ratio() / TOTAL) ** 2
    goal = at_most(least_target, 2 / TOTAL * (target(0) - target(T)) / T + share_of_error * mean_g2)
    each = at_most(grad_target(t) ** 2, 2 / TOTAL * (target(t) - target(t + 1)) + share_of_error * current.gradient**2)
    first = Statement(
        "min_{t<T} ||grad h^(x_t)||^2 <= 2 (h^(x_0) - h^(x_T)) / ((alpha + beta E) T) + (beta rho / (alpha + beta "
        "E))^2 mean_t ||grad g(x_t)||^2 for the iterates of Algorithm 1, with h^ = (alpha f_memory + beta E g) / "
        "(alpha + beta E) and rho = ((1 + beta L)^E - 1) / (beta L) - E, if L (alpha + beta E) <= 1, "
        f"{SMOOTH_WORDS}.",
        goal,
        (Fact("step", at_most(L * TOTAL, 1), "L (alpha + beta E) <= 1."), ROUNDS, SMOOTH_MEMORY),
        Proof(
            (
                *deviation(current),
                *_one_round(),
                Obligation("squared", at_most(D**2, (ratio() * current.gradient) ** 2), ("deviation",)),
                Obligation("each round", each, ("one round", "squared")),
                *over_rounds("each round", target(s), least_target),
                Obligation("the statement follows", goal, SUMMED),
            )
        ),
    )
    return Claim(
        "ours.algorithm1_descent",
        "for Lemma 3, (11)",
        "What Algorithm 1 descends",
        (Part("1", first), Part("2", _common_step(residue))),
        (
            "The second term cannot be dropped or made smaller: g = -(L/2) x^2 + G x with f_memory linear and "
            "grad f_memory chosen so that alpha grad f_memory + beta S = 0 stays at x_0 and makes the bound an "
            "equality for every T.",
            "The memory may be any fixed part of the past data for which f_memory is L-smooth: no bias assumption is "
            "used.",
            "For |C| / |M| = beta E / alpha, h^ is the h~ of (3). For E = 1 the second term vanishes: then Lemma 3 "
            "holds for |M| = |C|, with 30 L in place of 60 L, under the same smoothness.",
        ),
    )


def _common_step(residue: Any) -> Statement:
    """The same at the step size of Lemma 3, in numbers."""
    u, D = sp.Rational(1, 30), norm(current.deviation)
    lead = 60 * L * E / (1 + E)
    weight = sp.sympify(residue) * ((E - 1) / (59 * (E + 1))) ** 2
    goal = at_most(least_target, lead / T * (target(0) - target(T)) + weight * mean_g2)
    # Without the denominator of h^, which would make the terms of the sum large.
    each = at_most(
        norm(_slope) ** 2,
        lead * TOTAL * (_weighted(t) - _weighted(t + 1)) + weight * TOTAL**2 * current.gradient**2,
    )
    steps = (
        Obligation("range", at_most(beta * L * E, u), ("beta",)),
        *deviation(current),
        *second_order(current, u),
        Obligation("step", at_most(L * TOTAL, 1), ("range", "common step", "E")),
        *_one_round(),
        Obligation("error", at_most(D, (E - 1) / 59 * current.gradient), ("short deviation", "beta")),
        Obligation("squared", at_most(D**2, ((E - 1) / 59 * current.gradient) ** 2), ("error",)),
        Obligation("each round", each, ("one round", "squared", "beta", "common step")),
        *over_rounds("each round", _weighted(s), least_target),
        Obligation("the statement follows", goal, SUMMED),
    )
    return Statement(
        "At alpha = beta = 1/(30 L E), with h^ = (f_memory + E g) / (1 + E): min_{t<T} ||grad h^(x_t)||^2 <= "
        "60 L E / ((1 + E) T) (h^(x_0) - h^(x_T)) + ((E - 1) / (59 (E + 1)))^2 mean_t ||grad g(x_t)||^2, "
        f"{SMOOTH_WORDS}.",
        goal,
        (STEP, COMMON_STEP, LOCAL_STEPS, ROUNDS, WITHIN, SMOOTH_MEMORY),
        Proof(steps),
    )


def current_from_union(scale: Any = 1) -> Claim:
    """When stationarity on the union is stationarity on the current task; `scale` multiplies the bound."""
    first = from_union(
        "||grad g|| <= ||grad h~|| / (1 - s - r s), with s = |M| / (|M| + |C|), if ||grad f_memory|| <= r ||grad g|| "
        "(Lemma 10) and r s < 1 - s, that is r |M| < |C|; h~ is pooled, as in (3).",
        scale,
    )
    kept = at_most((1 - share) ** 2 * grad_g2, sp.sympify(scale) * grad_h2)
    second = Statement(
        "(1 - s)^2 ||grad g||^2 <= ||grad h~||^2 if memory and current data do not conflict, <grad f_memory, grad g> "
        ">= 0; h~ is pooled, as in (3).",
        kept,
        (
            NO_CONFLICT,
            Fact("s", at_most(share, 1), "s is at most 1."),
        ),
        Proof(
            (
                rules.square("memory", memory),
                Obligation("the statement follows", kept, ("memory", "no conflict", "s")),
            )
        ),
    )
    third = from_clients(
        "||grad g|| <= ||grad h~|| / (1 - s - r s) with h~ = sum_i p_i h~_i, as in (2), (68) and (77), if besides all "
        "clients have the same share s of memory.",
        scale,
    )
    return Claim(
        "ours.current_from_union",
        "for the text after Lemma 3",
        "When convergence on the union is convergence on the current task",
        (Part("1", first), Part("2", second), Part("3", third)),
        (
            "Part 1 is attained by grad f_memory = -r grad g. For equal shares, and where its ratio bound holds along "
            "the run, cflag.lemma3_surrogate then gives min_t ||grad g(x_t)||^2 <= 31.03 L (h~(x_0) - h~(x_T)) / "
            "((1 - s - r s)^2 T) for (67)-(68), with L-smooth components in memory.",
            "Pooled, h~ = s f_memory + (1 - s) g, which is (3) on memory and current data. Part 3 needs equal shares: "
            "see cflag.lemma3_remark.",
        ),
    )


CLAIMS = {
    "ours.union_round": union_round,
    "ours.union_descent": union_descent,
    "ours.algorithm1_descent": algorithm1_descent,
    "ours.current_from_union": current_from_union,
}
