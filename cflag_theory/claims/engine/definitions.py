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
from cflag_theory.claims.engine.claim import Fact, Statement
from cflag_theory.claims.engine.operators import Atom, Index, TotalVector
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.terms import Basis, Function, Gradient, Named, Term, is_vector, ln, parts


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


def settings_fault(statement: Statement, used: tuple[Fact, ...]) -> str | None:
    """Which of the settings that a proof uses says something of what is said already, or of itself; None if none does.

    Each must say something new: a member of a vector, the mean of one, or where a function is least, of which neither
    the statement's definitions nor another setting speak. What solves a recursion among them says nothing more.
    """
    said = [d for d in _meanings(statement) if isinstance(d, Definition)]
    equations = [fact for fact in used if fact.relation.op == "=="]
    equations = [fact for fact in equations if not _is_solution(fact.relation, equations)]
    found = _system([(fact, tuple(_said_by(fact))) for fact in equations], said)
    if isinstance(found, str):
        return f"the setting {found!r} restricts what is defined elsewhere: make it a hypothesis"
    heads = {d.head for d in found}
    ranges = (fact for fact in used if fact.relation.op != "==" and _head(fact.relation.left) in heads)
    return next((f"the setting {fact.name!r} restricts what is defined elsewhere" for fact in ranges), None)


def _system(open: list[tuple[Fact, tuple[Definition, ...]]], said: list[Definition]) -> list[Definition] | str:
    """A choice for every setting such that none speaks of what another does; or the name of one for which none fits."""
    if not open:
        return said
    left = [
        (f, [d for d in of if all((d.value, o.value) == (0, 0) or not _overlap(d, o) for o in said)]) for f, of in open
    ]
    fact, choices = min(left, key=lambda one: len(one[1]))
    rest = [one for one in open if one[0] != fact]
    tried = (_system(rest, [*said, d]) for d in choices)
    return next((found for found in tried if not isinstance(found, str)), fact.name)


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


def _said_by(fact: Fact) -> Iterator[Definition]:
    """What a setting can define: its left side, what stands under its mean, or a vector on its right."""
    left, right = fact.relation.left, fact.relation.right
    if isinstance(left, Gradient) and right == 0 and not left.free_symbols:
        yield Definition(left.args[0], 1, left.args[1], sp.S.One)
    bound: set[sp.Symbol] = set()
    while isinstance(left, TotalVector):
        bound.add(left.bound)
        left = left.body
    if isinstance(left, Named) and not bound & right.free_symbols and _only_earlier(left, right):
        yield Definition(left, 1, right, sp.S.One)
    if not is_vector(right):
        return
    own = {s for s in fact.relation.left.free_symbols if not s.is_positive}
    for basis, factor in parts(right).items():
        rest = fact.relation.left - (right - factor * basis)
        # A vector without indices is any vector: no setting says what it is from the right.
        fits = isinstance(basis, Named) and own and own <= basis.free_symbols and factor.is_nonzero
        if fits and all(term.args[0] != basis.args[0] for term in rest.atoms(Named)):
            yield Definition(basis, 1, rest, factor)


def _only_earlier(new: sp.Expr, right: sp.Expr) -> bool:
    """Whether no member of the defined vector is used but earlier ones: those in a table are, by the table's range."""
    used = [term for term in right.atoms(Named) if term.args[0] == new.args[0]]
    return all(_earlier(term, new) or any(i.atoms(AppliedUndef) for i in _indices(term)) for term in used)


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
def defined(facts: tuple[Relation, ...], hypotheses: tuple[Relation, ...] = ()) -> tuple[Definition | str, ...]:
    """What each equation defines, or what is wrong with it.

    An equation may be solved for its term: a x^n + b = 0 with a that is never 0, and a root in the range of x. That
    is shown by sympy, or else by z3 from those relations that do not depend on x.
    """
    chosen: dict[int, Definition] = {}
    # What is written as a definition first: an equation between two terms could define either.
    for i in sorted(range(len(facts)), key=lambda i: not _is_term(facts[i].left)):
        free = [d for d in _solutions(facts[i]) if not any(_overlap(d, old) for old in chosen.values())]
        if free:
            chosen[i] = next((d for given in ((), (*hypotheses,)) for d in free if _exists(d, given)), free[0])
    uses = {d: _used(d, chosen.values()) for d in chosen.values()}
    circular = _circular(uses)
    level = {d: edges.keys() for d, edges in uses.items()}
    found: dict[int, Definition | str] = {}
    # In an order in which each finds what it uses done. Signs may then be shown from what is done, and in no circle.
    done: list[Relation] = list(hypotheses)
    for i, d in sorted(chosen.items(), key=lambda item: len(_reachable(item[1], level))):
        if d in circular:
            found[i] = f"{d.term} is defined by itself"
            continue
        after = {d.head, *(other.head for other in uses if d in _reachable(other, level))}
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


