"""Where instances of a ledger row come from: numbers, small vectors and functions, or rounds of Algorithm 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from cflag_theory.claims.c_flag.iterates import KEPT
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.notation import E, L, beta, bias2, unfold
from cflag_theory.claims.engine.operators import Atom
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.steps import Induction, Use
from cflag_theory.claims.engine.terms import Term, ln
from cflag_theory.claims.ledger import claim
from cflag_theory.errors import InvalidInput, UnknownName
from cflag_theory.falsify.algebra.tracing import Traced
from cflag_theory.falsify.ledger import rounds as ledger_rounds
from cflag_theory.falsify.ledger import unions as ledger_unions
from cflag_theory.falsify.ledger.numbers import Plan, Span, numeric, plan
from cflag_theory.falsify.ledger.vectors import realisation, sequences

#: Rules about numbers alone; a proof that uses no others speaks of all numbers.
_NUMERIC = frozenset({"tangent of exp", "chord of exp", "value of exp", "parabola over exp"})
#: Rows without such a proof whose symbols are numbers that anybody may choose.
_CHOSEN = frozenset(
    {
        "cfl.phi.1",
        "cfl.phi.3",
        "cflag.eq129.2",
        "cflag.eq164.1",
        "cflag.eq177.1",
        "cflag.eq178.1",
        "cfl.step6.2",
        "cfl.ratio_bound.2",
        "cfl.c2.1",
        "cfl.rem4_8.1",
        "cfl.nc_eq31.1",
        "cfl.nc_eq32.2",
        "cfl.nc_rate.3",
        "cfl.nqm_fig2.3",
        "cfl.setup_overlap.4",
    }
)


#: The constants 1 + B^2 + ... of the second moments of gradients, and shares of data or weights.
_AT_LEAST_ONE, _AT_MOST_ONE = ("c_pB", "c_pBi", "nc_c_B"), ("p_i", "share", "nc_past_weight", "nc_squares")


@dataclass(frozen=True)
class Source:
    """A family of exact instances of one statement.

    Attributes
    ----------
    words : str
        What is drawn.
    spans : mapping
        By name, what the numbers of a draw are taken from.
    values : callable
        A draw, by name, to a value for every symbol and term of the statement, in the number type of the draw; None, or
        a division by zero, where the draw is not an instance.
    statement : Statement
        The statement in the symbols that `values` gives.
    """

    words: str
    spans: Mapping[str, Span]
    values: Callable[[Mapping[str, Any]], Mapping[sp.Expr, Any] | None]
    statement: Statement


def find_part(id: str, key: str | None = None) -> tuple[Claim, Part]:
    """A part of a claim, the first without a key."""
    found = claim(id)
    for part in found.parts:
        if key in (None, part.key):
            return found, part
    keys = ", ".join(part.key for part in found.parts)
    raise UnknownName(f"{id} has no part {key!r}; its parts are {keys}")


def source(id: str, key: str, on: str, statement: Statement) -> Source:
    """The instances of a statement."""
    return _source(id, key, on, statement)


@cache
def _source(id: str, key: str, on: str, statement: Statement) -> Source:
    why_not = undrawn(id, key, on, statement)
    if why_not:
        raise InvalidInput(why_not)
    if (run := _run(statement)) is not None:
        return run
    if (made := realisation(id, key, on)) is not None:
        # Vectors meet a definition in terms of vectors by their construction; the others are solved for numbers.
        plain = tuple(f for f in statement.definitions if f.relation is None or not f.relation.slack.has(Term))
        statement = replace(statement, definitions=plain)
        more, spans = made.relations(statement)
        return _numbers(statement, plan(statement, more=[*more, *_standing(statement)], spans=spans), made.words)
    # A statement about every index is drawn at one of them.
    statement = _in_numbers(statement)
    at = " at index 2" if sequences(statement) else ""
    made_of = plan(statement, more=_standing(statement), spans={})
    return _numbers(statement, made_of, f"all numbers that its hypotheses allow, of a run or not{at}")


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


def undrawn(id: str, key: str, on: str, statement: Statement) -> str:
    """Why no instances of a statement are drawn, in one sentence; empty where they are."""
    name = f"{id}.{key} ({on})"
    if statement.relation is None:
        return f"{name} is not a relation between numbers: its check decides it, see cflag show {id}"
    if any(side.has(ln) for r in statement.relations for side in (r.left, r.right)):
        return f"{name} holds logarithms of its index, for which no small instances are drawn; see cflag show {id}"
    chosen = f"{id}.{key}" in _CHOSEN or _numbers_only(statement)
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
    terms = {
        term
        for one in statement.relations
        for side in (one.left, one.right)
        for term in side.atoms(sp.Symbol, AppliedUndef)
    }
    made_of = [unfold(term).atoms(*Atom) for term in terms]
    if sum(map(len, made_of)) > len(set().union(*made_of)):
        return False

    def rules(steps: Any) -> set[str]:
        found: set[str] = set()
        for step in steps:
            if isinstance(step, Use):
                found.add(step.rule)
            elif isinstance(step, Induction):
                found |= rules(step.inner)
        return found

    return rules(statement.proof.steps) <= _NUMERIC


def symbols_of(relation: Relation) -> set[sp.Expr]:
    """Symbols and terms of sequences, without the index inside a term."""
    found: set[sp.Expr] = set()
    for side in (relation.left, relation.right):
        terms = side.atoms(AppliedUndef)
        bare = side.xreplace({term: sp.Dummy() for term in terms})
        found |= terms | {symbol for symbol in bare.free_symbols if not isinstance(symbol, sp.Dummy)}
    return found


def _needed(statement: Statement) -> set[sp.Expr]:
    assert statement.relation is not None
    relations = [statement.relation, *(fact.relation for fact in statement.hypotheses)]
    return set().union(*map(symbols_of, relations))


#: Rounds of which the quantities are known: words, what is drawn, how a draw is run.
_ROUND = "a round of Algorithm 1 on the line, L = 1"
_WITH_MEMORY = ledger_rounds.CURRENT | ledger_rounds.MEMORY
_WITH_BIAS = _WITH_MEMORY | ledger_rounds.BIAS
_RUNS: tuple[tuple[str, Mapping[str, Span], Callable[[Mapping[str, Any]], dict[sp.Expr, Any] | None]], ...] = (
    (_ROUND, ledger_rounds.CURRENT, ledger_rounds.values),
    (_ROUND, _WITH_MEMORY, ledger_rounds.values),
    (_ROUND, _WITH_BIAS, ledger_rounds.values),
    (_ROUND, _WITH_BIAS | ledger_rounds.PAST, ledger_rounds.values),
    (_ROUND, ledger_rounds.CURRENT, ledger_rounds.with_recursions),
    ("rounds of (67)-(68) on the line, L = 1", ledger_unions.UNION, ledger_unions.values),
)
#: Symbols of which a statement about numbers may speak too: they alone make no statement about a run.
_PARAMETERS = {"L", "alpha", "beta", "E", "k", "m", "r", "N", "T", "grad_g", "sum2", "Lambda", "sigma"}


@cache
def _given(number: int) -> frozenset[sp.Expr]:
    """The symbols that a run gives."""
    draw = {name: span.low for name, span in _RUNS[number][1].items()}
    return frozenset(_RUNS[number][2](draw) or ())


def _run(statement: Statement) -> Source | None:
    """The statement about runs, if it speaks of their quantities and of nothing else."""
    needed = _needed(statement)
    if {symbol.name for symbol in needed if symbol.is_Symbol} == {str(symbol) for symbol in needed} <= _PARAMETERS:
        return None
    for number, (words, spans, values) in enumerate(_RUNS):
        if needed <= _given(number):
            narrowed = dict(spans)
            for fact in statement.hypotheses:
                narrowed |= _range_by(fact.relation)
            if "m_excess" in spans and not any(bias2 in symbols_of(fact.relation) for fact in statement.hypotheses):
                # Any m, where no hypothesis ties it to the bias.
                narrowed["m_excess"] = Span(Fraction(-1), Fraction(8))
            return Source(words, narrowed, values, statement)
    return None


def _range_by(bound: Relation) -> dict[str, Span]:
    """The range that a hypothesis says in so many words: of u = beta L E, or of the curvature of what is kept."""
    if bound == KEPT.relation:
        return dict.fromkeys(("memory_curvature_1", "memory_curvature_2"), Span(Fraction(-1), Fraction(1)))
    u = sp.Symbol("u", positive=True)
    left, right = (sp.cancel(side.subs(beta, u / (L * E))) for side in (bound.left, bound.right))
    if bound.op == "<=" and left == u and right.is_Rational:
        return {"u": Span(Fraction(0), Fraction(int(right.p), int(right.q)))}
    ratio = sp.cancel(left / right) if bound.op == "==" and right != 0 else sp.S.Zero
    fixed = 1 / ratio.coeff(u) if ratio.is_polynomial(u) and ratio.coeff(u).is_Rational and ratio.coeff(u) else None
    if fixed is not None and ratio == u / fixed:
        return {"u": Span(*(Fraction(int(fixed.p), int(fixed.q)),) * 2)}
    return {}


def _numbers(statement: Statement, made: Plan, words: str) -> Source:
    """The statement about numbers that a plan draws."""
    free, order = list(made.free), [symbol for symbol, _ in reversed(made.solved)]
    known = list(free)
    steps = []
    for symbol, expression in reversed(made.solved):
        steps.append((symbol, numeric([expression], known)))
        known.append(symbol)

    def values(draw: Mapping[str, Any]) -> dict[sp.Expr, Any] | None:
        found = [draw[symbol.name] for symbol in free]
        for symbol, step in steps:
            found += step(*found)
            if symbol.is_integer and not isinstance(found[-1], Traced) and found[-1] != int(found[-1]):
                return None
        return dict(zip(known, found, strict=True))

    spans = {symbol.name: span for symbol, span in made.free.items()}
    signs = [Relation(sp.S.Zero, "<" if s.is_positive else "<=", s) for s in order if s.is_nonnegative]
    facts = tuple(Fact("", relation, "") for relation in (*signs, *made.left))
    return Source(words, spans, values, Statement(statement.words, made.goal, facts))
