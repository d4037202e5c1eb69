"""Instances on pages: what they give values to, in which order, and mistakes in them."""

from __future__ import annotations

import pytest
import sympy as sp

from cflag_theory.claims.pages.page import Page
from cflag_theory.claims.pages.text import PageError

HEAD = """
symbol a_inst as a nonnegative : a; n_inst as n natural : n
sequence h_inst as h real : h_{@}
index t_inst as t
let double = 2 a
fact LOW = low: 0 <= a
"""
CLAIM = "claim strange.inst | here | title\n    say 0 <= a\n"


def made(lines, shared="", under="    "):
    text = HEAD + shared + CLAIM + under + "instances" + "".join(f"\n{under}    {line}" for line in lines)
    (block,) = Page(text, "page").claims["strange.inst"]().instances
    return [({str(term): value for term, value in values.items()}, story) for values, story in block.values()]


def test_every_combination_the_last_changing_fastest():
    found = made(["each a, n = 1, 2; 1/2, 3", "each size = 0, 1", "h(n) = size a + n", "story {size}"])
    assert [(v["a_inst"], v["n_inst"], v["h_inst(n_inst)"]) for v, *_ in found] == [
        (1, 2, 2),
        (1, 2, 3),
        (sp.Rational(1, 2), 3, 3),
        (sp.Rational(1, 2), 3, sp.Rational(7, 2)),
    ]
    assert all("size" not in v for v, *_ in found)
    assert [story for _, story in found] == [("0",), ("1",), ("0",), ("1",)]


def test_lines_that_repeat_and_sums_over_what_they_gave():
    lines = ["n = 3", "h(0) = 1", "h(t + 1) = 2 h(t) + t for t < n", "a = sum(t, n + 1)(h(t))"]
    lines += [
        "most = max(t, n)(h(t))",
        "least = min(t, n)(h(t))",
        "own(t) = h(t)/2 for t < 2",
        "story {most}, {least}, {own(1)}, {h(n)}.",
    ]
    ((values, story),) = made(lines)
    assert [values[f"h_inst({t})"] for t in range(4)] == [1, 2, 5, 12]
    assert values["a_inst"] == 20
    assert story == ("5, 1, 1, 12.",)
    assert not any("own" in name for name in values)


def test_several_in_one_line_are_those_lines():
    lines = ["each a = 0, 1", "each n = 1, 2", "h(n) = a + n", "where a < n"]
    assert made([" | ".join(lines)]) == made(lines) == made(["instances ALL"], f"instances ALL | {' | '.join(lines)}\n")
    with pytest.raises(PageError, match=r"line 10, column 29: .*'b_inst'"):
        made(["each a = 0, 1 | n = b_inst"])


def test_a_mistake_in_a_line_of_two_names_is_placed():
    with pytest.raises(PageError, match=r"line 1, column 43: .*'b_inst'"):
        Page("symbol a_inst as a positive : a; c_inst = b_inst : c", "page")


def test_what_does_not_satisfy_a_condition_is_left_out():
    assert [v["a_inst"] for v, *_ in made(["each a = 0, 1, 2, 3", "where double < 5"])] == [0, 1, 2]


def test_what_is_made_of_the_arguments_stands_before_the_lines_that_use_it():
    text = (
        HEAD
        + CLAIM
        + "    instances of rounds\n        each n = 1, 2\n        a = a/n\n        unseen the reader sees it\n"
    )
    (block,) = Page(text, "page").claims["strange.inst"]().instances
    a, n = sp.Symbol("a_inst", nonnegative=True), sp.Symbol("n_inst", integer=True, nonnegative=True)

    def rounds(values, given):
        # A round's own n is overruled by the page's.
        return iter([{a: 6 * given["n"], n: 7, **values}, {a: sp.Integer(1), **values}])

    found = list(block.values({"n": None}, rounds))
    assert [(values[a], values[n]) for values, *_ in found] == [(6, 1), (1, 1), (6, 2), (sp.Rational(1, 2), 2)]
    assert block.used == {a, n}
    assert (block.family, block.unseen) == ("rounds", "the reader sees it")


def test_decimals_are_rational_numbers():
    assert made(["a = 0.1"])[0][0]["a_inst"] == sp.Rational(1, 10)


def test_a_shared_list_goes_before_the_claims_own_lines():
    shared = "instances LIST\n    each a = 1, 2\n"
    text = HEAD + shared + CLAIM + "    instances LIST\n        n = 5\n"
    (block,) = Page(text, "page").claims["strange.inst"]().instances
    assert [[value for value in values.values()] for values, *_ in block.values()] == [[1, 5], [2, 5]]
    assert block.part is None


def test_a_family_makes_a_round_of_a_shared_list():
    text = HEAD + "instances LIST\n    each a = 1, 2\n" + CLAIM + "    instances LIST of some_round\n        n = 5\n"
    (block,) = Page(text, "page").claims["strange.inst"]().instances
    assert block.family == "some_round"
    seen = []

    def rounds(values, given):
        seen.append(given)
        return iter([values])

    assert len(list(block.values(("a", "n"), rounds))) == 2
    assert seen == [{"a": 1, "n": 5}, {"a": 2, "n": 5}]


def test_instances_under_a_part_are_for_that_part():
    text = (
        HEAD
        + "claim strange.inst | here | title\n    part low\n        say 0 <= a\n        instances\n            a = 1\n"
    )
    (block,) = Page(text, "page").claims["strange.inst"]().instances
    assert block.part == "low"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["a = 1, 2"], "several values: write 'each name = ...'"),
        (["double = 1"], "'double' has a value of its own"),
        (["each a, n = 1; 2"], "each of a, n needs a value: 2 in a row"),
        (["each a = "], "needs a value: 1 in a row"),
        (["a = oops"], "nothing on the page is called 'oops'"),
        (["where a"], "is no relation"),
        (["LOW = 1", "a = LOW + later"], "nothing on the page is called 'later'"),
    ],
)
def test_mistakes_end_in_one_sentence(lines, words):
    with pytest.raises(PageError, match=r"page, line \d+, column \d+: ") as error:
        made(lines)
    assert words in str(error.value)


@pytest.mark.parametrize("line", ["instances LIST", "instances LIST of some_round", "instances double"])
def test_unknown_lists_are_refused(line):
    with pytest.raises(PageError, match=r"no instances before these are named '(LIST|double)'"):
        Page(HEAD + CLAIM + f"    {line}\n", "page").claims["strange.inst"]()
