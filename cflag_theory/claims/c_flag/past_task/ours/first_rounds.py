"""The first rounds of a run: a bound on min ||grad f||^2 that assumes nothing about grad g but its value at x_0.

Over W rounds the model cannot get far: its memory steps descend f, and their squares sum up to at most a multiple of
f(x_0) - inf f. So ||grad g(x_t)|| stays comparable to ||grad g(x_0)|| + sqrt(W), which is enough where beta ~ 1/W.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.forgetting.average import ONE_ROUND, ROOT, w
from cflag_theory.claims.c_flag.past_task.ours.rates import (
    BELOW_ONE,
    DIMINISHING,
    EXACT_STEP,
    GROWN,
    INFIMUM,
    ROOT_BIAS,
    SMALL_STEP,
    SYMBOLS,
    F,
    each_round,
    reach_in_T,
)
from cflag_theory.claims.c_flag.past_task.runs import (
    T,
    in_the_mean,
    least,
    memory,
    reach,
    root_m,
    s,
    summed,
    t,
    telescoped,
    throughout,
)
from cflag_theory.claims.c_flag.vectors import ROUND
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack, square
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import (
    L,
    alpha,
    beta,
    bias,
    clients,
    components,
    delayed_sum,
    draw,
    draws,
    g,
    grad_current,
    grad_f,
    i,
    j,
    omega,
    sequence,
    symbol,
    unfold,
    x,
    x_next,
    x_t,
)
from cflag_theory.claims.engine.operators import Least, sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, below
from cflag_theory.claims.engine.steps import Induction, Obligation, Proof, Step
from cflag_theory.claims.engine.steps import Instance as At
from cflag_theory.claims.engine.terms import dot, norm, norm2

__all__ = ["F"]

W = symbol("W", "W", positive=True, integer=True)
size_g = sequence(
    "size_g", r"\sqrt{\mathbb{E}\|\nabla g(x_{@})\|^2}", lambda t: sp.sqrt(in_the_mean(norm2(grad_current), t))
)
f2 = sequence("f2_until", r"\sum_{s<@}\mathbb{E}\|\nabla f(x_s)\|^2", lambda t: summed(norm2(grad_f), t))
g2 = sequence("g2_until", r"\sum_{s<@}\mathbb{E}\|\nabla g(x_s)\|^2", lambda t: summed(norm2(grad_current), t))

#: What ||grad g||^2 may gain over ||grad g(x_0)||^2, and what part of the mean of ||grad g||^2 is due to the steps.
delta = symbol("delta_first", r"\delta", positive=True)
eta = symbol("eta_first", r"\eta", positive=True)
BELOW = Fact("eta", below(eta, 1), "0 < eta < 1 and delta > 0 are any numbers.")


def range_of(delta: sp.Expr, eta: sp.Expr) -> Relation:
    """(2/eta) (1 + 1/delta) (L W reach)^2 <= (1 - sqrt(m))^2."""
    return at_most(2 * (1 + 1 / delta) / eta * (L * W * reach()) ** 2, (1 - root_m) ** 2)


SIMPLE = sp.Rational(3, 5), sp.Rational(1, 3)
#: (4 L W reach)^2 <= (1 - sqrt m)^2.
RANGE = range_of(*SIMPLE)
_SECOND = sp.Rational(12, 5)


def _so_far() -> tuple[Step, ...]:
    """sum ||grad f||^2 <= 2 F/(alpha rho) + reach^2/(alpha rho)^2 sum ||grad g||^2 over the first t rounds, any t."""
    unit = alpha * (1 - root_m)
    return (
        *each_round(),
        *throughout("rounds so far", "each round", t),
        telescoped("telescoped", t),
        Obligation(
            "so far",
            at_most(f2(t), 2 * F / unit + reach() ** 2 / unit**2 * g2(t)),
            ("rounds so far", "telescoped", "inf f", "m"),
        ),
    )


_MOVED = x(draw, s + 1) - x(draw, s)


def _length_of_steps() -> tuple[Step, ...]:
    """The squared lengths of the first t steps, summed, by F and the sum of ||grad g||^2, as "steps by g"."""
    moved, rho = x(draw, t + 1) - x_t, slack("m")
    most = 2 * alpha**2 * (1 + root_m)
    one = at_most(norm2(moved), most * norm2(grad_f) + 2 * reach() ** 2 / (1 - root_m) * norm2(grad_current))
    by_g = 4 * alpha * (1 + root_m) * F / (1 - root_m) + 4 * reach() ** 2 / (1 - root_m) ** 2 * g2(t)
    return (
        rules.triangle("grad f_memory", memory, grad_f, bias),
        rules.norm_squared("||grad f_memory||^2", memory),
        Obligation("memory in norms", at_most(norm(memory), (1 + root_m) * norm(grad_f)), ("grad f_memory", "||b||")),
        Obligation(
            "memory squared", at_most(norm(memory) ** 2, (1 + root_m) ** 2 * norm(grad_f) ** 2), ("memory in norms",)
        ),
        Obligation(
            "memory",
            at_most(norm2(memory), (1 + root_m) ** 2 * norm2(grad_f)),
            ("memory squared", "||grad f_memory||^2", "||grad f||^2"),
        ),
        rules.square("across", (1 - root_m) * alpha * memory - (1 + root_m) * beta * delayed_sum),
        rules.rewrite("length", norm2(moved), given=ROUND),
        Obligation(
            "one step",
            at_most(norm2(x_next - x_t), one.right),
            ("memory", "across", "one round", "m"),
            slack("across") / (rho * (1 + root_m))
            + 2 * alpha**2 / (1 + root_m) * slack("memory")
            + 2 / rho * slack("one round"),
        ),
        Obligation("length of a step", one, ("length", "one step", "m"), slack("one step") - residual("length")),
        *throughout("steps", "length of a step", t),
        Obligation(
            "steps by g",
            at_most(summed(norm2(moved), t), by_g),
            ("steps", "so far", "m"),
            slack("steps") + most * slack("so far"),
        ),
    )


def _gradient_of_g(delta: sp.Expr) -> tuple[Step, ...]:
    """𝔼||grad g(x_t)||^2 <= (1 + delta) ||grad g(x_0)||^2 + (1 + 1/delta) L^2 t sum_{s<t} 𝔼||x_{s+1} - x_s||^2."""
    start, over = x(draw, 0), sum_over(s, t)
    far, path = x_t - start, sum_over(s, t)(_MOVED)
    entry = g[i, j].grad(x_t) - g[i, j].grad(start)
    change, before = clients(components(entry)), grad_current.xreplace({t: sp.S.Zero})
    length = over(norm2(_MOVED))
    return (
        rules.telescoping("path along x_t - x_0", s, t, dot(x(draw, s), far)),
        rules.telescoping("path along itself", s, t, dot(x(draw, s), path)),
        rules.jensen("path", over, _MOVED),
        Obligation("distance", at_most(norm2(far), t * length), ("path along x_t - x_0", "path along itself", "path")),
        rules.lipschitz("one component", g[i, j], x_t, start),
        rules.mean("components", components, given="one component"),
        rules.mean("every client", clients, given="components"),
        rules.norm_of_mean("one client's change", components, entry),
        rules.mean("clients' changes", clients, given="one client's change"),
        rules.norm_of_mean("change", clients, components(entry)),
        Obligation("Lipschitz", at_most(norm(change), L * norm(far)), ("every client", "clients' changes", "change")),
        rules.norm_squared("||change||^2", change),
        rules.norm_squared("||x_t - x_0||^2", far),
        Obligation("Lipschitz squared", at_most(norm(change) ** 2, L**2 * norm(far) ** 2), ("Lipschitz",)),
        rules.square("split", grad_current - (1 + delta) * before),
        Obligation(
            "||grad g|| by steps",
            at_most(norm2(grad_current), (1 + delta) * norm2(before) + (1 + 1 / delta) * L**2 * t * length),
            ("Lipschitz squared", "||change||^2", "||x_t - x_0||^2", "split", "distance"),
        ),
        rules.at("any draw", draw, omega, given="||grad g|| by steps"),
        rules.mean("in the mean", draws, given="any draw"),
        rules.exchange("order", draws, over, norm2(_MOVED.xreplace({draw: omega}))),
    )


def _gradients(delta: sp.Expr) -> Induction:
    """sum_{s<t} 𝔼||grad g(x_s)||^2 <= t (1 + delta) ||grad g(x_0)||^2 + (1 + 1/delta) L^2 (t^2/2) times the steps."""
    growth, moved, drawn = (1 + 1 / delta) * L**2, norm2(_MOVED), _MOVED.xreplace({draw: omega})
    hypothesis = "gradients (hypothesis)"

    length = sum_over(s, t)(in_the_mean(moved, s))
    goal = at_most(g2(t), t * (1 + delta) * size_g(0) ** 2 + growth * t**2 / 2 * length)
    return Induction(
        "gradients",
        t,
        goal,
        base=Obligation("gradients at 0", goal.subs({t: 0}), ()),
        step=(
            rules.last_term("one more", s, t, in_the_mean(norm2(grad_current), s)),
            rules.last_term("one more step", s, t, in_the_mean(moved, s)),
            rules.square("a step", drawn.xreplace({s: t}), draws),
            rules.square("steps before", drawn, draws, sum_over(s, t)),
            Obligation(
                "gradients from t to t + 1",
                goal.subs({t: t + 1}),
                (hypothesis, "in the mean", "order", "one more", "one more step", "a step", "steps before"),
                slack(hypothesis)
                + slack("in the mean")
                - growth * t * residual("order")
                - residual("one more")
                + growth / 2 * slack("steps before")
                + growth * (t + 1) ** 2 / 2 * (slack("a step") + residual("one more step")),
            ),
        ),
    )


def bound(first: Any = 3, second: Any = _SECOND) -> Relation:
    """Mean over the first W rounds <= first F/(alpha rho W) + second (reach ||grad g(x_0)|| / (alpha rho))^2."""
    unit = alpha * (1 - root_m)
    return at_most(f2(W) / W, first * F / (unit * W) + second * (reach() * size_g(0) / unit) ** 2)


def steps(delta: sp.Expr = SIMPLE[0], eta: sp.Expr = SIMPLE[1]) -> tuple[Step, ...]:
    """The bound as "first rounds", from "alpha", "m", "(27)", "inf f", "range", and "eta" where that is a symbol."""
    rho, r2, growth = slack("m"), square(reach()), (1 + 1 / delta) * L**2
    left = slack("eta") if eta.is_Symbol else 1 - eta
    by_start = W * (1 + delta) * size_g(0) ** 2 + 2 * growth * W**2 * alpha * (1 + root_m) * F / (1 - root_m)
    fits = eta * slack("range") / rho**2
    return (
        *_so_far(),
        *_length_of_steps(),
        *_gradient_of_g(delta),
        _gradients(delta),
        At("after W", "gradients", t, W),
        rules.at("W: steps", t, W, given="steps by g"),
        Obligation(
            "W: gradients",
            at_most((1 - eta) * g2(W), by_start),
            ("after W", "W: steps", "range", "m"),
            slack("after W") + growth * W**2 / 2 * slack("W: steps") + g2(W) * fits,
        ),
        rules.at("W: descent", t, W, given="so far"),
        Obligation(
            "first rounds",
            bound(2 / (1 - eta), (1 + delta) / (1 - eta)),
            ("W: descent", "W: gradients", "range", "m", *(["eta"] if eta.is_Symbol else [])),
            slack("W: descent") / W
            + r2 / (alpha * rho) ** 2 / (W * left) * slack("W: gradients")
            + F / (alpha * rho * W * left) * ((1 + root_m) * fits + rho * eta),
        ),
    )


#: How W is chosen for beta = c / sqrt(T).
WINDOW = (
    Fact(
        "W is small",
        at_most(4 * W * w * GROWN, 1 - root_m),
        "T is large, and W an integer with 4 W (e^{c L E} - 1) <= (1 - sqrt(m)) sqrt(T) ...",
    ),
    Fact("W is not small", at_most(1 - root_m, 8 * W * w * GROWN), "... <= 8 W (e^{c L E} - 1) ..."),
    Fact("W <= T", at_most(W, T), "... and W <= T; there is one for every large T."),
)


def _in_T(constant: Any) -> Part:
    """The least over the rounds in the constants of the problem alone, for beta = c / sqrt(T)."""
    rho, ratio = slack("m"), 1 + root_m**2
    by_f = 24 * L * ratio * GROWN * F / (1 - root_m) ** 2
    by_g = _SECOND * (ratio * GROWN * size_g(0) / (1 - root_m)) ** 2
    goal = at_most(least, constant * (by_f * w + by_g / T))
    apart, reached, grown = residual("step") * ratio / alpha, slack("reach"), slack("grown")
    certificate = (
        slack("least")
        + slack("first rounds")
        + 3 * F / (alpha * rho**2 * W) * slack("W is not small")
        + 24 * F * w * GROWN * L * apart / rho**2
        + _SECOND
        * (size_g(0) / rho) ** 2
        * (
            ratio**2 * (reached * (2 * grown + reached) - GROWN**2 * residual("1/sqrt(T)") / T)
            + grown**2 * apart * (1 / (L * alpha) + ratio)
        )
    )
    proof: tuple[Step, ...] = (
        Obligation("alpha", at_most(L * alpha, 1), ("step",)),
        *reach_in_T(),
        Obligation(
            "range",
            RANGE,
            ("W is small", "reach", "grown", "m"),
            (slack("W is small") + 4 * W * reached) * (rho + 4 * W * grown),
        ),
        *steps(),
        rules.fewer("fewer", unfold(least), W, given="W <= T"),
        rules.minimum("least of the first", Least(s, W, unfold(least).body)),
        Obligation("least", at_most(least, f2(W) / W), ("fewer", "least of the first")),
        Obligation(
            "the statement follows",
            goal,
            ("least", "first rounds", "W is not small", "step", "reach", "grown", "1/sqrt(T)", "m"),
            certificate,
        ),
    )
    words = (
        "Along every run with one memory, m < 1 in (27), alpha = 1/(L (1 + m)), beta <= c/sqrt(T) and f bounded below: "
        "min_{t<T} ||grad f(x_t)||^2 <= 24 L (1 + m) (e^{c L E} - 1) (f(x_0) - inf f)/((1 - sqrt(m))^2 sqrt(T)) + "
        "(12/5) ((1 + m) (e^{c L E} - 1) ||grad g(x_0)||/(1 - sqrt(m)))^2/T, for every large T."
    )
    known = (EXACT_STEP, DIMINISHING, ROOT, ONE_ROUND, BELOW_ONE, ROOT_BIAS, INFIMUM, *WINDOW)
    return Part("in T", Statement(words, goal, known, Proof(proof)))


_EVERY_RUN = "for the first W rounds of every run whose memory satisfies (27) with m < 1"
_KNOWN = (SMALL_STEP, BELOW_ONE, ROOT_BIAS, INFIMUM)


def _shown(words: str, goal: Relation, known: tuple[Fact, ...], *of: sp.Expr) -> Statement:
    (*before, last) = steps(*of)
    assert isinstance(last, Obligation)
    ending = Obligation("the statement follows", goal, last.given, last.certificate)
    return Statement(words, goal, (*_KNOWN, *known), Proof((*before, ending)))


def first_rounds(first: Any = 3, second: Any = _SECOND, share: Any = 1, in_T: Any = 1) -> Claim:
    """No Assumption 3, no bound on grad g along the run; `share` and `in_T` scale the bounds of the other parts."""
    small = Fact("range", RANGE, "4 W ((1 + beta L)^E - 1) <= 1 - sqrt(m): W of the order 1/(beta L E).")
    simple = _shown(
        "(1/W) sum_{t<W} 𝔼||grad f(x_t)||^2 <= 3 (f(x_0) - inf f) / (alpha (1 - sqrt(m)) W) + (12/5) [((1 + beta L)^E "
        f"- 1) ||grad g(x_0)|| / (L alpha (1 - sqrt(m)))]^2 {_EVERY_RUN}.",
        bound(first, second),
        (small,),
    )
    fits = Fact(
        "range",
        range_of(delta, eta),
        "(2/eta) (1 + 1/delta) W^2 ((1 + beta L)^E - 1)^2 <= (1 - sqrt(m))^2.",
    )
    general = bound(2 / (1 - eta), (1 + delta) / (1 - eta))
    sharp = _shown(
        "For any delta > 0 and 0 < eta < 1, with the constants 2/(1 - eta) and (1 + delta)/(1 - eta) in place of 3 "
        f"and 12/5, {_EVERY_RUN}.",
        at_most(general.left, share * general.right),
        (BELOW, fits),
        delta,
        eta,
    )
    return Claim(
        "ours.first_rounds",
        "for Theorem 5",
        "min ||grad f||^2 = O(1/sqrt(T)) with one memory, m < 1, and nothing assumed on grad g",
        (_in_T(in_T), Part("1", simple), Part("constants", sharp)),
        (
            SYMBOLS,
            "With beta = c/sqrt(T) the range allows W of the order sqrt(T), so min_t 𝔼||grad f(x_t)||^2 = "
            "O(1/sqrt(T)): the rate of Theorem 5, for m < 1, without Assumption 3 and for a memory that is drawn once.",
            "f is bounded below; g need not be, and ||grad g(x_t)|| may grow without bound after the first W rounds.",
            "Part 1 is part constants with delta = 3/5 and eta = 1/3. As delta and eta tend to 0 the constants tend to "
            "2 and 1, which are the least possible: one step of gradient descent on f = x^2/2 with alpha = 1/L and "
            "hardly any g needs the 2, and a run at rest that is long needs the 1 (ours.drawn_once). Which "
            "constants are best for the range of part 1 is open.",
        ),
    )


CLAIMS = {"ours.first_rounds": first_rounds}
