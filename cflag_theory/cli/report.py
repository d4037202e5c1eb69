"""The report: a summary that works offline, and beside it a page for each paper, derivations and figures."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from textwrap import indent
from typing import Any, NamedTuple

from sympy import Symbol

from cflag_theory import __version__
from cflag_theory.claims.book import Book
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.certificates import look_up
from cflag_theory.claims.engine.claim import MEANINGS, Claim, Fact, Statement
from cflag_theory.claims.engine.examiner import names_used
from cflag_theory.claims.engine.printing import in_text, to_latex
from cflag_theory.claims.engine.rules import RULES
from cflag_theory.claims.engine.steps import Induction, Instance, Use
from cflag_theory.claims.engine.transcript import Inference, Line, settings, walk
from cflag_theory.claims.headlines import PAPERS, headlines
from cflag_theory.claims.ledger import BOOK
from cflag_theory.claims.pages.text import bare
from cflag_theory.claims.printed import of_part
from cflag_theory.claims.standing import PREAMBLE
from cflag_theory.claims.uses import idle, ids, numbered
from cflag_theory.cli import claim_map
from cflag_theory.cli.claim_map import ledger_name
from cflag_theory.cli.safe_steps import box
from cflag_theory.cli.tables.claims import counts
from cflag_theory.cli.tables.show import VERSIONS, checked, counterexample, failure, letters
from cflag_theory.cli.typeset import formula, mathml, of_relation, prose, quoted
from cflag_theory.files import own_folder, whole_set, write_text
from cflag_theory.shown import cleaned, escaped
from cflag_theory.studies.rates.statistics import FIT_RULE
from cflag_theory.verify.coq import census
from cflag_theory.verify.resting import FATES, breaks, result_name, roots, sentence, stand_ins
from cflag_theory.verify.verdict import ANSWERS, Verdict

_COUNTS = ("E", "K", "N", "S", "T")
#: An id in a sentence in HTML; elements that keep their text come first.
_ID = re.compile(r"<code>.*?</code>|<math.*?</math>|<[^>]*>|\b[a-z]\w*\.\w+", re.DOTALL)


def write_report(
    folder: Path | str,
    verdicts: Sequence[Verdict],
    derivations: Mapping[str, str] | None = None,
    entries: Iterable[tuple[str, str]] | None = None,
    *,
    rates: Sequence[Mapping[str, Any]] = (),
    cfl_rates: Sequence[Mapping[str, Any]] = (),
    nqm_panels: Sequence[Mapping[str, Any]] = (),
    notes: Sequence[str] = (),
    collected: str = "",
    book: Book = BOOK,
) -> Path:
    """Write index.html, a page of claims for each paper, maps, derivations and ledger.json; return the first.

    Of the ledger also rates.json, cfl_rates.json and figures, and the summary says which step sizes are safe.

    Everything is made in a draft folder first and then moved file by file, so that an interrupted run leaves an
    older report as it was.

    Parameters
    ----------
    folder : path
        Made if it does not exist; other files in it are left alone.
    verdicts : sequence of Verdict
        Of claims of the book.
    derivations : mapping, optional
        Pages of derivations by claim, as `derivation_page` makes them where none are given.
    entries : iterable of pairs of str, optional
        What `entry` makes of each verdict, in order; asked for when the figures are drawn.
    rates : sequence of mappings
        `Rate.to_json()` of each study.
    cfl_rates : sequence of mappings
        `CFLRate.to_json()` of each study.
    nqm_panels : sequence of mappings
        "panels" of `nqm_study`.
    notes : sequence of str
        What the reader should know about this run, such as a data set that was missing.
    collected : str
        When the evidence was collected, if not now.
    book : Book
        The ledger, or the pages of a stranger.

    Raises
    ------
    OutputError
        If the folder cannot be written.
    """
    target = own_folder(folder)
    if derivations is None:
        derivations = {id: derivation_page(id, word, book) for id, word in proved(verdicts)}
    with whole_set(target, last="index.html") as draft:
        drawn = _figures(draft, rates, cfl_rates, nqm_panels) if book.of_ledger else []
        if book.of_ledger:
            _write(draft / "rates.json", json.dumps(list(rates), indent=1))
            _write(draft / "cfl_rates.json", json.dumps(list(cfl_rates), indent=1))
        for id, derived in derivations.items():
            _write(draft / derivations_name(id), derived)
        pages = _pages(draft, verdicts, book)
        if entries is None:
            ids, whys = {*pages["by_id"]}, pages["whys"]
            entries = (entry(v, ids, v.claim.id in derivations, whys.get(v.claim.id, ""), book) for v in verdicts)
        listed, written = dict[str, str](), []
        for verdict, (html, text) in zip(verdicts, entries, strict=True):
            listed[verdict.claim.id] = html
            written.append(f"\n{text}")
        _write(draft / "ledger.json", f"[{','.join(written)}\n]")
        pages |= {"drawn": drawn, "rates": rates, "notes": notes, "collected": collected, "entries": listed}
        for paper in pages["papers"]:
            _write(draft / ledger_name(paper), _rendered("ledger.html", **pages, paper=paper))
        _write(draft / "index.html", _rendered("summary.html", **pages))
    return target / "index.html"


class Drawn(NamedTuple):
    """A figure: its file, the paper that it is about, its title and what is seen."""

    file: str
    paper: str
    title: str
    seen: str

    @property
    def first(self) -> bool:
        """Whether the summary has it; the pages of the papers have the others."""
        return self.file not in ("rate_details.png", "nqm.png")


def _write(path: Path, text: str) -> None:
    write_text(path, bare(text))


def _figures(
    draft: Path,
    rates: Sequence[Mapping[str, Any]],
    cfl_rates: Sequence[Mapping[str, Any]],
    nqm_panels: Sequence[Mapping[str, Any]],
) -> list[Drawn]:
    """Draw every figure into the draft."""
    from cflag_theory.figures import (
        cfl_rate_figure,
        drift_figure,
        expectation_figure,
        floors_figure,
        nqm_figure,
        rate_details_figure,
        rate_figure,
        save,
    )
    from cflag_theory.studies.rates.floors import floors
    from cflag_theory.verify.checks.c_flag.local_steps import constants_along_range
    from cflag_theory.verify.checks.c_flag.problem import expected_overfitting

    drawn = [
        ("drift", "C-FLAG", "Drift and error constants", drift_figure(constants_along_range())),
        ("floors", "C-FLAG", "Floors that printed bounds predict to vanish", floors_figure(floors())),
        ("expectation", "C-FLAG", "The overfitting term", expectation_figure(expected_overfitting())),
    ]
    if rates:
        drawn.insert(0, ("rate", "C-FLAG", "The rate", rate_figure(rates)))
        title = "The other gradients, and bounds over measurements"
        drawn.append(("rate_details", "C-FLAG", title, rate_details_figure(rates)))
    if cfl_rates:
        drawn.append(("cfl_rate", "CFL", "FedAvg and CFL", cfl_rate_figure(cfl_rates)))
    if nqm_panels:
        drawn.append(("nqm", "CFL", "The noisy quadratic model", nqm_figure(nqm_panels)))
    for name, _, _, figure in drawn:
        save(figure, draft, name, ("png",))
    return [Drawn(f"{name}.png", paper, title, figure.alt) for name, paper, title, figure in drawn]


def derivation(statement: Statement) -> dict[str, Any]:
    """A proof for a reader: the facts that it uses, its lines, and the rules behind them.

    Facts are labelled A1, A2, ... and lines 1, 2, ...: reasons name them so. A line has a `sum` where right minus left
    is a sum of what it uses, written with a label in square brackets for right minus left of that relation.
    """
    walked = walk(statement)
    found = {one.name: one for one in walked.found}
    facts = {fact.name: fact for fact in (*statement.facts, *settings(statement))}
    used = dict.fromkeys(name for line in walked.transcript for name in names_used(line.step) if name in facts)
    marks = {name: f"A{place}" for place, name in enumerate(used, 1)}
    rules = {line.step.rule: RULES[line.step.rule].words for line in walked.transcript if isinstance(line.step, Use)}
    lines = []
    for place, line in enumerate(walked.transcript, 1):
        name = line.step.name
        lines.append({"mark": str(place), "relation": line.conclusion, "depth": line.depth, **_reason(line, marks)})
        if name in found:
            lines[-1]["sum"] = _sum(found[name], marks)
        marks[name] = str(place)
        marks |= {f"{name} ({one})": f"the {one} of {place}" for one in ("hypothesis", "range")}
    return {
        "facts": [{"mark": f"A{place}", "fact": facts[name]} for place, name in enumerate(used, 1)],
        "lines": lines,
        "rules": rules,
    }


def _reason(line: Line, marks: Mapping[str, str]) -> dict[str, Any]:
    """Why a line holds, in words, with the marks of what it follows from."""
    step = line.step
    found: dict[str, Any] = {"words": "", "given": [], "more": "", "sum": ""}
    if isinstance(step, Instance):
        return found | {"words": f"At {step.index} = {step.value}", "given": [marks[step.of]]}
    if isinstance(step, Induction):
        return found | {"words": f"By induction on {step.index}, in the lines that are set in below"}
    found["given"] = [marks.get(name, name) for name in step.given]
    if isinstance(step, Use):
        return found | {"words": step.rule, "more": step.words}
    return found if step.given else found | {"words": "Plain algebra"}


def _sum(inference: Inference, marks: Mapping[str, str]) -> str:
    """The certificate that is written or kept, as LaTeX; empty if there is none."""
    kept = inference.certificate
    if kept is None:
        kept = look_up(inference.goal, tuple(inference.given.items()))
    if kept is None or not inference.given:
        return ""
    signed: dict[Symbol, Symbol] = {}
    for name in inference.given:
        mark = Symbol(f"[{marks.get(name, name)}]")
        signed |= {slack(name): mark, residual(name): -mark}
    return to_latex(kept.xreplace(signed))


def trivial(fact: Fact) -> bool:
    """Whether a hypothesis only says that there is a round, a client or a step, as the standing assumptions do."""
    return fact.relation.op == "<=" and fact.relation.left == 1 and str(fact.relation.right) in _COUNTS


def _named(made: str, context: Mapping[str, Any]) -> str:
    """A sentence in HTML with the names of claims in place of their ids, as links where the report has them."""
    book, by_id = context["book"], context.get("by_id", {})

    def name(found: re.Match[str]) -> str:
        id = found[0]
        if id not in book.places():
            return id
        claim = book.claim(id)
        words = prose(claim.title) if claim.paper == "ours" else escaped(claim.where)
        return f'<a href="{ledger_name(claim.paper)}#{id}" title="{id}">{words}</a>' if id in by_id else words

    return _ID.sub(name, made)


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context
    from jinja2.filters import do_mark_safe

    environment = Environment(
        loader=PackageLoader("cflag_theory.cli"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.tests |= {"trivial": trivial, "told": lambda fact: fact.told != f"{in_text(fact.relation)}."}
    filters = (counterexample, failure, checked, letters, result_name, settings, derivation)
    environment.filters |= {function.__name__: function for function in filters}
    environment.filters |= {
        "mathml": lambda relation: do_mark_safe(of_relation(relation)),
        "latex": lambda latex: do_mark_safe(mathml(latex)),
        "prose": pass_context(lambda context, words: do_mark_safe(_named(prose(str(words)), context))),
        "quoted": lambda words: do_mark_safe(quoted(words)),
        "formula": lambda text: do_mark_safe(quoted(f"${formula(text)}$")),
        "capital": lambda words: words[:1].upper() + words[1:],
        "printed": lambda part, id, book: of_part(id, part.key, book),
    }
    environment.globals |= {
        "versions": VERSIONS,
        "derivations_name": derivations_name,
        "ledger_name": ledger_name,
        "proved_statements": proved_statements,
        "census": census,
        "papers_in_full": PAPERS,
        "meanings": MEANINGS,
        "answers": ANSWERS,
        "fates": FATES,
        "idle": lambda id, statement, book: idle(statement) if numbered(book.claim(id)) else (),
        "fit_rule": FIT_RULE,
        "version": __version__,
    }
    return environment


def _rendered(template: str, **values: Any) -> str:
    return cleaned(_environment().get_template(template).render(**values))


def proved_statements(claim: Claim) -> list[tuple[str, str, Statement]]:
    """Part, which of its statements, and the statement, for all that have a proof."""
    found = []
    for part in claim.parts:
        stated = {"printed": part.printed, "family that refutes it": part.refutation}
        stated |= {"repair": part.repair.statement} if part.repair else {}
        stated |= {"sharper": part.sharp.statement} if part.sharp else {}
        found += [(part.key, on, one) for on, one in stated.items() if one is not None and one.proof is not None]
    return found


def derivations_name(id: str) -> str:
    """The file beside the page with a claim's derivations."""
    return f"derivations-{id}.html"


