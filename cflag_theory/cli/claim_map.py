"""The map of a paper's claims: which claim uses which, coloured by verdict, as SVG, DOT or plain data."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from importlib.resources import files
from typing import Any

from cflag_theory.claims.book import Book
from cflag_theory.claims.engine.claim import MEANINGS
from cflag_theory.claims.ledger import BOOK
from cflag_theory.claims.uses import Arrow, arrows, behind, beyond, ids, one_each, stated, without_shortcuts
from cflag_theory.cli.layers import Drawing, draw
from cflag_theory.shown import cleaned, escaped

WIDTH, HEIGHT = 144.0, 38.0
#: Of the line for each theorem of ours, below a box.
_LINE = 15.0
#: Columns of the drawing, which fits a page of 1024 pixels.
_MOST = 5
_MARGIN = 12.0
_STEP = WIDTH + 12.0
_LEGEND = 112.0
#: What fits into a box: letters of the two lines at their sizes, for fonts as wide as DejaVu Sans.
_LETTERS = (17, 22)
_SHORT = (
    ("Version of ", ""),
    ("text after", "after"),
    ("App. ", ""),
    ("Algorithm ", "Alg. "),
    ("Supplement", "Suppl."),
    ("Theorems ", "Thms. "),
    (" and ", ", "),
)
LABELS = (*MEANINGS, "assumption")
_LINES = (
    ("printed", "the paper's proof of the lower claim uses the upper one"),
    ("broken", "the same, where the upper claim is false in some part, or rests on one that is"),
    ("proof", "only our checked proof of the lower claim uses the upper one"),
)


def kept(paper: str, start: str | None = None, book: Book = BOOK) -> tuple[list[str], list[Arrow]]:
    """The claims and arrows of a map.

    Without `start`, the claims of the paper; with it, what this claim rests on and what rests on it. Arrows that a
    path of others replaces are left out, and theorems of ours that the notes name belong to the boxes.
    """
    uses = [arrow for arrow in arrows(paper, book) if arrow.kind != "instead"]
    if start is None:
        own = book.own(paper)
        return own, without_shortcuts([arrow for arrow in uses if {arrow.user, arrow.used} <= {*own}])
    down, up = {start, *behind(start, uses)}, {start, *beyond(start, uses)}
    near = [arrow for arrow in uses if {arrow.user, arrow.used} <= down or {arrow.user, arrow.used} <= up]
    return [id for id in ids(paper, book) if id in down | up], without_shortcuts(near)


def svg(
    names: Sequence[str],
    among: Collection[Arrow],
    labels: Mapping[str, str],
    *,
    title: str,
    start: str | None = None,
    alone: bool = True,
    book: Book = BOOK,
) -> str:
    """The map as SVG: boxes of the claims `names`, with verdicts by id; those without an arrow follow below the
    drawing.

    `start`, the claim in the middle, has a thicker rim. `alone` is whether the picture brings its style; on the
    report's page that is done once. `book` is the ledger, or the pages of a stranger.
    """
    pairs = one_each(among)
    met = {one for pair in pairs for one in pair}
    joined = [one for one in names if one in met] or list(names)
    single = [one for one in names if one not in joined]
    heights = {one: HEIGHT + _LINE * len(book.instead(one)) for one in names}
    drawing = draw(joined, list(pairs), width=WIDTH, heights=heights, gaps=(12.0, 36.0), most=_MOST)
    width = max(drawing.width, 4 * _STEP) + 2 * _MARGIN
    beside = int((width - 2 * _MARGIN) // _STEP)
    rows = [single[first : first + beside] for first in range(0, len(single), beside)]
    top, shift = _MARGIN + _LEGEND, (width - drawing.width) / 2
    broken = _broken(among, labels, book)
    body = [_legend(labels, names, book)]
    body += [_arrow(drawing, pair, pairs[pair], pair[0] in broken, shift, top, book) for pair in pairs]
    places = {id: (drawing.at[id][0] + shift, drawing.at[id][1] + top) for id in joined}
    body += [_node(id, labels, *places[id], id == start, book) for id in joined]
    foot = top + drawing.height
    if rows:
        body.append(f'<text class="head" x="{_MARGIN:g}" y="{foot + 34:.0f}">No arrow leads to or from these:</text>')
        foot += 46
    for row in rows:
        lefts = {id: _MARGIN + WIDTH / 2 + place * _STEP for place, id in enumerate(row)}
        body += [_node(id, labels, lefts[id], foot, False, book) for id in row]
        foot += max(heights[id] for id in row) + 12
    foot += _MARGIN
    style = f"<style>{style_sheet()}</style>" if alone else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="map{" alone" if alone else ""}" role="img" '
        f'width="{width:.0f}" height="{foot:.0f}" viewBox="0 0 {width:.0f} {foot:.0f}">'
        f"<title>{escaped(title)}</title>{style}\n" + "\n".join(body) + "\n</svg>\n"
    )


def ledger_name(paper: str) -> str:
    """The page of the report with the claims of a paper, to which the boxes lead."""
    return f"ledger-{paper.lower().replace(' ', '-')}.html"


def style_sheet() -> str:
    """The colours of maps, light and dark."""
    return files(__package__).joinpath("templates", "map.css").read_text(encoding="utf-8")


def _broken(among: Collection[Arrow], labels: Mapping[str, str], book: Book) -> set[str]:
    """The false claims, and what rests on them by printed proofs."""
    printed = stated(among, book)
    false = [id for id, label in labels.items() if label == "false"]
    return {*false, *(one for id in false for one in beyond(id, printed))}


def _kind(drawn: Sequence[Arrow], broken: bool, book: Book) -> str:
    if stated(drawn, book):
        return "broken" if broken else "printed"
    return "proof"


def _arrow(
    drawing: Drawing, pair: tuple[str, str], drawn: Sequence[Arrow], broken: bool, shift: float, top: float, book: Book
) -> str:
    points = [(x + shift, y + top) for x, y in drawing.paths[pair]]
    (x, y), path = points[0], ""
    path = f"M{x:.0f} {y:.0f}"
    for index, (right, down) in enumerate(points[1:]):
        # Within a row the line is straight, between rows it is a curve.
        middle = (y + down) / 2
        end = down - 5 if index == len(points) - 2 else down
        path += (
            f"V{down:.0f}"
            if index % 2 == 0 and len(points) > 2
            else f"C{x:.0f} {middle:.0f} {right:.0f} {middle:.0f} {right:.0f} {end:.0f}"
        )
        x, y = right, down
    kind = _kind(drawn, broken, book)
    head = f'<path class="tip" d="M{x - 3.5:.0f} {y - 6:.0f}h7L{x:.0f} {y:.0f}z"/>'
    told = escaped(_told(pair, drawn, book))
    return f'<g class="arrow {kind}"><title>{told}</title><path class="line" d="{path}"/>{head}</g>'


def _told(pair: tuple[str, str], drawn: Sequence[Arrow], book: Book) -> str:
    used, user = pair
    proof = "our proof" if book.of_ledger else "its proof"
    how = {"printed": "the paper's proof", "proof": proof, "granted": f"{proof}, as a hypothesis"}
    return "\n".join(
        f"{user} uses {used} ({how[one.kind]}). {one.place}: {one.words}".replace(" : ", " ") for one in drawn
    )


def _node(id: str, labels: Mapping[str, str], x: float, top: float, chosen: bool, book: Book) -> str:
    subject = book.claim(id)
    label = labels.get(id, "open")
    name = id.partition(".")[2] if subject.paper == book.home(id) else id
    kind = " ours" if subject.paper == "ours" else ""
    left = x - WIDTH / 2
    parts = [
        f'<a href="{ledger_name(subject.paper)}#{escaped(id)}" '
        f'class="node {escaped(label)}{kind}{" chosen" if chosen else ""}">'
        f"<title>{escaped(f'{id}, {subject.where}: {subject.title} ({label})')}</title>"
        f'<rect x="{left:.0f}" y="{top:.0f}" width="{WIDTH:g}" height="{HEIGHT:g}" rx="7"/>'
        f'<text class="place" x="{x:.0f}" y="{top + 16:.0f}">{escaped(_place(subject.where))}</text>'
        f'<text class="name" x="{x:.0f}" y="{top + 31:.0f}">{escaped(shortened(name, _LETTERS[1]))}</text></a>'
    ]
    for index, one in enumerate(book.instead(id)):
        y = top + HEIGHT + _LINE * index
        words = f"{one}, {book.claim(one).where}: {book.claim(one).title} ({labels.get(one, 'open')})"
        name = shortened(one.removeprefix("ours."), _LETTERS[1])
        parts.append(
            f'<a href="{ledger_name("ours")}#{escaped(one)}" class="instead"><title>{escaped(words)}</title>'
            f'<rect x="{left + 6:.0f}" y="{y:.0f}" width="{WIDTH - 12:g}" height="{_LINE:g}"/>'
            f'<text class="name" x="{x:.0f}" y="{y + 11:.0f}">{escaped(name)}</text></a>'
        )
    return "".join(parts)


def _place(where: str) -> str:
    """A place of the paper in the letters of a box: without equations, and what is in brackets, if they do not fit."""
    if len(where) <= _LETTERS[0]:
        return where
    where = re.sub(r" ?\[[^]]*\]", "", where)
    for long, short in _SHORT:
        where = where.replace(long, short)
    while len(where) > _LETTERS[0] and "," in where:
        where = where.rpartition(",")[0].rstrip(", ")
    return shortened(where, _LETTERS[0])


def shortened(text: str, most: int) -> str:
    """A text cut between words, or within one that is too long, with an ellipsis."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    whole = cut.rpartition(" ")[0]
    return (whole if 4 * len(whole) > 3 * most else cut).rstrip(" ,:") + "…"


