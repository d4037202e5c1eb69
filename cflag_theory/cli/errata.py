"""Errata of a paper: a list of errors and corrections for its authors, as LaTeX or Markdown.

Nothing here decides anything: a list of errata is read off from verdicts, in the paper's order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import sympy as sp

from cflag_theory.claims.book import Book
from cflag_theory.claims.engine.claim import Claim, Fact, Part, Statement
from cflag_theory.claims.engine.definitions import assumptions
from cflag_theory.claims.engine.printing import in_latex
from cflag_theory.claims.engine.steps import Induction, Step, Use
from cflag_theory.claims.engine.transcript import transcript
from cflag_theory.claims.headlines import PAPERS
from cflag_theory.claims.ledger import BOOK, LEDGER
from cflag_theory.claims.pages.text import bare
from cflag_theory.claims.printed import of_part
from cflag_theory.claims.standing import PREAMBLE
from cflag_theory.cli.documents import Document, LaTeX, Markdown
from cflag_theory.errors import InvalidInput, OutputError
from cflag_theory.files import check_writable
from cflag_theory.reading import read_text
from cflag_theory.verify.verdict import REFUTES, REFUTING, Evidence, PartVerdict, Verdict

#: A part with its verdict, of the verdict on its claim.
Found = tuple[Verdict, Part, PartVerdict]
FORMATS: dict[str, Callable[..., Document]] = {".tex": LaTeX, ".md": Markdown}
#: The first line of every list holds these words; a file that does not is never overwritten.
MARK = "written by cflag errata"
#: Steps of a proof that are listed.
OUTLINE = 10
#: What computes a counterexample again, for pages of a stranger and for the ledger.
_AGAIN = (
    "`cflag verify FOLDER-OR-PAGE ID` prints the evidence on a statement, and",
    "`cflag show ID` prints the evidence on a statement, and `cflag show ID --replay`",
)
WRONG = {
    "typo": "Misprint",
    "needs-hypothesis": "A hypothesis is missing",
    "false": "The statement fails",
}


def check_target(out: Path) -> None:
    """Raise if a list of errata cannot or must not be written to this file: asked before the claims are decided."""
    if out.suffix not in FORMATS:
        raise InvalidInput(f"--out {out} ends in {out.suffix or 'nothing'}: use a name that ends in .tex or .md")
    if not out.parent.is_dir():
        raise OutputError(f"there is no folder {str(out.parent)!r}: make it, or choose another with --out")
    check_writable(out.parent)
    if not out.exists():
        return
    try:
        first = read_text(out).partition("\n")[0]
    except (OSError, UnicodeDecodeError):
        first = ""
    if MARK not in first:
        raise OutputError(f"{out} exists and was not written by cflag errata: choose another name with --out")


def rows(paper: str) -> list[str]:
    """The claims to decide for a paper's errata: its own, then the theorems of ours to which they point."""
    own = BOOK.own(paper)
    named = {one for id in own for one in BOOK.instead(id)}
    return own + [id for id in LEDGER if id in named]


