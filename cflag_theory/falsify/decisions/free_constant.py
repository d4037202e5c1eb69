"""A claim with a free constant: for which values it is proved, and for which refuted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.decisions.constants import Constant, Sandwich, sandwich
from cflag_theory.falsify.decisions.decision import NEITHER, Decision


def with_free_constant(conjecture: Conjecture, decide: Callable[[Fraction], Decision]) -> Decision:
    """Where the claim turns from refuted to proved, as its free variable moves over its range."""
    name = conjecture.free
    assert name is not None
    one = conjecture.variables.get(name)
    if one is None:
        raise InvalidInput(
            f"{conjecture.name}: the free constant {name} needs a range: ranges={{{name!r}: Range(...)}}"
        )
    last: list[Decision] = []

    def ask(value: Fraction) -> tuple[str, Decision]:
        found = decide(value)
        last[:] = [found]
        if found.finding.interrupted:
            raise KeyboardInterrupt
        return found.outcome, found

    # An end that does not belong to the range is not a value of the constant.
    ends = [Fraction(one.low), Fraction(one.high)]
    width = ends[1] - ends[0]
    low, high = (end if one.holds(end) else end + sign * width / 1024 for end, sign in zip(ends, (1, -1), strict=True))
    try:
        reached: Sandwich[Decision] = sandwich(ask, low, high)
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
    )
    chosen = reached.proved or reached.refuted
    return replace(chosen[1] if chosen else last[0], constant=constant)
