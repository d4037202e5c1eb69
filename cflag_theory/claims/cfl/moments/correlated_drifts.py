"""Second moments under correlated time drifts: Lemmas B.7 and B.10."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.moments.gradient_noise import (
    APART,
    CENTRED,
    CLIENT,
    correlated,
    grad2,
    mixed2,
    pairs,
    squares,
    weights2,
)
from cflag_theory.claims.cfl.symbols import A2, B2, C2, D2, F2, G2
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement
from cflag_theory.claims.engine.notation import symbol
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Proof, deduced

# Lemmas B.7 and B.10.
least_FD = symbol("least_FD", r"\min(F^2,D^2)", nonnegative=True)
pair_F = symbol("pair_F", r"\sum_{\tau_1\ne\tau_2}F_{\tau_1,\tau_2}^2p_{\tau_1,i}p_{\tau_2,i}", real=True)
pair_C = symbol("pair_C", r"\sum_{\tau_1\ne\tau_2}C_{\tau_1,\tau_2}^2p_{\tau_1,i}p_{\tau_2,i}", real=True)
pair_least = symbol(
    "pair_least", r"\sum_{\tau_1\ne\tau_2}\min(F_{\tau_1,\tau_2}^2,D^2)p_{\tau_1,i}p_{\tau_2,i}", real=True
)


def _with_pairs(pair_c: sp.Expr, pair_f: sp.Expr) -> Relation:
    """(1 + B^2 + A^2 sum p^2 + pair_c) 𝔼||grad f||^2 + G^2 + D^2 sum p^2 + pair_f as a bound."""
    return at_most(mixed2, (1 + B2 + A2 * weights2 + pair_c) * grad2 + G2 + D2 * weights2 + pair_f)


SQUARES = Fact("time drift", at_most(squares, weights2 * (D2 + A2 * grad2)), "𝔼||xi||^2 <= D^2 + A^2 𝔼||grad f||^2.")
KNOWN = (CLIENT, SQUARES, CENTRED, APART)


def _pairs_proof(goal: Relation, *given: str) -> Proof:
    used = ("client drift", "time drift", "mean zero", "independent", "correlation", *given)
    return deduced(goal, given=used)


def lemB7(one: Any = 1) -> Claim:
    """Second moment under Assumption 6; `one` scales F^2 in the repair."""
    bounded = Fact(
        "correlation",
        at_most(correlated, pairs * (F2 + C2 * grad2)),
        "Assumption 6, weighted with p_{tau_1} p_{tau_2} >= 0 and summed.",
    )
    known = (*KNOWN, bounded)
    goal = _with_pairs(C2 * pairs, one * F2 * pairs)
    words = (
        "𝔼||sum p grad f||^2 <= (1 + B^2 + A^2 sum p^2 + C^2 P) 𝔼||grad f||^2 + G^2 + D^2 sum p^2 + {} P, P = sum p p"
    )
    printed = Statement(
        words.format("min(F^2, D^2)") + ", under Assumptions 3 and 6, with weights that are not negative.",
        _with_pairs(C2 * pairs, least_FD * pairs),
        known,
    )
    mended = Statement(words.format("F^2") + ".", goal, known, _pairs_proof(goal))
    repair = Repair("typo", "F^2 in place of min(F^2, D^2), as c_{p_G,i} has it after the proof", mended)
    return Claim(
        "cfl.lemB7",
        "Lemma B.7",
        "Second moment under correlated drifts",
        (Part("1", printed, repair),),
        (
            "Cauchy-Schwarz gives 𝔼<xi_1, xi_2> <= D^2 + A^2 𝔼||grad f||^2, so a least member may be taken of F^2 + "
            "C^2 𝔼||grad f||^2 and that, together; the printed lemma takes D^2 from one and C^2 from the other.",
            "The two agree for F <= D, and for A <= C; then min(F^2, D^2) is right.",
            "Assumption 6 bounds correlations from above only, so weights of both signs are excluded: "
            "cfl.lemB10, part 2.",
        ),
    )


def lemB10(one: Any = 1) -> Claim:
    """The same under Assumption 5, and for the weights of (7); `one` scales its F^2 in the repairs."""
    bounded = Fact(
        "correlation",
        at_most(correlated, pair_F + pair_C * grad2),
        "Assumption 5, weighted with p_{tau_1} p_{tau_2} >= 0 and summed.",
    )
    goal = _with_pairs(pair_C, one * pair_F)
    least = _with_pairs(pair_C, pair_least)
    words = (
        "𝔼||sum p grad f||^2 <= (1 + B^2 + A^2 sum p^2 + sum C_12^2 p p) 𝔼||grad f||^2 + G^2 + D^2 sum p^2 + sum {} p p"
    )
    mended = Statement(words.format("F_12^2") + ".", goal, (*KNOWN, bounded), _pairs_proof(goal))
    first = Part(
        "1",
        Statement(
            words.format("min(F_12^2, D^2)") + ", under Assumptions 3 and 5, with weights that are not negative.",
            least,
            (*KNOWN, bounded),
        ),
        Repair("typo", "F_12^2 in place of min(F_12^2, D^2)", mended),
    )
    small = Fact("F <= D", equal(pair_least, pair_F), "F_12 <= D for every pair, as in Assumption 7.")
    any_sign = Statement(
        words.format("min(F_12^2, D^2)") + ", for the weights of (7), which Table 2 shows to be negative at times, and "
        "with F_12 <= D.",
        least,
        (*KNOWN, small),
    )
    summed = Fact(
        "correlation",
        bounded.relation,
        "Assumption 5, weighted with p_{tau_1} p_{tau_2} and summed: for weights that are not negative, or with "
        "equality in it.",
    )
    signed = Statement(
        any_sign.words + " For weights that are not negative, or with equality in Assumption 5.",
        least,
        (*KNOWN, small, summed),
        _pairs_proof(least, "F <= D"),
    )
    second = Part(
        "2",
        any_sign,
        Repair(
            "needs-hypothesis",
            "p_tau >= 0 for every tau; or equality in Assumption 5, for weights of either sign",
            signed,
        ),
    )
    return Claim(
        "cfl.lemB10",
        "Lemma B.10",
        "Second moment under Assumption 5",
        (first, second),
        (
            "Part 1 is Lemma B.7's fault again.",
            "Part 2: an upper bound on 𝔼<xi_1, xi_2> says nothing where p_1 p_2 < 0. A bound on |𝔼<xi_1, xi_2>| does "
            "not help: in the instance the correlations lie between 0 and F_12^2, and those of xi_3 are 0.",
            "With equalities in Assumption 7 and in Assumption 3 the lemma is an equality for any weights.",
        ),
    )


CLAIMS = {"cfl.lemB7": lemB7, "cfl.lemB10": lemB10}
