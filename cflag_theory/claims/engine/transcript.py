"""What a proof says line by line, and what it asks the engines: read without asking them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import sympy as sp

from cflag_theory.claims.engine import algebra, certificates, rules
from cflag_theory.claims.engine.claim import SETTING, Fact, Statement
from cflag_theory.claims.engine.examiner import Examiner, names_used
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.steps import Induction, Instance, Obligation, Step


@dataclass(frozen=True)
class Line:
    """A step of a proof with its conclusion and what it is given; `depth` is 1 inside of an induction."""

    depth: int
    step: Step
    conclusion: Relation
    given: tuple[rules.Known, ...] = ()


@dataclass(frozen=True)
class Inference:
    """An obligation with the relations that it uses, as a prover of its own needs it.

    `certificate` is None where none is written: `inferences` puts in the one that is kept or found. `strict` are all
    strict inequalities that are established at its place: what keeps denominators away from zero.
    """

    name: str
    goal: Relation
    given: Mapping[str, Relation]
    certificate: sp.Expr | None
    strict: tuple[Relation, ...]


def transcript(statement: Statement) -> list[Line]:
    """The steps of a statement's proof in order, each with what it concludes; no engine is asked."""
    return walk(statement).transcript


def walk(statement: Statement) -> Collector:
    """A statement's proof, taken step by step, with its `transcript` and what it asks, `found`; no engine is asked."""
    collector = Collector(statement)
    for step in statement.proof.steps if statement.proof else ():
        collector.take(step)
    return collector


def settings(statement: Statement) -> tuple[Fact, ...]:
    """The equations of the algorithm, and the ranges of its indices, that a statement's proof uses."""
    steps = statement.proof.steps if statement.proof else ()
    own = {fact.name for fact in statement.facts}
    names = dict.fromkeys(name for step in steps for name in names_used(step) if name in SETTING and name not in own)
    return tuple(SETTING[name] for name in names)


def inferences(statement: Statement) -> list[Inference]:
    """What a statement's proof asks the engines, in order, with certificates; for a proof that `examine` accepts."""
    return [
        one if one.certificate is not None else replace(one, certificate=_certificate(one.goal, one.given))
        for one in asked(statement)
    ]


def _certificate(goal: Relation, given: Mapping[str, Relation]) -> sp.Expr | None:
    return certificates.certificate_for(algebra.certificate_fault, goal, tuple(given.items()))


def asked(statement: Statement) -> list[Inference]:
    """What a statement's proof asks the engines, in order, with the certificates that are written."""
    return walk(statement).found


class Collector(Examiner):
    """Takes the steps in the same way, and collects the obligations instead of asking the engines."""

    def __init__(self, statement: Statement) -> None:
        super().__init__(statement)
        self.found: list[Inference] = []
        self.transcript: list[Line] = []
        self.depth = 0

    def take(self, step: Step) -> Relation:
        self.transcript.append(Line(self.depth, step, Relation(sp.S.Zero, "==", sp.S.Zero)))
        place = len(self.transcript) - 1
        conclusion = super().take(step)
        given = () if isinstance(step, Induction | Instance) else self._given(names_used(step))
        self.transcript[place] = Line(self.depth, step, conclusion, given)
        return conclusion

    def _induction(self, step: Induction) -> Relation:
        self.depth += 1
        relation = super()._induction(step)
        self.depth -= 1
        return relation

    def _ask(self, step: Obligation, given: Mapping[str, Relation]) -> None:
        strict = tuple(relation for relation in self.known.values() if relation.op == "<")
        self.found.append(Inference(step.name, step.goal, given, step.certificate, strict))
