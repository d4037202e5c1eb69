"""Several PyTorch runs on one Markdown page: what every method reaches in every setting, with spread and cost.

Runs on data that change from round to round are tables too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cflag_theory.cli.documents import in_markdown
from cflag_theory.cli.tables.bridge import PAIRS, cost, name_of, p_words, pair_table
from cflag_theory.cli.tables.page import Page
from cflag_theory.studies.bridge_results.evolving import BEST, MethodRounds, RoundsSummary
from cflag_theory.studies.bridge_results.summary import MethodSummary, Summary, gain

#: Of each run's methods the one that others are compared with; and of C-FLAG's variants.
BASE, OWN = "finetune", "c_flag"
_WORDS = (
    "Percent, mean +- standard deviation over seeds. Seeds share splits, starts and minibatches over methods and runs, "
    "so that differences are paired, in brackets with the p-value of Student's test. Gradients of samples and numbers "
    "sent are means over seeds, and so are seconds."
)

Rows = Sequence[Sequence[str]]
Runs = Sequence[tuple[str, Any]]


@dataclass(frozen=True)
class Across:
    """A table over several runs: a line a run."""

    title: str
    head: Sequence[str]
    rows: Rows


def page(runs: Runs) -> str:
    """The whole page, a summary of every run by name, in this order; the first run with C-FLAG is the one that its
    variants are compared with.
    """
    # Names are those of the user's folders.
    tasks, rounds = _by_kind([(in_markdown(name), one) for name, one in runs])
    lines = ["# Methods compared", "", _WORDS]
    if tasks:
        lines += ["", "## Tasks one after another", ""]
        lines += [line for table in _over_tasks(tasks) for line in _titled(table)]
        lines += _tasks(tasks)
    if rounds:
        lines += ["", "## Data that change from round to round", "", MEANS, ""]
        lines += [line for table in _over_rounds(rounds) for line in _titled(table)]
        lines += _rounds(rounds)
    return "\n".join([*lines, ""])


def over_runs(runs: Runs) -> None:
    """The page's tables over all runs, on the terminal."""
    console = Page()
    tasks, rounds = _by_kind(runs)
    for found in (*_over_tasks(tasks), *_over_rounds(rounds)):
        console.say(f"{found.title}, percent, mean +- standard deviation over seeds", style="italic")
        console.table(list(found.head), found.rows, numbers=True)
        console.print()


def _by_kind(runs: Runs) -> tuple[list[tuple[str, Summary]], list[tuple[str, RoundsSummary]]]:
    tasks = [(name, one) for name, one in runs if isinstance(one, Summary)]
    return tasks, [(name, one) for name, one in runs if isinstance(one, RoundsSummary)]


def _titled(table: Across) -> list[str]:
    return [f"{table.title}:", "", *_table(table.head, table.rows), ""]


def _over_tasks(runs: Sequence[tuple[str, Summary]]) -> list[Across]:
    several, variants = _several(runs), _variants(runs)
    found = []
    if len(several) > 1:
        for title, key in (("Accuracy", "average_accuracy"), ("Forgetting", "forgetting")):
            cells = [(name, {each.method: _metric(each, key) for each in one.methods}) for name, one in several]
            found.append(_matrix(title, cells))
    if len(variants) > 1:
        first, base = variants[0]
        gains = f"minus {first}"
        head = ("run", "method", "accuracy", "forgetting", gains, "gradients", "numbers sent", "seeds", "seconds")
        rows = [[name, name_of(each), *_metrics(each), _gain(each, base), *cost(each)] for name, each in variants]
        found.append(Across("C-FLAG in every run", head, rows))
    return found


def _over_rounds(runs: Sequence[tuple[str, RoundsSummary]]) -> list[Across]:
    if len(runs) < 2:
        return []
    cells = [(name, {each.method: str(each.best or "") for each in one.methods}) for name, one in runs]
    return [_matrix(f"Best {BEST}", cells)]


def _variants(runs: Sequence[tuple[str, Summary]]) -> list[tuple[str, MethodSummary]]:
    """C-FLAG in every run."""
    return [(name, each) for name, one in runs for each in one.methods if each.method == OWN]


def _several(runs: Sequence[tuple[str, Summary]]) -> list[tuple[str, Summary]]:
    """The runs but those of C-FLAG alone, which are in the table of its variants."""
    alone = len(_variants(runs)) > 1
    return [(name, one) for name, one in runs if not alone or [each.method for each in one.methods] != [OWN]]


