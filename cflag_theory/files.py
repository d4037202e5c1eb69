"""Where results are written: folders of our own with one writer, files whole or not at all.

Nothing follows a link that others may have laid, and only regular files are replaced. Drafts have names that nobody can
guess, and hold a lock while their writer lives, so that those of a process that was killed can be told and cleared.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from cflag_theory.errors import OutputError

#: Marks a folder whose files the commands may replace; also what `alone_in` locks.
MARKER = ".cflag-theory"
_MARK = b"Results of cflag-theory: its commands may replace files of theirs in this folder.\n"
#: Folders of sweeps and bridge runs tell by these files whose they are, too.
_HEADERS = ("sweep.json", "run.json")
_DRAFTS = ".cflag-*.draft"
_ELSEWHERE = "choose another with --out"
_FIRST = {
    errno.ENOSPC: "free some space or ",
    errno.EDQUOT: "free some of your quota or ",
    errno.EFBIG: "raise the limit on the sizes of files (ulimit -f) or ",
    errno.EACCES: "fix its permissions or ",
    errno.EPERM: "fix its permissions or ",
}
_NEW = "choose a new or an empty one with --out"
_SAFE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
# Not waiting for the other end of a pipe.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | _SAFE


def private_folder(folder: Path) -> str | None:
    """Make a folder for the user alone; why what is read back from it cannot be believed, or None if it can."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            # Whatever the umask, which only takes rights away.
            os.mkdir(folder, 0o700)
        reason = _unsafe(folder)
        if reason is None:
            folder.chmod(0o700)
            with tempfile.TemporaryFile(dir=folder):
                pass
        return reason
    except OSError as error:
        return error.strerror or str(error)


def _unsafe(folder: Path) -> str | None:
    """Who else could put files into a folder, or another folder in its place."""
    # Not Path.resolve, which raises RuntimeError on links that lead to themselves.
    resolved = Path(os.path.realpath(folder))
    # Numba keeps the loops of each folder of sources in a folder of their own.
    own = [resolved, *(path for path in resolved.iterdir() if path.is_dir())]
    reasons = (not_private(path, path.lstat(), own=path in own) for path in (*own, *resolved.parents))
    return next((reason for reason in reasons if reason), None)


def not_private(path: Path, found: os.stat_result, *, own: bool = False) -> str | None:
    """Who else may write to a file or folder; `own` are those that root must not have made, and no sticky bit saves."""
    if not hasattr(os, "geteuid"):
        return None
    if found.st_uid not in ((os.geteuid(),) if own else (os.geteuid(), 0)):
        return f"{path} belongs to another user"
    # Where the sticky bit is set, as in /tmp, nobody can replace what is not theirs.
    sticky = stat.S_ISDIR(found.st_mode) and found.st_mode & stat.S_ISVTX and not own
    return f"others may write to {path}" if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not sticky else None


class Disk:
    """What writing asks of the system; tests put one in its place that fails at a chosen call."""

    def create(self, path: Path) -> BinaryIO:
        """A new file, never one that is there."""
        return os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | _SAFE, 0o666), "wb")

    def sync(self, handle: int) -> None:
        """Wait until a file or folder is on the disk."""
        os.fsync(handle)

    def replace(self, draft: Path, path: Path) -> None:
        """Put a file in its place."""
        os.replace(draft, path)


disk = Disk()
#: Markers that `alone_in` has locked and may lock again, by device and inode.
_taken: set[tuple[int, int]] = set()


def check_writable(folder: Path | str, *, remedy: str = _ELSEWHERE) -> Path:
    """Return the folder as an absolute path, made if it does not exist."""
    try:
        path = Path(folder).absolute()
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except (OSError, ValueError) as error:
        raise _cannot(f"to the folder {str(folder)!r}", error, remedy) from error
    return path


def check_file_writable(path: Path | str, *, begins: bytes = b"") -> Path:
    """Return the absolute path of a file that will be written; its folder is made."""
    target = check_writable(Path(path).parent) / Path(path).name
    try:
        _require_replaceable(target)
    except OutputError:
        raise
    except OSError as error:
        raise _cannot(f"{str(path)!r}", error) from error
    if target.exists() and _beginning(target, len(begins)) != begins:
        raise OutputError(f"the file {str(path)!r} exists and is not of this kind: {_ELSEWHERE}")
    _clear_drafts(target.parent)
    return target


