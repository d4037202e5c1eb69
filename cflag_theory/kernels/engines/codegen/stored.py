"""Compiled loops on disk: a folder that nobody else can write to, and files that are checked before they are loaded.

Numba's cache files are pickles, which can do anything when they are loaded, and machine code. So the folder must be the
user's own, and each file ends in a checksum. Whatever cannot be loaded is set aside and compiled again.
"""

from __future__ import annotations

import atexit
import hashlib
import logging
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, wraps
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from numba.core.caching import FunctionCache, IndexDataCacheFile

from cflag_theory.files import private_folder, take_turn, whole

# Without a handler of the user's own, Python writes warnings as plain lines to standard error.
_LOG = logging.getLogger("cflag_theory")
_DIGEST = hashlib.sha256().digest_size
_DAMAGED = ".damaged"
#: The folder of a user who has none, as it is spelled then.
NO_HOME = "~"


class _Files(IndexDataCacheFile):
    """Numba's files with a checksum at the end, which its reader leaves unread; `path` is what was read last."""

    path = ""

    def _load_index(self) -> Any:
        self.path = self._index_path
        if os.path.lexists(self.path):
            _require_whole(self.path)
        return super()._load_index()

    def _load_data(self, name: str) -> Any:
        self.path = self._data_path(name)
        _require_whole(self.path)
        return super()._load_data(name)

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[BinaryIO]:
        content = BytesIO()
        yield content
        with whole(Path(filepath), remedy="it is compiled again next time") as file:
            file.write(content.getvalue() + hashlib.sha256(content.getvalue()).digest())


def _require_whole(path: str) -> None:
    content = Path(path).read_bytes()
    if hashlib.sha256(content[:-_DIGEST]).digest() != content[-_DIGEST:]:
        raise ValueError("its checksum is wrong")


class StoredLoop(FunctionCache):
    """Numba's cache of one loop, which never keeps the loop from being compiled."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        plain = self._cache_file
        self._cache_file: Any = _Files(plain._cache_path, Path(plain._index_name).stem, plain._source_stamp)
        self._turn: int | None = None

    def is_kept(self) -> bool:
        """Whether machine code of the loop is on disk."""
        return os.path.exists(self._cache_file._index_path)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code, or None where there is none that can be used: then this process compiles.

        Others that want the same loop wait for it meanwhile, so that it is compiled once.
        """
        found = self._load(sig, target_context)
        if found is None:
            self._end_turn()
            self._turn, waited = take_turn(self._cache_file._index_path + ".lock")
            found = self._load(sig, target_context) if waited else None
        if found is not None:
            self._end_turn()
        return found

    def in_turn(self, compile: Callable[..., Any]) -> Callable[..., Any]:
        """To compile, and to let others have their turn however that ends: an interrupt must not keep them waiting."""

        @wraps(compile)
        def compiled(*args: Any, **kwargs: Any) -> Any:
            try:
                return compile(*args, **kwargs)
            finally:
                self._end_turn()

        return compiled

    def _end_turn(self) -> None:
        if self._turn is not None:
            os.close(self._turn)
            self._turn = None

    def _load(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        # Damaged files raise anything; so does machine code of another library's version.
        except Exception as error:
            path = self._cache_file.path
            with suppress(OSError):
                os.replace(path, path + _DAMAGED)
            why = getattr(error, "strerror", None) or error or type(error).__name__
            _LOG.warning("cflag: the compiled loop in %s cannot be used (%s): it is compiled again", path, why)
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the machine code, if there is room for it."""
        try:
            super().save_overload(sig, data)
        except Exception as error:
            _LOG.warning("cflag: a compiled loop cannot be kept (%s)", error)
        finally:
            self._end_turn()


@cache
def safe_folder(root: str, name: str) -> Path | None:
    """The folder `name` below a root, made for the user alone; a temporary one, gone at exit, if that is not safe.

    None where not even that can be had. What a temporary folder costs is said in one line.
    """
    folder = Path(root).absolute() / name
    homeless = root.startswith(NO_HOME)
    reason = "there is no home folder" if homeless else private_folder(folder)
    if reason is None:
        return folder
    _LOG.warning(
        "cflag: compiled loops cannot be kept%s (%s); they are compiled for this run alone: fix that, or set "
        "NUMBA_CACHE_DIR to a folder of your own",
        "" if homeless else f" in {folder}",
        reason,
    )
    try:
        private = Path(tempfile.mkdtemp(prefix="cflag-compiled-"))
        (private / name).mkdir(0o700)
    except OSError:
        return None
    atexit.register(_remove, private, os.getpid())
    # For the processes that this one starts.
    os.environ["NUMBA_CACHE_DIR"] = str(private)
    return private / name


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
