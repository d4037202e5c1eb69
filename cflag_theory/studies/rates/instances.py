"""Problems on which a rate, a floor or a divergence is known in closed form, to compare runs with.

The ledger proves and refutes with exact instances; these are the same instances as runs of the simulator on floats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from cflag_theory.claims.c_flag.past_task.ours import rates as ours
from cflag_theory.claims.c_flag.past_task.runs import T as T_symbol
from cflag_theory.claims.engine.notation import E as E_symbol
from cflag_theory.claims.engine.notation import alpha as alpha_symbol
from cflag_theory.claims.ledger import LEDGER
from cflag_theory.errors import UnknownName
from cflag_theory.kernels import Memory, Problem, everything, sign_bias, uniform
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.problems.by_name import quadratic
from cflag_theory.studies.rates.bounds import Bound, evaluate
from cflag_theory.studies.rates.past_task import HORIZONS, ClosedForm, Rate, rate


@dataclass(frozen=True)
class Instance:
    """A problem with its step sizes and the closed form of 𝔼 ||grad f(x_t)||^2."""

    #: The claim of the ledger that it illustrates.
    claim: str
    #: The problem, and what happens on it.
    words: str
    problem: Callable[[], Problem]
    c: float
    #: (t, alpha, beta, E) -> 𝔼 ||grad f(x_t)||^2 over the draws of the memory, for t of shape (T,).
    squares: Callable[[Array, float, float, int], Array]
    memory: Memory = field(default_factory=everything)
    #: The constant of (27), in closed form too.
    m: float = 0.0
    local_steps: int = 1
    power: float = 0.5
    alpha_factor: float = 1.0


def instance_rate(
    name: str,
    *,
    horizons: Sequence[int] = HORIZONS,
    replicas: int = 32,
    seed: int = 0,
    mode: str = "bitwise",
    store: Path | None = None,
    progress: Callable[[int], None] | None = None,
) -> Rate:
    """The rate study of one of `INSTANCES`, with its closed form in `Rate.exact`.

    Parameters are those of `rate`; the instance fixes the others.

    Raises
    ------
    UnknownName
        No such instance.
    InvalidInput
        As `rate` does.
    """
    if name not in INSTANCES:
        raise UnknownName(f"instance {name!r} is unknown: use one of {', '.join(INSTANCES)}")
    one = INSTANCES[name]
    study = rate(
        replace(one.problem(), name=name),
        one.memory,
        horizons=horizons,
        replicas=replicas,
        local_steps=one.local_steps,
        c=one.c,
        power=one.power,
        alpha_factor=one.alpha_factor,
        m=one.m,
        seed=seed,
        mode=mode,
        store=store,
        progress=progress,
    )
    # A run that diverges passes the largest float long before T.
    with np.errstate(over="ignore"):
        found = [
            one.squares(np.arange(T), study.alpha, one.c / T**one.power, one.local_steps).astype(np.float64)
            for T in study.horizons
        ]
        means = [float(values.mean()) for values in found]
    exact = ClosedForm(
        name=name,
        claim=one.claim,
        words=one.words,
        least=tuple(float(values.min()) for values in found),
        mean=tuple(value if np.isfinite(value) else None for value in means),
    )
    below = _from_below(study) if one.claim == "ours.drawn_once_rate" else ()
    return replace(study, exact=exact, bounds=(*study.bounds, *below))


def _from_below(study: Rate) -> tuple[Bound]:
    """The claim that 1/T cannot be improved, on its own instance."""
    relation = LEDGER["ours.drawn_once_rate"]().parts[0].printed.relation
    assert relation is not None
    known = {ours.c: study.c, E_symbol: float(study.E), alpha_symbol: study.alpha}
    values = tuple(evaluate(relation.left, known | {T_symbol: float(T)}) for T in study.horizons)
    why = "no ||grad f(x_t)||^2 of this instance is smaller, whatever t"
    return (Bound("ours.drawn_once_rate", "f", "below", True, values, why),)


def _quadratic(
    past: Sequence[Sequence[tuple[Sequence[float], Sequence[float]]]],
    current: Sequence[Sequence[tuple[Sequence[float], Sequence[float]]]],
    start: Sequence[float],
) -> Problem:
    """For each client its components sum_j a_j x_j^2 / 2 - b_j x_j, each as (a, b)."""
    arrays: list[Array] = []
    for task in (past, current):
        flat = [(i, a, b) for i, components in enumerate(task) for a, b in components]
        matrices, vectors = np.array([np.diag(a) for _, a, _ in flat]), np.array([b for _, _, b in flat])
        arrays += [matrices.astype(np.float64), vectors.astype(np.float64), np.array([i for i, _, _ in flat])]
    return quadratic(*arrays, start=np.array(start, dtype=np.float64))


def _line(past: Sequence[tuple[float, float]], current: Sequence[tuple[float, float]], start: float = 1.0) -> Problem:
    """One client on the line."""
    return _quadratic([[((a,), (b,)) for a, b in past]], [[((a,), (b,)) for a, b in current]], [start])


def _towards(rest: float, factor: float, t: Array, start: float = 1.0) -> Array:
    """x_t of x <- rest + factor (x - rest)."""
    return np.asarray(rest + factor**t * (start - rest))


def _pushed(t: Array, alpha: float, beta: float, E: int) -> Array:
    """f = x^2/2 and g = -x: every delayed gradient is -1."""
    return _towards(beta * E / alpha, 1 - alpha, t) ** 2


def _met(t: Array, alpha: float, beta: float, E: int) -> Array:
    """f = x^2/2 and g = (x - 1)^2/2, E = 1."""
    return _towards(beta / (alpha + beta), 1 - alpha - beta, t) ** 2


def _cancelled(t: Array, alpha: float, beta: float, E: int) -> Array:
    """The mean of the four memories (s_1 f_1, s_2 f_2) with s_i = 1/2 or 3/2, of f = x_1^2/6 + x_2^2/2."""
    squares = np.zeros(len(t))
    for first in (0.5, 1.5):
        for second in (0.5, 1.5):
            x_1 = _towards(0.0, 1 - alpha * (first - second / 3) / 2, t)
            pull = alpha * (first + second) / 2 + beta
            x_2 = _towards(2 * beta / pull, 1 - pull, t, start=0.0)
            squares += ((x_1 / 3) ** 2 + x_2**2) / 4
    return squares


def _fresh(t: Array, alpha: float, beta: float, E: int) -> Array:
    """f = x^2/2, g = -x and b = +-grad f with a fresh sign: x_{t+1} is x_t + beta E or (1 - 2 alpha) x_t + beta E."""
    push = beta * E
    # With m = 1 the moments m_t = E x_t and s_t = E x_t^2 have this recursion.
    mean, square = 1.0, 1.0
    squares = np.empty(len(t))
    for k in range(len(t)):
        squares[k] = square
        square = ((1 - alpha) ** 2 + alpha**2) * square + 2 * push * (1 - alpha) * mean + push**2
        mean = (1 - alpha) * mean + push
    return squares


def _oscillating(t: Array, alpha: float, beta: float, E: int) -> Array:
    """f = g = x^2/2, memory (3/2) x^2/2 or (1/2) x^2/2, E = 1."""
    return np.asarray((_towards(0.0, 1 - 1.5 * alpha - beta, t) ** 2 + _towards(0.0, 1 - alpha / 2 - beta, t) ** 2) / 2)


def _cancelling() -> Problem:
    third = -1 / 3
    return _quadratic(
        [
            [((1.5, 1.5), (0, 0)), ((0.5, 0.5), (0, 0))],
            [((1.5 * third, 1.5), (0, 0)), ((0.5 * third, 0.5), (0, 0))],
        ],
        [[((0, 1), (0, 2))], [((0, 1), (0, 2))]],
        [1.0, 0.0],
    )


#: Name -> instance.
INSTANCES = MappingProxyType(
    {
        "one-over-T": Instance(
            claim="ours.drawn_once_rate",
            words="f = x^2/2, g = -x, memory of everything: min ||grad f||^2 = (c E / alpha)^2 / T exactly",
            problem=lambda: _line([(1, 0)], [(0, 1)]),
            local_steps=4,
            c=0.05,
            squares=_pushed,
        ),
        "floor-m": Instance(
            claim="cflag.thm5",
            words="two clients whose memories cancel grad f along x_1 in one draw of four, m = 1: "
            "𝔼 ||grad f||^2 >= 1/36 forever",
            problem=_cancelling,
            memory=uniform(1),
            m=1.0,
            c=0.25,
            squares=_cancelled,
        ),
        "floor-beta": Instance(
            claim="cflag.lemma18",
            words="f = x^2/2, g = -x, beta = 1/(60 L E) for every T: the floor (beta E / alpha)^2 stays",
            problem=lambda: _line([(1, 0)], [(0, 1)]),
            local_steps=4,
            c=1 / 240,
            power=0.0,
            alpha_factor=0.5,
            squares=_pushed,
        ),
        "no-assumption-3": Instance(
            claim="cflag.assumption3",
            words="f = x^2/2, g = (x - 1)^2/2, x_0 = 1 where grad g vanishes and grad f_memory does not: no r of "
            "Assumption 3 exists, and the rate is still 1/T",
            problem=lambda: _line([(1, 0)], [(1, 1)]),
            c=0.5,
            alpha_factor=0.5,
            squares=_met,
        ),
        "redrawn": Instance(
            claim="ours.redrawn",
            words="f = x^2/2, g = -x, b = +-grad f with a fresh sign every round, m = 1: the rate is 1/T",
            problem=lambda: _line([(1, 0)], [(0, 1)]),
            memory=sign_bias(m=1.0, redraw=True),
            m=1.0,
            c=1 / 3,
            squares=_fresh,
        ),
        "alpha-diverges": Instance(
            claim="cflag.lemma4",
            words="f = g = x^2/2, memory (3/2) f or (1/2) f, m = 1/4, alpha = 3/2 < 2/(L (1 + m)): one draw in two "
            "oscillates and diverges",
            problem=lambda: _line([(1.5, 0), (0.5, 0)], [(1, 0)]),
            memory=uniform(1),
            m=0.25,
            c=1 / 3,
            alpha_factor=1.875,
            squares=_oscillating,
        ),
    }
)
