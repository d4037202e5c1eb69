"""Bounds on the forgetting term: the constants of Lemma 18."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.algebra import residual, slack
from cflag_theory.claims.claim import Claim, Fact, Part, Repair, Sharp, Statement, at_most, below, equal
from cflag_theory.claims.proof import Obligation, Proof
from cflag_theory.claims.symbols import E, L, alpha, beta, m, r


def Q() -> sp.Expr:
    """Q = 72 beta^4 L^3 E^4 + 4 beta^2 L E^2 + 2 r beta E (1 - L alpha)(6 beta L E + 1), after (161)."""
    lead = 72 * beta**4 * L**3 * E**4 + 4 * beta**2 * L * E**2
    return lead + 2 * r * beta * E * (1 - L * alpha) * (6 * beta * L * E + 1)


def Z() -> sp.Expr:
    """Z = beta E (1 - 80 beta^3 L^3 E^3 - 10 beta L E), after (161)."""
    return beta * E * (1 - 80 * beta**3 * L**3 * E**3 - 10 * beta * L * E)


u = sp.Symbol("u", positive=True)
CONSTANT_STEP = Fact("beta", equal(beta, 1 / (60 * L * E)), "beta = 1/(60 L E).")
STEP_SIZE = Fact("alpha", below(alpha, 2 / (L * (1 + m))), "alpha < 2 / (L (1 + m)), as Lemma 18 allows.")
SMALL_STEP = Fact("small alpha", at_most(L * alpha, 1), "alpha <= 1/L.")


def eq177(slope: Any = 16, constant: Any = 22) -> Claim:
    """(177) with the printed constants, or others in their place."""
    q = 1 - L * alpha
    # Q = (E beta) above and Z = (E beta) under, in u = beta L E; at u = 1/60 both are numbers but for r q.
    above, under = 72 * u**3 + 4 * u + 2 * r * q * (6 * u + 1), 1 - 80 * u**3 - 10 * u
    at = {u: sp.Rational(1, 60)}
    under_at = under.subs(at)
    exact_slope, exact_constant = 2 * (6 * u + 1).subs(at) / under_at, (72 * u**3 + 4 * u).subs(at) / under_at
    # above/under at 1/60 minus above/under is (u - 1/60) quotient / (under_at under), and u - 1/60 = L E (beta - ...).
    gap = above.subs(at) * under - above * under_at
    quotient = sp.div(gap, u - at[u], u)[0] / under_at * L * E
    under_quotient = sp.div(under - under_at, u - at[u], u)[0] * L * E
    product = {u: beta * L * E}
    positive = Obligation(
        "Z > 0",
        below(0, under.subs(product)),
        ("beta",),
        under_at + under_quotient.subs(product) * residual("beta"),
    )

    def statement(a: sp.Expr, b: sp.Expr, words: str, hypotheses: tuple[Fact, ...]) -> Statement:
        goal = at_most(Q() / Z(), a * r * q + b)
        certificate = (
            (a - exact_slope) * r * slack("small alpha")
            + (b - exact_constant)
            + quotient.subs(product) / slack("Z > 0") * residual("beta")
        )
        follows = Obligation("the statement follows", goal, ("small alpha", "beta", "Z > 0"), certificate)
        return Statement(words, goal, hypotheses, Proof((positive, follows)) if SMALL_STEP in hypotheses else None)

    words = f"Q/Z <= {slope} r (1 - L alpha) + {constant} at beta = 1/(60 L E)"
    printed = statement(slope, constant, words + ", for every alpha < 2/(L(1 + m)).", (CONSTANT_STEP, STEP_SIZE))
    mended = statement(slope, constant, words + ", for alpha <= 1/L.", (CONSTANT_STEP, STEP_SIZE, SMALL_STEP))
    identity = equal(Q() / Z(), exact_slope * r * q + exact_constant)
    at_step = Obligation(
        "the statement follows",
        identity,
        ("beta", "Z > 0"),
        quotient.subs(product) / slack("Z > 0") * residual("beta"),
    )
    sharpened = Statement(
        f"Q/Z = {exact_slope} r (1 - L alpha) + {exact_constant} at beta = 1/(60 L E).",
        identity,
        (CONSTANT_STEP, STEP_SIZE),
        Proof((positive, at_step)),
    )
    repair = Repair(
        "needs-hypothesis",
        "alpha <= 1/L: for 1/L < alpha < 2/(L(1 + m)), possible when m < 1, the factor 1 - L alpha is negative and a "
        "large r makes the right side fall faster than the left; m >= 1 implies alpha <= 1/L and is enough",
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


CLAIMS = {"cflag.eq177": eq177}
