"""What `cflag simulate` and `cflag sweep` print of runs, and what any command says of data before it uses them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cflag_theory.cli.shell import Format, print_json
from cflag_theory.cli.tables.page import Page
from cflag_theory.kernels import Problem, Trace
from cflag_theory.kernels.problems.columns import NoLabel
from cflag_theory.studies.inputs import Columns

if TYPE_CHECKING:
    from cflag_theory.studies.sweeps.rows import Line


def summary(problem: Problem, trace: Trace) -> dict[str, Any]:
    """A Trace in a few plain numbers: means over replicas, at the start and at the end."""
    found: dict[str, Any] = {
        "problem": problem.name,
        "notes": list(problem.notes),
        "constants": {name: str(constant) for name, constant in problem.constants.items()},
        "replicas": trace.replicas,
        "rounds": trace.rounds,
        "end": {name: float(values.mean()) for name, values in trace.end.items()},
    }
    if "f" in trace.columns:
        found["start"] = {name: float(trace.columns[name][:, 0].mean()) for name in trace.end}
    if "Gamma" in trace.columns:
        found["mean_Gamma"] = float(trace.column("Gamma").mean())
        found["m_met"] = _finite(float(trace.m_met))
        found["r_met"] = _finite(trace.r_met)
    for name in ("ifo_calls", "communicated"):
        if name in trace.columns:
            found[name] = float(trace.column(name).sum(axis=1).mean())
    return found


def describe(build: Callable[[Columns], Problem], columns: Columns, format: Format) -> None:
    """What would be done with data: a label column that is not named is the one that is proposed."""
    proposed: tuple[str, ...] = ()
    try:
        problem = build(columns)
    except NoLabel as error:
        if not error.add:
            raise
        proposed = error.add
        problem = build(replace(columns, label_column=proposed[0].partition("=")[2]))
    said = [*(f"proposed: {words}" for words in proposed), *problem.notes]
    constants = {name: str(constant) for name, constant in problem.constants.items()}
    if format is Format.json:
        print_json({"problem": problem.name, "notes": said, "constants": constants})
        return
    console = Page()
    console.say(problem.name, style="bold")
    for line in (*said, *(f"{name} = {words}" for name, words in constants.items())):
        console.say("  " + line)


def _finite(value: float) -> float | str:
    return value if math.isfinite(value) else "inf"


_ENDS = {
    "h": "h~",
    "grad_f2": "||grad f||^2",
    "grad_g2": "||grad g||^2",
    "grad_h2": "||grad h~||^2",
    "grad_memory2": "||grad f_memory||^2",
    "b2": "||b||^2",
}
_WORDS = {
    "mean_Gamma": "mean of Gamma(t)",
    "m_met": "largest m observed",
    "r_met": "largest r observed",
    "ifo_calls": "component gradients",
    "communicated": "numbers sent",
}


def trace(summary: Mapping[str, Any]) -> None:
    """The summary of a run."""
    console = Page()
    start, end = summary.get("start", {}), summary["end"]
    fall = ""
    if "grad_f2" in start and "grad_f2" in end:
        fall = f"; ||grad f||^2 goes from {start['grad_f2']:.4g} to {end['grad_f2']:.4g}"
    many = summary["replicas"]
    runs = f"{summary['rounds']} rounds, {many} replica{'s' if many > 1 else ''}"
    console.say(f"{summary['problem']}: {runs}{fall}", style="bold")
    for note in summary["notes"]:
        console.say("  " + note)
    rows = [
        (_ENDS.get(name, name), f"{start[name]:.6g}" if name in start else "", f"{value:.6g}")
        for name, value in end.items()
    ]
    console.table(("mean over replicas", "at x_0", "at x_T"), rows)
    for name, words in _WORDS.items():
        if name in summary:
            value = summary[name]
            console.say(f"  {words}: {value if isinstance(value, str) else format(value, '.6g')}")


#: More lines than this are no overview.
MOST = 40


def results(names: Sequence[str], lines: Sequence[Line]) -> None:
    """How far every combination came."""
    console = Page()
    console.say("min_t ||grad f(x_t)||^2, over seeds and replicas", style="bold")
    head = [*(name.rpartition(".")[2] for name in names), "mean", "least", "largest", "runs", "diverged"]
    rows = [
        [
            *one.values,
            *("" if value is None else f"{value:.4g}" for value in (one.mean, one.least, one.most)),
            str(one.runs),
            str(one.diverged),
        ]
        for one in lines[:MOST]
    ]
    console.table(head, rows)
    if len(lines) > MOST:
        console.say(f"and {len(lines) - MOST} more: read_results reads all, cflag plot draws them")
