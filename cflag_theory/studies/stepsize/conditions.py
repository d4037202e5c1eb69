"""The sanity check before training: which step-size conditions hold, what each unlocks, what follows."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.c_flag.past_task.runs import T as T_symbol
from cflag_theory.claims.c_flag.step_sizes import CONDITIONS, OUR_CONDITIONS, Condition
from cflag_theory.claims.engine.notation import E as E_symbol
from cflag_theory.claims.engine.notation import L as L_symbol
from cflag_theory.claims.engine.notation import alpha as alpha_symbol
from cflag_theory.claims.engine.notation import beta as beta_symbol
from cflag_theory.claims.engine.notation import m as m_symbol
from cflag_theory.claims.ledger import claim
from cflag_theory.errors import InvalidInput
from cflag_theory.shown import Sheet, Shown
from cflag_theory.studies.stepsize.best_rates import Best, best, rounds_for
from cflag_theory.studies.stepsize.evaluate import (
    Values,
    as_json,
    both_sides,
    counts,
    met,
    needed,
    not_negative,
    number,
    positive,
)
from cflag_theory.studies.stepsize.predicted import INPUTS, Bound, Theorem, c_flag_theorems
from cflag_theory.studies.stepsize.safe import Answer, c_flag_answer, chosen

_MEASURED = {"L": L_symbol, "m": m_symbol}
#: Relation of every C-FLAG condition, and of ours, by name.
RELATIONS = {condition.name: condition.relation for condition in CONDITIONS + OUR_CONDITIONS}


@dataclass(frozen=True)
class StepSize:
    """One condition at the given step sizes."""

    condition: str
    #: Whether it is met at the given numbers.
    holds: bool
    #: "yes" or "no"; where L or m is a lower bound, measured along a run: "not refuted" if it is met there, "no" if it
    #: is met neither there nor at any larger number tried, "unknown" otherwise.
    answer: str
    #: Left over right side: at most 1 where an inequality holds; None where the right side is 0.
    factor: float | None
    #: Where it stands, what it is needed for, and whose it is.
    where: str
    unlocks: str
    paper: str
    #: The ledger's claims that need it: those that are proved as they stand, and those proved in another form. What is
    #: not proved at all is in neither.
    proved: tuple[str, ...]
    repaired: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class StepSizes(Shown):
    """Everything that the C-FLAG paper and our theorems say at one choice of step sizes."""

    L: float
    m: float
    E: int
    alpha: float
    beta: float
    T: int
    epsilon: float | None
    #: What is safe, first.
    answer: Answer
    #: The given ones among `predicted.INPUTS`.
    numbers: Mapping[str, float]
    #: sum_i (n_i + E - 1 + m_i), the gradient evaluations of a round by Corollary 17, where N, n and memory_size are
    #: given.
    gradients_per_round: int | None
    #: Which of L and m are lower bounds, measured along a run.
    measured: tuple[str, ...]
    #: All numbers, by symbol.
    values: Values

    @cached_property
    def conditions(self) -> tuple[StepSize, ...]:
        """The paper's, then ours."""
        return check_conditions(CONDITIONS + OUR_CONDITIONS, self.values, [_MEASURED[name] for name in self.measured])

    @cached_property
    def bounds(self) -> tuple[Bound, ...]:
        """Predicted bounds, printed, repaired and proved."""
        return predict(c_flag_theorems(), self.conditions, self.values, epsilon=self.epsilon)

    @cached_property
    def best(self) -> tuple[Best, ...]:
        """Best step sizes for the target by each proved theorem whose numbers are given; empty without a target."""
        return _best(self.values, self.epsilon)

    @cached_property
    def as_printed(self) -> Mapping[str, tuple[str, ...]]:
        """Claims with a repair or a bound here that do not hold as printed, and what the ledger says in their place."""
        return not_as_printed(asked_of(self.conditions, self.bounds))

    @property
    def c(self) -> float:
        """The c with beta = c / sqrt(T) that Lemma 4 and Theorem 5 speak of."""
        return self.beta * math.sqrt(self.T)

    def sheet(self) -> Sheet:
        """Every condition with its answer; below, the bounds that follow."""
        numbers = {"alpha": self.alpha, "beta": self.beta, "L": self.L, "m": self.m, "E": self.E, "T": self.T}
        return conditions_sheet(self.conditions, self.bounds, numbers)

    def to_json(self) -> dict[str, Any]:
        """Plain values only; an infinite number becomes the string "inf", which JSON lacks."""
        given = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "values"}
        made = {name: getattr(self, name) for name in ("c", "conditions", "bounds", "best", "as_printed")}
        found: dict[str, Any] = as_json(given | made)
        return found


