"""The first rounds of a run: a bound on min ||grad f||^2 that assumes nothing about grad g but its value at x_0.

Over W rounds the model cannot get far: its memory steps descend f, and their squares sum up to at most a multiple of
f(x_0) - inf f. So ||grad g(x_t)|| stays comparable to ||grad g(x_0)|| + sqrt(W), which is enough where beta ~ 1/W.
"""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.past_task.ours.rates import BELOW_ONE, ROOT_BIAS, SMALL_STEP, each_round
from cflag_theory.claims.c_flag.past_task.runs import (
    f_mean,
    in_the_mean,
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
    x,
    x_next,
    x_t,
)
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import Relation, at_most
from cflag_theory.claims.engine.steps import Induction, Obligation, Proof, Step
from cflag_theory.claims.engine.steps import Instance as At
from cflag_theory.claims.engine.terms import dot, norm, norm2

W = symbol("W", "W", positive=True, integer=True)
F = symbol("F", r"(f(x_0)-\inf f)", nonnegative=True)
size_g = sequence(
    "size_g", r"\sqrt{\mathbf{E}\|\nabla g(x_{@})\|^2}", lambda t: sp.sqrt(in_the_mean(norm2(grad_current), t))
)
f2 = sequence("f2_until", r"\sum_{s<@}\mathbf{E}\|\nabla f(x_s)\|^2", lambda t: summed(norm2(grad_f), t))
g2 = sequence("g2_until", r"\sum_{s<@}\mathbf{E}\|\nabla g(x_s)\|^2", lambda t: summed(norm2(grad_current), t))

INFIMUM = Fact("inf f", at_most(f_mean(0) - f_mean(t), F), "f is bounded below, F = f(x_0) - inf f.", forall=(t,))
FIRST = Fact("t", at_most(t, W), "t is one of the first W rounds.")
#: (4 L W sqrt(1 + m) reach)^2 <= (1 - sqrt(m))^2.
RANGE = at_most(16 * L**2 * W**2 * (1 + root_m**2) * reach() ** 2, (1 - root_m) ** 2)


def _growth_of_g() -> sp.Expr:
    """Half of the bound on ||grad g(x_t)||^2 in the first W rounds."""
    return 2 * size_g(0) ** 2 + 8 * L**2 * W * alpha * (1 + root_m) ** 2 * F / (1 - root_m)


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
    moved, most = x(draw, t + 1) - x_t, 2 * alpha**2 * (1 + root_m) ** 2
    one = at_most(norm2(moved), most * norm2(grad_f) + 2 * reach() ** 2 * norm2(grad_current))
    by_g = 4 * alpha * (1 + root_m) ** 2 * F / (1 - root_m) + 4 * (1 + root_m**2) * reach() ** 2 / (
        1 - root_m
    ) ** 2 * g2(t)
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
        rules.square("across", alpha * memory - beta * delayed_sum),
        rules.rewrite("length", norm2(moved), given=ROUND),
        Obligation("one step", at_most(norm2(x_next - x_t), one.right), ("memory", "across", "one round")),
        Obligation("length of a step", one, ("length", "one step")),
        *throughout("steps", "length of a step", t),
        Obligation(
            "steps by g",
            at_most(summed(norm2(moved), t), by_g),
            ("steps", "so far", "m"),
            slack("steps") + most * slack("so far"),
        ),
    )


def _gradient_of_g() -> tuple[Step, ...]:
    """E||grad g(x_t)||^2 <= 2 ||grad g(x_0)||^2 + 2 L^2 t times the sum of the steps' squared lengths."""
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
        rules.square("split", grad_current - 2 * before),
        Obligation(
            "||grad g|| by steps",
            at_most(norm2(grad_current), 2 * norm2(before) + 2 * L**2 * t * length),
            ("Lipschitz squared", "||change||^2", "||x_t - x_0||^2", "split", "distance"),
        ),
        rules.at("any draw", draw, omega, given="||grad g|| by steps"),
        rules.mean("in the mean", draws, given="any draw"),
        rules.exchange("order", draws, over, norm2(_MOVED.xreplace({draw: omega}))),
    )


