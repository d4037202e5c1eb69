"""The live display of `cflag bridge`: a line a method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol


class RoundDone(Protocol):
    """What is called after each round: `task` counts from 0, `round` of it and `overall` of `total` from 1."""

    def __call__(self, *, method: str, seed: int, task: int, round: int, overall: int, total: int) -> None: ...


@contextmanager
def method_lines(
    words: str, methods: Sequence[str], seeds: Sequence[int], *, tasks: int
) -> Iterator[tuple[RoundDone, Callable[[int, int], None]]]:
    """Lines on standard error with task, round, rate and time left; nothing where that is no terminal.

    What it gives is called after each round, and with the numbers of images read and of all images before the first.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """Rounds per second, once there have been two."""

        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.3g} rounds/s" if task.speed else "")

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(24), TextColumn("{task.fields[where]}"), Rate())
    bar = Progress(*columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal)
    width = max(map(len, methods))
    with bar as progress:
        lines = {
            name: progress.add_task(f"{words} {name:<{width}}", total=1.0, start=False, where="") for name in methods
        }
        begun: set[str] = set()
        images = progress.add_task("images", total=None, visible=False, where="")

        def read(done: int, total: int) -> None:
            progress.update(images, total=total, completed=done, visible=done < total, where=f"{done} of {total}")

        def advance(*, method: str, seed: int, task: int, round: int, overall: int, total: int) -> None:
            done, line = seeds.index(seed) * total + overall, lines[method]
            if method not in begun:
                # Rounds of an earlier call took no time now.
                begun.add(method)
                progress.reset(line, total=len(seeds) * total, completed=done - 1)
            of = f", seed {seed}" if len(seeds) > 1 else ""
            progress.update(line, completed=done, where=f"task {task + 1}/{tasks}, round {round}{of}")

        yield advance, read