def proved(verdicts: Sequence[Verdict]) -> list[tuple[str, str]]:
    """Id and verdict of the claims that have a proof: what `derivation_page` takes."""
    return [(verdict.claim.id, verdict.verdict) for verdict in verdicts if proved_statements(verdict.claim)]


def derivation_page(id: str, verdict: str, book: Book = BOOK) -> str:
    """The derivations of a claim, as a page."""
    subject = book.claim(id)
    return _rendered(
        "derivations.html",
        claim=subject,
        verdict=verdict,
        proved=proved_statements(subject),
        book=book,
    )


def entry(verdict: Verdict, ids: Collection[str], derived: bool, why: str, book: Book = BOOK) -> tuple[str, str]:
    """A claim on the page of its paper, and in ledger.json.

    Links lead to the claims with these `ids`; `derived` says whether there is a page of derivations, and `why` why the
    claim is among the main results.
    """
    values = {"v": verdict, "paper": verdict.claim.paper, "by_id": ids, "derived": derived, "why": why, "book": book}
    return _rendered("entry.html", **values), indent(json.dumps(verdict.to_json(), indent=1), " ")


def _maps(draft: Path, by_id: Mapping[str, Verdict], book: Book = BOOK) -> list[dict[str, Any]]:
    """How the claims depend on each other, for each paper of which all are decided; the maps are also files."""
    labels = {id: verdict.verdict for id, verdict in by_id.items()}
    found = []
    for paper in book.papers:
        if {*ids(paper, book)} <= {*labels}:
            names, among = claim_map.kept(paper, book=book)
            told = sentence(paper, labels, book)
            title = f"How the claims of {paper} depend on each other: {told}"
            file = f"map-{paper.lower().replace(' ', '-')}.svg"
            _write(draft / file, claim_map.svg(names, among, labels, title=title, book=book))
            found.append(
                {
                    "paper": paper,
                    "file": file,
                    "svg": claim_map.svg(names, among, labels, title=title, alone=False, book=book),
                    "sentence": told,
                    "roots": roots(breaks(paper, labels, book)),
                    "instead": {id: stand_ins(id, labels, book) for id in names},
                }
            )
    return found


