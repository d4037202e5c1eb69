"""Pages: what they make, and every mistake ends in one sentence with page, line and column."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import sympy as sp

from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.pages.page import Page
from cflag_theory.claims.pages.text import PageError, tex

_DOCUMENT = Path(__file__).parents[2] / "docs" / "pages.md"
#: The example of the documents.
GOOD = _DOCUMENT.read_text(encoding="utf-8").partition("```text\n")[2].partition("```")[0]

P, Q = sp.Symbol("p_power", positive=True), sp.Symbol("q_power", positive=True)


def test_a_page_makes_a_claim_that_is_examined_like_any_other():
    build = Page(GOOD, "lemma.page").claims["stranger.descent"]
    made = build()
    assert (made.where, made.title, made.notes) == ("Lemma 1", "One step descends", ("Nesterov.",))
    assert examine(made.parts[0].printed).accepted
    assert not examine(build("501/1000").parts[0].printed).accepted
    assert examine(build(half="499/1000").parts[0].printed).accepted


def test_a_proof_may_say_in_its_first_line_what_its_last_follows_from():
    short = GOOD.replace("    proof\n", "    proof from smooth, step\n").replace(
        "        hence from smooth, step\n", ""
    )
    made, other = (Page(text, "lemma.page").claims["stranger.descent"]() for text in (GOOD, short))
    assert short != GOOD
    assert made.parts[0].printed.proof == other.parts[0].printed.proof
    with pytest.raises(PageError, match="line 17, column 24: nothing before this line is called 'stp'"):
        Page(short.replace("smooth, step", "smooth, stp"), "lemma.page").claims["stranger.descent"]()


def test_what_stands_under_a_line_may_stand_behind_it():
    under = "    with half = 1/2\n    say"
    parts = "    with half = 1/2\n    part 1\n        reading one\n        kind question\n        say"
    behind = "    part 1 | reading one | kind question\n        say"
    long, short = (
        GOOD.replace(under, parts),
        GOOD.replace("One step descends\n", "One step descends | with half = 1/2\n"),
    )
    short = short.replace(under, behind)
    for lines in ("    for STEP", "    proof", "        smooth:", "        hence"):
        long, short = (text.replace(f"\n{lines}", f"\n    {lines}") for text in (long, short))
    made, other = (Page(text, "lemma.page").claims["stranger.descent"]() for text in (long, short))
    assert made == other
    assert (other.parts[0].reading, other.parts[0].kind) == ("one", "question")
    with pytest.raises(PageError, match="line 14, column 14: 'red' stands under a part"):
        Page(short.replace("reading one", "red one"), "lemma.page")


def test_several_declarations_stand_on_one_line():
    apart = "symbol L_page as L positive : L\nsymbol a_page as a positive : a\n"
    assert apart in GOOD
    other = GOOD.replace(apart, "symbol L_page as L > 0 : L; a_page as a > 0 : a\n")
    pages = [Page(text, "lemma.page").claims["stranger.descent"]() for text in (GOOD, other)]
    assert pages[0] == pages[1]
    with pytest.raises(PageError, match="line 3, column 41: '> 1' is no sort"):
        Page(other.replace("a > 0 : a", "a > 1 : a"), "lemma.page")


@pytest.mark.parametrize(
    ("written", "meant"),
    [("p^-2", 1 / P**2), ("2 p^-1 q", 2 * Q / P), ("-p^2", -(P**2)), ("(-p)^3", -(P**3)), ("q/p^2 q", Q**2 / P**2)],
)
def test_powers_and_their_signs(written, meant):
    page = "symbol p_power as p > 0 : p; q_power as q > 0 : q\nclaim stranger.power | 1 | Powers\n    say 0 <= "
    assert Page(page + written, "lemma.page").claims["stranger.power"]().parts[0].printed.relation.right == meant


def test_signs_are_read_as_commands():
    text = "𝔼‖∇f(𝛚)‖^2 ≤ ηL √{ωτ} ⟨δ_i,ξ⟩"
    latex = r"\mathbb{E}\|\nabla f(\boldsymbol{\omega})\|^2 \leq \eta L \sqrt{\omega\tau} \langle\delta_i,\xi\rangle"
    assert tex(text) == latex
    assert tex(latex) == latex


def test_a_proof_alone_follows_from_all_that_is_assumed():
    page = "symbol a_alone as a > 0 : a\nsymbol b_alone as b >= 0 : b\nclaim stranger.alone | Lemma 2 | A bound\n"
    page += "    say a <= b + 1\n    for upper: a <= b\n    where half: b <= 1/2\n    proof"
    proof, other = (
        Page(text, "lemma.page").claims["stranger.alone"]().parts[0].printed
        for text in (page, f"{page} from upper, half")
    )
    assert proof == other
    assert examine(proof).accepted
    assert not examine(
        Page(page.replace("b + 1", "b/2"), "lemma.page").claims["stranger.alone"]().parts[0].printed
    ).accepted


def test_a_claim_is_built_with_its_own_constants():
    build = Page(GOOD, "lemma.page").claims["stranger.descent"]
    for wrong in (lambda: build(1, 2), lambda: build(third=1)):
        with pytest.raises(TypeError, match=r"stranger\.descent is built with half"):
            wrong()


#: What is written, what is written instead, the line and column, and a part of the sentence.
MISTAKES = [
    ("half a |", "half a_pag |", "line 15, column 36", "nothing on the page is called 'a_pag'"),
    ("positive : a", "positiv : a", "line 4, column 20", "use real, nonnegative, positive, natural, positive natural"),
    ("as a positive", "as a negative", "line 4, column 20", "'negative' is no sort"),
    ("as n natural", "as n even", "line 8, column 20", "'even' is no sort"),
    ("from smooth, step", "from smooth, stp", "line 19, column 28", "did you mean step?"),
    ("for STEP", "for STEPS", "line 16, column 9", "did you mean STEP?"),
    ("<= f(x(0))", "\N{LESS-THAN OR EQUAL TO} f(x(0))", "line 15, column 18", "write <="),
    ("<= f(x(0))", "<f(x(0))", "line 15", "'>' is missing"),
    ("a L <= 1 --", "a L <= 1 <= 2 --", "line 11, column 28", "two facts, one relation each"),
    ("a L <= 1 --", "a L --", "line 11, column 19", "is no relation: write <=, < or ="),
    ("claim stranger", "clam stranger", "line 13, column 1", "'clam' begins no block"),
    ("claim stranger.descent |", "claim descent |", "line 13, column 1", "write paper.name"),
    (" | One step descends", "", "line 13, column 1", "claim id | where | title"),
    ("let after", "let grad", "line 10, column 1", "is a word of every page"),
    ("L_page as L positive", "L_page as exp positive", "line 3, column 1", "is a word of every page"),
    ("vector x_page as x", "vector x_page as L", "line 5, column 1", "has a meaning since line 3"),
    ("index k_page as k", "index k_page as a", "line 7, column 1", "has a meaning since line 4"),
    ("a_page as a positive", "\N{CYRILLIC SMALL LETTER A}_page as a positive", "line 4", "cyrillic"),
    ("vector x_page as x : x_{@}", "vector x_page as x real : x_{@}", "line 5, column 20", "a vector has no sort"),
    ("smooth = L", "smoth = L", "line 6, column 23", "use smooth, mu or lower"),
    ("smooth = L", "smooth = k", "line 6, column 32", "nothing on the page is called 'k'"),
    ("|^2\n", "^2\n", "line 15, column 53", "'|' is missing"),
    ("|grad f(x(0))|^2", "|grad f(x(0))|**2", "line 15, column 52", "write ^"),
    ("- half a", "+ - half a", "line 15, column 31", "stands where a name or a number should"),
    ("x(0) - a grad f(x(0))", "x(0) - a grad f", "line 10, column 22", "write grad f(x)"),
    ("x(0) - a grad", "x(0) - a(grad", "line 10, column 34", "')' is missing"),
    ("smooth f, x(0), after", "smoth f, x(0), after", "line 18, column 17", "neither a rule nor a scheme"),
    ("    note Nesterov.", "    nte Nesterov.", "line 20, column 5", "stands under a claim"),
    ("half = 1/2", "half = 1/", "line 14, column 19", "'the end' stands where"),
    ("    proof", "  proof", "line 17, column 3", "begin in column 5"),
    ("    say", "\tsay", "line 15, column 1", "a tab: indent with blanks"),
    ("f(after) <=", "[step] <=", "line 15, column 9", "in certificates alone"),
    ("say f(after)", "say after", "line 15, column 9", "compare norms, |v|^2, or products, <u, v>"),
    ("|grad f(x(0))|^2", "||grad f(x(0))||^2", "line 15, column 38", "write |v| for the norm of v"),
    ("|grad f(x(0))|^2", "grad f(x(0))^2", "line 15, column 38", "a vector has no powers"),
    ("say f(after) <= f(x(0)) - half a |grad f(x(0))|^2", "say", "line 15, column 5", "nothing is said here"),
    ("f_page as f; smooth = L", "f_page as f smooth L", "line 6, column 22", "write function f; smooth = L"),
    ("index k_page as k", "index k_page k", "line 7, column 14", "commas"),
    ("index k_page as k", "index k_page as k, k_page as kk", "line 7, column 1", "prints as k elsewhere"),
    ("    note Nesterov.\n", "    note N.\n\nlet L = 2\n", "line 22, column 1", "has a meaning since line 3"),
    (
        "    note Nesterov.\n",
        "    note N.\n\nclaim stranger.descent | a | b\n    say 0 <= 1\n",
        "line 22, column 1",
        "stands on the page twice",
    ),
]


@pytest.mark.parametrize(("right", "wrong", "place", "sentence"), MISTAKES, ids=[one[1] for one in MISTAKES])
def test_a_mistake_ends_in_one_sentence_with_its_place(right, wrong, place, sentence):
    assert right in GOOD
    with pytest.raises(PageError) as caught:
        Page(GOOD.replace(right, wrong, 1), "lemma.page").claims["stranger.descent"]()
    said = str(caught.value)
    assert said.startswith("lemma.page, line ")
    assert place in said
    assert sentence in said
    assert "\n" not in said


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("smooth f, x(0), after", "smooth f, x(0)"),
        ("smooth f, x(0), after", "smooth x(0), f, after"),
        ("a L <= 1", "a L <= 3"),
        ("f_page as f; smooth = L", "f_of_pages as f; mu = L"),
    ],
)
def test_what_is_read_and_is_no_proof_is_refused_by_the_examiner(right, wrong):
    made = Page(GOOD.replace(right, wrong, 1), "lemma.page").claims["stranger.descent"]()
    assert not examine(made.parts[0].printed).accepted


def test_a_module_of_a_page_has_the_pages_own_names():
    from cflag_theory.claims.c_flag.problem import similar

    assert str(similar.BELOW_ONE.relation) == "m_max < 1"
    for name in ("exp", "nothing_like_that"):
        with pytest.raises(AttributeError):
            getattr(similar, name)


def _instances(*inside: str) -> list[dict[str, str]]:
    """Those of the example's claim with these lines, which may use a block of the page."""
    block = "instances SHARED\n    each a, wide = 1/2, 1; 1/4, 0\ninstances ITSELF\n    instances ITSELF\n"
    page = Page(GOOD + "".join(f"    {line}\n" for line in inside) + block, "lemma.page")
    (found,) = page.claims["stranger.descent"]().instances
    return [{str(term): str(value) for term, value in values.items()} for values, _ in found.values()]


def test_instances_use_those_of_the_page_and_leave_out_what_a_condition_excludes():
    shared = _instances("instances SHARED", "    L = 2 + wide")
    assert shared == [{"a_page": "1/2", "L_page": "3"}, {"a_page": "1/4", "L_page": "2"}]
    nested = _instances("instances", "    each L and n = 1, 2", "    instances SHARED", "    where a L = 1; n < 2")
    assert nested == [{"a_page": "1/2", "L_page": "2", "n_page": "1"}]


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        (("instances SHARD",), "no instances before these are named 'SHARD'"),
        (("instances ITSELF",), "no instances before these are named 'ITSELF'"),
        (("instances", "    L = 2", "        each n = 1"), "nothing stands under a line of instances"),
        (("instances", "    L = 2, 3"), "write 'each name = ...'"),
        (("instances", "    each L, n = 2; 3, 1"), "each of L, n needs a value: 2 in a row"),
        (("instances", "    half = 1/3"), "'half' has a value of its own"),
    ],
)
def test_a_mistake_among_instances_is_told(inside, words):
    with pytest.raises(PageError, match=re.escape(words)):
        _instances(*inside)
