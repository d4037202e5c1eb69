"""What Supplement 3.1 and 3.2 say of one client's term and its rates, besides Table 1."""

from __future__ import annotations

from cflag_theory.claims.c_flag.adaptive.clients import (
    ALPHA_I,
    INTERFERENCE,
    MEMORY,
    TRANSFERENCE,
    Lambda_i,
    a_i,
    alpha_i,
    beta_i,
    client_term,
    memory,
    q,
    weight,
)
from cflag_theory.claims.c_flag.past_task.descent import STEP_SIZE
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Repair, Statement, shown
from cflag_theory.claims.engine.notation import L, alpha, beta, symbol
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Obligation

least = symbol("Gamma_i_star", r"\Gamma_i^*", real=True)
mean_least = symbol("mean_Gamma_i_star", r"\mathbb{E}[\Gamma_i^*]", real=True)
larger = symbol("beta_larger", r"\beta'", positive=True)

RATE = Fact("rate", equal(beta_i * L * weight * a_i**2, q * Lambda_i), "beta*_{t,i} with w_i = p_i or N p_i.")
MOVING = Fact("a_i", below(0, a_i), "a_i is not zero.")
AT_RATE = Fact("least", equal(least, client_term(beta_i, alpha)), "Gamma_i* is the client's term at beta*_{t,i}.")
SMALL = Fact("small alpha", below(L * alpha, 1), "alpha < 1/L.")


def _value() -> Part:
    found = -((q * Lambda_i) ** 2) / (2 * L * weight * a_i**2)
    mended = shown(
        "Gamma_i* = -[(1 - L alpha) Lambda_i]^2 / (2 L w_i ||a_i||^2).",
        equal(least, found),
        given=("least", "rate", "a_i"),
        under=(MOVING,),
        where=(RATE, AT_RATE),
    )
    return Part(
        "value",
        Statement(
            "𝔼_M[Gamma_i*] = -[(1 - L alpha) Lambda_i]^2 / (2 L w_i ||a_i||^2), with the round's Lambda_i and a_i on "
            "the right; w_i = p_i in the average case, N p_i in the worst.",
            equal(mean_least, found),
            (MOVING,),
            None,
            (RATE, AT_RATE),
        ),
        Repair("typo", "drop the expectation on the left, or take it on the right as well", mended),
    )


def _negative() -> Part:
    goal = below(least, 0)
    known = (STEP_SIZE, TRANSFERENCE, MOVING)
    apart = Fact("not 1/L", below(0, q**2), "alpha is not 1/L.")
    mended = shown(
        "The same for alpha other than 1/L.",
        goal,
        Obligation("value", equal(2 * L * weight * a_i**2 * least, -((q * Lambda_i) ** 2)), ("least", "rate")),
        Obligation("once", below(0, q**2 * Lambda_i), ("not 1/L", "transference")),
        Obligation("square", below(0, (q * Lambda_i) ** 2), ("once", "transference")),
        given=("value", "square", "a_i"),
        under=(*known, apart),
        where=(RATE, AT_RATE),
    )
    return Part(
        "negative",
        Statement(
            "Under transference Gamma_i* < 0, for every alpha < 2/(L(1 + m)).", goal, known, None, (RATE, AT_RATE)
        ),
        Repair("needs-hypothesis", "alpha must not be 1/L, where beta*_{t,i} = 0 and Gamma_i* = 0", mended),
    )


def _interference() -> Part:
    goal = below(beta_i, 0)
    known = (STEP_SIZE, INTERFERENCE, MOVING)
    strict = Fact("strict", below(Lambda_i, 0), "Lambda_{t,i} < 0.")
    mended = shown(
        "The same for alpha < 1/L and Lambda_{t,i} < 0.",
        goal,
        given=("rate", "strict", "small alpha", "a_i"),
        under=(*known, strict, SMALL),
        where=(RATE,),
    )
    return Part(
        "interference",
        Statement(
            "Under interference beta*_{t,i} is negative, for every alpha < 2/(L(1 + m)).", goal, known, None, (RATE,)
        ),
        Repair(
            "needs-hypothesis",
            "alpha < 1/L, which m >= 1 would imply, and Lambda_{t,i} < 0; at Lambda_{t,i} = 0 the rate is zero",
            mended,
        ),
    )


def _increasing() -> Part:
    goal = at_most(client_term(beta, alpha), client_term(larger, alpha))
    more = Fact("rates", at_most(beta, larger), "0 < beta <= beta'.")
    known = (STEP_SIZE, INTERFERENCE, more)
    most = Fact("alpha <= 1/L", at_most(L * alpha, 1), "alpha <= 1/L.")
    mended = shown(
        "The same for alpha <= 1/L.",
        goal,
        Obligation("slope", at_most(0, -q * Lambda_i), ("interference", "alpha <= 1/L")),
        given=("rates", "slope"),
        under=(*known, most),
    )
    return Part(
        "increasing",
        Statement(
            "Under interference the client's term does not fall as beta_t > 0 grows, for every alpha < 2/(L(1 + m)).",
            goal,
            known,
        ),
        Repair("needs-hypothesis", "alpha <= 1/L, which m >= 1 would imply", mended),
    )


def _effect() -> Part:
    one_rate = Fact("beta_i", equal(beta_i, alpha), "beta_{t,i} = alpha.")
    goal = equal(alpha_i * memory**2 + beta_i * Lambda_i, alpha * memory**2)
    return Part(
        "effect",
        shown(
            "With alpha_{t,i} and beta_{t,i} = alpha the client's step has the component along grad_f_memory that the "
            "memory step alone has with alpha: alpha_{t,i} ||grad_f_memory||^2 + beta_{t,i} Lambda_i = alpha "
            "||grad_f_memory||^2.",
            goal,
            given=("alpha_i", "beta_i"),
            under=(INTERFERENCE, MEMORY, one_rate),
            where=(ALPHA_I,),
        ),
    )


def client_rates() -> Claim:
    """One client's least term, its sign, and the choice under interference."""
    return Claim(
        "cflag.client_rates",
        "Supplement 3.1 and 3.2, text after (185) and (191)",
        "One client's least term and its rates",
        (_value(), _negative(), _interference(), _increasing(), _effect()),
        (
            "Sec. 5 grants m > 1 before (16), with which alpha < 1/L. Supplement 3.1 does not; for such m the parts "
            "negative and increasing are true, and so is interference wherever Lambda_{t,i} is not zero.",
            "Supplement 3.2 prints part negative for the worst case without transference; at Lambda_{t,i} = 0 the term "
            "is zero.",
            "Supplement 3.1 says that a negative rate violates the constraint of (14), which as printed constrains "
            "alpha_t alone: cflag.eq14.",
            "Part effect holds to the letter for beta_{t,i} = alpha. Line 11 of Algorithm 3 keeps beta; then the rate "
            "that cancels is alpha - beta Lambda_i / ||grad_f_memory||^2.",
        ),
    )


CLAIMS = {"cflag.client_rates": client_rates}
