"""The options by which commands name a problem, a memory and a run."""

from __future__ import annotations

from typing import Annotated

import typer

GROUP = "Problem, data, algorithm and memory"
#: Names of problems and algorithms, which are too heavy to load for a help text.
PROBLEM_NAMES = "default, glm, separable, quadratic, evolving, noisy_quadratic"
ALGORITHM_NAMES = (
    "c_flag, fedtrack, fedavg, fedprox, scaffold, local_gd, c_flag_printed, c_flag_adaptive, c_flag_adaptive_printed, "
    "cfl, cfl_taylor, cfl_diagonal, cfl_fisher, cfl_core_set, cfl_herding, mimelite"
)
ProblemOption = Annotated[str, typer.Option(help=f"{PROBLEM_NAMES}, or your own, FILE.py:name.")]
DialOption = Annotated[
    list[str] | None, typer.Option("--dial", help="A parameter of the problem, KEY=VALUE; repeatable.")
]
DataOption = Annotated[
    str | None, typer.Option(help="Real data: digits, or a .npz, .csv, .tsv, .txt or .csv.gz file; see docs/data.md.")
]
FeaturesOption = Annotated[
    str | None, typer.Option(help="Columns to use, such as age,income; default: all that tell something.")
]
MissingOption = Annotated[
    str | None, typer.Option(help="drop, the default: rows with missing values; or mean: of the column.")
]
ScaleOption = Annotated[bool, typer.Option("--scale", help="Give features mean 0 and variance 1.")]
ReadOption = Annotated[
    list[str] | None,
    typer.Option(
        "--read", help="encoding, delimiter, decimal, header, levels, target or drop of a table, KEY=VALUE; repeatable."
    ),
]
DescribeOption = Annotated[bool, typer.Option("--describe", help="Say how the data are read, and run nothing.")]
ClientsOption = Annotated[int, typer.Option(help="Clients that the real data are split among.")]
ZetaOption = Annotated[float, typer.Option(help="Dirichlet parameter of the split of real data.")]
PastOption = Annotated[
    str | None, typer.Option(help="Classes of the past task, such as 0-4 (so for digits), or words.")
]
CurrentOption = Annotated[
    str | None, typer.Option(help="Classes of the current task, such as 5-9 (so for digits), or words.")
]
LabelColumnOption = Annotated[
    str | None, typer.Option(help="Column (npz: array) of the labels or of y; default: label (npz: labels).")
]
TaskColumnOption = Annotated[
    str | None,
    typer.Option(help="Column of two values: the smaller marks the past task; default: halves of the file."),
]
ClientColumnOption = Annotated[
    str | None, typer.Option(help="Column of the clients; default: drawn, see --clients and --zeta.")
]
PositiveOption = Annotated[
    str | None,
    typer.Option(help="Labels that become y = +1, such as 1,3; default: the larger of two, else the odd ones."),
]
PotentialOption = Annotated[
    str | None,
    typer.Option(
        help="Loss: logistic, quadratic, huber, cauchy (the default), geman_mcclure, cosine, or your own, FILE.py:name."
    ),
]
AlgorithmOption = Annotated[str, typer.Option(help=f"{ALGORITHM_NAMES}, or your own, FILE.py:name.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="A field of the row or a setting of your own, KEY=VALUE; repeatable."),
]
MemoryOption = Annotated[str | None, typer.Option(help="all, uniform, balanced, sign or rotation.")]
MemorySizeOption = Annotated[int | None, typer.Option(help="Number of past components that each client keeps.")]
BiasOption = Annotated[float | None, typer.Option("--m", help="m of the sign and rotation memories.")]
RedrawOption = Annotated[bool, typer.Option(help="Draw a new memory every round.")]
StepsOption = Annotated[int, typer.Option("--E", help="Local steps per round.")]

# Help lists all of them as one group.
for _option in [one for one in globals().values() if hasattr(one, "__metadata__")]:
    _option.__metadata__[0].rich_help_panel = GROUP
