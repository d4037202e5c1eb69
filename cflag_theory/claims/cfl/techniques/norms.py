"""Assumption 1's corollary and Lemmas A.3, A.4 and A.5; the sums of Appendix A are in `summation`."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.symbols import mu, sigma2
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Sharp, Statement
from cflag_theory.claims.engine.notation import L, symbol
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof

# The corollary: f and its gradient at x and y, u = grad f(x), v = grad f(y), h = x - y; z = x - (u - v)/L.
f_x = symbol("f_x", "f(x)", real=True)
f_y = symbol("f_y", "f(y)", real=True)
f_z = symbol("f_z", "f(z)", real=True)
grad_x2 = symbol("grad_x2", r"{\|\nabla f(x)\|^2}", nonnegative=True)
grad_y2 = symbol("grad_y2", r"{\|\nabla f(y)\|^2}", nonnegative=True)
grad_x_dot_grad_y = symbol("grad_x_dot_grad_y", r"\langle\nabla f(x),\nabla f(y)\rangle", real=True)
grad_x_dot_h = symbol("grad_x_dot_h", r"\langle\nabla f(x),x-y\rangle", real=True)
grad_y_dot_h = symbol("grad_y_dot_h", r"\langle\nabla f(y),x-y\rangle", real=True)
down = symbol("grad_x_dot_step", r"\langle\nabla f(x),z-x\rangle", real=True)
under = symbol("grad_y_dot_step", r"\langle\nabla f(y),z-y\rangle", real=True)
step2 = symbol("z_minus_x2", r"{\|z-x\|^2}", nonnegative=True)
reach2 = symbol("z_minus_y2", r"{\|z-y\|^2}", nonnegative=True)
gap = symbol("bregman", r"f(w_1)-f(w_2)-\langle\nabla f(w_2),w_1-w_2\rangle", real=True)
apart2 = symbol("w_apart2", r"{\|w_1-w_2\|^2}", positive=True)

GRAM = {
    ("u", "u"): grad_x2,
    ("v", "v"): grad_y2,
    ("u", "v"): grad_x_dot_grad_y,
    ("h", "u"): grad_x_dot_h,
    ("h", "v"): grad_y_dot_h,
}
#: z - x.
STEP = {"u": -1 / L, "v": 1 / L}
#: ||grad f(x) - grad f(y)||^2.
DIFFERENCE2 = grad_x2 - 2 * grad_x_dot_grad_y + grad_y2

# Lemma A.3.
mean2 = symbol("norm_of_mean2", r"{\|\frac{1}{\tau}\sum_i v_i\|^2}", nonnegative=True)
square_mean = symbol("mean_of_norms2", r"\frac{1}{\tau}\sum_i\|v_i\|^2", nonnegative=True)
scatter = symbol("scatter", r"\frac{1}{\tau}\sum_i\|v_i-\bar{v}\|^2", nonnegative=True)

# Lemma A.4; sums over i of tau variables.
tau = symbol("tau", r"\tau", positive=True, integer=True)
M = symbol("M_A4", "M", nonnegative=True)
total2 = symbol("total2", r"\mathbb{E}\|\sum_i\Xi_i\|^2", nonnegative=True)
mean_total2 = symbol("mean_total2", r"{\|\sum_i\xi_i\|^2}", nonnegative=True)
means2 = symbol("means2", r"\sum_i\|\xi_i\|^2", nonnegative=True)
deviations2 = symbol("deviations2", r"\sum_i\mathbb{E}\|\Xi_i-\xi_i\|^2", nonnegative=True)
correlations = symbol("correlations", r"\sum_{i\ne j}\mathbb{E}\langle\Xi_i-\xi_i,\Xi_j-\xi_j\rangle", real=True)

# Lemma A.5.
h_x = symbol("h_x", "h(x)", real=True)
h_y = symbol("h_y", "h(y)", real=True)
h_z = symbol("h_z", "h(z)", real=True)
slope_to_z = symbol("slope_to_z", r"\langle\nabla h(x),z-x\rangle", real=True)
slope_to_y = symbol("slope_to_y", r"\langle\nabla h(x),y-x\rangle", real=True)
slope = symbol("slope_y_to_z", r"\langle\nabla h(x),z-y\rangle", real=True)
y_minus_x2 = symbol("y_minus_x2", r"{\|y-x\|^2}", nonnegative=True)
y_minus_z2 = symbol("y_minus_z2", r"{\|y-z\|^2}", nonnegative=True)
y_x_dot_z_x = symbol("y_x_dot_z_x", r"\langle y-x,z-x\rangle", real=True)
middle2 = symbol("middle2", r"{\|(y-x)+(z-x)\|^2}", nonnegative=True)
_TRIANGLE = {("y", "y"): y_minus_x2, ("z", "z"): step2, ("y", "z"): y_x_dot_z_x}


_HALF = sp.Rational(1, 2)


def corollary(constant: Any = _HALF) -> Claim:
    """Co-coercivity; `constant` over L stands before the squared difference of the gradients."""
    left = constant * DIFFERENCE2 / L
    printed = Statement(
        "(1/(2L)) ||grad f(x) - grad f(y)||^2 <= f(x) - f(y) - <grad f(x), x - y> for every L-smooth, mu-convex f.",
        at_most(left, f_x - f_y - grad_x_dot_h),
    )
    goal = at_most(left, f_x - f_y - grad_y_dot_h)
    proof = Proof(
        (
            rules.smoothness("down", f_z, f_x, down, step2, L, "f between x and z = x - (grad f(x) - grad f(y))/L."),
            rules.convexity("under", f_y, under, reach2, f_z, sp.S.Zero, "f between y and z."),
            rules.bilinearity("slope at x", down, {"u": sp.S.One}, STEP, GRAM, "z - x by the choice of z."),
            rules.bilinearity("step", step2, STEP, STEP, GRAM, "z - x by the choice of z."),
            rules.bilinearity(
                "slope at y", under, {"v": sp.S.One}, {"h": sp.S.One, **STEP}, GRAM, "z - y = (x - y) + (z - x)."
            ),
            Obligation(
                "the statement follows",
                goal,
                ("down", "under", "slope at x", "step", "slope at y"),
                slack("down")
                + slack("under")
                - residual("slope at x")
                - L / 2 * residual("step")
                + residual("slope at y")
                + (sp.Rational(1, 2) - constant) / L * DIFFERENCE2,
            ),
        )
    )
    mended = Statement("(1/(2L)) ||grad f(x) - grad f(y)||^2 <= f(x) - f(y) - <grad f(y), x - y>.", goal, (), proof)
    lower = Fact("convex", at_most(mu * apart2 / 2, gap), "The lower half of Assumption 1 at two different points.")
    upper = Fact("smooth", at_most(gap, L * apart2 / 2), "Its upper half.")
    order = at_most(mu, L)
    second = Statement(
        "mu <= L.",
        order,
        (lower, upper),
        Proof(
            (
                Obligation(
                    "the statement follows",
                    order,
                    ("convex", "smooth"),
                    2 * (slack("convex") + slack("smooth")) / apart2,
                ),
            )
        ),
    )
    repair = Repair("typo", "the last gradient is grad f(y), as its inner product with x - y needs", mended)
    return Claim(
        "cfl.assumption1_corollary",
        "CFL",
        "after Assumption 1",
        "Co-coercivity of a smooth convex function",
        (Part("1", printed, repair), Part("2", second)),
        (
            "As printed f = x^2/2 fails at every x != y: its right side is -(x - y)^2/2.",
            "With grad f(x) the inner product must be with y - x and the values exchanged; that is the repair with x "
            "and y exchanged.",
            "1/(2L) is attained by f = (L/2) ||x||^2, also for mu > 0; what mu > 0 adds is a second term: "
            "ours.cfl_interpolation.",
            "The proof uses f outside the segment, at z: a function that is L-smooth on a part of R^d only does not "
            "have to satisfy it.",
        ),
    )


def lemA3(constant: Any = 1) -> Claim:
    """The relaxed triangle inequality; `constant` scales the right side."""
    goal = at_most(mean2, constant * square_mean)
    statement = Statement(
        "||(1/tau) sum_i v_i||^2 <= (1/tau) sum_i ||v_i||^2.",
        goal,
        (),
        Proof(
            (
                rules.variance("variance", square_mean, mean2, scatter, "u_i = v_i with weights 1/tau."),
                Obligation(
                    "the statement follows",
                    goal,
                    ("variance",),
                    residual("variance") + scatter + (constant - 1) * square_mean,
                ),
            )
        ),
    )
    return Claim(
        "cfl.lemA3",
        "CFL",
        "Lemma A.3",
        "Relaxed triangle inequality",
        (Part("1", statement),),
        ("Attained by equal vectors; for two vectors it is ||a + b||^2 <= 2 ||a||^2 + 2 ||b||^2, as (14) uses it.",),
    )


VARIANCES = Fact(
    "variance", at_most(deviations2, M * means2 + tau * sigma2), "E||Xi_i - xi_i||^2 <= M ||xi_i||^2 + sigma^2, summed."
)
EXPANDED = equal(total2, mean_total2 + deviations2 + correlations)


def lemA4(constant: Any = 1) -> Claim:
    """Separating mean and variance; `constant` scales tau sigma^2."""
    goal = at_most(total2, (tau + M) * means2 + constant * tau * sigma2)
    words = "E||sum_i Xi_i||^2 <= (tau + M) sum_i ||xi_i||^2 + tau sigma^2, with E Xi_i = xi_i"
    uncorrelated = Fact(
        "uncorrelated",
        at_most(correlations, 0),
        "The deviations Xi_i - xi_i of different i are uncorrelated, as for independent variables or martingale "
        "differences (or at least not positively correlated, all together).",
    )
    proof = Proof(
        (
            rules.linear_expectation(
                "expanded",
                EXPANDED,
                "sum Xi_i = sum xi_i + sum (Xi_i - xi_i), and the deviations have mean zero.",
            ),
            rules.jensen("A.3", mean_total2, tau * means2, "Lemma A.3 for the means, times tau^2."),
            Obligation(
                "the statement follows",
                goal,
                ("expanded", "A.3", "variance", "uncorrelated"),
                slack("A.3")
                + slack("variance")
                + slack("uncorrelated")
                - residual("expanded")
                + (constant - 1) * tau * sigma2,
            ),
        )
    )
    printed = Statement(f"{words}, for tau variables that are not necessarily independent.", goal, (VARIANCES,))
    mended = Statement(f"{words}, for uncorrelated deviations.", goal, (VARIANCES, uncorrelated), proof)
    repair = Repair(
        "needs-hypothesis",
        "the deviations Xi_i - xi_i must be uncorrelated (independent, or martingale differences)",
        mended,
    )
    return Claim(
        "cfl.lemA4",
        "CFL",
        "Lemma A.4",
        "Separating mean and variance without independence",
        (Part("1", printed, repair),),
        (
            "tau copies of one sign variable have E||sum||^2 = tau^2 sigma^2; the lemma gives tau sigma^2.",
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
        rules.smoothness("up", h_z, h_x, slope_to_z, step2, L, "h between x and z."),
        rules.convexity("down", h_x, slope_to_y, y_minus_x2, h_y, mu, "h between x and y."),
        rules.bilinearity(
            "slopes",
            slope,
            {"g": sp.S.One},
            {"z": sp.S.One, "y": -sp.S.One},
            {("g", "z"): slope_to_z, ("g", "y"): slope_to_y},
            "z - y = (z - x) - (y - x).",
        ),
        rules.bilinearity(
            "y - z",
            y_minus_z2,
            {"y": sp.S.One, "z": -sp.S.One},
            {"y": sp.S.One, "z": -sp.S.One},
            _TRIANGLE,
            "y - z = (y - x) - (z - x).",
        ),
        rules.bilinearity(
            "middle",
            middle2,
            {"y": sp.S.One, "z": sp.S.One},
            {"y": sp.S.One, "z": sp.S.One},
            _TRIANGLE,
            "(y - x) + (z - x).",
        ),
    )
    base = (
        slack("up")
        + slack("down")
        + residual("slopes")
        - mu / 4 * (residual("y - z") + residual("middle"))
        + mu / 4 * middle2
    )
    given = ("up", "down", "slopes", "y - z", "middle")
    goal, tight = relation(constant * L), relation(half * (L + mu))
    follows = Obligation(
        "the statement follows",
        goal,
        (*given, "mu <= L"),
        base + slack("mu <= L") / 2 * step2 + (constant - 1) * L * step2,
    )
    sharper = Obligation("the statement follows", tight, given, base + (half - sp.Rational(1, 2)) * (L + mu) * step2)
    words = "<grad h(x), z - y> >= h(z) - h(y) + (mu/4) ||y - z||^2 - {} ||z - x||^2 for every L-smooth, mu-convex h."
    printed = Statement(words.format("L"), goal, (CONVEX_ORDER,), Proof((*known, follows)))
    best = Statement(words.format("((L + mu)/2)"), tight, (), Proof((*known, sharper)))
    return Claim(
        "cfl.lemA5",
        "CFL",
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
RESUMES = {"cfl.lemA3": "cfl.lemA2"}
