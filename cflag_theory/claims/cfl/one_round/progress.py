"""App. B.4.2: one round of Algorithm 2 on convex objectives, (10)-(13) and (15)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.symbols import eta, mu
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Sharp, Statement
from cflag_theory.claims.engine.notation import L, symbol
from cflag_theory.claims.engine.relation import Relation, at_most, equal
from cflag_theory.claims.engine.steps import Obligation, Proof, RuleUse

# (10): E||w_t - w*||^2, E||w_{t+1} - w*||^2, E<w_t - w*, Delta w_t>, E||Delta w_t||^2.
dist2 = symbol("dist2", r"{\mathbb{E}\|\omega_t-\omega^*\|^2}", nonnegative=True)
next2 = symbol("next_dist2", r"{\mathbb{E}\|\omega_{t+1}-\omega^*\|^2}", nonnegative=True)
dist_dot_move = symbol("dist_dot_move", r"\mathbb{E}\langle\omega_t-\omega^*,\Delta\omega_t\rangle", real=True)
move2 = symbol("move2", r"{\mathbb{E}\|\Delta\omega_t\|^2}", nonnegative=True)

# (12) at one point x = w_{t,i,k-1}, h = f_{tau,i}.
h_x = symbol("round_h_x", "h(x)", real=True)
h_t = symbol("round_h_t", r"h(\omega_t)", real=True)
h_star = symbol("round_h_star", r"h(\omega^*)", real=True)
to_star = symbol("grad_h_to_star", r"\langle\nabla h(x),\omega^*-\omega_t\rangle", real=True)
x_to_star = symbol("grad_h_x_to_star", r"\langle\nabla h(x),\omega^*-x\rangle", real=True)
x_to_t = symbol("grad_h_x_to_t", r"\langle\nabla h(x),\omega_t-x\rangle", real=True)
far2 = symbol("star_minus_x2", r"{\|\omega^*-x\|^2}", nonnegative=True)
gap2 = symbol("star_minus_t2", r"{\|\omega^*-\omega_t\|^2}", nonnegative=True)
step = symbol("x_minus_t", r"{\|x-\omega_t\|}", nonnegative=True)

# (11), (13): means over clients, steps and rounds.
pull = symbol("pull", r"\overline{\mathbb{E}\langle\nabla\bar{f}_{t,i},\omega^*-\omega_t\rangle}", real=True)
true_pull = symbol(
    "true_pull", r"\overline{\mathbb{E}\langle\sum_\tau p_\tau\nabla f_{\tau,i},\omega^*-\omega_t\rangle}", real=True
)
loss_pull = symbol(
    "loss_pull",
    r"\overline{\mathbb{E}\langle\sum_{\tau<t}p_\tau\Delta_{\tau,i},\omega_t-\omega^*\rangle}",
    real=True,
)
rho = symbol("round_rho", r"\frac{1}{N}\sum_i\sum_{\tau<t}p_{\tau,i}R", nonnegative=True)
dist = symbol("round_dist", r"\mathbb{E}\|\omega_t-\omega^*\|", nonnegative=True)
drift2 = symbol("local_drift2", r"\frac{1}{NK}\sum_{i,k}\mathbb{E}\|\omega_{t,i,k-1}-\omega_t\|^2", nonnegative=True)
local_gap = symbol("local_gap", r"\mathbb{E}[f_t(\omega_t)-f_t(\omega^*)]", real=True)
gap = symbol("f_gap", r"\mathbb{E}[f(\omega_t)]-f(\omega^*)", nonnegative=True)

# (15): means with weights c_{pB,i}.
c_B = symbol("c_pB", r"c_{p_B}", positive=True)
grad_here2 = symbol(
    "c_grad2", r"\frac{1}{NK}\sum_{i,k}c_{p_B,i}\mathbb{E}\|\nabla f(\omega_{t,i,k-1})\|^2", nonnegative=True
)
grad_diff2 = symbol(
    "c_grad_diff2",
    r"\frac{1}{NK}\sum_{i,k}c_{p_B,i}\mathbb{E}\|\nabla f(\omega_{t,i,k-1})-\nabla f(\omega_t)\|^2",
    nonnegative=True,
)
c_drift2 = symbol(
    "c_drift2", r"\frac{1}{NK}\sum_{i,k}c_{p_B,i}\mathbb{E}\|\omega_{t,i,k-1}-\omega_t\|^2", nonnegative=True
)
grad_t2 = symbol("grad_t2", r"{\mathbb{E}\|\nabla f(\omega_t)\|^2}", nonnegative=True)
difference = symbol("grad_difference", r"{\|\nabla f(\omega_{t,i,k-1})-\nabla f(\omega_t)\|}", nonnegative=True)
distance = symbol("local_distance", r"{\|\omega_{t,i,k-1}-\omega_t\|}", nonnegative=True)
f_t = symbol("round_f_t", r"f(\omega_t)", real=True)
f_below = symbol("f_below", r"f(\omega_t-\nabla f(\omega_t)/L)", real=True)

_QUARTER = sp.Rational(1, 4)
ORDER = Fact("L >= mu", at_most(mu, L), "mu <= L, as noted after Assumption 1.")


def perturbed(name: str) -> tuple[RuleUse | Obligation, ...]:
    """(12) with its norm squared, as Lemma A.5 has it; needs the fact `ORDER`."""
    goal = at_most(to_star, h_star - h_t - mu / 4 * gap2 + L * step**2)
    certificate = (
        slack("smooth") + slack("convex") - residual("split") + mu * slack("triangle") + step**2 / 2 * slack(ORDER.name)
    )
    return (
        rules.smoothness("smooth", h_t, h_x, x_to_t, step**2, L, "h between x and w_t."),
        rules.convexity("convex", h_x, x_to_star, far2, h_star, mu, "h between x and w*."),
        rules.linear_expectation("split", equal(to_star, x_to_star - x_to_t), "w* - w_t = (w* - x) - (w_t - x)."),
        rules.jensen("triangle", gap2 / 4, far2 / 2 + step**2 / 2, "half of w* - x and half of x - w_t."),
        Obligation(name, goal, ("smooth", "convex", "split", "triangle", ORDER.name), certificate),
    )


def eq10(sign: Any = -1) -> Claim:
    """The expansion (10) and the inequality (12)."""
    gram = {("d", "d"): dist2, ("Delta", "d"): dist_dot_move, ("Delta", "Delta"): move2}
    after = {"d": sp.S.One, "Delta": sp.S.One}
    mended = equal(next2, dist2 + 2 * dist_dot_move + move2)
    expanded = rules.bilinearity("square", next2, after, after, gram, "w_{t+1} - w* = (w_t - w*) + Delta w_t.")
    first = Part(
        "1",
        Statement(
            "(10): E||w_t + Delta w_t - w*||^2 = ||w_t - w*||^2 - 2 E<w_t - w*, Delta w_t> + E||Delta w_t||^2.",
            equal(next2, dist2 + 2 * sign * dist_dot_move + move2),
        ),
        Repair(
            "typo",
            "the cross term of (10), and A_1, is +2 E<w_t - w*, Delta w_t>; the display after it computes that",
            Statement(
                "(10) with +2 E<w_t - w*, Delta w_t>.",
                mended,
                (),
                Proof((expanded, Obligation("the statement follows", mended, ("square",), -residual("square")))),
            ),
        ),
    )
    steps = perturbed("the statement follows")
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
            Statement("(12) with L ||x - w_t||^2.", goal, (ORDER,), Proof(steps)),
        ),
    )
    return Claim(
        "cfl.eq10",
        "CFL",
        "(10), (12)",
        "One round expanded, and perturbed strong convexity in it",
        (first, second),
        (
            "In (10) ||w_t - w*||^2 stands without E: it is the expectation given w_t.",
            "The text after (11) quotes Inequality (9) for an equation.",
        ),
    )


_CAUCHY = rules.cauchy_schwarz(
    "loss",
    loss_pull,
    rho,
    dist,
    "each Delta_{tau,i} is at most R long, so their weighted mean is at most rho, and <., w_t - w*> at most rho times "
    "the distance.",
)


def eq13(convexity: Any = _QUARTER) -> Claim:
    """(11), (13) with the weighted local objective, and (13) with f, as (21) uses it."""
    bound = at_most(2 * eta * loss_pull, 2 * eta * rho * dist)
    first = Statement(
        "The last line of (11): the information loss adds at most (2 eta / N) sum_i sum_{tau<t} p_{tau,i} R ||w* - "
        "w_t||.",
        bound,
        (),
        Proof((_CAUCHY, Obligation("the statement follows", bound, ("loss",), 2 * eta * slack("loss")))),
    )
    averaged = Fact(
        "(12)",
        at_most(true_pull, -local_gap - mu / 4 * dist2 + L * drift2),
        "(12) with its norm squared (cfl.eq10), averaged over i, k and with weights p_{tau,i} over tau.",
    )
    parted = Fact(
        "(11)", equal(pull, true_pull + loss_pull), "grad f-tilde = grad f_{tau,i} - Delta_{tau,i}, line 3 of (11)."
    )
    known = ("(12)", "(11)", "loss")
    common = 2 * eta * (slack("(12)") + slack("loss") - residual("(11)"))

    def relation(value: sp.Expr) -> Relation:
        return at_most(
            2 * eta * pull,
            -2 * eta * (value + convexity * mu * dist2) + 2 * eta * L * drift2 + 2 * eta * rho * dist,
        )

    weaker = 2 * eta * (_QUARTER - convexity) * mu * dist2
    goal = relation(local_gap)
    second = Statement(
        "(13) with f_t = (1/N) sum_i sum_{tau<=t} p_{tau,i} f_{tau,i}, expectations taken: the left side, (2 eta / NK) "
        "sum E<grad f-bar, w* - w_t>, is at most -2 eta (E[f_t(w_t) - f_t(w*)] + (mu/4) E||w_t - w*||^2) + (2 eta L / "
        "NK) sum E||w_{t,i,k-1} - w_t||^2 + 2 eta sum p R E||w* - w_t||.",
        goal,
        (averaged,),
        Proof((_CAUCHY, Obligation("the statement follows", goal, known, common + weaker))),
        (parted,),
    )
    with_f = relation(gap)
    unbiased = Fact(
        "unbiased",
        equal(local_gap, gap),
        "E[f_t(w_t) - f_t(w*)] = E[f(w_t) - f(w*)], as where the drifts inside f_t are independent of w_t: at t = 1, "
        "or with p_{t,i} = 1 and drifts that are new in every round.",
    )
    third = Part(
        "3",
        Statement(
            "(13) with f in place of f_t, as (21) and (23) use it.",
            with_f,
            (averaged,),
            None,
            (parted,),
        ),
        Repair(
            "needs-hypothesis",
            "the drifts inside f_t must be independent of w_t, so that E[f_t(w_t) - f_t(w*)] = E[f(w_t) - f(w*)]",
            Statement(
                "The same where E[f_t(w_t) - f_t(w*)] = E[f(w_t) - f(w*)].",
                with_f,
                (averaged, unbiased),
                Proof(
                    (
                        _CAUCHY,
                        Obligation(
                            "the statement follows",
                            with_f,
                            (*known, "unbiased"),
                            common + weaker + 2 * eta * residual("unbiased"),
                        ),
                    )
                ),
                (parted,),
            ),
        ),
    )
    return Claim(
        "cfl.eq13",
        "CFL",
        "(11), (13)",
        "The part A_1 of a round",
        (Part("1", first), Part("2", second), third),
        (
            "f_t is never defined. Part 2 reads it as the weighted local objective, to which Lemma A.5 applies; part 3 "
            "as f, which is what (21) needs.",
            "The last sum of (13) has a free index i; it is read as the mean over clients, as in (11). The left sides "
            "carry the sign of (10), mended in cfl.eq10.",
            "w_t has been pulled along the past drifts, which are in f_t again: E<xi_tau, w_t> > 0, so f_t(w_t) - "
            "f_t(w*) is smaller than f(w_t) - f(w*) on average. What holds instead is ours.cfl_round.",
        ),
    )


def eq15(curvature: Any = 16, distance_factor: Any = 8) -> Claim:
    """The last step of (15): from E||grad f(w_{t,i,k-1})||^2 to f(w_t) - f(w*) and the local drift."""
    each = (
        rules.component_smoothness("Lipschitz", difference, distance, L, "f is an average of L-smooth f_{t,i}."),
        Obligation(
            "squared",
            at_most(difference**2, L**2 * distance**2),
            ("Lipschitz",),
            slack("Lipschitz") * (L * distance + difference),
        ),
        rules.mean_of_bounds("drift", grad_diff2, L**2 * c_drift2, "weights c_{pB,i} / (NK).", ("squared",)),
        rules.jensen(
            "Lemma A.3",
            grad_here2 / 4,
            grad_diff2 / 2 + c_B * grad_t2 / 2,
            "grad f(w_{t,i,k-1}) / 2 is the mean of grad f(w_{t,i,k-1}) - grad f(w_t) and grad f(w_t); weighted mean.",
        ),
        rules.smoothness(
            "descent",
            f_below,
            f_t,
            -grad_t2 / L,
            grad_t2 / L**2,
            L,
            "f between w_t and w_t - grad f(w_t) / L; E taken.",
        ),
        rules.lower_bound("least", f_t - f_below, gap, "gap = E f(w_t) - f(w*)."),
    )
    given = ("drift", "Lemma A.3", "descent", "least")

    def statement(words: str, first: Any, second: Any) -> Statement:
        relation = at_most(2 * eta**2 * grad_here2, first * eta**2 * L * c_B * gap + second * eta**2 * L**2 * c_drift2)
        certificate = (
            8 * eta**2 * slack("Lemma A.3")
            + 4 * eta**2 * slack("drift")
            + 8 * eta**2 * L * c_B * (slack("descent") + slack("least"))
            + (first - 8) * eta**2 * L * c_B * gap
            + (second - 4) * eta**2 * L**2 * c_drift2
        )
        return Statement(
            words, relation, (), Proof((*each, Obligation("the statement follows", relation, given, certificate)))
        )

    printed = statement(
        "(15), last step: (2 eta^2 / NK) sum c_{pB,i} E||grad f(w_{t,i,k-1})||^2 <= 16 eta^2 L c_pB (f(w_t) - f(w*)) + "
        "(8 eta^2 L^2 / NK) sum c_{pB,i} E||w_{t,i,k-1} - w_t||^2; the other terms of (15) stay as they are.",
        curvature,
        distance_factor,
    )
    sharp = statement("The same with 8 and 4.", 8, 4)
    return Claim(
        "cfl.eq15",
        "CFL",
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


CLAIMS: dict[str, Callable[[], Claim]] = {
    "cfl.eq10": eq10,
    "cfl.eq13": eq13,
    "cfl.eq15": eq15,
}
RESUMES = {"cfl.eq15": "cfl.eq14"}