def own_folder(folder: Path | str) -> Path:
    """Return a folder for results as an absolute path, made and marked as ours; drafts of killed processes go."""
    path = check_writable(folder)
    try:
        # One listing: another command may mark the folder meanwhile.
        names = os.listdir(path)
        if names and MARKER not in names and not any(_is_header(path / name) for name in _HEADERS):
            shown = ", ".join(sorted(names)[:3]) + (", ..." if len(names) > 3 else "")
            raise OutputError(f"the folder {str(folder)!r} holds files that cflag did not write ({shown}): {_NEW}")
        os.close(_open_marker(path))
    except OutputError:
        raise
    except OSError as error:
        raise _cannot(f"to the folder {str(folder)!r}", error) from error
    _clear_drafts(path)
    return path


@contextmanager
def whole(path: Path, *, remedy: str = _ELSEWHERE) -> Iterator[BinaryIO]:
    """A file that takes its place when all of it is on the disk, even if the machine stops; a draft until then.

    Parameters
    ----------
    path : Path
    remedy : str
        How a message ends that says why it cannot be written.
    """
    draft = None
    try:
        _require_replaceable(path, remedy)
        draft, file = _draft(path.parent)
        with file:
            yield file
            file.flush()
            disk.sync(file.fileno())
        disk.replace(draft, path)
        _sync_folder(path.parent)
    except OutputError:
        raise
    except OSError as error:
        raise _cannot(f"{str(path)!r}", error, remedy) from error
    finally:
        if draft is not None:
            with suppress(OSError):
                draft.unlink(missing_ok=True)


def growing(path: Path, *, anew: bool = False) -> BinaryIO:
    """A plain file to add to, at its end or from nothing, for what is of use before it is whole. It follows no link."""
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if anew else os.O_APPEND) | _SAFE
    return os.fdopen(os.open(path, flags, 0o666), "ab")


def write_text(path: Path, text: str, *, remedy: str = _ELSEWHERE) -> None:
    """Write a file whole or not at all; `remedy` as for `whole`."""
    with whole(path, remedy=remedy) as file:
        # Names of files may hold bytes that are no text.
        file.write(text.encode(errors="backslashreplace"))


@contextmanager
def whole_set(folder: Path, *, last: str) -> Iterator[Path]:
    """A draft folder whose files move into `folder` when all are made; `last` moves last, as it refers to the others.

    Each file is written with `whole` or `write_text`, so that it is on the disk before it moves.
    """
    draft = None
    handle = -1
    try:
        draft = Path(tempfile.mkdtemp(prefix=".cflag-", suffix=".draft", dir=folder))
        handle = os.open(draft, os.O_RDONLY)
        _lock(handle)
        yield draft
        files = sorted(draft.iterdir(), key=lambda path: path.name == last)
        for file in files:
            _require_replaceable(folder / file.name)
        for file in files:
            if file.name == last:
                _sync_folder(folder)
            disk.replace(file, folder / file.name)
        _sync_folder(folder)
    except OutputError:
        raise
    except OSError as error:
        raise _cannot(f"to {str(folder)!r}", error) from error
    finally:
        if draft is not None:
            shutil.rmtree(draft, ignore_errors=True)
        if handle >= 0:
            os.close(handle)


@contextmanager
def alone_in(folder: Path, what: str, *, again: bool = False) -> Iterator[None]:
    """Make a folder of our own and lock it: no other process that locks it may write to it meanwhile.

    The lock of a process that was killed is released.

    Parameters
    ----------
    folder : Path
    what : str
        What is written there, such as "sweep", for messages.
    again : bool
        Whether this process may take the folder again meanwhile, as a command does for the studies that it runs.
    """
    path = own_folder(folder)
    try:
        handle = _open_marker(path)
        place = os.fstat(handle)
    except OutputError:
        raise
    except OSError as error:
        raise _cannot(f"to {folder}", error) from error
    marker = (place.st_dev, place.st_ino)
    if marker in _taken:
        os.close(handle)
        yield
        return
    try:
        # A system without locks: two runs in one folder then do the work twice, with the same results.
        if _lock(handle) is False:
            raise OutputError(f"another {what} is writing to {folder}: wait for it, or choose another with --out")
        if again:
            _taken.add(marker)
        yield
    finally:
        _taken.discard(marker)
        os.close(handle)


