"""What `sharp` finds: one lemma at one n, E and beta L E, how far it reaches, and Lemma 3."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from cflag_theory.studies.worst_cases.ranges import Interval
from cflag_theory.studies.worst_cases.surrogate import UnionConstant


@dataclass(frozen=True)
class Row:
    """One lemma at one n, E and u = beta L E."""

    #: Claim id, place in the paper, and which constant is meant.
    lemma: str
    where: str
    words: str
    #: Components of a client, and E.
    n: int
    local_steps: int
    #: beta L E.
    u: Fraction
    #: The refreshes at k = 1, ..., E - 1.
    order: tuple[int, ...]
    #: As in `lemmas.Worst`.
    how: str
    #: The printed constant.
    printed: Fraction
    #: Whether u lies in the range in which the lemma is printed, or for Lemmas 15 and 16 proved.
    in_range: bool
    #: No instance needs a larger constant.
    worst: Fraction
    #: What the instance that was run needs; equal to `worst` except for Lemma 12 beyond u = 1.
    met: Fraction
    #: Fractions around the least constant that serves every n, E and order at this u.
    supremum: Interval
    #: The constant by a worst case that is proved in fractions, where it was asked for.
    pep: float | None = None

    @property
    def holds(self) -> bool | None:
        """Whether the printed inequality is true in the worst case; None where that is not known."""
        if self.worst <= self.printed:
            return True
        return False if self.met > self.printed else None

    def to_json(self) -> dict[str, Any]:
        """Plain values; fractions as numbers, those that are compared as text too."""
        return {
            "lemma": self.lemma,
            "where": self.where,
            "constant": self.words,
            "n": self.n,
            "E": self.local_steps,
            "beta_L_E": float(self.u),
            "order": list(self.order),
            "order_is_worst_by": self.how,
            "printed": float(self.printed),
            "in_range": self.in_range,
            "worst": float(self.worst),
            "worst_exact": _text(self.worst),
            "met": float(self.met),
            "met_exact": _text(self.met),
            "exact": self.worst == self.met,
            "holds": self.holds,
            "supremum": [float(side) for side in self.supremum],
            "performance_estimation": self.pep,
        }


@dataclass(frozen=True)
class Range:
    """How large beta L E may be: for n and E, and for all of them; None for every step size.

    `how` is "proof" where the ledger has it, and "argument" for `Lemma.argued`.
    """

    lemma: str
    where: str
    printed: Fraction | None
    n: int
    local_steps: int
    largest: Interval | None
    largest_for_all: Interval | None
    how: str = "proof"

    def to_json(self) -> dict[str, Any]:
        """Plain values; true up to the first number of a pair, false at the second."""
        return {
            "lemma": self.lemma,
            "where": self.where,
            "printed": None if self.printed is None else float(self.printed),
            "n": self.n,
            "E": self.local_steps,
            "largest": _pair(self.largest),
            "largest_for_all_n_E": _pair(self.largest_for_all),
            "largest_is_by": self.how,
        }


@dataclass(frozen=True)
class Union:
    """Lemma 3 for (67)-(68): the constant in place of 60 for one E, whatever n is."""

    #: E.
    local_steps: int
    #: At beta = 1/(30 L E).
    printed_step: UnionConstant
    #: At the best step size.
    best: UnionConstant
    #: Between these beta L E 60 L is proved.
    range: Interval

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "E": self.local_steps,
            "at_printed_step": _union(self.printed_step),
            "best": _union(self.best),
            "range_of_60_L": _pair(self.range),
        }


@dataclass(frozen=True)
class Sharp:
    """Everything that `sharp` found."""

    #: Each lemma at each n, E and u.
    rows: tuple[Row, ...]
    #: Each lemma at each n and E.
    ranges: tuple[Range, ...]
    #: Lemma 3 for each E.
    union: tuple[Union, ...]
    #: Fractions around the constant in place of 60 at beta = 1/(30 L E) as E grows.
    union_limit: Interval

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "rows": [row.to_json() for row in self.rows],
            "ranges": [one.to_json() for one in self.ranges],
            "lemma3": [one.to_json() for one in self.union],
            "lemma3_at_printed_step_many_local_steps": _pair(self.union_limit),
        }


def _text(value: Fraction) -> str | None:
    """A fraction as text, None where it fills more than a line."""
    text = str(value)
    return text if len(text) <= 60 else None


def _pair(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [float(side) for side in interval]


def _union(found: UnionConstant) -> dict[str, Any]:
    return {"beta_L_E": float(found.u), "proved": float(found.proved), "needed": float(found.needed)}
