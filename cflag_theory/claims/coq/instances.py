"""Exact instances as Coq lemmas: that there are numbers with which a statement fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.coq.lemmas import Lemma, Printer, Words
from cflag_theory.claims.engine.claim import Statement
from cflag_theory.claims.engine.points import covered_by
from cflag_theory.claims.engine.relation import Relation


def counterexample(name: str, statement: Statement, values: Mapping[sp.Expr, Any]) -> Lemma:
    """That there are numbers with which all hypotheses hold and the statement fails: those of an exact instance.

    Definitions enter as far as the instance has values for what they speak of.

    Raises
    ------
    TypeError
        Something that is not rational in its atoms, or a value that is not rational.
    """
    if statement.relation is None:
        raise TypeError("a statement without a relation has no words in Coq")
    exact = {key: sp.sympify(value) for key, value in values.items()}
    if not all(isinstance(key, sp.Symbol | AppliedUndef) for key in exact):
        raise TypeError("a value stands for a term that has one already")
    facts = [fact.relation for fact in (*statement.definitions, *statement.hypotheses)]
    relations = [fact for fact in facts if covered_by(fact, values)] + [statement.relation]
    # At k = 1 the members f(k) and f(1) are one number.
    members = {key: key.func(*(one.xreplace(exact) for one in key.args)) for key in exact if not key.is_Symbol}
    single = {member: sp.Dummy("atom") for member in members.values()}
    atoms: dict[sp.Expr, sp.Symbol] = {key: single[member] for key, member in members.items()}
    # A symbol in an exponent is its number everywhere; elsewhere variables stay, so that the formula can be seen.
    sides = [side.xreplace(atoms) for relation in relations for side in (relation.left, relation.right)]
    powers = [term.exp for side in sides for term in sp.preorder_traversal(side) if isinstance(term, sp.Pow)]
    numbers = {symbol: exact[symbol] for power in powers for symbol in power.free_symbols}
    shown = [
        Relation(r.left.xreplace(atoms).xreplace(numbers), r.op, r.right.xreplace(atoms).xreplace(numbers))
        for r in relations
    ]
    words = Words(atoms)
    plain = Printer(words, {})
    of: dict[sp.Symbol, tuple[sp.Expr, sp.Expr]] = {}
    for key, value in exact.items():
        if of.setdefault(atoms.get(key, key), (key, value))[1] != value:
            raise TypeError(f"{key} has one already, and another value")
    found = set().union(*(r.left.free_symbols | r.right.free_symbols for r in shown))
    variables = [variable for variable in of if variable in found]
    if len(variables) < len(found) or not all(of[v][1].is_Rational for v in variables):
        raise TypeError("the instance is not rational")
    terms = (term for r in shown for side in (r.left, r.right) for term in sp.preorder_traversal(side))
    denominators = {term.base for term in terms if isinstance(term, sp.Pow) and term.exp.is_negative}
    signs = [f"0 {'<' if of[v][0].is_positive else '<='} {words(v)}" for v in variables if of[v][0].is_nonnegative]
    signs += sorted(f"{plain(base)} <> 0" for base in denominators)
    said = [*signs, *map(plain.relation, shown[:-1]), f"~ ({plain.relation(shown[-1])})"]
    bound = f"exists {' '.join(map(words, variables))} : R,\n    " if variables else ""
    text = bound + " /\\\n    ".join(said)
    witnesses = f"  exists {', '.join(plain(of[v][1]) for v in variables)}.\n" if variables else ""
    proof = f"Proof.\n{witnesses}  repeat split; try intro; lra.\nQed."
    meanings = words.meanings(variables)
    comment = f"(* {'; '.join(meanings)} *)\n" if meanings else ""
    return Lemma(name, text, f"{comment}Lemma {name} : {text}.\n{proof}")
