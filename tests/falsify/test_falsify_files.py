"""Files of claims and saved counterexamples: each fault is one sentence with its line; a replay trusts nothing."""

from __future__ import annotations

import json
import threading
from fractions import Fraction
from pathlib import Path

import pytest

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.saving import read_claims, save
from cflag_theory.verify import Conjecture, Range, falsify, replay

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"

HEAD = """\
from fractions import Fraction
import math
from cflag_theory.verify import Conjecture, Range, quadratics
UNIT = {"x": Range(0, 1)}
BETA = {"beta": Range(0, 1, open="low")}


"""
FALSE = 'claim = Conjecture(name="false", ranges=UNIT, left=lambda x: x, right=lambda x: x**2 + Fraction(1, 8))\n'


def written(folder, text, name="claims.py"):
    path = folder / name
    path.write_text(HEAD + text, encoding="utf-8")
    return path


def one(text):
    return f'claim = Conjecture(name="it", {text})\n'


LOOP = """\
def left(x):
    n = 0
    while True:
        try:
            n += 1
        except Exception:
            pass


claim = Conjecture(name="it", ranges=UNIT, left=left, right=1)
"""


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (one("ranges=UNIT, left=lambda x: -1 / x, right=2"), 8, "left raised ZeroDivisionError: .* at x = 0"),
        (LOOP, 10, "left took more than 0.5 s at x = 1/2"),
        (one("ranges=UNIT, left=lambda x: math.nan, right=2"), 8, "left returned NaN"),
        (one("ranges=UNIT, left=lambda x: None, right=2"), 8, "left returned None"),
        (one("ranges=UNIT, left=lambda x: 'a', right=2"), 8, "left returned 'a'"),
        (one("ranges=UNIT, left=lambda x: 1j, right=2"), 8, "left returned a complex number"),
        (one("ranges=UNIT, left=lambda x: (x - 2) ** 0.5, right=2"), 8, "an exact number is turned into a float"),
        (
            one("ranges=UNIT, left=lambda x: Fraction(math.sqrt(x)), right=2"),
            8,
            "an exact number is turned into a float",
        ),
        (one("ranges=UNIT, left=lambda x: x, right=2, given=(lambda x: float(x) < 1,)"), 8, "is turned into a float"),
        (one("ranges=UNIT, left=lambda: 0.5, right=2"), 8, "float 0.5 on exact numbers: write Fraction"),
        (one("ranges=UNIT, left=lambda x: 0.3 * x, right=2"), 8, "turned into a float: write Fraction"),
        (one("ranges=UNIT, left=lambda x: math.sqrt(x), right=2"), 8, "take sqrt, exp and log from"),
        (one("ranges=UNIT, left=lambda x: x, right=2, given=(lambda x: x,)"), 8, "hypothesis 1 returned Fraction"),
        (one("ranges=UNIT, left=lambda x: x, right=2, given=(lambda x: x.y,)"), 8, "AttributeError"),
        (
            one(
                'ranges=BETA, problem=quadratics(), algorithm="fedavg", left=lambda trace: trace.column("gg"), right=1'
            ),
            8,
            "column 'gg' is unknown",
        ),
        (
            one("ranges=BETA, problem=quadratics(d=2), local_step=lambda x: 1, left=1, right=1"),
            8,
            "return the next iterate",
        ),
        (one("ranges=BETA, problem=lambda: 3, local_step=lambda x: x, left=1, right=1"), 8, "problem returned int"),
        (one("ranges=BETA, problem=quadratics(), algorithm=lambda beta: 'x', left=1, right=1"), 8, "return a row"),
    ],
)
def test_a_fault_of_a_claim_is_told_with_its_line(tmp_path, text, line, message):
    path = written(tmp_path, text)
    (claim,) = read_claims(path, seconds=20)
    with pytest.raises(InvalidInput, match=message) as told:
        falsify(claim, seconds=0.5, budget=60)
    assert f"{path}, line {line}" in str(told.value)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("def (\n", 8, "invalid syntax"),
        ("raise RuntimeError('boo')\n", 8, "RuntimeError: boo"),
        ("import sys\nsys.exit(3)\n", 9, "SystemExit: 3"),
        ("while True:\n    pass\n", None, "the file took more than 0.5 s"),
        (one("ranges={'x': Range(2, 1)}, left=1, right=1"), 8, "from 2 to 1 is reversed"),
        (one("ranges={'x': Range(1, 1, open='low')}, left=1, right=1"), 8, "empty"),
        (one("ranges=UNIT, left=lambda z: z, right=1"), 8, "reads 'z', which has no range"),
    ],
)
def test_a_fault_of_a_file_is_told_with_its_line(tmp_path, text, line, message):
    path = written(tmp_path, text)
    with pytest.raises(InvalidInput, match=message) as told:
        read_claims(path, seconds=0.5)
    if line is not None:
        assert f"{path}, line {line}" in str(told.value)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("gone.py", None, "there is no file"),
        ("empty.py", b"", "holds no Conjecture"),
        ("bytes.py", b"\xff\xfe\x00", "it is not text"),
        ("zero.py", b"a = 1\x00", "no Python file|null bytes"),
        ("twice.py", (HEAD + FALSE + FALSE.replace("claim", "again")).encode(), "two conjectures of the name 'false'"),
    ],
)
def test_a_file_without_usable_claims_is_told(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidInput, match=message):
        read_claims(tmp_path / name, seconds=5)


