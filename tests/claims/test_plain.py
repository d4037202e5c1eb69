"""Formulas as text, and what their letters stand for."""

import pytest
import sympy as sp

from cflag_theory.claims import glossary
from cflag_theory.claims.engine.claim import statements
from cflag_theory.claims.engine.meanings import sequence, symbol
from cflag_theory.claims.engine.notation import L, alpha
from cflag_theory.claims.engine.operators import index, sum_over
from cflag_theory.claims.engine.plain import plain
from cflag_theory.claims.engine.printing import in_text, to_latex
from cflag_theory.claims.ledger import LEDGER, claim


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"\frac{1}{2} {\|\nabla f(x_t)\|}^{2}", "1/2 ||grad f(x_t)||^2"),
        (r"\frac1T\sum_{t<T}\|S\|^2", "1/T sum_{t<T}||S||^2"),
        (r"\frac{a + b}{2 c}", "(a + b)/(2 c)"),
        (r"\frac{a}{\left(1 - q\right)^{2}}", "a/((1 - q)^2)"),
        (r"\sqrt{m} + \sqrt[3]{2}", "sqrt(m) + (2)^(1/3)"),
        (r"\langle\nabla f,b\rangle \le L\alpha", "<grad f,b> <= L alpha"),
        (r"\mathbb{E}\|w_t-w^*\|^2", "\N{MATHEMATICAL DOUBLE-STRUCK CAPITAL E}||w_t-w*||^2"),
        (r"\sum_i p_i\beta_{t,i}\mathbf{a}_i", "sum_i p_i beta_{t,i} a_i"),
        (r"\nabla f_i^\dagger(x)", "grad f_i_memory(x)"),
        (r"\tilde h(x_{t+1}) \cdot \mathrm{mean}_j d", "h~(x_{t+1}) mean_j d"),
        (r"\alpha^{|\tau_1-\tau_2|}", "alpha^(|tau_1-tau_2|)"),
    ],
)
def test_latex_becomes_one_line_of_text(latex, text):
    assert plain(latex) == text


def relations():
    return [
        pytest.param(id, one, id=f"{id}.{part.key} {on} {number}")
        for id in LEDGER
        for part in claim(id).parts
        for on, statement in statements(part).items()
        for number, one in enumerate(statement.relations)
    ]


def test_every_formula_of_the_ledger_is_text():
    for case in relations():
        id, relation = case.values
        text = in_text(relation)
        assert "\\" not in text, (id, text)
        assert text.count("||") % 2 == 0, (id, text)
        for pair in ("()", "{}", "[]"):
            assert text.count(pair[0]) == text.count(pair[1]), (id, text)


def test_a_name_that_is_a_difference_gets_brackets_within_a_formula():
    gap = symbol("gap_for_a_test", "f(x)-f^*", real=True)
    assert to_latex(gap) == "f(x)-f^*"
    assert plain(to_latex(L * gap)) in ("L (f(x)-f*)", "(f(x)-f*) L")
    assert plain(to_latex(alpha + gap)) in ("alpha + (f(x)-f*)", "(f(x)-f*) + alpha")


def test_every_letter_of_every_statement_has_a_meaning_and_every_meaning_a_letter():
    used = set()
    for id in LEDGER:
        for letter in glossary.letters(glossary.formulas(claim(id))):
            found = glossary.meaning(id, letter)
            assert found, f"{id}: {letter} has no line 'letter'"
            used.add((glossary.scope(id, letter), found[0]))
    assert set(glossary.glossary()) == used


def test_the_line_of_a_row_counts_before_that_of_its_paper():
    assert glossary.explained("cflag.eq3", "|C| S") == {
        "C": "C^i, current data of client i; |C| is their number",
        "S": glossary.glossary()["C-FLAG", "S"],
    }
    assert "e" not in glossary.letters("4 (e^(1/4) - 1) beta k")
    assert glossary.letters("||e_{t,k}^i|| <= d_bar_k + S_1") == ["e_{t,k}", "i", "d_bar_k", "S_1"]


def test_a_term_of_a_sum_stays_inside():
    term, last = sequence("printed_term", r"\theta_{@}", real=True), sp.Symbol("last", integer=True, positive=True)
    place = index("place")
    assert plain(to_latex(3 * sum_over(place, last)(term(place) ** 2))) == "3 sum_{place<last}(theta_place^2)"
