"""`cflag plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from cflag_theory.errors import InvalidInput


def plot_command(
    results: Annotated[
        Path, Argument(help="A folder that cflag sweep wrote, or a .json file or folder of another command.")
    ],
    figure: Annotated[
        str, Option(help="Of a sweep: series (y against x), curves (y along rounds) or map (y over x and --by).")
    ] = "series",
    x: Annotated[str, Option(help="Column on the x axis.")] = "T",
    y: Annotated[str | None, Option(help="Column that is drawn; default: min_grad_f2, and grad_f2 for curves.")] = None,
    by: Annotated[
        str | None, Option(help="Coordinates that tell lines apart, such as algorithm,m; default: all.")
    ] = None,
    where: Annotated[
        list[str] | None, Option(help="Only rows with this value, KEY=VALUE, such as algorithm=c_flag; repeatable.")
    ] = None,
    partial: Annotated[bool, Option("--partial", help="Draw a sweep that is not complete.")] = False,
    out: Annotated[Path | None, Option(help="Folder of the figure; default: that of the results.")] = None,
    name: Annotated[str | None, Option(help="Name of the figure's files; default: that of the figure.")] = None,
) -> None:
    """Plot stored results; nothing is run."""
    from cflag_theory.cli.plots import plot, plot_stored
    from cflag_theory.figures import save
    from cflag_theory.files import check_writable, own_folder
    from cflag_theory.studies.sweeps.store import HEADER

    folder = results if results.is_dir() else results.parent
    if (results / HEADER).exists() or results.name == HEADER:
        found = {
            name or figure: plot(
                folder,
                figure=figure,
                x=x,
                y=y,
                by=None if by is None else [key.strip() for key in by.split(",")],
                where=_pairs(where or ()),
                partial=partial,
            )
        }
    else:
        given = {"--figure": figure != "series", "--x": x != "T", "--y": y, "--by": by, "--where": where}
        for option in [option for option, is_given in (given | {"--partial": partial}).items() if is_given]:
            raise InvalidInput(f"{option} is only for the results of a sweep, and {results} holds none: leave it out")
        found = plot_stored(results)
        if name is not None and len(found) > 1:
            raise InvalidInput(f"{results} has {len(found)} figures, which keep their names: leave out --name")
        if name is not None:
            found = dict(zip([name], found.values(), strict=True))
    target = check_writable(folder) if out is None else own_folder(out)
    for title, drawn in found.items():
        written = save(drawn, target, title)
        if drawn.alt:
            typer.echo(drawn.alt)
        typer.echo(f"figure: {', '.join(map(str, written))}")


def _pairs(words: list[str] | tuple[()]) -> dict[str, str]:
    pairs = {}
    for one in words:
        key, equals, value = one.partition("=")
        if not (key and equals and value):
            raise typer.BadParameter(f"{one!r} is not understood: write KEY=VALUE, such as algorithm=c_flag")
        pairs[key.strip()] = value.strip()
    return pairs
