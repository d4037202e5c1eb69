"""What an import replaces in its source, checked pair by pair, and the relations that come of it.

A symbol of the source is replaced by what lies within its sort, a function by one that declares at least as much, a
vector by any other where no setting speaks of it: the source's proof holds for these too. What a term of the source is
called here, as in ||w_t - w*||^2 = d(k), is told to readers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.symbol import Str

from cflag_theory.claims.engine.claim import SETTING, Fact, Pairs, Source, Statement
from cflag_theory.claims.engine.definitions import indices
from cflag_theory.claims.engine.examiner import names_used
from cflag_theory.claims.engine.meanings import unfold
from cflag_theory.claims.engine.operators import Binder, Operator, Total, TotalVector
from cflag_theory.claims.engine.relation import Relation, at_most, below, sides
from cflag_theory.claims.engine.sorts import Sort, sort_of
from cflag_theory.claims.engine.terms import Basis, Dot, Function, Named, Norm, is_vector, norm2, parts

#: Whether a relation, for every value of some of its indices, is among the importing statement's facts or follows.
Has = Callable[[Relation, frozenset[sp.Symbol]], bool]


def here(relation: Relation, at: Pairs) -> Relation:
    """The relation of a source in the symbols of the importing statement: everything is replaced at once."""
    marks = {old: sp.Dummy(**_sort(old).assumptions) for old, _ in at if not _is_object(old)}
    unfolded = {unfold(old): marks.get(old, unfold(new)) for old, new in at}
    values = {mark: unfold(dict(at)[old]) for old, mark in marks.items()}

    def moved(side: sp.Expr) -> sp.Expr:
        return unfold(side.xreplace(marks)).xreplace(unfolded).xreplace(values)

    return relation.map(moved)


def _is_object(old: sp.Basic) -> bool:
    """Whether a function or a vector, and no number, is replaced."""
    return isinstance(old, Function | Basis)


def _sort(expr: sp.Expr) -> Sort:
    """The sort of a symbol or a member of a sequence; of other terms, what is known of them."""
    if isinstance(expr, sp.Symbol | AppliedUndef):
        return sort_of(expr)
    return next(sort for sort in reversed(Sort) if all(getattr(expr, f"is_{told}") for told in sort.assumptions))


def _within(new: sp.Expr, sort: Sort, has: Has) -> bool:
    """Whether all that an expression can be is of a sort, by its symbols or by the facts of the statement."""
    if not new.is_real or (sort.whole and not new.is_integer):
        return False
    if sort is Sort.REAL:
        return True
    sign, least = (below, 0) if sort is Sort.POSITIVE else (at_most, sort.start)
    return bool(new.is_positive if sign is below else (new - least).is_nonnegative) or has(
        sign(least, new), frozenset()
    )


def fixed(old: sp.Expr) -> bool:
    """Whether what is replaced is no term of the source's that has a meaning or stands in a sequence."""
    return _is_object(old) or (isinstance(old, sp.Symbol) and unfold(old) == old)


