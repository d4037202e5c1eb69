"""`cflag decide --only refute` and `--replay`: what is found is printed, saved and replayed; exit codes say which."""

from __future__ import annotations

import json

import pytest

from cflag_theory.falsify import falsifying as work

CLAIMS = """\
from fractions import Fraction
from cflag_theory.verify import Conjecture, Range

print("hello from the file")
UNIT = {"x": Range(0, 1), "y": Range(0, 1)}
SIDE = {"ranges": UNIT, "left": lambda x, y: x * y}
false = Conjecture(name="too small", right=lambda x, y: (x**2 + y**2) * Fraction(2, 5), **SIDE)
true = Conjecture(name="means", right=lambda x, y: (x**2 + y**2) / 2, **SIDE)
"""


@pytest.fixture
def claims(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "claims.py"
    path.write_text(CLAIMS, encoding="utf-8")
    return path


def test_a_refuted_claim_is_saved_and_replayed(cflag, claims, tmp_path):
    code, out, err = cflag("decide", "--only", "refute", claims)
    assert (code, err) == (1, "")
    assert "too small: refuted" in out
    assert "left = 1, right = 4/5" in out
    assert "means: proved" in out
    assert "by z3" in out
    (command,) = (line for line in out.splitlines() if "replay: " in line)
    words = command.split("replay: cflag ")[1].split()
    assert words == ["decide", "--replay", "claims-counterexamples/too_small.json"]
    code, out, _ = cflag(*words)
    assert code == 1
    assert "the counterexample stands" in out
    claims.write_text(CLAIMS.replace("Fraction(2, 5)", "Fraction(1, 2)"), encoding="utf-8")
    code, out, err = cflag(*words)
    assert (code, out) == (2, "")
    assert "give it as FILE to run it as it is now" in err
    code, out, _ = cflag(*words, claims)
    assert code == 0
    assert "not a counterexample" in out
    assert "has changed" in out


def test_json_is_all_of_standard_output(cflag, claims, tmp_path):
    code, out, _ = cflag(
        "decide", "--only", "refute", claims, "--format", "json", "--out", tmp_path / "there", "--seed", 2
    )
    found = json.loads(out)
    assert (code, [one["status"] for one in found]) == (1, ["refuted", "proved"])
    assert found[0]["counterexample"] == {"values": {"x": "1", "y": "1"}, "left": "1", "right": "4/5"}
    assert found[0]["replay"] == "cflag decide --replay there/too_small.json"
    assert found[1]["counterexample"] is None
    assert found[1]["replay"] is None
    code, out, _ = cflag("decide", "--replay", tmp_path / "there" / "too_small.json", "--format", "json")
    assert code == 1
    assert json.loads(out)["broken"] is True


def test_nothing_refuted_is_code_0_and_leaves_nothing(cflag, claims, tmp_path):
    claims.write_text(CLAIMS.replace("Fraction(2, 5)", "Fraction(3, 5)"), encoding="utf-8")
    code, out, _ = cflag("decide", "--only", "refute", claims)
    assert code == 0
    assert out.count(": proved") == 2
    assert [path.name for path in tmp_path.iterdir()] == ["claims.py"]


def test_what_was_not_established_is_printed(cflag, claims):
    claims.write_text(CLAIMS.replace("(x**2 + y**2) / 2", "max(x, y)"), encoding="utf-8")
    code, out, _ = cflag("decide", "--only", "refute", claims, "--budget", 200)
    assert code == 1
    assert "means: not broken" in out
    assert "no counterexample was found, which proves nothing; 200 of 200 cases" in out
    assert "largest left/right: 1, at" in out
    assert "not covered: algebra: right is not a formula" in out
    assert "infinitely many values of x, y" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gone.py",), "there is no file 'gone.py'"),
        (("nosuch.id",), "there is no file 'nosuch.id'"),
        (("claims.py", "--seconds", "0"), "--seconds is 0.0: use a positive number"),
        (("--replay", "gone.json"), "there is no file 'gone.json'"),
        ((), "give a FILE"),
        (("claims.py", "--only", "prove", "--repair"), "--repair needs what --only prove leaves out"),
        (("claims.py", "--only", "refute", "--prover", "coq"), "--prover needs what --only refute leaves out"),
        (("claims.py", "--only", "both"), "'both' is not one of 'prove', 'refute'"),
        (("claims.py", "--out", "claims.py/under"), "cannot write to the folder"),
    ],
)
def test_bad_input_is_one_sentence(cflag, claims, arguments, message):
    code, out, err = cflag("decide", *arguments)
    assert code == 2
    assert message in err
    assert "Traceback" not in err
    assert out == ""


def test_an_interrupt_prints_what_was_found(cflag, claims, monkeypatch):
    real = work.Search.score

    def interrupted(self, *arguments):
        if self.evaluator.cases == 20:
            raise KeyboardInterrupt
        return real(self, *arguments)

    monkeypatch.setattr(work.Search, "score", interrupted)
    claims.write_text(CLAIMS.replace("* Fraction(2, 5)", "* max(x, y, 1)"), encoding="utf-8")
    code, out, err = cflag("decide", "--only", "refute", claims)
    assert code == 130
    assert "too small: not broken" in out
    assert "not covered: it was interrupted" in out
    assert "means" not in out
    assert "what was found so far" in err


def test_an_id_of_the_ledger_stands_for_its_printed_statement(cflag, claims, tmp_path):
    code, out, _ = cflag("decide", "--only", "refute", "cfl.ratio_bound", "--budget", 300, "--format", "json")
    (found,) = json.loads(out)
    assert found["name"].startswith("cfl.ratio_bound")
    assert code == (found["status"] == "refuted")
    if code:
        code, out, _ = cflag(*found["replay"].split()[1:])
        assert code == 1


def test_an_id_that_the_ledger_does_not_have_is_no_missing_file(cflag):
    code, out, err = cflag("decide", "--only", "refute", "cflag.lemma99")
    assert (code, out) == (2, "")
    assert "cflag.lemma99" in err
    assert "file" not in err
