"""One decided claim, whole, for a reader who knows the papers and not the code."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from rich.text import Text

from cflag_theory.claims.book import Book
from cflag_theory.claims.engine.claim import Part, Statement
from cflag_theory.claims.engine.definitions import assumptions
from cflag_theory.claims.engine.plain import plain
from cflag_theory.claims.engine.printing import in_text
from cflag_theory.claims.engine.steps import Induction, Use
from cflag_theory.claims.engine.transcript import settings, transcript
from cflag_theory.claims.glossary import explained, formulas
from cflag_theory.claims.ledger import BOOK
from cflag_theory.claims.printed import Printed, of_part
from cflag_theory.claims.uses import idle
from cflag_theory.cli.tables.claims import COLOURS, label
from cflag_theory.cli.tables.page import Page
from cflag_theory.verify.verdict import ANSWERS, REFUTES, REFUTING, Evidence, PartVerdict, Verdict

#: Lines of a proof that are printed; the report has all.
OUTLINE = 12
#: What is said of a sentence that one version of a paper has.
VERSIONS = {"both": "", "2022": " (2022 version only)", "later": " (not in the 2022 version)"}


def claim(verdict: Verdict, *, details: bool) -> None:
    """What one claim says, whether it holds, why not, and what to say instead; with details everything."""
    console = Page()
    subject = verdict.claim
    console.say(f"{subject.id}  {subject.paper}, {subject.where}: {subject.title}", style="bold")
    console.print(Text("verdict: " if verdict.is_claim else "") + label(verdict, ", ") + Text(f": {verdict.meaning}"))
    for part, found in zip(subject.parts, verdict.parts, strict=True):
        _part(console, verdict, part, found, details)
    if not details:
        console.say("\nProofs, who checked what, symbols and notes: --details.")
        return
    _section(console, "symbols", [f"{letter}: {words}" for letter, words in letters(verdict).items()])
    _section(console, "notes", subject.notes)


def _part(console: Page, verdict: Verdict, part: Part, found: PartVerdict, details: bool) -> None:
    id = verdict.claim.id
    if len(verdict.parts) > 1:
        console.print()
        reading = f", read as: {part.reading}" if part.reading else ""
        word = Text(found.label, style=COLOURS.get(found.label, ""))
        answer = f": {ANSWERS[found.verdict]}" if found.kind != "claim" else ""
        console.print(Text(f"Part {part.key}: ", style="bold") + word + Text(answer + reading))
    elif part.reading:
        console.say(f"read as: {part.reading}")
    _section(console, "printed", [line for one in of_part(id, part.key) for line in quotation(one)])
    decided = "theorem" if verdict.claim.paper == "ours" else "statement that is checked"
    _stated(console, decided, part.printed, details)
    against = [e for e in verdict.evidence if (e.part, e.on, e.finding) == (part.key, "printed", REFUTES)]
    exact = [item for item in against if item.kind in REFUTING]
    for item in against:
        if details or item in exact[:1] or not exact:
            title = failure(item) if found.kind == "claim" else f"where it does not hold ({item.kind})"
            _section(console, title, counterexample(item))
    if part.repair:
        console.print()
        name = f"repair ({part.repair.kind})" if found.kind == "claim" else "condition"
        console.say(f"{name}: {part.repair.words}", style="bold")
        _stated(console, "", part.repair.statement, details)
    if part.sharp:
        _stated(console, "sharper", part.sharp.statement, details)
    if not details:
        return
    _section(console, "checks", checked(verdict, part.key))
    for theorem in {one["name"]: one for one in theorems(verdict, part.key)}.values():
        axioms = [f"axioms: {', '.join(theorem['axioms'])}"] if theorem["axioms"] else []
        _section(console, f"Coq, {theorem['name']}", [*theorem["statement"].splitlines(), *axioms])


def quotation(one: Printed) -> list[str]:
    """A sentence as it is printed, with its place, the versions that have it and what differs."""
    pieces = one.text.split("$")
    text = "".join(plain(piece) if place % 2 else piece for place, piece in enumerate(pieces))
    return [f'{one.place}{VERSIONS[one.version]}: "{text}"', *([f"  {one.remark}"] if one.remark else [])]


def failure(item: Evidence) -> str:
    """What a contradiction to a printed statement is: only exact ones refute."""
    return f"why it fails ({item.kind})" if item.kind in REFUTING else f"observed in runs ({item.kind})"


def counterexample(item: Evidence) -> list[str]:
    """An instance whole: what it is, the values that the statement needs, both sides."""
    lines = [*item.data.get("instance", ()), *item.data.get("shown", ())]
    return [*lines, item.summary]


def checked(verdict: Verdict, key: str) -> list[str]:
    """By statement of a part: which engines, Coq and trusted rules stand behind it, and what was searched."""
    lines = []
    own = [item for item in verdict.evidence if item.part == key]
    for item in own:
        shown = item.on == "printed" and item.finding == REFUTES
        on = "sharper" if item.on == "sharp" else item.on
        lines.append(f"{on}, {item.kind}: {'as above' if shown else item.summary}")
        rules = item.data.get("rules")
        lines += [f"  trusted rules: {', '.join(rules)}"] if rules else []
        lines += [f"  Coq: {words}" for words in _coq(item)]
    if own and not any({"coq", "whole", "theorems"} & item.data.keys() for item in own):
        lines.append("Coq: not used (--prover coq uses it)")
    return lines


def _coq(item: Evidence) -> Iterable[str]:
    if "coq" in item.data:
        lemmas = item.data["coq"]["lemmas"]
        yield f"scalar steps, {sum(one['accepted'] for one in lemmas)} of {len(lemmas)} accepted"
    if "whole" in item.data:
        whole = item.data["whole"]
        why = whole.get("why", "refused")
        yield "the whole statement, accepted" if whole["accepted"] else f"the whole statement, not accepted: {why}"


def theorems(verdict: Verdict, key: str | None = None) -> list[dict[str, Any]]:
    """The hand-written theorems that Coq has accepted for a claim, or for one of its parts."""
    items = [item for item in verdict.evidence if key in (None, item.part)]
    return [theorem for item in items for theorem in item.data.get("theorems", ())]


def replay(verdict: Verdict) -> None:
    """The counterexamples alone, as they were just replayed."""
    console = Page()
    refuted = [e for e in verdict.evidence if (e.on, e.finding) == ("printed", REFUTES) and e.kind in REFUTING]
    if not refuted:
        console.say(f"{verdict.claim.id} has the verdict {verdict.verdict}: there is no counterexample to replay")
    for item in refuted:
        statement = next(part.printed for part in verdict.claim.parts if part.key == item.part)
        _section(console, f"{verdict.claim.id}, part {item.part}, as printed", _relation(statement))
        _section(console, item.kind, counterexample(item))
        _section(console, "values", [f"{name} = {value}" for name, value in item.data.get("values", {}).items()])


def _stated(console: Page, title: str, statement: Statement, details: bool) -> None:
    _section(console, title, _relation(statement))
    assumed = assumptions(statement)
    spare = idle(statement)
    mark = "  (idle: the checked proof holds without it)"
    _section(console, "under", [fact.told + (mark if fact in spare else "") for fact in assumed])
    where = [fact for fact in statement.definitions if fact not in assumed]
    shown = {fact.told: in_text(fact.relation) for fact in where}
    same = {told for told, formula in shown.items() if told.rstrip(".") == formula}
    _section(console, "where", [told if told in same else f"{told}  [{formula}]" for told, formula in shown.items()])
    if not details:
        return
    _section(console, "in the algorithm", [fact.words for fact in settings(statement)])
    _section(console, "proof", outline(statement))


def letters(verdict: Verdict, book: Book = BOOK) -> dict[str, str]:
    """What the letters in the formulas of a claim stand for."""
    return explained(verdict.claim.id, formulas(verdict.claim), book)


def outline(statement: Statement) -> list[str]:
    """The first lines of a proof: what each concludes, and by which rule."""
    if statement.proof is None:
        return []
    lines = [line for line in transcript(statement) if line.depth == 0]
    shown = []
    for line in lines[:OUTLINE]:
        step = line.step
        by = step.rule if isinstance(step, Use) else "induction" if isinstance(step, Induction) else "algebra"
        shown.append(f"{in_text(line.conclusion)}   [{by}]")
    more = len(lines) - OUTLINE
    return [*shown, f"... and {more} more lines; the report has all of them"] if more > 0 else shown


def _relation(statement: Statement) -> list[str]:
    if statement.relation is None:
        return [statement.words]
    formula = in_text(statement.relation)
    # Words that were made of the relation and its hypotheses, which follow.
    return [formula] if statement.words.startswith(formula) else [statement.words, formula]


def _section(console: Page, title: str, lines: Sequence[str]) -> None:
    if lines:
        if title:
            console.print()
            console.say(title, style="bold")
        for line in lines:
            console.say("  " + line)
