"""Shared by the readers of image files: the arrays that they return, and messages about folders."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cflag_theory.errors import DataError

Pixels = NDArray[np.uint8]
Ints = NDArray[np.int64]


class Arrays(NamedTuple):
    """A data set as it was read: (n, H, W, 3) uint8 images, (n,) int64 labels, and the names of the classes."""

    train_images: Pixels
    train_labels: Ints
    test_images: Pixels
    test_labels: Ints
    classes: tuple[str, ...]


def path_of(root: str | Path) -> Path:
    """`root` with the home folder for ~, if there is one; Path.expanduser raises RuntimeError if there is none."""
    return Path(os.path.expanduser(root))


def as_folder(root: str | Path) -> Path:
    """`root` as the path of a folder that exists."""
    folder = path_of(root)
    if not os.path.isdir(folder):
        raise DataError(f"{folder} is not a folder: name the folder that the data lie in")
    return folder


def unpacking(archive: Path) -> str:
    """The sentence on an archive that lies where its content should."""
    command = f"unzip {archive} -d" if archive.suffix == ".zip" else f"tar -xzf {archive} -C"
    return f"{archive} is packed: unpack it ({command} {archive.parent})"


def not_found(name: str, root: Path, folder: str, files: str, archives: list[str], remedy: str) -> DataError:
    """The error for a folder without this data set; an archive of it that lies there is named first."""
    packed = [root / archive for archive in archives if (root / archive).is_file()]
    if packed:
        return DataError(unpacking(packed[0]))
    return DataError(f"{root} has no {name}: neither it nor its folder {folder} has {files}; {remedy}")


def differences(train: int, test: int, published: tuple[int, int]) -> tuple[str, ...]:
    """In what the numbers of images differ from those of the published data set."""
    return tuple(
        f"{found} {split} images, where the published data set has {wanted}"
        for split, found, wanted in (("train", train, published[0]), ("test", test, published[1]))
        if found != wanted
    )
