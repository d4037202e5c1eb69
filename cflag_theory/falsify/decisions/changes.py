"""Small changes of a statement about numbers: one more hypothesis, or one edit of a relation, the smallest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations, zip_longest

import sympy as sp

from cflag_theory.claims.engine.relation import Relation

HYPOTHESIS, EDIT, PREMISE = "hypothesis", "edit", "edited hypothesis"
#: Two numbers of a statement are compared, exchanged or set equal only if it speaks of so many at most.
_MOST_NUMBERS = 14


@dataclass(frozen=True)
class Change:
    """A change of a statement."""

    #: "hypothesis": one more. "edit": of the claim itself. "edited hypothesis": of one that is given.
    kind: str
    #: For people.
    words: str
    #: The changed claim.
    goal: Relation
    #: The changed hypotheses.
    given: tuple[Relation, ...]
    #: The hypothesis that is new.
    added: Relation | None
    #: How large the change is: smaller ones are proposed first.
    cost: int


def changes(goal: Relation, given: Sequence[Relation], fixed: int = 0) -> Iterator[Change]:
    """All changes that are tried, of every kind in turn, the smallest first.

    The first `fixed` of what is given are definitions, and stay.
    """
    given = tuple(given)
    kinds = [_edits(goal, given), _hypotheses(goal, given), _premises(goal, given, fixed)]
    seen: set[tuple[Relation, tuple[Relation, ...]]] = {(goal, given)}
    for turn in zip_longest(*(sorted(kind, key=lambda one: one.cost) for kind in kinds)):
        for change in turn:
            if change is not None and (change.goal, change.given) not in seen:
                seen.add((change.goal, change.given))
                yield change


def _numbers(relations: Sequence[Relation]) -> list[sp.Symbol]:
    return sorted({s for one in relations for s in one.left.free_symbols | one.right.free_symbols}, key=str)


# One more hypothesis


def _hypotheses(goal: Relation, given: tuple[Relation, ...]) -> Iterator[Change]:
    for added, cost in dict(catalogue(goal, given)).items():
        yield Change(HYPOTHESIS, f"assume {added}", goal, (*given, added), added, cost)


def catalogue(goal: Relation, given: tuple[Relation, ...]) -> Iterator[tuple[Relation, int]]:
    """Signs of factors, ranges of numbers, relations between two, products below a number, and the gap's factors."""
    for factor in factors(goal):
        yield from _signs(factor, 10)
    numbers = _numbers([goal, *given])
    for one in _numbers([goal, *given]):
        yield Relation(one, "==", sp.S.Zero), 14
        if not one.is_nonnegative:
            yield Relation(sp.S.Zero, "<=", one), 11
            yield Relation(one, "<=", sp.S.Zero), 12
        if not one.is_positive:
            yield Relation(sp.S.Zero, "<", one), 11
        yield Relation(one, "<=", sp.S.One), 12
        yield Relation(one, "<", sp.S.One), 13
        yield Relation(sp.S.One, "<=", one), 12
        if one.is_integer:
            yield Relation(sp.Integer(2), "<=", one), 12
    for factor in _gap_factors(goal, given):
        yield Relation(factor, "==", sp.S.Zero), 15
        yield from _signs(factor, 16)
    if len(numbers) <= _MOST_NUMBERS:
        for u, v in permutations(numbers, 2):
            yield Relation(u, "<=", v), 13
        for u, v in combinations(numbers, 2):
            yield Relation(u, "==", v), 15
            yield Relation(u + v, "==", sp.S.One), 15
        yield from _products(goal, given, numbers)


def _products(
    goal: Relation, given: Sequence[Relation], numbers: Sequence[sp.Symbol]
) -> Iterator[tuple[Relation, int]]:
    """A number against a product of two others, and products of two or three against simple fractions."""
    for u in numbers:
        for v, w in combinations(numbers, 2):
            if u not in (v, w):
                yield Relation(u, "<=", v * w), 17
                yield Relation(v * w, "<=", u), 17
                yield Relation(u, "==", v * w), 18
    positive = [one for one in numbers if one.is_positive]
    for size in (2, 3):
        for chosen in combinations(positive, size):
            for bound in (sp.S.One, sp.Rational(1, 2), sp.Rational(1, 4), sp.Integer(2)):
                yield Relation(sp.Mul(*chosen), "<=", bound), 14 + size


