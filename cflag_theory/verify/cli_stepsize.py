"""`cflag stepsize`, for both papers."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cflag_theory.verify.shell import Format, FormatOption, Paper, PaperOption, print_json


def stepsize_command(
    L: Annotated[float, typer.Option("--L", help="Smoothness constant.")],
    rounds: Annotated[int, typer.Option("--T", help="Rounds.")],
    paper: PaperOption = Paper.c_flag,
    m: Annotated[float | None, typer.Option("--m", help="c-flag: bias constant of (27).")] = None,
    local_steps: Annotated[int | None, typer.Option("--E", help="c-flag: local steps a round.")] = None,
    alpha: Annotated[float | None, typer.Option(help="c-flag: step size on memory.")] = None,
    beta: Annotated[float | None, typer.Option(help="c-flag: step size on the current data.")] = None,
    K: Annotated[int | None, typer.Option("--K", help="cfl: local steps a round.")] = None,
    eta_l: Annotated[float | None, typer.Option(help="cfl: local step size.")] = None,
    eta_g: Annotated[float | None, typer.Option(help="cfl: global step size; 1 without it.")] = None,
    mu: Annotated[float | None, typer.Option(help="cfl: convexity; 0 without it.")] = None,
    A: Annotated[float | None, typer.Option("--A", help="cfl: relative time drift; 0 without it.")] = None,
    B: Annotated[float | None, typer.Option("--B", help="cfl: relative client drift; 0 without it.")] = None,
    D: Annotated[float | None, typer.Option("--D", help="cfl: time drift, for the weights of Lemma B.4.")] = None,
    R: Annotated[float | None, typer.Option("--R", help="cfl: information loss, for the weights.")] = None,
    format: FormatOption = Format.table,
) -> None:
    """Which step-size conditions of a paper hold, by what factor, and what each unlocks."""
    from cflag_theory.verify import tables
    from cflag_theory.verify.conditions import cfl_step_sizes, step_sizes

    of_c_flag: dict[str, Any] = {"--m": m, "--E": local_steps, "--alpha": alpha, "--beta": beta}
    of_cfl: dict[str, Any] = {"--K": K, "--eta-l": eta_l}
    optional: dict[str, Any] = {"eta_g": eta_g, "mu": mu, "A": A, "B": B, "D": D, "R": R}
    needed = of_cfl if paper is Paper.cfl else of_c_flag
    other = (
        of_c_flag
        if paper is Paper.cfl
        else of_cfl | {f"--{name.replace('_', '-')}": optional[name] for name in optional}
    )
    for option, value in needed.items():
        if value is None:
            raise typer.BadParameter(f"--paper {paper.value} needs {option}")
    for option, value in other.items():
        if value is not None:
            raise typer.BadParameter(f"{option} is not an option of --paper {paper.value}: leave it out")
    given = {name: value for name, value in optional.items() if value is not None}
    found: Any
    if paper is Paper.cfl:
        found = cfl_step_sizes(L=L, K=of_cfl["--K"], eta_l=of_cfl["--eta-l"], T=rounds, **given)
    else:
        found = step_sizes(L=L, T=rounds, **{option[2:]: value for option, value in of_c_flag.items()})
    if format is Format.json:
        print_json(found.to_json())
        return
    tables.step_sizes(found)
