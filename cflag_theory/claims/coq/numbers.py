"""Rules about numbers in Coq: exponentials, logarithms and roots."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from cflag_theory.claims.coq.forms import Forms
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.steps import Use


def _tangent_of_exp(at: Forms, step: Use, relation: Relation) -> list[str]:
    u, k = map(sp.sympify, (*step.terms, 1)[:2])
    if k == 1:
        return at.bridge(relation, f"exact (exp_tangent {at.text.number(u)})", "same", "same")
    proof = f"exact (power_below_exp {at.text.number(u)} {at.text.natural(k)} ltac:(sign))"
    return at.bridge(relation, proof, "same", "same")


def _over_exp(theorem: str) -> Callable[[Forms, Use, Relation], list[str]]:
    def lines(at: Forms, step: Use, relation: Relation) -> list[str]:
        (name,) = step.given
        order = at.writer.known[name]
        y, a = at.text.number(order.left), at.text.number(order.right)
        within = f"(conj (ltac:(sign) : 0 <= {y}) {at.writer.premise(name)})"
        return at.bridge(relation, f"exact ({theorem} {y} {a} {within} ltac:(sign))", "same", "same")

    return lines


def _decay(at: Forms, step: Use, relation: Relation) -> list[str]:
    (k,) = step.terms
    (name,) = step.given
    u = at.text.number(at.writer.known[name].left)
    within = f"(conj (ltac:(sign) : 0 <= {u}) {at.writer.premise(name)})"
    proof = f"exact (decay {u} {at.text.natural(sp.sympify(k))} {within})"
    return at.bridge(relation, proof, "same", "same")


def _tangent_of_ln(at: Forms, step: Use, relation: Relation) -> list[str]:
    a, b = (at.text.number(sp.sympify(one)) for one in step.terms)
    return at.bridge(relation, f"exact (tangent_of_ln {a} {b} ltac:(sign) ltac:(sign))", "same", "same")


def _square_root(at: Forms, step: Use, relation: Relation) -> list[str]:
    u, v = (at.text.number(sp.sympify(one)) for one in step.terms)
    premise = at.writer.premise(step.given[0])
    return [f"exact (root_monotone {u} {v} ltac:(sign) ltac:(bridged_le {premise}))."]


def _exp_quarter(at: Forms, step: Use, relation: Relation) -> list[str]:
    return at.bridge(relation, "exact exp_quarter", "same", "same")


def _both_bounds(at: Forms, step: Use, relation: Relation) -> list[str]:
    first, second = (at.writer.premise(name) for name in step.given)
    return [f"exact (both_bounds _ _ {first} {second})."]


SCRIPTS: dict[str, Callable[[Forms, Use, Relation], list[str]]] = {
    "tangent of exp": _tangent_of_exp,
    "chord of exp": _over_exp("chord_of_exp"),
    "parabola over exp": _over_exp("parabola_over_exp"),
    "value of exp": _exp_quarter,
    "decay": _decay,
    "tangent of ln": _tangent_of_ln,
    "square root": _square_root,
    "both bounds": _both_bounds,
}
