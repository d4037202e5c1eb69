"""App. B.5: the progress of a round (32), and the weights that are derived from it."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.nonconvex.descent import (
    SMALL,
    f,
    grad2,
    loss2,
    move,
    move2,
    move_bound,
    past,
    past2,
    squares,
    w_t,
)
from cflag_theory.claims.cfl.nonconvex.descent import inner as inner_step
from cflag_theory.claims.cfl.nonconvex.local_drift import LINE_26, LINE_28, SAME, bracket, c_B, c_dist, c_G, iterated
from cflag_theory.claims.cfl.symbols import A2, B2, D2, G2, R2, K, N, eta, sigma2
from cflag_theory.claims.cfl.vectors import E, tau
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Source, Statement, shown
from cflag_theory.claims.engine.notation import L, sequence, symbol
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, below, equal

_HALF = sp.Rational(1, 2)
f_now = symbol("nc_f_now", r"\mathbb{E}f(\omega_t)", E(f(w_t)))
f_next = symbol("nc_f_next", r"\mathbb{E}f(\omega_{t+1})", E(f(w_t + move)))

# Weights: t - 1 earlier rounds, their total weight q = 1 - p_t and the sum of the squares of their weights.
earlier = symbol("nc_earlier", "(t-1)", positive=True, integer=True)
_weight = sequence("nc_weight", r"p_{@}", nonnegative=True)(tau)
_earlier = sum_over(tau, earlier)
q = symbol("nc_q", "q", _earlier(_weight))
earlier2 = symbol("nc_earlier2", r"\sum_{\tau<t}p_\tau^2", _earlier(_weight**2))
#: q^2 <= (t - 1) sum p^2.
JENSEN = rules.jensen("Jensen", _earlier, _weight)
p_best = symbol("nc_p_best", r"p_t^*", nonnegative=True)
q_best = symbol("nc_q_best", r"q^*", nonnegative=True)


def coefficient(drift: sp.Expr = c_B) -> sp.Expr:
    """(L^2 + 1) c_pB - 1 - p_t/2, before eta 𝔼||grad f(w_t)||^2 in (32)."""
    return (L**2 + 1) * drift - 1 - (1 - past) / 2


def constant_term(spread: sp.Expr, weight: sp.Expr) -> sp.Expr:
    """What (32) adds to eta, without the noise: `spread` is c_pG, `weight` is 1 - p_t; one client."""
    linear = eta / 2 * (spread + weight * R2)
    return linear + L * eta**2 * weight**2 * R2 + eta * L**2 * (spread + weight**2 * R2) / 2


def progress() -> Relation:
    """(32)."""
    rest = eta / 2 * (c_G + past * R2) + L * eta**2 * past2 * R2 + L * eta**2 * sigma2 / (2 * N * K)
    rest += eta * L**2 * (c_G / 2 + past2 * R2 / 2 + sigma2 / (4 * K))
    return at_most(f_next, f_now + eta * coefficient() * grad2 + rest)


#: The names of what (32) is put together from.
INGREDIENTS = ("(25)", "(26)", "(27)", "loss", "same c", "(28)", "(31)", "eta")


def nc_eq32(swapped: bool = False) -> Claim:
    """(32), the sign of its coefficient and c_0; `swapped` keeps the printed c_0 in the repair."""
    known = (
        Fact("(25)", at_most(f_next, f_now + inner_step + L / 2 * move2), "(25)."),
        LINE_26,
        Fact("(27)", move_bound(), "(27) as printed.", sources=(Source("cfl.nc_eq26", "2", granted=True),)),
        Fact("loss", at_most(loss2, past2 * R2), "𝔼||sum p Delta||^2 <= (1 - p_t)^2 R^2, by Assumption 4."),
        SAME,
        LINE_28,
        Fact(
            "(31)",
            at_most(c_dist, bracket()),
            "(31) as printed.",
            sources=(Source("cfl.nc_eq31", "3", at=((iterated, c_dist),), granted=True),),
        ),
        SMALL,
    )
    first = shown(
        "(32), from (25), (26), (27), (28) and (31) as printed.",
        progress(),
        given=tuple(fact.name for fact in known),
        under=known,
    )
    within = Fact("p", at_most(past, 1), "0 <= p_t <= 1.")
    negative = below(coefficient(), 0)
    condition = Fact("descent", below((L**2 + 1) * c_B, 1 + (1 - past) / 2), "(L^2 + 1) c_pB < 1 + p_t/2.")
    second = Part(
        "2",
        Statement(
            "The coefficient of eta 𝔼||grad f(w_t)||^2 in (32) is negative for every L, A and B.",
            negative,
            (within,),
        ),
        Repair(
            "needs-hypothesis",
            "(L^2 + 1) c_pB < 1 + p_t/2, which is the exact condition; for A = B = 0 it is L^2 < p_t/2",
            shown(
                "For (L^2 + 1) c_pB < 1 + p_t/2 the coefficient is negative.",
                negative,
                given=("descent",),
                under=(within, condition),
            ),
        ),
        kind="question",
    )
    definition = Fact("c_pB", equal(c_B, 1 + B2 + A2 * squares), "c_pB, before (14).")
    printed_c0 = equal(coefficient(1 + A2 + B2 * squares), coefficient())
    right_c0 = printed_c0 if swapped else equal(coefficient(1 + B2 + A2 * squares), coefficient())
    third = Part(
        "3",
        Statement(
            "c_0 = (L^2 + 1)(1 + A^2 + B^2 sum p^2) - 1 - p_t/2 is the coefficient of (32).",
            printed_c0,
            definitions=(definition,),
        ),
        Repair(
            "typo",
            "exchange A^2 and B^2 in c_0",
            shown(
                "(L^2 + 1)(1 + B^2 + A^2 sum p^2) - 1 - p_t/2 is the coefficient of (32).",
                right_c0,
                given=("c_pB",),
                where=(definition,),
            ),
        ),
    )
    return Claim(
        "cfl.nc_eq32",
        "(32)",
        "When the coefficient of ||grad f||^2 is negative",
        (Part("1", first, reading="as a step from what is printed before it"), second, third),
        (
            "Part 1 is the algebra alone; (27), (28) and (31) are rows of their own, and fail.",
            "Part 2: the text does not say when the coefficient is negative. It says that 'the value of A^2, B^2, L, p "
            "decide if c_0 >= 0', and goes on with c_0 < 0; the theorems have no condition of the kind, and what they "
            "state is cfl.nc_rate. In the instance A = B = 0.",
            "L^2 + 1 adds a squared curvature to a number: f/100 has another sign than f, though the run with 100 eta "
            "is the same. With the dimensions of (31) corrected and its number 8 kept the coefficient is "
            "never negative; "
            "with a shorter step it is, for c_pB < 1 + p_t/2: ours.cfl_nonconvex_coefficient.",
            "Part 3: with p_tau = 1/t it is A^2 that is divided by t, the time drift, and not B^2 as the observations "
            "after the rate say. Where those weights make a smaller coefficient than FedAvg's, both are positive.",
            "A theorem that says something for every L: ours.cfl_nonconvex.",
        ),
    )


_STAR = Fact(
    "p*",
    equal(p_best * ((earlier + 1) * D2 + earlier * R2), earlier * R2 + D2),
    "p_t of Lemma B.4: ((t - 1) R^2 + D^2) / (t D^2 + (t - 1) R^2).",
)
_POSITIVE = Fact("D", below(0, D2), "D > 0, without which Lemma B.4 divides zero by zero when R = 0.")


def nc_weights(value: Any = 1) -> Claim:
    """The weights of B.5; `value` scales the printed least value of the displayed problem."""
    spread = D2 * ((1 - q) ** 2 + earlier2)
    goal = at_most(G2 + value * D2 * p_best, G2 + spread + q**2 * R2)
    first = shown(
        "The displayed problem min_p G^2 + D^2 sum p^2 + (1 - p_t)^2 R^2 has the weights of Lemma B.4 as its solution, "
        "and its least value is G^2 + D^2 (D^2 + (t - 1) R^2) / (t D^2 + (t - 1) R^2).",
        goal,
        JENSEN,
        given=("Jensen", "p*"),
        under=(_POSITIVE,),
        where=(_STAR,),
    )
    at_q = constant_term(G2 + D2 * ((1 - q) ** 2 + q**2 / earlier), q)
    at_star = constant_term(G2 + D2 * (p_best**2 + (1 - p_best) ** 2 / earlier), 1 - p_best)
    second = Statement(
        "These weights minimise the constant term of (32), as in the convex case: over the weights p_t = 1 - q, the "
        "earlier rounds being weighted alike.",
        at_most(at_star, at_q),
        (_POSITIVE, Fact("q", at_most(q, 1), "0 <= q <= 1.")),
        definitions=(_STAR,),
    )
    return Claim(
        "cfl.nc_weights",
        "B.5, after (32)",
        "The same optimal weights as in the convex case",
        (Part("1", first), Part("2", second)),
        (
            "Part 1: attained at p_t = p_t^*, the rest shared equally.",
            "Part 2: (32) also has (1 - p_t) R^2, linear in 1 - p_t, which Young's inequality brings in (26). The "
            "exact optimum is ours.cfl_nonconvex_weights; it is p_t = 1, FedAvg, as soon as R^2 >= 2 (1 + L^2) D^2.",
            "With R = 0 both are uniform weights.",
        ),
    )


CLAIMS = {"cfl.nc_eq32": nc_eq32, "cfl.nc_weights": nc_weights}