def _overlap(new: Definition, old: Definition) -> bool:
    """Whether two definitions may speak of the same number: only members at different fixed places do not."""
    if new.head != old.head:
        return False
    if len(_indices(new.term)) != len(_indices(old.term)):
        return True
    return not any(_apart(_place(a), _place(b)) for a, b in zip(_indices(new.term), _indices(old.term), strict=True))


def _place(index: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """An index as its symbols and a number: k + 2 is (k, 2)."""
    return index.as_coeff_Add()[::-1]  # type: ignore[no-any-return]


def _apart(a: tuple[sp.Expr, sp.Expr], b: tuple[sp.Expr, sp.Expr]) -> bool:
    """Whether two indices differ whatever their symbols, which are 0, 1, 2, ..."""
    if a[0] == b[0] == 0:
        return bool(a[1] != b[1])
    fixed, moving = (a, b) if a[0] == 0 else (b, a)
    return bool(fixed[0] == 0 and moving[0].is_nonnegative and moving[1] > fixed[1])


def _without(heads: Iterable[Any], relations: Iterable[Relation]) -> tuple[Relation, ...]:
    """The relations that say nothing of certain symbols and sequences."""
    return tuple(r for r in relations if {*heads}.isdisjoint(map(_head, _terms(r.left, r.right))))


def _exists(d: Definition, given: Iterable[Relation]) -> bool:
    return _existence_fault(d, _without((d.head,), given)) is None


def _existence_fault(d: Definition, others: tuple[Relation, ...]) -> str | None:
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
def _shown(expr: sp.Expr, op: str, others: tuple[Relation, ...]) -> bool:
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


def _terms(*exprs: sp.Expr) -> set[sp.Expr]:
    found = set().union(*(expr.atoms(sp.Symbol, AppliedUndef, Named) for expr in exprs))
    # What is said of a function is said under its constants.
    functions = set().union(*(expr.atoms(Function) for expr in exprs))
    return found.union(*(one.free_symbols for f in functions for one in f.properties.constants))


def _head(term: sp.Expr) -> Any:
    if isinstance(term, Named | Function):
        return type(term), term.args[0]
    return term.func if isinstance(term, AppliedUndef) else term


def _indices(term: sp.Expr) -> tuple[sp.Expr, ...]:
    return tuple(term.args[1:] if isinstance(term, Named | Function) else term.args)


def _used(d: Definition, definitions: Iterable[Definition]) -> dict[Definition, set[sp.Expr]]:
    """The definitions of what a definition uses, with the members that it uses."""
    found: dict[Definition, set[sp.Expr]] = {}
    for term in _terms(d.value, d.nonzero) - d.running:
        for other in definitions:
            if other.head == _head(term):
                found.setdefault(other, set()).add(term)
    return found


def _circular(uses: Mapping[Definition, Mapping[Definition, set[sp.Expr]]]) -> set[Definition]:
    """The definitions that use themselves, directly or not, and not only through earlier members.

    Those that use each other are compared by the indices which all of them have: no use may go to a later member.
    What goes to an earlier one ends; what is left must end by the indices that its own circles have in common.
    """
    reach = {d: _reachable(d, uses) for d in uses}
    found: set[Definition] = set()
    for d in uses:
        together = {o for o in reach[d] if d in reach[o]}
        if not together or d in found:
            continue
        common = min(len(_indices(o.term)) for o in together)
        left: dict[Definition, dict[Definition, set[sp.Expr]]] = {o: {} for o in together}
        edges = [(o, to, term) for o in together for to in uses[o].keys() & together for term in uses[o][to]]
        steps = {_step(term, one.term, common) for one, _, term in edges}
        for one, to, term in edges:
            if _step(term, one.term, common) != "earlier":
                left[one].setdefault(to, set()).add(term)
        ends = "later" not in steps and "earlier" in steps
        found |= _circular(left) if ends else together
    return found


def _step(used: sp.Expr, new: sp.Expr, common: int) -> str:
    """Whether the used member is earlier than the defined one in the first indices, the same, or may be later."""
    gaps = [sp.sympify(b - a) for a, b in zip(_indices(used)[:common], _indices(new)[:common], strict=True)]
    if all(gap == 0 for gap in gaps):
        return "same"
    no_later = all(gap.is_nonnegative for gap in gaps) and any(gap.is_positive for gap in gaps)
    return "earlier" if no_later else "later"


def _earlier(used: sp.Expr, new: sp.Expr) -> bool:
    """Whether a used member of a sequence comes before the defined one: one index is smaller and none is larger."""
    return len(_indices(used)) == (count := len(_indices(new))) and _step(used, new, count) == "earlier"


def _reachable(start: Definition, uses: Mapping[Definition, Iterable[Definition]]) -> set[Definition]:
    """The definitions that one uses, directly or not."""
    seen, waiting = set[Definition](), [start]
    while waiting:
        more = {*uses[waiting.pop()]} - seen
        seen |= more
        waiting += more
    return seen
