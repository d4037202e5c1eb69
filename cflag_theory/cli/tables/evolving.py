"""PyTorch runs on data that change from round to round, as tables."""

from __future__ import annotations

from cflag_theory.cli.tables.page import Page
from cflag_theory.studies.bridge_results.evolving import BEST, MethodRounds, RoundsSummary

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
