"""What a claim with vectors is written in: vectors, functions with declared properties, means over an index.

Everything else is sympy: `x - alpha * f.grad(x)` is a vector; `f(x)`, `dot(u, v)`, `norm2(v)`, `norm(v)` are numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import count
from typing import Any

import sympy as sp

from cflag_theory.claims.engine import operators, terms
from cflag_theory.claims.engine.meanings import unfold
from cflag_theory.claims.engine.operators import Largest, Least, index, sum_over
from cflag_theory.claims.engine.sorts import Sort, name_fault, sort_of
from cflag_theory.claims.engine.terms import TermError, dot, norm, norm2
from cflag_theory.falsify.vector_terms.draws import mean_of
from cflag_theory.public import Number

#: So often a file may declare one name in different ways.
_MOST = 2000

__all__ = [
    "dot",
    "draws",
    "function",
    "index",
    "largest",
    "least",
    "mean",
    "norm",
    "norm2",
    "sequence",
    "sum_over",
    "vector",
    "vectors",
]


def _latex(name: str, latex: str | None) -> str:
    return latex if latex is not None else sp.latex(sp.Symbol(name))


def vector(name: str, *indices: Any, latex: str | None = None) -> Any:
    """A vector of any real inner-product space; with an index i, one vector for each i.

    Parameters
    ----------
    indices : index or number
        Such as `index("i")`: the vector depends on them.
    latex : str, optional
        How it prints, "@1", "@2" for the indices; its name without it.
    """
    places = ",".join(f"@{place}" for place in range(1, len(indices) + 1))
    return _first_free(name, terms.vector, _latex(name, latex) + (f"_{{{places}}}" if places else ""))(*indices)


def vectors(names: str) -> list[Any]:
    """Several vectors by their names, divided by spaces."""
    return [vector(name) for name in names.split()]


def sequence(name: str, **sign: bool) -> Any:
    """Numbers with an index: `a = sequence("a", nonnegative=True)` makes a(0), a(t), a(t + 1); real ones by default."""
    if fault := name_fault(name):
        raise TermError(fault)
    made = sp.Function(name, **(sign or {"real": True}))
    sort_of(made)
    return made


def own_names(terms: Iterable[sp.Expr], but: Collection[str | None]) -> dict[sp.Expr, sp.Expr]:
    """Other names for the numbers of a stranger's claim that are called as some to which the ledger gives a meaning."""
    own: dict[sp.Expr, sp.Expr] = {}
    for term in terms:
        if unfold(term) == term or str(term) in but:
            continue
        if term.is_Symbol:
            own[term] = sp.Symbol(f"{term.name} __0", **term._assumptions_orig)
        else:
            own[term] = sp.Function(f"{term.func} __0", **term.func._kwargs)(*term.args)
    return own


def function(
    name: str,
    *,
    smooth: Number | sp.Expr | None = None,
    convex: bool = False,
    mu: Number | sp.Expr | None = None,
    lower: Number | sp.Expr | None = None,
    latex: str | None = None,
) -> Any:
    """A differentiable function: f(x) is its value, f.grad(x) its gradient, f[i] a member of a family.

    Parameters
    ----------
    smooth : number or symbol, optional
        L, with ||grad f(x) - grad f(y)|| <= L ||x - y||.
    convex : bool
        Whether it is convex.
    mu : number or symbol, optional
        f - (mu/2) ||x||^2 is convex.
    lower : number or symbol, optional
        f(x) >= lower for all x.
    """
    declared = {"smooth": smooth, "mu": 0 if convex and mu is None else mu, "lower": lower}
    given = {key: value for key, value in declared.items() if value is not None}
    template = _latex(name, latex)
    return _first_free(name, terms.function, template, **given)


def with_ln(expr: sp.Expr) -> sp.Expr:
    """An expression with the logarithm that rules know."""
    return expr.replace(sp.log, terms.ln)


def renewed(f: Any, **known: Any) -> Any:
    """A function, or the member of a family that it is, with other properties."""
    return terms.Function(function(str(f.args[0].name), latex=f.properties.latex, **known).args[0], *f.args[1:])


def least(over: sp.Symbol, count: Number | sp.Expr, expr: Number | sp.Expr) -> Any:
    """The least of a number for over = 0, ..., count - 1."""
    if not Sort.POSITIVE_NATURAL.fits(count := sp.sympify(count)):
        raise TermError(
            f"{count} may be 0, and no number is the least or largest of none: declare it integer and positive"
        )
    return Least(over, count, sp.sympify(expr))


def largest(over: sp.Symbol, count: Number | sp.Expr, expr: Number | sp.Expr) -> Any:
    """The largest of a number for over = 0, ..., count - 1."""
    least(over, count, expr)
    return Largest(over, sp.sympify(count) - 1, sp.sympify(expr))


def mean(name: str, over: sp.Symbol) -> Any:
    """A mean over an index, with non-negative weights that sum to one, or an expectation; call it with its argument."""
    return _first_free(name, operators.mean_over, over)


def draws(name: str, over: Any, count: Number | sp.Expr, *, out_of: Number | sp.Expr = 0) -> tuple[Any, Any]:
    """The expectation over a draw, and the mean over the members that it gives, for vectors.

    Parameters
    ----------
    over : mean
        What members are drawn from, each with its weight.
    count : number or symbol
        How many are drawn independently, the same member perhaps again.
    out_of : number or symbol, optional
        How many members there are, at least 2 and all of one weight: then no member is drawn twice.
    """
    count, out_of = sp.sympify(count), sp.sympify(out_of)
    for one in (count, *([out_of] if out_of != 0 else [])):
        if not Sort.POSITIVE_NATURAL.fits(one):
            raise TermError(f"{one} members cannot be drawn: declare it integer and positive")
    chance = _first_free(name, operators.mean_over, index(f"{name}_draw"))
    return chance, mean_of(chance, over, count, out_of)


class OwnName(str):
    """A name in a claim of one's own: it prints like any other and is equal to no name of the ledger.

    Claims of one file may call different functions f: `number` tells them apart.
    """

    __slots__ = ("number",)
    number: int

    def __new__(cls, name: str, number: int) -> OwnName:
        made = super().__new__(cls, name)
        made.number = number
        return made

    def __getnewargs__(self) -> tuple[str, int]:  # type: ignore[override]
        return str(self), self.number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnName) and str(self) == str(other) and self.number == other.number

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((str(self), self.number, "own"))


#: What was declared here, in this order: how, the name, and what else.
DECLARED: list[tuple[Callable[..., Any], OwnName, tuple[Any, ...], dict[str, Any]]] = []


def _first_free(name: str, declare: Callable[..., Any], *more: Any, **known: Any) -> Any:
    """Declare a name, with the first number under which it is not declared otherwise."""
    for number in count():
        word = OwnName(name, number)
        try:
            made = declare(word, *more, **known)
        except TermError:
            if number > _MOST:
                raise
        else:
            DECLARED.append((declare, word, more, known))
            return made
    raise AssertionError
