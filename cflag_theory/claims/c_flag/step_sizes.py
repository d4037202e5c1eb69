"""Every condition on alpha and beta in the C-FLAG paper and in our own theorems, and what each one is needed for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sympy as sp

from cflag_theory.claims.c_flag.forgetting.average import c, w
from cflag_theory.claims.c_flag.local_steps.drift import step_range
from cflag_theory.claims.c_flag.past_task import theorem5 as limits
from cflag_theory.claims.c_flag.past_task.ours import bounded_gradients as ours_bounded
from cflag_theory.claims.c_flag.past_task.ours import first_rounds as ours_first_rounds
from cflag_theory.claims.c_flag.past_task.ours import rates as ours
from cflag_theory.claims.c_flag.past_task.runs import T, reach, root_m
from cflag_theory.claims.c_flag.union.ours import rounds as ours_union
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.engine.notation import E, L, alpha, beta, m
from cflag_theory.claims.engine.relation import Relation, at_most, below, equal
from cflag_theory.claims.ledger import LEDGER


@dataclass(frozen=True)
class Condition:
    """One condition: its relation in L, m, E, T, alpha, beta, where it stands, what it unlocks, the claims of that."""

    name: str
    relation: Relation
    where: str
    unlocks: str
    claims: tuple[str, ...]
    paper: str = "C-FLAG"


def hypothesis(claim: Claim, name: str, part: int = 0) -> Relation:
    """The relation of a hypothesis of a claim, by the name that the claim gives it."""
    return next(fact.relation for fact in claim.parts[part].printed.hypotheses if fact.name == name)


u = beta * L * E


def _conditions(paper: str, told: str, *relations: Relation) -> Iterator[Condition]:
    """For each relation "name | where it stands | claims", and under it what it unlocks."""
    lines = told.strip().splitlines()
    for first, unlocks, relation in zip(lines[::2], lines[1::2], relations, strict=True):
        name, where, claims = first.split(" | ")
        yield Condition(name, relation, where, unlocks.strip(), tuple(claims.split()), paper)


_PAPER = """
alpha < 2/(L(1+m)) | Lemma 1, Lemma 4, Lemma 18, (14) | cflag.lemma1 cflag.lemma4 cflag.lemma18 cflag.eq14
    descent on the past task, (8); the feasible set of the adaptive rates
alpha = 1/(L(1+m)) | Theorem 2, Theorem 5, Corollary 17 | cflag.thm2 cflag.thm5 cflag.cor17
    the factor 2 L (1 + m) of Theorem 2, the smallest that Lemma 1 gives
alpha <= 1/L | implied by the signs in (152)-(156); the text after (15) grants it for m > 1 | {one}
    1 - L alpha >= 0, so that (154), (156), (177) and (178) have the sign that their proofs use
beta <= 1/(4LE) | Lemma 13, (71) | cflag.lemma13 cflag.lemma15_1 cflag.lemma15_2 cflag.eq71 ours.forgetting_step
    client drift (110), Lemma 15, (71)
beta <= 1/(12LE) | Corollary 14 | cflag.cor14 cflag.lemma16
    delayed-gradient error (127), Lemma 16
10u + 80u^3 < 1, u = beta L E | (161) | cflag.eq161 cflag.eq163
    Z > 0, so that (161) and (163) can divide by Z
alpha = beta = 1/(30LE) | Lemma 3 | cflag.lemma3 cflag.lemma3_surrogate
    60 L (h~(x_0) - h~(x_T)) / T of Lemma 3, for the iterates of (67)-(68)
beta <= 1/(2LE) | before (177) | cflag.eq177 cflag.eq178
    an assumption of (177) and (178)
beta = 1/(60LE) | Lemma 18, (177)-(178) | cflag.lemma18 cflag.eq177 cflag.eq178
    the constants 16, 22, 11/60 and 2/15
