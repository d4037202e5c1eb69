"""Whole runs: sums over the rounds t < T of expectations over the draws of the memory; the length of S.

A relation that is shown for any draw and any round is put under both. For a given memory the expectation does nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.local_steps.drift import exact_drift, growth, largest
from cflag_theory.claims.c_flag.problem.memory import LEMMA9
from cflag_theory.claims.c_flag.vectors import MEAN_DRIFT, ROUND, client, x_local
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.notation import (
    E,
    L,
    beta,
    bias,
    clients,
    delayed_sum,
    draw,
    draws,
    f,
    grad_current,
    grad_f,
    i,
    k,
    omega,
    sequence,
    symbol,
    t,
    unfold,
    x,
    x_next,
    x_t,
)
from cflag_theory.claims.engine.operators import Least, index, sum_over
from cflag_theory.claims.engine.relation import at_most
from cflag_theory.claims.engine.steps import Instance, Obligation, Step
from cflag_theory.claims.engine.terms import dot, norm, norm2

__all__ = ["T", "f_mean", "t"]

T = symbol("T", "T", positive=True, integer=True)
#: For sums over the rounds.
s = index("s")


def in_the_mean(expr: sp.Expr, at: sp.Expr) -> sp.Expr:
    """The expectation over the draws of what is given for any draw and round, in round `at`."""
    return draws(expr.xreplace({draw: omega, t: at}))


def summed(expr: sp.Expr, count: sp.Expr = T) -> sp.Expr:
    """Its sum over the first rounds."""
    return sum_over(s, count)(in_the_mean(expr, s))


def throughout(name: str, of: str, count: sp.Expr = T) -> tuple[Step, ...]:
    """The step `of`, shown for any draw and round, in the mean over the draws, summed over the first rounds."""
    return (
        rules.at(f"{name}: draws", draw, omega, given=of),
        rules.mean(f"{name}: mean", draws, given=f"{name}: draws"),
        rules.at(f"{name}: rounds", t, s, given=f"{name}: mean"),
        rules.mean(name, sum_over(s, count), given=f"{name}: rounds"),
    )


#: What is done to a statement about any draw and round.
THROUGHOUT: dict[str, Any] = {"at": ((draw, omega), (t, s)), "over": (draws, sum_over(s, T))}


def at_any_round(number: sp.Expr) -> sp.Expr:
    """A number made of vectors, at any draw and in any round of the run."""
    return unfold(number).xreplace(dict(THROUGHOUT["at"]))


LEMMA9_SUMMED = replace(LEMMA9, **THROUGHOUT)
memory = grad_f + bias
f_mean = sequence("f_mean", r"\mathbb{E}f(x_{@})", lambda t: draws(f(x(omega, t))))
grad_f2_sum = symbol("grad_f2_sum", r"\sum_t\mathbb{E}\|\nabla f(x_t)\|^2", summed(norm2(grad_f)))
bias2_sum = symbol("bias2_sum", r"\sum_t\mathbb{E}\|b\|^2", summed(norm2(bias)))
memory2_sum = symbol("memory2_sum", r"\sum_t\mathbb{E}\|\nabla f^\dagger\|^2", summed(norm2(memory)))
S2_sum = symbol("S2_sum", r"\sum_t\mathbb{E}\|S\|^2", summed(norm2(delayed_sum)))
grad_g2_sum = symbol("grad_g2_sum", r"\sum_t\mathbb{E}\|\nabla g(x_t)\|^2", summed(norm2(grad_current)))
grad_dot_bias_sum = symbol("grad_dot_bias_sum", r"\sum_t\mathbb{E}\langle\nabla f,b\rangle", summed(dot(grad_f, bias)))
grad_dot_S_sum = symbol("grad_dot_S_sum", r"\sum_t\mathbb{E}\langle\nabla f,S\rangle", summed(dot(grad_f, delayed_sum)))
bias_dot_S_sum = symbol("bias_dot_S_sum", r"\sum_t\mathbb{E}\langle b,S\rangle", summed(dot(bias, delayed_sum)))
memory_dot_S_sum = symbol(
    "memory_dot_S_sum", r"\sum_t\mathbb{E}\langle\nabla f^\dagger,S\rangle", summed(dot(memory, delayed_sum))
)
#: The smallest of the rounds' 𝔼 ||grad f(x_t)||^2.
least = symbol("least", r"\min_t\mathbb{E}\|\nabla f(x_t)\|^2", Least(s, T, in_the_mean(norm2(grad_f), s)))
root_m = symbol("root_m", r"\sqrt{m}", nonnegative=True)


def descent() -> tuple[Step, ...]:
    """f(x_{t+1}) <= f(x_t) + <grad f(x_t), x_{t+1} - x_t> + (L/2) ||x_{t+1} - x_t||^2 in any round, as "descent"."""
    after = f(x(draw, t + 1))
    step = x_next - x_t
    return (
        rules.smooth("(36)", f, x_t, x_next),
        rules.rewrite("next point", after, given=ROUND),
        Obligation("descent", at_most(after, f(x_t) + dot(grad_f, step) + L * norm2(step) / 2), ("(36)", "next point")),
    )


def telescoped(name: str = "telescoped", count: sp.Expr = T) -> Step:
    """sum_t (𝔼 f(x_t) - 𝔼 f(x_{t+1})) is 𝔼 f(x_0) - 𝔼 f(x_T)."""
    return rules.telescoping(name, s, count, unfold(f_mean(s)))


def reach() -> sp.Expr:
    """((1 + beta L)^E - 1) / L: what beta ||S|| can be for ||grad g(x_t)|| = 1, at most E beta exp(beta L E)."""
    return ((1 + beta * L) ** E - 1) / L


def sum_bound() -> tuple[Step, ...]:
    """beta^2 ||S||^2 <= reach^2 ||grad g(x_t)||^2 in any round, as "one round"."""
    moved = x_local(client, E) - x_t
    every = moved.xreplace({client: i})
    return (
        growth(),
        Instance("all local steps", "growth", k, E),
        rules.member("last of them", unfold(largest(E)), E),
        Obligation("one client", at_most(norm(moved), exact_drift(E).right), ("all local steps", "last of them")),
        rules.at("any client", client, i, given="one client"),
        rules.mean("clients", clients, given="any client"),
        rules.norm_of_mean("mean drift", clients, every),
        rules.triangle("beta S", beta * delayed_sum, x_t - clients(x_local(i, E)), given=MEAN_DRIFT),
        rules.norm_squared("||S||^2", delayed_sum),
        rules.norm_squared("||grad g||^2", grad_current),
        Obligation(
            "beta ||S||",
            at_most(beta * norm(delayed_sum), reach() * norm(grad_current)),
            ("clients", "mean drift", "beta S"),
        ),
        Obligation(
            "its square",
            at_most((beta * norm(delayed_sum)) ** 2, reach() ** 2 * norm(grad_current) ** 2),
            ("beta ||S||",),
        ),
        Obligation(
            "one round",
            at_most(beta**2 * norm2(delayed_sum), reach() ** 2 * norm2(grad_current)),
            ("its square", "||S||^2", "||grad g||^2"),
        ),
    )


def sum_bound_in_the_mean() -> tuple[Step, ...]:
    """beta^2 sum_t 𝔼 ||S||^2 <= reach^2 sum_t 𝔼 ||grad g(x_t)||^2, as "all rounds"."""
    return (*sum_bound(), *throughout("all rounds", "one round"))


def smallest(name: str = "least") -> Step:
    """T min_t 𝔼 ||grad f(x_t)||^2 <= sum_t 𝔼 ||grad f(x_t)||^2."""
    return rules.minimum(name, unfold(least))
