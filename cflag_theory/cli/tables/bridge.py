"""The PyTorch runs as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from cflag_theory.cli.documents import in_markdown
from cflag_theory.cli.tables.page import Page
from cflag_theory.studies.bridge_results.published import Finding, deviation
from cflag_theory.studies.bridge_results.report import NOT_REPRODUCED, NOT_RUN, REPRODUCED, UNDECIDED, Cell, Report
from cflag_theory.studies.bridge_results.summary import WORDS, MethodSummary, Summary

_MAIN = ["average_accuracy", "forgetting", "learning_accuracy"]
_COST = ("gradients", "numbers sent", "seeds", "seconds")
PAIRS = "Accuracy of the row's method minus that of the column's, paired over seeds, with the p-value of Student's test"
_HEAD = ("method", "metric", "printed", "measured", "margin", "n", "verdict")
_MARKS = {"fits": "green", "disagrees": "red", "odd": "yellow"}
_STYLES = {REPRODUCED: "green", NOT_REPRODUCED: "red", UNDECIDED: "yellow", NOT_RUN: "dim"}


def results(summary: Summary, *, details: bool) -> None:
    """One run: who is best, the metrics of every method; with details other definitions and every accuracy matrix."""
    console = Page()
    console.say(summary.title + _best(summary.methods), style="bold")
    seeds = max((found.seeds for found in summary.methods), default=0)
    spread = "mean +- standard deviation over seeds" if seeds > 1 else "one seed"
    console.say(f"  percent; {summary.rounds} rounds a task; {spread}")
    for note in summary.notes:
        console.say("  " + note)
    others = [("Other definitions, means", [name for name in WORDS if name not in _MAIN])] if details else []
    for title, names in [("", _MAIN), *others]:
        if title:
            console.say(title, style="italic")
        head = ["method", *(WORDS[name] for name in names), *(_COST if names == _MAIN else ())]
        rows = []
        for found in summary.methods:
            means = [found.metrics[name] for name in names]
            values = ["" if one is None else str(one) if names == _MAIN else f"{one.mean:.2f}" for one in means]
            rows.append([name_of(found), *values, *(cost(found) if names == _MAIN else [])])
        console.table(head, rows, numbers=True)
        console.print()
    if summary.pairs:
        console.say(f"{PAIRS}, by Holm's correction", style="italic")
        console.table(*pair_table(summary), numbers=True)
        console.print()
    for found in summary.methods:
        for count, words in ((found.diverged, "diverged"), (found.unfinished, "not finished")):
            if count:
                console.say(f"{name_of(found)}: {count} of {found.seeds} seeds {words}\n", style="red")
    for found in summary.methods if details else ():
        _matrix(console, found)


def _best(methods: Sequence[MethodSummary]) -> str:
    """The methods with the highest accuracy and with the least forgetting, in means over seeds."""
    means = [
        {name_of(one): value.mean for one in methods if (value := one.metrics[name]) is not None}
        for name in ("average_accuracy", "forgetting")
    ]
    if len(methods) < 2 or not all(means):
        return ""
    best, least = max(means[0], key=means[0].__getitem__), min(means[1], key=means[1].__getitem__)
    return (
        f": on average {best} is most accurate, {means[0][best]:.1f} %; {least} forgets least, {means[1][least]:.1f} %"
    )


def cost(found: MethodSummary) -> list[str]:
    """What a method costs: gradients of samples, numbers sent, seeds, seconds."""
    return [f"{found.gradients:.3g}", f"{found.communicated:.3g}", str(found.seeds), f"{found.seconds:.1f}"]


def pair_table(summary: Summary) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the gains of every pair."""
    names = list(dict.fromkeys(name for pair in summary.pairs for name in (pair.first, pair.second)))
    cells = {(pair.first, pair.second): f"{pair.gain.mean:.1f}" + p_words(pair.adjusted) for pair in summary.pairs}
    rows = [[row, *(cells.get((row, column), "") for column in names[1:])] for row in names[:-1]]
    return ["", *names[1:]], rows


def p_words(p: float | None) -> str:
    """A p-value in brackets, if there is one."""
    return "" if p is None else f" ({p:.2g})" if p >= 0.001 else " (<0.001)"


