"""Real data as a glm problem: classes split into a past and a current task, clients by a Dirichlet law."""

from __future__ import annotations

import csv
import math
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cflag_theory.errors import DataError, InvalidInput, MissingExtra
from cflag_theory.kernels.numbers import Array, Ints
from cflag_theory.kernels.problems.glm import glm
from cflag_theory.kernels.problems.problem import Problem
from cflag_theory.kernels.problems.validation import as_size, generator


def load_data(
    source: str | Path,
    *,
    past_classes: Sequence[int] = (0, 1, 2, 3, 4),
    current_classes: Sequence[int] = (5, 6, 7, 8, 9),
    clients: int = 5,
    zeta: float = 1.0,
    potential: str = "cauchy",
    positive: str | Sequence[int] = "odd",
    label_column: str = "label",
    features_array: str = "features",
    labels_array: str = "labels",
    seed: int = 0,
) -> Problem:
    """A glm problem with components phi(a.x - y), a = (features, 1) and y = +1 for positive classes, else -1.

    Parameters
    ----------
    source : str or Path
        "digits" (the handwritten digits that scikit-learn bundles, pixels scaled to [0, 1]); or FILE.npz with arrays
        of shape (n, d) and (n,); or FILE.csv with a header line, one column of labels and all others numbers.
    past_classes, current_classes : sequence of int
        Disjoint; samples of other classes are left out.
    clients : int
        Each class of each task is dealt out by its own draw from Dirichlet(zeta, ..., zeta). Clients left without past
        or current data are dropped, which the notes of the problem say.
    zeta : float
        Small: each client sees few classes. Large: all clients see the same mixture.
    positive : "odd" or sequence of int
        The classes with target +1.
    label_column : str
        Name of the label column of a csv file.
    features_array, labels_array : str
        Names of the arrays of an npz file.
    seed : int
        Of the split.

    Returns
    -------
    Problem
        p_i is proportional to the client's number of samples; L is computed from the rows; m and r are not known
        without a run.

    Raises
    ------
    DataError
        A file that is missing or unreadable, a missing column or array, NaN or infinite values, shapes that disagree,
        a class with no samples, or a split that leaves no client with both past and current data.
    InvalidInput
        clients < 1, zeta <= 0, no or overlapping classes, positive classes in neither task, a negative seed.
    MissingExtra
        "digits" without scikit-learn.
    """
    count = as_size("clients", clients)
    if not 0 < zeta <= 1e12:
        raise InvalidInput(f"zeta is {zeta}: use a number above 0 and at most 1e12")
    random = generator(seed)
    both = sorted(set(past_classes) & set(current_classes))
    if both or not len(past_classes) or not len(current_classes):
        raise InvalidInput(
            f"past classes {list(past_classes)} and current classes {list(current_classes)}: "
            + (f"{both} are in both, use disjoint lists" if both else "name at least one class for each")
        )
    if positive != "odd" if isinstance(positive, str) else set(positive) - {*past_classes, *current_classes}:
        raise InvalidInput(f'positive is {positive!r}: use "odd" or a list of past and current classes')

    name = Path(source).name
    features, labels = _read(source, label_column, features_array, labels_array)
    rows = np.column_stack([features, np.ones(len(features))])
    chosen, owners = zip(
        *(_deal(name, labels, classes, count, zeta, random) for classes in (past_classes, current_classes)), strict=True
    )
    usable = np.intersect1d(*owners)
    if usable.size == 0:
        raise DataError(
            f"none of the {count} clients has both past and current data of {name}: use fewer clients or a larger zeta"
        )
    notes: tuple[str, ...] = ()
    if usable.size < count:
        lost = sum(int((~np.isin(owner, usable)).sum()) for owner in owners)
        notes = (
            f"{count - usable.size} of {count} clients have no past or no current data and were dropped with their "
            f"{lost} samples; the weights of the other {usable.size} are renormalised",
        )
    tasks: list[Any] = []
    for indices, owner in zip(chosen, owners, strict=True):
        kept = indices[np.isin(owner, usable)]
        sign = labels[kept] % 2 == 1 if isinstance(positive, str) else np.isin(labels[kept], list(positive))
        tasks += [rows[kept], np.where(sign, 1.0, -1.0), np.searchsorted(usable, owner[np.isin(owner, usable)])]
    past_labels = labels[chosen[0][np.isin(owners[0], usable)]]
    return glm(
        *tasks,
        potential=potential,
        labels=np.searchsorted(np.unique(past_labels), past_labels),
        name=name,
        notes=notes,
    )


