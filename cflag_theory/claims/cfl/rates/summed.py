"""Floors where f is the sum over the rounds, formulation (2), with equal weights: what CFL minimises with R = 0.

(3) in the last round is then (2), and its minimiser w* depends on the draws. The clients' fixed drifts belong to f.
The drifts are independent around 𝔼 f_{t,i}; measured from the sum they add to zero, and independent ones would be zero.
"""

from __future__ import annotations

from typing import Any

from cflag_theory.claims.cfl.rates.floors import STEP, curvature, step, tau
from cflag_theory.claims.cfl.symbols import D2, N, T
from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Fact, Statement, shown
from cflag_theory.claims.engine.notation import L, k, sequence, symbol
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import at_most, equal
from cflag_theory.claims.engine.steps import Instance, Obligation, by_induction

#: The two meanings of f.
EXPECTED = "f = 𝔼 f_{t,i} (Sec. 3.3)"
SUMMED = "f = the sum over rounds, (2)"

gap = symbol("summed_suboptimality", r"\mathbb{E}[f(w_T)-f^*]", nonnegative=True)
#: The last n rounds.
n = symbol("last_rounds", "n", positive=True, integer=True)
missing = sequence("missing_share", r"(\tfrac1T-b_{\tau,T})", real=True)
#: What w holds of the drifts of the last n rounds together, before the first of them and after each.
held = sequence("held_share", r"\sum_{\tau>T-n}b_{\tau,T-n+@}", nonnegative=True)
#: Which round it is after k of the last n.
number = sequence("round_number", "(T-n+@+1)", positive=True)
others = symbol("other_draws", "V", nonnegative=True)
length = sequence("length_of_iterate", r"\|w_{T-n+@}\|", nonnegative=True)
#: ||m_T||, the length of the mean drift.
d = symbol("mean_drift_length", r"\|m_T\|", positive=True)

_ROUNDS = Fact("T", at_most(n, T), "T >= n.")


def behind(words: str, constant: Any = 1) -> Statement:
    """On f_{t,i} = lambda ||w||^2/2 - <xi_{t,i}, w>, L = n lambda/3: 𝔼[f(w_T) - f*] >= 2 L D^2/(3 N lambda^2 T^2)."""
    taken = curvature * step(k) * (k + 1) / number(k)
    goal = at_most(constant * 2 * L * D2 / (3 * N * curvature**2 * T**2), gap)
    little = by_induction(
        "held",
        k,
        at_most(held(k), k / (3 * T)),
        Obligation("weight", at_most((k + 1) / number(k), n / T), ("held (range)", "T", "number")),
        Obligation("short", at_most(curvature * step(k), 1 / (3 * n)), ("eta", "L")),
        Obligation("taken", at_most(taken, 1 / (3 * T)), ("weight", "short")),
        start=("none",),
        given=("round", "taken"),
        within="k",
    )
    lacking, squares = (sum_over(tau, n)(missing(tau) ** power) for power in (1, 2))
    return shown(
        words,
        goal,
        little,
        Obligation("all", at_most(n, n), ()),
        Instance("last", "held", k, n, within="all"),
        rules.jensen("n rounds", sum_over(tau, n), missing(tau)),
        Obligation("lacking", at_most(2 * n / (3 * T), lacking), ("last", "missing")),
        Obligation("squared", at_most(4 * n**2 / (9 * T**2), lacking**2), ("lacking",)),
        Obligation("squares", at_most(4 * n / (9 * T**2), squares), ("squared", "n rounds")),
        Obligation("least", at_most(4 * n * D2 / (9 * T**2), 2 * N * curvature * gap), ("squares", "gap")),
        given=("least", "L"),
        where=(
            Fact("L", equal(3 * L, n * curvature), "L = n lambda/3: the functions are smoother than they need be."),
            _ROUNDS,
            Fact("k", at_most(k + 1, n), "One of the last n rounds."),
            Fact("number", equal(number(k), T - n + k + 1), "The round after k of the last n.", (k,)),
            Fact("none", equal(held(0), 0), "Before its round no drift is held."),
            Fact(
                "round",
                equal(held(k + 1), (1 - curvature * step(k)) * held(k) + taken),
                "The round weighs all drifts so far equally, and k + 1 of them are of the last n rounds.",
                (k,),
            ),
            STEP,
            Fact("missing", equal(lacking, n / T - held(n)), "w* = m_T/lambda holds 1/T of each."),
            Fact(
                "gap",
                equal(2 * N * curvature * gap, D2 * squares + others),
                "f(w) - f* = lambda ||w - m_T/lambda||^2/2; the drifts are independent with mean zero; V >= 0 is what "
                "the start and the earlier drifts add.",
            ),
        ),
    )


def plateau(words: str, constant: Any = 1) -> Statement:
    """On f_t = L max(||w|| - 1, 0)^2/2 - <xi_t, w>, drifts D e_j in n last rounds: f(w_T) - f* >= sqrt(n) D/(2 T)."""
    goal = at_most(constant * n * D2, (2 * T * gap) ** 2)
    return shown(
        words,
        goal,
        by_induction(
            "short",
            k,
            at_most(length(k), 2 * k * d / (9 * L)),
            Obligation("step", at_most(step(k) * d, d / (9 * L)), ("eta",)),
            start=("start",),
            given=("round", "step"),
        ),
        Instance("last", "short", k, n),
        Obligation("half", at_most(d, 2 * gap), ("last", "T", "gap")),
        given=("half", "d"),
        where=(
            Fact("d", equal((T * d) ** 2, n * D2), "||m_T|| = sqrt(n) D/T: orthogonal drifts of length D."),
            Fact("T", at_most(4 * n * d, 9 * L), "T >= 4 n^{3/2} D/(9 L)."),
            Fact("start", equal(length(0), 0), "w_0 = 0, and no drift before the last n rounds."),
            Fact(
                "round",
                at_most(length(k + 1), length(k) + 2 * step(k) * d),
                "||w - eta grad f_0(w)|| <= ||w||, and the mean drift is at most sqrt(n) D/(T - n) <= 2 ||m_T|| as T "
                ">= 2 n.",
                (k,),
            ),
            STEP,
            Fact(
                "gap",
                at_most(d * (1 - length(n)), gap),
                "f_0 >= 0, <m_T, w_T> <= ||m_T|| ||w_T||, and f* <= -||m_T||, the value at m_T/||m_T||.",
            ),
        ),
    )
