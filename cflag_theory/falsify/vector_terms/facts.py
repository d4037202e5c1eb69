"""What is known of a claim while a proof is looked for, and the steps that show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import sympy as sp

from cflag_theory.claims.engine import rules
from cflag_theory.claims.engine.claim import Fact
from cflag_theory.claims.engine.finder import find
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.engine.steps import Obligation, Use
from cflag_theory.claims.engine.terms import TermError, is_vector
from cflag_theory.falsify.vector_terms.squares import with_squares


@dataclass
class Facts:
    """What is known, by name, and the steps that show it."""

    known: dict[str, rules.Known] = field(default_factory=dict)
    steps: dict[str, Use | Obligation] = field(default_factory=dict)
    #: What holds for every round, where the claim is about one: what is known rests on it.
    behind: dict[str, rules.Known] = field(default_factory=dict)
    #: What is known does not imply the goal, whatever is squared.
    refused: bool = False

    def certificate(self, goal: Relation) -> sp.Expr | None:
        """A certificate of the goal with squares that are found for it, and become facts."""
        found = with_squares(goal, {name: one.relation for name, one in self.known.items()})
        self.refused = found.refused
        for name, (vector, nest) in found.squares.items():
            self.use(rules.square(name, vector, *reversed(nest)))
        return found.certificate

    def prove(self, hint: Fact) -> None:
        """Add a hint, if a certificate is found."""
        certificate = None if hint.name in self.known else self.certificate(hint.relation)
        if certificate is None and hint.name not in self.known:
            certificate = find(hint.relation, self.relations())
        if certificate is not None:
            used = self.used(certificate)
            self.known[hint.name] = rules.Known(hint.relation, frozenset().union(*(self.known[n].fixed for n in used)))
            self.steps[hint.name] = Obligation(hint.name, hint.relation, used, certificate)

    def used(self, certificate: sp.Expr) -> tuple[str, ...]:
        """The names of what a certificate adds up."""
        words = {str(symbol) for symbol in certificate.free_symbols}
        return tuple(name for name in self.relations() if words & {f"slack[{name}]", f"residual[{name}]"})

    def use(self, step: Use, *, behind: bool = False) -> str | None:
        """Add what a rule concludes, or put it `behind`; None where it does not fit, or says nothing new."""
        try:
            premises = [self.known.get(name) or self.behind[name] for name in step.given]
            relation = rules.concluded(step, premises, self.strict)
        except TermError:
            return None
        if sp.expand(relation.slack) == 0 or any(relation == known.relation for known in self.known.values()):
            return None
        fixed = frozenset().union(*(known.fixed for known in premises))
        (self.behind if behind else self.known)[step.name] = rules.Known(relation, fixed)
        self.steps[step.name] = step
        return step.name

    @property
    def strict(self) -> dict[str, Relation]:
        """The strict inequalities about no index: by them a divisor differs from 0."""
        known = ((name, one.relation) for name, one in self.known.items() if one.relation.op == "<")
        return {name: one for name, one in known if not any(symbol.is_integer for symbol in one.free_symbols)}

    def relations(self) -> dict[str, Relation]:
        """What is known between numbers."""
        return {
            name: known.relation
            for name, known in self.known.items()
            if not (is_vector(known.relation.left) or is_vector(known.relation.right))
        }

    def square_of(self, v: sp.Expr) -> str:
        """The name under which ||v||^2 = <v, v> is known."""
        name = self.use(rules.norm_squared(f"square of ||{v}||", v))
        shown = rules.concluded(rules.norm_squared("", v), [], self.strict) if name is None else None
        return name or next(known for known, one in self.known.items() if one.relation == shown)

    def derive(self, name: str, goal: Relation, given: Sequence[str | None]) -> None:
        """Add a relation that follows from these, if a certificate is found."""
        known = {one: self.known[one].relation for one in given if one is not None}
        certificate = None if name in self.known else find(goal, known)
        if certificate is not None:
            fixed = frozenset().union(*(self.known[one].fixed for one in known))
            self.known[name] = rules.Known(goal, fixed)
            self.steps[name] = Obligation(name, goal, tuple(known), certificate)


def known_of(fact: Fact) -> rules.Known:
    """What a hypothesis says, for every value of its indices."""
    return rules.Known(fact.relation, frozenset(fact.relation.free_symbols - {*fact.forall}))
