"""`cflag sharp`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cflag_theory.cli.shell import DetailsOption, Format, FormatOption, progress_bar, show_study, take_folder


def sharp_command(
    lemmas: Annotated[
        list[str] | None,
        typer.Argument(help="lemma12, lemma13, cor14, lemma15_1, lemma15_2, lemma16; default: all."),
    ] = None,
    n: Annotated[list[int] | None, typer.Option("--n", help="Components of a client; repeatable.")] = None,
    local_steps: Annotated[list[int] | None, typer.Option("--E", help="Local steps a round; repeatable.")] = None,
    step: Annotated[
        list[str] | None, typer.Option("--step", help="beta L E, such as 1/12 or 0.25; repeatable.")
    ] = None,
    order: Annotated[
        str,
        typer.Option(help="worst, cyclic, repeated, or the components refreshed at k = 1, ..., E - 1, such as 0,1,0."),
    ] = "worst",
    pep: Annotated[
        bool, typer.Option("--pep", help="Also by semidefinite programming, proved in fractions; n E up to 20 only.")
    ] = False,
    details: DetailsOption = False,
    out: Annotated[Path | None, typer.Option(help="Folder for sharp.json, sharp.png and sharp.svg.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Compare the constants of Lemmas 12 to 16 with exact ones.

    Also how large a step size each lemma really allows, and what that does to the 60 L of Lemma 3.
    """
    from cflag_theory.cli.tables import sharp as tables_sharp
    from cflag_theory.studies.worst_cases.constants import (
        LOCAL_STEPS,
        SIZES,
        SOLVED_LOCAL_STEPS,
        SOLVED_SIZES,
        STEPS,
        parse_order,
        parse_step,
        pieces,
        sharp,
    )
    from cflag_theory.studies.worst_cases.curves import sharp_curves

    usual = (SOLVED_SIZES, SOLVED_LOCAL_STEPS) if pep else (SIZES, LOCAL_STEPS)
    sizes, lengths = n or list(usual[0]), local_steps or list(usual[1])
    places = [parse_step(text) for text in step] if step else list(STEPS)
    if out is not None:
        take_folder(out)
    with progress_bar("worst cases", pieces(lemmas or (), sizes, lengths, places)) as advance:
        found = sharp(
            lemmas or (),
            n=sizes,
            local_steps=lengths,
            u=places,
            order=parse_order(order),
            pep=pep,
            progress=lambda words: advance(1, words),
        )
    results, curves = found.to_json(), None if out is None else sharp_curves(lemmas or (), n=sizes, local_steps=lengths)
    show_study(
        results,
        out,
        "sharp",
        format=format,
        shown=[found],
        table=tables_sharp.sharp,
        details=details,
        rest="Each n, E and beta L E, and Lemma 3",
        kept=results | {"curves": curves},
        allow_nan=False,
    )
