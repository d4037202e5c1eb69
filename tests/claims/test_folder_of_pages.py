"""A folder of pages: names of its own, pages that use each other, certificates beside them, what a step lacks."""

from __future__ import annotations

import json

import pytest

from cflag_theory.claims.engine import certificates, finder
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.finding.hints import hints
from cflag_theory.claims.engine.printing import in_latex
from cflag_theory.claims.engine.transcript import asked
from cflag_theory.claims.ledger import claim
from cflag_theory.claims.pages.folder import read_folder
from cflag_theory.claims.pages.text import PageError, bare
from cflag_theory.errors import InvalidInput

LEMMA = r"""
symbol L positive
symbol mu nonnegative : \mu
vector x, y, z
function h; smooth = L; mu = mu

claim lemma.perturbed | Lemma 5 | Perturbed strong convexity
    say h(z) - h(y) + mu/4 |y - z|^2 - L |z - x|^2 <= <grad h(x), z - y>
    for mu: mu <= L
    proof
        up: smooth h, x, z
        low: convex h, x, y
        between: square y + z - 2 x
        away: square z - x
        hence from up, low, between, away, mu
"""


def folder(place, **pages):
    place.mkdir(exist_ok=True)
    for name, text in pages.items():
        (place / f"{name}.page").write_text(text, encoding="utf-8")
    return read_folder(place)


def accepted(read, id="lemma.perturbed"):
    return examine(read.claim(id).parts[0].printed).accepted


def test_a_page_is_examined(tmp_path):
    read = folder(tmp_path, lemma=LEMMA)
    assert accepted(read)
    assert list(read.claims) == ["lemma.perturbed"]
    assert list(read.pages) == ["lemma"]


def test_folders_and_the_ledger_do_not_mix(tmp_path):
    """h is L-smooth in one folder and 2 L-smooth in the other; the ledger has a symbol L and a function f too."""
    step = "\nclaim a.step | 1 | a\n    say h(y) <= h(x) + <grad h(x), y - x> + L |y - x|^2\n    proof\n"
    step += "        up: smooth h, x, y\n        far: square y - x\n        hence from up, far\n"
    one, two = (
        folder(tmp_path / name, page=LEMMA.replace("smooth = L", f"smooth = {smooth}") + step)
        for name, smooth in (("one", "L"), ("two", "3 L"))
    )
    for _ in range(2):
        assert accepted(one)
        assert accepted(one, "a.step")
        assert not accepted(two)
        assert not accepted(two, "a.step")
        assert examine(claim("cflag.lemma13").parts[0].printed).accepted
    symbols = [next(iter(read.claims.values())).parts[0].printed.relation.left.free_symbols for read in (one, two)]
    assert not symbols[0] & symbols[1]
    assert {bare(str(one)) for one in symbols[0]} == {"L", "mu"}


def test_a_page_is_read_again_after_a_change(tmp_path):
    assert accepted(folder(tmp_path, lemma=LEMMA))
    assert not accepted(folder(tmp_path, lemma=LEMMA.replace("mu/4", "mu/2")))
    assert accepted(folder(tmp_path, lemma=LEMMA))


def test_nobody_sees_the_number_of_a_folder(tmp_path):
    statement = folder(tmp_path, lemma=LEMMA).claim("lemma.perturbed").parts[0].printed
    assert "__" not in statement.words
    assert statement.words.endswith("for mu <= L.")
    assert bare(str(statement.relation.right)) == "-<grad h(x), y> + <grad h(x), z>"
    with pytest.raises(PageError, match=r"lemma.page, line 2, column 1: the symbol L is declared nothing"):
        folder(tmp_path, lemma=LEMMA.replace("symbol L positive", "symbol L"))


def test_pages_use_each_other(tmp_path):
    words, lemma = LEMMA.split("\nclaim")
    read = folder(tmp_path, words=words, zz=f"use words\n\nclaim{lemma}", aa="use zz\nfact M = mu 0: mu = 0\n")
    assert list(read.pages) == ["words", "zz", "aa"]
    assert accepted(read)
    alone = read_folder(tmp_path / "zz.page")
    assert list(alone.pages) == ["words", "zz"]
    assert accepted(alone)


