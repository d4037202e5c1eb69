"""Several PyTorch runs on one Markdown page: what every method reaches in every setting, with spread and cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cflag_theory.cli.tables.bridge import PAIRS, cost, name_of, p_words, pair_table
from cflag_theory.cli.tables.evolving import MEANS, table
from cflag_theory.studies.bridge_results.evolving import BEST, RoundsSummary
from cflag_theory.studies.bridge_results.summary import MethodSummary, Summary, gain

#: Of each run's methods the one that others are compared with; and of C-FLAG's variants.
BASE, OWN = "finetune", "c_flag"
_WORDS = (
    "Percent, mean +- standard deviation over seeds. Seeds share splits, starts and minibatches over methods and runs, "
    "so that differences are paired, in brackets with the p-value of Student's test. Gradients of samples and numbers "
    "sent are means over seeds, and so are seconds."
)

Rows = Sequence[Sequence[str]]


def page(runs: Sequence[tuple[str, Summary | RoundsSummary]]) -> str:
    """The whole page.

    Parameters
    ----------
    runs : sequence of (name, summary)
        In the order of the page; the first run with C-FLAG is the one that its variants are compared with.
    """
    tasks = [(name, one) for name, one in runs if isinstance(one, Summary)]
    rounds = [(name, one) for name, one in runs if isinstance(one, RoundsSummary)]
    lines = ["# Methods compared", "", _WORDS]
    if tasks:
        lines += _tasks(tasks)
    if rounds:
        lines += _rounds(rounds)
    return "\n".join([*lines, ""])


def _tasks(runs: Sequence[tuple[str, Summary]]) -> list[str]:
    variants = [(name, each) for name, one in runs for each in one.methods if each.method == OWN]
    # C-FLAG alone is in the table of its variants.
    several = [
        (name, one) for name, one in runs if len(one.methods) > 1 or len(variants) < 2 or one.methods[0].method != OWN
    ]
    lines = ["", "## Tasks one after another", ""]
    if len(several) > 1:
        found = [
            (name, {each.method: _metric(each, "average_accuracy") for each in one.methods}) for name, one in several
        ]
        lines += ["Accuracy:", "", *_matrix(found), ""]
        found = [(name, {each.method: _metric(each, "forgetting") for each in one.methods}) for name, one in several]
        lines += ["Forgetting:", "", *_matrix(found), ""]
    if len(variants) > 1:
        lines += _variants(variants)
    for name, one in several:
        head = ("method", "accuracy", "forgetting", f"minus {BASE}", "gradients", "numbers sent", "seeds", "seconds")
        lines += ["", f"### {name}", "", f"{one.title}, {one.rounds} rounds a task.", ""]
        lines += _table(head, [_method(each, one) for each in one.methods])
        if one.pairs:
            lines += ["", f"{PAIRS}, by Holm's correction over all of them:", "", *_table(*pair_table(one))]
        lines += ["", *(f"- {note}" for note in one.notes)] if one.notes else []
    return lines


def _method(found: MethodSummary, run: Summary) -> list[str]:
    base = next((each for each in run.methods if each.method == BASE), found)
    return [name_of(found), *_metrics(found), _gain(found, base), *cost(found)]


def _variants(found: Sequence[tuple[str, MethodSummary]]) -> list[str]:
    """C-FLAG in every run, against the first."""
    first, base = found[0]
    head = (
        "run",
        "method",
        "accuracy",
        "forgetting",
        f"minus {first}",
        "gradients",
        "numbers sent",
        "seeds",
        "seconds",
    )
    rows = [[name, name_of(each), *_metrics(each), _gain(each, base), *cost(each)] for name, each in found]
    return ["### C-FLAG in every run", "", *_table(head, rows)]


def _metrics(found: MethodSummary) -> list[str]:
    return [_metric(found, name) for name in ("average_accuracy", "forgetting")]


def _metric(found: MethodSummary, name: str) -> str:
    return str(found.metrics[name] or f"{found.diverged} diverged, {found.unfinished} not finished")


def _gain(found: MethodSummary, base: MethodSummary) -> str:
    compared = None if found is base else gain(found, base)
    return "" if compared is None else f"{compared[0]}{p_words(compared[1])}"


def _rounds(runs: Sequence[tuple[str, RoundsSummary]]) -> list[str]:
    lines = ["", "## Data that change from round to round", "", MEANS]
    if len(runs) > 1:
        found = [(name, {each.method: str(each.best or "") for each in one.methods}) for name, one in runs]
        lines += ["", f"Best {BEST}:", "", *_matrix(found)]
    for name, one in runs:
        lines += ["", f"### {name}", "", f"{one.title}. {one.rounds} rounds.", "", *_table(*table(one))]
        lines += ["", *(f"- {note}" for note in one.notes)] if one.notes else []
    return lines


def _matrix(found: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    """A row a run, a column a method."""
    methods = list(dict.fromkeys(method for _, cells in found for method in cells))
    return _table(("run", *methods), [[name, *(cells.get(each, "") for each in methods)] for name, cells in found])


def _table(head: Sequence[str], rows: Rows) -> list[str]:
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]
