"""The best value of a constant that is left free, and of one among several."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.decisions.decision import NEITHER, Constant, Decision, Sandwich, sandwich
from cflag_theory.falsify.finding import PROVED
from cflag_theory.falsify.ranges import Range

#: Values of a further free constant, and choices of all of them, that are tried.
_VALUES, _TUPLES = 4, 6
#: Sentences on what stopped a proof, and how many of them are said of a constant that stays between two values.
_ABOUT, _WHY = re.compile("proof|algebra"), 3


def with_simple_others(conjecture: Conjecture, decide: Callable[[Conjecture], Decision]) -> Decision:
    """The best value of the first free constant, with the simplest values of the others for which one is proved."""
    first, *others = conjecture.frees
    found, tried = None, []
    for values in islice(product(*(_simple(conjecture, name) for name in others)), _TUPLES):
        fixed = dict(zip(others, values, strict=True))
        tried.append(", ".join(f"{name} = {value}" for name, value in fixed.items()))
        found = decide(replace(conjecture, ranges={**conjecture.ranges, **fixed}, free=first))
        if found.proved or found.finding.interrupted:
            break
    if found is None or found.constant is None:
        raise InvalidInput(f"{conjecture.name}: no simple value of {', '.join(others)} lies in its range: widen it")
    constant = replace(found.constant, name=f"{first} where {tried[-1]}")
    if not found.proved:
        constant = replace(constant, name=first, within=f"{constant.within} where {' or '.join(tried)}")
    return replace(
        found, constant=constant, chosen={name: str(value) for name, value in fixed.items()} if found.proved else {}
    )


def _simple(conjecture: Conjecture, name: str) -> list[Fraction]:
    """Simple values in the range of a free constant, the simplest first."""
    one = _range_of(conjecture, name)
    ends = Fraction(one.low), Fraction(one.high)
    values = [Fraction(2) ** n for n in (0, -1, 1, -2, 2)] + [(ends[0] + ends[1]) / 2, *ends]
    return [value for value in dict.fromkeys(values) if one.holds(value)][:_VALUES]


def _range_of(conjecture: Conjecture, name: str) -> Range:
    if (one := conjecture.variables.get(name)) is None:
        need = f"ranges={{{name!r}: Range(...)}}"
        raise InvalidInput(f"{conjecture.name}: the free constant {name} needs a range: {need}")
    return one


def with_free_constant(conjecture: Conjecture, decide: Callable[[Fraction], Decision]) -> Decision:
    """Where the claim turns from refuted to proved, as its free variable moves over its range."""
    (name,) = conjecture.frees
    one = _range_of(conjecture, name)
    last: list[Decision] = []
    stopped: dict[Fraction, Decision] = {}

    def ask(value: Fraction) -> tuple[str, Decision]:
        found = decide(value)
        last[:] = [found]
        if found.outcome == NEITHER:
            stopped[value] = found
        if found.finding.interrupted:
            raise KeyboardInterrupt
        return found.outcome, found

    # An end that does not belong to the range is not a value of the constant.
    ends = [Fraction(one.low), Fraction(one.high)]
    width = ends[1] - ends[0]
    low, high = (end if one.holds(end) else end + sign * width / 1024 for end, sign in zip(ends, (1, -1), strict=True))
    try:
        reached: Sandwich[Decision] = sandwich(ask, low, high)
        # A claim that holds at no end may hold in between.
        for value in (Fraction(2) ** n for n in (0, -1, 1, -2, 2, 4, -4)):
            if reached.proved is not None or not low < value < high:
                continue
            if ask(value)[0] == PROVED:
                reached = sandwich(ask, value, high)
    except KeyboardInterrupt:
        if not last:
            raise
        return Decision(NEITHER, replace(last[0].finding, interrupted=True))
    against = reached.refuted[1].finding if reached.refuted else None
    constant = Constant(
        name,
        reached.proved[0] if reached.proved else None,
        reached.refuted[0] if reached.refuted else None,
        reached.larger_is_weaker,
        engines=reached.proved[1].finding.engines if reached.proved else (),
        case=against.case if against else {},
        left=against.left if against else "",
        right=against.right if against else "",
        tried=reached.tried,
        within=f"in {one}",
        undecided=reached.undecided,
    )
    chosen = reached.proved or reached.refuted
    result = chosen[1] if chosen else last[0]
    if reached.undecided and chosen is not None:
        # What stopped the search from narrowing it, at the value next to what is known.
        value = min(reached.undecided, key=lambda one: abs(one - chosen[0]))
        why = [f"{name} = {value}: {words}" for words in stopped[value].finding.not_covered if _ABOUT.match(words)]
        result = replace(
            result, finding=replace(result.finding, not_covered=(*result.finding.not_covered, *why[:_WHY]))
        )
    return replace(result, constant=constant)
