"""PyTorch runs on data that change from round to round, as tables for people and as one page."""

from __future__ import annotations

from collections.abc import Sequence

from cflag_theory.cli.tables.page import Page
from cflag_theory.studies.bridge_results.evolving import BEST, MethodRounds, RoundsSummary

_HEAD = ("method", f"best {BEST}", "last", "minus FedAvg", "p", "gradients", "numbers sent", "seconds", "seeds")
_MEANS = (
    f"Percent, mean +- standard deviation over seeds: the mean of the {BEST} best test accuracies of a seed, and the "
    "last one; the first minus FedAvg's, paired over seeds, with the p-value of Student's test. Gradients of samples "
    "(a product with a Hessian counts as two) and numbers sent are means over seeds."
)


def results(summary: RoundsSummary) -> None:
    """One run."""
    console = Page()
    console.say(summary.title, style="bold")
    console.say(f"  {summary.rounds} rounds. {_MEANS}")
    for note in summary.notes:
        console.say("  " + note)
    head, rows = _table(summary)
    console.table(head, rows, numbers=True)
    console.print()
    for found in summary.methods:
        for count, words in ((found.diverged, "diverged"), (found.unfinished, "not finished")):
            if count:
                console.say(f"{found.method}: {count} of {found.seeds} seeds {words}\n", style="red")


def page(summaries: Sequence[RoundsSummary]) -> str:
    """Several runs as one Markdown page."""
    lines = ["# Methods compared on data that change from round to round", "", _MEANS]
    for summary in summaries:
        head, rows = _table(summary)
        lines += ["", f"## {summary.title}", "", f"{summary.rounds} rounds.", "", f"| {' | '.join(head)} |"]
        lines += [f"|{'---|' * len(head)}", *(f"| {' | '.join(row)} |" for row in rows)]
        lines += [f"\n- {note}" for note in summary.notes]
    return "\n".join([*lines, ""])


def _table(summary: RoundsSummary) -> tuple[list[str], list[list[str]]]:
    """With columns for what was measured or printed of these settings only."""
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
