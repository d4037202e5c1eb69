"""Statements between real numbers as something to draw from: which symbols are free, and how the others follow.

A proof without rules about vectors uses nothing but the statement's hypotheses and definitions, so every solution of
those is an instance of the statement. Equations are solved for a symbol in which they are linear, and inequalities
become a bound times a share, or a bound plus a slack, so that their ends are ends of a range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.printing.pycode import PythonCodePrinter

from cflag_theory.claims.engine.claim import Statement
from cflag_theory.claims.engine.relation import Relation, equal
from cflag_theory.falsify.algebra.tracing import Traced
from cflag_theory.falsify.search import exact_numbers

#: Symbols by which definitions speak of every member of a sequence; other indices are single numbers.
_RUNNING = ("k", "t")


class Span(NamedTuple):
    """What a free symbol is drawn from: kind is "real", "log" (real, small values as likely as large) or "integer"."""

    low: Fraction
    high: Fraction
    kind: str = "real"


SHARE = Span(Fraction(0), Fraction(1))
SLACK = Span(Fraction(0), Fraction(8))
COUNT = Span(Fraction(0), Fraction(8), "integer")


def _traced(name: str) -> Callable[[Any], Any]:
    """exp, log or sqrt of a traced number or of a constant beside one."""
    known = getattr(sp, name)

    def of(x: Any) -> Any:
        return x.traced(name) if isinstance(x, Traced) else known(sp.Rational(x.numerator, x.denominator))

    return of


class _Exact(PythonCodePrinter):  # type: ignore[misc]
    """Python source in which rationals stay fractions, so that one text runs on floats, fractions and algebra."""

    def _print_Rational(self, expr: sp.Rational) -> str:
        return f"Fraction({expr.p}, {expr.q})"

    _print_Half = _print_Rational

    def _print_Pow(self, expr: sp.Pow, rational: bool = False) -> str:
        if expr.exp.is_Rational and not expr.exp.is_Integer:
            return f"exp({self._print(expr.exp)} * log({self._print(expr.base)}))"
        return str(super()._print_Pow(expr, rational=rational))


_ANY_NUMBER = {"Fraction": Fraction, "max": max, "min": min, "abs": abs}
_FLOATS = _ANY_NUMBER | {"exp": math.exp, "log": math.log, "sqrt": math.sqrt}
_EXACT = _ANY_NUMBER | {"exp": exact_numbers.exp, "log": exact_numbers.log, "sqrt": exact_numbers.sqrt}
_FORMULAS = _ANY_NUMBER | {"exp": _traced("exp"), "log": _traced("log"), "sqrt": _traced("sqrt")}


def numeric(expressions: Sequence[sp.Expr], symbols: Sequence[sp.Expr]) -> Callable[..., list[Any]]:
    """A function of the symbols' values that computes the expressions in the number type of those values."""
    names = [sp.Dummy() for _ in symbols]
    renamed = [sp.sympify(e).xreplace(dict(zip(symbols, names, strict=True))) for e in expressions]
    printer = _Exact({"fully_qualified_modules": False})
    floats, exact, formulas = (
        sp.lambdify(names, renamed, modules=[known], printer=printer) for known in (_FLOATS, _EXACT, _FORMULAS)
    )

    def compute(*values: Any) -> list[Any]:
        kinds = {type(value) for value in values}
        found: list[Any] = (formulas if Traced in kinds else floats if float in kinds else exact)(*values)
        return found

    return compute


@dataclass
class Plan:
    """How a solution of a statement's hypotheses and definitions is drawn.

    `goal` has symbols in place of members of sequences, which are `members`. An expression in `solved` uses `free`
    symbols and symbols solved later. `left` is what solving did not build in, and all inequalities once more: a share
    of a negative bound, or the end of a range that is open, is not an instance.
    """

    goal: Relation
    members: frozenset[sp.Symbol] = frozenset()
    free: dict[sp.Symbol, Span] = field(default_factory=dict)
    solved: list[tuple[sp.Symbol, sp.Expr]] = field(default_factory=list)
    left: list[Relation] = field(default_factory=list)

    def solve(self, symbol: sp.Symbol, value: sp.Expr) -> None:
        """Fix a symbol in everything that still mentions it."""
        self.solved.append((symbol, value))
        self.left = [relation.subs({symbol: value}) for relation in self.left]


def plan(statement: Statement, *, count: int = 2, more: Iterable[Relation] = (), spans: Mapping[str, Span]) -> Plan:
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
        made.free[symbol] = spans.get(symbol.name) or _span(symbol)
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
        if found := _end(above, symbol):
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
            share = sp.Symbol(f"{symbol}_share", positive=True)
            made.free[share] = SHARE
            return symbol, end * share
        if slope.is_negative:
            lack = sp.Symbol(f"{symbol}_lack", nonnegative=True, integer=symbol.is_integer)
            made.free[lack] = COUNT if symbol.is_integer else SLACK
            return symbol, end - lack
        if slope.is_positive and not (symbol.is_nonnegative and end.is_nonpositive):
            excess = sp.Symbol(f"{symbol}_excess", nonnegative=True, integer=symbol.is_integer)
            made.free[excess] = COUNT if symbol.is_integer else SLACK
            return symbol, end + excess
    return None


def _span(symbol: sp.Symbol) -> Span:
    """The span of a symbol of which only the sign is known."""
    if symbol.is_integer:
        return Span(Fraction(1 if symbol.is_positive else 0), Fraction(16), "integer")
    if symbol.name == "root_c":
        # The root of c_pB, which is at least 1.
        return Span(Fraction(1), Fraction(64), "log")
    if symbol.name == "curve":
        return Span(Fraction(1, 64), Fraction(110, 64))
    if symbol.is_positive:
        return Span(Fraction(1, 64), Fraction(64), "log")
    return Span(Fraction(0 if symbol.is_nonnegative else -8), Fraction(8))
