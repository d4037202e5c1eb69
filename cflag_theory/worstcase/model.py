"""A worst-case problem: functions of a class, where they are asked, what is assumed, and what is maximised.

The largest value over all instances is that of the program

    maximise the least of the measures over M >= 0, D >= 0 and function values, with rows <= 0 and every pair condition.

(M, D, values) of any instance are feasible, averaged over the clients with weights p_i. And for weights up to 1/2 there
are unit vectors u_i with sum_i p_i u_i = 0: every client with deviations u_i (x) d has the Gram matrix M + D, and
functions of the class pass through its data (Taylor, Hendrickx and Glineur 2017, Theorem 4). One client has no D.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from cflag_theory.worstcase.vectors import Form, Vector, inner, square


@dataclass(eq=False)
class Function:
    """A function of every client, or one that all share, with curvature in [mu, 1]; mu = -1: any 1-smooth one.

    `points` are the (x, gradient, value) met so far.
    """

    problem: Problem
    mu: Fraction
    clients: bool = True
    points: list[tuple[Vector, Vector, int]] = field(default_factory=list)
    _known: dict[object, tuple[Vector, int]] = field(default_factory=dict)

    def at(self, x: Vector, gradient: Vector | None = None) -> tuple[Vector, int]:
        """Gradient and number of the value at x: known ones again, else new ones, or this gradient."""
        if gradient is None and x.key in self._known:
            return self._known[x.key]
        found = (gradient or self.problem.vector(own=self.clients), self.problem.new_value())
        self.points.append((x, *found))
        self._known[x.key] = found
        return found

    def gradient(self, x: Vector) -> Vector:
        """The gradient at x."""
        return self.at(x)[0]

    def value(self, x: Vector) -> Form:
        """The value at x, averaged over the clients."""
        return Form(values={self.at(x)[1]: Fraction(1)})

    def proximal(self, x: Vector, step: Fraction) -> Vector:
        """argmin f(y) + ||y - x||^2 / (2 step): the point whose gradient is (x - y) / step."""
        gradient = self.problem.vector(own=self.clients)
        y = x - step * gradient
        self.at(y, gradient)
        return y

    @property
    def coefficients(self) -> tuple[Fraction, Fraction, Fraction]:
        """Of ||dx||^2, <dg, dx> and ||dg||^2 in the pair conditions."""
        k = 1 / (2 * (1 - self.mu))
        return k * self.mu, -2 * k * self.mu, k

    def pair(self, i: int, j: int) -> Form:
        """f_j + <g_j, dx> + k (||dg||^2 + mu ||dx||^2 - 2 mu <dg, dx>) - f_i <= 0 with k = 1 / (2 (1 - mu))."""
        (x, g, value), (y, h, other) = self.points[i], self.points[j]
        a, b, c = self.coefficients
        dx, dg = x - y, g - h
        values = Form(values={other: Fraction(1), value: Fraction(-1)})
        return values + inner(h + b * dg, dx) + c * square(dg) + a * square(dx)


@dataclass(eq=False)
class Problem:
    """The least of `measures` is maximised where every form of `rows` is at most 0. One client has no deviations."""

    clients: int = 2
    means: int = 0
    owns: int = 0
    values: int = 0
    functions: list[Function] = field(default_factory=list)
    rows: list[Form] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    measures: list[Form] = field(default_factory=list)
    #: Points that all clients share, in the order of the method.
    shared: list[Vector] = field(default_factory=list)
    #: What the last of them would be, were it the clients' own.
    ends: Vector = field(default_factory=Vector)
    #: Sizes of other Gram matrices than those of means and deviations; and the function value that is 0 then.
    blocks: list[int] = field(default_factory=list)
    fixed: int | None = None
    #: Biases of the memory, round by round.
    biases: list[Vector] = field(default_factory=list)

    @property
    def sizes(self) -> list[int]:
        """Of the Gram matrices."""
        return self.blocks or [self.means, self.owns]

    def vector(self, *, own: bool = True, mean: bool = True) -> Vector:
        """A free vector, with a mean, a deviation, or both."""
        parts: list[dict[int, Fraction]] = [{}, {}]
        if mean:
            parts[0][self.means] = Fraction(1)
            self.means += 1
        if own and self.clients > 1:
            parts[1][self.owns] = Fraction(1)
            self.owns += 1
        return Vector(*parts)

    def new_value(self) -> int:
        """The number of a new function value."""
        self.values += 1
        return self.values - 1

    def function(self, mu: Fraction | int = 0, *, clients: bool = True) -> Function:
        """A new function with curvature in [mu, 1]."""
        self.functions.append(Function(self, Fraction(mu), clients))
        return self.functions[-1]

    def at_most(self, form: Form, limit: Fraction | int = 0, name: str = "") -> None:
        """Assume that the form is at most `limit`; the name is for people."""
        self.rows.append(form.below(limit))
        self.names.append(name)

    def maximise(self, *measures: Form) -> None:
        """Ask for the largest possible least one of these."""
        self.measures = list(measures)

    def pairs(self) -> list[tuple[int, int, int]]:
        """All pair conditions, as function and two points of it."""
        sizes = [range(len(one.points)) for one in self.functions]
        return [(q, i, j) for q, size in enumerate(sizes) for i in size for j in size if i != j]

    def form(self, pair: Sequence[int]) -> Form:
        """One of these as a form that is at most 0."""
        q, i, j = pair
        return self.functions[q].pair(i, j)
