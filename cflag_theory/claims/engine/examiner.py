"""The examiner: accepts a proof only if every step uses what is established and the last one is the statement.

A proof is a list of steps. Each step may use the hypotheses of the statement, the steps before it, and nothing
else; the last step must be the statement itself. So a proof that passes says what it seems to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import sympy as sp

from cflag_theory.claims.engine import algebra, rules
from cflag_theory.claims.engine.claim import Statement
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, RuleUse, Step


@dataclass(frozen=True)
class Examination:
    """The examiner's finding: whether every step was accepted, by which engines, through which rules.

    `pieces` names the obligations that z3 confirmed only along the certificate, `undecided` those on which it gave up.
    """

    accepted: bool
    obligations: int
    engines: tuple[str, ...]
    pieces: tuple[str, ...]
    undecided: tuple[str, ...]
    rules: tuple[str, ...]
    faults: tuple[str, ...]


def examine(statement: Statement) -> Examination:
    """Check every step of a statement's proof, and that the last one is the statement.

    An obligation is accepted when sympy's exact algebra confirms its certificate. z3 is asked again, without the
    certificate first and with its pieces if need be: a model that contradicts an obligation makes the proof fail,
    an `unknown` is listed in `undecided`.
    """
    if statement.proof is None or statement.relation is None:
        return Examination(False, 0, (), (), (), (), ("no proof is offered",))
    examiner = _Examiner(statement)
    conclusion: Relation | None = None
    for step in statement.proof.steps:
        conclusion = examiner.take(step)
    if conclusion != statement.relation:
        examiner.faults.append(f"the last step shows {conclusion}, the statement is {statement.relation}")
    if not examiner.obligations:
        examiner.faults.append("a proof by rules alone leaves nothing to examine")
    engines = ("sympy",) if examiner.undecided else ("sympy", "z3")
    return Examination(
        accepted=not examiner.faults,
        obligations=examiner.obligations,
        engines=() if examiner.faults else engines,
        pieces=tuple(examiner.pieces),
        undecided=tuple(examiner.undecided),
        rules=tuple(dict.fromkeys(examiner.rules)),
        faults=tuple(examiner.faults),
    )


@dataclass(frozen=True)
class Inference:
    """An obligation with the relations that it uses, as a prover of its own needs it.

    `strict` are all strict inequalities that are established at its place: what keeps denominators away from zero.
    """

    name: str
    goal: Relation
    given: Mapping[str, Relation]
    certificate: sp.Expr
    strict: tuple[Relation, ...]


def inferences(statement: Statement) -> list[Inference]:
    """What a statement's proof asks the engines, in order; for a proof that `examine` accepts."""
    collector = _Collector(statement)
    for step in statement.proof.steps if statement.proof else ():
        collector.take(step)
    return collector.found


@cache
def _decided(
    engines: tuple[Callable[..., Any], ...],
    goal: Relation,
    given: tuple[tuple[str, Relation], ...],
    certificate: sp.Expr,
) -> tuple[str | None, str]:
    """What is wrong with a certificate, and z3's answer where nothing is; computed once a process.

    Many statements share an obligation, and equal goals, names, relations and certificates have equal answers. The
    engines are part of the key, so that a test which replaces one gets its own answer.
    """
    certificate_fault, ask_z3 = engines
    fault = certificate_fault(goal, dict(given), certificate)
    return fault, "" if fault is not None else ask_z3(goal, dict(given), certificate)


