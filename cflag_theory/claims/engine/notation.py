"""The papers' notation: each symbol once, with the LaTeX that the papers print."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine.operators import Index, index, mean_over
from cflag_theory.claims.engine.sorts import Sort, sort_of
from cflag_theory.claims.engine.terms import dot, function, is_vector, named, norm, norm2, vector

#: How symbols and sequences print; `printing` reads both.
LATEX: dict[sp.Symbol, str] = {}
SEQUENCES: dict[str, str] = {}
_MEANINGS: dict[sp.Symbol, sp.Expr] = {}
_SEQUENCE_MEANINGS: dict[str, Callable[..., sp.Expr]] = {}


def symbol(name: str, latex: str, means: sp.Expr | None = None, **assumptions: bool) -> sp.Symbol:
    """A scalar that prints as `latex`, and stands for `means`, a number made of vectors, whose sign it has.

    Raises
    ------
    ValueError
        If the same symbol is already printed otherwise, or means something else; if the meaning does not have the sign
        that the symbol declares, or depends on an operator's index.
    """
    assumptions = assumptions or _sign(means)
    found = sp.Symbol(name, **assumptions)
    _distinct(found, name)
    if LATEX.setdefault(found, latex) != latex:
        raise ValueError(f"the symbol {name} prints as {LATEX[found]} and as {latex}: give one of them another name")
    if means is not None:
        _check_meaning(name, means, assumptions)
        if any(isinstance(s, Index) for s in means.free_symbols):
            raise ValueError(f"{name} means {means}, which depends on an index: make it a sequence over that index")
        if _MEANINGS.setdefault(found, means) != means:
            raise ValueError(f"the symbol {name} means {_MEANINGS[found]} and {means}: give one of them another name")
    return found


def sequence(name: str, latex: str, means: Callable[..., sp.Expr] | None = None, **assumptions: bool) -> Any:
    """A sequence; its term at index k prints as `latex` with k in place of every "@", and stands for `means(k)`.

    Of several indices "@2" is the second. It has the sign of what it stands for.

    Raises
    ------
    ValueError
        If a sequence of this name is already printed otherwise, or already has a meaning; if the meaning does not have
        the sign that the sequence declares, or depends on an index that is none of its arguments.
    """
    if SEQUENCES.setdefault(name, latex) != latex:
        raise ValueError(f"the sequence {name} prints as {SEQUENCES[name]} and as {latex}: rename one of them")
    if means is not None:
        if name in _SEQUENCE_MEANINGS:
            raise ValueError(f"the sequence {name} is given two meanings: rename one of them")
        places = [sp.Dummy(**Sort.NATURAL.assumptions) for _ in range(means.__code__.co_argcount)]
        meaning = means(*places)
        assumptions = assumptions or _sign(meaning)
        _check_meaning(name, meaning, assumptions)
        if any(isinstance(s, Index) for s in meaning.free_symbols):
            raise ValueError(f"{name} means {meaning}, which depends on an index that is none of its arguments")
        _SEQUENCE_MEANINGS[name] = means
    made = sp.Function(name, **assumptions)
    _distinct(made, name)
    return made


def _distinct(made: Any, name: str) -> None:
    """Raise if a symbol or a sequence has no sort, or a name that could be read as another."""
    sort_of(made)
    named(name)


def _sign(means: sp.Expr | None) -> dict[str, bool]:
    """What to assume of a symbol of which nothing is said but its meaning."""
    if means is None:
        return {}
    return {"nonnegative": True} if means.is_nonnegative else {"real": True}


def _check_meaning(name: str, means: sp.Expr, assumptions: dict[str, bool]) -> None:
    if is_vector(means):
        raise ValueError(f"{name} means {means}, which is a vector and no number")
    for sign in ("positive", "nonnegative", "integer", "real"):
        if assumptions.get(sign) and not getattr(means, f"is_{sign}"):
            raise ValueError(f"{name} is declared {sign}, and {means} need not be: state it as a hypothesis")


@cache
def unfold(expr: sp.Expr) -> sp.Expr:
    """The expression with every symbol and term of a sequence that has a meaning replaced by it."""
    found: dict[sp.Expr, sp.Expr] = {}
    for term in expr.atoms(sp.Symbol, AppliedUndef):
        meaning = _MEANINGS.get(term) if term.is_Symbol else None
        if not term.is_Symbol and str(term.func) in _SEQUENCE_MEANINGS:
            meaning = _SEQUENCE_MEANINGS[str(term.func)](*term.args)
        if meaning is not None:
            found[term] = unfold(meaning)
    return expr.xreplace(found) if found else expr


L = symbol("L", "L", positive=True)
alpha = symbol("alpha", r"\alpha", positive=True)
beta = symbol("beta", r"\beta", positive=True)
E = symbol("E", "E", positive=True, integer=True)
k = symbol("k", "k", nonnegative=True, integer=True)
m = symbol("m", "m", nonnegative=True)
r = symbol("r", "r", nonnegative=True)

# The vectors of C-FLAG: `i` runs over clients, `j` over the components of a client, `omega` over draws of the memory.
i, j, omega = index("i"), index("j"), index("omega")
clients = mean_over("clients", i, r"\textstyle\sum_{@}p_{@}")
components = mean_over("components", j, r"\mathrm{mean}_{@}")
draws = mean_over("draws", omega, r"\mathbb{E}")
#: Any draw of the memory and any round of the run.
draw = sp.Symbol("draw", integer=True, nonnegative=True)
t = symbol("t", "t", nonnegative=True, integer=True)
x = vector("x", "x_{@2}")
x_t = x(draw, t)
f = function("f", "f", smooth=L)
#: A component of a client's current loss.
g = function("g", "g_{@1,@2}", smooth=L)
grad_f = f.grad(x_t)
grad_current = clients(components(g[i, j].grad(x_t)))
#: b = grad f_memory(x_t) - grad f(x_t), and the sum S of the delayed gradients.
bias = vector("b", "b_{@2}")(draw, t)
delayed_sum = vector("S", "S_{@2}")(draw, t)
#: The round update (24).
x_next = x_t - alpha * (grad_f + bias) - beta * delayed_sum

grad_g = symbol("grad_g", r"{\|\nabla g(x_t)\|}", norm(grad_current), nonnegative=True)

# Gram entries of grad f, the bias b and the sum S of delayed gradients, and the values of f at both ends of a round.
grad_f2 = symbol("grad_f2", r"{\|\nabla f(x_t)\|^2}", norm2(grad_f), nonnegative=True)
bias2 = symbol("bias2", r"{\|b\|^2}", norm2(bias), nonnegative=True)
sum2 = symbol("sum2", r"{\|S\|^2}", norm2(delayed_sum), nonnegative=True)
grad_dot_bias = symbol("grad_dot_bias", r"\langle\nabla f,b\rangle", dot(grad_f, bias), real=True)
grad_dot_sum = symbol("grad_dot_sum", r"\langle\nabla f,S\rangle", dot(grad_f, delayed_sum), real=True)
bias_dot_sum = symbol("bias_dot_sum", r"\langle b,S\rangle", dot(bias, delayed_sum), real=True)
f_before = symbol("f_before", "f(x_t)", f(x_t), real=True)
f_after = symbol("f_after", "f(x_{t+1})", f(x_next), real=True)
