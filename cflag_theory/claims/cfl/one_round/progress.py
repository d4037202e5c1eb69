"""App. B.4.2: one round of Algorithm 2 on convex objectives, (10)-(13) and (15)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.symbols import eta, mu
from cflag_theory.claims.cfl.techniques.norms import h
from cflag_theory.claims.cfl.techniques.norms import x as point
from cflag_theory.claims.cfl.vectors import (
    EXPECTATION,
    LATER_NOISE,
    E,
    F,
    all_clients,
    all_steps,
    averaged,
    clients,
    draw,
    f,
    fresh,
    gradient_by_gap,
    i,
    j,
    loss,
    mean_gradient,
    mean_loss,
    move,
    no_less_than_least,
    over_noises,
    over_past,
    steps,
    true_gradient,
    w_next,
    w_star,
    w_t,
    x,
)
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Sharp, Source, Statement, shown
from cflag_theory.claims.engine.notation import L, sequence, symbol
from cflag_theory.claims.engine.operators import mean_over
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, Use
from cflag_theory.claims.engine.terms import Function, dot, norm, norm2, vector

# (10).
dist2 = symbol("dist2", r"{\mathbb{E}\|\omega_t-\omega^*\|^2}", E(norm(w_t - w_star) ** 2))
next2 = symbol("next_dist2", r"{\mathbb{E}\|\omega_{t+1}-\omega^*\|^2}", E(norm(w_next - w_star) ** 2))
dist_dot_move = symbol(
    "dist_dot_move", r"\mathbb{E}\langle\omega_t-\omega^*,\Delta\omega_t\rangle", E(dot(w_t - w_star, move))
)
move2 = symbol("move2", r"{\mathbb{E}\|\Delta\omega_t\|^2}", E(norm(move) ** 2))

# (12) at one point x = w_{t,i,k-1}, h = f_{tau,i}, for one draw of w_t.
here = vector("w_t drawn", r"\omega_t")()
h_t = symbol("round_h_t", r"h(\omega_t)", h(here))
h_star = symbol("round_h_star", r"h(\omega^*)", h(w_star))
to_star = symbol("grad_h_to_star", r"\langle\nabla h(x),\omega^*-\omega_t\rangle", dot(h.grad(point), w_star - here))
gap2 = symbol("star_minus_t2", r"{\|\omega^*-\omega_t\|^2}", norm2(w_star - here))
step = symbol("x_minus_t", r"{\|x-\omega_t\|}", norm(point - here))

# (11), (13): means over clients, steps and rounds.
pull = symbol(
    "pull",
    r"\overline{\mathbb{E}\langle\nabla\bar{f}_{t,i},\omega^*-\omega_t\rangle}",
    E(dot(mean_gradient, w_star - w_t)),
)
true_pull = symbol(
    "true_pull",
    r"\overline{\mathbb{E}\langle\sum_\tau p_\tau\nabla f_{\tau,i},\omega^*-\omega_t\rangle}",
    E(dot(clients(steps(true_gradient(i, j))), w_star - w_t)),
)
loss_pull = symbol(
    "loss_pull",
    r"\overline{\mathbb{E}\langle\sum_{\tau<t}p_\tau\Delta_{\tau,i},\omega_t-\omega^*\rangle}",
    E(dot(mean_loss, w_t - w_star)),
)
loss_size = sequence(
    "loss_size",
    r"{\|\frac{1}{NK}\sum_{i,k}\sum_{\tau<t}p_{\tau,i}\Delta_{\tau,i}\|}",
    lambda past, noises: norm(mean_loss.xreplace({loss(i, j): loss(i, j).func(*loss(i, j).args[:3], past, noises)})),
)
rho = symbol("round_rho", r"\frac{1}{N}\sum_i\sum_{\tau<t}p_{\tau,i}R", nonnegative=True)
dist = symbol("round_dist", r"\mathbb{E}\|\omega_t-\omega^*\|", E(norm(w_t - w_star)))
drift2 = symbol(
    "local_drift2",
    r"\frac{1}{NK}\sum_{i,k}\mathbb{E}\|\omega_{t,i,k-1}-\omega_t\|^2",
    E(clients(steps(norm(x(i, j) - w_t) ** 2))),
)
local_gap = symbol(
    "local_gap", r"\mathbb{E}[f_t(\omega_t)-f_t(\omega^*)]", E(clients(F[i, draw](w_t) - F[i, draw](w_star)))
)
gap = symbol("f_gap", r"\mathbb{E}[f(\omega_t)]-f(\omega^*)", E(f(w_t)) - f(w_star))

# (15): means over clients with weights c_{pB,i} / (N c_pB).
c_B = symbol("c_pB", r"c_{p_B}", positive=True)
weighted = mean_over("c_mean", i, r"\textstyle\sum_{@}\frac{c_{p_B,@}}{Nc_{p_B}}")
grad_here2 = symbol(
    "c_grad2",
    r"\frac{1}{NK}\sum_{i,k}c_{p_B,i}\mathbb{E}\|\nabla f(\omega_{t,i,k-1})\|^2",
    c_B * weighted(steps(E(norm2(f.grad(x(i, j)))))),
)
c_drift2 = symbol(
    "c_drift2",
    r"\frac{1}{NK}\sum_{i,k}c_{p_B,i}\mathbb{E}\|\omega_{t,i,k-1}-\omega_t\|^2",
    c_B * weighted(steps(E(norm(x(i, j) - w_t) ** 2))),
)

_QUARTER = sp.Rational(1, 4)
ORDER = Fact(
    "L >= mu",
    at_most(mu, L),
    "mu <= L, as noted after Assumption 1.",
    sources=(Source("cfl.assumption1_corollary", "2", besides=("two points",)),),
)


def perturbed(name: str, h: Function, x: sp.Expr, start: sp.Expr) -> tuple[Use | Obligation, ...]:
    """(12) with its norm squared, as Lemma A.5 has it; needs the fact `ORDER`."""
    goal = at_most(
        dot(h.grad(x), w_star - start),
        h(w_star) - h(start) - mu / 4 * norm2(w_star - start) + L * norm(x - start) ** 2,
    )
    known = (
        rules.smooth("smooth", h, x, start),
        rules.convex("convex", h, x, w_star),
        rules.square("middle", w_star + start - 2 * x),
        rules.norm_squared("distance", x - start),
    )
    return (*known, Obligation(name, goal, (*(one.name for one in known), ORDER.name)))


def eq10(sign: Any = -1) -> Claim:
    """The expansion (10) and the inequality (12)."""
    mended = equal(next2, dist2 + 2 * dist_dot_move + move2)
    squares = (
        rules.norm_squared("next distance", w_next - w_star, *EXPECTATION),
        rules.norm_squared("distance", w_t - w_star, *EXPECTATION),
        rules.norm_squared("move", move, *EXPECTATION),
    )
    first = Part(
        "1",
        Statement(
            "(10): 𝔼||w_t + Delta w_t - w*||^2 = ||w_t - w*||^2 - 2 𝔼<w_t - w*, Delta w_t> + 𝔼||Delta w_t||^2.",
            equal(next2, dist2 + 2 * sign * dist_dot_move + move2),
        ),
        Repair(
            "typo",
            "the cross term of (10), and A_1, is +2 𝔼<w_t - w*, Delta w_t>, as (11) computes it",
            shown("(10) with +2 𝔼<w_t - w*, Delta w_t>.", mended, *squares, given=tuple(one.name for one in squares)),
        ),
    )
    goal = at_most(to_star, h_star - h_t - mu / 4 * gap2 + L * step**2)
    second = Part(
        "2",
        Statement(
            "(12): <grad f_{tau,i}(x), w* - w_t> <= f_{tau,i}(w*) - f_{tau,i}(w_t) - (mu/4) ||w_t - w*||^2 + L ||x - "
            "w_t|| at x = w_{t,i,k-1}.",
            at_most(to_star, h_star - h_t - mu / 4 * gap2 + L * step),
            (ORDER,),
        ),
        Repair(
            "typo",
            "the last norm of (12) is squared, as in Lemma A.5 and in (13)",
            Statement(
                "(12) with L ||x - w_t||^2.", goal, (ORDER,), Proof(perturbed("the statement follows", h, point, here))
            ),
        ),
    )
    return Claim(
        "cfl.eq10",
        "(10), (12)",
        "One round expanded, and perturbed strong convexity in it",
        (first, second),
        (
            "In (10) ||w_t - w*||^2 stands without E: it is the expectation given w_t.",
            "The text after (11) quotes Inequality (9) for an equation.",
        ),
    )


SMALL_LOSS = Fact(
    "Assumption 4",
    at_most(loss_size(draw, fresh), rho),
    "Each Delta_{tau,i} is at most R long, so that their weighted mean is at most rho, in every draw.",
    (draw, fresh),
)
_CAUCHY = (
    rules.cauchy_schwarz("loss along w_t - w*", mean_loss, w_t - w_star),
    Obligation(
        "loss in a draw",
        at_most(dot(mean_loss, w_t - w_star), rho * norm(w_t - w_star)),
        ("loss along w_t - w*", "Assumption 4"),
    ),
    rules.mean("loss given the past", over_noises, given="loss in a draw"),
    rules.mean("loss", over_past, given="loss given the past"),
)


def round_bound(value: sp.Expr, convexity: Any = _QUARTER) -> Relation:
    """(13), `value` being what the round's objective loses from w_t to w*."""
    return at_most(
        2 * eta * pull,
        -2 * eta * (value + convexity * mu * dist2) + 2 * eta * L * drift2 + 2 * eta * rho * dist,
    )


