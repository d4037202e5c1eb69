"""The style of all figures, labels that do not collide, and writing figures to files."""

from __future__ import annotations

import base64
import functools
import io
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.cbook import is_math_text
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.mathtext import MathTextParser
from matplotlib.text import Text
from matplotlib.ticker import LogLocator, NullFormatter
from matplotlib.transforms import Bbox

from cflag_theory.files import check_writable, whole
from cflag_theory.shown import cleaned, escaped

# Okabe and Ito's palette, which stays apart for colour-blind readers.
MEASURED, BOUND, SECOND, REFERENCE = "#0072B2", "#D55E00", "#009E73", "#7F7F7F"

_STYLE: Any = {
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "font.size": 11,
    "axes.titlesize": 11,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E5E5E5",
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 10,
    "lines.linewidth": 1.6,
    # Reproducible SVG: no random ids.
    "svg.hashsalt": "cflag-theory",
}


#: What parsers of formulas have inside of `house_style`: each canvas has one, and those of one kind share results
#: there, which saves nearly half of the time of drawing.
_MATH: Any = MathTextParser
_SHARED: dict[str, Any] = {"__eq__": lambda one, other: vars(one) == vars(other)}
_SHARED |= {"__hash__": lambda one: hash(repr(vars(one)))}
with suppress(AttributeError):
    _SHARED["_parse_cached"] = functools.lru_cache(1000)(_MATH._parse_cached.__wrapped__)
    # Results hold fonts, which read their files when they are asked for letters: a fork would share its place in them.
    os.register_at_fork(after_in_child=_SHARED["_parse_cached"].cache_clear)
# Points from a place in the axes.
_POINTS: Any = {"xycoords": "axes fraction", "textcoords": "offset points"}


class Picture(Figure):
    """A figure that a notebook shows by itself, with words (`alt`) for readers who do not see it."""

    _alt = ""

    @property
    def alt(self) -> str:
        """What is seen, in words; if none are set, the titles of the panels."""
        titles = [axes.get_title(loc) for axes in self.axes for loc in ("left", "center")]
        above = getattr(self, "_suptitle", None)
        found = [self._alt] if self._alt else [above.get_text() if above else "", *titles]
        return cleaned("; ".join(dict.fromkeys(plain_words(one) for one in found if one)))

    @alt.setter
    def alt(self, words: str) -> None:
        self._alt = words

    def draw(self, renderer: Any) -> None:
        """As of a figure, with words as they are where they are no formula, though they hold signs of one."""
        self._spell()
        super().draw(renderer)

    def arrange(self) -> None:
        """Put the panels where they are drawn later, for what is placed by where they are."""
        self._spell()
        if layout := self.get_layout_engine():
            layout.execute(self)

    def _spell(self) -> None:
        for one in self.findobj(Text):
            if isinstance(one, Text) and (words := one.get_text()):
                if words != (shown := cleaned(words)):
                    one.set_text(shown)
                one.set_parse_math(_is_set(shown))

    def __repr__(self) -> str:
        return f"<Picture: {self.alt}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """PNG, and HTML with the alternative text, for Jupyter."""
        file = io.BytesIO()
        with house_style():
            self.savefig(file, format="png", dpi=110, bbox_inches="tight")
        png = base64.b64encode(file.getvalue()).decode()
        image = f'<img alt="{escaped(self.alt)}" style="max-width:100%" src="data:image/png;base64,{png}">'
        return {"text/plain": repr(self), "text/html": image, "image/png": png}


@functools.cache
def _is_set(words: str) -> bool:
    """Whether the formulas between dollars are some that can be set."""
    try:
        for line in filter(is_math_text, words.split("\n")):
            MathTextParser("path").parse(line)
    except ValueError:
        return False
    return True


_PLAIN = {
    r"\nabla": "grad ",
    r"\tilde h": "h~",
    r"\|": "||",
    r"\sqrt": "sqrt",
    r"\mathbb{E}": "𝔼",
    r"\,": " ",
    r"\times": "x",
    r"\leq": "<=",
    r"\rm ": "",
    "≤": "<=",
}


def plain_words(text: str) -> str:
    """A text of matplotlib without its formulas' marks, on one line: for alternative texts."""
    for mark, words in _PLAIN.items():
        text = text.replace(mark, words)
    bare = text.replace("sqrt{T}", "sqrt(T)").translate(str.maketrans("", "", "${}\\"))
    return " ".join(bare.replace("grad  ", "grad ").split())


