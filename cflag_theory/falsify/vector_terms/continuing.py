"""How the families of an instance go on for ever, and numbers that depend on how far they have gone.

A family repeats its last members, the last one alone or several in turn; or it goes on as a + q^n b, or as a + n b, as
its last members do. What is said of it at index N + n for every n is then a polynomial in q^n or in n.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise, product, zip_longest
from numbers import Rational
from typing import Any, NoReturn

from cflag_theory.falsify.search import exact_numbers

#: The periods that are tried.
_PERIODS = 2, 4
#: The largest denominator in members that do not stay.
_SHORT = 64


class NoMeaning(Exception):
    """A term that small instances do not give; the message names it."""


@dataclass(frozen=True, eq=False)
class Growing:
    """c_0 + c_1 z + c_2 z^2 + ..., where z >= 0 tells how far an index has gone: it has no order."""

    by: tuple[Any, ...]

    def __add__(self, other: Any) -> Growing:
        return Growing(tuple(a + b for a, b in zip_longest(self.by, _coefficients(other), fillvalue=0)))

    __radd__ = __add__

    def __neg__(self) -> Growing:
        return self.__mul__(-1)

    def __sub__(self, other: Any) -> Growing:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Growing:
        return self.__neg__().__add__(other)

    def __mul__(self, other: Any) -> Growing:
        factor = _coefficients(other)
        total: list[Any] = [0] * (len(self.by) + len(factor) - 1)
        for (i, a), (j, b) in product(enumerate(self.by), enumerate(factor)):
            total[i + j] += a * b
        return Growing(tuple(total))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Growing:
        return self.__mul__(Fraction(1) / other)

    def __pow__(self, power: int) -> Growing:
        if power < 0:
            _no_value(self)
        made = Growing((1,))
        for _ in range(power):
            made *= self
        return made

    def root(self) -> Growing:
        """The square root of c z^(2 m)."""
        (place, by), *others = [(place, one) for place, one in enumerate(self.by) if one != 0] or [(0, 0)]
        if others or place % 2:
            _no_value(self)
        return Growing((*[0] * (place // 2), exact_numbers.sqrt(by)))


def _coefficients(number: Any) -> tuple[Any, ...]:
    return number.by if isinstance(number, Growing) else (number,)


def _no_value(number: Growing, *others: Any) -> NoReturn:
    raise NoMeaning("a hypothesis for every index is more than an instance can show: no polynomial in the index")


for _name in ("lt", "le", "gt", "ge", "abs", "rtruediv", "rpow", "eq"):
    setattr(Growing, f"__{_name}__", _no_value)


def start(number: Any) -> Any:
    """A number where an index stands before it goes further."""
    return _coefficients(number)[0]


@dataclass(frozen=True)
class Continuation:
    """How families go on."""

    #: Where a family's last member stands. Families that go on by a step of their own are left out.
    last: Mapping[str, tuple[int, ...]]
    #: How many of the last members come again; families with fewer repeat the last. A moving family is looked at every
    #: `period` members: powers of a negative number with the same sign.
    period: int = 1
    ratio: Fraction | None = None
    #: Mapping of name to two vectors: a and b, where the n-th member after the last is a + ratio^n b, or a + n b where
    #: ratio is 1.
    moving: Mapping[str, tuple[list[Any], list[Any]]] = field(default_factory=dict)

    @property
    def geometric(self) -> bool:
        """Whether what families say is a polynomial in ratio^n and not in n."""
        return self.ratio not in (None, 1)

    def member(self, family: Mapping[Any, Any], name: str, places: tuple[Any, ...]) -> Any:
        """A later member; None if there is none."""
        at, tops = tuple(map(start, places)), self.last.get(name)
        if tops is None or min(at, default=-1) < 0:
            return None
        if name not in self.moving:
            return family.get((name, tuple(map(self._turned, at, tops))))
        after = places[0] - tops[0]
        if self.ratio != 1:
            after = self._power(after)
        a, b = self.moving[name]
        return [one + by * after if by != 0 else one for one, by in zip(a, b, strict=True)]

    def _power(self, exponent: Any) -> Any:
        """A power of the ratio; z is its power after one period more and more."""
        assert self.ratio is not None
        first, *further = _coefficients(exponent)
        power = self.ratio ** int(first)
        if not further:
            return power
        if any(further[1:]):
            _no_value(exponent)
        return Growing((*[0] * (int(further[0]) // self.period), power))

    def _turned(self, at: int, top: int) -> int:
        turn = self.turn(top)
        return at if at <= top else top + 1 - turn + (at - top - 1) % turn

    def turn(self, top: int) -> int:
        """How many of a family's last members come again."""
        return self.period if self.period <= top + 1 and not self.moving else 1

    def never_above(self, op: str, gap: Any) -> bool:
        """Whether a gap between two sides has the right sign however far its index goes: shown, or False."""
        by = _coefficients(gap)
        if op == "==":
            return all(one == 0 for one in by)
        if self.geometric:
            # With z in (0, 1], or 1/z, sum c_k z^k = sum S_k (z^k - z^(k+1)) + S_n z^n, where S_k = c_0 + ... + c_k.
            sums = list(accumulate(by if abs(self.ratio) < 1 else reversed(by)))  # type: ignore[arg-type]
            return all(one <= 0 for one in sums) and (op == "<=" or sums[-1] < 0)
        first, *differences = _differences([sum(c * n**k for k, c in enumerate(by)) for n in range(len(by))])
        return (first < 0 if op == "<" else first <= 0) and all(one <= 0 for one in differences)

    def words(self, name: str) -> str:
        """How one family goes on, in one line."""
        tops = self.last.get(name, ())
        if name in self.moving:
            a, b = map(row, self.moving[name])
            by = "n" if self.ratio == 1 else f"({self.ratio})^n"
            b = f"({b})" if not b.startswith("(") else b
            constant = f"{a} + " if any(self.moving[name][0]) else ""
            return f"{name} goes on for ever as {name}[{tops[0]} + n] = {constant}{by} {b}"
        turn = max(map(self.turn, tops), default=1)
        if turn > 1:
            return f"{name} repeats its last {turn} members for ever"
        return f"{name} stays at its last member for ever" if any(tops) else f"{name} is the same for every index"


