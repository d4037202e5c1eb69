"""The options by which commands name a problem, a memory and a run."""

from __future__ import annotations

from typing import Annotated

import typer

ProblemOption = Annotated[
    str, typer.Option(help="A synthetic problem, such as default or noisy_quadratic; a wrong name lists them.")
]
DialOption = Annotated[
    list[str] | None, typer.Option("--dial", help="A parameter of the problem, KEY=VALUE; repeatable.")
]
DataOption = Annotated[str | None, typer.Option(help="Real data: digits, or a .npz or .csv file with labels.")]
ClientsOption = Annotated[int, typer.Option(help="Clients that the real data are split among.")]
ZetaOption = Annotated[float, typer.Option(help="Dirichlet parameter of the split of real data.")]
PastOption = Annotated[str, typer.Option(help="Classes of the past task, such as 0-4.")]
CurrentOption = Annotated[str, typer.Option(help="Classes of the current task, such as 5-9.")]
MemoryOption = Annotated[str | None, typer.Option(help="all, uniform, balanced, sign or rotation.")]
MemorySizeOption = Annotated[int | None, typer.Option(help="Number of past components that each client keeps.")]
BiasOption = Annotated[float | None, typer.Option("--m", help="m of the sign and rotation memories.")]
RedrawOption = Annotated[bool, typer.Option(help="Draw a new memory every round.")]
StepsOption = Annotated[int, typer.Option("--E", help="Local steps per round.")]