def plain(result: Any) -> Any:
    """A result as JSON has it: what has a `to_json` is asked for it."""
    return result.to_json() if hasattr(result, "to_json") else result


def plain_all(results: Any) -> list[Any]:
    """One result or several, each as JSON has it."""
    several = isinstance(results, Sequence) and not hasattr(results, "to_json")
    return [plain(one) for one in (results if several else [results])]


@contextmanager
def house_style() -> Iterator[None]:
    """Draw inside with the toolkit's settings; the caller's own stay as they are."""
    before = {name: vars(_MATH).get(name) for name in _SHARED}
    for name, value in _SHARED.items():
        setattr(_MATH, name, value)
    try:
        with mpl.rc_context(_STYLE):
            yield
    finally:
        for name, value in before.items():
            delattr(_MATH, name) if value is None else setattr(_MATH, name, value)


def save(figure: Figure, folder: Path | str, name: str, formats: Sequence[str] = ("png", "svg")) -> list[Path]:
    """Write a figure as folder/name.FORMAT, each file whole or not at all.

    Raises
    ------
    OutputError
        If the folder cannot be written.
    """
    folder = Path(folder)
    check_writable(folder, remedy="choose a folder that you may write to")
    written = [folder / f"{name}.{extension}" for extension in formats]
    # Without a date the same results give the same bytes.
    words = {"Description": figure.alt} if isinstance(figure, Picture) else {}
    metadata = {"svg": words | {"Date": None}, "png": words}
    with house_style(), _laid_out(figure) as box:
        for extension, target in zip(formats, written, strict=True):
            with whole(target) as file:
                figure.savefig(file, format=extension, metadata=metadata.get(extension), bbox_inches=box)
    return written


@contextmanager
def _laid_out(figure: Any) -> Iterator[Bbox]:
    """What is drawn on of a figure, in inches; its panels are put in place once for all formats."""
    figure.draw_without_rendering()
    # "none" is an engine too, for which all is drawn once more beforehand.
    layout, figure._layout_engine = figure.get_layout_engine(), None
    try:
        yield figure.get_tightbbox().padded(mpl.rcParams["savefig.pad_inches"])
    finally:
        figure._layout_engine = layout


_SYMBOL = re.compile(r"\b(?:(alpha|beta|eta|mu|zeta)(_\w)?\b|[A-Za-z](?:_\w)?(?= [=<>≤≥] ))")


def typeset(words: str) -> str:
    """A title or label as it is printed: a capital first, symbols and signs as mathematics."""
    parts = words.replace("<=", "≤").replace(">=", "≥").split("$")
    parts[::2] = [_SYMBOL.sub(lambda found: f"${chr(92) if found[1] else ''}{found[0]}$", part) for part in parts[::2]]
    found = "$".join(parts)
    return found[:1].upper() + found[1:]


def wrapped(words: str, width: int) -> str:
    """Of `typeset`, in lines that show up to `width` characters; formulas and numbers are kept whole."""
    parts = typeset(words).replace(" = ", "\u00a0=\u00a0").split("$")
    parts[1::2] = [part.replace(" ", "\u00a0") for part in parts[1::2]]
    lines = [""]
    for word in "$".join(parts).split(" "):
        longer = f"{lines[-1]} {word}".strip()
        # A command shows one character.
        shown = re.sub(r"\\(?:[a-z]+|.)\s?", "x", longer).translate(str.maketrans("", "", "${}^_"))
        lines[-1:] = [longer] if len(shown) <= width or not lines[-1] else [lines[-1], word]
    parts = "\n".join(lines).split("$")
    parts[1::2] = [part.replace("\u00a0", " ") for part in parts[1::2]]
    return "$".join(parts)