def misfits(statement: Statement, fact: Fact, source: Source, origin: Statement, has: Has) -> Iterator[str]:
    """What is wrong with the pairs of a source, one by one and together."""
    olds = [old for old, _ in replaced(source, origin)]
    if len({*olds}) < len(olds):
        yield "one thing is replaced in two ways"
    for old, new in source.at:
        if isinstance(old, Function):
            yield from _function(old, new, source.at)
        elif isinstance(old, Basis):
            if not isinstance(old, Named) or not is_vector(new) or _escapes(old, new, origin):
                yield f"{new} stands for {old}: a named vector is replaced, wherever it stands, by a vector"
        elif not isinstance(old, sp.Expr) or not isinstance(new, sp.Expr) or is_vector(old) or is_vector(new):
            yield f"{new} stands for {old}: a number is replaced by a number"
        elif not _is(old, new, source.at, has):
            if not _within(unfold(new), _sort(old), has):
                yield f"{new} stands for {old}, which is {_sort(old)}, and need not be {_sort(old)}"
            if not fixed(old):
                yield from _called(old, new, statement, fact, source, origin)
    for old, new in source.taken:
        if fixed(old) or is_vector(old) or not _within(unfold(new), _sort(old), has):
            yield f"{new} is taken for {old}, a term of sort {_sort(old)}"
    moved = {old for old, new in source.at if fixed(old) and old != new}
    # Functions and vectors that the relation does not speak of any more may be any that fit what is replaced.
    shown = here(origin.relation, replaced(source, origin)) if origin.relation else None
    spoken = set() if shown is None else sp.expand(shown.slack).atoms(Function, Named)
    for function in _of(origin, Function):
        constants = function.properties.constants
        if (
            function not in olds
            and function in spoken
            and moved & set().union(*(one.free_symbols for one in constants))
        ):
            yield f"{function} is declared with a constant that is replaced"
    yield from _ends(source, origin)
    # What a setting says that a vector is, is chosen where nothing here speaks of that vector.
    known = {one.args[0] for one in (*spoken, *_of(statement, Named), *moved) if isinstance(one, Named)}
    for setting in _settings(origin):
        running = indices(setting)
        others = tuple(pair for pair in source.at if pair[0] in moved - running)
        relation = here(setting.relation, others)
        vectors = relation.slack.atoms(Function, Named)
        free = isinstance(setting.relation.left, Named) and setting.relation.left.args[0] not in known
        if relation != setting.relation and vectors & spoken and not free and not has(relation, running):
            yield f"its proof uses {setting.name!r}, which is not known of what is replaced"


def _is(old: sp.Expr, new: sp.Expr, at: Pairs, has: Has) -> bool:
    """Whether a term of the source is what stands for it, the symbols, vectors and functions in it being replaced.

    It may be a fact that it is, and that the root of a number is another one a fact about their squares.
    """
    if fixed(old):
        return False
    meant, called = _at_fixed(old, at), unfold(new)
    if sp.expand(squares(meant) - squares(called)) == 0 or has(Relation(meant, "==", called), frozenset()):
        return True
    root = isinstance(meant, sp.Pow) and meant.exp == sp.Rational(1, 2) and called.is_nonnegative
    return bool(root) and has(Relation(meant**2, "==", called**2), frozenset())


def _at_fixed(old: sp.Expr, at: Pairs) -> sp.Expr:
    """A term of the source, the symbols, vectors and functions in it being replaced."""
    return here(Relation(unfold(old), "==", sp.S.Zero), tuple(pair for pair in at if fixed(pair[0]))).left


def _escapes(old: Named, new: sp.Expr, origin: Statement) -> bool:
    """Whether a vector stands elsewhere in a source with other indices, or what replaces it has one of a mean there."""
    places = {*old.args[1:]}
    others = (one for one in _of(origin, Named) if one.args[0] == old.args[0] and one != old)
    indexed = len(places) == len(old.args) - 1 and all(isinstance(one, sp.Symbol) for one in places)
    bound = {one.bound for one in _of(origin, Binder)} | {one.index for one in _of(origin, Operator)}
    return any(True for _ in others) or not indexed or bool(bound & (new.free_symbols - places))


def replaced(source: Source, origin: Statement) -> Pairs:
    """All that is replaced in a source; of a vector with which a round ends, one of those that it is the sum of."""
    return (*source.at, *source.taken, *filter(None, (_turned(pair, source, origin) for pair in source.ends)))


def _turned(pair: tuple[sp.Expr, sp.Expr], source: Source, origin: Statement) -> tuple[sp.Expr, sp.Expr] | None:
    """A vector of those that one with which a round ends is the sum of, and what it is if that begins the next round.

    Where a statement speaks of the sum alone, and under expectations, only the law of the sum matters.
    """
    end, new = pair
    given = () if origin.relation is None else sides(origin.relation)
    for one, by in parts(unfold(end)).items() if is_vector(end) and is_vector(new) else ():
        rest = unfold(end) - by * one
        if (
            isinstance(one, Named)
            and by.is_nonzero
            and all(_in_law(unfold(side), one, rest, by, new) for side in given)
        ):
            return one, (new - _at_fixed(rest, source.at)) / _at_fixed(by, source.at)
    return None


