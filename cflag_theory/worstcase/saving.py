"""Worst cases in files, which are checked again before they are believed; those of this version are kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from cflag_theory.errors import CflagError, InvalidInput, OutputError
from cflag_theory.files import write_text
from cflag_theory.kernels.algorithms import Algorithm
from cflag_theory.kernels.engines.codegen.cache import cache_folder, source_hash
from cflag_theory.reading import read_json
from cflag_theory.worstcase.attaining import Attained, WorstFunction, along, measured, run, slices
from cflag_theory.worstcase.certificate import Certificate, faults
from cflag_theory.worstcase.methods import Setting, pose
from cflag_theory.worstcase.threads import one_thread
from cflag_theory.worstcase.worst import WorstCase, solve_setting

#: Of an algorithm's row, what the worst case depends on.
_ROW = ("name", "estimator", "correction", "proximal", "server_rate", "momentum")
_NUMBERS = ("eta", "L", "mu", "radius", "heterogeneity")


def record(found: WorstCase) -> dict[str, Any]:
    """All that `recheck` needs, beside what people want to know."""
    attained = found.attained
    functions = {
        "mu": attained.functions[0].mu,
        "clients": [{name: getattr(one, name).tolist() for name in ("z", "h", "tilt")} for one in attained.functions],
        "start": attained.iterates[0].tolist(),
    }
    curves = slices(attained.functions, attained.iterates) | {"rounds": along(found.setting, attained)}
    return {**found.to_json(), "setting": _described(found.setting), "functions": functions, "curves": curves}


def _described(setting: Setting) -> dict[str, Any]:
    numbers = {name: str(getattr(setting, name)) for name in _NUMBERS}
    row: dict[str, Any] = {
        name: value if isinstance(value := getattr(setting.row, name), str) else str(value) for name in _ROW
    }
    if setting.row.own:
        row |= {"own": setting.row.own}
    others = {name: value for name, value in asdict(setting).items() if name not in (*_NUMBERS, "row")}
    return {"row": row, **numbers, **others}


def recheck(data: Mapping[str, Any]) -> WorstCase:
    """A worst case from its record: the certificate is checked in fractions and the run is done again.

    Raises
    ------
    InvalidInput
        The record is none, its certificate proves nothing, or its functions do not keep the hypotheses.
    """
    try:
        described = dict(data["setting"])
        row: dict[str, Any] = dict(described.pop("row"))
        if "own" in row:
            raise InvalidInput(f"{row['name']!r} is your own method, and its file is not kept here: solve it again")
        row |= {name: Fraction(row[name]) for name in _ROW[3:]}
        numbers: dict[str, Any] = {name: Fraction(described.pop(name)) for name in _NUMBERS}
        setting = Setting(row=Algorithm(**row), **numbers, **described)
        given = data["functions"]
        functions = tuple(
            WorstFunction(
                np.array(one["z"], dtype=float),
                np.array(one["h"], dtype=float),
                1 - float(given["mu"]),
                float(given["mu"]),
                np.array(one["tilt"], dtype=float),
            )
            for one in given["clients"]
        )
        start = np.array(given["start"], dtype=float)
        certificate, seconds = Certificate.from_json(data["certificate"]), float(data["seconds"])
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        if isinstance(error, CflagError):
            raise
        raise InvalidInput(f"this is no worst case ({error!r}): give a file that cflag sharp --out wrote") from error
    wrong = faults(pose(setting), certificate)
    if wrong:
        raise InvalidInput(f"the certificate proves nothing: {'; '.join(wrong)}")
    wanted = (len(start),)
    sound = len(functions) == min(setting.clients, 2) and float(given["mu"]) == float(setting.curvature)
    for one in functions:
        sound = sound and one.z.shape == (len(one.h), *wanted) and one.tilt.shape == wanted and len(one.h) > 0
        sound = sound and all(np.isfinite(part).all() for part in (one.z, one.h, one.tilt, start))
    if not sound:
        raise InvalidInput(
            "the worst functions are not those of this setting: give a file that cflag sharp --out wrote"
        )
    with one_thread():
        iterates = run(setting, functions, start)
        value, scale = measured(setting, functions, iterates)
    return WorstCase(setting, Attained(value, functions, iterates, scale), certificate, value, seconds)


def read(path: Path | str) -> WorstCase:
    """The worst case of a file, checked again."""
    return recheck(read_json(path))


def kept_worst_case(
    setting: Setting, *, progress: Callable[[float], None] | None = None, anew: bool = False
) -> WorstCase:
    """The worst case, from the user's cache folder if this version has solved it, where it is checked again."""
    # Steps of a user's own are run, and their file may have changed.
    folder = None if setting.row.own else cache_folder()
    sources = source_hash(Path(__file__).parent)
    key = hashlib.sha256(json.dumps([_described(setting), sources], sort_keys=True).encode()).hexdigest()[:24]
    path = None if folder is None else folder / f"worst-{key}.json"
    if path is not None and not anew and path.exists():
        with suppress(CflagError):
            return read(path)
    found = solve_setting(setting, progress=progress)
    if path is not None:
        with suppress(OutputError):
            write_text(path, json.dumps(record(found)))
    return found
