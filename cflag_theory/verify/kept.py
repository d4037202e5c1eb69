"""Evidence of earlier runs, kept for as long as no line of the package and no library that made it has changed.

Only evidence is kept; a verdict follows from it anew each time. What is kept is plain JSON in the user's cache folder,
with a checksum. `--recheck` recomputes it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import platform
import re
import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import platformdirs
import sympy as sp
from sympy.core.function import AppliedUndef

import cflag_theory
from cflag_theory.claims.engine.claim import Claim, Part, statements
from cflag_theory.claims.engine.points import holds_at
from cflag_theory.errors import CflagError
from cflag_theory.files import not_private, private_folder, write_text
from cflag_theory.public import one_of
from cflag_theory.reading import ANY, MOST_TEXT, TABLE, WORD, opened, unfit
from cflag_theory.verify.evidence import Point, applies, prove
from cflag_theory.verify.verdict import PROVING, REFUTES, REFUTING, SUPPORTS, UNDECIDED, Evidence

# Without a handler of the user's own, Python writes warnings as plain lines to standard error.
_LOG = logging.getLogger("cflag_theory")
_KINDS = sorted(PROVING | REFUTING | {"worst-case", "property", "monte-carlo"})
_ON = one_of("printed", "repair", "sharp")
_FORM = {"kind": one_of(*_KINDS), "part": WORD, "on": _ON, "summary": WORD, "data": TABLE}
_FORM |= {"finding": one_of(SUPPORTS, REFUTES, UNDECIDED)}

#: Folders of other versions are removed when they are older than this.
DAYS = 30
#: What evidence is made with; that another solver is there can change what a run at level full finds.
LIBRARIES = ("sympy", "z3-solver", "numpy", "scipy", "numba", "hypothesis", "clarabel", "scikit-learn")

# As sympy prints one; longer ones are not put in again at once.
_FRACTION = re.compile(r"-?[0-9]{1,500}(/[0-9]{1,500})?")


class Kept:
    """The store for this package as it stands; where no folder can be had it is empty and keeps nothing. `used` counts
    how many times evidence was taken from it, and `oldest` is when the oldest of that was collected, in seconds since
    the epoch.
    """

    def __init__(self) -> None:
        self.used = 0
        self.oldest: float | None = None
        self._folder: Path | None = None
        with suppress(OSError, CflagError):
            root = _root()
            reason = private_folder(root) or private_folder(root / _state())
            if reason:
                _LOG.warning("cflag: evidence of earlier runs is not believed (%s): it is collected anew", reason)
                return
            self._folder = root / _state()
            for other in root.iterdir():
                if other != self._folder and other.stat().st_mtime < time.time() - 86400 * DAYS:
                    shutil.rmtree(other, ignore_errors=True)

    @property
    def empty(self) -> bool:
        """Whether nothing is kept by this version."""
        return self._folder is None or not any(self._folder.iterdir())

    @property
    def words(self) -> str:
        """What was used of it, for people."""
        since = "earlier" if self.oldest is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(self.oldest))
        return f"Cached evidence from {since}; --recheck recomputes it."

    def take(self, subject: Claim, *how: Any) -> list[Evidence] | None:
        """The evidence on a claim, collected with these settings; None if there is none that can be believed.

        With a refutation of a statement that has a proof comes what that proof is found to be now.
        """
        found: list[Evidence] = []

        def wrong(items: Any) -> str | None:
            found[:] = (Evidence(**item) for item in items)
            return next(filter(None, map(partial(_refuted_wrongly, subject), found)), None)

        if self._read(subject.id, how, [_FORM], wrong) is None:
            return None
        proved = {(item.part, item.on) for item in found if item.kind == "proof"}
        against = {(item.part, item.on) for item in found if item.finding == REFUTES} - proved
        for part in subject.parts:
            asked = {on for on, one in statements(part).items() if one.proof and (part.key, on) in against}
            found += [item for item in prove(part) if item.on in asked] if asked else []
        return found

    def keep(self, evidence: Sequence[Evidence], id: str, *how: Any) -> None:
        """Keep evidence, if there is room for it."""
        self._write([asdict(item) for item in evidence], id, how)

    def take_made(self, name: str, *how: Any) -> Any:
        """What was made of evidence with these settings, plain JSON; None if there is none that can be believed."""
        return self._read(name, how, ANY)

    def keep_made(self, made: Any, name: str, *how: Any) -> None:
        """Keep what was made of evidence, if there is room for it."""
        self._write(made, name, how)

    def _read(
        self, name: str, how: Sequence[Any], form: Any, wrong_with: Callable[[Any], str | None] = lambda found: None
    ) -> Any:
        """What is kept under a name, if nothing is wrong with it."""
        if self._folder is None:
            return None
        path = self._folder / _name(name, how)
        try:
            with opened(path, most=MOST_TEXT) as file:
                status, content = os.fstat(file.fileno()), file.read()
            checksum, _, text = content.decode().partition("\n")
            found = json.loads(text)
            wrong: str | None = not_private(path, status) or unfit(found, form)
            if checksum != self._checksum(path, text):
                wrong = wrong or "it is not what was kept under this name"
            wrong = wrong or wrong_with(found)
        except FileNotFoundError:
            return None
        except (OSError, CflagError, ValueError, TypeError, RecursionError) as error:
            wrong = str(error)
        if wrong:
            _LOG.warning("cflag: what was kept on %s is not believed (%s): it is collected anew", name, wrong)
            return None
        self.used += 1
        self.oldest = status.st_mtime if self.oldest is None else min(status.st_mtime, self.oldest)
        return found

    def _write(self, found: Any, name: str, how: Sequence[Any]) -> None:
        if self._folder is None:
            return
        with suppress(OSError, CflagError, TypeError, ValueError):
            text = json.dumps(found, allow_nan=False)
            # What JSON would change, such as a tuple, is collected anew each time.
            if json.loads(text) == found:
                path = self._folder / _name(name, how)
                write_text(path, f"{self._checksum(path, text)}\n{text}")
                path.chmod(0o600)

    def _checksum(self, path: Path, text: str) -> str:
        """Of a text under this name, in this version."""
        return hashlib.sha256(f"{path.parent.name}/{path.name}\n{text}".encode()).hexdigest()


def _refuted_wrongly(subject: Claim, item: Evidence) -> str | None:
    """What is wrong with a refutation whose numbers can be put in again at once."""
    part = next((part for part in subject.parts if part.key == item.part), None)
    if part is None:
        return f"{subject.id} has no part {item.part!r}"
    if item.finding != REFUTES or breaks_again(part, item) is not False:
        return None
    return f"the numbers that should refute {subject.id} do not"


def _root() -> Path:
    return Path(platformdirs.user_cache_dir("cflag-theory", appauthor=False)) / "evidence"


def _name(id: str, how: Sequence[Any]) -> str:
    return "-".join([id, *map(str, how)]) + ".json"


def _state() -> str:
    """A hash of all files of the package and of the versions of what it computes with."""
    digest = hashlib.sha256()
    root = Path(cflag_theory.__file__).parent
    for path in sorted(root.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    digest.update(json.dumps([platform.python_version(), *map(_version, LIBRARIES)]).encode())
    return digest.hexdigest()[:24]


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return ""


def breaks_again(part: Part, item: Evidence) -> bool | None:
    """Whether the values of a refutation refute, put in again; None where they are not all of them fractions."""
    statement = statements(part).get(item.on)
    given = item.data.get("values")
    if statement is None or statement.relation is None or not isinstance(given, dict):
        return None
    sides = [side for one in statement.relations for side in (one.left, one.right)]
    terms = {term for side in sides for term in side.atoms(sp.Symbol, AppliedUndef)}
    values = {term: sp.Rational(given[str(term)]) for term in terms if _FRACTION.fullmatch(str(given.get(str(term))))}
    if values.keys() != terms:
        return None
    point = Point(values)
    return applies(statement, point) and not holds_at(statement.relation, point.exact)
