"""Proofs as data: obligations, rules and inductions, and the examiner who believes none of them.

A proof is a list of steps. Each step may use the hypotheses of the statement, the steps before it, and nothing
else; the last step must be the statement itself. So a proof that passes says what it seems to say.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from cflag_theory.claims import algebra
from cflag_theory.claims.claim import Relation, Statement


@dataclass(frozen=True)
class Obligation:
    """An exact inference between scalars.

    Attributes
    ----------
    goal : Relation
        What is shown.
    given : tuple of str
        Names of hypotheses and earlier steps that are used.
    certificate : sympy expression
        right - left of the goal, written with `algebra.slack(name)` for the slack of a given inequality (its
        multiplier must be manifestly non-negative), `algebra.residual(name)` for left - right of a given equation
        (any multiplier) and `algebra.square(expr)`.
    """

    name: str
    goal: Relation
    given: tuple[str, ...]
    certificate: sp.Expr


@dataclass(frozen=True)
class RuleUse:
    """An instance of a named rule of `rules`: its conclusion, and the steps that it needs."""

    name: str
    rule: str
    conclusion: Relation
    words: str
    premises: tuple[str, ...] = ()


@dataclass(frozen=True)
class Induction:
    """`relation` for every index value from 0 on, within the hypotheses.

    The base must conclude the relation at 0, the step the relation at index + 1; the step's own steps may use the
    relation at index under the induction's name followed by " (hypothesis)".
    """

    name: str
    index: sp.Symbol
    relation: Relation
    base: Obligation
    step: tuple[Obligation | RuleUse, ...]


@dataclass(frozen=True)
class Instance:
    """A relation shown for every index, at one value of it: `of` names the induction."""

    name: str
    of: str
    index: sp.Symbol
    value: sp.Expr


Step = Obligation | RuleUse | Induction | Instance


@dataclass(frozen=True)
class Proof:
    """Steps in order; the conclusion of the last one is the statement."""

    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Examination:
    """The examiner's finding: whether every step was accepted, by which engines, through which rules."""

    accepted: bool
    obligations: int
    engines: tuple[str, ...]
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
        return Examination(False, 0, (), (), (), ("no proof is offered",))
    examiner = _Examiner({fact.name: fact.relation for fact in (*statement.hypotheses, *statement.definitions)})
    conclusion: Relation | None = None
    for step in statement.proof.steps:
        conclusion = examiner.take(step)
    if conclusion != statement.relation:
        examiner.faults.append(f"the last step shows {conclusion}, the statement is {statement.relation}")
    engines = ("sympy",) if examiner.undecided else ("sympy", "z3")
    return Examination(
        accepted=not examiner.faults,
        obligations=examiner.obligations,
        engines=() if examiner.faults else engines,
        undecided=tuple(examiner.undecided),
        rules=tuple(dict.fromkeys(examiner.rules)),
        faults=tuple(examiner.faults),
    )


class _Examiner:
    """Walks through the steps and remembers what has been established."""

    def __init__(self, known: dict[str, Relation]) -> None:
        self.known = known
        self.universal: dict[str, sp.Symbol] = {}
        self.obligations = 0
        self.undecided: list[str] = []
        self.rules: list[str] = []
        self.faults: list[str] = []

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
        return conclusion

    def _missing(self, step: str, names: tuple[str, ...]) -> bool:
        absent = [name for name in names if name not in self.known]
        if absent:
            self.faults.append(f"{step!r} uses what is not established: {', '.join(absent)}")
        return bool(absent)

    def _obligation(self, step: Obligation) -> Relation:
        self.obligations += 1
        if not self._missing(step.name, step.given):
            given = {name: self.known[name] for name in step.given}
            fault = algebra.certificate_fault(step.goal, given, step.certificate)
            if fault is not None:
                self.faults.append(f"{step.name!r}: {fault}")
            else:
                answer = algebra.ask_z3(step.goal, given, step.certificate)
                if answer == "refuted":
                    self.faults.append(f"{step.name!r}: z3 contradicts it")
                elif answer == "unknown":
                    self.undecided.append(step.name)
        return step.goal

    def _rule(self, step: RuleUse) -> Relation:
        self._missing(step.name, step.premises)
        self.rules.append(step.rule)
        return step.conclusion

    def _instance(self, step: Instance) -> Relation:
        if self.universal.get(step.of) != step.index:
            self.faults.append(f"{step.name!r} takes an instance of {step.of!r}, which is no induction on {step.index}")
            return Relation(sp.S.Zero, "==", sp.S.Zero)
        return self.known[step.of].subs({step.index: step.value})

    def _induction(self, step: Induction) -> Relation:
        self.rules.append("induction")
        outer = dict(self.known)
        if self.take(step.base) != step.relation.subs({step.index: 0}):
            self.faults.append(f"{step.name!r}: the base does not show the relation at 0")
        self.known[f"{step.name} (hypothesis)"] = step.relation
        last: Relation | None = None
        for inner in step.step:
            last = self.take(inner)
        if last != step.relation.subs({step.index: step.index + 1}):
            self.faults.append(f"{step.name!r}: the step does not show the relation at {step.index} + 1")
        # What was shown under the induction hypothesis does not outlive it.
        self.known = outer
        self.universal[step.name] = step.index
        return step.relation
