"""The rate figures show the studies that they are given, say what they show, and mark what is proved."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.text import Text
from rate_studies import FIT, STUDY, bound, curve

from cflag_theory.figures import rate_details_figure, rate_family_figure, rate_figure
from cflag_theory.figures.rate import finding
from cflag_theory.figures.style import apart, plain_words


def lines(axes):
    return {line.get_label(): line for line in axes.lines}


def words(axes):
    return " ".join(text.get_text() for text in axes.texts)


def of_f(fit, *bounds, **changes):
    """The study with another fit of ||grad f||^2 and other bounds."""
    return {**STUDY, "curves": {**STUDY["curves"], "f": curve(1, fit)}, "bounds": list(bounds), **changes}


def test_a_panel_has_the_measurement_one_bound_of_each_side_and_two_slopes():
    (axes,) = rate_figure([STUDY]).axes
    drawn = lines(axes)
    assert list(drawn) == ["Measured", "cflag.thm2", "ours.drawn_once", "Slope -1/2", "Slope -1"]
    assert list(drawn["Measured"].get_ydata()) == STUDY["curves"]["f"]["min_mean"]
    assert list(drawn["cflag.thm2"].get_ydata()) == [8.0, 4.0, 2.0, 1.0]
    assert (drawn["cflag.thm2"].get_linestyle(), drawn["ours.drawn_once"].get_linestyle()) == ("--", "-")
    band = axes.collections[0].get_paths()[0].vertices
    assert {low for low, _ in STUDY["curves"]["f"]["band"]} <= set(band[:, 1].tolist())
    assert axes.get_legend() is None
    for name in ("Measured, 95% band", "Paper: Theorem 2,\nnot proved here", "Ours: drawn once", "Slope -1/2"):
        assert name in words(axes)


@pytest.mark.parametrize(("name", "power"), [("Slope -1/2", -0.5), ("Slope -1", -1.0)])
def test_slopes_begin_below_the_measurement_where_the_fit_begins(name, power):
    line = lines(rate_figure([STUDY]).axes[0])[name]
    T, y = line.get_xdata(), line.get_ydata()
    assert (T[0], y[0]) == (64, pytest.approx(0.2 / 1.6))
    assert np.diff(np.log(y)) / np.diff(np.log(T)) == pytest.approx(power)


THEOREM2 = bound("cflag.thm2", "f", "min", False, [8.0, 4.0, 0.1, 0.05])


SURE = FIT | {"interval": [-0.99, -0.81]}


@pytest.mark.parametrize(
    ("study", "said"),
    [
        (
            of_f(SURE | {"slope": -1.02, "interval": [-1.04, -0.96]}, THEOREM2 | {"values": [8.0] * 4}),
            r"falls like $1/T$ where $1/\sqrt{T}$ is prom",
        ),
        (of_f(SURE | {"slope": -1.02, "interval": [-1.04, -0.96]}), "falls like $1/T$"),
        (
            of_f(FIT | {"slope": -0.52, "interval": [-0.6, -0.45]}, THEOREM2),
            r"falls like $1/\sqrt{T}$, as promised; the printed",
        ),
        (of_f(FIT | {"slope": -0.7, "interval": [-0.8, -0.6]}), "falls like $T^{-0.70}$"),
        (of_f(FIT | {"slope": 0.3, "interval": [0.2, 0.4]}), "grows like $T^{0.30}$"),
        (of_f(FIT | {"slope": -0.04, "interval": [-0.06, -0.02]}), "hardly falls, slope -0.04"),
        (
            of_f(FIT | {"slope": -0.01, "interval": [-0.03, 0.01], "floor": 0.123}, THEOREM2),
            "a floor stays at 0.12; the printed bound is crossed at T = 64",
        ),
        (of_f(FIT, THEOREM2, diverged=[0, 0, 3, 4], replicas=8), "4 of 8 runs diverge; the printed"),
        (of_f(None), "no slope: the gradient is rounding"),
    ],
)
def test_the_title_is_the_finding(study, said):
    assert finding(study).startswith(said)
    figure = rate_figure(study)
    title = " ".join(figure.axes[0].get_title("left").split())
    assert plain_words(title).lower() == plain_words(finding(study)).lower()
    assert title[0] == said[0].upper()


@pytest.mark.parametrize("slope", [-1.0, -0.74, -0.5, -0.04, 0.3])
@pytest.mark.parametrize("floor", [None, 0.1])
@pytest.mark.parametrize("bounds", [(), (THEOREM2 | {"values": [8.0] * 4},)])
def test_no_slope_from_three_horizons_or_an_interval_that_holds_another(slope, floor, bounds):
    """What was measured is said in its place."""
    few = FIT | {"slope": slope, "interval": [slope, slope], "first": 32, "floor": floor}
    assert finding(of_f(few, *bounds)) == "from 0.3 at T = 32 to 0.1 at T = 128; 3 horizons show no slope"
    wide = FIT | {"slope": slope, "interval": [-1.11, 0.31], "floor": floor}
    assert finding(of_f(wide, *bounds)) == "from 0.5 at T = 16 to 0.1 at T = 128; slope open, -1.11 to 0.31"


def test_a_bound_is_crossed_only_by_what_was_below():
    """The bands of the study begin at 0.4, 0.24, 0.16 and 0.08."""
    always = bound("cflag.thm2", "f", "min", False, [0.1, 0.1, 0.1, 0.05])
    assert finding(of_f(FIT, always)).endswith("the printed bound is exceeded at every $T$")
    between = bound("cflag.thm2", "f", "min", False, [8.0, 0.1, 8.0, 8.0])
    assert finding(of_f(FIT, between)).endswith("the printed bound is exceeded at 1 of 4 $T$")


def test_a_bound_counts_as_crossed_only_below_the_whole_band():
    """The bands of the study reach from 0.8 to 1.2 times the measurement."""
    inside = bound("cflag.thm2", "f", "min", False, [0.41, 0.25, 0.17, 0.09])
    assert "crossed" not in finding(of_f(FIT, inside))
    below = bound("cflag.thm2", "f", "min", False, [0.41, 0.25, 0.17, 0.07])
    assert finding(of_f(FIT, below)).endswith("crossed at T = 128")


def test_a_proved_bound_is_shown_before_one_that_is_not():
    ours = [bound("ours.redrawn", "f", "mean", False, [9.0] * 4), bound("cflag.lemma1", "f", "mean", True, [7.0] * 4)]
    (axes,) = rate_figure(of_f(FIT, *ours)).axes
    assert "cflag.lemma1" in lines(axes)
    assert "ours.redrawn" not in lines(axes)


def test_a_bound_that_is_not_positive_is_left_out_of_the_logarithms():
    study = of_f(FIT, bound("cflag.thm2", "f", "min", False, [8.0, -4.0, 2.0, 1.0]))
    found = lines(rate_figure(study).axes[0])["cflag.thm2"].get_ydata()
    assert np.isnan(found[1])
    assert [found[0], *found[2:]] == [8.0, 2.0, 1.0]
    below = rate_details_figure(study).axes[1]
    assert (below.get_yscale(), np.isnan(lines(below)["cflag.thm2"].get_ydata()[1])) == ("log", True)


def test_a_bound_that_ends_negative_is_counted():
    study = of_f(FIT, bound("cflag.thm2", "f", "min", False, [8.0, -4.0, 2.0, -1.0]), *STUDY["bounds"][1:])
    title = rate_details_figure(study).axes[1].get_title("left")
    title = " ".join(title.split())
    assert title.startswith("1 of 3 bounds end below what they should bound; bounds end 5 to 10 times")
    assert title.endswith("1 ends negative")


@pytest.mark.parametrize("draw", [rate_figure, rate_details_figure])
def test_a_rate_itself_a_mapping_and_several(draw):
    alone = draw(SimpleNamespace(to_json=lambda: STUDY))
    assert alone.alt == draw(STUDY).alt == draw([STUDY]).alt
    both = draw([STUDY, {**STUDY, "title": "another"}])
    assert len(both.axes) == 2 * len(alone.axes)
    assert "another" in both.alt.lower()


def test_the_alternative_text_says_what_is_seen():
    assert rate_figure(of_f(FIT | {"slope": -1.0, "interval": [-1.0, -1.0]}, *STUDY["bounds"])).alt == (
        "a problem: falls like 1/T where 1/sqrt(T) is promised; measured ||grad f||^2 from 0.5 at T = 16 to 0.1 at "
        "T = 128; the paper's bound, Theorem 2, from 8 at T = 16 to 1 at T = 128; ours, drawn once, from 6 at "
        "T = 16 to 1 at T = 128."
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, r"\beta = c/\sqrt{T}"),
        ({"power": 0}, r"\beta = c$"),
        ({"power": 0.75}, r"\beta = c/T^{0.75}"),
        ({"alpha_factor": 2.5}, r"\alpha = 2.5/(L(1+m))"),
        ({"alpha": 0.0}, r"$\beta = c/\sqrt{T}$, $c"),
    ],
)
def test_the_step_sizes_stand_below_the_title(changes, said):
    assert said in words(rate_figure([{**STUDY, **changes}]).axes[0])


def test_a_closed_form_is_drawn_on_the_measurement():
    exact = {"name": "one", "claim": "ours.x", "words": "w", "least": [0.5, 0.3, 0.2, 0.1], "mean": [1, 0.6, 0.4, None]}
    (axes,) = rate_figure([{**STUDY, "exact": exact}]).axes
    assert list(lines(axes)["Closed form"].get_ydata()) == exact["least"]


def test_the_other_gradients_and_their_findings():
    above, _ = rate_details_figure(STUDY).axes
    drawn = lines(above)
    assert list(drawn[r"$\min_t$ mean $\|\nabla g\|^2$"].get_ydata()) == STUDY["curves"]["g"]["min_mean"]
    title = plain_words(above.get_title("left"))
    assert title == "A problem: ||grad g||^2 falls like 1/T; ||grad h~||^2 from 2.5 at T = 16 to 0.5 at T = 128"
    stays = {**STUDY["curves"], "h": curve(5, {**FIT, "slope": 0.0, "interval": [-0.02, 0.02], "floor": 0.5})}
    title = plain_words(rate_details_figure({**STUDY, "curves": stays}).axes[0].get_title("left"))
    assert title.endswith("||grad h~||^2 stays at 0.5")
    bare = {"f": curve(1), "g": {**curve(1, None), "mean": [1.0, None, None, None]}}
    above, below = rate_details_figure({**STUDY, "curves": bare, "bounds": []}).axes
    assert "is zero up to rounding; a rotated gradient" in " ".join(above.get_title("left").split())
    assert below.get_title("left") == "No bound applies here"


def test_bounds_over_what_they_bound():
    _, below = rate_details_figure(STUDY).axes
    drawn = {name: list(line.get_ydata()) for name, line in lines(below).items()}
    assert drawn["cflag.thm2"] == pytest.approx([16, 40 / 3, 10, 10])
    assert drawn["ours.drawn_once"] == pytest.approx([6, 5, 5, 5])
    assert drawn["ours.bounded_gradients"][1:] == pytest.approx([40 / 6, 7.5, 10])
    assert "ours.redrawn" not in drawn
    assert below.get_title("left") == "Bounds end 5 to 10 times what is measured"
    low = of_f(FIT, bound("cflag.thm2", "f", "min", False, [8.0, 4.0, 2.0, 0.05]))
    assert rate_details_figure(low).axes[1].get_title("left").startswith("1 of 1 bounds end below what they")


def test_the_rounding_of_an_equality_stays_on_the_line():
    nearly = [value * (1 + 1e-15 * k) for k, value in enumerate(STUDY["curves"]["f"]["min_mean"])]
    one = bound("cflag.thm2", "f", "min", True, nearly)
    low, high = rate_details_figure({**STUDY, "bounds": [one]}).axes[1].get_ylim()
    assert low <= 0.5
    assert high >= 2.0


def test_names_keep_apart_and_near_their_curves():
    assert apart([0.1, 0.5, 0.9], [0.1] * 3) == pytest.approx([0.1, 0.5, 0.9])
    found = apart([0.5, 0.5, 0.52, 0.9], [0.1, 0.2, 0.1, 0.1])
    assert np.diff(found)[:2] == pytest.approx([0.15, 0.15])
    assert np.mean(found[:3]) == pytest.approx(np.mean([0.5, 0.5, 0.52]))
    assert found[3] == pytest.approx(0.9)


def test_names_of_curves_that_end_together_do_not_overlap():
    same = [bound(claim, "f", "min", True, [0.5, 0.3, 0.2, 0.1]) for claim in ("cflag.thm2", "ours.redrawn")]
    figure = rate_figure(of_f(FIT, *same))
    figure.canvas.draw()
    (axes,) = figure.axes
    # The extent of an annotation itself would include its leader.
    written = [text for text in axes.texts if text.get_text().startswith(("Paper", "Ours", "Measured"))]
    height = max(Text.get_window_extent(text).height for text in written)
    middles = sorted(text.get_position()[1] * axes.get_window_extent().height for text in written)
    assert len(middles) == 3
    assert np.diff(middles).min() > height


def test_a_family_is_one_curve_a_value_and_says_who_stays():
    other = {
        **STUDY,
        "curves": {**STUDY["curves"], "f": curve(3, {**SURE, "slope": -0.01, "interval": [-0.02, 0.01], "floor": 0.3})},
    }
    figure = rate_family_figure({"varied": "m", "values": [0.0, 0.5], "studies": [of_f(SURE, *STUDY["bounds"]), other]})
    above, below = figure.axes
    assert list(lines(above)["$m$ = 0"].get_ydata()) == STUDY["curves"]["f"]["min_mean"]
    assert "$m$ = 0.5" in words(above)
    title = " ".join(plain_words(above.get_title("left")).split())
    assert title == "m = 0: falls like T^-0.90; m = 0.5: stays above zero"
    assert figure.alt.endswith("m = 0: falls like T^-0.90; m = 0.5: a floor stays at 0.3.")
    quotients = [list(line.get_ydata()) for line in below.lines if line.get_label() == "ours.drawn_once"]
    assert quotients[0] == pytest.approx([6, 5, 5, 5])
    assert quotients[1] == pytest.approx([2, 5 / 3, 5 / 3, 5 / 3])


def test_a_family_without_bounds_or_gradients():
    flat = {**STUDY, "bounds": [], "curves": {"f": {**curve(1), "fit": None}}}
    above, below = rate_family_figure({"varied": "r", "values": [0, 1], "studies": [flat, flat]}).axes
    assert plain_words(above.get_title("left")) == "r = 0, 1: rounding"
    assert not below.texts
    vanishing = {**STUDY, "curves": {"f": {**curve(1), "mean": [0.0, 1.0, 1.0, 1.0]}}}
    (*_, below) = rate_family_figure({"varied": "r", "values": [0, 1], "studies": [vanishing, STUDY]}).axes
    assert np.isnan(below.lines[0].get_ydata()[0])
