"""Claims about T rounds for every T: sums that telescope, and induction over the last round."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import combinations, permutations, product
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Fact
from cflag_theory.claims.engine.operators import Index, Least, Operator, Total, TotalVector, sum_over
from cflag_theory.claims.engine.relation import Relation, sides
from cflag_theory.claims.engine.sorts import Sort, sort_of
from cflag_theory.claims.engine.steps import Use
from cflag_theory.claims.engine.terms import Basis, Named, Norm, Value, dot, is_vector, ln, norm2, parts
from cflag_theory.falsify.vector_terms.gram import under
from cflag_theory.falsify.vector_terms.reading import Reading

#: How numbers may depend on an index of a round: what telescopes, and what weighs a sum.
_MOVING = (Value, AppliedUndef, Norm)
#: Rounds that a claim about one round looks back.
_BACK = 4


def sums(reading: Reading) -> list[Operator]:
    """The sums over rounds."""
    return [one for one in reading.operators if one.is_sum]


def ends(reading: Reading) -> list[sp.Symbol]:
    """The numbers of rounds of which the claim speaks: at the place of an index, as an end of a sum or as a power."""
    spoken = [place for one in reading.atoms(Named, AppliedUndef, Operator) for place in one.args]
    spoken += [one.args[-1] for one in reading.atoms(sp.Pow, sp.exp)]
    free = reading.goal.free_symbols & set().union(*(one.free_symbols for one in spoken))
    return sorted((s for s in free if s.is_integer and not isinstance(s, Index) and sort_of(s).whole), key=str)


def of_one(reading: Reading) -> tuple[Reading, tuple[sp.Symbol, ...]]:
    """A claim for every round as one about a number of the round, with that number and the index that it stands for.

    Hypotheses have the index too, and may be used at another round.
    """
    free = {_round(reading, fact, claimed=True) for fact in reading.facts} & reading.goal.free_symbols
    if len(free) != 1:
        return reading, ()
    (over,) = free
    number = sp.Symbol(reading.fresh(str(over)), integer=True, nonnegative=True)
    return replace(reading, goal=reading.goal.xreplace({over: number})), (number, over)


def with_sum(reading: Reading, end: sp.Symbol) -> Reading | None:
    """The reading that also speaks of sums up to the last round, with and without weights; None without a step."""
    over = next((at for fact in reading.facts if (at := _round(reading, fact)) is not None), None)
    moving = [one for one in reading.atoms(Named, *_MOVING) if over in one.free_symbols]
    if over is None or not moving or not Sort.NATURAL.fits(end):
        return None
    total = sum_over(over, end)
    numbers = [one if isinstance(one, _MOVING) else norm2(one) for one in moving]
    return with_ends(replace(reading, spoken=tuple(total(over**n * one) for one in numbers for n in (0, 1))))


def with_ends(reading: Reading) -> Reading:
    """The reading that also speaks of functions at the next, the first and the last point where these are named."""
    spoken: list[sp.Expr] = [sum_over(one.bound, one.outside)(one.body) for one in reading.atoms(Least)]
    reading = replace(reading, spoken=(*reading.spoken, *spoken))
    spoken, named = [], {*reading.atoms(Named)}
    for total, (f, points) in product(sums(reading), reading.functions.items()):
        moving = [
            at for at in points if total.index in at.free_symbols and _next(at, total.index).atoms(Named) <= named
        ]
        for at in moving:
            places = (total.index, total.index + 1, sp.S.Zero, total.total)
            spoken += [Value(f, at.xreplace({total.index: place})) for place in places]
    return replace(reading, spoken=(*reading.spoken, *spoken))


def apart(reading: Reading, x: sp.Expr, y: sp.Expr) -> bool:
    """Whether two points are of rounds that do not follow each other: what is between them adds nothing to a sum."""
    moving = {total.index for total in sums(reading)}
    named = [{one for one in at.atoms(Named) if one.args[1:]} for at in (x, y)]
    still = [{one.args[0] for one in found if not one.free_symbols & moving} for found in named]
    families = [{one.args[0] for one in found} for found in named]
    met = bool(moving) and x != y and bool(still[0] & families[1] or still[1] & families[0])
    return met and not _following(x, y)


def _following(x: sp.Expr, y: sp.Expr) -> bool:
    """Whether two points are a family's members of one round and of the next."""
    same = isinstance(x, Named) and isinstance(y, Named) and x.args[0] == y.args[0]
    gaps = [a - b for a, b in zip(x.args[1:], y.args[1:], strict=True)] if same else []
    return {*gaps} - {0} in ({1}, {-1})


