"""Which step sizes are safe: the limits that are proved, what the paper asks for, and the bound that follows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_UP, Context
from typing import Any

from cflag_theory.claims.c_flag.past_task.runs import T, reach
from cflag_theory.claims.cfl.symbols import K, eta_g, eta_l
from cflag_theory.claims.engine.notation import E, L, alpha, beta
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.ledger import claim
from cflag_theory.errors import InvalidInput
from cflag_theory.studies.stepsize.best_rates import allowed
from cflag_theory.studies.stepsize.evaluate import Values, met, needed, number
from cflag_theory.studies.stepsize.predicted import INPUTS, Theorem, c_flag_theorems

Relations = Mapping[str, Relation]
# Ranges of alpha L, of beta L E and of eta L that are searched.
_ALPHA, _BETA, _ETA = (1e-9, 4.0), (1e-12, 1e3), (1e-15, 4.0)
FALLING = "falling with T"
PRINTED_ETA = "eta <= s/(6L)"
# The bound on grad f is linear in the gap and in the square of grad_g.
_FREE = {name: INPUTS[name][0] for name in ("gap", "grad_g")}


@dataclass(frozen=True)
class Choice:
    """Step sizes and the bound that is proved for them."""

    name: str
    steps: Mapping[str, float]
    claim: str
    quantity: str
    #: The bound, as far as its numbers are given; None where a condition is not met or nothing is known.
    value: float | None
    #: Numbers that were not given: gap, and the square of grad_g, with what multiplies them; others with None.
    missing: Mapping[str, float | None]


@dataclass(frozen=True)
class Answer:
    """The question of `cflag stepsize` answered: what is safe."""

    #: One sentence on what is proved, one on what the paper asks.
    words: str
    #: Whether the given step sizes are proved safe; where none is given, True.
    safe: bool
    #: The largest safe step sizes; None where there is none.
    most: Mapping[str, float | None]
    #: What the paper asks for at most.
    printed: Mapping[str, float | None]
    #: The theorem that decides.
    claim: str
    choices: tuple[Choice, ...]


def c_flag_answer(
    given: Values, relations: Relations, a: float | None, b: float | None, *, measured: Sequence[str], holds: bool
) -> Answer:
    """Limits of alpha and beta: one memory for m < 1, a memory drawn anew in every round otherwise.

    alpha is limited by the theorem on grad f, and beta by the one that keeps grad g bounded in the mean. `given` are L,
    m, E, T, and the numbers of `INPUTS` that are known, of which `measured` are lower bounds; a and b are alpha and
    beta where they are given; `holds` is whether the paper's Theorem 5 holds as printed.
    """
    once = bool(met(relations["m < 1"], given))
    theorem, bounded = (
        _theorem(id) for id in ("ours.drawn_once" if once else "ours.redrawn", "ours.bounded_gradients")
    )
    on_alpha, on_both = ([relations[name] for name in one.conditions] for one in (theorem, bounded))
    scale = [one / (given[L] * given[E]) for one in _BETA]
    top = allowed(on_alpha, given, alpha, *(one / given[L] for one in _ALPHA))
    lacks = [] if a is None or _all(on_alpha, {**given, alpha: a}) else ["alpha"]
    sign = "<=" if top is None or _all(on_alpha, {**given, alpha: top}) else "<"
    # At half of 1/(L m), which is no longer allowed, 1/(alpha (1 - L alpha m)) is least.
    inside = top if top is None or sign == "<=" else top / 2
    at = inside if a is None or lacks else a
    edge = None if at is None else allowed(on_both, {**given, alpha: at}, beta, *scale)
    if b is not None and not (at is not None and _all(on_both, {**given, alpha: at, beta: b})):
        lacks.append("beta")
    limits = {"alpha": f"alpha {sign} {short(top)}", "beta": f"beta < {short(edge)} at alpha = {short(at)}"}
    where = "one memory" if once else "a memory drawn anew in every round (one memory needs m < 1)"
    if lacks:
        words = f"Not proved safe for {where}: it needs {', and '.join(limits[name] for name in lacks)}"
    elif a is None and b is not None:
        least = short(number(reach(), {**given, beta: b}), up=True)
        words = f"Safe for {where}: {least} < {limits['alpha']} at beta = {b:.4g}"
    else:
        words = f"Safe for {where}: {limits['alpha']}, and {limits['beta']}"
    if measured and not lacks:
        words += f", if {' and '.join(measured)} are no larger than measured"
    paper = _theorem("cflag.thm5", "printed")
    fixed, *others = (relations[name] for name in paper.conditions)
    printed = {"alpha": number(fixed.right, given)}
    asked = allowed(others, {**given, alpha: printed["alpha"]}, beta, *scale)
    words += (
        f". {claim(paper.claim).where} of the paper asks for alpha = {printed['alpha']:.4g} and beta < {short(asked)}"
    )
    words += "." if holds else "; it does not hold as printed."
    falling = None if edge is None else edge / math.sqrt(given[T])
    rows = (("yours", a, b), ("largest", at, edge), (FALLING, at, falling), ("the paper's", printed["alpha"], asked))
    choices = tuple(
        _choice(name, theorem, relations, {**given, alpha: x, beta: y})
        for name, x, y in rows
        if x is not None and y is not None
    )
    most = {"alpha": top, "beta": edge}
    return Answer(words, not lacks, most, {**printed, "beta": asked}, theorem.claim, choices)


def cfl_answer(
    given: Values, relations: Relations, theorems: Sequence[Theorem], step: float | None, known: Values
) -> Answer:
    """Limits of eta_l at the given eta_g, by each of the `theorems` that say something at some step sizes. `given` has
    every symbol of the conditions but eta_l, which is `step` where it is given; `known` the numbers of the bounds, with
    the sums of round weights.
    """
    scale = [one / (given[L] * given[K] * given[eta_g]) for one in _ETA]
    rows = []
    for one in theorems:
        needs = [relations[name] for name in one.conditions if name in relations]
        edge = allowed(needs, given, eta_l, *scale)
        if edge is not None:
            rows.append((edge, one, step is None or _all(needs, {**given, eta_l: step})))
    asked = allowed([relations[PRINTED_ETA]], given, eta_l, *scale)
    said = f" The paper asks for {PRINTED_ETA}: eta_l <= {short(asked)}."
    if not rows:
        words = "No eta_l is proved safe: our theorems are about additive drifts, A = B = 0, and eta_g >= 1 or K = 1."
        return Answer(words + said, False, {"eta_l": None}, {"eta_l": asked}, "", ())
    most, theorem, _ = max(rows, key=lambda row: (row[0], row[1].note != "convex"))
    safe = any(inside for *_, inside in rows)
    words = (
        f"{'Safe:' if safe else 'Not proved safe: it needs'} eta_l <= {short(most)} at eta_g = {given[eta_g]:.4g}, by "
    )
    words += f"{theorem.claim}."
    choices = []
    for edge, one, inside in rows:
        missing = dict.fromkeys(sorted(one.name for one in needed(one.right) - set(known) - {eta_l}))
        x = edge if step is None else step
        value = None if missing or not inside else number(one.right, {**known, eta_l: x})
        choices.append(Choice(one.note, {"eta_l": x}, one.claim, one.quantity, value, missing))
    return Answer(words + said, safe, {"eta_l": most}, {"eta_l": asked}, theorem.claim, tuple(choices))


def chosen(answer: Answer, given: Mapping[str, float | None]) -> dict[str, float]:
    """The step sizes that were given, and for the others those of the answer that fall with T, or the largest."""
    falling: dict[str, float | None] = next((dict(one.steps) for one in answer.choices if one.name == FALLING), {})
    found = {name: (falling or answer.most)[name] if value is None else value for name, value in given.items()}
    if None in found.values():
        lacking = " and ".join(name for name, value in found.items() if value is None)
        raise InvalidInput(f"no {lacking} is proved safe at these numbers: give {lacking} to see what fails")
    return {name: float(value) for name, value in found.items() if value is not None}


def _theorem(id: str, kind: str = "proved") -> Theorem:
    return next(one for one in c_flag_theorems() if (one.claim, one.kind) == (id, kind))


def _all(relations: Sequence[Relation], values: Values) -> bool:
    return all(bool(met(one, values)) for one in relations)


def _choice(name: str, theorem: Theorem, relations: Relations, values: dict[Any, Any]) -> Choice:
    steps = {"alpha": float(values[alpha]), "beta": float(values[beta])}
    if not _all([relations[one] for one in theorem.conditions], values):
        return Choice(name, steps, theorem.claim, theorem.quantity, None, {})
    nothing = {**values, **dict.fromkeys(_FREE.values(), 0.0)}
    missing = {
        name: number(theorem.right, {**nothing, symbol: 1.0}) for name, symbol in _FREE.items() if symbol not in values
    }
    known = number(theorem.right, {**nothing, **{one: values[one] for one in _FREE.values() if one in values}})
    return Choice(name, steps, theorem.claim, theorem.quantity, None if len(missing) == 2 else known, missing)


def short(value: float | None, *, up: bool = False) -> str:
    """A limit with four digits, rounded to the safe side: what is typed from it is safe too."""
    if value is None:
        return "none"
    nearly = value * (1 - 1e-12 if up else 1 + 1e-12)
    return f"{float(Context(prec=4, rounding=ROUND_UP if up else ROUND_DOWN).create_decimal_from_float(nearly)):.4g}"
