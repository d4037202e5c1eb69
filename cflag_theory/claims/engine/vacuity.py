"""Whether a statement's hypotheses and definitions can hold together: a statement about nothing proves nothing.

A model is found once by z3, kept in one file by what the facts say, and checked by putting its numbers in.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path

import sympy as sp
import z3

from cflag_theory.claims.engine.algebra import Atoms, to_z3
from cflag_theory.claims.engine.certificates import as_text, sign
from cflag_theory.claims.engine.claim import Fact, Statement
from cflag_theory.claims.engine.definitions import assumptions, indices, quantified
from cflag_theory.claims.engine.notation import unfold
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.sorts import Sort, sort_of
from cflag_theory.claims.engine.terms import Basis, Named, is_vector

STORE = Path(__file__).parents[1] / "models.json"

# Resource units and not seconds, so that z3's answer is the same on a slow machine.
_UNITS = 3_000_000
# For the facts at several values of their indices: they are many, and a contradiction between them is short.
_FEW_UNITS = 200_000
#: What a relation says of its slack.
HOLDS = {"==": lambda e: e == 0, "<=": lambda e: e >= 0, "<": lambda e: e > 0}

#: Numbers, as "p/q", by the text of what takes them.
Model = dict[str, str]


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
        self._named = {symbol: meaning.get(symbol, symbol) for symbol in free}

    @cached_property
    def texts(self) -> dict[sp.Symbol, str]:
        """The variables as a model names them."""
        return {symbol: as_text(term).strip("{}") for symbol, term in self._named.items()}

    @cached_property
    def key(self) -> str:
        """What the facts say, as a hash."""
        signs = (f"{text}: {sign(symbol)}" for symbol, text in self.texts.items())
        plain = {symbol: sp.Symbol(text) for symbol, text in self.texts.items()}
        lines = (f"{as_text(slack.xreplace(plain))} {op}" for slack, op in self.slacks)
        return hashlib.sha256("\n".join([*sorted(lines), *sorted(signs)]).encode()).hexdigest()[:20]

    def hold(self, model: Mapping[str, str]) -> bool:
        """Whether every relation holds at the model's numbers, and every number is one that its symbol can take."""
        if set(model) != set(self.texts.values()):
            return False
        values = {symbol: sp.Rational(model[name]) for symbol, name in self.texts.items()}
        if not all(sort_of(symbol).holds(value) for symbol, value in values.items()):
            return False
        gaps = [(slack.xreplace(values), op) for slack, op in self.slacks]
        return all(gap.is_Rational and HOLDS[op](gap) for gap, op in gaps)

    def search(self) -> tuple[str, Model | None]:
        """z3's answer (sat, unsat or unknown) to whether the relations can hold together, and numbers if it has any."""
        solver, variables = self._asked(_UNITS)
        word = str(solver.check())
        if word == "unknown":
            word = _one_by_one(solver, list(variables.values()))
        if word != "sat":
            return word, None
        found = solver.model()
        values = {symbol: found.eval(variable, model_completion=True) for symbol, variable in variables.items()}
        if not all(isinstance(value, z3.RatNumRef) for value in values.values()):
            return word, None
        model = {self.texts[symbol]: str(value.as_fraction()) for symbol, value in values.items()}
        return word, model if self.hold(model) else None

    def contradict(self) -> bool:
        """Whether z3 finds at once that they cannot hold together."""
        return str(self._asked(_FEW_UNITS, whole=False)[0].check()) == "unsat"

    def _asked(self, units: int, *, whole: bool = True) -> tuple[z3.Solver, dict[sp.Symbol, z3.ArithRef]]:
        context = z3.Context()
        solver = z3.Solver(ctx=context)
        solver.set("rlimit", units)
        variables: dict[sp.Symbol, z3.ArithRef] = {}
        for slack, op in self.slacks:
            solver.add(HOLDS[op](to_z3(slack, variables, context)))
        for symbol, variable in variables.items():
            if symbol.is_positive:
                solver.add(variable > 0)
            elif symbol.is_nonnegative:
                solver.add(variable >= 0)
            # Over the reals z3 keeps to its units; what contradicts there does so for whole numbers.
            if whole and symbol.is_integer:
                solver.add(z3.IsInt(variable))
        return solver, variables


def _instances(slack: sp.Expr, running: frozenset[sp.Symbol]) -> Iterator[sp.Expr]:
    """What holds for every value of indices, as it stands, at the next value, and at the first three."""
    indices = [s for s in slack.free_symbols if s in running and s.is_integer]
    yield slack
    yield slack.xreplace({s: s + 1 for s in indices})
    for number in range(3):
        yield slack.xreplace({s: sp.Integer(number + 1 if s.is_positive else number) for s in indices})


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


def _one_by_one(solver: z3.Solver, variables: list[z3.ArithRef]) -> str:
    """z3's answer once small numbers are put in for variables in turn, wherever it does not exclude them."""
    for variable in variables:
        for number in (1, 2, 0):
            solver.push()
            solver.add(variable == number)
            word = str(solver.check())
            if word == "sat":
                return word
            if word == "unknown":
                break
            solver.pop()
    return "unknown"


@cache
def load() -> Mapping[str, Model]:
    """The models as they stand in the package."""
    models: Mapping[str, Model] = json.loads(STORE.read_text(encoding="utf-8"))
    return models


def vacuous(statement: Statement, settings: Sequence[Fact] = ()) -> bool:
    """Whether nothing can satisfy the hypotheses, the definitions and the settings that its proof uses.

    z3 says so where no kept model satisfies them.
    """
    facts = Facts(statement, settings)
    kept = load().get(facts.key)
    if not (kept is not None and facts.hold(kept)) and facts.search()[0] == "unsat":
        return True
    # Definitions and settings alone can always be met. Together with what is assumed they may contradict at one value
    # of an index, or in what vectors are.
    told = [*quantified(statement), *((fact, indices(fact)) for fact in settings)]
    every = any(running or is_vector(fact.relation.left) for fact, running in told)
    return every and bool(assumptions(statement)) and Facts(statement, settings, several=True).contradict()
