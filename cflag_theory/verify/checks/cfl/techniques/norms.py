"""Functions on the line and in the plane, and variables given by all their draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from cflag_theory.claims.cfl.symbols import mu, sigma2
from cflag_theory.claims.cfl.techniques import norms as claim
from cflag_theory.claims.engine.notation import L
from cflag_theory.kernels.exact import Fraction
from cflag_theory.verify.check import Check
from cflag_theory.verify.evidence import Point

Vector = tuple[Fraction, ...]
_ONE, _HALF = Fraction(1), Fraction(1, 2)


def dot(u: Sequence[Fraction], v: Sequence[Fraction]) -> Fraction:
    """<u, v>."""
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


def minus(u: Sequence[Fraction], v: Sequence[Fraction]) -> Vector:
    """u - v."""
    return tuple(a - b for a, b in zip(u, v, strict=True))


@dataclass(frozen=True)
class Bent:
    """sum_j of (right_j/2) w_j^2 where w_j >= 0 and (left_j/2) w_j^2 where w_j <= 0: curvatures from mu to L."""

    left: Vector
    right: Vector

    def _curvatures(self, w: Vector) -> Vector:
        return tuple(b if c >= 0 else a for a, b, c in zip(self.left, self.right, w, strict=True))

    def value(self, w: Vector) -> Fraction:
        """The function at w."""
        return dot(self.gradient(w), w) / 2

    def gradient(self, w: Vector) -> Vector:
        """Its gradient at w."""
        return tuple(c * x for c, x in zip(self._curvatures(w), w, strict=True))

    @property
    def mu(self) -> Fraction:
        """The largest mu of Assumption 1."""
        return min(*self.left, *self.right)

    @property
    def L(self) -> Fraction:
        """The smallest L of Assumption 1."""
        return max(*self.left, *self.right)

    @property
    def words(self) -> str:
        """The function, for the story of an instance."""
        sides = (f"({b}/2) w^2 for w >= 0, ({a}/2) w^2 for w <= 0" for a, b in zip(self.left, self.right, strict=True))
        return "coordinate by coordinate " + "; ".join(sides)


def vector(*numbers: int | Fraction) -> Vector:
    """Exact coordinates."""
    return tuple(map(Fraction, numbers))


FUNCTIONS = (
    Bent(vector(1), vector(1)),
    Bent(vector(1), vector(3)),
    Bent(vector(0), vector(2)),
    Bent(vector(1, 2), vector(2, _HALF)),
)
#: Pairs of points on the line; in the plane the second coordinate is that of the first, doubled and moved.
PAIRS = ((1, 0), (0, 1), (1, -1), (-1, 2), (2, 1))


def lift(function: Bent, number: int) -> Vector:
    """A point of the function's space from one number."""
    return vector(*(number if j == 0 else 2 * number - 1 for j in range(len(function.left))))


def pair_values(function: Bent, x: Vector, y: Vector) -> dict[Any, Any]:
    """Values and gradients at two points, with h = x - y."""
    u, v, h = function.gradient(x), function.gradient(y), minus(x, y)
    return {
        claim.f_x: function.value(x),
        claim.f_y: function.value(y),
        claim.grad_x2: dot(u, u),
        claim.grad_y2: dot(v, v),
        claim.grad_x_dot_grad_y: dot(u, v),
        claim.grad_x_dot_h: dot(u, h),
        claim.grad_y_dot_h: dot(v, h),
    }


def corollary_points() -> Iterator[Point]:
    """Both gradients of every function at pairs of points."""
    for function in FUNCTIONS:
        for first, second in PAIRS:
            x, y = lift(function, first), lift(function, second)
            u, v, h = function.gradient(x), function.gradient(y), minus(x, y)
            story = (
                f"f is {function.words}; x = {', '.join(map(str, x))}, y = {', '.join(map(str, y))}, L = {function.L}.",
                f"grad f(x) = {', '.join(map(str, u))}, grad f(y) = {', '.join(map(str, v))}.",
            )
            yield Point({L: function.L, **pair_values(function, x, y)}, story, "1")
            order = {L: function.L, mu: function.mu, claim.h2: dot(h, h)}
            yield Point(order, (*story, f"mu = {function.mu}."), "2")


def lemA3_points() -> Iterator[Point]:
    """Vectors in the plane; equal ones attain the bound."""
    cases = (
        (vector(1, 0), vector(1, 0), vector(1, 0)),
        (vector(1, 2), vector(-1, -2)),
        (vector(1, 0), vector(0, 3), vector(_HALF, -1)),
        (vector(2, 1),),
    )
    for vectors in cases:
        share = Fraction(1, len(vectors))
        mean = tuple(share * sum(coordinate) for coordinate in zip(*vectors, strict=True))
        yield Point({claim.mean2: dot(mean, mean), claim.square_mean: share * sum(dot(v, v) for v in vectors)})


