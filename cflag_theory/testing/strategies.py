"""Hypothesis strategies: small exact finite sums, memories, step sizes inside and outside a range, draws.

All shrink to few clients, few components and small fractions.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from cflag_theory.claims.engine import notation
from cflag_theory.claims.engine.points import holds_at
from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.kernels import Memory, Problem, everything, rotation_bias, sign_bias, uniform
from cflag_theory.kernels.problems.quadratic import quadratic
from cflag_theory.studies.stepsize.conditions import RELATIONS

STRONGLY_CONVEX, CONVEX, NON_CONVEX = CONVEXITIES = ("strongly convex", "convex", "non-convex")
#: An exact rotation of the plane, so that matrices are full and keep their eigenvalues.
_TURN = np.array([[Fraction(3, 5), Fraction(4, 5)], [Fraction(-4, 5), Fraction(3, 5)]], dtype=object)


def _fractions(low: Fraction, high: Fraction) -> st.SearchStrategy[Fraction]:
    return st.fractions(min_value=low, max_value=high, max_denominator=4)


@st.composite
def problems(
    draw: st.DrawFn,
    *,
    convexity: str = NON_CONVEX,
    L: Fraction | int = 1,
    mu: Fraction | int = Fraction(1, 4),
    clients: int = 3,
    components: int = 3,
    dimension: int = 2,
) -> Problem:
    """Exact quadratic finite sums: every component is L-smooth, and all f_i and g_i are as `convexity` says.

    Parameters
    ----------
    convexity : str
        "strongly convex" (eigenvalues in [mu, L]), "convex" (in [0, L]) or "non-convex" (in [-L, L], with a component
        of the current task that has a negative one).
    L, mu : Fraction or int
        0 < mu <= L.
    clients, components, dimension : int
        At most so many clients, components of a client in each task, and 1 or 2 dimensions.

    Returns
    -------
    Problem
        With Fractions, for engine="reference"; constants "L" and "L_component" are bounds that exact arithmetic
        certified.
    """
    if convexity not in CONVEXITIES:
        raise InvalidInput(f"convexity is {convexity!r}: use one of {', '.join(CONVEXITIES)}")
    if not 0 < mu <= L:
        raise InvalidInput(f"mu is {mu} and L is {L}: use 0 < mu <= L")
    if dimension not in (1, 2):
        raise InvalidInput(f"dimension is {dimension!r}: use 1 or 2")
    low = {STRONGLY_CONVEX: Fraction(mu), CONVEX: Fraction(0), NON_CONVEX: -Fraction(L)}[convexity]
    top = Fraction(L)
    count = draw(st.integers(1, clients))
    size = draw(st.integers(1, dimension))
    tasks: list[Any] = []
    for task in range(2):
        matrices, vectors, owners = [], [], []
        for i in range(count):
            for j in range(draw(st.integers(1, components))):
                spectrum = [low + (top - low) * draw(_fractions(Fraction(0), Fraction(1))) for _ in range(size)]
                if low == 0 and (task, i, j) == (0, 0, 0):
                    # A problem without any curvature has no L.
                    spectrum[0] = top * draw(_fractions(Fraction(1, 4), Fraction(1)))
                if convexity == NON_CONVEX and task == 1 and (i, j) == (0, 0):
                    spectrum[0] = -top * draw(_fractions(Fraction(1, 4), Fraction(1)))
                matrix = np.diag(np.array(spectrum, dtype=object))
                if size == 2 and draw(st.booleans()):
                    matrix = _TURN.T @ matrix @ _TURN
                matrices.append(matrix)
                vectors.append([draw(_fractions(Fraction(-2), Fraction(2))) for _ in range(size)])
                owners.append(i)
        tasks += [np.array(matrices, dtype=object), np.array(vectors, dtype=object), owners]
    start = [draw(_fractions(Fraction(-2), Fraction(2))) for _ in range(size)]
    return quadratic(*tasks, L=top, p=np.array(draw(client_weights(count))), start=np.array(start))


def client_weights(clients: int) -> st.SearchStrategy[list[Fraction]]:
    """Positive weights p_i of sum 1; equal ones first."""
    shares = st.lists(st.integers(1, 4), min_size=clients, max_size=clients)
    return shares.map(lambda found: [Fraction(one, sum(found)) for one in found])


def memories(problem: Problem, *, m: float = 1.0, exact: bool = True) -> st.SearchStrategy[Memory]:
    """Memories for a problem: all of the past, some components, and a bias with ||b||^2 = m' ||grad f||^2, m' <= m.

    With `exact` only those that keep fractions.
    """
    fewest = int(problem.past.counts.min())
    kept: list[st.SearchStrategy[Memory]] = [
        st.just(everything()),
        st.builds(uniform, st.integers(1, fewest), redraw=st.booleans()),
    ]
    squares = [Fraction(n * n, 16) for n in range(1, 17) if n * n <= 16 * m]
    if squares:
        kept.append(st.sampled_from(squares).map(lambda one: sign_bias(m=one if exact else float(one))))
    if not exact:
        kept.append(st.floats(0, m).map(lambda one: rotation_bias(m=one)))
    return st.one_of(kept)


def sample_orders(problem: Problem, *, rounds: int, local_steps: int) -> st.SearchStrategy[Any]:
    """The sample of every local step, as `simulate(orders=...)` takes them: shape (rounds, N, E)."""
    of_client = [
        st.lists(st.integers(0, int(count) - 1), min_size=local_steps, max_size=local_steps)
        for count in problem.current.counts
    ]
    one = st.tuples(*of_client)
    return st.lists(one, min_size=rounds, max_size=rounds).map(lambda found: np.array(found, dtype=np.int64))


def participation(clients: int, rounds: int) -> st.SearchStrategy[list[list[int]]]:
    """The clients that take part in each round: at least one, in increasing order."""
    one = st.sets(st.integers(0, clients - 1), min_size=1).map(sorted)
    return st.lists(one, min_size=rounds, max_size=rounds)


@st.composite
def step_sizes(
    draw: st.DrawFn, condition: str, *, L: Any = 1, m: Any = 0, E: int = 1, inside: bool = True
) -> tuple[Fraction, Fraction]:
    """(alpha, beta) that satisfy a condition of `cflag stepsize`, or with inside=False violate it.

    Parameters
    ----------
    condition : str
        Its name, such as "alpha < 2/(L(1+m))" or "alpha <= 1/L": one of `cflag_theory.studies` RELATIONS.
    L, m : number
    E : int
    """
    return draw(st.sampled_from(_step_sizes(condition, L, m, E, inside)))


@cache
def _step_sizes(condition: str, L: Any, m: Any, E: int, inside: bool) -> list[tuple[Fraction, Fraction]]:
    """Those of the grid, for every draw."""
    relation = RELATIONS.get(condition)
    values = {notation.L: L, notation.m: m, notation.E: E}
    known = {*values, notation.alpha, notation.beta}
    if relation is None or not relation.free_symbols <= known:
        names = [name for name, one in RELATIONS.items() if one.free_symbols <= known and one.op != "=="]
        raise UnknownName(f"step_sizes knows no condition {condition!r}: use one of {'; '.join(names)}")
    grid = [Fraction(share) / (Fraction(L) * E) for share in _SHARES]
    named = (values | {notation.alpha: a, notation.beta: b} for a in grid for b in grid)
    fit = [(at[notation.alpha], at[notation.beta]) for at in named if holds_at(relation, at) == inside]
    if not fit:
        how = "meet" if inside else "miss"
        raise InvalidInput(f"no step sizes of the grid {how} {condition}: it fixes them, or holds everywhere")
    return fit


#: Of 1/(L E); near enough to the ends of the papers' ranges, and far beyond.
_SHARES = ("1/64", "1/60", "1/30", "1/12", "1/8", "1/4", "1/2", "1", "3/2", "2", "5/2", "4", "8", "20")
