"""Terms with vectors at explicit vectors of numbers and explicit functions, on floats or exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.operators import Index, Largest, Least, Operator, Total, TotalVector
from cflag_theory.claims.engine.terms import Dot, Function, Gradient, Named, Norm, Value, ln, parts
from cflag_theory.falsify.search import exact_numbers
from cflag_theory.falsify.vector_terms.continuing import Continuation, Growing, NoMeaning, row, start
from cflag_theory.falsify.vector_terms.draws import Drawn, outcomes
from cflag_theory.falsify.vector_terms.reading import Entry

Vector = list[Any]
#: What computes a term in a world.
Made = Callable[["World"], Any]
#: How far functions may curve where nothing is declared.
_CURVED = 2


def _like(world: World, value: Any) -> Any:
    """A whole number as a float among floats: what is irrational of it is no enclosure then."""
    return float(value) if world.floats and isinstance(value, int | Fraction) else value


def _root(square: Any) -> Any:
    if isinstance(square, sp.Expr):
        return sp.sqrt(sp.factor(square))
    return square.root() if isinstance(square, Growing) else exact_numbers.sqrt(square)


@dataclass(frozen=True)
class Piecewise:
    """A function that is quadratic in pieces, separately in every coordinate, with a continuous gradient.

    In a coordinate: slope w + q w^2/2 + h H(w - kink), where the second derivative of Huber's function H is 1 within
    `width` of 0 and 0 elsewhere. So the second derivative is q outside, and q + h inside.
    """

    slope: Vector
    outer: Vector
    inner: Vector
    kink: Vector
    width: Vector
    constant: Any = 0

    def __str__(self) -> str:
        shown = [self._words(c) for c in range(len(self.slope))]
        constant = [str(self.constant)] if self.constant else []
        return " + ".join([one for one in [*shown, *constant] if one]) or "0"

    def _words(self, c: int) -> str:
        """One coordinate as a formula, in w or in w1, w2."""
        w = "w" if len(self.slope) == 1 else f"w{c + 1}"
        bend = self._bend(c)
        parts = [(self.slope[c], w), (self.outer[c] / 2 if self.outer[c] else 0, f"{w}^2")]
        found = [f"({factor}) {power}" for factor, power in parts if factor]
        if bend:
            off = f"{w} - ({self.kink[c]})" if self.kink[c] else w
            found.append(f"({bend}) H({off}) with H(v) = v^2/2 for |v| <= {self.width[c]}, then linear")
        return " + ".join(found)

    def gradient(self, x: Vector) -> Vector:
        """Its gradient at a point."""
        return [self._derivative(c, w) + self.slope[c] for c, w in enumerate(x)]

    def _derivative(self, c: int, w: Any) -> Any:
        bend, width = self._bend(c), self.width[c]
        return self.outer[c] * w + (bend * min(max(w - self.kink[c], -width), width) if bend else 0)

    def _bend(self, c: int) -> Any:
        """How much more it curves inside: without a piece, or with one no wider than a point, it is a parabola."""
        return self.inner[c] - self.outer[c] if self.width[c] else 0

    def value(self, x: Vector) -> Any:
        """Its value at a point."""
        return self.constant + sum(self._value(c, w) for c, w in enumerate(x))

    def _value(self, c: int, w: Any) -> Any:
        value = self.slope[c] * w + self.outer[c] * w * w / 2
        if not (bend := self._bend(c)):
            return value
        off, width = abs(w - self.kink[c]), self.width[c]
        return value + bend * (off * off / 2 if off <= width else width * off - width * width / 2)

    def at_rest(self, x: Vector, change: Vector) -> Piecewise:
        """The function with slopes changed so that its gradient at a point changes by this much."""
        slope = [a + b for a, b in zip(self.slope, change, strict=True)]
        return Piecewise(slope, self.outer, self.inner, self.kink, self.width, self.constant)

    def resolvent(self, step: Any, target: Vector) -> Vector | None:
        """A point from which `step` times its gradient there leads to the target; None if none is found."""
        found = [self._solved(c, step, w - step * self.slope[c]) for c, w in enumerate(target)]
        return None if None in found else found

    def _solved(self, c: int, step: Any, target: Any) -> Any | None:
        """A w with w + step times the derivative without the slope = target: that of a piece, if it lies in it."""
        bend, kink, width = self._bend(c), self.kink[c], self.width[c]
        for end in (None, -width, width):
            factor = 1 + step * (self.outer[c] + (bend if end is None else 0))
            if factor:
                w = (target - step * bend * (-kink if end is None else end)) / factor
                if min(max(w - kink, -width), width) == (w - kink if end is None else end) or not bend:
                    return w
        return None

    def least(self) -> Any | None:
        """Its least value less the constant; None if it has none."""
        total: Any = 0
        for c in range(len(self.slope)):
            least = self._least_along(c)
            if least is None:
                return None
            total += least
        return total

    def _least_along(self, c: int) -> Any | None:
        """Least value of one coordinate: at an end of a piece, or where the derivative vanishes."""
        q, kink, width = self.outer[c], self.kink[c], self.width[c]
        if q > 0 and not self._bend(c):
            return -self.slope[c] * self.slope[c] / (2 * q)
        tail = (self.inner[c] - q) * width
        low_slope, high_slope = self.slope[c] - tail, self.slope[c] + tail
        if q < 0 or (q == 0 and (low_slope > 0 or high_slope < 0)):
            return None
        points = [kink - width, kink, kink + width]
        if q > 0:
            points += [-low_slope / q, -high_slope / q]
        if self.inner[c] != 0:
            points.append(kink - (self.slope[c] + q * kink) / self.inner[c])
        return min(self._value(c, w) for w in points)


@dataclass
class World:
    """Values for everything that a claim speaks of."""

    dimension: int
    numbers: Mapping[sp.Symbol, Any]
    #: Mapping of (name, indices) to vector.
    vectors: dict[tuple[str, tuple[Any, ...]], Vector] = field(default_factory=dict)
    #: Mapping of (name, indices) to Piecewise.
    functions: dict[tuple[str, tuple[Any, ...]], Piecewise] = field(default_factory=dict)
    #: Mapping of a mean's name to its weights.
    weights: Mapping[str, Vector] = field(default_factory=dict)
    #: Mapping of index to its value now, a number or one that is growing.
    at: dict[sp.Symbol, Any] = field(default_factory=dict)
    #: How families go on after their last members.
    beyond: Continuation | None = None
    #: Whether a later member was asked for.
    asked: bool = False
    #: Whether its numbers are floats: then those of a claim are.
    floats: bool = False

    def key(self, term: sp.Basic) -> tuple[str, tuple[Any, ...]]:
        """Where a named vector, or a function, stands: its name and indices, those that run at their value now."""
        return _key(term)(self)

    def number(self, expr: sp.Expr) -> Any:
        """The value of a number."""
        return _number(expr)(self)

    def vector(self, expr: sp.Expr) -> Vector:
        """The value of a vector."""
        found: Vector = _vector(expr)(self)
        return found

    def still(self, expr: sp.Expr) -> Any:
        """The value of a number that no index makes grow."""
        value = self.number(expr)
        if isinstance(value, Growing):
            raise NoMeaning(f"{expr}, for every index, is more than an instance can show")
        return value

    def bound(self, index: sp.Symbol, values: Iterable[int], of: Made) -> list[Any]:
        """The values of a term at those of an index that is bound in it."""
        before, found = self.at.get(index), []
        try:
            for value in values:
                self.at[index] = value
                found.append(of(self))
        finally:
            if before is not None:
                self.at[index] = before
            else:
                self.at.pop(index, None)
        return found

    def members(self, total: sp.Expr, of: Made) -> Iterable[tuple[Any, Any]]:
        """The weights of a sum or a mean, each with the value of a member."""
        operator: Operator = total.operator
        if operator.is_sum:
            weights: Vector = [1] * int(self.still(operator.total))
        else:
            weights = self.weights[operator.args[0].name]
        return zip(weights, self.bound(operator.index, range(len(weights)), of), strict=True)

    def member(self, family: Mapping[Any, Any], term: sp.Basic) -> Any:
        """A member of a family, at the indices' values now."""
        key = self.key(term)
        found = family.get(key)
        if found is None and self.beyond is not None:
            self.asked = True
            found = self.beyond.member(family, key[0], tuple(map(self.number, term.args[1:])))
        if found is None:
            raise ZeroDivisionError(f"{term} is no member of its family in this instance")
        return found

    def told(self, but: Iterable[sp.Symbol] = ()) -> list[str]:
        """A line for its numbers, but some, and for each vector and function."""
        numbers = ", ".join(f"{s} = {value}" for s, value in self.numbers.items() if s not in but)
        lines = [numbers] if numbers else []
        lines += [f"weights of {name}: {', '.join(map(str, weights))}" for name, weights in self.weights.items()]
        lines += [f"{name}{_indices(at)} = {row(vector)}" for (name, at), vector in self.vectors.items()]
        return lines + [f"{name}{_indices(at)}(w) = {made}" for (name, at), made in self.functions.items()]