AVERAGED_12 = Fact(
    "(12)",
    at_most(true_pull, -local_gap - mu / 4 * dist2 + L * drift2),
    "(12) with its norm squared, averaged over i, k and with weights p_{tau,i} over tau.",
    sources=(
        Source(
            "cfl.eq10",
            "2",
            "repair",
            at=(
                (h, F[i, draw]),
                (point, x(i, j)),
                (here, w_t),
                (gap2, norm(w_star - w_t) ** 2),
            ),
            over=(all_steps, all_clients, over_noises, over_past),
            besides=("L >= mu",),
        ),
    ),
)


def _pulled() -> Part:
    """The sign of the first line of (11), which is the left side of (13) too."""
    words = "𝔼<w_t - w*, Delta w_t> = (2 eta / NK) sum_{i,k} 𝔼<grad f-bar_{t,i}(w_{t,i,k-1}), w* - w_t>"
    mended = equal(2 * dist_dot_move, 2 * eta * pull)
    return Part(
        "3",
        Statement(
            f"The first line of (11), with the left side that (13) has too: -2 {words}.",
            equal(-2 * dist_dot_move, 2 * eta * pull),
        ),
        Repair(
            "typo",
            "+2 𝔼<w_t - w*, Delta w_t> in (11) and (13), as in (10)",
            shown(
                f"2 {words}.",
                mended,
                *averaged(rules.along("noise", w_t - w_star, given=LATER_NOISE), over_past),
                given=("noise",),
            ),
        ),
    )


