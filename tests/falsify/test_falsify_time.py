"""Little time is no mistake of the user's: what has none of a user's code at work ends without an answer."""

import time

import pytest
import sympy as sp

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify import Conjecture, Range, decide, falsify, function, norm2, quantity, vectors
from cflag_theory.falsify.decisions import deciding as vector_claims
from cflag_theory.falsify.saving import read_claims
from cflag_theory.falsify.search.guard import OutOfTime, TimeUp, guarded, time_limit
from cflag_theory.falsify.vector_terms import instances

L, alpha = sp.symbols("L alpha", positive=True)
m = sp.Symbol("m", nonnegative=True)
x, b = vectors("x b")
y, z = sp.symbols("y z", real=True)
f = function("f", smooth=L)
UNIT = {"y": Range(0, 1), "z": Range(0, 1)}
STEP = Conjecture(
    name="a biased step",
    left=f(x - alpha * (f.grad(x) + b)),
    right=f(x) - alpha * (1 - m) / 2 * norm2(f.grad(x)),
    given=(norm2(b) <= m * norm2(f.grad(x)), alpha * L <= 1),
)
NUMBERS = Conjecture(name="numbers", left=y * z, right=(y**2 + z**2) / 2, given=(y * y <= z,), ranges=UNIT)


@pytest.fixture(autouse=True)
def _slow(monkeypatch):
    """Evaluations that take longer than they may."""

    def slow(*_):
        time.sleep(30)

    monkeypatch.setattr(instances, "judged", slow)
    monkeypatch.setattr(quantity, "exact_value", slow)


@pytest.mark.parametrize("claim", [STEP, NUMBERS])
def test_a_claim_without_functions_of_the_users_ends_as_neither(claim):
    found = decide(claim, seconds=0.05)
    assert (found.outcome, found.constant) == ("neither", None)
    assert "for time ran out: " in found.finding.not_covered[0]
    assert "allow more with --seconds" in found.finding.not_covered[0]
    assert "loop" not in found.finding.not_covered[0]


def test_a_finding_says_that_time_ran_out():
    found = falsify(NUMBERS, seconds=0.05)
    assert (found.status, found.out_of_time, found.feasible) == ("not broken", True, 0)


def test_a_proof_counts_for_nothing_where_there_was_no_time_to_meet_the_hypotheses(monkeypatch):
    monkeypatch.setattr(vector_claims, "_PROOF", 1000)
    claim = Conjecture(name="it", left=norm2(x + b), right=2 * norm2(x) + 2 * norm2(b), given=(norm2(x) <= m,))
    found = decide(claim, seconds=0.05)
    assert found.outcome == "neither"
    assert found.finding.not_covered[0].startswith("vacuity: a proof was found, and the rest of the budget")


def test_a_loop_of_the_users_is_a_mistake_still():
    def left(y):
        _loop()

    with pytest.raises(InvalidInput, match=r"test_falsify_time\.py, line \d+ .*left took more than 0\.2 s"):
        falsify(Conjecture(name="loop", left=left, right=1, ranges={"y": Range(0, 1)}), seconds=0.2)


def test_the_file_itself_may_always_take_half_a_second(tmp_path):
    file = tmp_path / "few.py"
    head = "import time\nfrom cflag_theory.falsify import Conjecture, Range\ntime.sleep(0.1)\n"
    file.write_text(head + "claim = Conjecture(name='it', left=lambda x: x, right=1, ranges={'x': Range(0, 1)})\n")
    (claim,) = read_claims(file, seconds=0.001)
    assert claim.name == "it"


def _loop():
    while True:
        pass


def test_an_alarm_that_rings_while_it_is_answered_ends_all_the_same():
    for _ in range(5):
        with pytest.raises(TimeUp), time_limit(1e-6):
            _loop()
        with pytest.raises(OutOfTime), guarded(1e-6, (), "it"):
            _loop()
