"""An implementation in a user's file: it runs in a process of its own, and what it computed comes back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cflag_theory.conform.algorithm import Algorithm
from cflag_theory.conform.case import Case
from cflag_theory.conform.numbers import plain
from cflag_theory.conform.running import NAMES, Own, Record
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.search.guard import WAIT, cpu_limit, guarded
from cflag_theory.outside import python_files
from cflag_theory.outside.child import Child, NoAnswer


class HeldOwn:
    """The functions of a file, from here, as `running.Own` has a user's functions: which of `NAMES` it defines, its
    ALGORITHM and PARAMETERS. InvalidInput where it cannot be run, or defines none of these.
    """

    def __init__(self, path: Path, seconds: float) -> None:
        content = python_files.content_of(path, f"give a Python file that defines {', '.join(NAMES)}")
        self.path, self._wait = path, WAIT * seconds
        self._child = Child(lambda: _within(path, content, seconds), str(path), seconds=self._wait)
        self.names, self.algorithm, given = self._ask(None)
        self.parameters: Mapping[str, Any] = MappingProxyType(given)
        if not self.names:
            raise InvalidInput(f"{path} holds none of {', '.join(NAMES)}: define at least one at module level")

    def compute(self, kind: type[Algorithm], case: Case, numbers: str, *, watched: bool = False) -> tuple[Record, str]:
        """As `Own.compute`."""
        found: tuple[Record, str] = self._ask((kind, case, numbers, watched))
        return found

    def anew(self) -> None:
        """Run the file again before the next case: nothing is left of what its functions kept."""
        self._child.end()

    def _ask(self, question: Any) -> Any:
        try:
            return self._child.ask(question, self._wait)
        except NoAnswer:
            raise InvalidInput(
                f"{self.path} gives no answer in {self._wait:g} s: fix the loop, or allow more with --seconds"
            ) from None


def _within(path: Path, content: bytes, seconds: float) -> Callable[[Any], Any]:
    """In the process: what answers."""
    with guarded(seconds, (str(path),), "the file", limit=cpu_limit):
        module = vars(python_files.run(path, content, f"own_{path.stem}"))
    functions = {name: module[name] for name in NAMES if callable(module.get(name))}
    own = Own(**functions, seconds=seconds)

    def answer(question: Any) -> Any:
        if question is None:
            meant, given = module.get("ALGORITHM"), module.get("PARAMETERS")
            named = meant if isinstance(meant, str) else None
            return tuple(functions), named, dict(given) if isinstance(given, Mapping) else {}
        kind, case, numbers, watched = question
        record, place = own.compute(kind, case, numbers, watched=watched)
        # Tensors stay here.
        record.values = {key: plain(value) for key, value in record.values.items()}
        record.points = {key: [plain(one) for one in points] for key, points in record.points.items()}
        return record, place

    return answer
