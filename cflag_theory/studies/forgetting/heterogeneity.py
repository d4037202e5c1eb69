"""The forgetting term along rounds (Figure 4 of the C-FLAG paper), with constant and with adaptive rates.

Gamma(t) of (15) is that of the step really taken. Lambda_{t,i} = <grad_f_memory, a_i> tells interference (<= 0) from
transference (> 0), client by client, and its weighted sum does so for the server.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import numpy as np

from cflag_theory.errors import Diverged
from cflag_theory.kernels import PROBLEMS, Memory, Problem, Trace, load_data, make_problem, simulate
from cflag_theory.kernels.numbers import Array
from cflag_theory.public import Positive, Steps, Whole, at_least, require_fields
from cflag_theory.studies.rates.statistics import LEVEL, interval, resampling


@dataclass(frozen=True)
class Mean:
    """A mean over replicas and its central bootstrap interval at `rates.statistics.LEVEL`."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Curve:
    """The same for every round: three sequences of equal length."""

    mean: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def mean_of(values: Array, weights: Array) -> Mean:
    """The mean of values (replicas,) under `rates.statistics.resampling` weights (resamples, replicas)."""
    return Mean(float(values.mean()), *interval(weights @ values))


def curve_of(values: Array, weights: Array) -> Curve:
    """The mean over the replicas of values (replicas, rounds), round by round."""
    tails = np.percentile(weights @ values, ((1 - LEVEL) / 2 * 100, (1 + LEVEL) / 2 * 100), axis=0)
    return Curve(*(tuple(row.tolist()) for row in (values.mean(axis=0), *tails)))


#: Constant rates, and Algorithm 3 repaired.
ROWS = ("c_flag", "c_flag_adaptive")
#: Sec. 7: the Dirichlet parameter of low, medium and high heterogeneity; and the dial of synthetic problems.
ZETA = {"low": 1e5, "medium": 1.0, "high": 0.1}
HETEROGENEITY = {"low": 0.0, "medium": 0.5, "high": 0.9}


@dataclass(frozen=True)
class Setting:
    """What the studies of forgetting hold fixed."""

    #: Step sizes; 1 / (2 L) and 1 / (3 L E) without them.
    alpha: Positive | None = None
    beta: Positive | None = None
    #: E and T.
    local_steps: Steps = 10
    rounds: Steps = 200
    #: Independent runs.
    replicas: Annotated[int, at_least(2, 32)] = 16
    seed: Whole = 0

    def __post_init__(self) -> None:
        require_fields(self)

    def step_sizes(self, L: float) -> tuple[float, float]:
        """alpha and beta on a problem with this L."""
        alpha = 1 / (2 * L) if self.alpha is None else float(self.alpha)
        beta = 1 / (3 * L * self.local_steps) if self.beta is None else float(self.beta)
        return alpha, beta

    def arguments(self, L: float) -> dict[str, Any]:
        """What `simulate` takes of it on a problem with this L."""
        alpha, beta = self.step_sizes(L)
        names = ("local_steps", "rounds", "replicas", "seed")
        return {"alpha": alpha, "beta": beta} | {name: getattr(self, name) for name in names}

    def record(self, L: float) -> dict[str, Any]:
        """What the results of every study keep of it on a problem with this L."""
        alpha, beta = self.step_sizes(L)
        fixed = {"E": self.local_steps, "replicas": self.replicas, "seed": self.seed}
        return {"L": L, "alpha": alpha, "beta": beta} | fixed


@dataclass(frozen=True)
class Case:
    """A problem with its memory, and what makes it more or less heterogeneous."""

    study: str
    level: str
    words: str
    problem: Problem
    memory: Memory


