"""The report of `cflag verify`: what it takes long to make is made by other processes, beside runs and figures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from cflag_theory.claims.headlines import headlines
from cflag_theory.claims.ledger import claim
from cflag_theory.cli.report import derivation_page, entry, proved, write_report
from cflag_theory.cli.shell import progress_bar
from cflag_theory.studies.defaults import REPORT, report_study
from cflag_theory.verify.verdict import Verdict
from cflag_theory.verify.workers import across


class Report:
    """The default studies and the derivations of verdicts, which other processes make from now on."""

    def __init__(self, folder: Path, verdicts: Sequence[Verdict], seed: int, jobs: int | None = None) -> None:
        self._folder = folder
        self._proved = proved(verdicts)
        self._jobs = jobs
        studies: list[tuple[Any, ...]] = [(report_study, name, seed) for name in REPORT]
        derivations: list[tuple[Any, ...]] = [(derivation_page, *one) for one in self._proved]
        # The process of the first claim runs all studies, which share compiled loops, before it derives anything.
        keys = [verdicts[0].claim.id] * len(studies) + [id for id, _ in self._proved]
        self._made = across(_call, studies + derivations, jobs, keys=keys)

    def write(self, verdicts: Sequence[Verdict], collected: str = "") -> Path:
        """Write the report on these verdicts; return the page."""
        parts: dict[str, Any] = {"rates": [], "cfl_rates": [], "nqm_panels": [], "notes": []}
        with progress_bar("report", len(REPORT) + len(self._proved)) as advance:
            for name in REPORT:
                for kind, found in next(self._made).items():
                    parts[kind] += found
                advance(1, name)
            pages = {}
            for id, _ in self._proved:
                pages[id] = next(self._made)
                advance(1, id)
        ids = [verdict.claim.id for verdict in verdicts]
        found = [(id, v.verdict, v.parts, v.evidence, {*ids}, id in pages) for id, v in zip(ids, verdicts, strict=True)]
        entries = across(_entry, found, self._jobs, keys=ids)
        return write_report(self._folder, verdicts, pages, entries, **parts, collected=collected)


def _entry(id: str, verdict: str, parts: Any, evidence: Any, ids: Collection[str], derived: bool) -> tuple[str, str]:
    """For processes, to which claims cannot go."""
    return entry(Verdict(claim(id), verdict, parts, evidence), ids, derived, dict(headlines()).get(id, ""))


def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    return function(*arguments)
