"""Figures of the PyTorch runs show the numbers they are given, and leave out what is missing."""

from __future__ import annotations

import numpy as np
import pytest

from cflag_theory.figures import bridge_accuracy_figure, bridge_gamma_figure, bridge_levels_figure, save


def band(at, mean, spread=1.0):
    low, high = ([None if v is None else v + s for v in mean] for s in (-spread, spread))
    return {"at": at, "mean": mean, "low": low, "high": high}


FLAG = {
    "method": "c_flag",
    "mode": "paper",
    "accuracy": [[90.0, 50.0, 50.0], [85.0, 80.0, 50.0], [70.0, 75.0, 95.0]],
    "accuracy_by_task": band([1, 2, 3], [90.0, 82.5, 80.0]),
    "Gamma": band([4, 5, 6, 7], [5.0, -0.5, 0.25, -0.125], 0.01),
    "interfering": [[0.0, 0.5, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0]],
}
FINE = {
    "method": "finetune",
    "mode": "",
    "accuracy": [[90.0, None, None], [60.0, 80.0, None], [None, None, None]],
    "accuracy_by_task": band([1, 2, 3], [90.0, 70.0, None]),
    "Gamma": None,
    "interfering": None,
}
SUMMARY = {"title": "Split-Digits: 3 tasks", "tasks": 3, "rounds": 4, "methods": [FLAG, FINE]}


def curves(axes):
    return {line.get_label(): np.array(line.get_ydata(), dtype=float).tolist() for line in axes.lines}


def test_accuracy_by_task(tmp_path):
    figure = bridge_accuracy_figure(SUMMARY)
    left, right = figure.axes
    drawn = curves(left)
    assert drawn["C-FLAG (paper)"] == [90.0, 82.5, 80.0]
    assert drawn["Fine-FL"] == pytest.approx([90.0, 70.0, np.nan], nan_ok=True)
    bounds = left.collections[0].get_paths()[0].vertices[:, 1]
    assert {89.0, 91.0, 79.0, 81.0} <= set(bounds.tolist())
    # For each method the diagonal, then the last row.
    shown = [np.array(line.get_ydata(), dtype=float) for line in right.lines]
    assert shown[0].tolist() == [90.0, 80.0, 95.0]
    assert shown[1].tolist() == [70.0, 75.0, 95.0]
    assert np.isnan(shown[3]).all()
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["C-FLAG (paper)", "Fine-FL"]
    assert len({line.get_color() for line in left.lines}) == 2
    assert [path.suffix for path in save(figure, tmp_path, "accuracy")] == [".png", ".svg"]


def test_no_band_leaves_what_is_possible():
    wide = FLAG | {"accuracy_by_task": band([1, 2, 3], [99.0, 50.0, 3.0], 5.0)}
    left, _ = bridge_accuracy_figure(SUMMARY | {"methods": [wide]}).axes
    bounds = left.collections[0].get_paths()[0].vertices[:, 1]
    assert (bounds.min(), bounds.max()) == (0.0, 100.0)
    group = {"method": "c_flag", "label": "c_flag", "x": [5, 10], "accuracy": band(None, [99.0, 3.0], 5.0)}
    group["forgetting"] = band(None, [98.0, -3.0], 5.0)
    levels = {"data": "cifar10", "title": "Split-CIFAR10", "axis": "clients", "groups": [group]}
    drawn = []
    for axes in bridge_levels_figure(levels).axes:
        ((bars,),) = (container.lines[2] for container in axes.containers)
        drawn.append([sorted(end for _, end in segment) for segment in bars.get_segments()])
    assert drawn == [[[94.0, 100.0], [0.0, 8.0]], [[93.0, 100.0], [-8.0, 2.0]]]