def _in_law(expr: sp.Expr, one: Named, rest: sp.Expr, by: sp.Expr, new: sp.Expr) -> bool:
    """Whether only the law of rest + by one matters, where something is said of it.

    A mean over each of its bound indices stands around it, and the inner ones are factors. What depends on an index
    that `new` has not is then in this sum alone.
    """
    bound = {other.bound for other in sp.preorder_traversal(expr) if isinstance(other, Binder)}
    every = frozenset((rest + one).free_symbols & bound)
    fresh = every - new.free_symbols
    begun = (Named(Str("the next round"), *(new.free_symbols & every)) - rest) / by

    def fits(part: sp.Expr, indices: frozenset[Any]) -> bool:
        factors = [other for other in sp.Mul.make_args(part) if other.has(one)]
        if not any(isinstance(other, Binder) and other.has(one) for other in sp.preorder_traversal(part)):
            return not indices and not any(fresh & v.free_symbols for v in part.xreplace({one: begun}).atoms(Named))
        inner = factors[0]
        if isinstance(inner, Dot) and sum(other.has(one) for other in inner.args) == 1:
            # The mean of <v, w> is <mean v, w>, where w has not its index.
            inner = next(other for other in inner.args if other.has(one))
        mean = isinstance(inner, Total | TotalVector) and not inner.operator.is_sum and inner.bound in indices
        return mean and len(factors) == 1 and fits(inner.body, indices - {inner.bound})

    if not every:
        return not expr.xreplace({one: begun}).has(one)
    binders = [other for other in sp.preorder_traversal(expr) if isinstance(other, Binder) and other.has(one)]
    within = {part for other in binders for part in sp.preorder_traversal(other.body)}
    outermost = [other for other in binders if other not in within]
    return not expr.xreplace({other: sp.Dummy() for other in outermost}).has(one) and all(
        fits(other, every) for other in outermost
    )


def _ends(source: Source, origin: Statement) -> Iterator[str]:
    """What is wrong with the vectors with which rounds end.

    The next round begins with such a vector. So it is what begins a round there, one round later, and no setting says
    what that is, or something else of what ends the round.
    """
    said = {one.args[0] for setting in _settings(origin) for one in setting.relation.left.atoms(Named)}
    begin = {_at_fixed(one, source.at) for one in _of(origin, Named) if one.args[0] not in said}
    told = [fact.relation for fact in origin.facts if fact.name not in source.besides]
    for end, new in source.ends:
        if (turned := _turned((end, new), source, origin)) is None:
            yield f"{end} does not stand alone under expectations, where {new} has its law"
        elif not any(one != new and one.xreplace({k: k + 1}) == new for one in begin for k in one.free_symbols):
            yield f"{new} does not begin the next round"
        elif any(unfold(side).has(turned[0]) for one in told for side in sides(one)):
            yield f"{end} is spoken of in what {source.claim} assumes"


def _function(old: Function, new: Any, at: Pairs) -> Iterator[str]:
    """What a function declares that its replacement does not."""
    if not isinstance(new, Function) or len(old.args) > 1:
        yield f"{new} stands for {old}: a function that is no member of a family is replaced, by a function"
        return
    found = new.properties.declared
    for name, constant in old.properties.declared.items():
        needed, given = here(Relation(constant, "==", sp.S.Zero), at).left, found.get(name)
        enough = given is not None and (needed - given if name == "smooth" else given - needed).is_nonnegative
        if not enough:
            yield f"{new} stands for {old}, and does not declare that {name} is {needed}"


