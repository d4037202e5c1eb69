"""`repair`: where a statement fails, the smallest changes with which it is proved."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain, product, zip_longest
from random import Random
from time import process_time
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.models import look_for_model
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.falsify.decisions.changes import EDIT, HYPOTHESIS, PREMISE, Change, changes, coefficients
from cflag_theory.falsify.decisions.decision import sandwich
from cflag_theory.falsify.finding import NOT_BROKEN, PROVED, REFUTED

#: Proposals of every kind; questions to z3, and how much it may do for each.
EACH, MOST_ASKED, _UNITS = 4, 900, 200_000
#: Seconds of one core that the search takes at most.
SECONDS = 30.0
#: Draws of a counterexample, and the values that are drawn.
_DRAWS, _SIMPLE = 24, ((1, 1), (1, 2), (2, 1), (1, 4), (3, 1), (0, 1))

Point = Mapping[sp.Symbol, Fraction]


@dataclass(frozen=True)
class Proposal:
    """A change with which a statement is proved."""

    change: Change
    #: Exact values at which the unchanged statement fails; they violate an added hypothesis.
    against: Point

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return {
            "kind": self.change.kind,
            "words": self.change.words,
            "claim": str(self.change.goal),
            "added": None if self.change.added is None else str(self.change.added),
            "necessary": {str(symbol): str(value) for symbol, value in self.against.items()},
        }


@dataclass
class Repairing:
    """One search for repairs of a statement that fails."""

    goal: Relation
    given: tuple[Relation, ...]
    #: How many of what is given are definitions, which stay.
    fixed: int = 0
    #: Exact points that were found: they refute most changes at once. Those in `satisfying` satisfy what is given, and
    #: at those in `failing` the goal fails too.
    points: list[Point] = field(default_factory=list)
    asked: int = 0
    most_asked: int = MOST_ASKED
    seconds: float = SECONDS
    satisfying: list[Point] = field(default_factory=list)
    failing: list[Point] = field(default_factory=list)

    def __post_init__(self) -> None:
        # What z3 cannot read, such as a maximum, restricts counterexamples only: proofs do without it.
        self.readable = {one: _readable(one) for one in self.given}

    def counterexample(self) -> Point | None:
        """Exact values that satisfy what is given, and at which the goal fails."""
        found = self._ask(self.goal, self.given)
        if isinstance(found, Mapping):
            return found
        for branch in self._branches():
            found = self._ask(self.goal, (*self.given, *branch))
            if isinstance(found, Mapping):
                return found
        numbers = sorted(_numbers((self.goal, *self.given)), key=str)
        random = Random(0)
        for number in range(_DRAWS):
            # With some numbers fixed, z3 finds the others, and rational ones where roots are involved.
            kept = random.sample(numbers, min(len(numbers), max(1, len(numbers) * (1 + number % 3) // 4)))
            values = {s: sp.Rational(*random.choice(_SIMPLE)) for s in kept}
            chosen = tuple(Relation(s, "==", value) for s, value in values.items())
            found = self._ask(self.goal, (*self.given, *chosen))
            if isinstance(found, Mapping):
                return found
        return None

    def _branches(self) -> list[tuple[Relation, ...]]:
        """Which of its numbers each maximum that is defined may be."""
        tops = [(one.left, one.right.args) for one in self.given if one.op == "==" and isinstance(one.right, sp.Max)]
        ways = [
            [(Relation(top, "==", part), *(Relation(other, "<=", part) for other in parts)) for part in parts]
            for top, parts in tops
        ]
        return [tuple(fact for way in chosen for fact in way) for chosen in product(*ways)] if ways else []

    def proposals(self, each: int = EACH, tick: Callable[[], None] = lambda: None) -> list[Proposal]:
        """Changes that are proved, at most so many of every kind, the smallest first."""
        against = self.counterexample()
        if against is None:
            return []
        end = process_time() + self.seconds
        found: dict[str, list[Change]] = {kind: [] for kind in (EDIT, HYPOTHESIS, PREMISE)}
        for change in chain(self._constants(), changes(self.goal, self.given, self.fixed)):
            tick()
            kept = found[change.kind]
            if self.asked > self.most_asked or process_time() > end or all(len(one) >= each for one in found.values()):
                break
            known = len(kept) >= each or any((change.goal, change.given) == (by.goal, by.given) for by in kept)
            if not known and self._is_proved(change) and not any(self._implied(change, by) for by in kept):
                kept.append(change)
        for kept in found.values():
            kept.sort(key=lambda one: (one.cost + self._looseness(one), one.cost))
        # A weaker hypothesis before those that imply it.
        found[HYPOTHESIS].sort(key=lambda one: -sum(self._implied(other, one) for other in found[HYPOTHESIS]))
        ordered = [one for three in zip_longest(*found.values()) for one in three if one is not None]
        return [Proposal(change, against) for change in ordered]

    def _constants(self) -> Iterator[Change]:
        """The best value of every number on the right side of an inequality."""
        if self.goal.op == "==":
            return
        for number, changed in coefficients(self.goal):
            if self.asked > self.most_asked // 4:
                return
            now = Fraction(int(number.p), int(number.q))

            def ask(value: Fraction, changed: Callable[[Fraction], Relation] = changed) -> tuple[str, None]:
                goal = changed(value)
                if any(_refutes(point, goal, self.given) for point in self.points):
                    return REFUTED, None
                answer = self._ask(goal, self.given)
                return (PROVED if answer == "proved" else REFUTED if answer != "unknown" else NOT_BROKEN), None

            if now == 0 or PROVED not in (ask(64 * abs(now))[0], ask(-64 * abs(now))[0]):
                continue
            reached = sandwich(
                ask, *sorted((now, 64 * abs(now) if ask(64 * abs(now))[0] == PROVED else -64 * abs(now)))
            )
            if reached.proved is not None:
                value = reached.proved[0]
                yield Change(EDIT, f"right: {value} in place of {number}", changed(value), self.given, None, 3)

    def _is_proved(self, change: Change) -> bool:
        if self._met(change):
            return False
        if change.kind == EDIT and self._says_nothing(change.goal):
            return False
        if change.added is not None and _same(change.added, self.goal):
            return False
        return self._ask(change.goal, change.given) == "proved" and self._possible(change.given)

    def _met(self, change: Change) -> bool:
        """Whether a point that is known refutes a change; the one that did comes first the next time."""
        for place, point in enumerate(self.points):
            if change.kind == HYPOTHESIS and change.added is not None:
                # The claim fails at every point here that satisfies what is given.
                against = point in self.failing and _true_at(change.added, point) is True
            elif change.kind == EDIT:
                against = point in self.satisfying and _true_at(change.goal, point) is False
            else:
                against = _refutes(point, change.goal, change.given)
            if against:
                self.points.insert(0, self.points.pop(place))
                return True
        return False

    def _keep(self, point: Point) -> None:
        self.points.insert(0, point)
        if _holds(point, self.given):
            self.satisfying.append(point)
            if _true_at(self.goal, point) is False:
                self.failing.append(point)

    def _says_nothing(self, goal: Relation) -> bool:
        """Whether an edited claim holds by the signs of its sides alone, or is a bare equality of one thing."""
        if goal.left == goal.right or not _numbers((goal,)):
            return True
        gap = sp.expand(goal.slack)
        if gap.is_number or goal.op == "==":
            return bool(gap.is_number) and self.goal.op != goal.op
        left = self._ask(Relation(goal.left, "<=", sp.S.Zero), self.given)
        return left == "proved" and self._ask(Relation(sp.S.Zero, "<=", goal.right), self.given) == "proved"

    def _looseness(self, change: Change) -> int:
        """0 for an identity, more for a claim that is far from sharp."""
        if change.kind != EDIT:
            return 0
        if sp.cancel(sp.together(change.goal.slack)) == 0:
            return -4
        if change.goal.op == "==":
            return -2
        half = Relation(2 * change.goal.left, change.goal.op, change.goal.right)
        return 4 if self._ask(half, change.given) == "proved" else 0

    def _implied(self, change: Change, by: Change) -> bool:
        """Whether a hypothesis is no weaker than one that has been proposed."""
        if change.added is None or by.added is None or change.kind != by.kind:
            return False
        if any(_refutes(point, by.added, change.given) for point in self.points):
            return False
        return self._ask(by.added, change.given) == "proved"

    def _possible(self, given: Sequence[Relation]) -> bool:
        """Whether something satisfies the hypotheses."""
        if any(_holds(point, given) for point in self.points):
            return True
        return look_for_model(None, self._read(given)).word == "refuted"

    def _read(self, given: Sequence[Relation]) -> tuple[Relation, ...]:
        return tuple(one for one in given if self.readable.get(one, True))

    def _ask(self, goal: Relation, given: Sequence[Relation]) -> str | Point:
        """z3's answer: "proved", a point that refutes it in exact arithmetic, or "unknown"."""
        self.asked += 1
        try:
            answer = look_for_model(goal, self._read(given), units=_UNITS)
        except TypeError:
            return "unknown"
        if answer.word == "proved":
            return "proved"
        if answer.point is not None:
            point = {s: Fraction(1 if s.is_positive else 0) for s in _numbers((goal, *given))} | answer.point
            if _refutes(point, goal, given):
                self._keep(point)
                return point
        return "unknown"


