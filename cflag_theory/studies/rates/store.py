"""Finished horizons of rate studies on disk: JSON lines with checksums, written whole or not at all by one process."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cflag_theory.errors import OutputError
from cflag_theory.files import alone_in, write_text
from cflag_theory.kernels.engines.codegen.cache import source_hash, versions
from cflag_theory.public import Rule
from cflag_theory.reading import NUMBER, TABLE, WORD, Form, integer, is_number, read_text, unfit
from cflag_theory.studies.rates.statistics import RESAMPLES, Horizon, Squares

#: The file in a study's folder.
FILE = "rate_horizons.jsonl"
_RATIOS = ("m_met", "r_met")
_RATIO = Rule(lambda value: value == "inf" or is_number(value), "a number or inf")
_MEAN = Rule(lambda value: value is None or is_number(value), "a number or null")
_SQUARES: dict[str, Form] = {"first": NUMBER, "min_mean": NUMBER, "mean": _MEAN, "mean_min": NUMBER}
_SQUARES |= {"min_resampled": [_MEAN], "mean_resampled": [_MEAN]}
_HORIZON = dict.fromkeys(("beta", "f_0", "Gamma", "B"), NUMBER) | dict.fromkeys(("delta2", "omega2"), _MEAN)
_HORIZON |= {"T": integer(1), "squares": TABLE, "drops": TABLE, "diverged": integer(0)} | dict.fromkeys(_RATIOS, _RATIO)
_RECORD = {"settings": WORD, "digest": WORD, "horizon": TABLE}


class Store:
    """The horizons of one study, and of others in the same file, made with its first horizon in a folder of our own;
    read and written within `with`. Without a path nothing is written.

    `settings` are all that the numbers depend on besides code and libraries. `found` is what the file held for them,
    from the same code and libraries, and what was added.
    """

    def __init__(self, path: Path | None, settings: Mapping[str, Any]) -> None:
        self._path, self._held = path, ExitStack()
        whole = {**settings, "resamples": RESAMPLES, "study": source_hash(Path(__file__).parent)} | versions()
        self._key = _digest(whole)
        self._lines: list[str] = []
        self.found: dict[int, Horizon] = {}

    def __enter__(self) -> Store:
        if self._path is not None:
            with ExitStack() as taken:
                taken.enter_context(alone_in(self._path.absolute().parent, "study"))
                self._lines = _lines(self._path)
                read = [self._read(number, line) for number, line in enumerate(self._lines, start=1)]
                self.found = {one.T: one for one in read if one is not None}
                self._held = taken.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def add(self, horizons: Sequence[Horizon]) -> None:
        """Keep finished horizons, and write them if there is a file."""
        self.found |= {one.T: one for one in horizons}
        if self._path is None:
            return
        for one in horizons:
            values = _plain(one)
            self._lines.append(json.dumps({"settings": self._key, "horizon": values, "digest": _digest(values)}))
        write_text(self._path, "".join(line + "\n" for line in self._lines))

    def _read(self, number: int, line: str) -> Horizon | None:
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            record, wrong = None, str(error)
        else:
            wrong = unfit(record, {"settings": WORD})
            if not wrong and record["settings"] != self._key:
                return None
            wrong = wrong or unfit(record, _RECORD) or unfit(record["horizon"], _HORIZON)
            wrong = wrong or unfit([*record["horizon"]["squares"].values()], [_SQUARES])
        if wrong:
            raise OutputError(
                f"{str(self._path)!r} does not hold the horizons of rate studies (line {number}: see {wrong}): delete "
                "it or choose another --out"
            )
        values = record["horizon"]
        if record["digest"] != _digest(values):
            raise OutputError(
                f"line {number} of {str(self._path)!r} is not what was written: delete that line, and the same "
                "command runs this horizon again"
            )
        squares = {key: Squares(**one) for key, one in values["squares"].items()}
        met = {name: float(values[name]) for name in _RATIOS}
        return Horizon(**{**values, **met, "squares": squares})


def _digest(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


def _plain(one: Horizon) -> dict[str, Any]:
    """JSON has no infinity, which the ratios may be."""
    values = asdict(one)
    return values | {name: "inf" for name in _RATIOS if values[name] == math.inf}


def _lines(path: Path) -> list[str]:
    try:
        return read_text(path).splitlines()
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(f"cannot read {str(path)!r} ({error}): delete it or choose another --out") from error
