"""A Check: what ties a claim to proofs, exact instances and runs; and the functions that run the ledger."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from joblib import Parallel, cpu_count, delayed

from cflag_theory.claims import imports
from cflag_theory.claims.engine.claim import Claim
from cflag_theory.claims.ledger import LEDGER, claim
from cflag_theory.errors import InvalidInput
from cflag_theory.verify import coq, theory
from cflag_theory.verify.evidence import Point, Sample, along_runs, prove, refute, replay
from cflag_theory.verify.planted import Plants
from cflag_theory.verify.verdict import Evidence, Verdict, decide
from cflag_theory.verify.workers import end_with, replaced_quietly

#: Simulated problems per claim and level.
LEVELS = {"quick": 24, "full": 400}
#: Provers besides the two engines that every proof needs.
PROVERS = ("coq",)


@dataclass(frozen=True)
class Check:
    """How one claim is put to the test.

    Attributes
    ----------
    points : callable or None
        The exact instances to replay.
    samples : callable or None
        (seed, count) to values along `count` random runs; None where a statement says nothing about runs.
    further : callable or None
        (claim, seed, count) to evidence that is neither: enumerations, recomputed tables, Monte Carlo.
    expected : str
        The verdicts of the parts in their order, separated by blanks. Tests compare them with what is computed; no
        verdict is read from here.
    reached : mapping
        By part, how near to its bound exact instances must come: the least left/right of the closest one. For tests.
    undrawn : mapping
        By part, why the falsifier draws no small instances of a bound that is proved. For tests.
    plants : tuple of Plant
        Errors that the check must reject. For tests.
    """

    points: Callable[[], Iterable[Point]] | None = None
    samples: Callable[[int, int], Iterable[Sample]] | None = None
    further: Callable[[Claim, int, int], Iterable[Evidence]] | None = None
    expected: str = ""
    reached: Mapping[str, float] = field(default_factory=dict)
    undrawn: Mapping[str, str] = field(default_factory=dict)
    plants: Plants = ()


def run_check(
    subject: Claim, check: Check, *, seed: int = 0, level: str = "quick", prover: str | None = None
) -> Verdict:
    """Collect the evidence on a claim and decide it; `prover` as in `verify`.

    Raises
    ------
    InvalidInput
        Unknown level or prover.
    MissingExtra
        The prover is not installed.
    InconsistentEvidence
        If the claim is both proved and refuted.
    """
    _check_words(level, prover)
    return decide(subject, _evidence(subject, check, seed, level, prover))


def _check_words(level: str, prover: str | None) -> None:
    if level not in LEVELS:
        raise InvalidInput(f"level is {level!r}: use one of {', '.join(LEVELS)}")
    if prover not in (None, *PROVERS):
        raise InvalidInput(f"prover is {prover!r}: use {', '.join(PROVERS)} or leave it out")


def _evidence(
    subject: Claim, check: Check, seed: int, level: str, prover: str | None, *, wholes: bool = True
) -> list[Evidence]:
    evidence: list[Evidence] = []
    count = LEVELS[level]
    points = list(check.points()) if check.points else []
    samples = list(check.samples(seed, count)) if check.samples else []
    wrong = imports.faults(subject)
    for part in subject.parts:
        evidence += prove(part, wrong)
        evidence += refute(part, wrong)
        evidence += replay(part, points)
        evidence += along_runs(part, samples, seed)
    if check.further:
        evidence += check.further(subject, seed, count)
    if level == "full":
        from cflag_theory.verify.directed import directed
        from cflag_theory.verify.performance import worst_case_evidence

        evidence += directed(subject, seed, count)
        evidence += worst_case_evidence(subject)
    return coq.witness(subject, points, evidence, wholes=wholes) if prover == "coq" else evidence


def _in_worker(parent: int, *arguments: Any) -> list[Evidence]:
    end_with(parent)
    return _evidence_by_id(*arguments)


def _evidence_by_id(id: str, seed: int, level: str, prover: str | None, wholes: bool) -> list[Evidence]:
    """What a worker process sends back: plain data, because the sympy objects of claims cannot be pickled."""
    from cflag_theory.verify.checks import CHECKS

    return _evidence(claim(id), CHECKS[id], seed, level, prover, wholes=wholes)


def verify(
    ids: Sequence[str] = (),
    *,
    seed: int = 0,
    level: str = "quick",
    jobs: int | None = None,
    prover: str | None = None,
    theorems: Mapping[str, theory.Theorem] | None = None,
    progress: Callable[[str], None] | None = None,
    wholes: bool = False,
) -> list[Verdict]:
    """Decide the named claims, or the whole ledger, in ledger order.

    Parameters
    ----------
    ids : sequence of str
        Claim ids; empty for all.
    seed : int
        Of the random runs; the same seed gives the same verdicts and figures.
    level : str
        "quick" or "full": how many random runs; "full" has the falsifier search every statement too, and asks
        performance estimation where the extra `pep` is installed.
    jobs : int, optional
        Processes; by default all usable cores. The verdicts do not depend on it.
    prover : str, optional
        "coq": Coq's kernel checks every proof and exact instance again, as an additional check.
    theorems : mapping, optional
        What `theory.compile_theory` returned, where it has been asked already; used with a prover.
    progress : callable, optional
        Called with each id when its claim is decided.
    wholes : bool
        With a prover: whether each proved statement is also written as one theorem, vectors included, and compiled.
        For the whole ledger that takes some minutes.

    Raises
    ------
    UnknownName
        An id that the ledger does not have.
    MissingExtra
        The prover is not installed.
    TheoryError
        The hand-written theory does not compile.
    """
    _check_words(level, prover)
    if prover == "coq":
        theorems = theory.compile_theory(ids) if theorems is None else theorems
    if jobs is not None and jobs < 1:
        raise InvalidInput(f"jobs is {jobs}: use at least 1")
    wanted = [claim(id) for id in (ids or LEDGER)]
    workers = min(len(wanted), jobs or cpu_count())
    calls = (delayed(_in_worker)(os.getpid(), subject.id, seed, level, prover, wholes) for subject in wanted)
    verdicts = []
    with replaced_quietly():
        # One claim at a time, since some take a hundred times as long as others.
        found = Parallel(n_jobs=workers, return_as="generator", batch_size=1)(calls)
        for subject, evidence in zip(wanted, found, strict=True):
            if prover == "coq" and theorems is not None:
                evidence = theory.attach(subject.id, evidence, theorems)
            verdicts.append(decide(subject, evidence))
            if progress:
                progress(subject.id)
    return verdicts