def _value(expr: sp.Expr, point: Point) -> Fraction | None:
    """The exact value at a point; None where it has none, or speaks of other numbers."""
    try:
        found = expr.xreplace({s: sp.Rational(v.numerator, v.denominator) for s, v in point.items()})
    except (ZeroDivisionError, TypeError):
        return None
    return Fraction(int(found.p), int(found.q)) if found.is_Rational else None


def _true_at(one: Relation, point: Point) -> bool | None:
    left, right = _value(one.left, point), _value(one.right, point)
    if left is None or right is None:
        return None
    return left == right if one.op == "==" else left < right if one.op == "<" else left <= right


def _holds(point: Point, given: Sequence[Relation]) -> bool:
    return all(_true_at(one, point) is True for one in given)


def _refutes(point: Point, goal: Relation, given: Sequence[Relation]) -> bool:
    return _true_at(goal, point) is False and _holds(point, given)


def _same(one: Relation, other: Relation) -> bool:
    """Whether a relation is another in other words: what is right minus left is the same up to a factor."""
    if one.left.free_symbols | one.right.free_symbols != other.left.free_symbols | other.right.free_symbols:
        return False
    ratio = sp.cancel(one.slack / other.slack) if other.slack != 0 else sp.S.Zero
    forward = "==" in (one.op, other.op) or ratio.is_positive
    return bool(ratio.is_number and ratio != 0 and forward)


def _numbers(relations: Sequence[Relation]) -> set[sp.Symbol]:
    return {s for one in relations for s in one.left.free_symbols | one.right.free_symbols}


def _readable(one: Relation) -> bool:
    """Whether z3 has words for a relation."""
    try:
        look_for_model(None, (one,))
    except TypeError:
        return False
    return True
