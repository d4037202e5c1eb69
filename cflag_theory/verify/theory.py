"""The hand-written theory: the Coq files of `proofs/`, compiled, and matched with the ledger."""

from __future__ import annotations

import csv
import re
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from cflag_theory.claims.pages.records import keys, records, word
from cflag_theory.errors import CflagError
from cflag_theory.verify.coq import LIMIT, PROOFS, axioms_in, require_coq, run_coq
from cflag_theory.verify.verdict import SUPPORTS, Evidence

#: Commands with which a file could claim more than it proves.
FORBIDDEN = re.compile(
    r"\b(Admitted|admit|Admit|Axioms?|Parameters?|Conjecture|Abort|give_up|bypass_check|Redirect|Load|Unset\s+\w+\s+Checking"
    r"|Declare\s+Module)\b"
)
#: The files that a file builds on.
REQUIRED = re.compile(r"From\s+CFlag\s+Require\s+(?:Import\s+|Export\s+|)([\w\s]+)\.")


class TheoryError(CflagError):
    """The proofs do not compile, or rest on more than the real numbers do: fix the file that the message names."""


@dataclass(frozen=True)
class Theorem:
    """A theorem that Coq's kernel has accepted.

    `axioms` are asked of each headline theorem alone (None for the others), since it takes Coq most of a second; those
    behind all theorems together are checked too.
    """

    name: str
    statement: str
    axioms: tuple[str, ...] | None


def files() -> list[Path]:
    """The sources in the order in which they build on each other."""
    lines = (PROOFS / "_CoqProject").read_text(encoding="utf-8").split()
    return [PROOFS / line for line in lines if line.endswith(".v")]


@cache
def theorems() -> dict[tuple[str, str, str], tuple[str, ...]]:
    """Names of theorems by claim, part and statement ("printed", "repair" or "sharp"): the lines `coq` of pages."""
    found: dict[tuple[str, str, str], tuple[str, ...]] = {}
    for record in records("coq"):
        parts = keys(record.claim)
        for one in record.text.listed(", "):
            *said, name = one.split(" ")
            on = said.pop() if said[-1:] in (["repair"], ["sharp"]) else "printed"
            part = said.pop() if said else parts[0]
            if said or part not in parts or not re.fullmatch(r"\w+\.\w+", name):
                raise one.error(f"theorems are written 'coq part repair File.name' with a part of {', '.join(parts)}")
            key = (record.claim, part, on)
            found[key] = (*found.get(key, ()), name)
    return found


@cache
def headlines() -> frozenset[str]:
    """Theorems whose axioms are printed one by one: our own claims, and the paper's theorems as they can be proved."""
    ids = ("cflag.thm2", "cflag.lemma3_surrogate", "cflag.thm5", "cflag.lemma4", "cflag.lemma18")
    return frozenset(
        name for (id, _, _), names in theorems().items() if id.startswith("ours.") or id in ids for name in names
    )


def names_for(ids: Collection[str] = ()) -> list[str]:
    """The theorems that pages name for these claims, or for all of them, in alphabetical order."""
    return sorted({name for (id, _, _), names in theorems().items() if not ids or id in ids for name in names})


@cache
def rules() -> dict[str, tuple[str, ...]]:
    """The theorems behind each rule of `claims.engine.rules`, from proofs/rules.tsv."""
    found: dict[str, tuple[str, ...]] = {}
    with (PROOFS / "rules.tsv").open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            found[row["rule"]] = (*found.get(row["rule"], ()), row["theorem"])
    return found


def files_for(names: Collection[str]) -> list[Path]:
    """The files with these theorems and what they require, in the order in which they build on each other."""
    wanted, found = {name.partition(".")[0] for name in names}, []
    for source in reversed(files()):
        if source.stem in wanted:
            found.append(source)
            wanted.update(_required(source))
    return found[::-1]


def _required(source: Path) -> list[str]:
    """The files that a file names as those that it builds on."""
    return [name for names in REQUIRED.findall(source.read_text(encoding="utf-8")) for name in names.split()]