def lengths(reading: Reading) -> list[sp.Expr]:
    """The vectors whose norms are spoken of, and those from a point to that of the next round."""
    steps = [y - x for points in reading.functions.values() for x, y in combinations(points, 2) if _following(x, y)]
    return list(dict.fromkeys((*reading.norms, *steps)))


def weights(reading: Reading, total: Operator) -> list[sp.Expr]:
    """What terms under a sum are multiplied by that depends on its index; 1 first."""
    found = [sp.S.One]
    for one in reading.atoms(Total, TotalVector) if total.is_sum else ():
        if one.operator == total:
            for term in parts(one.body).values() if is_vector(one.body) else [one.body]:
                factors = _weighing(term, total)
                members = [f for f in factors if isinstance(f, AppliedUndef)]
                if members or isinstance(one, Total):
                    found += [sp.Mul(*(f for f in factors if f not in members)), *members, sp.Mul(*factors)]
                    found += [sp.Mul(*pair) for pair in combinations(members, 2)]
    return list(dict.fromkeys(found))


def weighed(reading: Reading) -> bool:
    """Whether members of a family are summed with weights that are a family too."""
    return any(w.atoms(AppliedUndef) for one in reading.operators if one.is_sum for w in weights(reading, one))


def scattered(reading: Reading, known: Iterable[Relation]) -> Iterator[Use]:
    """What the members of a sum differ from it, squared, where members have weights; else Jensen's inequality."""
    if weighed(reading):
        for one in sorted(set().union(*(fact.slack.atoms(TotalVector) for fact in known)), key=str):
            for member in parts(one.body) if one.operator.is_sum else ():
                if one.operator.index in member.free_symbols and parts(one.body)[member] != 1:
                    yield rules.square(f"square of what {member} differs from {one}", member - one)
    for one in (power.base for power in reading.atoms(sp.Pow) if power.exp == 2 and isinstance(power.base, Total)):
        factors = _weighing(one.body, one.operator)
        if one.operator.is_sum and factors and factors != [one.body]:
            member = one.body / sp.Mul(*factors)
            yield rules.square(f"square of what {member} differs from {one}", member - one)
        yield rules.jensen(f"square of {one}", one.operator, one.body)
    for one in reading.atoms(Total):
        if one.body.is_Pow and one.body.exp == 2:
            yield rules.jensen(f"square of the sum of {one.body.base}", one.operator, one.body.base)


def _weighing(term: sp.Expr, total: Operator) -> list[sp.Expr]:
    """The factors of a term under a sum that may weigh what is summed."""
    return [factor for factor in sp.Mul.make_args(term) if total.index in factor.free_symbols and _plain(factor)]


def _plain(factor: sp.Expr) -> bool:
    """Numbers of the index alone, and members of a sequence that is not negative."""
    if isinstance(factor, AppliedUndef):
        return bool(factor.is_nonnegative)
    return not factor.atoms(Value, AppliedUndef, Norm, Total, Basis)


def _next(term: sp.Expr, index: sp.Symbol) -> sp.Expr:
    return term.xreplace({index: index + 1})