def factors(goal: Relation) -> list[sp.Expr]:
    """Sums that stand as factors on a side, such as 1 - alpha L."""
    found: list[sp.Expr] = []
    for side in (goal.left, goal.right):
        for term in sp.preorder_traversal(side):
            if isinstance(term, sp.Mul):
                for factor in term.args:
                    base = factor.base if isinstance(factor, sp.Pow) else factor
                    if isinstance(base, sp.Add) and base not in found:
                        found.append(base)
    return found


def _signs(factor: sp.Expr, cost: int) -> Iterator[tuple[Relation, int]]:
    """That a sum is not negative, or not positive, with its positive terms on one side."""
    terms = sp.Add.make_args(sp.expand(factor))
    minus = sp.Add(*(-term for term in terms if term.could_extract_minus_sign()))
    plus = sp.Add(*(term for term in terms if not term.could_extract_minus_sign()))
    yield Relation(minus, "<=", plus), cost
    yield Relation(plus, "<=", minus), cost + 1
    yield Relation(minus, "<", plus), cost + 1
    yield Relation(plus, "<", minus), cost + 2


def _gap_factors(goal: Relation, given: Sequence[Relation]) -> list[sp.Expr]:
    """Factors of right minus left, after what is defined by an equation is put in."""
    gap = goal.slack
    for one in given:
        if one.op != "==":
            continue
        for symbol in sorted(one.slack.free_symbols & gap.free_symbols, key=str):
            slope = sp.expand(one.slack).coeff(symbol)
            rest = sp.expand(one.slack - slope * symbol)
            if (
                slope != 0
                and not slope.has(symbol)
                and not rest.has(symbol)
                and (one.left == symbol or slope.is_number)
            ):
                gap = gap.subs(symbol, -rest / slope)
                break
        else:
            solved = one.left if one.left.is_Symbol else None
            if solved is None and isinstance(one.left, sp.Mul):
                solved = next((s for s in one.left.args if s.is_Symbol and gap.has(s) and not one.right.has(s)), None)
            if solved is not None and gap.has(solved):
                gap = gap.subs(solved, sp.cancel(one.right / (one.left / solved)))
    try:
        above = sp.fraction(sp.cancel(sp.together(gap)))[0]
        size = max(len(sp.Add.make_args(sp.expand(above))), 2)
        factors = [factor for factor, _ in sp.factor_list(above)[1] if len(factor.free_symbols) > 1]
        # A factor that is most of the gap would be the claim in other words.
        return [one for one in factors if 2 * len(sp.Add.make_args(one)) <= size]
    except sp.PolynomialError:
        return []


def coefficients(goal: Relation) -> Iterator[tuple[sp.Rational, Callable[[Fraction], Relation]]]:
    """The numbers on the right side, the number 1 before it among them, each with the claim that has another there."""
    found = [((), sp.S.One), *((path, part) for path, part in places(goal.right) if part.is_Rational)]
    for path, number in found[:8]:

        def changed(value: Fraction, path: tuple[int, ...] = path, number: sp.Rational = number) -> Relation:
            other = sp.Rational(value.numerator, value.denominator)
            right = put(goal.right, path, other) if path or number != 1 else other * goal.right
            return Relation(goal.left, goal.op, right)

        yield number, changed


# Edits of a relation


def _edits(goal: Relation, given: tuple[Relation, ...]) -> Iterator[Change]:
    numbers = _numbers([goal, *given])
    for relation, words, cost in _edited(goal, numbers):
        yield Change(EDIT, words, relation, given, None, cost)


def _premises(goal: Relation, given: tuple[Relation, ...], fixed: int) -> Iterator[Change]:
    for place in range(fixed, len(given)):
        for relation, words, cost in _edited(given[place], _numbers([goal, *given])):
            changed = (*given[:place], relation, *given[place + 1 :])
            yield Change(PREMISE, f"in {given[place]}: {words}", goal, changed, relation, cost + 10)


