"""Metrics of a matrix of accuracies: the two of Sec. 7, and other common ones.

Accuracies are in percent, as the paper prints them. a[s, j] is the accuracy on task j after task s was learned, both
counted from 0; NaN where it was not measured. Nothing is averaged over fewer numbers than its definition names: a
metric that needs a NaN is None, and so is one that has nothing to average, such as the forgetting of a single task.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from cflag_theory.errors import InvalidInput
from cflag_theory.public import one_of, taking

Floats = npt.NDArray[np.float64]
#: Names of forgetting, with what each means.
FORGETTING = {
    "paper": "mean over i < S of a[i, i] - a[S, i] (Sec. 7)",
    "from-best": "mean over i < S of max over s = i, ..., S - 1 of a[s, i] - a[S, i] (Chaudhry et al., 2018)",
    "positive": "mean over i < S of max(0, a[i, i] - a[S, i]): gains on one task do not hide losses on another",
}


@dataclass(frozen=True)
class Metrics:
    """Every metric of one accuracy matrix, in percent; None where it is not defined or not measured."""

    #: Mean of the last row: "Acc" of Sec. 7.
    average_accuracy: float | None
    #: "Fgt" of Sec. 7, `FORGETTING`'s "paper".
    forgetting: float | None
    #: The other two of `FORGETTING`.
    forgetting_from_best: float | None
    forgetting_positive: float | None
    #: Lopez-Paz and Ranzato (2017): minus the paper's forgetting.
    backward_transfer: float | None
    #: Lopez-Paz and Ranzato (2017): mean over j > 0 of a[j - 1, j] - (accuracy on task j before any task).
    forward_transfer: float | None
    #: Mean of the diagonal: how well each task was learned when it was its turn.
    learning_accuracy: float | None
    #: Mean of `accuracy_by_task`.
    incremental_accuracy: float | None
    #: After each task the mean over the tasks learned so far: the curve of Figure 2.
    accuracy_by_task: tuple[float | None, ...]
    #: After each task the paper's forgetting of those before it; None after the first.
    forgetting_by_task: tuple[float | None, ...]
    #: a[i, i] - a[S, i] of every task but the last.
    forgetting_of_task: tuple[float | None, ...]

    def to_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


def metrics(accuracy: npt.ArrayLike, *, before: npt.ArrayLike | None = None) -> Metrics:
    """Every metric of an accuracy matrix (S, S): percent on task j after task s; NaN or None where it was not measured.
    `before` (S,) is the accuracy on every task before any was learned, which forward transfer needs, as it does that of
    unseen tasks.
    """
    a = as_accuracy(accuracy)
    tasks = len(a)
    by_task = [_mean(a[s, : s + 1]) for s in range(tasks)]
    of_task = np.diagonal(a)[:-1] - a[-1, :-1]
    paper = forgetting(a)
    return Metrics(
        average_accuracy=by_task[-1],
        forgetting=paper,
        forgetting_from_best=forgetting(a, definition="from-best"),
        forgetting_positive=forgetting(a, definition="positive"),
        # Not -0.0 for a run that forgets nothing.
        backward_transfer=None if paper is None else 0.0 - paper,
        forward_transfer=None if before is None else forward_transfer(a, before),
        learning_accuracy=_mean(np.diagonal(a)),
        incremental_accuracy=None if None in by_task else _mean(np.array(by_task, dtype=np.float64)),
        accuracy_by_task=tuple(by_task),
        forgetting_by_task=tuple(forgetting(a[: s + 1, : s + 1]) for s in range(tasks)),
        forgetting_of_task=tuple(None if math.isnan(value) else float(value) for value in of_task),
    )


@taking
def forgetting(accuracy: npt.ArrayLike, *, definition: Annotated[str, one_of(*FORGETTING)] = "paper") -> float | None:
    """Average forgetting in percentage points after the last task; positive is a loss.

    Parameters
    ----------
    accuracy : (S, S)
        As in `metrics`.
    definition : str
        One of `FORGETTING`.

    Raises
    ------
    UnknownName
        No such definition.
    InvalidInput
        As in `metrics`.
    """
    a = as_accuracy(accuracy)
    last = len(a) - 1
    if definition == "from-best":
        # A task that has not been learned yet cannot be forgotten, so its rows begin with its own.
        peaks = np.array([a[i:last, i].max() for i in range(last)])
        return _mean(peaks - a[last, :last])
    lost = np.diagonal(a)[:last] - a[last, :last]
    return _mean(np.maximum(lost, 0.0) if definition == "positive" else lost)


def forward_transfer(accuracy: npt.ArrayLike, before: npt.ArrayLike) -> float | None:
    """Lopez-Paz and Ranzato's forward transfer: what earlier tasks did for a task before it was learned. Arguments as
    in `metrics`; of the matrix it takes the entries right above the diagonal, and is None where one was not measured.
    """
    a = as_accuracy(accuracy)
    start = np.array(before, dtype=np.float64)
    if start.shape != (len(a),):
        raise InvalidInput(f"accuracies before any task have shape {start.shape}: give one for each of {len(a)} tasks")
    return _mean(np.diagonal(a, offset=1) - start[1:])


def as_accuracy(accuracy: npt.ArrayLike) -> Floats:
    """The matrix as float64, checked; None becomes NaN."""
    with np.errstate(over="ignore"):
        a = np.array(accuracy, dtype=np.float64)
    if a.ndim != 2 or a.shape[0] != a.shape[1] or not len(a):
        raise InvalidInput(f"an accuracy matrix has shape {a.shape}: give a row and a column for every task")
    wrong = a[(a < 0) | (a > 100)]
    if len(wrong):
        raise InvalidInput(f"an accuracy of {wrong[0]:g} is outside of [0, 100]: give percent")
    return a


def _mean(values: Floats | Sequence[float]) -> float | None:
    """None for none at all, and where one is missing."""
    chosen = np.asarray(values, dtype=np.float64)
    if not len(chosen) or np.isnan(chosen).any():
        return None
    return float(chosen.mean())