def telescoped(reading: Reading) -> Iterator[Use]:
    """Uses of the rule of telescoping sums for what a claim speaks of at t and at t + 1."""
    for total in sums(reading):
        t = total.index
        numbers = [one for one in reading.atoms(*_MOVING) if t in one.free_symbols]
        moving: list[sp.Expr] = [one for one in numbers if _next(one, t) in numbers]
        vectors = [one for one in reading.atoms(Named) if t in one.free_symbols]
        steps = [one for one in vectors if _next(one, t) in vectors]
        still = [one for one in reading.bases if t not in one.free_symbols]
        moving += [dot(u, v) for n, u in enumerate(steps) for v in steps[n:]]
        moving += [dot(u, v) for u, v in product(steps, still) if v.atoms(Index) <= u.atoms(Index)]
        moving += [one for one in reading.atoms(sp.Pow) if t in one.exp.free_symbols]
        for one, weight in product(moving, weights(reading, total)):
            nest = [each for each in reading.operators if each.index in one.free_symbols and each.index != t]
            value = weight * under(nest, one)
            yield rules.telescoping(f"telescoping sum of {value} over {t}", t, total.total, value)


def at_value(reading: Reading, value: sp.Expr) -> tuple[list[Fact], list[Use]]:
    """What holds for every round, at one round, with the uses that show it."""
    facts: list[Fact] = []
    uses: list[Use] = []
    for fact in reading.facts:
        if (over := _round(reading, fact)) is not None:
            name = f"{fact.name} at {over} = {value}"
            relation = fact.relation.subs({over: value})
            facts.append(Fact(name, relation, name, tuple(one for one in fact.forall if one != over)))
            uses.append(rules.at(name, over, value, given=fact.name))
    return facts, uses


def at_ends(reading: Reading) -> tuple[Reading, list[Use]]:
    """A claim about sums with what bounds numbers of every round at the last one too, and the uses that show it."""

    def bounds(fact: Fact) -> bool:
        numbers = fact.relation.slack.atoms(AppliedUndef)
        return fact.relation.op != "==" and bool(numbers) and all(one.args == fact.forall for one in numbers)

    of_one = replace(reading, facts=tuple(fact for fact in reading.facts if bounds(fact)))
    found = [at_value(of_one, total.total) for total in sums(reading)]
    facts = [fact for more, _ in found for fact in more]
    return replace(reading, facts=(*reading.facts, *facts)), [use for _, uses in found for use in uses]


def inside(side: sp.Expr, operator: Operator) -> sp.Expr:
    """What stands under a mean, without it."""

    def is_under(term: sp.Expr) -> bool:
        return isinstance(term, Total | TotalVector) and term.operator == operator

    return sp.expand(side.replace(is_under, lambda term: term.body))


def triangles(use: Use, equation: Relation, v: sp.Expr) -> Iterator[list[Use]]:
    """Uses that bound the norm of what speaks of the next round, by summands and by what it was a round before."""
    (over, value), (of,) = use.terms, use.given
    left, right = equation.left, equation.right
    if not (isinstance(left, Named) and value.is_Symbol and left.xreplace({over: value}) in parts(v)):
        return
    total = v.xreplace({value: over})
    whole, before = total.xreplace({left: right}), total.xreplace({left: left.xreplace({over + 1: over})})
    for first in (sp.S.Zero, before):
        rest = [c * basis for basis, c in parts(whole - first).items()]
        every = f"triangle inequality for {total}" + (f" from {first}" if first != 0 else "")
        yield [
            rules.triangle(every, total, *([first] if first != 0 else []), *rest, given=of),
            rules.at(f"{every} at {over} = {value}", over, value, given=every),
        ]


def _round(reading: Reading, fact: Fact, claimed: bool = False) -> sp.Symbol | None:
    """The round for every value of which a fact holds: an index of no mean, and of the claim only if `claimed`."""
    averaged = {one.index for one in reading.operators if not one.is_sum}
    times = [s for s in fact.forall if s not in averaged and (claimed or s not in reading.goal.free_symbols)]
    return times[0] if len(times) == 1 else None