def _called(
    old: sp.Expr, new: sp.Expr, statement: Statement, fact: Fact, source: Source, origin: Statement
) -> Iterator[str]:
    """What is wrong with a name for a term of the source: it must be new, since nothing shows what it is."""
    if not isinstance(new, sp.Symbol | AppliedUndef) or unfold(new) != new:
        yield f"{new} stands for {old}, and is no new name: functions and vectors are replaced themselves, not terms"
        return
    spoken = _at_fixed(old, source.at).free_symbols | ({*fact.forall} if isinstance(new, AppliedUndef) else set())
    every = {*fact.forall, *(one.index for one in source.over if not isinstance(one, int))}
    if missing := every & spoken - new.free_symbols:
        yield f"{new} stands for {old}, and is one number for every {min(missing, key=str)}"
    if not _within(unfold(old), sort_of(new), lambda *_: False):
        yield f"{new} is {sort_of(new)}, and {old} need not be {sort_of(new)}"
    pairs = [pair for one in fact.sources for pair in one.at if (one, pair) != (source, (old, new))]
    if any(other == new for _, other in pairs):
        yield f"{new} stands for two things"
    # What the name would be known from: all but the fact itself and what it shows.
    told = [one.relation for one in (*statement.facts, *_settings(statement)) if one != fact]
    told += origin.relations if not any(old.has(_head(new)) for old, _ in source.at) else ()
    numbers = [value for one in _of(statement, Function) for value in one.properties.constants]
    numbers += [other for term, other in pairs if fixed(term)] + [name for name, _ in names(statement)]
    if _head(new) in heads(*told, *(Relation(one, "==", sp.S.Zero) for one in numbers if isinstance(one, sp.Expr))):
        yield f"{new} stands for {old}, and is known as something else"


def _head(term: sp.Expr) -> object:
    return term if term.is_Symbol else term.func


@cache
def heads(*relations: Relation | None) -> set[object]:
    """The symbols and sequences in relations, those with a meaning replaced by it."""
    found = [unfold(side) for side in sides(*filter(None, relations))]
    return set().union(*(side.free_symbols | {term.func for term in side.atoms(AppliedUndef)} for side in found))


def _settings(origin: Statement) -> list[Fact]:
    """The settings that the proof of a statement uses."""
    own = {fact.name for fact in origin.facts}
    steps = () if origin.proof is None else origin.proof.steps
    used = dict.fromkeys(name for step in steps for name in names_used(step) if name not in own)
    return [SETTING[name] for name in used if name in SETTING]


@cache
def _of(origin: Statement, kind: type) -> set[Any]:
    """The functions or vectors of a statement, its proof and the settings that it uses."""
    found: set[Any] = set()
    left: list[Any] = [origin.relations, origin.proof and origin.proof.steps, [f.relation for f in _settings(origin)]]
    while left:
        one = left.pop()
        if isinstance(one, sp.Basic):
            found |= (unfold(one) if isinstance(one, sp.Expr) else one).atoms(kind)
        elif isinstance(one, list | tuple):
            left += one
        elif hasattr(one, "__dataclass_fields__"):
            left += vars(one).values()
    return found


def names(statement: Statement) -> list[tuple[sp.Expr, sp.Expr]]:
    """What symbols of a statement stand for in the sources of its facts."""
    return list(dict.fromkeys(pair for fact in statement.facts for source in fact.sources for pair in source.here))


def naming_faults(statement: Statement, source: Source, origin: Statement, has: Has) -> Iterator[str]:
    """What is wrong with what symbols of the importing statement stand for in a source."""
    named = names(statement)
    heads = {name for name, _ in named}
    for name, meant in source.here:
        if not isinstance(name, sp.Symbol | AppliedUndef) or unfold(name) != name:
            yield f"{name} has a meaning, and stands for nothing else"
        elif not _within(unfold(meant), sort_of(name), has):
            yield f"{name} is {sort_of(name)}, and {meant} need not be {sort_of(name)}"
        if any(other != meant for one, other in named if one == name):
            yield f"{name} stands for two things"
        if meant.has(*heads) or (origin.relation is not None and origin.relation.slack.has(name)):
            yield f"{name} stands for another thing in its source"
        for fact in statement.definitions:
            if fact.relation.left.has(name) and squares(fact.relation.slack.xreplace(dict(named))) != 0:
                yield f"{name} is defined as another thing by {fact.name!r}"


@cache
def squares(expr: sp.Expr) -> sp.Expr:
    """The expression, expanded, with ||v||^2 as <v, v> where it stands under no operator."""

    def square(factor: sp.Expr) -> sp.Expr:
        of_norm = factor.is_Pow and isinstance(factor.base, Norm) and factor.exp == 2
        return norm2(factor.base.args[0]) if of_norm else factor

    terms = sp.Add.make_args(sp.expand(expr))
    return sp.expand(sp.Add(*(sp.Mul(*map(square, sp.Mul.make_args(term))) for term in terms)))
