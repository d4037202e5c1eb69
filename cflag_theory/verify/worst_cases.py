"""Exact worst cases of small instances beside the paper's bounds and the closed forms of `instances.recursions`."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from cflag_theory.claims.engine.claim import Claim
from cflag_theory.verify.instances.orders import up_to_relabelling
from cflag_theory.verify.instances.recursions import local_worst
from cflag_theory.verify.verdict import SUPPORTS, UNDECIDED, Evidence
from cflag_theory.worstcase.local_steps import DRIFT, ERROR, ERRORS, GRADIENTS, solve_local_steps
from cflag_theory.worstcase.solving import Unsolved

_QUARTER, _TWELFTH = Fraction(1, 4), Fraction(1, 12)
_N, _E = 2, 3
# (statement of part 1, quantity, beta L E, bound): the largest step sizes that the lemmas allow; Lemma 12 allows all,
# and bounds by the drift before k, which is beta here.
_ROWS = {
    "cflag.lemma12": ("printed", ERROR, _QUARTER, _QUARTER * (1 + 3 * _QUARTER / _E)),
    "cflag.lemma13": ("printed", DRIFT, _QUARTER, Fraction(4 * (_E - 1))),
    "cflag.cor14": ("printed", ERROR, _TWELFTH, 2 * _TWELFTH),
    "cflag.lemma15_1": ("repair", GRADIENTS, _QUARTER, (4 * _QUARTER + 1) * _E),
    "cflag.lemma16": ("repair", ERRORS, _TWELFTH, 2 * _TWELFTH * _E),
}
#: By how much a proved bound may exceed the closed form, relatively.
_NEAR = Fraction(1, 10**5)


def worst_case_evidence(subject: Claim) -> tuple[Evidence, ...]:
    """Evidence of kind "worst-case" on Lemmas 12, 13, 15 (I), 16 and Corollary 14: all orders of n = 2, E = 3.

    A second witness, from which no verdict follows: it supports, or is undecided where a comparison fails or the solver
    gives no answer. There is none for other claims.
    """
    if subject.id not in _ROWS:
        return ()
    on, quantity, u, bound = _ROWS[subject.id]
    words = f"n = {_N}, E = {_E}, beta L E = {u}"
    compared: list[dict[str, Any]] = []
    faults: list[str] = []
    for order in up_to_relabelling(_N, _E):
        worst = local_worst(order, n=_N, step=u / _E)
        # Lemma 12 reckons with the drift before; as much of it as there can be.
        limit = worst.drift[_E - 2] if subject.id == "cflag.lemma12" else None
        closed = {
            DRIFT: worst.drift[_E - 1] / worst.step,
            ERROR: worst.error[_E - 1],
            GRADIENTS: worst.gradient_sum,
            ERRORS: worst.error_sum,
        }[quantity]
        try:
            found = solve_local_steps(order, n=_N, u=u, quantity=quantity, drift_limit=limit)
        except Unsolved as error:
            summary = f"The worst case for {words} has not been found: {error}."
            return (Evidence("worst-case", "1", on, UNDECIDED, summary),)
        if found.square > bound**2:
            faults.append(f"The bound {float(bound):.9g} is below {found.value:.9g} for the order {order}.")
        if found.square < closed**2 or found.square > (closed * (1 + _NEAR)) ** 2:
            faults.append(f"The closed form {float(closed):.9g} is not {found.value:.9g} for the order {order}.")
        compared.append(
            {"order": list(order), "square": str(found.square), "value": found.value, "closed": str(closed)}
        )
    ratio = max(one["value"] for one in compared) / float(bound)
    summary = (
        f"Proved in fractions, the exact worst case for {words} is at most {ratio:.6f} of the bound, over all "
        f"{len(compared)} orders up to names."
    )
    data = {"ratio": ratio, "above": str(bound), "solved": compared}
    return (Evidence("worst-case", "1", on, UNDECIDED if faults else SUPPORTS, " ".join((summary, *faults)), data),)
