"""The style of all figures, and writing them to files."""

from __future__ import annotations

import base64
import html
import io
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


class Picture(Figure):
    """A figure that a notebook shows by itself, with words (`alt`) for readers who do not see it."""

    _alt = ""

    @property
    def alt(self) -> str:
        """What is seen, in words; if none are set, the titles of the panels."""
        titles = [axes.get_title(loc) for axes in self.axes for loc in ("left", "center")]
        above = getattr(self, "_suptitle", None)
        found = [self._alt] if self._alt else [above.get_text() if above else "", *titles]
        return "; ".join(dict.fromkeys(plain_words(one) for one in found if one))

    @alt.setter
    def alt(self, words: str) -> None:
        self._alt = words

    def __repr__(self) -> str:
        return f"<Picture: {self.alt}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """PNG, and HTML with the alternative text, for Jupyter."""
        file = io.BytesIO()
        with house_style():
            self.savefig(file, format="png", dpi=110, bbox_inches="tight")
        png = base64.b64encode(file.getvalue()).decode()
        image = f'<img alt="{html.escape(self.alt)}" style="max-width:100%" src="data:image/png;base64,{png}">'
        return {"text/plain": repr(self), "text/html": image, "image/png": png}


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
        words = {"Description": figure.alt} if isinstance(figure, Picture) else {}
        metadata = {"svg": words | {"Date": None}, "png": words}.get(extension)
        with house_style(), whole(target) as file:
            figure.savefig(file, format=extension, metadata=metadata, bbox_inches="tight")
        written.append(target)
    return written