def conditions_sheet(rows: Sequence[StepSize], bounds: Sequence[Bound], numbers: Mapping[str, float]) -> Sheet:
    """What step sizes of either paper show of themselves."""
    met = sum(row.answer in ("yes", "not refuted") for row in rows)
    given = ", ".join(f"{name} = {value:.4g}" for name, value in numbers.items())
    cells = [
        (row.condition, row.answer, row.factor, row.where, ", ".join((*row.proved, *row.repaired))) for row in rows
    ]
    notes = [
        f"{one.claim}, {one.kind}: {one.quantity} at most {one.value:.4g}" for one in bounds if one.value is not None
    ]
    head = ("condition", "met", "left over right", "where", "proved claims that need it")
    return Sheet(f"{met} of {len(rows)} conditions are met at {given}", head, cells, notes)


def step_sizes(
    *,
    L: float,
    m: float,
    E: Any,
    alpha: float | None = None,
    beta: float | None = None,
    T: Any,
    epsilon: float | None = None,
    N: int | None = None,
    n: int | None = None,
    memory_size: int | None = None,
    measured: Sequence[str] = (),
    **numbers: float,
) -> StepSizes:
    """Check every step-size condition of the C-FLAG paper and of ours, and say what follows from them.

    Parameters
    ----------
    L : float
        Smoothness constant, positive.
    m : float
        Bias constant of (27), not negative.
    E, T : int
        Local steps and rounds, at least 1.
    alpha, beta : float, optional
        Step sizes, positive. Without one, it is the one that the answer proposes: with alpha <= 1/L the largest, and a
        beta that falls as 1/sqrt(T).
    epsilon : float, optional
        Target for squared gradient norms, positive: asks for the rounds to it and for the best step sizes.
    N, n, memory_size : int, optional
        Clients, components and remembered components of each: ask for the gradient evaluations of a round.
    measured : sequence of str
        Which of "L" and "m" were measured along a run: they are lower bounds, which can refute a condition and not show
        it.
    **numbers : float
        Others of `predicted.INPUTS`, not negative; r may be infinite. A bound that needs one that is missing says so.

    Returns
    -------
    StepSizes

    Raises
    ------
    InvalidInput
        A value outside its range, or a number that no bound knows; the message names it.
    """
    positive(L=L)
    steps = {"alpha": alpha, "beta": beta}
    for name, value in steps.items():
        if value is not None:
            _step(name, value)
    not_negative(m=m)
    counts(E=E, T=T)
    unknown = [name for name in numbers if name not in INPUTS]
    if unknown:
        raise InvalidInput(f"{unknown[0]} is not a number that a bound uses: use one of {', '.join(INPUTS)}")
    given = {name: float(value) for name, value in numbers.items()}
    if given.get("r") != math.inf:
        not_negative(**{name: value for name, value in given.items() if name == "r"})
    not_negative(**{name: value for name, value in given.items() if name != "r"})
    if epsilon is not None:
        positive(epsilon=epsilon)
    evaluations = None
    if N is not None or n is not None or memory_size is not None:
        if N is None or n is None or memory_size is None:
            raise InvalidInput("gradient evaluations need N, n and memory_size: give all three or none")
        counts(N=N, n=n)
        not_negative(memory_size=memory_size)
        evaluations = int(N) * (int(n) + int(E) - 1 + int(memory_size))
    values: dict[sp.Symbol, Any] = {L_symbol: L, m_symbol: m, E_symbol: E, T_symbol: T}
    values |= {INPUTS[name][0]: value * value if name == "omega" else value for name, value in given.items()}
    holds = not not_as_printed(["cflag.thm5"])
    answer = c_flag_answer(values, RELATIONS, alpha, beta, measured=measured, holds=holds)
    taken = chosen(answer, steps)
    values |= {alpha_symbol: taken["alpha"], beta_symbol: taken["beta"]}
    return StepSizes(
        L=float(L),
        m=float(m),
        E=int(E),
        **taken,
        T=int(T),
        epsilon=epsilon,
        answer=answer,
        numbers=given,
        gradients_per_round=evaluations,
        measured=tuple(measured),
        values=values,
    )


def _step(name: str, value: float) -> None:
    if value == 0:
        meaning = {
            "alpha": "without memory steps the algorithm is FedTrack, and no theorem here is about f",
            "beta": "without steps on current data nothing new is learned",
        }[name]
        raise InvalidInput(f"{name} = {value} is not allowed: give a positive finite number; {meaning}")
    positive(**{name: value})


