"""Figure 2 of the CFL paper shows the curves that it is given."""

from __future__ import annotations

import numpy as np
import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.figures import nqm_figure

MEAN = np.array([3.0, 2.0, 1.0])


def panel(title, *, band):
    curves = [
        {"method": method, "rate": rate, "mean": MEAN * factor}
        for factor, (method, rate) in enumerate(
            [("FedAvg", 0.085), ("FedProx", 0.07), ("CFL", 0.2), ("CFL-0.001", 0.1), ("CFL-0.01", 0.0725)], start=1
        )
    ]
    if band:
        curves = [curve | {"low": curve["mean"] * 0.9, "high": curve["mean"] * 1.1} for curve in curves]
    return {"title": title, "curves": curves}


@pytest.mark.parametrize("band", [False, True])
def test_every_curve_of_every_panel_is_drawn(band):
    figure = nqm_figure([panel(f"setting {i}", band=band) for i in range(8)])
    titles = [axes.get_title("left") for axes in figure.axes]
    assert titles == [f"Setting {i}\nNobody ends below FedAvg" for i in range(8)]
    for axes in figure.axes:
        assert axes.get_yscale() == "log"
        assert len(axes.collections) == (5 if band else 0)
        assert [line.get_label() for line in axes.lines][:3] == ["FedAvg  (0.085)", "FedProx  (0.07)", "CFL  (0.2)"]
        for factor, line in enumerate(axes.lines, start=1):
            assert list(line.get_xdata()) == [0, 1, 2]
            assert list(line.get_ydata()) == list(MEAN * factor)
    if band:
        heights = figure.axes[0].collections[0].get_paths()[0].vertices[:, 1]
        assert (heights.min(), heights.max()) == pytest.approx((0.9, 3.3))


def test_a_title_names_who_ends_lowest():
    drawn = panel("setting", band=False)
    drawn["curves"][2] = drawn["curves"][2] | {"mean": MEAN / 4}
    (axes, *_) = nqm_figure([drawn]).axes
    assert axes.get_title("left") == "Setting\nCFL ends lowest, 4 times below FedAvg"


def test_an_odd_number_of_panels_leaves_the_last_place_empty():
    figure = nqm_figure([panel(f"setting {i}", band=False) for i in range(3)])
    assert [axes.get_visible() for axes in figure.axes] == [True, True, True, False]


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"method": "x"}, "curves[0].method, which should be one of FedAvg, FedProx, CFL"),
        ({"low": [None]}, "curves[0].low, which should be a list of numbers, not empty"),
        ({"high": [{}]}, "curves[0].high, which should be a list of numbers, not empty"),
        ({"low": [0.1]}, "curves[0].low, which should have"),
    ],
)
def test_what_is_no_curve_is_told(changed, words):
    wrong = panel("wrong", band=True)
    wrong["curves"][0] |= changed
    with pytest.raises(InvalidInput) as raised:
        nqm_figure([wrong])
    assert words in str(raised.value)
