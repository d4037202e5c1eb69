"""What we prove instead of Lemma 3 and the text around it: rounds, descent and convergence on the union."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.union.lemma3 import (
    NO_CONFLICT,
    S,
    S_union,
    grad_f_memory,
    grad_g,
    grad_g2,
    grad_h,
    grad_h2,
    grad_memory2,
    memory_dot,
    share,
    x,
)
from cflag_theory.claims.c_flag.union.surrogate import (
    LOCAL_STEPS,
    ROUNDS,
    STEP,
    T,
    h,
    round_steps,
    shorten,
    small_steps,
    t,
    union,
)
from cflag_theory.claims.c_flag.union.tracking import KEPT, WITHIN, deviation, ratio, second_order, tracked
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import E, L, alpha, beta, r, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, RuleUse, Step

x_mean = symbol("x_mean", r"\sum_i p_i x_{t,E}^i", real=True)
x_next = symbol("x_next", r"x_{t+1}", real=True)
size_g = symbol("size_g", r"{\|\nabla g(x_t)\|}", nonnegative=True)
size_h = symbol("size_h", r"{\|\nabla\tilde h(x_t)\|}", nonnegative=True)
size_memory = symbol("size_memory", r"{\|\nabla f^\dagger(x_t)\|}", nonnegative=True)

# The mean of f_memory and g with weights alpha and beta E, which is what Algorithm 1 descends.
target = sequence("target", r"\hat h(x_{@})", real=True)
grad_target = sequence("grad_target", r"{\|\nabla\hat h(x_{@})\|}", nonnegative=True)
sizes_g = sequence("sizes_g", r"{\|\nabla g(x_{@})\|}", nonnegative=True)
least_target = symbol("min_grad_target2", r"\min_{t<T}\|\nabla\hat h(x_t)\|^2", nonnegative=True)
mean_g2 = symbol("mean_grad_g2", r"{\left[\frac1T\sum_{t<T}\|\nabla g(x_t)\|^2\right]}", nonnegative=True)
target_inner = symbol("target_dot_step", r"\langle\nabla\hat h(x_t),x_{t+1}-x_t\rangle", real=True)
target_step2 = symbol("step2", r"{\|x_{t+1}-x_t\|^2}", nonnegative=True)
target_cross = symbol("target_dot_deviation", r"\langle\nabla\hat h(x_t),e_t\rangle", real=True)
current = tracked("current", "g", sizes_g(t))

L_f_memory = symbol("L_f_memory", r"L_{f^\dagger}", nonnegative=True)

SMALL = Fact("small", at_most(beta * L * (1 + E), 1), "beta L (1 + E) <= 1.")
SMOOTH_MEMORY = Fact(
    "f_memory",
    at_most(L_f_memory, L),
    "f_memory is L-smooth: its constant is at most L. So are g and every g_{i,j}, by Assumption 1 and the text after "
    "Assumption 6.",
)
SMOOTH_WORDS = "with f_memory, g and every g_{i,j} L-smooth"


def _smooth_target() -> RuleUse:
    """h^ between x_t and x_{t+1}."""
    words = "h^ is a mean of f_memory and g, and L-smooth as both are."
    use = rules.smoothness("smooth", target(t + 1), target(t), target_inner, target_step2, L, words)
    return replace(use, premises=("f_memory",))


def union_round() -> Claim:
    """What (67)-(68) do together, and the case in which Algorithm 1 does the same."""
    drifted = Fact("(22)", equal(x_mean - x, -beta * S_union), "(22) for the local steps (67), with h~ in place of g.")
    goal = equal(x - beta * grad_h - beta * S_union, x_mean - beta * grad_h)
    first = Statement(
        "(68) is the mean of the local iterates (67) and one more step -beta grad h~(x_t).",
        goal,
        (drifted,),
        Proof((Obligation("the statement follows", goal, ("(22)",), residual("(22)")),)),
    )
    single = (
        Fact("S", equal(S, grad_g), "E = 1, so that S = grad g(x_t)."),
        Fact("S on the union", equal(S_union, grad_h), "E = 1, so that S~ = grad h~(x_t)."),
        Fact("halves", equal(grad_h, (grad_f_memory + grad_g) / 2), "|M^i| = |C^i| for every client."),
        Fact("common step", equal(alpha, beta), "alpha = beta."),
    )
    same = equal(x - alpha * grad_f_memory - beta * S, x - beta * grad_h - beta * S_union)
    certificate = (
        beta * residual("S")
        - beta * residual("S on the union")
        - 2 * beta * residual("halves")
        + grad_f_memory * residual("common step")
    )
    names = tuple(fact.name for fact in single)
    second = Statement(
        "For E = 1, |M^i| = |C^i| and alpha = beta the round (25) of Algorithm 1 is (68).",
        same,
        single,
        Proof((Obligation("the statement follows", same, names, certificate),)),
    )
    return Claim(
        "ours.union_round",
        "ours",
        "for (67)-(68)",
        "What (67)-(68) do, and when Algorithm 1 does the same",
        (Part("1", first), Part("2", second)),
        ("So (67)-(68) are the delayed-gradient method on the union with one extra full gradient step a round.",),
    )


def union_descent(scale: Any = 1) -> Claim:
    """The decrease of h~ in one round of (67)-(68); `scale` multiplies it."""
    q = 1 - beta * L * (1 + E - ratio())
    kept = sp.sympify(scale) * (1 - q**2) / (2 * L)
    goal = at_most(h(t + 1) - h(t), -kept * union.gradient**2)
    follows = Obligation("the statement follows", goal, ("one round", "small", "deviation"), shorten("deviation"))
    statement = Statement(
        "h~(x_{t+1}) <= h~(x_t) - (1 - q^2) / (2 L) ||grad h~(x_t)||^2 in one round of (67)-(68), with q = "
        "(1 + beta L)^E - beta L - 2 beta L E, if beta L (1 + E) <= 1 and the components kept in memory are L-smooth.",
        goal,
        (SMALL, KEPT),
        Proof((*deviation(union), *round_steps(), follows)),
        union.start,
    )
    return Claim(
        "ours.union_descent",
        "ours",
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
    one = sp.S.One
    total = alpha + beta * E
    grad, D = grad_target(t), current.total(E)
    gram = {("dev", "dev"): D**2, ("dev", "grad"): target_cross, ("grad", "grad"): grad**2}
    move = {"grad": -total, "dev": -beta}
    moved = "x_{t+1} - x_t = -(alpha + beta E) grad h^(x_t) - beta e_t by (24), with e_t = S - E grad g(x_t)."
    smooth = Fact("step", at_most(L * total, 1), "L (alpha + beta E) <= 1.")
    share_of_error = sp.sympify(residue) * (beta * ratio() / total) ** 2

    drop = target(t) - target(t + 1)
    one_round: tuple[Step, ...] = (
        _smooth_target(),
        rules.bilinearity("inner", target_inner, {"grad": one}, move, gram, moved),
        rules.bilinearity("length", target_step2, move, move, gram, moved),
        Obligation(
            "one round",
            at_most(total**2 * grad**2, 2 * total * drop + beta**2 * D**2),
            ("smooth", "inner", "length", "step"),
            2 * total * (slack("smooth") - residual("inner")) + slack("step") * target_step2 - residual("length"),
        ),
        Obligation(
            "squared",
            at_most(D**2, (ratio() * current.gradient) ** 2),
            ("deviation",),
            slack("deviation") * (2 * D + slack("deviation")),
        ),
        Obligation(
            "each round",
            at_most(grad**2, 2 / total * drop + share_of_error * current.gradient**2),
            ("one round", "squared"),
            (slack("one round") + beta**2 * slack("squared")) / total**2,
        ),
    )

    whole_drop = 2 / total * (target(0) - target(T))
    goal = at_most(least_target, whole_drop / T + share_of_error * mean_g2)
    first = Statement(
        "min_{t<T} ||grad h^(x_t)||^2 <= 2 (h^(x_0) - h^(x_T)) / ((alpha + beta E) T) + (beta rho / (alpha + beta "
        "E))^2 mean_t ||grad g(x_t)||^2 for the iterates of Algorithm 1, with h^ = (alpha f_memory + beta E g) / "
        "(alpha + beta E) and rho = ((1 + beta L)^E - 1) / (beta L) - E, if L (alpha + beta E) <= 1, "
        f"{SMOOTH_WORDS}.",
        goal,
        (smooth, ROUNDS, SMOOTH_MEMORY),
        Proof(
            (
                *deviation(current),
                *one_round,
                rules.telescoping(
                    "sum",
                    T,
                    least_target,
                    whole_drop,
                    share_of_error * T * mean_g2,
                    "over the rounds, with the sum of ||grad g(x_t)||^2 as T times its mean.",
                    "each round",
                ),
                Obligation("the statement follows", goal, ("sum",), slack("sum") / T),
            )
        ),
        current.start,
    )
    return Claim(
        "ours.algorithm1_descent",
        "ours",
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
    one, c, u = sp.S.One, sp.Rational(30, 59), sp.Rational(1, 30)
    grad, D = grad_target(t), current.total(E)
    gram = {("dev", "dev"): D**2, ("dev", "grad"): target_cross, ("grad", "grad"): grad**2}
    move = {"grad": -beta * (1 + E), "dev": -beta}
    moved = "x_{t+1} - x_t = -beta ((1 + E) grad h^(x_t) + e_t) by (24), with e_t = S - E grad g(x_t)."
    lead = 60 * L * E / (1 + E)
    weight = sp.sympify(residue) * ((E - 1) / (59 * (E + 1))) ** 2
    goal = at_most(least_target, lead / T * (target(0) - target(T)) + weight * mean_g2)
    drop = target(t) - target(t + 1)
    steps = (
        Obligation("range", at_most(beta * L * E, u), ("beta",), -L * E * residual("beta")),
        *deviation(current),
        *second_order(current, u),
        small_steps(u),
        _smooth_target(),
        rules.bilinearity("inner", target_inner, {"grad": one}, move, gram, moved),
        rules.bilinearity("length", target_step2, move, move, gram, moved),
        Obligation(
            "error",
            at_most(D, (E - 1) / 59 * current.gradient),
            ("short deviation", "beta"),
            slack("short deviation") - c * L * E * (E - 1) * current.gradient * residual("beta"),
        ),
        Obligation(
            "squared",
            at_most(D**2, ((E - 1) / 59 * current.gradient) ** 2),
            ("error",),
            slack("error") * (2 * D + slack("error")),
        ),
        Obligation(
            "one round",
            at_most((beta * (1 + E) * grad) ** 2, 2 * beta * (1 + E) * drop + beta**2 * D**2),
            ("smooth", "inner", "length", "small"),
            2 * beta * (1 + E) * (slack("smooth") - residual("inner"))
            + slack("small") * target_step2
            - residual("length"),
        ),
        Obligation(
            "at this step size",
            at_most(((1 + E) * grad) ** 2, 60 * L * E * (1 + E) * drop + D**2),
            ("one round", "beta"),
            slack("one round") / beta**2 + 60 * L * E * (1 + E) / beta * drop * residual("beta"),
        ),
        Obligation(
            "each round",
            at_most(grad**2, lead * drop + weight * current.gradient**2),
            ("at this step size", "squared"),
            (slack("at this step size") + slack("squared")) / (1 + E) ** 2,
        ),
        rules.telescoping(
            "sum",
            T,
            least_target,
            lead * (target(0) - target(T)),
            weight * T * mean_g2,
            "over the rounds, with the sum of ||grad g(x_t)||^2 as T times its mean.",
            "each round",
        ),
        Obligation("the statement follows", goal, ("sum",), slack("sum") / T),
    )
    return Statement(
        "At alpha = beta = 1/(30 L E), with h^ = (f_memory + E g) / (1 + E): min_{t<T} ||grad h^(x_t)||^2 <= "
        "60 L E / ((1 + E) T) (h^(x_0) - h^(x_T)) + ((E - 1) / (59 (E + 1)))^2 mean_t ||grad g(x_t)||^2, "
        f"{SMOOTH_WORDS}.",
        goal,
        (STEP, LOCAL_STEPS, ROUNDS, WITHIN, SMOOTH_MEMORY),
        Proof(steps),
        current.start,
    )


def current_from_union(scale: Any = 1) -> Claim:
    """When stationarity on the union is stationarity on the current task; `scale` multiplies the bound."""
    factor = sp.sympify(scale) / (1 - share - r * share)
    goal = at_most(size_g, factor * size_h)
    first = Statement(
        "||grad g|| <= ||grad h~|| / (1 - s - r s), with s = |M| / (|M| + |C|), if ||grad f_memory|| <= r ||grad g|| "
        "(Lemma 10) and r s < 1 - s, that is r |M| < |C|.",
        goal,
        (
            Fact("ratio", at_most(size_memory, r * size_g), "||grad f_memory(x_t)|| <= r ||grad g(x_t)||, Lemma 10."),
            Fact("shares", below(r * share, 1 - share), "r s < 1 - s."),
        ),
        Proof(
            (
                rules.triangle(
                    "triangle",
                    (1 - share) * size_g,
                    (size_h, share * size_memory),
                    "(1 - s) grad g is grad h~ - s grad f_memory.",
                ),
                Obligation(
                    "the statement follows",
                    goal,
                    ("triangle", "ratio", "shares"),
                    (slack("triangle") + share * slack("ratio")) / slack("shares")
                    + (sp.sympify(scale) - 1) * size_h / slack("shares"),
                ),
            )
        ),
    )
    mixed = {"f": share, "g": 1 - share}
    gram = {("f", "f"): grad_memory2, ("f", "g"): memory_dot, ("g", "g"): grad_g2}
    kept = at_most((1 - share) ** 2 * grad_g2, sp.sympify(scale) * grad_h2)
    second = Statement(
        "(1 - s)^2 ||grad g||^2 <= ||grad h~||^2 if memory and current data do not conflict, <grad f_memory, grad g> "
        ">= 0.",
        kept,
        (
            NO_CONFLICT,
            Fact("s", at_most(share, 1), "s is at most 1."),
        ),
        Proof(
            (
                rules.bilinearity("mixture", grad_h2, mixed, mixed, gram, "h~ = s f_memory + (1 - s) g."),
                Obligation(
                    "the statement follows",
                    kept,
                    ("mixture", "no conflict", "s"),
                    residual("mixture")
                    + share**2 * grad_memory2
                    + 2 * share * slack("s") * slack("no conflict")
                    + (sp.sympify(scale) - 1) * grad_h2,
                ),
            )
        ),
    )
    return Claim(
        "ours.current_from_union",
        "ours",
        "for the text after Lemma 3",
        "When convergence on the union is convergence on the current task",
        (Part("1", first), Part("2", second)),
        (
            "Part 1 is attained by grad f_memory = -r grad g. For equal shares, and where its ratio bound holds along "
            "the run, cflag.lemma3_surrogate then gives min_t ||grad g(x_t)||^2 <= 31.03 L (h~(x_0) - h~(x_T)) / "
            "((1 - s - r s)^2 T) for (67)-(68), with L-smooth components in memory.",
            "h~ = s f_memory + (1 - s) g, which is (3) on memory and current data.",
        ),
    )


CLAIMS = {
    "ours.union_round": union_round,
    "ours.union_descent": union_descent,
    "ours.algorithm1_descent": algorithm1_descent,
    "ours.current_from_union": current_from_union,
}