def continuations(vectors: Mapping[Any, list[Any]], last: Mapping[str, tuple[int, ...]]) -> Iterator[Continuation]:
    """The ways in which the families of an instance may go on, a handful."""
    yield Continuation(last)
    if any(getattr(one, "denominator", 1) > _SHORT for vector in vectors.values() for one in vector):
        # Long fractions are slow, and among short ones there are as many turns and progressions.
        return
    longest = 1 + max((top for tops in last.values() for top in tops), default=0)
    yield from (Continuation(last, period) for period in _PERIODS if period <= longest)
    moving, ratios = {}, set()
    for name, tops in last.items():
        members = [vectors.get((name, (at,))) for at in range(tops[0] + 1)] if len(tops) == 1 else []
        found = _progress(
            [one for one in members[-3:] if one is not None and all(isinstance(c, Rational) for c in one)]
        )
        if found is not None:
            ratio, a, b = found
            ratios.add(ratio)
            moving[name] = a, b
    if len(ratios) == 1:
        (ratio,) = ratios
        yield Continuation(last, 2 if ratio < 0 else 1, ratio, moving)


def _progress(members: list[list[Any]]) -> tuple[Fraction, list[Any], list[Any]] | None:
    """The ratio q and the vectors a, b of a progression; two members alone are one with a = 0."""
    if len(members) < 2:
        return None
    steps = [[b - a for a, b in zip(*two, strict=True)] for two in pairwise(members)]
    ratio = _ratio(*(steps if len(steps) > 1 else members))
    if ratio in (None, 0, -1) or not any(steps[-1]):
        return None
    if ratio == 1:
        return Fraction(1), members[-1], steps[-1]
    b = [ratio * one / (ratio - 1) for one in steps[-1]]
    return ratio, [one - by for one, by in zip(members[-1], b, strict=True)], b


def _ratio(before: list[Any], after: list[Any]) -> Fraction | None:
    """The number that makes one vector of another."""
    place = next((place for place, one in enumerate(before) if one != 0), None)
    if place is None:
        return None
    ratio = Fraction(after[place]) / before[place]
    return ratio if all(ratio * a == b for a, b in zip(before, after, strict=True)) else None


def row(vector: list[Any]) -> str:
    """A vector as text."""
    return str(vector[0]) if len(vector) == 1 else f"({', '.join(map(str, vector))})"


def _differences(values: list[Any]) -> list[Any]:
    """The first value, and the first of the differences of every order."""
    found = []
    while values:
        found.append(values[0])
        values = [b - a for a, b in pairwise(values)]
    return found
