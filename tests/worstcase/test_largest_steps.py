"""The largest step for which nothing grows: closed forms, and both ends of the answer."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.worstcase import largest_step


@pytest.mark.parametrize(
    ("name", "E", "more", "h"),
    [
        ("local_gd", 1, {"N": 1}, 2),
        ("fedavg", 3, {"measure": "distance"}, 6),
        # Two kinds of quadratics: h^2 = 8 (h - 1 + (1 - h/E)^E).
        ("fedtrack", 2, {}, 4),
        ("fedtrack", 3, {"L": 2}, Fraction(45, 8)),
        ("local_gd", 1, {"N": 1, "kind": "smooth", "measure": "min-grad"}, 2),
    ],
)
def test_the_largest_step_is_the_known_one(name, E, more, h):
    found = largest_step(name, E=E, **more)
    L = more.get("L", 1)
    assert found.lower * E * L <= h <= found.upper * E * L
    assert found.upper - found.lower < found.upper / 500
    if more.get("kind") != "smooth":
        assert found.still.upper <= Fraction(1, 10**6) * L
        assert found.grows.lower > 1e-4


def test_where_the_measure_grows_at_every_step_the_answer_says_by_how_little():
    found = largest_step("fedavg", E=2)
    assert found.still.upper <= Fraction(1, 10**6)
    assert any("smaller steps" in note for note in found.sheet().notes)
    with pytest.raises(InvalidInput, match="asked for growth"):
        largest_step("fedavg", E=2, measure="min-grad")
