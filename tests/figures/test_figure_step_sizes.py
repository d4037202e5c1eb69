"""The plane of step sizes shows every boundary by name, the region, the point and the best points."""

from __future__ import annotations

from itertools import pairwise

import pytest

from cflag_theory.figures import step_sizes_figure
from cflag_theory.figures.style import apart

REGION = {
    "axes": [["alpha", "step on memory"], ["beta", "step on current data"]],
    "numbers": {"L": 2.0, "m": 0.25, "E": 10, "T": 100},
    "epsilon": 0.1,
    "x_range": [0.01, 1.0],
    "y_range": [1e-4, 1.0],
    "boundaries": [
        {"name": "flat", "paper": "C-FLAG", "kind": "at most", "x": [0.01, 1.0], "y": [0.1, 0.1]},
        {"name": "near", "paper": "C-FLAG", "kind": "equal", "x": [0.01, 1.0], "y": [0.101, 0.101]},
        {"name": "upright", "paper": "ours", "kind": "at least", "x": [0.5, 0.5], "y": [1e-4, 1.0]},
        {"name": "rising", "paper": "ours", "kind": "at most", "x": [0.01, 0.1], "y": [0.01, 1.0]},
        {"name": "falling", "paper": "ours", "kind": "at most", "x": [0.01, 0.4], "y": [0.5, 1e-3]},
        {"name": "point", "paper": "C-FLAG", "kind": "equal", "x": [0.02], "y": [0.02]},
        {"name": "ours.x", "paper": "target", "kind": "target", "x": [0.1, 0.3], "y": [1e-4, 0.05]},
    ],
    "x": [0.01, 0.1, 1.0],
    "printed": [[1e-4, 1e-4, None], [0.1, 0.1, None]],
    "both": [[1e-4, None, None], [0.05, None, None]],
    "point": [0.2, 0.003],
    "best": [["largest beta, ours.x", 0.3, 0.05]],
    "fails": ["m < 1"],
}


def test_every_boundary_is_drawn_and_named():
    (axes,) = step_sizes_figure(REGION).axes
    texts = [text.get_text() for text in axes.texts]
    assert sorted(texts) == ["falling", "flat", "near", "point", "rising", "target by ours.x", "upright"]
    drawn = {tuple(zip(line.get_xdata(), line.get_ydata(), strict=True)) for line in axes.lines}
    for one in REGION["boundaries"]:
        assert tuple(zip(one["x"], one["y"], strict=True)) in drawn
    assert ((0.2, 0.003),) in drawn
    assert ((0.3, 0.05),) in drawn
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")


def test_the_region_is_shaded_where_it_is():
    (axes,) = step_sizes_figure(REGION).axes
    printed, _ = axes.collections
    corners = printed.get_paths()[0].vertices
    assert (corners[:, 0].min(), corners[:, 0].max()) == (0.01, 0.1)
    assert (corners[:, 1].min(), corners[:, 1].max()) == (1e-4, 0.1)
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["all inequalities of the paper hold", "and ours too", "the point", "largest beta, ours.x"]


def test_the_title_says_what_cannot_be_met():
    title = step_sizes_figure(REGION).get_suptitle()
    assert "L = 2, m = 0.25, E = 10, T = 100, target 0.1; m < 1 does not hold" in title
    assert title.startswith("the paper's inequalities allow alpha up to 0.1, beta up to 0.1\n")
    nowhere = REGION | {"printed": [[None] * 3, [None] * 3]}
    assert (
        step_sizes_figure(nowhere).get_suptitle().startswith("no alpha and beta meet all inequalities of the paper\n")
    )
    assert "target" not in step_sizes_figure(REGION | {"epsilon": None, "fails": []}).get_suptitle()


@pytest.mark.parametrize("places", [[], [0.5], [0.5, 0.5, 0.5], [0.1, 0.9], [0.1, 0.11, 0.12, 0.9], [0, 0.05, 0.06]])
def test_labels_keep_apart_and_near(places):
    moved = apart(places, [0.042] * len(places))
    assert len(moved) == len(places)
    gaps = [later - earlier for earlier, later in pairwise(moved)]
    assert all(gap >= 0.042 - 1e-12 for gap in gaps)
    assert all(abs(a - b) <= 0.042 * len(places) for a, b in zip(places, moved, strict=True))


def test_closed_edges_are_named_in_the_legend_and_told_apart():
    loop = {"paper": "target", "kind": "target", "x": [0.1, 0.3, 0.2, 0.1], "y": [0.01, 0.01, 0.05, 0.01]}
    plane = REGION | {"boundaries": [loop | {"name": "ours.x"}, loop | {"name": "ours.y"}]}
    (axes,) = step_sizes_figure(plane).axes
    loops = [line for line in axes.lines if line.get_label().startswith("target by")]
    assert [line.get_label() for line in loops] == ["target by ours.x", "target by ours.y"]
    assert len({str(line._dash_pattern) for line in loops}) == 2
    assert not axes.texts
