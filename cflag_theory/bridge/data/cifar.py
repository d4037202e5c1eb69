"""CIFAR-10 and CIFAR-100 from their files: the python version and the binary version.

Source: A. Krizhevsky, https://www.cs.toronto.edu/~kriz/cifar.html. An image is 3072 bytes: the red, green and blue
planes, each 32 rows of 32.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cflag_theory.bridge.data.formats import Arrays, Ints, Pixels, as_folder, not_found, path_of
from cflag_theory.bridge.data.safe_arrays import MAX_BYTES, read_record
from cflag_theory.errors import DataError
from cflag_theory.reading import read_bytes, read_text

IMAGE_BYTES = 3 * 32 * 32
#: Train and test images, of both data sets.
PUBLISHED = (50000, 10000)
COARSE_CLASSES = 20


@dataclass(frozen=True)
class Layout:
    """One version of one of the two data sets: its files and how to read them."""

    #: "cifar10" or "cifar100", "python" or "binary".
    name: str
    version: str
    #: The folder that its archive unpacks to, and the archive.
    folder: str
    archive: str
    #: Files with train images, in order.
    train: tuple[str, ...]
    #: The files with the test images and with the names of the classes.
    test: str
    meta: str
    classes: int
    #: Of the python version's dictionaries.
    label_key: str = ""
    names_key: str = ""
    #: Before each image of the binary version; the last one is the label.
    label_bytes: int = 0

    def place(self, root: Path) -> Path | None:
        """Where under `root` the files lie, all or some."""
        files = (*self.train, self.test, self.meta)
        # A single file "train" or "test" may be anybody's, unless the folder's name says what it is.
        for folder, enough in ((root, 2), (root / self.folder, 1)):
            if sum((folder / file).is_file() for file in files) >= enough:
                return folder
        return None

    def read_images(self, path: Path) -> tuple[Pixels, Ints]:
        """The images (n, 32, 32, 3) and labels (n,) of one file; a `DataError` names what is wrong with it."""
        self._exists(path)
        rows, labels = self._read_binary(path) if self.label_bytes else self._read_python(path)
        for place, label in enumerate(labels):
            if not 0 <= label < self.classes:
                raise DataError(
                    f"{path} has label {label} at image {place} (counted from 0), but {self.name} has labels "
                    f"0 to {self.classes - 1}: unpack {self.archive} again"
                )
        images = np.ascontiguousarray(rows.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))
        return images, np.array(labels, dtype=np.int64)

    def read_names(self, path: Path) -> tuple[str, ...]:
        """The names of the classes; a `DataError` names what is wrong with the file."""
        self._exists(path)
        if self.label_bytes:
            try:
                names: Any = [line.strip() for line in read_text(path).splitlines() if line.strip()]
            except (OSError, UnicodeDecodeError) as error:
                raise DataError(f"{path} cannot be read ({error}): unpack {self.archive} again") from error
        else:
            names = read_record(path).get(self.names_key)
        if not isinstance(names, list) or not all(isinstance(name, (str, bytes)) for name in names):
            raise DataError(f"{path} has no list {self.names_key!r} of names: unpack {self.archive} again")
        if len(names) != self.classes:
            raise DataError(f"{path} names {len(names)} classes instead of {self.classes}: unpack {self.archive} again")
        return tuple(name.decode("utf-8", "replace") if isinstance(name, bytes) else name for name in names)

    def _exists(self, path: Path) -> None:
        if not path.is_file():
            raise DataError(f"{path} is missing: unpack {self.archive} again")

    def _read_binary(self, path: Path) -> tuple[Pixels, list[int]]:
        try:
            data = np.frombuffer(read_bytes(path, most=MAX_BYTES), dtype=np.uint8)
        except OSError as error:
            raise DataError(f"{path} cannot be read ({error.strerror}): fix its permissions") from error
        length = self.label_bytes + IMAGE_BYTES
        if data.size == 0 or data.size % length:
            raise DataError(
                f"{path} has {data.size} bytes, which are not whole records of {length}: it is cut short or of another "
                f"data set; unpack {self.archive} again"
            )
        rows = data.reshape(-1, length)
        if self.label_bytes == 2 and rows[:, 0].max() >= COARSE_CLASSES:
            raise DataError(
                f"{path} has the coarse label {rows[:, 0].max()}, but there are labels 0 to {COARSE_CLASSES - 1}: "
                f"unpack {self.archive} again"
            )
        return rows[:, self.label_bytes :], rows[:, self.label_bytes - 1].tolist()

    def _read_python(self, path: Path) -> tuple[Pixels, list[int]]:
        record = read_record(path)
        rows, labels = record.get("data"), record.get(self.label_key)
        if not isinstance(rows, np.ndarray) or rows.dtype != np.uint8 or rows.shape[1:] != (IMAGE_BYTES,):
            found = f"{rows.dtype} of shape {rows.shape}" if isinstance(rows, np.ndarray) else "none"
            raise DataError(
                f"{path} should have an array 'data' of uint8 of shape (n, {IMAGE_BYTES}), but has {found}: "
                f"unpack {self.archive} again"
            )
        if not isinstance(labels, list) or any(type(label) is not int for label in labels):
            raise DataError(f"{path} has no list {self.label_key!r} of integers: unpack {self.archive} again")
        if len(labels) != len(rows) or not labels:
            raise DataError(f"{path} has {len(rows)} images and {len(labels)} labels: unpack {self.archive} again")
        return rows, labels


TEN, HUNDRED = "cifar10", "cifar100"
BATCHES = tuple(f"data_batch_{number}" for number in range(1, 6))
#: Where both versions of a data set lie, the first that is listed here is read.
LAYOUTS = (
    Layout(
        *(TEN, "python", "cifar-10-batches-py", "cifar-10-python.tar.gz"),
        *(BATCHES, "test_batch", "batches.meta", 10),
        label_key="labels",
        names_key="label_names",
    ),
    Layout(
        *(TEN, "binary", "cifar-10-batches-bin", "cifar-10-binary.tar.gz"),
        *(tuple(f"{batch}.bin" for batch in BATCHES), "test_batch.bin", "batches.meta.txt", 10),
        label_bytes=1,
    ),
    Layout(
        *(HUNDRED, "python", "cifar-100-python", "cifar-100-python.tar.gz"),
        *(("train",), "test", "meta", 100),
        label_key="fine_labels",
        names_key="fine_label_names",
    ),
    Layout(
        *(HUNDRED, "binary", "cifar-100-binary", "cifar-100-binary.tar.gz"),
        *(("train.bin",), "test.bin", "fine_label_names.txt", 100),
        label_bytes=2,
    ),
)


def is_there(name: str, root: str | Path) -> bool:
    """Whether any image file of this data set lies in or under `root`."""
    return any(layout.place(path_of(root)) for layout in LAYOUTS if layout.name == name)


def read_cifar(name: str, root: str | Path) -> Arrays:
    """CIFAR-10 or CIFAR-100 from `root` or the folder in it that an archive unpacks to."""
    base = as_folder(root)
    layouts = [layout for layout in LAYOUTS if layout.name == name]
    for layout in layouts:
        folder = layout.place(base)
        if folder is not None:
            parts = [layout.read_images(folder / file) for file in (*layout.train, layout.test)]
            return Arrays(
                np.concatenate([images for images, _ in parts[:-1]]),
                np.concatenate([labels for _, labels in parts[:-1]]),
                *parts[-1],
                layout.read_names(folder / layout.meta),
            )
    raise not_found(
        name,
        base,
        " or ".join(layout.folder for layout in layouts),
        " or ".join(layout.train[0] for layout in layouts),
        [layout.archive for layout in layouts],
        "unpack the data set there, or download it (download=True, --download)",
    )