@contextmanager
def turn(path: Path | str, *, wait: bool = True) -> Iterator[bool]:
    """Within, no other process holds the lock of this file; False if one does and `wait` is False."""
    handle, held = take_turn(path, wait=wait)
    try:
        yield wait or not held
    finally:
        if handle is not None:
            os.close(handle)


def take_turn(path: Path | str, *, wait: bool = True) -> tuple[int | None, bool]:
    """Wait until no other process holds the lock of this file: a handle that holds it until it is closed.

    And whether another process held it. The handle is None where there are no locks or the file cannot be made, and
    without `wait` where another process holds it.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError:
        return None, False
    waited = False
    try:
        while (held := _lock(handle)) is False:
            waited = True
            if not wait:
                break
            time.sleep(0.05)
    except BaseException:
        os.close(handle)
        raise
    if not held:
        os.close(handle)
        return None, waited
    return handle, waited


def as_file_name(words: str) -> str:
    """A title as part of a file's name."""
    return re.sub(r"[^0-9A-Za-z]+", "_", words).strip("_")[:100]


def first_remedy(error: Exception) -> str:
    """What may be done first, "... or ", where the system says why it does not write."""
    return _FIRST.get(getattr(error, "errno", None) or 0, "")


def _cannot(write: str, error: Exception, remedy: str = _ELSEWHERE) -> OutputError:
    reason = getattr(error, "strerror", None) or error
    return OutputError(f"cannot write {write} ({reason}): {first_remedy(error)}{remedy}")


def _require_replaceable(path: Path, remedy: str = _ELSEWHERE) -> None:
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    except ValueError as error:
        raise OutputError(f"cannot write {str(path)!r} ({error}): {remedy}") from error
    if not stat.S_ISREG(mode):
        kind = "a link" if stat.S_ISLNK(mode) else "a folder" if stat.S_ISDIR(mode) else "a device or the like"
        raise OutputError(f"cannot write {str(path)!r}, which is {kind} and not a plain file: {remedy}")


def _is_header(path: Path) -> bool:
    return b'"cflag-theory ' in _beginning(path, 100)


def _beginning(path: Path, count: int) -> bytes:
    try:
        with open(os.open(path, _READ), "rb") as file:
            return file.read(count)
    except OSError:
        return b""


def _open_marker(folder: Path) -> int:
    """The marker, open for reading; made, but never emptied or changed."""
    path = folder / MARKER
    _require_replaceable(path)
    try:
        with disk.create(path) as made:
            made.write(_MARK)
    except FileExistsError:
        pass
    return os.open(path, _READ)


def _lock(handle: int) -> bool | None:
    """Lock a file or folder until it is closed; False if another process holds it, None where there are no locks."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True


def _draft(folder: Path) -> tuple[Path, BinaryIO]:
    while True:
        path = folder / f".cflag-{secrets.token_hex(8)}.draft"
        file = disk.create(path)
        # Before the lock, another process may have taken it for a draft of a killed one.
        if _lock(file.fileno()) is not False and path.exists():
            return path, file
        file.close()


def _clear_drafts(folder: Path) -> None:
    """Remove the drafts whose writers are gone."""
    for path in folder.glob(_DRAFTS):
        with suppress(OSError):
            handle = os.open(path, _READ)
            try:
                if _lock(handle):
                    shutil.rmtree(path) if stat.S_ISDIR(os.fstat(handle).st_mode) else path.unlink()
            finally:
                os.close(handle)


def _sync_folder(folder: Path) -> None:
    """A renamed file is found after a power cut only if its folder is on the disk."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        disk.sync(handle)
    finally:
        os.close(handle)
