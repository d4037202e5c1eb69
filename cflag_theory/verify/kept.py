"""Evidence of earlier runs, kept for as long as no line of the package and no library that made it has changed.

Only evidence is kept; a verdict follows from it anew each time. What is kept is plain JSON in the user's cache folder,
with a checksum. `--recheck` recomputes it.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import platformdirs

import cflag_theory
from cflag_theory.errors import CflagError
from cflag_theory.files import check_writable, open_to_others, write_text
from cflag_theory.reading import read_text
from cflag_theory.verify.verdict import Evidence

#: Folders of other versions are removed when they are older than this.
DAYS = 30
#: What evidence is made with; that another solver is there can change what a run at level full finds.
LIBRARIES = ("sympy", "z3-solver", "numpy", "scipy", "numba", "hypothesis", "PEPit", "cvxpy")


class Kept:
    """The store for this package as it stands; where no folder can be had it is empty and keeps nothing.

    Attributes
    ----------
    used : int
        How many times evidence was taken from it.
    oldest : float or None
        When the oldest of that was collected, in seconds since the epoch.
    """

    def __init__(self) -> None:
        self.used = 0
        self.oldest: float | None = None
        self._folder: Path | None = None
        with suppress(OSError, CflagError):
            root = _root()
            # Whatever the umask.
            for one in (root.parent, root, root / _state()):
                one.mkdir(0o700, parents=True, exist_ok=True)
            folder = check_writable(one)
            # What others can write is nobody's evidence.
            self._folder = folder if open_to_others(root) is None else None
            for other in root.iterdir():
                if other != folder and other.stat().st_mtime < time.time() - 86400 * DAYS:
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

    def take(self, id: str, *how: Any) -> list[Evidence] | None:
        """The evidence on a claim, collected with these settings; None if there is none that is whole."""
        if self._folder is None:
            return None
        try:
            path = self._folder / _name(id, how)
            if not stat.S_ISREG(path.lstat().st_mode):
                return None
            checksum, _, text = read_text(path).partition("\n")
            if checksum != _checksum(text):
                return None
            found = [Evidence(**item) for item in json.loads(text)]
            made = path.stat().st_mtime
        except (OSError, ValueError, TypeError):
            return None
        self.used += 1
        self.oldest = made if self.oldest is None else min(made, self.oldest)
        return found

    def keep(self, evidence: Sequence[Evidence], id: str, *how: Any) -> None:
        """Keep evidence, if there is room for it."""
        if self._folder is None:
            return
        with suppress(OSError, CflagError, TypeError, ValueError):
            text = json.dumps([asdict(item) for item in evidence], allow_nan=False)
            # What JSON would change, such as a tuple, is collected anew each time.
            if [Evidence(**item) for item in json.loads(text)] == list(evidence):
                write_text(self._folder / _name(id, how), f"{_checksum(text)}\n{text}")


def _root() -> Path:
    return Path(platformdirs.user_cache_dir("cflag-theory", appauthor=False)) / "evidence"


def _name(id: str, how: Sequence[Any]) -> str:
    return "-".join([id, *map(str, how)]) + ".json"


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


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
