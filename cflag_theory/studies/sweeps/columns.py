"""The columns of a sweep's results as Parquet has them."""

from __future__ import annotations

from typing import Any

from cflag_theory.studies.sweeps.grid import Grid
from cflag_theory.studies.sweeps.run import FIXED, MEASURED, NAMES


def schema(grid: Grid) -> Any:
    """The same columns in every chunk: coordinates by the types of their values, then what is measured."""
    import pyarrow as pa

    text, whole, number = pa.string(), pa.int64(), pa.float64()
    kinds = {"run": whole, "replica": whole, "problem": text, "memory": text, "algorithm": text}
    for (section, key), values in grid.axes().items():
        if key in ("alpha", "beta") and section == "run":
            kinds[key] = number
            if any(isinstance(value, str) for value in values):
                kinds[f"{key}_law"] = text
        elif (section, key) not in NAMES:
            types = {type(value) for value in values}
            kind = pa.bool_() if types == {bool} else whole if types == {int} else number if float in types else text
            kinds[key if section == "run" else f"{section}.{key}"] = kind
    kinds |= {"problem_digest": text, "L": number, "N": whole, "d": whole}
    measured = dict.fromkeys(MEASURED, number) | {"status": text, "rounds_done": whole}
    curves = {f"curve.{name}": pa.list_(number) for name in grid.record}
    words = FIXED | MEASURED
    return pa.schema(
        [
            pa.field(name, kind, metadata={"holds": words[name]} if name in words else None)
            for name, kind in (kinds | measured | curves).items()
        ]
    )


def as_column(values: Any, rows: int, kind: Any) -> Any:
    """A column of its type; NaN, which no measurement is, becomes null."""
    import pyarrow as pa
    import pyarrow.types as types

    if values is None:
        return pa.nulls(rows, kind)
    if types.is_list(kind):
        flat, lengths = values
        offsets = [0, *lengths.cumsum().tolist()]
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(flat, pa.float64()))
    return pa.array(values, kind, from_pandas=True)
