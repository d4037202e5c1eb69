"""The bounds of a rate study: right-hand sides of claims, with the terms that they leave open measured along the runs.

Every number comes from a relation of the ledger; nothing is typed again here. A claim has one L, which must make f, g,
h and every component smooth. Its conditions on alpha come from the descent of f and hold with the L of f; all bounds
grow with L, which the sums over local steps take from the components. So alpha is compared with 1/L of f, and bounds
are evaluated with the larger L. A test takes the proofs apart in this way and examines them again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.c_flag.forgetting import bounds as forgetting
from cflag_theory.claims.c_flag.forgetting.average import c as c_symbol
from cflag_theory.claims.c_flag.forgetting.average import w
from cflag_theory.claims.c_flag.iterates import h as h_of
from cflag_theory.claims.c_flag.past_task import descent, theorem2
from cflag_theory.claims.c_flag.past_task import theorem5 as limits
from cflag_theory.claims.c_flag.past_task.ours import bounded_gradients as ours_bounded
from cflag_theory.claims.c_flag.past_task.ours import first_rounds as ours_first_rounds
from cflag_theory.claims.c_flag.past_task.ours import rates as ours
from cflag_theory.claims.c_flag.past_task.runs import T as T_symbol
from cflag_theory.claims.c_flag.past_task.runs import f_mean, grad_g2_sum, reach, root_m
from cflag_theory.claims.c_flag.union.ours import rounds as ours_union
from cflag_theory.claims.engine.notation import E, L, alpha, beta, m, r
from cflag_theory.claims.ledger import LEDGER
from cflag_theory.kernels import Memory, Problem
from cflag_theory.kernels.memory.memory import ALL, BALANCED, GIVEN, ROTATION, SIGN_BIAS, SUBSET
from cflag_theory.studies.rates.statistics import Horizon

#: Step sizes that a claim fixes are met up to rounding of the few operations behind them.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Setting:
    """What the bounds need to know about a study besides its horizons."""

    #: Of f, g and h, and of every component.
    L: float
    L_component: float
    #: The constant of (27), and why it may be too small; empty where it is known.
    m: float
    m_doubt: str
    alpha: float
    E: int
    c: float
    #: a of beta = c / T^a.
    power: float
    memory: Memory
    #: |M| / (|M| + |C|).
    share: float
    #: f(x_0) - inf f, or more; None where no lower bound of f is known.
    f_drop: float | None

    @property
    def smoothness(self) -> float:
        """The L with which bounds are evaluated."""
        return max(self.L, self.L_component)

    @property
    def smoothness_with_memory(self) -> float:
        """The L of claims that take f_memory to be smooth as well."""
        # f_memory is (1 +- scale) f there, not a mean of components.
        of_memory = (1 + self.memory.scale) * self.L if self.memory.kind == SIGN_BIAS else 0.0
        return max(self.smoothness, of_memory)

    @property
    def short(self) -> bool:
        """alpha <= 1/L."""
        return self.alpha * self.L <= 1 + ROUNDING

    @property
    def fresh(self) -> bool:
        """Whether every round's memory is independent of the past and unbiased, so that 𝔼 B(t) = 0."""
        return self.memory.kind == ALL or (self.memory.redraw and self.memory.kind in (SUBSET, SIGN_BIAS))


def memory_share(problem: Problem, memory: Memory) -> float:
    """|M| / (|M| + |C|), the weight of f_memory in h~."""
    past, current = problem.past.counts, problem.current.counts
    kept = np.minimum(past, memory.size) if memory.kind in (SUBSET, BALANCED) else past
    if memory.kind == GIVEN:
        kept = np.array([len(indices) for indices in memory.kept])
    return float(kept.sum() / (kept.sum() + current.sum()))


def described(memory: Memory) -> str:
    """A memory in a few words."""
    when = "drawn anew every round" if memory.redraw else "drawn once"
    return {
        ALL: "all past components",
        SUBSET: f"{memory.size} components a client, {when}",
        BALANCED: f"{memory.size} components a client, class-balanced, {when}",
        SIGN_BIAS: f"b = +-sqrt(m) grad f, sign {when}",
        ROTATION: "b = sqrt(m) R grad f, one rotation R",
        GIVEN: "given components",
    }[memory.kind]


_drop = sp.Symbol("drop", real=True)


