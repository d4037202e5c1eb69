"""Evidence that a user's functions compute in single precision: where the first such number stands."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from cflag_theory.conform.numbers import single_in

_CONFORM = str(Path(__file__).parent)
#: Where libraries lie: what is single there need not be so in the user's own lines.
_OTHERS = ("<frozen", str(Path(linecache.__file__).parent))


class SinglePrecision:
    """Looks on while a user's functions run in double precision, for the first line that makes a float32.

    Attributes
    ----------
    place : str
        File, line and its text; "" while there is none.
    """

    def __init__(self) -> None:
        self.place = ""
        self._before: Any = None

    def __enter__(self) -> None:
        self._before = sys.gettrace()
        sys.settrace(self._called)

    def __exit__(self, *error: object) -> None:
        sys.settrace(self._before)

    def _called(self, frame: FrameType, event: str, value: Any) -> Callable[..., Any] | None:
        file = frame.f_code.co_filename
        if file.startswith(_CONFORM):
            # A gradient is asked for at a point that the user has cast in the call.
            given = [value for key, value in frame.f_locals.items() if key != "self"]
            if frame.f_back is not None and not frame.f_back.f_code.co_filename.startswith(_CONFORM):
                self._see(given, frame.f_back, frame.f_back.f_lineno)
            return None
        others = file.startswith(_OTHERS) or "site-packages" in file
        return None if others else self._inside(frame.f_lineno)

    def _inside(self, line: int) -> Callable[..., Any]:
        def trace(frame: FrameType, event: str, value: Any) -> Callable[..., Any]:
            nonlocal line
            self._see([*frame.f_locals.values(), value if event == "return" else None], frame, line)
            line = frame.f_lineno
            return trace

        return trace

    def _see(self, values: list[Any], frame: FrameType, line: int) -> None:
        if not self.place and single_in(values):
            text = linecache.getline(frame.f_code.co_filename, line).strip()
            self.place = f"{frame.f_code.co_filename}, line {line}" + (f" ({text})" if text else "")