def _pages(draft: Path, verdicts: Sequence[Verdict], book: Book) -> dict[str, Any]:
    """What the summary and the pages of the papers say."""
    by_id = {verdict.claim.id: verdict for verdict in verdicts}
    chosen = headlines(book)
    if not book.of_ledger and not any(id in by_id for id, _ in chosen):
        # Pages that name no main results have their numbered ones, or all.
        named = [id for id in by_id if result_name(id, book)] or list(by_id)
        chosen = tuple(
            (id, "; ".join(one.repairs) or ("" if one.verdict == "holds" else one.meaning))
            for id, one in by_id.items()
            if id in named
        )
    return {
        "verdicts": verdicts,
        "by_id": by_id,
        "counts": counts(verdicts),
        "book": book,
        "cite": {
            paper: [by_id[id] for id, _ in chosen if id in by_id and book.home(id) == paper] for paper in book.papers
        },
        "papers": list(dict.fromkeys(v.claim.paper for v in verdicts)),
        "whys": {id: why for id, why in chosen if id in by_id},
        "preamble": {paper: PREAMBLE[paper] for paper in book.papers if paper in PREAMBLE},
        "box": box() if book.of_ledger else None,
        "maps": _maps(draft, by_id, book),
        "map_style": claim_map.style_sheet(),
    }
