"""Finding one's way: `cflag list`, the summary of `cflag verify`, names that are misspelt, completion."""

import json

import pytest

from cflag_theory.claims.ledger import LEDGER
from cflag_theory.cli.shell import complete_claims
from cflag_theory.cli.tables import claims as tables


def test_list(cflag):
    code, out, err = cflag("list", "client", "DRIFT")
    assert (code, err) == (0, "")
    assert "cflag.lemma13" in out
    assert "cflag.eq3 " not in out
    _, out, _ = cflag("list", "--format", "json")
    assert [one["id"] for one in json.loads(out)] == list(LEDGER)
    code, out, err = cflag("list", "nosuchword")
    assert (code, out) == (2, "")
    assert "use fewer words" in err


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("show", "cflag.lema13"), "did you mean cflag.lemma13"),
        (("show", "lemma13"), "did you mean cflag.lemma13?"),
        (("verify", "lema13"), "did you mean cflag.lemma13"),
        (("verfy",), "Did you mean 'verify'"),
        (("verify", "--levl", "full"), "--level"),
        (("stepsize", "--L", 1), "needs --m, --E, --T"),
    ],
)
def test_the_nearest_name_and_all_that_is_missing(cflag, arguments, meant):
    code, out, err = cflag(*arguments)
    assert (code, out) == (2, "")
    assert meant in " ".join(err.split())


def test_a_summary_is_a_screen(verdicts, monkeypatch, capsys):
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "dumb"), ("COLUMNS", "60")):
        monkeypatch.setenv(name, value)
    tables.summary(list(verdicts.values()))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 24
    counted = sum(int(line[18:24]) for line in lines[1:] if line[:18].strip() in tables.COLOURS)
    assert counted == sum(verdict.is_claim for verdict in verdicts.values())
    assert not any(id in line for line in lines for id in verdicts)


def test_completion_of_claims():
    assert complete_claims("cflag.lemma1")[0] == "cflag.lemma1"
    assert all(id.startswith("ours.") for id in complete_claims("ours."))
    assert complete_claims("nosuch") == []


def test_help_lists_every_name_of_an_option_that_takes_one(cflag):
    from cflag_theory.bridge.settings.rules import ALL_NAMES
    from cflag_theory.kernels.algorithms import ALGORITHMS
    from cflag_theory.kernels.problems.by_name import PROBLEMS

    for command, names in (("bridge", ALL_NAMES), ("simulate", (*ALGORITHMS, *PROBLEMS)), ("rate", ALGORITHMS)):
        code, out, _ = cflag(command, "--help")
        assert code == 0
        words = set(out.replace(",", " ").replace(";", " ").split())
        assert set(names) <= words


def test_data_options_are_one_group_in_help(cflag):
    pages = {name: cflag(name, "--help")[1] for name in ("rate", "simulate", "forgetting", "tasks")}
    of_data = [page.split("Real data:\n")[1] for page in pages.values()]
    for option in ("--data ", "--describe ", "--label-column ", "--features ", "--missing ", "--scale ", "--read "):
        assert all(option in group for group in of_data), option
    for name in ("rate", "simulate"):
        group = pages[name].split("Problem, algorithm and memory:\n")[1]
        assert all(option in group for option in ("--memory ", "--problem ", "--algorithm ", "--E ", "--dial "))