def _edited(one: Relation, numbers: Sequence[sp.Symbol]) -> Iterator[tuple[Relation, str, int]]:
    if one.op == "==":
        yield Relation(one.left, "<=", one.right), "<= in place of =", 2
        yield Relation(one.right, "<=", one.left), ">= in place of =", 2
    if one.op == "<":
        yield Relation(one.left, "<=", one.right), "<= in place of <", 2
    for left, words, cost in _side_edits(one.left, numbers):
        yield Relation(left, one.op, one.right), f"left: {words}", cost
    for right, words, cost in _side_edits(one.right, numbers):
        yield Relation(one.left, one.op, right), f"right: {words}", cost
    used = _numbers([one])
    for u, v in combinations(used, 2):
        swap = {u: v, v: u}
        if one.left.has(u) or one.left.has(v):
            yield Relation(one.left.xreplace(swap), one.op, one.right), f"left: exchange {u} and {v}", 5
        if one.right.has(u) or one.right.has(v):
            yield Relation(one.left, one.op, one.right.xreplace(swap)), f"right: exchange {u} and {v}", 5


def _side_edits(side: sp.Expr, numbers: Sequence[sp.Symbol]) -> Iterator[tuple[sp.Expr, str, int]]:
    """One change at one place of an expression."""
    for path, part in places(side):
        for new, words, cost in _local(part, numbers):
            yield put(side, path, new), words, cost
    for number in (2, sp.Rational(1, 2), 3, 4, -1):
        yield number * side, f"{number} times the side", 3


def _local(part: sp.Expr, numbers: Sequence[sp.Symbol]) -> Iterator[tuple[sp.Expr, str, int]]:
    if part.is_Rational:
        for number in (-part, 2 * part, part / 2, part + 1, part - 1, 3 * part, 4 * part, part / 4, part**2):
            yield number, f"{number} in place of {part}", 3
        return
    if part.is_Symbol:
        yield part**2, f"{part}^2 in place of {part}", 3
        yield sp.S.One, f"drop the factor {part}", 4
        for other in numbers:
            if other != part:
                yield other, f"{other} in place of {part}", 6
                yield part * other, f"{part} {other} in place of {part}", 6
                if other.is_positive:
                    yield part / other, f"{part}/{other} in place of {part}", 6
        yield part - 1, f"{part} - 1 in place of {part}", 5
        yield part + 1, f"{part} + 1 in place of {part}", 5
        return
    if isinstance(part, sp.Pow) and part.exp.is_Integer:
        for power in (1, part.exp + 1, part.exp - 1, 2 * part.exp):
            yield part.base**power, f"the power {power} of {part.base}", 3
        for other in numbers:
            yield other**part.exp, f"{other} in place of {part.base}", 6
    if isinstance(part, sp.Add | sp.Mul | sp.Pow):
        yield -part, f"the opposite sign of {part}", 3
        yield 2 * part, f"2 times {part}", 4
        for other in numbers:
            yield other * part, f"the factor {other} before {part}", 6
            if other.is_positive:
                yield part / other, f"{part} divided by {other}", 6
    if isinstance(part, sp.Add) and len(part.args) <= 6:
        for t, u in combinations(part.args, 2):
            for by_t, by_u in ((1, 2), (2, 1), (2, 2), (1, 1)):
                how = f"{'drop' if by_t == 1 else 'the opposite sign of'} {t}, {'drop' if by_u == 1 else 'of'} {u}"
                yield part - by_t * t - by_u * u, how, 7
        for term in part.args:
            yield -part + term, f"the opposite sign of {part - term}, drop {term}", 7
    if isinstance(part, sp.Add):
        for term in part.args:
            yield part - term, f"drop {term}", 4
            yield part - 2 * term, f"the opposite sign of {term}", 3
            yield part + term, f"2 times {term}", 4
    if isinstance(part, sp.Mul):
        for factor in part.args:
            if not factor.is_number:
                yield part / factor, f"drop the factor {factor}", 4


def places(expr: sp.Expr, path: tuple[int, ...] = ()) -> Iterator[tuple[tuple[int, ...], sp.Expr]]:
    yield path, expr
    if isinstance(expr, sp.Add | sp.Mul):
        for place, part in enumerate(expr.args):
            yield from places(part, (*path, place))
    elif isinstance(expr, sp.Pow):
        yield from places(expr.base, (*path, 0))


def put(expr: sp.Expr, path: tuple[int, ...], new: sp.Expr) -> sp.Expr:
    if not path:
        return new
    parts = list(expr.args)
    parts[path[0]] = put(parts[path[0]], path[1:], new)
    return expr.func(*parts)
