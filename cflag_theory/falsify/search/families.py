"""Families of small exact problems: which numbers a problem is made of, and the problem that these make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.ranges import Range, as_exact
from cflag_theory.kernels.formulas import QUADRATIC
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.problems.glm import glm
from cflag_theory.kernels.problems.problem import UPPER_BOUND, Components, Constant, Problem
from cflag_theory.kernels.problems.validation import assemble, client_weights

Sizes = int | tuple[int, int]


@dataclass(frozen=True)
class Family:
    """Problems as functions of ranges."""

    #: What the problems are, for reports.
    words: str
    #: The numbers that make one; a conjecture may replace any of them.
    ranges: Mapping[str, Range]
    #: From the values by name to a Problem, exact where they are fractions; None where they make none.
    build: Callable[[Mapping[str, Any]], Problem | None]


def _sizes(name: str, value: Sizes) -> Range:
    low, high = value if isinstance(value, tuple) else (value, value)
    if (
        isinstance(low, bool)
        or isinstance(high, bool)
        or not (isinstance(low, int) and isinstance(high, int) and low >= 1)
    ):
        raise InvalidInput(f"{name} is {value!r}: give an integer of at least 1, or two of them, smallest and largest")
    return Range(low, high, kind="integer")


def quadratics(
    *,
    N: Sizes = (1, 2),
    n: Sizes = (1, 2),
    d: Sizes = 1,
    L: Any = 1,
    convex: bool = False,
    mu: Any = None,
    slopes: Any = 1,
    start: Any = 1,
    past: bool = False,
) -> Family:
    """Components x^T A x / 2 - b.x with the eigenvalues of every A in [-L, L].

    Ranges: N, n, d; curvature (N, n, d), the eigenvalues; slope (N, n, d), the entries of b; start (d,), x_0; and where
    d > 1 tangent (N, n, d), whose entry c is tan(angle / 2) of a turn of the eigenvectors in the plane of the
    coordinates c and c + 1. With `past`, past_curvature, past_tangent and past_slope too.

    Parameters
    ----------
    N, n, d : int or (int, int)
        Clients, components of each, dimension; two numbers are the smallest and the largest.
    L : number
        Largest absolute eigenvalue.
    convex : bool
        Whether eigenvalues are not negative.
    mu : number, optional
        Smallest eigenvalue, in place of -L or of 0.
    slopes, start : number
        Largest absolute entry of b, and of x_0.
    past : bool
        Whether the past task has components of its own; else it has those of the current one, so that f = g.

    Raises
    ------
    InvalidInput
        A size or number outside its range.
    """
    largest = as_exact("L", L)
    if largest <= 0:
        raise InvalidInput(f"L is {L}: use a positive number")
    lowest = as_exact("mu", mu) if mu is not None else (Fraction(0) if convex else -largest)
    tops = {"slope": as_exact("slopes", slopes), "start": as_exact("start", start)}
    for name, top in tops.items():
        if top < 0:
            raise InvalidInput(f"{name} reaches {top}: use a number that is not negative")
    each = ("N", "n", "d")
    ranges = {"N": _sizes("N", N), "n": _sizes("n", n), "d": _sizes("d", d)}
    for task in ("past_", "") if past else ("",):
        ranges[f"{task}curvature"] = Range(lowest, largest, shape=each)
        if ranges["d"].high > 1:
            ranges[f"{task}tangent"] = Range(-1, 1, shape=each)
        ranges[f"{task}slope"] = Range(-tops["slope"], tops["slope"], shape=each)
    ranges["start"] = Range(-tops["start"], tops["start"], shape=("d",))

    bound = max(abs(lowest), largest)

    def build(given: Mapping[str, Any]) -> Problem:
        exact, values = _of_one_type(given, ranges)
        tasks = [
            _quadratic_task(
                values[f"{task}curvature"], values.get(f"{task}tangent"), values[f"{task}slope"], task or "current"
            )
            for task in ("past_" if past else "", "")
        ]
        # The same L on floats and on fractions, and one that every problem of the family has.
        L = Constant(bound if exact else float(bound), UPPER_BOUND, "largest absolute eigenvalue of the family")
        return Problem(
            name="a quadratic problem",
            family="quadratic",
            potential=QUADRATIC,
            p=client_weights(None, *tasks, exact=exact),
            past=tasks[0],
            current=tasks[1],
            start=values["start"],
            labels=np.zeros(len(tasks[0].row_start) - 1, dtype=np.int64),
            constants={"L": L, "L_component": L},
        )

    reach = f"eigenvalues in [{lowest}, {largest}]"
    return Family(f"quadratic components with {reach}", ranges, build)


def _of_one_type(values: Mapping[str, Any], ranges: Mapping[str, Range]) -> tuple[bool, dict[str, Array]]:
    """Whether a case is exact, and the family's arrays as fractions or floats, where a user's ranges hold integers."""
    exact = not any(isinstance(one, float) or getattr(one, "dtype", None) == np.float64 for one in values.values())
    found: dict[str, Array] = {}
    for name, one in ranges.items():
        if one.shape and name in values:
            entries = [Fraction(entry) if exact else float(entry) for entry in values[name].ravel()]
            found[name] = np.array(entries, dtype=object if exact else np.float64).reshape(values[name].shape)
    return exact, found


def _quadratic_task(curvature: Array, tangents: Array | None, slope: Array, task: str) -> Components:
    """x^T A x / 2 - b.x as one ridge function for every eigenvector of A."""
    N, n, d = curvature.shape
    zero = curvature[0, 0, 0] * 0
    rows = [[_basis(d, None if tangents is None else tangents[i, j], zero) for j in range(n)] for i in range(N)]
    return assemble(
        task,
        np.array(rows, dtype=curvature.dtype).reshape(N * n, d, d),
        np.zeros_like(curvature.reshape(N * n, d)) + zero,
        curvature.reshape(N * n, d),
        -slope.reshape(N * n, d),
        np.repeat(np.arange(N), n),
        N,
    )[0]


def _basis(d: int, tangents: Array | None, zero: Any) -> Array:
    """Orthonormal rows: turns in the planes of neighbouring coordinates, rational for rational tangents."""
    one = zero + 1
    basis = np.array([[one if i == j else zero for j in range(d)] for i in range(d)])
    for c in range(d - 1):
        t = zero if tangents is None else tangents[c]
        cos, sin = (one - t * t) / (one + t * t), 2 * t / (one + t * t)
        upper, lower = basis[c].copy(), basis[c + 1].copy()
        basis[c], basis[c + 1] = cos * upper + sin * lower, cos * lower - sin * upper
    return basis


def ridges(
    *,
    N: Sizes = (1, 2),
    n: Sizes = (1, 2),
    d: Sizes = 1,
    rows: Any = 1,
    targets: Any = 2,
    start: Any = 1,
    past: bool = False,
) -> Family:
    """Components phi(a.x - b) with the bounded, non-convex, rational phi(z) = z^2 / (2 (1 + z^2)) of Geman and McClure.

    Ranges: N, n, d; row (N, n, d), the entries of a; target (N, n), b; start (d,), x_0. With `past`, past_row and
    past_target too.

    Parameters
    ----------
    N, n, d : int or (int, int)
        Clients, components of each, dimension; two numbers are the smallest and the largest.
    rows, targets, start : number
        Largest absolute entry.
    past : bool
        Whether the past task has components of its own; else it has those of the current one, so that f = g.

    Raises
    ------
    InvalidInput
        A size or number outside its range.
    """
    tops = {name: as_exact(name, top) for name, top in (("rows", rows), ("targets", targets), ("start", start))}
    for name, top in tops.items():
        if top < 0 or (name == "rows" and top == 0):
            raise InvalidInput(f"{name} reaches {top}: use a positive number")
    ranges = {"N": _sizes("N", N), "n": _sizes("n", n), "d": _sizes("d", d)}
    for task in ("past_", "") if past else ("",):
        ranges[f"{task}row"] = Range(-tops["rows"], tops["rows"], shape=("N", "n", "d"))
        ranges[f"{task}target"] = Range(-tops["targets"], tops["targets"], shape=("N", "n"))
    ranges["start"] = Range(-tops["start"], tops["start"], shape=("d",))

    def build(given: Mapping[str, Any]) -> Problem | None:
        values = _of_one_type(given, ranges)[1]
        if not (values["row"].any() or (past and values["past_row"].any())):
            return None
        count, size, d = values["row"].shape
        clients = np.repeat(np.arange(count), size)
        tasks: list[Any] = []
        for task in ("past_" if past else "", ""):
            row, target = values[f"{task}row"], values[f"{task}target"]
            tasks += [row.reshape(count * size, d), target.reshape(count * size), clients]
        return glm(*tasks, potential="geman_mcclure", start=values["start"], name="a ridge problem")

    return Family("components phi(a.x - b) with phi of Geman and McClure", ranges, build)
