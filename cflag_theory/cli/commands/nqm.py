"""`cflag nqm`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from cflag_theory.cli import shell

if TYPE_CHECKING:
    pass


def nqm_command(
    dimension: Annotated[int, Option("--n", help="Dimension of w.")] = 50,
    clients: Annotated[int, Option("--N", help="Clients, all of whom take part.")] = 7,
    local_steps: Annotated[int, Option("--K", help="Local steps a round.")] = 3,
    rounds: Annotated[int, Option("--T", help="Rounds.")] = 20,
    spectrum: Annotated[str, Option(help="Eigenvalues of A from mu to L: linear or log.")] = "linear",
    start: Annotated[str, Option(help="What --distance measures: w (w_0 - w*) or gradient (A w_0 + B).")] = "w",
    distance: Annotated[float, Option(help="Size of every coordinate at the start.")] = 1.0,
    per: Annotated[str, Option(help="Printed sizes of drifts and noise are per vector or per coordinate.")] = "vector",
    criterion: Annotated[
        str,
        Option(help="The best rate minimises the mean of ||A w + B|| at the end (final), over the last tenth, or all."),
    ] = "final",
    weights: Annotated[str, Option(help="Weights of rounds: lemma B.4 or uniform.")] = "lemma B.4",
    proximal: Annotated[float, Option(help="Proximal weight of FedProx.")] = 0.1,
    grid: Annotated[float, Option(help="Step of the grid of learning rates.")] = 0.0025,
    replicas: Annotated[int, Option(help="Simulated runs, to compare with the exact moments; 0: none.")] = 64,
    search: Annotated[bool, Option(help="Also search over the parameters that the paper omits.")] = True,
    seed: shell.SeedOption = 0,
    details: shell.DetailsOption = False,
    out: Annotated[Path | None, Option(help="Folder for nqm.json, nqm.png and nqm.svg.")] = None,
    format: shell.FormatOption = shell.Format.table,
) -> None:
    """Recompute Table 3 and Figure 2 of the CFL paper."""
    from cflag_theory.cli.tables import nqm as tables_nqm
    from cflag_theory.studies.nqm.best_rates import Setting
    from cflag_theory.studies.nqm.table3 import nqm_study, pieces

    setting = Setting(
        dimension=dimension,
        clients=clients,
        local_steps=local_steps,
        rounds=rounds,
        spectrum=spectrum,
        start=start,
        distance=distance,
        per=per,
        criterion=criterion,
        weights=weights,
        proximal=proximal,
        grid=grid,
    )
    if out is not None:
        shell.take_folder(out)
    with shell.progress_bar("noisy quadratic model", pieces(replicas=replicas, searched=search)) as advance:
        found = nqm_study(
            setting, replicas=replicas, seed=seed, searched=search, progress=lambda words: advance(1, words)
        )
    panels = found.pop("panels")
    shell.show_study(
        found,
        out,
        "nqm",
        results=found,
        format=format,
        table=tables_nqm.nqm,
        details=details,
        rest="Criteria, baselines, runs and the search over what the paper omits",
        kept=found | {"panels": panels},
        default=lambda curve: curve.tolist(),
    )
