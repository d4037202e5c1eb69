"""Taylor models of past objectives: Lemma B.3, and the Fisher matrix in place of the Hessian."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import square
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement, shown
from cflag_theory.claims.engine.notation import sequence, symbol
from cflag_theory.claims.engine.operators import index, mean_over
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.terms import function, norm, vector

eps = symbol("hessian_gap", r"\epsilon", nonnegative=True)
spread = symbol(
    "segment_spread",
    r"\sup_s{\|\nabla^2f(\hat{\omega}+s(\omega-\hat{\omega}))-\nabla^2f(\hat{\omega})\|}",
    nonnegative=True,
)
_POINTS = (("w", r"\omega"), ("w_hat", r"\hat{\omega}"), ("w_t", r"\omega_t"))
#: f_{t,i} less the quadratic term of its model at a point, whose gradient changes by the information loss. Between the
#: ends of a segment on which its Hessian is at most `spread` in norm, it is the mean value theorem that is used.
remainder = function("remainder", r"r_{@1}", smooth=spread)
w, hat, w_t = (vector(f"{name} of a model", latex)() for name, latex in _POINTS)
distance = symbol("distance_to_hat", r"{\|\omega-\hat{\omega}_{t,i}\|}", norm(w - hat))
_loss, _elsewhere = (remainder[place].grad(w) - remainder[place].grad(at) for place, at in ((0, hat), (1, w_t)))
loss = symbol("loss_at_hat", r"{\|\Delta_{t,i}(\omega)\|}", norm(_loss))
loss_elsewhere = symbol(
    "loss_at_w_t",
    r"{\|\nabla f_{t,i}(\omega)-\nabla f_{t,i}(\omega_t)-\nabla^2f_{t,i}(\omega_t)(\omega-\omega_t)\|}",
    norm(_elsewhere),
)
at_hat = symbol("hessian_at_hat", r"{\|\nabla^2f(\hat{\omega})\|}", nonnegative=True)
theta = symbol("theta_segment", r"\theta", nonnegative=True)

# One input and one weight: p_c from the softmax of the logits z_c, primes for derivatives in the weight.
label, data = index("c"), index("x")
labels = mean_over("labels", label, r"\mathbb{E}_{@\sim p}")
inputs = mean_over("inputs", data, r"\mathbb{E}_{@}")
slope = sequence("logit_slope", r"z_{@}'", real=True)
change = labels(slope(label, data)) - slope(label, data)
_at = sp.Symbol("one_input", integer=True, nonnegative=True)
mean_slope = symbol("mean_slope", r"\sum_cp_cz_c'", labels(slope(label, _at)))
mean_slope2 = symbol("mean_slope2", r"\sum_cp_cz_c'^2", labels(slope(label, _at) ** 2))
bend = symbol("bend", r"\left(\sum_cp_cz_c''-z_y''\right)", real=True)
fisher = symbol("fisher", r"\mathbb{E}_{c\sim p}[\partial\ell_c]^2", labels(change**2).xreplace({data: _at}))
hessian = symbol("hessian", r"\partial^2\ell_y", real=True)
gradient = symbol("mean_gradient", r"\nabla f(\hat{\omega})", real=True)
mean_hessian = symbol("mean_hessian", r"\nabla^2f(\hat{\omega})", real=True)
# Means over the inputs and over the data's labels.
mean_fisher = symbol("mean_fisher", r"\mathbb{E}_x\mathbb{E}_{c\sim p}[\partial\ell_c]^2", inputs(labels(change**2)))
slopes2 = symbol("slopes2", r"\mathbb{E}_x\sum_cp_cz_c'^2", inputs(labels(slope(label, data) ** 2)))
squared_slopes = symbol("squared_slopes", r"\mathbb{E}_x(\sum_cp_cz_c')^2", inputs(labels(slope(label, data)) ** 2))
_bend = sequence("bend_of_logits", r"b_{@}", real=True)
mean_bend = symbol("mean_bend", r"\mathbb{E}_{x,y}\left(\sum_cp_cz_c''-z_y''\right)", inputs(_bend(data)))


def off_the_segment() -> Statement:
    """The distance between a Hessian on the segment times the step, and the change of the gradient."""
    short, curved = theta - sp.Rational(1, 2), theta**2 - sp.Rational(1, 3)
    goal = below(0, short**2 + curved**2)
    # (a^2 + b^2)(1 + c^2) = (b - a c)^2 + (a + b c)^2 with c = theta + 1/2 and b - a c = -1/12.
    c = theta + sp.Rational(1, 2)
    certificate = (sp.Rational(1, 144) + square(short + curved * c)) / (1 + square(c))
    return shown(
        "f(w) = a(w_1) + b(w_2) with a'' = w_1 and b'' = w_2^2 on [0, 1], constant outside: convex, 1-smooth, eps = 1. "
        "Between (0, 0) and (1, 1) the gradient changes by (1/2, 1/3), the Hessian at (theta, theta) takes (1, 1) to "
        "(theta, theta^2), and these differ for every theta.",
        goal,
        certificate=certificate,
    )


NEAR = Fact("Hessians", at_most(spread, eps), "||Hessian f(w_1) - Hessian f(w_2)|| <= eps for all w_1, w_2.")


def mended(words: str, constant: Any) -> Statement:
    """One point in both places and Hessians that are near each other; `constant` scales eps."""
    return shown(
        words,
        at_most(loss, constant * eps * distance),
        rules.lipschitz("mean value", remainder[0], w, hat),
        given=("mean value", "Hessians"),
        under=(NEAR,),
    )


def lemB3(constant: Any = 1) -> Claim:
    """The information loss of Taylor models; `constant` scales eps."""
    printed = Statement(
        "||Delta_{t,i}(w)|| <= eps ||w - w_hat_{t,i}|| for the model expanded at w_t, with w_hat_{t,i} = w_{t,i,K} as "
        "the proof has it.",
        at_most(loss_elsewhere, eps * distance),
        (NEAR,),
    )
    one_point = mended(
        "||Delta_{t,i}(w)|| <= eps ||w - w_hat|| for the model expanded at w_hat, whichever point that is.", constant
    )
    step = Statement(
        "The proof's step: grad f(w) - grad f(w_hat) is the Hessian at one point of the segment times w - w_hat, by "
        "the mean value theorem.",
        None,
    )
    return Claim(
        "cfl.lemB3",
        "Lemma B.3",
        "Information loss of Taylor models",
        (
            Part(
                "1", printed, Repair("typo", "expand at w_hat_{t,i} = w_{t,i,K}: one point in both places", one_point)
            ),
            Part(
                "2",
                step,
                Repair(
                    "typo", "the mean of the Hessian along the segment in place of the Hessian at one point", one_point
                ),
                refutation=off_the_segment(),
                unseen="the statement is that a point of the segment exists",
                reading="between the vectors inside the norms, as the mean value theorem has it for one number",
            ),
        ),
        (
            "Part 2: between the norms, as it is printed, the line is true where the Hessian is continuous. The norm "
            "of (its value at a point of the segment - that at w_hat) (w - w_hat) is 0 at w_hat and somewhere at least "
            "the left side, by the mean value theorem for the product with one unit vector; it takes every value "
            "between. Part 1 does not need the line.",
            "eps is approached: f'' = 1 up to w_hat and 1 + eps soon after it.",
            "For a Hessian that is rho-Lipschitz the same step gives (rho/2) ||w - w_hat||^2.",
            "The bound grows with the distance, so it gives Assumption 4's constant R only where the run stays within "
            "R/eps of every point of expansion.",
        ),
    )


def lemB3_2022(constant: Any = 1) -> Claim:
    """The information loss by the Hessian at the point of expansion alone; `constant` scales eps of the repair."""
    here = Fact("Hessian", at_most(at_hat, eps), "||Hessian f(w_hat)|| <= eps, as App. C.2.2 of that version has it.")
    return Claim(
        "cfl.lemB3_2022",
        "Version of 2022, App. C.2.2",
        "Information loss by the Hessian at one point",
        (
            Part(
                "1",
                Statement(
                    "||Delta_{t,i}(w)|| <= eps ||w - w_hat|| for the model expanded at w_hat.",
                    at_most(loss, eps * distance),
                    (here,),
                ),
                Repair(
                    "needs-hypothesis",
                    "the Hessians at any two points are at most eps apart, as Lemma B.3 of the later version assumes",
                    mended("||Delta_{t,i}(w)|| <= eps ||w - w_hat|| for the model expanded at w_hat.", constant),
                ),
            ),
        ),
        (
            "Lemma B.3 of that version has the same bound and no condition; its proof takes the last step from "
            "Assumption 4, which is about Delta itself. If the reader may choose eps, 2 L is enough for every L-smooth "
            "f.",
            "For convex f a bound of the Hessian at every point is enough too: two of them are then at most eps apart.",
        ),
    )


def fisher_matrix(scale: Any = 1) -> Claim:
    """The Fisher matrix and the Hessian of the cross entropy; `scale` multiplies the Fisher entry."""
    second = Fact(
        "Hessian",
        equal(hessian, mean_slope2 - mean_slope**2 + bend),
        "The second derivative of l_y = ln sum_c exp(z_c) - z_y.",
    )
    linear = Fact("linear logits", equal(bend, 0), "The logits are linear in the weight, z_c'' = 0.")
    mean_second = Fact(
        "Hessian",
        equal(mean_hessian, slopes2 - squared_slopes + mean_bend),
        "The mean over the data of the second derivatives of ln sum_c exp(z_c) - z_y.",
    )
    mean_linear = Fact(
        "linear logits",
        equal(mean_bend, 0),
        "The logits are linear in the weight, z_c'' = 0; or the data's labels are distributed as p for each input.",
    )
    goal = equal(scale * fisher, hessian)
    words = "For the cross entropy the Fisher information equals the diagonal of the Hessian (one weight, one input)"
    printed = Statement(f"{words}.", goal, definitions=(second,))
    mended = shown(
        f"{words}, for logits that are linear in the weights.",
        goal,
        given=("Hessian", "linear logits"),
        under=(linear,),
        where=(second,),
    )
    squared = Statement(
        "F = [grad f(w_hat)]^2, the squared gradient of the mean loss, is the diagonal of its Hessian, for linear "
        "logits.",
        equal(gradient**2, mean_hessian),
        (mean_linear,),
    )
    direct = equal(scale * mean_fisher, mean_hessian)
    averaged = shown(
        "F = 𝔼[(grad l)^2], the square inside the mean over inputs and over labels drawn from the model, is the "
        "diagonal of the Hessian of the mean loss, for linear logits.",
        direct,
        given=("Hessian", "linear logits"),
        under=(mean_linear,),
        where=(mean_second,),
    )
    return Claim(
        "cfl.fisher",
        "App. C.1.2",
        "The Fisher matrix in place of the Hessian",
        (
            Part(
                "1",
                printed,
                Repair(
                    "needs-hypothesis",
                    "logits that are linear in the weights (or labels that are distributed as the model's p, and the "
                    "mean over them)",
                    mended,
                ),
            ),
            Part(
                "2",
                squared,
                Repair("typo", "average the squares over inputs and over labels drawn from the model", averaged),
            ),
        ),
        (
            "Fisher information is the mean over labels drawn from the model. In general the Hessian is the Fisher "
            "matrix plus sum_c p_c z_c'' - z_y'', which has mean zero over such labels and not over the data's: where "
            "the data's labels are distributed as p, no linear logits are needed for the mean.",
            "With the data's labels inside the mean (the empirical Fisher matrix) it still fails: p = 2/3 for the "
            "right label gives 1/9 and the Hessian is 2/9.",
            "At a minimum of f the printed F is zero, so that the quadratic penalty which keeps old tasks vanishes.",
            "F_{ij} with two indices is read as one entry per weight.",
        ),
    )


CLAIMS = {"cfl.lemB3": lemB3, "cfl.lemB3_2022": lemB3_2022, "cfl.fisher": fisher_matrix}
