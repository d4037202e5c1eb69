"""What the command line and the report run by default."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cflag_theory.errors import MissingExtra
from cflag_theory.kernels import Memory, Problem, default_memory, default_problem, load_data, uniform
from cflag_theory.studies.inputs import DATA_MEMORY
from cflag_theory.studies.nqm.table3 import nqm_study, pieces
from cflag_theory.studies.rates.cfl import Model, cfl_rate
from cflag_theory.studies.rates.past_task import HORIZONS

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


def cfl_studies(seed: int, progress: Callable[[float, str], None]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rates of FedAvg and CFL for clients that stay and for new ones, and the panels of Figure 2.

    `progress` is called with the amount done, of `CFL_WORK`, and what it was.
    """
    rates = [
        cfl_rate(Model(stateless=stateless), seed=seed, progress=lambda T: progress(T, f"T = {T}")).to_json()
        for stateless in (False, True)
    ]
    study = nqm_study(replicas=RUNS, seed=seed, searched=False, progress=lambda words: progress(_PIECE, words))
    return rates, study["panels"]


# A cell of the noisy quadratic model takes about as long as this many rounds of the rate studies.
_PIECE = 1000
CFL_WORK = 2 * sum(HORIZONS) + _PIECE * pieces(replicas=RUNS, searched=False)
