"""The plane of alpha and beta: boundaries lie where conditions turn, and the region is where all of them hold."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from cflag_theory.claims.c_flag.step_sizes import CONDITIONS, OUR_CONDITIONS
from cflag_theory.errors import InvalidInput
from cflag_theory.studies.stepsize.region import TARGETS, region
from cflag_theory.verify import step_sizes

SETTINGS = [
    {"L": 2.0, "m": 0.25, "E": 10, "T": 1000},
    {"L": 1.0, "m": 1.5, "E": 1, "T": 64},
    {"L": 100.0, "m": 0.0, "E": 50, "T": 10000},
]
POINT = {"alpha": 0.003, "beta": 1e-4, "grad_g": 1.0}


def rows(setting, alpha, beta, **numbers):
    found = step_sizes(**setting, alpha=alpha, beta=beta, **numbers)
    return {row.condition: row for row in found.conditions}


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_conditions_turn_at_their_boundaries(setting):
    plane = region(step_sizes(**setting, **POINT))
    for one in plane.boundaries:
        for place in (0, len(one.x) // 2, -1):
            alpha, beta = one.x[place], one.y[place]
            if one.kind == "equal" and len(one.x) == 1:
                assert rows(setting, alpha, beta)[one.name].holds
                continue
            factor = rows(setting, alpha, beta)[one.name].factor
            assert factor == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_every_condition_on_the_step_sizes_has_a_boundary(setting):
    plane = region(step_sizes(**setting, **POINT))
    expected = {one.name for one in CONDITIONS + OUR_CONDITIONS} - {"m < 1"}
    if setting["m"] >= 1:
        expected = {name for name in expected if not name.startswith("W ")}
    shown = {one.name for one in plane.boundaries}
    # For small m this one turns beyond what is shown, at alpha = 1/(L m).
    far = {"L alpha m < 1"} if setting["m"] < 1 else set()
    assert shown - far == expected - far
    assert plane.fails == (("m < 1",) if setting["m"] >= 1 else ())


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_safe_is_what_the_answer_calls_safe(setting):
    plane = region(step_sizes(**setting, **POINT))
    seen = set()
    edge = step_sizes(**setting, **POINT).answer.most["alpha"]
    # At the edge itself the answer allows for rounding.
    for place in [k for k in range(0, len(plane.x), 17) if abs(plane.x[k] / edge - 1) > 1e-9]:
        for beta in np.geomspace(*plane.y_range, 7)[1:-1]:
            inside = bool(plane.safe[0][place] < beta < plane.safe[1][place])
            assert inside == step_sizes(**setting, alpha=plane.x[place], beta=beta).answer.safe
            seen.add(inside)
    assert seen == {True, False}
    assert plane.answer == step_sizes(**setting, **POINT).answer.words.partition(". ")[0]


def test_below_the_target_line_the_theorem_gives_the_target():
    setting = SETTINGS[0]
    plane = region(step_sizes(**setting, **POINT, epsilon=0.05, gap=1.0))
    lines = {one.name: one for one in plane.boundaries if one.kind == "target"}
    assert set(lines) == set(TARGETS)
    for name, line in lines.items():
        alpha, beta = line.x[-1], line.y[-1]
        for scale, enough in ((0.99, True), (1.01, False)):
            found = step_sizes(**setting, alpha=alpha * (1 - 1e-12), beta=beta * scale, gap=1.0, grad_g=1.0)
            (value,) = [row.value for row in found.bounds if row.claim == name]
            assert (value <= 0.05) is enough
    assert {name for name, _, _ in plane.best} == {f"largest beta, {claim}" for claim in TARGETS}


def test_the_plane_is_plain_values():
    shown = region(step_sizes(**SETTINGS[0], **POINT, epsilon=1e-12)).to_json()
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert None in shown["safe"][0]
    low, high = shown["x_range"]
    assert low < POINT["alpha"] < high
    assert math.isfinite(shown["y_range"][1])


def test_a_plane_without_any_level_is_drawn_and_one_beyond_floats_is_refused():
    # E so large that every beta of a condition is far away.
    far = region(step_sizes(L=1.0, m=0.25, E=2**53, alpha=0.5, beta=1e-3, T=2**53))
    assert far.point == (0.5, 1e-3)
    with pytest.raises(InvalidInput, match="cannot be drawn: choose units"):
        region(step_sizes(L=1e-300, m=0.0, E=1, alpha=1e300, beta=1e-320, T=1))
    with pytest.raises(InvalidInput, match="cannot be drawn: choose units"):
        region(step_sizes(L=1e300, m=0.25, E=2**53, alpha=1e-300, beta=1e-310, T=2**53))
