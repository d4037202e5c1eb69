"""Columns of a text table as features, labels, tasks and clients; each choice is a note that names its option."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from cflag_theory.errors import DataError
from cflag_theory.kernels.numbers import Array
from cflag_theory.kernels.problems.table import MISSING, Reading, Text, number, read_columns
from cflag_theory.shown import number as short
from cflag_theory.shown import several
from cflag_theory.sizes import require_room

#: Names that labels often have, and the end of names of columns that only count or name rows.
_LABELS = ("labels", "class", "target", "y", "species", "diagnosis", "outcome", "survived", "quality", "response")
_IDS = re.compile(r"(?:^|[^A-Za-z])(?i:id|index|uuid|rownames?)$|[a-z]I[Dd]$")
# Fewer whole numbers that follow each other may do so by chance; the most features whose eigenvalues are quick; and the
# mean square from which on a feature is large.
_COUNTED, _QUICK, _LARGE = 10, 1000, 4.0


@dataclass(frozen=True)
class Table:
    """Features (n, d) with their names, labels or targets (n,), tasks and clients where they are asked for, and notes.

    `words` has the words that whole numbers stand for, by the name of their column.
    """

    features: Array
    labels: Any
    tasks: Any = None
    clients: Any = None
    label: str = "label"
    names: tuple[str, ...] = ()
    words: Mapping[str, Sequence[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    real: bool = False

    def named(self, column: str | None, values: Iterable[Any]) -> str:
        """The values of a column as the file has them."""
        words = self.words.get(column or "", ())
        return ", ".join(words[one] if one in range(len(words)) else str(one) for one in values) or "none"

    def codes(self, values: Sequence[int | str], name: str) -> list[int]:
        """The labels that these words or numbers stand for."""
        words = list(self.words.get(self.label, ()))
        for one in values:
            if isinstance(one, str) and one not in words:
                known = self.named(self.label, np.unique(self.labels)[:20].tolist())
                raise DataError(f"class {one} has no samples in {name}: choose among its classes: {known}")
        return [words.index(one) if isinstance(one, str) else one for one in values]

    def scaled(self, scale: bool) -> Table:
        """With features of mean 0 and variance 1, or with a note if one of them makes L large."""
        x, d = self.features, self.features.shape[1]
        names = self.names or [f"feature {place}" for place in range(d)]
        if scale:
            spread = x.std(axis=0)
            note = "features are scaled to mean 0 and variance 1 (--scale)"
            x = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1)
            return replace(self, features=x, notes=(*self.notes, note))
        if not (len(x) and 0 < d <= _QUICK):
            return self
        rows = np.column_stack([x, np.ones(len(x))])
        matrix = rows.T @ rows / len(rows)
        most = int(np.argmax(np.diag(matrix)[:d]))
        smaller = np.delete(np.delete(matrix, most, 0), most, 1)
        whole, rest = (float(np.linalg.eigvalsh(one)[-1]) for one in (matrix, smaller))
        if matrix[most, most] < _LARGE or rest > whole / 2:
            return self
        note = f"{names[most]} carries most of L, over all rows {whole:.3g} and without it {rest:.3g}; see --scale"
        return replace(self, notes=(*self.notes, note))


def read_table(
    path: Path, reading: Reading, label: str | None, task: str | None = None, client: str | None = None
) -> Table:
    """The features, and the columns that are named.

    Raises
    ------
    DataError
        No label, where the error proposes a column; a column that is not there or twice; words among numbers; infinite
        values; no row or no feature left.
    """
    text = read_columns(path, reading)
    asked = [name for name in (task, client) if name is not None]
    if label is None and "label" not in text.names:
        raise _unlabelled(path, text, reading, asked)
    label = label or "label"
    for name in (label, *asked, *(reading.features or ()), *reading.drop):
        if text.names.count(name) != 1:
            count = f"{text.names.count(name)} columns" if name in text.names else "no column"
            raise DataError(f"{path} has {count} {name!r}: its columns are {several(text.names, 40)}")
    roles, words = {}, {}
    for name in (label, *asked):
        cells = text.columns[text.names.index(name)]
        values = _numbers(path, text, name, cells)
        if values is None:
            words[name] = known = _words(cells)
            places = {word: float(place) for place, word in enumerate(known)}
            values = np.array([places.get(cell, math.nan) for cell in cells])
        roles[name] = values
    blocks, notes = _features(path, text, reading, roles)
    names = [name for name, _ in blocks]
    require_room(40 * len(text.lines) * len(names), f"the features of {str(path)!r}", "use fewer rows or columns")
    features = np.column_stack([values for _, values in blocks])
    kept = ~np.isnan(np.column_stack([*roles.values(), *([features] if reading.missing == "drop" else [])])).any(axis=1)
    if not kept.any():
        raise DataError(f"no row of {path} is complete: use missing='mean' (--missing mean), or drop a column")
    notes += _missing(text, reading, {**roles, **dict(blocks)}, int(kept.sum()))
    features = features[kept]
    empty = np.isnan(features)
    with np.errstate(all="ignore"):
        means = np.where(empty, 0, features).sum(axis=0) / np.maximum((~empty).sum(axis=0), 1)
    features = np.where(empty, means, features)
    ranges = zip(names, features.min(axis=0), features.max(axis=0), strict=True)
    notes.append("features: " + several([f"{name} {short(low)} to {short(high)}" for name, low, high in ranges]))
    labels = roles[label][kept]
    real, note = _kind(path, text, reading, label, labels, words)
    tasks, clients = (None if name is None else roles[name][kept] for name in (task, client))
    return Table(features, labels, tasks, clients, label, tuple(names), words, (text.note, *notes, note), real)


def _is_missing(cell: str) -> bool:
    return cell.casefold() in MISSING


def _words(cells: Sequence[str]) -> list[str]:
    return sorted(cell for cell in set(cells) if not _is_missing(cell))


def _numbers(path: Path, text: Text, name: str, cells: Sequence[str]) -> Array | None:
    """The numbers of a column, NaN where one is missing; None for words."""
    # What is plain is most, and Python's own reading is the quick one; it takes 1_000 too, which nobody means.
    with suppress(ValueError):
        plain = np.array([float(cell) for cell in cells])
        if np.isfinite(plain).all() and not any("_" in cell for cell in cells):
            return plain
    found = [math.nan if _is_missing(cell) else number(cell, text.decimal) for cell in cells]
    strange = [place for place, one in enumerate(found) if one is None or math.isinf(one)]
    if strange:
        place = strange[0]
        where = f"{path} has {cells[place]!r} in line {text.lines[place]}, column {name!r}"
        present = sum(not _is_missing(cell) for cell in cells)
        if any(one is not None and math.isinf(one) for one in found):
            raise DataError(f"{where}: use a finite number")
        if 2 * len(strange) < present:
            raise DataError(f"{where}, among numbers: correct it, leave it empty, or drop the column")
        return None
    return np.array(found, dtype=np.float64)


def _features(
    path: Path, text: Text, reading: Reading, roles: Collection[str]
) -> tuple[list[tuple[str, Array]], list[str]]:
    """Every feature by its name, NaN where it is missing, and notes on what is left out and on words."""
    blocks: list[tuple[str, Array]] = []
    left, worded = [], []
    for name, unnamed, cells in zip(text.names, text.unnamed, text.columns, strict=True):
        if name in roles or (reading.features is not None and name not in reading.features):
            continue
        why = "as asked" if name in reading.drop else "no name" if unnamed and reading.features is None else ""
        values = None if why else _numbers(path, text, name, cells)
        words = [] if why or values is not None else _words(cells)
        if not why and reading.features is None:
            why = _useless(name, words if values is None else np.unique(values[~np.isnan(values)]), values, len(cells))
        if not why and values is None and len(words) > reading.levels:
            why = f"{len(words)} words, more than levels = {reading.levels}"
        if why:
            left.append(f"{name} ({why})")
        elif values is not None:
            blocks.append((name, values))
        else:
            gone = np.where([_is_missing(cell) for cell in cells], math.nan, 0.0)
            blocks += [(f"{name}={word}", gone + (np.array(cells) == word)) for word in words]
            worded.append(f"{name} ({len(words)})")
    notes = [f"left out: {several(left)}; --features names the columns to use"] if left else []
    if reading.features is not None:
        notes.append("all columns that --features does not name are left out")
    notes += [f"words, each a feature 0 or 1: {several(worded)}; at most --read levels={reading.levels}"] * bool(worded)
    if not blocks:
        raise DataError(f"{path} has no column left as a feature: name some (--features); {'; '.join(notes)}")
    return blocks, notes


def _useless(name: str, different: Sequence[str] | Array, values: Array | None, rows: int) -> str:
    """Why a column is no feature, or nothing."""
    if len(different) == 0:
        return "empty"
    if len(different) == 1 and rows > 1:
        return f"always {short(different[0])}"
    if len(different) < rows:
        return ""
    if values is None:
        return "another word in each row" if rows >= _COUNTED else ""
    if rows >= _COUNTED and (np.diff(values) == 1).all():
        return "counts the rows"
    return "an id" if _IDS.search(name) and (values == np.round(values)).all() else ""


def _missing(text: Text, reading: Reading, found: Mapping[str, Array], kept: int) -> list[str]:
    """What was missing where, and what was done."""
    counts: dict[str, int] = {}
    for name, values in found.items():
        counts[name if name in text.names else name.rpartition("=")[0]] = int(np.isnan(values).sum())
    where = several([f"{name} {count}" for name, count in counts.items() if count])
    lost = len(text.lines) - kept
    said = [f"{lost} of {len(text.lines)} rows are left out"] * bool(lost)
    if reading.missing == "mean":
        said.append("features become the mean of their column")
    return [f"missing values ({where}): {', '.join(said)}; --missing drop or mean"] if where else []


def _kind(
    path: Path, text: Text, reading: Reading, label: str, labels: Array, words: dict[str, list[str]]
) -> tuple[bool, str]:
    """Whether labels are targets of a regression, and a note on it."""
    values = np.unique(labels)
    if label in words:
        if reading.target == "number":
            raise DataError(f"{path} has words in {label!r}: name a column of numbers, or leave out target")
        if len(words[label]) > reading.levels:
            raise DataError(
                f"{path} has {len(words[label])} different words in {label!r}, more than levels = {reading.levels}: "
                "name another label column, or raise levels (--read levels=...)"
            )
        return False, f"classes of {label}: {', '.join(words[label])}"
    whole = bool((values == np.round(values)).all())
    if (reading.target or ("classes" if whole and len(values) <= reading.levels else "number")) == "number":
        return (
            True,
            f"y = {label}, {short(values[0])} to {short(values[-1])}; --read target=classes makes classes",
        )
    if text.classes and set(values) <= set(range(len(text.classes))):
        words[label] = list(text.classes)
    return False, f"{label} has {len(values)} classes; --read target=number takes it as y"


class NoLabel(DataError):
    """No column is named as the labels; `add` has the option that names one."""

    add: tuple[str, ...] = ()


def _unlabelled(path: Path, text: Text, reading: Reading, asked: Sequence[str]) -> DataError:
    """The error that proposes a column as the label: one called so, the only one of words, or the last."""
    columns = {
        name: _words(cells)
        for name, unnamed, cells in zip(text.names, text.unnamed, text.columns, strict=True)
        if not unnamed and name not in (*asked, *reading.drop) and text.names.count(name) == 1
    }
    called = [name for word in _LABELS for name in columns if name.casefold() == word]
    worded = [
        name
        for name, words in columns.items()
        if 1 < len(words) <= reading.levels and all(number(word, text.decimal) is None for word in words)
    ]
    usual = [name for name, words in columns.items() if len(words) > 1 and not _IDS.search(name)] or list(columns)
    proposed = [*called, *(worded if len(worded) == 1 else ()), *usual[-1:]][:1]
    error = NoLabel(
        f"{path} has no column 'label': its columns are {several(text.names, 40)}; name the column of the labels"
        + "".join(f", such as {name!r}" for name in proposed)
    )
    error.add = tuple(f"--label-column={name}" for name in proposed)
    return error
