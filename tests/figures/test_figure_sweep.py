"""Figures of sweeps show the means, bands, slopes and losses they are given."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cflag_theory.figures import curves_figure, map_figure, series_figure

GROUP = {"x": [16.0, 64.0], "mean": [1.0, 0.25], "low": [0.9, 0.2], "high": [1.1, 0.3], "diverged": 0, "slope": -1.0}
FOUR = {"x": [16.0, 32.0, 64.0, 128.0], "mean": [1.0, 0.5, 0.25, 0.125], "diverged": 0, "slope": -1.0}
FOUR |= {"low": [0.9, 0.4, 0.2, 0.1], "high": [1.1, 0.6, 0.3, 0.15]}
SERIES = {
    "x": "T",
    "y": "min_grad_f2",
    "title": "m = 0",
    "groups": [FOUR | {"label": "c_flag"}, FOUR | {"label": "fedavg", "slope": None, "diverged": 3}],
}
MAP = {
    "x": "beta",
    "by": "algorithm",
    "y": "last_f",
    "title": "",
    "columns": ["0.1", "0.2", "0.4"],
    "rows": ["c_flag", "fedavg"],
    "mean": [[1.0, 0.1, 0.01], [1.0, math.nan, 0.5]],
    "diverged": [[0, 0, 0], [0, 4, 1]],
}


FINDING = "Lowest at the end: c_flag\n"


def lines(axes):
    return {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines}


def test_series_show_means_bands_slopes_and_losses():
    figure = series_figure(SERIES)
    (axes,) = figure.axes
    drawn = lines(axes)
    assert drawn["c_flag, slope -1.00"] == (FOUR["x"], FOUR["mean"])
    assert "fedavg (3 diverged)" in drawn
    assert drawn["Slope -1/2"][1] == pytest.approx([1.0, 0.5**0.5, 0.5, 0.5**1.5])
    assert drawn["Slope -1"][1] == pytest.approx(FOUR["mean"])
    assert (axes.get_xscale(), axes.get_yscale(), axes.get_title("left")) == ("log", "log", FINDING + "$m$ = 0")
    assert {0.9, 0.2, 1.1, 0.3} <= set(axes.collections[0].get_paths()[0].vertices[:, 1].tolist())
    assert {text.get_text() for text in axes.texts} == set(drawn)
    assert not figure.legends


def test_the_line_that_ends_lowest_is_named():
    groups = [GROUP | {"label": "first"}, GROUP | {"label": "second", "mean": [1.0, 0.1]}]
    (axes,) = series_figure(SERIES | {"groups": groups}).axes
    assert axes.get_title("left").startswith("Lowest at the end: second\n")


def test_two_values_show_no_slope():
    (axes,) = series_figure(SERIES | {"groups": [GROUP | {"label": "c_flag"}]}).axes
    assert "c_flag" in lines(axes)


def test_no_logarithm_of_what_is_not_positive_and_no_slopes_then():
    groups = [GROUP | {"label": "one", "mean": [1.0, -0.25], "slope": None}]
    (axes,) = series_figure(SERIES | {"groups": groups}).axes
    assert axes.get_yscale() == "linear"
    assert list(lines(axes)) == ["one"]


def test_many_groups_all_look_different():
    groups = [GROUP | {"label": f"line {number}"} for number in range(24)]
    (axes,) = curves_figure({"y": "grad_f2", "title": "", "groups": groups}).axes
    assert len({(line.get_color(), line.get_linestyle()) for line in axes.lines}) == 24
    assert axes.get_xlabel() == "Round $t$"


def test_a_map_colours_means_and_crosses_out_losses():
    figure = map_figure(MAP)
    axes = figure.axes[0]
    (mesh,) = axes.collections
    shown = np.ma.filled(np.ma.masked_invalid(mesh.get_array()), np.nan)
    np.testing.assert_array_equal(shown, MAP["mean"])
    assert [label.get_text() for label in axes.get_xticklabels()] == MAP["columns"]
    assert [label.get_text() for label in axes.get_yticklabels()] == MAP["rows"]
    (crosses,) = axes.lines
    assert sorted(zip(crosses.get_xdata(), crosses.get_ydata(), strict=True)) == [(1.5, 1.5), (2.5, 1.5)]
    assert "diverged" in figure.get_supxlabel()
