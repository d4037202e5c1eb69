"""Attacks from a folder of pages: names of the ledger, or of another folder, with another meaning."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest
from attacks import Attack, answer, table

from cflag_theory.claims.engine.claim import SETTING
from cflag_theory.claims.ledger import claim
from cflag_theory.claims.pages.folder import read_folder
from cflag_theory.errors import InvalidInput

PROBLEM = """
symbol L, M nonnegative
vector x, y
function f; smooth = M; mu = 0 : f
"""
FAMILY = """
symbol L positive
index i
symbol k natural
mean clients over i
vector best, other
vector x : x_{@}
function client; smooth = L; mu = L : f_{@}
"""


def page(body, *, problem=PROBLEM, beside=""):
    """The first statement of a page; `beside` is another folder, read before it."""

    def build():
        with tempfile.TemporaryDirectory() as place:
            if beside:
                first = Path(place, "first.page")
                first.write_text(problem + beside + proof("0 <= 1", "hence"), encoding="utf-8")
                read_folder(first)
            written = Path(place, "page.page")
            written.write_text(problem + body, encoding="utf-8")
            folder = read_folder(written)
        return next(iter(folder.claims.values())).parts[-1].printed

    return build


def proof(say, *lines, more=""):
    inside = "".join(f"        {line}\n" for line in lines)
    return f"{more}claim red.team | here | attack\n    say {say}\n    proof\n{inside}"


@table(
    Attack(
        "the smoothness that the ledger's f has",
        page(proof("f(y) <= f(x) + <grad f(x), y - x> + L/2 |y - x|^2", "up: smooth f, x, y", "hence from up")),
        "no certificate was found",
    ),
    Attack(
        "a symbol that is positive in the ledger",
        page(proof("0 < L", "hence")),
        "no certificate was found",
    ),
    Attack(
        "a symbol that is positive in another folder",
        page(proof("0 < eta", "hence", more="symbol eta real\n"), beside="symbol eta positive\n"),
        "no certificate was found",
    ),
    Attack(
        "a symbol that means something in another folder",
        page(proof("a = 1", "hence", more="symbol a real\n"), beside="symbol a = 1 : a\n"),
        "no certificate was found",
    ),
    Attack(
        "a setting of the ledger",
        page(proof("f(x) <= f(y)", "hence from bias of a rate")),
        "nothing before this line is called 'bias of a rate'",
    ),
    Attack(
        "a setting of another folder",
        page(proof("x = y", "hence from same"), beside="setting same: x = y\n"),
        "nothing before this line is called 'same'",
    ),
    Attack(
        "a page of the ledger",
        page(proof("0 <= 1", "hence", more="use c_flag.union.lemma3\n")),
        "the folder has no page 'c_flag.union.lemma3'",
    ),
    Attack(
        "another's number in a name", page(proof("0 <= 1", "hence", more='symbol "L __1" as a real\n')), "take another"
    ),
    Attack(
        "a name that is printed as a function", page(proof("0 <= 1", "hence", more="symbol exp as e real\n")), "exp"
    ),
    Attack(
        "one name on two lines",
        page(proof("0 <= 1", "hence", more="symbol f as g positive\nlet g = 1\n")),
        "has a meaning since line",
    ),
    Attack(
        "a point in each round at which a mean is least",
        page(
            proof("f <= 0", "hence", more="let f = 0\nsetting least: clients(grad client[i](x(k))) = 0\n").replace(
                "hence", "at once: along best from least\n        hence from at once"
            ),
            problem=FAMILY,
        ),
        "restricts what is said elsewhere",
    ),
    Attack(
        "two points at which a mean is least",
        page(
            proof(
                "L |best - other|^2 <= 0",
                "one: along other - best from first",
                "two: along best - other from second",
                "up: convex client[i], best, other",
                "down: convex client[i], other, best",
                "ups: mean clients from up",
                "downs: mean clients from down",
                "hence from one, two, ups, downs",
                more="setting first: clients(grad client[i](best)) = 0\n"
                "setting second: clients(grad client[i](other)) = 0\n",
            ),
            problem=FAMILY,
        ),
        "restricts what is said elsewhere",
    ),
    Attack(
        "a mean that is least where one member is",
        page(
            proof(
                "L |best - other|^2 <= 0",
                "one: along best - other from first",
                "two: along best - other from second",
                "hence from one, two",
                more="setting first: clients(grad client[i](best)) = 0\nsetting second: grad client[0](other) = 0\n",
            ),
            problem=FAMILY,
        ),
        "restricts what is said elsewhere",
    ),
)
def test_a_name_means_what_its_own_folder_says(attack):
    assert attack.sentence in answer(attack)


def test_no_page_has_a_claim_or_a_setting_of_the_ledger(tmp_path):
    before, settings = claim("cflag.lemma13"), dict(SETTING)
    text = PROBLEM + proof("2 <= 1", "hence") + "setting x_k: x = y\n"
    (tmp_path / "page.page").write_text(text, encoding="utf-8")
    read_folder(tmp_path)
    assert {name: SETTING[name] for name in settings} == settings
    (tmp_path / "page.page").write_text(text.replace("red.team", "cflag.lemma13"), encoding="utf-8")
    with pytest.raises(InvalidInput, match="begin with another word"):
        read_folder(tmp_path)
    assert claim("cflag.lemma13") is before


def test_kept_certificates_are_not_believed(tmp_path):
    """A store in which every entry proves anything: 1 is not negative."""
    from cflag_theory.claims.engine import certificates
    from cflag_theory.claims.engine.transcript import asked

    build = page(proof("f(y) <= f(x) + <grad f(x), y - x> + L/2 |y - x|^2", "up: smooth f, x, y", "hence from up"))
    wrong = build()
    keys = [certificates.key(one.goal, tuple(one.given.items())) for one in asked(wrong)]
    (tmp_path / "certificates.json").write_text(json.dumps({key: {"goal": "", "sum": ["1"]} for key in keys}))
    (tmp_path / "page.page").write_text(PROBLEM + proof("0 <= 1", "hence"), encoding="utf-8")
    read_folder(tmp_path)
    assert certificates.look_up(*[(one.goal, tuple(one.given.items())) for one in asked(wrong)][-1]) is not None
    assert "no certificate was found" in answer(Attack("", build, ""))
