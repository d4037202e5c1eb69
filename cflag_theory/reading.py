"""Reading small files of text: no more of them than they may hold, and every fault as one kind of error."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

#: Bytes that a file of text may have; what we write ourselves has far fewer.
MOST_BYTES = 1 << 28


def read_text(path: Path | str, *, most: int = MOST_BYTES) -> str:
    """The text of a file."""
    with open(path, "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes", str(path))
    return content.decode("utf-8")


def read_json(path: Path | str, *, most: int = MOST_BYTES) -> Any:
    """What a JSON file says."""
    try:
        return json.loads(read_text(path, most=most))
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except ValueError as error:
        raise ValueError(reason_of(error)) from error


def reason_of(error: ValueError) -> str:
    """What is wrong, without the remedy that Python names for integers of very many digits, which is for programs."""
    return str(error).partition("; use sys.set_int_max_str_digits")[0]
