"""Reads a pickled dictionary of lists and arrays without unpickling: CIFAR's python version.

A pickle is a program for a small stack machine, and Python's unpickler lets it call what it likes. Here the arguments
of its instructions are read by the standard library's disassembler, which runs nothing, and the instructions are
carried out by the machine below, which knows lists, tuples, dictionaries, text and numbers, and four names: the ones by
which NumPy writes an array. These stand for no function either: an array is built from its bytes once their number
agrees with the shape. No more text is turned into bytes than the file has, so that its length bounds what reading
costs.
"""

from __future__ import annotations

import math
import pickletools
import re
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cflag_theory.errors import DataError
from cflag_theory.reading import read_bytes

#: Above the largest file of the data sets (155 MB), and small enough for memory.
MAX_BYTES = 2**30
STOP = b"."
OPCODES = {opcode.code.encode("latin-1"): opcode for opcode in pickletools.opcodes}
RECONSTRUCT, ARRAY, TYPE, ENCODE = "_reconstruct", "ndarray", "dtype", "encode"
#: By these names a pickle asks for an array; the last writes the bytes of one as text (Python 3, protocol 2).
NAMES = {
    "numpy.core.multiarray _reconstruct": RECONSTRUCT,
    "numpy._core.multiarray _reconstruct": RECONSTRUCT,
    "numpy ndarray": ARRAY,
    "numpy dtype": TYPE,
    "_codecs encode": ENCODE,
}
NUMBERS = re.compile(r"[|<>=]?([iu][1248]|f[48]|b1)")


class _Refused(Exception):
    """The file asks for what it may not have, or makes no sense."""


@dataclass(frozen=True)
class _Name:
    """One of the four names on the stack, never what it stands for elsewhere."""

    name: str


@dataclass(eq=False)
class _Type:
    """A type of numbers, whose byte order arrives later."""

    code: str
    order: str = "="


@dataclass(eq=False)
class _Array:
    """An array, whose values arrive later."""

    values: NDArray[Any] | None = None


def read_record(path: Path) -> dict[str, Any]:
    """The dictionary in a pickle of protocol 2 to 4: its arrays as arrays, all else as lists, text and numbers. Keys
    are text (Python 2's as Latin-1); the values may be anything of these, so check them.
    """
    try:
        record = _run(read_bytes(path, most=MAX_BYTES))
        if not isinstance(record, dict):
            raise _Refused(f"it holds a {type(record).__name__}, not a dictionary")
        return {_text(key): _resolved(value) for key, value in record.items()}
    except OSError as error:
        raise DataError(f"{path} cannot be read ({error.strerror or error}): fix the path or permissions") from error
    except (_Refused, ValueError, IndexError, KeyError, OverflowError) as error:
        reason = error if isinstance(error, (_Refused, ValueError)) else "its instructions make no sense"
        raise DataError(f"{path} is not a data file that can be trusted: {reason}; fetch the data set again") from error


def _run(data: bytes) -> Any:
    machine = _Machine(len(data))
    file = BytesIO(data)
    while code := file.read(1):
        if code == STOP:
            if file.tell() < len(data):
                raise _Refused(f"{len(data) - file.tell()} bytes follow its end")
            return machine.stack.pop()
        opcode = OPCODES.get(code)
        name = opcode.name if opcode is not None else f"{code[0]:#04x}"
        # Before its argument is read: some are numbers of any length, or text with escapes.
        if opcode is None or name not in OPERATIONS:
            raise _Refused(f"instruction {name} at byte {file.tell() - 1} is not needed for arrays and is not allowed")
        argument: Any = None
        if name == "GLOBAL":
            argument = f"{_line(file)} {_line(file)}"
        elif opcode.arg is not None:
            argument = opcode.arg.reader(file)
        OPERATIONS[name](machine, argument)
    raise _Refused("it is cut short")


def _line(file: BytesIO) -> str:
    # The disassembler undoes escapes here, which the unpickler does not.
    return file.readline().decode("utf-8").removesuffix("\n")


