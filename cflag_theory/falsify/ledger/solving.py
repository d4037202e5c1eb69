"""Statements between real numbers as something to draw from: which symbols are free, and how the others follow.

A proof without rules about vectors uses nothing but the statement's hypotheses and definitions, so every solution of
those is an instance of the statement. Equations are solved for a symbol in which they are linear, and inequalities
become a bound times a share, or a bound plus a slack, so that their ends are ends of a range.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.engine.claim import Statement
from cflag_theory.claims.engine.relation import Relation, equal
from cflag_theory.falsify.ranges import INTEGER, LOG, LOW, Range

#: Symbols by which definitions speak of every member of a sequence; other indices are single numbers.
_RUNNING = ("k", "t")
SHARE, SLACK, COUNT = Range(0, 1), Range(0, 8), Range(0, 8, kind=INTEGER)


@dataclass
class Plan:
    """How a solution of a statement's hypotheses and definitions is drawn.

    `goal` has symbols in place of members of sequences, which are `members`. An expression in `solved` uses `free`
    symbols and symbols solved later. `left` is what solving did not build in, and all inequalities once more: a share
    of a negative bound, or the end of a range that is open, is not an instance.
    """

    goal: Relation
    members: frozenset[sp.Symbol] = frozenset()
    free: dict[sp.Symbol, Range] = field(default_factory=dict)
    solved: list[tuple[sp.Symbol, sp.Expr]] = field(default_factory=list)
    left: list[Relation] = field(default_factory=list)

    def solve(self, symbol: sp.Symbol, value: sp.Expr) -> None:
        """Fix a symbol in everything that still mentions it."""
        self.solved.append((symbol, value))
        self.left = [relation.subs({symbol: value}) for relation in self.left]

    def in_free(self, side: sp.Expr) -> sp.Expr:
        """A formula in free symbols alone."""
        for symbol, value in self.solved:
            side = side.xreplace({symbol: value})
        return side

    @property
    def facts(self) -> list[Relation]:
        """What is left to hold: that nothing is divided by 0, signs of solved symbols, and nothing that always does."""
        signs = [Relation(sp.S.Zero, "<" if s.is_positive else "<=", s) for s, _ in self.solved if s.is_nonnegative]
        asked = [Relation(self.in_free(r.left), r.op, self.in_free(r.right)) for r in (self.goal, *signs, *self.left)]
        sides = [side for relation in asked for side in (relation.left, relation.right)]
        under = {
            power.base: None
            for side in sides
            for power in sp.postorder_traversal(side)
            if isinstance(power, sp.Pow) and power.exp.could_extract_minus_sign()
        }
        apart = [Relation(sp.S.Zero, "<", base**2) for base in under]
        return [relation for relation in dict.fromkeys((*apart, *asked[1:])) if not _always(relation)]


def _always(relation: Relation) -> bool:
    """Whether signs of symbols alone say so."""
    if relation.op == "==":
        return bool(relation.slack == 0)
    return bool(relation.slack.is_positive or (relation.op == "<=" and relation.slack.is_nonnegative))


def plan(statement: Statement, *, count: int = 2, more: Iterable[Relation] = (), spans: Mapping[str, Range]) -> Plan:
    """How to draw instances of a statement, with `count` in place of its index.

    `more` are equations that make its symbols of underlying numbers, some of which have `spans` of their own.
    """
    goal, facts = _instantiated(statement, count)
    facts += more
    terms = {}
    for term in sorted(_terms([goal, *facts]), key=str):
        signs = {sign: True for sign in ("positive", "nonnegative", "real") if getattr(term, f"is_{sign}")}
        terms[term] = sp.Symbol(f"{term.func}_{term.args[0]}", **signs)
    goal, *facts = (Relation(f.left.xreplace(terms), f.op, f.right.xreplace(terms)) for f in (goal, *facts))
    made = Plan(goal, frozenset(terms.values()), left=_on_curves(facts))
    _solve_equations(made, frozenset(spans))
    _build_in(made, frozenset(spans))
    made.left += [fact for fact in facts if fact.op != "==" and fact not in made.left]
    sides = [side for relation in (made.goal, *made.left) for side in (relation.left, relation.right)]
    used: set[sp.Symbol] = set().union(*(e.free_symbols for e in (*sides, *(value for _, value in made.solved))))
    for symbol in sorted(used - {s for s, _ in made.solved} - made.free.keys(), key=str):
        made.free[symbol] = _fitted(symbol, spans[symbol.name]) if symbol.name in spans else _range(symbol)
    return made


def _terms(relations: Iterable[Relation]) -> set[sp.Expr]:
    return {term for r in relations for side in (r.left, r.right) for term in side.atoms(AppliedUndef)}


def _indices(relations: Iterable[Relation]) -> set[sp.Symbol]:
    return {symbol for term in _terms(relations) for symbol in term.args[0].free_symbols}


def _instantiated(statement: Statement, count: int) -> tuple[Relation, list[Relation]]:
    """The relation and its facts with `count` for the statement's index, definitions for every member that matters."""
    assert statement.relation is not None
    assumed = [fact.relation for fact in statement.hypotheses]
    defined = [fact.relation for fact in statement.definitions]
    others = {symbol for symbol in _indices(defined) if symbol.name not in _RUNNING}
    at = dict.fromkeys(_indices([statement.relation, *assumed]) | others, sp.Integer(count))
    running = [r for r in defined if any(symbol.name in _RUNNING for symbol in _indices([r]))]
    goal, *facts = (r.subs(at) for r in (statement.relation, *assumed, *(r for r in defined if r not in running)))
    top = max((int(term.args[0]) for term in _terms([goal, *facts])), default=0)
    for relation in running:
        moving = {symbol for symbol in _indices([relation]) if symbol.name in _RUNNING}
        for value in range(top + 1):
            member = relation.subs(dict.fromkeys(moving, sp.Integer(value))).subs(at)
            if all(int(term.args[0]) <= top for term in _terms([member])):
                facts.append(member)
    return goal, facts