def test_claims_come_in_order_and_may_import_from_beside(tmp_path):
    (tmp_path / "beside_the_claims.py").write_text("BOUND = 2\n", encoding="utf-8")
    text = (
        "from beside_the_claims import BOUND\n"
        + FALSE
        + 'same = claim\nb = Conjecture(name="b", left=1, right=BOUND)\n'
    )
    found = read_claims(written(tmp_path, text), seconds=5)
    assert [claim.name for claim in found] == ["false", "b"]
    assert falsify(found[1]).status == "proved"


def test_time_is_not_limited_in_other_threads_and_errors_are_still_told(tmp_path):
    (claim,) = read_claims(written(tmp_path, one("ranges=UNIT, left=lambda x: -1 / x, right=2")), seconds=5)
    told = []

    def work():
        try:
            falsify(claim, budget=50)
        except InvalidInput as error:
            told.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "line 8" in told[0]


# Counterexamples


@pytest.fixture
def saved(tmp_path):
    """A claim's file and the counterexample that was found to it."""
    path = written(tmp_path, FALSE)
    (claim,) = read_claims(path, seconds=20)
    return path, save(falsify(claim), tmp_path / "found", claim=path)


def changed(file, **parts):
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | parts), encoding="utf-8")


def test_a_replay_computes_both_sides_again(saved):
    _, file = saved
    again = replay(file)
    assert again.broken
    assert not again.changed
    x = Fraction(again.values["x"])
    assert (Fraction(again.left), Fraction(again.right)) == (x, x**2 + Fraction(1, 8))
    assert x == Fraction(1, 2)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"values": {"x": "1/3"}}, "the file was changed"),
        ({"left": "3/4"}, "the file was changed"),
        ({"right": "1/100"}, "the file was changed"),
        ({"relation": "left < right"}, "the file was changed"),
        ({"values": {"x": "2"}}, "which is not in"),
        ({"values": {"x": ["1/2"]}}, "cannot be read"),
        ({"values": {"x": "half"}}, "cannot be read"),
        ({"values": {}}, "differ in the variables x"),
        ({"values": {"x": "1/2", "y": "1"}}, "differ in the variables y"),
        ({"values": 3}, "not a counterexample that cflag decide saved"),
        ({"kind": "a letter"}, "not a counterexample that cflag decide saved"),
        ({"claim": {"name": "other", "file": "../claims.py"}}, "is not the file that"),
        ({"claim": {"name": "false", "file": "../gone.py"}}, "which is gone"),
        ({"claim": {"name": "false"}}, "names no file"),
    ],
)
def test_a_tampered_file_is_refused(saved, parts, message):
    _, file = saved
    changed(file, **parts)
    with pytest.raises(InvalidInput, match=message):
        replay(file)


@pytest.mark.parametrize("content", [None, b"{", b"[1]", b"\xff"])
def test_what_is_no_counterexample_is_refused(tmp_path, content):
    file = tmp_path / "it.json"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InvalidInput, match="counterexample that cflag decide saved"):
        replay(file)


def test_a_mended_claim_is_not_refuted_by_its_old_counterexample(saved):
    path, file = saved
    path.write_text(path.read_text(encoding="utf-8").replace("Fraction(1, 8)", "Fraction(1, 4)"), encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"is not the file that .* was made from: look at it"):
        replay(file)
    again = replay(file, claims=path)
    assert again.changed
    assert not again.broken
    path.write_text(path.read_text(encoding="utf-8").replace("Fraction(1, 4)", "Fraction(1, 5)"), encoding="utf-8")
    assert replay(file, claims=path).broken


def test_a_replay_may_be_given_the_claim(saved, tmp_path):
    path, file = saved
    moved = path.rename(tmp_path / "moved.py")
    with pytest.raises(InvalidInput, match="which is gone"):
        replay(file)
    assert replay(file, claims=moved).broken
    (claim,) = read_claims(moved, seconds=5)
    assert replay(file, conjecture=claim).broken


def test_only_counterexamples_are_saved(tmp_path):
    found = falsify(Conjecture(name="true", ranges={"x": Range(0, 1)}, left=lambda x: x, right=1))
    with pytest.raises(InvalidInput, match="was not refuted"):
        save(found, tmp_path)


# Examples


@pytest.mark.parametrize(("name", "word"), [("fedprox_drift.py", "mu - L"), ("scaffold_round.py", "one local step")])
def test_the_examples_are_broken_and_their_repairs_survive(name, word, tmp_path):
    claim, repaired = read_claims(EXAMPLES / name, seconds=20)
    found = falsify(claim)
    assert found.refuted
    file = save(found, tmp_path, claim=EXAMPLES / name)
    assert replay(file).broken
    assert word in repaired.name
    survived = falsify(repaired, budget=600)
    assert survived.status == "not broken"
    assert survived.largest_ratio <= 1
    # A claim with room to spare would show nothing.
    assert survived.largest_ratio > 0.5
