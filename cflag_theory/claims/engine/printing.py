"""Expressions and relations in the papers' notation: LaTeX and text for readers, which no verdict depends on."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Mapping
from functools import cache

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.printing.latex import LatexPrinter

from cflag_theory.claims.engine.notation import LATEX, SEQUENCES
from cflag_theory.claims.engine.operators import Index
from cflag_theory.claims.engine.plain import plain
from cflag_theory.claims.engine.relation import Relation

_SYMBOLS = {"==": "=", "<=": "\\le", "<": "<"}


def in_latex(relation: Relation) -> str:
    """A relation in the papers' notation."""
    return f"{to_latex(relation.left)} {_SYMBOLS[relation.op]} {to_latex(relation.right)}"


def in_text(relation: Relation) -> str:
    """A relation as one line of text."""
    return plain(in_latex(relation))


@cache
def to_latex(expr: sp.Expr) -> str:
    """An expression in the papers' notation."""
    # As symbols they have their places among the symbols; one that depends on an index stays in the sum over it.
    terms = {
        term: sp.Symbol(f"term{i}")
        for i, term in enumerate(sorted(expr.atoms(AppliedUndef), key=str))
        if str(term.func) in SEQUENCES and not any(isinstance(one, Index) for one in term.free_symbols)
    }
    own = {placeholder: _of_sequence(term) for term, placeholder in terms.items()}
    alone = expr.is_Symbol or expr in terms
    names = ChainMap(own, LATEX) if alone else ChainMap(_bracketed(own), _names_in_products(len(LATEX)))
    text: str = _Latex({"symbol_names": names, "order": "none"}).doprint(expr.xreplace(terms))
    return text


def _bracketed(names: Mapping[sp.Symbol, str]) -> dict[sp.Symbol, str]:
    """Names that are sums in a pair of brackets."""
    return {term: f"({latex})" if _is_sum(latex) else latex for term, latex in names.items()}


@cache
def _names_in_products(count: int) -> dict[sp.Symbol, str]:
    """All names of symbols, of which there are so many by now, for use inside of an expression."""
    return _bracketed(LATEX)


def _of_sequence(term: sp.Expr) -> str:
    text = SEQUENCES[str(term.func)]
    for place, argument in enumerate(term.args, 1):
        text = text.replace(f"@{place}", to_latex(argument))
    return text.replace("@", to_latex(term.args[0]))


class _Latex(LatexPrinter):  # type: ignore[misc]
    """Terms of sequences inside sums over their index."""

    def _print_Function(self, expr: sp.Expr, exp: str | None = None) -> str:
        if str(expr.func) not in SEQUENCES:
            printed: str = super()._print_Function(expr, exp)
            return printed
        text = _of_sequence(expr)
        text = f"({text})" if _is_sum(text) and self._print_level > 1 else text
        return text if exp is None else f"{{{text}}}^{{{exp}}}"


@cache
def _is_sum(latex: str) -> bool:
    """Whether a name is a sum or a difference outside of all brackets: in a product it needs a pair."""
    bare = re.sub(r"\\\|.*?\\\||\|.*?\||\\langle.*?\\rangle|\^[+-]", "", latex)
    depth = 0
    for place, sign in enumerate(bare):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 and sign in "+-" and place:
            return True
    return False
