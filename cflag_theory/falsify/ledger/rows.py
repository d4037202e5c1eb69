"""The papers' claims as conjectures for the falsifier: over numbers, small vectors and functions, or exact rounds.

No stored counterexample is used: the instances are all numbers that the hypotheses allow, small vectors and functions,
or rounds of Algorithm 1 and of (67)-(68) on the line, whichever the row speaks of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.c_flag.iterates import KEPT
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement, statements
from cflag_theory.claims.engine.meanings import unfold
from cflag_theory.claims.engine.notation import E, L, beta, bias2
from cflag_theory.claims.engine.operators import Atom
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.steps import Induction, Use
from cflag_theory.claims.engine.terms import Term, ln
from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.ledger import rounds
from cflag_theory.falsify.ledger.solving import plan
from cflag_theory.falsify.ledger.vectors import realisation
from cflag_theory.falsify.quantity import Hypothesis, Quantity, by_name, quantity
from cflag_theory.falsify.ranges import Range
from cflag_theory.falsify.search.exact_numbers import DIGITS

#: Rules about numbers alone; a proof that uses no others speaks of all numbers.
_NUMERIC = frozenset({"tangent of exp", "chord of exp", "value of exp", "parabola over exp"})
#: Rows without such a proof whose symbols are numbers that anybody may choose.
_CHOSEN = """
    cfl.phi.1 cfl.phi.3 cflag.eq129.2 cflag.eq164.1 cflag.eq177.1 cflag.eq178.1 cfl.step6.2 cfl.ratio_bound.2 cfl.c2.1
    cfl.rem4_8.1 cfl.nc_eq31.1 cfl.nc_eq32.2 cfl.nc_rate.3 cfl.nqm_fig2.3 cfl.setup_overlap.4
"""
#: The constants 1 + B^2 + ... of the second moments of gradients, and shares of data or weights.
_AT_LEAST_ONE, _AT_MOST_ONE = ("c_pB", "c_pBi", "nc_c_B"), ("p_i", "share", "nc_past_weight", "nc_squares")
#: Symbols of which a statement about numbers may speak too: they alone make no statement about a run.
_PARAMETERS = {"L", "alpha", "beta", "E", "k", "m", "r", "N", "T", "grad_g", "sum2", "Lambda", "sigma"}


@dataclass(frozen=True, kw_only=True, eq=False)
class Row(Conjecture):
    """A statement over a family of exact instances: what is drawn, in words, and every symbol's value at a draw."""

    drawn: str
    facts: tuple[Hypothesis, ...]
    values: Callable[[Mapping[str, Any]], Mapping[sp.Expr, Any] | None] = field(repr=False)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """All in the same words, those of the row."""
        return self.facts

    @property
    def written(self) -> bool:
        """The sides are made of the row's: nobody wrote them."""
        return False


def rows() -> dict[tuple[str, str, str], Statement]:
    """Every statement of the ledger that is an inequality: by claim, part and "printed", "repair" or "sharp"."""
    return {
        (id, part.key, on): statement
        for id in LEDGER
        for part in claim(id).parts
        for on, statement in statements(part).items()
        if statement.relation is not None and statement.relation.op != "=="
    }


def find_part(id: str, key: str | None = None) -> tuple[Claim, Part]:
    """A part of a claim, the first without a key."""
    found = claim(id)
    for part in found.parts:
        if key in (None, part.key):
            return found, part
    keys = ", ".join(part.key for part in found.parts)
    raise UnknownName(f"{id} has no part {key!r}; its parts are {keys}")


def ledger_conjecture(id: str, part: str | None = None, *, on: str = "printed") -> Row:
    """One of a part's statements, "printed", "repair" or "sharp", over its instances; the first part without one."""
    _, found = find_part(id, part)
    known = statements(found)
    if on not in known:
        raise UnknownName(f"{id}.{found.key} has no {on!r} statement: use one of {', '.join(known)}")
    return row(id, found.key, on, known[on])


def row(id: str, key: str, on: str, statement: Statement) -> Row:
    """A statement of a part, or another in its place, over the instances of the part. InvalidInput for an equation, or
    a statement of which no instances are drawn.
    """
    name = f"{id}.{key} ({on})"
    if statement.relation is not None and statement.relation.op == "==":
        raise InvalidInput(f"{name} is an equation, and the falsifier raises ratios: see cflag show {id} for its check")
    if why_not := undrawn(id, key, on, statement):
        raise InvalidInput(why_not)
    if (run := _run(statement)) is not None:
        return _of_runs(name, statement, *run)
    if (made := realisation(id, key, on)) is not None:
        # Vectors meet a definition in terms of vectors by their construction; the others are solved for numbers.
        plain = tuple(f for f in statement.definitions if f.relation is None or not f.relation.slack.has(Term))
        more, spans = made.relations(replace(statement, definitions=plain))
        return _of_numbers(name, replace(statement, definitions=plain), made.words, more, spans)
    # A statement about every index is drawn at one of them.
    statement = _in_numbers(statement)
    at = " at index 2" if any(r.slack.has(AppliedUndef) for r in statement.relations) else ""
    return _of_numbers(name, statement, f"all numbers that its hypotheses allow, of a run or not{at}", [], {})


