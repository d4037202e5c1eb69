"""Worst cases in files, which are checked again before they are believed; those of this version are kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from cflag_theory.errors import CflagError, InvalidInput, OutputError
from cflag_theory.files import write_text
from cflag_theory.kernels.algorithms import NO_PAST, Algorithm
from cflag_theory.kernels.cfl.round_weights import RoundWeights
from cflag_theory.kernels.engines.codegen.cache import cache_folder, source_hash
from cflag_theory.kernels.numbers import EXACT, exact
from cflag_theory.reading import ANY, NUMBER, TABLE, TRUTH, WORD, Form, Maybe, filled, integer, read_as, unfit
from cflag_theory.worstcase.attaining import Attained, along, measured, require_ratio, run, slices
from cflag_theory.worstcase.certificate import Certificate, faults
from cflag_theory.worstcase.hulls import WorstFunction
from cflag_theory.worstcase.methods import Setting, pose
from cflag_theory.worstcase.playing import Method
from cflag_theory.worstcase.threads import one_thread
from cflag_theory.worstcase.worst import WorstCase, solve_setting

#: Of an algorithm's row, what the worst case depends on, numbers first.
_ROW = ("proximal", "server_rate", "momentum", "name", "estimator", "correction", "memory", "past")
_METHOD = ("buffer", "option", "implicit", "kept")
_NUMBERS = ("eta", "L", "mu", "radius", "heterogeneity", "bias", "ratio")
_AGAIN = "give a file that cflag sharp --out wrote"
#: What of a record is read.
_SETTING: dict[str, Form] = {
    "row": dict.fromkeys(_ROW[:3], EXACT)
    | dict.fromkeys(("name", "estimator", "correction", "past"), WORD)
    | {"memory": TRUTH, "weights": Maybe([[EXACT]]), "buffer": Maybe(EXACT)},
    **dict.fromkeys(_NUMBERS, EXACT),
    "alpha": Maybe(EXACT),
    "order": [integer(0)],
    **dict.fromkeys(("E", "T"), integer(1)),
}
_FUNCTION = {"tilt": filled("d"), "h": filled(), "z": [filled("d")]}
_FUNCTIONS = {"mu": NUMBER, "start": filled("d"), "biases": [filled("d")], "clients": [_FUNCTION]}
_FOUND: Form = {"functions": _FUNCTIONS, "certificate": TABLE, "seconds": NUMBER}


def record(found: WorstCase) -> dict[str, Any]:
    """All that `recheck` needs, beside what people want to know."""
    attained = found.attained
    if attained is None or found.setting.families:
        return found.to_json() | {"setting": _described(found.setting)}
    functions = {
        "mu": attained.functions[0].mu,
        "clients": [{name: getattr(one, name).tolist() for name in ("z", "h", "tilt")} for one in attained.functions],
        "start": attained.iterates[0].tolist(),
        "biases": attained.biases.tolist(),
    }
    curves = slices(found.setting, attained.functions, attained.iterates) | {"rounds": along(found.setting, attained)}
    return {**found.to_json(), "setting": _described(found.setting), "functions": functions, "curves": curves}


def _described(setting: Setting) -> dict[str, Any]:
    row, known = setting.row, (*_ROW, *_METHOD) if isinstance(setting.row, Method) else _ROW
    described = {name: _plain(getattr(row, name)) for name in known} | row.own
    if row.past != NO_PAST:
        described["weights"] = [[str(value) for value in setting.weights(t)] for t in range(setting.T)]
    settings = {one.name: _plain(getattr(setting, one.name)) for one in fields(setting) if one.name != "row"}
    return {"row": described, **settings}


def _plain(value: Any) -> Any:
    return (
        value if isinstance(value, str | bool | int | None) else list(value) if isinstance(value, tuple) else str(value)
    )


def _setting(data: Mapping[str, Any]) -> Setting:
    """What `_described` wrote."""
    if "own" in data["row"]:
        raise InvalidInput(f"{data['row']['name']!r} is your own method, and its file is not kept here: solve it again")
    row = {name: one for name in (*_ROW, *_METHOD, "weights") if (one := data["row"].get(name)) is not None}
    if "weights" in row:
        row["weights"] = RoundWeights("given", given=[list(map(exact, given)) for given in row["weights"]])
    row |= {name: exact(row[name]) for name in (*_ROW[:3], *_METHOD[:1]) if name in row}
    settings = {one.name: data[one.name] for one in fields(Setting) if one.name in data and one.name != "row"}
    settings |= {name: exact(data[name]) for name in (*_NUMBERS, "alpha") if data.get(name) is not None}
    return Setting(
        (Method if row.keys() & set(_METHOD) else Algorithm)(**row), **settings | {"order": tuple(data["order"])}
    )


def _require(data: Any, form: Form) -> None:
    if wrong := unfit(data, form):
        raise InvalidInput(f"this is no worst case, see {wrong}: {_AGAIN}")


def recheck(data: Mapping[str, Any]) -> WorstCase:
    """A worst case from its record: the certificate is checked in fractions and the run is done again.

    Raises
    ------
    InvalidInput
        The record is none, its certificate proves nothing, or its functions do not keep the hypotheses.
    """
    _require(data, {"setting": _SETTING})
    setting = _setting(data["setting"])
    if setting.families:
        raise InvalidInput("the functions of draws over several rounds are not kept: solve it again")
    _require(data, _FOUND)
    given, certificate = data["functions"], Certificate.from_json(data["certificate"])
    start, mu = np.array(given["start"], dtype=float), float(given["mu"])
    biases = np.array(given["biases"], dtype=float).reshape(-1, len(start))
    parts = [[np.array(one[name], dtype=float) for name in ("z", "h", "tilt")] for one in given["clients"]]
    functions = tuple(WorstFunction(z, h, 1 - mu, mu, tilt) for z, h, tilt in parts)
    wrong = faults(pose(setting), certificate)
    if wrong:
        raise InvalidInput(f"the certificate proves nothing: {'; '.join(wrong)}")
    wanted_functions = min(setting.clients, 2) * setting.functions + setting.row.memory
    sound = len(functions) == wanted_functions and len(biases) == (setting.T if setting.bias > 0 else 0)
    if not sound or mu != float(setting.curvature) or any(len(one.z) != len(one.h) for one in functions):
        raise InvalidInput(
            "the worst functions are not those of this setting: give a file that cflag sharp --out wrote"
        )
    with one_thread():
        iterates, ends = run(setting, functions, start, biases)
        value, scale = measured(setting, functions, iterates, ends)
        require_ratio(setting, functions, biases, iterates)
    return WorstCase(setting, Attained(value, functions, iterates, scale, biases), certificate, value, data["seconds"])


def read(path: Path | str) -> WorstCase:
    """The worst case of a file, checked again."""
    return recheck(read_as(path, ANY, what="worst case", remedy=_AGAIN))


def kept_worst_case(
    setting: Setting, *, progress: Callable[[float], None] | None = None, anew: bool = False
) -> WorstCase:
    """The worst case, from the user's cache folder if this version has solved it, where it is checked again."""
    # Steps of a user's own are run, and their file may have changed.
    folder = None if setting.row.own or setting.families else cache_folder()
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
