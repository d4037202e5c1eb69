"""Assumption 1's corollary and Lemmas A.3, A.4 and A.5; the sums of Appendix A are in `summation`."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.symbols import mu, sigma2
from cflag_theory.claims.cfl.vectors import draw, f, i, over_past
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Sharp, Statement, shown
from cflag_theory.claims.engine.notation import L, symbol
from cflag_theory.claims.engine.operators import mean_over, sum_over
from cflag_theory.claims.engine.relation import at_most, below
from cflag_theory.claims.engine.steps import Obligation, Proof
from cflag_theory.claims.engine.terms import dot, function, norm2, vector

# The corollary, at x and y.
x, y, z = (vector(f"point {name}", name)() for name in "xyz")
difference = f.grad(x) - f.grad(y)
f_x = symbol("f_x", "f(x)", f(x))
f_y = symbol("f_y", "f(y)", f(y))
grad_x2 = symbol("grad_x2", r"{\|\nabla f(x)\|^2}", norm2(f.grad(x)))
grad_y2 = symbol("grad_y2", r"{\|\nabla f(y)\|^2}", norm2(f.grad(y)))
grad_x_dot_grad_y = symbol("grad_x_dot_grad_y", r"\langle\nabla f(x),\nabla f(y)\rangle", dot(f.grad(x), f.grad(y)))
grad_x_dot_h = symbol("grad_x_dot_h", r"\langle\nabla f(x),x-y\rangle", dot(f.grad(x), x - y))
grad_y_dot_h = symbol("grad_y_dot_h", r"\langle\nabla f(y),x-y\rangle", dot(f.grad(y), x - y))
#: ||grad f(x) - grad f(y)||^2.
DIFFERENCE2 = grad_x2 - 2 * grad_x_dot_grad_y + grad_y2
h2 = symbol("x_minus_y2", r"{\|x-y\|^2}", norm2(x - y))

# Lemma A.3.
mean = mean_over("mean", i)
v = vector("summand", "v_{@}")(i)
mean2 = symbol("norm_of_mean2", r"{\|\frac{1}{\tau}\sum_i v_i\|^2}", norm2(mean(v)))
square_mean = symbol("mean_of_norms2", r"\frac{1}{\tau}\sum_i\|v_i\|^2", mean(norm2(v)))

# Lemma A.4; sums over i of tau random variables.
tau = symbol("tau", r"\tau", positive=True, integer=True)
M = symbol("M_A4", "M", nonnegative=True)
summed = sum_over(i, tau)
Xi = vector("variable", r"\Xi_{@1}")(i, draw)
xi = over_past(Xi)
total2 = symbol("total2", r"\mathbb{E}\|\sum_i\Xi_i\|^2", over_past(norm2(summed(Xi))))
means2 = symbol("means2", r"\sum_i\|\xi_i\|^2", summed(norm2(xi)))
deviations2 = symbol("deviations2", r"\sum_i\mathbb{E}\|\Xi_i-\xi_i\|^2", summed(over_past(norm2(Xi - xi))))
correlations = symbol(
    "correlations",
    r"\sum_{i\ne j}\mathbb{E}\langle\Xi_i-\xi_i,\Xi_j-\xi_j\rangle",
    over_past(norm2(summed(Xi - xi))) - summed(over_past(norm2(Xi - xi))),
)

# Lemma A.5.
h = function("h", "h", smooth=L, mu=mu)
h_y = symbol("h_y", "h(y)", h(y))
h_z = symbol("h_z", "h(z)", h(z))
slope = symbol("slope_y_to_z", r"\langle\nabla h(x),z-y\rangle", dot(h.grad(x), z - y))
step2 = symbol("z_minus_x2", r"{\|z-x\|^2}", norm2(z - x))
y_minus_z2 = symbol("y_minus_z2", r"{\|y-z\|^2}", norm2(y - z))

_HALF = sp.Rational(1, 2)


def corollary(constant: Any = _HALF) -> Claim:
    """Co-coercivity; `constant` over L stands before the squared difference of the gradients."""
    left = constant * DIFFERENCE2 / L
    printed = Statement(
        "(1/(2L)) ||grad f(x) - grad f(y)||^2 <= f(x) - f(y) - <grad f(x), x - y> for every L-smooth, mu-convex f.",
        at_most(left, f_x - f_y - grad_x_dot_h),
    )
    goal = at_most(left, f_x - f_y - grad_y_dot_h)
    lower = x - difference / L
    mended = shown(
        "(1/(2L)) ||grad f(x) - grad f(y)||^2 <= f(x) - f(y) - <grad f(y), x - y>.",
        goal,
        rules.smooth("down", f, x, lower),
        rules.convex("under", f, y, lower),
        rules.square("apart", lower - y),
        given=("down", "under", "apart"),
    )
    order = at_most(mu, L)
    second = shown(
        "mu <= L.",
        order,
        rules.convex("convex", f, y, x),
        rules.smooth("smooth", f, y, x),
        given=("convex", "smooth", "two points"),
        under=(Fact("two points", below(0, h2), "There are two different points."),),
    )
    repair = Repair("typo", "the last gradient is grad f(y), as its inner product with x - y needs", mended)
    return Claim(
        "cfl.assumption1_corollary",
        "after Assumption 1",
        "Co-coercivity of a smooth convex function",
        (Part("1", printed, repair), Part("2", second)),
        (
            "As printed f = x^2/2 fails at every x != y: its right side is -(x - y)^2/2.",
            "With grad f(x) the inner product must be with y - x and the values exchanged; that is the repair with x "
            "and y exchanged.",
            "1/(2L) is attained by f = (L/2) ||x||^2, also for mu > 0; what mu > 0 adds is a second term: "
            "ours.cfl_interpolation.",
            "The proof uses f outside the segment, at x - (grad f(x) - grad f(y))/L: a function that is L-smooth on a "
            "part of R^d only does not have to satisfy it.",
        ),
    )


def lemA3(constant: Any = 1) -> Claim:
    """The relaxed triangle inequality; `constant` scales the right side."""
    goal = at_most(mean2, constant * square_mean)
    statement = shown(
        "||(1/tau) sum_i v_i||^2 <= (1/tau) sum_i ||v_i||^2.", goal, rules.jensen("Jensen", mean, v), given=("Jensen",)
    )
    return Claim(
        "cfl.lemA3",
        "Lemma A.3",
        "Relaxed triangle inequality",
        (Part("1", statement),),
        ("Attained by equal vectors; for two vectors it is ||a + b||^2 <= 2 ||a||^2 + 2 ||b||^2, as (14) uses it.",),
    )


VARIANCES = Fact(
    "variance", at_most(deviations2, M * means2 + tau * sigma2), "𝔼||Xi_i - xi_i||^2 <= M ||xi_i||^2 + sigma^2, summed."
)


def lemA4(constant: Any = 1) -> Claim:
    """Separating mean and variance; `constant` scales tau sigma^2."""
    goal = at_most(total2, (tau + M) * means2 + constant * tau * sigma2)
    words = "𝔼||sum_i Xi_i||^2 <= (tau + M) sum_i ||xi_i||^2 + tau sigma^2, with 𝔼 Xi_i = xi_i"
    uncorrelated = Fact(
        "uncorrelated",
        at_most(correlations, 0),
        "The deviations Xi_i - xi_i of different i are uncorrelated, as for independent variables or martingale "
        "differences (or at least not positively correlated, all together).",
    )
    printed = Statement(f"{words}, for tau variables that are not necessarily independent.", goal, (VARIANCES,))
    mended = shown(
        f"{words}, for uncorrelated deviations.",
        goal,
        rules.exchange("mean of the sum", over_past, summed, dot(Xi, summed(xi))),
        rules.jensen("A.3", summed, xi),
        given=("mean of the sum", "A.3", "variance", "uncorrelated"),
        under=(VARIANCES, uncorrelated),
    )
    repair = Repair(
        "needs-hypothesis",
        "the deviations Xi_i - xi_i must be uncorrelated (independent, or martingale differences)",
        mended,
    )
    return Claim(
        "cfl.lemA4",
        "Lemma A.4",
        "Separating mean and variance without independence",
        (Part("1", printed, repair),),
        (
            "tau copies of one sign variable have 𝔼||sum||^2 = tau^2 sigma^2; the lemma gives tau sigma^2.",
            "It holds for martingale differences, which may depend on each other and are uncorrelated.",
            "What holds for any dependence, and for means that are random themselves as in (14): ours.cfl_separation.",
        ),
    )


CONVEX_ORDER = Fact("mu <= L", at_most(mu, L), "An L-smooth, mu-convex function has mu <= L.")


def lemA5(constant: Any = 1, half: Any = _HALF) -> Claim:
    """Perturbed strong convexity; `constant` of L ||z - x||^2, and `half` (L + mu) in the sharper statement."""

    def relation(coefficient: sp.Expr) -> Any:
        return at_most(h_z - h_y + mu / 4 * y_minus_z2 - coefficient * step2, slope)

    known = (
        rules.smooth("up", h, x, z),
        rules.convex("down", h, x, y),
        rules.square("middle", y + z - 2 * x),
        rules.square("step", z - x),
    )
    given = tuple(step.name for step in known)
    goal, tight = relation(constant * L), relation(half * (L + mu))
    follows = Obligation("the statement follows", goal, (*given, "mu <= L"))
    sharper = Obligation("the statement follows", tight, given)
    words = "<grad h(x), z - y> >= h(z) - h(y) + (mu/4) ||y - z||^2 - {} ||z - x||^2 for every L-smooth, mu-convex h."
    printed = Statement(words.format("L"), goal, (CONVEX_ORDER,), Proof((*known, follows)))
    best = Statement(words.format("((L + mu)/2)"), tight, proof=Proof((*known, sharper)))
    return Claim(
        "cfl.lemA5",
        "Lemma A.5",
        "Perturbed strong convexity",
        (
            Part(
                "1",
                printed,
                sharp=Sharp(
                    "the coefficient of ||z - x||^2 in units of L, at mu = 0; it is (L + mu)/2 in place of L for every "
                    "mu, a factor 2L/(L + mu) that falls from 2 to 1 at mu = L",
                    sp.S.One,
                    sp.Rational(1, 2),
                    best,
                    ((mu, sp.S.Zero),),
                ),
            ),
        ),
        (
            "(L + mu)/2 is attained for every mu <= L: h = (L/2) u^2 for u >= 0 and (mu/2) u^2 for u <= 0, at x = 0, z "
            "= 1, y = -1.",
            "mu = 0 is allowed, and needed for the general convex rates.",
        ),
    )


CLAIMS = {
    "cfl.assumption1_corollary": corollary,
    "cfl.lemA3": lemA3,
    "cfl.lemA4": lemA4,
    "cfl.lemA5": lemA5,
}
