"""`cflag errata`: what is wrong in a paper, as a list for its authors."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cflag_theory.cli.shell import Paper, PaperOption, RecheckOption, SeedOption, progress_bar


def errata_command(
    paper: PaperOption = Paper.c_flag,
    out: Annotated[Path | None, typer.Option(help="NAME.tex or NAME.md; default: Markdown on standard output.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Processes; default: all usable cores.")] = None,
    seed: SeedOption = 0,
    recheck: RecheckOption = False,
) -> None:
    """List what is wrong in a paper, for its authors.

    Every statement that fails as printed, with a counterexample, a correction and its proof, as LaTeX or Markdown.
    """
    from cflag_theory.cli import errata
    from cflag_theory.files import write_text
    from cflag_theory.verify.check import verify
    from cflag_theory.verify.kept import Kept

    if out is not None:
        errata.check_target(out)
    name = {Paper.c_flag: "C-FLAG", Paper.cfl: "CFL"}[paper]
    ids = errata.rows(name)
    kept = None if recheck else Kept()
    with progress_bar("claims", len(ids)) as advance:
        verdicts = verify(ids, seed=seed, jobs=jobs, progress=lambda id: advance(1, id), kept=kept)
    suffix = ".md" if out is None else out.suffix
    # The CFL paper's local steps are K of them: its E is the expectation.
    text = errata.errata(verdicts, name, errata.FORMATS[suffix](expectation=name == "CFL"))
    if out is None:
        typer.echo(text, nl=False)
        return
    write_text(out, text)
    typer.echo(f"errata: {out}")
