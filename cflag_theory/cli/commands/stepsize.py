"""`cflag stepsize`, for both papers."""

from __future__ import annotations

import os
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from cflag_theory.cli.shell import Format, FormatOption, number, print_json, take_folder
from cflag_theory.errors import InvalidInput

PICTURES = ("png", "svg", "pdf")


class Whose(StrEnum):
    """Whose conditions are meant."""

    c_flag = "c-flag"
    cfl = "cfl"
    both = "both"


# Options by paper, with what the Python function calls them; the first ones are needed.
_NEEDED = {Whose.c_flag: ("L", "m", "E", "T"), Whose.cfl: ("L", "K", "T")}
_NUMBERS = "r gap grad_g grad_g0 gap_g gap_h omega memory_gap N n memory_size"
_FREE = {
    Whose.c_flag: ("alpha", "beta", *_NUMBERS.split(" ")),
    Whose.cfl: ("eta_l", "eta_g", "mu", "A", "B", "D", "R", "N", "G", "sigma", "distance", "gap"),
}
_FOR_BOTH = ("epsilon", "measured")
_FILLED = ("L", "m", "r", "gap", "grad_g", "grad_g0")
_KNOWN = {*_FOR_BOTH, *(name for one in _NEEDED for name in (*_NEEDED[one], *_FREE[one]))}


def _in(group: str, *names: str, help: str) -> Any:
    return Option(*names, parser=number, metavar="NUMBER", help=help, rich_help_panel=group)


_ANY, _C, _F = "Both papers", "C-FLAG", "CFL"
_OUTPUT = "Output"


def stepsize_command(
    paper: Annotated[Whose, Option(help="c-flag, cfl or both.", rich_help_panel=_ANY)] = Whose.c_flag,
    L: Annotated[float | None, _in(_ANY, "--L", help="Smoothness constant, of every component.")] = None,
    T: Annotated[int | None, Option("--T", help="Rounds.", rich_help_panel=_ANY)] = None,
    epsilon: Annotated[float | None, _in(_ANY, help="Target: rounds to it, best step sizes.")] = None,
    gap: Annotated[float | None, _in(_ANY, help="f(x_0) - inf f.")] = None,
    N: Annotated[int | None, Option("--N", help="Clients.", rich_help_panel=_ANY)] = None,
    m: Annotated[float | None, _in(_C, "--m", help="Bias constant of (27).")] = None,
    E: Annotated[int | None, Option("--E", help="Local steps a round.", rich_help_panel=_C)] = None,
    alpha: Annotated[float | None, _in(_C, help="Step size on memory.")] = None,
    beta: Annotated[float | None, _in(_C, help="Step size on the current data.")] = None,
    grad_g: Annotated[float | None, _in(_C, help="Root mean square of ||grad g|| along the run.")] = None,
    grad_g0: Annotated[float | None, _in(_C, "--grad-g0", help="||grad g(x_0)||.")] = None,
    gap_g: Annotated[float | None, _in(_C, help="g(x_0) - inf g.")] = None,
    gap_h: Annotated[float | None, _in(_C, help="Initial gap of h~, and of h^.")] = None,
    memory_gap: Annotated[float | None, _in(_C, help="Largest ||grad f_memory - grad g||.")] = None,
    omega: Annotated[float | None, _in(_C, help="omega of Lemma 11.")] = None,
    r: Annotated[float | None, _in(_C, "--r", help="r of Lemma 10; may be inf.")] = None,
    n: Annotated[
        int | None, Option("--n", help="Components of a client, to count gradients.", rich_help_panel=_C)
    ] = None,
    memory_size: Annotated[int | None, Option(help="Components that a client remembers.", rich_help_panel=_C)] = None,
    from_trace: Annotated[
        Path | None, Option(help="A Trace: missing numbers are estimated from it.", rich_help_panel=_C)
    ] = None,
    lowest: Annotated[float | None, _in(_C, help="A lower bound of the losses; often 0.")] = None,
    K: Annotated[int | None, Option("--K", help="Local steps a round.", rich_help_panel=_F)] = None,
    eta_l: Annotated[float | None, _in(_F, help="Local step size.")] = None,
    eta_g: Annotated[float | None, _in(_F, help="Global step size; default: 1.")] = None,
    mu: Annotated[float | None, _in(_F, help="Convexity; default: 0.")] = None,
    A: Annotated[float | None, _in(_F, "--A", help="Relative time drift; default: 0.")] = None,
    B: Annotated[float | None, _in(_F, "--B", help="Relative client drift; default: 0.")] = None,
    D: Annotated[float | None, _in(_F, "--D", help="Time drift, for the weights of Lemma B.4.")] = None,
    R: Annotated[float | None, _in(_F, "--R", help="Information loss, for the weights.")] = None,
    G: Annotated[float | None, _in(_F, "--G", help="Client drift; default: 0.")] = None,
    sigma: Annotated[float | None, _in(_F, help="Gradient noise; default: 0.")] = None,
    distance: Annotated[float | None, _in(_F, help="||w_0 - w*||.")] = None,
    sharp: Annotated[
        bool, Option("--sharp", help="Also the largest and the best step, by exact worst cases.", rich_help_panel=_ANY)
    ] = False,
    details: Annotated[
        bool, Option("--details", help="Also print all conditions and bounds.", rich_help_panel=_OUTPUT)
    ] = False,
    plot: Annotated[
        Path | None, Option(help="Figure of the safe plane: .png, .svg or .pdf.", rich_help_panel=_OUTPUT)
    ] = None,
    out: Annotated[
        Path | None, Option(help="Folder for step_sizes.json and the figure.", rich_help_panel=_OUTPUT)
    ] = None,
    format: FormatOption = Format.table,
) -> None:
    """Say which step sizes are safe, and what is then proved.

    Without step sizes: the largest safe ones, and what the paper asks for. With them: whether they are safe. With
    --epsilon: the best ones for this target. Numbers may be fractions, such as 1/3. Both papers: K = E, eta_l = beta.
    """
    given: dict[str, Any] = {name: value for name, value in locals().items() if name in _KNOWN and value is not None}
    _check_options(paper, given, from_trace, lowest, plot)
    estimates = None
    if from_trace is not None:
        estimates = _fill(given, from_trace, lowest)
    asked = (Whose.c_flag, Whose.cfl) if paper is Whose.both else (paper,)
    if paper is Whose.both:
        given |= {to: given[name] for name, to in (("E", "K"), ("beta", "eta_l")) if name in given}
    counted = given
    if paper is Whose.both and not {"n", "memory_size"} & set(given):
        # N is then meant for the bounds of the other paper, not for a count of gradients.
        counted = {name: value for name, value in given.items() if name != "N"}
    missing = [_option(name) for one in asked for name in _NEEDED[one] if name not in given]
    if missing:
        raise typer.BadParameter(f"--paper {paper.value} needs {', '.join(dict.fromkeys(missing))}")
    _run({Whose.c_flag: counted, Whose.cfl: given}, asked, estimates, plot, out, details, format, sharp)


