"""`cflag tasks`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from cflag_theory.cli import shell
from cflag_theory.cli.commands.forgetting import AlphaOption, BetaOption, ReplicasOption, require_fitting
from cflag_theory.errors import MissingExtra

if TYPE_CHECKING:
    from cflag_theory.kernels import TaskSequence
    from cflag_theory.studies.inputs import Columns


_LEARNERS: Sequence[str] = (
    "fedtrack",
    "c_flag/ring/20",
    "c_flag/reservoir/20",
    "c_flag/all",
    "c_flag_adaptive/reservoir/20",
)


@shell.takes_groups("past_classes", "current_classes", "task_column")
def tasks_command(
    real: shell.Real,
    learner: Annotated[
        list[str] | None,
        Option(help="ALGORITHM, or with a memory step ALGORITHM/BUFFER/SIZE, such as c_flag/ring/20; repeatable."),
    ] = None,
    task: Annotated[
        list[str] | None,
        Option(help="Classes of one task, such as 0-1, in order; repeatable.", rich_help_panel=shell.DATA),
    ] = None,
    dial: shell.DialOption = None,
    alpha: AlphaOption = None,
    beta: BetaOption = None,
    local_steps: shell.StepsOption = 10,
    rounds: Annotated[int, Option("--T", help="Rounds of each task.")] = 100,
    first_rounds: Annotated[int | None, Option(help="Rounds of the first task; 0: x_0 has learned it.")] = None,
    replicas: ReplicasOption = 8,
    seed: shell.SeedOption = 0,
    details: shell.DetailsOption = False,
    out: Annotated[Path | None, Option(help="Folder for tasks.json and the figures.")] = None,
    format: shell.FormatOption = shell.Format.table,
) -> None:
    """Train on several tasks in a row, and measure forgetting.

    What every earlier task loses, and where time and gradient evaluations go.

    Without --data and --dial: synthetic tasks, and the handwritten digits in five tasks of two.

    Buffers fill the memories: all, ring (class-balanced, the newest of each) or reservoir (uniform over all seen).
    """
    from cflag_theory.cli.tables import forgetting as tables_forgetting
    from cflag_theory.cli.tables.trace import describe
    from cflag_theory.kernels import load_tasks, random_tasks
    from cflag_theory.kernels.problems.by_name import with_dials
    from cflag_theory.kernels.problems.tasks import PAIRS
    from cflag_theory.studies.forgetting.heterogeneity import Setting
    from cflag_theory.studies.forgetting.tasks import read_learner, task_study
    from cflag_theory.studies.inputs import classes, data_split, read_dials, require_data

    setting = Setting(alpha=alpha, beta=beta, local_steps=local_steps, rounds=rounds, replicas=replicas, seed=seed)
    if out is not None:
        shell.take_folder(out)
    require_fitting(real, dial=dial, task=task)
    learners = [read_learner(words) for words in learner or _LEARNERS]
    split, source = real.split(), real.data or "digits"
    split.pop("data")

    def real_tasks(columns: Columns) -> TaskSequence:
        groups = [classes(words, "task", source) for words in task] if task else PAIRS
        return load_tasks(source, tasks=groups, seed=seed, **data_split(source, **{**split, "columns": columns}))

    if real.describe:
        describe(lambda columns: real_tasks(columns).problem, real.columns, format)
        return
    sequences = []
    if real.data is None:
        sequences.append(with_dials("the synthetic sequence", random_tasks, {"seed": seed, **read_dials(dial or ())}))
        if dial:
            require_data(**split)
    if real.data is not None or not dial:
        try:
            sequences.append(real_tasks(real.columns))
        except MissingExtra as error:
            if real.data is not None:
                raise
            typer.echo(f"Without real data: {error}", err=True)
    with shell.progress_bar("tasks", len(sequences) * len(learners) * replicas) as advance:
        studies = [
            task_study(sequence, learners, setting, first_rounds=first_rounds, progress=lambda words: advance(1, words))
            for sequence in sequences
        ]
    shell.show_study(
        studies, out, "tasks", format=format, table=tables_forgetting.tasks, details=details, rest="Each task"
    )
