"""What is done to files and folders before a command meets them."""

from __future__ import annotations

import hashlib
import io
import json
import random
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tests.campaign.cases import PLAIN, VALUES

_ARRAYS = [*map(np.zeros, (0, 3, (1, 2, 3))), *map(np.array, ("x", ["1/0", "1e999"], 1 << 62, True))]
_NUMBERS = (np.nan, np.inf, -1, 0, 1e308, 1e-320)


def spoil(folder: Path, damage: tuple[str, str, int, int]) -> None:
    name, kind, number, byte = damage
    path = next(iter(sorted(folder.glob(name))), folder / name)
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind in ("file", "outside", "device", "folder", "gone", "link", "empty"):
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path.is_dir():
            return
    if kind == "file":
        path.write_text("mine")
    elif kind == "outside":
        path.symlink_to(folder / "mine.txt")
    elif kind == "device":
        path.symlink_to("/dev/full")
    elif kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(path)
    elif kind == "empty":
        path.write_bytes(b"")
    elif kind == "open":
        # Others may write there.
        path.parent.chmod(0o777)
        path.write_bytes(forged(path.read_bytes(), random.Random(number)))
    elif kind == "forge":
        path.write_bytes(forged(path.read_bytes(), random.Random(number)))
    elif path.is_file():
        path.write_bytes(spoiled(path.suffix, path.read_bytes() or b"x", kind, number, byte))


def forged(content: bytes, draw: random.Random) -> bytes:
    """Kept evidence that says the contrary, or with an escape sequence, under a checksum that fits."""
    found = json.loads(content.partition(b"\n")[2])
    for item in found:
        if draw.random() < 0.7:
            item["finding"] = draw.choice(("supports", "refutes", "undecided", "\x1b[31m", 3))
        item["summary"] = draw.choice((item["summary"], "\x1b]0;mine\x07", "two\nlines", None))
    text = json.dumps(found)
    return f"{hashlib.sha256(text.encode()).hexdigest()}\n{text}".encode()


def spoiled(suffix: str, content: bytes, kind: str, number: int, byte: int) -> bytes:
    place, draw = number % len(content), random.Random(number)
    if kind == "edit":
        # Not what is damaged already.
        with suppress(Exception):
            if suffix == ".npz":
                return _archive(content, draw)
            lines = content.decode().splitlines() if suffix == ".jsonl" else [content.decode()]
            line = draw.randrange(len(lines))
            lines[line] = _json(lines[line], draw)
            return "\n".join(lines).encode("utf-8", "surrogatepass")
    if kind in ("edit", "token"):
        tokens = list(re.finditer(rb"[\w.+-]+|[^\w\s]", content))
        token = draw.choice(tokens or [re.search(b"^", content)])
        return content[: token.start()] + _bytes(draw.choice(VALUES)) + content[token.end() :]
    if kind == "flip":
        return content[:place] + bytes([byte]) + content[place + 1 :]
    if kind == "cut":
        return content[:place]
    inserted = {
        "insert": lambda: _bytes(draw.choice(VALUES)),
        "repeat": lambda: content[place : place + 1000] * (1 + byte),
        "nest": lambda: b"[{"[byte % 2 : byte % 2 + 1] * 20_000,
        "digits": lambda: b"9" * (1 << byte % 14),
    }[kind]()
    return content[:place] + inserted + content[place:]


def _bytes(value: str) -> bytes:
    return value.encode("utf-8", "surrogateescape")


def _json(text: str, draw: random.Random) -> str:
    """The text with one of its values replaced or left out."""
    tree = [json.loads(text)]
    places: list[tuple[Any, Any]] = []
    below: list[Any] = [tree]
    while below:
        one = below.pop()
        for key in list(one) if isinstance(one, dict) else range(len(one)):
            places.append((one, key))
            if isinstance(one[key], (dict, list)):
                below.append(one[key])
    # Those at the top matter more, and long lists of numbers have most places.
    holder, key = draw.choice(places[: draw.choice((10, 100, len(places)))])
    if draw.random() < 0.25 and holder is not tree:
        del holder[key]
    else:
        holder[key] = draw.choice(PLAIN)
    return json.dumps(tree[0])


def _archive(content: bytes, draw: random.Random) -> bytes:
    """The archive with one of its arrays, a value of one, or a value of its header replaced: its checksums fit."""
    with np.load(io.BytesIO(content)) as file:
        arrays = dict(file)
    name = "header" if "header" in arrays and draw.random() < 0.5 else draw.choice(sorted(arrays))
    array = arrays[name]
    if name == "header":
        arrays[name] = np.array(_json(str(array), draw))
    elif draw.random() < 0.2:
        del arrays[name]
    elif array.size and array.dtype.kind in "fiu" and draw.random() < 0.5:
        with np.errstate(all="ignore"):
            array.flat[draw.randrange(array.size)] = np.float64(draw.choice(_NUMBERS)).astype(array.dtype)
    else:
        arrays[name] = draw.choice(_ARRAYS)
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    return packed.getvalue()
