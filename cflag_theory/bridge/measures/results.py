"""What a bridge run found, as plain data: in memory, and in the file results.json of its folder."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from cflag_theory.bridge.data.partition import Floats
from cflag_theory.bridge.measures.metrics import as_accuracy
from cflag_theory.bridge.settings.rules import ALL_NAMES
from cflag_theory.bridge.settings.run_settings import run_settings
from cflag_theory.errors import DataError, InvalidInput
from cflag_theory.public import Rule, one_of
from cflag_theory.reading import (
    ANY,
    NUMBER,
    TABLE,
    TRUTH,
    WORD,
    WORDS,
    Each,
    Form,
    Maybe,
    integer,
    numbers,
    read_record,
    unfit,
)

FORMAT = "cflag-theory bridge results 2"
FILE = "results.json"
#: A number a round, or a list of one a client; all rounds have as many.
COLUMN = Rule(
    lambda value: type(value) is list and _are_rounds(value), "a list of numbers, or of lists of them", like="round"
)
_RUN: Form = {
    "method": one_of(*ALL_NAMES),
    "seed": integer(0),
    "mode": Maybe(WORD),
    "options": TABLE,
    "accuracy": [numbers("task")],
    "before": numbers("task"),
    "columns": Each(COLUMN),
    "rounds_done": integer(0),
    "status": one_of("OK", "DIVERGED", "RUNNING"),
    "message": WORD,
    "seconds": NUMBER,
    "gradients": integer(0),
    "communicated": integer(0),
}
_FORM: dict[str, Form] = {"settings": TABLE, "notes": WORDS, "complete": TRUTH, "runs": [_RUN]}


@dataclass(frozen=True, eq=False)
class PartResult:
    """One method with one seed."""

    method: str
    seed: int
    #: The method's own; empty for a method without.
    options: Mapping[str, Any]
    #: (S, S) array: a[s, j] in percent: the accuracy on task j after learning task s, also on tasks that are still to
    #: come; nan where task s was not learned yet.
    accuracy: Floats
    #: Tuple of S floats: The same at the start.
    before: tuple[float, ...]
    #: By round over all tasks, with the names of a Trace (Gamma, Lambda and others), and task, loss, alpha, beta; None
    #: where a value is not defined or was not measured. "ifo_calls" of a task's last round has those of its end.
    columns: Mapping[str, list[Any]]
    #: Rounds over all tasks.
    rounds_done: int
    #: OK, DIVERGED, or RUNNING for a part that was interrupted.
    status: str
    #: Of a part that diverged, in which round.
    message: str
    #: Of all calls that worked on it.
    seconds: float
    #: Samples whose gradient was evaluated, in rounds and at the ends of tasks.
    gradients: int
    #: Numbers that all clients sent and received.
    communicated: int
    #: Files of the folder, one a task.
    traces: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values only; what is not finite becomes None."""
        found: dict[str, Any] = plain(vars(self) | {"accuracy": self.accuracy.tolist()})
        return found | {name: self.options.get(name) for name in ("mode", "adaptive")}


@dataclass(frozen=True, eq=False)
class BridgeResult:
    """What `run_bridge` found."""

    #: Of `RunSettings.to_json`.
    settings: Mapping[str, Any]
    #: By seed, then by method.
    runs: tuple[PartResult, ...]
    #: Whether every method has done all its rounds with every seed, or diverged.
    complete: bool
    #: Versions, device and threads.
    environment: Mapping[str, str]
    #: About the data and their split.
    notes: tuple[str, ...]
    folder: str
    preset: str | None = None
    #: Where parts went on though something was another one (`--resume-anyway`): "what", "was", "is", and "after", the
    #: rounds that parts had done by then.
    changes: tuple[Mapping[str, Any], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values only, as in results.json."""
        found = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "folder"}
        notes = [*self.notes, *map(changed, self.changes)]
        return {"format": FORMAT, **plain(found | {"runs": [part.to_json() for part in self.runs], "notes": notes})}


#: How the sentence on a change begins.
RESUMED = "resumed anyway: "


def changed(change: Mapping[str, Any]) -> str:
    """The sentence on one of `BridgeResult.changes`."""
    after = ", ".join(f"{part} after {rounds} rounds" for part, rounds in change["after"].items())
    return (
        f"{RESUMED}{change['what']} was {change['was']} and became {change['is']} ({after}); last bits are not "
        "those of an unbroken run"
    )


def plain(value: Any) -> Any:
    """Numbers that JSON cannot hold become None, in lists and mappings too."""
    if isinstance(value, Mapping):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def read_results(folder: Path | str) -> dict[str, Any]:
    """What results.json of a folder holds: `BridgeResult.to_json` of its run.

    Raises
    ------
    DataError
        There is none, or it is damaged or of another version.
    """
    path = Path(folder) / FILE
    again = "run again, which writes it anew"
    found = read_record(path, FORMAT, _FORM, what="results", by="cflag bridge", again=again)
    try:
        settings = run_settings(found["settings"])
        if wrong := unfit(found["settings"], dict.fromkeys(settings.to_json(), ANY)):
            raise InvalidInput(f"settings: see {wrong}")
        for run in found["runs"]:
            if as_accuracy(run["accuracy"]).shape != (settings.tasks, settings.tasks):
                raise InvalidInput(f"the accuracies of {run['method']} are not {settings.tasks} x {settings.tasks}")
    except InvalidInput as error:
        raise DataError(f"{path} is damaged ({error}): {again}") from error
    return found


def _are_rounds(column: list[Any]) -> bool:
    rows = [row if type(row) is list else [row] for row in column]
    return len({len(row) for row in rows}) <= 1 and all(
        one is None or type(one) in (int, float) for row in rows for one in row
    )