class _Examiner:
    """Takes the steps in order and keeps what has been established."""

    def __init__(self, statement: Statement) -> None:
        self.known: dict[str, Relation] = {}
        #: What holds for every value of every index: definitions, and inductions without an end.
        self.lasting: set[str] = {fact.name for fact in statement.definitions}
        self.universal: dict[str, tuple[sp.Symbol, sp.Expr | None]] = {}
        #: The symbols of the hypotheses that a fact rests on, directly or through earlier steps.
        self.rests_on: dict[str, frozenset[sp.Symbol]] = {}
        self.obligations = 0
        self.pieces: list[str] = []
        self.undecided: list[str] = []
        self.rules: list[str] = []
        self.faults: list[str] = []
        self.names: dict[str, sp.Symbol] = {}
        for fact in (*statement.hypotheses, *statement.definitions):
            if fact.name in self.known:
                self.faults.append(f"two facts are named {fact.name!r}")
            self.known[fact.name] = fact.relation
            free = frozenset() if fact.name in self.lasting else frozenset(_symbols(fact.relation))
            self.rests_on[fact.name] = free
            self._watch(fact.relation)

    def _watch(self, relation: Relation) -> None:
        """Two symbols that print alike would let a reader see one where there are two."""
        for symbol in relation.slack.free_symbols:
            if self.names.setdefault(str(symbol), symbol) != symbol:
                self.faults.append(f"two different symbols are printed as {symbol}")

    def take(self, step: Step) -> Relation:
        if isinstance(step, Obligation):
            conclusion = self._obligation(step)
        elif isinstance(step, RuleUse):
            conclusion = self._rule(step)
        elif isinstance(step, Instance):
            conclusion = self._instance(step)
        else:
            conclusion = self._induction(step)
        if step.name in self.known:
            self.faults.append(f"two steps are named {step.name!r}")
        self.known[step.name] = conclusion
        used = [self.rests_on.get(name, frozenset()) for name in _uses(step)]
        self.rests_on[step.name] = frozenset().union(*used)
        self._watch(conclusion)
        return conclusion

    def _missing(self, step: str, names: tuple[str, ...]) -> bool:
        absent = [name for name in names if name not in self.known]
        if absent:
            self.faults.append(f"{step!r} uses what is not established: {', '.join(absent)}")
        return bool(absent)

    def _obligation(self, step: Obligation) -> Relation:
        self.obligations += 1
        if not self._missing(step.name, step.given):
            self._ask(step, {name: self.known[name] for name in step.given})
        return step.goal

    def _ask(self, step: Obligation, given: Mapping[str, Relation]) -> None:
        engines = (algebra.certificate_fault, algebra.ask_z3)
        fault, answer = _decided(engines, step.goal, tuple(given.items()), sp.sympify(step.certificate))
        if fault is not None:
            self.faults.append(f"{step.name!r}: {fault}")
        elif answer == "refuted":
            self.faults.append(f"{step.name!r}: z3 contradicts it")
        elif answer == "pieces":
            self.pieces.append(step.name)
        elif answer == "unknown":
            self.undecided.append(step.name)

    def _rule(self, step: RuleUse) -> Relation:
        if not self._missing(step.name, step.premises):
            wrong = rules.fault(step, [self.known[name] for name in step.premises])
            if wrong is not None:
                self.faults.append(f"{step.name!r}: {wrong}")
        self.rules.append(step.rule)
        return step.conclusion

    def _instance(self, step: Instance) -> Relation:
        index, end = self.universal.get(step.of, (None, None))
        if index is None or index != step.index or step.of not in self.known:
            self.faults.append(f"{step.name!r} takes an instance of {step.of!r}, no induction on {step.index}")
            return Relation(sp.S.Zero, "==", sp.S.Zero)
        if not (step.value.is_integer and step.value.is_nonnegative):
            self.faults.append(f"{step.name!r} takes an instance at {step.value}, which need not be 0, 1, 2, ...")
        if end is not None and self.known.get(step.within) != Relation(step.value, "<=", end):
            self.faults.append(f"{step.name!r}: {step.value} <= {end} is not established")
        return self.known[step.of].subs({step.index: step.value})

    def _induction(self, step: Induction) -> Relation:
        self.rules.append("induction")
        outer, index = dict(self.known), step.index
        if not (index.is_integer and index.is_nonnegative):
            self.faults.append(f"{step.name!r} is an induction on {index}, which need not be 0, 1, 2, ...")
        # What holds for the outer value of the index says nothing about the others.
        self.known = {
            name: relation
            for name, relation in outer.items()
            if index not in (self.rests_on[name] if name in self.lasting else _symbols(relation))
        }
        end = self._end(step, outer)
        if self.take(step.base) != step.relation.subs({index: 0}):
            self.faults.append(f"{step.name!r}: the base does not show the relation at 0")
        self.known[f"{step.name} (hypothesis)"] = step.relation
        if end is not None:
            self.known[f"{step.name} (range)"] = Relation(index + 1, "<=", end)
        last: Relation | None = None
        for inner in step.step:
            if isinstance(inner, Induction):
                self.faults.append(f"{step.name!r} has an induction inside: let it come before")
            last = self.take(inner)
        if last != step.relation.subs({index: index + 1}):
            self.faults.append(f"{step.name!r}: the step does not show the relation at {index} + 1")
        # What was shown under the induction hypothesis holds only under it.
        self.known = outer
        self.universal[step.name] = (index, end)
        if end is None:
            self.lasting.add(step.name)
        return step.relation

    def _end(self, step: Induction, outer: dict[str, Relation]) -> sp.Expr | None:
        """The end of the induction's range, from the hypothesis that the index lies within it."""
        if not step.within:
            return None
        relation = outer.get(step.within)
        if relation is None or relation.op != "<=" or relation.left not in (step.index, step.index + 1):
            self.faults.append(f"{step.name!r}: {step.within!r} does not bound {step.index}")
            return None
        if step.index in _symbols(relation.right):
            self.faults.append(f"{step.name!r} ends at {relation.right}, which moves with {step.index}")
            return None
        return relation.right


def _symbols(what: Relation | sp.Expr) -> set[sp.Symbol]:
    if isinstance(what, Relation):
        return _symbols(what.left) | _symbols(what.right)
    return set(what.free_symbols)


def _uses(step: Step) -> tuple[str, ...]:
    """The names of what a step rests on."""
    if isinstance(step, Obligation):
        return step.given
    if isinstance(step, RuleUse):
        return step.premises
    if isinstance(step, Instance):
        return (step.of, step.within)
    return (step.within, *(name for inner in (step.base, *step.step) for name in _uses(inner)))


class _Collector(_Examiner):
    """Takes the steps in the same way, and collects the obligations instead of asking the engines."""

    def __init__(self, statement: Statement) -> None:
        super().__init__(statement)
        self.found: list[Inference] = []

    def _ask(self, step: Obligation, given: Mapping[str, Relation]) -> None:
        strict = tuple(relation for relation in self.known.values() if relation.op == "<")
        self.found.append(Inference(step.name, step.goal, given, sp.sympify(step.certificate), strict))
