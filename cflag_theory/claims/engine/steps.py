"""Proofs as data: obligations, rules, inductions and their instances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sympy as sp

from cflag_theory.claims.engine.relation import Relation


@dataclass(frozen=True)
class Obligation:
    """An exact inference between scalars.

    Attributes
    ----------
    goal : Relation
        What is shown.
    given : tuple of str
        Names of hypotheses and earlier steps that are used.
    certificate : sympy expression, optional
        Without one, it is found, and kept in `claims/certificates.json`. A hand-written one is the last resort: right -
        left of the goal, written with `algebra.slack(name)` for the slack of a given inequality (its multiplier must be
        manifestly non-negative), `algebra.residual(name)` for left - right of a given equation (any multiplier) and
        `algebra.square(expr)`.
    """

    name: str
    goal: Relation
    given: tuple[str, ...]
    certificate: sp.Expr | None = None


@dataclass(frozen=True)
class Use:
    """A use of a rule of `rules`, which computes its conclusion from the terms and from what the steps `given` show."""

    name: str
    rule: str
    terms: tuple[Any, ...]
    given: tuple[str, ...] = ()
    words: str = ""


@dataclass(frozen=True)
class Induction:
    """`relation` for every value of the index from 0 on, or from 1 on for a positive index.

    The base must conclude the relation at the first value, the step the relation at index + 1. The step's own steps may
    use the relation at index, and rules may use it at every smaller value too, under the induction's name followed by
    " (hypothesis)". They may use nothing that was established for the outer value of the index: only definitions and
    finished inductions hold for every value.
    """

    name: str
    index: sp.Symbol
    relation: Relation
    base: Obligation | tuple[Obligation | Use, ...]
    step: tuple[Obligation | Use, ...]
    #: For a relation that needs index < end: the name of a hypothesis index + 1 <= end (or index <= end). The step may
    #: then use index + 1 <= end under the induction's name followed by " (range)".
    within: str = ""

    @property
    def inner(self) -> tuple[Obligation | Use, ...]:
        """The steps of the base, and then those of the step."""
        return (*(self.base if isinstance(self.base, tuple) else (self.base,)), *self.step)


@dataclass(frozen=True)
class Instance:
    """A relation shown for every value of the index, at one value: `of` names the induction.

    `within` names a fact value <= end, for an induction that ends.
    """

    name: str
    of: str
    index: sp.Symbol
    value: sp.Expr
    within: str = ""


Step = Obligation | Use | Induction | Instance


@dataclass(frozen=True)
class Proof:
    """Steps in order; the conclusion of the last one is the statement."""

    steps: tuple[Step, ...]
