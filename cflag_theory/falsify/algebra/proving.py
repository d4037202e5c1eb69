"""The first stage: closed conjectures over real variables, put to sympy and z3 before anything is searched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NoReturn

import sympy as sp

from cflag_theory.claims.engine.models import Answer, look_for_model
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.errors import CflagError
from cflag_theory.falsify.algebra.bernstein import holds_on_box
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.guard import TimeUp, time_limit
from cflag_theory.falsify.quantity import Hypothesis, Quantity
from cflag_theory.falsify.ranges import BOTH, HIGH, LOW, ORDER, SIGN, Range

#: Larger expressions than this are not read as algebra.
_OPERATIONS = 4000


class NotAlgebra(Exception):
    """A function of the conjecture looks at its arguments in a way that has no formula."""


@dataclass
class Notes:
    """What a function did while it was traced, beside its result.

    Attributes
    ----------
    asked : list of str
        Questions about the value of a number, also where the function caught what they raised.
    needs : list of Relation
        What must hold for every step to have a value; sympy cancels (x - 1)/(x - 1), and Python does not. A divisor d
        that must not be 0 stands here as 0 < d^2.
    """

    asked: list[str] = field(default_factory=list)
    needs: list[Relation] = field(default_factory=list)


_NOTES: ContextVar[Notes | None] = ContextVar("notes", default=None)


def _no_formula(why: str) -> NoReturn:
    notes = _NOTES.get()
    if notes is not None:
        notes.asked.append(why)
    raise NotAlgebra(why)


def _note(needs: list[Relation]) -> None:
    notes = _NOTES.get()
    if notes is not None:
        notes.needs += [need for need in needs if need not in notes.needs]


def _needs_of_power(base: sp.Expr, power: sp.Expr) -> list[Relation]:
    """What base^power needs to be a real number."""
    if power.is_Integer:
        return [] if power >= 0 or (base.is_Rational and base != 0) else [Relation(sp.S.Zero, "<", base**2)]
    root = power.is_Rational and power.q == 2 and power > 0
    return [Relation(sp.S.Zero, "<=" if root else "<", base)]


def _needs(expr: sp.Expr) -> list[Relation]:
    """What the steps of an expression need, the innermost first."""
    found: list[Relation] = []
    for part in sp.postorder_traversal(expr):
        if isinstance(part, sp.Pow):
            found += _needs_of_power(part.base, part.exp)
        elif isinstance(part, sp.log):
            found.append(Relation(sp.S.Zero, "<", part.args[0]))
    return found


class Traced:
    """A number of which only the formula is known: what a Python function does with it becomes an expression.

    Every question about its value raises, so that a function which branches is never mistaken for a formula; `Notes`
    also remember questions whose exception the function catches.
    """

    def __init__(self, expr: sp.Expr) -> None:
        self.expr = expr

    def traced(self, name: str) -> Traced:
        """sqrt, exp or log of it."""
        if name != "exp":
            _note([Relation(sp.S.Zero, "<=" if name == "sqrt" else "<", self.expr)])
        return Traced({"sqrt": sp.sqrt, "exp": sp.exp, "log": sp.log}[name](self.expr))

    def __add__(self, other: Any) -> Any:
        return _combined(lambda a, b: a + b, self, other)

    def __radd__(self, other: Any) -> Any:
        return _combined(lambda a, b: a + b, other, self)

    def __sub__(self, other: Any) -> Any:
        return _combined(lambda a, b: a - b, self, other)

    def __rsub__(self, other: Any) -> Any:
        return _combined(lambda a, b: a - b, other, self)

    def __mul__(self, other: Any) -> Any:
        return _combined(lambda a, b: a * b, self, other)

    def __rmul__(self, other: Any) -> Any:
        return _combined(lambda a, b: a * b, other, self)

    def __truediv__(self, other: Any) -> Any:
        return _combined(_quotient, self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return _combined(_quotient, other, self)

    def __pow__(self, other: Any) -> Any:
        return _combined(_power, self, other)

    def __rpow__(self, other: Any) -> Any:
        return _combined(_power, other, self)

    def __neg__(self) -> Traced:
        return Traced(-self.expr)

    def __pos__(self) -> Traced:
        return self

    def __le__(self, other: Any) -> Any:
        return _related(self, "<=", other)

    def __lt__(self, other: Any) -> Any:
        return _related(self, "<", other)

    def __ge__(self, other: Any) -> Any:
        return _related(other, "<=", self)

    def __gt__(self, other: Any) -> Any:
        return _related(other, "<", self)

    def __eq__(self, other: object) -> Any:
        return _related(self, "==", other)

    def __ne__(self, other: object) -> Any:
        _no_formula("it asks whether numbers differ")

    def __bool__(self) -> bool:
        _no_formula("it asks whether a number is zero")

    def __hash__(self) -> int:
        _no_formula("it looks a number up")

    def __abs__(self) -> Any:
        _no_formula("it takes an absolute value")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        _no_formula(f"it asks a number for its {name}")

    def _turned(self, *others: Any) -> Any:
        _no_formula("it turns a number into one of another kind")

    __float__ = __int__ = __index__ = __complex__ = __iter__ = _turned
    __round__ = __floor__ = __ceil__ = __trunc__ = _turned
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = _turned


class TracedRelation:
    """What a comparison of traced numbers returns: relations that `&` joins."""

    def __init__(self, relations: tuple[Relation, ...]) -> None:
        self.relations = relations

    def __and__(self, other: Any) -> Any:
        return TracedRelation(self.relations + other.relations) if isinstance(other, TracedRelation) else NotImplemented

    def __bool__(self) -> bool:
        _no_formula("it branches on a comparison")


def _expr(value: Any) -> sp.Expr | None:
    if isinstance(value, Traced):
        return value.expr
    if isinstance(value, Fraction):
        return sp.Rational(value.numerator, value.denominator)
    return sp.sympify(value) if isinstance(value, int | sp.Expr) and not isinstance(value, bool) else None


def _combined(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    a, b = _expr(left), _expr(right)
    return NotImplemented if a is None or b is None else Traced(operation(a, b))


def _quotient(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    _note(_needs_of_power(b, sp.S.NegativeOne))
    return a / b


def _power(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    _note(_needs_of_power(a, b))
    return a**b


def _related(left: Any, op: str, right: Any) -> Any:
    a, b = _expr(left), _expr(right)
    return NotImplemented if a is None or b is None else TracedRelation((Relation(a, op, b),))


@dataclass(frozen=True)
class Formula:
    """A closed conjecture as relations.

    Attributes
    ----------
    goal, given, ranges : Relation, tuples of Relation
        The claim, the hypotheses, and the ranges.
    needs : tuple of Relation
        What must hold for all of these to have a value.
    symbols : mapping of str to Symbol
        Of the variables.
    """

    goal: Relation
    given: tuple[Relation, ...]
    ranges: tuple[Relation, ...]
    needs: tuple[Relation, ...]
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


def read(conjecture: Conjecture) -> Formula:
    """A conjecture over numbers as relations.

    Raises
    ------
    NotAlgebra
        It has no formula; the message says why.
    """
    if conjecture.runs:
        raise NotAlgebra("it is about runs")
    symbols = {}
    for name, one in conjecture.variables.items():
        if one.shape or one.kind == ORDER:
            raise NotAlgebra(f"{name} is an array")
        symbols[name] = _symbol(name, one)
    notes = Notes()
    token = _NOTES.set(notes)
    try:
        left, right = (_side(side, symbols) for side in conjecture.sides)
        given = tuple(relation for one in conjecture.hypotheses for relation in _hypothesis(one, symbols))
    finally:
        _NOTES.reset(token)
    if notes.asked:
        raise NotAlgebra(f"a function of it is no formula: {notes.asked[0]}")
    goal = Relation(left, conjecture.relation, right)
    for relation in (*given, goal):
        notes.needs += [*_needs(relation.left), *_needs(relation.right)]
    ranges: list[Relation] = []
    for name, one in conjecture.variables.items():
        if one.kind == SIGN:
            ranges.append(Relation(symbols[name] ** 2, "==", sp.S.One))
            continue
        ranges.append(Relation(_rational(one.low), "<" if one.open in (LOW, BOTH) else "<=", symbols[name]))
        ranges.append(Relation(symbols[name], "<" if one.open in (HIGH, BOTH) else "<=", _rational(one.high)))
    if sum(sp.count_ops(part) for relation in (goal, *given) for part in (relation.left, relation.right)) > _OPERATIONS:
        raise NotAlgebra("its formula is too long")
    return Formula(goal, given, tuple(ranges), tuple(dict.fromkeys(notes.needs)), symbols)


def formulas_of(one: Hypothesis, conjecture: Conjecture) -> tuple[Relation, ...]:
    """A hypothesis about numbers as relations.

    Raises
    ------
    NotAlgebra
        It has no formula.
    """
    return _hypothesis(one, {name: _symbol(name, conjecture.variables[name]) for name in one.names})


def _symbol(name: str, one: Range) -> sp.Symbol:
    if one.kind == SIGN or one.low < 0:
        return sp.Symbol(name, real=True)
    positive = one.low > 0 or one.open in (LOW, BOTH)
    return sp.Symbol(name, positive=True) if positive else sp.Symbol(name, nonnegative=True)


def _rational(value: Any) -> sp.Rational:
    number = Fraction(value)
    return sp.Rational(number.numerator, number.denominator)


def _traced(part: Quantity, symbols: Mapping[str, sp.Symbol]) -> Any:
    try:
        return part.of(**{name: Traced(symbols[name]) for name in part.names})
    except NotAlgebra as error:
        raise NotAlgebra(f"{part.what} is no formula: {error}") from None
    except CflagError:
        raise
    except Exception as error:
        raise NotAlgebra(f"{part.what} is no formula ({type(error).__name__}: {error})") from None


def _side(part: Quantity, symbols: Mapping[str, sp.Symbol]) -> sp.Expr:
    found = part.symbolic(symbols)
    if found is None:
        found = _expr(_traced(part, symbols))
    if found is None:
        raise NotAlgebra(f"{part.what} is no formula")
    return found


def _hypothesis(one: Hypothesis, symbols: Mapping[str, sp.Symbol]) -> tuple[Relation, ...]:
    if one.predicate is None:
        left, right = (_side(part, symbols) for part in one.sides)
        return (Relation(left, one.op, right),)
    found = _traced(one.predicate, symbols)
    if not isinstance(found, TracedRelation):
        raise NotAlgebra(f"{one.words} is no comparison")
    return found.relations


def attempt(conjecture: Conjecture, *, seconds: float) -> Attempt:
    """Prove a closed conjecture, or find a point that may refute it; both engines are asked.

    sympy: right minus left has, on the box of the ranges, Bernstein coefficients of one sign. z3: the hypotheses, the
    ranges and the failing relation have no common model, or a model. A proof counts where the sides have values at all:
    that no divisor vanishes, and no root or logarithm leaves its domain, is proved likewise.
    """
    try:
        with time_limit(seconds):
            formula = read(conjecture)
            box = {
                symbol: (conjecture.variables[name].low, conjecture.variables[name].high)
                for name, symbol in formula.symbols.items()
            }
            engines = ["sympy"] if holds_on_box(formula.goal, box) else []
            why = "sympy and z3 do not decide it"
            try:
                answer = look_for_model(formula.goal, (*formula.given, *formula.ranges))
            except TypeError as error:
                answer, why = Answer("unknown"), str(error)
            if answer.word == "proved":
                engines.append("z3")
            if engines:
                lacking = next((need for need in formula.needs if not _follows(need, formula, box)), None)
                if lacking is None:
                    possible = look_for_model(None, (*formula.given, *formula.ranges)).word == "refuted"
                    return Attempt("proved", tuple(engines), possible=possible)
                return Attempt("unknown", why=f"its formula needs {lacking}, which was not proved")
            if answer.point is not None:
                lows = {symbol: Fraction(conjecture.variables[name].low) for name, symbol in formula.symbols.items()}
                point = lows | answer.point
                return Attempt("refuted", ("z3",), {name: point[symbol] for name, symbol in formula.symbols.items()})
            return Attempt("unknown", why=why)
    except NotAlgebra as error:
        return Attempt("unknown", why=str(error))
    except TimeUp:
        return Attempt("unknown", why=f"sympy and z3 had no answer after {seconds:g} s")


def _follows(need: Relation, formula: Formula, box: Mapping[sp.Symbol, tuple[Any, Any]]) -> bool:
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
