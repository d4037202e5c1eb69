"""What the falsifier must never say: proofs with holes, refutations by rounding, hypotheses that nothing satisfies."""

from __future__ import annotations

import ctypes
import gc
import math
import time
from fractions import Fraction

import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.saving import read_claims, save
from cflag_theory.falsify.search import running
from cflag_theory.falsify.search.exact_numbers import exp, sqrt
from cflag_theory.falsify.search.guard import TimeUp, time_limit
from cflag_theory.verify import Conjecture, Range, falsify, quadratics, replay

UNIT = {"x": Range(0, 1), "y": Range(0, 1)}


def of(left, right, **more):
    return Conjecture(**({"name": "a claim", "ranges": UNIT, "left": left, "right": right} | more))


def test_runs_that_gave_no_answer_are_no_part_of_an_enumeration(monkeypatch):
    """A step of 10^60 leaves ||x||^2 <= 1e200 in the third round; and an exact run may take too long."""
    fixed = {name: Range(low, low, shape=("N", "n", "d")) for name, low in (("curvature", 1), ("slope", 0))}
    ranges = fixed | {"start": Range(1, 1, shape=("d",)), "E": 1, "T": Range(1, 4, kind="integer")}
    shared = {"problem": quadratics(N=1, n=1), "algorithm": "local_gd", "left": lambda T: T, "right": 3}
    diverged = falsify(Conjecture(name="far", ranges=ranges | {"beta": 10**60}, **shared))
    assert diverged.status == "not broken"
    assert any("runs that diverged" in words for words in diverged.not_covered)
    real = running.run

    def run_slowly(conjecture, case, problem):
        if problem.exact and case["T"] == 4:
            raise TimeUp("here")
        return real(conjecture, case, problem)

    monkeypatch.setattr(running, "run", run_slowly)
    slow = falsify(Conjecture(name="slow", ranges=ranges | {"beta": 1}, **shared))
    assert slow.status == "not broken"
    assert any("1 exact run that took more" in words for words in slow.not_covered)
    assert not any("choices" in words for words in slow.not_covered)
    monkeypatch.undo()
    assert falsify(Conjecture(name="near", ranges=ranges | {"beta": 1}, **shared)).case["T"] == "4"


def test_functions_that_change_their_answer_refute_nothing():
    answers = iter([Fraction(2)] + [Fraction(0)] * 10000)
    with pytest.raises(InvalidInput, match="return the same"):
        falsify(of(lambda x: next(answers) + 0 * x, 1), algebra=False)


def test_a_side_cannot_change_the_numbers_of_the_other():
    def left(v):
        v[0] = 1
        return v[1]

    with pytest.raises(InvalidInput, match="read-only"):
        falsify(of(left, lambda v: v[0] + v[1], ranges={"v": Range(0, 1, shape=(2,))}))


def test_hypotheses_that_only_rounding_satisfies_are_not_satisfied():
    plane = {"x": Range(0, 2), "y": Range(0, 1)}
    claim = of(lambda x: max(x, 0), "8/5", ranges=plane, given=(lambda x: x**2 <= 2, lambda x: x**2 >= 2))
    with pytest.raises(InvalidInput, match=r"no case satisfies the hypotheses .* on floats up to rounding"):
        falsify(claim, budget=3000)
    root = of(lambda x: x, "3/2", ranges={"x": Range(0, 2)}, given=(lambda x: x**2 == 2,))
    assert falsify(root, budget=100).status == "proved"


def test_a_hypothesis_needs_no_value_where_an_earlier_one_fails():
    claim = of(lambda x: max(x, 0), 2, given=(lambda x: x > 0, lambda x: 1 / x <= 3))
    assert falsify(claim, budget=100).status == "not broken"


