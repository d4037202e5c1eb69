"""A user's file of claims: run once, for its module-level conjectures; errors are reported with their line."""

from __future__ import annotations

import hashlib
from pathlib import Path

from cflag_theory.claims.pages.folder import Folder, read_folder
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture, stated
from cflag_theory.falsify.held import Home
from cflag_theory.falsify.search.guard import TimeUp, time_limit
from cflag_theory.files import as_file_name
from cflag_theory.outside.python_files import content_of

#: Seconds that a page may take to read.
_READING = 60.0


def read_claims(file: Path | str, *, seconds: float) -> list[Conjecture]:
    """The conjectures of a Python file, alone or in lists, or the claims of a page, in the order of the file."""
    path = Path(file)
    if path.suffix == ".page":
        return of_page(path)
    found = Home(path, seconds).claims()
    if not found:
        raise InvalidInput(f"{path} holds no Conjecture: assign one at module level, such as claim = Conjecture(...)")
    names = [as_file_name(one.name).lower() for one in found]
    twice = next((one.name for one, name in zip(found, names, strict=True) if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput(
            f"{path} holds two conjectures of the name {twice!r}, of which letters and digits count: rename one"
        )
    return found


def pages_of(path: Path | str) -> Folder:
    """The claims of a page or a folder; as what a user's file runs, reading ends after a time."""
    try:
        with time_limit(_READING):
            return read_folder(path)
    except TimeUp:
        raise InvalidInput(f"{path} takes more than {_READING:g} s to read: see what is long in it") from None


def of_page(path: Path) -> list[Conjecture]:
    """What a page says, as conjectures: "id", or "id.part" where a claim has several parts."""
    claims = pages_of(path).claims
    parts = [
        (f"{id}.{part.key}" if len(one.parts) > 1 else id, part) for id, one in claims.items() for part in one.parts
    ]
    found: list[Conjecture] = [stated(name, part.printed) for name, part in parts if part.printed.relation is not None]
    if not found:
        raise InvalidInput(f"{path} says no relation that could be decided: write a claim with a line 'say'")
    return found


def digest(path: Path) -> str:
    """A hash of a file: whether a claim is still the one that was refuted."""
    return hashlib.sha256(content_of(path, "give a Python file that holds a Conjecture")).hexdigest()[:16]