@dataclass(frozen=True)
class Forgetting:
    """One row on one problem; sequences have one entry a round, intervals are over replicas."""

    #: Which problems are compared, and how heterogeneous this one is.
    study: str
    level: str
    words: str
    algorithm: str
    notes: tuple[str, ...]
    L: float
    alpha: float
    beta: float
    E: int
    replicas: int
    seed: int
    #: The forgetting term (15).
    Gamma: Curve
    #: sum_i p_i Lambda_{t,i} = <grad_f_memory, S>, S before rates are adapted.
    Lambda: Curve
    #: (clients, rounds): The share of replicas in which Lambda_{t,i} <= 0.
    interfering: tuple[tuple[float, ...], ...]
    #: (rounds,): The share of replicas in which the sum is not positive.
    server_interfering: tuple[float, ...]
    #: sum_t Gamma(t), max_t Gamma(t), and the standard deviation of Gamma(t) over the rounds.
    total: Mean
    largest: Mean
    variation: Mean
    #: f(x_T) - f(x_0): what was forgotten, or learned, in the end.
    change_f: Mean

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return asdict(self)


def forgetting_study(
    cases: Sequence[Case],
    setting: Setting | None = None,
    *,
    algorithms: Sequence[str] = ROWS,
    progress: Callable[[str], None] | None = None,
) -> list[Forgetting]:
    """Run every row on every case with the same draws.

    Parameters
    ----------
    cases : sequence of Case
        As `cases` makes them.
    setting : Setting, optional
        The default one without it.
    algorithms : sequence of str
        Rows with a memory step.
    progress : callable, optional
        Called with a few words after each run.

    Raises
    ------
    InvalidInput
        A value that `simulate` refuses.
    Diverged
        If a run leaves the finite numbers.
    """
    setting = Setting() if setting is None else setting
    weights = resampling(setting.replicas, setting.seed)
    found = []
    for case in cases:
        L = float(case.problem.constants["L"].value)
        for row in algorithms:
            trace = simulate(case.problem, row, memory=case.memory, **setting.arguments(L))
            _require_resolved(trace, case.words)
            found.append(
                Forgetting(
                    study=case.study,
                    level=case.level,
                    words=case.words,
                    algorithm=row,
                    notes=case.problem.notes,
                    **setting.record(L),
                    **_measured(trace, case.problem.p, weights),
                )
            )
            if progress:
                progress(f"{case.study}, {case.words}")
    return found


def _require_resolved(trace: Trace, words: str) -> None:
    """Gamma bounds a change of f: beyond what floats resolve beside f, it says nothing."""
    Gamma, f = (float(abs(trace.column(name)).max()) for name in ("Gamma", "f"))
    if Gamma * np.finfo(np.float64).eps > f:
        raise Diverged(
            f"{words}: Gamma reaches {Gamma:.2g} and |f| only {f:.2g}, so that the iterates have left where f is "
            "resolved: use smaller alpha, beta or local_steps"
        )


def _measured(trace: Trace, p: Array, weights: Array) -> dict[str, Any]:
    Gamma, Lambda = trace.column("Gamma"), trace.column("Lambda")
    sums = Lambda @ p
    return {
        "Gamma": curve_of(Gamma, weights),
        "Lambda": curve_of(sums, weights),
        "interfering": tuple(tuple(share.tolist()) for share in (Lambda <= 0).mean(axis=0).T),
        "server_interfering": tuple((sums <= 0).mean(axis=0).tolist()),
        "total": mean_of(Gamma.sum(axis=1), weights),
        "largest": mean_of(Gamma.max(axis=1), weights),
        "variation": mean_of(Gamma.std(axis=1), weights),
        "change_f": mean_of(trace.at_end("f") - trace.column("f")[:, 0], weights),
    }


