"""Expressions and relations in the papers' notation: LaTeX and text for readers, which no verdict depends on."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.printing.latex import LatexPrinter

from cflag_theory.claims.engine import terms
from cflag_theory.claims.engine.meanings import LATEX
from cflag_theory.claims.engine.operators import Index, Largest, Least, Operator, Total, TotalVector
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
    members = {
        term: sp.Symbol(f"term{i}")
        for i, term in enumerate(sorted(expr.atoms(AppliedUndef), key=str))
        if _sequence(term) and not any(isinstance(one, Index) for one in term.free_symbols)
    }
    own = {placeholder: _indexed(_sequence(term), term.args, to_latex) for term, placeholder in members.items()}
    alone = expr.is_Symbol or expr in members
    names = ChainMap(own, LATEX) if alone else ChainMap(_bracketed(own), _names_in_products(len(LATEX)))
    text: str = _Latex({"symbol_names": names, "order": "none"}).doprint(expr.xreplace(members))
    return text


def _bracketed(names: Mapping[sp.Symbol, str]) -> dict[sp.Symbol, str]:
    """Names that are sums in a pair of brackets."""
    return {term: f"({latex})" if _is_sum(latex) else latex for term, latex in names.items()}


@cache
def _names_in_products(count: int) -> dict[sp.Symbol, str]:
    """All names of symbols, of which there are so many by now, for use inside of an expression."""
    return _bracketed(LATEX)


def _sequence(term: sp.Expr) -> str:
    """How a member of a sequence prints; empty for another function."""
    return terms.LATEX.get(("sequence", str(term.func)), "")


def _indexed(template: str, indices: Sequence[sp.Expr], shown: Callable[[Any], str]) -> str:
    """The template with "@1", "@2", ... replaced by the indices; "@" is the first."""
    for place in range(len(indices), 1, -1):
        template = template.replace(f"@{place}", shown(indices[place - 1]))
    return template.replace("@1", "@").replace("@", shown(indices[0])) if indices else template


class _Latex(LatexPrinter):  # type: ignore[misc]
    """Terms made of vectors, and terms of sequences inside sums over their index."""

    def _print_Function(self, expr: sp.Expr, exp: str | None = None) -> str:
        if isinstance(expr, terms.Function):
            return _indexed(expr.properties.latex, expr.args[1:], self._print)
        if not (template := _sequence(expr)):
            printed: str = super()._print_Function(expr, exp)
            return printed
        text = _indexed(template, expr.args, to_latex)
        text = f"({text})" if _is_sum(text) and self._print_level > 1 else text
        return text if exp is None else f"{{{text}}}^{{{exp}}}"

    def _print_Named(self, v: terms.Named) -> str:
        return _indexed(terms.LATEX["vector", v.args[0].name], v.args[1:], self._print)

    def _print_Dot(self, product: terms.Dot) -> str:
        u, v = map(self._print, product.args)
        return rf"{{\|{u}\|^2}}" if u == v else rf"\langle{{{u}}},{{{v}}}\rangle"

    def _print_Norm(self, norm: terms.Norm) -> str:
        return rf"{{\|{self._print(norm.args[0])}\|}}"

    def _print_Value(self, value: terms.Value) -> str:
        f, x = map(self._print, value.args)
        return f"{f}({x})"

    def _print_Gradient(self, gradient: terms.Gradient) -> str:
        f, x = map(self._print, gradient.args)
        return rf"\nabla {f}({x})"

    def _print_Operator(self, operator: Operator) -> str:
        index = self._print(operator.index)
        if operator.is_sum:
            return rf"\sum_{{{index}<{self._print(operator.total)}}}"
        return terms.LATEX["mean", operator.args[0].name].replace("@", index)

    def _print_Total(self, total: Total | TotalVector) -> str:
        inner = self._print(total.body)
        bare = isinstance(total.body, terms.Norm | terms.Dot)
        return f"{self._print(total.operator)}{inner if bare else f'({inner})'}"

    _print_TotalVector = _print_Total

    def _print_Largest(self, largest: Largest) -> str:
        index, end, body = map(self._print, largest.args)
        return rf"\max_{{{index}\le {end}}}{body}"

    def _print_Least(self, least: Least) -> str:
        index, count, body = map(self._print, least.args)
        return rf"\min_{{{index}<{count}}}{body}"


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
