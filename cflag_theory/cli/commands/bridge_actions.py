"""The actions of `cflag bridge`: run, compare stored runs with the paper's numbers, check a folder of data."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Protocol

import typer

from cflag_theory.cli.shell import Format, at_times, keep_study, print_json, progress_bar, say_figures, styled
from cflag_theory.errors import InvalidInput, MissingExtra

#: Where presets keep their runs, so that one run serves every preset that asks for it.
PRESETS_FOLDER = Path("bridge-paper")


def plan(
    files: Sequence[Path], preset: str | None, given: Mapping[str, Any], words: Sequence[str], out: Path | None
) -> dict[Path, Any]:
    """Settings of every run by its folder, all checked before the first begins."""
    from cflag_theory.bridge.settings.file import changes_from_words, read_changes
    from cflag_theory.bridge.settings.presets import preset as find_preset
    from cflag_theory.bridge.settings.run_settings import merged, run_settings

    if len(files) > 1 or (files and preset is not None):
        raise InvalidInput("several descriptions of a run are given: give one TOML file, or --preset")
    others = changes_from_words(words)
    twice = [key for key in _dotted(others) if key in _dotted(given)]
    if twice:
        raise InvalidInput(f"{twice[0]} is given by an option and by --set: give it once")
    changes = merged(given, others)
    if preset is not None:
        folder = out or PRESETS_FOLDER
        return {folder / one.name: one.settings(changes) for one in find_preset(preset).variations}
    settings = run_settings(merged(read_changes(files[0]) if files else {}, changes))
    return {out or Path(f"bridge-{files[0].stem if files else settings.data}"): settings}


def faster(planned: Mapping[Path, Any]) -> dict[Path, Any]:
    """The same runs with what pays on their device."""
    _runner()
    from cflag_theory.bridge.training.environment import fast

    return {folder: fast(settings) for folder, settings in planned.items()}


def _dotted(changes: Mapping[str, Any]) -> list[str]:
    """Keys of settings, and of the options of methods such as c_flag.clamp."""
    pairs = [(key, value if isinstance(value, Mapping) else {"": None}) for key, value in changes.items()]
    return [f"{key}.{inner}".rstrip(".") for key, value in pairs for inner in value]


def run(
    planned: Mapping[Path, Any], preset: str | None, format: Format, *, anyway: bool = False, details: bool = False
) -> None:
    """All runs, each with its figures; then their tables or JSON."""
    from cflag_theory.cli.tables import bridge as tables
    from cflag_theory.cli.tables import comparison
    from cflag_theory.files import own_folder, write_text
    from cflag_theory.studies.bridge_results.evolving import RoundsSummary

    found: list[dict[str, Any]] = []
    summaries: list[Any] = []
    written: list[Path] = []
    try:
        run_bridge = _runner()
        if preset is not None:
            own_folder(next(iter(planned)).parent)
        for results, figures in _done(run_bridge, planned, preset, anyway):
            found.append(results)
            summaries.append(_summary(results))
            written += figures
        if not found:
            return
        if len(planned) > 1:
            parent = next(iter(planned)).parent
            written = _figures_of_all(found, parent, preset or "levels")
            named = list(zip((folder.name for folder in planned), summaries, strict=True))
            write_text(parent / f"{preset}.md", comparison.page(named))
    except KeyboardInterrupt:
        typer.echo("cflag: interrupted; rounds that were done are kept, and the same command continues", err=True)
        raise typer.Exit(130) from None
    if format is Format.json:
        pairs = zip(found, summaries, strict=True)
        print_json([results | {"metrics": summary.to_json()["methods"]} for results, summary in pairs])
        return
    if len(planned) > 1:
        comparison.over_runs(named)
        typer.echo(f"every run with its costs and tests: {parent / f'{preset}.md'}; its figures are in its folder")
    else:
        (summary,) = summaries
        if isinstance(summary, RoundsSummary):
            comparison.results(summary)
        else:
            tables.results(summary, details=details)
            if not details:
                typer.echo("Other definitions, and accuracy by task: --details.")
    say_figures(written)


def _done(
    run_bridge: Any, planned: Mapping[Path, Any], preset: str | None, anyway: bool
) -> Iterator[tuple[dict[str, Any], list[Path]]]:
    """Results and figures of every run; several runs that take one thread of the CPU each share the cores.

    Of the processes that torchrun started the first one says something.
    """
    from cflag_theory.verify.workers import across

    shared = "WORLD_SIZE" in os.environ
    if len(planned) > 1 and not shared and all(one.device == "cpu" and one.threads == 1 for one in planned.values()):
        calls = [(folder, settings.to_json(), preset, anyway) for folder, settings in planned.items()]
        with progress_bar("runs", len(calls)) as advance:
            for place, one in enumerate(across(_alone, calls), start=1):
                advance(1, f"{place} of {len(calls)}")
                yield one
        return
    with _others(next(iter(planned.values()))) if shared else nullcontext() as communication:
        speaks = communication is None or communication.rank == 0
        for folder, settings in planned.items():
            name = folder.name if len(planned) > 1 else ""
            with method_lines(name, settings.methods, settings.seeds, tasks=settings.tasks) as (advance, read):
                how: dict[str, Any] = {"progress": advance, "reading": read} if speaks else {}
                how |= {} if communication is None else {"communication": communication}
                found = run_bridge(settings, out=folder, preset=preset, anyway=anyway, **how).to_json()
            if speaks:
                yield found, _figures(_summary(found).to_json(), folder)


def _others(settings: Any) -> AbstractContextManager[Any]:
    """The way to the other processes that torchrun started."""
    from cflag_theory.bridge.training.communication import started
    from cflag_theory.bridge.training.environment import find_device

    return started(find_device(settings.device), sum=settings.exchange)


def _alone(
    folder: Path, settings: Mapping[str, Any], preset: str | None, anyway: bool
) -> tuple[dict[str, Any], list[Path]]:
    """One run in a process of its own."""
    from cflag_theory.bridge.settings.run_settings import run_settings

    done = _runner()(run_settings(settings), out=folder, preset=preset, anyway=anyway).to_json()
    return done, _figures(_summary(done).to_json(), folder)


def _by_round(results: Mapping[str, Any]) -> bool:
    """Whether data changed from round to round."""
    return bool(results["settings"].get("protocol", "tasks") == "rounds")


def _summary(results: Mapping[str, Any]) -> Any:
    from cflag_theory.studies.bridge_results.evolving import summarise_rounds
    from cflag_theory.studies.bridge_results.summary import summarise

    return summarise_rounds(results) if _by_round(results) else summarise(results)


def _runner() -> Any:
    try:
        from cflag_theory.bridge.training.run import run_bridge
    except (ImportError, OSError) as error:
        missing = (getattr(error, "name", None) or "").partition(".")[0]
        if isinstance(error, MissingExtra) or missing == "cflag_theory":
            raise
        # Also a torch that is installed without one of its own libraries.
        why = "is not installed" if isinstance(error, ModuleNotFoundError) else f"cannot be loaded ({error})"
        raise MissingExtra(
            f"cflag bridge needs {missing or 'torch'}, which {why}: pip install 'cflag-theory[torch]'"
        ) from error
    return run_bridge


def _figures(summary: Mapping[str, Any], folder: Path) -> list[Path]:
    """Accuracy by task, and Gamma(t) by round where a method has it."""
    from cflag_theory.figures import bridge_accuracy_figure, bridge_gamma_figure, bridge_rounds_figure

    if "tasks" not in summary:
        return keep_study(summary, folder, "summary", {"rounds": bridge_rounds_figure(summary)}, allow_nan=False)
    figures = {"accuracy": bridge_accuracy_figure(summary)}
    if any(found["Gamma"] for found in summary["methods"]):
        figures["gamma"] = bridge_gamma_figure([summary])
    return keep_study(summary, folder, "summary", figures, allow_nan=False)


def _figures_of_all(found: Sequence[Mapping[str, Any]], folder: Path, name: str) -> list[Path]:
    """What runs that differ in one setting show together: Figures 3, 4, 5 and 7."""
    from cflag_theory.figures import bridge_gamma_figure, bridge_levels_figure
    from cflag_theory.studies.bridge_results.summary import levels, same_but_for_zeta, summarise

    found = [results for results in found if not _by_round(results)]
    curves = levels(found)
    figures = {f"{name}-{one['data']}-{one['axis']}": bridge_levels_figure(one) for one in curves}
    summaries = [summarise(results).to_json() for results in found]
    for place, several in enumerate(same_but_for_zeta(found), start=1):
        columns = [summarise(results).to_json() for results in several]
        with_terms = [one for one in columns if any(method["Gamma"] for method in one["methods"])]
        if len(with_terms) > 1:
            figures[f"{name}-{several[0]['settings']['data']}-gamma-{place}"] = bridge_gamma_figure(with_terms)
    if not figures:
        return []
    return keep_study({"levels": curves, "summaries": summaries}, folder, name, figures, allow_nan=False)


def put_beside(folders: Sequence[Path], out: Path | None, format: Format) -> None:
    """Stored runs beside the printed numbers, with a page and figures where a folder is given."""
    from cflag_theory.bridge.measures.results import read_results
    from cflag_theory.cli.tables import bridge as tables
    from cflag_theory.cli.tables import comparison
    from cflag_theory.files import own_folder, write_text
    from cflag_theory.studies.bridge_results.report import compare

    if out is not None:
        own_folder(out)
    stored = [(str(run), read_results(run)) for folder in folders for run in _runs_in(folder)]
    summaries = [(Path(name).resolve().name, _summary(results)) for name, results in stored]
    by_round = [one for (_, one), (_, results) in zip(summaries, stored, strict=True) if _by_round(results)]
    stored = [(name, results) for name, results in stored if not _by_round(results)]
    found = compare(stored)
    everything = found.to_json() | {"by_round": [one.to_json() for one in by_round]}
    written: list[Path] = []
    if out is not None:
        write_text(out / "report.json", json.dumps(everything, indent=1, allow_nan=False))
        write_text(out / "report.md", tables.report_page(found))
        write_text(out / "runs.md", comparison.page(summaries))
        written = _figures_of_all([results for _, results in stored], out, "levels")
    if format is Format.json:
        print_json(everything)
        return
    for one in by_round:
        comparison.results(one)
    if stored or not by_round:
        tables.report(found)
    if out is not None:
        typer.echo(f"report: {out / 'report.md'}, {out / 'runs.md'}, {out / 'report.json'}")
    say_figures(written)


def _runs_in(folder: Path) -> list[Path]:
    """The folder itself if it holds a run, and else those in it that do, such as a preset's."""
    from cflag_theory.bridge.measures.results import FILE

    inside = sorted(path.parent for path in folder.glob(f"*/{FILE}"))
    return [folder] if (folder / FILE).exists() or not inside else inside


