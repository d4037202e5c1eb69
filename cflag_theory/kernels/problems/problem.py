"""A Problem: two client-partitioned finite sums as arrays, with constants and how far each can be trusted.

Every family is a sum of ridge functions. A component is

    q(x) = sum_c weight_c * phi(row_c . x - shift_c) + offset . x,

so one loop, one delayed-gradient table (a scalar per row) and one exact replay serve `glm` (one row a component),
`separable` (d orthonormal rows) and `quadratic` (phi(z) = z^2/2, any symmetric matrix).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.cfl.drifts import Drift
from cflag_theory.kernels.cfl.windows import Windows
from cflag_theory.kernels.formulas import QUADRATIC
from cflag_theory.kernels.numbers import Array, Ints
from cflag_theory.kernels.own.potentials import OWN, potential_name
from cflag_theory.shown import Sheet, Shown, number

EXACT, UPPER_BOUND, MEASURED, INFINITE = "exact", "upper bound", "measured", "infinite"
#: Of values that a function is never below.
LOWER_BOUND = "lower bound"
#: Bytes of a problem up to which the latest one is kept for the next run of a sweep.
KEPT_BYTES = 1 << 25
#: What was hashed last: comparing takes a fifth of the time.
_latest: dict[str, Seen] = {}
#: Of a user's own functions: taken from the user, who answers for it.
STATED = "stated"


@dataclass(frozen=True)
class Constant:
    """A constant of a problem: its value, its kind (one of the above), and how it is known."""

    value: Any
    kind: str
    why: str

    def __str__(self) -> str:
        return f"{self.value} ({self.kind}: {self.why})"

    def __float__(self) -> float:
        if self.value is None:
            raise InvalidInput(f"a constant is not known ({self.why}): measure it along a run, or state it")
        return float(self.value)


class Functions(Protocol):
    """Components that are functions and no rows; `own.problems` has them."""

    @property
    def identity(self) -> str:
        """A hash of all that they are."""
        ...

    def mean_value(self, chosen: Ints, x: Array) -> Any:
        """The mean of the components `chosen` at x (d,)."""
        ...

    def mean_gradient(self, chosen: Ints, x: Array) -> Array:
        """Its gradient (d,)."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Components(Shown):
    """A finite sum over clients: the rows of components of clients, with the start indices of each level.

    The arrays are read-only copies, as those of a `Problem`: what was found out about them stays true.

    Attributes
    ----------
    rows : (rows, d), shifts : (rows,), weights : (rows,)
        The ridge functions weight * phi(row . x - shift).
    offsets : (components, d) or (0, d)
        Linear term of every component; no rows when all are zero.
    row_start : (components + 1,)
        Rows of component j are row_start[j] : row_start[j + 1].
    client_start : (N + 1,)
        Components of client i are client_start[i] : client_start[i + 1]; its objective is their plain mean.
    functions : Functions, optional
        The components, if they are a user's own functions; there are then no rows.
    """

    rows: Array
    shifts: Array
    weights: Array
    offsets: Array
    row_start: Ints
    client_start: Ints
    functions: Functions | None = None

    def __post_init__(self) -> None:
        _freeze(self, "rows", "shifts", "weights", "offsets", "row_start", "client_start")

    @property
    def counts(self) -> Ints:
        """Number of components of each client, shape (N,)."""
        counts: Ints = self.client_start[1:] - self.client_start[:-1]
        return counts

    def sheet(self) -> Sheet:
        """The components of every client."""
        rows = list(enumerate(self.counts.tolist()))
        return Sheet(f"of {len(rows)} clients, {self.counts.sum()} in all", ("client", "components"), rows)


