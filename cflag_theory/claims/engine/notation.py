"""The papers' notation: each symbol once, with the LaTeX that the papers print."""

from __future__ import annotations

from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

_LATEX: dict[sp.Symbol, str] = {}
_SEQUENCES: dict[str, str] = {}


def symbol(name: str, latex: str, **assumptions: bool) -> sp.Symbol:
    """A scalar that prints as `latex`.

    Raises
    ------
    ValueError
        If the same symbol is already printed otherwise: one of the two would be misprinted.
    """
    found = sp.Symbol(name, **assumptions)
    if _LATEX.setdefault(found, latex) != latex:
        raise ValueError(f"the symbol {name} prints as {_LATEX[found]} and as {latex}: give one of them another name")
    return found


def sequence(name: str, latex: str, **assumptions: bool) -> Any:
    """A sequence; its term at index k prints as `latex` with k in place of every "@".

    Raises
    ------
    ValueError
        If a sequence of this name is already printed otherwise.
    """
    if _SEQUENCES.setdefault(name, latex) != latex:
        raise ValueError(f"the sequence {name} prints as {_SEQUENCES[name]} and as {latex}: rename one of them")
    return sp.Function(name, **assumptions)


def to_latex(expr: sp.Expr) -> str:
    """An expression in the papers' notation."""
    terms = {
        term: sp.Symbol(f"term{i}")
        for i, term in enumerate(sorted(expr.atoms(AppliedUndef), key=str))
        if str(term.func) in _SEQUENCES
    }
    printed = {
        placeholder: _SEQUENCES[str(term.func)].replace("@", to_latex(term.args[0]))
        for term, placeholder in terms.items()
    }
    text: str = sp.latex(expr.xreplace(terms), symbol_names={**_LATEX, **printed}, order="none")
    return text


L = symbol("L", "L", positive=True)
alpha = symbol("alpha", r"\alpha", positive=True)
beta = symbol("beta", r"\beta", positive=True)
E = symbol("E", "E", positive=True, integer=True)
k = symbol("k", "k", nonnegative=True, integer=True)
m = symbol("m", "m", nonnegative=True)
r = symbol("r", "r", nonnegative=True)

grad_g = symbol("grad_g", r"{\|\nabla g(x_t)\|}", nonnegative=True)

# Gram entries of grad f, the bias b and the sum S of delayed gradients, and the values of f at both ends of a round.
grad_f2 = symbol("grad_f2", r"{\|\nabla f(x_t)\|^2}", nonnegative=True)
bias2 = symbol("bias2", r"{\|b\|^2}", nonnegative=True)
sum2 = symbol("sum2", r"{\|S\|^2}", nonnegative=True)
grad_dot_bias = symbol("grad_dot_bias", r"\langle\nabla f,b\rangle", real=True)
grad_dot_sum = symbol("grad_dot_sum", r"\langle\nabla f,S\rangle", real=True)
bias_dot_sum = symbol("bias_dot_sum", r"\langle b,S\rangle", real=True)
f_before = symbol("f_before", "f(x_t)", real=True)
f_after = symbol("f_after", "f(x_{t+1})", real=True)