def eq13(convexity: Any = _QUARTER) -> Claim:
    """(11), and (13) with the weighted local objective."""
    bound = at_most(2 * eta * loss_pull, 2 * eta * rho * dist)
    first = shown(
        "The last line of (11): the information loss adds at most (2 eta / N) sum_i sum_{tau<t} p_{tau,i} R ||w* - "
        "w_t||.",
        bound,
        *_CAUCHY,
        given=("loss",),
        under=(SMALL_LOSS,),
    )
    second = shown(
        "(13) with f_t = (1/N) sum_i sum_{tau<=t} p_{tau,i} f_{tau,i}, expectations taken: the left side, (2 eta / NK) "
        "sum 𝔼<grad f-bar, w* - w_t>, is at most -2 eta (𝔼[f_t(w_t) - f_t(w*)] + (mu/4) 𝔼||w_t - w*||^2) + (2 eta L / "
        "NK) sum 𝔼||w_{t,i,k-1} - w_t||^2 + 2 eta sum p R 𝔼||w* - w_t||.",
        round_bound(local_gap, convexity),
        *_CAUCHY,
        given=("(12)", "loss"),
        under=(AVERAGED_12, SMALL_LOSS),
    )
    return Claim(
        "cfl.eq13",
        "(11), (13)",
        "The part A_1 of a round",
        (
            Part("1", first),
            Part("2", second, reading="f_t is the weighted objective of the round"),
            _pulled(),
        ),
        (
            "f_t is never defined; Lemma A.5, by which (13) is derived, applies to the weighted local objective. (21) "
            "and (23) have f in its place: cfl.eq21, part 4.",
            "The last sum of (13) has a free index i; it is read as the mean over clients, as in (11). With the "
            "weights of Theorem 4.1, which are the same for all clients, nothing depends on i.",
        ),
    )


