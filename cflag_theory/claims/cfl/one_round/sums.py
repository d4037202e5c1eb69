"""App. B.4.2: the recursion for the local drift, (19), and its sum, (20)."""

from __future__ import annotations

from typing import Any

import sympy as sp

from cflag_theory.claims.cfl.one_round.local_drift import (
    c_Bi,
    c_Gi,
    from_t,
    k_steps,
    local_grad2,
    moved2,
    rho_i2,
    sum_each2,
)
from cflag_theory.claims.cfl.one_round.progress import (
    gap,
)
from cflag_theory.claims.cfl.one_round.turning import last_gradient2, turn, turned, turned2
from cflag_theory.claims.cfl.symbols import K, eta_l, sigma2
from cflag_theory.claims.cfl.vectors import E, client, j, local_gradient, no_less_than_least, w_t, x
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Claim, Fact, Pairs, Part, Repair, Source, Statement
from cflag_theory.claims.engine.notation import L, symbol
from cflag_theory.claims.engine.operators import Largest, sum_over
from cflag_theory.claims.engine.relation import Relation, at_most, below
from cflag_theory.claims.engine.steps import Obligation, Proof, Step
from cflag_theory.claims.engine.terms import norm, norm2

# (19), (20).
_moved2 = E(norm(x(client, j) - w_t) ** 2)
before2 = symbol(
    "moved_before2",
    r"{\mathbb{E}\|\omega_{t,i,k-1}-\omega_t\|^2}",
    E(norm(x(client, k_steps - 1) - w_t) ** 2),
    nonnegative=True,
)
_most_before = Largest(j, k_steps - 1, _moved2)
most_before2 = symbol(
    "most_before2", r"\max_{\tau<k}\mathbb{E}\|\omega_{t,i,\tau}-\omega_t\|^2", _most_before, nonnegative=True
)
_so_far = sum_over(j, k_steps)
sum_before2 = symbol(
    "sum_before2", r"\sum_{\tau<k}\mathbb{E}\|\omega_{t,i,\tau}-\omega_t\|^2", _so_far(_moved2), nonnegative=True
)
_most = Largest(j, K, _moved2)
most2 = symbol("most_moved2", r"\max_{\tau\le K}\mathbb{E}\|\omega_{t,i,\tau}-\omega_t\|^2", _most, nonnegative=True)
BEFORE = Fact("j < k", at_most(j + 1, k_steps), "j runs over the steps before the k-th.")

#: For whom a display is said, where it is also a step from the displays before it.
OF_THE_RUN = "for Algorithm 2"
OF_THE_STEP = "as a step from what is printed before it"


def _constant(base: Any, lead: Any) -> sp.Expr:
    """(18) at w_t, its terms but the last times `lead`."""
    return lead * (base * L * c_Bi * gap + 2 * c_Gi) + 2 * rho_i2


def _of_17_18(left: sp.Expr, count: sp.Symbol = k_steps, lead: Any = 1) -> tuple[Source, ...]:
    """(17) with (18) in it, after `count` steps: as printed, or with their factors 2 if `lead` is 2."""
    each, so_far = E(norm2(local_gradient(client, j))), sum_over(j, count)
    # The largest is that of some k, and nothing says of which.
    taken_17: Pairs = ((moved2, left),) if left == most2 else ()
    at_17: Pairs = ((k_steps, count), (sum_each2, so_far(each)), *(() if taken_17 else ((moved2, left),)))
    taken_18 = ((local_grad2, each), (from_t, sp.sqrt(_moved2)))
    if lead == 1:
        return (
            Source("cfl.eq17", at=at_17, granted=True, taken=taken_17),
            Source("cfl.eq18", "2", over=(so_far,), granted=True, taken=taken_18),
        )
    needs = ("Lemma B.2", "Assumption 4")
    return (
        Source("cfl.eq17", on="repair", at=at_17, besides=("Assumption 2",), taken=taken_17),
        Source("cfl.eq18", "2", "repair", over=(so_far,), besides=needs, taken=taken_18),
    )


