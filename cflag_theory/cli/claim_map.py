"""The map of a paper's claims: what rests on what, coloured by verdict, as SVG, DOT or plain data."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from cflag_theory.claims.ledger import claim
from cflag_theory.claims.uses import KINDS, Arrow, behind, beyond, one_each, without_shortcuts
from cflag_theory.cli.layers import Drawing, draw
from cflag_theory.verify.verdict import MEANINGS

BOX = (152.0, 40.0)
#: Columns of the drawing, which fits a page of 1024 pixels.
_MOST = 6
_MARGIN = 12.0
_LEGEND = 74.0
#: What fits into a box: letters of the two lines at their sizes, for fonts as wide as DejaVu Sans.
_LETTERS = (18, 24)
LABELS = (*MEANINGS, "assumption")
_LINES = (
    ("printed", "the paper's proof of the lower claim uses the upper one"),
    ("broken", "the same, where what is used is false, or rests on what is"),
    ("proof", "our checked proof uses it"),
    ("instead", "a theorem of ours to which the notes on the lower claim point"),
)


def kept(among: Collection[Arrow], start: str | None) -> list[Arrow]:
    """The arrows of a map: all, or those on the way to or from one claim; what other paths say is left out."""
    if start is None:
        return without_shortcuts(among)
    uses = [arrow for arrow in among if arrow.kind != "instead"]
    down, up = {start, *behind(start, uses)}, {start, *beyond(start, uses)}
    near = [arrow for arrow in uses if {arrow.user, arrow.used} <= down or {arrow.user, arrow.used} <= up]
    met = {one for arrow in near for one in (arrow.user, arrow.used)} | {start}
    return [*without_shortcuts(near), *(arrow for arrow in among if arrow.kind == "instead" and arrow.user in met)]


def svg(
    names: Sequence[str],
    among: Collection[Arrow],
    labels: Mapping[str, str],
    *,
    title: str,
    start: str | None = None,
    page: str = "index.html",
    alone: bool = True,
) -> str:
    """The map as SVG.

    Parameters
    ----------
    names : sequence of str
        Claims in order; those without an arrow follow below the drawing.
    among : collection of Arrow
        As `kept` gives them.
    labels : mapping of str to str
        Verdicts by id.
    title : str
        What the picture shows.
    start : str, optional
        The claim in the middle, which has a thicker rim.
    page : str
        The page of the report to which the boxes lead, "" for the same page.
    alone : bool
        Whether the picture brings its style; on the report's page that is done once.
    """
    pairs = one_each(among)
    met = {one for pair in pairs for one in pair}
    joined = [one for one in names if one in met] or list(names)
    single = [one for one in names if one not in joined]
    drawing = draw(joined, list(pairs), box=BOX, most=_MOST)
    step = BOX[0] + 16.0
    width = max(drawing.width, min(len(single), _MOST) * step - 16.0, 4 * step - 16.0) + 2 * _MARGIN
    top = _MARGIN + _LEGEND
    shift = (width - drawing.width) / 2
    broken = _broken(among, labels)
    body = [_arrow(drawing, pair, pairs[pair], pair[0] in broken, shift, top) for pair in pairs]
    body += [_node(id, labels, drawing.at[id][0] + shift, drawing.at[id][1] + top, page, id == start) for id in joined]
    height = top + drawing.height
    if single:
        body.append(f'<text class="head" x="{_MARGIN:g}" y="{height + 34:.1f}">No arrow leads to or from these:</text>')
        for index, id in enumerate(single):
            x = _MARGIN + BOX[0] / 2 + index % _MOST * step
            body.append(_node(id, labels, x, height + 68 + index // _MOST * (BOX[1] + 10), page, False))
        height += 68 - BOX[1] / 2 + (len(single) + _MOST - 1) // _MOST * (BOX[1] + 10)
    height += _MARGIN
    style = f"<style>{style_sheet()}</style>" if alone else ""
    body = [_legend(labels, [*joined, *single]), *body]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="map{" alone" if alone else ""}" role="img" '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">'
        f"<title>{escape(title)}</title>{style}\n" + "\n".join(body) + "\n</svg>\n"
    )


def style_sheet() -> str:
    """The colours of maps, light and dark."""
    return files(__package__).joinpath("templates", "map.css").read_text(encoding="utf-8")


def _broken(among: Collection[Arrow], labels: Mapping[str, str]) -> set[str]:
    """The false claims, and what rests on them by printed proofs."""
    printed = [arrow for arrow in among if arrow.kind == "printed"]
    false = [id for id, label in labels.items() if label == "false"]
    return {*false, *(one for id in false for one in beyond(id, printed))}


def _kind(drawn: Sequence[Arrow], broken: bool) -> str:
    kinds = {arrow.kind for arrow in drawn}
    if "printed" in kinds:
        return "broken" if broken else "printed"
    return "proof" if kinds & {"proof", "granted"} else "instead"


def _arrow(
    drawing: Drawing, pair: tuple[str, str], drawn: Sequence[Arrow], broken: bool, shift: float, top: float
) -> str:
    points = [(x + shift, y + top) for x, y in drawing.paths[pair]]
    (x, y), path = points[0], ""
    path = f"M{x:.1f} {y:.1f}"
    for index, (right, down) in enumerate(points[1:]):
        # Points come in pairs: curves between rows, straight lines within.
        middle = (y + down) / 2
        end = down - 5 if index == len(points) - 2 else down
        path += f"V{down:.1f}" if index % 2 else f"C{x:.1f} {middle:.1f} {right:.1f} {middle:.1f} {right:.1f} {end:.1f}"
        x, y = right, down
    kind = _kind(drawn, broken)
    head = f'<path class="tip" d="M{x - 3.5:.1f} {y - 6:.1f}h7L{x:.1f} {y:.1f}z"/>'
    return (
        f'<g class="arrow {kind}"><title>{escape(_told(pair, drawn))}</title><path class="line" d="{path}"/>{head}</g>'
    )


def _told(pair: tuple[str, str], drawn: Sequence[Arrow]) -> str:
    lines = []
    for arrow in drawn:
        said = f"{arrow.place}: {arrow.words}" if arrow.place else arrow.words
        meaning = KINDS[arrow.kind].replace("of B", f"of {pair[1]}").replace("on B", f"on {pair[1]}")
        meaning = meaning.replace("A ", f"{pair[0]} ", 1) if meaning.startswith("A ") else meaning.replace("A", pair[0])
        lines.append(f"{meaning}{'. ' + said if said else ''}")
    return "\n".join(lines)


def _node(id: str, labels: Mapping[str, str], x: float, y: float, page: str, chosen: bool) -> str:
    subject = claim(id)
    label = labels.get(id, "open")
    name = id if subject.paper == "ours" else id.partition(".")[2]
    kind = " ours" if subject.paper == "ours" else ""
    left, top = x - BOX[0] / 2, y - BOX[1] / 2
    return (
        f'<a href="{page}#{escape(id)}" class="node {label}{kind}{" chosen" if chosen else ""}">'
        f"<title>{escape(f'{id}, {subject.where}: {subject.title} ({label})')}</title>"
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{BOX[0]:g}" height="{BOX[1]:g}" rx="7"/>'
        f'<text class="place" x="{x:.1f}" y="{y - 3:.1f}">{escape(shortened(subject.where, _LETTERS[0]))}</text>'
        f'<text class="name" x="{x:.1f}" y="{y + 12:.1f}">{escape(shortened(name, _LETTERS[1]))}</text></a>'
    )


def shortened(text: str, most: int) -> str:
    """A text cut between words, or within one that is too long, with an ellipsis."""
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    whole = cut.rpartition(" ")[0]
    return (whole if 2 * len(whole) > most else cut).rstrip(" ,:") + "…"


def _legend(labels: Mapping[str, str], shown: Sequence[str]) -> str:
    found, x = [], _MARGIN
    for label in LABELS:
        if any(labels.get(id, "open") == label for id in shown):
            width = 7.2 * len(label) + 18
            found.append(
                f'<g class="node {label}"><rect x="{x:.1f}" y="10" width="{width:.1f}" height="20" rx="7"/>'
                f'<text class="name" x="{x + width / 2:.1f}" y="24">{label}</text></g>'
            )
            x += width + 8
    for index, (kind, words) in enumerate(_LINES):
        left, y = _MARGIN + index % 2 * 330, 46 + index // 2 * 18
        found.append(
            f'<g class="arrow {kind}"><path class="line" d="M{left:g} {y}h26"/>'
            f'<path class="tip" d="M{left + 26:g} {y - 3.5}v7l6 -3.5z"/></g>'
            f'<text class="key" x="{left + 40:g}" y="{y + 4}">{escape(words)}</text>'
        )
    return "".join(found)


def dot(names: Sequence[str], among: Collection[Arrow], labels: Mapping[str, str]) -> str:
    """The map for Graphviz; an arrow from A to B says that B uses A."""
    lines = ["digraph claims {", "  node [shape=box, style=filled, fillcolor=white];"]
    for id in names:
        words = f"{id}\\n{claim(id).where}".replace('"', "'")
        lines.append(f'  "{id}" [label="{words}", class="{labels.get(id, "open")}"];')
    for (used, user), drawn in one_each(among).items():
        lines.append(f'  "{used}" -> "{user}" [class="{_kind(drawn, False)}"];')
    return "\n".join([*lines, "}"]) + "\n"


def data(names: Sequence[str], among: Collection[Arrow], labels: Mapping[str, str]) -> dict[str, Any]:
    """The map as plain values."""
    return {
        "claims": [
            {"id": id, "where": claim(id).where, "title": claim(id).title, "verdict": labels.get(id, "open")}
            for id in names
        ],
        "arrows": [
            {"user": one.user, "used": one.used, "kind": one.kind, "place": one.place, "words": one.words}
            for one in among
        ],
    }
