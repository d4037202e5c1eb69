"""The plane of step sizes shows what is safe and the point, and says what the command says."""

from __future__ import annotations

from itertools import pairwise

import pytest

from cflag_theory.figures import step_sizes_figure
from cflag_theory.figures.style import apart, plain_words

REGION = {
    "axes": [["alpha", "step on memory"], ["beta", "step on current data"]],
    "numbers": {"L": 2.0, "m": 0.25, "E": 10, "T": 100},
    "x_range": [0.01, 1.0],
    "y_range": [1e-4, 1.0],
    "x": [0.01, 0.1, 1.0],
    "safe": [[1e-4, 1e-4, None], [0.1, 0.2, None]],
    "answer": "Safe for one memory: alpha <= 0.5, and beta < 0.1 at alpha = 0.2",
    "point": [0.2, 0.003],
}


def test_one_region_one_point_one_sentence():
    (axes,) = step_sizes_figure(REGION).axes
    (safe,) = axes.collections
    corners = safe.get_paths()[0].vertices
    assert (corners[:, 0].min(), corners[:, 0].max()) == (0.01, 0.1)
    assert (corners[:, 1].min(), corners[:, 1].max()) == (1e-4, 0.2)
    _, point = axes.lines
    assert (list(point.get_xdata()), list(point.get_ydata())) == ([0.2], [0.003])
    assert plain_words(axes.get_title("left")) == REGION["answer"]
    assert [text.get_text().replace("\u00a0", " ") for text in axes.texts] == [
        "Safe",
        r"$\alpha$ = 0.2, $\beta$ = 0.003",
        "Step sizes for $L$ = 2, $m$ = 0.25, $E$ = 10, $T$ = 100",
    ]
    assert axes.get_legend() is None
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_nothing_is_called_safe_where_nothing_is():
    nowhere = REGION | {"safe": [[None] * 3, [None] * 3], "answer": "No eta_l is proved safe: a reason"}
    (axes,) = step_sizes_figure(nowhere).axes
    assert "Safe" not in [text.get_text() for text in axes.texts]
    assert plain_words(axes.get_title("left")) == nowhere["answer"]


@pytest.mark.parametrize("places", [[], [0.5], [0.5, 0.5, 0.5], [0.1, 0.9], [0.1, 0.11, 0.12, 0.9], [0, 0.05, 0.06]])
def test_labels_keep_apart_and_near(places):
    moved = apart(places, [0.042] * len(places))
    assert len(moved) == len(places)
    gaps = [later - earlier for earlier, later in pairwise(moved)]
    assert all(gap >= 0.042 - 1e-12 for gap in gaps)
    assert all(abs(a - b) <= 0.042 * len(places) for a, b in zip(places, moved, strict=True))
