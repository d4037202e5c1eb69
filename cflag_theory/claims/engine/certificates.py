"""The store of found certificates: one file, keyed by the content of the obligation, checked at every use."""

from __future__ import annotations

import ast
import hashlib
import json
import operator
import re
from collections.abc import Callable, Mapping
from functools import cache
from keyword import iskeyword
from pathlib import Path
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.algebra import residual, slack, square
from cflag_theory.claims.engine.operators import Atom
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.pages.text import bare
from cflag_theory.files import write_text
from cflag_theory.public import Rule
from cflag_theory.reading import WORD, Each, Maybe

#: Letters of a term, bits of a power of numbers, and those that a sum counts for: what is found has far fewer.
_MOST_LETTERS, _MOST_BITS, _BITS = 100_000, 4096, 64
_TERM = Rule(lambda value: type(value) is str and len(value) <= _MOST_LETTERS, f"at most {_MOST_LETTERS} letters")
#: What a store holds.
FORM = Each({"goal": WORD, "sum": [_TERM], "times": Maybe(_TERM)})

STORE = Path(__file__).parents[1] / "certificates.json"

#: Entries of other stores: see `also`.
_BESIDE: dict[str, Any] = {}

Given = tuple[tuple[str, Relation], ...]


@cache
def certificate_for(check: Callable[..., str | None], goal: Relation, given: Given) -> sp.Expr | None:
    """A certificate in which `check` finds no fault: the one that is kept, else one that is found again; else None."""
    kept = look_up(goal, given)
    if kept is not None and check(goal, dict(given), kept) is None:
        return kept
    # With its solver, which nothing needs while the store has what is asked.
    from cflag_theory.claims.engine import finder

    found = finder.find(goal, dict(given))
    return found if found is not None and check(goal, dict(given), found) is None else None


@cache
def look_up(goal: Relation, given: Given) -> sp.Expr | None:
    """The kept certificate in the names of `given`, unchecked; None if there is none or it cannot be read."""
    name = key(goal, given)
    entry = load().get(name) or _BESIDE.get(name)
    if entry is None:
        return None
    try:
        return read(entry, goal, given)
    except ValueError:
        return None


@cache
def load() -> Mapping[str, Any]:
    """The store as it stands in the package."""
    entries: Mapping[str, Any] = json.loads(STORE.read_text(encoding="utf-8"))
    return entries


def also(entries: Mapping[str, Any]) -> None:
    """Take entries of another store, such as that of a folder of pages, beside those of the package."""
    _BESIDE.update(entries)
    certificate_for.cache_clear()
    look_up.cache_clear()


def save(entries: Mapping[str, Any]) -> None:
    """Write the store, sorted by key."""
    text = json.dumps(dict(sorted(entries.items())), indent=1) + "\n"
    write_text(STORE, text, remedy="see that you may write to the package")
    load.cache_clear()
    certificate_for.cache_clear()
    look_up.cache_clear()


def key(goal: Relation, given: Given) -> str:
    """What an obligation says, whatever its facts are named: a hash of its relations and of the signs of its terms."""
    terms = set().union(*(_terms(relation) for relation in (goal, *(fact for _, fact in given))))
    signs = sorted(f"{as_text(term)}: {sign(term)}" for term in terms)
    whole = "\n".join([_relation(goal), *_numbered(given), *signs])
    return hashlib.sha256(whole.encode()).hexdigest()[:20]


def entry(goal: Relation, given: Given, certificate: sp.Expr) -> dict[str, Any]:
    """A certificate as it is kept: the goal for the reader, the terms of a sum, and what divides them.

    Facts are numbered in the order of their text. What is not a number, power, sum or product stands in braces.
    """
    numbers = {text: number for number, text in enumerate(_numbered(given), start=1)}
    names: dict[sp.Symbol, sp.Symbol] = {}
    for name, relation in given:
        number = numbers[_relation(relation)]
        names |= {slack(name): sp.Symbol(f"slack {number}"), residual(name): sp.Symbol(f"residual {number}")}
    written = sp.sympify(certificate).xreplace(names)
    sums = [factor for factor in sp.Mul.make_args(written) if factor.is_Add]
    found = {"goal": _relation(goal)}
    if len(sums) == 1 and written != sums[0]:
        return found | {"sum": _terms_text(sums[0]), "times": as_text(written / sums[0])}
    return found | {"sum": _terms_text(written)}


def _terms_text(expr: sp.Expr) -> list[str]:
    return sorted(as_text(term) for term in sp.Add.make_args(expr))


