"""Finished horizons of rate studies on disk: JSON lines, written whole or not at all, read back where they fit."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import cflag_theory
from cflag_theory.errors import OutputError
from cflag_theory.files import write_text
from cflag_theory.studies.rates.statistics import RESAMPLES, Horizon, Squares

#: The file in a study's folder.
FILE = "rate_horizons.jsonl"
_RATIOS = ("m_met", "r_met")


class Store:
    """The horizons of one study, and of others in the same file.

    Attributes
    ----------
    found : dict of int to Horizon
        What the file held for these settings, and what was added.

    Parameters
    ----------
    path : path or None
        The file, made with its first horizon; nothing is written without one.
    settings : mapping
        Everything that the numbers depend on, as JSON-able values.

    Raises
    ------
    OutputError
        The file exists and cannot be read as horizons.
    """

    def __init__(self, path: Path | None, settings: Mapping[str, Any]) -> None:
        self._path = path
        whole = {**settings, "resamples": RESAMPLES, "version": cflag_theory.__version__}
        self._key = hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:16]
        self._lines = _lines(path) if path is not None else []
        self.found = {one.T: one for line in self._lines if (one := self._read(line)) is not None}

    def add(self, horizons: Sequence[Horizon]) -> None:
        """Keep finished horizons, and write them if there is a file.

        Raises
        ------
        OutputError
            If the file cannot be written.
        """
        self.found |= {one.T: one for one in horizons}
        if self._path is None:
            return
        self._lines += [json.dumps({"settings": self._key, "horizon": _plain(one)}) for one in horizons]
        write_text(self._path, "".join(line + "\n" for line in self._lines))

    def _read(self, line: str) -> Horizon | None:
        try:
            record = json.loads(line)
            if record["settings"] != self._key:
                return None
            values = record["horizon"]
            squares = {key: Squares(**one) for key, one in values["squares"].items()}
            met = {name: float(values[name]) for name in _RATIOS}
            return Horizon(**{**values, **met, "squares": squares})
        except (ValueError, KeyError, TypeError) as error:
            raise OutputError(
                f"{str(self._path)!r} does not hold the horizons of rate studies: delete it or choose another --out"
            ) from error


def _plain(one: Horizon) -> dict[str, Any]:
    """JSON has no infinity, which the ratios may be."""
    values = asdict(one)
    return values | {name: "inf" for name in _RATIOS if values[name] == math.inf}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(f"cannot read {str(path)!r} ({error}): delete it or choose another --out") from error