@dataclass(frozen=True)
class Bound:
    """A bound at every horizon on a squared gradient of `of`, "f", "g" or "h": on its "min" or "mean" over the rounds;
    or "below", for a bound from below. `values` are None at horizons where it says nothing.

    `proved` says whether the ledger has a proof of `claim` that covers this setting, and `why` why it applies, or why
    not. Printed bounds without one are drawn, not vouched for.
    """

    claim: str
    quantity: str
    of: str
    proved: bool
    values: tuple[float | None, ...]
    why: str


@cache
def _compiled(expression: sp.Expr, arguments: tuple[sp.Basic, ...]) -> Callable[..., float]:
    return sp.lambdify(arguments, expression, "math")  # type: ignore[no-any-return]


def evaluate(expression: sp.Expr, values: dict[Any, float]) -> float:
    """The number that an expression of a claim takes; sums over the run and values at its ends are symbols too."""
    named = {key: sp.Symbol(f"value{k}") for k, key in enumerate(values)}
    return float(_compiled(expression.xreplace(named), tuple(named.values()))(*values.values()))


def bounds(setting: Setting, horizons: Sequence[Horizon]) -> tuple[Bound, ...]:
    """The paper's bounds and ours on the three gradients, also those that say nothing here, with the reason."""
    kinds = (_theorem2, _lemma1, _theorem5_explicit, _theorem5, _once, _redrawn, _first_rounds, _g, _lemma3, _union)
    return tuple(kind(setting, horizons) for kind in kinds)


def _each(
    horizons: Sequence[Horizon], value: Callable[[Horizon], float | None], *, given: bool = True
) -> tuple[float | None, ...]:
    found = []
    for one in horizons:
        number = value(one) if given and not one.diverged else None
        found.append(number if number is not None and math.isfinite(number) else None)
    return tuple(found)


def _common(setting: Setting, horizon: Horizon) -> dict[Any, float]:
    return {
        L: setting.smoothness,
        alpha: setting.alpha,
        beta: horizon.beta,
        E: setting.E,
        T_symbol: horizon.T,
        m: setting.m,
        root_m: math.sqrt(setting.m),
    }


def _mean_g2(horizon: Horizon) -> float:
    mean = horizon.squares["g"].mean
    return math.nan if mean is None else mean


def _doubt(setting: Setting) -> str:
    return f"; {setting.m_doubt}" if setting.m_doubt else ""


def _at_exact_step(setting: Setting) -> bool:
    return abs(setting.alpha * setting.L * (1 + setting.m) - 1) <= ROUNDING


def _theorem2(setting: Setting, horizons: Sequence[Horizon]) -> Bound:
    lead = sp.diff(theorem2.bound().right, f_mean(0))
    exact = _at_exact_step(setting)

    def value(one: Horizon) -> float:
        return evaluate(lead, _common(setting, one) | {L: setting.L}) * (one.drops["f"] + one.Gamma)

    if not exact:
        why = "it is stated for alpha = 1/(L (1 + m)) only"
    elif setting.fresh:
        why = "Gamma measured; 𝔼 B(t) = 0, as it needs" + _doubt(setting)
    else:
        why = "Gamma measured; its 𝔼 B(t) = 0 needs a memory that is redrawn in every round: here it may not hold"
    proved = exact and setting.fresh and not setting.m_doubt
    return Bound("cflag.thm2", "f", "min", proved, _each(horizons, value, given=exact), why)


def _lemma1(setting: Setting, horizons: Sequence[Horizon]) -> Bound:
    """Lemma 1 with sums from k = 0, summed over the rounds."""
    within = setting.alpha * setting.L * (1 + setting.m) < 2 * (1 - ROUNDING)

    def value(one: Horizon) -> float:
        lead = evaluate(descent.factor(), {L: setting.L, alpha: setting.alpha, m: setting.m})
        return lead / one.T * (one.drops["f"] + one.Gamma + one.B)

    why = "repaired, summed over the rounds; Gamma and B measured" if within else "alpha is not below 2/(L (1 + m))"
    proved = within and not setting.m_doubt
    return Bound("cflag.lemma1", "f", "mean", proved, _each(horizons, value, given=within), why + _doubt(setting))


