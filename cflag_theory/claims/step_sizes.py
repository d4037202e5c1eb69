"""Every condition on alpha and beta in the C-FLAG paper, and what each one is needed for."""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from cflag_theory.claims.claim import Relation, at_most, below, equal
from cflag_theory.claims.symbols import E, L, alpha, beta, m


@dataclass(frozen=True)
class Condition:
    """One condition: its relation in L, m, E, alpha, beta, where it is printed, and what it unlocks."""

    name: str
    relation: Relation
    where: str
    unlocks: str


u = beta * L * E

CONDITIONS: tuple[Condition, ...] = (
    Condition(
        "alpha < 2/(L(1+m))",
        below(alpha, 2 / (L * (1 + m))),
        "Lemma 1, Lemma 4, Lemma 18, (14)",
        "descent on the past task, (8); the feasible set of the adaptive rates",
    ),
    Condition(
        "alpha = 1/(L(1+m))",
        equal(alpha, 1 / (L * (1 + m))),
        "Theorem 2, Theorem 5, Corollary 17",
        "the factor 2 L (1 + m) of Theorem 2, the smallest that Lemma 1 gives",
    ),
    Condition(
        "alpha <= 1/L",
        at_most(alpha, 1 / L),
        "implied by the signs in (152)-(156); the text after (15) grants it for m > 1",
        "1 - L alpha >= 0, so that (154), (156), (177) and (178) have the sign that their proofs use",
    ),
    Condition(
        "beta <= 1/(4LE)", at_most(beta, 1 / (4 * L * E)), "Lemma 13, (71)", "client drift (110), Lemma 15, (71)"
    ),
    Condition(
        "beta <= 1/(12LE)", at_most(beta, 1 / (12 * L * E)), "Corollary 14", "delayed-gradient error (127), Lemma 16"
    ),
    Condition(
        "10u + 80u^3 < 1, u = beta L E",
        below(10 * u + 80 * u**3, 1),
        "(161)",
        "Z > 0, so that (161) and (163) can divide by Z",
    ),
    Condition(
        "alpha = beta = 1/(30LE)",
        equal(sp.Max(sp.Abs(alpha * 30 * L * E - 1), sp.Abs(beta * 30 * L * E - 1)), 0),
        "Lemma 3",
        "60 L (h~(x_0) - h~(x_T)) / T of Lemma 3, for the iterates of (67)-(68)",
    ),
    Condition("beta <= 1/(2LE)", at_most(beta, 1 / (2 * L * E)), "before (177)", "an assumption of (177) and (178)"),
    Condition(
        "beta = 1/(60LE)",
        equal(beta, 1 / (60 * L * E)),
        "Lemma 18, (177)-(178)",
        "the constants 16, 22, 11/60 and 2/15",
    ),
)
