"""Functions that change from call to call are no formulas, and prove nothing."""

from __future__ import annotations

import itertools
from random import Random

import pytest

from cflag_theory.errors import InconsistentEvidence, InvalidInput
from cflag_theory.falsify import Conjecture, Range, decide


def outcome(left, right):
    claim = Conjecture(name="a claim", ranges={"x": Range(0, 1)}, left=left, right=right)
    return decide(claim, budget=120, seconds=4).outcome


def _counter():
    calls = itertools.count()
    return lambda x: x + next(calls) % 2


def _turning():
    calls = itertools.count()
    return lambda x: x if next(calls) < 8 else x + 5


def _random():
    draw = Random(0)
    return lambda x: x + draw.randrange(5)


def _keeping():
    kept = []

    def left(x):
        kept.append(x)
        return x + len(kept)

    return left


def _counting():
    calls = [0]

    def left(x):
        calls[0] += 1
        return x if calls[0] < 400 else x + 5

    return left


def _of_an_object():
    class Left:
        calls = 0

        def __call__(self, x):
            self.calls += 1
            return x if self.calls < 400 else x + 5

    return Left()


def _of_itself():
    def left(x):
        left.calls = getattr(left, "calls", 0) + 1
        return x if left.calls < 400 else x + 5

    return left


@pytest.mark.parametrize("make", [_counter, _turning, _random, _keeping, _counting, _of_an_object, _of_itself])
def test_functions_that_keep_a_state_prove_nothing(make):
    for right in (2, 10**4):
        try:
            found = outcome(make(), right)
        except (InvalidInput, InconsistentEvidence):
            continue
        assert found != "proved" or right > 2