def _gradients() -> Induction:
    """sum_{s<t} ||grad g(x_s)||^2 <= 2 t P for t <= W."""
    P, rho, r2 = _growth_of_g(), slack("m"), square(reach())
    twice_P = 2 * P
    hypothesis = "gradients (hypothesis)"
    within = "gradients (range)"
    more = 4 * (1 + root_m**2)

    def goal(index: sp.Expr) -> Relation:
        return at_most(g2(index), index * twice_P)

    by_sums = Obligation(
        "by sums",
        at_most(size_g(t) ** 2, P + 2 * L**2 * W * more * reach() ** 2 / (1 - root_m) ** 2 * g2(t)),
        ("in the mean", "order", "steps by g", within, "m"),
        slack("in the mean")
        - 2 * L**2 * t * residual("order")
        + 2 * L**2 * t * slack("steps by g")
        + 2 * L**2 * (slack(within) + 1) * (4 * alpha * (1 + root_m) ** 2 * F / rho + more * r2 / rho**2 * g2(t)),
    )
    # 1 minus 16 L^2 W^2 (1 + m) reach^2 / rho^2, times P; t <= W.
    twice = Obligation(
        "at most twice",
        at_most(size_g(t) ** 2, 2 * P),
        ("by sums", hypothesis, within, "range", "m"),
        slack("by sums")
        + 2 * L**2 * W * more * r2 / rho**2 * (slack(hypothesis) + 2 * (slack(within) + 1) * _positive(P))
        + _positive(P) * slack("range") / rho**2,
    )
    return Induction(
        "gradients",
        t,
        goal(t),
        base=Obligation("gradients at 0", goal(sp.S.Zero), ()),
        step=(
            by_sums,
            twice,
            rules.last_term("one more", s, t, in_the_mean(norm2(grad_current), s)),
            Obligation(
                "gradients from t to t + 1",
                goal(t + 1),
                (hypothesis, "at most twice", "one more", "m"),
                slack(hypothesis) + slack("at most twice") - residual("one more"),
            ),
        ),
        within="t",
    )


def _positive(P: sp.Expr) -> sp.Expr:
    """P with 1 - sqrt(m) as the positive number that it is."""
    return P.xreplace({1 - root_m: slack("m")})


def bound(first: Any = 4, second: Any = 4) -> Relation:
    """Mean over the first W rounds <= first F/(alpha rho W) + second (reach ||grad g(x_0)|| / (alpha rho))^2."""
    unit = alpha * (1 - root_m)
    return at_most(f2(W) / W, first * F / (unit * W) + second * (reach() * size_g(0) / unit) ** 2)


def steps() -> tuple[Step, ...]:
    """The bound as "first rounds", from the facts "alpha", "m", "(27)", "t" and "range"."""
    rho, r2 = slack("m"), square(reach())
    certificate = (
        slack("W: descent") / W
        + r2 / (alpha * rho) ** 2 / W * slack("after W")
        + F / (alpha * rho**3 * W) * (2 * slack("range") + 16 * L**2 * W**2 * rho**2 * r2)
    )
    return (
        *_so_far(),
        *_length_of_steps(),
        *_gradient_of_g(),
        _gradients(),
        Obligation("W", at_most(W, W), ()),
        At("after W", "gradients", t, W, within="W"),
        rules.at("W: descent", t, W, given="so far"),
        Obligation("first rounds", bound(), ("W: descent", "after W", "range", "m"), certificate),
    )


def first_rounds(first: Any = 4, second: Any = 4) -> Claim:
    """No Assumption 3, no bound on grad g along the run."""
    goal = bound(first, second)
    (*before, last) = steps()
    assert isinstance(last, Obligation)
    ending = Obligation("the statement follows", goal, last.given, last.certificate)
    small = Fact(
        "range", RANGE, "4 L W sqrt(1 + m) ((1 + beta L)^E - 1)/L <= 1 - sqrt(m): W of the order 1/(beta L E)."
    )
    statement = Statement(
        "(1/W) sum_{t<W} E||grad f(x_t)||^2 <= 4 (f(x_0) - inf f) / (alpha (1 - sqrt(m)) W) + 4 [((1 + beta L)^E - 1) "
        "||grad g(x_0)|| / (L alpha (1 - sqrt(m)))]^2 for the first W rounds of every run whose memory satisfies (27) "
        "with m < 1.",
        goal,
        (SMALL_STEP, BELOW_ONE, ROOT_BIAS, INFIMUM, FIRST, small),
        Proof((*before, ending)),
    )
    return Claim(
        "ours.first_rounds",
        "for Theorem 5",
        "min ||grad f||^2 = O(1/sqrt(T)) with one memory, m < 1, and nothing assumed on grad g",
        (Part("1", statement),),
        (
            "With beta = c/sqrt(T) the range allows W of the order sqrt(T), so min_t E||grad f(x_t)||^2 = "
            "O(1/sqrt(T)): the rate of Theorem 5, for m < 1, without Assumption 3 and for a memory that is drawn once.",
            "f is bounded below; g need not be, and ||grad g(x_t)|| may grow without bound after the first W rounds.",
        ),
    )


CLAIMS = {"ours.first_rounds": first_rounds}
