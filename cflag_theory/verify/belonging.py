"""Whether a repair or a sharper constant belongs to what is printed, as computed from the relations.

A repair speaks of what the printed relation speaks of, and the conditions that it adds do not imply its conclusion by
themselves. A question may be answered by the exact condition, which says the same as its conclusion. A sharper
statement has the printed left side, and its constant stands before the same term, smaller by the factor.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine import algebra
from cflag_theory.claims.engine.claim import Fact, Part, Sharp
from cflag_theory.claims.engine.meanings import unfold
from cflag_theory.claims.engine.relation import Relation


@cache
def fault(part: Part, on: str) -> str | None:
    """What is wrong with a part's repair or sharper statement; None if nothing is, or no relation tells."""
    printed, repair = part.printed.relation, part.repair.statement.relation if part.repair else None
    if on == "repair" and printed is not None and repair is not None:
        return _unrelated(part, printed, repair) or (_restates(part) if part.kind == "claim" else None)
    if on == "sharp" and part.sharp is not None:
        bases = [one for one in (printed, repair) if one is not None]
        found = [_separation(part.sharp, base) for base in bases]
        return found[0] if found and None not in found else None
    return None


def _unrelated(part: Part, printed: Relation, repair: Relation) -> str | None:
    """A repair shares a side with what is printed, or half of the names of one of the two; facts may link names."""
    sides = [{sp.expand(side) for side in (one.left, one.right)} for one in (printed, repair)]
    if any(side.free_symbols for side in sides[0] & sides[1]):
        return None
    before, after = _names(printed), _names(repair)
    assert part.repair is not None
    linked = set(before)
    for fact in (*part.printed.facts, *part.repair.statement.facts):
        if (names := _names(fact.relation)) & before:
            linked |= names
    shared = after & linked
    if shared and 2 * len(shared) >= min(len(before), len(after)):
        return None
    return "the repair speaks of something else than what is printed"


def _restates(part: Part) -> str | None:
    """The conditions that a repair adds, together and without the printed hypotheses, do not imply its conclusion."""
    assert part.repair is not None
    statement = part.repair.statement
    if part.repair.kind != "needs-hypothesis" or statement.relation is None:
        return None
    printed = {fact.relation.unfolded for fact in part.printed.facts}
    known = {fact.name for fact in statement.facts}
    added = [
        relation
        for fact in statement.hypotheses
        if (relation := fact.relation.unfolded) not in printed and not _shown(fact, known)
    ]
    goal = statement.relation.unfolded
    if not algebra.follows(goal, added) or algebra.follows(goal, ()):
        return None
    return "the added conditions imply the conclusion by themselves, and so restate it"


def _shown(fact: Fact, known: set[str]) -> bool:
    """Whether a fact is a consequence of other rows under what the statement assumes: then it adds no condition."""
    return bool(fact.sources) and all(not one.granted and {*one.besides} <= known for one in fact.sources)


def _separation(sharp: Sharp, base: Relation) -> str | None:
    relation, at = sharp.statement.relation, dict(sharp.at)
    if relation is None:
        return None
    old, new = ([side.subs(at, simultaneous=True) for side in (one.left, one.right)] for one in (base, relation))
    same = [sp.cancel(sp.expand(a - b)) == 0 for a, b in zip(old, new, strict=True)]
    if base.op not in ("<=", "<") or not any(same):
        return "the sharper statement is about something else than the printed one"
    wanted = sp.sympify(sharp.printed / sharp.value)
    side = 1 if same[0] else 0
    above, below = _terms(old[side], new[side]), _terms(new[side], old[side])
    if any(sp.simplify(above[term] / below[term] - wanted) == 0 for term in above.keys() & below.keys()):
        return None
    return f"no term of the sharper side is smaller by the factor {sharp.factor:.6g}"


def _terms(side: sp.Expr, other: sp.Expr) -> dict[tuple[int, ...], Any]:
    """The coefficients of a side, by the powers of what it is made of, over the denominators of both."""
    (top, _), (_, under) = (sp.fraction(sp.together(one)) for one in (side, other))
    names = sorted(set().union(*(_atoms(one) for one in (side, other))), key=str)
    if not names:
        return {(): top * under}
    return dict(sp.Poly(sp.expand(top * under), *names, domain="EX").terms())


def _atoms(side: sp.Expr) -> set[sp.Expr]:
    """The members of sequences and the symbols outside of them."""
    members: set[sp.Expr] = side.atoms(AppliedUndef)
    return members | set(side.xreplace(dict.fromkeys(members, sp.S.One)).free_symbols)


def _names(relation: Relation) -> set[Any]:
    """The symbols and sequences of a relation, its own and those that they stand for."""
    sides = [side for one in (relation.left, relation.right) for side in (one, unfold(one))]
    found: set[Any] = set()
    return found.union(*(side.free_symbols | {term.func for term in side.atoms(AppliedUndef)} for side in sides))
