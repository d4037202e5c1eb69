"""The first rounds of a run: a bound on min ||grad f||^2 that assumes nothing about grad g but its value at x_0.

Over W rounds the model cannot get far: its memory steps descend f, and their squares sum up to at most a multiple of
f(x_0) - inf f. So ||grad g(x_t)|| stays comparable to ||grad g(x_0)|| + sqrt(W), which is enough where beta ~ 1/W.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.local_steps.drift import START
from cflag_theory.claims.c_flag.past_task.ours.rates import BELOW_ONE, SMALL_STEP
from cflag_theory.claims.c_flag.past_task.runs import (
    SUMS,
    f_mean,
    inner_sum,
    reach,
    root_m,
    step2_sum,
    sum_bound,
    t,
    telescoped,
)
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack, square
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import L, alpha, beta, sequence, symbol
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Induction, Obligation, Proof, RuleUse, Step
from cflag_theory.claims.engine.steps import Instance as At

W = symbol("W", "W", positive=True, integer=True)
F = symbol("F", r"(f(x_0)-\inf f)", nonnegative=True)
size_g = sequence("size_g", r"\sqrt{\mathbf{E}\|\nabla g(x_{@})\|^2}", nonnegative=True)
far = sequence("far", r"\sqrt{\mathbf{E}\|x_{@}-x_0\|^2}", nonnegative=True)


def _sum(name: str, inside: str, *, signed: bool = False) -> Any:
    latex = rf"\sum_{{s<@}}\mathbf{{E}}{inside}"
    return sequence(name, latex, real=True) if signed else sequence(name, latex, nonnegative=True)


f2 = _sum("f2_until", r"\|\nabla f(x_s)\|^2")
u2 = _sum("u2_until", r"\|u\|^2")
S2 = _sum("S2_until", r"\|S\|^2")
g2 = _sum("g2_until", r"\|\nabla g(x_s)\|^2")
fu = _sum("fu_until", r"\langle\nabla f,u\rangle", signed=True)
fS = _sum("fS_until", r"\langle\nabla f,S\rangle", signed=True)
uS = _sum("uS_until", r"\langle u,S\rangle", signed=True)
# Squares that the certificates need: v + z, (1 - sqrt(m)) u - z, alpha v - beta S and grad f - u, summed.
moved = _sum("moved_until", r"\|v+\tfrac{\beta}{\alpha}S\|^2")
gap = _sum("gap_until", r"\|(1-\sqrt{m})u-\tfrac{\beta}{\alpha}S\|^2")
across = _sum("across_until", r"\|\alpha v-\beta S\|^2")
spread = _sum("spread_until", r"\|\nabla f-u\|^2")

G_SUMS = (
    Fact("no round: g", equal(g2(0), 0), "An empty sum."),
    Fact("one more: g", equal(g2(t + 1), g2(t) + size_g(t) ** 2), "A sum over the first rounds."),
)
UNIT_BIAS = Fact(
    "(27)", at_most(u2(W), f2(W)), "b(x_t) = sqrt(m) u with ||u|| <= ||grad f(x_t)|| at every x_t, which is (27)."
)
FIRST = Fact("t", at_most(t, W), "t is one of the first W rounds.")
#: (4 L W sqrt(1 + m) reach)^2 <= (1 - sqrt(m))^2.
RANGE = at_most(16 * L**2 * W**2 * (1 + root_m**2) * reach() ** 2, (1 - root_m) ** 2)


def _growth_of_g() -> sp.Expr:
    """Half of the bound on ||grad g(x_t)||^2 in the first W rounds."""
    return 2 * size_g(0) ** 2 + 8 * L**2 * W * alpha * (1 + root_m) ** 2 * F / (1 - root_m)


def _descent(at: sp.Expr, prefix: str) -> tuple[Obligation | RuleUse, ...]:
    """sum ||grad f||^2 <= 2 F/(alpha rho) + reach^2/(alpha rho)^2 sum ||grad g||^2 over the rounds before `at`."""
    rho, z = slack("m"), beta / alpha
    gram = {
        ("grad_f", "grad_f"): f2(at),
        ("u", "u"): u2(at),
        ("S", "S"): S2(at),
        ("grad_f", "u"): fu(at),
        ("S", "grad_f"): fS(at),
        ("S", "u"): uS(at),
    }
    v = {"grad_f": sp.S.One, "u": root_m}
    step = {"grad_f": -alpha, "u": -alpha * root_m, "S": -beta}
    pulled, left = {**v, "S": z}, {"u": 1 - root_m, "S": -z}
    aslant, apart = {"grad_f": alpha, "u": alpha * root_m, "S": -beta}, {"grad_f": sp.S.One, "u": -sp.S.One}
    words = "summed over the rounds so far and averaged over the draws."
    so_far = "telescoped" if at == t else prefix + "so far"
    inside = (
        slack(so_far)
        + slack(prefix + "inf f")
        - residual(prefix + "(39)")
        - L / 2 * residual(prefix + "(49)")
        + alpha / 2 * slack("alpha") * (moved(at) - residual(prefix + "moved"))
        + alpha / 2 * root_m * (slack(prefix + "(27)") + (gap(at) - residual(prefix + "gap")) / rho)
        + slack(prefix + "rounds") / (2 * alpha * rho)
    )
    unit = 1 - root_m
    names = ("inf f", "(39)", "(49)", "moved", "gap", "(27)", "rounds")
    return (
        rules.lower_bound(prefix + "inf f", f_mean(0) - f_mean(at), F, "f is bounded below, F = f(x_0) - inf f."),
        rules.bilinearity(prefix + "(39)", inner_sum(at), {"grad_f": sp.S.One}, step, gram, words),
        rules.bilinearity(prefix + "(49)", step2_sum(at), step, step, gram, words),
        rules.bilinearity(prefix + "moved", moved(at), pulled, pulled, gram, words),
        rules.bilinearity(prefix + "gap", gap(at), left, left, gram, words),
        rules.bilinearity(prefix + "across", across(at), aslant, aslant, gram, words),
        rules.bilinearity(prefix + "spread", spread(at), apart, apart, gram, words),
        rules.bounded_bias(prefix + "(27)", u2(at), f2(at), "b = sqrt(m) u.", "(27)"),
        rules.mean_of_bounds(
            prefix + "rounds", beta**2 * S2(at), reach() ** 2 * g2(at), "over rounds and draws.", ("one round",)
        ),
        Obligation(
            prefix + "descent",
            at_most(f2(at), 2 * F / (alpha * unit) + reach() ** 2 / (alpha * unit) ** 2 * g2(at)),
            (so_far, *(prefix + name for name in names), "alpha", "m"),
            2 / (alpha * rho) * inside,
        ),
    )


def _gradients() -> Induction:
    """sum_{s<t} ||grad g(x_s)||^2 <= 2 t P for t <= W."""
    P, rho, r2 = _growth_of_g(), slack("m"), square(reach())
    twice_P = 2 * P
    hypothesis = "gradients (hypothesis)"
    within = "gradients (range)"

    def goal(index: sp.Expr) -> Relation:
        return at_most(g2(index), index * twice_P)

    most = 2 * alpha**2 * (1 + root_m) ** 2
    steps_far = Obligation(
        "steps",
        at_most(step2_sum(t), most * f2(t) + 2 * reach() ** 2 * g2(t)),
        ("so far: (49)", "so far: across", "so far: spread", "so far: (27)", "so far: rounds"),
        2 * slack("so far: rounds")
        + 2 * alpha**2 * (1 + root_m) * root_m * slack("so far: (27)")
        + 2 * alpha**2 * root_m * (spread(t) - residual("so far: spread"))
        + across(t)
        - residual("so far: across")
        - residual("so far: (49)"),
    )
    bounded = Obligation(
        "||grad g||^2",
        at_most(size_g(t) ** 2, 2 * size_g(0) ** 2 + 2 * L**2 * far(t) ** 2),
        ("Lipschitz",),
        square(size_g(0) - L * far(t)) + slack("Lipschitz") ** 2 + 2 * size_g(t) * slack("Lipschitz"),
    )
    by_steps = Obligation(
        "by steps",
        at_most(size_g(t) ** 2, 2 * size_g(0) ** 2 + 2 * L**2 * W * step2_sum(t)),
        ("||grad g||^2", "distance", within),
        slack("||grad g||^2") + 2 * L**2 * slack("distance") + 2 * L**2 * (slack(within) + 1) * step2_sum(t),
    )
    far_by_g = Obligation(
        "steps by g",
        at_most(
            step2_sum(t),
            4 * alpha * (1 + root_m) ** 2 * F / (1 - root_m)
            + 4 * (1 + root_m**2) * reach() ** 2 / (1 - root_m) ** 2 * g2(t),
        ),
        ("steps", "so far: descent", "m"),
        slack("steps") + most * slack("so far: descent"),
    )
    in_terms_of_sums = Obligation(
        "by sums",
        at_most(size_g(t) ** 2, P + 8 * L**2 * W * (1 + root_m**2) * reach() ** 2 / (1 - root_m) ** 2 * g2(t)),
        ("by steps", "steps by g"),
        slack("by steps") + 2 * L**2 * W * slack("steps by g"),
    )
    # 1 minus 16 L^2 W^2 (1 + m) reach^2 / rho^2, times P; t <= W.
    twice = Obligation(
        "at most twice",
        at_most(size_g(t) ** 2, 2 * P),
        ("by sums", hypothesis, within, "range", "m"),
        slack("by sums")
        + 8 * L**2 * W * (1 + root_m**2) * r2 / rho**2 * (slack(hypothesis) + 2 * (slack(within) + 1) * _positive(P))
        + _positive(P) * slack("range") / rho**2,
    )
    return Induction(
        "gradients",
        t,
        goal(t),
        base=Obligation("gradients at 0", goal(sp.S.Zero), ("no round: g",), residual("no round: g") * -1),
        step=(
            *_descent(t, "so far: "),
            steps_far,
            rules.jensen("distance", far(t) ** 2, t * step2_sum(t), "x_t - x_0 is a sum of t steps."),
            rules.lipschitz_gradient(
                "Lipschitz", size_g(t), size_g(0), far(t), L, "grad g between x_0 and x_t, in mean square."
            ),
            bounded,
            by_steps,
            far_by_g,
            in_terms_of_sums,
            twice,
            Obligation(
                "gradients from t to t + 1",
                goal(t + 1),
                (hypothesis, "at most twice", "one more: g"),
                slack(hypothesis) + slack("at most twice") - residual("one more: g"),
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
    (induction, *_) = telescoped()
    return (
        induction,
        *sum_bound(),
        _gradients(),
        Obligation("W", at_most(W, W), (), sp.S.Zero),
        At("after W", "gradients", t, W, within="W"),
        At("W: so far", "telescoped", t, W),
        *_descent(W, "W: "),
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
        "with m < 1, b = sqrt(m) u with ||u|| <= ||grad f||.",
        goal,
        (SMALL_STEP, BELOW_ONE, UNIT_BIAS, FIRST, small),
        Proof((*before, ending)),
        (START, *SUMS, *G_SUMS),
    )
    return Claim(
        "ours.first_rounds",
        "ours",
        "for Theorem 5",
        "min ||grad f||^2 = O(1/sqrt(T)) with one memory, m < 1, and nothing assumed on grad g",
        (Part("1", statement),),
        (
            "With beta = c/sqrt(T) the range allows W of the order sqrt(T), so min_t E||grad f(x_t)||^2 = "
            "O(1/sqrt(T)): the rate of Theorem 5, for m < 1, without Assumption 3 and for a memory that is drawn once.",
            "f is bounded below; g need not be, and ||grad g(x_t)|| may grow without bound after the first W rounds.",
        ),
    )


CLAIMS: dict[str, Callable[[], Claim]] = {"ours.first_rounds": first_rounds}
