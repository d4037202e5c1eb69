"""Problems, memories, rows and lists of numbers from words, as the command line and the files of sweeps have them."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from cflag_theory import kernels
from cflag_theory.errors import InvalidInput
from cflag_theory.kernels.problems.by_name import constructor

if TYPE_CHECKING:
    from cflag_theory.studies.rates.cfl import Model

#: How real data are split by default.
SPLIT = {"clients": 5, "zeta": 1.0}
#: Numbers that one range may stand for.
MOST = 100_000
#: Past components per client that a memory of real data keeps by default.
DATA_MEMORY = 20


def integers(words: str, what: str) -> tuple[int, ...]:
    """Integers from "0,1,4" or "0-4"."""
    found: list[int] = []
    try:
        for piece in words.split(","):
            first, dash, last = piece.strip().partition("-")
            if dash and int(last) < int(first):
                raise ValueError
            if dash and int(last) - int(first) >= MOST:
                raise InvalidInput(f"{what} {words!r} are more than {MOST} numbers: name fewer")
            found += range(int(first), int(last) + 1) if dash else [int(first)]
    except InvalidInput:
        raise
    except ValueError:
        raise InvalidInput(f"{what} {words!r} is not understood: write 0-4 or 16,32,64") from None
    return tuple(found)


def classes(words: str, what: str, data: str) -> tuple[int | str, ...]:
    """Classes from "0-4", "0,1" or, of a table, "setosa,virginica"."""
    if any(letter.isalpha() for letter in words) and data != "digits" and not data.endswith(".npz"):
        return tuple(word.strip() for word in words.split(","))
    return integers(words, what)


@dataclass(frozen=True)
class Columns:
    """What the columns of a data file are, and which loss they make, as the command line has it. Labels of `positive`,
    such as "1,3", have target +1; `read` is what else says how a table is read, KEY=VALUE, such as "delimiter=;"; the
    rest is as `load_data` takes it.
    """

    label_column: str | None = None
    task_column: str | None = None
    client_column: str | None = None
    positive: str | None = None
    potential: str | None = None
    features: str | None = None
    missing: str | None = None
    scale: bool = False
    read: tuple[str, ...] = ()

    def words(self, data: str) -> dict[str, Any]:
        """The arguments of `load_data` that are set."""
        found = {name: value for name, value in asdict(self).items() if value is not None and name != "read"}
        for words in self.read:
            name, value = _setting("read", words, "delimiter=;")
            found[name] = value if name == "levels" else words.partition("=")[2]
        if data.endswith(".npz") and "label_column" in found:
            found["labels_array"] = found.pop("label_column")
        if found.get("positive", "odd") != "odd":
            found["positive"] = classes(found["positive"], "positive", data)
        return found


NO_COLUMNS = Columns()


def read_problem(
    *,
    problem: str,
    dials: Sequence[str] = (),
    data: str | None = None,
    clients: int = 5,
    zeta: float = 1.0,
    past_classes: str | None = None,
    current_classes: str | None = None,
    columns: Columns = NO_COLUMNS,
    seed: int = 0,
) -> kernels.Problem:
    """The problem that the options name: real data if `data` is given, else a synthetic one with its dials."""
    if data is not None:
        if dials:
            raise InvalidInput(f"dial {dials[0]!r} is only for a synthetic problem: leave out --dial or --data")
        if problem != "default":
            raise InvalidInput(
                f"problem {problem!r} and data {data!r} cannot be used together: leave out --problem or --data"
            )
        split = data_split(data, clients, zeta, past_classes, current_classes, columns)
        return kernels.load_data(data, seed=seed, **split)
    require_data(clients, zeta, past_classes, current_classes, columns)
    seeded = {"seed": seed} if "seed" in inspect.signature(constructor(problem)).parameters else {}
    return kernels.make_problem(problem, **{**seeded, **read_dials(dials)})


def data_split(
    data: str,
    clients: int,
    zeta: float,
    past_classes: str | None,
    current_classes: str | None,
    columns: Columns,
) -> dict[str, Any]:
    """How real data become a problem, as `load_data` takes it."""
    words = {"past_classes": past_classes, "current_classes": current_classes}
    named = {key: classes(text, key.replace("_", " "), data) for key, text in words.items() if text is not None}
    return {"clients": clients, "zeta": zeta, **named, **columns.words(data)}


def require_data(
    clients: int, zeta: float, past_classes: str | None, current_classes: str | None, columns: Columns
) -> None:
    """Refuse what is about real data where there are none."""
    given = {"clients": clients, "zeta": zeta, "past_classes": past_classes, "current_classes": current_classes}
    defaults = {**SPLIT, **asdict(NO_COLUMNS)}
    for name, value in {**given, **asdict(columns)}.items():
        if value != defaults.get(name):
            raise InvalidInput(
                f"{name.replace('_', ' ')} = {value} is about real data: add --data, such as --data digits, or use "
                "--dial for a synthetic problem"
            )


def read_dials(words: Sequence[str]) -> dict[str, Any]:
    """Dials of a synthetic problem from KEY=VALUE."""
    return dict(_setting("dial", dial, "conflict=0.5") for dial in words)


def read_algorithm(name: str, settings: Sequence[str] = ()) -> kernels.Algorithm:
    """The row of this name, or of FILE.py:name, with fields or settings set: KEY=VALUE.

    Round weights are weights=SCHEME or weights=SCHEME:D2=1,R2=0.25.
    """
    fields = dict(_setting("setting", setting, "past=taylor") for setting in settings)
    if isinstance(fields.get("weights"), str):
        scheme, colon, words = str(fields["weights"]).partition(":")
        dials = dict(_setting("weight dial", dial, "D2=1") for dial in words.split(",")) if colon else {}
        known = ("D2", "R2", "F2", "alpha", "window")
        for dial in dials:
            if dial not in known:
                raise InvalidInput(f"round weights have no dial {dial!r} here: use one of {', '.join(known)}")
        fields["weights"] = kernels.RoundWeights(scheme, **dials)
    return kernels.algorithm(name, **fields)


def read_model(dials: Sequence[str], *, K: int, stateless: bool) -> Model:
    """The noisy quadratic model with its dials set: KEY=VALUE."""
    # It needs sympy, which takes as long to import as a short run.
    from cflag_theory.studies.rates.cfl import Model

    known = [field.name for field in fields(Model) if field.name not in ("K", "stateless")]
    chosen = dict(_setting("dial", dial, "D=10") for dial in dials)
    for dial in chosen:
        if dial not in known:
            raise InvalidInput(f"the noisy quadratic model has no dial {dial!r} here: use one of {', '.join(known)}")
    return Model(**chosen, K=K, stateless=stateless)


def _setting(what: str, words: str, example: str) -> tuple[str, Any]:
    """KEY=VALUE as a key and a number, truth value or word."""
    key, equals, value = words.partition("=")
    if not (key and equals and value):
        raise InvalidInput(f"{what} {words!r} is not understood: write KEY=VALUE, such as {example}")
    try:
        found = ast.literal_eval(value)
    # The last three: {[]: 1}, and thousands of brackets or signs.
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return key, value
    return key, found if type(found) in (bool, int, float, str, type(None)) else value


def read_memory(kind: str | None, *, size: int | None, m: float | None, redraw: bool, data: bool) -> kernels.Memory:
    """The memory that the options name; without a kind, the default one of synthetic or of real data."""
    if kind is None:
        if m is not None:
            raise InvalidInput(f"m = {m} needs a memory whose bias is a dial: add --memory sign or --memory rotation")
        if size is None and not redraw:
            return kernels.uniform(DATA_MEMORY) if data else kernels.default_memory()
        kind = "uniform"
    if kind in ("sign", "rotation"):
        if m is None or size is not None:
            raise InvalidInput(f"memory {kind!r} is set by m alone: give --m and no --memory-size")
        return kernels.sign_bias(m=m, redraw=redraw) if kind == "sign" else kernels.rotation_bias(m=m)
    if m is not None:
        raise InvalidInput(f"m = {m} is not a dial of memory {kind!r}: use --memory sign or --memory rotation")
    if kind == "all":
        return kernels.everything()
    if kind in ("uniform", "balanced"):
        kept = size if size is not None else (DATA_MEMORY if data else kernels.default_memory().size)
        return (kernels.uniform if kind == "uniform" else kernels.class_balanced)(kept, redraw=redraw)
    raise InvalidInput(f"memory {kind!r} is unknown: use all, uniform, balanced, sign or rotation")
