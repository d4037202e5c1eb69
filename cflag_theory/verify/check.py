"""A Check: what ties a claim to proofs, exact instances and runs; and the functions that run the ledger."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice
from typing import Any

from cflag_theory.claims import imports
from cflag_theory.claims.engine.claim import Claim, Part, statements
from cflag_theory.claims.ledger import LEDGER, check_id, claim
from cflag_theory.errors import InconsistentEvidence, InvalidInput
from cflag_theory.verify import coq, theory
from cflag_theory.verify.evidence import Point, Sample, along_runs, applies, prove, refute, refuting, replay
from cflag_theory.verify.instances import points_of
from cflag_theory.verify.kept import Kept
from cflag_theory.verify.verdict import SUPPORTS, Evidence, Verdict, decide
from cflag_theory.verify.workers import across

#: Simulated problems per claim and level.
LEVELS = {"quick": 24, "full": 400}
#: Provers besides the two engines that every proof needs.
PROVERS = ("coq",)


@dataclass(frozen=True)
class Check:
    """How one claim is put to the test: `points` are exact instances to replay; `samples`, from (seed, count), values
    along random runs; None where a statement says nothing about runs.

    `further`, from (claim, seed, count), is evidence that is neither: enumerations, recomputed tables, Monte Carlo;
    `along` is evidence along random runs that values at points cannot express.
    """

    points: Callable[[], Iterable[Point]] | None = None
    samples: Callable[[int, int], Iterable[Sample]] | None = None
    further: Callable[[Claim, int, int], Iterable[Evidence]] | None = None
    along: Callable[[Claim, int, int], Iterable[Evidence]] | None = None


def run_check(
    subject: Claim, check: Check, *, seed: int = 0, level: str = "quick", prover: str | None = None
) -> Verdict:
    """Collect the evidence on a claim and decide it; `prover` as in `verify`."""
    check_words(level, prover)
    return decide(subject, [*_exact(subject, check, seed, level, prover), *_along_runs(subject, check, seed, level)])


def _points(subject: Claim, check: Check) -> Iterator[Point]:
    """The exact instances of a claim: those that stand on its page, and those of its check."""
    return chain(points_of(subject), check.points() if check.points else ())


class Remembered(Iterable[Point]):
    """The points of a claim under a check, each made when someone first comes to it."""

    def __init__(self, subject: Claim, check: Check) -> None:
        self.of = (subject, check)
        self._left, self._made = _points(subject, check), list[Point]()

    def __iter__(self) -> Iterator[Point]:
        for place in count():
            if place == len(self._made):
                self._made += islice(self._left, 1)
            if place == len(self._made):
                return
            yield self._made[place]


#: The points of claims that this process has looked at first and not yet decided.
looked_at: dict[str, Remembered] = {}


def check_words(level: str, prover: str | None) -> None:
    if level not in LEVELS:
        raise InvalidInput(f"level is {level!r}: use one of {', '.join(LEVELS)}")
    if prover not in (None, *PROVERS):
        raise InvalidInput(f"prover is {prover!r}: use {', '.join(PROVERS)} or leave it out")


def _exact(
    subject: Claim, check: Check, seed: int, level: str, prover: str | None, wholes: bool = True
) -> list[Evidence]:
    """All that a verdict follows from, and searches; without the float runs."""
    evidence: list[Evidence] = []
    count = LEVELS[level]
    looked = looked_at.pop(subject.id, None)
    points = list(looked if looked is not None and looked.of == (subject, check) else _points(subject, check))
    wrong = imports.faults(subject, claim)
    for part in subject.parts:
        evidence += prove(part, wrong)
        evidence += refute(part, wrong)
        evidence += replay(part, points, subject.paper)
    if check.further:
        evidence += check.further(subject, seed, count)
    if level == "full":
        from cflag_theory.verify.directed import directed
        from cflag_theory.verify.worst_cases import worst_case_evidence

        evidence += directed(subject, seed, count)
        evidence += worst_case_evidence(subject)
    return coq.witness(subject, points, evidence, wholes=wholes) if prover == "coq" else evidence


def _first_look(id: str) -> str:
    """The verdict that follows from the exact engine and the first instances."""
    from cflag_theory.verify.checks import CHECKS

    subject, check = claim(id), CHECKS[id]
    points = looked_at[id] = Remembered(subject, check)
    wrong = imports.faults(subject, claim)
    evidence = [] if check.further is None else [*check.further(subject, 0, LEVELS["quick"])]
    for part in subject.parts:
        proofs = prove(part, wrong, second=False)
        evidence += [*proofs, *refute(part, wrong)]
        proved = {item.on for item in proofs if item.finding == SUPPORTS}
        evidence += replay(part, list(_enough(part, points, proved, subject.paper)), subject.paper)
    return decide(subject, evidence).verdict


def _enough(part: Part, points: Iterable[Point], proved: Collection[str], paper: str) -> Iterator[Point]:
    """The points that a verdict needs: one where each proved statement applies, and what refutes the others."""
    for on, statement in statements(part).items():
        cases = (point for point in points if point.part in (None, part.key) and applies(statement, point))
        found = next(cases, None) if on in proved else refuting(statement, cases, paper)[0]
        if found is not None:
            yield found


def first_look(
    ids: Sequence[str], *, jobs: int | None = None, progress: Callable[[str], None] = lambda id: None
) -> dict[str, str]:
    """The verdicts that `verify` will find, sooner: without z3, and with no more instances than they need.

    `agree` tells whether it has found them.
    """
    looks = across(_first_look, [(id,) for id in ids], jobs, keys=ids, done=lambda place: progress(ids[place]))
    return dict(zip(ids, looks, strict=True))


def agree(looked: Mapping[str, str], verdicts: Sequence[Verdict]) -> None:
    """Raise InconsistentEvidence where z3 or the other instances have turned a verdict of the first look."""
    for verdict in verdicts:
        if (first := looked.get(verdict.claim.id, verdict.verdict)) != verdict.verdict:
            raise InconsistentEvidence(
                f"{verdict.claim.id} is {first} by exact algebra and its first instances, and {verdict.verdict} with "
                f"z3 and all of them: see cflag show {verdict.claim.id}"
            )


def _along_runs(subject: Claim, check: Check, seed: int, level: str) -> list[Evidence]:
    samples = list(check.samples(seed, LEVELS[level])) if check.samples else []
    found = [item for part in subject.parts for item in along_runs(part, samples, seed)]
    return [*found, *check.along(subject, seed, LEVELS[level])] if check.along else found


def _by_id(collect: Callable[..., list[Evidence]], id: str, *how: Any) -> list[Evidence]:
    """For processes, which exchange plain data: the sympy objects of claims cannot be pickled."""
    from cflag_theory.verify.checks import CHECKS

    return collect(claim(id), CHECKS[id], *how)


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
    runs: bool = True,
    kept: Kept | None = None,
) -> list[Verdict]:
    """Decide the named claims, or the whole ledger, in ledger order.

    Parameters
    ----------
    ids : sequence of str
        Claim ids; empty for all.
    seed : int
        Of the random runs; the same seed gives the same verdicts and figures.
    level : str
        "quick" or "full": how many random runs; "full" has the falsifier search every statement too, and proves
        exact worst cases of small instances.
    jobs : int, optional
        Processes; by default all usable cores, one for a few claims. The verdicts do not depend on it.
    prover : str, optional
        "coq": Coq's kernel checks every proof and exact instance again, as an additional check.
    theorems : mapping, optional
        What `theory.compile_theory` returned, where it has been asked already; used with a prover.
    progress : callable, optional
        Called with each id when its claim is decided.
    wholes : bool
        With a prover: whether each proved statement is also written as one theorem, vectors included, and compiled.
        For the whole ledger that takes some minutes.
    runs : bool
        Whether relations are also evaluated along random float runs. No verdict follows from them, but one that they
        contradict raises; `with_runs` adds them later.
    kept : Kept, optional
        Where evidence is taken from and put; by default all of it is collected anew.

    Raises
    ------
    UnknownName
        An id that the ledger does not have.
    MissingExtra
        The prover is not installed.
    TheoryError
        The hand-written theory does not compile.
    """
    check_words(level, prover)
    if prover == "coq":
        theorems = theory.compile_theory(ids) if theorems is None else theorems
    how = (seed, level, prover, wholes and prover is not None)
    verdicts = []
    for subject, found in _collected(_exact, ids or tuple(LEDGER), how, jobs, kept, progress):
        evidence = found
        if prover == "coq" and theorems is not None:
            evidence = theory.attach(subject.id, found, theorems)
        verdicts.append(decide(subject, evidence))
    return with_runs(verdicts, seed=seed, level=level, jobs=jobs, kept=kept) if runs else verdicts


def with_runs(
    verdicts: Sequence[Verdict],
    *,
    seed: int = 0,
    level: str = "quick",
    jobs: int | None = None,
    progress: Callable[[str], None] | None = None,
    kept: Kept | None = None,
) -> list[Verdict]:
    """Decide again, with the relations evaluated along random float runs as more evidence; arguments as in `verify`."""
    by_id = {verdict.claim.id: verdict for verdict in verdicts}
    collected = _collected(_along_runs, tuple(by_id), (seed, level), jobs, kept, progress)
    return [decide(subject, [*by_id[subject.id].evidence, *found]) for subject, found in collected]


def _collected(
    collect: Callable[..., list[Evidence]],
    ids: Sequence[str],
    how: tuple[Any, ...],
    jobs: int | None,
    kept: Kept | None,
    progress: Callable[[str], None] | None,
) -> Iterator[tuple[Claim, list[Evidence]]]:
    """Each claim with its evidence, in this order: what is kept, and what processes collect."""
    if jobs is not None and jobs < 1:
        raise InvalidInput(f"jobs is {jobs}: use at least 1")
    for id in ids:
        check_id(id)
    named = (collect.__name__.strip("_"), *how)
    stored = None if kept is None or kept.empty else kept
    found = {id: None if stored is None else stored.take(claim(id), *named) for id in ids}
    missing = [id for id, evidence in found.items() if evidence is None]
    say = progress or (lambda id: None)
    calls = [(collect, id, *how) for id in missing]
    # To start a process takes as long as ten claims.
    few = 1 if len(missing) < 10 and {"full", "coq"}.isdisjoint(how) else None
    collected = across(_by_id, calls, jobs or few, keys=missing, done=lambda place: say(missing[place]))
    for id in ids:
        # Built while other processes collect.
        subject, evidence = claim(id), found[id]
        if evidence is None:
            evidence = next(collected)
            if kept is not None:
                kept.keep(evidence, id, *named)
        else:
            say(id)
        yield subject, evidence
