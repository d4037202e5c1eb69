"""Numbers of which only the formula is known: what a Python function does with them becomes an expression."""

from __future__ import annotations

import builtins
import dis
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType, NoneType
from typing import Any, NoReturn

import numpy as np
import sympy as sp

import cflag_theory
from cflag_theory.claims.engine.relation import Relation

_OURS = str(Path(cflag_theory.__file__).parent)


class NotAlgebra(Exception):
    """A function of the conjecture looks at its arguments in a way that has no formula."""


@dataclass
class Notes:
    """What a function did while it was traced, beside its result."""

    #: Questions about the value of a number, also where the function caught what they raised.
    asked: list[str] = field(default_factory=list)
    #: What must hold for every step to have a value; sympy cancels (x - 1)/(x - 1), and Python does not. A divisor d
    #: that must not be 0 stands here as 0 < d^2.
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
    if power.is_Integer or (power.is_integer and power.is_nonnegative):
        return [] if power.is_nonnegative or (base.is_Rational and base != 0) else [Relation(sp.S.Zero, "<", base**2)]
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
_MEANT = tuple(vars(builtins)[name] for name in _KINDS & vars(builtins).keys())
#: What a number of which only the formula is known has, and no other number.
_OWN = frozenset({"expr", "traced"})
#: What tells kinds of values apart without a name: patterns, and errors that a function catches.
_TELLING = ("MATCH_CLASS", "MATCH_MAPPING", "MATCH_SEQUENCE", "PUSH_EXC_INFO")
#: Modules of built-in functions, and functions of NumPy, that are arithmetic; others look at what they are given.
_PLAIN = frozenset({"builtins", "math", "_operator", "_functools"})
_ARITHMETIC = frozenset({"array", "asarray", "dot", "inner", "mean", "ones", "outer", "prod", "stack", "sum", "zeros"})


def asks_for_more(function: Any) -> str | None:
    """A word with which a function, or one that it calls, asks for the kind of a value or for what may change."""
    # The objects stay alive, so that no other has the same id.
    waiting, seen = [function], dict[int, Any]()
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen[id(one)] = one
        waiting += [inner] if (inner := getattr(one, "__wrapped__", None)) is not None else []
        if any(one is kind for kind in _MEANT):
            return str(one.__name__)
        if isinstance(one, BuiltinFunctionType) and one.__module__ not in _PLAIN:
            return one.__name__
        if isinstance(one, partial):
            waiting += [*one.args, *one.keywords.values()]
        if isinstance(one, type) and not _of_library(one):
            waiting += [getattr(part, "__func__", part) for base in one.__mro__ for part in vars(base).values()]
        # A method, a partial function, an object that can be called.
        one = getattr(one, "__func__", getattr(one, "func", one))
        code = getattr(one, "__code__", None) or getattr(vars(type(one)).get("__call__"), "__code__", one)
        if not isinstance(code, CodeType) or code.co_filename.startswith(_OURS):
            continue
        if _of_library(one) and one.__module__.partition(".")[0] == "numpy":
            if one.__name__ in _ARITHMETIC:
                continue
            return str(one.__name__)
        asked = next((name for name in code.co_names if name in _KINDS), None) or _told(code)
        if asked is not None:
            return asked
        waiting += [part for part in code.co_consts if isinstance(part, CodeType)]
        if isinstance(one, FunctionType):
            names = {*_names(code)}
            outside = {name: one.__globals__[name] for name in names & one.__globals__.keys()}
            outside |= {**inspect.getclosurevars(one).nonlocals, **(one.__kwdefaults__ or {})}
            outside |= {f"a default of {one.__name__}, {value}": value for value in one.__defaults__ or ()}
            kept = next((name for name, value in outside.items() if not _stays(value)), None)
            if kept is not None:
                return kept
            reached = [*outside.values()]
            for value in reached:
                if isinstance(value, ModuleType):
                    parts = [vars(value)[name] for name in names & vars(value).keys()]
                    reached += [part for part in parts if all(part is not known for known in reached)]
            waiting += reached
    return None


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function reads, those of functions within it among them."""
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)


def _of_library(one: Any) -> bool:
    """Whether a class or function comes with Python, NumPy or sympy."""
    return str(getattr(one, "__module__", "")).partition(".")[0] in {*sys.stdlib_module_names, "numpy", "sympy"}


def _told(code: CodeType) -> str | None:
    """How a function tells values apart, or the name under which it keeps something for its next call."""
    for one in dis.get_instructions(code):
        outside = one.opname == "STORE_DEREF" and one.argval in code.co_freevars
        if outside or one.opname in ("STORE_ATTR", "STORE_GLOBAL", "DELETE_ATTR", "DELETE_GLOBAL"):
            return str(one.argval)
        if one.opname in _TELLING:
            return "except" if one.opname == "PUSH_EXC_INFO" else "match"
        asked = str(one.argval) if one.opname in ("LOAD_ATTR", "LOAD_METHOD") else ""
        if asked.startswith("_") or asked in _OWN:
            return asked
    return None


def _stays(value: Any) -> bool:
    """Whether what a function reads from outside is the same at every call: a list, a counter or a generator is not."""
    if isinstance(value, tuple | frozenset):
        return all(map(_stays, value))
    if isinstance(value, BuiltinFunctionType):
        return value.__self__ is None or isinstance(value.__self__, ModuleType)
    plain = isinstance(value, int | float | Fraction | str | NoneType | sp.Basic | Enum | np.generic | np.ufunc)
    return plain or isinstance(value, FunctionType | ModuleType | type | partial)


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


def traced(function: Callable[..., Any], symbols: Mapping[str, sp.Symbol]) -> Any:
    """What a function makes of symbols. NotAlgebra where it asks for what formulas do not have, or may change between
    calls.
    """
    if (asked := asks_for_more(function)) is not None:
        raise NotAlgebra(f"it uses {asked}, which may tell a formula from a number, or change between calls")
    return function(**{name: Traced(symbol) for name, symbol in symbols.items()})
