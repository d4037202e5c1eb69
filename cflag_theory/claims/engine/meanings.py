"""Symbols and sequences: how they print, and what they stand for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine.operators import Index
from cflag_theory.claims.engine.sorts import Sort, sort_of
from cflag_theory.claims.engine.terms import is_vector, named

#: How symbols print; `printing` reads it.
LATEX: dict[sp.Symbol, str] = {}
_MEANINGS: dict[sp.Symbol, sp.Expr] = {}
_SEQUENCE_MEANINGS: dict[str, Callable[..., sp.Expr]] = {}


def symbol(name: str, latex: str, means: sp.Expr | None = None, **assumptions: bool) -> sp.Symbol:
    """A scalar that prints as `latex`, and stands for `means`, a number made of vectors, whose sign it has.

    Raises
    ------
    ValueError
        If the same symbol is already printed otherwise, or means something else; if the meaning does not have the sign
        that the symbol declares, or depends on an operator's index.
    """
    assumptions = assumptions or _sign(means)
    found = sp.Symbol(name, **assumptions)
    _distinct(found, name)
    if LATEX.setdefault(found, latex) != latex:
        raise ValueError(f"the symbol {name} prints as {LATEX[found]} and as {latex}: give one of them another name")
    if means is not None:
        _check_meaning(name, means, assumptions)
        if any(isinstance(s, Index) for s in means.free_symbols):
            raise ValueError(f"{name} means {means}, which depends on an index: make it a sequence over that index")
        if _MEANINGS.setdefault(found, means) != means:
            raise ValueError(f"the symbol {name} means {_MEANINGS[found]} and {means}: give one of them another name")
    return found


def sequence(name: str, latex: str, means: Callable[..., sp.Expr] | None = None, **assumptions: bool) -> Any:
    """A sequence; its term at index k prints as `latex` with k in place of every "@", and stands for `means(k)`.

    Of several indices "@2" is the second. It has the sign of what it stands for.

    Raises
    ------
    ValueError
        If a sequence of this name is already printed otherwise, or already has a meaning; if the meaning does not have
        the sign that the sequence declares, or depends on an index that is none of its arguments.
    """
    named(name, "sequence", latex)
    if means is not None:
        if name in _SEQUENCE_MEANINGS:
            raise ValueError(f"the sequence {name} is given two meanings: rename one of them")
        places = [sp.Dummy(**Sort.NATURAL.assumptions) for _ in range(means.__code__.co_argcount)]
        meaning = means(*places)
        assumptions = assumptions or _sign(meaning)
        _check_meaning(name, meaning, assumptions)
        if any(isinstance(s, Index) for s in meaning.free_symbols):
            raise ValueError(f"{name} means {meaning}, which depends on an index that is none of its arguments")
        _SEQUENCE_MEANINGS[name] = means
    made = sp.Function(name, **assumptions)
    _distinct(made, name)
    return made


def _distinct(made: Any, name: str) -> None:
    """Raise if a symbol or a sequence has no sort, or a name that could be read as another."""
    sort_of(made)
    named(name)


def _sign(means: sp.Expr | None) -> dict[str, bool]:
    """What to assume of a symbol of which nothing is said but its meaning."""
    if means is None:
        return {}
    return {"nonnegative": True} if means.is_nonnegative else {"real": True}


def _check_meaning(name: str, means: sp.Expr, assumptions: dict[str, bool]) -> None:
    if is_vector(means):
        raise ValueError(f"{name} means {means}, which is a vector and no number")
    for sign in ("positive", "nonnegative", "integer", "real"):
        if assumptions.get(sign) and not getattr(means, f"is_{sign}"):
            raise ValueError(f"{name} is declared {sign}, and {means} need not be: state it as a hypothesis")


@cache
def unfold(expr: sp.Expr) -> sp.Expr:
    """The expression with every symbol and term of a sequence that has a meaning replaced by it."""
    found: dict[sp.Expr, sp.Expr] = {}
    for term in expr.atoms(sp.Symbol, AppliedUndef):
        meaning = _MEANINGS.get(term) if term.is_Symbol else None
        if not term.is_Symbol and str(term.func) in _SEQUENCE_MEANINGS:
            meaning = _SEQUENCE_MEANINGS[str(term.func)](*term.args)
        if meaning is not None:
            found[term] = unfold(meaning)
    return expr.xreplace(found) if found else expr
