"""Exact largest steps, and the plane with its three regions, beside closed forms."""

from __future__ import annotations

import json
import math

import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.figures import sharp_plane_figure
from cflag_theory.studies.stepsize import sharp_steps
from cflag_theory.studies.stepsize.cfl_conditions import cfl_step_sizes
from cflag_theory.studies.stepsize.conditions import step_sizes
from cflag_theory.studies.stepsize.sharp_steps import sharp_plane, sharp_step


@pytest.fixture(autouse=True)
def few_points(monkeypatch):
    monkeypatch.setattr(sharp_steps, "_POINTS", 6)


@pytest.mark.parametrize(
    ("found", "largest"),
    [
        pytest.param(lambda: step_sizes(L=2, m=0, E=2, T=3), 1, marks=pytest.mark.full),
        (lambda: cfl_step_sizes(L=2, K=3, T=3), 1),
        (lambda: step_sizes(L=1, m=0, E=3, T=300), 1.875),
    ],
)
def test_the_largest_step_is_the_one_of_the_ledger(found, largest):
    found = found()
    one = sharp_step(found)
    low, high = one.largest
    assert low <= largest * (1 + 1e-3)
    assert high == pytest.approx(largest, rel=5e-3)
    assert (one.best is None) == (found.T == 300)
    json.dumps(one.to_json())


def test_one_local_step_has_closed_forms():
    """eta_l eta_g <= 2/L, and alpha + beta <= 2/L."""
    for found, edge in (
        (cfl_step_sizes(L=2, K=1, T=3), lambda x: 1 / x),
        (step_sizes(L=2, m=0, E=1, T=3), lambda x: 1 - x),
    ):
        plane = sharp_plane(found)
        low, high = plane.y_range
        for x, y in zip(*plane.true, strict=True):
            wanted = edge(x)
            # The edge itself is known to the accuracy of the bisection.
            if 1.01 * low < wanted < high:
                assert y == pytest.approx(wanted, rel=3e-3)
            else:
                assert y == high if wanted >= high else math.isnan(y) or y < 1.02 * low
        assert plane.sheet().rows


def test_the_picture_has_three_regions():
    plane = sharp_plane(cfl_step_sizes(L=1, K=2, T=3))
    shown = json.loads(json.dumps(plane.to_json()))
    (axes,) = sharp_plane_figure(shown).axes
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert [one.partition(",")[0].partition(":")[0] for one in words] == [
        "False",
        "True",
        "True",
        "The paper's conditions",
    ]


def test_many_local_steps_are_refused():
    with pytest.raises(InvalidInput, match="leave out --sharp"):
        sharp_step(step_sizes(L=1, m=0, E=30, T=3))
