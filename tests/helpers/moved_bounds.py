"""Planted errors: every proved bound of the ledger with its constant moved past its sharp value.

A falsifier that is any good breaks each of them; which ones it misses is a measure of how far it may be trusted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

import sympy as sp

from cflag_theory.claims.engine.claim import Part, Statement, statements
from cflag_theory.claims.engine.relation import Relation
from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.falsify.conjecture import Conjecture
from cflag_theory.falsify.falsifying import BUDGET, falsify
from cflag_theory.falsify.finding import PROVED
from cflag_theory.falsify.ledger.rows import find_part, row, undrawn

#: How far a constant is moved, as a part of itself.
MOVE = sp.Rational(1, 100)


@dataclass(frozen=True)
class Planted:
    """A proved bound and the false one in its place.

    Attributes
    ----------
    id, part, on : str
        The claim, its part and which of the part's statements is the sharpest one with a proof.
    moved : str
        What was moved.
    relation : Relation
        The bound with it.
    """

    id: str
    part: str
    on: str
    moved: str
    relation: Relation

    @property
    def name(self) -> str:
        """The bound in one word."""
        return f"{self.id}.{self.part}"

    @property
    def sharp(self) -> bool:
        """Whether the ledger has a sharp constant; else it is the proved one, which may not be the least."""
        return self.on == "sharp"

    @property
    def why_not(self) -> str:
        """Why no instances of the row are drawn; empty where they are."""
        return undrawn(self.id, self.part, self.on, self._statement)

    @property
    def instances(self) -> str:
        """What is drawn."""
        return row(self.id, self.part, self.on, self._statement).drawn

    @property
    def _statement(self) -> Statement:
        found = best(find_part(self.id, self.part)[1])
        assert found is not None
        return replace(found[1], relation=self.relation)

    def conjecture(self) -> Conjecture:
        """The false bound over the instances of its row.

        Raises
        ------
        InvalidInput
            No family of small instances is known for the row.
        """
        return row(self.id, self.part, self.on, self._statement)


def best(part: Part) -> tuple[str, Statement] | None:
    """The sharpest statement of a part that has a proof: which it is, and itself; None without one."""
    known = statements(part)
    for on in ("sharp", "repair", "printed"):
        found = known.get(on)
        if found is None or found.proof is None or found.relation is None:
            continue
        if found.relation.op != "==":
            return on, found
        if on == "sharp":
            # An equation is the sharpest bound of all.
            return on, replace(found, relation=replace(found.relation, op="<="))
    return None


def past(part: Part) -> tuple[str, Relation] | None:
    """What is moved in a part's best bound, and the bound with it; None where no constant is there to move."""
    found = best(part)
    if found is None:
        return None
    relation = found[1].relation
    assert relation is not None
    if found[0] == "sharp" and (moved := _past_sharp(part, relation)) is not None:
        return moved
    if relation.left.is_number and relation.left != 0:
        return "the left side", Relation(relation.left * (1 + MOVE), relation.op, relation.right)
    if relation.right == 0 or relation.left == 0:
        return None
    right = relation.right
    if right.is_nonnegative or right.is_nonpositive:
        return "the right side", Relation(
            relation.left, relation.op, right * (1 - MOVE if right.is_nonnegative else 1 + MOVE)
        )
    return "the right side", Relation(relation.left, relation.op, right - MOVE * sp.Abs(right))


def _past_sharp(part: Part, relation: Relation) -> tuple[str, Relation] | None:
    """The sharp constant moved, and nothing else; None where no term of the bound is known to hold it."""
    assert part.sharp is not None
    words, value, distance = part.sharp.words, part.sharp.value, part.sharp.printed - part.sharp.value
    other = part.repair.statement.relation if part.repair else part.printed.relation
    if other is not None and other.left == relation.left and distance != 0:
        term = sp.cancel((other.right - relation.right) / distance) * value
        # A sharp bound may differ from the other one in more than its constant.
        if _is_part(term, relation.right):
            return words, Relation(relation.left, relation.op, relation.right - MOVE * term)
    if term := _terms_with(value, relation.right):
        return words, Relation(relation.left, relation.op, relation.right - MOVE * term)
    if term := _terms_with(value, relation.left):
        return words, Relation(relation.left - MOVE * term, relation.op, relation.right)
    return None