def _combined(left: sp.Expr, words: str, lead: Any = 1) -> Fact:
    sums = lead * 4 * L**2 * c_Bi * sum_before2 + k_steps * _constant(8, lead)
    right = lead * (k_steps * eta_l**2 * sums + k_steps * eta_l**2 * sigma2)
    return Fact("(17), (18)", at_most(left, right), words, sources=_of_17_18(left, lead=lead))


def _within(left: sp.Expr, largest: sp.Expr, count: sp.Expr, base: Any, lead: Any) -> Relation:
    """(17) with (18) in it, the earlier local drifts being at most `largest`."""
    gradient2 = lead * 4 * L**2 * c_Bi * largest + _constant(base, lead)
    return at_most(left, lead * (count**2 * eta_l**2 * gradient2 + count * eta_l**2 * sigma2))


def _earlier(largest: Largest, end: sp.Expr, given: tuple[str, ...]) -> tuple[Step, ...]:
    """The sum of the local drifts before step k by their largest, as "earlier"; and "gap"."""
    return (
        Obligation("earlier step", at_most(j, end), ("j < k", *given)),
        rules.member("each", largest, j, given="earlier step"),
        rules.mean("earlier", _so_far, given="each"),
        *no_less_than_least("gap"),
    )


OFFSETS = "drifts that do not depend on w (cfl.eq18)"


def _19(base: Any) -> tuple[Part, ...]:
    words = (
        "(19): 𝔼||w_{t,i,k} - w_t||^2 <= 4 k^2 eta_l^2 L^2 c_{pB,i} 𝔼||w_{t,i,k-1} - w_t||^2 + k^2 eta_l^2 (8 L "
        "c_{pB,i} (f(w_t) - f(w*)) + 2 c_{pG,i} + 2 (sum p)^2 R^2) + k eta_l^2 sigma^2"
    )
    goal, doubled = (_within(moved2, far, k_steps, base, lead) for far, lead in ((before2, 1), (most_before2, 2)))
    earlier = _earlier(_most_before, k_steps - 1, ())
    follows = Obligation("the statement follows", doubled, ("(17), (18)", "earlier", "gap"))
    mended = Statement(
        "(19) with the largest of the earlier local drifts in place of the last, a factor 2 before all terms, and "
        "another before those with c_{pB,i} and c_{pG,i}; for such drifts.",
        doubled,
        (_combined(moved2, "(17) and (18) as corrected there.", 2),),
        Proof((*earlier, follows)),
        (BEFORE,),
    )
    first = Part(
        "1",
        Statement(f"{words}.", goal),
        Repair(
            "needs-hypothesis",
            f"{OFFSETS}, the largest earlier drift in place of the last, and the factors of cfl.eq17 and cfl.eq18",
            mended,
        ),
        reading=OF_THE_RUN,
    )
    grows = Fact(
        "drifts grow",
        at_most(most_before2, before2),
        "The last local drift 𝔼||w_{t,i,k-1} - w_t||^2 is the largest so far.",
    )
    at_most_before = _within(moved2, most_before2, k_steps, base, 1)
    growing = Statement(
        f"{words}, granted (17) and (18), where no earlier local drift is larger than the last.",
        goal,
        (_combined(moved2, "(17) with (18) in it."), grows),
        Proof(
            (
                *earlier,
                Obligation("with the maximum", at_most_before, ("(17), (18)", "earlier", "gap")),
                Obligation("the statement follows", goal, ("with the maximum", "drifts grow")),
            )
        ),
        (BEFORE,),
    )
    after_turn = turned(
        f"{words}, granted (17) and (18), where an earlier local drift is larger than the last.",
        goal,
        before2=before2,
        most_before2=most_before2,
        bound=lambda moved: 4 * L**2 * c_Bi * moved + _constant(8, 1),
        sources=(
            _of_17_18(turned2, turn),
            (Source("cfl.eq18", "2", taken=((local_grad2, last_gradient2), (from_t, sp.sqrt(before2))), granted=True),),
        ),
    )
    return first, Part("3", growing, reading=OF_THE_STEP), Part("3b", after_turn, reading=OF_THE_STEP)


