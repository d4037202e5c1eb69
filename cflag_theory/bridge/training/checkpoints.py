"""The folder of a bridge run: a checkpoint after every round, from which a killed run continues.

    run.json                    settings, versions, and which data
    c_flag-1234.npz             one part, a method with a seed: where it is, its state and what it has measured
    c_flag-1234-task0.npz       Traces of its tasks
    results.json                what is known of all parts
    .c_flag-1234.lock           held by the process that runs this part; others leave it to that one

Every file is written whole or not at all. A part is a pure function of the settings (draws are counter-based), so that
a checkpoint needs no generator's state.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cflag_theory.bridge.measures.results import FILE
from cflag_theory.bridge.settings.rules import ALL_NAMES, CONVOLUTIONS
from cflag_theory.bridge.settings.run_settings import HOW, RunSettings, differing_key
from cflag_theory.errors import DataError, InvalidInput
from cflag_theory.files import own_folder, turn, whole
from cflag_theory.kernels.archives import read_arrays
from cflag_theory.reading import ANY, TABLE, WORD, WORDS, Form, read_record, unfit

FORMAT = "cflag-theory bridge 2"
HEADER = "run.json"
_CHANGES: Form = {"changes": [{"what": WORD, "was": ANY, "is": ANY, "after": TABLE}]}
_RULES = {"settings": TABLE, "environment": TABLE, "data": TABLE}
_CHOOSE = "choose another with --out"
_ANYWAY = "or go on all the same with --resume-anyway, which gives up that last bits are those of an unbroken run"
_MENDED = "give the same command again when that is fixed; what was written before is kept"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A part after some of its rounds."""

    #: JSON-able values: where the part is.
    plain: Mapping[str, Any]
    #: The state of the model, the method's memory, what was measured.
    arrays: Mapping[str, NDArray[Any]]


class Folder:
    """The folder of one run, to which several processes may write, each to parts of its own; see `begin` and `part`.

    It is made if it does not exist; one that holds parts of the same run is continued. `environment` has versions and
    the like, on which last bits may depend, and `digests` what tells the data from other data. With `anyway` parts go
    on where the environment, or a setting of `run_settings.HOW`, was another one; the change is recorded.
    """

    def __init__(
        self,
        folder: Path,
        settings: RunSettings,
        environment: Mapping[str, str],
        digests: Mapping[str, str],
        *,
        anyway: bool = False,
    ) -> None:
        self.folder, self._anyway = folder, anyway
        #: What was another one when parts went on: where, was, is, and after how many rounds of which parts.
        self.changes: list[dict[str, Any]] = []
        self._header = {
            "format": FORMAT,
            "settings": settings.to_json(),
            "environment": dict(environment),
            "data": dict(digests),
        }

    def begin(self) -> None:
        """Make the folder, or see that it holds this run."""
        own_folder(self.folder)
        with turn(self.folder / f".{HEADER}.lock"):
            path = self.folder / HEADER
            if path.exists():
                found = read_header(self.folder)
                self.changes = [*found.get("changes", ()), *self._changes(found)]
            elif any(self.folder.glob("*.npz")):
                raise DataError(f"{self.folder} holds results and no {HEADER}: {_CHOOSE}")
            # Methods and seeds may differ: the record names those of the last call.
            self._write(HEADER, json.dumps(self._header | {"changes": self.changes}, indent=1).encode())

    def part(self, method: str, seed: int) -> AbstractContextManager[bool]:
        """Within, this process alone works on a part; False where another process does."""
        return turn(self.folder / f".{method}-{seed}.lock", wait=False)

    def _changes(self, found: Mapping[str, Any]) -> list[dict[str, Any]]:
        """How this call differs from the last one, or an error."""
        _require_same_work(self.folder, found, self._header)
        differing = list(_differing(found, self._header))
        if not differing:
            return []
        begun = {}
        for seed, method in self.parts(ALL_NAMES):
            plain = self.read_plain(method, seed)
            if plain.get("status") == "RUNNING":
                begun[f"{method}-{seed}"] = len(plain["columns"].get("task", ()))
        orders = [change for change in differing if change[0] == "channels_last"]
        if orders and begun and found["settings"].get("model") in CONVOLUTIONS:
            ((_, was, is_),) = orders
            raise DataError(
                f"{self.folder} holds unfinished parts ({', '.join(begun)}) with channels_last = {was}, and with {is_} "
                f"the numbers of kernels lie in another order in their states: {_CHOOSE}, or make them equal"
            )
        if not self._anyway:
            name, was, is_ = differing[0]
            raise DataError(
                f"{self.folder} holds a run elsewhere ({name} was {was} and is {is_}), so that last bits would not fit "
                f"together: {_CHOOSE}, make them equal, {_ANYWAY}"
            )
        return [{"what": name, "was": was, "is": is_, "after": begun} for name, was, is_ in differing] if begun else []

    def whole(self, method: str, seed: int) -> AbstractContextManager[None]:
        """Whatever goes wrong within means that the checkpoint of this part is damaged, which is a `DataError`."""
        return _whole(self._part(method, seed))

    def read(self, method: str, seed: int) -> Checkpoint | None:
        """How far a part is; None if it has not begun."""
        path = self._part(method, seed)
        return read_checkpoint(path) if path.exists() else None

    def read_plain(self, method: str, seed: int) -> dict[str, Any]:
        """Where a part is, without its arrays."""
        return dict(read_checkpoint(self._part(method, seed), arrays=False).plain)

    def parts(self, methods: Sequence[str]) -> list[tuple[int, str]]:
        """Seed and method of every part that has begun, by seed and then in the order of `methods`."""
        found = []
        for method in methods:
            for path in self.folder.glob(f"{method}-*.npz"):
                seed = path.stem.removeprefix(f"{method}-")
                if seed.isdecimal():
                    found.append((int(seed), methods.index(method)))
        return [(seed, methods[place]) for seed, place in sorted(found)]

    def write(self, method: str, seed: int, checkpoint: Checkpoint) -> None:
        """Keep how far a part is, in place of what was kept before."""
        header = {"plain": dict(checkpoint.plain), "arrays": list(checkpoint.arrays)}
        arrays: dict[str, Any] = {"header": np.array(json.dumps(header))} | dict(checkpoint.arrays)
        with whole(self._part(method, seed), remedy=_MENDED) as file:
            np.savez(file, **arrays)

    def trace_file(self, method: str, seed: int, task: int) -> Path:
        """Where the Trace of a task is."""
        return self.folder / f"{method}-{seed}-task{task}.npz"

    def write_results(self, results: Callable[[], Mapping[str, Any]]) -> None:
        """Write the results of all parts, which are gathered while no other process does the same."""
        with turn(self.folder / f".{FILE}.lock"):
            self._write(FILE, json.dumps(results(), indent=1, allow_nan=False).encode())

    def _part(self, method: str, seed: int) -> Path:
        return self.folder / f"{method}-{seed}.npz"

    def _write(self, name: str, content: bytes) -> None:
        with whole(self.folder / name, remedy=_MENDED) as file:
            file.write(content)


