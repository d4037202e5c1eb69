"""Figures show the results they are given, and reach the disk whole or not at all."""

from __future__ import annotations

import base64
import errno
import os
import re
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.mathtext import MathTextParser
from rate_studies import STUDY

import cflag_theory.figures as package
from cflag_theory.errors import OutputError
from cflag_theory.figures import cfl_rate_figure, drift_figure, expectation_figure, floors_figure, rate_figure, save
from cflag_theory.figures.style import house_style, plain_words, typeset, wrapped
from cflag_theory.studies.rates.cfl import CFLRate

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
    titles = [plain_words(axes.get_title("left")) for axes in figure.axes]
    assert titles == [
        f"{key.capitalize()}: printed {n}, 1.10 is enough up to u = 0.2" for key, n in (("drift", 4), ("error", 2))
    ]
    for axes, printed in zip(figure.axes, (4.0, 2.0), strict=True):
        drawn = lines(axes)
        assert drawn[f"Printed: {printed:g}"][1] == [printed, printed]
        assert drawn["Proved here"] == ([0.1, 0.2], [1.0, 1.1])
        assert drawn["Exact instance, $E$ = 8"][1] == [0.95, 0.99]
        assert sum("Exact instance" in label for label in drawn) == 3


FLOOR = {
    "title": "Lemma 3",
    "quantity": "q",
    "words": "f = x^2",
    "T": [4, 8, 16, 32, 64],
    "predicted": [4.0, 2.0, 1.0, 0.5, 0.25],
}


@pytest.mark.parametrize(
    ("measured", "said"),
    [
        ([3.0, 0.9, 0.9, 0.9, 0.9], "a floor stays at 0.9; the printed bound is crossed at T = 32"),
        ([5.0, 5.0, 5.0, 5.0, 5.0], "a floor stays at 5; the printed bound is exceeded at every T"),
        ([3.0, 1.5, 0.7, 0.7, 0.7], "0.7 at T = 64; the printed bound is crossed at T = 32"),
        ([3.0, 1.5, 0.7, 0.3, 0.2], "0.2 at T = 64"),
    ],
)
def test_a_floor_and_a_crossing_are_computed(measured, said):
    figure = floors_figure([FLOOR | {"measured": measured}])
    (axes,) = figure.axes
    assert plain_words(axes.get_title("left")) == f"Lemma 3: {said}"
    assert figure.alt.startswith(f"Lemma 3: {said}; f = x^2; from {measured[0]:g} to ")
    assert {text.get_text() for text in axes.texts} == {"q", "Printed bound"}


@pytest.mark.parametrize(
    ("words", "printed"),
    [
        ("alpha <= 1/3 at eta_l = 2", r"$\alpha$ ≤ 1/3 at $\eta_l$ = 2"),
        ("a slope at T = 4, p_t >= 1", "A slope at $T$ = 4, $p_t$ ≥ 1"),
        (r"my_alpha.py: $\min_t x$ is 1", r"My_alpha.py: $\min_t x$ is 1"),
    ],
)
def test_titles_are_typeset(words, printed):
    assert typeset(words) == printed


def test_no_line_breaks_inside_a_formula_or_before_a_number():
    lines = wrapped(r"from $\|\nabla f\|^2$ to $\min_t x$ at T = 4", 9).replace("\u00a0", " ").split("\n")
    assert lines == ["From", r"$\|\nabla f\|^2$ to", r"$\min_t x$ at", "$T$ = 4"]


def test_the_largest_expectation_is_named():
    figure = expectation_figure({"t": [0, 1, 2], "drawn_once": [0, 0.25, 0.125], "drawn_every_round": [0, 0, 0]})
    assert "𝔼 B(t) is 0.25 in round 1 if the memory is drawn once" in figure.alt


def method(name, last):
    return {"method": name, "last": last, "printed": [9.0, 5.0], "mean": [4.0, 2.0], "ours": [None, None], "band": []}


@pytest.mark.parametrize(
    ("fedavg", "cfl", "said"),
    [
        (0.8, 0.2, "CFL ends 4 times below FedAvg, 2 times above the floor"),
        (0.1, 0.2, "FedAvg ends 2 times below CFL, at the floor"),
        (0.1, 0.1, "FedAvg and CFL end together, at the floor"),
    ],
)
def test_who_ends_lower_is_computed(fedavg, cfl, said):
    methods = [method("FedAvg", [1.0, fedavg]), method("CFL", [1.0, cfl])]
    ends = SimpleNamespace(methods=[SimpleNamespace(**one) for one in methods], floor=[0.2, 0.1])
    found = CFLRate.finding.fget(ends)
    study = {"title": "study", "horizons": [16, 32], "floor": [0.2, 0.1], "finding": found, "methods": methods}
    figure = cfl_rate_figure(study)
    assert " ".join(figure.axes[0].get_title("left").split()) == f"Study: {said}"
    assert len(figure.axes[0].texts) == 5
    methods[0] |= {"printed": [9.0, 1.9]}
    figure = cfl_rate_figure(study)
    assert f"{said}; the printed rate of FedAvg is crossed at T = 32;" in figure.alt


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


def test_every_figure_shows_itself_in_a_notebook():
    """Its alternative text is in the page that Jupyter gets, and in the files."""
    picture = drift_figure(DRIFT)
    bundle = picture._repr_mimebundle_()
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert f'alt="{picture.alt}"' in bundle["text/html"]
    assert bundle["text/plain"] == f"<Picture: {picture.alt}>"
    folder = Path(package.__file__).parent
    bare = [
        path.name for path in folder.glob("*.py") if re.search(r"(?<!\w)Figure\(", path.read_text(encoding="utf-8"))
    ]
    assert bare == []


def test_files_carry_the_alternative_text(tmp_path):
    picture = drift_figure(DRIFT)
    png, svg = save(picture, tmp_path, "drift")
    assert picture.alt.encode() in png.read_bytes()
    assert picture.alt in svg.read_text(encoding="utf-8")


def test_formulas_are_shared_in_the_house_style_and_nowhere_else():
    parser = MathTextParser("path")
    before = MathTextParser._parse_cached
    with house_style(), house_style():
        assert parser == MathTextParser("path")
        assert parser != MathTextParser("agg")
    assert parser != MathTextParser("path")
    assert MathTextParser._parse_cached is before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_fork_has_fonts_of_its_own():
    with house_style():
        parser = MathTextParser("path")
        parser.parse("$x^2$")
        if (child := os.fork()) == 0:
            os._exit(int(parser._parse_cached.cache_info().currsize > 0))
        assert os.waitpid(child, 0)[1] == 0
        assert parser._parse_cached.cache_info().currsize > 0
