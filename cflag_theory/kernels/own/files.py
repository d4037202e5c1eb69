"""Plug-in files: FILE.py:name stands for what a Python file calls by that name."""

from __future__ import annotations

import hashlib
import linecache
import sys
import traceback
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from cflag_theory.errors import CflagError, InvalidInput, UnknownName
from cflag_theory.reading import read_bytes

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
    full = str(path.absolute())
    key = full, content(path)
    if key in _loaded:
        return _loaded[key]
    module = ModuleType(f"own_{path.stem}_{key[1][:8]}")
    module.__file__ = full
    linecache.checkcache(full)
    # Dataclasses look for the module of their class there.
    sys.modules[module.__name__] = module
    sys.path.insert(0, str(path.absolute().parent))
    try:
        exec(compile(_bytes(path), full, "exec"), module.__dict__)
    except SyntaxError as error:
        raise InvalidInput(f"{path}, line {error.lineno}: {error.msg}: fix the file") from None
    except CflagError as error:
        raise type(error)(f"{path}, line {_line(error, full)}: {error}") from error
    except Exception as error:
        raise InvalidInput(
            f"{path}, line {_line(error, full)}: {type(error).__name__}: {error}: fix the file"
        ) from error
    finally:
        sys.path.remove(str(path.absolute().parent))
    _loaded[key] = module
    return module


def _line(error: Exception, file: str) -> int:
    lines = [at.lineno or 0 for at in traceback.extract_tb(error.__traceback__) if at.filename == file]
    return lines[-1] if lines else 0


def _bytes(path: Path) -> bytes:
    try:
        return read_bytes(path, most=1 << 24)
    except FileNotFoundError:
        raise InvalidInput(f"there is no file {str(path)!r}: write FILE.py:name with a file that exists") from None
    except OSError as error:
        raise InvalidInput(f"the file {str(path)!r} cannot be read ({error.strerror}): check the path") from error