def test_gamma_by_round_with_the_ends_of_tasks_and_how_often_clients_interfere(tmp_path):
    figure = bridge_gamma_figure([SUMMARY])
    (top,) = figure.axes
    drawn = curves(top)
    assert drawn["C-FLAG (paper)"] == [5.0, -0.5, 0.25, -0.125]
    assert "Fine-FL" not in drawn
    ends = [line.get_xdata()[0] for line in top.lines if line.get_linestyle() == ":"]
    assert ends == [3.5, 7.5]
    share = np.mean(FLAG["interfering"])
    assert top.get_title("left").endswith(f"rounds in which clients interfere: C-FLAG (paper) {share:.0%}")
    assert [text.get_text() for text in top.texts] == ["C-FLAG (paper)"]
    assert top.get_yscale() == "symlog"
    save(figure, tmp_path, "gamma", formats=("svg",))


def test_gamma_of_several_levels_stands_below_each_other():
    other = SUMMARY | {"title": "zeta = 0.1", "methods": [FLAG | {"interfering": None}]}
    figure = bridge_gamma_figure([SUMMARY, other])
    titles = [axes.get_title("left").partition("\n")[0].replace("\u00a0", " ") for axes in figure.axes]
    assert titles == ["Split-Digits: 3 tasks", r"$\zeta$ = 0.1"]
    assert figure.axes[0].get_position().y0 > figure.axes[1].get_position().y1


def test_one_setting_varied():
    points = {"mean": [60.0, 80.0], "low": [55.0, 80.0], "high": [65.0, 80.0]}
    groups = [
        {"method": label.partition(",")[0], "label": label, "x": [0.1, 1e5], "accuracy": points, "forgetting": points}
        for label in ("c_flag", "ewc", "c_flag, mode = theory")
    ]
    figure = bridge_levels_figure({"title": "Split-CIFAR10", "axis": "zeta", "groups": groups})
    left, right = figure.axes
    assert (left.get_xscale(), left.get_ylabel(), right.get_ylabel()) == ("log", "Accuracy (%)", "Forgetting (%)")
    segments = left.collections[0].get_segments()
    assert [segment[:, 1].tolist() for segment in segments] == [[55.0, 65.0], [80.0, 80.0]]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["c_flag", "ewc", "c_flag, mode = theory"]
    # A method has one colour, and another line for other settings.
    lines = [container.lines[0] for container in left.containers]
    assert len({line.get_color() for line in lines}) == 2
    assert [line.get_linestyle() for line in lines] == ["-", "-", "--"]
    # With more settings than lines the curves have colours of their own.
    many = [groups[0] | {"label": f"c_flag{words}"} for words in ("", ", b", ", c", ", d", ", e")]
    figure = bridge_levels_figure({"title": "", "axis": "zeta", "groups": many})
    looks = {(one.lines[0].get_color(), one.lines[0].get_marker()) for one in figure.axes[0].containers}
    assert len(looks) == 5
    figure = bridge_levels_figure({"title": "", "axis": "memory_size", "groups": groups[:1]})
    assert figure.axes[0].get_xscale() == "linear"


def test_nothing_to_draw_is_drawn_without_complaint(tmp_path):
    """A run that diverged in its first task, a single task, and a term that is zero throughout."""
    lost = FINE | {"accuracy": [[None] * 3] * 3, "accuracy_by_task": band([1, 2, 3], [None] * 3)}
    save(bridge_accuracy_figure(SUMMARY | {"methods": [lost]}), tmp_path, "lost", formats=("svg",))
    one = FINE | {"accuracy": [[50.0]], "accuracy_by_task": band([1], [50.0])}
    save(bridge_accuracy_figure(SUMMARY | {"methods": [one], "tasks": 1}), tmp_path, "one", formats=("svg",))
    still = FLAG | {"Gamma": band([4, 5], [0.0, 0.0], 0), "interfering": [[1.0, 1.0]]}
    figure = bridge_gamma_figure([SUMMARY | {"methods": [still]}])
    assert figure.axes[0].get_yscale() == "linear"
    save(figure, tmp_path, "still", formats=("svg",))
