"""Figures of forgetting, of adaptive rates and of task sequences show the numbers that they are given."""

from __future__ import annotations

import numpy as np
import pytest

from cflag_theory.figures import adaptive_rates_figure, forgetting_figure, tasks_figure
from cflag_theory.figures.style import typeset


def curve(*means):
    return {"mean": list(means), "low": [m - 1 for m in means], "high": [m + 1 for m in means]}


def mean(value, spread=0.5):
    return {"mean": value, "low": value - spread, "high": value + spread}


def run(words, algorithm, Gamma):
    return {
        "study": "digits",
        "level": "low",
        "words": words,
        "algorithm": algorithm,
        "Gamma": curve(*Gamma),
        "largest": mean(max(Gamma)),
        "server_interfering": [1.0, 0.0, 0.5],
    }


def test_every_level_shows_gamma_and_how_often_the_server_interferes():
    runs = [
        run("zeta = 1", "c_flag", (1.0, 2.0, 3.0)),
        run("zeta = 1", "c_flag_adaptive", (-1.0, 0.0, 1.0)),
        run("zeta = 0.1", "c_flag", (4.0, 5.0, 6.0)),
        run("zeta = 0.1", "c_flag_adaptive", (-4.0, 50.0, 1.0)),
    ]
    figure = forgetting_figure(runs)
    assert len(figure.axes) == 2
    for top, words in zip(figure.axes, ("zeta = 1", "zeta = 0.1"), strict=True):
        mine = [one for one in runs if one["words"] == words]
        level = f"digits low: {words}; the server interferes in 50% and 50% of rounds".removeprefix("digits ")
        assert top.get_title("left") == typeset(level)
        curves = [line for line in top.lines if len(line.get_xdata()) == 3]
        assert [list(line.get_ydata()) for line in curves] == [one["Gamma"]["mean"] for one in mine]
        assert len(top.collections) == 2
        assert {text.get_text() for text in top.texts} == {"Constant", "Adaptive"}
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    # Of 3 and 1 the intervals are apart, and 50 is more than 6.
    assert "at 1 of 2 levels" in figure.alt


@pytest.mark.parametrize("Gamma", [(0.0, 0.0, 0.0), (1e-300, 0.0, -1e-300)])
def test_terms_without_size_are_drawn(Gamma):
    figure = forgetting_figure([run("zeta = 1", "c_flag", Gamma)])
    figure.draw_without_rendering()
    terms = figure.axes[0]
    assert terms.get_yscale() == ("symlog" if any(Gamma) else "linear")
    assert tuple(terms.lines[1].get_ydata()) == Gamma
    assert np.isfinite(terms.get_ylim()).all()


KEYS = ("raised", "total_Gamma", "mean_Gamma", "change_f", "floor_f", "floor_g")


def rule(words, value, *, diverged=0):
    values = {"raised": mean(0.5, 0.1)} if diverged else {key: mean(value) for key in KEYS}
    return {"adaptive": "x", "words": words, "diverged": diverged, "values": values}


def test_every_rule_is_a_line_in_every_panel():
    rules = [rule("constant rates", 3.0), rule("Table 1, average case", 1.0, diverged=2), rule("one (ours)", 2.0)]
    study = {"title": "digits", "finding": "least |grad f|^2 with one", "rules": rules}
    figure = adaptive_rates_figure([study, {**study, "title": "default"}])
    assert len(figure.axes) == 4
    assert figure.alt == "digits: least ||grad f||^2 with one; default: least ||grad f||^2 with one"
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["Constant rates", "Table 1, average case", "One\n(ours)"]
    for axes in figure.axes:
        dots = {line.get_ydata()[0]: line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"}
        assert dots == {0: 3.0, 2: 2.0}
        bars = {line.get_ydata()[0]: list(line.get_xdata()) for line in axes.lines if line.get_linewidth() == 2.4}
        assert bars == {0: [2.5, 3.5], 2: [1.5, 2.5]}
        assert [text.get_text() for text in axes.texts] == ["2 diverged"]


def test_values_far_apart_get_a_logarithmic_axis_and_zeros_a_number():
    rules = [rule("constant rates", 3.0), rule("one (ours)", 2.0), rule("other", 1.0)]
    rules[1]["values"]["floor_f"] = {"mean": 1e-30, "low": 0.0, "high": 1e-29}
    figure = adaptive_rates_figure([{"title": "digits", "finding": "", "rules": rules}])
    assert [axes.get_xscale() for axes in figure.axes] == ["log", "linear"]
    assert [text.get_text() for text in figure.axes[0].texts] == [" 1e-30"]
    figure.draw_without_rendering()


def learner(name, size):
    rounds = np.arange(7.0)
    return {
        "learner": name,
        "ends": [0, 2, 4, 6],
        "along": curve(*(size * rounds)),
        "average": [mean(size * 4), mean(size * 6)],
        "learned": [mean(size), mean(2 * size), mean(3 * size)],
    }


def test_a_sequence_shows_forgetting_along_rounds_and_against_what_was_learned():
    runs = [learner("fedtrack", 1.0), learner("c_flag, all", 2.0)]
    figure = tasks_figure({"title": "digits", "tasks": 3, "finding": "fedtrack forgets least", "runs": runs})
    along, traded = figure.axes
    assert along.get_title("left") == "Digits, 3 tasks: fedtrack forgets least"
    curves = [line for line in along.lines if len(line.get_xdata()) == 7]
    assert [list(line.get_ydata()) for line in curves] == [one["along"]["mean"] for one in runs]
    assert {text.get_text() for text in along.texts} == {"fedtrack", "c_flag,\nall"}
    dots = [line for line in traded.lines if line.get_marker() == "o"]
    assert [(line.get_xdata()[0], line.get_ydata()[0]) for line in dots] == [(2.0, 6.0), (4.0, 12.0)]
    figure.draw_without_rendering()