def _coefficients(side: sp.Expr) -> dict[sp.Expr, sp.Expr]:
    """The numbers before the products of symbols of a side."""
    found: dict[sp.Expr, sp.Expr] = {}
    for term in sp.Add.make_args(sp.expand(side)):
        number, product = term.as_independent(*side.free_symbols, as_Add=False)
        found[product] = found.get(product, sp.S.Zero) + number
    return found


def _is_part(term: sp.Expr, side: sp.Expr) -> bool:
    """Whether every product in `term` is in `side`, with no larger a number before it."""
    under = sp.fraction(sp.together(side))[1]
    whole, part = (_coefficients(sp.cancel(one * under)) for one in (side, term))
    shares = [sp.simplify(number / whole.get(product, sp.S.NaN)) for product, number in part.items()]
    return all(share.is_number and share.is_real and 0 < share <= 1 for share in shares)


def _terms_with(value: sp.Expr, side: sp.Expr) -> sp.Expr:
    """The terms with the constant before them: with plus or minus it, or with a multiple if it is irrational."""

    def holds(number: sp.Expr) -> bool:
        ratio = sp.simplify(number / value)
        return bool(abs(ratio) == 1 or (ratio.is_Rational and not value.is_Rational))

    return sp.Add(*(number * product for product, number in _coefficients(side).items() if holds(number)))


def planted_errors() -> list[Planted]:
    """Every proved bound of the ledger with a constant, in ledger order."""
    found = []
    for id in LEDGER:
        for part in claim(id).parts:
            moved, bound = past(part), best(part)
            if moved is not None and bound is not None:
                found.append(Planted(id, part.key, bound[0], *moved))
    return found


@dataclass(frozen=True)
class Study:
    """Which planted errors were found.

    Attributes
    ----------
    found : tuple of str
        Those with an exact counterexample.
    missed : mapping
        The largest left/right found against the moved bound, for those that were not found within the budget.
    true : tuple of str
        Those that exact algebra proves over the instances that are drawn: their constant can be improved on there, and
        they are not errors.
    without : tuple of str
        Those of whose rows no small instances are known, which nobody looked for.
    """

    found: tuple[str, ...]
    missed: Mapping[str, float | None]
    true: tuple[str, ...]
    without: tuple[str, ...]

    @property
    def rate(self) -> float:
        """The part that was found of those that were looked for."""
        return len(self.found) / (len(self.found) + len(self.missed))

    def __str__(self) -> str:
        looked = len(self.found) + len(self.missed)
        whole = looked + len(self.true) + len(self.without)
        missed = ", ".join(
            name if ratio is None else f"{name} (left/right {ratio:.6g})" for name, ratio in self.missed.items()
        )
        return (
            f"{len(self.found)} of {looked} planted errors found ({self.rate:.1%}); missed: {missed or 'none'}; "
            f"proved after all: {', '.join(self.true) or 'none'}; "
            f"{len(self.without)} of {whole} bounds have no small instances"
        )


def study(
    errors: Iterable[Planted],
    *,
    budget: int = BUDGET,
    seed: int = 0,
    progress: Callable[[Planted], None] | None = None,
) -> Study:
    """Put planted errors to the falsifier.

    Parameters
    ----------
    errors : iterable of Planted
        Such as `planted_errors()`.
    budget, seed : int
        Of `falsify`, for each.
    progress : callable, optional
        Called with each planted error when it is done.
    """
    found: list[str] = []
    missed: dict[str, float | None] = {}
    true: list[str] = []
    without: list[str] = []
    for planted in errors:
        if planted.why_not:
            without.append(planted.name)
        elif (finding := falsify(planted.conjecture(), budget=budget, seed=seed)).refuted:
            found.append(planted.name)
        elif finding.status == PROVED:
            true.append(planted.name)
        else:
            missed[planted.name] = finding.largest_ratio
        if progress:
            progress(planted)
    return Study(tuple(found), missed, tuple(true), tuple(without))
