"""Numbers of small instances that others give: by an equation, or as a part of the largest that they may be."""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp

from cflag_theory.claims.engine.algebra import manifestly_nonnegative
from cflag_theory.claims.engine.operators import Atom
from cflag_theory.falsify.ranges import Range
from cflag_theory.falsify.vector_terms.reading import Reading


def equal_numbers(reading: Reading) -> dict[sp.Symbol, sp.Expr]:
    """Numbers that an equation such as eta = K beta gives, in those that are drawn."""
    found: dict[sp.Symbol, sp.Expr] = {}
    for left, op, right in ((f.relation.left, f.relation.op, f.relation.right) for f in reading.facts):
        right = right.xreplace(found)
        free = right.free_symbols
        plain = op == "==" and left.is_Symbol and not (left.is_integer or left in found or left in free)
        if plain and not (right.atoms(*Atom) or any(left in one.free_symbols for one in found.values())):
            found[left] = right
    return found


def bounded_numbers(
    reading: Reading, equal: Mapping[sp.Symbol, sp.Expr], given: Mapping[str, Range]
) -> dict[sp.Symbol, sp.Expr]:
    """Numbers with their largest value, by hypotheses such as alpha L <= 1: worst cases often lie there.

    Instances draw which part of it a number is. The largest values speak of no other number that is here.
    """
    found: dict[sp.Symbol, sp.Expr] = {}
    for fact in reading.facts:
        slack = sp.expand(fact.relation.slack.xreplace(equal))
        numbers = slack.free_symbols
        if fact.relation.op == "==" or fact.forall or slack.atoms(sp.Function, *Atom) or numbers & found.keys():
            continue
        for symbol in sorted(numbers, key=str, reverse=True):
            by = slack.coeff(symbol)
            rest = sp.expand(slack - by * symbol)
            taken = any(symbol in bound.free_symbols for bound in found.values())
            drawn = symbol.is_positive and not symbol.is_integer and symbol.name not in given and not taken
            linear = by != 0 and not rest.has(symbol) and not by.has(symbol) and manifestly_nonnegative(-by)
            if drawn and linear and not _constant(symbol, reading):
                found[symbol] = -rest / by
                break
    return found


def _constant(symbol: sp.Symbol, reading: Reading) -> bool:
    """Whether a number is declared of a function, such as L: other numbers are bounded by it."""
    declared = [(f.properties.smooth, f.properties.mu, f.properties.lower) for f in reading.functions]
    return any(symbol in one.free_symbols for three in declared for one in three if one is not None)
