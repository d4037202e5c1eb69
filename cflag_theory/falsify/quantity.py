"""What a conjecture evaluates: Python functions of named variables, sympy expressions and numbers, all read alike."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp
from sympy.core.relational import Relational

from cflag_theory.claims.engine.relation import Relation
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.expressions import exact_value
from cflag_theory.falsify.ranges import as_exact

_OPERATIONS = {sp.Le: "<=", sp.Lt: "<", sp.Eq: "=="}


@dataclass(frozen=True)
class Quantity:
    """A function of variables that are called by their names: `of` is a Python function or a sympy expression.

    Attributes
    ----------
    what : str
        For messages, such as "left".
    names : tuple of str
        The variables that it reads.
    where : str
        File and line of a function; empty for an expression.
    defaults : tuple of str
        Further arguments of a function, which keep their default values.
    """

    what: str
    of: Any
    names: tuple[str, ...]
    where: str = ""
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


def hypothesis(index: int, value: Any) -> Hypothesis:
    """Read a hypothesis: a Python predicate, a sympy relation, or a Relation of a claim."""
    what = f"hypothesis {index + 1}"
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
