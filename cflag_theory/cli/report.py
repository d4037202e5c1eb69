"""The report: a page that works offline, with its figures and derivations in files beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sympy import Symbol

from cflag_theory import __version__
from cflag_theory.claims.book import Book
from cflag_theory.claims.engine.algebra import residual, slack
from cflag_theory.claims.engine.certificates import look_up
from cflag_theory.claims.engine.claim import MEANINGS, Claim, Statement
from cflag_theory.claims.engine.rules import RULES
from cflag_theory.claims.engine.steps import Instance, Obligation, Use
from cflag_theory.claims.engine.transcript import Inference, Line, settings, walk
from cflag_theory.claims.headlines import PAPERS, headlines
from cflag_theory.claims.ledger import BOOK
from cflag_theory.claims.pages.text import bare
from cflag_theory.claims.printed import of_part
from cflag_theory.claims.standing import PREAMBLE
from cflag_theory.claims.uses import ids
from cflag_theory.cli import claim_map
from cflag_theory.cli.formulas import of_relation
from cflag_theory.cli.safe_steps import box
from cflag_theory.cli.tables.claims import counts
from cflag_theory.cli.tables.show import checked, counterexample, failure, letters, quotation
from cflag_theory.files import own_folder, whole_set, write_text
from cflag_theory.studies.rates.statistics import FIT_RULE
from cflag_theory.verify.coq import census
from cflag_theory.verify.resting import FATES, breaks, result_name, roots, sentence, stand_ins
from cflag_theory.verify.verdict import ANSWERS, Verdict


def write_report(
    folder: Path | str,
    verdicts: Sequence[Verdict],
    derivations: Mapping[str, str] | None = None,
    *,
    rates: Sequence[Mapping[str, Any]] = (),
    cfl_rates: Sequence[Mapping[str, Any]] = (),
    nqm_panels: Sequence[Mapping[str, Any]] = (),
    notes: Sequence[str] = (),
    collected: str = "",
    book: Book = BOOK,
) -> Path:
    """Write index.html, maps, derivations and ledger.json; return the page.

    Of the ledger also rates.json, cfl_rates.json and figures, and the page has step sizes that are safe.

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
        figures = _figures(draft, rates, cfl_rates, nqm_panels) if book.of_ledger else []
        _write(draft / "ledger.json", json.dumps([v.to_json() for v in verdicts], indent=1))
        if book.of_ledger:
            _write(draft / "rates.json", json.dumps(list(rates), indent=1))
            _write(draft / "cfl_rates.json", json.dumps(list(cfl_rates), indent=1))
        for id, derived in derivations.items():
            _write(draft / derivations_name(id), derived)
        _write(draft / "index.html", _page(draft, verdicts, rates, notes, figures, {*derivations}, collected, book))
    return target / "index.html"


def _write(path: Path, text: str) -> None:
    write_text(path, bare(text))


def _figures(
    draft: Path,
    rates: Sequence[Mapping[str, Any]],
    cfl_rates: Sequence[Mapping[str, Any]],
    nqm_panels: Sequence[Mapping[str, Any]],
) -> list[tuple[str, str, Path]]:
    """Draw every figure into the draft: title, what is seen, and file of each."""
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
        ("drift", "Drift and error constants", drift_figure(constants_along_range())),
        ("floors", "Floors that printed bounds predict to vanish", floors_figure(floors())),
        ("expectation", "The overfitting term", expectation_figure(expected_overfitting())),
    ]
    if rates:
        drawn.insert(0, ("rate", "The rate", rate_figure(rates)))
        drawn.insert(
            1, ("rate_details", "The other gradients, and bounds over measurements", rate_details_figure(rates))
        )
    if cfl_rates:
        drawn.append(("cfl_rate", "FedAvg and CFL", cfl_rate_figure(cfl_rates)))
    if nqm_panels:
        drawn.append(("nqm", "The noisy quadratic model", nqm_figure(nqm_panels)))
    for name, _, figure in drawn:
        save(figure, draft, name, ("png",))
    return [(title, figure.alt, draft / f"{name}.png") for name, title, figure in drawn]