def _on_curves(facts: Sequence[Relation]) -> list[Relation]:
    """Curves by rational parameters, where no symbol is linear: the roots of the CFL paper's step sizes.

    long_root^2 = 3 eta_g^2 + 4 c eta_g^4 with c = root_c^2 where eta_g = (3/s - s) / (4 root_c) and long_root =
    eta_g (3/s + s) / 2; and cube_root_D^3 = root_D^2 where both are powers of s. The cube root of 2 is enclosed.
    """
    named = {symbol.name: symbol for fact in facts for symbol in fact.slack.free_symbols}
    s = sp.Symbol("curve", positive=True)
    kept = list(facts)
    for fact in facts:
        known: list[Relation] = []
        if "long_root" in named and fact.left == named["long_root"] ** 2:
            eta_g = named["eta_g"]
            known = [
                equal(eta_g, (3 / s - s) / (4 * named["root_c"])),
                equal(named["long_root"], eta_g * (3 / s + s) / 2),
            ]
        if "cube_root_D" in named and fact.left == named["cube_root_D"] ** 3:
            known = [equal(named["cube_root_D"], s**2), equal(named["root_D"], s**3)]
        if "cube_root_2" in named and fact.left == named["cube_root_2"] ** 3:
            known = [equal(named["cube_root_2"], sp.cbrt(2))]
        if known:
            kept.remove(fact)
            kept = [*known, *kept]
    return kept


def _solve_equations(made: Plan, underlying: frozenset[str]) -> None:
    """Solve equations one after another until none is linear in a symbol."""
    while True:
        for fact in [f for f in made.left if f.op == "=="]:
            above = sp.expand(sp.fraction(sp.together(fact.left - fact.right))[0])
            found = None if above == 0 else _linear(fact, above, made, underlying)
            if above == 0 or found is not None:
                made.left.remove(fact)
                if found is not None:
                    made.solve(*found)
                break
        else:
            return


