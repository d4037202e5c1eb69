"""A disk that fails at the n-th write, fsync or rename, whatever is stored on it."""

from __future__ import annotations

import errno
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

from cflag_theory import files


class FailingDisk(files.Disk):
    """Counts what is asked of it, and fails once at the call number `fails`, as a full disk does."""

    def __init__(self, fails: int = -1) -> None:
        self.calls, self.fails = 0, fails

    def step(self) -> None:
        self.calls += 1
        if self.calls == self.fails:
            raise OSError(errno.ENOSPC, "No space left on device")

    def create(self, path):
        self.step()
        return io.BufferedWriter(_Raw(super().create(path), self), buffer_size=64)

    def sync(self, handle):
        self.step()

    def replace(self, draft, path):
        self.step()
        super().replace(draft, path)


class _Raw(io.RawIOBase):
    def __init__(self, file, disk: FailingDisk) -> None:
        self.file, self.disk = file, disk

    def write(self, data):
        self.disk.step()
        written = self.file.write(data)
        self.file.flush()
        return written

    def writable(self):
        return True

    def seekable(self):
        return True

    def seek(self, *place):
        return self.file.seek(*place)

    def tell(self):
        return self.file.tell()

    def fileno(self):
        return self.file.fileno()

    def close(self):
        self.file.close()
        super().close()


@contextmanager
def disk_of(fails: int = -1) -> Iterator[FailingDisk]:
    with patch.object(files, "disk", FailingDisk(fails)) as disk:
        yield disk


def every_failure(act: Callable[[], object], limit: int = 200) -> Iterator[tuple[int, Exception]]:
    """Do something with a disk that fails at its first call, its second and so on, until it succeeds.

    After each failure it yields the number of the call and what was raised.
    """
    for number in range(1, limit):
        with disk_of(number) as disk:
            try:
                act()
            except Exception as error:
                failure = error
            else:
                assert disk.calls < number, "an error of the disk was swallowed"
                return
        yield number, failure
    raise AssertionError(f"it does not end within {limit} calls")
