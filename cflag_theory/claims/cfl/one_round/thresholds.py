"""App. B.4.2 after (22): the step sizes, and the constants c_1 and c_2."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.one_round.progress import c_B
from cflag_theory.claims.cfl.one_round.recursion import c_G, coefficient, rho2
from cflag_theory.claims.cfl.symbols import K, N, eta, eta_g, sigma2
from cflag_theory.claims.engine.algebra import slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement, shown
from cflag_theory.claims.engine.notation import L, symbol
from cflag_theory.claims.engine.relation import Relation, at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof

#: sqrt(3 eta_g^2 + 4 c eta_g^4) and sqrt(c): the roots in the printed step sizes.
long_root = symbol("long_root", r"\sqrt{3\eta_g^2+4c\eta_g^4}", positive=True)
root_c = symbol("root_c", r"\sqrt{c_{p_B}}", positive=True)

ROOTS = (
    Fact("root", equal(long_root**2, 3 * eta_g**2 + 4 * c_B * eta_g**4), "The first root of the step size."),
    Fact("root of c", equal(root_c**2, c_B), "The root of c_pB."),
)
#: 4 K^2 eta_l^2 L^2 c with K eta_l = eta / eta_g.
QUOTIENT = 4 * eta**2 * L**2 * c_B / eta_g**2
RATIO = (1 + 4 * eta * L * c_B) / (1 - QUOTIENT)
#: The left side of (22) with its factor eta, over which cfl.eq21 decides.
LEFT = coefficient(4 * eta * QUOTIENT, QUOTIENT)
#: The left side as (22) is printed, without that factor.
PRINTED_LEFT = coefficient(4 * QUOTIENT, QUOTIENT)
_FIVE_QUARTERS = sp.Rational(5, 4)
_LOST_FACTOR = "16 eta K^2 eta_l^2 L^2 c in place of 16 K^2 eta_l^2 L^2 c in (22), as cfl.eq21 corrects it"
_MENDED_22 = (
    "K eta_l = eta / eta_g. The left side of (22) grows with each c_{p_B,i}, so that the largest in place of all of "
    "them decides. As printed it compares eta with its square: L = 10, c = eta_g = 1 and eta = 1/200, which the step "
    "size with 12 allows, make it 701/16500, more than 0."
)


def step_size(factor: Any) -> Fact:
    """eta <= (sqrt(3 eta_g^2 + 4 c eta_g^4) - sqrt(4 c eta_g^4)) / (factor L sqrt(c))."""
    return Fact(
        "step size",
        at_most(eta, (long_root - 2 * eta_g**2 * root_c) / (factor * L * root_c)),
        f"eta <= (sqrt(3 eta_g^2 + 4 c eta_g^4) - sqrt(4 c eta_g^4)) / ({factor} L sqrt(c)), c being the "
        "largest c_{p_B,i}.",
    )


def _solved(factor: sp.Expr) -> Obligation:
    """The step size without roots: (factor^2 / 3) (eta L)^2 c + (4 factor / 3) eta L c eta_g^2 <= eta_g^2."""
    square, line = factor**2 * eta**2 * L**2 / 3, 4 * factor * eta * L * eta_g**2 / 3
    return Obligation("without roots", at_most(c_B * (square + line), eta_g**2), ("step size", "root", "root of c"))


def _within() -> Obligation:
    """4 K^2 eta_l^2 L^2 c < 1 under either step size."""
    return Obligation("range", below(QUOTIENT, 1), ("small",))


def _small() -> Obligation:
    """12 (eta L)^2 c + 8 eta L c eta_g^2 <= eta_g^2, over 3 eta_g^2."""
    return Obligation(
        "small", at_most(QUOTIENT + sp.Rational(8, 3) * eta * L * c_B, sp.Rational(1, 3)), ("without roots",)
    )


def _progress(factor: Any, progress: Any) -> Statement:
    """LEFT <= -progress eta under the step size with this factor."""
    factor, progress = sp.sympify(factor), sp.sympify(progress)
    goal = at_most(LEFT, -progress * eta)
    return shown(
        f"Under the step size with the factor {factor} the left side of (22) is at most {sp.sstr(-progress * eta)}.",
        goal,
        _solved(factor),
        _small(),
        _within(),
        given=("without roots", "range"),
        under=(step_size(factor),),
        where=ROOTS,
    )


def _as_printed(words: str, factor: int, progress: int, mended: Statement) -> Part:
    """(22) as it is printed under this step size, and with the factor that it lost."""
    relation = at_most(PRINTED_LEFT, -progress * eta)
    return Part(
        "1", Statement(words, relation, (step_size(factor),), None, ROOTS), Repair("typo", _LOST_FACTOR, mended)
    )


def step6() -> Claim:
    """The step size of Theorems 4.1 and 4.4: (22) holds, but nothing is left for -eta (f - f*)."""
    first = _progress(6, 0)
    halved = _progress(12, 1)
    second = Part(
        "2",
        Statement(
            "The step size with the factor 6 leaves the progress -eta (f(w_t) - f*) of the display before (23), on "
            "which both theorems rest: the coefficient of f(w_t) - f* in (21) is at most -eta, which is the left side "
            "of (22) with 16 eta K^2 eta_l^2 L^2 c.",
            halved.relation,
            (step_size(6),),
            None,
            ROOTS,
        ),
        Repair(
            "needs-hypothesis",
            "steps of at most half that length: 12 K L sqrt(c) in place of 6 K L sqrt(c), as in App. B.4.2",
            halved,
        ),
    )
    return Claim(
        "cfl.step6",
        "Theorems 4.1, 4.4, B.5, B.6",
        "The step size with 6KL",
        (_as_printed("Under the step size with the factor 6 (22) holds.", 6, 0, first), second),
        (
            _MENDED_22,
            "At eta equal to the printed bound the corrected (22) is an equality: the coefficient of f(w_t) - f* in "
            "(21) is 0, and (23) is lost. It is the proof that loses it, not the method: for drifts that do not "
            "depend on w (c = 1) ours.cfl_round keeps -eta (f - f*) up to eta = 1/(10 L), 0.93 of the bound with 6.",
            "ours.cfl_step has the largest step that the corrected (22) allows.",
        ),
    )


def step12(factor: Any = 12) -> Claim:
    """The step size of App. B.4.2."""
    words = "Under the step size with the factor 12 the left side of (22) is at most -eta."
    return Claim(
        "cfl.step12",
        "App. B.4.2, after (22)",
        "The step size with 12L",
        (_as_printed(words, 12, 1, _progress(factor, 1)),),
        (
            _MENDED_22,
            "The largest step with that progress has 16 eta L c + 20 eta^2 L^2 c / eta_g^2 = 1 (ours.cfl_step); it is "
            "at most sqrt(12/5) = 1.549... times the printed one, nearly so for eta_g^2 c near 0, and 1.083 times at "
            "c = eta_g = 1.",
        ),
    )


def _five_quarters(bound: sp.Expr, name: str = "the statement follows") -> tuple[Obligation, ...]:
    """RATIO <= bound, for a bound of at least 5/4."""
    return (
        _solved(sp.Integer(12)),
        _small(),
        _within(),
        Obligation(name, at_most(RATIO, bound), ("without roots", "range")),
    )


def ratio_bound(bound: Any = _FIVE_QUARTERS) -> Claim:
    """1 - 4 K^2 eta_l^2 L^2 c from below, and the ratio from above."""
    lower = at_most((33 - 8 * eta_g**2 * c_B + 4 * long_root * root_c) / 36, 1 - QUOTIENT)
    first = shown(
        "1 - 4 K^2 eta_l^2 L^2 c >= (33 - 8 eta_g^2 c + 4 sqrt(3 eta_g^2 c + 4 eta_g^4 c^2)) / 36 under the step size "
        "with 12.",
        lower,
        given=("step size", "root", "root of c"),
        under=(step_size(12),),
        where=ROOTS,
    )
    bound = sp.sympify(bound)
    mended = Statement(
        "The ratio is at most 5/4 under the step size with 12.",
        at_most(RATIO, bound),
        (step_size(12),),
        Proof(_five_quarters(bound)),
        ROOTS,
    )
    second = Part(
        "2",
        Statement(
            "(1 + 4 eta L c) / (1 - 4 K^2 eta_l^2 L^2 c) <= 1/12 under the step size with 12.",
            at_most(RATIO, sp.Rational(1, 12)),
            (step_size(12),),
            None,
            ROOTS,
        ),
        Repair("typo", "5/4 in place of 1/12: the ratio is at least 1, being more than 1 over less than 1", mended),
    )
    return Claim(
        "cfl.ratio_bound",
        "App. B.4.2, after the step size",
        "The ratio in (21)",
        (Part("1", first), second),
        (
            "The left side of the first part falls, and the ratio grows, with c_{p_B,i}, so that the largest decides.",
            "5/4 cannot be lowered: at the printed step the ratio is 3 - 63 / (33 + 4 d) with d = sqrt(3 u + 4 u^2) - "
            "2 u and u = eta_g^2 c, which tends to 5/4 as u grows. Over 36, and up to factors of 4 in its second term, "
            "that is the expression printed between the ratio and 1/12.",
        ),
    )


def c1(drift: Any = 2) -> Claim:
    """c_1 collects the terms of (21) with eta^2."""
    printed = drift * c_G + sigma2 / (N * K) + 2 * rho2
    relation = at_most(2 * eta**2 * c_G + eta**2 * sigma2 / (N * K) + 2 * eta**2 * rho2, printed * eta**2)
    return Claim(
        "cfl.c1",
        "App. B.4.2, before (23)",
        "The constant c_1",
        (
            Part(
                "1",
                shown(
                    "The terms of (21) with eta^2 are at most c_1 eta^2, with c_1 = 2 c_pG + sigma^2/(NK) + 2 c_R.",
                    relation,
                ),
            ),
        ),
        (
            "The statement is about (21), from which c_1 is read off; it is an equality.",
            "The 2 of c_pG and c_R is the price of separating them by Lemma A.3: without information loss (13)-(15), "
            "where they are granted, give 1 in its place.",
            "It says nothing about the method: with this c_1 the display before (23) is false from the second round on "
            "(cfl.eq21, cfl.phi), and for FedAvg with one fixed client too, because w_t has moved along its drifts.",
        ),
    )


def c2(drift: Any = 5) -> Claim:
    """c_2 collects the terms of (21) with the ratio."""

    def relation(first: sp.Expr) -> Relation:
        constant = first * L / eta_g**2 * (c_G + rho2 + sigma2 / (2 * K))
        return at_most(2 * eta * L * RATIO * eta**2 / eta_g**2 * (2 * c_G + 2 * rho2 + sigma2 / K), constant * eta**3)

    drift = sp.sympify(drift)
    goal = relation(drift)
    scale = 4 * eta**3 * L / eta_g**2 * (c_G + rho2 + sigma2 / (2 * K))
    return Claim(
        "cfl.c2",
        "App. B.4.2, before (23)",
        "The constant c_2",
        (
            Part(
                "1",
                Statement(
                    "The terms of (21) with the ratio are at most c_2 eta^3, with c_2 = L c_pG / (3 eta_g^2) + L "
                    "sigma^2 / (6 eta_g^2 K) + L c_R / (3 eta_g^2), under the step size with 12.",
                    relation(sp.Rational(1, 3)),
                    (step_size(12),),
                    None,
                    ROOTS,
                ),
                Repair(
                    "typo",
                    "15 times as much: c_2 = 5 L c_pG / eta_g^2 + 5 L sigma^2 / (2 eta_g^2 K) + 5 L c_R / eta_g^2, by "
                    "the ratio 5/4 in place of 1/12",
                    shown(
                        "The same with 5 L c_pG / eta_g^2 + 5 L sigma^2 / (2 eta_g^2 K) + 5 L c_R / eta_g^2.",
                        goal,
                        *_five_quarters(_FIVE_QUARTERS, "ratio"),
                        given=("ratio", "range"),
                        certificate=scale * (slack("ratio") + (drift - 5) / 4),
                        under=(step_size(12),),
                        where=ROOTS,
                    ),
                ),
            ),
        ),
        (
            "(21) is taken with its factor eta (cfl.eq21), without which these terms would be no eta^3.",
            "With the ratio below 1 impossible, no c_2 below 12 times the printed one follows from (21).",
        ),
    )


CLAIMS = {
    "cfl.step6": step6,
    "cfl.step12": step12,
    "cfl.ratio_bound": ratio_bound,
    "cfl.c1": c1,
    "cfl.c2": c2,
}
