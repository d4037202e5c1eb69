"""Arrays from untrusted npz files: sizes are read first, nothing is unpickled, and any damage is one error."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.lib import format as npy

from cflag_theory.errors import CflagError
from cflag_theory.kernels.numbers import Array
from cflag_theory.reading import opened
from cflag_theory.sizes import require_room

#: More arrays than any of our files has.
MOST_ARRAYS = 10_000
#: deflate makes a byte of at most so many.
_MOST_FROM_A_BYTE = 1033
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


class Unreadable(ValueError):
    """The file is not an npz archive of plain arrays, or damaged; the message says how."""


def read_arrays(path: str | PathLike[str], names: Sequence[str] | None = None, *, copies: int = 3) -> dict[str, Array]:
    """Arrays of an npz file, all of them or those of these names.

    Parameters
    ----------
    path : path
    names : sequence of str, optional
    copies : int
        How often the caller needs the arrays in memory, as they are or as floats.
    """
    with opened(path) as stream:
        try:
            if stream.read(6) == npy.MAGIC_PREFIX:
                raise Unreadable("it holds a single array and no names")
            with zipfile.ZipFile(stream) as archive:
                members = _members(archive)
                for name in names or ():
                    if name not in members:
                        raise Unreadable(f"no array {name!r}: it has {', '.join(sorted(members)[:20]) or 'none'}")
                chosen = {name: members[name] for name in (members if names is None else names)}
                needed = sum(_size(archive, member) for member in chosen.values())
                require_room(copies * needed, f"the file {str(path)!r}", "use a smaller one, or a machine with more")
                return {name: _array(archive, member) for name, member in chosen.items()}
        except (CflagError, Unreadable):
            raise
        # On damaged bytes zipfile, zlib, numpy and what parses its headers raise errors of many kinds.
        except Exception as error:
            raise Unreadable(str(error) or type(error).__name__) from error


def _members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    found = archive.infolist()
    if len(found) > MOST_ARRAYS:
        raise Unreadable(f"{len(found)} arrays are too many for such a file")
    return {member.filename.removesuffix(".npy"): member for member in found}


def _size(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> int:
    """Bytes of an array, by its header, which must agree with the directory of the archive."""
    if member.file_size > _MOST_FROM_A_BYTE * (member.compress_size + 1):
        raise Unreadable(f"{member.filename!r} cannot hold {member.file_size} bytes")
    with archive.open(member) as stream:
        version = npy.read_magic(stream)
        if version not in _HEADERS:
            raise Unreadable(f"{member.filename!r} is of the unknown version {version}")
        shape, _, dtype = _HEADERS[version](stream)
        if dtype.hasobject or dtype.names is not None:
            raise Unreadable(f"{member.filename!r} holds objects: store plain numbers")
        size = math.prod(shape) * dtype.itemsize
        if size != member.file_size - stream.tell():
            raise Unreadable(f"{member.filename!r} has {member.file_size} bytes for an array of shape {shape}")
        # As floats, numbers of a byte take eight.
        return max(size, 8 * math.prod(shape))


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Any:
    with archive.open(member) as stream:
        found = npy.read_array(stream, allow_pickle=False)
        # The checksum is compared when the end is reached.
        stream.read(1)
        return np.asarray(found)