def synthetic_cases(name: str, memory: Memory, *, dials: Mapping[str, Any] | None = None, seed: int = 0) -> list[Case]:
    """A synthetic problem at low, medium and high heterogeneity; once, if it lacks that dial or the dial is set."""
    chosen = {"seed": seed, **(dials or {})}
    if name == "default":
        # The default problem is this family at a fixed heterogeneity.
        name, study = "separable", "default"
    else:
        study = name
    known = inspect.signature(PROBLEMS[name]).parameters if name in PROBLEMS else {}
    if "heterogeneity" in chosen or "heterogeneity" not in known:
        problem = make_problem(name, **chosen)
        words = f"heterogeneity {chosen['heterogeneity']:g}" if "heterogeneity" in chosen else "its own heterogeneity"
        return [Case(study, "as given", words, problem, memory)]
    return [
        Case(study, level, f"heterogeneity {value:g}", make_problem(name, heterogeneity=value, **chosen), memory)
        for level, value in HETEROGENEITY.items()
    ]


def data_cases(source: str, memory: Memory, *, zeta: float | None = None, **split: Any) -> list[Case]:
    """Real data split at low, medium and high heterogeneity, or with the given zeta alone."""
    levels = ZETA if zeta is None else {"as given": zeta}
    problems = {level: load_data(source, zeta=value, **split) for level, value in levels.items()}
    return [Case(one.name, level, f"zeta = {levels[level]:g}", one, memory) for level, one in problems.items()]


def sentences(found: Sequence[Forgetting]) -> list[str]:
    """What Sec. 7 says about Figure 4, compared with the measured values: one sentence a study and statement.

    A statement is settled if the intervals over replicas do not overlap.
    """
    return [
        f"{study}, {of}: {numbers}; {_SAYS[statement]}; {verdict}"
        for study, statement, of, numbers, verdict in _compared(found)
    ]


def answers(found: Sequence[Forgetting]) -> list[str]:
    """The same in one sentence a study and statement, without numbers."""
    groups: dict[tuple[str, str], dict[str, list[str]]] = {}
    for study, statement, of, _, verdict in _compared(found):
        groups.setdefault((study, statement), {}).setdefault(verdict, []).append(of)
    said = {key: [f"{_SHORT[verdict]} {', '.join(of)}" for verdict, of in one.items()] for key, one in groups.items()}
    return [f"{study}: {_SAYS[statement]}: {'; '.join(words)}." for (study, statement), words in said.items()]


_SAYS = {
    "spread": "by Sec. 7 Gamma(t) varies most at low heterogeneity",
    "largest": "by Sec. 7 adaptive rates lower the largest Gamma(t)",
}


def _compared(found: Sequence[Forgetting]) -> Iterator[tuple[str, str, str, str, str]]:
    """Study, statement, row or level, what was measured, and whether the runs agree."""
    for study in dict.fromkeys(one.study for one in found):
        mine = {(one.level, one.algorithm): one for one in found if one.study == study}
        for row in dict.fromkeys(algorithm for _, algorithm in mine):
            spread = [mine[level, row].variation for level in HETEROGENEITY if (level, row) in mine]
            if len(spread) == len(HETEROGENEITY):
                low, medium, high = spread
                numbers = (
                    f"the spread of Gamma(t) over the rounds is {low.mean:.3g} at low, {medium.mean:.3g} at medium and "
                    f"{high.mean:.3g} at high heterogeneity"
                )
                yield study, "spread", row, numbers, _verdict(low, [medium, high])
        for level in dict.fromkeys(level for level, _ in mine):
            constant, adaptive = (mine.get((level, row)) for row in ROWS)
            if constant and adaptive:
                numbers = (
                    f"the largest Gamma(t) is {adaptive.largest.mean:.3g} with adaptive and "
                    f"{constant.largest.mean:.3g} with constant rates"
                )
                yield study, "largest", adaptive.words, numbers, _verdict(constant.largest, [adaptive.largest])


_AGREE, _DIFFER, _OPEN = (
    "the runs agree",
    "the runs do not agree",
    "the intervals overlap, so the runs do not decide",
)
_SHORT = {_AGREE: "so for", _DIFFER: "not so for", _OPEN: "undecided for"}


def _verdict(larger: Mean, smaller: Sequence[Mean]) -> str:
    if all(one.high < larger.low for one in smaller):
        return _AGREE
    return _DIFFER if any(one.low > larger.high for one in smaller) else _OPEN
