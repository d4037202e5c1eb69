"""One method with one seed: its rounds over all tasks, a checkpoint after each, and what it found."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any

import numpy as np
import torch
from torch import Tensor

from cflag_theory.bridge.measures.meters import local_steps_of, row_of, trace_of
from cflag_theory.bridge.measures.results import COLUMN, PartResult
from cflag_theory.bridge.measures.round_numbers import Known, measured, round_numbers
from cflag_theory.bridge.methods.base import Method, Round
from cflag_theory.bridge.methods.table import make_method
from cflag_theory.bridge.models.clients import Client, ClientData
from cflag_theory.bridge.models.flat_model import FlatModel
from cflag_theory.bridge.settings.options import HERDING
from cflag_theory.bridge.settings.run_settings import TASKS, RunSettings
from cflag_theory.bridge.training.checkpoints import Checkpoint, Folder
from cflag_theory.bridge.training.communication import Communication
from cflag_theory.bridge.training.evaluation import Exemplars, accuracies, evaluation, information_loss
from cflag_theory.bridge.training.exports import BEST, LAST, RoundLines, board, model_file, show, write_model
from cflag_theory.bridge.training.rounds import Step, end_task, one_round
from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import write_trace
from cflag_theory.public import require_fields

RUNNING, OK, DIVERGED = "RUNNING", "OK", "DIVERGED"
#: Called after every round by keyword: method, seed, task, round (of the task), overall, total; only task is from 0.
Progress = Callable[..., None]
#: The clients of a round, counted over all tasks, as methods see them.
Changed = Callable[[Sequence[Client], int], Sequence[Client]]
#: Samples that a pass for meters takes at a time; with batch normalisation part of what f and g are.
PASS = 500


@dataclass(frozen=True, eq=False)
class World:
    """What all methods of one seed share."""

    settings: RunSettings
    seed: int
    model: FlatModel
    #: The clients in a task, in a round of it.
    clients: Callable[[int, int], Sequence[Client]]
    #: The test images of every task.
    tests: Sequence[ClientData]
    communication: Communication
    folder: Folder
    versions: Mapping[str, str]
    #: Where data change from round to round: of every client its data sets up to a round, with how often it had each.
    seen: Callable[[int], Sequence[Mapping[int, tuple[ClientData, int]]]] | None = None
    #: Plain values on images, classes and network, for exported models.
    about: Mapping[str, Any] = field(default_factory=dict)
    #: Where images change from round to round: the same tuple of clients again for the same one and the same round.
    changed: Changed | None = None


@dataclass
class Record:
    """Where a part is, and what it has found: the plain values of its checkpoint."""

    #: The next round; number = rounds where only the end of the task is left to do, task = tasks where nothing is.
    task: int = 0
    number: int = 0
    status: str = RUNNING
    message: str = ""
    #: Accuracies in percent at the start, of every task.
    before: list[float] = field(default_factory=list)
    #: A row for each task learned.
    accuracy: list[list[float]] = field(default_factory=list)
    #: By round, over all tasks. "ifo_calls" of a task's last round has what the end of the task took, once it is done.
    columns: dict[str, Annotated[list[Any], COLUMN]] = field(default_factory=dict)
    #: The largest number of local steps of a client in a round of this task.
    local_steps: int = 0
    seconds: float = 0.0
    traces: list[str] = field(default_factory=list)

    def checked(self, tasks: int) -> Record:
        """The record itself, if it is one of a run of so many tasks."""
        try:
            require_fields(self)
        except InvalidInput as error:
            # What is read back is no input of this call.
            raise ValueError(str(error)) from error
        rows = [self.before, *self.accuracy]
        if any(len(row) != tasks for row in rows if row) or len(self.accuracy) > tasks:
            raise ValueError(f"its accuracies are not rows of {tasks} numbers")
        if not 0 <= self.task <= tasks or min(self.number, self.local_steps, self.seconds) < 0:
            raise ValueError("it counts below 0 or beyond the tasks")
        if len({len(column) for column in self.columns.values()}) > 1:
            raise ValueError("its columns have different lengths")
        return self

    @property
    def rounds_done(self) -> int:
        """Over all tasks."""
        return len(self.columns.get("task", []))

    def result(self, method: str, seed: int, settings: Mapping[str, Any]) -> PartResult:
        """The same as a result; `settings` are those of `RunSettings.to_json`."""
        tasks = settings["tasks"]
        accuracy = np.full((tasks, tasks), math.nan)
        accuracy[: len(self.accuracy)] = np.array(self.accuracy).reshape(-1, tasks)
        return PartResult(
            method=method,
            seed=seed,
            options=settings.get(method, {}),
            accuracy=accuracy,
            before=tuple(self.before),
            columns=self.columns,
            rounds_done=self.rounds_done,
            status=self.status,
            message=self.message,
            seconds=self.seconds,
            gradients=sum(self.columns.get("ifo_calls", [])),
            communicated=sum(self.columns.get("communicated", [])),
            traces=tuple(self.traces),
        )


def method_of(settings: RunSettings, name: str) -> Method:
    """The method of this name as the settings have it."""
    return make_method(
        name,
        lr=settings.lr,
        alpha=settings.alpha,
        L=settings.L,
        epochs=settings.epochs,
        batch=settings.batch,
        optimizer=settings.optimizer,
        sample=settings.memory_sample,
        options=settings.options.get(name),
    )


class Part:
    """A method with a seed, from its last checkpoint on."""

    def __init__(self, world: World, name: str) -> None:
        self.world, self.name = world, name
        self.method = method_of(world.settings, name)
        self.record, self.state = Record(), world.model.start(world.seed)
        herds = self.method.herds or world.settings.memory_kind == HERDING
        self.exemplars = Exemplars(world.settings.memory_size, world.settings.classes) if herds else None
        self._known = Known()
        self._writes, self._begun = world.communication.rank == 0, time.monotonic()
        kept = world.folder.read(name, world.seed)
        if kept is not None:
            with world.folder.whole(name, world.seed):
                self._restore(kept)
        else:
            self.record.before = self._accuracies()
        self._lines = self._board = None
        if self._writes:
            file = world.folder.folder / f"{name}-{world.seed}.csv"
            self._lines = RoundLines(file, self.record.columns)
            if world.settings.tensorboard:
                self._board = board(world.folder.folder, file.stem, self.record.rounds_done)

    @property
    def missing(self) -> list[str]:
        """Which models of a part that came to its end are asked for and are not there."""
        if self.record.status != OK or not self.world.settings.export_models:
            return []
        folder, seed = self.world.folder.folder, self.world.seed
        return [which for which in (BEST, LAST) if not model_file(folder, self.name, seed, which).exists()]

    @property
    def position(self) -> tuple[int, int]:
        """Rounds that are done, and whether nothing is left to do."""
        return self.record.rounds_done, int(self.record.status != RUNNING)

    def run(self, progress: Progress | None = None) -> None:
        """All that is left to do."""
        settings, record = self.world.settings, self.record
        self._begun = time.monotonic() - record.seconds
        while record.status == RUNNING:
            while record.number < settings.rounds and record.status == RUNNING:
                self._round(self._clients(record.number))
                if progress is not None:
                    where = {"method": self.name, "seed": self.world.seed, "task": record.task, "round": record.number}
                    progress(**where, overall=record.rounds_done, total=settings.total_rounds)
            if record.status == RUNNING:
                self._end_task()
        if self._board is not None:
            self._board.close()

    def _stored(self, number: int) -> Sequence[Client]:
        """The clients with what they remember, their images as they lie in the data."""
        clients = self.world.clients(self.record.task, number)
        return clients if self.exemplars is None else self.exemplars.given(clients)

    def _clients(self, number: int) -> Sequence[Client]:
        clients, changed = self._stored(number), self.world.changed
        return clients if changed is None else changed(clients, self._at(number).overall)

    def _at(self, number: int) -> Round:
        settings, task = self.world.settings, self.record.task
        overall = task * settings.rounds + number
        return Round(self.world.model, settings.clients, task, number, overall, self.world.seed)

    def _round(self, clients: Sequence[Client]) -> None:
        world, record = self.world, self.record
        round_ = self._at(record.number)
        together = world.settings.together
        step = one_round(self.method, round_, clients, self.state, world.communication, together=together)
        if not bool(torch.isfinite(step.state).all()):
            record.status = DIVERGED
            record.message = (
                f"diverged in round {record.number + 1} of task {record.task + 1}: use a smaller lr, or smaller alpha"
            )
            self._write_trace()
            self._save()
            return
        row = self._measure(step, clients, round_)
        if world.settings.protocol != TASKS:
            row |= evaluation(world.model, step.state, world.tests[0])
            row["information_loss"] = self._information_loss(clients, round_, step.state)
        for name, value in row.items():
            record.columns.setdefault(name, []).append(value)
        if self._lines is not None:
            self._lines.add(record.rounds_done, row)
        if self._board is not None:
            show(self._board, record.rounds_done, row)
        record.local_steps = max(record.local_steps if record.number else 0, local_steps_of(step))
        record.number += 1
        self.state = step.state
        if world.settings.protocol != TASKS:
            self._export_best(record.columns["test_accuracy"])
        every = world.settings.checkpoint_every
        # The end of the task writes one anyway.
        if every == 1 or (record.number % every == 0 and record.number < world.settings.rounds):
            self._save()

    def _measure(self, step: Step, clients: Sequence[Client], round_: Round) -> dict[str, Any]:
        world, settings = self.world, self.world.settings
        numbers = round_numbers(world.model, step, clients, L=settings.L)
        full = None
        if settings.past_every and round_.number % settings.past_every == 0:
            full = measured(
                world.model, step, clients, world.communication, L=settings.L, batch=PASS, known=self._known
            )
        normalised = world.model.size > world.model.d
        return row_of(round_.task, numbers, full, lr=settings.lr, normalised=normalised)

    def _information_loss(self, clients: Sequence[Client], round_: Round, state: Tensor) -> float:
        world, every = self.world, self.world.settings.past_every
        if world.seen is None or not every or round_.number % every:
            return math.nan
        return information_loss(world.model, self.method, state, clients, world.seen(round_.number), PASS)

    def _end_task(self) -> None:
        record, settings, communication = self.record, self.world.settings, self.world.communication
        last = record.number - 1
        if self.exemplars is not None:
            self.exemplars.choose(self.world.model, self._stored(last), self.state, communication)
        self._charge(end_task(self.method, self._at(last), self._stored(last), self.state, communication))
        record.accuracy.append(self._accuracies())
        self._write_trace()
        self._export(LAST)
        if settings.protocol == TASKS:
            self._export_best([sum(row) / len(row) for row in record.accuracy])
        record.task, record.number = record.task + 1, 0
        if record.task == settings.tasks:
            record.status = OK
        self._save()

    def _charge(self, gradients: int) -> None:
        """Count what the end of a task took among the gradients of its last round."""
        record = self.record
        if not gradients:
            return
        record.columns["ifo_calls"][-1] += gradients
        if self._lines is not None:
            # Its line was written when the round was over.
            self._lines = RoundLines(self._lines.path, record.columns)
        if self._board is not None:
            show(self._board, record.rounds_done, {"ifo_calls": record.columns["ifo_calls"][-1]})

    def _export_best(self, scores: Sequence[float]) -> None:
        """The model, if the last one of these scores is above all others; ties go to the earlier one."""
        if scores[-1] > max(scores[:-1], default=-math.inf):
            self._export(BEST)

    def _export(self, which: str) -> None:
        world, record = self.world, self.record
        if not (self._writes and world.settings.export_models):
            return
        config = {
            **world.about,
            "method": self.name,
            "seed": world.seed,
            "task": record.task,
            "rounds_done": record.rounds_done,
            "settings": world.settings.to_json(),
        }
        write_model(model_file(world.folder.folder, self.name, world.seed, which), world.model, self.state, config)

    def _accuracies(self) -> list[float]:
        model, state = self.world.model, self.state
        model.see(self.record.task)
        scores = partial(self.method.scores, model, state)
        return [100 * share for share in accuracies(model, state, self.world.tests, scores)]

    def _write_trace(self) -> None:
        record, world = self.record, self.world
        if record.number == 0:
            return
        trace = trace_of(
            {name: values[-record.number :] for name, values in record.columns.items()},
            settings=world.settings,
            method=self.name,
            seed=world.seed,
            task=record.task,
            local_steps=record.local_steps,
            diverged=record.status == DIVERGED,
            versions=world.versions,
        )
        path = world.folder.trace_file(self.name, world.seed, record.task)
        if self._writes:
            write_trace(path, trace)
        record.traces.append(path.name)

    def _save(self) -> None:
        self.record.seconds = time.monotonic() - self._begun
        if not self._writes:
            return
        arrays = {"state": _array(self.state)}
        if self.exemplars is not None:
            arrays["exemplars"] = _array(self.exemplars.rows)
        arrays |= {f"memory {name}": _array(tensor) for name, tensor in self.method.memory().items()}
        self.world.folder.write(self.name, self.world.seed, Checkpoint(vars(self.record), arrays))

    def _restore(self, kept: Checkpoint) -> None:
        self.record = Record(**kept.plain).checked(self.world.settings.tasks)
        device = self.state.device
        tensors = {name: torch.from_numpy(array).to(device) for name, array in kept.arrays.items()}
        self.state = tensors.pop("state")
        if self.exemplars is not None:
            self.exemplars.rows = tensors.pop("exemplars").cpu()
        self.method.restore({name.removeprefix("memory "): tensor for name, tensor in tensors.items()})


def _array(tensor: Tensor) -> np.ndarray[Any, Any]:
    array: np.ndarray[Any, Any] = tensor.detach().cpu().numpy()
    return array
