"""The plane of eta_l and eta_g: what is drawn as safe is what the answer calls safe."""

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


def plane_of(setting, **given):
    return cfl_region(cfl_step_sizes(**setting, eta_l=0.002, **given))


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_safe_is_what_the_answer_calls_safe(setting):
    """At the eta_g of the point, for which the theorem was chosen."""
    plane = plane_of(setting)
    least, most = (np.array(side) for side in plane.safe)
    inside = (least < plane.point[1]) & (plane.point[1] < most)
    for place in range(0, len(plane.x), 11):
        found = cfl_step_sizes(**setting, eta_l=plane.x[place])
        assert inside[place] == found.answer.safe, plane.x[place]


def test_the_plane_is_plain_values():
    shown = plane_of(SETTINGS[0], **NUMBERS, epsilon=0.5).to_json()
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert shown["point"] == [0.002, 1.0]


def test_what_no_axis_can_show():
    with pytest.raises(InvalidInput, match="cannot be drawn: choose units"):
        cfl_region(cfl_step_sizes(L=1e-300, K=1, eta_l=1e300, T=1))
