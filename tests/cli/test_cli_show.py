"""`cflag show`: one claim, whole."""

import io
import json
from dataclasses import replace

from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.cli import shell


def test_show(cflag):
    code, out, err = cflag("show", "cflag.lemma1", "--details")
    assert (code, err) == (0, "")
    flat = " ".join(out.split())
    for words in (
        "verdict: needs-hypothesis (1 typo, 2 needs-hypothesis): false as printed",
        "Part 1: typo",
        "statement that is checked",
        "repair (typo)",
        "sharper",
        "why it fails (counterexample)",
        "An exact instance has 1 on the left and -1/3 on the right.",
        "S_1: S without its first local step",
        "trusted rules: smoothness",
        "Coq: not used",
        "notes",
    ):
        assert words in flat
    assert "bias_dot" not in flat
    assert "late_" not in flat
    _, brief, _ = cflag("show", "cflag.lemma1", "--recheck")
    assert set(brief.splitlines()) <= {*out.splitlines(), "Proofs, who checked what, symbols and notes: --details."}
    assert brief.splitlines()[-1] == "Proofs, who checked what, symbols and notes: --details."


def test_show_of_an_assumption_and_of_a_theorem_of_ours(cflag, monkeypatch):
    _, out, _ = cflag("show", "ours.drawn_once", "--details")
    assert "verdict: holds: proved; a statement of ours, not of a paper" in " ".join(out.split())
    assert "printed" not in out.split("\nchecks\n")[0]
    subject = claim("cflag.eq65")
    asked = replace(subject, parts=tuple(replace(part, kind="question", reading="as asked") for part in subject.parts))
    monkeypatch.setitem(LEDGER, "cflag.eq65", lambda: asked)
    claim.cache_clear()
    _, out, _ = cflag("show", "cflag.eq65")
    claim.cache_clear()
    flat = " ".join(out.split())
    assert "question: always so" in flat
    assert "read as: as asked" in flat
    assert "verdict" not in flat


def test_show_as_json(cflag, verdicts):
    _, out, _ = cflag("show", "cflag.eq177", "--format", "json")
    assert json.loads(out) == verdicts["cflag.eq177"].to_json()


def test_show_replays_the_counterexample(cflag, verdicts):
    code, out, err = cflag("show", "cflag.eq177", "--replay")
    assert (code, err) == (0, "")
    found = verdicts["cflag.eq177"].counterexample
    flat = " ".join(out.split())
    assert found.summary in flat
    for name, value in found.data["values"].items():
        assert f"{name} = {value}" in flat


def test_show_replay_of_what_holds(cflag):
    code, out, _ = cflag("show", "cflag.eq65", "--replay")
    assert code == 0
    assert "cflag.eq65 has the verdict holds: there is no counterexample to replay" in " ".join(out.split())


def test_a_terminal_without_the_letter_of_an_expectation_shows_e():
    shell.spell(stream := io.TextIOWrapper(io.BytesIO(), "ascii"))
    stream.write("\N{MATHEMATICAL DOUBLE-STRUCK CAPITAL E} \N{INFINITY}")
    stream.flush()
    assert stream.buffer.getvalue() == b"E ?"
