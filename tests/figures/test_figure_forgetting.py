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


def run(words, algorithm, Gamma, *, clients):
    return {
        "study": "digits",
        "level": "low",
        "words": words,
        "algorithm": algorithm,
        "Gamma": curve(*Gamma),
        "interfering": [[i / clients, 1.0, 0.0] for i in range(clients)],
        "server_interfering": [1.0, 0.0, 0.5],
    }


def test_every_level_shows_gamma_and_who_interferes():
    runs = [
        run("zeta = 1", "c_flag", (1.0, 2.0, 3.0), clients=3),
        run("zeta = 1", "c_flag_adaptive", (-1.0, 0.0, 1.0), clients=3),
        run("zeta = 0.1", "c_flag", (4.0, 5.0, 6.0), clients=2),
        run("zeta = 0.1", "c_flag_adaptive", (-4.0, 50.0, 1.0), clients=2),
    ]
    figure = forgetting_figure(runs)
    panels = np.array(figure.axes[:6]).reshape(3, 2)
    for column, words in enumerate(("zeta = 1", "zeta = 0.1")):
        mine = [one for one in runs if one["words"] == words]
        top = panels[0, column]
        title = top.get_title("left").split("\n")
        assert title[0] == typeset(f"digits, low: {words}")
        assert title[1] == r"Constant rates: $\Gamma > 0$ in 100% of rounds"
        assert title[2].endswith(f"in {'33' if column == 0 else '67'}% of rounds")
        curves = [line for line in top.lines if len(line.get_xdata()) == 3]
        assert [list(line.get_ydata()) for line in curves] == [one["Gamma"]["mean"] for one in mine]
        assert len(top.collections) == 2
        for place, one in enumerate(mine, start=1):
            (image,) = panels[place, column].get_images()
            shown = np.array([*one["interfering"], one["server_interfering"]])
            assert np.array_equal(image.get_array(), shown)
            # Every client has its own row, whatever the other levels have.
            low, high = sorted(panels[place, column].get_ylim())
            assert (low, high) == (-0.5, len(shown) - 0.5)
            assert panels[place, column].get_yticklabels()[-1].get_text() == "Server"
    assert panels[0, 0].get_ylim() == panels[0, 1].get_ylim()
    (legend,) = figure.legends
    assert [text.get_text().split(" (")[0] for text in legend.get_texts()] == ["Constant rates", "Adaptive rates"]
    assert panels[1, 0].get_ylabel() == "Constant rates"


@pytest.mark.parametrize("Gamma", [(0.0, 0.0, 0.0), (1e-300, 0.0, -1e-300)])
def test_terms_without_size_are_drawn(Gamma):
    figure = forgetting_figure([run("zeta = 1", "c_flag", Gamma, clients=2)])
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
    figure = adaptive_rates_figure([{"title": "digits", "rules": rules}, {"title": "default", "rules": rules}])
    assert len(figure.axes) == 10
    labels = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert labels == ["Constant rates", "Table 1, average case", "One\n(ours)"]
    for axes in figure.axes[1:5]:
        dots = {line.get_ydata()[0]: line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"}
        assert dots == {0: 3.0, 2: 2.0}
        bars = {line.get_ydata()[0]: list(line.get_xdata()) for line in axes.lines if line.get_linewidth() == 2.4}
        assert bars == {0: [2.5, 3.5], 2: [1.5, 2.5]}
        assert [text.get_text() for text in axes.texts] == ["2 diverged"]
    assert sum(line.get_marker() == "o" for line in figure.axes[0].lines) == 3


def test_values_far_apart_get_a_logarithmic_axis_and_zeros_a_number():
    rules = [rule("constant rates", 3.0), rule("one (ours)", 2.0), rule("other", 1.0)]
    rules[1]["values"]["floor_f"] = {"mean": 1e-30, "low": 0.0, "high": 1e-29}
    rules[2]["values"]["total_Gamma"] = mean(-1e4)
    figure = adaptive_rates_figure([{"title": "digits", "rules": rules}])
    scales = [axes.get_xscale() for axes in figure.axes]
    assert scales == ["linear", "symlog", "linear", "log", "linear"]
    assert [text.get_text() for text in figure.axes[3].texts] == [" 1e-30"]
    figure.draw_without_rendering()


def learner(name, size):
    rounds = np.arange(7.0)
    return {
        "learner": name,
        "ends": [0, 2, 4, 6],
        "objectives": [curve(*(size * s + rounds)) for s in (1, 2, 3)],
        "along": curve(*(size * rounds)),
        "average": [mean(size * 4), mean(size * 6)],
        "Gamma": curve(*(size * np.array([1.0, -1.0, 2.0, -2.0]))),
        "seconds": [size, 2 * size, 3 * size],
        "costs": {"ifo_calls": [10 * size, 20 * size, 30 * size], "communicated": [1, 1, 1]},
    }


def test_a_sequence_shows_objectives_forgetting_and_costs():
    runs = [learner("fedtrack", 1.0), learner("c_flag, all", 2.0)]
    figure = tasks_figure({"title": "digits", "tasks": 3, "clients": 5, "E": 10, "runs": runs})
    panels = figure.axes
    assert [axes.get_title() for axes in panels[:2]] == ["fedtrack", "c_flag, all"]
    for axes, one in zip(panels[:2], runs, strict=True):
        whole = [line for line in axes.lines if len(line.get_xdata()) == 7]
        assert [list(line.get_ydata()) for line in whole] == [task["mean"] for task in one["objectives"]]
        thick = [line for line in axes.lines if line.get_linewidth() == 2.8]
        assert [list(line.get_xdata()) for line in thick] == [[0, 1, 2], [2, 3, 4], [4, 5, 6]]
    lost, terms, calls, clock = panels[2:6]
    assert [list(line.get_ydata()) for line in lost.lines if len(line.get_xdata()) == 7] == [
        one["along"]["mean"] for one in runs
    ]
    assert [list(line.get_xdata()) for line in terms.lines if len(line.get_xdata()) == 4] == [[2, 3, 4, 5]] * 2
    assert [list(line.get_ydata()) for line in calls.lines] == [one["costs"]["ifo_calls"] for one in runs]
    assert [list(line.get_ydata()) for line in clock.lines] == [one["seconds"] for one in runs]
    figure.draw_without_rendering()
