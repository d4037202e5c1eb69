"""The examiner: accepts a proof only if every step uses what is established and the last one is the statement.

A proof is a list of steps. Each step may use the hypotheses of the statement, the steps before it, and nothing
else; the last step must be the statement itself. So a proof that passes says what it seems to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import sympy as sp

from cflag_theory.claims.engine import algebra, certificates, definitions, door, rules
from cflag_theory.claims.engine.claim import SETTING, Statement
from cflag_theory.claims.engine.definitions import assumptions, quantified
from cflag_theory.claims.engine.meanings import unfold
from cflag_theory.claims.engine.operators import Index
from cflag_theory.claims.engine.relation import Relation, sides
from cflag_theory.claims.engine.sorts import sort_of
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Step, Use
from cflag_theory.claims.engine.terms import TermError, is_vector
from cflag_theory.claims.engine.vacuity import vacuous


@dataclass(frozen=True)
class Examination:
    """The examiner's finding: whether every step was accepted, by which engines, through which rules.

    z3 is among the engines if it proved every obligation; `undecided` names those on which it gave up. `assumed` names
    the definitions that assume something: they count as hypotheses.
    """

    accepted: bool
    obligations: int
    engines: tuple[str, ...]
    undecided: tuple[str, ...]
    rules: tuple[str, ...]
    faults: tuple[str, ...]
    assumed: tuple[str, ...] = ()


def examine(statement: Statement, *, second: bool = True) -> Examination:
    """Check every step of a statement's proof, and that the last one is the statement.

    An obligation is accepted when sympy's exact algebra confirms its certificate. z3, the `second` engine, then decides
    it without the certificate, and whether the hypotheses contradict each other: a model that contradicts the
    obligation makes the proof fail; an `unknown` is listed in `undecided`.
    """
    if statement.proof is None or statement.relation is None:
        return Examination(False, 0, (), (), (), ("no proof is offered",))
    if strange := door.faults(statement):
        return Examination(False, 0, (), (), (), tuple(strange))
    examiner = Examiner(statement, second=second)
    conclusion: Relation | None = None
    for step in statement.proof.steps:
        conclusion = examiner.take(step)
    if conclusion != statement.relation.unfolded:
        examiner.faults.append(f"the last step shows {conclusion}, the statement is {statement.relation}")
    if not examiner.obligations:
        examiner.faults.append("a proof by rules alone leaves nothing to examine")
    # What else is wrong comes first: z3 may search for seconds, and a proof with faults is not accepted anyway.
    used = tuple(fact for name, fact in SETTING.items() if name in examiner.settings)
    examiner.faults += definitions.settings_faults(statement, used)
    if second and not examiner.faults and vacuous(statement, used):
        examiner.faults.append("the hypotheses and definitions contradict each other")
    engines = ("sympy", "z3") if second and not examiner.undecided else ("sympy",)
    return Examination(
        accepted=not examiner.faults,
        obligations=examiner.obligations,
        engines=() if examiner.faults else engines,
        undecided=tuple(examiner.undecided),
        rules=tuple(dict.fromkeys(examiner.rules)),
        faults=tuple(examiner.faults),
        assumed=tuple(fact.name for fact in assumptions(statement) if fact in statement.definitions),
    )


@cache
def _fault(
    check: Callable[..., str | None], goal: Relation, given: certificates.Given, certificate: sp.Expr | None
) -> str | None:
    """What is wrong with a certificate, or with the one that is kept or found.

    Many statements share an obligation: once a process, equal goals, names, relations and certificates have equal
    answers. The engine is part of the key, so that a test which replaces one gets its own answer.
    """
    if certificate is not None:
        return check(goal, dict(given), certificate)
    found = certificates.certificate_for(check, goal, given)
    return "no certificate was found" if found is None else None


@cache
def _answer(ask: Callable[..., str], goal: Relation, given: certificates.Given) -> str:
    """The second engine's answer."""
    return ask(goal, dict(given))


@cache
def _concluded(
    rule: str, terms: tuple[Any, ...], given: tuple[rules.Known, ...], strict: tuple[tuple[str, Relation], ...]
) -> Relation:
    """What a use of a rule shows; computed once a process, since statements share their steps."""
    return rules.concluded(Use("", rule, terms, (), ""), list(given), dict(strict))


