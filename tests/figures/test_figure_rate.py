"""The rate figures show the studies that they are given, mark what is proved, and keep words off the curves."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure
from rate_studies import FIT, STUDY, bound, curve

from cflag_theory.figures import rate_family_figure, rate_figure


def lines(axes):
    return {line.get_label(): line for line in axes.lines}


def values(axes, words):
    return next(list(line.get_ydata()) for label, line in lines(axes).items() if label.startswith(words))


def test_rate_figure_shows_the_study():
    figure = rate_figure([STUDY])
    assert isinstance(figure, Figure)
    past, others, _ = figure.axes
    assert (past.get_xscale(), past.get_yscale()) == ("log", "log")
    of_f, of_g = STUDY["curves"]["f"], STUDY["curves"]["g"]
    assert values(past, r"$\min_t$ mean") == of_f["min_mean"]
    assert values(past, "mean over") == of_f["mean"]
    assert values(past, "mean of the replicas") == of_f["mean_min"]
    assert values(others, r"$\min_t$ mean $\|\nabla g\|^2$") == of_g["min_mean"]
    band = past.collections[0].get_paths()[0].vertices
    assert {low for low, _ in of_f["band"]} <= set(band[:, 1].tolist())


def test_proved_bounds_are_solid_and_others_dashed_and_named_so():
    past, others, _ = rate_figure([STUDY]).axes
    drawn = {label: line.get_linestyle() for label, line in lines(past).items() if not label.startswith("_")}
    assert drawn[r"Theorem 2, $\Gamma$ measured (min), unproved"] == "--"
    assert drawn["ours.drawn_once (mean)"] == "-"
    assert not any("ours.redrawn" in label for label in drawn)
    found = lines(others)["ours.bounded_gradients (mean)"].get_ydata()
    assert np.isnan(found[0])
    assert list(found[1:]) == [40.0, 30.0, 20.0]


def test_bounds_over_what_they_bound():
    (*_, below) = rate_figure([STUDY]).axes
    once, thm2, g = (
        next(line.get_ydata() for line in below.lines if line.get_color() == colour and len(line.get_ydata()) == 4)
        for colour in ("#009E73", "#D55E00", "#006D4C")
    )
    assert list(thm2) == pytest.approx([16, 40 / 3, 10, 10])
    assert list(once) == pytest.approx([6, 5, 5, 5])
    assert list(g[1:]) == pytest.approx([40 / 6, 7.5, 10])


@pytest.mark.parametrize("power", [-0.5, -1.0])
def test_reference_slopes_pass_through_the_measurement_where_the_fit_begins(power):
    line = lines(rate_figure([STUDY]).axes[0])[f"slope {power:g}"]
    T, y = line.get_xdata(), line.get_ydata()
    assert y[2] == pytest.approx(0.2)
    assert np.diff(np.log(y)) / np.diff(np.log(T)) == pytest.approx(power)


def test_words_say_slope_interval_range_and_rule():
    past, others, _ = rate_figure([STUDY]).axes
    (words,) = (text.get_text() for text in past.texts)
    assert "min: slope -0.900 [-1.100, -0.700], T from 64 to 128" in words
    assert "longest tail of T on which local slopes agree" in words
    (words,) = (text.get_text() for text in others.texts)
    assert "does not fall below 0.5" in words


def test_words_lie_below_the_curves():
    figure = rate_figure([STUDY])
    figure.canvas.draw()
    for axes in figure.axes[:2]:
        top = axes.texts[0].get_window_extent().y1
        lowest = min(np.nanmin(line.get_ydata()) for line in axes.lines if line.get_label() != "slope -1")
        assert axes.transData.transform((16, lowest))[1] > top


def test_legends_cover_no_curve():
    figure = rate_figure([STUDY])
    figure.canvas.draw()
    for axes in figure.axes[:2]:
        assert axes.get_legend().get_window_extent().y1 < axes.get_window_extent().y0


def test_a_bound_that_is_not_positive_is_left_out_of_the_logarithms():
    study = {**STUDY, "bounds": [bound("cflag.thm2", "f", "min", False, [8.0, -4.0, 2.0, 1.0])]}
    past, _, below = rate_figure([study]).axes
    found = values(past, "Theorem 2")
    assert np.isnan(found[1])
    assert [found[0], *found[2:]] == [8.0, 2.0, 1.0]
    assert below.get_yscale() == "linear"


def test_without_a_fit_a_joint_objective_or_a_bound():
    bare = {**curve(1, None), "mean": [1.0, None, None, None], "mean_band": [[0.9, 1.1], None, None, None]}
    study = {**STUDY, "curves": {"f": bare, "g": curve(1)}, "bounds": [], "fit_from": None}
    past, others, _ = rate_figure([study]).axes
    assert not any(label.startswith("slope") for label in lines(past))
    assert "no slope" in past.texts[0].get_text()
    assert "rotated" in others.texts[0].get_text()


def test_a_closed_form_is_drawn_on_the_measurement():
    exact = {"name": "one", "claim": "ours.x", "words": "w", "least": [0.5, 0.3, 0.2, 0.1], "mean": [1, 0.6, 0.4, None]}
    past = rate_figure([{**STUDY, "exact": exact}]).axes[0]
    assert values(past, r"$\min_t$, closed form") == exact["least"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, r"\beta = c/\sqrt{T}"),
        ({"power": 0}, r"\beta = c$"),
        ({"power": 0.75}, r"\beta = c/T^{0.75}"),
        ({"alpha_factor": 2.5}, r"\alpha = 2.5/(L(1+m))"),
    ],
)
def test_the_title_names_the_step_sizes(changes, words):
    assert words in rate_figure([{**STUDY, **changes}]).axes[0].get_title()


def test_one_column_a_study():
    figure = rate_figure([STUDY, {**STUDY, "title": "another"}])
    assert [axes.get_title().splitlines()[0] for axes in figure.axes[:2]] == ["a problem", "another"]
    assert len(figure.axes) == 6


def test_a_family_is_one_curve_a_value():
    other = {**STUDY, "curves": {**STUDY["curves"], "f": curve(3, {**FIT, "slope": -0.01, "floor": 0.3})}}
    figure = rate_family_figure({"varied": "m", "values": [0.0, 0.5], "studies": [STUDY, other]})
    above, below = figure.axes
    drawn = lines(above)
    assert list(drawn["m = 0: slope -0.90 from T = 64"].get_ydata()) == STUDY["curves"]["f"]["min_mean"]
    assert "m = 0.5: stays at 0.3" in drawn
    quotients = [list(line.get_ydata()) for line in below.lines if line.get_label() == "ours.drawn_once"]
    assert quotients[0] == pytest.approx([6, 5, 5, 5])
    assert quotients[1] == pytest.approx([2, 5 / 3, 5 / 3, 5 / 3])


def test_a_family_without_bounds_or_gradients():
    flat = {**STUDY, "bounds": [], "curves": {"f": {**curve(1), "fit": None}}}
    above, below = rate_family_figure({"varied": "r", "values": [0, 1], "studies": [flat, flat]}).axes
    assert "r = 0: no slope" in lines(above)
    assert below.get_legend() is None
    vanishing = {**STUDY, "curves": {"f": {**curve(1), "mean": [0.0, 1.0, 1.0, 1.0]}}}
    (*_, below) = rate_family_figure({"varied": "r", "values": [0, 1], "studies": [vanishing, STUDY]}).axes
    assert np.isnan(below.lines[0].get_ydata()[0])


def test_the_rounding_of_an_equality_stays_on_the_line():
    nearly = [value * (1 + 1e-15 * k) for k, value in enumerate(STUDY["curves"]["f"]["min_mean"])]
    one = bound("cflag.thm2", "f", "min", True, nearly)
    low, high = rate_figure([{**STUDY, "bounds": [one]}]).axes[2].get_ylim()
    assert low <= 0.5
    assert high >= 2.0
