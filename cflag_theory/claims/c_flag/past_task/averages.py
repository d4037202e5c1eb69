"""(60)-(63): Lemma 1 in the mean over the memories, and over the rounds."""

from __future__ import annotations

from typing import Any

from cflag_theory.claims.c_flag.past_task.descent import STEP_SIZE, bound, factor, forgetting, overfitting
from cflag_theory.claims.c_flag.past_task.runs import T, f_mean, grad_f2_sum, in_the_mean, least, s, smallest
from cflag_theory.claims.c_flag.vectors import ROUND
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Source, Statement, shown
from cflag_theory.claims.engine.notation import (
    L,
    alpha,
    bias_dot_sum,
    draw,
    draws,
    f,
    grad_dot_sum,
    grad_f,
    m,
    omega,
    sequence,
    sum2,
    symbol,
    t,
    unfold,
    x,
)
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import at_most
from cflag_theory.claims.engine.steps import Obligation
from cflag_theory.claims.engine.terms import norm2

_terms = unfold(overfitting() + forgetting(sum2, grad_dot_sum, bias_dot_sum, L / 2))
grad_f2_mean = sequence("grad_f2_mean", r"\mathbb{E}\|\nabla f(x_{@})\|^2", lambda t: in_the_mean(norm2(grad_f), t))
terms_mean = sequence("terms_mean", r"\mathbb{E}[B(@)+\Gamma(@)]", lambda t: in_the_mean(_terms, t))
terms_sum = symbol("terms_sum", r"\sum_t\mathbb{E}[B(t)+\Gamma(t)]", sum_over(s, T)(in_the_mean(_terms, s)))
#: f(x_t) along the run with one draw of the memory, and what it loses in all rounds.
f_at = sequence("f_at", "f(x_{@})", lambda t: f(x(draw, t)))
lost = symbol("lost", r"\sum_t(f(x_t)-f(x_{t+1}))", sum_over(s, T)(f(x(draw, s)) - f(x(draw, s + 1))))
lost_mean = symbol(
    "lost_mean",
    r"\sum_t\mathbb{E}[f(x_t)-f(x_{t+1})]",
    sum_over(s, T)(draws(f(x(omega, s)) - f(x(omega, s + 1)))),
)

LEMMA1 = Fact(
    "(59)",
    bound(L / 2),
    "(59) in every round and for every draw, with sums from k = 0.",
    (draw, t),
    (Source("cflag.lemma1_supp", on="repair", besides=("(27)",)),),
)
IN_ALL = Fact(
    "(60)",
    at_most(grad_f2_sum, factor() * (lost_mean + terms_sum)),
    "(60) in every round, summed.",
    sources=(Source("cflag.eq63", "60", at=((t, s),), over=(sum_over(s, T),), besides=("(59)",)),),
)


def _eq60() -> Part:
    after = f(x(draw, t + 1))
    right = factor() * (f_mean(t) - f_mean(t + 1) + terms_mean(t))
    # Without a division, of which a mean would make as many as there are terms.
    every = at_most(alpha * (1 - L * alpha * (1 + m) / 2) * norm2(grad_f), f(x(draw, t)) - after + _terms)
    return Part(
        "60",
        shown(
            "(60): 𝔼_M[||grad f(x_t)||^2] is at most the mean over the memories of the right side of (59).",
            at_most(grad_f2_mean(t), right),
            rules.rewrite("next point", after, given=ROUND),
            Obligation("at x_{t+1}", every, ("(59)", "next point", "alpha")),
            rules.at("any draw", draw, omega, given="at x_{t+1}"),
            rules.mean("mean", draws, given="any draw"),
            given=("mean", "alpha"),
            under=(STEP_SIZE, LEMMA1),
        ),
    )


def _eq61(constant: Any) -> Part:
    return Part(
        "61",
        shown(
            "(61): min_t 𝔼_M[||grad f(x_t)||^2] is at most its mean over the rounds.",
            at_most(least, constant * grad_f2_sum / T),
            smallest(),
            given=("least",),
        ),
    )


def _eq62() -> Part:
    left = grad_f2_sum / T
    mended = shown(
        "The same with 𝔼_M[f(x_t) - f(x_{t+1})].",
        at_most(left, factor() * (lost_mean + terms_sum) / T),
        given=("(60)", "alpha"),
        under=(STEP_SIZE, IN_ALL),
    )
    return Part(
        "62",
        Statement(
            "(61) <= (62): the mean over the rounds of 𝔼_M[||grad f(x_t)||^2] is at most that of the right side of "
            "(60), with f(x_t) - f(x_{t+1}) of the run itself, for every draw of the memory.",
            at_most(left, factor() * (lost + terms_sum) / T),
            (STEP_SIZE, IN_ALL),
        ),
        Repair("typo", "take the expectation of f(x_t) - f(x_{t+1}), as (60) does", mended),
    )


def _eq63() -> Part:
    return Part(
        "63",
        shown(
            "(62) <= (63): the values of f between the rounds cancel.",
            at_most(factor() * (lost + terms_sum) / T, factor() * (f_at(0) - f_at(T) + terms_sum) / T),
            rules.telescoping("telescoped", s, T, f(x(draw, s))),
            given=("telescoped", "alpha"),
            under=(STEP_SIZE,),
        ),
    )


def eq63(constant: Any = 1) -> Claim:
    """(60) to (63), line by line."""
    return Claim(
        "cflag.eq63",
        "(60)-(63)",
        "The means in the proof of Theorem 2",
        (_eq60(), _eq61(constant), _eq62(), _eq63()),
        (
            "(59) is taken with the sums from k = 0, with which it is true: cflag.lemma1_supp.",
            "(62) compares an expectation with the values of one run; the same expectation is missing in F of Theorem "
            "2, which cflag.thm2 reads as 𝔼_M[f(x_0) - f(x_T)]. (63) is (62), with equality, with the expectation or "
            "without.",
            "Step (a) of (64), which drops 𝔼_M[B(t)], is cflag.overfitting_mean.",
        ),
    )


CLAIMS = {"cflag.eq63": eq63}
