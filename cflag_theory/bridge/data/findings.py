"""Which data sets and versions a folder has, and whether they are complete."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cflag_theory.bridge.data import cifar, fashion, tiny_imagenet
from cflag_theory.bridge.data.formats import as_folder, differences, unpacking
from cflag_theory.errors import DataError

WHOLE, PART, DAMAGED = "whole", "part", "damaged"
#: Most faults of a data set that are listed one by one.
TOLD = 20


@dataclass(frozen=True)
class Finding:
    """One data set: in which `folder` it lies, and how many images could be read of how many classes with train images.

    The version is "python", "binary" or "folders"; `differences` say in what the numbers differ from the published data
    set; `faults` are one sentence for each missing or damaged file, and beyond 20 a last one counts the others.
    """

    name: str
    version: str
    folder: str
    train: int
    test: int
    classes: int
    differences: tuple[str, ...]
    faults: tuple[str, ...]

    @property
    def status(self) -> str:
        """ "damaged" where a file is missing or wrong, "part" of the published set where images are fewer, "whole"."""
        return DAMAGED if self.faults else PART if self.differences else WHOLE


@dataclass(frozen=True)
class Findings:
    """All data sets found in a folder, and the archives that were not opened, one sentence each."""

    folder: str
    found: tuple[Finding, ...]
    packed: tuple[str, ...]

    @property
    def usable(self) -> bool:
        """Whether something was found and nothing of it is damaged."""
        return bool(self.found) and all(finding.status != DAMAGED for finding in self.found)

    def to_json(self) -> dict[str, Any]:
        """The same as plain values, each data set with its status."""
        return {
            "folder": self.folder,
            "found": [asdict(finding) | {"status": finding.status} for finding in self.found],
            "packed": list(self.packed),
        }


def check_data(folder: str | Path, *, progress: tiny_imagenet.Progress | None = None) -> Findings:
    """Read every file of every data set in `folder` (or in the folders that the archives unpack to).

    Parameters
    ----------
    folder : str or Path
    progress : callable, optional
        Called with the numbers of JPEGs decoded and of all of them.

    Returns
    -------
    Findings

    Raises
    ------
    DataError
        The folder does not exist. Damaged files are findings, not errors.
    MissingExtra
        There are JPEGs and Pillow is not installed.
    """
    root = as_folder(folder)
    found = [_cifar(layout, place) for layout in cifar.LAYOUTS if (place := layout.place(root))]
    place = tiny_imagenet.place(root)
    if place is not None:
        found.append(_tiny_imagenet(place, progress))
    place = fashion.place(root)
    if place is not None:
        found.append(_fashion(place))
    archives = [*(layout.archive for layout in cifar.LAYOUTS), tiny_imagenet.ARCHIVE]
    packed = tuple(unpacking(root / archive) for archive in archives if (root / archive).is_file())
    return Findings(str(root), tuple(found), packed)


def _cifar(layout: cifar.Layout, folder: Path) -> Finding:
    faults = []
    counts = {}
    seen: set[int] = set()
    for file in (*layout.train, layout.test):
        try:
            labels = layout.read_images(folder / file)[1]
        except DataError as error:
            faults.append(str(error))
            continue
        counts[file] = len(labels)
        if file != layout.test:
            seen |= set(labels.tolist())
    try:
        layout.read_names(folder / layout.meta)
    except DataError as error:
        faults.append(str(error))
    test = counts.pop(layout.test, 0)
    train = sum(counts.values())
    return Finding(
        *(layout.name, layout.version, str(folder), train, test, len(seen)),
        differences(train, test, cifar.PUBLISHED),
        _told(faults),
    )


def _fashion(folder: Path) -> Finding:
    faults: list[str] = []

    def labels_of(names: tuple[str, str]) -> list[int]:
        try:
            return [int(label) for label in fashion.read_split(folder, names)[1]]
        except DataError as error:
            faults.append(str(error))
            return []

    train, test = labels_of(fashion.TRAIN), labels_of(fashion.TEST)
    return Finding(
        *(fashion.NAME, "idx", str(folder), len(train), len(test), len(set(train))),
        differences(len(train), len(test), fashion.PUBLISHED),
        _told(faults),
    )


def _tiny_imagenet(folder: Path, progress: tiny_imagenet.Progress | None) -> Finding:
    name, version = tiny_imagenet.NAME, "folders"
    try:
        listing = tiny_imagenet.list_files(folder)
    except DataError as error:
        return Finding(name, version, str(folder), 0, 0, 0, (), (str(error),))
    files = [*listing.train, *listing.test]
    faults = list(listing.faults)
    train, test, seen = 0, 0, set()
    for index, image in tiny_imagenet.decode([path for path, _ in files], progress):
        if isinstance(image, str):
            faults.append(image)
        elif index < len(listing.train):
            train += 1
            seen.add(files[index][1])
        else:
            test += 1
    return Finding(
        *(name, version, str(folder), train, test, len(seen)),
        differences(train, test, tiny_imagenet.PUBLISHED),
        _told(faults),
    )


def _told(faults: list[str]) -> tuple[str, ...]:
    more = len(faults) - TOLD
    return (*faults[:TOLD], f"and {more} more") if more > 0 else tuple(faults)