def read(kept: Mapping[str, Any], goal: Relation, given: Given) -> sp.Expr:
    """The certificate of an entry, in the names of `given`; a ValueError if it cannot be read."""
    numbers = {text: number for number, text in enumerate(_numbered(given), start=1)}
    known = {as_text(term).strip("{}"): term for fact in (goal, *(one for _, one in given)) for term in _terms(fact)}
    for name, relation in given:
        number = numbers[_relation(relation)]
        known |= {f"slack {number}": slack(name), f"residual {number}": residual(name)}
    total = sp.Add(*(_parse(term, known) for term in kept["sum"]))
    times = kept.get("times")
    return total if times is None else total * _parse(times, known)


def _numbered(given: Given) -> list[str]:
    return sorted({_relation(relation) for _, relation in given})


def _relation(relation: Relation) -> str:
    return f"{as_text(relation.left)} {relation.op} {as_text(relation.right)}"


def _terms(relation: Relation) -> set[sp.Expr]:
    """Symbols and functions, at any depth."""
    kinds = (sp.Symbol, sp.Function, sp.NumberSymbol, *Atom)
    sides = (relation.left, relation.right)
    return {term for side in sides for term in sp.preorder_traversal(side) if isinstance(term, kinds)}


def sign(term: sp.Expr) -> str:
    marks = ("positive", "nonnegative", "real", "integer")
    return " ".join(mark for mark in marks if getattr(term, f"is_{mark}"))


@cache
def as_text(expr: Any) -> str:
    """The expression in an order that depends on nothing but what is written, for keys and for the store.

    Names of a folder of pages stand without its number, which another process gives to another folder.
    """
    return bare(_as_text(expr))


def _as_text(expr: Any) -> str:
    if isinstance(expr, sp.Add):
        return " + ".join(sorted(map(as_text, expr.args)))
    if isinstance(expr, sp.Mul):
        over = [one for one in expr.args if isinstance(one, sp.Pow) and one.exp.is_Integer and one.exp < 0]
        above = sorted(_factor(one) for one in expr.args if one not in over)
        return "*".join(above or ["1"]) + "".join(sorted(f"/{_factor(1 / one)}" for one in over))
    if isinstance(expr, sp.Pow):
        return f"{_factor(expr.base)}**{_factor(expr.exp)}"
    if isinstance(expr, sp.Rational):
        return str(expr)
    name = bare(expr.name) if isinstance(expr, sp.Symbol) else ""
    if name.isidentifier() and not iskeyword(name):
        return name
    if isinstance(expr, sp.exp | square):
        return f"{expr.func}({as_text(expr.args[0])})"
    if isinstance(expr, sp.Function):
        return (
            "{" + f"{expr.func}({', '.join(as_text(one).replace('{', '').replace('}', '') for one in expr.args)})" + "}"
        )
    return "{" + str(expr) + "}"


def _factor(expr: sp.Expr) -> str:
    text = as_text(expr)
    plain = isinstance(expr, sp.Symbol | sp.Function) or (expr.is_Integer and expr >= 0)
    return text if plain or (isinstance(expr, sp.Pow) and "**" in text and expr.exp.is_Integer) else f"({text})"


def _power(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    bits = [int(part).bit_length() for one in base.atoms(sp.Rational) for part in (one.p, one.q)]
    powers = sum(abs(one.exp) for one in base.atoms(sp.Pow) if one.exp.is_Rational)
    if exponent.is_Rational and abs(exponent) * max(1, powers) * max([_BITS, *bits]) > _MOST_BITS:
        raise ValueError("the power is too large")
    return base**exponent


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: _power,
}


def _parse(text: str, known: Mapping[str, sp.Expr]) -> sp.Expr:
    """The expression that `as_text` wrote; only sums, products, powers and names that are known are read."""
    braced: list[str] = []

    def name(match: re.Match[str]) -> str:
        braced.append(match[1])
        return f"braced_{len(braced) - 1}"

    def value(node: ast.expr) -> sp.Expr:
        if isinstance(node, ast.BinOp):
            return _BINARY[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -value(node.operand)
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return sp.Integer(node.value)
        if isinstance(node, ast.Name):
            inside = re.fullmatch(r"braced_(\d+)", node.id)
            return known[braced[int(inside[1])] if inside else node.id]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
            return {"square": square, "exp": sp.exp}[node.func.id](value(node.args[0]))
        raise ValueError(f"cannot read {text!r}")

    try:
        return value(ast.parse(re.sub(r"\{([^{}]*)\}", name, text), mode="eval").body)
    except (SyntaxError, LookupError, RecursionError, MemoryError) as error:
        raise ValueError(f"cannot read {text[:200]!r}") from error
