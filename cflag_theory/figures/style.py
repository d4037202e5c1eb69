"""The style of all figures, and writing them to files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from cflag_theory.files import check_writable, whole

# Okabe and Ito's palette, which stays apart for colour-blind readers.
MEASURED, BOUND, SECOND, REFERENCE = "#0072B2", "#D55E00", "#009E73", "#7F7F7F"

_STYLE: Any = {
    "figure.dpi": 100,
    "savefig.dpi": 160,
    "font.size": 10,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E5E5E5",
    "grid.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.6,
    # Reproducible SVG: no random ids.
    "svg.hashsalt": "cflag-theory",
}


@contextmanager
def house_style() -> Iterator[None]:
    """Draw inside with the toolkit's settings; the caller's own stay as they are."""
    with mpl.rc_context(_STYLE):
        yield


def save(figure: Figure, folder: Path | str, name: str, formats: Sequence[str] = ("png", "svg")) -> list[Path]:
    """Write a figure as folder/name.FORMAT, each file whole or not at all.

    Raises
    ------
    OutputError
        If the folder cannot be written.
    """
    folder = Path(folder)
    written = []
    check_writable(folder, remedy="choose a folder that you may write to")
    for extension in formats:
        target = folder / f"{name}.{extension}"
        # Without a date the same results give the same bytes.
        metadata = {"Date": None} if extension == "svg" else None
        with house_style(), whole(target) as file:
            figure.savefig(file, format=extension, metadata=metadata, bbox_inches="tight")
        written.append(target)
    return written
