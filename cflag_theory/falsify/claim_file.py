"""A user's file of claims: run once, for its module-level conjectures; errors are reported with their line."""

from __future__ import annotations

import hashlib
import linecache
import sys
from pathlib import Path
from types import ModuleType

from cflag_theory.claims.pages.folder import Folder, read_folder
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import Conjecture, stated
from cflag_theory.falsify.search.guard import Limit, TimeUp, guarded, time_limit
from cflag_theory.files import as_file_name
from cflag_theory.reading import read_text

#: Seconds that a page may take to read.
_READING = 60.0
#: Seconds that a file of claims may always take: `seconds` limits what is done with them.
_READ = 0.5


def run_file(path: Path, *, seconds: float, what: str = "conjectures", limit: Limit = time_limit) -> ModuleType:
    """A user's Python file as a module: run as an import would run it, with its own folder first on the path."""
    module = ModuleType(f"claims_of_{path.stem}")
    module.__file__ = str(path)
    sys.path.insert(0, str(path.absolute().parent))
    linecache.checkcache(str(path))
    try:
        code = compile(_text(path), str(path), "exec")
        with guarded(seconds, (str(path),), "the file", limit=limit):
            exec(code, module.__dict__)
    except SyntaxError as error:
        raise InvalidInput(f"{path}, line {error.lineno}: {error.msg}: fix the file") from None
    except ValueError as error:
        if isinstance(error, InvalidInput):
            raise
        raise InvalidInput(f"{path} is not a Python file ({error}): give a file of {what}") from None
    finally:
        sys.path.remove(str(path.absolute().parent))
    return module


def read_claims(file: Path | str, *, seconds: float) -> list[Conjecture]:
    """The conjectures of a Python file, alone or in lists, or the claims of a page, in the order of the file."""
    path = Path(file)
    if path.suffix == ".page":
        return of_page(path)
    module = run_file(path, seconds=max(seconds, _READ))
    found: list[Conjecture] = []
    for value in vars(module).values():
        for one in value if isinstance(value, list | tuple) else (value,):
            if isinstance(one, Conjecture) and one not in found:
                found.append(one)
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


def _text(path: Path) -> str:
    try:
        return read_text(path, most=1 << 24)
    except FileNotFoundError:
        raise InvalidInput(f"there is no file {str(path)!r}: give a Python file that holds a Conjecture") from None
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise InvalidInput(f"the file {str(path)!r} cannot be read ({why}): give a Python file") from None


def digest(path: Path) -> str:
    """A hash of a file: whether a claim is still the one that was refuted."""
    return hashlib.sha256(_text(path).encode()).hexdigest()[:16]
