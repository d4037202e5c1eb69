"""Bounds on the forgetting term: the constants of Lemma 18."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.algebra import slack
from cflag_theory.claims.claim import Claim, Fact, Part, Repair, Sharp, Statement, at_most, below
from cflag_theory.claims.proof import Obligation, Proof
from cflag_theory.claims.symbols import E, L, alpha, beta, m, r


def Q(step: sp.Expr = beta) -> sp.Expr:
    """Q = 72 beta^4 L^3 E^4 + 4 beta^2 L E^2 + 2 r beta E (1 - L alpha)(6 beta L E + 1), after (161)."""
    u = step * L * E
    return 72 * step * u**3 * E + 4 * step * u * E + 2 * r * step * E * (1 - L * alpha) * (6 * u + 1)


def Z(step: sp.Expr = beta) -> sp.Expr:
    """Z = beta E (1 - 80 beta^3 L^3 E^3 - 10 beta L E), after (161)."""
    u = step * L * E
    return step * E * (1 - 80 * u**3 - 10 * u)


STEP_SIZE = Fact("alpha", below(alpha, 2 / (L * (1 + m))), "alpha < 2 / (L (1 + m)), as Lemma 18 allows.")
SMALL_STEP = Fact("small alpha", at_most(L * alpha, 1), "alpha <= 1/L.")


def eq177(slope: Any = 16, constant: Any = 22) -> Claim:
    """(177) with the printed constants, or others in their place."""
    ratio = sp.cancel(sp.together((Q() / Z()).subs(beta, 1 / (60 * L * E))))
    q = sp.Symbol("q", real=True)
    # The ratio is affine in r (1 - L alpha); with q in its place the two coefficients can be read off.
    affine = sp.expand(ratio.subs(alpha, (1 - q) / L))
    exact_slope, exact_constant = sp.cancel(sp.diff(affine, q) / r), affine.subs(q, 0)

    def statement(a: sp.Expr, b: sp.Expr, words: str, hypotheses: tuple[Fact, ...]) -> Statement:
        goal = at_most(ratio, a * r * (1 - L * alpha) + b)
        certificate = (a - exact_slope) * r * slack("small alpha") + b - exact_constant
        proof = Proof((Obligation("the statement follows", goal, ("small alpha",), certificate),))
        return Statement(words, goal, hypotheses, proof if SMALL_STEP in hypotheses else None)

    words = f"Q/Z <= {slope} r (1 - L alpha) + {constant} at beta = 1/(60 L E)"
    printed = statement(slope, constant, words + ", for every alpha < 2/(L(1 + m)).", (STEP_SIZE,))
    mended = statement(slope, constant, words + ", for alpha <= 1/L.", (STEP_SIZE, SMALL_STEP))
    sharpened = statement(
        exact_slope,
        exact_constant,
        f"Q/Z = {exact_slope} r (1 - L alpha) + {exact_constant} at beta = 1/(60 L E).",
        (STEP_SIZE, SMALL_STEP),
    )
    repair = Repair(
        "needs-hypothesis",
        "alpha <= 1/L: for 1/L < alpha < 2/(L(1 + m)), possible when m < 1, the factor 1 - L alpha is negative and a "
        "large r makes the "
        "right side fall faster than the left",
        mended,
    )
    return Claim(
        "cflag.eq177",
        "C-FLAG",
        "(177)",
        "Q/Z at the constant step size of Lemma 18",
        (
            Part(
                "1",
                printed,
                repair,
                Sharp("the coefficient of r (1 - L alpha)", sp.sympify(slope), exact_slope, sharpened),
            ),
        ),
        (
            f"Q/Z is exactly {exact_slope} r (1 - L alpha) + {exact_constant}; the printed pair bounds it with factors "
            f"{float(slope / exact_slope):.2f} and {float(constant / exact_constant):.0f} to spare.",
        ),
    )
