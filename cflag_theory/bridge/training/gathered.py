"""What the folder of a run holds so far, as a result, and when that is written."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping

from cflag_theory.bridge.measures.results import BridgeResult, PartResult
from cflag_theory.bridge.settings.rules import ALL_NAMES
from cflag_theory.bridge.settings.run_settings import RunSettings
from cflag_theory.bridge.training.checkpoints import Folder
from cflag_theory.bridge.training.parts import RUNNING, Record

#: Seconds between two writes of the results after rounds.
EVERY = 2.0


class Gathered:
    """What the folder holds so far, as a result."""

    def __init__(
        self,
        settings: RunSettings,
        folder: Folder,
        environment: Mapping[str, str],
        notes: dict[str, None],
        preset: str | None,
    ) -> None:
        self.settings, self.folder, self.environment = settings, folder, environment
        self.notes, self.preset = notes, preset
        #: What other processes are at.
        self.left: dict[tuple[str, int], None] = {}
        self._written = time.monotonic()

    def result(self) -> BridgeResult:
        parts = list(self._parts())
        asked = {(method, seed) for method in self.settings.methods for seed in self.settings.seeds}
        done = {(part.method, part.seed) for part in parts if part.status != RUNNING}
        left = [
            f"{name} with seed {seed}: another run is at it" for name, seed in self.left if (name, seed) not in done
        ]
        return BridgeResult(
            settings=self.settings.to_json(),
            runs=tuple(parts),
            complete=asked <= done,
            environment=self.environment,
            notes=(*self.notes, *left),
            folder=str(self.folder.folder),
            preset=self.preset,
            changes=tuple(self.folder.changes),
        )

    def write(self, *, now: bool = True) -> None:
        """The results so far; after a round only if the last time is some seconds ago."""
        if now or time.monotonic() - self._written >= EVERY:
            self.folder.write_results(lambda: self.result().to_json())
            self._written = time.monotonic()

    def _parts(self) -> Iterator[PartResult]:
        plain = self.settings.to_json()
        for seed, method in self.folder.parts(ALL_NAMES):
            with self.folder.whole(method, seed):
                record = Record(**self.folder.read_plain(method, seed)).checked(plain["tasks"])
                result = record.result(method, seed, plain)
            yield result