def say_presets(format: Format) -> None:
    """Every preset; as JSON with all settings, and what was decided where the paper leaves something open."""
    from cflag_theory.bridge.settings import evolving
    from cflag_theory.bridge.settings.presets import C_FLAG_PRESETS, DECIDED, PRESETS
    from cflag_theory.cli.tables import bridge as tables

    listed = [
        {
            "name": one.name,
            "what": one.what,
            "decided": [*(DECIDED if one.name in C_FLAG_PRESETS else evolving.DECIDED), *one.decided],
            "runs": [{"name": each.name, "settings": each.settings().to_json()} for each in one.variations],
        }
        for one in PRESETS.values()
    ]
    if format is Format.json:
        print_json(listed)
    else:
        tables.presets(listed)


def say_data(folder: Path, format: Format) -> None:
    """What lies there; exit code 1 where nothing is usable."""
    from cflag_theory.bridge.data.findings import check_data
    from cflag_theory.cli.tables import bridge as tables

    with progress_bar("images", 1.0) as advance:
        done = 0.0

        def tell(read: int, total: int) -> None:
            nonlocal done
            share = read / total if total else 1.0
            advance(share - done, f"{read}/{total}")
            done = share

        found = check_data(folder, progress=tell)
    if format is Format.json:
        print_json(found.to_json())
    else:
        tables.data(found.to_json())
    if not found.usable:
        raise typer.Exit(1)