def test_a_smaller_case_without_a_value_does_not_lose_the_counterexample():
    found = falsify(of(lambda x, y: (x + y) / y if x > Fraction(9, 10) else x * y, 1), algebra=False)
    assert (found.status, found.case) == ("refuted", {"x": "1", "y": "1"})


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (lambda x: x * 10**400, "1" + 400 * "0"),
        (lambda x: exp(1000 + x), "E+434"),
        (lambda x: x * 10**5000, "a fraction of"),
    ],
)
def test_sides_beyond_floats_are_compared_and_printed(left, words):
    found = falsify(of(left, 1))
    assert words in found.left
    assert found.largest_ratio is None


def test_sides_that_agree_in_many_digits_are_told_apart():
    below = Fraction(math.isqrt(2 * 10**80), 10**40)
    found = falsify(of(lambda x: sqrt(2 + 0 * x), lambda: below))
    assert found.refuted
    assert Fraction(found.left.removesuffix(" (enclosed)")) > Fraction(found.right)


def test_many_integers_are_searched_and_not_listed():
    ranges = {"k": Range(1, 10**12, kind="integer")}
    found = falsify(of(Fraction(1, 4), lambda k: (k - Fraction(3, 2)) ** 2, ranges=ranges), algebra=False, budget=50)
    assert found.status == "not broken"
    assert any("all but 50 of the values of k" in words for words in found.not_covered)


def test_numbers_far_below_floats_precision_are_confirmed():
    tiny = Fraction(1, 10**30)
    found = falsify(of(lambda x: max(x, 0), tiny * Fraction(999, 1000), ranges={"x": Range(0, tiny)}), budget=100)
    assert (found.status, found.case["x"]) == ("refuted", str(tiny))


def test_a_loop_around_an_except_for_everything_is_left():
    def stubborn():
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass

    with pytest.raises(TimeUp), time_limit(0.2):
        stubborn()


def test_a_limit_inside_of_a_limit_leaves_the_outer_one_running():
    def work():
        with time_limit(60):
            pass
        while True:
            pass

    with pytest.raises(TimeUp), time_limit(0.3):
        work()


def test_names_that_would_share_a_file_are_refused(tmp_path):
    path = tmp_path / "claims.py"
    text = "from cflag_theory.verify import Conjecture\n"
    text += "".join(f"c{k} = Conjecture(name={name!r}, left=1, right=0)\n" for k, name in enumerate(("a b", "A_b")))
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match="two conjectures of the name 'a b'"):
        read_claims(path, seconds=5)


def _collect_and_go_on():
    gc.collect()
    while True:
        pass


def test_a_time_limit_survives_the_garbage_collector():
    """Python reports what is raised in a callback of the collector, and goes on: the limit would be lost."""
    seen = []

    def callback(phase, info):
        until = time.monotonic() + 0.1
        while not seen and time.monotonic() < until:
            pass
        seen.append(phase)

    gc.callbacks.append(callback)
    try:
        with pytest.raises(TimeUp) as caught, time_limit(0.05):
            _collect_and_go_on()
    finally:
        gc.callbacks.remove(callback)
    assert seen
    assert "callback" not in caught.value.place


class _Slow:
    """What ctypes converts for a tenth of a second."""

    @classmethod
    def from_param(cls, value):
        until = time.monotonic() + 0.1
        while time.monotonic() < until:
            pass
        return ctypes.c_int(value)


def _call_and_go_on(function):
    function(-1)
    while True:
        pass


def test_a_time_limit_survives_the_conversion_of_arguments():
    """ctypes makes an ArgumentError of what is raised there, which nobody would take for the end of the time."""
    function = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(abs)
    slow = ctypes.cast(function, ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int))
    slow.argtypes = [_Slow]
    with pytest.raises(TimeUp), time_limit(0.05):
        _call_and_go_on(slow)


def test_a_name_without_latin_letters_has_a_file_and_a_replay(tmp_path):
    claim = of(lambda x: x, "1/2", name="\u03be")
    file = save(falsify(claim), tmp_path)
    assert file.name == "counterexample.json"
    assert replay(file, conjecture=claim).broken
