"""Exact worst cases as tables for people; nothing is wider than 100 columns."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rich.text import Text

from cflag_theory.cli.tables.page import Page
from cflag_theory.shown import Shown, number
from cflag_theory.studies.worst_cases.findings import Range, Row, Sharp, Union
from cflag_theory.studies.worst_cases.published import RECALLED, Compared
from cflag_theory.studies.worst_cases.ranges import Interval

_WIDTH = 100
# Longer orders are cut in the table; JSON has all of them.
_SHOWN = 9
# Fractions of more characters are shown as decimals.
_DIGITS = 9


def sharp(found: Sharp, *, details: bool) -> None:
    """How much of its constant each lemma needs; with details everything that `worst_cases.constants.sharp` found."""
    console = Page(_WIDTH)
    lemmas = [[row for row in found.rows if row.lemma == id] for id in dict.fromkeys(row.lemma for row in found.rows)]
    _answer(console, [[row for row in rows if row.in_range] for rows in lemmas], found.ranges)
    if not details:
        return
    for rows in lemmas:
        _lemma(console, rows)
    _legend(console, found.rows)
    _ranges(console, found.ranges)
    _lemma3(console, found.union, found.union_limit)


def worst(found: Shown, *, details: bool) -> None:
    """The interval of a worst case, for whom it holds, and what is assumed."""
    console, sheet = Page(_WIDTH), found.sheet()
    console.say(sheet.line, style="bold")
    console.print()
    console.table(sheet.head, [(name, number(value)) for name, value in sheet.rows])
    if details:
        for note in (*sheet.notes, *getattr(found, "proof", list)()):
            console.say(note)


def published(found: Sequence[Compared]) -> None:
    """The published bounds that allow this step, over the exact worst cases of what they bound."""
    console = Page(_WIDTH)
    if not found:
        console.say("No published bound that is known here allows this method, class and step.")
        return
    rows = [
        (one.published.name, one.published.quantity, number(one.bound), number(one.exact), f"{one.factor:.3g}")
        for one in found
    ]
    console.table(("published bound", "of", "is", "exact", "loose by"), rows)
    recalled = [one.published.name for one in found if one.published.read == RECALLED]
    if recalled:
        console.say(f"{RECALLED}: {', '.join(recalled)}.")


_HOW = {
    "given": "The order was given: other orders may be worse.",
    "enumeration": "For Lemma 12 beyond beta L E = 1 the order was found by enumeration, where there are few orders.",
    "bounds": "Where there are many, worst is a bound that is proved for every order, and the order is the worst of "
    "a dozen that were tried.",
    "argument": "For Lemma 16 beyond beta L (E - 1) = 1 no other order is worse, by an argument that is "
    "not machine-checked; enumeration confirms it for small n and E.",
}


def _answer(console: Page, lemmas: Sequence[Sequence[Row]], ranges: Sequence[Range]) -> None:
    """How much of its constant a lemma needs, in the range for which it is printed, and how far that range goes."""
    told = [
        (rows[0].where, all(row.holds for row in rows), max(float(row.worst) / float(row.printed) for row in rows))
        for rows in lemmas
        if rows
    ]
    if not told:
        return
    needs = max(share for *_, share in told)
    wrong = [where for where, true, _ in told if not true]
    said = f"{', '.join(wrong)}: not always true" if wrong else "All lemmas are true"
    console.say(
        f"{said} at these n, E and beta L E in the range that is printed; they need at most {needs:.3g} of their "
        "constants.",
        style="bold",
    )
    console.print()
    largest = {one.where: _range(one) for one in ranges}
    rows = [(where, "yes" if true else "no", f"{share:.3g}", *largest[where]) for where, true, share in told]
    head = (
        "lemma",
        "true",
        "of its constant",
        "printed up to beta L E",
        "true for all n, E up to",
        "times the paper's",
    )
    console.table(head, rows)
    unproved = dict.fromkeys(one.where for one in ranges if one.how == "argument")
    if unproved:
        console.say(f"{', '.join(unproved)}: by an argument that is not machine-checked.")
    console.print()


def _range(one: Range) -> tuple[str, str, str]:
    """The largest beta L E of the paper, the largest for all n and E, and their quotient."""
    best = one.largest_for_all
    printed = "any" if one.printed is None else str(one.printed)
    if best is None:
        return printed, "any", ""
    return printed, f"{float(best[0]):.6f}", "" if one.printed is None else f"{float(best[0] / one.printed):.4g}"


def _lemma(console: Page, rows: Sequence[Row]) -> None:
    first = rows[0]
    solved = any(row.pep is not None for row in rows)
    shown = [
        (
            str(row.n),
            str(row.local_steps),
            _step(row.u),
            _word(row),
            f"{float(row.printed):.6g}",
            f"{float(row.worst):.6g}",
            f"{float(row.met):.6g}",
            *((("" if row.pep is None else f"{row.pep:.6g}"),) if solved else ()),
            _between(row.supremum),
            _order(row),
        )
        for row in rows
    ]
    head = ["n", "E", "beta L E", "true", "printed", "worst", "reached"]
    _table(
        console, f"{first.where}: {first.words}", [*head, *(["solved"] if solved else []), "all n, E", "order"], shown
    )


def _step(u: Fraction) -> str:
    text = str(u)
    return text if len(text) <= _DIGITS else f"{float(u):.6g}"


def _word(row: Row) -> Text:
    mark = "" if row.in_range else "*"
    if row.holds is None:
        return Text("open" + mark)
    return Text("yes" + mark, style="green") if row.holds else Text("no" + mark, style="red")


def _between(interval: Interval) -> str:
    low, high = (f"{float(side):.6g}" for side in interval)
    return low if low == high else f"{low}..{high}"


def _order(row: Row) -> str:
    parts = [str(j) for j in row.order]
    return ",".join(parts) if len(parts) <= _SHOWN else ",".join(parts[: _SHOWN - 1]) + ",..."


def _legend(console: Page, rows: Sequence[Row]) -> None:
    lines = [
        "worst: no instance needs a larger constant, for this n, E and beta L E. reached: the constant that a concave "
        "quadratic needs, run in exact arithmetic. all n, E: the limit of the worst cases as n and E grow.",
    ]
    if any(row.pep is not None for row in rows):
        lines.append("solved: by semidefinite programming, proved in fractions; not for Lemma 12 or one local step.")
    if not all(row.in_range for row in rows):
        lines.append("* outside the range of step sizes for which the lemma is printed, or proved in the paper.")
    if any(row.worst != row.met for row in rows):
        lines.append("Where worst and reached differ, the worst case lies between them.")
    used = {row.how for row in rows}
    lines += [words for how, words in _HOW.items() if how in used]
    for line in lines:
        console.say(line)
    console.print()


def _ranges(console: Page, ranges: Sequence[Range]) -> None:
    shown = [
        (
            one.where,
            _range(one)[0],
            str(one.n),
            str(one.local_steps),
            "any" if one.largest is None else f"{float(one.largest[0]):.6f}",
            *_range(one)[1:],
        )
        for one in ranges
    ]
    head = ["lemma", "paper", "n", "E", "largest", "largest for all n, E", "times the paper's"]
    _table(console, "Largest beta L E at which the printed inequality is true", head, shown)


def _lemma3(console: Page, union: Sequence[Union], limit: Interval) -> None:
    shown = [
        (
            str(one.local_steps),
            f"{float(one.printed_step.needed):.4f}..{float(one.printed_step.proved):.4f}",
            f"{float(one.best.u):.4f}",
            f"{float(one.best.needed):.4f}..{float(one.best.proved):.4f}",
            f"{float(one.range[0]):.4f}..{float(one.range[1]):.4f}",
        )
        for one in union
    ]
    head = ["E", "at beta L E = 1/30", "best beta L E", "there", "beta L E with 60 L"]
    _table(console, "Lemma 3 for (67)-(68): the constant of L in place of 60", head, shown)
    console.say(
        "Each range goes from what an instance with one component needs to what ours.union_descent proves for every n "
        "with the exact worst case of the local steps; at beta L E = 1/30 the upper end tends to "
        f"{float(limit[1]):.4f} as E grows."
    )


def _table(console: Page, title: str, columns: Sequence[str], rows: Sequence[Sequence[str | Text]]) -> None:
    # Not the table's own title, which would be folded to the width of its columns.
    console.say(title, style="bold")
    console.table(columns, rows)
    console.print()