class _Machine:
    """The stack, the places marked on it, and what was numbered for later."""

    def __init__(self, size: int) -> None:
        # What NumPy writes encodes each text once.
        self.left = size
        self.stack: list[Any] = []
        self.marks: list[int] = []
        self.memo: dict[int, Any] = {}

    def push(self, value: Any) -> None:
        self.stack.append(value)

    def since_mark(self) -> list[Any]:
        start = self.marks.pop()
        values = self.stack[start:]
        del self.stack[start:]
        return values

    def take(self, count: int) -> list[Any]:
        if len(self.stack) < count:
            raise IndexError
        values = self.stack[len(self.stack) - count :]
        del self.stack[len(self.stack) - count :]
        return values

    def append(self, values: list[Any]) -> None:
        if type(self.stack[-1]) is not list:
            raise _Refused("it appends to what is not a list")
        self.stack[-1].extend(values)

    def set_items(self, values: list[Any]) -> None:
        if type(self.stack[-1]) is not dict:
            raise _Refused("it sets items of what is not a dictionary")
        for key, value in zip(values[::2], values[1::2], strict=True):
            # Other keys could cost more than their length: nested tuples are hashed to the bottom.
            if not isinstance(key, (str, bytes)):
                raise _Refused("it has a key that is not text")
            self.stack[-1][key] = value

    def name(self, words: str) -> None:
        if words not in NAMES:
            raise _Refused(f"it asks for {words.replace(' ', '.')[:80]!r}, and only arrays are allowed")
        self.push(_Name(NAMES[words]))

    def call(self) -> None:
        function, arguments = self.take(2)
        if type(function) is not _Name or type(arguments) is not tuple:
            raise _Refused("it calls what is not a name of NumPy's")
        kinds = [type(argument) for argument in arguments]
        if function.name == RECONSTRUCT and len(arguments) == 3 and arguments[0] == _Name(ARRAY):
            self.push(_Array())
        elif function.name == TYPE and len(arguments) == 3 and kinds[0] is str:
            if not NUMBERS.fullmatch(arguments[0]):
                raise _Refused(f"it has an array of {arguments[0][:20]!r} values, and only plain numbers are allowed")
            self.push(_Type(arguments[0].lstrip("|<>=")))
        elif function.name == ENCODE and kinds == [str, str] and arguments[1] in ("latin1", "latin-1"):
            self.push(self.encoded(arguments[0]))
        else:
            raise _Refused(f"it calls {function.name} as NumPy does not")

    def build(self) -> None:
        (state,) = self.take(1)
        target = self.stack[-1]
        if type(state) is not tuple:
            raise _Refused("it gives an object what is not its state")
        if type(target) is _Type:
            if len(state) != 8 or state[1] not in ("|", "<", ">", "=") or any(part is not None for part in state[2:5]):
                raise _Refused("it has an array of other than plain numbers")
            target.order = state[1]
        elif type(target) is _Array:
            target.values = self.array(*state)
        else:
            raise _Refused("it gives a state to what has none")

    def encoded(self, text: str) -> bytes:
        self.left -= len(text)
        if self.left < 0:
            raise _Refused("it turns the same text into bytes again and again")
        return text.encode("latin-1")

    def array(self, *state: Any) -> NDArray[Any]:
        if len(state) != 5 or type(state[1]) is not tuple or type(state[2]) is not _Type:
            raise _Refused("it has an array in a form that NumPy does not write")
        shape, kind, columns_first, raw = state[1:]
        dtype = np.dtype(kind.order + kind.code)
        if not isinstance(raw, (str, bytes)) or any(type(length) is not int or length < 0 for length in shape):
            raise _Refused("it has an array whose shape or bytes are none")
        data = self.encoded(raw) if isinstance(raw, str) else raw
        if len(shape) > 4 or math.prod(shape) * dtype.itemsize != len(data):
            raise _Refused(f"it has an array of shape {shape[:5]} with {len(data)} bytes")
        return np.frombuffer(data, dtype).reshape(shape, order="F" if columns_first is True else "C")


def _resolved(value: Any) -> Any:
    if not isinstance(value, _Array):
        return value
    if value.values is None:
        raise _Refused("it has an array without values")
    return value.values


def _text(key: str | bytes) -> str:
    return key.decode("latin-1") if isinstance(key, bytes) else key


def _stack_global(machine: _Machine) -> None:
    module, name = machine.take(2)
    if type(module) is not str or type(name) is not str:
        raise _Refused("it asks for a name that is not text")
    machine.name(f"{module} {name}")


OPERATIONS: dict[str, Callable[[_Machine, Any], None]] = {
    "PROTO": lambda machine, _: None,
    "FRAME": lambda machine, _: None,
    "MARK": lambda machine, _: machine.marks.append(len(machine.stack)),
    "NONE": lambda machine, _: machine.push(None),
    "NEWTRUE": lambda machine, _: machine.push(True),
    "NEWFALSE": lambda machine, _: machine.push(False),
    "EMPTY_LIST": lambda machine, _: machine.push([]),
    "EMPTY_DICT": lambda machine, _: machine.push({}),
    "EMPTY_TUPLE": lambda machine, _: machine.push(()),
    "TUPLE": lambda machine, _: machine.push(tuple(machine.since_mark())),
    "TUPLE1": lambda machine, _: machine.push(tuple(machine.take(1))),
    "TUPLE2": lambda machine, _: machine.push(tuple(machine.take(2))),
    "TUPLE3": lambda machine, _: machine.push(tuple(machine.take(3))),
    "APPEND": lambda machine, _: machine.append(machine.take(1)),
    "APPENDS": lambda machine, _: machine.append(machine.since_mark()),
    "SETITEM": lambda machine, _: machine.set_items(machine.take(2)),
    "SETITEMS": lambda machine, _: machine.set_items(machine.since_mark()),
    "MEMOIZE": lambda machine, _: machine.memo.update({len(machine.memo): machine.stack[-1]}),
    "BINPUT": lambda machine, place: machine.memo.update({place: machine.stack[-1]}),
    "LONG_BINPUT": lambda machine, place: machine.memo.update({place: machine.stack[-1]}),
    "BINGET": lambda machine, place: machine.push(machine.memo[place]),
    "LONG_BINGET": lambda machine, place: machine.push(machine.memo[place]),
    "GLOBAL": lambda machine, words: machine.name(words),
    "STACK_GLOBAL": lambda machine, _: _stack_global(machine),
    "REDUCE": lambda machine, _: machine.call(),
    "BUILD": lambda machine, _: machine.build(),
}
NUMERALS = ("BININT", "BININT1", "BININT2", "LONG1")
TEXTS = ("BINSTRING", "SHORT_BINSTRING", "BINUNICODE", "SHORT_BINUNICODE", "BINBYTES", "SHORT_BINBYTES")
OPERATIONS |= dict.fromkeys((*NUMERALS, *TEXTS), _Machine.push)
