"""Performance estimation: exact worst cases by semidefinite programming, with upper and lower bounds.

`solve_local_steps`, `solve_round` and `solve_algorithm` pose the problems, `sandwich` compares an answer with the
paper's bound, the closed form and an instance. All need the optional extra `pep`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from cflag_theory.claims.engine.claim import Claim
from cflag_theory.errors import InvalidInput, MissingExtra
from cflag_theory.kernels.numbers import Ints
from cflag_theory.verify.instances.recursions import local_worst
from cflag_theory.verify.performance.algorithms import solve_algorithm
from cflag_theory.verify.performance.local import DRIFT, ERROR, ERRORS, GRADIENTS, solve_local_steps
from cflag_theory.verify.performance.model import load
from cflag_theory.verify.performance.results import Bound, Sandwich, WorstCase, sandwich
from cflag_theory.verify.performance.round import solve_round
from cflag_theory.verify.performance.rounds import orders_up_to_relabelling
from cflag_theory.verify.performance.solution import Inaccurate, Unbounded, Unsolved
from cflag_theory.verify.verdict import SUPPORTS, UNDECIDED, Evidence

__all__ = [
    "Bound",
    "Inaccurate",
    "Sandwich",
    "Unbounded",
    "Unsolved",
    "WorstCase",
    "orders_up_to_relabelling",
    "sandwich",
    "solve_algorithm",
    "solve_local_steps",
    "solve_round",
    "worst_case_evidence",
    "worst_order",
]


def worst_order(solve: Callable[..., WorstCase], orders: Iterable[Ints], **numbers: Any) -> WorstCase:
    """The worst case over sample orders: that of the first order with the largest value.

    Parameters
    ----------
    solve : callable
        One of the solvers; called with each order and `numbers`.
    orders : iterable of arrays
        Such as `orders_up_to_relabelling` gives.
    **numbers
        Handed to `solve`.
    """
    worst = None
    for order in orders:
        found = solve(order=order, **numbers)
        if worst is None or found.value > worst.value:
            worst = found
    if worst is None:
        raise InvalidInput("there are no orders: give at least one")
    return worst


_QUARTER, _TWELFTH = Fraction(1, 4), Fraction(1, 12)
# (statement of part 1, quantity, beta L E): the largest step sizes that the lemmas allow; Lemma 12 allows all.
_ROWS = {
    "cflag.lemma12": ("printed", ERROR, _QUARTER),
    "cflag.lemma13": ("printed", DRIFT, _QUARTER),
    "cflag.cor14": ("printed", ERROR, _TWELFTH),
    "cflag.lemma15_1": ("repair", GRADIENTS, _QUARTER),
    "cflag.lemma16": ("repair", ERRORS, _TWELFTH),
}
_N, _E = 2, 3


def worst_case_evidence(subject: Claim) -> tuple[Evidence, ...]:
    """Evidence of kind "worst-case" on Lemmas 12, 13, 15 (I), 16 and Corollary 14: all orders of n = 2, E = 3.

    A second witness, from which no verdict follows: it supports, or is undecided where a comparison fails or the
    solver gives no answer. There is none without the extra `pep`, and none for other claims.

    Parameters
    ----------
    subject : Claim
        A claim of the ledger.

    Returns
    -------
    tuple of Evidence
        One finding, or none.
    """
    if subject.id not in _ROWS:
        return ()
    try:
        load()
    except MissingExtra:
        return ()
    on, quantity, step = _ROWS[subject.id]
    words = f"n = {_N}, E = {_E}, beta L E = {step}"
    compared: list[dict[str, Any]] = []
    faults: list[str] = []
    try:
        for order in orders_up_to_relabelling(_N, _E):
            limit = None
            if subject.id == "cflag.lemma12":
                # Lemma 12 reckons with the drift before; as much of it as there can be.
                limit = local_worst([int(j) for j in order[0, 0, 1:]], n=_N, step=step / _E).drift[_E - 2]
            solved = solve_local_steps(n=_N, E=_E, step=step, order=order, quantity=quantity, drift_limit=limit)
            found = sandwich(solved)
            compared.append({**solved.to_json(), **found.to_json()})
            faults += found.faults
    except Unsolved as error:
        summary = f"Performance estimation gave no answer for {words}: {error}."
        return (Evidence("worst-case", "1", on, UNDECIDED, summary),)
    ratio = max(one["worst"] / one["above"] for one in compared)
    summary = (
        f"By performance estimation ({compared[0]['solver']}) the exact worst case for {words} is {ratio:.6f} of the "
        f"bound, over all {len(compared)} orders up to names."
    )
    finding = UNDECIDED if faults else SUPPORTS
    data = {"ratio": ratio, "solved": compared}
    return (Evidence("worst-case", "1", on, finding, " ".join((summary, *faults)), data),)
