"""Images with labels, by name: digits of scikit-learn, Fashion-MNIST, CIFAR-10, CIFAR-100, TinyImageNet-200."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from cflag_theory.bridge.data import cifar, fashion, tiny_imagenet
from cflag_theory.bridge.data.downloads import download as fetch
from cflag_theory.bridge.data.formats import Ints, Pixels, differences, path_of
from cflag_theory.bridge.data.tiny_imagenet import Progress
from cflag_theory.errors import InvalidInput, MissingExtra
from cflag_theory.public import one_of, taking

NAMES = ("digits", "fashion-mnist", "cifar10", "cifar100", "tinyimagenet")
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Images:
    """A data set in memory."""

    name: str
    #: (n, H, W, C) uint8; and (n,) int64, places in `classes`.
    train_images: Pixels
    train_labels: Ints
    test_images: Pixels
    test_labels: Ints
    classes: tuple[str, ...]
    #: (C,) float64, of the train images divided by 255, over all their pixels; the std of a constant channel is 1.
    mean: Floats
    std: Floats
    #: In what the files differ from the published data set.
    notes: tuple[str, ...] = ()


@taking
def load_images(
    name: Annotated[str, one_of(*NAMES, called="data set")],
    root: str | Path | None = None,
    *,
    download: bool = False,
    progress: Progress | None = None,
) -> Images:
    """A data set by name.

    - "digits": 1797 handwritten digits of 8 x 8 x 1 pixels from scikit-learn, which needs no files. Their values, 0 to
      16, are scaled to 0 to 255 and rounded. Every fifth sample of each class is a test image (355 of them): the
      samples of one writer stand together, so that both parts have all writers, and no draw is needed.
    - "fashion-mnist": 28 x 28 x 1, the four idx files.
    - "cifar10", "cifar100": 32 x 32 x 3, the python or the binary version.
    - "tinyimagenet": 64 x 64 x 3, where `val/` is the test set. Its JPEGs are decoded again each time, in threads.

    Parameters
    ----------
    name : str
    root : str or Path, optional
        The folder of the files, or the one in which their archive was unpacked.
    download : bool
        Fetch the data into `root` where they are not there, which needs a network; see `downloads`.
    progress : callable, optional
        Called with the numbers of JPEGs decoded and of all of them.

    Returns
    -------
    Images

    Raises
    ------
    UnknownName
        No data set has this name.
    InvalidInput
        No root.
    DataError
        Files are missing or damaged, or the download failed; the message names the file and the remedy.
    MissingExtra
        The library that the data need is not installed.
    """
    if name == "digits":
        return _digits()
    if root is None:
        raise InvalidInput(f"{name} needs the folder that its files lie in: pass root (--root DIR)")
    if download and not _is_there(name, path_of(root)):
        fetch(name, root)
    if name == tiny_imagenet.NAME:
        arrays, published = tiny_imagenet.read_tiny_imagenet(root, progress=progress), tiny_imagenet.PUBLISHED
    elif name == fashion.NAME:
        arrays, published = fashion.read_fashion(root), fashion.PUBLISHED
    else:
        arrays, published = cifar.read_cifar(name, root), cifar.PUBLISHED
    return Images(
        name,
        *arrays,
        *moments(arrays.train_images),
        notes=tuple(
            f"{name} has {difference}"
            for difference in differences(len(arrays.train_labels), len(arrays.test_labels), published)
        ),
    )


def _is_there(name: str, root: Path) -> bool:
    """Whether any file of this data set lies in or under `root`; of Fashion-MNIST all four."""
    if name == fashion.NAME:
        place = fashion.place(root)
        return place is not None and all(fashion.file(place, each) for each in (*fashion.TRAIN, *fashion.TEST))
    return tiny_imagenet.place(root) is not None if name == tiny_imagenet.NAME else cifar.is_there(name, root)


def moments(images: Pixels) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each channel of (n, H, W, C) images divided by 255, from exact sums."""
    channels = images.shape[-1]
    counts = np.zeros((channels, 256), dtype=np.int64)
    for start in range(0, len(images), 1000):
        block = images[start : start + 1000].reshape(-1, channels)
        for channel in range(channels):
            counts[channel] += np.bincount(block[:, channel], minlength=256)
    values = np.arange(256) / 255
    mean = counts @ values / counts.sum(axis=1)
    variance = (counts * (values - mean[:, None]) ** 2).sum(axis=1) / counts.sum(axis=1)
    return mean, np.where(variance > 0, np.sqrt(variance), 1.0)


def _digits() -> Images:
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise MissingExtra(
            "the digits come with scikit-learn, which is not installed: pip install 'cflag-theory[torch]'"
        ) from error
    found = load_digits()
    images = np.rint(found.images * (255 / 16)).astype(np.uint8)[..., None]
    labels = found.target.astype(np.int64)
    rank = np.zeros(labels.size, dtype=np.int64)
    for label in range(10):
        members = np.flatnonzero(labels == label)
        rank[members] = np.arange(members.size)
    test = rank % 5 == 4
    mean, std = moments(images[~test])
    return Images("digits", images[~test], labels[~test], images[test], labels[test], tuple("0123456789"), mean, std)
