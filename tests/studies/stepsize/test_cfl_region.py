"""The plane of eta_l and eta_g: where conditions turn, where all hold, where the target is met."""

from __future__ import annotations

import json

import numpy as np
import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.studies.stepsize.cfl_region import cfl_region
from cflag_theory.verify import cfl_step_sizes

SETTINGS = [
    {"L": 5.0, "mu": 0.5, "K": 4, "T": 1000, "D": 0.1, "R": 0.1},
    {"L": 0.5, "mu": 0.0, "K": 1, "T": 50},
    {"L": 2.0, "mu": 1.0, "K": 10, "T": 2000, "A": 0.5, "B": 1.0},
]
NUMBERS = {"N": 10, "distance": 1.0, "gap": 1.0, "G": 0.02, "sigma": 0.5}


def rows(setting, eta_l, eta_g):
    found = cfl_step_sizes(**setting, eta_l=float(eta_l), eta_g=float(eta_g))
    return {row.condition: row for row in found.conditions}


def plane_of(setting, **given):
    return cfl_region(cfl_step_sizes(**setting, eta_l=0.002, **given))


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_conditions_turn_at_their_boundaries(setting):
    plane = plane_of(setting)
    assert len(plane.boundaries) > 8
    for one in plane.boundaries:
        for place in (0, len(one.x) // 2, -1):
            assert rows(setting, one.x[place], one.y[place])[one.name].factor == pytest.approx(1, rel=1e-6)
    kinds = {one.name: one.kind for one in plane.boundaries}
    assert (kinds["eta_g >= 1"], kinds["eta_g = 1"], kinds["eta <= 1/(10L)"]) == ("at least", "equal", "at most")


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_safe_is_what_the_answer_calls_safe(setting):
    """At the eta_g of the point, for which the theorem was chosen."""
    plane = plane_of(setting)
    least, most = (np.array(side) for side in plane.safe)
    inside = (least < plane.point[1]) & (plane.point[1] < most)
    for place in range(0, len(plane.x), 11):
        found = cfl_step_sizes(**setting, eta_l=plane.x[place])
        assert inside[place] == found.answer.safe, plane.x[place]


def test_what_no_step_sizes_meet_is_named():
    assert plane_of(SETTINGS[0]).fails == ("(L^2 + 1) c < 1 + p_t/2",)
    assert plane_of(SETTINGS[1]).fails == ("T >= 1/(2 eta mu)",)
    assert set(plane_of(SETTINGS[2]).fails) == {"(L^2 + 1) c < 1 + p_t/2", "x (1 + p_t/2) < 1 + p_t/2 - c"}


def test_inside_the_edge_the_theorem_gives_the_target():
    setting, epsilon = SETTINGS[0], 0.5
    plane = plane_of(setting, **NUMBERS, epsilon=epsilon)
    edges = {one.name: one for one in plane.boundaries if one.kind == "target"}
    assert set(edges) == {"ours.cfl_strongly_convex, any K", "ours.cfl_nonconvex, any K"}
    seen = set()
    for name, edge in edges.items():
        assert (edge.x[0], edge.y[0]) == (edge.x[-1], edge.y[-1])
        half = (len(edge.x) - 1) // 2
        for place in range(0, half, 5):
            eta_l, bottom, top = edge.x[place], edge.y[place], edge.y[2 * half - 1 - place]
            assert edge.x[2 * half - 1 - place] == eta_l
            for eta_g in np.geomspace(*plane.y_range, 16)[1:-1]:
                found = cfl_step_sizes(**setting, **NUMBERS, eta_l=eta_l, eta_g=float(eta_g))
                (value,) = [row.value for row in found.bounds if f"{row.claim}, {row.note}" == name]
                inside = bool(bottom < eta_g < top)
                assert inside == (value is not None and value <= epsilon), (name, eta_l, eta_g)
                seen.add(inside)
    assert seen == {True, False}
    assert {name for name, _, _ in plane.best} == {f"smallest bound, {name}" for name in edges}


def test_the_plane_is_plain_values():
    shown = plane_of(SETTINGS[0], **NUMBERS, epsilon=0.5).to_json()
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert shown["point"] == [0.002, 1.0]


def test_what_no_axis_can_show():
    with pytest.raises(InvalidInput, match="cannot be drawn: choose units"):
        cfl_region(cfl_step_sizes(L=1e-300, K=1, eta_l=1e300, T=1))
