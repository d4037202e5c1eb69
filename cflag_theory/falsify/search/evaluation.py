"""Both sides of a conjecture at a case: floats to guide the search, exact numbers for results."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.held import HeldConjecture, home_of
from cflag_theory.falsify.proving import formulas_of
from cflag_theory.falsify.quantity import Hypothesis, Quantity, hypothesis
from cflag_theory.falsify.search import guard, running
from cflag_theory.falsify.search.cases import Case, as_fractions, for_exact, for_functions, inside, story
from cflag_theory.falsify.search.exact_numbers import DIGITS, Enclosure, Undecided, as_float, enclose
from cflag_theory.falsify.tracing import NotAlgebra

#: Binary digits at which two irrational sides are compared before the comparison is given up.
PRECISIONS = (128, 512, 2048)
#: How far floats must differ, relative to their sizes, before exact arithmetic is asked.
HINT = 1e-12
#: Digits of irrational sides, more where fewer do not tell them apart; fractions of more bits than this are rounded.
_DIGITS, _LONGEST = (12, 24, 36, 140, 600), 12000


@dataclass(frozen=True)
class Guess:
    """A case on floats: whether the hypotheses hold, the sides, and by how much hypotheses fail."""

    feasible: bool
    left: float = 0.0
    right: float = 0.0
    shortfall: float = 0.0

    def score(self, relation: str, *, difference: bool = False) -> float:
        """What the search raises: above 0 only where the relation fails; below -2 where a hypothesis does.

        (left - right) / (|left| + |right|) rises with left/right and has a meaning for any signs. Where a side is 0 for
        every case, `difference` takes left - right itself.
        """
        if not self.feasible:
            return -3 - self.shortfall / (1 + self.shortfall)
        if math.isinf(self.right) or math.isinf(self.left):
            return -1.0 if self.right >= self.left else 1.0
        gap, total = self.left - self.right, abs(self.left) + abs(self.right)
        if relation == "==":
            return abs(gap) / total if total else 0.0
        if difference:
            return gap / (1 + abs(gap))
        if relation == "<=" and abs(gap) <= HINT * total:
            # 0 <= 0, or a point at rest, is not a near miss: such cases would draw the search to them.
            return -1.0
        if self.left <= 0 < self.right:
            return -1 + self.left / total
        return gap / total if total else 0.0

    @property
    def ratio(self) -> float | None:
        """left/right where the right side is positive."""
        if not self.feasible or not self.right > 0 or math.isinf(self.right):
            return None
        return self.left / self.right


@dataclass(frozen=True)
class Outcome:
    """A case in exact arithmetic: `holds` is None where enclosures do not decide it, or no hypotheses hold."""

    feasible: bool
    holds: bool | None = None
    left: Any = None
    right: Any = None

    @property
    def broken(self) -> bool:
        """Whether this refutes the conjecture."""
        return self.feasible and self.holds is False


class Evaluator:
    """Evaluates a conjecture, and counts: `cases` on floats, and how many of them satisfy the hypotheses (`feasible`);
    the same in exact arithmetic, and of these the `undecided` ones, in which enclosures overlap at the last precision;
    `vanishing` ones, with zero on both sides; `unaffordable` exact runs of a row of the table, which took too long;
    runs that `diverged`: they left the finite numbers, or ||x||^2 > 1e200, where every engine stops.
    """

    def __init__(self, conjecture: Conjecture, *, seconds: float) -> None:
        self.conjecture = conjecture
        self.seconds = seconds
        parts = [*conjecture.sides, *(part for one in conjecture.hypotheses for part in one.parts)]
        parts += [part for part in (conjecture.row, conjecture.step, conjecture.builder, conjecture.memories) if part]
        self.files = tuple(dict.fromkeys(part.where.rpartition(", line ")[0] for part in parts if part.where))
        home = home_of(conjecture)
        # Where a function is, there it is limited.
        self._limit: guard.Limit = guard.time_limit if home is None else guard.no_limit
        if home is not None:
            home.seconds = seconds
        self._guides = [self._guide(one) for one in conjecture.hypotheses]
        self.cases = self.feasible = self.exact_cases = self.undecided = self.vanishing = self.unaffordable = 0
        self.exact_feasible = self.diverged = 0

    def _guide(self, one: Hypothesis) -> tuple[Hypothesis, ...]:
        """A predicate as relations, where it has a formula: floats then see how far it is from holding."""
        variables = self.conjecture.variables
        if one.predicate is None or not all(name in variables and not variables[name].shape for name in one.names):
            return (one,)
        try:
            with guard.guarded(self.seconds, self.files, one.words, limit=self._limit):
                try:
                    relations = formulas_of(one, self.conjecture)
                except NotAlgebra:
                    return (one,)
        except guard.OutOfTime:
            return (one,)
        return tuple(hypothesis(0, relation) for relation in relations)

    @contextmanager
    def _guard(self, what: str, case: Case) -> Iterator[None]:
        with guard.guarded(self.seconds, self.files, what, lambda: ", ".join(story(case)), limit=self._limit):
            yield

    def _surroundings(self, seen: Case, case: Case) -> dict[str, Any] | None:
        """The values that functions may name: variables, and for runs the problem and its trace."""
        if not self.conjecture.runs:
            return seen
        with self._guard("the run", case):
            if isinstance(self.conjecture, HeldConjecture):
                how, problem, trace = self.conjecture.run_there(seen), None, None
            else:
                how, problem, trace = running.run_of(self.conjecture, seen)
        self.diverged += how == running.DIVERGED
        return seen | {"problem": problem, "trace": trace} if how == running.RAN else None

    def guess(self, case: Case) -> Guess:
        """The case on floats."""
        self.cases += 1
        with np.errstate(all="ignore"):
            values = self._surroundings(running.read_only(case), case)
            if values is None:
                return Guess(False)
            shortfall, feasible = 0.0, True
            for one, guides in zip(self.conjecture.hypotheses, self._guides, strict=True):
                with self._guard(one.words, case):
                    try:
                        lacking = [_lacking(guide, values) for guide in guides]
                    except (ArithmeticError, ValueError):
                        # Where an earlier hypothesis fails this one needs no value; elsewhere exact numbers tell.
                        holds = feasible and self.exact(as_fractions(self.conjecture, case, 1 << 52)).feasible
                        lacking = [0.0 if holds else 1.0]
                feasible, shortfall = feasible and max(lacking) <= 0, shortfall + sum(lacking)
            if not feasible:
                return Guess(False, shortfall=shortfall)
            self.feasible += 1
            sides = [self._float_side(side, values, case) for side in self.conjecture.sides]
        if any(math.isnan(side) for side in sides):
            # Floats overflow and underflow; only where exact numbers have no value either is the claim at fault.
            outcome = self.exact(as_fractions(self.conjecture, case, 1 << 52))
            if not outcome.feasible:
                self.feasible -= 1
                return Guess(False)
            sides = [as_float(outcome.left), as_float(outcome.right)]
        if sides[0] == sides[1] == 0:
            self.vanishing += 1
        return Guess(True, *sides)

    def _float_side(self, side: Quantity, values: Mapping[str, Any], case: Case) -> float:
        """A side on floats; NaN where these fail it."""
        with self._guard(side.what, case):
            try:
                value = side.floats(values)
            except (ArithmeticError, ValueError):
                return math.nan
            return value if isinstance(value, float) and math.isnan(value) else as_float(_number(side, value))

    def exact(self, case: Case) -> Outcome:
        """The case in exact arithmetic; enclosures are refined until they decide or the last precision is reached."""
        self.exact_cases += 1
        if inside(self.conjecture, case) is not None:
            return Outcome(False)
        seen = running.read_only(for_exact(self.conjecture, case))
        try:
            values = self._surroundings(seen, case)
        except guard.TookTooLong:
            # The fractions of a row of the table have grown long; a loop of the user's own is an error.
            if self.conjecture.step is not None or self.conjecture.builder is not None:
                raise
            self.unaffordable += 1
            return Outcome(False)
        if values is None:
            return Outcome(False)
        values = values | running.read_only(for_functions(self.conjecture, seen))
        for digits in PRECISIONS:
            token = DIGITS.set(digits)
            try:
                return self._decided(values, case)
            except Undecided:
                continue
            finally:
                DIGITS.reset(token)
        self.undecided += 1
        return Outcome(False)

    def again(self, case: Case) -> Outcome:
        """The case in exact arithmetic once more, uncounted, and by functions that have seen no other if they are
        elsewhere.
        """
        if (home := home_of(self.conjecture)) is not None:
            home.anew()
        return Evaluator(self.conjecture, seconds=self.seconds).exact(case)

    def _decided(self, values: Mapping[str, Any], case: Case) -> Outcome:
        for one in self.conjecture.hypotheses:
            with self._guard(one.words, case):
                if one.predicate is not None:
                    holds = _truth(one.predicate, one.predicate.exact(values))
                else:
                    holds = _compare(one.op, *(_exact(part, part.exact(values)) for part in one.sides))
            if not holds:
                return Outcome(False)
        sides = []
        for side in self.conjecture.sides:
            with self._guard(side.what, case):
                sides.append(_exact(side, side.exact(values)))
        holds = _compare(self.conjecture.relation, *sides)
        self.exact_feasible += 1
        return Outcome(True, holds, *sides)


def _lacking(one: Hypothesis, values: Mapping[str, Any]) -> float:
    """By how much a hypothesis fails on floats, relative to its sides; 0 where it holds up to rounding."""
    if one.predicate is not None:
        return 0.0 if _truth(one.predicate, one.predicate.floats(values)) else 1.0
    left, right = (float(part.floats(values)) for part in one.sides)
    total = abs(left) + abs(right)
    gap = abs(left - right) if one.op == "==" else left - right
    if math.isnan(gap):
        raise ValueError
    if one.op == "<" and gap >= 0:
        return max(gap / total if total else 0.0, HINT)
    return gap / total if gap > HINT * total else 0.0


def _compare(relation: str, left: Any, right: Any) -> bool:
    if relation == "==":
        return bool(left == right)
    return bool(left < right) if relation == "<" else bool(left <= right)


def _truth(predicate: Quantity, value: Any) -> bool:
    if isinstance(value, bool | np.bool_ | sp.logic.boolalg.BooleanAtom):
        return bool(value)
    raise InvalidInput(f"{predicate.where}{predicate.what} returned {value!r}: return True or False")


def _number(side: Quantity, value: Any) -> Any:
    """A side's value if it is a real number, and no NaN."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value.item()
    if isinstance(value, sp.Rational):
        value = Fraction(int(value.p), int(value.q))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction | Enclosure):
        kind = "a complex number" if isinstance(value, complex) else f"{value!r}"
        raise InvalidInput(f"{side.where}{side.what} returned {kind}: return a real number")
    if isinstance(value, float) and math.isnan(value):
        raise InvalidInput(f"{side.where}{side.what} returned NaN: exclude the case by a range or a hypothesis")
    return value