def _matrix(console: Page, found: MethodSummary) -> None:
    # Not the table's own title, which would be folded to the table's width.
    console.say(f"{name_of(found)}: accuracy on task", style="italic")
    rows: list[list[str | Text]] = []
    for s, row in enumerate(found.accuracy):
        cells = [
            Text("" if value is None else f"{value:.1f}", style="bold" if j == s else "dim" if j > s else "")
            for j, value in enumerate(row)
        ]
        rows.append([str(s + 1), *cells])
    console.table(["after task", *(str(task + 1) for task in range(len(rows)))], rows, numbers=True)
    console.print()


def report(found: Report) -> None:
    """Measured beside printed, a line a number, and what the printed numbers say about each other."""
    console = Page()
    for title, cells in _blocks(found).items():
        console.say(title, style="bold")
        rows: list[list[str | Text]] = [
            [*_row(cell), Text(cell.verdict, style=_STYLES[cell.verdict])] for cell in cells
        ]
        console.table(_HEAD, rows)
        console.print()
    console.say(f"{counts(found)}; reproduced: the printed mean lies within the margin of the measured one")
    for note in found.notes:
        console.say("  " + note, style="yellow")
    console.say("\nThe printed numbers compared with each other", style="bold")
    for finding in found.findings:
        console.print(Text(f"  {_mark(finding):<11}", style=_MARKS[_mark(finding)]) + Text(finding.sentence))
    console.print()


def counts(found: Report) -> str:
    """How many numbers have each verdict, in words."""
    return ", ".join(f"{count} {verdict}" for verdict, count in found.counts().items())


def report_page(found: Report) -> str:
    """The same as a Markdown page."""
    lines = [
        "# Measured and printed",
        "",
        f"{counts(found)}. Reproduced means that the printed mean lies within the margin of the measured one.",
    ]
    for title, cells in _blocks(found).items():
        lines += ["", f"## {title}", "", f"| {' | '.join(_HEAD)} |", f"|{'---|' * len(_HEAD)}"]
        lines += [f"| {' | '.join((*_row(cell), cell.verdict))} |" for cell in cells]
    if found.notes:
        lines += ["", "Not compared, or left out:", "", *(f"- {in_markdown(note)}" for note in found.notes)]
    lines += ["", "## The printed numbers compared with each other", "", *finding_lines(found), ""]
    return "\n".join(lines)


def finding_lines(found: Report) -> list[str]:
    """What was found about the printed numbers, as a Markdown list."""
    return [f"- {_mark(finding)}: {finding.sentence}" for finding in found.findings]


def _mark(finding: Finding) -> str:
    return "odd" if finding.fits is None else "fits" if finding.fits else "disagrees"


def _blocks(found: Report) -> dict[str, list[Cell]]:
    """The cells of one column of a table, under what they have in common."""
    blocks: dict[str, list[Cell]] = {}
    for cell in found.cells:
        number = cell.number
        title = f"Table {number.table[5:]}: {number.data}, {number.setting}, {number.clients} clients"
        blocks.setdefault(title + (f"; {cell.variant}" if cell.variant else ""), []).append(cell)
    return blocks


def _row(cell: Cell) -> tuple[str, ...]:
    """All columns but the verdict; what was not measured stays empty."""
    known = deviation(cell.number)
    printed = cell.number.printed + ("" if known is None else f" +- {float(known):.2f}")
    own = ("", "", "")
    if cell.measured is not None:
        own = (str(cell.measured), "" if cell.margin is None else f"{cell.margin:.2f}", str(cell.measured.seeds))
    return cell.number.method, cell.number.metric, printed, *own


def presets(listed: Sequence[Mapping[str, Any]]) -> None:
    """Every preset by name, with what it runs."""
    Page().table(("preset", "runs", "what it is"), [(e["name"], str(len(e["runs"])), e["what"]) for e in listed])


def data(found: Mapping[str, Any]) -> None:
    """What lies in a folder."""
    console = Page()
    if not found["found"]:
        console.say(f"{found['folder']} has no data set that cflag bridge reads")
    for one in found["found"]:
        style = {"whole": "green", "damaged": "red"}.get(one["status"], "yellow")
        words = (
            f" {one['name']} ({one['version']}) in {one['folder']}: {one['train']} train and {one['test']} test images "
            f"of {one['classes']} classes"
        )
        console.print(Text(one["status"], style=style) + Text(words))
        for line in (*one["differences"], *one["faults"]):
            console.say("  " + line)
    for line in found["packed"]:
        console.say(line)


def name_of(found: MethodSummary) -> str:
    """With its mode, if it has one."""
    return f"{found.method} ({found.mode})" if found.mode else found.method
