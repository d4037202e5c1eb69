"""TinyImageNet-200 from its folders: 64 x 64 JPEGs, 500 train and 50 test images of each of 200 classes.

The labels of `test/` were never published, so `val/` is the test set, as is usual. Classes are in the order of their
sorted WordNet ids. Some images are grey: all become RGB.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cflag_theory.bridge.data.formats import Arrays, Pixels, as_folder, not_found
from cflag_theory.errors import DataError, MissingExtra
from cflag_theory.reading import opened, read_text

NAME = "tinyimagenet"
FOLDER, ARCHIVE = "tiny-imagenet-200", "tiny-imagenet-200.zip"
#: Train and test images.
PUBLISHED = (100_000, 10_000)
SIDE = 64
#: Images that one thread decodes before it reports.
BLOCK = 200
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Listing:
    """The files of the data set and their labels, before any image is opened."""

    #: Sorted WordNet ids and the first word for each.
    ids: tuple[str, ...]
    classes: tuple[str, ...]
    train: tuple[tuple[Path, int], ...]
    test: tuple[tuple[Path, int], ...]
    #: One sentence for each thing that is missing or makes no sense.
    faults: tuple[str, ...]


def place(root: Path) -> Path | None:
    """Where under `root` the list of classes or the train images lie."""
    for folder in (root, root / FOLDER):
        if (folder / "wnids.txt").is_file() or ((folder / "train").is_dir() and (folder / "val").is_dir()):
            return folder
    return None


def read_tiny_imagenet(root: str | Path, *, progress: Progress | None = None) -> Arrays:
    """TinyImageNet-200 from `root` or its folder `tiny-imagenet-200`; `progress` gets the numbers of images decoded and
    of all.
    """
    base = as_folder(root)
    folder = place(base)
    if folder is None:
        remedy = "unpack the data set there, or download it (download=True, --download)"
        raise not_found(NAME, base, FOLDER, "wnids.txt", [ARCHIVE], remedy)
    listing = list_files(folder)
    if listing.faults:
        raise DataError(f"{listing.faults[0]}; unpack {ARCHIVE} again")
    files = [*listing.train, *listing.test]
    images = np.empty((len(files), SIDE, SIDE, 3), dtype=np.uint8)
    for index, found in decode([path for path, _ in files], progress):
        if isinstance(found, str):
            raise DataError(f"{found}; unpack {ARCHIVE} again")
        images[index] = found
    labels = np.array([label for _, label in files], dtype=np.int64)
    cut = len(listing.train)
    return Arrays(images[:cut], labels[:cut], images[cut:], labels[cut:], listing.classes)


def list_files(folder: Path) -> Listing:
    """What the folder says that it has; only a missing or empty list of classes is an error at once."""
    ids = tuple(sorted(set(_lines(folder / "wnids.txt"))))
    if not ids:
        raise DataError(f"{folder / 'wnids.txt'} names no classes: unpack {ARCHIVE} again")
    faults = [f"{folder / 'wnids.txt'} names the class {name[:60]!r}" for name in ids if not name.isalnum()]
    if faults:
        raise DataError(f"{faults[0]}, and classes have letters and digits: unpack {ARCHIVE} again")
    try:
        words = dict(line.split("\t", 1) for line in _lines(folder / "words.txt") if "\t" in line)
    except DataError as error:
        words = {}
        faults.append(str(error))
    train = []
    for label, name in enumerate(ids):
        paths = sorted((folder / "train" / name / "images").glob("*.JPEG"))
        if not paths:
            faults.append(f"{folder / 'train' / name / 'images'} has no images")
        train += [(path, label) for path in paths]
    test, bad = _annotations(folder, {name: label for label, name in enumerate(ids)})
    classes = tuple(words.get(name, name).split(",")[0] for name in ids)
    return Listing(ids, classes, tuple(train), tuple(test), (*faults, *bad))


def _annotations(folder: Path, labels: dict[str, int]) -> tuple[list[tuple[Path, int]], list[str]]:
    path = folder / "val" / "val_annotations.txt"
    try:
        lines = _lines(path)
    except DataError as error:
        return [], [str(error)]
    found: dict[str, int] = {}
    faults = []
    for number, line in enumerate(lines, 1):
        name, label = (*line.split("\t"), "", "")[:2]
        if label not in labels or Path(name).name != name:
            faults.append(f"line {number} of {path} is {line[:60]!r}: it needs an image and one of the classes")
        else:
            found[name] = labels[label]
    images = folder / "val" / "images"
    unnamed = sorted({each.name for each in images.glob("*.JPEG")} - set(found))
    if unnamed:
        faults.append(f"{path} has no line for {len(unnamed)} images of {images}, such as {unnamed[0]}")
    if not found:
        faults.append(f"{path} names no images")
    return [(images / name, label) for name, label in sorted(found.items())], faults


def decode(paths: list[Path], progress: Progress | None = None) -> Iterator[tuple[int, Pixels | str]]:
    """Each image by its place in `paths`, or one sentence on what is wrong with it; decoded in threads, in order."""
    pillow = _pillow()
    threads = min(16, os.cpu_count() or 1)
    starts = list(range(0, len(paths), BLOCK))
    pool = ThreadPoolExecutor(threads)
    waiting: list[Future[list[Pixels | str]]] = []
    try:
        for number, start in enumerate(starts):
            # Two blocks a thread are under way, so that decoded images do not pile up.
            while len(waiting) < 2 * threads and number + len(waiting) < len(starts):
                ahead = starts[number + len(waiting)]
                waiting.append(pool.submit(_decode_block, pillow, paths[ahead : ahead + BLOCK]))
            block = waiting.pop(0).result()
            yield from enumerate(block, start)
            if progress is not None:
                progress(start + len(block), len(paths))
    finally:
        pool.shutdown(cancel_futures=True)


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise MissingExtra("JPEGs need Pillow, which is not installed: pip install 'cflag-theory[torch]'") from error
    return Image


def _decode_block(pillow: Any, paths: list[Path]) -> list[Pixels | str]:
    return [_decode(pillow, path) for path in paths]


def _decode(pillow: Any, path: Path) -> Pixels | str:
    try:
        # Only JPEG, whatever the file's name: Pillow would choose among many readers.
        with opened(path) as file, pillow.open(file, formats=("JPEG",)) as image:
            if image.size != (SIDE, SIDE):
                return f"{path} is {image.size[0]} x {image.size[1]} pixels instead of {SIDE} x {SIDE}"
            return np.asarray(image.convert("RGB"))
    except FileNotFoundError:
        return f"{path} is missing"
    except (OSError, SyntaxError, ValueError, pillow.DecompressionBombError) as error:
        return f"{path} is damaged ({error})"


def _lines(path: Path) -> list[str]:
    try:
        lines = read_text(path).splitlines()
    except FileNotFoundError as error:
        raise DataError(f"{path} is missing: unpack {ARCHIVE} again") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read ({error}): unpack {ARCHIVE} again") from error
    return [line.strip() for line in lines if line.strip()]
