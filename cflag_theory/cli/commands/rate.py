"""`cflag rate`, for both papers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from cflag_theory.cli import shell

if TYPE_CHECKING:
    from cflag_theory.kernels import Problem
    from cflag_theory.studies.rates.families import RateCase
    from cflag_theory.studies.rates.past_task import Rate


#: Rounds that tell how fast functions in Python are, and seconds from which on it is said.
_TRIED, _LONG = 16, 30.0
#: The instances of `rates.instances`, which is too heavy to load for a help text.
NAMES = ("one-over-T", "floor-m", "floor-beta", "no-assumption-3", "redrawn", "alpha-diverges")


@shell.takes_groups()
def rate_command(
    real: shell.Real,
    kept: shell.Kept,
    paper: shell.PaperOption = shell.Paper.c_flag,
    problem: Annotated[
        str | None, Option(help="default, glm, separable, quadratic, or FILE.py:name.", rich_help_panel=shell.GROUP)
    ] = None,
    dial: shell.DialOption = None,
    algorithm: shell.AlgorithmOption = "c_flag",
    set_: shell.SetOption = None,
    local_steps: Annotated[
        int | None, Option("--E", help="Local steps a round; 10, for cfl 1.", rich_help_panel=shell.GROUP)
    ] = None,
    c: Annotated[float | None, Option(help="beta = c / T^a; default: a beta within 1/(12 L E).")] = None,
    power: Annotated[float, Option("--a", help="a of beta = c / T^a; 0: constant.")] = 0.5,
    alpha_factor: Annotated[float, Option(help="alpha = this / (L (1 + m)), below 2.")] = 1.0,
    horizons: Annotated[str | None, Option(help="Values of T, such as 16,32,64; default: 2^4 to 2^12.")] = None,
    up_to: Annotated[int | None, Option(help="Instead: powers of two from 16 to this T.")] = None,
    vary: Annotated[
        str | None, Option(help="One curve per value, such as m=0,0.25,0.5,1,2: m, r, E, N, c, a, alpha, a dial.")
    ] = None,
    instance: Annotated[str | None, Option(help=f"A problem with a closed form: {', '.join(NAMES)}.")] = None,
    replicas: Annotated[int, Option(help="Independent runs.")] = 32,
    mode: Annotated[str, Option(help="bitwise, or fast, up to rounding.")] = "bitwise",
    seed: shell.SeedOption = 0,
    details: shell.DetailsOption = False,
    out: Annotated[Path | None, Option(help="Folder for results, figures and done horizons.")] = None,
    format: shell.FormatOption = shell.Format.table,
) -> None:
    """Measure how fast gradients decrease with T, and compare with the bounds.

    Squared gradients of f, g and h~, with the paper's bounds and ours, and fitted slopes.

    Without --problem and --data: the default problem and the handwritten digits. With --out, an interrupted study
    continues where it stopped. With --paper cfl: the expected gap f(w_T) - f* of FedAvg and CFL on the noisy quadratic
    model, with fixed clients and with new clients in every round. Its numbers are dials, such as --dial D=10.
    """
    from cflag_theory.studies.rates.families import RateCase
    from cflag_theory.studies.rates.store import FILE

    if out is not None:
        shell.take_folder(out)
    if paper is shell.Paper.cfl:
        if algorithm != "c_flag" or any(
            one is not None for one in (problem, real.data, kept.memory, c, vary, instance, set_)
        ):
            raise typer.BadParameter(
                "--paper cfl runs the noisy quadratic model: leave out --problem, --algorithm, --set, --data, "
                "--memory, --c, --vary, --instance"
            )
        lengths = _horizons(horizons, up_to)
        cfl_rate_studies(
            dial or (), lengths, K=local_steps, replicas=replicas, seed=seed, out=out, format=format, details=details
        )
        return
    named = any(one is not None for one in (set_, problem, dial, kept.memory))
    own = named or algorithm != "c_flag" or replace(real, describe=False) != shell.Real()
    fixed = own or kept != shell.Kept() or local_steps is not None or c is not None
    if instance is not None and (fixed or vary is not None or power != 0.5 or alpha_factor != 1.0):
        raise typer.BadParameter("--instance fixes problem, memory and step sizes: leave out all but --horizons")
    lengths = _horizons(horizons, up_to)
    case = RateCase(
        problem="default" if problem is None else problem,
        dials=tuple(dial or ()),
        **real.split(),
        algorithm=algorithm,
        settings=tuple(set_ or ()),
        **asdict(kept),
        local_steps=10 if local_steps is None else local_steps,
        c=c,
        power=power,
        alpha_factor=alpha_factor,
        mode=mode,
        seed=seed,
    )
    if real.describe:
        from cflag_theory.cli.tables.trace import describe as describe_problem

        describe_problem(lambda columns: replace(case, columns=columns).build()[0], real.columns, format)
        return
    store = None if out is None else out / FILE
    try:
        if vary is not None:
            _family(case, vary, lengths, replicas=replicas, store=store, out=out, format=format)
        elif instance is not None:
            one = _instance(instance, lengths, replicas=replicas, mode=mode, seed=seed, store=store)
            _show([one], [], out, format, details=details)
        else:
            found, notes = _studies(case, own or fixed, lengths, replicas=replicas, store=store)
            _show(found, notes, out, format, details=details)
    except KeyboardInterrupt:
        if store is None:
            raise
        typer.echo(f"cflag: interrupted; finished horizons are in {store}, and the same command goes on", err=True)
        raise typer.Exit(130) from None


def _horizons(words: str | None, up_to: int | None) -> tuple[int, ...]:
    from cflag_theory.errors import InvalidInput
    from cflag_theory.studies.inputs import integers
    from cflag_theory.studies.rates.past_task import HORIZONS

    if up_to is None:
        return HORIZONS if words is None else integers(words, "horizons")
    if words is not None:
        raise typer.BadParameter("--horizons and --up-to both set T: give one of them")
    if up_to < 2 * HORIZONS[0]:
        raise InvalidInput(f"up-to is {up_to}: give a T of at least {2 * HORIZONS[0]}")
    return tuple(2**power for power in range(4, up_to.bit_length()))


def _studies(
    case: RateCase, own: bool, lengths: Sequence[int], *, replicas: int, store: Path | None
) -> tuple[list[Rate], list[str]]:
    notes: list[str] = []
    if own:
        studies = [case.build()]
        _warn_if_slow(case, studies[0][0], replicas * sum(lengths))
    else:
        from cflag_theory.studies.defaults import default_studies

        studies, notes = default_studies(case.seed)
    with shell.progress_bar("rate", len(studies) * sum(lengths)) as advance:
        found = [
            case.study(
                on=one, horizons=lengths, replicas=replicas, store=store, progress=lambda T: advance(T, f"T = {T}")
            )
            for one in studies
        ]
    return found, notes


def _warn_if_slow(case: RateCase, problem: Problem, rounds: int) -> None:
    """Say how long functions in Python will take, where it is long."""
    from cflag_theory.kernels import everything, simulate
    from cflag_theory.kernels.simulation import runs_in_python
    from cflag_theory.studies.inputs import read_algorithm

    row = read_algorithm(case.algorithm, case.settings)
    if not runs_in_python(problem, row):
        return
    begun = time.monotonic()
    simulate(problem, row, beta=1e-6, local_steps=case.local_steps, rounds=_TRIED, memory=everything(), throw=False)
    speed = _TRIED / (time.monotonic() - begun)
    if rounds / speed > _LONG:
        typer.echo(
            f"cflag: functions run in Python, about {speed:.0f} rounds a second: {rounds} rounds take "
            f"{rounds / speed / 60:.1f} minutes; --up-to and --replicas shorten it",
            err=True,
        )


def _instance(name: str, lengths: Sequence[int], *, replicas: int, mode: str, seed: int, store: Path | None) -> Rate:
    from cflag_theory.studies.rates.instances import instance_rate

    with shell.progress_bar("rate", sum(lengths)) as advance:
        return instance_rate(
            name,
            horizons=lengths,
            replicas=replicas,
            mode=mode,
            seed=seed,
            store=store,
            progress=lambda T: advance(T, f"T = {T}"),
        )


def _show(found: list[Rate], notes: Sequence[str], out: Path | None, format: shell.Format, *, details: bool) -> None:
    from cflag_theory.cli.tables import rate as tables

    rest = "Fitted slopes and all bounds"
    shell.show_study(found, out, "rate", format=format, table=tables.rate, details=details, rest=rest)
    for note in notes if format is shell.Format.table else ():
        typer.echo(note)


def _family(
    case: RateCase,
    vary: str,
    lengths: Sequence[int],
    *,
    replicas: int,
    store: Path | None,
    out: Path | None,
    format: shell.Format,
) -> None:
    from cflag_theory.cli.tables import rate as tables
    from cflag_theory.studies.rates.families import rate_family, varied_values

    name, values = varied_values(vary)
    with shell.progress_bar("rate", len(values) * sum(lengths)) as advance:
        found = rate_family(
            case,
            name,
            values,
            horizons=lengths,
            replicas=replicas,
            store=store,
            progress=lambda T: advance(T, f"T = {T}"),
        )
    shell.show_study(found, out, "rate_family", format=format, table=tables.family, details=True)


def cfl_rate_studies(
    dials: Sequence[str],
    lengths: Sequence[int],
    *,
    K: int | None,
    replicas: int,
    seed: int,
    out: Path | None,
    format: shell.Format,
    details: bool,
) -> None:
    """`cflag rate --paper cfl`: clients that stay, and clients that are new in every round."""
    from cflag_theory.cli.tables import nqm as tables
    from cflag_theory.studies.inputs import read_model
    from cflag_theory.studies.rates.cfl import cfl_rate

    models = [read_model(dials, K=1 if K is None else K, stateless=stateless) for stateless in (False, True)]
    with shell.progress_bar("rate", len(models) * sum(lengths)) as advance:
        found = [
            cfl_rate(model, horizons=lengths, replicas=replicas, seed=seed, progress=lambda T: advance(T, f"T = {T}"))
            for model in models
        ]
    rest = "Simulated runs, proved bounds and printed rates"
    shell.show_study(found, out, "cfl_rate", format=format, table=tables.cfl_rate, details=details, rest=rest)