def errata(verdicts: Sequence[Verdict], paper: str, document: Document, book: Book = BOOK) -> str:
    """The list as text: of the verdicts of `rows(paper)`, or of the claims of a stranger's pages (`book`). An empty
    `document` says how things are written.
    """
    found, wrong, loose, left = sorted_out(verdicts, paper, book)
    named = dict.fromkeys(id for verdict, _, state in wrong if state.verdict == "false" for id in verdict.instead)
    ours = [verdict for verdict in verdicts if verdict.claim.id in named and verdict.verdict == "holds"]
    numbers = {verdict.claim.id: f"A{place}" for place, verdict in enumerate(ours, 1)}
    document.begin(f"Errata: {PAPERS.get(paper, paper)}", MARK)
    document.text(_INTRODUCTION)
    document.text(
        f"{counted(found, wrong, loose, left)} All counts and numbers were computed when this file was written. Proofs "
        f"were checked by two exact engines, sympy and z3; {_AGAIN[book.of_ledger]} computes its counterexample again."
    )
    if paper in PREAMBLE:
        document.section("Standing assumptions")
        document.items(PREAMBLE[paper])
    document.section("Errata")
    for place, one in enumerate(wrong, 1):
        _erratum(document, f"{place}", one, numbers, book)
    if loose:
        document.section("Constants that can be improved")
        document.text("These statements are true as printed. A smaller constant is proved.")
    for place, (verdict, part, _) in enumerate(loose, len(wrong) + 1):
        _loose(document, f"{place}", verdict, part, book)
    if left:
        document.section("Not decided")
        document.text("We could neither prove nor refute these statements.")
    for place, (verdict, part, _) in enumerate(left, len(wrong) + len(loose) + 1):
        _heading(document, f"{place}", verdict.claim, part, "Open")
        _printed(document, verdict.claim, part, book)
    if ours:
        document.section("What can be proved instead")
        document.text("Theorems of ours, to which the errata refer. They use the notation of the paper.")
    for verdict in ours:
        _theorem(document, numbers[verdict.claim.id], verdict.claim, book)
    return bare(document.end())


def sorted_out(verdicts: Sequence[Verdict], paper: str, book: Book = BOOK) -> tuple[list[Found], ...]:
    """All statements of a paper, those that are wrong, those with a constant to improve, those not decided."""
    ids = {*book.own(paper)}
    found = [one for verdict in verdicts if verdict.claim.id in ids for one in _parts(verdict)]
    kinds = (tuple(WRONG), ("loose",), ("open",))
    return found, *([one for one in found if one[2].verdict in kind] for kind in kinds)


def _parts(verdict: Verdict) -> Iterator[Found]:
    for part, state in zip(verdict.claim.parts, verdict.parts, strict=True):
        if state.kind == "claim":
            yield verdict, part, state


_INTRODUCTION = (
    "This list names, in the order of the paper, the statements that we found not to hold exactly as printed. "
    "We offer it to the authors in the hope that it is of use, and we are grateful for the work that it rests on. "
    "Every item quotes the sentence, gives the smallest exact counterexample that we know, in numbers that "
    "can be checked by hand, and, where we have one, a correction with the outline of its proof. Where a sentence "
    "can be read in two ways, the item says which reading it is about. "
    "We may have misread; we would be glad to be told."
)


def counted(found: Sequence[Found], wrong: Sequence[Found], loose: Sequence[Found], left: Sequence[Found]) -> str:
    """How many statements have which fault, in a sentence."""
    counts = [sum(state.verdict == name for _, _, state in wrong) for name in WRONG]
    return (
        f"Of {len(found)} statements that we examined, {len(found) - len(wrong) - len(left)} hold as printed, "
        f"{len(loose)} of them with a constant that can be improved; {counts[0]} have a misprint, {counts[1]} need a "
        f"further hypothesis, {counts[2]} fail without a local correction that we could prove, and {len(left)} we "
        "could not decide."
    )


def _heading(document: Document, number: str, subject: Claim, part: Part, kind: str) -> None:
    several = f", part {part.key}" if len(subject.parts) > 1 else ""
    document.heading(number, f"{subject.where}: {subject.title}")
    document.small(f"{kind}. `{subject.id}`{several}.")


def _printed(document: Document, subject: Claim, part: Part, book: Book) -> None:
    for one in of_part(subject.id, part.key, book):
        version = {"both": "", "2022": ", 2022 version only", "later": ", not in the 2022 version"}[one.version]
        document.quotation(f"{one.place}{version}", one.text)
        if one.remark:
            document.small(one.remark)
    _stated(document, "We read this as" if book.of_ledger else "Statement", part.printed, book)
    if part.reading:
        document.labelled("Reading", f"{part.reading}.")