def derivation(statement: Statement | None) -> list[dict[str, Any]]:
    """The steps of a proof for a reader: name, what kind of step, its conclusion, its words, and how deep it lies."""
    if statement is None:
        return []
    walked = walk(statement)
    sums = {one.name: _sum(one) for one in walked.found}
    return [_entry(line, sums.get(line.step.name, "")) for line in walked.transcript]


def _sum(inference: Inference) -> str:
    """The certificate that is written or kept, [name] for right minus left of what is used; empty if none is."""
    kept = inference.certificate
    if kept is None:
        kept = look_up(inference.goal, tuple(inference.given.items()))
    if kept is None or not inference.given:
        return ""
    marks = {name: Symbol(f"[{name}]") for name in inference.given}
    signed = {slack(name): mark for name, mark in marks.items()} | {
        residual(name): -mark for name, mark in marks.items()
    }
    return f" Right minus left is {kept.xreplace(signed)}."


def _entry(line: Line, total: str) -> dict[str, Any]:
    step = line.step
    if isinstance(step, Use):
        kind, words = step.rule, " ".join(filter(None, (RULES[step.rule].words, step.words, _from(step.given))))
    elif isinstance(step, Obligation):
        kind, words = "algebra", (_from(step.given) or "Plain algebra.") + total
    elif isinstance(step, Instance):
        kind, words = "instance", f"{step.of}, at {step.index} = {step.value}."
    else:
        kind, words = "induction", f"By induction on {step.index}:"
    return {"name": step.name, "kind": kind, "relation": line.conclusion, "words": words, "depth": line.depth}


def _from(given: tuple[str, ...]) -> str:
    return f"From {', '.join(given)}." if given else ""


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("cflag_theory.cli"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.filters["mathml"] = of_relation
    environment.filters["derivation"] = derivation
    environment.filters["settings"] = settings
    environment.filters["printed"] = lambda part, id, book: of_part(id, part.key, book)
    environment.filters["quotation"] = quotation
    environment.filters["counterexample"] = counterexample
    environment.filters["failure"] = failure
    environment.filters["checked"] = checked
    environment.filters["letters"] = letters
    environment.filters["result_name"] = result_name
    return environment


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
    page: str = (
        _environment()
        .get_template("derivations.html")
        .render(claim=subject, verdict=verdict, proved=proved_statements(subject), written=book.written(id))
    )
    return page


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
                    "svg": claim_map.svg(names, among, labels, title=title, page="", alone=False, book=book),
                    "sentence": told,
                    "roots": roots(breaks(paper, labels, book)),
                    "instead": {id: stand_ins(id, labels, book) for id in names},
                }
            )
    return found


def _page(
    draft: Path,
    verdicts: Sequence[Verdict],
    rates: Sequence[Mapping[str, Any]],
    notes: Sequence[str],
    figures: Sequence[tuple[str, str, Path]],
    derived: set[str],
    collected: str,
    book: Book,
) -> str:
    papers = list(dict.fromkeys(v.claim.paper for v in verdicts))
    by_id = {verdict.claim.id: verdict for verdict in verdicts}
    template = _environment().get_template("report.html")
    page: str = template.render(
        verdicts=verdicts,
        by_id=by_id,
        # A report on some claims has no links to the others.
        shown={verdict.claim.id for verdict in verdicts},
        counts=counts(verdicts),
        meanings=MEANINGS,
        answers=ANSWERS,
        book=book,
        preamble={paper: PREAMBLE[paper] for paper in book.papers if paper in PREAMBLE},
        census=census(verdicts) if book.of_ledger else None,
        papers=papers,
        kinds=sorted({e.kind for v in verdicts for e in v.evidence}),
        rates=rates,
        fit_rule=FIT_RULE,
        notes=notes,
        figures=[(title, text, path.name) for title, text, path in figures],
        headlines=[(by_id[id], why) for id, why in headlines(book) if id in by_id],
        papers_in_full=PAPERS,
        derived=derived,
        collected=collected,
        derivations_name=derivations_name,
        proved_statements=proved_statements,
        box=box() if book.of_ledger else None,
        maps=_maps(draft, by_id, book),
        map_style=claim_map.style_sheet(),
        fates=FATES,
        version=__version__,
    )
    return page
