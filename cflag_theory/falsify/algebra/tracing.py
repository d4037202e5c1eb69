"""Numbers of which only the formula is known: what a Python function does with them becomes an expression."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NoReturn

import sympy as sp

import cflag_theory
from cflag_theory.claims.engine.relation import Relation

_OURS = str(Path(cflag_theory.__file__).parent)


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


NOTES: ContextVar[Notes | None] = ContextVar("notes", default=None)


def _no_formula(why: str) -> NoReturn:
    notes = NOTES.get()
    if notes is not None:
        notes.asked.append(why)
    raise NotAlgebra(why)


def _note(needs: list[Relation]) -> None:
    notes = NOTES.get()
    if notes is not None:
        notes.needs += [need for need in needs if need not in notes.needs]


def _needs_of_power(base: sp.Expr, power: sp.Expr) -> list[Relation]:
    """What base^power needs to be a real number."""
    if power.is_Integer:
        return [] if power >= 0 or (base.is_Rational and base != 0) else [Relation(sp.S.Zero, "<", base**2)]
    root = power.is_Rational and power.q == 2 and power > 0
    return [Relation(sp.S.Zero, "<=" if root else "<", base)]


def needs_of(expr: sp.Expr) -> list[Relation]:
    """What the steps of an expression need, the innermost first."""
    found: list[Relation] = []
    for part in sp.postorder_traversal(expr):
        if isinstance(part, sp.Pow):
            found += _needs_of_power(part.base, part.exp)
        elif isinstance(part, sp.log):
            found.append(Relation(sp.S.Zero, "<", part.args[0]))
    return found


#: A function that asks for these may treat a formula otherwise than a number.
_KINDS = frozenset({"type", "isinstance", "issubclass", "__class__", "callable", "hasattr", "getattr", "id", "vars"})


def asks_for_kinds(function: Any) -> str | None:
    """A word with which a Python function, or one of its own that it calls, asks what kind of thing a value is."""
    waiting, seen = [function], set[int]()
    while waiting:
        one = inspect.unwrap(waiting.pop())
        # A method, a partial function, an object that can be called.
        one = getattr(one, "__func__", getattr(one, "func", one))
        code = getattr(one, "__code__", None) or getattr(vars(type(one)).get("__call__"), "__code__", one)
        if not isinstance(code, CodeType) or id(code) in seen or code.co_filename.startswith(_OURS):
            continue
        seen.add(id(code))
        asked = next((name for name in code.co_names if name in _KINDS), None)
        if asked is not None:
            return asked
        waiting += [part for part in code.co_consts if isinstance(part, CodeType)]
        if isinstance(one, FunctionType):
            found = inspect.getclosurevars(one)
            waiting += [*found.nonlocals.values(), *found.globals.values()]
    return None


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
        return Traced(sp.Abs(self.expr))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        _no_formula(f"it asks a number for its {name}")

    def _turned(self, *others: Any) -> Any:
        _no_formula("it turns a number into one of another kind")

    __float__ = __int__ = __index__ = __complex__ = __iter__ = _turned
    __str__ = __repr__ = __format__ = _turned
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


def as_expr(value: Any) -> sp.Expr | None:
    if isinstance(value, Traced):
        return value.expr
    if isinstance(value, Fraction):
        return sp.Rational(value.numerator, value.denominator)
    return sp.sympify(value) if isinstance(value, int | sp.Expr) and not isinstance(value, bool) else None


def _combined(operation: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    a, b = as_expr(left), as_expr(right)
    return NotImplemented if a is None or b is None else Traced(operation(a, b))


def _quotient(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    _note(_needs_of_power(b, sp.S.NegativeOne))
    return a / b


def _power(a: sp.Expr, b: sp.Expr) -> sp.Expr:
    _note(_needs_of_power(a, b))
    return a**b


def _related(left: Any, op: str, right: Any) -> Any:
    a, b = as_expr(left), as_expr(right)
    return NotImplemented if a is None or b is None else TracedRelation((Relation(a, op, b),))
