"""Coq as an additional check: proofs and exact instances of the claims, written as lemmas."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from cflag_theory.claims.coq import instances as coq_instances
from cflag_theory.claims.coq import lemmas as coq
from cflag_theory.claims.coq import theorem as whole
from cflag_theory.claims.coq.lemmas import Lemma
from cflag_theory.claims.engine.claim import Claim, Part, Statement, statements
from cflag_theory.claims.engine.transcript import inferences
from cflag_theory.errors import CflagError, InvalidInput, MissingExtra
from cflag_theory.verify.evidence import Point, broken
from cflag_theory.verify.verdict import REFUTES, SUPPORTS, Evidence, Verdict

#: What the real numbers of Coq's standard library rest on; a lemma that needs more does not count.
AXIOMS = frozenset(
    {
        "ClassicalDedekindReals.sig_forall_dec",
        "ClassicalDedekindReals.sig_not_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
        "Classical_Prop.classic",
    }
)
PROOFS = Path(__file__).parents[1] / "proofs"
#: Seconds for one file: the lemmas of one claim, or a part of the hand-written theory.
LIMIT = 300


@dataclass(frozen=True)
class Checked:
    """Coq's answer: the names of the lemmas that its kernel accepted, and the axioms that they rest on."""

    accepted: frozenset[str]
    axioms: tuple[str, ...]


def require_coq() -> str:
    """The path of coqc."""
    found = shutil.which("coqc")
    if found is None:
        raise MissingExtra("coqc is not installed: install Coq 8.16 or later (Debian: coq), or leave out --prover coq")
    return found