def _check_options(
    paper: Whose, given: dict[str, Any], from_trace: Path | None, lowest: float | None, plot: Path | None
) -> None:
    known = {Whose.c_flag, Whose.cfl} if paper is Whose.both else {paper}
    allowed = {name for one in known for name in (*_NEEDED[one], *_FREE[one], *_FOR_BOTH)}
    if paper is Whose.both:
        allowed -= {"K", "eta_l"}
    for name in given:
        if name not in allowed:
            raise typer.BadParameter(f"{_option(name)} is not an option of --paper {paper.value}: leave it out")
    if paper is Whose.cfl and from_trace is not None:
        raise typer.BadParameter("--from-trace is not an option of --paper cfl: leave it out")
    if lowest is not None and from_trace is None:
        raise typer.BadParameter("--lowest is about a recorded run: give --from-trace too")
    if plot is not None and plot.suffix.lstrip(".") not in PICTURES:
        raise InvalidInput(f"--plot {str(plot)!r} is not a picture: use a name that ends in .png, .svg or .pdf")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _fill(given: dict[str, Any], file: Path, lowest: float | None) -> Any:
    """Put what a Trace says in place of what was not given."""
    from math import isinf

    from cflag_theory.kernels import read_trace
    from cflag_theory.studies.stepsize.estimates import estimate_constants

    estimates = estimate_constants(read_trace(file), lowest=lowest)
    found = {name: value for name in _FILLED if (value := estimates.value(name)) is not None}
    found |= {name: value for name, value in estimates.settings.items() if value > 0}
    for name in ("L", "m"):
        if name in given:
            continue
        one = next(one for one in estimates.estimates if one.name == name)
        if one.value is None:
            raise InvalidInput(f"the trace {str(file)!r} gives no {name} ({one.how}): give {_option(name)} too")
        if isinf(one.value):
            raise InvalidInput(
                f"in the trace {str(file)!r} grad f is 0 where b is not, so no m fits (27): give --m too"
            )
    given["measured"] = [name for name in ("L", "m") if name not in given]
    for name, value in found.items():
        given.setdefault(name, int(value) if name in ("E", "T") else value)
    return estimates