def members(reading: Reading) -> tuple[Reading, list[Use]]:
    """The claim with what holds for every round at the rounds of which the claim speaks, and the uses that show it."""
    steps: dict[Any, sp.Expr] = {}
    for fact in reading.facts:
        over, left = _round(reading, fact), fact.relation.left
        if over is not None and isinstance(left, Named | AppliedUndef):
            shifts = [place - over for place in left.args if place.has(over)]
            steps |= {_family(left): shift for shift in shifts if shift.is_Integer}
    new = [one for side in sides(reading.goal) for one in side.atoms(Named, AppliedUndef)]
    found: list[sp.Expr] = []
    for _ in range(_BACK):
        known = [(steps[_family(one)], one.args) for one in new if _family(one) in steps]
        values = [place - shift for shift, places in known for place in places if place.is_integer]
        values = [value for value in values if value.is_nonnegative]
        values = [value for value in dict.fromkeys(values) if value not in found]
        found += values
        new = [
            term.xreplace({over: value})
            for value in values
            for fact in reading.facts
            if (over := _round(reading, fact)) is not None
            for term in fact.relation.right.atoms(Named, AppliedUndef)
        ]
    facts = [one for one in reading.facts if _round(reading, one) is None]
    uses: list[Use] = []
    for value in found:
        more, used = at_value(reading, value)
        facts += more
        uses += used
    return replace(reading, facts=tuple(facts)), uses


def _family(term: sp.Expr) -> sp.Basic:
    return term.args[0] if isinstance(term, Named) else term.func


def along(use: Use, name: str, w: sp.Expr) -> list[Use]:
    """The uses that show an equation of vectors at one round along a vector."""
    (over, value), (of,) = use.terms, use.given
    every = f"{of} along {w}"
    return [rules.along(every, w, given=of), rules.at(name, over, value, given=every)]


def minima(reading: Reading) -> Iterator[Use]:
    """The least of several numbers and their weighed sums."""
    for one in reading.atoms(Least):
        for weight in weights(reading, sum_over(one.bound, one.outside)):
            yield rules.minimum(f"{one} and the sum" + (f" weighed by {weight}" if weight != 1 else ""), one, weight)


def tangents(reading: Reading) -> Iterator[Use]:
    """1 + u <= exp(u) for exponents u and what they are multiples of, (1 + u)^k <= exp(k u), and tangents of logs."""
    for one in reading.atoms(sp.exp):
        u = sp.expand(one.args[0])
        steps = [by for end in ends(reading) if (by := u.coeff(end)) != 0]
        for by in (*(steps or [u]), *(by / abs(times) for by in steps if abs(times := by.as_coeff_Mul()[0]) != 1)):
            yield rules.tangent_of_exp(f"tangent of exp at {by}", by)
    for one in reading.atoms(sp.Pow):
        if one.exp in ends(reading) and (one.base - 1).is_nonnegative:
            yield rules.tangent_of_exp(f"tangent of exp at {one.base - 1}, {one.exp} times", one.base - 1, one.exp)
    of = [sp.S.One, *(one.args[0] for one in reading.atoms(ln))]
    for a, b in permutations(of, 2):
        yield rules.tangent_of_ln(f"tangent of ln from {a} to {b}", a, b)


def first(end: sp.Symbol) -> int:
    """The first number of rounds."""
    return 1 if sort_of(end) is Sort.POSITIVE_NATURAL else 0


def at_round(reading: Reading, end: sp.Symbol, value: sp.Expr, name: str) -> tuple[Reading, list[Use]]:
    """What induction asks: the claim at one number of rounds, with what is known of the round before it.

    In the step the claim before it is the fact called `name`.
    """
    facts = [one for one in reading.facts if end not in one.relation.free_symbols and _round(reading, one) is None]
    uses: list[Use] = []
    for before in map(sp.Integer, range(int(value))) if value.is_Integer else [value - 1]:
        more, used = at_value(reading, before)
        facts += more
        uses += used
    if not value.is_Integer:
        facts.append(Fact(name, reading.goal, name))
        sums = (one for side in (reading.goal.left, reading.goal.right) for one in side.atoms(Total))
        for one in sorted((one for one in sums if one.operator.total == end), key=str):
            uses.append(rules.last_term(f"last term of {one}", one.bound, end, one.body))
    return replace(reading, goal=reading.goal.subs({end: value}), facts=tuple(facts)), uses
