"""What the clients remember of the past data: a `Memory` is a row of data, and its draws are counter-based.

The drawing functions are plain Python on integers and integer arrays; the compiled loop uses the same text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.draws import MEMORY, SIGN, below, lane, words
from cflag_theory.kernels.numbers import Array, Ints
from cflag_theory.kernels.problems.problem import Problem
from cflag_theory.public import Count, NotNegative, Number, Whole, one_of, quoted, require, require_fields, taking

ALL, SUBSET, BALANCED, SIGN_BIAS, ROTATION, GIVEN = KINDS = ("all", "subset", "balanced", "sign", "rotation", "given")


@dataclass(frozen=True)
class Memory:
    """How grad_f_memory of (6) is computed from the past data; made by the constructors below.

    Attributes
    ----------
    kind : str
        "all" (no bias), "subset", "balanced", "sign", "rotation" or "given".
    size : int
        Components kept per client ("subset", "balanced"); a client with fewer keeps all it has.
    redraw : bool
        Drawn again every round instead of once before the run.
    scale : number
        sqrt(m) of the bias ("sign", "rotation"); a `Fraction` for exact runs.
    angle : float
        Of the common rotation, in radians ("rotation").
    kept : tuple of N tuples of int
        The components of each client, as indices into all past components ("given").
    """

    kind: Annotated[str, one_of(*KINDS)]
    size: Whole = 0
    redraw: bool = False
    scale: NotNegative = 0
    angle: Number = math.pi / 2
    kept: tuple[tuple[int, ...], ...] = ()

    def __post_init__(self) -> None:
        require_fields(self)
        if self.kind in (SUBSET, BALANCED):
            require("size", self.size, Count)
            object.__setattr__(self, "size", int(self.size))
        if (self.kind == GIVEN) != (len(self.kept) > 0):
            raise InvalidInput(f"memory {self.kind!r} with kept = {self.kept}: use given(...), one sequence a client")


def everything() -> Memory:
    """All past components: b = 0."""
    return Memory(ALL)


def uniform(size: Count, *, redraw: bool = False) -> Memory:
    """A uniform subset of `size` past components per client, without replacement: the paper's memory.

    f_i_memory is the plain mean of the kept components.

    Raises
    ------
    InvalidInput
        `size` is not an integer of at least 1.
    """
    return Memory(SUBSET, size=size, redraw=redraw)


def class_balanced(size: Count, *, redraw: bool = False) -> Memory:
    """A subset of `size` past components per client, as equally spread over its classes as they allow.

    Raises
    ------
    InvalidInput
        `size` is not an integer of at least 1.
    """
    return Memory(BALANCED, size=size, redraw=redraw)


@taking
def sign_bias(*, m: NotNegative | None = None, scale: NotNegative | None = None, redraw: bool = False) -> Memory:
    """b = +-sqrt(m) grad f, one common sign: f_memory is a function and ||b||^2 = m ||grad f||^2 everywhere.

    Parameters
    ----------
    m, scale : number
        One of the two, scale = sqrt(m). A `Fraction` m must have a rational root.
    redraw : bool
        A new sign every round.

    Raises
    ------
    InvalidInput
        Both or neither of `m` and `scale`, or a negative or non-finite one.
    """
    return Memory(SIGN_BIAS, scale=_scale(m, scale), redraw=redraw)


@taking
def rotation_bias(
    *, m: NotNegative | None = None, scale: NotNegative | None = None, angle: float = math.pi / 2
) -> Memory:
    """b = sqrt(m) R grad f, R turns coordinate pairs by `angle`: for d >= 2, and no f_memory exists.

    Parameters
    ----------
    m, scale : number
        One of the two, scale = sqrt(m). A `Fraction` m must have a rational root.
    angle : float
        Radians; pi/2 keeps exact runs exact.

    Raises
    ------
    InvalidInput
        Both or neither of `m` and `scale`, or a negative or non-finite value.
    """
    return Memory(ROTATION, scale=_scale(m, scale), angle=angle)


def given(kept: Sequence[ArrayLike]) -> Memory:
    """Exactly these past components, such as the contents of a buffer (`buffers`).

    f_i_memory is their plain mean.

    Parameters
    ----------
    kept : sequence of N integer sequences
        The components of each client, as indices into all past components; at least one a client.

    Raises
    ------
    InvalidInput
        No client, or values that are not integers.
    """
    arrays = [np.asarray(indices) for indices in kept]
    for i, indices in enumerate(arrays):
        if indices.ndim != 1 or indices.dtype.kind not in "iu":
            raise InvalidInput(f"kept[{i}] is {kept[i]!r}: use a sequence of integers")
    return Memory(GIVEN, kept=tuple(tuple(int(j) for j in indices) for indices in arrays))


def check_kept(name: str, problem: Problem, kept: Sequence[ArrayLike]) -> list[Ints]:
    """The kept components of each client as arrays, if they are components of their client and distinct."""
    if len(kept) != problem.clients:
        raise InvalidInput(f"{name} names {len(kept)} clients of {problem.clients}: give each its components")
    arrays = [np.asarray(indices) for indices in kept]
    for i, indices in enumerate(arrays):
        first, end = problem.past.client_start[i : i + 2]
        fits = indices.ndim == 1 and indices.size > 0 and indices.dtype.kind in "iu"
        if not (fits and np.unique(indices).size == indices.size and first <= indices.min() <= indices.max() < end):
            raise InvalidInput(f"{name}[{i}] is {indices}: use distinct integers from {first} to {end - 1}")
    return arrays


def marks(problem: Problem, memory: Memory) -> Ints:
    """1 for the past components that a given memory keeps and 0 for the others, as `draw_subset` reads labels."""
    marked = np.zeros(len(problem.labels), dtype=np.int64)
    marked[np.concatenate(check_kept("kept", problem, memory.kept))] = 1
    return marked


def draw_subset(
    seed: int,
    replica: int,
    client: int,
    round_: int,
    labels: Ints,
    first: int,
    count: int,
    size: int,
    balanced: bool,
    order: Ints,
) -> int:
    """Draw a client's memory: order[:kept] become distinct components of first, ..., first + count - 1.

    Parameters
    ----------
    seed, replica, client, round_ : int
        The counter; `round_` is 0 for a memory that is drawn once.
    labels : (past components,)
        Class of each component, read if `balanced`; and which are kept, if nothing is drawn.
    first, count : int
        The client's components.
    size : int
        How many to keep at most. 0: no draw, those with another label than 0 are kept, in their order.
    balanced : bool
        False: every subset is equally likely. True: every class present gives the same number; classes with
        too few give all and the rest is spread over the others, the remainder over classes chosen at random;
        uniform within a class.
    order : (count or more,)
        Overwritten.

    Returns
    -------
    int
        kept = min(size, count), or how many are labelled.
    """
    if size == 0:
        labelled = 0
        for j in range(first, first + count):
            if labels[j] != 0:
                order[labelled] = j
                labelled += 1
        return labelled
    size = min(size, count)
    for j in range(count):
        order[j] = first + j

    # Components of one class become neighbours; without balance all of them are one class.
    if balanced:
        grouped = 0
        while grouped < count:
            label = labels[order[grouped]]
            for j in range(grouped, count):
                label = min(label, labels[order[j]])
            for j in range(grouped, count):
                if labels[order[j]] == label:
                    order[grouped], order[j] = order[j], order[grouped]
                    grouped += 1

    # Every class gives `level` components or all it has; `left` of the `open_` larger ones give one more.
    level = 0
    left = size
    open_ = 0
    while True:
        open_ = 0
        smallest = count
        start = 0
        while start < count:
            end = count
            if balanced:
                end = start + 1
                while end < count and labels[order[end]] == labels[order[start]]:
                    end += 1
            if end - start > level:
                open_ += 1
                smallest = min(smallest, end - start)
            start = end
        if open_ == 0 or left < open_:
            break
        rise = min(left // open_, smallest - level)
        level += rise
        left -= rise * open_

    kept = 0
    step = 0
    four = words(seed, MEMORY, replica, client, round_, 0)
    start = 0
    while start < count:
        end = count
        if balanced:
            end = start + 1
            while end < count and labels[order[end]] == labels[order[start]]:
                end += 1
        give = min(level, end - start)
        if end - start > level and left > 0:
            if step & 3 == 0:
                four = words(seed, MEMORY, replica, client, round_, step >> 2)
            if below(lane(four, step), open_) < left:
                give += 1
                left -= 1
            step += 1
            open_ -= 1
        for j in range(start, start + give):
            if step & 3 == 0:
                four = words(seed, MEMORY, replica, client, round_, step >> 2)
            chosen = j + below(lane(four, step), end - j)
            step += 1
            drawn = order[chosen]
            order[chosen] = order[j]
            # Positions up to j have been passed, and kept <= j: what stands there is no longer needed.
            order[kept] = drawn
            kept += 1
        start = end
    return kept


def draw_sign(seed: int, replica: int, round_: int) -> int:
    """The common sign of a sign bias, +1 or -1; `round_` is 0 for a sign that is drawn once."""
    return 1 - 2 * (words(seed, SIGN, replica, 0, round_, 0)[0] & 1)


def rotate(vector: Array, angle: float, out: Array) -> None:
    """Write R vector to `out`: coordinate pairs (0, 1), (2, 3), ... turn by `angle`; a last odd one stays."""
    cosine = math.cos(angle)
    sine = math.sin(angle)
    if angle == math.pi / 2:
        # cos(pi/2) is 6e-17 in floating point; integers keep the quarter turn exact on every number type.
        cosine = 0
        sine = 1
    d = len(vector)
    for j in range(0, d - 1, 2):
        x = vector[j]
        y = vector[j + 1]
        out[j] = cosine * x - sine * y
        out[j + 1] = sine * x + cosine * y
    if d % 2 == 1:
        out[d - 1] = vector[d - 1]


def _scale(m: Any, scale: Any) -> Any:
    if (m is None) == (scale is None):
        raise InvalidInput(f"m is {quoted(m)} and scale is {quoted(scale)}: pass one of them (scale = sqrt(m))")
    if m is None:
        return scale if isinstance(scale, (int, Fraction)) else float(scale)
    if not isinstance(m, Fraction):
        return math.sqrt(m)
    root = Fraction(math.isqrt(m.numerator), math.isqrt(m.denominator))
    if root * root != m:
        raise InvalidInput(f"m = {m} has no rational square root: pass scale as a Fraction, or m as a float")
    return root
