"""Which keys the tables of a sweep's file have, and which values."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from cflag_theory.errors import CflagError
from cflag_theory.kernels import Algorithm
from cflag_theory.kernels.own.algorithms import OwnAlgorithm, algorithm
from cflag_theory.kernels.own.files import is_plug_in, within
from cflag_theory.kernels.problems.by_name import constructor
from cflag_theory.public import Rule
from cflag_theory.reading import TRUTH, WORD, integer

# Makes the error with the line of a place.
Fail = Callable[[Sequence[str | int], object], CflagError]


def _is_number(value: Any) -> bool:
    # A column of floats cannot hold a larger integer.
    return type(value) is float or (type(value) is int and abs(value) < 1 << 63)


_WHOLE, _SEED = integer(1), integer(0)
_NUMBER = Rule(_is_number, "a number")
_STEP = Rule(lambda value: type(value) is str or _is_number(value), "a number or a formula in quotes")
# For dials of problems and fields of rows, which their makers check.
_ANY = Rule(lambda value: True, "anything")
RUN_KEYS = {
    "alpha": _STEP,
    "beta": _STEP,
    "c": _NUMBER,
    "E": _WHOLE,
    "T": _WHOLE,
    "seed": _SEED,
    "replicas": _WHOLE,
    "participants": _WHOLE,
}
_DATA_KEYS = {
    "data": WORD,
    "clients": _WHOLE,
    "zeta": _NUMBER,
    "past_classes": WORD,
    "current_classes": WORD,
    "potential": WORD,
    "positive": WORD,
    "label_column": WORD,
    "task_column": WORD,
    "client_column": WORD,
    "features_array": WORD,
    "labels_array": WORD,
    **dict.fromkeys(("encoding", "delimiter", "decimal", "header", "missing", "target", "features", "drop"), WORD),
    "levels": _WHOLE,
    "scale": TRUTH,
    "seed": _SEED,
}
_MEMORY_KEYS = {"kind": WORD, "size": _WHOLE, "m": _NUMBER, "redraw": TRUTH}
#: Settings of the whole sweep, at the top of the file.
SETTINGS = {"mode": WORD, "dtype": WORD, "record": _ANY, "every": _WHOLE}
MODES = {"mode": ("bitwise", "fast"), "dtype": ("float64", "float32")}
KINDS = {int: "numbers", float: "numbers", bool: "truth values", str: "words", dict: "tables"}


def same(value: Any) -> Any:
    """What equal values have in common: 0 and 0.0 are one, true and 1 are two."""
    return isinstance(value, bool), repr(value) if isinstance(value, dict) else value


def fits_column(key: str, value: Any) -> bool:
    """Whether a column of results can hold the value: beside fractions, integers are exact up to 2^53 only."""
    return type(value) is not int or abs(value) < 1 << (63 if key == "seed" else 53)


def known_keys(
    section: str, axes: Mapping[str, Any], place: tuple[str | int, ...], fail: Fail, folder: Path
) -> dict[str, Rule]:
    """The keys of a table with what their values must be; plug-in files are looked for in `folder`."""
    if section == "run":
        return RUN_KEYS
    if section == "memory":
        return _MEMORY_KEYS
    if section == "problem" and "data" in axes:
        return _DATA_KEYS
    if section == "algorithm":
        if "name" not in axes:
            raise fail(place, "name is missing: name a row such as c_flag")
        known = [field.name for field in fields(Algorithm)]
        for name in axes["name"]:
            if isinstance(name, str) and is_plug_in(name):
                row = _made(algorithm, name, place, fail, folder)
                known += [setting for setting, _ in row.settings] if isinstance(row, OwnAlgorithm) else []
        return dict.fromkeys(known, _ANY) | RUN_KEYS | {"name": WORD}
    names = axes.get("name", ("default",))
    dials = {"name": WORD}
    for name in names:
        made = _made(constructor, name, place, fail, folder)
        dials |= dict.fromkeys(inspect.signature(made).parameters, _ANY)
    return dials


def _made(make: Callable[[str], Any], name: Any, place: tuple[str | int, ...], fail: Fail, folder: Path) -> Any:
    try:
        return make(within(folder, name) if isinstance(name, str) and is_plug_in(name) else name)
    except CflagError as error:
        raise fail((*place, "name"), error) from None
