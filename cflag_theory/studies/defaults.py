"""What the command line and the report run by default."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from cflag_theory.errors import MissingExtra
from cflag_theory.kernels import Memory, Problem, default_memory, default_problem, load_data, uniform
from cflag_theory.studies.inputs import DATA_MEMORY
from cflag_theory.studies.nqm.table3 import nqm_study
from cflag_theory.studies.rates.cfl import Model, cfl_rate
from cflag_theory.studies.rates.past_task import rate

Found = dict[str, list[Any]]

#: Simulated runs of each curve of Figure 2.
RUNS = 16


def default_studies(seed: int) -> tuple[list[tuple[Problem, Memory]], list[str]]:
    """The default problem and, where scikit-learn is at hand, the digits; with a note where it is not."""
    studies = [(default_problem(seed=seed), default_memory())]
    try:
        studies.append((load_data("digits", seed=seed), uniform(DATA_MEMORY)))
    except MissingExtra as error:
        return studies, [f"Without real data: {error}"]
    return studies, []


def _past_task(place: int, seed: int) -> Found:
    chosen, notes = default_studies(seed)
    found = [rate(problem, memory, seed=seed).to_json() for problem, memory in chosen[place : place + 1]]
    return {"rates": found, "notes": notes if place else []}


def _cfl(stateless: bool, seed: int) -> Found:
    return {"cfl_rates": [cfl_rate(Model(stateless=stateless), seed=seed).to_json()]}


def _figure_2(seed: int) -> Found:
    return {"nqm_panels": nqm_study(replicas=RUNS, seed=seed, searched=False)["panels"]}


#: What the report runs, by name, one after the other: first what no random run has compiled.
REPORT: Mapping[str, Callable[[int], Found]] = MappingProxyType(
    {
        "CFL, clients that stay": partial(_cfl, False),
        "C-FLAG": partial(_past_task, 0),
        "C-FLAG on digits": partial(_past_task, 1),
        "noisy quadratic model": _figure_2,
        "CFL, new clients": partial(_cfl, True),
    }
)


def report_study(name: str, seed: int) -> Found:
    """One study of the report: some of "rates", "cfl_rates", "nqm_panels" and "notes", as a JSON file has them."""
    found: Found = json.loads(json.dumps(REPORT[name](seed)))
    return found