def undrawn(id: str, key: str, on: str, statement: Statement) -> str:
    """Why no instances of a statement are drawn, in one sentence; empty where they are."""
    name = f"{id}.{key} ({on})"
    if statement.relation is None:
        return f"{name} is not a relation between numbers: its check decides it, see cflag show {id}"
    if any(side.has(ln) for r in statement.relations for side in (r.left, r.right)):
        return f"{name} holds logarithms of its index, for which no small instances are drawn; see cflag show {id}"
    chosen = f"{id}.{key}" in _CHOSEN.split() or _numbers_only(statement)
    if chosen or realisation(id, key, on) is not None or _run(statement) is not None:
        return ""
    return (
        f"{name} speaks of quantities of which no family of small instances is known here: its check has instances, "
        f"see cflag show {id}"
    )


def _numbers_only(statement: Statement) -> bool:
    """Whether a proof uses nothing but numbers: no symbol's vectors tie it to others, and no rule is about vectors."""
    if statement.proof is None or statement.relation is None:
        return False
    sides = [side for one in statement.relations for side in (one.left, one.right)]
    terms: set[sp.Expr] = set().union(*(side.atoms(sp.Symbol, AppliedUndef) for side in sides))
    made_of = [unfold(term).atoms(*Atom) for term in terms]
    if sum(map(len, made_of)) > len(set().union(*made_of)):
        return False

    def rules(steps: Any) -> set[str]:
        used = {step.rule for step in steps if isinstance(step, Use)}
        return used.union(*(rules(step.inner) for step in steps if isinstance(step, Induction)))

    return rules(statement.proof.steps) <= _NUMERIC


def _of_numbers(
    name: str, statement: Statement, words: str, more: Sequence[Relation], spans: Mapping[str, Range]
) -> Row:
    """A statement about the numbers that solve its hypotheses and definitions."""
    made = plan(statement, more=[*more, *_standing(statement)], spans=spans)
    left, right = made.in_free(made.goal.left), made.in_free(made.goal.right)
    told, always = _told(statement), Relation(sp.S.Zero, "<=", sp.S.Zero)
    facts = tuple(
        Hypothesis(told, None, one.op, (quantity("", one.left), quantity("", one.right)))
        for one in (made.facts or [always])
    )
    sides = [quantity("left", left), quantity("right", right)]
    read = {name for part in (*sides, *(side for fact in facts for side in fact.sides)) for name in part.names}

    def values(draw: Mapping[str, Any]) -> dict[sp.Expr, Any]:
        # A world has more symbols than a statement speaks of.
        every = {symbol: made.in_free(symbol) for symbol in (*made.free, *(symbol for symbol, _ in made.solved))}
        parts = {symbol: quantity(str(symbol), value) for symbol, value in every.items()}
        return {symbol: part.exact(draw) for symbol, part in parts.items() if draw.keys() >= {*part.names}}

    return Row(
        name=f"{name} over {words}",
        drawn=words,
        ranges={symbol.name: one for symbol, one in made.free.items() if symbol.name in read},
        left=left,
        right=right,
        relation=made.goal.op,
        facts=facts,
        values=values,
    )


def _told(statement: Statement) -> str:
    facts = dict.fromkeys(fact.relation for fact in statement.hypotheses)
    given = "; ".join(str(one) for one in facts if not (one.left == 0 and one.right.is_Symbol))
    return f"left and right are those of {statement.relation}" + (f", where {given}" if given else "")


def _standing(statement: Statement) -> list[Relation]:
    """What the papers say of a symbol wherever they use it, so that no row repeats it."""
    named = {s.name: s for r in statement.relations for s in r.slack.atoms(sp.Symbol)}
    found = [Relation(sp.S.One, "<=", named[name]) for name in _AT_LEAST_ONE if name in named]
    found += [Relation(named[name], "<=", sp.S.One) for name in _AT_MOST_ONE if name in named]
    if {"alpha", "L"} <= named.keys():
        found.append(Relation(named["alpha"] * named["L"] * (1 + named.get("m", sp.S.Zero)), "<", sp.Integer(2)))
    if {"convexity", "L"} <= named.keys():
        found.append(Relation(named["convexity"], "<=", named["L"]))
    return found


def _in_numbers(statement: Statement) -> Statement:
    """The statement with symbols replaced that are formulas in other numbers, or first members of its sequences."""
    sides = [side for r in statement.relations for side in (r.left, r.right)]
    terms = {term for side in sides for term in side.atoms(AppliedUndef) if len(term.args) == 1}
    first = {unfold(term.func(0)): term.func(0) for term in terms}
    meanings = {symbol: unfold(symbol) for side in sides for symbol in side.atoms(sp.Symbol)}
    known = {s: first.get(of, of) for s, of in meanings.items() if of in first or (of != s and not of.has(Term))}

    def replaced(relation: Relation) -> Relation:
        return Relation(relation.left.xreplace(known), relation.op, relation.right.xreplace(known))

    def facts_of(of: Sequence[Fact]) -> tuple[Fact, ...]:
        return tuple(replace(fact, relation=replaced(fact.relation)) for fact in of)

    return replace(
        statement,
        relation=statement.relation and replaced(statement.relation),
        hypotheses=facts_of(statement.hypotheses),
        definitions=facts_of(statement.definitions),
    )


