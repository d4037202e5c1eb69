"""Real data as a glm problem: classes split into a past and a current task, clients by a Dirichlet law."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from cflag_theory.errors import DataError, InvalidInput, MissingExtra
from cflag_theory.kernels.archives import Unreadable, read_arrays
from cflag_theory.kernels.numbers import Array, Ints
from cflag_theory.kernels.own.potentials import OWN, Potential, potential_code
from cflag_theory.kernels.problems.columns import Table, read_table
from cflag_theory.kernels.problems.glm import glm
from cflag_theory.kernels.problems.problem import Problem
from cflag_theory.kernels.problems.table import Reading
from cflag_theory.public import Count, Dirichlet, Whole, taking

#: The losses of z = a.x and y by the name of their potential, for readers.
_LOSSES = {
    "cauchy": "log(1 + (z - y)^2/2)",
    "cosine": "1 - cos(z - y)",
    "geman_mcclure": "(z - y)^2/(2 (1 + (z - y)^2))",
    "huber": "(z - y)^2/2, linear from |z - y| = 1 on",
    "logistic": "log(1 + exp(-y z))",
    "quadratic": "(z - y)^2/2",
}
#: The largest feature: sums of squares of products stay finite.
LARGEST = 1e60
_SUFFIXES = (".csv", ".tsv", ".tab", ".txt", ".data", ".dat")


@taking
def load_data(
    source: str | Path,
    *,
    past_classes: Sequence[int | str] | None = None,
    current_classes: Sequence[int | str] | None = None,
    clients: Count = 5,
    zeta: Dirichlet = 1.0,
    potential: str | Potential = "cauchy",
    positive: str | Sequence[int | str] | None = None,
    label_column: str | None = None,
    task_column: str | None = None,
    client_column: str | None = None,
    features_array: str = "features",
    labels_array: str = "labels",
    seed: Whole = 0,
    **reading: Any,
) -> Problem:
    """A glm problem with components phi(a.x - y), a = (features, 1): y = +1 for positive classes, else -1, or a number.

    The past and the current task are, in this order: with `task_column`, the samples of the smaller and of the larger
    of its two values; with lists of classes, the samples of these classes; for the digits, the classes 0 to 4 and 5 to
    9; for a file, its first and its second half. The notes of the problem say what was done.

    Parameters
    ----------
    source : str or Path
        "digits" (the handwritten digits that scikit-learn bundles, pixels scaled to [0, 1]); or FILE.npz with arrays
        of shape (n, d) and (n,); or a text table (.csv, .tsv, .txt, .data, packed with gzip or not), whose features are
        all columns that are not named here and that tell something.
    past_classes, current_classes : sequence of int or str, optional
        Disjoint; samples of other classes are left out. If one is given alone, the other is all other classes.
    clients : int
        For each class of each task, the clients' shares are drawn from Dirichlet(zeta, ..., zeta). Clients without past
        or current data are dropped; the notes of the problem say so.
    zeta : float
        Small: each client sees few classes. Large: all clients see the same mixture.
    potential : str or Potential
        The loss, as `glm` takes it; "logistic" is log(1 + exp(-y a.x)), with curvature at most ||a||^2/4.
    positive : "odd" or sequence of int or str, optional
        The classes with target +1; default: of two labels the larger, of more the odd ones.
    label_column, task_column, client_column : str
        Columns of a table, arrays of an npz file: the labels (tables only, default "label"), tasks and clients;
        default: tasks as above, clients drawn.
    features_array, labels_array : str
        Names of the arrays of an npz file.
    seed : int
        Of the split.
    **reading
        The fields of `Reading`: how a table is read, what the labels are, and whether features are scaled.

    Returns
    -------
    Problem
        p_i is proportional to the client's number of samples; L is computed from the rows; m and r are not known
        without a run.

    Raises
    ------
    DataError
        A file that is missing or unreadable, a missing column or array, infinite values, shapes that disagree,
        a class with no samples, tasks that are not two, or a split that leaves no client with both past and current
        data.
    InvalidInput
        clients < 1, zeta <= 0, no or overlapping classes, positive classes in neither task, classes where y is a
        number, a negative seed.
    MissingExtra
        "digits" without scikit-learn.
    """
    count = int(clients)
    if task_column is not None and (past_classes is not None or current_classes is not None):
        raise InvalidInput(f"tasks are the values of {task_column!r}: leave out the past and the current classes")
    random, name = np.random.default_rng(seed), Path(source).name
    how_read = Reading.of(reading)
    table = _read(source, how_read, label_column, features_array, labels_array, task_column, client_column)
    table = table.scaled(how_read.scale)
    loss_of_margin = _has_margin(potential)
    if table.real and (loss_of_margin or any(one is not None for one in (past_classes, current_classes, positive))):
        asked = f"the loss {potential}" if loss_of_margin else "past_classes, current_classes and positive"
        raise InvalidInput(
            f"y is the number {table.label!r}, which has no classes as {asked} would need: leave that out, or set "
            "target='classes' (--read target=classes)"
        )
    classes = np.zeros(len(table.labels), dtype=np.int64) if table.real else table.labels
    past_classes, current_classes = (
        None if one is None else table.codes(one, name) for one in (past_classes, current_classes)
    )
    if positive is not None and not isinstance(positive, str):
        positive = table.codes(positive, name)
    two = len(np.unique(classes)) == 2
    if table.tasks is not None:
        chosen, how = _by_values(name, str(task_column), table)
    elif past_classes is None and current_classes is None and source != "digits":
        half = len(table.labels) // 2
        if half == 0:
            raise DataError(f"{name} has {len(table.labels)} rows: it needs at least one for each task")
        chosen = [np.arange(half), np.arange(half, len(table.labels))]
        how = "the first half of the file is the past task, the second half the current one"
    else:
        if past_classes is None:
            past_classes = list(range(5)) if current_classes is None else _others(classes, current_classes)
        if current_classes is None:
            current_classes = _others(classes, past_classes)
        chosen, how = _by_classes(name, table, past_classes, current_classes)
    present = np.unique(classes[np.concatenate(chosen)])
    wanted = _positive(positive, present, two=two)
    if table.clients is None:
        dealt = [_deal(classes, rows, count, zeta, random) for rows in chosen]
        chosen, owners = [rows for rows, _ in dealt], [owner for _, owner in dealt]
    else:
        count = len(np.unique(table.clients))
        owners = [np.searchsorted(np.unique(table.clients), table.clients[rows]) for rows in chosen]
    usable = np.intersect1d(owners[0], owners[1])
    if usable.size == 0:
        raise DataError(
            f"none of the {count} clients has both past and current data of {name}: use fewer clients or a larger zeta"
        )
    origin = f"drawn with zeta = {zeta:g}" if table.clients is None else f"one for each value of {client_column!r}"
    negative = table.named(table.label, np.setdiff1d(present, wanted).tolist())
    signs = f"y = +1 for the labels {table.named(table.label, wanted.tolist())}, y = -1 for {negative}"
    notes = [
        *table.notes,
        f"loss {_loss(potential)} of z = a.x, a = ({table.features.shape[1]} features, 1)",
        *(() if table.real else (signs,)),
        f"{how}: {len(chosen[0])} and {len(chosen[1])} samples",
        f"{count} client{'' if count == 1 else 's'}, {origin}",
    ]
    if usable.size < count:
        lost = sum(int((~np.isin(owner, usable)).sum()) for owner in owners)
        notes.append(
            f"{count - usable.size} of {count} clients have no past or no current data and were dropped with their "
            f"{lost} samples; the weights of the other {usable.size} are renormalised"
        )
    targets = table.labels if table.real else np.where(np.isin(classes, wanted), 1.0, -1.0)
    return _problem(table.features, targets, classes, chosen, owners, usable, potential, name, tuple(notes))


def _has_margin(potential: str | Potential) -> bool:
    own = OWN.get(potential_code(potential))
    return potential == "logistic" or (own is not None and own.margin)


def _problem(
    features: Array,
    targets: Array,
    classes: Ints,
    chosen: Sequence[Ints],
    owners: Sequence[Ints],
    usable: Ints,
    potential: str | Potential,
    name: str,
    notes: tuple[str, ...],
) -> Problem:
    rows = np.column_stack([features, np.ones(len(features))])
    logistic, margin = potential == "logistic", _has_margin(potential)
    tasks: list[Any] = []
    weights = []
    for indices, owner in zip(chosen, owners, strict=True):
        kept = indices[np.isin(owner, usable)]
        signs = targets[kept]
        # phi is scaled to sup |phi''| = 1: log(1 + exp(-y a.x)) is a quarter of it at y a.x.
        tasks += [rows[kept] * signs[:, None], np.zeros(len(kept))] if margin else [rows[kept], signs]
        tasks.append(np.searchsorted(usable, owner[np.isin(owner, usable)]))
        weights.append(np.full(len(kept), 0.25) if logistic else None)
    past_labels = classes[chosen[0][np.isin(owners[0], usable)]]
    return glm(
        *tasks,
        potential=potential,
        past_weights=weights[0],
        current_weights=weights[1],
        labels=np.searchsorted(np.unique(past_labels), past_labels),
        name=name,
        notes=notes,
    )


def _by_classes(
    name: str, table: Table, past_classes: Sequence[int], current_classes: Sequence[int]
) -> tuple[list[Ints], str]:
    """The samples of the classes of the past task, and of the current one."""
    both = sorted(set(past_classes) & set(current_classes))
    if both or not len(past_classes) or not len(current_classes):
        raise InvalidInput(
            f"past classes {list(past_classes)} and current classes {list(current_classes)}: "
            + (f"{both} are in both, use disjoint lists" if both else "name at least one class for each")
        )
    chosen = []
    for classes in (past_classes, current_classes):
        rows = []
        for label in dict.fromkeys(classes):
            members = np.flatnonzero(table.labels == label)
            if members.size == 0:
                found = table.named(table.label, np.unique(table.labels)[:20].tolist())
                raise DataError(f"class {label} has no samples in {name}: choose among its classes: {found}")
            rows.append(members)
        chosen.append(np.concatenate(rows))
    past, current = (table.named(table.label, classes) for classes in (past_classes, current_classes))
    return chosen, f"the classes {past} are the past task, {current} the current one"


def _others(labels: Ints, classes: Sequence[int]) -> list[int]:
    """The classes of the file that are not among these."""
    return [int(label) for label in np.unique(labels) if label not in classes]


def _by_values(name: str, column: str, table: Table) -> tuple[list[Ints], str]:
    """The samples of the smaller and of the larger of two values."""
    found = np.unique(table.tasks)
    if len(found) != 2:
        raise DataError(
            f"{column!r} of {name} has {len(found)} values: give the past task one number, the current another"
        )
    past, current = (table.named(column, [int(value)]) for value in found)
    words = f"{column} = {past} is the past task, {column} = {current} the current one"
    return [np.flatnonzero(table.tasks == value) for value in found], words


def _positive(positive: str | Sequence[int] | None, present: Ints, *, two: bool) -> Ints:
    """The labels with target +1."""
    if positive is None:
        return present[-1:] if two else present[present % 2 == 1]
    if positive != "odd" if isinstance(positive, str) else set(positive) - set(present.tolist()):
        raise InvalidInput(f'positive is {positive!r}: use "odd" or a list of past and current classes')
    return present[present % 2 == 1] if isinstance(positive, str) else np.unique(np.asarray(positive, dtype=np.int64))


def _loss(potential: str | Potential) -> str:
    own = OWN.get(potential_code(potential))
    if own is not None:
        return f"{own.name}(y z)" if own.margin else f"{own.name}(z - y)"
    return f"{potential}, {_LOSSES[str(potential)]},"


def _deal(labels: Ints, rows: Ints, clients: int, zeta: float, random: np.random.Generator) -> tuple[Ints, Ints]:
    """The samples of a task by their class, and the client of each."""
    indices, owners = [], []
    for label in dict.fromkeys(labels[rows].tolist()):
        members = random.permutation(rows[labels[rows] == label])
        shares = random.dirichlet(np.full(clients, zeta))
        cuts = np.round(np.cumsum(shares)[:-1] * members.size).astype(np.int64)
        indices.append(members)
        owners.append(np.searchsorted(cuts, np.arange(members.size), side="right"))
    return np.concatenate(indices), np.concatenate(owners).astype(np.int64)


def _read(
    source: str | Path,
    reading: Reading,
    label_column: str | None,
    features_array: str,
    labels_array: str,
    task_column: str | None,
    client_column: str | None,
) -> Table:
    others = [name for name in (task_column, client_column) if name is not None]
    path = Path(source)
    text = path.name.lower().removesuffix(".gz").endswith(_SUFFIXES) and source != "digits"
    for one in fields(Reading):
        if not text and one.name not in ("scale", "target") and getattr(reading, one.name) != one.default:
            raise InvalidInput(f"{one.name} is about text tables, and {str(source)!r} is none: leave it out")
    if source == "digits":
        for name in others:
            raise DataError(f"the digits have no column {name!r}: leave it out")
        return Table(*_digits())
    if path.suffix != ".npz" and not text:
        known = ", ".join((".npz", *_SUFFIXES))
        raise DataError(f'data {str(source)!r}: use "digits", or a file that ends in {known}, or .csv.gz')
    try:
        if text:
            table = read_table(path, reading, label_column, task_column, client_column)
        else:
            table = _read_npz(path, [features_array, labels_array], task_column, client_column, reading)
    except FileNotFoundError:
        raise DataError(f"data file {path} does not exist: check the path") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = getattr(error, "strerror", None) or error
        raise DataError(f"data file {path} cannot be read ({why}): write it again or fix its permissions") from error
    features, labels = table.features, table.labels
    if features.ndim != 2 or labels.shape != features.shape[:1]:
        raise DataError(
            f"{path} has features of shape {features.shape} and labels of shape {labels.shape}: use (n, d) and (n,)"
        )
    for what, values in (("features", features), *((("targets", labels[:, None]),) if table.real else ())):
        bad = np.argwhere(~(np.abs(values) <= LARGEST))
        if bad.size:
            row, column = bad[0]
            found = values[row, column]
            remedy = ", whose square no float can hold: scale it" if np.isfinite(found) else ": remove or replace it"
            raise DataError(f"{path} has {found} in row {row}, column {column} of the {what} (counted from 0){remedy}")
    whole: dict[str, Any] = {} if table.real else {"labels": _whole(path, "the label", labels)}
    for other, role, values in ((task_column, "tasks", table.tasks), (client_column, "clients", table.clients)):
        if values is None:
            continue
        if values.shape != labels.shape:
            raise DataError(
                f"{path} has {other!r} of shape {values.shape} and labels of shape {labels.shape}: one a row"
            )
        whole[role] = _whole(path, f"the {other}", values)
    return replace(table, **whole)


def _whole(path: Path, what: str, values: Array) -> Ints:
    # Beyond 2^53 not every integer is a float, so that classes would merge.
    strange = np.flatnonzero(~((abs(values) < 2**53) & (values == np.round(values))))
    if strange.size:
        row = int(strange[0])
        raise DataError(
            f"{path} has {what} {values[row]} in row {row} (counted from 0): {what.split()[-1]}s are integers"
        )
    return values.astype(np.int64)


def _digits() -> tuple[Array, Ints]:
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise MissingExtra(
            "the digits come with scikit-learn, which is not installed: pip install 'cflag-theory[digits]'"
        ) from error
    features, labels = load_digits(return_X_y=True)
    return features / 16, labels.astype(np.int64)


def _read_npz(path: Path, names: Sequence[str], task: str | None, client: str | None, reading: Reading) -> Table:
    names = [*names, *(name for name in (task, client) if name is not None)]
    try:
        # As they are, as floats, by task, and with what the components need.
        found = read_arrays(path, names, copies=5)
    except Unreadable as error:
        raise DataError(f"{path} cannot be read ({error}): write plain numbers with numpy.savez") from error
    for key, one in found.items():
        if one.dtype.kind not in "biuf":
            raise DataError(f"array {key!r} of {path} holds {one.dtype} values: store plain numbers")
    features, labels, *_ = (found[key].astype(np.float64) for key in names)
    others: list[Any] = [None if name is None else found[name].astype(np.float64) for name in (task, client)]
    return Table(features, labels, others[0], others[1], names[1], real=reading.target == "number")
