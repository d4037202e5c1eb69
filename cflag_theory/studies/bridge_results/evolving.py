"""What a stored run with data that change from round to round says of every method, beside the CFL paper's numbers.

The metric is the paper's: of each seed the mean of the five best test accuracies met after a round. It chooses rounds
by the test images, so that the accuracy after the last round stands beside it. Differences to FedAvg are paired over
seeds, which share their splits and starts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cflag_theory.claims.cfl.published import TABLES, Cell
from cflag_theory.studies.bridge_results.summary import TITLES, Band, Spread, band, paired, spread

#: Evaluations whose mean the paper reports.
BEST = 5
BASE = "fedavg"
#: The paper's names of methods, and of its data sets in Table 5.
NAMES = {
    "fedavg": "FedAvg",
    "fedprox": "FedProx",
    "mimelite": "MimeLite",
    "cfl_core": "CFL-Core-Set",
    "cfl_reg": "CFL-Regularization",
    "cfl_reg_prox": "CFL-Regularization + FedProx",
    "cfl_gen": "CFL-Generative",
}
_DATA = {"fashion-mnist": "Fashion-MNIST", "cifar10": "CIFAR10", "cifar100": "CIFAR100"}
#: What Tables 5, 6 and 9 have in common, and what Table 4 has instead.
_USUAL = {"clients": 7, "subsets": 30, "rounds": 500, "lr": 0.01, "subset_size": None, "split": "repaired"}
_TABLE4 = _USUAL | {"clients": 10, "rounds": 300}


@dataclass(frozen=True)
class MethodRounds:
    """One method of a run."""

    method: str
    seeds: int
    diverged: int
    unfinished: int
    #: Percent: mean of the five best evaluations, and the last one; None where a seed has none.
    best: Spread | None
    last: Spread | None
    #: `best` minus that of FedAvg, seed by seed; None for FedAvg and where it was not run with the same seeds.
    gain: Spread | None
    #: Of Student's paired test, two-sided, that the gain is zero; None for one seed.
    p_value: float | None
    #: As it was measured last, where it was (Figure 3).
    information_loss: Spread | None
    #: Means over seeds: samples whose gradient was evaluated, numbers that all clients sent and received, and time.
    gradients: float
    communicated: float
    seconds: float
    #: On all test images after every round.
    accuracy: Band
    loss: Band
    #: Mean loss at the start of a round on all that its clients have had before, where it was measured (Figure 6).
    past_loss: Band | None
    #: Tuple of (table, setting, accuracy, deviation): What the paper prints for these settings, as strings.
    printed: tuple[tuple[str, str, str, str], ...]


@dataclass(frozen=True)
class RoundsSummary:
    """Every method of one run."""

    title: str
    rounds: int
    methods: tuple[MethodRounds, ...]
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The same as plain data: what figures are drawn from."""
        return asdict(self)


def summarise_rounds(results: Mapping[str, Any]) -> RoundsSummary:
    """A run with protocol "rounds", as `bridge.BridgeResult.to_json` gives it, over its seeds."""
    settings, runs = results["settings"], results["runs"]
    by_method = {
        name: [run for run in runs if run["method"] == name] for name in dict.fromkeys(run["method"] for run in runs)
    }
    base = {run["seed"]: best_of(run) for run in by_method.get(BASE, ())}
    whole = not any("where the published data set has" in note for note in results.get("notes", ()))
    methods = tuple(_method(settings, found, base, whole=whole) for found in by_method.values())
    kind = (
        "stateless clients"
        if settings["stateless"]
        else f"{settings['clients']} clients of {settings['subsets']} data sets"
    )
    title = f"{TITLES.get(settings['data'], settings['data'])}, by round: {kind}, alpha = {settings['zeta']:g}"
    if settings["overlap"] or settings["visits"] == "pointer":
        title += f", overlap {100 * settings['overlap']:g}% ({settings['visits']})"
    return RoundsSummary(f"{title}, {settings['model']}", settings["rounds"], methods, tuple(results.get("notes", ())))


def best_of(run: Mapping[str, Any]) -> float | None:
    """The mean of the five best test accuracies of a finished run, in percent."""
    met = run["columns"].get("test_accuracy", [])
    return float(np.mean(sorted(met)[-BEST:])) if run["status"] == "OK" and met else None