def _exact(side: Quantity, value: Any) -> Any:
    """A side's value if it is exact: a fraction, an integer, an enclosure, or an infinity."""
    found = _number(side, value)
    if isinstance(found, float) and not math.isinf(found):
        raise InvalidInput(
            f"{side.where}{side.what} returned the float {found!r} on exact numbers: write Fraction(1, 10) for 0.1 and "
            "Fraction(1, 2) for 1/2, and take sqrt, exp and log from cflag_theory.falsify.search.exact_numbers"
        )
    return found


def as_texts(left: Any, right: Any) -> tuple[str, str]:
    """Exact sides as text: fractions, or the decimals of what is enclosed or too long, as many as tell them apart."""
    for digits in _DIGITS:
        if not any(isinstance(side, Enclosure) for side in (left, right)):
            break
        if _rounded(left, digits) != _rounded(right, digits):
            break
    return _text(left, digits), _text(right, digits)


def _rounded(value: Any, digits: int) -> Decimal:
    """An exact number to so many significant digits."""
    if isinstance(value, float):
        return Decimal(value)
    middle = (value.low + value.high) / 2 if isinstance(value, Enclosure) else Fraction(value)
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = digits, MAX_EMAX, MIN_EMIN
        return Decimal(middle.numerator) / Decimal(middle.denominator)


def _text(value: Any, digits: int) -> str:
    if isinstance(value, Enclosure):
        return f"{_rounded(value, digits)} (enclosed)"
    if not isinstance(value, float):
        bits = Fraction(value).numerator.bit_length() + Fraction(value).denominator.bit_length()
        if bits > _LONGEST:
            return f"{_rounded(value, _DIGITS[1])} (a fraction of {bits} bits)"
    return str(value)


def quotient(outcome: Outcome) -> float | None:
    """left/right of an exact outcome, as a float; None where the right side is not positive, or floats end before."""
    left, right = enclose(outcome.left), enclose(outcome.right)
    if left is None or right is None or right.low <= 0:
        return None
    ratio = as_float((left / right).high)
    return None if math.isinf(ratio) else ratio
