"""Names of curves beside the curves, where the eye is, in place of a legend."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from cflag_theory.figures.style import REFERENCE


def message(axes: Axes, words: str, width: int) -> None:
    """What a panel shows, as its title: bold, from the left, in lines of `width` characters, numbers kept whole."""
    lines = wrap(words.replace(" = ", "\u00a0=\u00a0"), width)
    axes.set_title("\n".join(lines), loc="left", fontsize=10.5, fontweight="bold")


def name_ends(axes: Axes, names: Sequence[tuple[float, str, str]], *, size: float = 8.5) -> None:
    """Write each name to the right of the axes at the height of its value, moved no more than keeps them apart.

    Call it when the limits of the axes are final.

    Parameters
    ----------
    names : sequence of (value, words, colour)
        Values that are not finite are left out.
    """
    transform = axes.transScale + axes.transLimits
    x = axes.get_xlim()[1]
    shown = [(float(transform.transform((x, y))[1]), words, colour) for y, words, colour in names if np.isfinite(y)]
    shown = sorted((min(max(share, 0.0), 1.0), words, colour) for share, words, colour in shown)
    height = axes.get_window_extent().transformed(axes.figure.dpi_scale_trans.inverted()).height * 72
    need = [1.25 * size * (1 + words.count("\n")) / height for _, words, _ in shown]
    for (share, words, colour), place in zip(shown, apart([one[0] for one in shown], need), strict=True):
        line: dict[str, Any] = {"arrowstyle": "-", "color": REFERENCE, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 0}
        axes.annotate(
            words,
            (1.005, share),
            (1.03, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            color=colour,
            fontsize=size,
            va="center",
            ha="left",
            linespacing=1.0,
            arrowprops=line | {"relpos": (0, 0.5)},
        )


def name_line(axes: Axes, line: Line2D, words: str, *, at: float = 0.62) -> None:
    """Write a name along a line, below it, at a share of its length. Call it when the limits of the axes are final."""
    ends = axes.transData.transform(np.column_stack([line.get_xdata(), line.get_ydata()]))[[0, -1]]
    (x, y), (dx, dy) = ends[0] + at * (ends[1] - ends[0]), ends[1] - ends[0]
    inside = axes.transAxes.inverted().transform((x, y))
    while inside[1] < 0.06 and at > 0.1:
        at -= 0.08
        inside = axes.transAxes.inverted().transform(ends[0] + at * (ends[1] - ends[0]))
    axes.annotate(
        words,
        tuple(inside),
        (0, -3),
        xycoords="axes fraction",
        textcoords="offset points",
        color="#555555",
        fontsize=8,
        ha="center",
        va="top",
        rotation=float(np.degrees(np.arctan2(dy, dx))),
        rotation_mode="anchor",
    )


def apart(places: Sequence[float], need: Sequence[float]) -> list[float]:
    """Increasing places, moved as little as keeps neighbours apart: those that touch share the shift.

    Parameters
    ----------
    places, need : sequences of float
        Where each wants its middle, and how much room it takes.
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
    found = []
    for middle, members in groups:
        found += [middle + offset for offset in _offsets(members, need)]
    return found


def _offsets(members: Sequence[int], need: Sequence[float]) -> list[float]:
    """Of each member's middle from that of the group."""
    ends = np.cumsum([need[k] for k in members])
    return [float(end - need[k] / 2 - ends[-1] / 2) for k, end in zip(members, ends, strict=True)]


def _end(group: tuple[float, list[int]], need: Sequence[float], side: int) -> float:
    return group[0] + side * sum(need[k] for k in group[1]) / 2
