"""Means, sums and expectations, maxima and minima: what an index runs through.

A mean, a sum and an expectation are one thing: a monotone linear operator over an index. What does not depend on the
index leaves it, as in mean <v_i, w> = <mean v_i, w>.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import sympy as sp
from sympy.core.symbol import Str

from cflag_theory.claims.engine.sorts import Sort, sort_of
from cflag_theory.claims.engine.terms import Basis, Dot, Norm, Term, TermError, Value, dot, named


class Index(sp.Symbol):  # type: ignore[misc]
    """The index of an operator: bound by it, or standing for any member. Proofs take no induction over it."""


def _index(over: sp.Symbol) -> sp.Symbol:
    if not isinstance(over, Index) or sort_of(over) is not Sort.NATURAL:
        raise TermError(f"{over} is not an index of an operator: make it with `index`")
    return over


def index(name: str) -> sp.Symbol:
    """An index for operators, maxima and minima: 0, 1, 2, ..."""
    named(name)
    return Index(name, **Sort.NATURAL.assumptions)


class Binder(Term):
    """A term in which an index is bound: it is not free outside, and is never replaced from outside."""

    #: The index, what it runs through, and what does not lie under it, such as the end of its range.
    bound: sp.Symbol
    body: sp.Expr
    outside: sp.Expr
    #: The term with another body and outside.
    rebuilt: Callable[[sp.Expr, sp.Expr], sp.Expr]

    @property
    def free_symbols(self) -> Any:
        return (self.body.free_symbols - {self.bound}) | self.outside.free_symbols

    def _guard(self, changes: Mapping[Any, Any]) -> dict[Any, Any]:
        inner = {old: new for old, new in changes.items() if old != self.bound}
        captured = (
            old
            for old, new in inner.items()
            if self.bound in sp.sympify(new).free_symbols - sp.sympify(old).free_symbols and self.body.has(old)
        )
        if any(True for _ in captured):
            raise TermError(f"the index {self.bound} is bound in {self}: use another name for the one outside")
        return inner

    def _xreplace(self, rule: Mapping[Any, Any]) -> tuple[sp.Expr, bool]:
        if self in rule:
            return rule[self], True
        body, changed = self.body._xreplace(self._guard(rule))
        outside, moved = self.outside._xreplace(rule)
        return (self.rebuilt(body, outside), True) if changed or moved else (self, False)

    def _eval_subs(self, old: sp.Expr, new: sp.Expr) -> sp.Expr:
        body = self.body.subs(self._guard({old: new}))
        return self.rebuilt(body, self.outside.subs(old, new))


class Operator(sp.Basic):  # type: ignore[misc]
    """A monotone linear operator over an index: made by `mean_over` or `sum_over`.

    Called with a number or a vector that depends on the index, it is the mean or sum.
    """

    def __new__(cls, name: Str, over: sp.Symbol, total: sp.Expr) -> Any:
        return sp.Basic.__new__(cls, name, _index(over), sp.sympify(total))

    @property
    def index(self) -> sp.Symbol:
        return self.args[1]

    @property
    def total(self) -> sp.Expr:
        """The operator's value on 1: 1 for means and expectations, the number of terms for sums."""
        return self.args[2]

    @property
    def is_sum(self) -> bool:
        """Whether it is the sum over index = 0, ..., total - 1, and not a weighted mean."""
        return bool(self.args[0].name == "sum")

    def __call__(self, expr: sp.Expr) -> sp.Expr:
        if self.total == 0:
            return sp.S.Zero
        return sp.Add(*map(self._of_term, sp.Add.make_args(sp.expand(expr))))

    def _of_term(self, term: sp.Expr) -> sp.Expr:
        factors = sp.Mul.make_args(term)
        inside = [factor for factor in factors if self.index in factor.free_symbols]
        outer = sp.Mul(*(factor for factor in factors if self.index not in factor.free_symbols))
        inner = sp.Mul(*inside)
        if inner == 1:
            return outer * self.total
        if any(isinstance(factor, Basis) for factor in inside):
            return outer * TotalVector(self, inner)
        dots = [factor for factor in inside if isinstance(factor, Dot)]
        if len(dots) == 1:
            rest = sp.Mul(*(factor for factor in inside if factor is not dots[0]))
            for u, v in (dots[0].args, dots[0].args[::-1]):
                if self.index not in v.free_symbols:
                    return outer * dot(TotalVector(self, rest * u), v)
        return outer * Total(self, inner)

    def _sympystr(self, printer: Any) -> str:
        name, index, total = self.args
        return f"sum[{index}<{printer._print(total)}]" if self.is_sum else f"{name.name}_{index}"


