"""What each check must find, how near to their bounds its instances must come, and errors that it must reject."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path

from planting import Plant


@dataclass(frozen=True)
class Expectation:
    """What the check of one claim must find.

    Attributes
    ----------
    verdicts : str
        Those of the parts in their order, separated by blanks.
    reached : mapping
        By part, how near to its bound exact instances must come: the least left/right of the closest one.
    undrawn : mapping
        By part, why the falsifier draws no small instances of a bound that is proved.
    plants : tuple of Plant
        Errors that the check must reject.
    """

    verdicts: str = ""
    reached: Mapping[str, float] = field(default_factory=dict)
    undrawn: Mapping[str, str] = field(default_factory=dict)
    plants: tuple[Plant, ...] = ()


@cache
def expectations() -> dict[str, Expectation]:
    """What is expected of every claim of the ledger, by id."""
    names = sorted(path.stem for path in (Path(__file__).parent / "expectations").glob("*.py"))
    found: dict[str, Expectation] = {}
    for name in names:
        own = import_module(f"expectations.{name}").EXPECTED
        assert not own.keys() & found.keys(), name
        found |= own
    return found
