"""Figures show the results they are given, and reach the disk whole or not at all."""

from __future__ import annotations

import errno

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from rate_studies import STUDY

import cflag_theory.figures as package
from cflag_theory.errors import OutputError
from cflag_theory.figures import drift_figure, rate_figure, save

DRIFT = {
    key: {
        "title": key,
        "ylabel": "ratio",
        "printed": printed,
        "range": 0.25,
        "range_words": "$u = 1/4$",
        "u": np.array([0.1, 0.2]),
        "proved": np.array([1.0, 1.1]),
        "instances": {2: [0.9, 0.95], 8: [0.95, 0.99], 40: [0.98, 1.0]},
    }
    for key, printed in (("drift", 4.0), ("error", 2.0))
}


def lines(axes):
    return {line.get_label(): (list(line.get_xdata()), list(line.get_ydata())) for line in axes.lines}


def test_drift_figure_shows_printed_proved_and_instances():
    figure = drift_figure(DRIFT)
    assert [axes.get_title() for axes in figure.axes] == ["drift", "error"]
    for axes, printed in zip(figure.axes, (4.0, 2.0), strict=True):
        drawn = lines(axes)
        assert drawn[f"printed: {printed:g}"][1] == [printed, printed]
        assert drawn["proved here"] == ([0.1, 0.2], [1.0, 1.1])
        assert drawn["exact instance, E = 8"][1] == [0.95, 0.99]
        assert sum("exact instance" in label for label in drawn) == 3


def test_drawing_leaves_the_settings_of_the_caller_alone(tmp_path):
    before = dict(mpl.rcParams)
    save(rate_figure([STUDY]), tmp_path, "rate")
    drift_figure(DRIFT)
    assert dict(mpl.rcParams) == before


def test_save_writes_every_format_and_nothing_else(tmp_path):
    written = save(drift_figure(DRIFT), tmp_path / "made", "drift")
    assert written == [tmp_path / "made" / "drift.png", tmp_path / "made" / "drift.svg"]
    assert sorted((tmp_path / "made").iterdir()) == written
    assert written[0].read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in written[1].read_bytes()


def test_the_same_results_give_the_same_bytes(tmp_path):
    for folder in ("a", "b"):
        save(rate_figure([STUDY]), tmp_path / folder, "rate", ("svg",))
    assert (tmp_path / "a" / "rate.svg").read_bytes() == (tmp_path / "b" / "rate.svg").read_bytes()


@pytest.mark.parametrize("below", ["", "deeper/still"])
def test_a_folder_that_is_a_file(tmp_path, below):
    (tmp_path / "file").write_text("mine", encoding="utf-8")
    with pytest.raises(OutputError, match=r"cannot write to the folder .*file.*: choose a folder"):
        save(drift_figure(DRIFT), tmp_path / "file" / below, "drift")
    assert (tmp_path / "file").read_text(encoding="utf-8") == "mine"


def test_a_full_disk_leaves_the_old_figure_and_no_draft(tmp_path, monkeypatch):
    (tmp_path / "rate.png").write_bytes(b"old")

    def full(self, target, **options):
        target.write(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Figure, "savefig", full)
    with pytest.raises(OutputError, match="No space left on device"):
        save(rate_figure([STUDY]), tmp_path, "rate")
    assert [path.name for path in tmp_path.iterdir()] == ["rate.png"]
    assert (tmp_path / "rate.png").read_bytes() == b"old"


def test_the_package_is_lazy_and_complete():
    assert all(callable(getattr(package, name)) for name in package.__all__)
    with pytest.raises(AttributeError, match="nosuch"):
        package.nosuch  # noqa: B018