def _method(
    settings: Mapping[str, Any], runs: Sequence[Mapping[str, Any]], base: Mapping[int, float | None], *, whole: bool
) -> MethodRounds:
    method = runs[0]["method"]
    best = [best_of(run) for run in runs]
    complete = [value for value in best if value is not None]
    last = [run["columns"]["test_accuracy"][-1] for run, value in zip(runs, best, strict=True) if value is not None]
    gain, p_value = None, None
    against = [base.get(run["seed"]) for run in runs]
    if method != BASE and len(complete) == len(runs) and None not in against:
        gain, p_value = paired([one - other for one, other in zip(complete, against, strict=True) if other is not None])
    lost = [_last_measured(run["columns"].get("information_loss", ())) for run in runs]
    every = len(complete) == len(runs) > 0
    return MethodRounds(
        method=method,
        seeds=len(runs),
        diverged=sum(run["status"] == "DIVERGED" for run in runs),
        unfinished=sum(run["status"] == "RUNNING" for run in runs),
        best=spread(complete) if every else None,
        last=spread(last) if every else None,
        gain=gain,
        p_value=p_value,
        information_loss=spread([one for one in lost if one is not None]) if every and None not in lost else None,
        gradients=float(np.mean([run["gradients"] for run in runs])),
        communicated=float(np.mean([run["communicated"] for run in runs])),
        seconds=float(np.mean([run["seconds"] for run in runs])),
        accuracy=_along(runs, "test_accuracy"),
        loss=_along(runs, "test_loss"),
        past_loss=_past(runs),
        printed=tuple((cell.table, cell.setting, cell.accuracy, cell.deviation) for cell in printed(settings, method))
        if whole
        else (),
    )


def _last_measured(column: Sequence[float | None]) -> float | None:
    found = [value for value in column if value is not None and not math.isnan(value)]
    return found[-1] if found else None


def _along(runs: Sequence[Mapping[str, Any]], name: str) -> Band:
    """A column over the rounds that every seed has; round t is what stands after t + 1 rounds."""
    rounds = min(len(run["columns"].get(name, ())) for run in runs)
    return band(
        np.array([run["columns"][name][:rounds] for run in runs], dtype=np.float64).reshape(-1, rounds), range(rounds)
    )


def _past(runs: Sequence[Mapping[str, Any]]) -> Band | None:
    rounds = min(len(run["columns"].get("f", ())) for run in runs)
    rows = np.array([run["columns"]["f"][:rounds] for run in runs], dtype=np.float64)
    at = np.flatnonzero(~np.isnan(rows).any(axis=0)) if rounds else np.zeros(0, dtype=np.int64)
    return band(rows[:, at], at.tolist()) if len(at) else None


def printed(settings: Mapping[str, Any], method: str) -> list[Cell]:
    """The cells of Tables 4 to 7 and 9 that these settings are those of."""
    options = settings.get(method) or {}
    name = NAMES[method]
    found = []

    def fits(wanted: Mapping[str, Any], **more: Any) -> bool:
        return all(settings[key] == value for key, value in {**wanted, **more}.items())

    main = {"stateless": False, "visits": "random", "overlap": 0.0, "model": "resnet18"}
    if fits(_TABLE4 | main, data="cifar10", zeta=0.2):
        found.append(("4", "alpha=0.2", _table4(method, options)))
    usual = _is_usual(method, options)
    if fits(_USUAL | main | {"model": "mlp" if settings["data"] == "fashion-mnist" else "resnet18"}, zeta=0.1):
        whole = method == "cfl_reg" and options["last"] == options["block"] == options["rest"] == 1
        if usual or whole:
            found.append(("5", _DATA.get(settings["data"], ""), "CFL-Regularization-Full" if whole else name))
    if usual and fits(_USUAL | main, data="cifar10") and settings["zeta"] in (0.1, 0.2):
        found.append(("6", f"alpha={settings['zeta']:g}", name))
    if usual and fits(
        {"rounds": 500, "clients": 7, "lr": 0.01, "model": "resnet18"}, data="cifar10", stateless=True, zeta=0.2
    ):
        found.append(("7", "stateless", name))
    if usual and fits(_USUAL, data="cifar10", model="resnet18", stateless=False, visits="pointer", zeta=0.1):
        found.append(("9", f"{100 * settings['overlap']:g}%", name))
    return [cell for cell in TABLES if (cell.table, cell.setting, cell.method) in found]


def _is_usual(method: str, options: Mapping[str, Any]) -> bool:
    from cflag_theory.bridge.settings.evolving import OPTIONS

    return method not in OPTIONS or dict(options) == asdict(OPTIONS[method]())


def _table4(method: str, options: Mapping[str, Any]) -> str:
    if method == "cfl_reg":
        return {"hutchinson": "PyHessian", "fisher": "Fisher Information Matrix"}.get(options["hessian"], "")
    if method == "cfl_core":
        which = {"uniform": "Naive", "herding": "iCaRL"}[options["choice"]]
        return f"{which} ({ {50: 'Small', 150: 'Large'}.get(options['size'], '') } Set)"
    return "MCMC" if method == "cfl_gen" else ""
