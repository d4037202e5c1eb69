"""Finds certificates of obligations: products of slacks, monomials of known sign, squares.

Nothing found here is believed: whoever uses a certificate has it checked by `algebra.certificate_fault`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from time import monotonic
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.algebra import (
    Atoms,
    ask_z3,
    certificate_fault,
    manifestly_nonnegative,
    residual,
    slack,
    square,
)
from cflag_theory.claims.engine.finding.linear import Column, Program, combination
from cflag_theory.claims.engine.finding.polynomials import (
    Polynomial,
    coefficients,
    cofactors,
    divisions,
    product,
    put,
    times,
)
from cflag_theory.claims.engine.finding.squares import with_squares
from cflag_theory.claims.engine.relation import Relation

_Size = tuple[int, int, int, int, bool]
#: Growing programs: factors of a product of slacks, rounds that add monomials, multiples of the goal, columns, squares.
_PROGRAMS: tuple[_Size, ...] = (
    (1, 1, 0, 500, False),
    (1, 2, 0, 1000, False),
    (1, 2, 12, 1500, False),
    (2, 1, 12, 1500, False),
    (1, 1, 12, 500, True),
    (1, 3, 3, 3000, False),
    (2, 2, 3, 3000, False),
    (2, 1, 40, 2000, False),
    (1, 2, 12, 1500, True),
    (2, 1, 12, 1500, True),
    (1, 4, 12, 5000, False),
    (2, 2, 40, 6000, False),
    (2, 3, 12, 8000, False),
)
#: Multiples of the goal that are combined in pairs.
_NEAR = 8
#: Before this one, z3 is asked for a countermodel.
_ASKED = 3
#: These and what follows take seconds.
_LARGE = 7


def find(goal: Relation, given: Mapping[str, Relation], *, seconds: float = 20.0) -> sp.Expr | None:
    """A certificate of the goal from what is given, or None; after `seconds` no further program is begun.

    First small linear programs; then z3 says whether there is a countermodel, and only where it knows of none the
    larger programs are tried, also with the equations solved for one of their terms each.
    """
    until = monotonic() + seconds
    equations = any(relation.op == "==" for relation in given.values())
    first, second = _PROGRAMS[:_ASKED], _PROGRAMS[_ASKED:_LARGE]
    if (found := _found(goal, given, first, until, solve=False)) is not None:
        return found
    if ask_z3(goal, given) == "refuted":
        return None
    for solve, programs in (
        (True, first + second),
        (False, second),
        (True, _PROGRAMS[_LARGE:]),
        (False, _PROGRAMS[_LARGE:]),
    ):
        if (equations or not solve) and (found := _found(goal, given, programs, until, solve=solve)) is not None:
            return found
    return None


def _found(
    goal: Relation, given: Mapping[str, Relation], programs: Iterable[_Size], until: float, *, solve: bool
) -> sp.Expr | None:
    try:
        search = _Search(goal, given, solve=solve)
        for size in programs:
            if monotonic() > until:
                return None
            certificate = search.certificate(size)
            if certificate is not None and certificate_fault(goal, given, certificate) is None:
                return certificate
    except (_Unfit, ZeroDivisionError, sp.PolynomialError):
        return None
    return None


def searched(goal: Relation, given: Mapping[str, Relation], size: _Size) -> sp.Expr | None:
    """What one linear program of this size finds, unchecked."""
    try:
        return _Search(goal, given, solve=False).certificate(size)
    except (_Unfit, ZeroDivisionError, sp.PolynomialError):
        return None


class _Unfit(Exception):
    """A term whose denominator is not known to be positive, or that is not a quotient of polynomials."""


@dataclass(frozen=True)
class _Fact:
    """A numerator, and what stands for it in a certificate: a positive denominator times a slack or a residual."""

    polynomial: Polynomial
    term: sp.Expr
    op: str
    count: int = 1


@dataclass(frozen=True)
class _Solved:
    """An equation solved: right - left is lead * (symbol - value)."""

    name: str
    at: int
    value: Any
    lead: Any


class _Search:
    """One obligation as polynomials: the goal's numerator, and what it may be combined of."""

    def __init__(self, goal: Relation, given: Mapping[str, Relation], *, solve: bool) -> None:
        self.op = goal.op
        self.given = given
        atoms = Atoms()
        slacks = {name: atoms(relation.slack) for name, relation in given.items()}
        target = atoms(goal.slack)
        # A symbol for every atom: what it stands for comes back in the certificate.
        self.back: dict[sp.Symbol, sp.Expr] = {dummy: term for term, dummy in atoms.of.items()}
        self.facts: list[_Fact] = []
        self.factors: dict[Any, tuple[int, _Fact]] = {}
        self.solved: list[_Solved] = []
        self.multiplied: dict[Any, list[_Fact]] = {}
        self._set_symbols([target, *slacks.values()])
        # Facts with plain denominators first: they may say that the others are positive.
        plain = {name: expr for name, expr in slacks.items() if not self._unknown(expr)}
        self._set_facts(plain)
        # A quotient whose denominator nothing says to be positive is a number of either sign.
        bases = set().union(self._unknown(target), *(self._unknown(expr) for expr in slacks.values()))
        unknown = {base: sp.Dummy("quotient", real=True) for base in bases if not self._divides(self._quotient(base))}
        if unknown:
            self.back |= {dummy: 1 / base.xreplace(self.back) for base, dummy in unknown.items()}
            inside = [one for one in divisions(target, *slacks.values()) if one.base in unknown]
            opaque = {one: unknown[one.base] ** -one.exp for one in inside}
            target, slacks = target.xreplace(opaque), {name: expr.xreplace(opaque) for name, expr in slacks.items()}
            self._set_symbols([target, *slacks.values()])
            self._set_facts(plain)
        self.slacks = {name: self._quotient(expr) for name, expr in slacks.items()}
        self.goal = reduced = self._quotient(target)
        if solve:
            reduced = self._solve_equations(reduced)
        else:
            late = [self._fitting(name, self.slacks[name]) for name in slacks if name not in plain]
            self.facts += [fact for fact in late if fact is not None]
        sign, self.under = self._below(reduced)
        self.target = coefficients(reduced.numer * sign)

    def _set_facts(self, plain: Mapping[str, sp.Expr]) -> None:
        self.factors = {}
        self.facts = [self._fact(name, self._quotient(expr)) for name, expr in plain.items()]

    def _solve_equations(self, goal: Any) -> Any:
        """Put what an equation says a term is in place of the term, in the goal and in the facts."""
        now = dict(self.slacks)
        for name in [name for name, relation in self.given.items() if relation.op == "=="]:
            choice = self._choice(now[name].numer, now)
            if choice is None:
                continue
            at, lead, rest = choice
            value = -self.field(rest) / self.field(lead)
            self.solved.append(_Solved(name, at, value, self.field(lead) / self.field(now[name].denom)))
            del now[name]
            now = {other: put(quotient, at, value) for other, quotient in now.items()}
            goal = put(goal, at, value)
        facts = [found for name, quotient in now.items() if (found := self._fitting(name, quotient)) is not None]
        for number, one in enumerate(self.solved):
            symbol, value = self.symbols[one.at], one.value
            for later in self.solved[number + 1 :]:
                value = put(value, later.at, later.value)
            if symbol.is_nonnegative:
                with suppress(_Unfit):
                    sign, under = self._below(value)
                    op = "<" if symbol.is_positive else "<="
                    facts.append(_Fact(coefficients(value.numer * sign), under * symbol, op))
        self.facts = facts
        return goal

    def _fitting(self, name: str, quotient: Any) -> _Fact | None:
        try:
            return self._fact(name, quotient) if quotient else None
        except _Unfit:
            return None

    def _choice(self, equation: Any, facts: Mapping[str, Any]) -> tuple[int, Any, Any] | None:
        """A symbol in which an equation is linear, with a leading coefficient that is known not to vanish."""
        others = [one for name, one in facts.items() if self.given[name].op != "=="]
        choices = []
        for at, symbol in enumerate(self.field.ring.gens):
            if equation.degree(symbol) == 1:
                lead = equation.diff(symbol)
                uses = sum(one.numer.degree(symbol) + one.denom.degree(symbol) > 0 for one in others)
                choices.append((not lead.is_ground, uses, len(lead), at, lead))
        for *_, at, lead in sorted(choices, key=lambda one: one[:4]):
            if lead.is_ground or self._divides(self.field(lead)):
                return at, lead, equation - lead * self.field.ring.gens[at]
        return None

    def _residuals(self, found: sp.Expr) -> sp.Expr:
        """Multiples of the solved equations' residuals, for what a sum leaves that holds only where they do."""
        means = {slack(name): quotient.as_expr() for name, quotient in self.slacks.items()}
        means |= {residual(name): -quotient.as_expr() for name, quotient in self.slacks.items()}
        left = self.goal - self._quotient(found.replace(square, lambda inner: inner**2).xreplace(means))
        total = sp.S.Zero
        for number in reversed(range(len(self.solved))):
            one, rest = self.solved[number], left
            for earlier in self.solved[:number]:
                rest = put(rest, earlier.at, earlier.value)
            multiple = rest / (self.field.gens[one.at] - one.value) / one.lead
            sign, under = self._below(multiple)
            # right - left of the equation is lead * (term - value), and the residual is its negative.
            total -= sign * multiple.numer.as_expr() / under * residual(one.name)
            left -= multiple * self.slacks[one.name]
        return total

    def _set_symbols(self, terms: list[sp.Expr]) -> None:
        self.symbols = sorted(set().union(*(term.free_symbols for term in terms)), key=str)
        self.signed = [bool(symbol.is_nonnegative) for symbol in self.symbols]
        self.field: Any = sp.QQ.frac_field(*(self.symbols or [sp.Dummy()])).field

    def _unknown(self, expr: sp.Expr) -> set[sp.Expr]:
        """What the expression divides by and is not a polynomial with coefficients of one sign."""
        return {one.base for one in divisions(expr) if not manifestly_nonnegative(one.base, strictly=True)}

    def _divides(self, quotient: Any) -> bool:
        """Whether one may divide by it: its factors are known to be positive or negative."""
        try:
            self._below(1 / quotient)
        except (_Unfit, ZeroDivisionError):
            return False
        return True

    def _quotient(self, expr: sp.Expr) -> Any:
        try:
            return self.field.from_expr(expr)
        except (ValueError, sp.CoercionFailed) as error:
            raise _Unfit from error

    def _fact(self, name: str, quotient: Any) -> _Fact:
        sign, under = self._below(quotient)
        op = self.given[name].op
        term = -residual(name) if op == "==" else slack(name)
        return _Fact(coefficients(quotient.numer * sign), under * term, op)

    def _below(self, quotient: Any) -> tuple[int, sp.Expr]:
        """Sign and size of a denominator, the size written so that it is manifestly positive."""
        under = quotient.denom
        # Most are products of symbols, which need no factoring.
        powers = [(gen, power) for gen, power in zip(under.ring.gens, under.leading_expv(), strict=True) if power]
        constant, factors = (under.LC, powers) if under.is_term else under.factor_list()
        sign, size = (1, sp.S.One) if constant > 0 else (-1, sp.S.One)
        size *= sp.Rational(abs(constant).numerator, abs(constant).denominator)
        for factor, power in factors:
            positive = self._positive(factor)
            if positive is None:
                raise _Unfit
            sign *= positive[0] ** power
            size *= positive[1] ** power
        return sign, size

    def _positive(self, factor: Any) -> tuple[int, sp.Expr] | None:
        """The sign of a factor, and its size as a positive combination of what is given."""
        for sign in (1, -1):
            if manifestly_nonnegative(sign * factor.as_expr(), strictly=True):
                return sign, sp.expand(sign * factor.as_expr())
        if factor in self.factors:
            sign, known = self.factors[factor]
            return sign, known.term
        facts = [fact for fact in self._products(2) if fact.op != "=="]
        for products, sign in ((1, 1), (1, -1), (2, 1), (2, -1)):
            target = self._scales(coefficients(factor * sign), 0)
            used = [fact for fact in facts if fact.count <= products]
            found = combination(Program(target, self._columns(target, used, 2, 300), True))
            if found is not None:
                term = _sum(found[1]) / _sum(found[0])
                self.factors[factor] = sign, _Fact(coefficients(factor * sign), term, "<")
                return sign, term
        return None

    def certificate(self, size: _Size) -> sp.Expr | None:
        """The sum that a linear program of this size finds, over what the goal is multiplied by."""
        products, rounds, scales, most, squares = size
        under, terms = self.under, sp.S.Zero
        if self.target or self.op == "<":
            targets = self._scales(self.target, scales, products)
            facts = [fact for fact in self._products(products) if self.op != "==" or fact.op == "=="]
            program = Program(targets, self._columns(targets, facts, rounds, most), self.op == "<")
            if squares and self.op != "==":
                program = with_squares(program, self.symbols, self.signed)
            found = combination(program)
            if found is None:
                return None
            under, terms = under * _sum(found[0]), _sum(found[1])
        # Term by term, so that what cancels does.
        certificate = sp.Add(*(term / under for term in sp.Add.make_args(terms)))
        if self.solved:
            certificate += self._residuals(certificate)
        return certificate.xreplace(self.back)

    def _scales(self, target: Polynomial, most: int, products: int = 1) -> list[Column]:
        """The target times what is known to be positive and brings it among the monomials of the facts' products."""
        one = (0,) * len(self.symbols)
        found = [(0, one, _Fact(target, sp.S.One, "<", 0))]
        if most:
            rows = {powers for fact in self._products(products) for powers in fact.polynomial}
            for fact in (fact for fact in self._products(2) if fact.op == "<"):
                scaled = _Fact(times(fact.polynomial, target), fact.term, "<", fact.count)
                near = {powers for powers in cofactors(rows, scaled.polynomial) if self._has_sign(powers)} | {one}
                if not fact.count:
                    near |= {product(a, b) for a, b in combinations(sorted(near, key=sum)[:_NEAR], 2)}
                found += [(sum(powers) + fact.count, powers, scaled) for powers in near if sum(powers) + fact.count]
        found.sort(key=lambda one: one[:2])
        return [self._column(scaled, powers) for _, powers, scaled in found[: 1 + most]]

    def _products(self, most: int) -> list[_Fact]:
        """One, the facts, and products of two; facts also times what is divided by, which no monomial is."""
        key = most, tuple(map(id, self.facts)), len(self.factors)
        if key not in self.multiplied:
            self.multiplied[key] = self._multiplied(most)
        return self.multiplied[key]

    def _multiplied(self, most: int) -> list[_Fact]:
        signed = [fact for fact in self.facts if fact.op != "=="]
        pairs = [_both(a, b) for a, b in combinations_with_replacement(signed, 2)] if most > 1 else []
        single = [_Fact({(0,) * len(self.symbols): Fraction(1)}, sp.S.One, "<", 0), *self.facts]
        factors = [factor for _, factor in self.factors.values()]
        powers = [*factors, *(_both(a, b) for a, b in combinations_with_replacement(factors, 2))]
        return [*single, *(_both(fact, power) for fact in single for power in powers), *pairs]

    def _columns(self, targets: list[Column], facts: list[_Fact], rounds: int, most: int) -> list[Column]:
        """Every fact times every monomial that brings it among the targets' monomials, or those of such columns."""
        columns: dict[tuple[int, tuple[int, ...]], Column] = {}
        rows = {powers for target in targets for powers in target.polynomial}
        for _ in range(rounds):
            reached = set(rows)
            for number, fact in enumerate(facts):
                for powers in sorted(cofactors(rows, fact.polynomial), key=sum):
                    if (number, powers) in columns or not (fact.op == "==" or self._has_sign(powers)):
                        continue
                    column = self._column(fact, powers)
                    columns[number, powers] = column
                    reached.update(column.polynomial)
                    if len(columns) >= most:
                        return list(columns.values())
            rows = reached
        return list(columns.values())

    def _has_sign(self, powers: tuple[int, ...]) -> bool:
        return all(signed or power % 2 == 0 for signed, power in zip(self.signed, powers, strict=True))

    def _column(self, fact: _Fact, powers: tuple[int, ...]) -> Column:
        several = [(one, power) for one, power in zip(self.symbols, powers, strict=True) if power]
        positive = fact.op == "<" and all(one.is_positive for one, _ in several)

        def term() -> sp.Expr:
            plain = (one**power for one, power in several if one.is_nonnegative or fact.op == "==")
            squares = (square(one ** (power // 2)) for one, power in several if not one.is_nonnegative)
            return sp.Mul(fact.term, *plain, *(() if fact.op == "==" else squares))

        shifted = {product(powers, others): value for others, value in fact.polynomial.items()}
        return Column(shifted, term, fact.op == "==", positive, 1 + 2 * fact.count + sum(powers) / 4)


def _both(a: _Fact, b: _Fact) -> _Fact:
    """The product of two facts, of which at most one is an equation."""
    op = "==" if "==" in (a.op, b.op) else "<" if a.op == b.op == "<" else "<="
    return _Fact(times(a.polynomial, b.polynomial), a.term * b.term, op, a.count + b.count)


def _sum(found: list[tuple[Fraction, Column]]) -> sp.Expr:
    return sp.Add(*(sp.Rational(value.numerator, value.denominator) * column.term() for value, column in found))
