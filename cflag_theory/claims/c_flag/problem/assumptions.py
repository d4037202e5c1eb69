"""Assumptions 2 and 3: when they can be met, and what breaks them."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement, shown
from cflag_theory.claims.engine.notation import L, alpha, beta, grad_g, symbol, x_t
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation
from cflag_theory.claims.engine.terms import function, norm, vector

# Assumption 2 at one client and one x; kappa = ||(A_memory - A) A^{-1}|| for a quadratic f_i with Hessian A.
bias_one, grad_one = vector("bias_i", "b_i(x)")(), vector("grad_f_i", r"\nabla f_i(x)")()
_rest = vector("bias_at_rest", "b_i(s)")()
bias_i = symbol("bias_i", r"{\|b_i(x)\|}", norm(bias_one))
grad_f_i = symbol("grad_f_i", r"{\|\nabla f_i(x)\|}", norm(grad_one))
m_i = symbol("m_i", "m_i", nonnegative=True)
kappa = symbol("kappa", r"\kappa_i", nonnegative=True)
bias_at_rest = symbol("bias_at_rest", r"{\|b_i(s)\|}", norm(_rest))
#: (A_memory - A) A^{-1} grad f_i(x), which is b_i(x) - b_i(s), both gradients being affine.
moved = symbol("bias_moved", r"{\|b_i(x)-b_i(s)\|}", norm(bias_one - _rest))

# Assumption 3 at one client and one x_t; s is the stationary point of g nearest to x_t.
_memory = function("f_memory_i", r"f_i^\dagger", smooth=L)
_s = vector("stationary", "s")()
memory_i = symbol("memory_i_at", r"{\|\nabla f_i^\dagger(x_t)\|}", norm(_memory.grad(x_t)))
r_i = symbol("r_i", "r_i", nonnegative=True)
mu = symbol("mu", r"\mu", positive=True)
distance = symbol("distance", r"{\|x_t-s\|}", norm(x_t - _s))
memory_at_rest = symbol("memory_at_rest", r"{\|\nabla f_i^\dagger(s)\|}", norm(_memory.grad(_s)))
x_1 = symbol("x_1", "x_1", real=True)


#: The memory step of the family in part 2 of `assumption3`.
FAMILY_ALPHA = sp.Rational(1, 2)


def assumption2() -> Claim:
    """Assumption 2: whether every finite sum and every memory has its m_i, and what gives one."""
    goal = at_most(bias_i**2, m_i * grad_f_i**2)
    rest = Fact("same minimiser", equal(bias_at_rest, 0), "The memory's gradient vanishes at the minimiser s of f_i.")
    contraction = Fact(
        "kappa",
        at_most(kappa**2, m_i),
        "kappa^2 <= m_i, with kappa = ||(A_memory - A) A^{-1}||; m_i < 1 needs kappa < 1.",
    )
    gap = kappa * grad_f_i
    quadratic = Fact(
        "quadratic",
        at_most(moved, gap),
        "b_i(x) - b_i(s) = (A_memory - A) A^{-1} grad f_i(x), at most kappa ||grad f_i(x)|| long.",
    )
    printed = Statement(
        "Every L-smooth finite sum f_i and every memory M^i, a non-empty part of P^i, have a constant m_i < 1 with "
        "||b_i(x)||^2 <= m_i ||grad f_i(x)||^2 for all x.",
        goal,
        (Fact("m_i", below(m_i, 1), "m_i < 1."),),
    )
    mended = shown(
        "For quadratic components with mean Hessian A > 0, kept mean Hessian A_memory and s the minimiser of f_i: "
        "||b_i(x)||^2 <= m_i ||grad f_i(x)||^2 for all x, when s also minimises the memory's f_i and kappa^2 <= m_i.",
        goal,
        rules.triangle("bias", bias_one, bias_one - _rest, _rest),
        Obligation("in norms", at_most(bias_i, gap), ("bias", "same minimiser", "quadratic")),
        given=("in norms", "kappa"),
        under=(rest, contraction, quadratic),
    )
    repair = Repair(
        "needs-hypothesis",
        "the memory must resemble its data. For quadratics with A > 0: the minimiser of f_i must be that of the "
        "memory's "
        "f_i, and ||(A_memory - A) A^{-1}||^2 <= m_i; both are necessary (ours.assumption2)",
        mended,
    )
    return Claim(
        "cflag.assumption2",
        "Assumption 2",
        "Which finite sums and memories have a bounded bias",
        (Part("1", printed, repair, kind="assumption"),),
        (
            "For the proofs it is not enough: they use (27), which needs (28) besides (cflag.lemma9).",
            "At a stationary point of f_i the right side is zero whatever m_i is. Least squares without an "
            "interpolating solution has memories that satisfy the assumption only by accident, when they share the "
            "minimiser of f_i.",
            "On the line kappa = |a_memory / a - 1|: with a common minimiser the kept mean curvature must lie strictly "
            "between 0 and 2 a.",
            "Lemma 8 draws the memory uniformly, so that every part of its size can come up; then every component "
            "must be stationary wherever f_i is (ours.assumption2, part 4).",
        ),
    )


def assumption3(step: Any = FAMILY_ALPHA) -> Claim:
    """Assumption 3: whether every pair f, g has its r_i along a run, and one for all T."""
    goal = at_most(memory_i, r_i * grad_g)
    hypotheses = (
        Fact("nested", equal(memory_at_rest, 0), "Stationary points of g are stationary for each client's memory."),
        Fact("error bound", at_most(mu * distance, grad_g), "||grad g(x)|| >= mu times the distance to such a point."),
        Fact("r_i", at_most(L, r_i * mu), "r_i >= L / mu, with each client's f_i_memory L-smooth."),
    )
    mended = shown(
        "||grad f_i_memory(x)|| <= r_i ||grad g(x)|| at every x, so along every run and for every T, with r_i = L/mu.",
        goal,
        rules.lipschitz("change", _memory, x_t, _s),
        rules.triangle("memory", _memory.grad(x_t), _memory.grad(x_t) - _memory.grad(_s), _memory.grad(_s)),
        given=("change", "memory", "nested", "error bound", "r_i"),
        under=hypotheses,
    )
    repair = Repair(
        "needs-hypothesis",
        "nested tasks: stationary points of g must be stationary for each client's memory, whose gradient is "
        "L-Lipschitz, and ||grad g(x)|| >= mu times the distance to them; then r_i = L / mu. The first is also "
        "necessary wherever the run meets such a point",
        mended,
    )
    family = shown(
        "N = 1, E = 1, f = x^2/2 kept whole in memory, g = (x - 1)^2/2, x_0 = 2, alpha = 1/2 and beta = c/sqrt(T): "
        "x_1 = 1 - beta, so for every r_i the first round breaks the bound as soon as beta < 1/(1 + r_i).",
        below(r_i * grad_g, memory_i),
        Obligation("first round", equal(x_1, 1 - beta), ("x_1", "alpha")),
        given=("first round", "grad f", "grad g", "T"),
        under=(Fact("T", below(beta * (1 + r_i), 1), "beta (1 + r_i) < 1, that is T > c^2 (1 + r_i)^2."),),
        where=(
            Fact("alpha", equal(alpha, step), "alpha = 1/2, within alpha < 2/(L(1 + m)) = 2."),
            Fact("x_1", equal(x_1, 2 - 2 * alpha - beta), "The round update (24) from x_0 = 2."),
            Fact("grad f", equal(memory_i, x_1), "grad f_memory(x_1) = x_1, which is positive."),
            Fact("grad g", equal(grad_g, 1 - x_1), "|grad g(x_1)| = 1 - x_1, which is beta."),
        ),
    )
    here = "||grad f_i_memory(x_t)|| <= r_i ||grad g(x_t)|| for all t < T"
    return Claim(
        "cflag.assumption3",
        "Assumption 3",
        "Which pairs f, g have a bounded memory gradient",
        (
            Part(
                "1",
                Statement(
                    f"Every run of Algorithm 1 on L-smooth f and g that satisfy Assumption 2 has an r_i with {here}.",
                    goal,
                ),
                repair,
                kind="assumption",
            ),
            Part(
                "2",
                Statement(
                    f"Every such f and g have an r_i, the same for all T and beta = c/sqrt(T), with {here}.", goal
                ),
                repair,
                refutation=family,
                kind="assumption",
            ),
        ),
        (
            "The proofs use it through (30) alone (cflag.lemma10), and their bounds are uniform in T only if r is, "
            "which is part 2. Theorem 5 does not need it: see its repair.",
            "Held at all x, the assumption makes every stationary point of g one of each client's memory: finishing "
            "the new task then costs nothing on the old, and there is no forgetting to bound.",
            "Along a finite run that meets no stationary point of g some r_i exists; the bounds that use it depend on "
            "T through it, and r_i grows like sqrt(T)/c in the family of part 2.",
        ),
    )


CLAIMS = {"cflag.assumption2": assumption2, "cflag.assumption3": assumption3}
