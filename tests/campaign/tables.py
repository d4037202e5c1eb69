"""One table as other tools write it: read, it gives the numbers of data.csv; or one sentence says why it is not."""

from __future__ import annotations

import io
import random
from typing import Any

WORDS = "simulate --beta 0.01 --alpha 0.1 --T 2 --E 1 --clients 2 --format json --data"
LIKE = tuple(f"{WORDS} data.csv --features a,b".split())
ENCODINGS = ("utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1", "cp1252")
#: As pandas, polars, R and Excel write what is missing; such rows are left out.
MISSING = ("", "NA", "NaN", "nan", "null", "NULL", "#N/A", "#DIV/0!", "None", "?", "-", ".", "inf", "1e999")


def drawn(draw: random.Random) -> tuple[str, bytes]:
    """The name of a file, and its content."""
    if draw.random() < 0.2:
        return "theirs.npz", _arrays(draw)
    mark, separator = draw.choice((".", ".", ",")), draw.choice((",", ",", ";", "\t", "|", " "))
    quote = draw.choice(("", "", '"', "'"))
    if mark == separator:
        separator = ";"
    form = draw.choice(("{:d}", "{:.1f}", "{:.15f}", "{:e}", "{:+d}", "{: 4d}", "{:d}.", "0{:d}"))
    if mark == "," and form == "{:d}.":
        # "0," is a word.
        form = "{:d}"
    rows = [[form.format(one).replace(".", mark) for one in (i % 7, i % 5)] + [str(i % 4)] for i in range(80)]
    names = ["a", "b", "label"]
    if draw.random() < 0.3:
        rows.insert(draw.choice((0, 3, 80)), [draw.choice(MISSING), "1", "1"])
    index = draw.choice(("", "", "pandas", "R"))
    if index:
        rows = [[f"{i}", *row] for i, row in enumerate(rows)]
        names = ["", *names] if index == "pandas" else names
    lines = [separator.join(f"{quote}{one}{quote}" for one in row) for row in (names, *rows)]
    if draw.random() < 0.15:
        lines.insert(0, draw.choice((f"sep={separator}", "# made by R", "", "Table 1")))
    if draw.random() < 0.2:
        lines.append(draw.choice(("", separator * 2, "\x1a", "80 rows", " ")))
    content = draw.choice(("\n", "\r\n", "\r")).join(lines) + draw.choice(("", "\n", "\r\n"))
    name = draw.choice(("theirs.csv", "theirs.tsv", "theirs.txt"))
    return name, content.encode(draw.choice(ENCODINGS))


def _arrays(draw: random.Random) -> bytes:
    import numpy as np

    table = np.array([(i % 7, i % 5) for i in range(80)])
    labels: Any = np.arange(80) % 4
    kind = draw.choice(
        ["float64", "float32", "float16", "int8", "uint8", ">i4", ">f8", "complex128", "object", "U5", "longdouble"]
    )
    features: Any = np.asarray(table.astype(kind), order=draw.choice("CF"))
    shape = draw.choice(((80, 2), (80, 2), (80, 2, 1), (2, 80), (160,)))
    labels = draw.choice((labels, labels[:, None], labels.astype(object), labels + 0.0, labels[:79]))
    names = draw.choice(
        (("features", "labels"), ("features", "labels"), ("x", "y"), ("arr_0", "arr_1"), ("X_train", "y_train"))
    )
    packed = io.BytesIO()
    save = draw.choice((np.savez, np.savez_compressed))
    save(packed, **dict(zip(names, (features.reshape(shape), labels), strict=True)))
    return packed.getvalue()