def check_conditions(
    conditions: Sequence[Condition], values: Values, lower: Sequence[sp.Symbol] = ()
) -> tuple[StepSize, ...]:
    """Every condition at `values`, which must hold all symbols of its relation; those of `lower` are lower bounds."""
    found = []
    for one in conditions:
        left, right = (float(side) for side in both_sides(one.relation, values))
        factor = None if right == 0 or math.isnan(left / right) else left / right
        holds = bool(met(one.relation, values))
        answer = "yes" if holds else "no"
        if set(lower) & (one.relation.left + one.relation.right).free_symbols:
            answer = "not refuted" if holds else "unknown" if _met_above(one, values, lower) else "no"
        standings = {id: standing(id) for id in one.claims}
        proved, repaired = (tuple(id for id in one.claims if standings[id] == word) for word in ("proved", "repaired"))
        found.append(StepSize(one.name, holds, answer, factor, one.where, one.unlocks, one.paper, proved, repaired))
    return tuple(found)


def _met_above(condition: Condition, values: Values, lower: Sequence[sp.Symbol]) -> bool:
    """Whether the condition is met at numbers above the measured ones, up to a million times as large."""
    steps = [2.0**k for k in np.arange(0, 20.25, 0.25)]
    if condition.relation.op == "==":
        # Both sides change with what is measured: equality is possible if the difference changes its sign.
        signs = {
            math.copysign(1, left - right)
            for step in steps
            for left, right in [map(float, both_sides(condition.relation, {**values, **_raised(values, lower, step)}))]
        }
        return len(signs) > 1
    return any(bool(met(condition.relation, {**values, **_raised(values, lower, step)})) for step in steps)


def _raised(values: Values, lower: Sequence[sp.Symbol], step: float) -> dict[sp.Symbol, float]:
    return {symbol: values[symbol] * step if values[symbol] else step - 1 for symbol in lower}


def asked_of(rows: Iterable[StepSize], bounds: Iterable[Bound]) -> dict[str, None]:
    """The claims that the conditions and bounds speak of."""
    return dict.fromkeys(id for row in rows for id in (*row.proved, *row.repaired)) | dict.fromkeys(
        bound.claim for bound in bounds
    )


@cache
def standing(id: str) -> str:
    """Whether a claim is "proved" as it stands, only as "repaired", or neither, "unproved"; read from its parts."""
    claimed = [part for part in claim(id).parts if part.kind == "claim"]
    if not claimed or any(part.repair is None and part.printed.proof is None for part in claimed):
        return "unproved"
    return "repaired" if any(part.repair is not None for part in claimed) else "proved"


def predict(
    theorems: Iterable[Theorem], rows: Sequence[StepSize], values: Values, *, epsilon: float | None
) -> tuple[Bound, ...]:
    """Every theorem at `values`: its bound, or the numbers and conditions that it lacks."""
    names = {symbol: name for name, (symbol, _) in INPUTS.items()}
    holds = {row.condition: row.holds for row in rows}
    found = []
    for one in theorems:
        missing = needed(one.right) - set(values)
        needs = tuple(name for symbol, name in names.items() if symbol in missing)
        fails = tuple(name for name in one.conditions if not holds[name])
        value, rounds = None, {}
        if not needs and not fails:
            value = number(one.right, values)
        # The rounds to a target may be more than those given, and then meet conditions that fail here.
        if not needs and epsilon is not None:
            rounds = {law: rounds_for(one, RELATIONS, values, epsilon, law) for law in one.laws}
            if fails:
                rounds = {law: least for law, least in rounds.items() if least < math.inf}
        found.append(Bound(one.claim, one.kind, one.quantity, one.note, value, needs, fails, rounds))
    return tuple(found)


def _best(values: Values, epsilon: float | None) -> tuple[Best, ...]:
    if epsilon is None:
        return ()
    asked = ("ours.drawn_once", "ours.redrawn", "ours.algorithm1_descent")
    chosen = [one for one in c_flag_theorems() if one.claim in asked and not needed(one.right) - set(values)]
    return tuple(row for one in chosen for row in best(one, RELATIONS, values, epsilon))


def not_as_printed(ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Claims of the ledger whose printed statement is not the one that is proved, with what stands in its place.

    Read from the claims themselves: a part with a repair names its kind and words; a part without a proof and without
    a repair is one that no local change fixes.
    """
    found = {}
    for id in ids:
        words = []
        claimed = [part for part in claim(id).parts if part.kind == "claim"]
        for part in claimed:
            which = f"part {part.key}: " if len(claimed) > 1 else ""
            if part.repair is not None:
                words.append(f"{which}{part.repair.kind}: {part.repair.words}")
            elif part.printed.proof is None:
                instead = dict.fromkeys(re.findall(r"ours\.\w+", " ".join(claim(id).notes)))
                words.append(f"{which}no local repair" + (f", see {', '.join(instead)}" if instead else ""))
        if words:
            found[id] = tuple(dict.fromkeys(words))
    return found