# A term is read once, and not again for every world.


@lru_cache(maxsize=1 << 14)
def _key(term: sp.Basic) -> Callable[[World], tuple[str, tuple[Any, ...]]]:
    name = term.args[0].name
    if all(i.is_Integer for i in term.args[1:]):
        still = name, tuple(map(int, term.args[1:]))
        return lambda world: still
    places = [_number(i) for i in term.args[1:]]
    return lambda world: (name, tuple([int(start(of(world))) for of in places]))


@lru_cache(maxsize=1 << 14)
def _number(expr: sp.Expr) -> Made:
    if isinstance(expr, Index):
        return lambda world: world.at[expr]
    if expr.is_Symbol:
        return lambda world: world.numbers[expr]
    if expr.is_Rational:
        exact = Fraction(int(expr.p), int(expr.q))
        near = exact_numbers.as_float(exact)
        return lambda world: near if world.floats else exact
    if isinstance(expr, sp.Pow):
        return _power(expr)
    if isinstance(expr, Entry):
        return lambda world: world.member(world.vectors, expr.args[0])[0]
    if isinstance(expr, Dot):
        u, v = map(_vector, expr.args)
        return lambda world: sum([a * b for a, b in zip(u(world), v(world), strict=True)])
    if isinstance(expr, Norm):
        of = _vector(expr.args[0])
        return lambda world: _root(sum([a * a for a in of(world)]))
    if isinstance(expr, Value):
        f, x = expr.args[0], _vector(expr.args[1])
        return lambda world: world.member(world.functions, f).value(x(world))
    if isinstance(expr, Total):
        body = _number(expr.body)
        return lambda world: sum([weight * value for weight, value in world.members(expr, body)])
    if isinstance(expr, Largest | Least):
        body, best, more = _number(expr.body), *((max, 1) if isinstance(expr, Largest) else (min, 0))
        return lambda world: best(world.bound(expr.bound, range(int(world.still(expr.outside)) + more), body))
    if isinstance(expr, sp.exp | ln):
        function = exact_numbers.exp if isinstance(expr, sp.exp) else exact_numbers.log
        return lambda world: function(_like(world, world.still(expr.args[0])))
    if isinstance(expr, sp.Abs):
        inside = _number(expr.args[0])
        return lambda world: abs(inside(world))
    joined: dict[Any, Callable[..., Any]] = {sp.Add: sum, sp.Mul: math.prod, sp.Max: max, sp.Min: min}
    if (join := joined.get(expr.func)) is None:
        raise NoMeaning(f"{expr} has no value in a small instance")
    parts_of = [*map(_number, expr.args)]
    return lambda world: join([of(world) for of in parts_of])


