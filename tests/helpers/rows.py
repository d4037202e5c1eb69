"""What the tests of rows share: instances made once, a statement decided alone, an error planted in a part."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from cflag_theory.claims.engine.claim import Claim, Part
from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.verify.check import Remembered, run_check
from cflag_theory.verify.checks import CHECKS
from cflag_theory.verify.evidence import applies, prove, refuting, replay
from cflag_theory.verify.verdict import decide


@cache
def points_in_turn(id):
    """The exact instances of a claim; each is made once for all tests, and only if one of them comes to it."""
    return Remembered(claim(id), CHECKS[id])


def points_of(id):
    """All exact instances of a claim."""
    return tuple(points_in_turn(id))


def alone(id, key, statement, points=None, *, second=True):
    """The verdict on one statement, by its proof and by the exact instances of the row or by others."""
    part = Part(key, statement)
    found = [*prove(part, second=second), *replay(part, points_of(id) if points is None else points)]
    return decide(Claim(id, "", "", (part,)), found)


def at_values(points):
    """Points that refute by their values alone: a wrong constant must fail there, whatever later members are."""
    return (replace(point, unseen=point.unseen or "the later members") for point in points)


def breaking(statement, key, points):
    """The first of the points that refutes a statement of a part, in a list; empty if there is none."""
    cases = (point for point in points if point.part in (None, key) and applies(statement, point))
    return [point for point in refuting(statement, cases, "")[:1] if point is not None]


@cache
def decided(id):
    """The verdict of the whole check, made once."""
    return run_check(LEDGER[id](), CHECKS[id])


def parts(verdict):
    """The verdicts of the parts by their keys."""
    return {part.key: part.verdict for part in verdict.parts}


def findings(verdict, on, kind, key="1"):
    """What the evidence of one kind found on one statement of a part."""
    return [e.finding for e in verdict.evidence if (e.on, e.kind, e.part) == (on, kind, key)]


def with_part(subject, key, **changes):
    """The claim with fields of one part changed."""
    return replace(subject, parts=tuple(replace(p, **changes) if p.key == key else p for p in subject.parts))


def parts_of(id):
    """The verdicts of the parts of a row that is decided again."""
    return parts(run_check(LEDGER[id](), CHECKS[id]))
