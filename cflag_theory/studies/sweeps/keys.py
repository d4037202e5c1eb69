"""Which keys the tables of a sweep's file have, and which values, formulas among them."""

from __future__ import annotations

import ast
import inspect
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from cflag_theory.errors import CflagError, InvalidInput
from cflag_theory.kernels import Algorithm
from cflag_theory.kernels.own.algorithms import OwnAlgorithm, algorithm
from cflag_theory.kernels.own.files import is_plug_in, within
from cflag_theory.kernels.plan import DTYPES, MODES
from cflag_theory.kernels.problems.by_name import constructor
from cflag_theory.public import Rule, one_of
from cflag_theory.reading import ANY, TRUTH, WORD, WORDS, integer

#: What a formula may name.
NAMES = {
    "T": "rounds",
    "E": "local steps",
    "N": "clients",
    "L": "smoothness constant of the problem",
    "m": "constant of (27) of the memory, where the family knows it",
    "c": "the number c of the run",
}
_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
# Deep nesting exhausts the parser; no step size needs more characters than this.
_LONGEST = 200


class Law:
    """A formula for a step size; `names` are those of `NAMES` that it reads."""

    def __init__(self, words: str) -> None:
        self.words = words
        try:
            if len(words) > _LONGEST:
                raise ValueError
            tree = ast.parse(words.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            raise InvalidInput(f"the formula {words!r} is not understood: write one such as c/sqrt(T)") from None
        names: set[str] = set()
        self._value = _build(tree, words, names)
        self.names = frozenset(names)

    def at(self, values: Mapping[str, float]) -> float:
        """The step size where T, E, N, L, m and c have these values."""
        for name in sorted(self.names):
            if name not in values:
                raise InvalidInput(f"the formula {self.words!r} names {name} ({NAMES[name]}), which is not known here")
        try:
            value = self._value(values)
            if isinstance(value, complex) or not math.isfinite(value):
                raise ValueError
        except (ArithmeticError, ValueError, TypeError):
            known = ", ".join(f"{name} = {values[name]:g}" for name in sorted(self.names))
            raise InvalidInput(f"the formula {self.words!r} has no finite value at {known or 'all'}") from None
        return float(value)


def _build(node: ast.expr, words: str, names: set[str]) -> Callable[[Mapping[str, float]], Any]:
    """The formula as nested functions: nothing of a file is ever run as Python."""
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        number = float(node.value)  # type: ignore[arg-type]
        return lambda values: number
    if isinstance(node, ast.Name) and node.id in NAMES:
        name = node.id
        names.add(name)
        return lambda values: values[name]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _build(node.operand, words, names)
        return lambda values: -inner(values)
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "sqrt" and len(node.args) == 1 and not node.keywords:
        inner = _build(node.args[0], words, names)
        return lambda values: math.sqrt(inner(values))
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        operation = _OPERATIONS[type(node.op)]
        left, right = _build(node.left, words, names), _build(node.right, words, names)
        return lambda values: operation(left(values), right(values))
    raise InvalidInput(
        f"the formula {words!r} has {ast.unparse(node)!r}: use numbers, {', '.join(NAMES)}, + - * / ** and sqrt"
    )


# Makes the error with the line of a place.
Fail = Callable[[Sequence[str | int], object], CflagError]


def _is_number(value: Any) -> bool:
    # A column of floats cannot hold a larger integer.
    return type(value) is float or (type(value) is int and abs(value) < 1 << 63)


_WHOLE, _SEED = integer(1), integer(0)
_NUMBER = Rule(_is_number, "a number")
_STEP = Rule(lambda value: type(value) is str or _is_number(value), "a number or a formula in quotes")
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
SETTINGS = {"mode": one_of(*MODES), "dtype": one_of(*DTYPES), "record": WORDS, "every": _WHOLE}
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
        return dict.fromkeys(known, ANY) | RUN_KEYS | {"name": WORD}
    names = axes.get("name", ("default",))
    dials = {"name": WORD}
    for name in names:
        made = _made(constructor, name, place, fail, folder)
        dials |= dict.fromkeys(inspect.signature(made).parameters, ANY)
    return dials


def _made(make: Callable[[str], Any], name: Any, place: tuple[str | int, ...], fail: Fail, folder: Path) -> Any:
    try:
        return make(within(folder, name) if isinstance(name, str) and is_plug_in(name) else name)
    except CflagError as error:
        raise fail((*place, "name"), error) from None
