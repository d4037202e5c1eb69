"""That a constant exists, refuted: for every C an instance that breaks the claim, with C as a symbol.

A search breaks the claim at one C. The numbers of what it finds are multiplied by powers of a whole number n, with
n >= 16 C and n >= 16/C. Everything that the instance has to satisfy, and that the claim fails at it, is proved for all
C > 0 and such n as statements of their own. No growth that is only seen decides anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.claims.engine.claim import Fact
from cflag_theory.claims.engine.relation import Relation, at_most
from cflag_theory.errors import CflagError, InvalidInput
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.finding import Finding
from cflag_theory.falsify.ranges import REAL
from cflag_theory.falsify.search.cases import Case, from_text
from cflag_theory.falsify.search.exact_numbers import Undecided
from cflag_theory.falsify.vector_terms.checking import asked_of, fault, holds
from cflag_theory.falsify.vector_terms.continuing import NoMeaning
from cflag_theory.falsify.vector_terms.evaluating import World
from cflag_theory.falsify.vector_terms.instances import Instances, instances
from cflag_theory.falsify.vector_terms.proving import prove_vectors
from cflag_theory.falsify.vector_terms.reading import Reading, claim_of, read_vectors, with_entries, word

#: The constants at which an instance is looked for; those, with n, at which powers are tried.
AT = (sp.Integer(3), sp.Rational(1, 3), sp.Integer(16))
_TRIALS = ((sp.S.One, Fraction(16)), (sp.Integer(64), Fraction(1024)), (sp.Rational(1, 64), Fraction(1024)))
#: Powers of n, numbers that have one other than 0, and choices of these that are tried.
_POWERS, _SCALED, _TRIED = (1, -1, 2, -2), 3, 1500
#: What may go wrong where numbers are symbols: comparisons, and roots of what is no square.
_UNFIT = (TypeError, ValueError, AttributeError, ArithmeticError, NoMeaning, CflagError)

#: A number of a case: the variable, and its place in an array.
_Entry = tuple[str, tuple[int, ...]]
_Powers = Mapping[_Entry, int]


@dataclass(frozen=True)
class Unbounded:
    """An instance for every C: its numbers as text, those of the world that it makes, and what proved it."""

    case: Mapping[str, Any]
    left: sp.Expr
    right: sp.Expr
    lines: tuple[str, ...]
    engines: tuple[str, ...]


def at_constant(conjecture: Conjecture, value: sp.Rational, dimension: int = 0) -> Instances:
    """The instances of a claim with this value for every constant that is to exist."""
    reading = read_vectors(conjecture)
    values = {s: value for s in _constants(conjecture, reading)}
    return instances(claim_of(reading.put(values)), dimension=dimension)


def _constants(conjecture: Conjecture, reading: Reading) -> list[sp.Symbol]:
    return [s for s in reading.symbols if s.name in {str(name) for name in conjecture.exists}]


def unbounded(conjecture: Conjecture, found: Finding, value: sp.Rational) -> Unbounded | None:
    """The instance for every C that what broke the claim at one value leads to."""
    small = at_constant(conjecture, value, int(found.case["dimension"]))
    case = from_text(small, found.case, what="the counterexample")
    trials = [(at_constant(conjecture, constant), n) for constant, n in _TRIALS]
    for powers in _choices(small, case):
        if not all(_broken(one, _at(case, powers, n)) for one, n in trials):
            continue
        if (made := shown(conjecture, small, case, powers)) is not None:
            return made
    return None


def _choices(small: Instances, case: Case) -> Iterator[dict[_Entry, int]]:
    """Powers of n for a few vectors or numbers of a case; pieces of functions and weights stay."""
    still = ("_kink", "_width")
    entries: dict[str, list[_Entry]] = {}
    for name, value in case.items():
        if small.variables[name].kind == REAL and not name.endswith(still) and not name.startswith("weights_"):
            places = np.ndindex(value.shape) if isinstance(value, np.ndarray) else [()]
            entries[name] = [(name, at) for at in places if (value[at] if at else value) != 0]
    whole = [of for of in entries.values() if of]
    alone = [[one] for of in whole if len(of) > 1 for one in of]
    tried = 0
    for units in (whole, [*whole, *alone]):
        for count in range(_SCALED + 1):
            for chosen, powers in product(combinations(units, count), product(_POWERS, repeat=count)):
                tried += 1
                if tried > _TRIED:
                    return
                yield {one: power for of, power in zip(chosen, powers, strict=True) for one in of}


def _at(case: Case, powers: _Powers, n: Any) -> Case:
    """The case with entries multiplied by powers of n."""
    made = {
        name: value.astype(object).copy() if isinstance(value, np.ndarray) else value for name, value in case.items()
    }
    for (name, place), power in powers.items():
        if place:
            made[name][place] *= n**power
        else:
            made[name] *= n**power
    return made


def _broken(small: Instances, case: Case) -> bool:
    """Whether a case, which may lie outside of the ranges of the search, breaks the claim."""
    family = small.family
    try:
        world = family.made(case)
        if world is None or fault(family.reading, world) is not None:
            return False
        goal = family.reading.goal
        return any(not holds(goal.op, left - right) for left, right in family.pairs(world, goal))
    except (*_UNFIT, Undecided):
        return False


def shown(conjecture: Conjecture, small: Instances, case: Case, powers: _Powers) -> Unbounded | None:
    """The instance with C as a symbol, if all that it must satisfy, and that it breaks the claim, is proved."""
    reading = with_entries(replace(read_vectors(conjecture), hints=()))
    constants = _constants(conjecture, reading)
    n = sp.Symbol(reading.fresh("n"), integer=True, positive=True)
    large = [one for c in constants for one in (at_most(16 * c, n), at_most(16, c * n))]
    bound = tuple(Fact(f"n is large, {at}", one, str(one)) for at, one in enumerate(large, start=1))
    try:
        world = small.family.made(_at(case, powers, n))
        if world is None:
            return None
        world.numbers = {**world.numbers, **{one: one for one in constants}}
        allowed = {word(one) for of in conjecture.exists.values() for one in of}
        if any(sp.sympify(v).free_symbols for s, v in world.numbers.items() if word(s) in allowed):
            return None
        pairs = [*small.family.pairs(world, reading.goal)]
        wanted = [*asked_of(reading, world)]
        for left, right in pairs:
            turned = Relation(right, "<" if reading.goal.op == "<=" else "<=", left)
            tried = _engines(turned, bound)
            if reading.goal.op == "==" or tried is None:
                continue
            for one in wanted:
                if (by := _engines(one, bound)) is None:
                    return None
                tried &= by
            lines = tuple(_told(world, n, constants))
            return Unbounded(_words(case, powers), left, right, lines, tuple(sorted(tried)))
    except _UNFIT:
        return None
    return None


def _engines(relation: Relation, bound: tuple[Fact, ...]) -> set[str] | None:
    """What proves a relation for all C > 0 and n; None if nothing does."""
    relation = relation.map(lambda side: sp.factor(sp.sympify(side)))
    proof = prove_vectors(Reading("an instance for every C", relation, bound).as_proved())
    return None if proof is None else {*proof.engines}


def _words(case: Case, powers: _Powers) -> dict[str, Any]:
    """The case as text, with the powers of n."""

    def shown_at(name: str, place: tuple[int, ...], value: Any) -> str:
        power = powers.get((name, place), 0)
        return f"{value}" + (f"*n^{power}" if power else "")

    def listed(name: str, value: Any, place: tuple[int, ...]) -> Any:
        if not isinstance(value, np.ndarray):
            return shown_at(name, place, value)
        return [listed(name, one, (*place, at)) for at, one in enumerate(value)]

    return {name: listed(name, value, ()) for name, value in case.items()}


def again(conjecture: Conjecture, words: Mapping[str, Any], what: str) -> Unbounded:
    """The same from what was saved of it."""
    powers: dict[_Entry, int] = {}

    def plain(name: str, value: Any, place: tuple[int, ...]) -> Any:
        if isinstance(value, list):
            return [plain(name, one, (*place, at)) for at, one in enumerate(value)]
        number, times, power = str(value).partition("*n^")
        if times:
            powers[name, place] = int(power)
        return number

    try:
        small = at_constant(conjecture, AT[0], int(words["dimension"]))
        case = from_text(small, {name: plain(name, one, ()) for name, one in words.items()}, what=what)
        made = shown(conjecture, small, case, powers)
    except (ValueError, KeyError):
        made = None
    if made is None:
        raise InvalidInput(f"{what} is not seen to break {conjecture.name!r} for every constant: it was changed")
    return made


def _told(world: World, n: sp.Symbol, constants: Sequence[sp.Symbol]) -> Iterator[str]:
    least = ", ".join(f"{one}" for c in constants for one in (16 * c, 16 / c))
    yield f"for every {', '.join(map(str, constants))} > 0, with a whole number {n} >= max({least})"
    yield from world.told(constants)
