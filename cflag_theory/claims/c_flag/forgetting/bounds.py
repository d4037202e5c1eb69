"""Bounds on the forgetting term by h~: (161)-(165), and the constants of Lemma 18."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.forgetting.terms import LEMMA11, RATIO, Gamma, omega2
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import FOR_NO_CONSTANT, Claim, Fact, Part, Repair, Sharp, Statement, shown
from cflag_theory.claims.engine.notation import E, L, alpha, beta, m, r, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Instance, Obligation, Proof, by_induction

t = symbol("t", "t", nonnegative=True, integer=True)
T = symbol("T", "T", positive=True, integer=True)
h = sequence("union_value", r"\tilde h(x_{@})", real=True)
decrease = symbol("Delta", r"\Delta_{\tilde h}", real=True)
ratio = symbol("Q_over_Z", r"\frac{Q}{Z}", real=True)
Q_constant = symbol("Q", "Q", real=True)
bound_sum = sequence("bound_sum", r"\sum_{t<@}[\frac{Q}{Z}\{\tilde h(x_t)-\tilde h(x_{t+1})\}+Q\omega^2]", real=True)
Gamma_at = sequence("Gamma_at_round", r"\Gamma(@)", real=True)
Gamma_total = sequence("Gamma_total", r"\sum_{s<@}\Gamma(s)", real=True)
largest_ratio = symbol(
    "largest_ratio", r"\max_{t<T}\frac{\|\nabla f^\dagger(x_t)\|}{\|\nabla g(x_t)\|}", nonnegative=True
)
excess = symbol("excess", r"\max_{t<T}\{\Gamma(t)-\frac{Q}{Z}[\tilde h(x_t)-\tilde h(x_{t+1})]-Q\omega^2\}", real=True)
RATIO_OF_RUN = Fact("(30)", at_most(largest_ratio, r), "||grad f_memory(x_t)|| <= r ||grad g(x_t)|| in every round.")
K = symbol("K", "K", positive=True)


def Q() -> sp.Expr:
    """Q = 72 beta^4 L^3 E^4 + 4 beta^2 L E^2 + 2 r beta E (1 - L alpha)(6 beta L E + 1), after (161)."""
    lead = 72 * beta**4 * L**3 * E**4 + 4 * beta**2 * L * E**2
    return lead + 2 * r * beta * E * (1 - L * alpha) * (6 * beta * L * E + 1)


def Z() -> sp.Expr:
    """Z = beta E (1 - 80 beta^3 L^3 E^3 - 10 beta L E), after (161)."""
    return beta * E * (1 - 80 * beta**3 * L**3 * E**3 - 10 * beta * L * E)


u = sp.Symbol("u", positive=True)
CONSTANT_STEP = Fact("beta", equal(beta, 1 / (60 * L * E)), "beta = 1/(60 L E).")
STEP_SIZE = Fact("alpha", below(alpha, 2 / (L * (1 + m))), "alpha < 2 / (L (1 + m)), as Lemmas 4 and 18 allow.")
SMALL_STEP = Fact("small alpha", at_most(L * alpha, 1), "alpha <= 1/L.")


def eq177(slope: Any = 16, constant: Any = 22) -> Claim:
    """(177) with the printed constants, or others in their place."""
    q = 1 - L * alpha
    # Q = (E beta) above and Z = (E beta) under, in u = beta L E; at u = 1/60 both are numbers but for r q.
    above, under = 72 * u**3 + 4 * u + 2 * r * q * (6 * u + 1), 1 - 80 * u**3 - 10 * u
    at = {u: sp.Rational(1, 60)}
    under_at = under.subs(at)
    exact_slope, exact_constant = 2 * (6 * u + 1).subs(at) / under_at, (72 * u**3 + 4 * u).subs(at) / under_at
    # above/under at 1/60 minus above/under is (u - 1/60) quotient / (under_at under), and u - 1/60 = L E (beta - ...).
    gap = above.subs(at) * under - above * under_at
    quotient = sp.div(gap, u - at[u], u)[0] / under_at * L * E
    product = {u: beta * L * E}
    positive = Obligation("Z > 0", below(0, under.subs(product)), ("beta",))

    def statement(a: sp.Expr, b: sp.Expr, words: str, hypotheses: tuple[Fact, ...]) -> Statement:
        goal = at_most(Q() / Z(), a * r * q + b)
        certificate = (
            (a - exact_slope) * r * slack("small alpha")
            + (b - exact_constant)
            + quotient.subs(product) / slack("Z > 0") * residual("beta")
        )
        follows = Obligation("the statement follows", goal, ("small alpha", "beta", "Z > 0"), certificate)
        return Statement(words, goal, hypotheses, Proof((positive, follows)) if SMALL_STEP in hypotheses else None)

    words = f"Q/Z <= {slope} r (1 - L alpha) + {constant} at beta = 1/(60 L E)"
    printed = statement(slope, constant, words + ", for every alpha < 2/(L(1 + m)).", (CONSTANT_STEP, STEP_SIZE))
    mended = statement(slope, constant, words + ", for alpha <= 1/L.", (CONSTANT_STEP, STEP_SIZE, SMALL_STEP))
    identity = equal(Q() / Z(), exact_slope * r * q + exact_constant)
    at_step = Obligation(
        "the statement follows",
        identity,
        ("beta", "Z > 0"),
        quotient.subs(product) / slack("Z > 0") * residual("beta"),
    )
    sharpened = Statement(
        f"Q/Z = {exact_slope} r (1 - L alpha) + {exact_constant} at beta = 1/(60 L E).",
        identity,
        (CONSTANT_STEP, STEP_SIZE),
        Proof((positive, at_step)),
    )
    repair = Repair(
        "needs-hypothesis",
        "alpha <= 1/L: for 1/L < alpha < 2/(L(1 + m)), possible when m < 1, the factor 1 - L alpha is negative and a "
        "large r makes the right side fall faster than the left; m >= 1 implies alpha <= 1/L and is enough",
        mended,
    )
    return Claim(
        "cflag.eq177",
        "(177)",
        "Q/Z at the constant step size of Lemma 18",
        (
            Part(
                "1",
                printed,
                repair,
                Sharp("the coefficient of r (1 - L alpha)", sp.sympify(slope), exact_slope, sharpened),
            ),
        ),
        (
            f"Q/Z is exactly {exact_slope} r (1 - L alpha) + {exact_constant}; the printed pair bounds it with factors "
            f"{float(slope / exact_slope):.2f} and {float(constant / exact_constant):.0f} to spare.",
        ),
    )


_CONSTANT178, _SLOPE178 = sp.Rational(11, 60), sp.Rational(2, 15)


def eq178(constant: Any = _CONSTANT178, slope: Any = _SLOPE178) -> Claim:
    """(178) with the printed constants, or others in their place."""
    q = 1 - L * alpha
    at_step = {u: sp.Rational(1, 60)}
    exact_slope = sp.Rational(1, 60) * 2 * (6 * u + 1).subs(at_step)
    exact_constant = sp.Rational(1, 60) * (72 * u**3 + 4 * u).subs(at_step)
    identity = equal(Q(), exact_constant / L + exact_slope * r / L * q)
    goal = at_most(Q(), constant / L + slope * r / L * q)
    words = f"Q <= {constant} / L + {slope} (r/L) (1 - L alpha) at beta = 1/(60 L E)"
    hypotheses = (CONSTANT_STEP, STEP_SIZE)
    mended = shown(words + ", for alpha <= 1/L.", goal, given=("beta", "small alpha"), under=(*hypotheses, SMALL_STEP))
    sharpened = shown(
        f"Q = {exact_constant} / L + {exact_slope} (r/L) (1 - L alpha) at beta = 1/(60 L E).",
        identity,
        given=("beta",),
        under=hypotheses,
    )
    repair = Repair(
        "needs-hypothesis",
        "alpha <= 1/L: for 1/L < alpha < 2/(L(1 + m)), possible when m < 1, a large r makes the right side fall faster "
        "than Q",
        mended,
    )
    best = Sharp("the coefficient of (r/L) (1 - L alpha)", sp.sympify(slope), exact_slope, sharpened)
    return Claim(
        "cflag.eq178",
        "(178)",
        "Q at the constant step size of Lemma 18",
        (Part("1", Statement(words + ", for every alpha < 2/(L(1 + m)).", goal, hypotheses), repair, best),),
        (
            f"Q is exactly {exact_constant} / L + {exact_slope} (r/L) (1 - L alpha); the printed pair bounds it with "
            f"factors {float(slope / exact_slope):.2f} in r (1 - L alpha) and "
            f"{float(constant / exact_constant):.0f} in the constant to spare.",
        ),
    )


def eq161() -> Claim:
    """(161) along Algorithm 1."""
    goal = at_most(Gamma, Q() / Z() * (h(t) - h(t + 1)) + Q() * omega2)
    positive = Fact("Z > 0", below(0, Z()), "Z > 0: 80 u^3 + 10 u < 1 with u = beta L E.")
    printed = Statement(
        "Gamma(t) <= (Q/Z) [h~(x_t) - h~(x_{t+1})] + Q omega^2 along Algorithm 1, for alpha < 2/(L(1 + m)); granted "
        "Z > 0, which the paper does not ask for.",
        goal,
        (STEP_SIZE, RATIO, LEMMA11, positive),
    )
    return Claim(
        "cflag.eq161",
        "(161)",
        "The forgetting term by the decrease of h~",
        (Part("1", printed),),
        (
            "Step (b) uses (70), the descent of h~ along (67)-(68): tracking on the union of both data sets, with one "
            "step size. Algorithm 1 steps on memory with alpha and may raise h~ while it forgets; then the right side "
            "is negative and Gamma(t) is not.",
            "(70) is printed with |h~(x_t)|^2 for ||grad h~(x_t)||^2, and Z is positive only below u = 0.0934..., "
            "while Lemma 4 admits every beta.",
            "What can be proved instead: (160) itself for alpha <= 1/L and beta <= 1/(12 L E), by cflag.eq151, "
            "cflag.eq156, cflag.eq158 and cflag.eq160; and, for every alpha and beta, ours.forgetting_step.",
        ),
    )


def eq163() -> Claim:
    """(162) = (163): the sum telescopes."""

    def summed(index: sp.Expr) -> Any:
        return equal(bound_sum(index), ratio * (h(0) - h(index)) + Q_constant * index * omega2)

    facts = (
        Fact("empty sum", equal(bound_sum(0), 0), "The sum over t < 0 is empty."),
        Fact(
            "next term",
            equal(bound_sum(t + 1), bound_sum(t) + ratio * (h(t) - h(t + 1)) + Q_constant * omega2),
            "One more term at t, with Q and Z the same in every round.",
        ),
    )
    telescope = by_induction("telescoping", t, summed(t), start=("empty sum",), given=("next term",))
    goal = summed(T)
    proof = Proof((telescope, Instance("the statement follows", "telescoping", t, T)))
    printed = Statement(
        "sum_{t<T} [(Q/Z) {h~(x_t) - h~(x_{t+1})} + Q omega^2] = (Q/Z) [h~(x_0) - h~(x_T)] + Q T omega^2 for constant "
        "step sizes.",
        goal,
        proof=proof,
        definitions=facts,
    )
    positive = Fact("Z > 0", below(0, Z()), "Z > 0: 80 u^3 + 10 u < 1 with u = beta L E.")
    below_bound = at_most(Gamma_total(T), Q() / Z() * (h(0) - h(T)) + Q() * T * omega2)
    bounded = Statement(
        "(162): sum_{t<T} Gamma(t) <= sum_{t<T} [(Q/Z) {h~(x_t) - h~(x_{t+1})} + Q omega^2] along Algorithm 1, for "
        "alpha < 2/(L(1 + m)); granted Z > 0.",
        below_bound,
        (STEP_SIZE, RATIO_OF_RUN, positive),
    )
    total = at_most(Gamma_total(t), ratio * (h(0) - h(t)) + Q_constant * t * omega2)
    given = ("no round", "next round", "rounds", "(161)")
    step = by_induction("summed", t, total, start=given[:1], given=given[1:])
    granted = Statement(
        "The same, granted (161) in every round.",
        total.subs({t: T}),
        (Fact("(161)", at_most(excess, 0), "Gamma(t) <= (Q/Z) [h~(x_t) - h~(x_{t+1})] + Q omega^2 in every round."),),
        Proof((step, Instance("the statement follows", "summed", t, T))),
        (
            Fact("no round", equal(Gamma_total(0), 0), "The sum over t < 0 is empty."),
            Fact("next round", equal(Gamma_total(t + 1), Gamma_total(t) + Gamma_at(t)), "One more round."),
            Fact(
                "rounds",
                at_most(Gamma_at(t) - ratio * (h(t) - h(t + 1)) - Q_constant * omega2, excess),
                "The largest excess is none less than that of round t.",
            ),
        ),
    )
    return Claim(
        "cflag.eq163",
        "(162)-(163)",
        "Telescoping",
        (
            Part("1", printed),
            Part("162", bounded, reading="for Algorithm 1"),
            Part("step", granted, reading="as a step from what is printed before it"),
        ),
        (
            "Part 162 fails with (161), for one round and for more; cflag.eq161 says what can be proved instead.",
            "h~ must be one function: it is when the memory is drawn once, and is not when it is drawn anew.",
        ),
    )


def eq164(slip: Any = L) -> Claim:
    """(164) with Q and Z put in, and the O(...) of (165)."""
    q, product = 1 - L * alpha, beta * L * E
    lead = 72 * beta**4 * L**3 * E**4 + 4 * beta**2 * L * E**2
    rest = T * Q() * omega2
    positive = Fact("Z > 0", below(0, Z()), "Z > 0, so that (163) is defined.")
    of_163 = Q() / Z() * decrease + Q() * T * omega2

    def of_164(factor: sp.Expr) -> sp.Expr:
        tracked = 4 * beta * L * factor * E + 2 * beta * L * E + 1
        return (lead + 2 * r * beta * E * q * tracked) / Z() * decrease + rest

    mended = equal(of_163, of_164(sp.S.One))
    first = Part(
        "1",
        Statement(
            "(163) <= (164), with 4 beta L^2 E + 2 beta L E + 1 in the first fraction.",
            at_most(of_163, of_164(slip)),
            (positive,),
        ),
        Repair(
            "typo",
            "4 beta L E in place of 4 beta L^2 E: with L^2 the line fails for L < 1",
            shown("(163) = (164) with 4 beta L E + 2 beta L E + 1.", mended, given=("Z > 0",), under=(positive,)),
        ),
    )
    # (165) without its constant: brackets of Delta and of T omega^2.
    small = beta**3 * L**3 + 3 * beta * L + 1
    noise = T * (beta**4 * L**3 + beta**2 * L + beta * (beta * L + 1)) * omega2
    under = 1 - 80 * product**3 - 10 * product
    C = (72 + 14 * r) * E**4
    bounded = at_most(of_164(sp.S.One), C * (small / under * decrease + noise))
    falls = Fact("Delta", at_most(0, decrease), "h~(x_T) <= h~(x_0): an O(...) bounds sizes.")
    steps = Fact("E", at_most(1, E), "E is at least 1.")
    shift = 1 + slack("E")
    tail = 2 * r * L * alpha * (6 * product + 1)
    room = sp.expand((72 + 14 * r) * E**4 * small - 72 * product**3 - 4 * product - 2 * r * (6 * product + 1))
    room_noise = sp.expand(
        C * (beta**4 * L**3 + beta**2 * L + beta * (beta * L + 1)) - lead - 2 * r * beta * E * (6 * product + 1)
    )
    certificate = slack("Delta") * (room.subs(E, shift) + tail) * beta * E / slack("Z > 0") + T * omega2 * (
        room_noise.subs(E, shift) + beta * E * tail
    )
    repaired = shown(
        "(164) <= (72 + 14 r) E^4 [(beta^3 L^3 + 3 beta L + 1) / (1 - 80 beta^3 L^3 E^3 - 10 beta L E) Delta + T "
        "(beta^4 L^3 + beta^2 L + beta (beta L + 1)) omega^2].",
        bounded,
        given=("E", "Z > 0", "Delta"),
        certificate=certificate,
        under=(steps, positive, falls),
    )
    second = Part(
        "2",
        Statement(
            "(165): (164) is at most a constant, which may depend on E and r, times (beta^3 L^4 + beta L + beta L^2 + "
            "beta L + 1) / (1 - beta^3 L^3 - 10 beta L) Delta + T (...) omega^2, wherever Z > 0 and Delta >= 0.",
            None,
            (steps, positive, falls),
        ),
        Repair(
            "typo",
            "leave the denominator as it is: constants may be dropped above a fraction bar, not below it",
            repaired,
        ),
        refutation=_blow_up(),
        unseen=FOR_NO_CONSTANT,
    )
    return Claim(
        "cflag.eq164",
        "(164)-(165)",
        "Q and Z put in, and the order of the bound",
        (first, second),
        (
            "The slip of (164) goes on into (165), as beta L^2; there it is a matter of constants.",
            "(165) also drops the factor 1 - L alpha, and E and r, which an O(...) may.",
        ),
    )


def _blow_up() -> Statement:
    """With E = 2 and L = 1, (164) exceeds K times (165) for every K, at a beta with Z > 0."""
    w = 2 * beta
    gap = 1 / (1 + 8 * K)
    at_gap = Fact(
        "beta",
        equal(1 - 80 * w**3 - 10 * w, gap),
        "E = 2, L = 1, alpha = 1/L (m < 1), omega = 0, Delta = 1, any r, and beta with 1 - 80 (2 beta)^3 - 10 (2 beta) "
        "= 1/(1 + 8K): there is one by continuity, since the left side falls from 1 at 0 below 0 at 2 beta = 1/10.",
    )
    under = 1 - beta**3 - 10 * beta
    above = beta**3 + 3 * beta + 1
    back = residual("beta")
    # 10 w = 1 - 80 w^3 - gap - back, that is beta = (1 - gap - 640 beta^3 - back) / 20.
    half = sp.Rational(1, 2)
    denominators = Obligation("denominator of (165)", at_most(half, under), ("beta",))
    right = Obligation("fraction of (165)", at_most(above / under, 3), ("beta", "denominator of (165)"))
    left = (72 * w**3 + 4 * w) / gap
    goal = below(K * above / under, left)
    # 72 w^3 + 4 w = 40 w^3 + (2/5)(80 w^3 + 10 w), and the bracket is 1 - gap - back.
    follows = Obligation(
        "the statement follows",
        goal,
        ("beta", "fraction of (165)"),
        K * slack("fraction of (165)") + K / 5 + (1 + 8 * K) * (40 * w**3 - sp.Rational(2, 5) * back),
    )
    return Statement(
        "For every K the first fraction of (164) exceeds K times that of (165): as Z tends to 0 the one grows without "
        "bound while the other stays below 3.",
        goal,
        (at_gap,),
        Proof((denominators, right, follows)),
    )


CLAIMS = {
    "cflag.eq161": eq161,
    "cflag.eq163": eq163,
    "cflag.eq164": eq164,
    "cflag.eq177": eq177,
    "cflag.eq178": eq178,
}