def mean_over(name: str, over: sp.Symbol, latex: str = r"\mathrm{mean}_{@}") -> Operator:
    """A mean with non-negative weights that sum to one, or an expectation. "@" in `latex` is the index."""
    named(name, "mean", latex)
    if name == "sum":
        raise TermError("a mean is called 'sum', as sums are: rename it")
    made: Operator = Operator(Str(name), over, sp.S.One)
    return made


def sum_over(over: sp.Symbol, count: sp.Expr) -> Operator:
    """The sum over index = 0, ..., count - 1.

    Raises
    ------
    TermError
        If the count is not known to be 0, 1, 2, ...: a sum of fewer than no terms is not monotone.
    """
    count = sp.sympify(count)
    if not Sort.NATURAL.fits(count):
        raise TermError(f"{count} need not be 0, 1, 2, ...: it is not a number of terms")
    made: Operator = Operator(Str("sum"), over, count)
    return made


class _Totalled(Binder):
    """What an operator makes of something that depends on its index."""

    @property
    def operator(self) -> Any:
        return self.args[0]

    @property
    def bound(self) -> sp.Symbol:
        return self.operator.index

    @property
    def body(self) -> sp.Expr:
        return self.args[1]

    @property
    def outside(self) -> sp.Expr:
        return self.operator.total

    def rebuilt(self, body: sp.Expr, outside: sp.Expr) -> sp.Expr:
        name, over, _ = self.operator.args
        return Operator(name, over, outside)(body)

    def words(self, shown: Callable[[Any], str]) -> str:
        return f"{shown(self.operator)}({shown(self.body)})"


class Total(_Totalled):
    """A mean, sum or expectation of a number that depends on the index."""

    def __new__(cls, operator: Operator, body: sp.Expr) -> Any:
        return sp.Expr.__new__(cls, operator, body)

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.body.is_nonnegative else None


class TotalVector(_Totalled, Basis):
    """A mean, sum or expectation of a vector that depends on the index: a basis vector."""

    def __new__(cls, operator: Operator, body: sp.Expr) -> Any:
        return sp.Expr.__new__(cls, operator, body)


class _Extreme(Binder):
    """The largest or least of numbers over an index."""

    word = ""

    @property
    def bound(self) -> sp.Symbol:
        return self.args[0]

    @property
    def outside(self) -> sp.Expr:
        return self.args[1]

    @property
    def body(self) -> sp.Expr:
        return self.args[2]

    def at(self, value: sp.Expr) -> sp.Expr:
        """The number at one value of the index."""
        return self.body.xreplace({self.bound: sp.sympify(value)})

    def rebuilt(self, body: sp.Expr, outside: sp.Expr) -> sp.Expr:
        return type(self)(self.bound, outside, body)

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.body.is_nonnegative else None


class Largest(_Extreme):
    """The largest number for index = 0, ..., end."""

    def __new__(cls, over: sp.Symbol, end: sp.Expr, body: sp.Expr) -> sp.Expr:
        end = sp.sympify(end)
        return body.xreplace({_index(over): end}) if end == 0 else sp.Expr.__new__(cls, _index(over), end, body)

    def words(self, shown: Callable[[Any], str]) -> str:
        return f"max[{shown(self.bound)}<={shown(self.outside)}]({shown(self.body)})"


class Least(_Extreme):
    """The least number for index = 0, ..., count - 1."""

    def __new__(cls, over: sp.Symbol, count: sp.Expr, body: sp.Expr) -> sp.Expr:
        return sp.Expr.__new__(cls, _index(over), sp.sympify(count), body)

    def words(self, shown: Callable[[Any], str]) -> str:
        return f"min[{shown(self.bound)}<{shown(self.outside)}]({shown(self.body)})"


#: What the algebra takes as a variable.
Atom = (Dot, Norm, Value, Total, Largest, Least)
