"""Descent on the past task: Lemma 1, and the factor of Theorem 2."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.problem.memory import LEMMA9
from cflag_theory.claims.c_flag.vectors import ROUND_SUM, delayed, ell
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Sharp, Statement, shown
from cflag_theory.claims.engine.notation import (
    E,
    L,
    alpha,
    beta,
    bias,
    bias2,
    bias_dot_sum,
    clients,
    delayed_sum,
    f,
    f_after,
    f_before,
    grad_current,
    grad_dot_bias,
    grad_dot_sum,
    grad_f,
    grad_f2,
    i,
    m,
    sum2,
    symbol,
    x_next,
    x_t,
)
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, deduced
from cflag_theory.claims.engine.terms import dot, norm2

# The same Gram entries for the sum that starts at k = 1, as (9) and (10) print it: at k = 0 the gradient is full.
_late = delayed_sum - grad_current
late_sum2 = symbol("late_sum2", r"{\|S_1\|^2}", norm2(_late))
late_bias_dot_sum = symbol("late_bias_dot_sum", r"\langle b,S_1\rangle", dot(bias, _late))
late_grad_dot_sum = symbol("late_grad_dot_sum", r"\langle\nabla f,S_1\rangle", dot(grad_f, _late))
_step = x_next - x_t
inner = symbol("grad_dot_step", r"\langle\nabla f(x_t),x_{t+1}-x_t\rangle", dot(grad_f, _step))
step2 = symbol("step2", r"{\|x_{t+1}-x_t\|^2}", norm2(_step))

STEP_SIZE = Fact("alpha", below(alpha, 2 / (L * (1 + m))), "alpha < 2 / (L (1 + m)).")
BIAS = Fact("(27)", at_most(bias2, m * grad_f2), "||b(x_t)||^2 <= m ||grad f(x_t)||^2, (27).", sources=(LEMMA9,))


def factor(step: sp.Expr = alpha) -> sp.Expr:
    """1 / (alpha [1 - (L/2) alpha (1 + m)])."""
    return 1 / (step * (1 - L * step * (1 + m) / 2))


def overfitting(bias_sum: sp.Expr = bias_dot_sum) -> sp.Expr:
    """B(t) of (34)."""
    return (L * alpha**2 - alpha) * grad_dot_bias + beta * bias_sum


def forgetting(norm2: sp.Expr, grad_sum: sp.Expr, bias_sum: sp.Expr, lead: sp.Expr) -> sp.Expr:
    """Gamma(t) of (10) or (35): lead * beta^2 ||S||^2 - beta (1 - L alpha) <grad_f_memory, S>."""
    return lead * beta**2 * norm2 - beta * (1 - L * alpha) * (grad_sum + bias_sum)


def bound(lead: sp.Expr) -> Relation:
    """(8) with sums from k = 0 and the given coefficient of beta^2 ||S||^2."""
    Gamma = forgetting(sum2, grad_dot_sum, bias_dot_sum, lead)
    return at_most(grad_f2, factor() * (f_before - f_after + overfitting() + Gamma))


def _late_terms(lead: sp.Expr) -> sp.Expr:
    """B(t) + Gamma(t) with sums from k = 1."""
    return overfitting(late_bias_dot_sum) + forgetting(late_sum2, late_grad_dot_sum, late_bias_dot_sum, lead)


_SMOOTH = rules.smooth("(36)", f, x_t, x_next)


def _proof(lead: sp.Expr) -> Proof:
    return deduced(bound(lead), _SMOOTH, given=("alpha", "(27)", "(36)"))


def _lemma(id: str, where: str, title: str, lead: sp.Expr, notes: tuple[str, ...]) -> Claim:
    """Lemma 1 with sums from k = 1, and m left without a property, as both printings have it."""
    printed_lead = "L" if lead == L else "(L/2)"
    words = (
        "||grad f(x_t)||^2 <= (f(x_t) - f(x_{t+1}) + B(t) + Gamma(t)) / (alpha [1 - (L/2) alpha (1 + m)]), with "
        f"sums over k = 1, ..., E - 1 in B(t) and Gamma(t), and {printed_lead} beta^2 in Gamma(t)."
    )
    printed = at_most(grad_f2, factor() * (f_before - f_after + _late_terms(lead)))
    known = (STEP_SIZE, BIAS)
    less = "; L/2 in place of L is enough, as in (35)" if lead == L else ""
    mended = Statement(
        f"The same with sums over k = 0, ..., E - 1, as in (15){less}.",
        bound(lead),
        known,
        _proof(lead),
    )
    sharpened = Statement("The same with (L/2) beta^2 ||S||^2.", bound(L / 2), known, _proof(L / 2))
    first = Part(
        "1",
        Statement(words + " Here m is the constant of (27).", printed, known),
        Repair("typo", "start both sums at k = 0, as (15) and the proof do", mended),
        Sharp("the coefficient of beta^2 ||S||^2 in Gamma(t)", lead, L / 2, sharpened) if lead != L / 2 else None,
    )
    second = Part(
        "2",
        Statement(words + " Under Assumptions 1 and 2 alone, for any m >= 0.", printed, (STEP_SIZE,)),
        Repair(
            "needs-hypothesis",
            "both sums from k = 0, and m must satisfy (27), ||b(x)||^2 <= m ||grad f(x)||^2; Assumption 2 bounds each "
            "client's bias by its own gradient, and these can cancel in grad f",
            mended,
        ),
    )
    return Claim(id, where, title, (first, second), notes)


_ATTAINED = (
    "With L/2 the bound is attained: f = (L/2) ||x||^2 and ||b||^2 = m ||grad f||^2 make every step of the proof an "
    "equality."
)


def lemma1() -> Claim:
    """Lemma 1 as the main text prints it: sums from k = 1, L beta^2, and m left without a property."""
    notes = (
        f"Smoothness is used between x_t and x_{{t+1}} only: {rules.RULES['smoothness'].words}",
        _ATTAINED,
    )
    return _lemma("cflag.lemma1", "(8)-(10)", "Lemma 1 of the main text", L, notes)


def lemma1_supp(lead: Any = L / 2) -> Claim:
    """Lemma 1 as the supplement prints it: (L/2) beta^2 is right there, sums still start at k = 1."""
    notes = (
        "(57)-(58) in the proof define B(t) and Gamma(t) with the same sums; the algebra before them has sums from k = "
        "0.",
        "Without the step k = 0 the printed sums are empty for E = 1, while the model still moves by -beta grad "
        "g(x_t).",
        _ATTAINED,
    )
    return _lemma("cflag.lemma1_supp", "(33)-(35)", "Lemma 1 of the supplement", lead, notes)


#: Lambda_t of Sec. 5, and <grad f_memory, S>.
_memory = grad_f + bias
Lambda = symbol("Lambda", r"\Lambda_t", clients(dot(_memory, sum_over(ell, E)(delayed(ell, i)))))
memory_dot_sum = symbol("memory_dot_sum", r"\langle\nabla f^\dagger,S\rangle", dot(_memory, delayed_sum))


def eq15(lead: Any = L / 2) -> Claim:
    """(15) is what the step contributes to the descent of f besides grad f and the bias."""
    Gamma = lead * beta**2 * sum2 - beta * (1 - L * alpha) * Lambda
    rest = -alpha * (1 - L * alpha / 2) * grad_f2 + L * alpha**2 / 2 * bias2 + overfitting()
    relation = equal(inner + L / 2 * step2, rest + Gamma)
    printed = shown(
        "Gamma(t) of (15), (L/2) beta^2 ||S||^2 - beta (1 - L alpha) Lambda_t with sums from k = 0, is the forgetting "
        "term of the descent of f: <grad f, x_{t+1} - x_t> + (L/2) ||x_{t+1} - x_t||^2 = -alpha (1 - L alpha/2) ||grad "
        "f||^2 + (L/2) alpha^2 ||b||^2 + B(t) + Gamma(t).",
        relation,
        rules.along("S along grad f_memory", _memory, given=ROUND_SUM),
        rules.exchange("Lambda", clients, sum_over(ell, E), dot(_memory, delayed(ell, i))),
        given=("S along grad f_memory", "Lambda"),
    )
    return Claim(
        "cflag.eq15",
        "(15)",
        "Forgetting term of Sec. 5",
        (Part("1", printed),),
        (
            "Sec. 5 introduces (15) as (10), which it is not: (10) prints L beta^2 and sums from k = 1. (15) is right, "
            "and the fault is counted with (8)-(10).",
            "The claims about signs in the text after (15) are rows of their own.",
        ),
    )


def eq56(constant: Any = 1) -> Claim:
    """The algebra from smoothness to (56), line by line."""
    display = (
        -alpha * grad_f2
        - alpha * grad_dot_bias
        - beta * (grad_dot_sum + bias_dot_sum)
        + beta * bias_dot_sum
        + L / 2 * alpha**2 * (grad_f2 + bias2)
        + L * alpha**2 * grad_dot_bias
        + L / 2 * beta**2 * sum2
        + L * alpha * beta * (grad_dot_sum + bias_dot_sum)
    )
    expanded = Obligation("the display before (55)", at_most(f_after - f_before, display), ("(36)",))
    shrunk = -alpha * (1 - L / 2 * alpha * (1 + constant * m)) * grad_f2
    terms = overfitting() + forgetting(sum2, grad_dot_sum, bias_dot_sum, L / 2)
    collected = at_most(f_after - f_before, shrunk + terms)
    first = Statement(
        "(36)-(54): f(x_{t+1}) - f(x_t) is at most the display before (55), in which A is (39), (43), (46) and the "
        "square is (49), (53), (54).",
        expanded.goal,
        proof=Proof((_SMOOTH, expanded)),
    )
    follows = Obligation("the statement follows", collected, ("the display before (55)", "(27)"))
    second = Part(
        "2",
        Statement(
            "(55)-(56): f(x_{t+1}) - f(x_t) <= -alpha [1 - (L/2) alpha (1 + m)] ||grad f||^2 + B(t) + Gamma(t), with "
            "the B(t) of (57) and the Gamma(t) of (58), whose sums begin at k = 1.",
            at_most(f_after - f_before, shrunk + _late_terms(L / 2)),
            (BIAS,),
        ),
        Repair(
            "typo",
            "start the sums of (57) and (58) at k = 0, as the display that (55) collects",
            Statement("The same with sums from k = 0.", collected, (BIAS,), Proof((_SMOOTH, expanded, follows))),
        ),
    )
    return Claim(
        "cflag.eq56",
        "(36)-(58)",
        "The algebra of Lemma 1's proof",
        (Part("1", first), second),
        (
            "(55) uses (27) of Lemma 9, a claim of its own. (56) is an equality for f = (L/2) ||x||^2 and ||b||^2 = m "
            "||grad f||^2.",
            "f is used as L-smooth between x_t and x_{t+1}; no range of alpha is needed before (59) divides.",
        ),
    )


def eq65(constant: Any = 2) -> Claim:
    """The factor of Theorem 2: Lemma 1's at alpha = 1 / (L (1 + m))."""
    step = 1 / (L * (1 + m))
    at = Fact("alpha", equal(alpha, step), "alpha = 1 / (L (1 + m)).")
    relation = equal(factor(), constant * L * (1 + m))
    printed = shown(
        "1 / (alpha [1 - (L/2) alpha (1 + m)]) = 2 L (1 + m) at alpha = 1 / (L (1 + m)).",
        relation,
        Obligation("range", below(alpha, 2 * step), ("alpha",)),
        given=("alpha", "range"),
        under=(at,),
    )
    return Claim(
        "cflag.eq65",
        "(65)",
        "The factor 2 L (1 + m) of Theorem 2",
        (Part("1", printed),),
        (
            "The factor is smallest at this alpha over the whole range of Lemma 1, since alpha (1 - c alpha / 2) <= 1 "
            "/ (2 c) with c = L (1 + m).",
            "Step (a) of (64), which drops 𝔼_M[B(t)], is cflag.overfitting_mean.",
        ),
    )


CLAIMS = {
    "cflag.lemma1": lemma1,
    "cflag.lemma1_supp": lemma1_supp,
    "cflag.eq15": eq15,
    "cflag.eq56": eq56,
    "cflag.eq65": eq65,
}
