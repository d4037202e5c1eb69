"""What the tests of rows share: how a claim is decided, what was found, and how its repair is changed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from cflag_theory.verify.check import Check, run_check
from cflag_theory.verify.checks import CHECKS


@cache
def points_of(id):
    """The exact instances of a claim's check, made once for all tests."""
    return tuple(CHECKS[id].points()) if CHECKS[id].points else ()


@cache
def samples_of(id, count):
    """Its samples along `count` random runs of seed 0, drawn once for all tests."""
    return tuple(CHECKS[id].samples(0, count)) if CHECKS[id].samples and count else ()


def decide(subject, *, samples=0, further=False):
    """The verdict by the instances, by `samples` random runs, and with `further` by the rest of the check."""
    rest = CHECKS[subject.id].further if further else None
    return run_check(subject, Check(lambda: points_of(subject.id), lambda *_: samples_of(subject.id, samples), rest))


def decided(subject, check=None):
    """The verdict of the row and those of its parts, by the whole check or by another."""
    verdict = run_check(subject, check or CHECKS[subject.id])
    return verdict.verdict, parts(verdict)


def parts(verdict):
    """The verdicts of the parts by their keys."""
    return {part.key: part.verdict for part in verdict.parts}


def in_order(verdict):
    """The verdicts of the parts in their order."""
    return [part.verdict for part in verdict.parts]


def findings(verdict, on, kind, key="1"):
    """What the evidence of one kind found on one statement of a part."""
    return [e.finding for e in verdict.evidence if (e.on, e.kind, e.part) == (on, kind, key)]


def with_repair(subject, key=None, **changes):
    """The claim with the repaired statement of one part changed, or of every part."""
    assert key is None or key in (part.key for part in subject.parts)
    changed = [
        replace(part, repair=replace(part.repair, statement=replace(part.repair.statement, **changes)))
        if key in (None, part.key)
        else part
        for part in subject.parts
    ]
    return replace(subject, parts=tuple(changed))