def _20(base: Any) -> tuple[Part, ...]:
    count = Fact("k <= K", at_most(k_steps, K), "The largest drift is after k of the K steps.")

    def closed(lead: int) -> tuple[Relation, Fact, Proof]:
        quotient = lead**2 * 4 * K**2 * eta_l**2 * L**2 * c_Bi
        right = lead * (K**2 * eta_l**2 * _constant(base, lead) + K * eta_l**2 * sigma2) / (1 - quotient)
        goal = at_most(most2, right)
        words = f"{4 * lead**2} K^2 eta_l^2 L^2 c_{{pB,i}} < 1, for the geometric sum to converge."
        proof = Proof(
            (
                *_earlier(_most, K, ("k <= K",)),
                Obligation(
                    "at the largest",
                    _within(most2, most2, K, 8, lead),
                    ("(17), (18)", "earlier", "k <= K", "gap"),
                ),
                Obligation("the statement follows", goal, ("at the largest", "range", "gap")),
            )
        )
        return goal, Fact("range", below(quotient, 1), words), proof

    words = (
        "(20): for all k <= K, 𝔼||w_{t,i,k} - w_t||^2 <= (8 K^2 eta_l^2 L c_{pB,i} (f(w_t) - f(w*)) + 2 K^2 eta_l^2 "
        "c_{pG,i} + 2 K^2 eta_l^2 (sum p)^2 R^2 + K eta_l^2 sigma^2) / (1 - 4 K^2 eta_l^2 L^2 c_{pB,i})."
    )
    goal, within, proof = closed(1)
    doubled, narrower, of_doubled = closed(2)
    at_largest = "at the k <= K with the largest drift."
    mended = Statement(
        "(20) with 16 in place of 4 in its denominator, a factor 2 before all terms of its numerator, and another "
        "before those with c_{pB,i} and c_{pG,i}; for such drifts.",
        doubled,
        (narrower, count, _combined(most2, f"(17) and (18) as corrected there, {at_largest}", 2)),
        of_doubled,
        (BEFORE,),
    )
    step = (within, count, _combined(most2, f"(17) with (18) in it, {at_largest}"))
    return (
        Part(
            "2",
            Statement(words, goal, (within, count)),
            Repair(
                "needs-hypothesis",
                f"{OFFSETS}, 16 K^2 eta_l^2 L^2 c_{{pB,i}} < 1, and the factors of cfl.eq17 and cfl.eq18",
                mended,
            ),
            reading=OF_THE_RUN,
        ),
        Part("4", Statement(f"{words} Granted (17) and (18).", goal, step, proof, (BEFORE,)), reading=OF_THE_STEP),
    )


def eq20(base: Any = 8) -> Claim:
    """(19), and (20) with its geometric sum."""
    of_run, growing, after_turn = _19(base)
    closed, summed = _20(base)
    return Claim(
        "cfl.eq20",
        "(19)-(20)",
        "Recursion for the local drift and its sum",
        (of_run, closed, growing, after_turn, summed),
        (
            "Parts 1 and 2: drifts that enter a step have moved the iterate of that step, and gradients lean with the "
            "noises before them (cfl.eq18, cfl.eq17). With other constants: ours.cfl_round.",
            "(20) does not follow by iterating (19), but from the largest drift among k <= K, by the same algebra; it "
            "needs 4 K^2 eta_l^2 L^2 c < 1, which (20) does not say and the step sizes after (22) imply.",
            "Parts 3 and 3b are the two cases of (19): 𝔼||w_{t,i,k} - w_t||^2 need not grow with k, and the sum over "
            "tau < k of (17) is at most k times its largest term, not k times its last one. Where the last one is not "
            "the largest, the step that leads to w_{t,i,k} is bounded by itself. The instance that refutes part 1 "
            "breaks (17) already.",
        ),
    )
