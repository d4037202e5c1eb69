"""Claims that there is a constant which depends on named numbers only: a formula of these is looked for, and proved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import product

import sympy as sp

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.decisions.decision import Decision
from cflag_theory.falsify.decisions.guided import Draws, form_of
from cflag_theory.falsify.vector_terms.reading import Reading, claim_of, read_vectors

#: Draws at which a constant is bounded, and multiples of 1 and of their numbers that the others are tried at.
_FEW, _OTHERS = 16, (1, 2, 4, sp.Rational(1, 2), 16)


def decide_existing(conjecture: Conjecture, decide: Callable[[Conjecture], Decision]) -> Decision | None:
    """Decide a claim with constants that are to exist: proved, with formulas for them, or None."""
    reading = read_vectors(conjecture)
    by_name = {symbol.name: symbol for symbol in reading.symbols}
    numbers: dict[sp.Symbol, set[sp.Symbol]] = {}
    for name, allowed in conjecture.exists.items():
        constant = by_name.get(str(name))
        if constant is None or not constant.is_positive:
            raise InvalidInput(f"{conjecture.name}: exists names {name}: use a positive symbol of the claim")
        numbers[constant] = {by_name[str(one)] for one in allowed if str(one) in by_name}
    for values in _formulas(reading, numbers):
        with suppress(InvalidInput):
            found = decide(claim_of(reading.put(values)))
            if found.proved:
                chosen = {str(constant): str(value) for constant, value in values.items()}
                return replace(found, chosen=chosen)
    return None


def _formulas(reading: Reading, numbers: Mapping[sp.Symbol, set[sp.Symbol]]) -> Iterator[dict[sp.Symbol, sp.Expr]]:
    """Formulas for the constants that the programs allow, those of the others being simple multiples."""
    first, *others = numbers
    for chosen in product(
        *([c * one for one in (sp.S.One, *sorted(numbers[o], key=str)) for c in _OTHERS] for o in others)
    ):
        values: dict[sp.Symbol, sp.Expr] = dict(zip(others, map(sp.sympify, chosen), strict=True))
        less = reading.put(values)
        if (form := form_of(less)) is not None and (at := Draws(form, less.goal, _FEW)).good:
            for formula in at.fitting(form, first, numbers[first]):
                if formula.is_positive:
                    yield {first: formula, **values}