def _run(
    given: dict[Whose, dict[str, Any]],
    asked: tuple[Whose, ...],
    estimates: Any,
    plot: Path | None,
    out: Path | None,
    details: bool,
    format: Format,
    sharp: bool,
) -> None:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # Threads for large matrices would only start.
    from cflag_theory.cli.tables import step_sizes as tables
    from cflag_theory.files import check_file_writable

    if out is not None:
        take_folder(out)
    if plot is not None:
        check_file_writable(plot)
    found = {}
    for one in asked:
        names = (*_NEEDED[one], *_FREE[one], *_FOR_BOTH)
        found[one] = _conditions(one)(**{name: given[one][name] for name in names if name in given[one]})
    steps = _sharp(found) if sharp else {}
    files = _write(found, partial(_result, found, estimates, steps), plot, out, sharp)
    if format is Format.json:
        print_json(_result(found, estimates, steps))
        return
    for one, numbers in found.items():
        tables.answer(numbers)
        if one in steps:
            tables.sharp(steps[one])
    if estimates is not None:
        tables.estimates(estimates)
    for one, numbers in found.items() if details else ():
        (tables.c_flag if one is Whose.c_flag else tables.cfl)(numbers)
    if not details:
        typer.echo("All conditions and bounds: --details.")
    for file in files:
        typer.echo(f"written: {file}")


def _result(found: dict[Whose, Any], estimates: Any, steps: dict[str, Any]) -> dict[str, Any]:
    """Plain values: all conditions and bounds too, which take as long as the answer."""
    shown: dict[str, Any] = {one.value.replace("-", "_"): numbers.to_json() for one, numbers in found.items()}
    made: dict[str, Any] = shown if len(shown) > 1 else next(iter(shown.values()))
    made |= {} if estimates is None else {"estimates": estimates.to_json()}
    return made | ({"sharp": {one: step.to_json() for one, step in steps.items()}} if steps else {})


def _conditions(one: Whose) -> Any:
    """The function of one paper; the symbols of the other take a second to make."""
    if one is Whose.c_flag:
        from cflag_theory.studies.stepsize.conditions import step_sizes

        return step_sizes
    from cflag_theory.studies.stepsize.cfl_conditions import cfl_step_sizes

    return cfl_step_sizes


def _sharp(found: dict[Whose, Any]) -> dict[str, Any]:
    from cflag_theory.cli.shell import progress_bar
    from cflag_theory.studies.stepsize.sharp_steps import sharp_step

    with progress_bar("worst cases", len(found)) as advance:
        steps: dict[str, Any] = {}
        for one, numbers in found.items():
            steps[one] = sharp_step(numbers)
            advance(1, one.value)
    return steps


def _write(
    found: dict[Whose, Any], result: Callable[[], dict[str, Any]], plot: Path | None, out: Path | None, sharp: bool
) -> list[Path]:
    """The figures and the numbers; where there are two figures, the name of the one of CFL ends in _cfl.

    With `sharp` the plane has the three regions of exact worst cases.
    """
    import json

    from cflag_theory.files import write_text

    files: list[Path] = []
    regions = {}
    if plot is not None or out is not None:
        from cflag_theory.figures import save, sharp_plane_figure, step_sizes_figure
        from cflag_theory.studies.stepsize.cfl_region import cfl_region
        from cflag_theory.studies.stepsize.region import region

        def plane_of(one: Whose, numbers: Any) -> Any:
            if sharp:
                from cflag_theory.studies.stepsize.sharp_steps import sharp_plane

                return sharp_plane(numbers)
            return (cfl_region if one is Whose.cfl else region)(numbers)

        planes = {
            "_cfl" if one is Whose.cfl and len(found) > 1 else "": plane_of(one, numbers)
            for one, numbers in found.items()
        }
        for ending, plane in planes.items():
            shown = plane.to_json()
            figure = (sharp_plane_figure if sharp else step_sizes_figure)(shown)
            if plot is not None:
                files += save(figure, plot.parent, plot.stem + ending, (plot.suffix.lstrip("."),))
            if out is not None:
                files += save(figure, out, "step_sizes" + ending)
                regions["region" + ending] = shown
    if out is not None:
        write_text(out / "step_sizes.json", json.dumps(result() | regions, indent=1, allow_nan=False))
        files.append(out / "step_sizes.json")
    return files
