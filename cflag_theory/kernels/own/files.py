"""Plug-in files: FILE.py:name stands for what a Python file calls by that name."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from cflag_theory.errors import CflagError, InvalidInput, UnknownName
from cflag_theory.outside import python_files
from cflag_theory.outside.divided import divide, open_again, users_line
from cflag_theory.outside.processes import words_of

_loaded: dict[tuple[str, str], ModuleType] = {}


def is_plug_in(words: str) -> bool:
    """Whether the words have the form FILE.py:name."""
    return ".py:" in words


def path_of(words: str) -> Path:
    """The file of FILE.py:name."""
    return Path(words.rpartition(":")[0])


def within(folder: Path | str, words: str) -> str:
    """The words with their file in `folder`, unless its path is absolute."""
    return f"{Path(folder) / path_of(words)}:{words.rpartition(':')[2]}"


def load(words: str) -> Any:
    """What FILE.py:name stands for. The file is run as an import would run it, once for each text of it."""
    path, name = path_of(words), words.rpartition(":")[2]
    module = _module(path)
    if not hasattr(module, name):
        known = [one for one, value in vars(module).items() if not one.startswith("_") and _is_own(module, value)]
        raise UnknownName(f"{path} has no {name!r}: use one of {', '.join(known) or 'the names that you give it'}")
    return getattr(module, name)


def content(path: Path) -> str:
    """A hash of the file."""
    return hashlib.sha256(_bytes(path)).hexdigest()


def _is_own(module: ModuleType, value: Any) -> bool:
    """Whether the file made it, as far as one can see."""
    imported = isinstance(value, type | FunctionType) and value.__module__ != module.__name__
    return not (imported or isinstance(value, ModuleType))


def _module(path: Path) -> ModuleType:
    full, content = str(path.absolute()), _bytes(path)
    key = full, hashlib.sha256(content).hexdigest()
    if key in _loaded:
        return _loaded[key]
    divide(full)
    try:
        module = python_files.run(Path(full), content, f"own_{path.stem}_{key[1][:8]}")
    except (KeyboardInterrupt, MemoryError):
        raise
    except CflagError as error:
        line = users_line(error)
        raise type(error)(f"{line}: {error}" if line else str(error)) from error
    except BaseException as error:
        raise InvalidInput(f"{users_line(error) or path}: {words_of(error)}: fix the file") from error
    finally:
        open_again()
    _loaded[key] = module
    return module


def _bytes(path: Path) -> bytes:
    return python_files.content_of(path, "write FILE.py:name with a file that exists")
