"""`cflag stepsize`, for both papers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from cflag_theory.cli.shell import Format, FormatOption, print_json, take_folder
from cflag_theory.errors import InvalidInput

PICTURES = ("png", "svg", "pdf")


class Whose(StrEnum):
    """Whose conditions are meant."""

    c_flag = "c-flag"
    cfl = "cfl"
    both = "both"


# Options by paper, with what the Python function calls them; the first ones are needed.
_NEEDED = {Whose.c_flag: ("L", "m", "E", "alpha", "beta", "T"), Whose.cfl: ("L", "K", "eta_l", "T")}
_FREE = {
    Whose.c_flag: ("r", "gap", "grad_g", "grad_g0", "gap_g", "gap_h", "omega", "memory_gap", "N", "n", "memory_size"),
    Whose.cfl: ("eta_g", "mu", "A", "B", "D", "R", "N", "G", "sigma", "distance", "gap"),
}
_FOR_BOTH = ("epsilon", "measured")
_FILLED = ("L", "m", "r", "gap", "grad_g", "grad_g0")


def stepsize_command(
    L: Annotated[float | None, typer.Option("--L", help="Smoothness constant, of every component.")] = None,
    rounds: Annotated[int | None, typer.Option("--T", help="Rounds.")] = None,
    paper: Annotated[
        Whose, typer.Option(help="Which paper: c-flag, cfl, or both, with K = E and eta_l = beta.")
    ] = Whose.c_flag,
    m: Annotated[float | None, typer.Option("--m", help="c-flag: bias constant of (27).")] = None,
    r: Annotated[float | None, typer.Option("--r", help="c-flag: r of Lemma 10; may be inf.")] = None,
    local_steps: Annotated[int | None, typer.Option("--E", help="c-flag: local steps a round.")] = None,
    alpha: Annotated[float | None, typer.Option(help="c-flag: step size on memory.")] = None,
    beta: Annotated[float | None, typer.Option(help="c-flag: step size on the current data.")] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Target: print the rounds to reach it, and the best step sizes.")
    ] = None,
    gap: Annotated[float | None, typer.Option(help="f(x_0) - inf f; default: 1, for cfl unknown.")] = None,
    grad_g: Annotated[float | None, typer.Option(help="c-flag: root mean square of ||grad g|| along the run.")] = None,
    grad_g0: Annotated[float | None, typer.Option("--grad-g0", help="c-flag: ||grad g(x_0)||.")] = None,
    gap_g: Annotated[float | None, typer.Option(help="c-flag: g(x_0) - inf g.")] = None,
    gap_h: Annotated[float | None, typer.Option(help="c-flag: initial gap of h~, and of h^.")] = None,
    omega: Annotated[float | None, typer.Option(help="c-flag: omega of Lemma 11.")] = None,
    memory_gap: Annotated[float | None, typer.Option(help="c-flag: largest ||grad f_memory - grad g||.")] = None,
    N: Annotated[int | None, typer.Option("--N", help="Clients.")] = None,
    n: Annotated[int | None, typer.Option("--n", help="c-flag: components of a client, to count gradients.")] = None,
    memory_size: Annotated[int | None, typer.Option(help="c-flag: components that a client remembers.")] = None,
    K: Annotated[int | None, typer.Option("--K", help="cfl: local steps a round.")] = None,
    eta_l: Annotated[float | None, typer.Option(help="cfl: local step size.")] = None,
    eta_g: Annotated[float | None, typer.Option(help="cfl: global step size; default: 1.")] = None,
    mu: Annotated[float | None, typer.Option(help="cfl: convexity; default: 0.")] = None,
    A: Annotated[float | None, typer.Option("--A", help="cfl: relative time drift; default: 0.")] = None,
    B: Annotated[float | None, typer.Option("--B", help="cfl: relative client drift; default: 0.")] = None,
    D: Annotated[float | None, typer.Option("--D", help="cfl: time drift, for the weights of Lemma B.4.")] = None,
    R: Annotated[float | None, typer.Option("--R", help="cfl: information loss, for the weights.")] = None,
    G: Annotated[float | None, typer.Option("--G", help="cfl: client drift; default: 0.")] = None,
    sigma: Annotated[float | None, typer.Option(help="cfl: gradient noise; default: 0.")] = None,
    distance: Annotated[float | None, typer.Option(help="cfl: ||w_0 - w*||.")] = None,
    from_trace: Annotated[
        Path | None, typer.Option(help="c-flag: a Trace; missing numbers are estimated from it, L, m and r from below.")
    ] = None,
    lowest: Annotated[
        float | None, typer.Option(help="A lower bound of the losses, to estimate L from a Trace; often 0.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Figure of the bounds over both step sizes: .png, .svg or .pdf.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for step_sizes.json and the figure.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Check step-size conditions, and compute bounds and rounds.

    Lists the conditions of the paper and those of our own theorems, and bounds, each with what it still needs. With
    --epsilon: the rounds to the target, and the best step sizes for it.
    """
    given: dict[str, Any] = {
        name: value
        for name, value in (
            *(("L", L), ("T", rounds), ("m", m), ("r", r), ("E", local_steps), ("alpha", alpha), ("beta", beta)),
            *(("epsilon", epsilon), ("gap", gap), ("grad_g", grad_g), ("grad_g0", grad_g0), ("gap_g", gap_g)),
            *(("gap_h", gap_h), ("omega", omega), ("memory_gap", memory_gap), ("N", N), ("n", n)),
            *(("memory_size", memory_size), ("K", K), ("eta_l", eta_l), ("eta_g", eta_g), ("mu", mu), ("A", A)),
            *(("B", B), ("D", D), ("R", R), ("G", G), ("sigma", sigma), ("distance", distance)),
        )
        if value is not None
    }
    _check_options(paper, given, from_trace, lowest, plot)
    estimates = None
    if from_trace is not None:
        estimates = _fill(given, from_trace, lowest)
    asked = (Whose.c_flag, Whose.cfl) if paper is Whose.both else (paper,)
    if paper is Whose.both and {"E", "beta"} <= set(given):
        given |= {"K": given["E"], "eta_l": given["beta"]}
    counted = given
    if paper is Whose.both and not {"n", "memory_size"} & set(given):
        # N is then meant for the bounds of the other paper, not for a count of gradients.
        counted = {name: value for name, value in given.items() if name != "N"}
    missing = [_option(name) for one in asked for name in _NEEDED[one] if name not in given]
    if missing:
        raise typer.BadParameter(f"--paper {paper.value} needs {', '.join(dict.fromkeys(missing))}")
    _run({Whose.c_flag: counted, Whose.cfl: given}, asked, estimates, plot, out, format)


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
    format: Format,
) -> None:
    from cflag_theory.cli.tables import step_sizes as tables_step_sizes
    from cflag_theory.files import check_file_writable
    from cflag_theory.studies.stepsize.cfl_conditions import cfl_step_sizes
    from cflag_theory.studies.stepsize.conditions import step_sizes

    if out is not None:
        take_folder(out)
    if plot is not None:
        check_file_writable(plot)
    compute: dict[Whose, Any] = {Whose.c_flag: step_sizes, Whose.cfl: cfl_step_sizes}
    found = {
        one: compute[one](
            **{name: given[one][name] for name in (*_NEEDED[one], *_FREE[one], *_FOR_BOTH) if name in given[one]}
        )
        for one in asked
    }
    shown: dict[str, Any] = {one.value.replace("-", "_"): result.to_json() for one, result in found.items()}
    result = shown if len(asked) > 1 else next(iter(shown.values()))
    if estimates is not None:
        result["estimates"] = estimates.to_json()
    files = _write(found, result, plot, out)
    if format is Format.json:
        print_json(result)
        return
    if estimates is not None:
        tables_step_sizes.estimates(estimates)
    for one, numbers in found.items():
        (tables_step_sizes.c_flag if one is Whose.c_flag else tables_step_sizes.cfl)(numbers)
    for file in files:
        typer.echo(f"written: {file}")


def _write(found: dict[Whose, Any], result: dict[str, Any], plot: Path | None, out: Path | None) -> list[Path]:
    """The figures and the numbers; where there are two figures, the name of the one of CFL ends in _cfl."""
    import json

    from cflag_theory.files import write_text

    files: list[Path] = []
    if plot is not None or out is not None:
        from cflag_theory.figures import save, step_sizes_figure
        from cflag_theory.studies.stepsize.cfl_region import cfl_region
        from cflag_theory.studies.stepsize.region import region

        planes = {
            "_cfl" if one is Whose.cfl and len(found) > 1 else "": (cfl_region if one is Whose.cfl else region)(numbers)
            for one, numbers in found.items()
        }
        for ending, plane in planes.items():
            shown = plane.to_json()
            figure = step_sizes_figure(shown)
            if plot is not None:
                files += save(figure, plot.parent, plot.stem + ending, (plot.suffix.lstrip("."),))
            if out is not None:
                files += save(figure, out, "step_sizes" + ending)
                result = result | {"region" + ending: shown}
    if out is not None:
        write_text(out / "step_sizes.json", json.dumps(result, indent=1, allow_nan=False))
        files.append(out / "step_sizes.json")
    return files
