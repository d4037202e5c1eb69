"""What a conjecture evaluates: Python functions of named variables, sympy expressions and numbers, all read alike."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.sorts import Sort, sort_of
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.ranges import BOTH, INTEGER, LOW, ORDER, Range, as_exact
from cflag_theory.falsify.search import exact_numbers

_OPERATIONS = {sp.Le: "<=", sp.Lt: "<", sp.Eq: "=="}


@dataclass(frozen=True)
class Quantity:
    """A function of variables that are called by their names: `of` is a Python function or a sympy expression."""

    #: For messages, such as "left".
    what: str
    of: Any
    #: The variables that it reads.
    names: tuple[str, ...]
    #: File and line of a function; empty for an expression.
    where: str = ""
    #: Further arguments of a function, which keep their default values.
    defaults: tuple[str, ...] = ()

    def floats(self, values: Mapping[str, Any]) -> Any:
        """Its value on floats, and on a run on floats."""
        return self._compiled(*[values[name] for name in self.names])

    def exact(self, values: Mapping[str, Any]) -> Any:
        """Its value on fractions, whole numbers and an exact run."""
        if isinstance(self.of, sp.Basic):
            return exact_value(self.of, values)
        return self.of(**{name: values[name] for name in self.names})

    @cached_property
    def _compiled(self) -> Callable[..., Any]:
        if isinstance(self.of, sp.Basic):
            found: Callable[..., Any] = sp.lambdify([sp.Symbol(name) for name in self.names], _plain(self.of), "math")
            return found
        return lambda *values: self.of(**dict(zip(self.names, values, strict=True)))

    def symbolic(self, symbols: Mapping[str, sp.Symbol]) -> sp.Expr | None:
        """The expression in these symbols; None for a Python function, which `algebra` reads."""
        if not isinstance(self.of, sp.Basic):
            return None
        return self.of.xreplace({symbol: symbols[symbol.name] for symbol in self.of.free_symbols})


def quantity(what: str, value: Any) -> Quantity:
    """Read a side of a conjecture, or a hypothesis that is a Python function."""
    if isinstance(value, sp.Basic) and not callable(value):
        if not isinstance(value, sp.Expr):
            raise InvalidInput(f"{what} is {value}, which is no number: pass an expression with a value")
        return Quantity(what, value, tuple(sorted(symbol.name for symbol in value.free_symbols)))
    if not callable(value):
        return Quantity(what, sp.Rational(as_exact(what, value)), ())
    where = place_of(value)
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        raise InvalidInput(f"the arguments of {what} = {value!r} cannot be read: use a function of your own") from None
    names: list[str] = []
    defaults: list[str] = []
    for parameter in parameters:
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise InvalidInput(f"{where}{what} takes {parameter}: name every variable that it reads")
        (names if parameter.default is parameter.empty else defaults).append(parameter.name)
    return Quantity(what, value, tuple(names), where, tuple(defaults))


def by_name(name: str, words: Iterable[str], of: Callable[[Mapping[str, Any]], Any]) -> Callable[..., Any]:
    """A function of variables by name, for a conjecture to read its arguments from."""

    def function(**draw: Any) -> Any:
        return of(draw)

    parameters = [inspect.Parameter(word, inspect.Parameter.KEYWORD_ONLY) for word in words]
    function.__name__ = name
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return function


def place_of(function: Any) -> str:
    """ "FILE, line N: " of a function, empty where it has none."""
    if isinstance(place := getattr(function, "place", None), str):
        return place
    code = getattr(inspect.unwrap(function), "__code__", None)
    return f"{code.co_filename}, line {code.co_firstlineno}: " if code is not None else ""


@dataclass(frozen=True)
class Hypothesis:
    """A further hypothesis: a predicate, or left op right with op one of "<=", "<", "=="."""

    words: str
    predicate: Quantity | None = None
    op: str = ""
    sides: tuple[Quantity, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The variables that it reads."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.names))

    @property
    def parts(self) -> tuple[Quantity, ...]:
        """The quantities that it is made of."""
        return self.sides if self.predicate is None else (self.predicate,)


def hypothesis(index: int, value: Any, word: str = "hypothesis") -> Hypothesis:
    """Read a hypothesis: a Python predicate, a sympy relation, or a Relation of a claim."""
    what = f"{word} {index + 1}"
    if isinstance(value, Relational):
        turned = value.reversed if isinstance(value, sp.Ge | sp.Gt) else value
        op = next((op for kind, op in _OPERATIONS.items() if isinstance(turned, kind)), None)
        if op is None:
            raise InvalidInput(f"{what} is {value}: use <=, <, >=, > or an equation")
        value = Relation(turned.lhs, op, turned.rhs)
    if isinstance(value, Relation):
        return Hypothesis(str(value), None, value.op, (quantity(what, value.left), quantity(what, value.right)))
    if isinstance(value, bool | sp.logic.boolalg.BooleanAtom):
        raise InvalidInput(f"{what} is {value}, and no condition: pass a function of the variables or a sympy relation")
    if not callable(value):
        raise InvalidInput(f"{what} is {value!r}: pass a function of the variables or a sympy relation")
    read = quantity(what, value)
    return Hypothesis(f"{what} ({read.where.rstrip(': ')})", read)


def _plain(expr: sp.Expr) -> sp.Expr:
    """The expression in symbols that have a name and nothing else."""
    return expr.xreplace({symbol: sp.Symbol(symbol.name) for symbol in expr.free_symbols})


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    sp.Add: lambda *parts: sum(parts[1:], parts[0]),
    sp.Mul: lambda *parts: math.prod(parts),
    sp.exp: exact_numbers.exp,
    sp.log: exact_numbers.log,
    sp.Abs: abs,
    sp.Max: max,
    sp.Min: min,
}


def expression_fault(expr: Any) -> str | None:
    """What in an expression has no meaning here, and what to write instead; None if all has one."""
    return next(filter(None, map(_part_fault, sp.preorder_traversal(expr))), None)


def _part_fault(part: Any) -> str | None:
    if isinstance(part, sp.Symbol | sp.Rational | sp.Pow) or part is sp.E or part.func in _FUNCTIONS:
        return None
    if isinstance(part, sp.Float):
        return (
            f"holds the float {part.evalf(6)}, which is a binary number near it: write a fraction, as Rational(1, 10)"
        )
    if isinstance(part, AppliedUndef):
        return f"holds {part}, which nothing defines: write its formula, or a symbol for its value"
    if part in (sp.oo, -sp.oo, sp.zoo, sp.nan):
        return f"holds {part}, which is no number: leave it out, or give a symbol a range"
    if part is sp.I:
        return "holds I, and is no real number: write its real and its imaginary part as two claims"
    return f"holds {part}, which has no exact value here: use + - * / powers, exp, log, sqrt, Abs, Max and Min"


def symbols_of(terms: Iterable[Any]) -> list[sp.Symbol]:
    """The symbols of some terms, in an order that does not change."""
    found: dict[str, sp.Symbol] = {}
    for symbol in sorted(set().union(*(term.atoms(sp.Symbol) for term in terms)), key=sp.default_sort_key):
        if found.setdefault(symbol.name, symbol) != symbol:
            raise InvalidInput(f"two different symbols are called {symbol.name}: declare it once, and use that symbol")
    return list(found.values())


def symbol_fault(symbol: sp.Symbol, one: Range | None) -> str | None:
    """What is wrong with a symbol that has this range; None if nothing is.

    sympy simplifies by the sort of a symbol: of sqrt(x**2) it makes x where x is positive. So the range lies within it.
    """
    bare = type(symbol) in (sp.Symbol, sp.Dummy) and symbol.assumptions0 == {"commutative": True}
    sort = Sort.REAL if bare else sort_of(symbol)
    if one is None:
        return None
    if one.shape:
        return f"{symbol} is an array, and an expression takes it for a number: write a Python function"
    if sort.whole and not (one.kind in (INTEGER, ORDER) or one.fixed):
        return (
            f"{symbol} is declared {sort}, and its range {one} holds other numbers: give it kind='integer', or declare "
            "it real"
        )
    if sort.holds(one.low) or (sort is Sort.POSITIVE and one.low == 0 and one.open in (LOW, BOTH)):
        return None
    start = (
        "at 1" if sort is Sort.POSITIVE_NATURAL else "above 0, as with open='low'," if sort is Sort.POSITIVE else "at 0"
    )
    return f"{symbol} is declared {sort}, and its range {one} does not lie within: start it {start} or declare it real"


def exact_value(expr: sp.Expr, values: Mapping[str, Any]) -> Any:
    """An expression without a fault at exact values: a fraction, or an enclosure where it is irrational."""
    if expr.is_Symbol:
        return values[expr.name]
    if expr.is_Rational:
        return Fraction(int(expr.p), int(expr.q))
    if expr is sp.E:
        return exact_numbers.exp(Fraction(1))
    if (fault := _part_fault(expr)) is not None:
        raise InvalidInput(f"an expression {fault}")
    parts = [exact_value(part, values) for part in expr.args]
    return _power(*parts) if isinstance(expr, sp.Pow) else _FUNCTIONS[expr.func](*parts)


def _power(base: Any, power: Any) -> Any:
    """0 to a positive power is 0; a base below 0 takes whole powers alone."""
    if isinstance(power, int | Fraction):
        if power.denominator == 1:
            return base ** int(power)
        if power.denominator == 2:
            return exact_numbers.sqrt(base) ** int(power.numerator)
    if isinstance(base, int | Fraction) and base == 0 and power > 0:
        return Fraction(0)
    return exact_numbers.exp(power * exact_numbers.log(base))
