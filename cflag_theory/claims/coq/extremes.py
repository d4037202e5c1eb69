"""Rules about the largest and the least in Coq."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from cflag_theory.claims.coq.forms import Forms
from cflag_theory.claims.engine.operators import sum_over
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.steps import Use


def _member(at: Forms, step: Use, relation: Relation) -> list[str]:
    largest, value = step.terms
    a, k = at.text.under(largest.bound, largest.body), at.text.natural(largest.outside)
    b = at.text.natural(sp.sympify(value))
    order = f"pose proof {at.writer.premise(step.given[0])}; apply INR_le; natural" if step.given else "lia"
    proof = f"exact (maximum_member {a} {k} {b} ltac:({order}))"
    return at.bridge(relation, proof, "cbv beta; same", "reflexivity")


def _maximum(at: Forms, step: Use, relation: Relation) -> list[str]:
    first, last = (at.writer.premise(name) for name in step.given)
    return [f"apply maximum_step; [bridged_le {first} | cbv beta; bridged_le {last}]."]


def _maximum_of_bounds(at: Forms, step: Use, relation: Relation) -> list[str]:
    (largest,) = step.terms
    (name,) = step.given
    within = {
        r: "(le_INR _ _ Inside)" for r in at.writer.established(name).ranges if largest.bound in r.left.free_symbols
    }
    here = f"{at.text.binder(largest.bound)}_here"
    instance = at.writer.premise(name, {largest.bound: here}, within)
    return [f"apply maximum_bound; intros {here} Inside; cbv beta; exact {instance}."]


def _minimum(at: Forms, step: Use, relation: Relation) -> list[str]:
    least, *weights = step.terms
    weight = sp.sympify(weights[0]) if weights else sp.S.One
    a, n = at.text.under(least.bound, least.body), at.text.natural(least.outside)
    total = sum_over(least.bound, least.outside)
    right = at.operator(total, weight * least.body)
    if weight == 1:
        return at.bridge(relation, f"exact (sums_least V {n} {a})", "same", right)
    W = at.text.under(least.bound, weight)
    proof = f"apply (sums_least_weighted V {n} {a} {W}); intro; cbv beta; sign"
    left = f"try rewrite {at.under(total, weight, None, f'avg (sums V {n}) {W}')}; same"
    return at.bridge(relation, proof, left, right)


def _fewer(at: Forms, step: Use, relation: Relation) -> list[str]:
    least, count = step.terms
    a, n = at.text.under(least.bound, least.body), at.text.natural(least.outside)
    order = f"pose proof {at.writer.premise(step.given[0])}; apply INR_le; natural"
    proof = f"exact (least_fewer {n} {at.text.natural(sp.sympify(count))} {a} ltac:(lia) ltac:({order}))"
    return at.bridge(relation, proof, "reflexivity", "reflexivity")


def _least_member(at: Forms, step: Use, relation: Relation) -> list[str]:
    least, value = step.terms
    a, n = at.text.under(least.bound, least.body), at.text.natural(least.outside)
    b = at.text.natural(sp.sympify(value))
    order = f"pose proof {at.writer.premise(step.given[0])}; apply INR_lt; natural"
    return at.bridge(relation, f"exact (least_member {n} {a} {b} ltac:({order}))", "reflexivity", "cbv beta; same")


SCRIPTS: dict[str, Callable[[Forms, Use, Relation], list[str]]] = {
    "member of the maximum": _member,
    "maximum": _maximum,
    "maximum of bounds": _maximum_of_bounds,
    "minimum and sum": _minimum,
    "minimum of fewer": _fewer,
    "member of the minimum": _least_member,
}
