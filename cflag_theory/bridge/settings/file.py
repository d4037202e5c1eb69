"""From a TOML file, or words of a command line, to a bridge run, or to one sentence with the line that is wrong.

A complete file:

    data = "cifar10"                # digits without it; what is left out is as in the paper for CIFAR and TinyImageNet
    root = "data"                   # beside this file, if the path is relative
    zeta = 0.1
    mode = "paper"
    methods = ["c_flag", "finetune"]
    seeds = [1234, 1235, 1236]
    past_every = 5

    [c_flag]                        # options of a method: one switch for each difference between the modes
    adaptive = "average"
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cflag_theory.bridge.settings.rules import WrongSetting
from cflag_theory.bridge.settings.run_settings import RunSettings, run_settings
from cflag_theory.errors import DataError, InvalidInput
from cflag_theory.reading import line_of, read_toml


def read_settings_file(path: str | Path) -> RunSettings:
    """The bridge run that a TOML file describes; the docstring of this module shows one.

    Raises
    ------
    DataError
        The file is missing or no TOML, a key is unknown, or a value has the wrong type or is out of range; the message
        names the line.
    """
    return run_settings(read_changes(path))


def read_changes(path: str | Path) -> dict[str, Any]:
    """What a TOML file says, checked as a whole, to be merged with other changes."""
    path = Path(path)
    text, changes = read_toml(path)
    try:
        run_settings(changes)
    except WrongSetting as error:
        raise DataError(f"{path.name}, line {line_of(text, error.place)}: {error}") from None
    if isinstance(changes.get("root"), str):
        changes["root"] = str(path.absolute().parent / changes["root"])
    return changes


def changes_from_words(words: Sequence[str]) -> dict[str, Any]:
    """What `KEY=VALUE` words say, such as rounds=3, c_flag.adaptive=average, seeds=1234,1235.

    Values are numbers, true, false or words; commas make a list.
    """
    changes: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        names = key.strip().split(".")
        if not equals or not all(names) or len(names) > 2:
            raise InvalidInput(
                f"{word!r} is not a setting: write KEY=VALUE, such as rounds=3 or c_flag.adaptive=average"
            )
        into = changes if len(names) == 1 else changes.setdefault(names[0], {})
        if not isinstance(into, dict) or names[-1] in into:
            raise InvalidInput(f"the setting {key.strip()!r} is given twice: name each once")
        into[names[-1]] = _value(names[-1], value.strip())
    return changes


def _value(name: str, text: str) -> Any:
    if name in ("methods", "seeds"):
        return [_one(piece.strip()) for piece in text.split(",")]
    return _one(text)


def _one(text: str) -> Any:
    """A number or a truth value as TOML writes it, and else the word itself."""
    try:
        found = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    return found["value"] if set(found) == {"value"} and type(found["value"]) in (bool, int, float, str) else text