class RoundDone(Protocol):
    """What is called after each round: `task` counts from 0, `round` of it and `overall` of `total` from 1."""

    def __call__(self, *, method: str, seed: int, task: int, round: int, overall: int, total: int) -> None: ...


@contextmanager
def method_lines(
    words: str, methods: Sequence[str], seeds: Sequence[int], *, tasks: int
) -> Iterator[tuple[RoundDone, Callable[[int, int], None]]]:
    """Lines on standard error with task, round, rate and time left; one at times where that is not a terminal.

    What it gives is called after each round, and with the numbers of images read and of all images before the first.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """Rounds per second, once there have been two."""

        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:.3g} rounds/s" if task.speed else "")

    console = Console(file=styled(sys.stderr))
    columns = (TextColumn("{task.description}"), BarColumn(24), TextColumn("{task.fields[where]}"), Rate())
    bar = Progress(*columns, TimeRemainingColumn(), console=console, transient=True, disable=not console.is_terminal)
    width = max(map(len, methods))
    with bar as progress:
        lines = {
            name: progress.add_task(f"{words} {name:<{width}}", total=1.0, start=False, where="") for name in methods
        }
        begun: set[str] = set()
        images = progress.add_task("images", total=None, visible=False, where="")

        line = at_times(console)

        def read(done: int, total: int) -> None:
            line(f"{words} {done} of {total} images read".strip())
            progress.update(images, total=total, completed=done, visible=done < total, where=f"{done} of {total}")

        def advance(*, method: str, seed: int, task: int, round: int, overall: int, total: int) -> None:
            done, mine = seeds.index(seed) * total + overall, lines[method]
            if method not in begun:
                # Rounds of an earlier call do not count for the speed.
                begun.add(method)
                progress.reset(mine, total=len(seeds) * total, completed=done - 1)
            of = f", seed {seed}" if len(seeds) > 1 else ""
            where = f"task {task + 1}/{tasks}, round {round}{of}"
            progress.update(mine, completed=done, where=where)
            line(f"{words} {method}: {where}".strip())

        yield advance, read
