"""The figure of worst cases, from made-up numbers."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from cflag_theory.figures import save, sharp_figure
from cflag_theory.figures.style import plain_words


def _lemma(where, *, exact=True, range=0.25, largest=2.0):
    curve = {"n": 1, "E": 4, "worst": [1.0, 1.5, 2.5], "met_u": [2.0], "met": [1.5]}
    along_E = {"n": 1, "E": [2, 4, 8], "worst": [1.0, 1.1, 1.2], "met": [1.0, 1.1, 1.2]}
    return {
        "where": where,
        "exact": exact,
        "u": [1.0, 2.0, 3.0],
        "printed": [4.0, 4.0, 4.0],
        "supremum": [1.2, 2.0, 4.5] if exact else None,
        "range": range,
        "largest": largest,
        "along_u": [curve, curve | {"n": 8}],
        "at": 0.25,
        "printed_at": 4.0,
        "along_E": [along_E, along_E | {"n": 8}],
    }


def _labels(figure):
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def _title(axes):
    return plain_words(axes.get_title("left"))


def test_a_row_a_lemma_with_its_lines():
    figure = sharp_figure([_lemma("Lemma 13"), _lemma("Lemma 12", exact=False, range=None, largest=None)])
    assert isinstance(figure, Figure)
    first, beside, second, _ = figure.axes
    assert _title(first) == "Lemma 13: true up to 8 times the printed range"
    assert _title(second) == "Lemma 12: printed 4, worst at most 2.5"
    assert _title(beside) == "beta L E = 0.25: 1.2 up to E = 8, printed 4"
    assert _labels(figure) == ["Printed", "Every $n$ and $E$", "$n$ = 1", "$n$ = 8", "$E$ = 4"]
    assert (first.get_ylabel(), second.get_ylabel()) == ("Constant", "Constant, at most")
    assert [text.get_text().strip() for text in first.texts] == ["Range 0.25", "True up to 2"]
    assert all(text.get_position()[1] == 1.0 for text in first.texts)
    assert list(beside.lines[1].get_ydata()) == [1.0, 1.1, 1.2]
    assert [tick.get_text() for tick in beside.get_xticklabels()] == ["2", "4", "8"]


def test_runs_are_markers_on_the_line_of_their_case():
    (axes, _) = sharp_figure([_lemma("Lemma 13")]).axes
    line, markers = axes.lines[2], axes.lines[3]
    assert line.get_color() == markers.get_color()
    assert markers.get_linestyle() == "None"
    assert list(markers.get_xdata()) == [2.0]


def test_a_colour_is_one_number_of_components_in_both_panels():
    lemma = _lemma("Lemma 13")
    curve = lemma["along_u"][0]
    lemma["along_u"] = [curve | {"n": n, "E": E} for n in (1, 8) for E in (4, 16)]
    figure = sharp_figure([lemma])
    above, below = figure.axes
    (legend,) = figure.legends
    handles = {text.get_text(): handle for text, handle in zip(legend.get_texts(), legend.get_lines(), strict=True)}
    assert len(handles) == 6
    lower = {line.get_label(): line.get_color() for line in below.lines}
    runs = [line for line in above.lines if line.get_linestyle() == "None" and len(line.get_xdata())]
    expected = [(n, E) for n in (1, 8) for E in (4, 16)]
    for line, (n, E) in zip(runs, expected, strict=True):
        assert line.get_color() == handles[f"$n$ = {n}"].get_color() == lower[f"$n$ = {n}"]
        assert line.get_marker() == handles[f"$E$ = {E}"].get_marker()
    assert len({(line.get_color(), line.get_marker()) for line in runs}) == 4


def test_it_can_be_saved(tmp_path):
    written = save(sharp_figure([_lemma("Lemma 13")]), tmp_path, "sharp")
    assert all(path.stat().st_size > 5000 for path in written)
    again = save(sharp_figure([_lemma("Lemma 13")]), tmp_path / "again", "sharp")
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in written]


@pytest.mark.parametrize("missing", ["range", "largest"])
def test_an_end_that_does_not_exist_is_not_drawn(missing):
    (axes, _) = sharp_figure([_lemma("Lemma 13", **{missing: None})]).axes
    assert len(axes.texts) == 1
    assert _title(axes) == "Lemma 13: printed 4, worst 2.5"
