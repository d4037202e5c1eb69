"""What a symbol may be: one of five sorts, and nothing else that sympy can assume.

sympy simplifies by what it knows of a symbol before anything of ours reads the expression: of an even n it makes
(-1)**n = 1. So every assumption is one of these, each with a range that an exact value is checked against.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef, UndefinedFunction

from cflag_theory.errors import InvalidInput


class SortError(InvalidInput):
    """A symbol or a sequence has no sort, or a name that reads like another. The message says what to write."""


class Sort(Enum):
    """The sorts; the value is what sympy is told."""

    REAL = "real"
    NONNEGATIVE = "nonnegative"
    POSITIVE = "positive"
    NATURAL = "natural"
    POSITIVE_NATURAL = "positive natural"

    @property
    def assumptions(self) -> dict[str, bool]:
        """What to pass to `sympy.Symbol` or `sympy.Function`."""
        return dict(_TOLD[self])

    @property
    def whole(self) -> bool:
        """Whether it holds whole numbers only: such a symbol may be an index."""
        return self in (Sort.NATURAL, Sort.POSITIVE_NATURAL)

    @property
    def start(self) -> Fraction | None:
        """The least value, or the end that it stays above; None for the reals."""
        return None if self is Sort.REAL else Fraction(1 if self is Sort.POSITIVE_NATURAL else 0)

    def holds(self, value: Any) -> bool:
        """Whether an exact rational value belongs to it."""
        number = Fraction(int(value.p), int(value.q)) if isinstance(value, sp.Rational) else Fraction(value)
        if self.whole and number.denominator != 1:
            return False
        return self is Sort.REAL or (number > 0 if self is Sort.POSITIVE else number >= (self.start or 0))

    def fits(self, value: sp.Expr) -> bool:
        """Whether an expression belongs to it for all values of its symbols, as far as sympy sees."""
        return all(getattr(value, f"is_{name}") for name in _TOLD[self])

    def within(self, other: Sort) -> bool:
        """Whether every value of this sort is one of the other."""
        return other in _WITHIN[self]

    def __str__(self) -> str:
        return self.value


_TOLD: Mapping[Sort, Mapping[str, bool]] = {
    Sort.REAL: {"real": True},
    Sort.NONNEGATIVE: {"nonnegative": True},
    Sort.POSITIVE: {"positive": True},
    Sort.NATURAL: {"integer": True, "nonnegative": True},
    Sort.POSITIVE_NATURAL: {"integer": True, "positive": True},
}
_WITHIN: Mapping[Sort, frozenset[Sort]] = {
    Sort.REAL: frozenset({Sort.REAL}),
    Sort.NONNEGATIVE: frozenset({Sort.NONNEGATIVE, Sort.REAL}),
    Sort.POSITIVE: frozenset({Sort.POSITIVE, Sort.NONNEGATIVE, Sort.REAL}),
    Sort.NATURAL: frozenset({Sort.NATURAL, Sort.NONNEGATIVE, Sort.REAL}),
    Sort.POSITIVE_NATURAL: frozenset(Sort),
}
_REMEDY = "declare it real, nonnegative, positive, integer and nonnegative, or integer and positive"


def _plain(assumed: Mapping[str, Any]) -> frozenset[tuple[str, Any]]:
    return frozenset((name, value) for name, value in assumed.items() if name != "commutative")


_SORTS = {_plain(sp.Symbol("x", **told).assumptions0): sort for sort, told in _TOLD.items()}


@cache
def sort_of(term: Any) -> Sort:
    """The sort of a symbol, of a sequence (an undefined function of sympy), or of a member of one.

    Raises
    ------
    SortError
        It is declared otherwise, or is of a class that could hide what it assumes.
    """
    head = term.func if isinstance(term, AppliedUndef) else term
    if isinstance(head, UndefinedFunction):
        what, assumed, own = "sequence", dict(head.default_assumptions), dict(vars(head))
        plain = head.__bases__ == (AppliedUndef,)
    elif isinstance(head, sp.Symbol):
        what, assumed = "symbol", head.assumptions0
        classes = type(head).__mro__
        own = {name: value for one in classes[: classes.index(sp.Symbol)] for name, value in vars(one).items()}
        plain = True
    else:
        raise SortError(f"{term} is neither a symbol nor a sequence: use one")
    told = {name[3:]: value for name, value in own.items() if name.startswith("is_")}
    if (
        not plain
        or any(name.startswith("_eval_") for name in own)
        or not told.items() <= {**assumed, "Dummy": True, "commutative": True}.items()
    ):
        raise SortError(f"the {what} {head} is of a class of its own, which may assume more than it says: use sympy's")
    found = _SORTS.get(_plain(assumed))
    if found is None:
        raise SortError(f"the {what} {head} is declared {_declared(assumed)}: {_REMEDY}")
    return found


#: What a message lists of the many things that sympy deduces.
_SAID = [
    "even",
    "odd",
    "prime",
    "composite",
    "negative",
    "nonpositive",
    "positive",
    "nonnegative",
    "nonzero",
    "integer",
    "rational",
    "real",
]


def _declared(assumed: Mapping[str, Any]) -> str:
    return " and ".join(name for name in _SAID if assumed.get(name)) or "nothing"


#: Words of the keyboard's letters, one blank between them: others look like these, and a blank at an end is not seen.
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*['*]*( [A-Za-z0-9_]+)*")


def name_fault(name: str) -> str | None:
    """What is wrong with the name of a symbol, a sequence, a function or a vector; None if nothing is."""
    if _NAME.fullmatch(name):
        return None
    strange = next((sign for sign in name if not (sign.isascii() and (sign.isalnum() or sign in "_'* "))), None)
    where = f" (it has a {unicodedata.name(strange, repr(strange)).lower()})" if strange is not None else ""
    return f"{name!r} is no name{where}: use letters a to z, digits and _, a letter first"