"""
_UP_TO_ONE = (
    "cflag.eq156 cflag.eq177 cflag.eq178 ours.drawn_once ours.redrawn ours.first_rounds ours.adaptive_descent "
    "ours.bounded_gradients"
)
CONDITIONS: tuple[Condition, ...] = tuple(
    _conditions(
        "C-FLAG",
        _PAPER.replace("{one}", _UP_TO_ONE),
        below(alpha, 2 / (L * (1 + m))),
        equal(alpha, 1 / (L * (1 + m))),
        at_most(alpha, 1 / L),
        at_most(beta, 1 / (4 * L * E)),
        at_most(beta, 1 / (12 * L * E)),
        below(10 * u + 80 * u**3, 1),
        equal(sp.Max(sp.Abs(alpha * 30 * L * E - 1), sp.Abs(beta * 30 * L * E - 1)), 0),
        at_most(beta, 1 / (2 * L * E)),
        equal(beta, 1 / (60 * L * E)),
    )
)


def _plain(relation: Relation) -> Relation:
    """In L, m, E, T, alpha and beta alone: c is the one with beta = c / sqrt(T), Y that of Theorem 5's repair."""
    bound = (sp.exp(c * L * E) - 1) / L
    plain = relation.subs({limits.Y: bound}).subs({c: beta * sp.sqrt(T), w: 1 / sp.sqrt(T), root_m: sp.sqrt(m)})
    return plain.subs({ours_bounded.q: reach() / alpha})


_SMALL_W, _LARGE_W, _ = limits.LONG_ENOUGH
_OURS = """
m < 1 | (27); no step size helps where it fails | ours.drawn_once ours.first_rounds ours.adaptive_descent cflag.thm5
    convergence with a memory that is drawn once
L alpha m < 1 | ours.redrawn | ours.redrawn
    convergence with memories drawn anew in every round, for any m
L (alpha + beta E) <= 1 | ours.algorithm1_descent | ours.algorithm1_descent
    descent of h^ = (alpha f_memory + beta E g) / (alpha + beta E)
beta L (1 + E) <= 1 | ours.union_descent | ours.union_descent
    descent of h~ along (67)-(68)
beta <= 1/(LE) | ours.local_sums | ours.local_sums
    ||sum_k e_k|| <= (1/2) beta L E (E - 1) ||grad g(x_t)||
q < 1, q = ((1+beta L)^E-1)/(L alpha) | ours.bounded_gradients | ours.bounded_gradients
    a bounded mean of ||grad g(x_t)||^2, which Lemmas 4 and 18 need
W >= 1, ours.first_rounds | 4 W ((1+beta L)^E-1) <= 1-sqrt(m) at W = 1 | ours.first_rounds
    the first W rounds, with nothing assumed on grad g but its value at x_0
W >= 1, Theorem 5 repaired | 4 W (exp(beta sqrt(T) L E)-1) (1+sqrt(m)) <= (1-sqrt(m)) sqrt(T) at W = 1 | cflag.thm5
    the repaired Theorem 5 with its explicit constant: T is large
W <= T, Theorem 5 repaired | 8 W (exp(beta sqrt(T) L E)-1) (1+sqrt(m)) >= (1-sqrt(m)) sqrt(T) at W = T | cflag.thm5
    the same: beta is not so small that W would be above T
"""
OUR_CONDITIONS: tuple[Condition, ...] = tuple(
    _conditions(
        "ours",
        _OURS,
        _plain(ours.BELOW_ONE.relation),
        _plain(ours.POSITIVE.relation),
        hypothesis(LEDGER["ours.algorithm1_descent"](), "step"),
        ours_union.SMALL.relation,
        step_range(sp.S.One).relation,
        _plain(hypothesis(LEDGER["ours.bounded_gradients"](), "q < 1")),
        _plain(ours_first_rounds.RANGE.subs({ours_first_rounds.W: 1})),
        _plain(_SMALL_W.relation.subs({ours_first_rounds.W: 1})),
        _plain(_LARGE_W.relation.subs({ours_first_rounds.W: T})),
    )
)
