"""What a part leaves for other programs: a line of CSV after every round, its models, and TensorBoard's events."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from cflag_theory.bridge.models.flat_model import FlatModel, make_model
from cflag_theory.bridge.models.networks import Network
from cflag_theory.errors import DataError, MissingExtra, OutputError
from cflag_theory.files import growing, whole, write_text

FORMAT = "cflag-theory model 1"
#: Which of a part's models.
BEST, LAST = "best", "last"


class RoundLines:
    """A CSV file with a line for each round, written anew with the rounds that are done, `columns` of a part's record;
    lists, one entry a client, are joined by semicolons.
    """

    def __init__(self, path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
        self.path, self._names = path, list(columns)
        rows = zip(*columns.values(), strict=True)
        text = self._line(["round", *self._names]) if self._names else ""
        write_text(path, text + "".join(self._line([number, *row]) for number, row in enumerate(rows, 1)))

    def add(self, number: int, row: Mapping[str, Any]) -> None:
        """One more round, counted from 1."""
        head = "" if self._names else self._line(["round", *row])
        self._names = self._names or list(row)
        try:
            with growing(self.path) as file:
                file.write((head + self._line([number, *(row[name] for name in self._names)])).encode())
        except OSError as error:
            raise OutputError(f"cannot write {str(self.path)!r} ({error.strerror}): fix that and continue") from error

    @staticmethod
    def _line(values: Sequence[Any]) -> str:
        line = io.StringIO()
        csv.writer(line, lineterminator="\n").writerow([_cell(value) for value in values])
        return line.getvalue()


def _cell(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ";".join(map(_cell, value))
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)


def model_file(folder: Path, method: str, seed: int, which: str) -> Path:
    """Where the best or last model of a part is."""
    return folder / f"{method}-{seed}-{which}.pt"


def write_model(path: Path, model: FlatModel, state: Tensor, config: Mapping[str, Any]) -> None:
    """A state as PyTorch's `state_dict` of the network, with plain values that say what it is.

    ``torch.load(path, weights_only=True)`` reads it: tensors, numbers, texts, lists and mappings.
    """
    # Counters of batches are not in the state, and a `state_dict` has them: 0, since the network's count all its parts.
    found = {name: torch.zeros_like(tensor, device="cpu") for name, tensor in model.network.state_dict().items()}
    for name, where, shape in model.tensors + model.statistics:
        found[name] = model.shaped(state[where], shape).detach().cpu().clone(memory_format=torch.contiguous_format)
    with whole(path) as file:
        torch.save({"format": FORMAT, "config": dict(config), "state_dict": found}, file)


def read_model(path: Path | str) -> tuple[Network, dict[str, Any]]:
    """What `write_model` wrote: the network on the CPU in evaluation mode, and its config.

    ``network(images, tasks)`` are logits. ``config["mean"]`` and ``config["std"]`` normalise images of 0 to 1, channel
    by channel, and ``config["image_size"]`` is the side that they were scaled to, if any.

    Raises
    ------
    DataError
        It cannot be read or is no such file.
    """
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
        if found["format"] != FORMAT:
            raise ValueError(f"its format is {found['format']!r} and not {FORMAT!r}")
        config = found["config"]
        dtype = {"float32": torch.float32, "float64": torch.float64}[config["dtype"]]
        shape, classes = config["shape"], config["classes_per_task"]
        network = make_model(config["model"], shape, classes, heads=config["heads"], dtype=dtype).network
        network.load_state_dict(found["state_dict"])
        if network.growing is not None:
            network.see(config["task"])
    except FileNotFoundError as error:
        raise DataError(f"{path} is missing: name a model that cflag bridge wrote") from error
    # What is not there, or of another kind: any of it means that it is no such file.
    except Exception as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"{path} is no model that cflag bridge wrote, or damaged ({reason})") from error
    return network.eval(), config


def board(folder: Path, part: str, done: int) -> Any:
    """A writer of TensorBoard's events for a part that has done so many rounds."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise MissingExtra(
            f"tensorboard = true needs a package that is missing ({error}): pip install tensorboard"
        ) from error
    return SummaryWriter(str(folder / "tensorboard" / part), purge_step=done + 1)


def show(writer: Any, number: int, row: Mapping[str, Any]) -> None:
    """The numbers of a round; lists and what is not defined are left out."""
    for name, value in row.items():
        if isinstance(value, int | float) and math.isfinite(value):
            writer.add_scalar(name, value, number)
    writer.flush()