def _theorem5_explicit(setting: Setting, horizons: Sequence[Horizon]) -> Bound:
    """Theorem 2 with (163) in place of the sum of Gamma, as the proofs of Lemma 4 and Theorem 5 have it."""
    lead = sp.diff(theorem2.bound().right, f_mean(0))
    within = _at_exact_step(setting) and "h" in horizons[0].drops

    def value(one: Horizon) -> float | None:
        known = _common(setting, one) | {r: one.r_met}
        if one.omega2 is None or not math.isfinite(one.r_met) or evaluate(forgetting.Z(), known) <= 0:
            return None
        Q, Z = evaluate(forgetting.Q(), known), evaluate(forgetting.Z(), known)
        forgotten = Q / Z * one.drops["h"] + Q * one.T * one.omega2
        return evaluate(lead, known | {L: setting.L}) * (one.drops["f"] + forgotten)

    values = _each(horizons, value, given=within)
    if not within:
        why = "it needs alpha = 1/(L (1 + m)), and a function f_memory"
    elif not any(values):
        why = "r is infinite along the runs, or Z of (161) is not positive"
    else:
        why = "as printed: Theorem 2 with (163), r and omega^2 observed; (161) behind it is false along Algorithm 1"
    return Bound("cflag.thm5 (163)", "f", "min", False, values, why)


def _theorem5(setting: Setting, horizons: Sequence[Horizon]) -> Bound:
    """The explicit C of the repair."""
    repair = LEDGER["cflag.thm5"]().parts[0].repair
    assert repair is not None
    definitions = {fact.name: fact.relation.right for fact in repair.statement.definitions}
    facts = {fact.name: fact.relation for fact in repair.statement.hypotheses}
    (room,) = sp.solve(facts["W is small"].slack, ours_first_rounds.W)
    below_one = setting.m < 1 and setting.f_drop is not None and setting.power >= 1 / 2
    given = below_one and _at_exact_step(setting)

    def value(one: Horizon) -> float | None:
        assert setting.f_drop is not None
        # The claim has beta < c / sqrt(T), strictly.
        known = _common(setting, one) | {
            c_symbol: one.beta * math.sqrt(one.T) * (1 + ROUNDING),
            w: 1 / math.sqrt(one.T),
            ours_first_rounds.F: setting.f_drop,
            ours_first_rounds.size_g(0): math.sqrt(one.squares["g"].first),
        }
        known[limits.Y] = evaluate(definitions["Y"], known)
        known[ours_first_rounds.W] = min(one.T, math.floor(evaluate(room, known)))
        if known[ours_first_rounds.W] < 1 or evaluate(facts["W is not small"].slack, known) < 0:
            return None
        return evaluate(definitions["C"], known) / math.sqrt(one.T)

    values = _each(horizons, value, given=given)
    if setting.m >= 1:
        why = "m is not below 1: cflag.thm5 is false there"
    elif setting.f_drop is None:
        why = "no lower bound of f is known"
    elif not given:
        why = "it needs alpha = 1/(L (1 + m)) and beta < c / sqrt(T)"
    else:
        why = "the explicit C of the repair, for T large enough" + _doubt(setting)
    return Bound("cflag.thm5", "f", "min", any(values) and not setting.m_doubt, values, why)


def _along_f(setting: Setting, right: sp.Expr) -> Callable[[Horizon], float]:
    right = right.xreplace({f_mean(0): _drop, f_mean(T_symbol): sp.S.Zero})
    return lambda one: evaluate(
        right, _common(setting, one) | {_drop: one.drops["f"], grad_g2_sum: one.T * _mean_g2(one)}
    )


def _once(setting: Setting, horizons: Sequence[Horizon]) -> Bound:
    value = _along_f(setting, ours.once_bound().right)
    given = setting.m < 1 and setting.short
    why = (
        "||grad g||^2 measured; for memories drawn once or not" + _doubt(setting)
        if given
        else "m is not below 1"
        if setting.m >= 1
        else "alpha is above 1/L"
    )
    return Bound(
        "ours.drawn_once", "f", "mean", given and not setting.m_doubt, _each(horizons, value, given=given), why
    )


def _redrawn(setting: Setting, horizons: Sequence[Horizon]) -> Bound:
    value = _along_f(setting, ours.redrawn_bound().right)
    room = setting.smoothness * setting.alpha * setting.m < 1
    given = setting.fresh and setting.short and room
    if not setting.fresh:
        why = "the memory is not drawn anew in every round, unbiased"
    elif not given:
        why = "alpha is above 1/L, or L alpha m is not below 1"
    else:
        why = "||grad g||^2 measured; any m" + _doubt(setting)
    return Bound("ours.redrawn", "f", "mean", given and not setting.m_doubt, _each(horizons, value, given=given), why)