def _linear(fact: Relation, above: sp.Expr, made: Plan, underlying: frozenset[str]) -> tuple[sp.Symbol, sp.Expr] | None:
    alone = [side for side in (fact.left, fact.right) if isinstance(side, sp.Symbol)]
    # A member of a sequence before the parameters of its recursion; what may have any sign before what may not.
    rest = sorted(above.free_symbols - set(alone), key=lambda s: (s not in made.members, *_preference(s)))
    for symbol in (s for s in [*alone, *rest] if s.name not in underlying):
        found = _end(above, symbol)
        if found and (found[1].is_integer or not symbol.is_integer):
            return symbol, found[1]
    return None


def _preference(symbol: sp.Symbol) -> tuple[bool, bool, bool, str]:
    """Counts come last: a solution seldom is a whole number."""
    return bool(symbol.is_integer), bool(symbol.is_positive), bool(symbol.is_nonnegative), str(symbol)


def _end(above: sp.Expr, symbol: sp.Symbol) -> tuple[sp.Expr, sp.Expr] | None:
    """(slope, zero) of an expression that is linear in the symbol."""
    slope = above.coeff(symbol, 1)
    rest = sp.expand(above - slope * symbol)
    if slope == 0 or rest.has(symbol) or slope.has(symbol):
        return None
    return slope, sp.factor(-rest / slope)


def _build_in(made: Plan, underlying: frozenset[str]) -> None:
    """Turn inequalities into shares and slacks where a symbol is linear in them with a known sign."""
    for _ in range(len(made.left)):
        fact = made.left.pop(0)
        if fact.op == "<=" and fact.slack.is_nonnegative:
            continue
        found = None if fact.op == "==" else _bound(fact, made, underlying)
        if found is None:
            made.left.append(fact)
        else:
            made.solve(*found)


def _bound(fact: Relation, made: Plan, underlying: frozenset[str]) -> tuple[sp.Symbol, sp.Expr] | None:
    above, under = sp.fraction(sp.together(fact.slack))
    above = sp.expand(above if under.is_positive else fact.slack)
    named = [s for s in above.free_symbols if s not in made.free and s.name not in underlying]
    for symbol in sorted(named, key=lambda s: (bool(s.is_integer), not made.goal.left.has(s), str(s))):
        found = _end(above, symbol)
        if found is None:
            continue
        slope, end = found
        if slope.is_negative and symbol.is_nonnegative and not symbol.is_integer:
            share = sp.Symbol(f"{symbol}_share", nonnegative=True)
            made.free[share] = SHARE
            return symbol, end * share
        if symbol.is_integer and not end.is_integer:
            continue
        if slope.is_negative:
            lack = sp.Symbol(f"{symbol}_lack", nonnegative=True, integer=symbol.is_integer)
            made.free[lack] = COUNT if symbol.is_integer else SLACK
            return symbol, end - lack
        if slope.is_positive and not (symbol.is_nonnegative and end.is_nonpositive):
            excess = sp.Symbol(f"{symbol}_excess", nonnegative=True, integer=symbol.is_integer)
            made.free[excess] = COUNT if symbol.is_integer else SLACK
            return symbol, end + excess
    return None


def _range(symbol: sp.Symbol) -> Range:
    """The range of a symbol of which only the sign is known."""
    if symbol.is_integer:
        return Range(1 if symbol.is_positive else 0, 16, kind=INTEGER)
    if symbol.name == "root_c":
        # The root of c_pB, which is at least 1.
        return Range(1, 64, scale=LOG)
    if symbol.name == "curve":
        return Range("1/64", "110/64")
    if symbol.is_positive:
        return Range("1/64", 64, scale=LOG)
    return Range(0 if symbol.is_nonnegative else -8, 8)


def _fitted(symbol: sp.Symbol, one: Range) -> Range:
    """The range without its end 0, where the symbol is positive."""
    return replace(one, open=LOW) if symbol.is_positive and one.low == 0 else one
