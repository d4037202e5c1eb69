"""The results of a sweep on disk: a folder of Parquet files, one a chunk, each written whole or not at all."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cflag_theory.errors import DataError, InvalidInput, MissingExtra
from cflag_theory.files import alone_in, whole
from cflag_theory.kernels.engines.codegen.cache import versions
from cflag_theory.public import Rule
from cflag_theory.reading import LIST, TABLE, WORDS, integer, read_bytes, read_record
from cflag_theory.studies.sweeps.check import Chunk, Plan
from cflag_theory.studies.sweeps.grid import Grid
from cflag_theory.studies.sweeps.run import FIXED, MEASURED, NAMES

FORMAT = "cflag-theory sweep 1"
HEADER = "sweep.json"
_RULES = {
    # Names of files are made of it.
    "identity": Rule(lambda value: isinstance(value, str) and value.isalnum(), "letters and digits"),
    "versions": TABLE,
    "columns": WORDS,
    "every": integer(1),
    "chunks": LIST,
}
_MENDED = "give the same command again when that is fixed; chunks that are complete are kept"


class Store:
    """The folder of one sweep, which is read and written within `lock`: made if it does not exist; one that holds
    chunks of the same sweep is continued. `text` is the sweep's file, for the record.
    """

    def __init__(self, folder: Path, plan: Plan, text: str) -> None:
        require_pyarrow()
        self.folder, self.plan = folder, plan
        self._schema = _schema(plan.grid)
        self._header = {
            "format": FORMAT,
            "identity": plan.identity,
            "versions": versions(),
            "runs": len(plan.grid),
            "rows": plan.rows,
            "columns": self._schema.names,
            "every": plan.grid.every,
            "chunks": [[chunk.start, chunk.stop, chunk.rows] for chunk in plan.chunks],
            "file": text,
        }

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Make the folder, or see that it holds this sweep; no other process may write to it meanwhile."""
        with alone_in(self.folder, "sweep"):
            # Within the lock: two sweeps that begin together would both find the folder empty.
            self._begin()
            yield

    def _begin(self) -> None:
        if (self.folder / HEADER).exists():
            _require_same(self.folder, read_header(self.folder), self._header)
        elif any(self.folder.glob("runs-*.parquet")):
            raise DataError(f"{self.folder} holds chunks and no {HEADER}: choose another folder with --out")
        else:
            with whole(self.folder / HEADER) as file:
                file.write(json.dumps(self._header, indent=1).encode())

    def missing(self) -> list[Chunk]:
        """The chunks that are still to be run."""
        there = _chunks_in(self.folder, self.plan.identity)
        for path in there.values():
            _content_of(path)
        return [chunk for chunk in self.plan.chunks if (chunk.start, chunk.stop) not in there]

    def write(self, chunk: Chunk, columns: Mapping[str, Any]) -> None:
        """Write the rows of a chunk."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        arrays = [_as_column(columns.get(field.name), chunk.rows, field.type) for field in self._schema]
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table(arrays, schema=self._schema), sink, compression="zstd")
        content = sink.getvalue()
        name = f"runs-{chunk.start:09d}-{chunk.stop:09d}-{self.plan.identity}-{_digest(content)}.parquet"
        with whole(self.folder / name, remedy=_MENDED) as file:
            file.write(content)


def _chunks_in(folder: Path, identity: str) -> dict[tuple[int, int], Path]:
    """(start, stop) -> the file of runs start, ..., stop - 1 of the sweep with this identity, in their order."""
    found = {}
    for path in sorted(folder.glob(f"runs-*-*-{identity}-*.parquet")):
        _, start, stop, *_ = path.name.split("-")
        found[int(start), int(stop)] = path
    return found


def read_results(folder: Path | str, *, columns: Sequence[str] | None = None, partial: bool = False) -> Any:
    """The results of `sweep`, in the order of runs and replicas.

    Parameters
    ----------
    folder : path
        What `sweep` wrote.
    columns : sequence of str, optional
        Only these; all without it. `sweeps.run` says what they hold (`FIXED`, `MEASURED`); the coordinates are
        problem, memory, algorithm, their dials such as problem.heterogeneity or memory.m, alpha, beta (numbers),
        alpha_law, beta_law (formulas), c, E, T, seed, replicas, participants; curve.NAME are recorded columns, lists.
    partial : bool
        Whether a sweep that is not complete gives the rows that are there, instead of an error.

    Returns
    -------
    pyarrow.Table
        One row a run and replica; `.to_pandas()`, `.column(name).to_numpy()` and the like convert it.

    Raises
    ------
    MissingExtra
        pyarrow is not installed.
    DataError
        The folder holds no sweep, one that is not complete, or a damaged chunk.
    InvalidInput
        No such column.
    """
    require_pyarrow()
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = Path(folder)
    header = read_header(folder)
    there, chunks = _chunks_in(folder, header["identity"]), len(header["chunks"])
    if not there or (len(there) < chunks and not partial):
        raise DataError(
            f"{folder} holds {len(there)} of {chunks} chunks: give the same `cflag sweep` again to complete it"
            + (", or ask for the part that is there" if there else "")
        )
    tables = []
    for path in there.values():
        content = _content_of(path)
        try:
            with pq.ParquetFile(pa.BufferReader(content)) as file:
                known = file.schema_arrow.names
                for name in columns or ():
                    if name not in known:
                        raise InvalidInput(f"the results have no column {name!r}: use one of {', '.join(known)}")
                wanted = None if columns is None else list(columns)
                # A thread of Arrow's that lets go of `content` while Python ends would abort the process.
                tables.append(file.read(columns=wanted, use_threads=False))
        except (OSError, pa.ArrowException) as error:
            raise _damaged(path, error) from error
    return pa.concat_tables(tables)


def require_pyarrow() -> None:
    """Raise `MissingExtra` unless Parquet files can be read and written."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise MissingExtra(
            "sweeps keep their results in Parquet files, and pyarrow is not installed: "
            "pip install 'cflag-theory[sweep]'"
        ) from error


def read_header(folder: Path) -> dict[str, Any]:
    """What the folder of a sweep says of itself."""
    again = "run the sweep again, in another folder"
    return read_record(folder / HEADER, FORMAT, _RULES, what="results of a sweep", by="cflag sweep", again=again)


def _require_same(folder: Path, found: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    if found["identity"] != now["identity"]:
        raise DataError(
            f"{folder} holds the results of another grid: choose another folder with --out, or restore the sweep's "
            f"file, whose text is kept in {HEADER}"
        )
    for name, value in now["versions"].items():
        if found["versions"].get(name) != value:
            raise DataError(
                f"{folder} was started with {name} {found['versions'].get(name)} and this is {value}, so that results "
                "may differ in their last bits: use that version, or another folder with --out"
            )


def _digest(content: Any) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _content_of(path: Path) -> bytes:
    """A chunk, if it is what was written: Parquet's own checksums leave out the headers of pages and the footer."""
    try:
        content = read_bytes(path)
    except OSError as error:
        raise DataError(f"cannot read {path} ({error.strerror}): check its permissions") from error
    if _digest(content) != path.stem.rpartition("-")[2]:
        raise _damaged(path, "its content is not what was written")
    return content


def _damaged(path: Path, reason: object) -> DataError:
    return DataError(
        f"{path} is damaged ({str(reason).rstrip('.')}): delete it and run the sweep again; other chunks stay"
    )


def _schema(grid: Grid) -> Any:
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


def _as_column(values: Any, rows: int, kind: Any) -> Any:
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
