"""The directed search: corners, draws, and scipy's optimisers on how nearly the relation fails."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.search.cases import LADDER, MOST_ENTRIES, Case, as_floats, as_fractions, case_at, entries
from cflag_theory.falsify.search.evaluation import HINT, Evaluator

#: How many choices of the integer variables are looked at, and the levels of a coordinate that is drawn.
MOST_SIZES, LEVELS = 40, 60
#: Bits of a level, and how many draws there are before a climb from the best of them.
_BITS, _DRAWS = 6, 8
#: The levels by Gray's code, in which neighbours differ in one bit.
_CODED = sorted(range(1 << _BITS), key=lambda level: level ^ (level >> 1))
#: Parts of the budget for corners, for draws and for the last climb from the best point; optimisers have the rest.
CORNERS, DRAWN, POLISH = 0.15, 0.25, 0.2
#: Cases of the first round, and how many times as many the next one has.
_ROUND, _GROWTH = 150, 4
#: So many violations that only floats see are asked of exact arithmetic, clear ones and those near to rounding.
_LARGE, _SMALL, _CLEAR = 100, 20, 1e-9
#: Larger cases than this are left to the optimisers.
_MOST_DRAWN = 300
#: Stands for minus infinity, where optimisers need finite numbers.
_FAR = 1e30
#: An optimiser that has seen so many cases at one choice of sizes hands over to the next.
_TURN = 60


class Found(Exception):
    """The search found a counterexample, in exact arithmetic."""

    def __init__(self, case: Case, by: str) -> None:
        super().__init__(by)
        self.case, self.by = case, by


class _Spent(Exception):
    """The budget is used up, or what an optimiser was given of it."""


class Search:
    """One search of one conjecture: the largest left/right found and where (`ratio`), the choices of the integer
    variables that are looked at (`sizes`), a case that satisfies the hypotheses on floats, and how many violations that
    floats saw exact arithmetic did not confirm.
    """

    def __init__(
        self, conjecture: Conjecture, evaluator: Evaluator, *, budget: int, seed: int, tick: Callable[[], None]
    ) -> None:
        self.conjecture, self.evaluator = conjecture, evaluator
        self.budget, self.seed, self.tick = budget, seed, tick
        self.ratio: tuple[float, Case] | None = None
        self.satisfying: Case | None = None
        self.unconfirmed = 0
        self.sizes, self.complete = choices(conjecture, seed)
        self.tried: set[int] = set()
        self._by, self._limit, self._round = "", budget, 0
        self._scores = [-np.inf] * len(self.sizes)
        self._points: dict[int, list[float]] = {}
        self._place = 0
        self._one_sided = False
        self._left = 0.0
        self._difference = any(side.of == 0 for side in conjecture.sides)
        largest = max(entries(conjecture, sizes) for sizes in self.sizes)
        if largest > MOST_ENTRIES:
            smaller = f"smaller ranges for {', '.join(conjecture.sizes)}" if conjecture.sizes else "smaller shapes"
            raise InvalidInput(
                f"{conjecture.name}: a case has {largest} numbers: use {smaller}, at most {MOST_ENTRIES} are searched"
            )

    def run(self) -> None:
        """Search until the budget is spent, in rounds of growing sizes.

        A smaller budget sees the first cases of a larger one, so that more cases never find less.
        """
        while (begun := self.evaluator.cases) < self.budget:
            size = _ROUND * _GROWTH**self._round
            self._stage("corners", begun + CORNERS * size, self._corners)
            self._stage("draws", begun + (CORNERS + DRAWN) * size, self._draw)
            self._stage("optimisation", begun + (1 - POLISH) * size, self._optimise)
            self._stage("optimisation", begun + size, self._polish)
            self._round += 1
            if self.evaluator.cases == begun:
                return

    def _stage(self, by: str, end: float, work: Callable[[], None]) -> None:
        self._by, self._limit = by, min(int(np.ceil(end)), self.budget)
        with suppress(_Spent):
            work()

    def score(self, u: Sequence[Any], place: int) -> float:
        """How nearly the relation fails at these coordinates; a case that exact arithmetic confirms ends the search."""
        if self.evaluator.cases >= self._limit:
            raise _Spent
        case = case_at(self.conjecture, self.sizes[place], u)
        guess = self.evaluator.guess(as_floats(self.conjecture, case))
        self.tick()
        self.tried.add(place)
        score = guess.score(self.conjecture.relation, difference=self._difference)
        # Where the hypotheses fail, how far they are from holding counts alone.
        self._left = guess.left if guess.feasible else score * _FAR
        if score > self._scores[place]:
            self._scores[place], self._points[place] = score, [float(one) for one in u]
        if guess.feasible and self.satisfying is None:
            self.satisfying = case
        ratio = guess.ratio
        if ratio is not None and (self.ratio is None or ratio > self.ratio[0]):
            self.ratio = (ratio, case)
        threshold = -HINT if self.conjecture.relation == "<" else HINT
        if guess.feasible and score > threshold and self.unconfirmed < (_LARGE if score > _CLEAR else _SMALL):
            self._confirm(case)
        return score

    def _confirm(self, case: Case) -> None:
        for denominator in LADDER:
            exact, before = as_fractions(self.conjecture, case, denominator), self.evaluator.unaffordable
            if self.evaluator.exact(exact).broken:
                raise Found(exact, self._by)
            if self.evaluator.unaffordable > before:
                break
        self.unconfirmed += 1

    def _corners(self) -> None:
        """Ends and middles of all ranges, at all sizes in turn, the smallest first."""
        random = np.random.default_rng([self.seed, 1, self._round])
        patterns: list[Callable[[int], Any]] = [
            lambda count: [Fraction(1, 2)] * count,
            lambda count: [Fraction(1)] * count,
            lambda count: [Fraction(0)] * count,
        ]
        patterns += [lambda count: [Fraction(int(k), 2) for k in random.choice([0, 2], count)]] * 6
        patterns += [lambda count: [Fraction(int(k), 4) for k in random.integers(0, 5, count)]] * 6
        for pattern in patterns:
            for place, sizes in enumerate(self.sizes):
                self.score(pattern(entries(self.conjecture, sizes)), place)

    def _draw(self) -> None:
        """Levels at random, and from the best of a few a climb by single bits, until none of them helps."""
        random = np.random.default_rng([self.seed, 5, self._round])
        counts = [entries(self.conjecture, sizes) for sizes in self.sizes]
        places = [place for place, count in enumerate(counts) if count <= _MOST_DRAWN]
        if not places:
            return

        def look(levels: Any, place: int) -> float:
            return self.score([Fraction(int(level), LEVELS) for level in levels], place)

        while True:
            score, levels, place = -np.inf, np.zeros(0, dtype=int), places[0]
            for _ in range(_DRAWS):
                at = places[int(random.integers(len(places)))]
                drawn = random.integers(LEVELS + 1, size=counts[at])
                if counts[at] and random.random() < 0.5:
                    # Equal and opposite numbers, which draws one by one do not give.
                    few = drawn[: random.integers(1, 4)]
                    drawn = random.choice([*few, *(LEVELS - few)], counts[at])
                if (value := look(drawn, at)) > score:
                    score, levels, place = value, drawn, at
            since, flips = 0, [(at, 1 << bit) for at in range(counts[place]) for bit in range(_BITS)]
            while since < len(flips):
                for at, bit in random.permutation(flips):
                    since += 1
                    changed = levels.copy()
                    changed[at] = min(_CODED[levels[at] ^ (levels[at] >> 1) ^ bit], LEVELS)
                    if (value := look(changed, place)) > score:
                        score, levels, since = value, changed, 0

    def _optimise(self) -> None:
        """Optimisers in turn, half of the time where the score is best and half of the time at all sizes in turn."""
        random = np.random.default_rng([self.seed, 2, self._round])
        # Some maximise the left side alone: where a ratio nears 1 trivially, as a step size goes to 0, no ratio leads
        # away from there.
        rota = (
            (self._exchange, False),
            (self._simplex, False),
            (self._exchange, True),
            (self._evolution, False),
            (self._lines, False),
            (self._evolution, True),
        )
        turn = 0
        while True:
            best_first = (turn + turn // len(rota)) % 2 == 0
            place = int(np.argmax(self._scores)) if best_first else (turn // 2) % len(self.sizes)
            before = self.evaluator.cases
            count = entries(self.conjecture, self.sizes[place])
            if count == 0:
                self.score([], place)
            else:
                method, one_sided = rota[turn % len(rota)]
                self._place, self._one_sided = place, one_sided and self.conjecture.relation != "=="
                self._own_limit(method, count, random)
            turn += 1
            if self.evaluator.cases == before:
                raise _Spent

    def _polish(self) -> None:
        """The rest of the budget climbs from the best point of all."""
        place = int(np.argmax(self._scores))
        count = entries(self.conjecture, self.sizes[place])
        if count == 0:
            return
        self._place, self._one_sided = place, False
        random = np.random.default_rng([self.seed, 4, self._round])
        while True:
            before = self.evaluator.cases
            for method in (self._simplex, self._lines):
                self._own_limit(lambda n, r, share, method=method: method(n, r, share, best=True), count, random, 40)
            if self.evaluator.cases == before:
                return

    def _own_limit(self, method: Callable[..., None], count: int, random: Any, each: int = 10) -> None:
        whole = self._limit
        share = max(_TURN, each * count)
        self._limit = min(whole, self.evaluator.cases + share)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                method(count, random, share)
        except _Spent:
            if self.evaluator.cases >= whole:
                raise
        finally:
            self._limit = whole

    def _loss(self, u: Any) -> float:
        point = [float(min(1.0, max(0.0, one))) for one in u]
        score = self.score(point, self._place)
        return -self._left if self._one_sided else -score

    def _start(self, count: int, random: Any, *, best: bool = False) -> Any:
        if best and self._place in self._points:
            return np.array(self._points[self._place])
        start = random.uniform(0, 1, count)
        # Many worst cases sit at ends of ranges.
        ends = random.uniform(0, 1, count) < 0.3
        start[ends] = np.round(start[ends])
        return start

    def _exchange(self, count: int, random: Any, share: int) -> None:
        """One coordinate at a time to an end or the middle of its range, as long as that helps.

        Sides that are of low degree in every single number have their worst cases there, and so have orders.
        """
        while True:
            point = np.round(2 * random.uniform(0, 1, count)) / 2
            value, since = self._loss(point), 0
            while since < count:
                for at in random.permutation(count):
                    since += 1
                    for level in random.permutation([0.0, 0.5, 1.0]):
                        if level == point[at]:
                            continue
                        changed = point.copy()
                        changed[at] = level
                        loss = self._loss(changed)
                        if loss < value:
                            point, value, since = changed, loss, 0

    def _simplex(self, count: int, random: Any, share: int, *, best: bool = False) -> None:
        how = {"adaptive": count > 4, "xatol": 1e-9, "fatol": 1e-12}
        self._descend("Nelder-Mead", self._start(count, random, best=best), share, how)

    def _lines(self, count: int, random: Any, share: int, *, best: bool = False) -> None:
        self._descend("Powell", self._start(count, random, best=best), share, {"xtol": 1e-6, "ftol": 1e-12})

    def _descend(self, method: str, start: Any, share: int, how: dict[str, Any]) -> None:
        from scipy.optimize import minimize

        minimize(self._loss, start, method=method, bounds=[(0, 1)] * len(start), options={"maxfev": share} | how)

    def _evolution(self, count: int, random: Any, share: int) -> None:
        from scipy.optimize import differential_evolution

        people = int(min(max(6, count), 20))
        crowd = np.stack([self._start(count, random) for _ in range(people)])
        differential_evolution(
            self._loss,
            [(0, 1)] * count,
            init=crowd,
            maxiter=max(1, share // people),
            polish=False,
            tol=0,
            seed=int(random.integers(1 << 31)),
        )


def choices(conjecture: Conjecture, seed: int) -> tuple[list[dict[str, int]], bool]:
    """Values of the integer variables to look at, the smallest first, and whether these are all."""
    ranges = [
        range(int(conjecture.variables[name].low), int(conjecture.variables[name].high) + 1)
        for name in conjecture.sizes
    ]
    total = 1
    for one in ranges:
        total *= len(one)
    if total <= MOST_SIZES:
        points = set(product(*ranges))
    else:
        random = np.random.default_rng([seed, 3])
        points = {tuple(one[0] for one in ranges), tuple(one[-1] for one in ranges)}
        points |= set(_some_corners(ranges))
        while len(points) < MOST_SIZES:
            points.add(tuple(one[int(random.integers(len(one)))] for one in ranges))
    found = [dict(zip(conjecture.sizes, point, strict=True)) for point in points]
    found.sort(key=lambda sizes: (entries(conjecture, sizes), sum(sizes.values()), tuple(sizes.values())))
    return found, total <= MOST_SIZES


def _some_corners(ranges: list[range]) -> Iterator[tuple[int, ...]]:
    """All smallest but one largest, and all largest but one smallest."""
    for at in range(len(ranges)):
        yield tuple(one[-1] if place == at else one[0] for place, one in enumerate(ranges))
        yield tuple(one[0] if place == at else one[-1] for place, one in enumerate(ranges))
