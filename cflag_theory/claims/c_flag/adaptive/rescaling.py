"""Transference and interference, and the rescaling of the clients' updates: the text around (16)."""

from __future__ import annotations

from cflag_theory.claims.c_flag.adaptive.server import Lambda, beta_star, forgetting
from cflag_theory.claims.c_flag.past_task.descent import STEP_SIZE
from cflag_theory.claims.c_flag.problem import update
from cflag_theory.claims.c_flag.problem.update import MEAN_DRIFT, S, x, x_mean
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement, shown
from cflag_theory.claims.engine.notation import (
    L,
    alpha,
    beta,
    bias,
    bias_dot_sum,
    delayed_sum,
    grad_dot_sum,
    m,
    sum2,
    symbol,
)
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.terms import norm

b_norm = symbol("bias_norm", r"{\|b\|}", norm(bias), nonnegative=True)
S_norm = symbol("S_norm", r"{\|S\|}", norm(delayed_sum), nonnegative=True)

ONE_RATE = Fact("one rate", equal(beta, alpha), "The server fixes alpha_t = beta_t = alpha.")


def _learning() -> Part:
    """Transference is about the memory's gradient; f has another one."""
    transfer = Fact(
        "transference",
        below(0, grad_dot_sum + bias_dot_sum),
        "Lambda_t = <grad f_memory(x_t), S> > 0.",
    )
    faithful = Fact(
        "bias",
        below(b_norm * S_norm, grad_dot_sum + bias_dot_sum),
        "||b(x_t)|| ||S|| < Lambda_t.",
    )
    goal = below(0, grad_dot_sum)
    mended = shown(
        "The same where ||b(x_t)|| ||S|| < Lambda_t.",
        goal,
        rules.cauchy_schwarz("<b, S>", bias, delayed_sum),
        given=("<b, S>", "bias"),
        under=(transfer, faithful),
    )
    return Part(
        "learning",
        Statement(
            "Where Lambda_t > 0, the step -beta S on the current data lowers f to first order: <grad f(x_t), S> > 0.",
            goal,
            (transfer,),
        ),
        Repair(
            "needs-hypothesis",
            "the memory's bias must be small beside Lambda_t, ||b(x_t)|| ||S|| < Lambda_t; a memory of everything has "
            "none",
            mended,
        ),
        reading="enhancing learning on the previous task as lowering its loss f to first order",
    )


def sec5_transference() -> Claim:
    """What the sign of Lambda_t does to Gamma(t)."""
    large = Fact("m", below(1, m), "m > 1, as the text grants before.")
    first, Gamma = L * beta**2 * sum2 / 2, forgetting(beta, alpha)
    transfer = Fact("transference", below(0, Lambda), "Lambda_t > 0.")
    interfere = Fact("interference", at_most(Lambda, 0), "Lambda_t <= 0.")
    given = ("alpha", "m")
    lowers = shown(
        "Where Lambda_t > 0, Gamma(t) is below its first term (L/2) beta^2 ||S||^2.",
        below(Gamma, first),
        given=(*given, "transference"),
        under=(STEP_SIZE, large, transfer),
    )
    raises = shown(
        "Where Lambda_t <= 0, Gamma(t) is at least its first term (L/2) beta^2 ||S||^2.",
        at_most(first, Gamma),
        given=(*given, "interference"),
        under=(STEP_SIZE, large, interfere),
    )
    return Claim(
        "cflag.sec5_transference",
        "text after (15)",
        "Transference lowers Gamma, interference raises it",
        (Part("lowers", lowers), Part("raises", raises), _learning()),
        (
            "Decrease and increase are read against Lambda_t = 0 with the same ||S||. For m < 1 and 1/L < alpha < "
            "2/(L(1 + m)) both are the other way round: cflag.sec5_sign.",
            "On the current task S is near E grad g(x_t) for small beta L E, by Lemmas 13 and 16, and lowers g to "
            "first order whatever Lambda_t is.",
        ),
    )


def sec5_rescaling() -> Claim:
    """Rescaling by beta*/alpha: of the displacement on the current data, or of the whole update."""
    memory_step, displacement = alpha * update.grad_f_memory, x - x_mean
    target = x - memory_step - beta_star * S
    factor = beta_star / alpha
    right = equal(x - memory_step - factor * displacement, target)
    known = (ONE_RATE, MEAN_DRIFT)
    given = ("one rate", "(22)")
    aim = "x_t - alpha grad_f_memory - beta* S, the round update (24) with beta* in place of beta"
    sums = Part(
        "sums",
        shown(
            f"With x_t - x_{{t,E}}^i multiplied by beta*/alpha, and the memory step as it is, the server makes {aim}.",
            right,
            given=given,
            under=known,
        ),
        reading="the clients' displacements on the current data are rescaled, as in line 13 of Algorithm 3",
    )
    updates = Part(
        "updates",
        Statement(
            f"With alpha grad_f_memory + x_t - x_{{t,E}}^i multiplied by beta*/alpha, the server makes {aim}.",
            equal(x - factor * (memory_step + displacement), target),
            known,
        ),
        Repair(
            "typo",
            "rescale x_t - x_{t,E}^i in place of the whole update",
            shown("The same with x_t - x_{t,E}^i rescaled alone.", right, given=given, under=known),
        ),
        reading="what the clients transmit, Delta x_t^i, is rescaled, which contains the memory step",
    )
    return Claim(
        "cflag.sec5_rescaling",
        "text after (16)",
        "Rescaling the client updates by beta*/alpha",
        (sums, updates),
        (
            "The server receives Delta x_t^i in one piece (Sec. 3; line 10 of Algorithm 1). To rescale the "
            "displacements alone it subtracts the memory step, which it knows: alpha grad_f_memory(x_t) is the same "
            "for all clients.",
            "Delta x_t^i is read with the sign that makes line 12 of Algorithm 1 the round update: cflag.alg1.",
            "Whether beta* is positive is part step size of cflag.eq16.",
        ),
    )


CLAIMS = {"cflag.sec5_transference": sec5_transference, "cflag.sec5_rescaling": sec5_rescaling}
