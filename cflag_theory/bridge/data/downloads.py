"""Data sets from the places that publish them, each file checked by its MD5 sum before anything is unpacked.

CIFAR's sums stand on its page (https://www.cs.toronto.edu/~kriz/cifar.html), those of Fashion-MNIST in its repository
(https://github.com/zalandoresearch/fashion-mnist). TinyImageNet's page prints none; the sum is the one that public
loaders of it agree on. A file is fetched beside its place, as NAME.part, from where an earlier call stopped.
"""

from __future__ import annotations

import hashlib
import shutil
import stat
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path, PurePosixPath
from typing import IO

from cflag_theory.bridge.data import cifar, fashion, tiny_imagenet
from cflag_theory.bridge.data.formats import path_of
from cflag_theory.errors import DataError
from cflag_theory.files import disk, growing, turn
from cflag_theory.reading import opened

#: Bytes of a file that is fetched, and of all that it unpacks to; the largest are 250 MB and 480 MB.
MOST, MOST_UNPACKED = 1 << 29, 1 << 31
CHUNK = 1 << 20
SECONDS = 60.0
LOCK = ".cflag-download"


@dataclass(frozen=True)
class Source:
    """A file to fetch: its name is the end of `url`, and its MD5 sum is known. `folder` is where it lies under the
    root; of an archive (`packed`), which goes when it is unpacked, the folder that it unpacks to.
    """

    url: str
    md5: str
    folder: str
    packed: bool = True

    @property
    def file(self) -> str:
        """Its name."""
        return self.url.rpartition("/")[2]


_TORONTO = "https://www.cs.toronto.edu/~kriz"
_ZALANDO = "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com"
#: By data set; all others need none.
SOURCES: dict[str, tuple[Source, ...]] = {
    cifar.TEN: (
        Source(f"{_TORONTO}/cifar-10-python.tar.gz", "c58f30108f718f92721af3b95e74349a", "cifar-10-batches-py"),
    ),
    cifar.HUNDRED: (
        Source(f"{_TORONTO}/cifar-100-python.tar.gz", "eb9058c3a382ffc7106e4002c42a8d85", "cifar-100-python"),
    ),
    fashion.NAME: tuple(
        Source(f"{_ZALANDO}/{name}.gz", md5, fashion.FOLDER, packed=False)
        for name, md5 in zip(
            (*fashion.TRAIN, *fashion.TEST),
            (
                "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
                "25c81989df183df01b3e8a0aad5dffbe",
                "bef4ecab320f06d8554ea6380940ec79",
                "bb300cfdad3c16e7a12a480ee83cd310",
            ),
            strict=True,
        )
    ),
    tiny_imagenet.NAME: (
        Source(
            f"http://cs231n.stanford.edu/{tiny_imagenet.ARCHIVE}",
            "90528d7ca1a48142e341f4ef8d21d0de",
            tiny_imagenet.FOLDER,
        ),
    ),
}


def download(name: str, root: str | Path) -> None:
    """Fetch a data set into `root`, which is made, and unpack it; what is there already is not fetched again.

    Several processes may ask for it at the same time: one fetches, the others wait.
    """
    base = path_of(root)
    for source in SOURCES[name]:
        try:
            base.mkdir(parents=True, exist_ok=True)
            with turn(base / LOCK):
                if source.packed:
                    if not (base / source.folder).exists():
                        archive = _fetched(source, base)
                        unpack(archive, base, source.folder)
                        archive.unlink()
                elif not _has(base / source.folder / source.file, source.md5):
                    (base / source.folder).mkdir(parents=True, exist_ok=True)
                    _fetched(source, base / source.folder)
        # A broken archive raises nearly anything of these.
        except (
            OSError,
            HTTPException,
            EOFError,
            ValueError,
            tarfile.TarError,
            zipfile.BadZipFile,
            zlib.error,
        ) as error:
            remedy = "unpack it there" if source.packed else f"put it into {base / source.folder}"
            raise DataError(
                f"{name} cannot be downloaded to {base} ({error}): give the same command again, or fetch {source.url} "
                f"where there is a network and {remedy}"
            ) from error


def _fetched(source: Source, folder: Path) -> Path:
    """The file in `folder`, whole and with its sum."""
    path, draft = folder / source.file, folder / f"{source.file}.part"
    if _has(path, source.md5):
        return path
    begun = draft.stat().st_size if draft.exists() else 0
    request = urllib.request.Request(source.url, headers={"Range": f"bytes={begun}-"} if begun else {})
    try:
        answer = urllib.request.urlopen(request, timeout=SECONDS)
    except urllib.error.HTTPError as error:
        # 416: the draft is as long as the file, or longer.
        if error.code != 416:
            raise
    else:
        with answer, growing(draft, anew=answer.status != 206) as file:
            copy(answer, file, MOST - file.tell())
    found = _sum(draft)
    if found != source.md5:
        draft.unlink()
        raise ValueError(f"{source.url} has the MD5 sum {found} instead of {source.md5}")
    draft.replace(path)
    return path


def copy(source: IO[bytes], target: IO[bytes], most: int) -> int:
    """All bytes of `source`, no more than `most`; how many they were."""
    done = 0
    while chunk := source.read(CHUNK):
        done += len(chunk)
        if done > most:
            raise ValueError(f"it is longer than {most} bytes")
        target.write(chunk)
    return done


def _has(path: Path, md5: str) -> bool:
    return path.is_file() and _sum(path) == md5


def _sum(path: Path) -> str:
    with opened(path) as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def unpack(archive: Path, root: Path, folder: str, *, most: int = MOST_UNPACKED) -> None:
    """Unpack a tar or zip archive whose files all lie in `folder` into `root`, where it appears when it is whole.

    Only plain files are written, in this folder alone, and `most` bytes together.
    """
    draft = Path(tempfile.mkdtemp(prefix=".cflag-", suffix=".unpacking", dir=root))
    try:
        left = most
        for name, content in _files(archive):
            parts = PurePosixPath(name).parts
            if parts[0] != folder or any(part in ("..", "/") or "\\" in part or ":" in part for part in parts):
                raise ValueError(f"{archive} has the file {name!r}, which is not in the folder {folder}")
            target = draft.joinpath(*parts)
            target.parent.mkdir(parents=True, exist_ok=True)
            with disk.create(target) as file:
                left -= copy(content, file, left)
        (draft / folder).replace(root / folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _files(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """The files of an archive by name, each to be read before the next; folders are left out."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as packed:
            for entry in packed.infolist():
                if stat.S_ISLNK(entry.external_attr >> 16):
                    raise ValueError(f"{archive} has a link, {entry.filename!r}")
                if not entry.is_dir():
                    with packed.open(entry) as content:
                        yield entry.filename, content
        return
    with tarfile.open(archive, "r:gz") as tape:
        for member in tape:
            content_of = tape.extractfile(member) if member.isfile() else None
            if content_of is not None:
                yield member.name, content_of
            elif not member.isdir():
                raise ValueError(f"{archive} has {member.name!r}, which is no plain file")
