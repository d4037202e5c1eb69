"""Lemma A.6: increasing weights and the harmonic sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.symbols import T
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.claim import Claim, Fact, Part, shown
from cflag_theory.claims.engine.notation import k, sequence, symbol
from cflag_theory.claims.engine.relation import at_most, below, equal
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Step, by_induction
from cflag_theory.claims.engine.terms import ln

# Lemma A.6: partial sums over s <= n, and rise_n = p_{n+1} - p_n.
p = sequence("increasing_weight", r"p_{@}", real=True)
rise = sequence("weight_rise", r"(p_{@+1}-p_{@})", nonnegative=True)
weight = sequence("weight_sum", r"\sum_{s\le @}p_s", real=True)
S = sequence("weighted_inverse_sum", r"\sum_{s\le @}\frac{p_s}{s}", real=True)
H = sequence("inverse_sum", r"\sum_{s\le @}\frac{1}{s}", nonnegative=True)
n = symbol("T_less_two", "n", nonnegative=True, integer=True)


INCREASING = (
    Fact("p", equal(p(k + 2), p(k + 1) + rise(k + 1)), "p_t <= p_{t+1}: the differences are not negative."),
    Fact("no weight", equal(weight(0), 0), "An empty sum."),
    Fact("weight", equal(weight(k + 1), weight(k) + p(k + 1)), "Partial sums of p."),
    Fact("no S", equal(S(0), 0), "An empty sum."),
    Fact("S", equal(S(k + 1), S(k) + p(k + 1) / (k + 1)), "Partial sums of p_s/s."),
)
HARMONIC = (
    Fact("no H", equal(H(0), 0), "An empty sum."),
    Fact("H", equal(H(k + 1), H(k) + 1 / (k + 1)), "Partial sums of 1/s."),
)


@dataclass(frozen=True)
class Falling:
    """Increasing weights on a falling sequence, and the facts that define their partial sums up to k.

    `member` is the member at k + 1, `fall` by how much the next one is smaller, `rise` by how much p(k + 2) exceeds
    p(k + 1). `facts` names p, the weights' sum, the weighted sum and the plain one, then the three empty sums.
    """

    p: Any
    weight: Any
    weighted: Any
    plain: Any
    member: sp.Expr
    fall: sp.Expr
    rise: sp.Expr
    facts: tuple[str, str, str, str, str, str, str]


def chebyshev(falling: Falling, end: sp.Expr) -> tuple[Step, ...]:
    """n S_n <= (p_1 + ... + p_n) A_n at n = end, as "all": the last step proves it for every n."""
    p, weight, S, plain, a = falling.p, falling.weight, falling.weighted, falling.plain, falling.member
    after = a.subs({k: k + 1})
    more, add, put, term, no_weight, no_sum, no_term = falling.facts
    last, reach = at_most(weight(k), k * p(k + 1)), at_most(k * a, plain(k))
    # That is the sum over s <= k of (p_{k+1} - p_s)(a_s - a_{k+1}), which is not negative.
    pairs = at_most(S(k) - weight(k) * a, p(k + 1) * (plain(k) - k * a))
    sums = at_most(k * S(k), weight(k) * plain(k))

    def at(relation: Any, index: Any) -> Any:
        return relation.subs({k: index})

    return (
        by_induction(
            "no more than the last",
            k,
            last,
            start=(no_weight,),
            given=(add, more),
        ),
        by_induction("reach", k, reach, start=(no_term,), given=(term,)),
        Induction(
            "pairs",
            k,
            pairs,
            Obligation("pairs at 0", at(pairs, 0), (no_sum, no_weight, no_term)),
            (
                Obligation("further reach", at(reach, k + 1), ("reach", term)),
                Obligation(
                    "pairs at k + 1",
                    at(pairs, k + 1),
                    ("pairs (hypothesis)", "further reach", "no more than the last", more, term, put, add),
                    slack("pairs (hypothesis)")
                    + falling.rise * slack("further reach")
                    + falling.fall * slack("no more than the last")
                    + residual(more) * (plain(k + 1) - (k + 1) * after)
                    + p(k + 1) * residual(term)
                    - residual(put)
                    + residual(add) * after,
                ),
            ),
        ),
        by_induction(
            "sums",
            k,
            sums,
            start=(no_weight,),
            given=("pairs", term, put, add),
        ),
        Instance("all", "sums", k, end),
    )


def _inverses(end: sp.Expr, one: str) -> tuple[Step, ...]:
    """S_T <= H_T / T; `one` says that the weights sum to one."""
    falling = Falling(
        p,
        weight,
        S,
        H,
        1 / (k + 1),
        1 / ((k + 1) * (k + 2)),
        rise(k + 1),
        ("p", "weight", "S", "H", "no weight", "no S", "no H"),
    )
    return (
        *chebyshev(falling, end),
        Obligation("Chebyshev", at_most(S(end), H(end) / end), ("all", one)),
    )


#: H_2 = 3/2 decides the constant.
_LEAD = sp.Rational(3, 2)


def lemA6(constant: Any = 1, lead: Any = _LEAD) -> Claim:
    """Chebyshev's sum inequality; `constant` scales part 1, `lead` over ln 2 the logarithm of part 2."""
    goal = at_most(S(T), constant * H(T) / T)
    first = shown(
        "sum_t p_t/t <= (1/T) sum_t 1/t for p_1 <= ... <= p_T with sum one.",
        goal,
        *_inverses(T, "sum p"),
        given=("Chebyshev",),
        under=(Fact("sum p", equal(weight(T), 1), "The weights sum to one."),),
        where=(*INCREASING, *HARMONIC),
    )
    harmonic = at_most(H(k + 2), sp.Rational(3, 2) + ln(k + 2) - ln(2))
    bound = at_most(S(n + 2), lead * ln(n + 2) / (ln(2) * (n + 2)))
    second = shown(
        "sum_t p_t/t <= (3/(2 ln 2)) ln(T)/T for T = n + 2 >= 2: the O(ln(T)/T) with an explicit constant.",
        bound,
        *_inverses(n + 2, "sum p"),
        rules.tangent_of_ln("ln 2 >= 1/2", sp.S.One, sp.S(2)),
        rules.tangent_of_ln("ln 2 <= 1", sp.S(2), sp.S.One),
        rules.tangent_of_ln("ln T >= ln 2", sp.S(2), n + 2),
        Obligation("ln 2 > 0", below(0, ln(2)), ("ln 2 >= 1/2",)),
        by_induction(
            "harmonic sums",
            k,
            harmonic,
            rules.tangent_of_ln("one term", k + 2, k + 3),
            start=("H_2", "H_1", "no H"),
            given=("one term", "H later"),
        ),
        Instance("H_T", "harmonic sums", k, n),
        given=("Chebyshev", "H_T", "ln 2 > 0", "ln 2 <= 1", "ln T >= ln 2"),
        under=(Fact("sum p", equal(weight(n + 2), 1), "The weights sum to one."),),
        where=(
            *INCREASING,
            *HARMONIC,
            Fact("H_1", equal(H(1), H(0) + 1), "The first partial sum of 1/s."),
            Fact("H_2", equal(H(2), H(1) + sp.Rational(1, 2)), "The second one."),
            Fact("H later", equal(H(k + 3), H(k + 2) + 1 / (k + 3)), "Partial sums of 1/s."),
        ),
    )
    return Claim(
        "cfl.lemA6",
        "Lemma A.6",
        "Chebyshev's sum inequality and its order",
        (Part("1", first), Part("2", second)),
        (
            "T is a number of rounds and p_t <= p_{t+1} is asked of t < T. The weights need not be positive.",
            "Both constants are attained by p_t = 1/T: part 1 for every T, part 2 at T = 2.",
            "At T = 1 the left side is 1 and ln T = 0; O(.) is read for T >= 2.",
            "The weights q_t = (1 - mu eta/2)^(1-t) of the strongly convex rate increase, as the lemma needs. For "
            "large T and fixed eta their last few carry nearly all the weight, and sum_t q_t/t, divided by "
            "sum_t q_t, is then of order 1/T without the logarithm.",
        ),
    )


CLAIMS = {"cfl.lemA6": lemA6}
