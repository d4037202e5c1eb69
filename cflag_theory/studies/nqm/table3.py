"""Beside Table 3: a FedAvg whose steps decay, the price of a finite window, and simulated runs as a check."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import Drift, algorithm, simulate
from cflag_theory.kernels.cfl.drift_models import shared_quadratic
from cflag_theory.public import Whole, taking
from cflag_theory.studies.nqm.best_rates import (
    CELLS,
    G2,
    METHODS,
    SIGMA2,
    Cell,
    Method,
    Setting,
    Study,
    answers,
    criterion,
    law,
    over_grids,
    round_weights,
    study,
)
from cflag_theory.studies.nqm.search import Grid, search

Array = NDArray[Any]
FEDAVG, CFL = METHODS[0], METHODS[2]
#: Offsets t_0 of the decaying steps c/(t + t_0).
OFFSETS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
#: Rounds and remembered rounds in the table on windows; the paper keeps the latest 40.
LONG, WINDOW = 200, 40


def decaying(setting: Setting, cell: Cell, *, sizes: int = 60) -> dict[str, Any]:
    """FedAvg with local steps c/(t + t_0), the best c and t_0, by exact moments: "cell", "c", "t0" and "loss", the
    criterion.

    `sizes` is how many c are tried for every t_0, evenly spaced in the logarithm; the first step lies between 0.02/L
    and 10/L: some schedules start beyond the range in which a constant step is stable.
    """
    t = np.arange(1, setting.rounds + 1)
    shapes = np.array([(1 + t0) / (t + t0) for t0 in OFFSETS])
    first = np.geomspace(0.02, 10.0, sizes) / cell.L
    steps = (first[:, None, None] * shapes).reshape(-1, setting.rounds)
    losses = criterion(setting, law(setting, cell, FEDAVG, answers(setting, cell, FEDAVG, steps)))
    place = int(losses.argmin())
    t0 = OFFSETS[place % len(OFFSETS)]
    return {"cell": cell.name, "c": float(steps[place, 0] * (1 + t0)), "t0": t0, "loss": float(losses[place])}


def beside(study: Study) -> list[dict[str, Any]]:
    """The best losses of FedAvg with constant and with decaying steps and of CFL, by cell."""
    rows = []
    for cell in CELLS:
        found = decaying(study.setting, cell)
        constant, cfl = (study.at(cell.name, name).loss for name in ("FedAvg", "CFL"))
        rows.append({**found, "constant": constant, "CFL": cfl, "over_CFL": found["loss"] / cfl})
    return rows


def window_cost(setting: Setting, *, window: int = WINDOW, rounds: int = LONG, count: int = 40) -> list[dict[str, Any]]:
    """What CFL loses when only the latest `window` rounds are remembered: best losses after `rounds` rounds, over
    `count` learning rates, evenly spaced below 2/L. By "cell": "all" and "window", the criteria at the best rates, and
    "ratio".
    """
    longer = replace(setting, rounds=rounds)
    rows = []
    for cell in CELLS:
        steps = 2 / cell.L * np.arange(1, count) / count
        found = {}
        for name, kept in (("all", None), ("window", window)):
            weights = round_weights(longer, cell, CFL, window=kept)
            responses = answers(longer, cell, CFL, steps, weights=weights)
            found[name] = float(criterion(longer, law(longer, cell, CFL, responses)).min())
        rows.append({"cell": cell.name, **found, "ratio": found["window"] / found["all"]})
    return rows


def simulated(setting: Setting, cell: Cell, method: Method, rate: float, *, replicas: int, seed: int = 0) -> Array:
    """||A w_t + B|| along runs of the simulator, (replicas, T + 1).

    A is diagonal, so that quadratic models by the Hessian's diagonal are exact and cheaper than past data.
    """
    lam = setting.eigenvalues(cell.L, cell.mu)
    G, D, sigma = (float(np.sqrt(setting.size(square))) for square in (G2, cell.D2, SIGMA2))
    problem = shared_quadratic(
        np.diag(lam),
        clients=setting.clients,
        minimiser=np.zeros(len(lam)),
        start=setting.displacement(lam),
        drift=Drift(G=G, D=D, sigma=sigma),
    )
    row = algorithm("cfl_diagonal" if method.past else "fedprox" if method.proximal else "fedavg")
    if method.past:
        weights = round_weights(setting, cell, method)
        row = replace(row, weights=weights, information_loss=method.information_loss)
    if method.proximal:
        row = replace(row, proximal=setting.proximal)
    trace = simulate(
        problem,
        row,
        beta=rate,
        local_steps=setting.local_steps,
        rounds=setting.rounds,
        replicas=replicas,
        seed=seed,
    )
    return np.asarray(np.sqrt(np.column_stack([trace.column("grad_f2"), trace.at_end("grad_f2")])))


def witness(found: Study, runs: dict[tuple[str, str], Array]) -> list[dict[str, Any]]:
    """Exact curves against simulated ones, by cell and method: "final", the mean at the end with its 95 % interval
    "low" to "high", "exact" beside it, "covered", the part of all rounds whose interval holds the exact mean, and
    "jump", the mean of | ||A w_{t+1} + B|| - ||A w_t + B|| | over the second half of the rounds.
    """
    rows = []
    for (cell, method), values in runs.items():
        exact = found.curves[cell, method]["mean"][1:]
        mean = values.mean(axis=0)[1:]
        half = 1.96 * values.std(axis=0, ddof=1)[1:] / np.sqrt(len(values))
        second = values[:, found.setting.rounds // 2 :]
        rows.append(
            {
                "cell": cell,
                "method": method,
                "replicas": len(values),
                "exact": float(exact[-1]),
                "final": float(mean[-1]),
                "low": float(mean[-1] - half[-1]),
                "high": float(mean[-1] + half[-1]),
                "covered": float((np.abs(mean - exact) <= half).mean()),
                "jump": float(np.abs(np.diff(second, axis=1)).mean()),
            }
        )
    return rows


def smoothness(witnesses: list[dict[str, Any]]) -> dict[str, Any]:
    """The sentence on smoother curves once more, by the steps that the loss takes along simulated runs."""
    jumps = {(row["cell"], row["method"]): row["jump"] for row in witnesses}
    fails = [
        cell.name
        for cell in CELLS
        if jumps[cell.name, "CFL"] >= min(jumps[cell.name, other] for other in ("FedAvg", "FedProx"))
    ]
    return {
        "sentence": "the loss curves of CFL are smoother",
        "reading": "the loss of a simulated run changes least from round to round for CFL, over the second half",
        "holds": not fails,
        "fails_in": fails,
    }


def panels(found: Study, runs: dict[tuple[str, str], Array]) -> list[dict[str, Any]]:
    """What `figures.nqm_figure` draws: exact means, and the middle 90 % of simulated runs where there are some."""
    result = []
    for cell in CELLS:
        curves = []
        for method in METHODS:
            key = (cell.name, method.name)
            one: dict[str, Any] = {
                "method": method.name,
                "rate": found.at(*key).rate,
                "mean": found.curves[key]["mean"].tolist(),
            }
            if key in runs:
                one["low"], one["high"] = np.quantile(runs[key], [0.05, 0.95], axis=0).tolist()
            curves.append(one)
        title = f"{cell.name}\n$\\mathbb{{E}}\\|\\xi\\|^2$ = {cell.D2:g}, L = {cell.L:g}, $\\mu$ = {cell.mu:g}"
        result.append({"title": title, "curves": curves})
    return result


@taking
def nqm_study(
    setting: Setting | None = None,
    *,
    replicas: Whole = 64,
    seed: Whole = 0,
    grid: Grid | None = None,
    searched: bool = True,
    progress: Callable[[str], None] = lambda words: None,
) -> dict[str, Any]:
    """The data that `cflag nqm` prints.

    Parameters
    ----------
    setting : Setting, optional
        What Sec. 5.1 omits.
    replicas, seed : int
        Simulated runs of each method in each cell; 0 for none.
    grid : Grid, optional
        What the search over the omitted parameters goes through.
    searched : bool
        Whether to search.
    progress : callable
        Told after each of ``pieces(...)`` pieces.

    Returns
    -------
    dict
        Plain values: "setting", "table", "grids", "sentences", "decaying", "windows", "monte_carlo", "search" (None
        without), and "panels" for the figure.

    Raises
    ------
    InvalidInput
        replicas is 1 or negative.
    """
    if replicas == 1:
        raise InvalidInput(f"replicas is {replicas!r}: use 0 for none, or an integer of at least 2")
    found = study(setting, progress=progress)
    runs = {}
    for cell in CELLS if replicas else ():
        for method in METHODS:
            rate = found.at(cell.name, method.name).rate
            runs[cell.name, method.name] = simulated(found.setting, cell, method, rate, replicas=replicas, seed=seed)
        progress(cell.name)
    witnesses = witness(found, runs)
    result = found.to_json()
    if runs:
        result["sentences"].append(smoothness(witnesses))
    return {
        **result,
        "grids": over_grids(found.setting),
        "decaying": beside(found),
        "windows": window_cost(found.setting),
        "monte_carlo": witnesses,
        "search": search(grid, progress=progress).to_json() if searched else None,
        "panels": panels(found, runs),
    }


def pieces(*, replicas: int, searched: bool, grid: Grid | None = None) -> int:
    """How often `nqm_study` reports progress."""
    return len(CELLS) * (2 if replicas else 1) + (len((grid or Grid()).worlds()) if searched else 0)