@pytest.mark.parametrize(
    ("pages", "said"),
    [
        ({"a": "use b\n", "b": "use a\n"}, "a.page, line 1|b.page, line 1, column 1: the folder has no page 'a'"),
        ({"a": "use nothing\n"}, "the folder has no page 'nothing'"),
        ({"a": "use b x\n", "b": "vector y\n"}, "b has no 'x'"),
        ({"a": "vector y\nuse b\n", "b": "vector y\n"}, "'y' of b has a meaning since line 1: rename one"),
        ({"a": "use b\nvector y\n", "b": "\nvector y\n"}, "'y' has a meaning since line 2 of b.page: use another"),
        ({"a": "use b\nfact m: 0 <= 2\n", "b": "fact M = m: 0 <= 1\n"}, "two facts of the page are named 'm'"),
        ({"a": "use b\nfact N = m: 0 <= 2\n", "b": "fact M = m: 0 <= 1\n"}, "a fact named 'm' is known here already"),
        ({"a": LEMMA, "b": LEMMA}, "the claim lemma.perturbed stands on another page too"),
        ({}, "is no page and has none"),
    ],
)
def test_pages_that_do_not_fit_together(tmp_path, pages, said):
    with pytest.raises(InvalidInput, match=said):
        folder(tmp_path, **pages)


def test_an_unknown_claim_names_the_others(tmp_path):
    with pytest.raises(InvalidInput, match=r"has no claim 'lemma.4': it has lemma.perturbed"):
        folder(tmp_path, lemma=LEMMA).claim("lemma.4")


def test_what_is_printed_without_latex(tmp_path):
    text = "symbol alpha positive\nindex i\nmean over_all over i\nvector v : v_{@}\n"
    text += "sequence d(i, k) real\nsymbol k natural\n"
    text += "claim a.b | 1 | a\n    say over_all(|v(i)|^2) <= alpha + d(2, k)\n"
    relation = folder(tmp_path, a=text).claim("a.b").parts[0].printed.relation
    assert in_latex(relation) == r"\mathrm{mean}_{i}{\|v_{i}\|^2} \le {d}_{2,k} + \alpha"


def test_certificates_are_kept_beside_the_pages(tmp_path, monkeypatch):
    """With one nothing is searched; a wrong one changes nothing but the time."""
    read = folder(tmp_path, lemma=LEMMA)
    one = asked(read.claim("lemma.perturbed").parts[0].printed)[0]
    given = tuple(one.given.items())
    found = finder.find(one.goal, one.given)
    entry = certificates.entry(one.goal, given, found)
    assert "__" not in json.dumps(entry)
    read.store.write_text(json.dumps({certificates.key(one.goal, given): entry}), encoding="utf-8")
    again = read_folder(tmp_path)
    monkeypatch.setattr(finder, "find", lambda *_, **__: pytest.fail("searched"))
    assert accepted(again)


@pytest.mark.parametrize(
    ("left_out", "said"),
    [
        (
            "        between: square y + z - 2 x\n",
            "'the statement follows': nothing was found. It would follow with 0 <= |2 x - y - z|^2: "
            "add `square 2 x - y - z`",
        ),
        ("        away: square z - x\n", "add `square x - z`"),
        ("        up: smooth h, x, z\n", "it does not follow: z3 has numbers"),
    ],
)
def test_what_a_step_lacks(tmp_path, left_out, said):
    name = left_out.strip().partition(":")[0]
    text = LEMMA.replace(left_out, "").replace(f"{name}, ", "")
    (told,) = hints(folder(tmp_path, lemma=text).claim("lemma.perturbed").parts[0].printed)
    assert said in bare(told)


def test_nothing_is_lacking(tmp_path):
    assert hints(folder(tmp_path, lemma=LEMMA).claim("lemma.perturbed").parts[0].printed) == []


def test_a_square_in_a_mean_is_named_with_the_mean(tmp_path):
    text = "index i\nmean clients over i\nvector a, b\nvector v : v_{@}\nclaim m.m | 1 | m\n"
    text += "    say 2 clients(<v(i), a>) <= clients(|v(i)|^2) + |a|^2\n"
    text += "    proof\n        hence\n"
    (told,) = hints(folder(tmp_path, m=text).claim("m.m").parts[0].printed)
    assert bare(told).endswith("It would follow with 0 <= clients(|a - v(i)|^2): add `square a - v(i), clients`")
