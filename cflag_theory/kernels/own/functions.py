"""Calling what a user wrote: its arguments by name, and one sentence that names the function where it goes wrong."""

from __future__ import annotations

import hashlib
import inspect
import numbers
import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from cflag_theory.errors import CflagError, InvalidInput, UnknownName
from cflag_theory.kernels.numbers import Array
from cflag_theory.reading import read_bytes

#: Iterates up to this size are no sign of divergence: NaN there is the function's own.
MODERATE = 1e6


@dataclass(frozen=True)
class Function:
    """A function of the user and what messages call it."""

    #: Its part, such as "local_step".
    what: str
    function: Callable[..., Any]
    #: The arguments that it is given, without its settings.
    names: tuple[str, ...] = ()
    #: Its settings: arguments with defaults.
    defaults: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        """ "FILE, line N: ", or nothing for a function that was not written in Python."""
        code = getattr(inspect.unwrap(self.function), "__code__", None)
        return f"{code.co_filename}, line {code.co_firstlineno}: " if code is not None else ""

    def of(self, *values: Any, **named: Any) -> Any:
        """Its value."""
        try:
            return self.function(*values, **named)
        except CflagError:
            raise
        except Exception as error:
            raise InvalidInput(f"{self.where}{self.what} {_raised(error)}") from error

    def vector(self, value: Any, like: Array, wanted: str) -> Array:
        """What it returned as a vector of the shape and number type of `like`, which it was given."""
        try:
            array = np.asarray(value)
        except ValueError:
            array = np.empty(0)
        if array.shape != like.shape or array.dtype.kind not in "fiuO":
            raise InvalidInput(
                f"{self.where}{self.what} returned {_short(value)}: return {wanted} of shape {like.shape}"
            )
        for one in array.tolist() if array.dtype == object or like.dtype == object else ():
            self._number(one, exact=like.dtype == object)
        array = array.astype(like.dtype)
        if like.dtype != object and np.isnan(array).any() and abs(like).max() <= MODERATE:
            raise InvalidInput(
                f"{self.where}{self.what} returned NaN at {_short(like)}: fix it there, or start elsewhere"
            )
        return array

    def scalar(self, value: Any, like: Array) -> Any:
        """What it returned as a number of the type of `like`, the vector that it was given."""
        if isinstance(value, np.ndarray) and value.shape == ():
            value = value.item()
        exact = like.dtype == object
        self._number(value, exact=exact)
        if not exact and value != value and abs(like).max() <= MODERATE:
            raise InvalidInput(
                f"{self.where}{self.what} returned NaN at {_short(like)}: fix it there, or start elsewhere"
            )
        return Fraction(value) if exact else float(value)

    def _number(self, value: Any, *, exact: bool) -> None:
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise self._error(f"returned {_short(value)}: return a real number")
        if exact and not isinstance(value, numbers.Rational):
            raise self._error(
                f"returned {value!r}, which is not a fraction, in an exact run: compute with Fraction and integers, or "
                "start from floats"
            )

    def _error(self, words: str) -> InvalidInput:
        return InvalidInput(f"{self.where}{self.what} {words}")


def read(what: str, function: Any, known: Collection[str]) -> tuple[Function, dict[str, Any]]:
    """A function whose arguments are given by name, and the settings that it has defaults for."""
    if not callable(function):
        raise InvalidInput(f"{what} is {function!r}: pass a function")
    found = Function(what, function)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise InvalidInput(f"the arguments of {what} = {function!r} cannot be read: write it in Python") from None
    settings: dict[str, Any] = {}
    names = []
    for one in parameters:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD, one.POSITIONAL_ONLY):
            raise InvalidInput(f"{found.where}{what} takes {one}: name every argument")
        if one.default is not one.empty and one.name not in known:
            settings[one.name] = one.default
        elif one.name in known:
            names.append(one.name)
        else:
            raise UnknownName(
                f"{found.where}{what} needs {one.name!r}, which is unknown: "
                f"use {', '.join(known) or 'no arguments'}, or give it a default"
            )
    return Function(what, function, tuple(names), tuple(settings)), settings


def shown(array: Array) -> Array:
    """The array as a user's function sees it: writing to it is an error."""
    view = array.view()
    view.flags.writeable = False
    return view


def identity(*functions: Any) -> str:
    """A hash of what the functions are: their files and code, what they close over, the objects they are methods of."""
    hashed = hashlib.sha256()
    for function in functions:
        if isinstance(function, partial):
            hashed.update(f"{identity(function.func)} {function.args} {function.keywords}".encode())
            continue
        owner = getattr(function, "__self__", None)
        if hasattr(owner, "__dict__") and not isinstance(owner, type | ModuleType):
            hashed.update(repr(sorted(vars(owner).items())).encode())
        plain = inspect.unwrap(getattr(function, "__func__", function))
        plain = getattr(plain, "py_func", plain)
        code = getattr(plain, "__code__", None)
        if code is None:
            hashed.update(str(getattr(plain, "__qualname__", repr(plain))).encode())
            continue
        if Path(code.co_filename).is_file():
            hashed.update(read_bytes(code.co_filename))
        hashed.update(code.co_code + repr(_constants(code)).encode())
        for cell in plain.__closure__ or ():
            held = cell.cell_contents
            hashed.update(identity(held).encode() if callable(held) else repr(held).encode())
    return hashed.hexdigest()[:16]


def _constants(code: Any) -> list[Any]:
    # A code object prints its address, which is another in every process.
    return [one.co_code if hasattr(one, "co_code") else one for one in code.co_consts] + [code.co_names]


def _raised(error: Exception) -> str:
    if isinstance(error, ValueError) and ("read-only" in str(error) or "not writeable" in str(error)):
        return "writes to an array that it was given: work on a copy, such as x = x.copy()"
    last = traceback.extract_tb(error.__traceback__)[-1]
    words = f" ({error})" if str(error) else ""
    return f"raised {type(error).__name__}{words} in line {last.lineno} of {Path(last.filename).name}: fix it"


def _short(value: Any) -> str:
    words = " ".join(repr(value).split())
    return words if len(words) <= 80 else f"{words[:77]}..."
