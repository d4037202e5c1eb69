"""The run that a case of a conjecture is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.search.families import Family
from cflag_theory.kernels import Algorithm, Problem, Trace, simulate
from cflag_theory.kernels.own.algorithms import from_step

#: What came of the run of a case: NO_PROBLEM where its numbers make none.
RAN, DIVERGED, NO_PROBLEM = "ran", "diverged", "no problem"


def read_only(case: Mapping[str, Any]) -> dict[str, Any]:
    """The case in arrays that functions cannot write to: both sides are to see the same numbers."""
    found: dict[str, Any] = {}
    for name, value in case.items():
        if isinstance(value, np.ndarray):
            value = value.view()
            value.setflags(write=False)
        found[name] = value
    return found


def run_of(conjecture: Conjecture, seen: Mapping[str, Any]) -> tuple[str, Problem | None, Trace | None]:
    """What came of the run of a case, with its problem and trace where it ran."""
    problem = problem_of(conjecture, seen)
    if problem is None:
        return NO_PROBLEM, None, None
    trace = run(conjecture, seen, problem)
    return (DIVERGED, None, None) if trace is None else (RAN, problem, trace)


def problem_of(conjecture: Conjecture, case: Mapping[str, Any]) -> Problem | None:
    """The problem of a case; None where its numbers make none."""
    if isinstance(conjecture.problem, Family):
        return conjecture.problem.build(case)
    builder = conjecture.builder
    assert builder is not None
    problem = builder.exact(case)
    if problem is not None and not isinstance(problem, Problem):
        raise InvalidInput(f"{builder.where}problem returned {type(problem).__name__}: return a Problem")
    return problem


def run(conjecture: Conjecture, case: Mapping[str, Any], problem: Problem) -> Trace | None:
    """The run of a case, on the problem's number type; None where it leaves the finite numbers."""
    row, memory, beta = conjecture.algorithm, conjecture.memory, case.get("beta")
    if conjecture.step is not None:
        # The step has its beta from the case, if it takes one; the run needs some number.
        row, beta = from_step(conjecture.step, name="local_step", settings=tuple(case.items())), 1
    elif conjecture.row is not None:
        row = conjecture.row.exact(case)
        if not isinstance(row, Algorithm):
            raise InvalidInput(f"{conjecture.row.where}algorithm returned {row!r}: return a row, from algorithm(...)")
    if conjecture.memories is not None:
        memory = conjecture.memories.exact(case)
    assert isinstance(row, str | Algorithm)
    trace = simulate(
        problem,
        row,
        beta=beta,
        alpha=0 if conjecture.step is not None else case.get("alpha", 0),
        local_steps=int(case["E"]),
        rounds=int(case["T"]),
        memory=memory,  # type: ignore[arg-type]
        engine="reference",
        diagnostics=conjecture.diagnostics,
        iterates=True,
        orders=case.get("orders"),
        throw=False,
    )
    return trace if trace.ok else None
