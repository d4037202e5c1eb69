"""What a run of the CFL framework (Algorithm 2) reads besides a plain run: its arguments checked, as numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.algorithms import CORE_SET, EXACT, HERDING, NO_PAST, TAYLOR, Algorithm
from cflag_theory.kernels.cfl.drifts import NUMBERS, SIGNS, Drift
from cflag_theory.kernels.cfl.round_weights import RoundWeights
from cflag_theory.kernels.cfl.windows import Windows, longest
from cflag_theory.kernels.exact import Fraction
from cflag_theory.kernels.numbers import CORES, Array
from cflag_theory.kernels.problems.problem import Problem
from cflag_theory.kernels.problems.validation import run_number

#: Bytes that the remembered rounds of all replicas in flight may take.
LARGEST = 1 << 31


@dataclass(frozen=True, eq=False)
class Framework:
    """A checked plan of local objectives

        sum_j c_j q_j(x) + <u, x> + (x - x_t)^T W (x - x_t) / 2

    that change from round to round; all numbers are floats, or all are `Fraction`.
    """

    #: As in the problem; no drift and all components where it has none.
    drift: Drift
    windows: Windows
    #: (rounds, slots + 1): Row n holds the weights of a client that took part in n rounds before: those of the min(n,
    #: slots) rounds that it keeps, oldest first, then that of the current one.
    weights: Array
    #: Past rounds that are kept.
    slots: int
    #: Components that are kept of a past round.
    kept: int
    #: The largest number of components in a window.
    longest: int
    #: I, and whether it is the same in every coordinate instead of drawn.
    information_loss: Any
    constant_loss: bool
    #: gamma, and S.
    momentum: Any
    participants: int


def is_plain(problem: Problem, row: Algorithm, participants: int) -> bool:
    """Whether a run needs nothing of the framework."""
    return row.classic and not problem.evolving and participants == problem.clients


def framework(
    problem: Problem, row: Algorithm, *, rounds: int, participants: int, replicas: int, meter: bool
) -> Framework | None:
    """The framework's part of a plan, None for a plain run; `meter` asks for the column information_loss."""
    if is_plain(problem, row, participants):
        return None
    if row.tracks:
        why = "has local data that change" if problem.evolving else f"hears {participants} of {problem.clients} clients"
        raise InvalidInput(
            f"algorithm {row.name!r} needs all clients on fixed local data and the run {why}: "
            "use fedavg, fedprox, scaffold, mimelite or cfl"
        )
    if participants != problem.clients and (problem.p <= 0).any():
        raise InvalidInput(f"a client of {problem.name!r} has weight 0: give it a positive one, or let all take part")
    # The sign law draws its zeros in rational numbers, and fast.
    drift, windows, exact = problem.drift or Drift(law=SIGNS), problem.windows or Windows(), problem.exact
    slots = 0 if row.past == NO_PAST else rounds - 1
    chosen = row.weights if row.window is None else replace(row.weights, window=row.window)
    if chosen.window is not None:
        slots = min(slots, chosen.window)
    widest = longest(windows, problem.current.counts)
    kept = {EXACT: widest, CORE_SET: row.core_set, HERDING: row.core_set}.get(row.past, 0)
    if row.past != HERDING:
        kept = min(kept, widest)

    d = problem.dimension
    numbers = d + (d * d if row.past == TAYLOR else d) + kept + (d + widest if meter else 0)
    held = slots * problem.clients * numbers * min(replicas, CORES) + rounds * (slots + 1)
    if 8 * held > LARGEST:
        raise InvalidInput(
            f"{slots} past rounds of {problem.clients} clients take {8 * held / 2**30:.0f} GiB: keep fewer by window="
        )
    return Framework(
        drift=replace(drift, **{name: run_number(name, getattr(drift, name), exact) for name in NUMBERS}),
        windows=windows,
        weights=_weights(chosen, rounds, slots, exact) if slots else _ones(rounds, exact),
        slots=slots,
        kept=kept,
        longest=widest,
        information_loss=run_number("information_loss", row.information_loss, exact),
        constant_loss=exact or (problem.drift is not None and drift.law == SIGNS),
        momentum=run_number("momentum", row.momentum, exact),
        participants=participants,
    )


def _weights(chosen: RoundWeights, rounds: int, slots: int, exact: bool) -> Array:
    if exact and not chosen.exact:
        raise InvalidInput("round weights hold floats in an exact run: pass integers or fractions")
    if not exact:
        # Fractions would be turned into floats one by one.
        dials: dict[str, Any] = {name: float(getattr(chosen, name)) for name in ("D2", "R2", "F2", "alpha")}
        chosen = replace(chosen, **dials)
    out = _zeros((rounds, slots + 1), exact)
    for n in range(rounds):
        kept = min(n, slots)
        out[n, : kept + 1] = chosen.at(n + 1)[n - kept :]
    return out


def _ones(rounds: int, exact: bool) -> Array:
    return _zeros((rounds, 1), exact) + 1


def _zeros(shape: tuple[int, ...], exact: bool) -> Array:
    return np.full(shape, Fraction(0), dtype=object) if exact else np.zeros(shape)
