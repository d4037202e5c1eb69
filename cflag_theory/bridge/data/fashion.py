"""Fashion-MNIST from its four idx files, packed with gzip or not.

Source: H. Xiao, K. Rasul and R. Vollgraf (2017), https://github.com/zalandoresearch/fashion-mnist. An idx file is a
magic number (two zero bytes, 8 for unsigned bytes, the number of dimensions), the dimensions as big-endian 32-bit
integers, and then the bytes.
"""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cflag_theory.bridge.data.formats import Arrays, Ints, Pixels, as_folder
from cflag_theory.bridge.data.safe_arrays import MAX_BYTES
from cflag_theory.errors import DataError
from cflag_theory.reading import read_bytes

NAME, FOLDER = "fashion-mnist", "FashionMNIST/raw"
TRAIN = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte")
TEST = ("t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
PUBLISHED = (60000, 10000)
CLASSES = ("T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot")
SIDE = 28
_AGAIN = "fetch the four files again"


def place(root: Path) -> Path | None:
    """Where under `root` the files lie, all or some."""
    for folder in (root, root / FOLDER, root / NAME, root / "raw"):
        if any(file(folder, name) for name in (*TRAIN, *TEST)):
            return folder
    return None


def read_fashion(root: str | Path) -> Arrays:
    """Fashion-MNIST from `root`, or the folder `FOLDER` in it."""
    base = as_folder(root)
    folder = place(base)
    if folder is None:
        raise DataError(
            f"{base} has no {NAME}: neither it nor its folder {FOLDER} has {TRAIN[0]}; put the four idx files there, "
            "packed (.gz) or not, or download them (download=True, --download)"
        )
    return Arrays(*read_split(folder, TRAIN), *read_split(folder, TEST), CLASSES)


def read_split(folder: Path, names: tuple[str, str]) -> tuple[Pixels, Ints]:
    """Images (n, 28, 28, 1) and labels (n,) of one pair of files; a `DataError` names what is wrong."""
    images, labels = (_read_idx(folder, name, dimensions) for name, dimensions in zip(names, (3, 1), strict=True))
    if images.shape[1:] != (SIDE, SIDE):
        raise DataError(f"{folder / names[0]} has images of {images.shape[1:]} instead of ({SIDE}, {SIDE}): {_AGAIN}")
    if len(images) != len(labels) or not len(labels):
        raise DataError(f"{folder / names[0]} has {len(images)} images, and there are {len(labels)} labels: {_AGAIN}")
    if labels.max() >= len(CLASSES):
        raise DataError(
            f"{folder / names[1]} has label {labels.max()}, but there are 0 to {len(CLASSES) - 1}: {_AGAIN}"
        )
    return images[..., None], labels.astype(np.int64)


def file(folder: Path, name: str) -> Path | None:
    """One of the four files, packed or not."""
    return next((path for path in (folder / name, folder / f"{name}.gz") if path.is_file()), None)


def _read_idx(folder: Path, name: str, dimensions: int) -> NDArray[Any]:
    path = file(folder, name)
    if path is None:
        raise DataError(f"{folder / name} is missing: put it there, packed (.gz) or not")
    try:
        raw = read_bytes(path, most=MAX_BYTES)
        data = gzip.decompress(raw) if path.suffix == ".gz" else raw
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path} cannot be read ({error}): {_AGAIN}") from error
    head = 4 + 4 * dimensions
    if len(data) < head or data[:4] != bytes([0, 0, 8, dimensions]):
        raise DataError(f"{path} is no idx file of bytes in {dimensions} dimensions: {_AGAIN}")
    shape = tuple(np.frombuffer(data, ">u4", dimensions, 4).tolist())
    if len(data) - head != int(np.prod(shape, dtype=object)):
        raise DataError(f"{path} says {shape} and has {len(data) - head} bytes: it is cut short; {_AGAIN}")
    return np.frombuffer(data, np.uint8, offset=head).reshape(shape)