def _terms_of(relation: Relation) -> dict[sp.Expr, sp.Symbol]:
    """Symbols and terms of sequences, without the index inside a term, and what stands for them in formulas."""
    found: dict[sp.Expr, sp.Symbol] = {}
    for side in (relation.left, relation.right):
        terms = side.atoms(AppliedUndef)
        bare = side.xreplace({term: sp.Dummy() for term in terms})
        found |= {term: sp.Symbol(str(term)) for term in (*terms, *bare.free_symbols) if not isinstance(term, sp.Dummy)}
    return found


@cache
def _given(number: int) -> frozenset[sp.Expr]:
    """The symbols that a run gives."""
    _, spans, values = rounds.RUNS[number]
    return frozenset(values({name: span.low for name, span in spans.items()}) or ())


def _run(statement: Statement) -> tuple[str, dict[str, Range], Callable[..., Any]] | None:
    """The rounds of a statement that speaks of their quantities and of nothing else: words, what is drawn, values."""
    if statement.relation is None:
        return None
    assumed = [fact.relation for fact in statement.hypotheses]
    needed = set().union(*map(_terms_of, [statement.relation, *assumed]))
    if all(one.is_Symbol for one in needed) and set(map(str, needed)) <= _PARAMETERS:
        return None
    for number, (words, spans, values) in enumerate(rounds.RUNS):
        if needed <= _given(number):
            narrowed = dict(spans)
            for relation in assumed:
                narrowed |= _range_by(relation)
            if "m_excess" in spans and not any(bias2 in _terms_of(relation) for relation in assumed):
                # Any m, where no hypothesis ties it to the bias.
                narrowed["m_excess"] = Range(-1, 8)
            return words, narrowed, values
    return None


def _range_by(bound: Relation) -> dict[str, Range]:
    """The range that a hypothesis says in so many words: of u = beta L E, or of the curvature of what is kept."""
    if bound == KEPT.relation:
        return dict.fromkeys(("memory_curvature_1", "memory_curvature_2"), Range(-1, 1))
    u = sp.Symbol("u", positive=True)
    left, right = (sp.cancel(side.subs(beta, u / (L * E))) for side in (bound.left, bound.right))
    if bound.op == "<=" and left == u and right.is_Rational:
        return {"u": Range(0, Fraction(int(right.p), int(right.q)))}
    ratio = sp.cancel(left / right) if bound.op == "==" and right != 0 else sp.S.Zero
    fixed = 1 / ratio.coeff(u) if ratio.is_polynomial(u) and ratio.coeff(u).is_Rational and ratio.coeff(u) else None
    if fixed is not None and ratio == u / fixed:
        return {"u": Range(*(Fraction(int(fixed.p), int(fixed.q)),) * 2)}
    return {}


def _of_runs(name: str, statement: Statement, words: str, ranges: dict[str, Range], values: Callable[..., Any]) -> Row:
    """A statement about the quantities of rounds, which are computed once for all of its sides."""
    goal = statement.relation
    assert goal is not None
    seen: list[Any] = [None, None]

    def found(draw: Mapping[str, Any]) -> Any:
        key = (DIGITS.get(), [(type(value), value) for value in draw.values()])
        if seen[0] != key:
            seen[:] = key, values(draw)
        return seen[1]

    def sides(relation: Relation) -> tuple[Quantity, Quantity]:
        stand = _terms_of(relation)
        return _side(relation.left.xreplace(stand), stand), _side(relation.right.xreplace(stand), stand)

    def _side(side: sp.Expr, stand: Mapping[sp.Expr, sp.Symbol]) -> Quantity:
        read = quantity("side", side)

        def of(draw: Mapping[str, Any]) -> Any:
            run = found(draw)
            if run is None:
                raise ZeroDivisionError("the draw is no run")
            known = {symbol.name: run[term] for term, symbol in stand.items()}
            if isinstance(draw["u"], float):
                return read.floats(known)
            # A whole number to a negative power is a float.
            return read.exact({name: Fraction(one) if isinstance(one, int) else one for name, one in known.items()})

        return Quantity("a quantity of the run", by_name("side", ranges, of), tuple(ranges))

    exists = Quantity("the run", by_name("exists", ranges, lambda draw: int(found(draw) is None)), tuple(ranges))
    told = _told(statement)
    facts = [Hypothesis(told, None, "<=", (exists, quantity("", 0)))]
    for relation in dict.fromkeys(fact.relation for fact in statement.hypotheses):
        if not (relation.left == 0 and relation.right.is_Symbol):
            facts.append(Hypothesis(told, None, relation.op, sides(relation)))
    left, right = sides(goal)
    return Row(
        name=f"{name} over {words}",
        drawn=words,
        ranges=ranges,
        left=left.of,
        right=right.of,
        relation=goal.op,
        facts=tuple(facts),
        values=values,
    )
