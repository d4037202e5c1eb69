"""Certificates for relations between numbers made of vectors; inverses of step sizes are numbers of their own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import sympy as sp

from cflag_theory.claims.engine.algebra import Atoms, certificate_fault
from cflag_theory.claims.engine.finder import find
from cflag_theory.claims.engine.relation import Relation


def certificate(goal: Relation, given: Mapping[str, Relation]) -> sp.Expr | None:
    """A certificate of the goal from what is given, checked; None if none was found.

    A number that stands in denominators alone, such as mu in w - grad f(w) / mu, is replaced by its inverse: without
    denominators no common one is needed, and the linear program is smaller.
    """
    atoms = Atoms()
    plain = {name: _each(one, atoms) for name, one in {"": goal, **given}.items()}
    inverses = {s: sp.Dummy(f"1/{s}", positive=True) for s in _only_below(list(plain.values()))}
    if not inverses:
        return find(goal, given)
    turned = {s: 1 / t for s, t in inverses.items()}
    without = {name: _each(one, lambda side: sp.expand(side.xreplace(turned))) for name, one in plain.items()}
    found = find(without.pop(""), without)
    if found is None:
        return None
    back: dict[sp.Expr, sp.Expr] = {t: 1 / s for s, t in inverses.items()}
    back |= {dummy: term for term, dummy in atoms.of.items()}
    made = found.xreplace(back)
    return made if certificate_fault(goal, dict(given), made) is None else None


def _each(one: Relation, change: Callable[[sp.Expr], sp.Expr]) -> Relation:
    return Relation(change(one.left), one.op, change(one.right))


def _only_below(relations: Sequence[Relation]) -> list[sp.Symbol]:
    """Positive symbols that stand in denominators and nowhere else."""
    below: set[sp.Symbol] = set()
    above: set[sp.Symbol] = set()
    for one in relations:
        for side in (one.left, one.right):
            for term in sp.Add.make_args(sp.expand(side)):
                for factor in sp.Mul.make_args(term):
                    base, power = factor.as_base_exp()
                    inverse = base.is_Symbol and base.is_positive and power.is_Integer and power < 0
                    if inverse:
                        below.add(base)
                    else:
                        above |= factor.free_symbols
    return sorted(below - above, key=str)
