"""`cflag forgetting`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from cflag_theory.cli import shell
from cflag_theory.errors import InvalidInput, MissingExtra

AlphaOption = Annotated[float | None, Option(help="Step size on memory; default: 1 / (2 L).")]
BetaOption = Annotated[float | None, Option(help="Step size on the current data; default: 1 / (3 L E).")]
ReplicasOption = Annotated[int, Option(help="Independent runs.")]


@shell.takes_groups()
def forgetting_command(
    real: shell.Real,
    kept: shell.Kept,
    alpha: AlphaOption = None,
    beta: BetaOption = None,
    local_steps: shell.StepsOption = 10,
    problem: Annotated[
        str | None, Option(help=f"Synthetic: {shell.PROBLEM_NAMES}.", rich_help_panel=shell.GROUP)
    ] = None,
    dial: shell.DialOption = None,
    rounds: Annotated[int, Option("--T", help="Rounds.")] = 200,
    replicas: ReplicasOption = 16,
    seed: shell.SeedOption = 0,
    details: shell.DetailsOption = False,
    out: Annotated[Path | None, Option(help="Folder for forgetting.json and the figures.")] = None,
    format: shell.FormatOption = shell.Format.table,
) -> None:
    """Measure forgetting, Gamma(t), and compare adaptive rates.

    Prints Gamma(t) along the rounds at low, medium and high heterogeneity. At the medium level it also compares the
    rules for adaptive rates.

    Without --problem and --data: the default problem and the handwritten digits.

    With --zeta, or with --dial heterogeneity=0.5: one level instead of three.
    """
    from cflag_theory.cli.tables import forgetting as tables_forgetting
    from cflag_theory.cli.tables.trace import describe
    from cflag_theory.studies.forgetting.adaptive_rates import RULES, adaptive_study
    from cflag_theory.studies.forgetting.heterogeneity import (
        ROWS,
        Case,
        Setting,
        data_cases,
        forgetting_study,
        sentences,
        synthetic_cases,
    )
    from cflag_theory.studies.inputs import data_split, read_dials, read_problem, require_data

    setting = Setting(alpha=alpha, beta=beta, local_steps=local_steps, rounds=rounds, replicas=replicas, seed=seed)
    if out is not None:
        shell.take_folder(out)
    require_fitting(real, problem=problem, dial=dial)
    split = real.split()
    source = split.pop("data")
    both = problem is None and source is None and not dial
    if real.describe:
        about = {**split, "problem": problem or "default", "dials": dial or (), "data": source, "seed": seed}
        describe(lambda columns: read_problem(**{**about, "columns": columns}), real.columns, format)
        return
    if source is None and not both:
        require_data(**split)
    cases: list[Case] = []
    if source is None:
        cases += synthetic_cases(problem or "default", kept.read(data=False), dials=read_dials(dial or ()), seed=seed)
    if source is not None or both:
        name = source or "digits"
        words = data_split(name, **split)
        words["zeta"] = real.zeta
        try:
            cases += data_cases(name, kept.read(data=True), seed=seed, **words)
        except MissingExtra as error:
            if source is not None:
                raise
            typer.echo(f"Without real data: {error}", err=True)
    compared = [case for case in cases if case.level in ("medium", "as given")]
    with shell.progress_bar("forgetting", len(cases) * len(ROWS) + 2 * len(compared) * len(RULES)) as advance:
        found = forgetting_study(cases, setting, progress=lambda words: advance(1, words))
        studies = [
            adaptive_study(
                case.problem,
                case.memory,
                setting,
                title=f"{case.study}, {case.words}",
                progress=lambda words: advance(2, words),
            )
            for case in compared
        ]
    shell.show_study(
        [found, *studies],
        out,
        "forgetting",
        results={
            "forgetting": [one.to_json() for one in found],
            "sentences": sentences(found),
            "adaptive_rates": [study.to_json() for study in studies],
        },
        format=format,
        table=tables_forgetting.forgetting,
        details=details,
        rest="Intervals, differences and the claims behind them",
    )


def require_fitting(
    real: shell.Real, *, dial: Sequence[str] | None, problem: str | None = None, task: Sequence[str] | None = None
) -> None:
    """Refuse options of synthetic problems with real data, and the other way round."""
    data, zeta = real.data, real.zeta
    if data is not None and problem is not None:
        raise InvalidInput(
            f"problem {problem!r} and data {data!r} cannot be used together: leave out --problem or --data"
        )
    if data is not None and dial:
        raise InvalidInput(f"dial {dial[0]!r} is only for synthetic problems: leave out --dial or --data")
    if data is None and zeta is not None:
        raise InvalidInput(f"zeta = {zeta:g} splits real data: add --data, such as --data digits")
    if data is None and task:
        raise InvalidInput(f"task {task[0]!r} is only for real data: add --data, such as --data digits")
