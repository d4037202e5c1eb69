"""Counterexamples by z3: rational points where a relation fails under its hypotheses, or that there are none."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import sympy as sp
import z3

from cflag_theory.claims.engine.algebra import Atoms, to_z3
from cflag_theory.claims.engine.relation import Relation

# Resource units and not seconds, so that z3's answer is the same on a slow machine.
UNITS = 3_000_000


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
    atoms, context = Atoms(), z3.Context()
    solver = z3.Solver(ctx=context)
    solver.set("rlimit", units)
    variables: dict[sp.Symbol, z3.ArithRef] = {}
    truth = {"==": lambda e: e == 0, "<=": lambda e: e >= 0, "<": lambda e: e > 0}
    for relation in given:
        solver.add(truth[relation.op](to_z3(atoms(relation.slack), variables, context)))
    if goal is not None:
        solver.add(z3.Not(truth[goal.op](to_z3(atoms(goal.slack), variables, context))))
    for symbol, variable in variables.items():
        if symbol.is_positive:
            solver.add(variable > 0)
        elif symbol.is_nonnegative:
            solver.add(variable >= 0)
    word = str(solver.check())
    if word == "unsat":
        return Answer("proved")
    if word != "sat" or atoms.of:
        return Answer("unknown")
    model = solver.model()
    point = {symbol: _rational(model.eval(variable, model_completion=True)) for symbol, variable in variables.items()}
    return Answer("refuted", point)


def _rational(value: Any) -> Fraction:
    if isinstance(value, z3.AlgebraicNumRef):
        value = value.approx(20)
    return Fraction(value.numerator_as_long(), value.denominator_as_long())
