"""Attacks through the reader of pages: a statement that says something else than what a reader sees."""

from __future__ import annotations

import pytest
from attacks import Attack, answer, table

from cflag_theory.claims.pages.page import Page
from cflag_theory.claims.pages.text import PageError, tex
from cflag_theory.verify.folders import verify_folder

NAMES = "symbol a, b > 0\n"
CLAIM = "claim my.claim | here | A claim\n"


def reads(*lines, before=""):
    """What the reader says of a claim with these lines."""

    def words():
        text = NAMES + before + CLAIM + "".join(f"  {line}\n" for line in lines)
        try:
            Page(text).claims["my.claim"]()
        except PageError as error:
            return str(error)
        return "nothing"

    return words


SAYS = "say a <= a"


@table(
    Attack("a line under an abbreviation", reads(SAYS, before="let e = a\n  b\n"), "nothing stands under 'let'"),
    Attack("a line under what is said", reads("say a/2 <= a", "  b"), "nothing stands under 'say'"),
    Attack("a line under a hypothesis", reads(SAYS, "for h: a <= 1", "  b"), "nothing stands under 'for'"),
    Attack("a line under a constant", reads("with c = 4", "  d = 5", SAYS), "nothing stands under 'with'"),
    Attack("a bar behind a constant", reads("with c = 4 | b = 5", SAYS), "'|' is missing"),
    Attack("a bar behind a title", reads(SAYS, before="claim my.c | x | y | with c = 2 | a |\n"), "'a' stands under"),
    Attack("two statements", reads("say b <= 1", "say a <= 1", "for h: a <= 1"), "a second 'say'"),
    Attack(
        "a statement beside another's name",
        reads("say a b <= a", "is ST()", before="statement ST()\n  say a <= a + b\n"),
        "'say' stands beside 'is'",
    ),
    Attack("two parts of one name", reads("part 1 | say a <= b", "part 1 | say a <= a"), "two parts are called '1'"),
    Attack(
        "two repairs",
        reads(SAYS, "repair typo -- x", "  say a <= b/2", "repair typo -- y", "  say a <= a"),
        "a second 'repair'",
    ),
    Attack("two symbols drawn alike", reads(SAYS, before="symbol c, d real : c\n"), "would both be printed as c"),
    Attack("letters that look alike", reads(SAYS, before="let a\N{CYRILLIC SMALL LETTER A} = 0\n"), "is no name"),
    Attack("a difference that is words", reads(SAYS, before="let e = a -- b\n"), "words behind ' -- ' are not kept"),
    Attack("a root of one digit", reads(SAYS, before="symbol c real : √10\n"), "a root needs its braces"),
    Attack("a relation for a sequence", reads(SAYS, before="sequence s, d(k) = a >= 0 : d_{@}\n"), "page, line 2"),
)
def test_a_page_that_reads_otherwise_is_refused(attack):
    assert attack.sentence in answer(attack)


def test_bars_with_blanks_are_an_absolute_value():
    page = Page(f"{NAMES}symbol u real\nlet d = 2 | u - b |\n{CLAIM}  say d = 2\n")
    assert str(page.claims["my.claim"]().parts[0].printed.relation.left) == "2*Abs(b - u)"


def test_signs_are_read_with_their_braces():
    assert tex("√{x}, √[3]{x}") == r"\sqrt{x}, \sqrt[3]{x}"


SOURCE = f"""{NAMES}source BAD = my.bad, 1
claim my.bad | here | A false claim
  say a <= b
  proof
claim my.uses | here | A claim that takes it
  say 2 a <= 2 b
  KIND imp: a <= b by BAD
  proof from imp
claim my.further | here | A claim that takes that one
  say 4 a <= 4 b
  for both: 2 a <= 2 b by USES
  proof from both
"""


@pytest.mark.parametrize("kind", ["for", "where"])
def test_what_rests_on_a_claim_that_is_not_proved_is_not_proved(tmp_path, kind):
    page = tmp_path / "claims.page"
    uses = f"source USES = my.uses, 1 | besides imp\n{'claim my.further'}"
    page.write_text(SOURCE.replace("KIND", kind).replace("claim my.further", uses), encoding="utf-8")
    bad, *others = verify_folder(page, jobs=1)
    assert str(bad.parts[0].verdict) == "false"
    assert [verdict.parts[0].verdict for verdict in others] != ["holds", "holds"]
    for verdict in others:
        assert not any(item.kind == "proof" and item.finding == "supports" for item in verdict.evidence)


def test_a_refutation_that_rests_on_a_claim_that_is_not_proved_refutes_nothing(tmp_path):
    page = tmp_path / "claims.page"
    page.write_text(
        f"{NAMES}source BAD = my.bad, 1\n"
        "claim my.bad | here | A false claim\n  say a <= b\n  proof\n"
        "claim my.uses | here | A true claim\n  say a <= a + b\n"
        "  refuted -- By what is false.\n    say a <= b\n    for imp: a <= b by BAD\n    proof from imp\n"
        "  unseen the reader sees it\n",
        encoding="utf-8",
    )
    _, verdict = verify_folder(page, jobs=1)
    (item,) = (item for item in verdict.evidence if item.data.get("refutation"))
    assert item.finding == "undecided"
    assert "is not proved" in item.summary
    assert str(verdict.parts[0].verdict) != "false"


def test_an_absolute_value_in_a_hypothesis_is_read_by_all_engines(tmp_path):
    page = tmp_path / "claims.page"
    page.write_text(f"symbol u real\n{CLAIM}  say u <= 1\n  for h: |u| <= 1\n", encoding="utf-8")
    (verdict,) = verify_folder(page, jobs=1)
    assert verdict.parts[0].verdict in ("holds", "open")


def test_an_instance_without_a_value_is_one_sentence(tmp_path):
    page = tmp_path / "claims.page"
    page.write_text(f"symbol u real\n{CLAIM}  say 0 <= 1/(u - 1)^2\n  instances | u = 1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"my\.claim: a side of .* has no value there"):
        verify_folder(page, jobs=1)