def compile_theory(
    ids: Collection[str] = (), *, progress: Callable[[str], None] = lambda file: None
) -> dict[str, Theorem]:
    """Compile what is needed, and ask Coq for the statement and the axioms of every theorem that the ledger names.
    Files that no theorem of the claims `ids` needs are left out; `progress` gets the name of each file when it is
    compiled.
    """
    return _compile(names_for(ids), progress)


def compile_rules(*, progress: Callable[[str], None] = lambda file: None) -> dict[str, Theorem]:
    """The same for the theorems behind the rules, which hold in every real inner-product space."""
    return _compile(sorted({name for names in rules().values() for name in names}), progress)


def _compile(wanted: Sequence[str], progress: Callable[[str], None]) -> dict[str, Theorem]:
    coqc = require_coq()
    if not wanted:
        return {}
    needed = files_for(wanted)
    with TemporaryDirectory() as folder:
        for source in needed:
            admitted = FORBIDDEN.search(source.read_text(encoding="utf-8"))
            if admitted:
                raise TheoryError(f"{source.name} says {admitted.group()}: prove it, or leave it out")
            shutil.copy(source, folder)
            _run(coqc, Path(folder) / source.name)
            progress(source.name)
        (Path(folder) / "Questions.v").write_text(_questions(needed, wanted), encoding="utf-8")
        _run(coqc, Path(folder) / "Questions.v")
        progress("Questions.v")
        _axioms(Path(folder) / "everything.out")
        return {name: _theorem(Path(folder), number, name) for number, name in enumerate(wanted)}


def _questions(needed: Sequence[Path], wanted: Sequence[str]) -> str:
    """What Coq is asked: the axioms of all theorems together, and each one's statement as its own file prints it.

    A section ends the imports in it: how a name is shortened does not depend on which other files are there.
    """
    modules = " ".join(source.stem for source in needed)
    lines = [
        f"Require Import Reals. From CFlag Require {modules}.",
        "Open Scope R_scope. Set Printing Width 110.",
        f"Definition everything := ({', '.join(wanted)}, tt).",
        'Redirect "everything" Print Assumptions everything.',
    ]
    for source in needed:
        lines.append(f"Section In{source.stem}. Import {' '.join([*_required(source), source.stem])}.")
        for number, name in enumerate(wanted):
            if name.partition(".")[0] == source.stem:
                lines.append(f'Redirect "statement{number}" Check @{name}.')
                if name in headlines():
                    lines.append(f'Redirect "axioms{number}" Print Assumptions {name}.')
        lines.append(f"End In{source.stem}.")
    return "\n".join(lines) + "\n"


def _run(coqc: str, path: Path) -> None:
    done = run_coq(coqc, path, "-Q", ".", "CFlag")
    if done is None:
        raise TheoryError(f"{path.name} takes more than {LIMIT} s: simplify its proofs")
    if done.returncode != 0:
        raise TheoryError(f"{path.name} does not compile: {' '.join(done.stderr.split())[:300]}")


def _theorem(folder: Path, number: int, name: str) -> Theorem:
    statement = (folder / f"statement{number}.out").read_text(encoding="utf-8").strip()
    said = folder / f"axioms{number}.out"
    return Theorem(name, statement, _axioms(said) if said.exists() else None)


def _axioms(said: Path) -> tuple[str, ...]:
    """The axioms that Coq names in an answer, if they are those of the real numbers."""
    answer = said.read_text(encoding="utf-8")
    axioms = axioms_in(answer)
    if axioms is None:
        raise TheoryError(f"a theorem rests on more than Coq's real numbers do: {' '.join(answer.split())[:300]}")
    return axioms


def attach(id: str, evidence: Sequence[Evidence], found: Mapping[str, Theorem]) -> list[Evidence]:
    """The evidence on a claim, with the hand-written theorems beside the proofs that they confirm."""
    result = []
    for item in evidence:
        names = theorems().get((id, word(item.part), item.on), ())
        if item.kind == "proof" and item.finding == SUPPORTS and names:
            shown = [
                {"name": name, "statement": found[name].statement, "axioms": list(found[name].axioms or ())}
                for name in names
            ]
            words = f" Hand-written Coq theorems: {', '.join(names)}."
            item = replace(item, summary=item.summary + words, data={**item.data, "theorems": shown})
        result.append(item)
    return result
