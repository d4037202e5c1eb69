"""What a bridge run records by round, and how the rounds of a task become a Trace.

Cheap numbers come from what the round computes anyway. Where the full gradients of f and g were measured too (every
`past_every` rounds), the round also says what L, m and r are at least. Definitions are those of `kernels.trace`, with
S for which x_{t+1} = x_t - alpha grad_f_memory - beta S with beta = lr and alpha = sum_i p_i alpha_i; alpha is 0 for
NCCL-FL, whose steps on memory are among its local ones.

grad_g2 is ||grad g(x_t)||^2 of the first exchange, unless the network normalises by minibatch: then the gradient of a
round belongs to that round's minibatches, no one function g has all of them, and only what was measured, in minibatches
that never change, is kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

import cflag_theory
from cflag_theory.bridge.measures.round_numbers import Measured, RoundNumbers
from cflag_theory.bridge.settings.run_settings import TASKS, RunSettings
from cflag_theory.bridge.training.rounds import Step
from cflag_theory.kernels import COLUMNS, Status, Trace
from cflag_theory.kernels.trace.trace import STATE, ratio

#: Beside the columns of a Trace: which task, the mean loss met, mean and client-wise rates, and by client what m_i
#: of Assumption 2 and r_i^2 of Assumption 3 have to be at least. Where data change by round a run also has, at
#: x_{t+1}, percent and mean loss on all test images, and the CFL paper's information loss of methods that keep samples.
MORE = ("task", "loss", "alpha", "beta", "alphas", "client_m", "client_r2")
#: Columns of a Trace that a run may have.
MEASURED = (
    "f",
    "g",
    "grad_f2",
    "grad_g2",
    "grad_memory2",
    "b2",
    "Gamma",
    "B",
    "delayed_sum2",
    "drift2_max",
    "m_met",
    "r2_met",
    "Lambda",
    "ifo_calls",
    "communicated",
    "step2",
    "grad_f_change2",
    "grad_g_change2",
)
_OF_PAST = ("f", "grad_f2", "grad_memory2", "b2", "Gamma", "B", "m_met", "r2_met", "Lambda", "grad_f_change2")
_OF_PASSES = ("f", "g", "grad_f2", "b2", "B", "m_met", "grad_f_change2", "grad_g_change2")


def row_of(
    task: int, numbers: RoundNumbers, full: Measured | None, *, lr: float, normalised: bool
) -> dict[str, float | int | list[float]]:
    """One round as a row of `MEASURED` and `MORE`; nan where it does not have a number, as without `full` gradients. lr
    is beta in the definition of S, and `normalised` whether the network normalises by minibatch.
    """
    exchanged = math.nan if normalised else numbers.grad_g2
    row: dict[str, float | int | list[float]] = dict.fromkeys(MEASURED, math.nan)
    row |= {
        "task": task,
        "loss": numbers.loss,
        "alpha": numbers.alpha,
        "beta": numbers.beta,
        "alphas": list(numbers.alphas),
        "Gamma": numbers.Gamma,
        "delayed_sum2": numbers.current_step2 / lr**2,
        "drift2_max": numbers.drift2_max,
        "grad_g2": exchanged if full is None else full.grad_g2,
        "grad_memory2": numbers.grad_memory2,
        "r2_met": _quotient(numbers.grad_memory2, numbers.grad_g2),
        # Without grad_f_memory methods say 0.
        "Lambda": [math.nan if math.isnan(numbers.grad_memory2) else each for each in numbers.Lambda],
        "ifo_calls": numbers.gradients,
        "communicated": numbers.communicated,
        "step2": numbers.step2,
        "client_r2": [_quotient(each, numbers.grad_g2) for each in numbers.memory2],
        "client_m": [math.nan] * len(numbers.memory2),
    }
    if full is not None:
        row |= {name: getattr(full, name) for name in ("f", "g", "grad_f2", "b2", "B")}
        row |= {name: getattr(full, name) for name in ("grad_f_change2", "grad_g_change2")}
        row["m_met"] = _quotient(full.b2, full.grad_f2)
        row["client_m"] = [_quotient(b2, f2) for b2, f2 in zip(full.client_b2, full.client_f2, strict=True)]
    return row


def _quotient(above: float, below: float) -> float:
    """As `ratio`, and nan where a number is missing."""
    if math.isnan(above) or math.isnan(below):
        return math.nan
    return float(ratio(np.array(above), np.array(below)))


def trace_of(
    rows: Mapping[str, Sequence[Any]],
    *,
    settings: RunSettings,
    method: str,
    seed: int,
    task: int,
    local_steps: int,
    diverged: bool,
    versions: Mapping[str, str],
) -> Trace:
    """The rounds of one task, columns of `row_of`, as a Trace with one replica. `local_steps` is E, the largest number
    of local steps of a client, and `diverged` whether the task ended early.
    """
    rounds = len(rows["task"])
    columns, absent = {}, {}
    for name in COLUMNS:
        if name not in MEASURED:
            absent[name] = "a bridge run does not measure it"
            continue
        kind = np.int64 if name in ("ifo_calls", "communicated") else np.float64
        column = np.array(rows[name], dtype=kind)[None]
        if rounds and np.isnan(column).all():
            absent[name] = _why(name, task, settings)
        else:
            columns[name] = column.reshape(1, rounds, settings.clients) if name == "Lambda" else column
    options = settings.to_json().get(method, {})
    return Trace(
        columns=columns,
        # No pass over the data is made for the last iterate alone.
        end={name: np.array([math.nan]) for name in STATE if name in columns},
        status=np.array([Status.DIVERGED if diverged else Status.OK]),
        rounds_done=np.array([rounds]),
        absent=absent,
        config={
            "problem": f"{settings.data}, task {task + 1} of {settings.tasks}, {settings.clients} clients",
            "algorithm": {"name": method} | options,
            "alpha": str(settings.lr if settings.alpha is None else settings.alpha),
            "beta": str(settings.lr),
            "L": str(settings.L),
            "local_steps": local_steps,
            "rounds": settings.rounds,
            "participants": settings.clients,
            "replicas": 1,
            "seed": seed,
            "task": task,
            "dtype": settings.dtype,
            "bridge": settings.to_json(),
            "versions": dict(versions),
        },
    )


def _why(name: str, task: int, settings: RunSettings) -> str:
    if settings.protocol == TASKS and task == 0 and name in _OF_PAST:
        return "there is no past in the first task"
    if settings.past_every == 0 and name in _OF_PASSES:
        return "it takes passes over all data, use past_every"
    if settings.protocol != TASKS and name in _OF_PASSES:
        return "there is no past in the first round, and no other one was measured"
    if settings.past_every == 0 and name == "grad_g2":
        return "the method exchanges no grad g, or one that depends on the round's minibatches, use past_every"
    return "the method does not have it"


def package_versions() -> dict[str, str]:
    """Versions on which the last bits of a result may depend."""
    libraries = {name: version(name) for name in ("numpy", "torch")}
    return {"cflag_theory": cflag_theory.__version__} | libraries


def local_steps_of(step: Step) -> int:
    """The largest number of local steps of a client in a round."""
    return int(max(numbers["steps"] for numbers in step.locals.values()))