def _power(expr: sp.Pow) -> Made:
    base, power = _number(expr.base), expr.exp
    if power.is_Integer:
        whole = int(power)
        return lambda world: base(world) ** whole
    if power.is_Rational and power.q == 2:
        above = int(power.p)
        return lambda world: _root(_like(world, base(world))) ** above

    def raised(world: World) -> Any:
        exponent = world.still(power)
        if int(exponent) != exponent:
            raise NoMeaning(f"{expr} is no power with a whole exponent")
        return base(world) ** int(exponent)

    return raised


@lru_cache(maxsize=1 << 14)
def _vector(expr: sp.Expr) -> Made:
    terms = [(None if c == 1 else _number(c), _basis(basis)) for basis, c in parts(expr).items()]

    def made(world: World) -> Vector:
        total: Vector = [0] * world.dimension
        for factor, of in terms:
            by = of(world)
            if factor is not None:
                times = factor(world)
                by = [times * b for b in by]
            total = [a + b for a, b in zip(total, by, strict=True)]
        return total

    return made


def _basis(basis: sp.Expr) -> Made:
    if isinstance(basis, Named):
        return lambda world: world.member(world.vectors, basis)
    if isinstance(basis, Gradient):
        f, x = basis.args[0], _vector(basis.args[1])
        return lambda world: world.member(world.functions, f).gradient(x(world))
    if isinstance(basis, TotalVector):
        body = _vector(basis.body)

        def total(world: World) -> Vector:
            found: Vector = [0] * world.dimension
            for weight, member in world.members(basis, body):
                found = [a + weight * b for a, b in zip(found, member, strict=True)]
            return found

        return total
    if isinstance(basis, Drawn):
        drawn = _vector(basis.body)

        def mean(world: World) -> Vector:
            members = world.weights[basis.over.args[0].name]
            chosen, _ = outcomes(basis, members, int(world.number(basis.args[3])))[world.at[basis.chance.index]]
            of = world.bound(basis.bound, chosen, drawn)
            return [sum(one) / Fraction(len(of)) for one in zip(*of, strict=True)]

        return mean
    raise NoMeaning(f"{basis} has no value in a small instance")


def _indices(at: tuple[Any, ...]) -> str:
    return f"[{', '.join(map(str, at))}]" if at else ""


def piecewise(f: Function, world: World, shape: Mapping[str, list[Any]]) -> Piecewise | None:
    """A function with the declared smoothness and convexity; None where these contradict each other."""
    declared = f.properties
    high = world.number(declared.smooth) if declared.smooth is not None else None
    low = world.number(declared.mu) if declared.mu is not None else None
    if low is None:
        low = -high if high is not None else -_CURVED
    if high is None:
        high = max(low, 0) + _CURVED
    if high < low or (declared.smooth is not None and low < -high):
        return None

    def between(levels: list[Any]) -> list[Any]:
        return [low + (high - low) * level for level in levels]

    return Piecewise(shape["slope"], between(shape["outer"]), between(shape["inner"]), shape["kink"], shape["width"])