def read_checkpoint(path: Path, *, arrays: bool = True) -> Checkpoint:
    """What `Folder.write` wrote; without its arrays if they are not asked for."""
    with _whole(path):
        header = json.loads(str(read_arrays(path, ["header"])["header"]))
        if wrong := unfit(header, {"plain": TABLE, "arrays": WORDS}):
            raise ValueError(f"see {wrong}")
        return Checkpoint(header["plain"], read_arrays(path, header["arrays"], copies=1) if arrays else {})


@contextmanager
def _whole(path: Path) -> Iterator[None]:
    """Whatever goes wrong within means that this checkpoint is damaged."""
    try:
        yield
    except InvalidInput:
        raise
    # What is not there, or of another kind: any of it means that the file is damaged.
    except Exception as error:
        raise DataError(
            f"{path} is damaged ({error}): delete it and run again, which begins this method and seed anew"
        ) from error


def read_header(folder: Path) -> dict[str, Any]:
    """What the folder of a run says of itself."""
    path = folder / HEADER
    header = read_record(path, FORMAT, _RULES, what="bridge run", by="cflag bridge", again=_CHOOSE)
    header = {"changes": []} | header
    if wrong := unfit(header, _CHANGES):
        raise DataError(f"{path} is damaged, see {wrong}: {_CHOOSE}")
    return header


def _require_same_work(folder: Path, found: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Refuse other data, and settings by which runs compute something else."""
    key = differing_key(
        *({name: value for name, value in header["settings"].items() if name not in HOW} for header in (found, now))
    )
    if key is not None:
        raise DataError(
            f"{folder} holds a run with {key} = {_at(found['settings'], key)}, and this one has "
            f"{_at(now['settings'], key)}: {_CHOOSE}, or make them equal"
        )
    for name, value in now["data"].items():
        if found["data"].get(name) != value:
            raise DataError(
                f"{folder} holds a run with other data ({name} was {found['data'].get(name)} and is {value}): "
                f"{_CHOOSE}, or make them equal"
            )


def _differing(found: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """What differs and may change last bits: name, was, is. Which of several GPUs does not."""
    for name in HOW:
        was, is_ = (header["settings"].get(name) for header in (found, now))
        if name == "device":
            was, is_ = str(was).partition(":")[0], str(is_).partition(":")[0]
        # A number of threads that is not given is in the environment.
        if was != is_ and name != "threads":
            yield name, was, is_
    for name in dict.fromkeys((*now["environment"], *found["environment"])):
        was, is_ = (header["environment"].get(name) for header in (found, now))
        if was != is_:
            yield name, was, is_


def _at(settings: Mapping[str, Any], key: str) -> Any:
    """The value at a dotted key."""
    found: Any = settings
    for name in key.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found