def _tasks(runs: Sequence[tuple[str, Summary]]) -> list[str]:
    lines = []
    for name, one in _several(runs):
        head = ("method", "accuracy", "forgetting", f"minus {BASE}", "gradients", "numbers sent", "seeds", "seconds")
        lines += ["", f"### {name}", "", f"{one.title}, {one.rounds} rounds a task.", ""]
        lines += _table(head, [_method(each, one) for each in one.methods])
        if one.pairs:
            lines += ["", f"{PAIRS}, by Holm's correction over all of them:", "", *_table(*pair_table(one))]
        lines += ["", *(f"- {in_markdown(note)}" for note in one.notes)] if one.notes else []
    return lines


def _method(found: MethodSummary, run: Summary) -> list[str]:
    base = next((each for each in run.methods if each.method == BASE), found)
    return [name_of(found), *_metrics(found), _gain(found, base), *cost(found)]


def _metrics(found: MethodSummary) -> list[str]:
    return [_metric(found, name) for name in ("average_accuracy", "forgetting")]


def _metric(found: MethodSummary, name: str) -> str:
    value = found.metrics[name]
    if value is None and (found.diverged or found.unfinished):
        return f"{found.diverged} diverged, {found.unfinished} not finished"
    return str(value or "")


def _gain(found: MethodSummary, base: MethodSummary) -> str:
    compared = None if found is base else gain(found, base)
    return "" if compared is None else f"{compared[0]}{p_words(compared[1])}"


def _rounds(runs: Sequence[tuple[str, RoundsSummary]]) -> list[str]:
    lines = []
    for name, one in runs:
        lines += ["", f"### {name}", "", f"{one.title}. {one.rounds} rounds.", "", *_table(*table(one))]
        lines += ["", *(f"- {in_markdown(note)}" for note in one.notes)] if one.notes else []
    return lines


def _matrix(title: str, found: Sequence[tuple[str, dict[str, str]]]) -> Across:
    """A column a method."""
    methods = list(dict.fromkeys(method for _, cells in found for method in cells))
    rows = [[name, *(cells.get(each, "") for each in methods)] for name, cells in found]
    return Across(title, ("run", *methods), rows)


def _table(head: Sequence[str], rows: Rows) -> list[str]:
    return [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]


_HEAD = ("method", f"best {BEST}", "last", "minus FedAvg", "p", "gradients", "numbers sent", "seconds", "seeds")
MEANS = (
    f"Percent, mean +- standard deviation over seeds: the mean of the {BEST} best test accuracies of a seed, and the "
    "last one; the first minus FedAvg's, paired over seeds, with the p-value of Student's test. Gradients of samples "
    "(a product with a Hessian counts as two) and numbers sent are means over seeds."
)


def results(summary: RoundsSummary) -> None:
    """One run."""
    console = Page()
    console.say(summary.title, style="bold")
    console.say(f"  {summary.rounds} rounds. {MEANS}")
    for note in summary.notes:
        console.say("  " + note)
    head, rows = table(summary)
    console.table(head, rows, numbers=True)
    console.print()
    for found in summary.methods:
        for count, words in ((found.diverged, "diverged"), (found.unfinished, "not finished")):
            if count:
                console.say(f"{found.method}: {count} of {found.seeds} seeds {words}\n", style="red")


def table(summary: RoundsSummary) -> tuple[list[str], list[list[str]]]:
    """Head and rows, with columns for what was measured or printed of these settings only."""
    more = {
        "information loss": [str(found.information_loss or "") for found in summary.methods],
        "printed": [_printed(found) for found in summary.methods],
    }
    more = {name: cells for name, cells in more.items() if any(cells)}
    rows = [[*_row(found), *cells] for found, *cells in zip(summary.methods, *more.values(), strict=True)]
    return [*_HEAD, *more], rows


def _row(found: MethodRounds) -> list[str]:
    p = "" if found.p_value is None else f"{found.p_value:.2g}"
    words = ("" if one is None else str(one) for one in (found.best, found.last, found.gain))
    cost = (f"{found.gradients:.3g}", f"{found.communicated:.3g}", f"{found.seconds:.1f}", str(found.seeds))
    return [found.method, *words, p, *cost]


def _printed(found: MethodRounds) -> str:
    return "; ".join(f"{mean} +- {deviation} (Table {table})" for table, _, mean, deviation in found.printed)