def _legend(labels: Mapping[str, str], shown: Sequence[str], book: Book) -> str:
    found, x = [], _MARGIN
    for label in LABELS:
        if any(labels.get(id, "open") == label for id in shown):
            width = 7.2 * len(label) + 18
            found.append(
                f'<g class="node {label}"><rect x="{x:.0f}" y="10" width="{width:.0f}" height="20" rx="7"/>'
                f'<text class="name" x="{x + width / 2:.0f}" y="24">{label}</text></g>'
            )
            x += width + 8
    for index, (kind, words) in enumerate(_LINES if book.of_ledger else _LINES[:2]):
        y = 46 + index * 18
        found.append(
            f'<g class="arrow {kind}"><path class="line" d="M{_MARGIN:g} {y}h26"/>'
            f'<path class="tip" d="M{_MARGIN + 26:g} {y - 3.5}v7l6 -3.5z"/></g>' + _key(y, words)
        )
    if not book.of_ledger:
        return "".join(found)
    sample = f'<g class="instead"><rect x="{_MARGIN:g}" y="94" width="32" height="13"/></g>'
    return "".join([*found, sample, _key(100, "theorems of ours to which the notes on the claim point")])


def _key(y: float, words: str) -> str:
    return f'<text class="key" x="{_MARGIN + 42:g}" y="{y + 4:g}">{escaped(words)}</text>'


