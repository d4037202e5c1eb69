"""The first stage: closed conjectures over real variables, put to sympy, Bernstein coefficients and z3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import sympy as sp

from cflag_theory.claims.engine import door
from cflag_theory.claims.engine.claim import Fact, Statement
from cflag_theory.claims.engine.models import Answer, look_for_model
from cflag_theory.claims.engine.relation import Relation, sides
from cflag_theory.claims.engine.terms import TermError
from cflag_theory.errors import CflagError
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.held import Held
from cflag_theory.falsify.quantity import Hypothesis, Quantity
from cflag_theory.falsify.ranges import BOTH, HIGH, INTEGER, LONGEST, LOW, ORDER, SIGN, Range
from cflag_theory.falsify.search.guard import TimeUp, time_limit
from cflag_theory.falsify.tracing import (
    NOTES,
    NotAlgebra,
    Notes,
    TracedRelation,
    as_expr,
    needs_of,
    traced,
)
from cflag_theory.falsify.vector_terms.proving import prove_vectors
from cflag_theory.falsify.vector_terms.reading import Reading
from cflag_theory.falsify.vector_terms.words import own_names, with_ln

#: Larger expressions than this are not read as algebra.
_OPERATIONS = 4000
#: The exact ends of every variable.
Box = Mapping[sp.Symbol, tuple[Any, Any]]


@dataclass(frozen=True)
class Formula:
    """A closed conjecture as relations."""

    #: The claim, the hypotheses, and the ranges.
    goal: Relation
    given: tuple[Relation, ...]
    ranges: tuple[Relation, ...]
    #: What must hold for all of these to have a value.
    needs: tuple[Relation, ...]
    #: Of the variables.
    symbols: Mapping[str, sp.Symbol]


@dataclass(frozen=True)
class Attempt:
    """What algebra said: "proved" with the engines that agreed, "refuted" with a point, "unknown" with the reason.

    `possible` says that z3 found numbers which satisfy the hypotheses, so that a proof is not empty.
    """

    word: str
    engines: tuple[str, ...] = ()
    point: Mapping[str, Fraction] | None = None
    why: str = ""
    possible: bool = False
    formula: Formula | None = None
    #: With its proof, where rules prove it.
    statement: Statement | None = None


def read(conjecture: Conjecture) -> Formula:
    """A conjecture over numbers as relations."""
    if conjecture.runs:
        raise NotAlgebra("it is about runs")
    symbols = {}
    for name, one in conjecture.variables.items():
        if one.shape or one.kind == ORDER:
            raise NotAlgebra(f"{name} is an array")
        symbols[name] = _symbol(name, one)
    notes = Notes()
    token = NOTES.set(notes)
    try:
        left, right, *given = _relations(conjecture, symbols)
        if [left, right, *given] != _relations(conjecture, symbols):
            raise NotAlgebra("a function of it returns another formula when it is called again")
    finally:
        NOTES.reset(token)
    if notes.asked:
        raise NotAlgebra(f"a function of it is not a formula: {notes.asked[0]}")
    goal = Relation(left, conjecture.relation, right)
    for relation in (*given, goal):
        notes.needs += [*needs_of(relation.left), *needs_of(relation.right)]
    ranges: list[Relation] = []
    for name, one in conjecture.variables.items():
        if one.kind == SIGN:
            ranges.append(Relation(symbols[name] ** 2, "==", sp.S.One))
            continue
        ranges.append(Relation(_rational(one.low), "<" if one.open in (LOW, BOTH) else "<=", symbols[name]))
        ranges.append(Relation(symbols[name], "<" if one.open in (HIGH, BOTH) else "<=", _rational(one.high)))
    parts = [part for relation in (goal, *given) for part in (relation.left, relation.right)]
    numbers = [number for part in parts for one in part.atoms(sp.Rational) for number in (one.p, one.q)]
    longest = max((number.bit_length() for number in numbers), default=0)
    if sum(map(sp.count_ops, parts)) > _OPERATIONS or longest > LONGEST:
        raise NotAlgebra("its formula is too long")
    return Formula(goal, tuple(given), tuple(ranges), tuple(dict.fromkeys(notes.needs)), symbols)


def _relations(conjecture: Conjecture, symbols: Mapping[str, sp.Symbol]) -> list[Any]:
    """Both sides, and the hypotheses as relations."""
    given = (relation for one in conjecture.hypotheses for relation in _hypothesis(one, symbols))
    return [*(_side(side, symbols) for side in conjecture.sides), *given]


def formulas_of(one: Hypothesis, conjecture: Conjecture) -> tuple[Relation, ...]:
    """A hypothesis about numbers as relations."""
    return _hypothesis(one, {name: _symbol(name, conjecture.variables[name]) for name in one.names})


def _symbol(name: str, one: Range) -> sp.Symbol:
    if one.kind == SIGN or one.low < 0:
        return sp.Symbol(name, real=True)
    sort = "positive" if one.low > 0 or one.open in (LOW, BOTH) else "nonnegative"
    return sp.Symbol(name, **({"integer": True} if one.kind == INTEGER else {}), **{sort: True})


def _rational(value: Any) -> sp.Rational:
    number = Fraction(value)
    return sp.Rational(number.numerator, number.denominator)


def _traced(part: Quantity, symbols: Mapping[str, sp.Symbol]) -> Any:
    try:
        named = {name: symbols[name] for name in part.names}
        return part.of.traced(named) if isinstance(part.of, Held) else traced(part.of, named)
    except NotAlgebra as error:
        raise NotAlgebra(f"{part.what} is not a formula: {error}") from None
    except CflagError:
        raise
    except Exception as error:
        raise NotAlgebra(f"{part.what} is not a formula ({type(error).__name__}: {error})") from None


def _side(part: Quantity, symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
    found = part.symbolic(symbols)
    if found is None:
        found = as_expr(_traced(part, symbols))
    if found is None:
        raise NotAlgebra(f"{part.what} is not a formula")
    return found


def _hypothesis(one: Hypothesis, symbols: Mapping[str, sp.Symbol]) -> tuple[Relation, ...]:
    if one.predicate is None:
        left, right = (_side(part, symbols) for part in one.sides)
        return (Relation(left, one.op, right),)
    found = _traced(one.predicate, symbols)
    if not isinstance(found, TracedRelation):
        raise NotAlgebra(f"{one.words} is not a comparison")
    return found.relations


def attempt(conjecture: Conjecture, *, seconds: float) -> Attempt:
    """Prove a closed conjecture, or find a point that may refute it, see `attempt_formula`."""
    try:
        with time_limit(seconds):
            formula = read(conjecture)
            box = box_of(conjecture, formula)
            for one in conjecture.hinted:
                # A hint counts once it is proved, from what is given and from the hints before it.
                for hint in formulas_of(one, conjecture):
                    needs = (*formula.needs, *needs_of(hint.left), *needs_of(hint.right))
                    if attempt_formula(replace(formula, goal=hint, needs=needs), box).word == "proved":
                        formula = replace(formula, given=(*formula.given, hint))
            return attempt_formula(formula, box)
    except NotAlgebra as error:
        return Attempt("unknown", why=str(error))
    except TimeUp:
        return Attempt("unknown", why=f"sympy and z3 had no answer after {seconds:g} s")


def by_rules(conjecture: Conjecture, formula: Formula, *, seconds: float) -> Attempt:
    """Prove a formula as a statement, by rules and induction."""
    try:
        with time_limit(seconds):
            box = box_of(conjecture, formula)
            lacking = next((need for need in formula.needs if not _follows(need, formula, box)), None)
            if lacking is not None:
                return Attempt("unknown", why=f"its formula needs {lacking}, which was not proved")
            named = [(f"hypothesis {number}", one) for number, one in enumerate(formula.given, start=1)]
            # That a number is not negative its sort says.
            named += [(f"range: {one}", one) for one in formula.ranges if one.left != 0]
            goal, *given = (one.map(with_ln) for _, one in [("", formula.goal), *named])
            if fault := next(filter(None, (door.fault(side) for side in sides(goal, *given))), None):
                return Attempt("unknown", why=fault)
            facts = (Fact(name, one, str(one)) for (name, _), one in zip(named, given, strict=True))
            reading = Reading(conjecture.name, goal, tuple(facts))
            proof = prove_vectors(reading.put(own_names(reading.atoms(sp.Symbol), but=())).as_proved())
            if proof is not None:
                possible = _have_a_model((*formula.given, *formula.ranges))
                return Attempt("proved", proof.engines, possible=possible, formula=formula, statement=proof.statement)
    except (TermError, sp.PolynomialError):
        pass
    except TimeUp:
        return Attempt("unknown", why=f"rules and induction had no answer after {seconds:g} s")
    return Attempt("unknown", why="rules and induction do not decide it")


def has_rules(formula: Formula) -> bool:
    """Whether it has powers with a symbol as exponent, exp or log, of which rules know more than a sign."""
    parts = (part for one in (formula.goal, *formula.given) for part in sp.preorder_traversal(one.slack))
    return any(
        isinstance(part, sp.exp | sp.log) or part is sp.E or (isinstance(part, sp.Pow) and not part.exp.is_number)
        for part in parts
    )


def box_of(conjecture: Conjecture, formula: Formula) -> Box:
    """The ends of the ranges, by symbol."""
    variables = conjecture.variables
    return {symbol: (variables[name].low, variables[name].high) for name, symbol in formula.symbols.items()}


def attempt_formula(formula: Formula, box: Box) -> Attempt:
    """Prove a formula, or find a point that may refute it; both engines are asked.

    sympy: right minus left has, on the box of the ranges, Bernstein coefficients of one sign. z3: the hypotheses, the
    ranges and the failing relation have no common model, or a model. A proof counts where the sides have values at all:
    that no divisor vanishes, and no root or logarithm leaves its domain, is proved likewise.
    """
    engines = ["sympy"] if holds_on_box(formula.goal, box) else []
    why = "sympy and z3 do not decide it"
    goal, given = without_roots(formula.goal, (*formula.given, *formula.ranges))
    try:
        answer = look_for_model(goal, given)
    except TypeError as error:
        answer, why = Answer("unknown"), str(error)
    if answer.word == "proved":
        engines.append("z3")
    if engines:
        lacking = next((need for need in formula.needs if not _follows(need, formula, box)), None)
        if lacking is None:
            return Attempt("proved", tuple(engines), possible=_have_a_model(given), formula=formula)
        return Attempt("unknown", why=f"its formula needs {lacking}, which was not proved")
    if answer.point is not None:
        met = {symbol: value for symbol, value in answer.point.items() if symbol in box}
        point = {symbol: Fraction(low) for symbol, (low, _) in box.items()} | met
        return Attempt("refuted", ("z3",), {name: point[symbol] for name, symbol in formula.symbols.items()})
    return Attempt("unknown", why=why, formula=formula)


def _have_a_model(given: Sequence[Relation]) -> bool:
    """Whether z3 finds numbers that satisfy relations."""
    try:
        return look_for_model(None, given).word == "refuted"
    except TypeError:
        return False


def without_roots(goal: Relation, given: Sequence[Relation]) -> tuple[Relation, tuple[Relation, ...]]:
    """The same with a variable s >= 0, s^2 = b for every square root of b, and s^2 = b^2 for every |b|.

    Where b may be negative its root has no value, which `needs` of the formula exclude.
    """
    roots: dict[sp.Expr, sp.Dummy] = {}

    def root(square: sp.Expr) -> sp.Dummy:
        return roots.setdefault(square, sp.Dummy("root", nonnegative=True))

    def replaced(expr: sp.Expr) -> sp.Expr:
        return expr.replace(sp.Abs, lambda term: root(term**2)).replace(
            lambda term: isinstance(term, sp.Pow) and term.exp.is_Rational and term.exp.q == 2,
            lambda term: root(term.base) ** term.exp.p,
        )

    relations = [Relation(replaced(one.left), one.op, replaced(one.right)) for one in (goal, *given)]
    return relations[0], (*relations[1:], *(Relation(root**2, "==", base) for base, root in roots.items()))


def _follows(need: Relation, formula: Formula, box: Box) -> bool:
    """Whether the ranges and hypotheses imply what a step needs."""
    if holds_on_box(need, box):
        return True
    squared = isinstance(need.right, sp.Pow) and need.right.exp == 2 and need.op == "<"
    divisor = need.right.base if squared else None
    # A divisor of one sign has a simpler polynomial than its square.
    if divisor is not None and any(holds_on_box(Relation(sp.S.Zero, "<", sign * divisor), box) for sign in (1, -1)):
        return True
    try:
        return look_for_model(need, (*formula.given, *formula.ranges)).word == "proved"
    except TypeError:
        return False


#: The most coefficients and the largest degree that are computed, and the degrees by which a polynomial is raised.
_COEFFICIENTS, _DEGREE, _ELEVATIONS = 4000, 40, (0, 1, 2, 4)


def holds_on_box(goal: Relation, box: Mapping[sp.Symbol, tuple[Any, Any]]) -> bool:
    """Whether a relation was seen to hold on the closed box, numerator and denominator having one sign each."""
    try:
        above, under = sp.fraction(sp.cancel(sp.together(goal.slack)))
    except (sp.PolynomialError, RuntimeError):
        return False
    if goal.op == "==":
        return bool(above == 0)
    signs = [_sign_on_box(part, box) for part in (above, under)]
    if 0 in signs or abs(signs[1]) != 2:
        return False
    sign = signs[0] * signs[1]
    return sign == 4 if goal.op == "<" else sign > 0


def _sign_on_box(expr: sp.Expr, box: Mapping[sp.Symbol, tuple[Any, Any]]) -> int:
    """The sign of a polynomial with rational coefficients on a closed box, by those of its Bernstein coefficients.

    2 if it is positive, 1 if it is not negative, -1 and -2 likewise, 0 if the coefficients do not say. `box` holds the
    exact ends for every symbol.
    """
    if expr == 0:
        return 1
    used = [symbol for symbol in box if expr.has(symbol)]
    if not used:
        return (2 if expr > 0 else -2) if expr.is_Rational else 0
    if expr.free_symbols != set(used):
        return 0
    try:
        poly = sp.Poly(expr, *used)
    except sp.PolynomialError:
        return 0
    if not all(coefficient.is_Rational for coefficient in poly.coeffs()):
        return 0
    ends = [box[symbol] for symbol in used]
    degrees = poly.degree_list()
    if max(degrees) > _DEGREE:
        return 0
    for more in _ELEVATIONS:
        if prod(degree + more + 1 for degree in degrees) > _COEFFICIENTS:
            return 0
        found = _coefficients(poly, ends, [degree + more for degree in degrees])
        if all(one > 0 for one in found):
            return 2
        if all(one >= 0 for one in found):
            return 1
        if all(one < 0 for one in found):
            return -2
        if all(one <= 0 for one in found):
            return -1
    return 0


def _coefficients(poly: sp.Poly, ends: Sequence[tuple[Any, Any]], degrees: Sequence[int]) -> list[Fraction]:
    """Coefficients in s of prod (1 + s_i)^degree_i p((low + high s) / (1 + s)), positive multiples of Bernstein's."""
    total: dict[tuple[int, ...], Fraction] = {}
    tables = [
        [_expanded(Fraction(low), Fraction(high), power, degree) for power in range(degree + 1)]
        for (low, high), degree in zip(ends, degrees, strict=True)
    ]
    for powers, coefficient in poly.terms():
        value = Fraction(int(coefficient.p), int(coefficient.q))
        rows = [table[power] for table, power in zip(tables, powers, strict=True)]
        for at in product(*(range(degree + 1) for degree in degrees)):
            total[at] = total.get(at, Fraction(0)) + value * prod(row[k] for row, k in zip(rows, at, strict=True))
    return list(total.values())


def _expanded(low: Fraction, high: Fraction, power: int, degree: int) -> list[Fraction]:
    """The coefficients of (low + high s)^power (1 + s)^(degree - power)."""
    found = [Fraction(1)]
    for factor in [(low, high)] * power + [(Fraction(1), Fraction(1))] * (degree - power):
        found = [
            (found[k] if k < len(found) else 0) * factor[0] + (found[k - 1] if k else 0) * factor[1]
            for k in range(len(found) + 1)
        ]
    return found