def _erratum(document: Document, number: str, found: Found, numbers: Mapping[str, str], book: Book) -> None:
    verdict, part, state = found
    subject = verdict.claim
    _heading(document, number, subject, part, WRONG[state.verdict])
    _printed(document, subject, part, book)
    refuting = [e for e in verdict.evidence if (e.part, e.on, e.finding) == (part.key, "printed", REFUTES)]
    exact = sorted((e for e in refuting if e.kind in REFUTING), key=_size)
    for item in exact[:1]:
        _counterexample(document, item)
        if part.refutation is not None and "refutation" in item.data:
            _stated(document, "For this instance", part.refutation, book)
            _proof(document, part.refutation)
    if part.repair and state.verdict != "false":
        document.labelled("Proposed correction", f"{part.repair.words}.")
        _stated(document, "Corrected statement", part.repair.statement, book)
        _proof(document, part.repair.statement)
    elif places := [numbers[id] for id in verdict.instead if id in numbers]:
        document.labelled("Proposed correction", f"no local one is known to us; see {', '.join(places)} below.")
    else:
        document.labelled("Proposed correction", "none is known to us.")


def _size(item: Evidence) -> tuple[bool, int]:
    """Two sides in numbers come first, and then what takes fewer words."""
    return "left" not in item.data, sum(map(len, [*item.data.get("instance", ()), *item.data.get("shown", ())]))


def _counterexample(document: Document, item: Evidence) -> None:
    instance = [words.replace("(a, b) of a x^2/2 - b x", "(a,b) of (a/2) x^2 - b x") for words in item.data["instance"]]
    shown = list(item.data.get("shown", ()))
    if shown and all(re.fullmatch(r"(?:\w+ = [^,;]*(?:, )?)+\.?", words) for words in instance):
        # The same numbers follow under the paper's names.
        instance = []
    point = [f"{'; '.join(shown)}."] if shown else []
    lines = [words.rstrip(".;") + ("." if place + 1 == len(instance) else ";") for place, words in enumerate(instance)]
    document.labelled("Counterexample", " ".join([*lines, *point]))
    if "left" in item.data:
        document.sides(*(sp.latex(sp.sympify(str(item.data[side]))) for side in ("left", "right")))
    else:
        document.text(item.summary)


def _stated(document: Document, title: str, statement: Statement, book: Book) -> None:
    document.labelled(title, statement.words)
    if statement.relation is not None:
        document.formula(in_latex(statement.relation))
    assumed = assumptions(statement)
    if assumed:
        document.facts("Under", [(_told(fact, book), "") for fact in assumed])
    if where := [fact for fact in statement.definitions if fact not in assumed]:
        document.facts("Where", [(_told(fact, book), in_latex(fact.relation)) for fact in where])


def _told(fact: Fact, book: Book) -> str:
    """What a fact says, and which places of the paper show it."""
    places = dict.fromkeys(book.claim(source.claim).where for source in fact.sources)
    return fact.words.rstrip(".") + (f" (from {' and '.join(places)})" if places else "")


def _proof(document: Document, statement: Statement) -> None:
    if statement.proof is None:
        return
    lines = [line for line in transcript(statement) if line.depth == 0]
    document.labelled("Proof (outline)", "")
    document.steps([(in_latex(line.conclusion), _reason(line.step)) for line in lines[:OUTLINE]])
    if len(lines) > OUTLINE:
        document.small(
            f"{len(lines) - OUTLINE} more steps lead to the statement; the report of `cflag verify` has all."
        )


def _reason(step: Step) -> str:
    return step.rule if isinstance(step, Use) else "induction" if isinstance(step, Induction) else "algebra"


def _loose(document: Document, number: str, verdict: Verdict, part: Part, book: Book) -> None:
    _heading(document, number, verdict.claim, part, "True as printed")
    _printed(document, verdict.claim, part, book)
    if part.sharp is not None:
        _stated(document, "With a smaller constant", part.sharp.statement, book)
        document.text(f"The printed constant is {part.sharp.factor:.4g} times as large.")
        _proof(document, part.sharp.statement)


def _theorem(document: Document, number: str, subject: Claim, book: Book) -> None:
    document.heading(number, subject.title)
    document.small(f"`{subject.id}`.")
    for part in subject.parts:
        _stated(document, f"Part {part.key}" if len(subject.parts) > 1 else "Statement", part.printed, book)
        _proof(document, part.printed)