class Examiner:
    """Takes the steps in order and keeps what has been established."""

    def __init__(self, statement: Statement, *, second: bool = True) -> None:
        self.second = second
        self.known: dict[str, Relation] = {}
        self.universal: dict[str, tuple[sp.Symbol, sp.Expr | None]] = {}
        #: What each fact is fixed to, by the hypotheses that it rests on, directly or through earlier steps.
        self.reach: dict[str, rules.Known] = {}
        self.obligations = 0
        self.undecided: list[str] = []
        self.rules: list[str] = []
        self.faults: list[str] = []
        #: The settings that steps use.
        self.settings: set[str] = set()
        #: What each name stands for: in what is printed, and in what symbols with a meaning stand for.
        self.names: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
        #: The names that the steps of an induction may not use again: those of what stands outside.
        self.outside: frozenset[str] = frozenset()
        for relation in statement.relations:
            self._watch(relation, self.names[0])
        for fact, running in quantified(statement):
            if fact.name in self.known:
                self.faults.append(f"two facts are named {fact.name!r}")
            self.known[fact.name] = fact.relation.unfolded
            self.reach[fact.name] = _reach(self.known[fact.name], running)
            self._watch(self.known[fact.name], self.names[1])

    def _watch(self, relation: Relation, names: dict[str, Any]) -> None:
        """Two things that print alike would let a reader see one where there are two."""
        for name, meant in door.printed(relation):
            if names.setdefault(name, meant) != meant:
                self.faults.append(f"two different things are printed as {name}")

    def take(self, step: Step) -> Relation:
        if isinstance(step, Obligation):
            conclusion = self._obligation(step)
        elif isinstance(step, Use):
            conclusion = self._use(step)
        elif isinstance(step, Instance):
            conclusion = self._instance(step)
        else:
            conclusion = self._induction(step)
        if step.name in self.known or step.name in self.outside:
            self.faults.append(f"two steps are named {step.name!r}")
        self.known[step.name] = conclusion
        self.reach[step.name] = self._reached(step, conclusion)
        for side in sides(conclusion):
            if strange := door.fault(side):
                self.faults.append(f"{step.name!r}: {strange}")
        self._watch(conclusion, self.names[1])
        return conclusion

    def _reached(self, step: Step, conclusion: Relation) -> rules.Known:
        """What a conclusion is fixed to: what it rests on is, less an induction's index, which runs or has a value."""
        used = [self.reach[name] for name in names_used(step) if name in self.reach]
        fixed = frozenset().union(*(known.fixed for known in used))
        if isinstance(step, Induction):
            fixed = fixed | {step.index} if step.within else fixed - {step.index}
        elif isinstance(step, Instance) and used:
            fixed = (used[0].fixed - {step.index}).union(*(known.fixed for known in used[1:]))
        return rules.Known(conclusion, fixed, frozenset().union(*(known.ranges for known in used)))

    def _given(self, names: tuple[str, ...]) -> tuple[rules.Known, ...]:
        return tuple(replace(self.reach[name], relation=self.known[name]) for name in names if name in self.known)

    def _use(self, step: Use) -> Relation:
        self.rules.append(step.rule)
        nothing = Relation(sp.S.Zero, "==", sp.S.Zero)
        if self._missing(step.name, step.given):
            return nothing
        try:
            return _concluded(step.rule, step.terms, self._given(step.given), tuple(self._strict().items()))
        except TermError as error:
            self.faults.append(f"{step.name!r}: {error}")
            return nothing

    def _strict(self) -> dict[str, Relation]:
        """The strict inequalities that are about no index: a rule may take another value of an index."""
        known = ((name, relation) for name, relation in self.known.items() if relation.op == "<")
        return {name: one for name, one in known if not any(symbol.is_integer for symbol in one.free_symbols)}

    def _missing(self, step: str, names: tuple[str, ...]) -> bool:
        for fact in (SETTING[name] for name in names if name not in self.known and name in SETTING):
            self.settings.add(fact.name)
            self.known[fact.name] = fact.relation
            self.reach[fact.name] = _reach(fact.relation, definitions.running(fact))
        absent = [name for name in names if name not in self.known]
        if absent:
            self.faults.append(f"{step!r} uses what is not established: {', '.join(absent)}")
        return bool(absent)

    def _obligation(self, step: Obligation) -> Relation:
        self.obligations += 1
        written = None if step.certificate is None else unfold(sp.sympify(step.certificate))
        step = replace(step, goal=step.goal.unfolded, certificate=written)
        if not self._missing(step.name, step.given):
            self._ask(step, {name: self.known[name] for name in step.given})
        return step.goal

    def _ask(self, step: Obligation, given: Mapping[str, Relation]) -> None:
        if any(map(is_vector, sides(step.goal, *given.values()))):
            self.faults.append(f"{step.name!r} takes vectors for numbers")
            return
        facts = tuple(given.items())
        fault = _fault(algebra.certificate_fault, step.goal, facts, step.certificate)
        answer = _answer(algebra.ask_z3, step.goal, facts) if fault is None and self.second else "proved"
        if fault is not None or answer == "refuted":
            self.faults.append(f"{step.name!r}: {fault or 'z3 contradicts it'}")
        elif answer != "proved":
            self.undecided.append(step.name)

    def _instance(self, step: Instance) -> Relation:
        index, end = self.universal.get(step.of, (None, None))
        if index is None or index != step.index or step.of not in self.known:
            self.faults.append(f"{step.name!r} takes an instance of {step.of!r}, no induction on {step.index}")
            return Relation(sp.S.Zero, "==", sp.S.Zero)
        if not sort_of(index).fits(step.value):
            self.faults.append(f"{step.name!r} takes an instance at {step.value}, which need not be as {index} is")
        if end is not None and self.known.get(step.within) != Relation(step.value, "<=", end):
            self.faults.append(f"{step.name!r}: {step.value} <= {end} is not established")
        return self.known[step.of].subs({step.index: step.value})

    def _induction(self, step: Induction) -> Relation:
        self.rules.append("induction")
        outer, index = dict(self.known), step.index
        reach, outside = dict(self.reach), self.outside
        self.outside |= {*outer}
        for name in (f"{step.name} (hypothesis)", f"{step.name} (range)"):
            if name in self.outside:
                self.faults.append(f"two facts are named {name!r}")
        relation = step.relation.unfolded
        if isinstance(index, Index) or not sort_of(index).whole:
            self.faults.append(f"{step.name!r} is an induction on {index}, which need not be 0, 1, 2, ...")
        start = sp.Integer(sort_of(index).start or 0)
        # What holds for the outer value of the index says nothing about the others.
        self.known = {
            name: relation
            for name, relation in outer.items()
            if index not in relation.free_symbols or self.reach[name].for_every(index)
        }
        # Whatever the steps rest on, their hypothesis rests on it too.
        used = [self.reach[name] for name in names_used(step) if name in self.known]
        under = rules.Known(
            relation,
            frozenset({index}).union(*(known.fixed for known in used)),
            frozenset().union(*(known.ranges for known in used)),
        )
        end = self._end(step, outer)
        first: Relation | None = None
        for inner in step.base if isinstance(step.base, tuple) else (step.base,):
            first = self.take(inner)
        if first != relation.subs({index: start}):
            self.faults.append(f"{step.name!r}: the base does not show the relation at {start}")
        self.known[f"{step.name} (hypothesis)"] = relation
        self.reach[f"{step.name} (hypothesis)"] = under
        if end is not None:
            self.known[f"{step.name} (range)"] = Relation(index + 1, "<=", end)
            self.reach[f"{step.name} (range)"] = rules.Known(self.known[f"{step.name} (range)"], frozenset({index}))
        last: Relation | None = None
        for inner in step.step:
            if isinstance(inner, Induction):
                self.faults.append(f"{step.name!r} has an induction inside: let it come before")
            last = self.take(inner)
        if last != relation.subs({index: index + 1}):
            self.faults.append(f"{step.name!r}: the step does not show the relation at {index} + 1")
        # What was shown under the induction hypothesis holds only under it.
        self.known, self.reach, self.outside = outer, reach, outside
        self.universal[step.name] = (index, end)
        return relation

    def _end(self, step: Induction, outer: dict[str, Relation]) -> sp.Expr | None:
        """The end of the induction's range, from the hypothesis that the index lies within it."""
        if not step.within:
            return None
        relation = outer.get(step.within)
        if relation is None or relation.op != "<=" or relation.left not in (step.index, step.index + 1):
            self.faults.append(f"{step.name!r}: {step.within!r} does not bound {step.index}")
            return None
        if step.index in relation.right.free_symbols:
            self.faults.append(f"{step.name!r} ends at {relation.right}, which moves with {step.index}")
            return None
        return relation.right


def _reach(relation: Relation, running: frozenset[sp.Symbol]) -> rules.Known:
    """What a hypothesis or a definition is fixed to, if it holds for every value of the `running` indices."""
    free = relation.free_symbols
    ends = [symbol for symbol in free if isinstance(symbol, Index) and relation.left in (symbol, symbol + 1)]
    if ends and relation.op == "<=" and ends[0] not in relation.right.free_symbols:
        return rules.Known(relation, frozenset(free - {*ends} - running), frozenset({relation}))
    return rules.Known(relation, frozenset(free - running))


def names_used(step: Step) -> tuple[str, ...]:
    """The names of what a step rests on."""
    if isinstance(step, Obligation | Use):
        return step.given
    if isinstance(step, Instance):
        return (step.of, step.within)
    return (step.within, *(name for inner in step.inner for name in names_used(inner)))