def _deal(
    name: str, labels: Ints, classes: Sequence[int], clients: int, zeta: float, random: np.random.Generator
) -> tuple[Ints, Ints]:
    """Indices of the samples of these classes, and the client of each."""
    indices, owners = [], []
    for label in dict.fromkeys(classes):
        members = random.permutation(np.flatnonzero(labels == label))
        if members.size == 0:
            found = ", ".join(str(value) for value in np.unique(labels)[:20])
            raise DataError(f"class {label} has no samples in {name}: choose among its classes: {found or 'none'}")
        shares = random.dirichlet(np.full(clients, zeta))
        cuts = np.round(np.cumsum(shares)[:-1] * members.size).astype(np.int64)
        indices.append(members)
        owners.append(np.searchsorted(cuts, np.arange(members.size), side="right"))
    return np.concatenate(indices), np.concatenate(owners).astype(np.int64)


def _read(source: str | Path, label_column: str, features_array: str, labels_array: str) -> tuple[Array, Ints]:
    if source == "digits":
        return _digits()
    path = Path(source)
    if path.suffix not in (".npz", ".csv"):
        raise DataError(f'data {str(source)!r}: use "digits", or a file that ends in .npz or .csv')
    if not path.is_file():
        raise DataError(f"data file {path} does not exist: check the path")
    try:
        features, labels = (
            _read_npz(path, features_array, labels_array) if path.suffix == ".npz" else _read_csv(path, label_column)
        )
    except (OSError, EOFError, UnicodeDecodeError, zipfile.BadZipFile, zlib.error, csv.Error) as error:
        raise DataError(f"data file {path} cannot be read ({error}): write it again or mend its permissions") from error
    if features.ndim != 2 or labels.shape != features.shape[:1]:
        raise DataError(
            f"{path} has features of shape {features.shape} and labels of shape {labels.shape}: use (n, d) and (n,)"
        )
    bad = np.argwhere(~np.isfinite(features))
    if bad.size:
        row, column = bad[0]
        raise DataError(
            f"{path} has {features[row, column]} in row {row}, column {column} of the features (counted from 0): "
            "remove or replace it"
        )
    # Beyond 2^53 not every integer is a float, so that classes would merge.
    strange = np.flatnonzero(~((abs(labels) < 2**53) & (labels == np.round(labels))))
    if strange.size:
        row = int(strange[0])
        raise DataError(f"{path} has the label {labels[row]} in row {row} (counted from 0): labels are integers")
    return features, labels.astype(np.int64)


def _digits() -> tuple[Array, Ints]:
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise MissingExtra(
            "the digits come with scikit-learn, which is not installed: pip install 'cflag-theory[digits]'"
        ) from error
    features, labels = load_digits(return_X_y=True)
    return features / 16, labels.astype(np.int64)


def _read_npz(path: Path, features_array: str, labels_array: str) -> tuple[Array, Array]:
    arrays = []
    with path.open("rb") as file:
        try:
            archive = np.load(file, allow_pickle=False)
        except ValueError as error:
            raise DataError(f"{path} is not an npz archive: write it with numpy.savez") from error
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise DataError(f"{path} holds a single array: write features and labels with numpy.savez")
        for key in (features_array, labels_array):
            if key not in archive:
                raise DataError(f"{path} has no array {key!r}: it has {', '.join(archive) or 'none'}")
            try:
                array = archive[key]
            except ValueError as error:
                raise DataError(f"array {key!r} of {path} cannot be read ({error}): store plain numbers") from error
            if array.dtype.kind not in "biuf":
                raise DataError(f"array {key!r} of {path} holds {array.dtype} values: store plain numbers")
            arrays.append(array.astype(np.float64))
    return arrays[0], arrays[1]


def _read_csv(path: Path, label_column: str) -> tuple[Array, Array]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = csv.reader(file)
        header = [name.strip() for name in next(lines, [])]
        if header.count(label_column) != 1:
            count = f"{header.count(label_column)} columns" if label_column in header else "no column"
            raise DataError(f"{path} has {count} {label_column!r}: its columns are {', '.join(header) or 'none'}")
        label_at = header.index(label_column)
        values = []
        for cells in lines:
            if not cells:
                continue
            if len(cells) != len(header):
                raise DataError(
                    f"line {lines.line_num} of {path} has {len(cells)} values and the header {len(header)}: "
                    "make them agree"
                )
            values.append([_number(path, lines.line_num, *pair) for pair in zip(header, cells, strict=True)])
    table = np.array(values, dtype=np.float64).reshape(len(values), len(header))
    return np.delete(table, label_at, axis=1), table[:, label_at]


def _number(path: Path, line: int, column: str, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{path} has {cell!r} in line {line}, column {column!r}: use a finite number") from None
    return value