def run_coq(coqc: str, path: Path, *options: str) -> subprocess.CompletedProcess[str] | None:
    """coqc on one file, in its folder; None if it takes more than `LIMIT` seconds."""
    command = [coqc, "-q", "-noglob", *options, path.name]
    try:
        return subprocess.run(command, cwd=path.parent, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return None


@cache
def library() -> TemporaryDirectory[str]:
    """A folder with the compiled files that whole theorems are made with; it lives as long as the process."""
    coqc, folder = require_coq(), TemporaryDirectory(ignore_cleanup_errors=True)
    for name in whole.LIBRARY:
        path = Path(folder.name) / f"{name}.v"
        shutil.copy(PROOFS / path.name, path)
        done = run_coq(coqc, path, "-Q", ".", "CFlag")
        if done is None or done.returncode != 0:
            raise CflagError(f"{path.name} does not compile: fix it, or install Coq 8.16 or later")
    return folder


def check(lemmas: Sequence[Lemma], *, wholes: bool = False) -> Checked:
    """Compile the lemmas, leaving out one after another those that Coq does not accept.

    `wholes` are theorems about whole statements, which need the `library`.
    """
    coqc = require_coq()
    left = list(lemmas)
    preamble = whole.PREAMBLE if wholes else coq.PREAMBLE + coq.TACTICS
    options = ("-Q", library().name, "CFlag") if wholes and left else ()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.v"
        while left:
            text, ends = preamble, []
            for lemma in left:
                text += f"\n{lemma.text}\n"
                ends.append(text.count("\n"))
            text += f"\nDefinition everything := ({', '.join(lemma.name for lemma in left)}, tt).\n"
            text += "Print Assumptions everything.\n"
            path.write_text(text, encoding="utf-8")
            done = run_coq(coqc, path, *options)
            if done is None:
                return Checked(frozenset(), ())
            if done.returncode == 0:
                axioms = axioms_in(done.stdout)
                accepted = frozenset() if axioms is None else frozenset(lemma.name for lemma in left)
                return Checked(accepted, axioms or ())
            line = re.search(r"line (\d+), characters [^\n]*\nError", done.stderr)
            failed = next((i for i, end in enumerate(ends) if line and int(line.group(1)) <= end), None)
            if failed is None:
                break
            del left[failed]
    return Checked(frozenset(), ())


def axioms_in(answer: str) -> tuple[str, ...] | None:
    """The axioms in Coq's answer to Print Assumptions; None if it names anything but those of the real numbers.

    Whatever is not understood counts as a foreign assumption: other words announce unsafe options.
    """
    lines = answer.strip().splitlines()
    if lines == ["Closed under the global context"]:
        return ()
    if not lines or lines[0] != "Axioms:":
        return None
    names = [line.split()[0].rstrip(":") for line in lines[1:] if line and not line[0].isspace()]
    plain = all(line[:1].isspace() or re.match(r"[\w.]+(\s*:.*)?$", line) for line in lines[1:])
    return tuple(sorted(set(names))) if plain and names and set(names) <= AXIOMS else None


def witness(
    subject: Claim, points: Iterable[Point], evidence: Sequence[Evidence], *, wholes: bool = True
) -> list[Evidence]:
    """The evidence on a claim, with Coq's answers on its proofs and exact instances.

    A proof all of whose obligations Coq accepts has "coq" among its engines; what it does not accept is listed. Where
    the statement can be written as one theorem, vectors included, that is asked first, unless `wholes` is false: its
    lemmas are the obligations.
    """
    cases = list(points)
    parts = {part.key: part for part in subject.parts}
    asked = {i: item for i, item in enumerate(evidence) if item.part in parts}
    written = {i: _theorem(f"e{i}_whole", parts[item.part], item) for i, item in asked.items()} if wholes else {}
    whole_checked = check([made for made in written.values() if isinstance(made, Lemma)], wholes=True)
    stands = {i: made for i, made in written.items() if isinstance(made, Lemma) and made.name in whole_checked.accepted}
    lemmas = {i: _lemmas(f"e{i}", parts[item.part], item, cases) for i, item in asked.items() if i not in stands}
    checked = check([lemma for found in lemmas.values() for lemma in found])
    result = []
    for i, item in enumerate(evidence):
        if i in stands:
            names = frozenset(part.name for part in stands[i].parts)
            item = _with_coq(item, stands[i].parts, Checked(names, whole_checked.axioms))
        elif lemmas.get(i):
            item = _with_coq(item, lemmas[i], checked)
        made = written.get(i)
        result.append(item if made is None else _with_theorem(item, made, i in stands))
    return result


def _theorem(name: str, part: Part, item: Evidence) -> Lemma | str | None:
    """A proved statement as one theorem, or why it cannot be written; None where nothing is proved."""
    statement = _proved(part, item)
    if statement is None:
        return None
    try:
        return whole.theorem(name, statement)
    except (TypeError, ValueError, LookupError, StopIteration, InvalidInput) as reason:
        # No statement is lost by it: its obligations are asked one by one.
        return str(reason) or "it has a form that is not written yet"


def _proved(part: Part, item: Evidence) -> Statement | None:
    """The statement that the evidence proves: one of the part, or the refutation of the printed one."""
    if item.kind == "proof" and item.finding == SUPPORTS:
        return statements(part).get(item.on)
    refuted = item.kind == "counterexample" and item.finding == REFUTES and item.on == "printed"
    return part.refutation if refuted and item.data.get("refutation") else None


def _with_theorem(item: Evidence, made: Lemma | str, accepted: bool) -> Evidence:
    """The evidence with the theorem about the whole statement, or with the reason why there is none."""
    if isinstance(made, str):
        return replace(item, data={**item.data, "whole": {"accepted": False, "why": made}})
    shown = {"accepted": accepted, "statement": made.statement}
    words = " The whole statement is one theorem of Coq." if accepted else ""
    return replace(item, summary=item.summary + words, data={**item.data, "whole": shown})


@dataclass(frozen=True)
class Census:
    """How much of a ledger Coq was asked about, and what it did not accept: (claim, part, statement, kind)."""

    proofs: int
    instances: int
    lemmas: int
    theorems: int
    rows: int
    left: tuple[tuple[str, str, str, str], ...]
    wholes: int = 0
    statements: int = 0

    @property
    def whole_words(self) -> str:
        """How many of the proved statements are one theorem of Coq each."""
        return (
            f"whole statements: {self.wholes} of {self.statements} are generated as one theorem each, with the "
            "statement's hypotheses, and accepted"
        )

    def __str__(self) -> str:
        missing = [sum(kind == which for *_, kind in self.left) for which in ("proof", "counterexample")]
        return (
            f"Coq's kernel: {self.proofs - missing[0]} of {self.proofs} proofs ({self.lemmas} lemmas), "
            f"{self.instances - missing[1]} of {self.instances} exact counterexamples; "
            f"{self.theorems} hand-written Coq theorems covering {self.rows} claims"
        )


def census(verdicts: Sequence[Verdict]) -> Census | None:
    """Coq's answers on decided claims; None if it was not asked."""
    asked = {"proof": SUPPORTS, "counterexample": REFUTES}
    items = [(v.claim.id, e) for v in verdicts for e in v.evidence if asked.get(e.kind) == e.finding]
    if not any("coq" in item.data or "theorems" in item.data for _, item in items):
        return None
    named = {(id, theorem["name"]) for id, item in items for theorem in item.data.get("theorems", ())}
    return Census(
        proofs=sum(item.kind == "proof" for _, item in items),
        instances=sum(item.kind == "counterexample" for _, item in items),
        lemmas=sum(len(item.data["coq"]["lemmas"]) for _, item in items if item.kind == "proof" and "coq" in item.data),
        theorems=len({name for _, name in named}),
        rows=len({id for id, _ in named}),
        left=tuple(
            (id, item.part, item.on, item.kind) for id, item in items if "coq" not in item.data.get("engines", ())
        ),
        wholes=sum(item.data.get("whole", {}).get("accepted", False) for _, item in items),
        statements=sum("whole" in item.data for _, item in items),
    )


def _lemmas(name: str, part: Part, item: Evidence, points: Sequence[Point]) -> list[Lemma]:
    statement = statements(part).get(item.on)
    if statement is None:
        return []
    proved = _proved(part, item)
    if proved is not None:
        return _of_proof(name, proved)
    if item.kind != "counterexample" or item.finding != REFUTES or item.on != "printed":
        return []
    point = broken(statement, [point for point in points if point.part in (None, part.key)])
    # The evidence is of another check if its values are not those of these points.
    if point is None or item.data.get("values") != {str(key): str(value) for key, value in point.values.items()}:
        return []
    try:
        return [coq_instances.counterexample(name, statement, point.values)]
    except TypeError:
        return []


def _of_proof(name: str, statement: Statement) -> list[Lemma]:
    try:
        return [
            coq.lemma(f"{name}_{number}", one.goal, one.given, one.certificate, one.strict)
            for number, one in enumerate(inferences(statement))
        ]
    except TypeError:
        return []


def _with_coq(item: Evidence, lemmas: Sequence[Lemma], checked: Checked) -> Evidence:
    missing = [lemma.name for lemma in lemmas if lemma.name not in checked.accepted]
    data = dict(item.data)
    data["coq"] = {
        "lemmas": [{"statement": lemma.statement, "accepted": lemma.name in checked.accepted} for lemma in lemmas],
        "axioms": list(checked.axioms) if len(missing) < len(lemmas) else [],
    }
    if missing:
        words = f" Coq accepts {len(lemmas) - len(missing)} of {len(lemmas)} lemmas."
    else:
        data["engines"] = [*data.get("engines", ()), "coq"]
        what = "its arithmetic" if "values" in item.data else f"all {len(lemmas)}" if len(lemmas) > 1 else "it"
        words = f" Coq's kernel accepts {what}."
    return replace(item, summary=item.summary + words, data=data)