def _first_rounds(setting: Setting, horizons: Sequence[Horizon]) -> Bound:
    """The mean over the first W rounds bounds the least of all T, for the largest W in range."""
    given = setting.m < 1 and setting.short and setting.f_drop is not None
    W = ours_first_rounds.W
    room = ours_first_rounds.RANGE

    def value(one: Horizon) -> float | None:
        assert setting.f_drop is not None
        known = _common(setting, one)
        # Both sides of the range are squares, the left one of a multiple of W.
        at_one = known | {W: 1.0}
        rounds = min(one.T, math.floor(math.sqrt(evaluate(room.right, at_one) / evaluate(room.left, at_one))))
        if rounds < 1:
            return None
        ends = {ours_first_rounds.F: setting.f_drop, ours_first_rounds.size_g(0): math.sqrt(one.squares["g"].first)}
        return evaluate(ours_first_rounds.bound().right, known | ends | {W: rounds})

    why = (
        "nothing measured but ||grad g(x_0)||" + _doubt(setting)
        if given
        else "it needs m < 1, alpha <= 1/L and a lower bound of f"
    )
    proved = given and not setting.m_doubt
    return Bound("ours.first_rounds", "f", "min", proved, _each(horizons, value, given=given), why)


def _g(setting: Setting, horizons: Sequence[Horizon]) -> Bound:
    right = ours_bounded.bound().right.xreplace(
        {ours_bounded.g_mean(0): _drop, ours_bounded.g_mean(T_symbol): sp.S.Zero}
    )

    def value(one: Horizon) -> float | None:
        known = _common(setting, one)
        q = evaluate(reach() / alpha, known)
        if one.delta2 is None or q >= 1:
            return None
        ends = {_drop: one.drops["g"], ours_bounded.omega: math.sqrt(one.delta2), ours_bounded.q: q}
        return evaluate(right, known | ends)

    values = _each(horizons, value, given=setting.short)
    why = "mean of ||grad f_memory - grad g||^2 measured" if any(values) else "alpha is above 1/L, or beta E too large"
    return Bound("ours.bounded_gradients", "g", "mean", any(values), values, why)


def _lemma3(setting: Setting, horizons: Sequence[Horizon]) -> Bound:
    """Lemma 3 as printed, at the one step size that it is for."""
    relation = LEDGER["cflag.lemma3"]().parts[0].printed.relation
    assert relation is not None
    right = relation.right.xreplace({h_of(0): _drop, h_of(T_symbol): sp.S.Zero})
    given = "h" in horizons[0].drops

    def value(one: Horizon) -> float | None:
        wanted = 1 / (30 * setting.L * setting.E)
        if max(abs(setting.alpha / wanted - 1), abs(one.beta / wanted - 1)) > ROUNDING:
            return None
        return evaluate(right, {L: setting.L, T_symbol: one.T, _drop: one.drops["h"]})

    values = _each(horizons, value, given=given)
    why = "as printed; false along Algorithm 1" if any(values) else "it is for alpha = beta = 1/(30 L E)"
    return Bound("cflag.lemma3", "h", "min", False, values, why)


def _union(setting: Setting, horizons: Sequence[Horizon]) -> Bound:
    """What Algorithm 1 descends is h^, which is h~ only where alpha : beta E is |M| : |C|."""
    relation = LEDGER["ours.algorithm1_descent"]().parts[0].printed.relation
    assert relation is not None
    right = relation.right.xreplace({ours_union.target(0): _drop, ours_union.target(T_symbol): sp.S.Zero})

    def value(one: Horizon) -> float | None:
        total = setting.alpha + one.beta * setting.E
        fits = abs(setting.alpha / total - setting.share) <= ROUNDING
        smoothness = setting.smoothness_with_memory
        if not fits or smoothness * total > 1 or "h" not in one.drops or setting.memory.redraw:
            return None
        measured = {L: smoothness, _drop: one.drops["h"], ours_union.mean_g2: _mean_g2(one)}
        return evaluate(right, _common(setting, one) | measured)

    values = _each(horizons, value)
    why = (
        "h^ = h~ at these step sizes"
        if any(values)
        else "it bounds h^ = (alpha f_memory + beta E g) / (alpha + beta E), which is h~ only for alpha : beta E = |M| "
        ": |C|"
    )
    return Bound("ours.algorithm1_descent", "h", "min", any(values), values, why)