@dataclass(frozen=True, eq=False, repr=False)
class Problem(Shown):
    """The continual objective of (2)-(3): past components (f), current components (g) and client weights.

    Attributes
    ----------
    family : str
        "glm", "separable", "quadratic", or "own" for a user's own functions.
    potential : int
        A code of `formulas.POTENTIALS` or of a potential of the user, common to all rows.
    p : (N,)
        Client weights, non-negative, sum 1.
    past, current : Components
        f_i is the mean of client i's past components, g_i of its current ones.
    start : (d,)
        x_0.
    labels : (past components,)
        Class of every past component, for class-balanced memories; all zero where there are no classes.
    constants : mapping
        "L" (of every f_i, g_i, hence f, g, h), "L_component" (of every component), and, where the family knows
        them without a run, "r" and others; each a `Constant`.
    notes : tuple of str
        What a reader must know, such as dropped clients and violated assumptions.
    drift : Drift, optional
        Client drifts, time drifts and gradient noise, added to the current components; f and g do not include them.
    windows : Windows, optional
        Which current components are a client's local data in a round; default: all.
    """

    name: str
    family: str
    potential: int
    p: Array
    past: Components
    current: Components
    start: Array
    labels: Ints
    constants: Mapping[str, Constant]
    notes: tuple[str, ...] = ()
    drift: Drift | None = None
    windows: Windows | None = None

    def __post_init__(self) -> None:
        _freeze(self, "p", "start", "labels")

    @property
    def L(self) -> Constant:
        """L of every f_i and g_i, hence of f, g and h."""
        return self.constants["L"]

    @property
    def m(self) -> Constant:
        """m of (27) if all past data are in memory; `bias_bound(problem, memory)` gives it for another memory."""
        return Constant(0 * self.p[0], EXACT, "memory of all past data, so b = 0")

    @property
    def r(self) -> Constant:
        """r of Assumption 3 if all past data are in memory; `ratio_bound(problem, memory)` for another memory."""
        unknown = f"no bound on grad f_memory over all x is known in the {self.family} family"
        return self.constants.get("r", Constant(None, MEASURED, unknown))

    @property
    def lower(self) -> Constant:
        """A number that f is never below: as stated, 0 for sums of potentials, the minimum of a convex quadratic.

        The value is None where nothing is known.
        """
        past = self.past
        positive = not len(past.offsets) and not (past.weights < 0).any()
        unknown = Constant(None, MEASURED, "no lower bound of f is known")
        if self.own:
            return self.constants.get("lower", unknown)
        if self.potential in OWN:
            stated = OWN[self.potential].lower
            if stated is None or not positive:
                return unknown
            ends = past.row_start[past.client_start].tolist()
            weights = np.array([past.weights[a:b].sum() for a, b in pairwise(ends)])
            value = float(stated) * float(self.p / past.counts @ weights)
            return Constant(value, STATED, "what phi is never below, as stated, times the weights")
        if positive:
            return Constant(0.0, LOWER_BOUND, "no weight is negative and phi >= 0")
        least = _least_of_quadratic(self) if self.potential == QUADRATIC else None
        return unknown if least is None else Constant(least, EXACT, "the minimum of a convex quadratic")

    @property
    def own(self) -> bool:
        """Whether the components are functions of the user."""
        return self.past.functions is not None or self.current.functions is not None

    @property
    def evolving(self) -> bool:
        """Whether the local data change from round to round."""
        return self.drift is not None or self.windows is not None

    @property
    def potential_name(self) -> str:
        """The potential in words."""
        return potential_name(self.potential)

    @property
    def dimension(self) -> int:
        """d."""
        return int(self.start.shape[0])

    @property
    def clients(self) -> int:
        """N."""
        return int(self.p.shape[0])

    @property
    def exact(self) -> bool:
        """Whether the arrays hold `Fraction` instead of floats."""
        return self.start.dtype == object

    def sheet(self) -> Sheet:
        """Its sizes, and each constant with how far it can be trusted."""
        losses = "functions of the user" if self.own else f"{self.family}, {self.potential_name}"
        line = (
            f"{self.name}: {losses}, N = {self.clients}, d = {self.dimension}, {self.past.counts.sum()} past and "
            f"{self.current.counts.sum()} current components, L = {number(self.constants['L'].value)}"
        )
        rows = [(name, number(one.value), one.kind, one.why) for name, one in self.constants.items()]
        return Sheet(line, ("constant", "value", "kind", "why"), rows, self.notes)


