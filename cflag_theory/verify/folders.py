"""Pages that somebody else wrote: proofs examined, or found where a page has none, and instances that are drawn.

Every statement is looked at from both sides. The falsifier draws exact instances from what it says; where the page has
no proof, rules and a certificate are looked for, and count only if the examiner accepts them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

import sympy as sp

from cflag_theory.claims import imports
from cflag_theory.claims.engine import certificates
from cflag_theory.claims.engine.algebra import certificate_fault
from cflag_theory.claims.engine.claim import Claim, Part, Repair, Sharp, Source, Statement, every_statement, statements
from cflag_theory.claims.engine.examiner import examine
from cflag_theory.claims.engine.finding.hints import hints
from cflag_theory.claims.engine.transcript import asked
from cflag_theory.claims.pages.folder import Folder
from cflag_theory.claims.pages.text import bare
from cflag_theory.errors import CflagError, InvalidInput
from cflag_theory.falsify.conjecture import stated
from cflag_theory.falsify.falsifying import falsify
from cflag_theory.falsify.finding import NoCase
from cflag_theory.falsify.saving import pages_of
from cflag_theory.falsify.search.cases import from_text
from cflag_theory.falsify.search.guard import TimeUp, time_limit
from cflag_theory.falsify.vector_terms.continuing import NoMeaning
from cflag_theory.falsify.vector_terms.instances import instances
from cflag_theory.falsify.vector_terms.proving import prove_vectors
from cflag_theory.falsify.vector_terms.reading import read_vectors
from cflag_theory.files import write_text
from cflag_theory.verify import coq
from cflag_theory.verify.check import check_words
from cflag_theory.verify.evidence import numbers_alone, prove, refute, replay
from cflag_theory.verify.instances import points_of
from cflag_theory.verify.verdict import GRAVITY, REFUTES, SUPPORTS, UNDECIDED, Evidence, Verdict, decide
from cflag_theory.verify.workers import across

#: Cases that the search may try for a statement, by level; a fifth of them where a proof is accepted.
CASES = {"quick": 300, "full": 3000}
#: Seconds for one evaluation, and for a proof that is looked for.
_SECONDS, _PROOF = 20.0, 60.0


def verify_folder(
    path: Path | str | Folder,
    ids: Sequence[str] = (),
    *,
    seed: int = 0,
    level: str = "quick",
    jobs: int | None = None,
    prover: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[Verdict]:
    """Decide the claims of a page, which may `use` others beside it, or of a folder of pages, in their order; by
    default all.

    Certificates that had to be found are kept beside the pages, where that is possible, and checked at every use. The
    rest is as `verify` takes it; level "full" draws more instances.
    """
    check_words(level, prover)
    folder = path if isinstance(path, Folder) else pages_of(path)
    wanted = [folder.claim(id) for id in ids or folder.claims]
    calls = [(str(folder.path), _state(folder), one.id, seed, level, prover) for one in wanted]
    verdicts, found = [], dict[str, Any]()
    keys = [(folder.path, one.id) for one in wanted]
    for subject, (evidence, entries) in zip(wanted, across(_collected, calls, jobs, keys=keys), strict=True):
        verdicts.append(decide(subject, evidence))
        found |= entries
        if progress:
            progress(subject.id)
    _keep(folder, found)
    return verdicts


def expected(folder: Folder, id: str) -> tuple[str, ...]:
    """The verdicts that a page expects of a claim.

    What stands behind `expect`; without that line what the page has: a repair, a refutation, or neither.
    """
    line = next(page.blocks[id] for page in folder.pages.values() if id in page.blocks)
    said = next((str(one.said.behind("expect")) for one in line.inside if one.kind == "expect"), None)
    if said is not None:
        return (said,)
    parts = folder.claims[id].parts
    kinds = [part.repair.kind if part.repair else "false" for part in parts if part.repair or part.refutation]
    return (max(kinds, key=GRAVITY.index),) if kinds else ("holds", "loose")


def _state(folder: Folder) -> tuple[Any, ...]:
    """What tells a page that was changed."""
    place = folder.store.parent
    return tuple((one.name, one.stat().st_mtime_ns) for one in sorted(place.glob("*.page")))


@cache
def _read(path: str, state: tuple[Any, ...]) -> Folder:
    return pages_of(path)


def _collected(
    path: str, state: tuple[Any, ...], id: str, seed: int, level: str, prover: str | None
) -> tuple[list[Evidence], dict[str, Any]]:
    """The evidence on a claim, and the certificates of its proofs: plain data, for other processes."""
    folder = _read(path, state)
    subject = completed(folder.claim(id))
    wrong = imports.faults(subject, folder.claim)
    for part in subject.parts:
        for on, statement in every_statement(part).items():
            if missing := [source for source in _sources(statement) if not _proved(path, state, source.place)]:
                wrong.setdefault((part.key, on), []).extend(f"{source} is not proved" for source in missing)
    evidence: list[Evidence] = []
    points = list(points_of(subject))
    for part in subject.parts:
        proofs = [_with_hints(item, part) for item in prove(part, wrong)]
        evidence += proofs + refute(part, wrong)
        try:
            evidence += replay(part, points)
        except (ValueError, KeyError) as error:
            raise InvalidInput(f"{bare(f'{id}: {error}')}: give it other instances") from error
        proved = {item.on for item in proofs if item.finding == SUPPORTS}
        for on, statement in statements(part).items():
            if statement.relation is not None:
                cases = CASES[level] // (5 if on in proved else 1)
                evidence.append(drawn(f"{id}.{part.key} ({on})", part.key, on, statement, cases, seed))
    if prover == "coq":
        evidence = coq.witness(subject, points, evidence)
    every = [one for part in subject.parts for one in every_statement(part).values()]
    entries = {key: entry for one in every for key, entry in _certificates(one)}
    plain = json.loads(bare(json.dumps([asdict(item) for item in evidence])))
    return [Evidence(**item) for item in plain], entries


def _sources(statement: Statement) -> list[Source]:
    return [source for fact in statement.facts for source in fact.sources if not source.granted]


@cache
def _proved(path: str, state: tuple[Any, ...], place: imports.Place) -> bool:
    """Whether a statement has an accepted proof, and so all that it imports; asked once a process."""
    folder = _read(path, state)
    origin, (_, key, on) = folder.claim(place[0]), place
    statement = next((every_statement(part).get(on) for part in origin.parts if part.key == key), None)
    if statement is None or statement.proof is None or (key, on) in imports.faults(origin, folder.claim):
        return False
    return examine(statement).accepted and all(_proved(path, state, source.place) for source in _sources(statement))


def _with_hints(item: Evidence, part: Part) -> Evidence:
    """The evidence, with what a proof that is not accepted lacks."""
    with suppress(CflagError, TypeError, ValueError):
        if item.finding == UNDECIDED and (lacks := hints(statements(part)[item.on])):
            return replace(item, data={**item.data, "hints": lacks})
    return item


def completed(subject: Claim) -> Claim:
    """The claim, with a proof for each of its statements that has none and for which one is found."""

    def of(statement: Statement, where: str) -> Statement:
        if statement.proof is not None or statement.relation is None:
            return statement
        try:
            with time_limit(_PROOF):
                found = prove_vectors(read_vectors(stated(where, statement)))
        except (CflagError, TimeUp, TypeError, sp.PolynomialError):
            found = None
        # A proof about a number of which facts speak as of an index is none of the statement.
        proved = statement if found is None else replace(statement, proof=found.statement.proof)
        return proved if found is not None and examine(proved).accepted else statement

    parts = []
    for part in subject.parts:
        where = f"{subject.id}.{part.key}"
        changed: dict[str, Any] = {"printed": of(part.printed, where)}
        for name in ("repair", "sharp"):
            other: Repair | Sharp | None = getattr(part, name)
            if other is not None:
                changed[name] = replace(other, statement=of(other.statement, where))
        parts.append(replace(part, **changed))
    return replace(subject, parts=tuple(parts))


def with_proofs(verdict: Verdict) -> Verdict:
    """The verdict with the proofs that were found, and not kept: they are looked for again."""
    supported = {(item.part, item.on) for item in verdict.evidence if item.kind == "proof"}
    said = {(part.key, on): one for part in verdict.claim.parts for on, one in statements(part).items()}
    found = any(said[place].proof is None for place in supported & said.keys())
    return replace(verdict, claim=completed(verdict.claim)) if found else verdict


def drawn(name: str, key: str, on: str, statement: Statement, cases: int, seed: int) -> Evidence:
    """What exact instances say of a statement: one that refutes it, or how many agree."""
    try:
        conjecture = stated(name, statement)
        found = falsify(conjecture, budget=cases, seed=seed, seconds=_SECONDS)
    except (NoCase, NoMeaning, InvalidInput) as error:
        return Evidence("property", key, on, UNDECIDED, f"No exact instance was drawn: {error}.", {"cases": 0})
    if found.refuted:
        small = instances(conjecture, dimension=int(found.case["dimension"]))
        told = small.family.story(from_text(small, found.case, what="the counterexample"))
        data = {
            "instance": told,
            "values": dict(found.case),
            "left": found.left,
            "right": found.right,
            "numbers_alone": numbers_alone(statement),
            "seed": seed,
        }
        summary = f"An exact instance has {found.left} on the left and {found.right} on the right."
        return Evidence("counterexample", key, on, REFUTES, summary, data)
    data = {"cases": found.exact_feasible, "drawn": found.feasible, "exact": True, "seed": seed}
    summary = f"{found.feasible} instances agree, {found.exact_feasible} of them in exact arithmetic"
    if found.largest_ratio is not None:
        data["largest_ratio"] = found.largest_ratio
        summary += f"; the largest left/right is {found.largest_ratio:.6g}"
    return Evidence("property", key, on, SUPPORTS, f"{summary}.", data)


def _certificates(statement: Statement) -> list[tuple[str, Any]]:
    """The certificates that the examiner has found, or was given from those that are kept."""
    found = []
    with suppress(CflagError, ValueError, TypeError):
        for one in asked(statement) if statement.proof else ():
            given = tuple(one.given.items())
            made = None if one.certificate else certificates.certificate_for(certificate_fault, one.goal, given)
            if made is not None:
                found.append((certificates.key(one.goal, given), certificates.entry(one.goal, given, made)))
    return found


def _keep(folder: Folder, found: Mapping[str, Any]) -> None:
    """Put what is new beside the pages; where nothing may be written it is found again the next time."""
    # A derivation that is printed next has them too.
    certificates.also(found)
    kept = folder.kept
    if not found.keys() <= kept.keys():
        with suppress(CflagError):
            write_text(folder.store, json.dumps(dict(sorted({**kept, **found}.items())), indent=1) + "\n")
