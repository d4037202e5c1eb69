"""Lemma A.2: the plain mean over the rounds in the general convex case."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.symbols import eta
from cflag_theory.claims.cfl.techniques.summation import Phi, d, eta_max, total
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Sharp, Statement
from cflag_theory.claims.engine.notation import k, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Proof

# Lemma A.2: T >= 0, roots of c_1, of D = d_0/(T+1) and of c_2, and the cube root of 2.
rounds = symbol("T_from_zero", "T", nonnegative=True, integer=True)
root_c1 = symbol("root_c1", r"\sqrt{c_1}", nonnegative=True)
cube_c2 = symbol("cube_root_c2", r"\sqrt[3]{c_2}", nonnegative=True)
root_D = symbol("root_D", r"\sqrt{d_0/(T+1)}", nonnegative=True)
cube_D = symbol("cube_root_D", r"\sqrt[3]{d_0/(T+1)}", nonnegative=True)
eta_sharp = symbol("eta_sharp", r"\eta", positive=True)
Phi_sharp = symbol("Phi_sharp", r"\Phi_T", real=True)
total_sharp = sequence("partial_sum_sharp", r"\Sigma_{@}", real=True)
cube_2 = symbol("cube_root_2", r"\sqrt[3]{2}", positive=True)


def _terms(phi: sp.Expr, step: sp.Expr, sums: Any) -> tuple[Fact, ...]:
    """The sum of Lemma A.2 with a step of its own."""
    return (
        Fact("no round", equal(sums(0), 0), "An empty sum."),
        Fact(
            "round",
            equal(sums(k + 1), sums(k) + (d(k) - d(k + 1)) / step + root_c1**2 * step + cube_c2**3 * step**2),
            "One more term of the sum.",
        ),
        Fact("Phi", equal((rounds + 1) * phi, sums(rounds + 1)), "Phi_T."),
    )


def _summed(step: sp.Expr, sums: Any) -> tuple[Any, ...]:
    """eta Sigma_n = d_0 - d_n + n (c_1 eta^2 + c_2 eta^3), at n = T + 1."""
    relation = equal(sums(k) * step, d(0) - d(k) + k * (root_c1**2 * step**2 + cube_c2**3 * step**3))
    hypothesis = "summed (hypothesis)"
    base = Obligation("summed at 0", relation.subs({k: 0}), ("no round",))
    further = Obligation("summed at k + 1", relation.subs({k: k + 1}), (hypothesis, "round"))
    return Induction("summed", k, relation, base, (further,)), Instance("whole sum", "summed", k, rounds + 1)


ROOTS = (
    Fact("D", equal(root_D**2 * (rounds + 1), d(0)), "The square root of D = d_0/(T + 1)."),
    Fact("cube root of D", equal(cube_D**3, root_D**2), "Its cube root."),
)
#: Strictly, so that both roots may be divided by.
APART = (
    Fact("d_0 > 0", below(0, root_D), "d_0 > 0."),
    Fact("D > 0", below(0, cube_D), "The same for the cube root."),
)


def _chosen(step: sp.Expr, lam: sp.Expr) -> Fact:
    """1/eta = 1/eta_max + sqrt(c_1/D) + lam (c_2/D)^(1/3), multiplied out."""
    return Fact(
        "step",
        equal(
            eta_max * root_D * cube_D,
            step * (root_D * cube_D + eta_max * root_c1 * cube_D + lam * eta_max * cube_c2 * root_D),
        ),
        f"1/eta = 1/eta_max + sqrt(c_1/D) + {'2^(1/3) ' if lam == cube_2 else ''}(c_2/D)^(1/3), multiplied out; any "
        "step if D = 0.",
    )


def _sublinear(phi: sp.Expr, step: sp.Expr, sums: Any, lam: sp.Expr, first: sp.Expr, second: sp.Expr) -> Statement:
    """The bound with `first` and `second` before its two roots, for the step with `lam`."""
    x, y, z, w = root_c1, root_D, cube_c2, cube_D
    goal = at_most(phi, y**2 / eta_max + first * x * y + second * w**2 * z)
    positive_y, positive_w = slack("d_0 > 0"), slack("D > 0")
    beyond = second - lam - 1 / lam**2
    given = ["first root", "second root", "whole sum", "Phi", "D", "cube root of D", "step", "d_0 > 0", "D > 0"]
    definitions = [*_terms(phi, step, sums), *ROOTS, _chosen(step, lam)]
    if lam == cube_2:
        given.append("2")
        definitions.append(Fact("2", equal(cube_2**3, 2), "The cube root of 2."))
        beyond = (second / cube_2 - sp.Rational(3, 2)) * cube_2 + residual("2") / (2 * lam**2)
    proof = Proof(
        (
            *_summed(step, sums),
            Obligation("within", at_most(step, eta_max), ("step", "d_0 > 0", "D > 0")),
            Obligation("first root", at_most(x * step, y), ("step", "D > 0")),
            Obligation("second root", at_most(lam * z * step, w), ("step", "d_0 > 0")),
            Obligation(
                "the statement follows",
                goal,
                tuple(given),
                x * slack("first root")
                + z * slack("second root") * (w + lam * z * step) / lam**2
                + (d(rounds + 1) - residual("whole sum") + residual("D")) / (step * (rounds + 1))
                - residual("Phi") / (rounds + 1)
                - y**2 * residual("step") / (step * eta_max * positive_y * positive_w)
                + lam * z * residual("cube root of D") / positive_w
                + (first - 2) * x * y
                + beyond * w**2 * z,
            ),
        )
    )
    hypotheses = (_within(step), *APART)
    words = (
        "There is a step eta <= eta_max with Phi_T <= d_0/(eta_max (T+1)) + 2 sqrt(c_1 d_0/(T+1)) + 2 "
        "(d_0/(T+1))^(2/3) c_2^(1/3)"
    )
    return Statement(words, goal, hypotheses, proof, tuple(definitions))


def nothing_to_gain() -> Statement:
    """The sequence d = 0: every step leaves Phi_T above the bound, which is 0."""
    goal = below(root_D**2 / eta_max + 2 * root_c1 * root_D + 2 * cube_D**2 * cube_c2, Phi)
    zero = (
        Fact("d_0", equal(d(0), 0), "d_0 = 0."),
        Fact("d", equal(d(k + 1), 0), "d_t = 0 for every t."),
        Fact("root", equal(root_D, 0), "The root of d_0/(T + 1) = 0."),
        Fact("cube root", equal(cube_D, 0), "Its cube root."),
        Fact("c_1", below(0, root_c1), "c_1 > 0."),
    )
    proof = Proof(
        (
            *_summed(eta, total),
            Induction(
                "all zero",
                k,
                equal(d(k), 0),
                Obligation("zero at 0", equal(d(0), 0), ("d_0",)),
                (Obligation("zero at k + 1", equal(d(k + 1), 0), ("d",)),),
            ),
            Instance("last", "all zero", k, rounds + 1),
            Obligation("the statement follows", goal, ("whole sum", "Phi", "d_0", "last", "root", "cube root", "c_1")),
        )
    )
    words = "For d_t = 0 and c_1 > 0 every step eta > 0 has Phi_T = c_1 eta + c_2 eta^2 > 0, and the bound is 0."
    return Statement(words, goal, (_within(eta),), proof, (*_terms(Phi, eta, total), *zero))


def _within(step: sp.Expr) -> Fact:
    return Fact("eta", at_most(step, eta_max), "The step is at most eta_max.")


_BEST = sp.Rational(3, 2)


def lemA2(second: Any = 2, first: Any = 2, best: Any = _BEST) -> Claim:
    """The sub-linear rate; `first` and `second` before its roots, `best` times 2^(1/3) in the sharper statement."""
    mended = _sublinear(Phi, eta, total, sp.S.One, sp.sympify(first), sp.sympify(second))
    printed = replace(
        mended, words=f"{mended.words}, for every T, c_1, c_2 >= 0.", hypotheses=mended.hypotheses[:1], proof=None
    )
    mended = replace(mended, words=f"{mended.words}, for d_0 > 0.")
    sharper = _sublinear(Phi_sharp, eta_sharp, total_sharp, cube_2, sp.S(2), best * cube_2)
    sharper = replace(
        sharper, words="The same with (3/2) 2^(1/3) = 1.88988 before (d_0/(T+1))^(2/3) c_2^(1/3), for d_0 > 0."
    )
    sharper = replace(sharper, hypotheses=mended.hypotheses)
    repair = Repair(
        "needs-hypothesis",
        "d_0 > 0; only the degenerate case d_0 = 0 is lost, where the best step would be 0, which is no step",
        mended,
    )
    words = "the factor of (d_0/(T+1))^(2/3) c_2^(1/3)"
    return Claim(
        "cfl.lemA2",
        "Lemma A.2",
        "Sub-linear convergence rate",
        (
            Part(
                "1",
                printed,
                repair,
                Sharp(
                    words,
                    sp.sympify(second),
                    sp.Rational(3, 2) * 2 ** sp.Rational(1, 3),
                    sharper,
                    ((Phi_sharp, Phi), (cube_2, sp.cbrt(2))),
                ),
                nothing_to_gain(),
            ),
        ),
        (
            "False in a degenerate case only, a start at the optimum, d_0 = ||w_0 - w*||^2 = 0: there the bound "
            "holds up to any positive number, by a small step.",
            "The step of the proof is the harmonic sum of the three candidates, not their least; so the bound is exact "
            "algebra.",
            "Both factors are attained in the limit eta_max -> infinity with d_{T+1} = 0: 2 for c_2 = 0, where the sum "
            "is D/eta + c_1 eta, and (3/2) 2^(1/3) for c_1 = 0, where it is D/eta + c_2 eta^2.",
            "T is a number of terms less one; T = 0 and c_1 = c_2 = 0 are included.",
        ),
    )


CLAIMS = {"cfl.lemA2": lemA2}
