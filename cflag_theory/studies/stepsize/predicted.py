"""What the theorems of the C-FLAG paper and our own predict at given numbers.

Every right-hand side is taken from its claim; only sums along the run are put in: ||grad g(x_t)||^2 by its mean
`grad_g`^2, differences of values by the initial gaps, and the forgetting term of Theorem 2 by `ours.forgetting_step`,
which for every alpha and beta bounds it by `r` and `grad_g`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import sympy as sp

from cflag_theory.claims.c_flag.forgetting import average as average_forgetting
from cflag_theory.claims.c_flag.forgetting import terms
from cflag_theory.claims.c_flag.forgetting.ours.step import sigma
from cflag_theory.claims.c_flag.forgetting.terms import gap as abs_gap
from cflag_theory.claims.c_flag.past_task import theorem5 as limits
from cflag_theory.claims.c_flag.past_task.ours.bounded_gradients import g_mean, omega, q
from cflag_theory.claims.c_flag.past_task.ours.first_rounds import RANGE, F, W, size_g
from cflag_theory.claims.c_flag.past_task.runs import (
    S2_sum,
    T,
    bias_dot_S_sum,
    f_mean,
    grad_dot_S_sum,
    grad_g2_sum,
    reach,
    root_m,
)
from cflag_theory.claims.engine.claim import Fact, Statement
from cflag_theory.claims.engine.notation import L, alpha, beta, grad_g, m, r
from cflag_theory.claims.ledger import claim

HELD, SQRT = "beta held", "beta = c/sqrt(T)"
BOTH = (HELD, SQRT)

# Numbers besides L, m, E, T, alpha and beta. G bounds the root of the mean of ||grad g(x_t)||^2.
G = average_forgetting.G
grad_g0, gap_g, gap_h, memory_gap = sp.symbols("grad_g0 gap_g gap_h memory_gap", nonnegative=True)
#: Symbol of each number, by the name of its option, and what it is.
INPUTS: dict[str, tuple[sp.Symbol, str]] = {
    "gap": (F, "f(x_0) - inf f"),
    "grad_g": (G, "root mean square of ||grad g(x_t)|| over the rounds"),
    "grad_g0": (grad_g0, "||grad g(x_0)||"),
    "gap_g": (gap_g, "g(x_0) - inf g"),
    "gap_h": (gap_h, "initial gap of h~, and of h^ = (alpha f_memory + beta E g) / (alpha + beta E)"),
    "omega": (terms.omega2, "omega of Lemma 11"),
    "memory_gap": (memory_gap, "largest ||grad f_memory(x_t) - grad g(x_t)||"),
    "r": (r, "r of Lemma 10"),
}

_AT_STEP = "alpha = 1/(L(1+m))"
_FIRST_W = "W >= 1, ours.first_rounds"


@dataclass(frozen=True)
class Theorem:
    """One bound in L, m, E, T, alpha, beta and `INPUTS`; `kind` is "printed", "repaired" or "proved".

    It needs `conditions` on the step sizes, and what `note` says. `laws` are how beta may follow T for the number of
    rounds to a target; none where the bound is not on a gradient.
    """

    claim: str
    kind: str
    quantity: str
    #: Makes the bound from its claim, for which its page is read: no answer waits for bounds that it does not show.
    make: Callable[[], sp.Expr]
    conditions: tuple[str, ...]
    laws: tuple[str, ...] = ()
    note: str = ""

    @cached_property
    def right(self) -> sp.Expr:
        """The bound."""
        return self.make()


@dataclass(frozen=True)
class Bound:
    """One predicted bound of a `Theorem` at the given numbers: infinite where it says nothing, None where numbers are
    missing (`needs`) or conditions are not met (`fails`).

    `rounds` maps how beta follows T to the rounds to the target; infinite where no number of rounds is enough. It is
    empty without a target, and for bounds that are not on a gradient.
    """

    claim: str
    kind: str
    quantity: str
    note: str
    value: float | None
    needs: tuple[str, ...]
    fails: tuple[str, ...]
    rounds: Mapping[str, float]


@cache
def c_flag_theorems() -> tuple[Theorem, ...]:
    """All bounds on the past task, the current task, their union and the forgetting term."""
    on_f, least_f = "mean ||grad f||^2", "min 𝔼||grad f||^2"
    on_Gamma = "mean 𝔼 Gamma"
    by_step = "Gamma by ours.forgetting_step"
    constant_60 = ("alpha < 2/(L(1+m))", "beta = 1/(60LE)")
    return (
        Theorem(
            "cflag.thm2",
            "printed",
            least_f,
            lambda: _theorem2(T * _forgetting_of_a_round()),
            (_AT_STEP,),
            BOTH,
            by_step,
        ),
        Theorem(
            "cflag.thm2",
            "repaired",
            least_f,
            lambda: _theorem2(T * _forgetting_of_a_round(), repaired=True),
            (_AT_STEP,),
            BOTH,
            f"memory drawn anew; {by_step}",
        ),
        Theorem(
            "cflag.thm5",
            "printed",
            least_f,
            _printed_theorem5,
            (_AT_STEP, "10u + 80u^3 < 1, u = beta L E"),
            BOTH,
            "its proof: Theorem 2 with (163)",
        ),
        Theorem(
            "cflag.thm5",
            "repaired",
            least_f,
            lambda: _with_constant("cflag.thm5", limits.Y),
            (_AT_STEP, "m < 1", "W >= 1, Theorem 5 repaired", "W <= T, Theorem 5 repaired"),
            (SQRT,),
        ),
        Theorem(
            "ours.drawn_once",
            "proved",
            on_f,
            lambda: _along_f("ours.drawn_once"),
            ("alpha <= 1/L", "m < 1"),
            BOTH,
        ),
        Theorem(
            "ours.redrawn",
            "proved",
            on_f.replace("||grad", "𝔼||grad"),
            lambda: _along_f("ours.redrawn"),
            ("alpha <= 1/L", "L alpha m < 1"),
            BOTH,
            "memory drawn anew",
        ),
        Theorem(
            "ours.first_rounds",
            "proved",
            least_f,
            _first_rounds,
            ("alpha <= 1/L", "m < 1", _FIRST_W),
            BOTH,
        ),
        Theorem(
            "ours.adaptive_descent",
            "proved",
            on_f,
            _adaptive_descent,
            ("alpha <= 1/L", "m < 1"),
            (HELD,),
            "one adapted beta_t for all clients",
        ),
        Theorem(
            "ours.bounded_gradients",
            "proved",
            "mean ||grad g||^2",
            lambda: right_of("ours.bounded_gradients", "1").subs(
                {g_mean(0): gap_g, g_mean(T): 0, q: reach() / alpha, omega: memory_gap}
            ),
            ("alpha <= 1/L", "q < 1, q = ((1+beta L)^E-1)/(L alpha)"),
            BOTH,
        ),
        Theorem(
            "cflag.lemma3",
            "printed",
            "min ||grad h~||^2",
            _printed_lemma3,
            ("alpha = beta = 1/(30LE)",),
            (HELD,),
        ),
        Theorem(
            "ours.algorithm1_descent",
            "proved",
            "min ||grad h^||^2",
            _algorithm1_descent,
            ("L (alpha + beta E) <= 1",),
            (HELD,),
        ),
        Theorem(
            "cflag.lemma4",
            "repaired",
            on_Gamma,
            lambda: _with_constant("cflag.lemma4", average_forgetting.K),
            ("alpha < 2/(L(1+m))",),
        ),
        Theorem("cflag.lemma18", "printed", on_Gamma, _printed_lemma18, constant_60, (), "its proof, (180)"),
        Theorem(
            "cflag.lemma18",
            "repaired",
            on_Gamma,
            lambda: _with_constant("cflag.lemma18", average_forgetting.K),
            constant_60,
        ),
        Theorem("ours.forgetting_step", "proved", on_Gamma, _forgetting_of_a_round, ()),
    )


def statement(id: str, key: str, *, repaired: bool = False) -> Statement:
    """A part of a claim, as printed or as repaired."""
    part = next(part for part in claim(id).parts if part.key == key)
    if repaired:
        assert part.repair is not None
        return part.repair.statement
    return part.printed


def right_of(id: str, key: str, *, repaired: bool = False) -> Any:
    """The right-hand side of a part."""
    relation = statement(id, key, repaired=repaired).relation
    assert relation is not None
    return relation.right


def defined(facts: tuple[Fact, ...], name: str) -> Any:
    """What a definition of this name says that its left side is."""
    return next(fact.relation.right for fact in facts if fact.name == name)


def _forgetting_of_a_round() -> Any:
    """`ours.forgetting_step`, part 1, with G^2 for ||grad g(x_t)||^2."""
    exact = defined(statement("ours.forgetting_step", "1").definitions, "sigma")
    plain = right_of("ours.forgetting_step", "1").subs({abs_gap: sp.Abs(1 - L * alpha), grad_g: G})
    return plain.subs(sigma, exact)


def _theorem2(Gamma: Any, *, repaired: bool = False) -> Any:
    """Theorem 2 with a bound on the sum of Gamma beside F."""
    sums = dict.fromkeys((S2_sum, grad_dot_S_sum, bias_dot_S_sum, f_mean(T)), 0)
    return right_of("cflag.thm2", "2" if repaired else "1", repaired=repaired).subs(sums | {f_mean(0): F + Gamma})


def _with_constant(id: str, inner: sp.Symbol) -> Any:
    """The repair of an O(.) with its explicit C, which is defined by way of `inner`; c is beta sqrt(T)."""
    facts = statement(id, "1", repaired=True).definitions
    C = defined(facts, "C").subs(inner, defined(facts, inner.name))
    plain = {average_forgetting.c: beta * sp.sqrt(T), average_forgetting.w: 1 / sp.sqrt(T), root_m: sp.sqrt(m)}
    bound = right_of(id, "1", repaired=True).subs(average_forgetting.C, C)
    return bound.subs(plain).subs(size_g(0), grad_g0)


def _along_f(id: str) -> Any:
    return right_of(id, "1").subs({f_mean(0): F, f_mean(T): 0, grad_g2_sum: T * G**2, root_m: sp.sqrt(m)})


def _adaptive_descent() -> Any:
    from cflag_theory.claims.c_flag.adaptive.ours.rates import f, f_least, mu, squares

    relation = statement("ours.adaptive_descent", "run").relation
    assert relation is not None
    rate = relation.left.subs(mu, sp.sqrt(m)).coeff(squares(T))
    return relation.right.subs({f(0): F, f_least: 0}) / (rate * T)


def _printed_theorem5() -> Any:
    from cflag_theory.claims.c_flag.forgetting.bounds import Q, Q_constant, Z, h, ratio

    values = {ratio: Q() / Z(), Q_constant: Q(), h(0): gap_h, h(T): 0}
    return _theorem2(right_of("cflag.eq163", "1").subs(values))


def _printed_lemma3() -> Any:
    from cflag_theory.claims.c_flag.union.surrogate import h

    return right_of("cflag.lemma3", "1").subs({h(0): gap_h, h(T): 0})


def _printed_lemma18() -> Any:
    return right_of("cflag.eq177", "1") * gap_h / T + right_of("cflag.eq178", "1") * terms.omega2


def _algorithm1_descent() -> Any:
    from cflag_theory.claims.c_flag.union.ours.rounds import mean_g2, target

    return right_of("ours.algorithm1_descent", "1").subs({target(0): gap_h, target(T): 0, mean_g2: G**2})


def _first_rounds() -> Any:
    """At the largest W that the range allows, at most T."""
    at_1 = RANGE.subs({W: 1, root_m: sp.sqrt(m)})
    longest = sp.Min(T, sp.floor(sp.sqrt(at_1.right / at_1.left)))
    bound = right_of("ours.first_rounds", "1").subs({root_m: sp.sqrt(m), size_g(0): grad_g0})
    return bound.subs(W, longest)
