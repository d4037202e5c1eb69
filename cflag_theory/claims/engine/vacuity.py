"""Whether a statement's hypotheses and definitions can hold together: a statement about nothing proves nothing.

A model that is kept is checked by putting its numbers in; without one, z3 is asked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import sympy as sp

from cflag_theory.claims.engine import models
from cflag_theory.claims.engine.algebra import HOLDS, UNITS, Atoms, solver
from cflag_theory.claims.engine.claim import Fact, Statement
from cflag_theory.claims.engine.definitions import assumptions, indices, quantified
from cflag_theory.claims.engine.meanings import unfold
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.sorts import Sort, sort_of
from cflag_theory.claims.engine.terms import Basis, Named, is_vector

# For the facts at several values of their indices: they are many, and a contradiction between them is short.
_FEW_UNITS = 200_000


class Facts:
    """The relations between numbers that a statement and settings assume, with a variable for what is not a polynomial.

    If `several`, what holds for every value of an index is there at several of them, and vectors are replaced by what
    they are said to be.
    """

    def __init__(self, statement: Statement, settings: Iterable[Fact] = (), *, several: bool = False) -> None:
        atoms = Atoms()
        told = [*quantified(statement), *((fact, indices(fact)) for fact in settings)]
        equations = [(fact.relation.unfolded, running) for fact, running in told if several]
        equations = [(one, running) for one, running in equations if one.op == "==" and isinstance(one.left, Basis)]
        self.slacks: list[tuple[sp.Expr, str]] = []
        seen: set[tuple[sp.Expr, str]] = set()
        for fact, running in told:
            left, right = unfold(fact.relation.left), unfold(fact.relation.right)
            if is_vector(left) or is_vector(right):
                continue
            for slack in _instances(right - left, running if several else frozenset()):
                slack = _replaced(slack, equations)
                if (slack, fact.relation.op) not in seen:
                    seen.add((slack, fact.relation.op))
                    self.slacks.append((atoms(slack), fact.relation.op))
        meaning = {dummy: term for term, dummy in atoms.of.items()}
        free: set[sp.Symbol] = set().union(*(slack.free_symbols for slack, _ in self.slacks))
        #: What its symbols stand for.
        self.named = {symbol: meaning.get(symbol, symbol) for symbol in free}

    def hold(self, model: Mapping[sp.Symbol, sp.Rational]) -> bool:
        """Whether every relation holds at the model's numbers, and every number is one that its symbol can take."""
        gaps = [(slack.xreplace(model), op) for slack, op in self.slacks]
        fits = all(sort_of(symbol).holds(value) for symbol, value in model.items())
        return fits and all(gap.is_Rational and HOLDS[op](gap) for gap, op in gaps)

    def contradict(self, units: int, *, whole: bool) -> bool:
        """Whether z3 finds that they cannot hold together; what contradicts over the reals does so if `whole`."""
        return str(solver(self.slacks, units=units, whole=whole)[0].check()) == "unsat"


def _instances(slack: sp.Expr, running: frozenset[sp.Symbol]) -> Iterator[sp.Expr]:
    """What holds for every value of indices, as it stands, at the next value, and at the first three."""
    indices = [s for s in slack.free_symbols if s in running and s.is_integer]
    later = [{s: s + 1 for s in indices}]
    later += [{s: sp.Integer(number + 1 if s.is_positive else number) for s in indices} for number in range(3)]
    yield from map(slack.xreplace, [{}, *later] if indices else [{}])


def _replaced(slack: sp.Expr, equations: Sequence[tuple[Relation, Collection[sp.Symbol]]]) -> sp.Expr:
    """The slack with vectors replaced by what equations say they are, three times at most."""
    for _ in range(3):
        found = {
            term: relation.right.xreplace(at)
            for term in slack.atoms(Basis)
            for relation, running in equations
            if (at := _match(relation.left, term, running)) is not None
        }
        if not found:
            break
        slack = sp.expand(slack.xreplace(found))
    return slack


def _match(pattern: Basis, term: Basis, running: Collection[sp.Symbol]) -> dict[sp.Symbol, sp.Expr] | None:
    """The values of running indices at which the defined vector is this one."""
    if not isinstance(pattern, Named) or not isinstance(term, Named):
        return {} if pattern == term else None
    if (pattern.args[0], len(pattern.args)) != (term.args[0], len(term.args)):
        return None
    found: dict[sp.Symbol, sp.Expr] = {}
    for place, index in zip(pattern.args[1:], term.args[1:], strict=True):
        number, symbol = place.as_coeff_Add()
        if symbol not in running:
            if place != index:
                return None
        elif not Sort.NATURAL.fits(index - number) or found.setdefault(symbol, index - number) != index - number:
            return None
    return found


def vacuous(statement: Statement, settings: Sequence[Fact] = ()) -> bool:
    """Whether nothing can satisfy the hypotheses, the definitions and the settings that its proof uses.

    z3 says so where no kept model satisfies them.
    """
    facts = Facts(statement, settings)
    kept = models.kept(facts)
    if not (kept is not None and facts.hold(kept)) and facts.contradict(UNITS, whole=True):
        return True
    # Definitions and settings alone can always be met. Together with what is assumed they may contradict at one value
    # of an index, or in what vectors are.
    told = [*quantified(statement), *((fact, indices(fact)) for fact in settings)]
    every = any(running or is_vector(fact.relation.left) for fact, running in told)
    return (
        every
        and bool(assumptions(statement))
        and Facts(statement, settings, several=True).contradict(_FEW_UNITS, whole=False)
    )
