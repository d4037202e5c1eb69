"""Adaptive rates side by side: forgetting and final gradients under each rule, with the same draws.

All runs of a study start at the same point and see the same memories and component orders, replica by replica, so that
differences to constant rates are paired. Lemma 7 compares rates at one point, not along runs that part: for it every
rule takes one round from the same points of the runs with constant rates.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.kernels import Memory, Problem, Trace, algorithm, simulate
from cflag_theory.kernels.numbers import Array
from cflag_theory.studies.forgetting.heterogeneity import Mean, Setting, mean_of
from cflag_theory.studies.rates.statistics import resampling

#: A floor is the mean over this last part of the rounds.
LAST = 0.1
#: Points of the run with constant rates from which every rule takes one round.
POINTS = 16
# A difference of Gamma counts if it exceeds this share of the sum of absolute terms.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Rule:
    """A way to choose rates: a value of `Algorithm.adaptive`, words for it, and the claims that it speaks to."""

    adaptive: str
    words: str
    claims: tuple[str, ...]


RULES = (
    Rule("none", "constant rates", ("cflag.thm2", "cflag.lemma4")),
    Rule(
        "average",
        "Table 1, average case",
        ("cflag.table1_interference", "cflag.table1_transference", "cflag.lemma7_average", "cflag.sec5_guarantee"),
    ),
    Rule(
        "worst",
        "Table 1, worst case = Algorithm 3 repaired",
        ("cflag.table1_transference", "cflag.lemma7_worst", "cflag.alg3_line8", "cflag.alg3_line10"),
    ),
    Rule("printed", "Algorithm 3 as printed", ("cflag.alg3_line4", "cflag.alg3_line10", "cflag.alg3_line14")),
    Rule("server", "one rate for all clients (ours)", ("ours.adaptive_server", "ours.adaptive_descent")),
    Rule("clients", "a rate for each client (ours)", ("ours.adaptive_clients",)),
)
#: What is measured, in words, and the claims that it speaks to.
QUANTITIES = {
    "raised": (
        "share of rounds from equal points in which Gamma is above that of constant rates",
        ("cflag.lemma7_average", "cflag.lemma7_worst", "ours.adaptive_condition"),
    ),
    "total_Gamma": ("sum of Gamma(t) of (15), which bounds min ||grad f||^2", ("cflag.thm2",)),
    "mean_Gamma": ("mean of Gamma(t)", ("cflag.lemma4", "cflag.lemma18")),
    "change_f": ("forgetting in the end, where positive", ("cflag.sec5_guarantee", "ours.adaptive_descent")),
    "floor_f": ("mean over the last tenth of the rounds", ("cflag.sec5_guarantee", "ours.adaptive_descent")),
    "floor_g": ("mean over the last tenth of the rounds", ("cflag.sec5_guarantee",)),
}


@dataclass(frozen=True)
class Adapted:
    """One rule. `values` are the `QUANTITIES`, with intervals over replicas, and `against` the same minus those of
    constant rates on the same draws, without "raised".

    With any replica `diverged`, which left the finite numbers, there is nothing to average, and both are empty;
    `rounds` were finished by all replicas.
    """

    adaptive: str
    words: str
    claims: tuple[str, ...]
    diverged: int
    rounds: int
    values: dict[str, Mean]
    against: dict[str, Mean]


@dataclass(frozen=True)
class AdaptiveRates:
    """All rules on one problem, in the order of `RULES`."""

    title: str
    notes: tuple[str, ...]
    L: float
    alpha: float
    beta: float
    E: int
    T: int
    replicas: int
    seed: int
    rules: tuple[Adapted, ...]

    @property
    def finding(self) -> str:
        """The rule with the least gradient of f at the end, and what it costs in that of g."""
        ends = {rule.words: rule.values for rule in self.rules if "floor_f" in rule.values}
        if not ends:
            return "no rule stays finite"
        best, other = (min(ends, key=lambda words: ends[words][key].mean) for key in ("floor_f", "floor_g"))
        g, g2 = (ends[name]["floor_g"].mean for name in (best, other))
        said = f"least |grad f|^2 with {best}"
        if g <= 1.1 * g2:
            return f"{said}, and no rule has less |grad g|^2"
        cost = f"{g / g2:.2g} times" if g2 > 0 else "more than"
        if len(ends) > 2 and g >= max(one["floor_g"].mean for one in ends.values()):
            return f"{said}, but the most |grad g|^2: {cost} that with {other}"
        return f"{said}, but {cost} the |grad g|^2 with {other}"

    def to_json(self) -> dict[str, Any]:
        """Plain values only."""
        return asdict(self) | {
            "finding": self.finding,
            "quantities": {key: [words, list(claims)] for key, (words, claims) in QUANTITIES.items()},
        }


def adaptive_study(
    problem: Problem,
    memory: Memory,
    setting: Setting | None = None,
    *,
    title: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> AdaptiveRates:
    """Run C-FLAG with every rule for its rates.

    Parameters
    ----------
    problem, memory
        What is learned and remembered.
    setting : Setting, optional
        The default one without it. Sec. 5 of the paper has alpha = beta; the rules take both.
    title : str, optional
        The problem's name without it.
    progress : callable, optional
        Called with a few words after each rule.

    Raises
    ------
    InvalidInput
        A value that `simulate` refuses, or runs with constant rates that leave the finite numbers at once.
    """
    setting = Setting() if setting is None else setting
    weights = resampling(setting.replicas, setting.seed)
    L = float(problem.constants["L"].value)
    alpha, beta = setting.step_sizes(L)

    def run(rule: str, at: Problem, rounds: int, iterates: bool = False) -> Trace:
        how = setting.arguments(L) | {"rounds": rounds, "iterates": iterates}
        return simulate(at, algorithm("c_flag", adaptive=rule), memory=memory, throw=False, **how)

    constant = run("none", problem, setting.rounds, iterates=True)
    if constant.rounds == 0:
        raise InvalidInput(f"beta = {beta:.4g} sends {problem.name!r} to infinity in one round: use a smaller beta")
    rounds = np.unique(np.linspace(0, constant.rounds - 1, min(POINTS, constant.rounds)).astype(int))
    assert constant.iterates is not None
    points = [replace(problem, start=x.copy()) for x in constant.iterates[0, rounds]]
    there = [run("none", at, 1) for at in points]
    base = _values(constant)
    found = []
    for rule in RULES:
        trace = constant if rule.adaptive == "none" else run(rule.adaptive, problem, setting.rounds)
        values = _values(trace)
        raised = np.mean(
            [_raised(run(rule.adaptive, at, 1), same, alpha, beta, L) for at, same in zip(points, there, strict=True)],
            axis=0,
        )
        kept = {"raised": mean_of(raised, weights)}
        found.append(
            Adapted(
                adaptive=rule.adaptive,
                words=rule.words,
                claims=rule.claims,
                diverged=int((trace.status != 0).sum()),
                rounds=trace.rounds,
                values=kept | {key: mean_of(value, weights) for key, value in values.items()},
                against={key: mean_of(value - base[key], weights) for key, value in values.items() if key in base},
            )
        )
        if progress:
            progress(rule.words)
    return AdaptiveRates(
        title=problem.name if title is None else title,
        notes=problem.notes,
        T=setting.rounds,
        **setting.record(L),
        rules=tuple(found),
    )


def _values(trace: Trace) -> dict[str, Array]:
    """The quantities of whole runs, one entry a replica; nothing where some replica diverged."""
    if not trace.ok:
        return {}
    Gamma, last = trace.column("Gamma"), max(1, round(LAST * trace.rounds))
    return {
        "total_Gamma": Gamma.sum(axis=1),
        "mean_Gamma": Gamma.mean(axis=1),
        "change_f": trace.at_end("f") - trace.column("f")[:, 0],
        "floor_f": trace.column("grad_f2")[:, -last:].mean(axis=1),
        "floor_g": trace.column("grad_g2")[:, -last:].mean(axis=1),
    }


def _raised(trace: Trace, constant: Trace, alpha: float, beta: float, L: float) -> Array:
    """Whether Gamma of the first round is above that of constant rates, one entry a replica; one that fails is."""
    if not (trace.rounds and constant.rounds):
        return np.asarray(trace.rounds_done == 0, dtype=float)
    S2, memory2 = constant.column("delayed_sum2")[:, 0], constant.column("grad_memory2")[:, 0]
    size = L * beta**2 * S2 / 2 + beta * (1 + L * alpha) * np.sqrt(S2 * memory2)
    after, before = trace.column("Gamma")[:, 0], constant.column("Gamma")[:, 0]
    return np.asarray(after - before > _ROUNDING * (size + abs(after)), dtype=float)
