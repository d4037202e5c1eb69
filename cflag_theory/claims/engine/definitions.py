"""Definitions: equations that introduce something, and so assume nothing.

A set of definitions is accepted if each of them determines something of its own, a symbol or the members of a
sequence, from what comes before it. Then every choice of the other quantities can be completed to a solution. What
fails this restricts those quantities: it is a hypothesis, and belongs among them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine import algebra
from cflag_theory.claims.engine.claim import SETTING, Fact, Statement
from cflag_theory.claims.engine.descent import Arcs, endless, reachable
from cflag_theory.claims.engine.operators import Atom, Binder, Index, Largest, Least, TotalVector
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.terms import Basis, Function, Gradient, Named, Term, is_vector, ln, parts

Relations = tuple[Relation, ...]


@dataclass(frozen=True)
class Definition:
    """An equation with what it defines: `term` to the power `power` is `value`, or exp of it is, if `power` is 0.

    `nonzero` is what `value` was divided by.
    """

    term: sp.Expr
    power: int
    value: sp.Expr
    nonzero: sp.Expr

    @property
    def head(self) -> Any:
        """The symbol or the sequence."""
        return _head(self.term)

    @property
    def running(self) -> frozenset[sp.Symbol]:
        """The symbols for every value of which it holds: the indices of the defined member."""
        return frozenset() if self.term.is_Symbol else frozenset(self.term.free_symbols)


@cache
def quantified(statement: Statement) -> list[tuple[Fact, frozenset[sp.Symbol]]]:
    """The facts of a statement with the indices for every value of which they hold."""
    found = [(fact, frozenset(fact.forall)) for fact in statement.hypotheses]
    for fact, what in zip(statement.definitions, _meanings(statement), strict=True):
        running = what.running if isinstance(what, Definition) else indices(fact)
        found.append((fact, running | {*fact.forall}))
    return found


def assumptions(statement: Statement) -> tuple[Fact, ...]:
    """What a statement assumes: its hypotheses, and those of its definitions that restrict something."""
    meanings = zip(statement.definitions, _meanings(statement), strict=True)
    return (*statement.hypotheses, *(fact for fact, what in meanings if isinstance(what, str)))


@cache
def _meanings(statement: Statement) -> tuple[Definition | str, ...]:
    # A symbol that has a meaning is nothing new: an equation for it restricts what it means.
    found = defined(
        *(tuple(f.relation.unfolded for f in facts) for facts in (statement.definitions, statement.hypotheses))
    )
    return tuple(_of_its_own(what, fact) for what, fact in zip(found, statement.definitions, strict=True))


def _of_its_own(what: Definition | str, fact: Fact) -> Definition | str:
    """No definition is an equation for every value of an index on which the defined term does not depend."""
    if isinstance(what, str):
        return what
    more = ({*fact.forall} & fact.relation.unfolded.slack.free_symbols) - what.running
    return f"{what.term} is the same for every {min(more, key=str)}" if more else what


def settings_faults(statement: Statement, used: tuple[Fact, ...]) -> list[str]:
    """Which of the settings that a proof uses says something of what is said already, or of itself.

    Each must say something new: a member of a vector, the mean of one, or where a function is least, of which neither
    the statement's definitions nor another setting speak. What solves a recursion among them says nothing more.
    """
    said = [d for d in _meanings(statement) if isinstance(d, Definition)]
    equations = [fact for fact in used if fact.relation.op == "=="]
    equations = [fact for fact in equations if not _is_solution(fact.relation, equations)]
    open = sorted(((fact, [*_said_by(fact.relation.unfolded)]) for fact in equations), key=lambda one: len(one[1]))
    # Ranges restrict nothing together: a table of zeros has every one. One that no step cites bounds its table too.
    assumed = {*map(_head, _terms(*(fact.relation.unfolded.slack for fact in statement.hypotheses)))}
    heads = {d.head for d in said}
    ranges = {fact: fact.relation.left.func for fact in SETTING.values() if fact.relation.op != "=="}
    bounded = [fact for fact, table in ranges.items() if table not in heads and (fact in used or table not in assumed)]
    wrong = _system(open, said, tuple(fact.relation for fact in bounded if _is_general(fact)))
    names = (wrong, *(fact.name for fact in used if ranges.get(fact) in heads))
    return [f"the setting {n!r} restricts what is said elsewhere: make it a hypothesis" for n in names if n is not None]


def _is_general(fact: Fact) -> bool:
    """Whether a range is one of every entry of a table."""
    table, end, every = fact.relation.left, fact.relation.right, running(fact)
    return len(every & {*table.args}) == len(table.args) and end.free_symbols <= every


def _system(open: list[tuple[Fact, list[Definition]]], said: list[Definition], ranges: Relations) -> str | None:
    """None if every setting can say something that no other does, and no circle comes of it; or the name of one."""
    if not open:
        return None
    (fact, choices), *rest = open
    new = (d for d in choices if all((d.value, o.value) == (0, 0) or not _overlap(d.term, o.term) for o in said))
    tried = (_system(rest, [*said, d], ranges) for d in new if not endless(_uses([*said, d], ranges)))
    return None if None in tried else fact.name


def _is_solution(one: Relation, equations: list[Fact]) -> bool:
    """Whether an equation v(k) = sum_{j<k} w(j) is what v(0) = 0 and v(k + 1) = v(k) + w(k) among the others give."""
    v, total = one.left, one.right
    if not (isinstance(v, Named) and isinstance(total, TotalVector) and total.operator.is_sum):
        return False
    k, step = total.outside, total.body.xreplace({total.bound: total.outside})
    if not k.is_Symbol or v.has(total.bound) or k in total.body.free_symbols:
        return False
    given = {(fact.relation.left, fact.relation.right) for fact in equations}
    return (v.xreplace({k: sp.S.Zero}), sp.S.Zero) in given and (v.xreplace({k: k + 1}), v + step) in given


def _said_by(setting: Relation) -> Iterator[Definition]:
    """What a setting can define: its left side, what stands under its mean, or a vector on its right."""
    whole, left, right = setting.left, setting.left, setting.right
    while isinstance(left, TotalVector):
        if not left.operator.total.is_positive and right != 0:
            return  # A sum of no terms is 0.
        left = left.body
    if isinstance(left, Gradient) and right == 0 and not whole.free_symbols | left.args[1].free_symbols:
        # A function, or a mean of them, is least there.
        yield Definition(left.args[0], 1, left.args[1], sp.S.One)
    bound = left.free_symbols - whole.free_symbols
    if isinstance(left, Named) and not bound & right.free_symbols and _determines(left):
        yield Definition(left, 1, right, sp.S.One)
    own = {s for s in whole.free_symbols if not s.is_positive}
    for basis, factor in (parts(right) if is_vector(right) else {}).items():
        rest = whole - (right - factor * basis)
        # A vector without indices is any vector: no setting says what it is from the right.
        if isinstance(basis, Named) and own and own <= basis.free_symbols and factor.is_nonzero and _determines(basis):
            yield Definition(basis, 1, rest, factor)


def indices(fact: Fact) -> frozenset[sp.Symbol]:
    """The indices of a fact that holds at every index: those of its left side, or else of its right side.

    None for the value of a symbol or of a product of them: that is about one value of each index.
    """
    sides = (fact.relation.left, fact.relation.right)
    if isinstance(sides[0], Index):
        # What a member of a range stands for, whatever the range's end.
        return frozenset(sides[1].free_symbols)
    of_symbols = sides[0].free_symbols and not sides[0].atoms(AppliedUndef, Basis)
    for side in sides[:1] if of_symbols and fact.relation.op == "==" else sides:
        # The end of a sum is a size and no index: its terms count by what stands inside.
        terms = [term for term in side.atoms(AppliedUndef, Basis) if not isinstance(term, TotalVector)]
        found = [term.free_symbols for term in terms]
        if found:
            return frozenset().union(*found)
    return frozenset(fact.forall)


def running(setting: Fact) -> frozenset[sp.Symbol]:
    """The indices for every value of which a setting holds: not the sizes, such as the number E of local steps."""
    return frozenset(s for s in indices(setting) if not s.is_positive)


@cache
def defined(facts: Relations, hypotheses: Relations = ()) -> tuple[Definition | str, ...]:
    """What each equation defines, or what is wrong with it.

    An equation may be solved for its term: a x^n + b = 0 with a that is never 0, and a root in the range of x. That
    is shown by sympy, or else by z3 from those relations that do not depend on x.
    """
    chosen: dict[int, Definition] = {}
    # What is written as a definition first: an equation between two terms could define either.
    for i in sorted(range(len(facts)), key=lambda i: not _is_term(facts[i].left)):
        free = [d for d in _solutions(facts[i]) if not any(_overlap(d.term, old.term) for old in chosen.values())]
        if free:
            tried = ((d, _without((d.head,), given)) for given in ((), hypotheses) for d in free)
            chosen[i] = next((d for d, others in tried if _existence_fault(d, others) is None), free[0])
    uses = _uses(chosen.values())
    circular = endless(uses)
    found: dict[int, Definition | str] = {}
    # In an order in which each finds what it uses done. Signs may then be shown from what is done, and in no circle.
    done: list[Relation] = list(hypotheses)
    for i, d in sorted(chosen.items(), key=lambda item: len(reachable(item[1], uses))):
        if d in circular:
            found[i] = f"{d.term} is defined by itself"
            continue
        after = {d.head, *(other.head for other in uses if d in reachable(other, uses))}
        found[i] = _existence_fault(d, _without(after, done)) or d
        done.append(facts[i])
    return tuple(found.get(i, "it is not an equation for something that is not defined yet") for i in range(len(facts)))


def _solutions(equation: Relation) -> Iterator[Definition]:
    """The equation solved for each of its terms that allows it: the left side itself first."""
    left, right = equation.left, equation.right
    if equation.op != "==":
        return
    terms = [left] if _is_term(left) else sorted(set(_bare(left)), key=lambda t: (t.is_Symbol, str(t)))
    for term in filter(_determines, terms):
        if left == term and term not in _terms(right):
            yield Definition(term, 1, right, sp.S.One)
        elif isinstance(left, Named):
            continue
        elif left == sp.exp(term) and not right.has(term):
            yield Definition(term, 0, right, sp.S.One)
        else:
            poly = sp.Poly(equation.slack, term, domain="EX") if _polynomial(equation.slack, term) else None
            degrees = [] if poly is None else [d for (d,) in poly.monoms() if d]
            if poly is not None and len(degrees) == 1:
                a, b = poly.coeff_monomial(term ** degrees[0]), poly.coeff_monomial(1)
                yield Definition(term, degrees[0], -b / a, a)


def _determines(term: sp.Expr) -> bool:
    """Whether a member says which values its running indices have: each place is a number or a symbol plus one."""
    return all(_place(index)[0] == 0 or _place(index)[0].is_Symbol for index in _indices(term))


def _is_term(expr: sp.Expr) -> bool:
    return isinstance(expr, sp.Symbol | AppliedUndef | Named)


def _bare(expr: sp.Expr) -> Iterator[sp.Expr]:
    """The symbols and members of sequences in an expression, those inside of terms made of vectors left out."""
    if isinstance(expr, sp.Symbol | AppliedUndef):
        yield expr
    elif not isinstance(expr, Term):
        for part in expr.args:
            yield from _bare(part)


def _polynomial(expr: sp.Expr, term: sp.Expr) -> bool:
    inside = [part for part in expr.atoms(sp.exp, ln, Term) if term in _terms(part)]
    return not inside and bool(expr.is_polynomial(term))


def _overlap(new: sp.Expr, old: sp.Expr) -> bool:
    """Whether two terms may be the same number or vector: only members at different fixed places are not."""
    if _head(new) != _head(old):
        return False
    if len(_indices(new)) != len(_indices(old)):
        return True
    return not any(_apart(_place(a), _place(b)) for a, b in zip(_indices(new), _indices(old), strict=True))


def _place(index: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """An index as its symbols and a number: k + 2 is (k, 2)."""
    return index.as_coeff_Add()[::-1]  # type: ignore[no-any-return]


def _apart(a: tuple[sp.Expr, sp.Expr], b: tuple[sp.Expr, sp.Expr]) -> bool:
    """Whether two indices differ whatever their symbols, which are 0, 1, 2, ..."""
    if a[0] == b[0] == 0:
        return bool(a[1] != b[1])
    fixed, moving = (a, b) if a[0] == 0 else (b, a)
    return bool(fixed[0] == 0 and moving[0].is_nonnegative and moving[1] > fixed[1])


def _without(heads: Iterable[Any], relations: Iterable[Relation]) -> Relations:
    """The relations that say nothing of certain symbols and sequences."""
    return tuple(r for r in relations if {*heads}.isdisjoint(map(_head, _terms(r.left, r.right))))


def _existence_fault(d: Definition, others: Relations) -> str | None:
    if isinstance(d.term, Named):
        # A vector may be any.
        return None if d.power == 1 and d.nonzero == 1 else f"{d.term} is not given as a vector"
    if not d.term.is_real:
        return f"{d.term} is not declared real"
    if d.nonzero.is_nonzero is not True and not _shown(d.nonzero, "<", others) and not _shown(-d.nonzero, "<", others):
        return f"{d.nonzero} is not shown to differ from 0"
    if d.term.is_integer and not (d.power == 1 and d.value.is_integer):
        return f"{d.value} is not shown to be an integer"
    if d.power == 0 or d.term.is_positive:
        needed = "<"
    elif d.term.is_nonnegative or d.power % 2 == 0:
        needed = "<="
    else:
        return None
    return None if _shown(d.value, needed, others) else f"0 {needed} {d.value} is not shown"


def _at_least_one(expr: sp.Expr) -> bool:
    base, power = (sp.S(2), expr.args[0]) if isinstance(expr, sp.exp) else expr.as_base_exp()
    return bool(not power.is_number and power.is_nonnegative and (base - 1).is_nonnegative)


def _sign(power: sp.Expr) -> dict[str, bool]:
    base, exponent = (sp.S(2), power.args[0]) if isinstance(power, sp.exp) else power.as_base_exp()
    return {"positive" if exponent.is_positive and (base - 1).is_positive else "nonnegative": True}


@cache
def _shown(expr: sp.Expr, op: str, others: Relations) -> bool:
    """Whether 0 op expr follows from the signs of its symbols or, for z3, from the other relations."""
    # (1 + u)^n and exp(u) are 1 and more.
    whole = {term: algebra.unknown("number", term) for term in expr.atoms(*Atom)}
    expr = expr.xreplace(whole).replace(_at_least_one, lambda e: 1 + sp.Dummy("more", **_sign(e)))
    if expr.is_positive or (op == "<=" and expr.is_nonnegative):
        return True
    try:
        if op == "<=" and algebra.manifestly_nonnegative(algebra.Atoms()(expr)):
            return True
        above, under = sp.fraction(sp.together(expr))
        product = expr if under == 1 else above * under
        named = {number: term for term, number in whole.items()}
        return algebra.follows(Relation(sp.S.Zero, op, product.xreplace(named)), others)
    except sp.PolynomialError:
        return False


def _terms(*exprs: sp.Basic, bound: Mapping[sp.Expr, sp.Expr] = {}) -> set[sp.Basic]:
    """The symbols, members and functions that expressions speak of; an index bound in one is any in its range."""
    found: set[sp.Basic] = set()
    for expr in exprs:
        if isinstance(expr, Binder):
            anything = sp.Dummy(integer=True, nonnegative=True)
            if isinstance(expr, Largest | Least) or expr.operator.is_sum:
                anything = expr.outside.xreplace(bound) - (0 if isinstance(expr, Largest) else 1) - anything
            found |= _terms(expr.outside, bound=bound) | _terms(expr.body, bound={**bound, expr.bound: anything})
            continue
        if isinstance(expr, sp.Symbol | AppliedUndef | Named | Function) and expr not in bound:
            found.add(expr.xreplace(bound))
        # What is said of a function is said under its constants.
        constants = expr.properties.constants if isinstance(expr, Function) else ()
        found |= _terms(*expr.args, *constants, bound=bound)
    return found


def _head(term: sp.Expr) -> Any:
    if isinstance(term, Named | Function):
        return type(term), term.args[0]
    return term.func if isinstance(term, AppliedUndef) else term


def _indices(term: sp.Expr) -> tuple[sp.Expr, ...]:
    return tuple(term.args[1:] if isinstance(term, Named | Function) else term.args)


def _uses(definitions: Iterable[Definition], ranges: Relations = ()) -> Mapping[Definition, Mapping[Definition, Any]]:
    """What each definition uses of the others, with the arcs of `descent`."""
    return {d: {other: arcs for other in definitions if (arcs := _used(d, other, ranges))} for d in definitions}


@cache
def _used(d: Definition, other: Definition, ranges: Relations) -> frozenset[Arcs]:
    used = (term for term in _terms(d.value, d.nonzero) - d.running if _overlap(term, other.term))
    return frozenset(_arcs(d.term, term, ranges) for term in used)


def _arcs(new: sp.Expr, used: sp.Expr, ranges: Relations) -> Arcs:
    """Which indices of the used member are at most those of the defined one, or smaller; a table's, by its range."""
    found = set()
    for j, index in enumerate(_indices(used)):
        table, number = _place(index)
        limits = [one for one in ranges if one.left.func == table.func and len(one.left.args) == len(table.args)]
        ends = [number + one.right.xreplace(dict(zip(one.left.args, table.args, strict=True))) for one in limits]
        for i, own in enumerate(_indices(new)):
            gaps = [sp.sympify(own - end) for end in (index, *ends)]
            if any(gap.is_nonnegative for gap in gaps):
                found.add((i, j, any(gap.is_positive for gap in gaps)))
    return frozenset(found)