@dataclass(frozen=True)
class Draws:
    """tau real variables as a function of fair signs, with M and sigma^2 for which each variance bound holds."""

    words: str
    signs: int
    variables: Callable[[tuple[int, ...]], tuple[Fraction, ...]]
    M: Fraction
    sigma2: Fraction

    def table(self) -> list[tuple[Fraction, ...]]:
        """The variables for every draw of the signs."""
        return [self.variables(signs) for signs in product((1, -1), repeat=self.signs)]


def cases() -> tuple[Draws, ...]:
    """Copies of one variable, independent ones, martingale differences, and variances that grow with the mean."""
    two = Fraction(2)
    return (
        Draws("Xi_1 = Xi_2 = s, one fair sign", 1, lambda s: (_ONE * s[0],) * 2, Fraction(0), _ONE),
        Draws("Xi_1 = Xi_2 = Xi_3 = 1 + s, one fair sign", 1, lambda s: (_ONE + s[0],) * 3, Fraction(0), _ONE),
        Draws("Xi_1 = s_1, Xi_2 = s_2, independent", 2, lambda s: (_ONE * s[0], _ONE * s[1]), Fraction(0), _ONE),
        Draws(
            "Xi_i = 1 + s_i, independent, i = 1, 2",
            2,
            lambda s: (_ONE + s[0], _ONE + s[1]),
            Fraction(0),
            _ONE,
        ),
        Draws(
            "Xi_1 = 1 + s_1, Xi_2 = 2 + s_1 s_2: martingale differences that are not independent of the past",
            2,
            lambda s: (_ONE + s[0], two + s[0] * s[1]),
            Fraction(0),
            _ONE,
        ),
        Draws(
            "Xi_1 = 2 + s_1, Xi_2 = 2 + s_2, M = 1/4, sigma = 0",
            2,
            lambda s: (two + s[0], two + s[1]),
            Fraction(1, 4),
            Fraction(0),
        ),
        Draws("Xi_1 = 1 + s, Xi_2 = 1 - s, one fair sign", 1, lambda s: (_ONE + s[0], _ONE - s[0]), Fraction(0), _ONE),
        Draws("Xi_1 = s, alone", 1, lambda s: (_ONE * s[0],), Fraction(0), _ONE),
    )


def moments(case: Draws) -> dict[str, Fraction]:
    """The sums of Lemma A.4, each the mean over all draws."""
    table = case.table()
    share = Fraction(1, len(table))
    tau = len(table[0])
    means = [share * sum(row[i] for row in table) for i in range(tau)]
    deviations = [[row[i] - means[i] for i in range(tau)] for row in table]
    for i in range(tau):
        spread = share * sum(d[i] ** 2 for d in deviations)
        assert spread <= case.M * means[i] ** 2 + case.sigma2, case.words
    squares = share * sum(sum(x**2 for x in d) for d in deviations)
    return {
        "total2": share * sum(sum(row) ** 2 for row in table),
        "means2": sum((m**2 for m in means), Fraction(0)),
        "deviations2": squares,
        "correlations": share * sum(sum(d) ** 2 for d in deviations) - squares,
    }


def lemA4_points() -> Iterator[Point]:
    """Every case by enumeration of its signs; each variable's own variance bound is checked."""
    for case in cases():
        found = moments(case)
        story = (
            f"{case.words}; M = {case.M}, sigma^2 = {case.sigma2}.",
            f"Over all {2**case.signs} draws 𝔼||sum Xi||^2 = {found['total2']}, the correlations of different i add up "
            f"to {found['correlations']}.",
        )
        values = {getattr(claim, name): number for name, number in found.items()}
        yield Point({claim.tau: len(case.table()[0]), claim.M: case.M, sigma2: case.sigma2, **values}, story)


def lemA5_points() -> Iterator[Point]:
    """Three points on the line and in the plane; the first is where (L + mu)/2 is attained, for mu = 0 and mu > 0."""
    attained = [Bent(vector(m), vector(2)) for m in (0, 1, 2)]
    triples = ((0, -1, 1), (1, 0, 2), (0, 1, -1), (-1, 2, 1), (1, 1, 0), (2, -1, 0))
    for function in (*attained, *FUNCTIONS):
        for places in triples:
            x, y, z = (lift(function, place) for place in places)
            g = function.gradient(x)
            yield Point(
                {
                    L: function.L,
                    mu: function.mu,
                    claim.h_y: function.value(y),
                    claim.h_z: function.value(z),
                    claim.slope: dot(g, minus(z, y)),
                    claim.y_minus_z2: dot(minus(y, z), minus(y, z)),
                    claim.step2: dot(minus(z, x), minus(z, x)),
                }
            )


CHECKS = {
    "cfl.assumption1_corollary": Check(corollary_points),
    "cfl.lemA3": Check(lemA3_points),
    "cfl.lemA4": Check(lemA4_points),
    "cfl.lemA5": Check(lemA5_points),
}
