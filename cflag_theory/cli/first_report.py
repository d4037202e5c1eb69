"""The report of `cflag verify`: what it takes long to make is made by other processes, beside runs and figures."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any
from zlib import compress, decompress

from cflag_theory.claims.headlines import headlines
from cflag_theory.claims.ledger import claim
from cflag_theory.cli.report import derivation_page, entry, proved, write_report
from cflag_theory.cli.shell import progress_bar
from cflag_theory.studies.defaults import REPORT, report_study
from cflag_theory.verify.kept import Kept
from cflag_theory.verify.verdict import Verdict
from cflag_theory.verify.workers import across


class Report:
    """The default studies and the derivations of verdicts: kept, or made by other processes from now on."""

    def __init__(
        self, folder: Path, verdicts: Sequence[Verdict], seed: int, jobs: int | None = None, kept: Kept | None = None
    ) -> None:
        self._folder = folder
        self._proved = proved(verdicts)
        self._jobs = jobs
        self._kept = kept
        self._how = {name: ("study", seed) for name in REPORT} | {id: ("derivation", word) for id, word in self._proved}
        found = {name: kept.take_made(name, *how) if kept else None for name, how in self._how.items()}
        self._found = {name: made for name, made in found.items() if made is not None}
        left = [(name, *how) for name, how in self._how.items() if name not in self._found]
        # The process of the first claim runs all studies, which share compiled loops, before it derives anything.
        keys = [verdicts[0].claim.id if kind == "study" else name for name, kind, _ in left]
        self._made = across(_made, left, jobs, keys=keys)

    def _take(self, name: str) -> Any:
        made = self._found.get(name)
        if made is None:
            made = next(self._made)
            if self._kept:
                self._kept.keep_made(made, name, *self._how[name])
        return made

    def write(self, verdicts: Sequence[Verdict], collected: str = "") -> Path:
        """Write the report on these verdicts; return the page."""
        parts: dict[str, Any] = {"rates": [], "cfl_rates": [], "nqm_panels": [], "notes": []}
        with progress_bar("report", len(self._how)) as advance:
            for name in REPORT:
                for kind, found in self._take(name).items():
                    parts[kind] += found
                advance(1, name)
            pages = {}
            for id, _ in self._proved:
                pages[id] = decompress(b64decode(self._take(id))).decode()
                advance(1, id)
        ids = [verdict.claim.id for verdict in verdicts]
        found = [(id, v.verdict, v.parts, v.evidence, {*ids}, id in pages) for id, v in zip(ids, verdicts, strict=True)]
        entries = across(_entry, found, self._jobs, keys=ids)
        return write_report(self._folder, verdicts, pages, entries, **parts, collected=collected)


def _entry(id: str, verdict: str, parts: Any, evidence: Any, ids: Collection[str], derived: bool) -> tuple[str, str]:
    """For processes, to which claims cannot go."""
    return entry(Verdict(claim(id), verdict, parts, evidence), ids, derived, dict(headlines()).get(id, ""))


def _made(name: str, kind: str, how: Any) -> Any:
    """A study with a seed, or the derivations of a claim with a verdict, which are long: packed, as ASCII."""
    if kind == "study":
        return report_study(name, how)
    return b64encode(compress(derivation_page(name, how).encode())).decode()