def eq15(curvature: Any = 16, distance_factor: Any = 8) -> Claim:
    """The last step of (15): from 𝔼||grad f(w_{t,i,k-1})||^2 to f(w_t) - f(w*) and the local drift."""
    at_x, at_t, change = f.grad(x(i, j)), f.grad(w_t), f.grad(x(i, j)) - f.grad(w_t)
    known = (
        rules.lipschitz("Lipschitz", f, x(i, j), w_t),
        rules.norm_squared("change", change),
        rules.square("Young", change - at_t),
        Obligation(
            "each",
            at_most(norm2(at_x), 2 * L**2 * norm(x(i, j) - w_t) ** 2 + 2 * norm2(at_t)),
            ("Lipschitz", "change", "Young"),
        ),
        rules.mean("given the past", over_noises, given="each"),
        rules.mean("in expectation", over_past, given="given the past"),
        rules.mean("over the steps", all_steps, given="in expectation"),
        rules.mean("over the clients", weighted, given="over the steps"),
        *gradient_by_gap("gradient"),
        *no_less_than_least("gap"),
    )

    def statement(words: str, first: Any, second: Any) -> Statement:
        relation = at_most(2 * eta**2 * grad_here2, first * eta**2 * L * c_B * gap + second * eta**2 * L**2 * c_drift2)
        return shown(words, relation, *known, given=("over the clients", "gradient", "gap"))

    printed = statement(
        "(15), last step: (2 eta^2 / NK) sum c_{pB,i} 𝔼||grad f(w_{t,i,k-1})||^2 <= 16 eta^2 L c_pB (f(w_t) - f(w*)) + "
        "(8 eta^2 L^2 / NK) sum c_{pB,i} 𝔼||w_{t,i,k-1} - w_t||^2; the other terms of (15) stay as they are.",
        curvature,
        distance_factor,
    )
    sharp = statement("The same with 8 and 4.", 8, 4)
    return Claim(
        "cfl.eq15",
        "(15)",
        "Constants 16 and 8",
        (
            Part(
                "1",
                printed,
                sharp=Sharp(
                    "both constants, 16 and 8, by the same factor", sp.sympify(curvature), sp.Integer(8), sharp
                ),
            ),
        ),
        (
            "||grad f(w)||^2 <= 2 L (f(w) - f(w*)) turns the 4 of the line before into 8, and Lipschitz gradients "
            "leave the other 4 as it is; (18), which is alike, has the right constants.",
            "Approached as K grows: f = (L/2) ||w||^2 and a client whose minimiser is 2 w_t; all its local points but "
            "the first are there, and the left side is (8K - 6)/(8K - 4) of the bound with 8 and 4.",
            "The use of Lemma B.2 at points that depend on the drifts is cfl.lemB2_use, that of (14) is cfl.eq14.",
        ),
    )


CLAIMS = {
    "cfl.eq10": eq10,
    "cfl.eq13": eq13,
    "cfl.eq15": eq15,
}
