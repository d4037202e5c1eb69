"""The plane of alpha and beta: what is drawn as safe is what the answer calls safe."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.studies.stepsize.region import region
from cflag_theory.verify import step_sizes

SETTINGS = [
    {"L": 2.0, "m": 0.25, "E": 10, "T": 1000},
    {"L": 1.0, "m": 1.5, "E": 1, "T": 64},
    {"L": 100.0, "m": 0.0, "E": 50, "T": 10000},
]
POINT = {"alpha": 0.003, "beta": 1e-4, "grad_g": 1.0}


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