def log_numbers(axes: Axes) -> None:
    """Plain numbers up a logarithmic axis that has few powers of ten."""
    low, high = axes.get_ylim()
    if axes.get_yscale() == "log" and high < 30 * low:
        axes.yaxis.set_major_locator(LogLocator(subs=range(1, 10) if high < 7 * low else (1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())


def message(axes: Axes, words: str, width: int, *, pad: float | None = None) -> None:
    """What a panel shows, as its title: bold, from the left."""
    axes.set_title(wrapped(words, width), loc="left", fontsize=11, fontweight="bold", pad=pad)


def subtitle(axes: Axes, words: str) -> None:
    """What was run, between the title and the axes."""
    axes.annotate(words, (0, 1), (0, 6), **_POINTS, fontsize=9.5, va="bottom")


def crossing(name: str, T: Sequence[int], values: Sequence[Any], bound: Sequence[Any]) -> list[str]:
    """Whether values exceed a bound, in words: it is crossed only where they were below before and stay above."""
    known = [one for one in zip(T, values, bound, strict=True) if None not in one]
    above = [t for t, value, limit in known if value > limit * (1 + 1e-9)]
    if not above:
        return []
    if len(above) == len(known):
        return [f"{name} is exceeded at every $T$"]
    later = [t for t, *_ in known[-len(above) :]] == above
    return [f"{name} is {f'crossed at T = {above[0]}' if later else f'exceeded at {len(above)} of {len(known)} $T$'}"]


def name_ends(axes: Axes, names: Sequence[tuple[float, str, str]], *, size: float = 10) -> None:
    """Write each name, (value, words, colour), to the right of the axes at the height of its value, moved no more than
    keeps them apart; values that are not finite are left out. Call it when the limits of the axes are final.
    """
    transform = axes.transScale + axes.transLimits
    x = axes.get_xlim()[1]
    shown = [(float(transform.transform((x, y))[1]), words, colour) for y, words, colour in names if np.isfinite(y)]
    shown = sorted((min(max(share, 0.0), 1.0), words, colour) for share, words, colour in shown)
    height = axes.get_window_extent().transformed(axes.figure.dpi_scale_trans.inverted()).height * 72
    need = [1.25 * size * (1 + words.count("\n")) / height for _, words, _ in shown]
    for (share, words, colour), place in zip(shown, apart([one[0] for one in shown], need), strict=True):
        line = {"arrowstyle": "-", "color": REFERENCE, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0, "relpos": (0, 0.5)}
        how: Any = {"xycoords": "axes fraction", "va": "center", "linespacing": 1.0}
        axes.annotate(words, (1.005, share), (1.03, place), color=colour, fontsize=size, arrowprops=line, **how)


def name_line(axes: Axes, line: Line2D, words: str, *, at: float = 0.62) -> None:
    """Write a name along a line, below it, at a share of its length. Call it when the limits of the axes are final."""
    ends = axes.transData.transform(np.column_stack([line.get_xdata(), line.get_ydata()]))[[0, -1]]
    (x, y), (dx, dy) = ends[0] + at * (ends[1] - ends[0]), ends[1] - ends[0]
    inside = axes.transAxes.inverted().transform((x, y))
    while inside[1] < 0.06 and at > 0.1:
        at -= 0.08
        inside = axes.transAxes.inverted().transform(ends[0] + at * (ends[1] - ends[0]))
    how: Any = {"rotation": float(np.degrees(np.arctan2(dy, dx))), "rotation_mode": "anchor"} | _POINTS
    axes.annotate(words, tuple(inside), (0, -3), color="#555555", fontsize=9.5, ha="center", va="top", **how)


def apart(places: Sequence[float], need: Sequence[float]) -> list[float]:
    """Increasing places, moved as little as keeps neighbours apart, each of which `need`s so much room: those that
    touch share the shift.
    """
    # A group of touching entries: where its middle wants to be, and the entries.
    groups: list[tuple[float, list[int]]] = []
    for number, place in enumerate(places):
        groups.append((place, [number]))
        while len(groups) > 1 and _end(groups[-1], need, -1) < _end(groups[-2], need, 1):
            (_, last), (_, before) = groups.pop(), groups.pop()
            both = before + last
            offsets = _offsets(both, need)
            middle = sum(places[k] - offset for k, offset in zip(both, offsets, strict=True)) / len(both)
            groups.append((middle, both))
    return [middle + offset for middle, members in groups for offset in _offsets(members, need)]


def _offsets(members: Sequence[int], need: Sequence[float]) -> list[float]:
    """Of each member's middle from that of the group."""
    ends = np.cumsum([need[k] for k in members])
    return [float(end - need[k] / 2 - ends[-1] / 2) for k, end in zip(members, ends, strict=True)]


def _end(group: tuple[float, list[int]], need: Sequence[float], side: int) -> float:
    return group[0] + side * sum(need[k] for k in group[1]) / 2
