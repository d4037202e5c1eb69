"""`cflag decide`, also with `--only prove` and `--repair`: what is printed and saved, and exit codes."""

from __future__ import annotations

import json

import pytest

CLAIMS = """\
from fractions import Fraction
from cflag_theory.verify import Conjecture, Range

UNIT = {"x": Range(0, 1), "y": Range(0, 1), "c": Range(0, 1)}
SIDE = {"left": lambda x, y: x * y}
both = [
    Conjecture(name="means", ranges=UNIT, right=lambda x, y: (x**2 + y**2) / 2, **SIDE),
    Conjecture(name="too small", ranges=UNIT, right=lambda x, y: (x**2 + y**2) * Fraction(2, 5), **SIDE),
]
"""
FREE = (
    CLAIMS
    + """
least = Conjecture(name="least", ranges=UNIT, right=lambda x, y, c: c * (x**2 + y**2), free="c", **SIDE)
"""
)


@pytest.fixture
def claims(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "claims.py"
    path.write_text(CLAIMS, encoding="utf-8")
    return path


def test_a_list_is_decided_and_the_counterexample_replayed(cflag, claims):
    code, out, err = cflag("decide", claims, "--budget", 300)
    assert (code, err) == (1, "")
    assert "means: proved" in out
    assert "too small: refuted" in out
    (command,) = (line for line in out.splitlines() if "replay: " in line)
    code, out, _ = cflag(*command.split("replay: cflag ")[1].split())
    assert (code, "the counterexample stands" in out) == (1, True)


def test_json_has_what_falsify_has_and_what_decides(cflag, claims):
    claims.write_text(FREE, encoding="utf-8")
    code, out, _ = cflag("decide", claims, "--budget", 300, "--format", "json")
    found = json.loads(out)
    assert code == 1
    assert [one["outcome"] for one in found] == ["proved", "refuted", "proved"]
    assert found[1]["counterexample"]["values"] == {"x": "1", "y": "1", "c": "0"}
    assert found[2]["constant"]["provable"] == "1/2"
    _, out, _ = cflag("decide", "--only", "refute", claims, "--budget", 300, "--format", "json")
    assert set(json.loads(out)[0]) < set(found[0])


def test_the_table_names_both_values_of_a_constant(cflag, claims):
    claims.write_text(FREE.replace("both = ", "both = lambda: "), encoding="utf-8")
    code, out, _ = cflag("decide", claims, "--budget", 300)
    assert code == 0
    assert "c: smallest value that was proved 1/2, by z3" in out
    assert "c: largest value that was refuted 311/623, at" in out


def test_prove_fails_where_one_claim_is_not_proved(cflag, claims):
    assert cflag("decide", "--only", "prove", claims, "--budget", 300)[0] == 1
    claims.write_text(CLAIMS.replace("(2, 5)", "(1, 2)"), encoding="utf-8")
    assert cflag("decide", "--only", "prove", claims, "--budget", 300)[0] == 0


@pytest.mark.parametrize("command", [("decide",), ("decide", "--only", "prove"), ("decide", "--repair")])
def test_bad_input_is_one_sentence(cflag, claims, command):
    code, out, err = cflag(*command, "nowhere.py")
    assert (code, out) == (2, "")
    assert err == "cflag: there is no file 'nowhere.py': give a Python file that holds a Conjecture\n"
    assert cflag(*command, claims, "--seconds", 0)[2] == "cflag: --seconds is 0.0: use a positive number\n"


def test_an_interrupt_keeps_what_was_decided(cflag, claims, monkeypatch):
    from cflag_theory.falsify.search.directed import Search

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Search, "run", interrupted)
    code, out, err = cflag("decide", claims)
    assert code == 130
    assert "means: neither" in out
    assert err.endswith("interrupted; this is what was found so far\n")


def test_repair_proposes_what_is_proved(cflag, claims):
    code, out, _ = cflag("decide", "--repair", claims, "--budget", 200)
    assert code == 1
    assert "repair 1, proved: right: 5/4 in place of 1" in out
    assert out.count("repair 1") == 1


def test_a_counterexample_prints_its_own_lines_only(cflag, tmp_path):
    """The vectors and functions, not the coordinates and the budget of the search."""
    (tmp_path / "lemma.py").write_text(
        "import sympy as sp\n"
        "from cflag_theory.falsify import Conjecture, function, norm2, vectors\n"
        "L, alpha = sp.symbols('L alpha', positive=True)\n"
        "(x,) = vectors('x')\n"
        "f = function('f', smooth=L)\n"
        "right = f(x) - alpha / 2 * norm2(f.grad(x))\n"
        "descent = Conjecture(name='descent', left=f(x - alpha * f.grad(x)), right=right, given=(alpha * L <= 3,))\n",
        encoding="utf-8",
    )
    for only in ((), ("--only", "refute")):
        code, out, _ = cflag("decide", tmp_path / "lemma.py", *only)
        assert code == 1
        assert "    L = 1, alpha = 3\n    x = 0\n    f(w) = " in out
        assert "alpha_share" not in out
        assert "budget" not in out
        assert len(out.splitlines()) <= 9


def test_the_old_names_are_gone(cflag):
    for name in ("prove", "falsify", "repair"):
        assert cflag(name, "claims.py")[0] == 2