class Seen(NamedTuple):
    """Arrays of a problem, their hash, and the tests that they passed."""

    arrays: list[Array]
    hashed: hashlib._Hash
    passed: set[Any]


def seen(problem: Problem, *, latest: bool = False) -> Seen | None:
    """The arrays of a problem with their hash; with `latest` None, unless they are those that were hashed last."""
    arrays = [problem.p, problem.start, problem.labels]
    for part in (problem.past, problem.current):
        arrays += [part.rows, part.shifts, part.weights, part.offsets, part.row_start, part.client_start]
    kept = _latest.get("")
    if kept is not None and all(map(_same, arrays, kept.arrays)):
        return kept
    if latest:
        return None
    # The bytes of an object array are addresses, not values.
    data = [repr(array.tolist()).encode() if array.dtype == object else array.tobytes() for array in arrays]
    found = Seen(arrays, hashlib.sha256(b"".join(data)), set())
    if sum(map(len, data)) <= KEPT_BYTES:
        _latest[""] = found
    return found


def digest(problem: Problem, known: Seen | None = None) -> str:
    """A hash of all arrays of a problem: whether a replay starts from the same numbers; `known` is what `seen` says."""
    hashed = cast(Seen, known or seen(problem)).hashed.copy()
    for part in (problem.past, problem.current):
        if part.functions is not None:
            hashed.update(part.functions.identity.encode())
    if problem.potential in OWN:
        hashed.update(OWN[problem.potential].identity.encode())
    if problem.evolving:
        hashed.update(repr((problem.drift, problem.windows)).encode())
    return hashed.hexdigest()[:16]


def _freeze(holder: Any, *names: str) -> None:
    """Replace each array that can be written to, or that is a view of another, by a read-only copy."""
    for name in names:
        array = getattr(holder, name)
        if array.flags.writeable or array.base is not None:
            array = array.copy()
            array.flags.writeable = False
            object.__setattr__(holder, name, array)


def _same(one: Array, other: Array) -> bool:
    """Whether both hold the same bits."""
    if one is other or one.dtype == object or (one.shape, one.dtype) != (other.shape, other.dtype):
        return one is other
    return one.tobytes() == other.tobytes()


def _least_of_quadratic(problem: Problem) -> float | None:
    matrix, vector, constant = _quadratic_form(problem.past, problem.p.astype(np.float64), problem.dimension)
    values, directions = np.linalg.eigh(matrix)
    along = directions.T @ vector
    scale = max(abs(values).max(), 1e-300)
    flat = values <= 1e-12 * scale
    if (values < -1e-12 * scale).any() or (abs(along[flat]) > 1e-12 * max(abs(vector).max(), 1e-300)).any():
        return None
    return float(constant - 0.5 * (along[~flat] ** 2 / values[~flat]).sum())


def _quadratic_form(part: Components, p: Array, d: int) -> tuple[Array, Array, float]:
    """f(x) = x^T A x / 2 + b.x + c."""
    A, b, c = np.zeros((d, d)), np.zeros(d), 0.0
    for i, count in enumerate(part.counts.tolist()):
        first, stop = part.client_start[i : i + 2]
        span = slice(part.row_start[first], part.row_start[stop])
        rows, shifts, weights = part.rows[span], part.shifts[span], part.weights[span] * (p[i] / count)
        A += (rows.T * weights) @ rows
        b -= rows.T @ (weights * shifts)
        c += float((weights * shifts**2).sum()) / 2
        if len(part.offsets):
            b += p[i] / count * part.offsets[first:stop].sum(axis=0)
    return A, b, c
