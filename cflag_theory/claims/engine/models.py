"""Points by z3: where a relation fails under its hypotheses, and where a statement's facts hold together.

The points of the second kind are found once and kept in one file, by what the facts say.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import sympy as sp
import z3

from cflag_theory.claims.engine.algebra import UNITS, Atoms, solver
from cflag_theory.claims.engine.certificates import as_text, sign
from cflag_theory.claims.engine.relation import Relation

STORE = Path(__file__).parents[1] / "models.json"

#: Numbers, as "p/q", by the text of what takes them.
Model = dict[str, str]


class Answer(NamedTuple):
    """z3's answer: "proved", "refuted" or "unknown"; a point that refutes it, rounded where it is irrational."""

    word: str
    point: dict[sp.Symbol, Fraction] | None = None


def look_for_model(goal: Relation | None, given: Sequence[Relation], *, units: int = UNITS) -> Answer:
    """Ask z3 for a point at which everything given holds and the goal fails, or, without a goal, at which all holds.

    Terms that are not polynomial become variables that keep only their sign, see `algebra.Atoms`: a proof then holds,
    and a point says nothing, so that the answer is "unknown". Quotients have a value everywhere for z3, also where
    their divisor is 0: that a divisor is never 0 has to be asked apart. `units` is how much z3 may do.

    Raises
    ------
    TypeError
        A term has no meaning for z3, such as an absolute value.
    """
    atoms = Atoms()
    told = [(atoms(relation.slack), relation.op) for relation in given]
    asked, variables = solver(told, None if goal is None else (atoms(goal.slack), goal.op), units=units)
    word = str(asked.check())
    if word == "unsat":
        return Answer("proved")
    if word != "sat" or atoms.of:
        return Answer("unknown")
    model = asked.model()
    point = {symbol: _rational(model.eval(variable, model_completion=True)) for symbol, variable in variables.items()}
    return Answer("refuted", point)


def _rational(value: Any) -> Fraction:
    if isinstance(value, z3.AlgebraicNumRef):
        value = value.approx(20)
    return Fraction(value.numerator_as_long(), value.denominator_as_long())


@cache
def load() -> Mapping[str, Model]:
    """The models as they stand in the package."""
    models: Mapping[str, Model] = json.loads(STORE.read_text(encoding="utf-8"))
    return models


class Facts(Protocol):
    """What `vacuity.Facts` offers: slacks of relations, what their symbols stand for, and whether a model holds."""

    slacks: list[tuple[sp.Expr, str]]
    named: dict[sp.Symbol, sp.Expr]

    def hold(self, model: Mapping[sp.Symbol, sp.Rational]) -> bool: ...


def key(facts: Facts) -> str:
    """What the facts say, as a hash."""
    texts = _texts(facts)
    signs = (f"{text}: {sign(symbol)}" for symbol, text in texts.items())
    plain = {symbol: sp.Symbol(text) for symbol, text in texts.items()}
    lines = (f"{as_text(slack.xreplace(plain))} {op}" for slack, op in facts.slacks)
    return hashlib.sha256("\n".join([*sorted(lines), *sorted(signs)]).encode()).hexdigest()[:20]


def kept(facts: Facts) -> dict[sp.Symbol, sp.Rational] | None:
    """The numbers that are kept for the symbols of the facts; unchecked."""
    return at(facts, load().get(key(facts), {}))


def at(facts: Facts, model: Model) -> dict[sp.Symbol, sp.Rational] | None:
    """The numbers of a model by symbol; None if they are not for the symbols of these facts."""
    texts = _texts(facts)
    return {one: sp.Rational(model[text]) for one, text in texts.items()} if set(model) == {*texts.values()} else None


def _texts(facts: Facts) -> dict[sp.Symbol, str]:
    """The symbols as a model names them."""
    return {symbol: as_text(term).strip("{}") for symbol, term in facts.named.items()}


def search(facts: Facts) -> tuple[str, Model | None]:
    """z3's answer (sat, unsat or unknown) to whether the facts can hold together, and numbers if it has any."""
    asked, variables = solver(facts.slacks, whole=True)
    word = str(asked.check())
    if word == "unknown":
        word = _one_by_one(asked, list(variables.values()))
    if word != "sat":
        return word, None
    found = asked.model()
    values = {symbol: found.eval(variable, model_completion=True) for symbol, variable in variables.items()}
    if not all(isinstance(value, z3.RatNumRef) for value in values.values()):
        return word, None
    texts = _texts(facts)
    model = {texts[symbol]: str(value.as_fraction()) for symbol, value in values.items()}
    return word, model if (numbers := at(facts, model)) is not None and facts.hold(numbers) else None


def _one_by_one(asked: z3.Solver, variables: list[z3.ArithRef]) -> str:
    """z3's answer once small numbers are put in for variables in turn, wherever it does not exclude them."""
    for variable in variables:
        for number in (1, 2, 0):
            asked.push()
            asked.add(variable == number)
            word = str(asked.check())
            if word == "sat":
                return word
            if word == "unknown":
                break
            asked.pop()
    return "unknown"