def dot(names: Sequence[str], among: Collection[Arrow], labels: Mapping[str, str], book: Book = BOOK) -> str:
    """The map for Graphviz; an arrow from A to B says that B uses A."""
    lines = ["digraph claims {", "  node [shape=box, style=filled, fillcolor=white];"]
    for id in names:
        where = cleaned(book.claim(id).where).replace("\\", "\\\\").replace('"', "'")
        words = f"{id}\\n{where}"
        lines.append(f'  "{id}" [label="{words}", class="{labels.get(id, "open")}"];')
    for (used, user), drawn in one_each(among).items():
        lines.append(f'  "{used}" -> "{user}" [class="{_kind(drawn, False, book)}"];')
    return "\n".join([*lines, "}"]) + "\n"


def data(
    names: Sequence[str], among: Collection[Arrow], labels: Mapping[str, str], book: Book = BOOK
) -> dict[str, Any]:
    """The map as plain values."""
    claims = map(book.claim, names)
    return {
        "claims": [
            {"id": one.id, "where": one.where, "title": one.title, "verdict": labels.get(one.id, "open")}
            for one in claims
        ],
        "arrows": [
            {"user": one.user, "used": one.used, "kind": one.kind, "place": one.place, "words": one.words}
            for one in among
        ],
    }
