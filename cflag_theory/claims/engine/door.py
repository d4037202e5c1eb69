"""The door of the examiner: what may stand in a statement and in its proof. Whatever else does, ends in one sentence.

Numbers are exact, symbols and sequences have a sort and a name of their own, an index is 0, 1, 2, ..., and no two
things of one statement are printed alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.symbol import Str

from cflag_theory.claims.engine.algebra import square
from cflag_theory.claims.engine.claim import Statement
from cflag_theory.claims.engine.operators import Atom, Index, Operator, TotalVector
from cflag_theory.claims.engine.relation import Relation, sides
from cflag_theory.claims.engine.sorts import Sort, SortError, name_fault, sort_of
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Step, Use
from cflag_theory.claims.engine.terms import Function, Gradient, Named, ln

#: What sympy and the rules have words for, besides powers; everything else, such as floor, has no meaning here.
_MEANT = (sp.Add, sp.Mul, sp.exp, ln, sp.Max, sp.Min, sp.Abs, *Atom, Gradient, TotalVector, Operator)
_WORDS = "sums, products, fractions, powers, exp, ln, Max, Min, Abs and terms made of vectors"
#: Names that a reader takes for what is printed so.
TAKEN = {"exp", "ln", "log", "sqrt", "Max", "Min", "Abs", "max", "min", "sum", "pi", "square"}


def faults(statement: Statement) -> list[str]:
    """What may not stand in a statement or its proof, each in a sentence that says what to write."""
    parts = [(side, False) for side in sides(*statement.relations)]
    if statement.proof is not None:
        parts += [part for step in statement.proof.steps for part in _parts(step)]
    parts += [(symbol, False) for fact in statement.facts for symbol in fact.forall]
    return list(dict.fromkeys(filter(None, (fault(part, certificate=written) for part, written in parts))))


def _parts(step: Step) -> Iterator[tuple[Any, bool]]:
    """What stands in a step, with whether it is a certificate."""
    if isinstance(step, Obligation):
        yield from ((side, False) for side in sides(step.goal))
        if step.certificate is not None:
            yield step.certificate, True
    elif isinstance(step, Use):
        yield from ((term, False) for term in step.terms)
    elif isinstance(step, Instance):
        yield from ((step.index, False), (step.value, False))
    elif isinstance(step, Induction):
        yield from ((part, False) for part in (step.index, *sides(step.relation)))
        for inner in step.inner:
            yield from _parts(inner)


def fault(what: Any, *, certificate: bool = False) -> str | None:
    """What is wrong with an expression or a term of a rule; a certificate may use slacks and squares too."""
    try:
        return _fault(sp.sympify(what, strict=True), certificate)
    except (SortError, sp.SympifyError) as error:
        return str(error) if isinstance(error, SortError) else f"{what!r} is no term: write it with sympy"


@cache
def _fault(expr: Any, certificate: bool) -> str | None:
    own, inside = _own_fault(expr, certificate), expr.args
    if isinstance(expr, Function | Named):
        inside = inside[1:]
    found = (_fault(part, certificate) for part in inside if not isinstance(part, Str))
    return own or next(filter(None, found), None)


def _own_fault(expr: Any, certificate: bool) -> str | None:
    """What is wrong with an expression's head, and with its indices."""
    kind = type(expr)
    if certificate and (expr.func == square or (kind is sp.Symbol and expr.name.startswith(("slack[", "residual[")))):
        return None
    if isinstance(expr, sp.Symbol):
        return _symbol_fault(expr)
    if isinstance(expr, AppliedUndef):
        sort_of(expr)
        return _named(expr.func.__name__) or _indices_fault(expr, expr.args)
    if isinstance(expr, Named | Function):
        return _named(expr.args[0].name) or _indices_fault(expr, expr.args[1:])
    if isinstance(expr, sp.Pow) and kind is sp.Pow:
        power = expr.exp
        fits = power.is_Rational or power.is_integer
        return None if fits else f"the power {power} of {expr} must be a fraction or a whole number: use exp"
    if expr.is_Rational or isinstance(expr, sp.NumberSymbol) or kind in _MEANT:
        return None
    if isinstance(expr, sp.Float):
        return f"{expr} is not an exact number: write it as a fraction"
    return f"{expr.func.__name__} has no meaning here, as in {expr}: use {_WORDS}"


def _symbol_fault(symbol: sp.Symbol) -> str | None:
    sort = sort_of(symbol)
    if type(symbol) not in (sp.Symbol, sp.Dummy, Index):
        return f"the symbol {symbol} is of a class of its own, which may mean more than it says: use sympy's"
    if isinstance(symbol, Index) and sort is not Sort.NATURAL:
        return f"the index {symbol} of an operator is declared {sort}: make it with `index`"
    return _named(symbol.name)


def _named(name: str) -> str | None:
    return f"the name {name} means something else: take another" if name in TAKEN else name_fault(name)


def _indices_fault(term: Any, indices: Iterable[sp.Expr]) -> str | None:
    """An index is 0, 1, 2, ...: so an undefined f(u) is never taken for the value of a function at a vector."""
    wrong = next((one for one in indices if not Sort.NATURAL.fits(one)), None)
    return None if wrong is None else f"{wrong} in {term} need not be 0, 1, 2, ...: an index is a natural number"


@cache
def printed(relation: Relation) -> tuple[tuple[str, Any], ...]:
    """The names in a relation as they are printed, with what each stands for; those of bound indices left out."""
    return tuple(sorted({name for side in sides(relation) for name in _printed(side)}, key=str))


def _printed(side: sp.Expr) -> Iterator[tuple[str, Any]]:
    yield from ((str(symbol), symbol) for symbol in side.free_symbols)
    for term in sp.preorder_traversal(side):
        if isinstance(term, AppliedUndef):
            yield f"{term.func}(", term.func
        elif isinstance(term, Named | Function):
            name, *indices = term.args
            yield name.name + ("(" if indices or isinstance(term, Function) else ""), type(term)
        elif isinstance(term, Gradient):
            yield f"grad {term.args[0].args[0].name}(", Gradient
        elif isinstance(term, Operator):
            yield f"{term}(", Operator
        elif isinstance(term, sp.NumberSymbol):
            yield str(term), term
