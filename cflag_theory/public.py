"""The edge of a package: public names load when they are first used, and functions take what their annotations say.

Any other value is refused in one sentence, before anything is computed: the one place for what is of the wrong kind.
What a number or a name may be, the function itself says.
"""

from __future__ import annotations

import collections.abc
import dataclasses
import functools
import inspect
import itertools
import math
import os
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from importlib import import_module
from numbers import Integral, Rational, Real
from typing import Annotated, Any, NamedTuple

from cflag_theory.errors import InvalidInput, UnknownName


class Rule(NamedTuple):
    """Which values an argument or a key of a file may have, by a test and in words; for `Annotated`, too."""

    fits: Callable[[Any], bool]
    wanted: str
    error: type[InvalidInput] = InvalidInput
    #: Lists of one table, or of tables in it, that name the same have equal lengths.
    like: str = ""
    #: What the value is called, where it is not the name of the argument.
    called: str = ""


def one_of(*known: str, called: str = "") -> Rule:
    """These words."""
    words = ", ".join(map(repr, known) if any(" " in one for one in known) else known)
    return Rule(lambda value: isinstance(value, str) and value in known, f"one of {words}", UnknownName, called=called)


def _number(wanted: str, fits: Callable[[Any], bool] = lambda value: True) -> Rule:
    return Rule(lambda value: _is_real(value) and math.isfinite(value) and fits(value), wanted)


#: Bits of an integer, which functions count in, and of the parts of a number.
_BITS, _MOST_BITS = 63, 10_000


def at_least(least: int, bits: int = _BITS) -> Rule:
    """Integers from here on of so many bits."""
    wanted = f"an integer of at least {least}, below 2^{bits}"
    return Rule(lambda value: _is(value, int) and least <= value < 1 << bits, wanted)


def within(low: float, high: float) -> Rule:
    """Numbers in a range, with its ends."""
    return _number(f"a number from {low:g} to {high:g}", lambda value: bool(low <= value <= high))


#: Numbers of no more digits than Python writes; exact runs keep them exactly.
Number = Annotated[Any, _number("a finite number")]
NotNegative = Annotated[Any, _number("a finite number that is not negative", lambda value: bool(value >= 0))]
Share = Annotated[Any, within(0, 1)]
Part = Annotated[Any, _number("a number from 0 to below 1", lambda value: bool(0 <= value < 1))]
#: A parameter of Dirichlet's law.
Dirichlet = Annotated[Any, _number("a number above 0 and at most 1e12", lambda value: bool(0 < value <= 1e12))]
Positive = Annotated[Any, _number("a finite positive number", lambda value: bool(value > 0))]
Whole = Annotated[int, at_least(0)]
Count = Annotated[int, at_least(1)]
Several = Annotated[int, at_least(2)]
#: Local steps, rounds and replicas are counted by the draws, in 32 bits.
Steps = Annotated[int, at_least(1, 32)]
_LISTS = (collections.abc.Sequence, collections.abc.Collection, collections.abc.Iterable, list, tuple)
_WORDS = {
    bool: "True or False",
    int: "an integer below 2^63",
    float: "a number",
    str: "a text",
    type(None): "None",
    os.PathLike: "a path",
}


Function = typing.TypeVar("Function", bound=Callable[..., Any])


def names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], list[str]]:
    """`__getattr__` and `__all__` of a package, from its modules and the public names that stand in each."""
    known = {name: home for home, found in homes.items() for name in found.split()}

    def load(name: str) -> Any:
        if name not in known:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(import_module(f".{known[name]}", package), name)
        if inspect.isfunction(found) and not hasattr(found, "__wrapped__"):
            found = taking(found)
        setattr(sys.modules[package], name, found)
        return found

    return load, list(known)


def taking(function: Function) -> Function:
    """The function, which raises `InvalidInput` for arguments that its annotations do not allow."""

    @functools.wraps(function)
    def checked(*args: Any, **named: Any) -> Any:
        places, further, others, keywords = _asked(function)
        for asked, value in zip(itertools.chain(places, itertools.repeat(further)), args, strict=False):
            if not asked.surely(value):
                require(asked.name, value, asked.hint)
        for name, value in named.items():
            # A parameter without a name of its own leaves it to the others.
            asked = keywords.get(name, others)
            if not asked.surely(value):
                require(name, value, asked.hint)
        return function(*args, **named)

    return typing.cast(Function, checked)


class _Asked(NamedTuple):
    """A parameter: its name, its annotation, and a quick test that nothing else passes."""

    name: str
    hint: Any
    surely: Callable[[Any], bool]


@functools.cache
def _asked(function: Any) -> tuple[list[_Asked], _Asked, _Asked, dict[str, _Asked]]:
    """What is asked by place, of further places, of further names, and by name."""
    hints = hints_of(function)
    kinds: dict[str, list[_Asked]] = collections.defaultdict(list)
    for one in inspect.signature(function).parameters.values():
        hint = hints.get(one.name, Any)
        kinds[one.kind.name].append(_Asked(one.name, hint, _quick(hint)))
    named_too = kinds["POSITIONAL_OR_KEYWORD"]
    anything = [_Asked("", Any, _quick(Any))]
    (further,), (others,) = (kinds[kind] or anything for kind in ("VAR_POSITIONAL", "VAR_KEYWORD"))
    by_name = {one.name: one for one in named_too + kinds["KEYWORD_ONLY"]}
    return kinds["POSITIONAL_ONLY"] + named_too, further, others, by_name


def _quick(hint: Any) -> Callable[[Any], bool]:
    """A test of values that holds for none but those that the annotation allows, and for most of those."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any or hint is object:
        return lambda value: True
    if origin is Annotated:
        return typing.cast(Callable[[Any], bool], hint.__metadata__[0].fits)
    if origin in (typing.Union, types.UnionType) and not _is_array_like(inner):
        tests = [_quick(kind) for kind in inner]
        return lambda value: any(test(value) for test in tests)
    if isinstance(hint, type) and origin is None and not typing.is_typeddict(hint):
        return lambda value: _is(value, hint)
    return lambda value: value is None and type(None) in inner


def hints_of(function: Any) -> dict[str, Any]:
    """What its annotations say of the arguments of a function, or of the fields of a class."""
    return {name: _spelled(hint) for name, hint in typing.get_type_hints(function, include_extras=True).items()}


def _spelled(hint: Any) -> Any:
    """The annotation with the meaning of aliases in their place: from Python 3.12 on, NumPy's `ArrayLike` is one."""
    if hasattr(hint, "__value__"):
        return _spelled(hint.__value__)
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Annotated, typing.Literal, collections.abc.Callable):
        return hint
    meant = tuple(map(_spelled, inner))
    if meant == inner:
        return hint
    return typing.Union[meant] if origin in (typing.Union, types.UnionType) else origin[meant]  # noqa: UP007


def require_fields(record: Any) -> None:
    """Raise `InvalidInput` if a field of a dataclass is not what its annotation says."""
    kind: Any = type(record)
    for asked in _fields(kind):
        if not asked.surely(getattr(record, asked.name)):
            require(asked.name, getattr(record, asked.name), asked.hint)


@functools.cache
def _fields(kind: type) -> list[_Asked]:
    hints = hints_of(kind)
    return [_Asked(one.name, hints[one.name], _quick(hints[one.name])) for one in dataclasses.fields(kind)]


def require(name: str, value: Any, hint: Any) -> None:
    """Raise `InvalidInput` if a value is not what an annotation says."""
    for place, found, wanted, error in unlike(value, hint, name):
        known = f"{place} {quoted(found)} is unknown" if error is UnknownName else f"{place} is {quoted(found)}"
        raise error(f"{known}: use {wanted}")


#: A place, what stands there, what is wanted, and the error that says so.
Fault = tuple[str, Any, str, type[InvalidInput]]


def unlike(value: Any, hint: Any, place: str) -> Iterator[Fault]:
    """Where a value is not what an annotation says: the place, what stands there, and what is wanted."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any or hint is object or isinstance(hint, typing.TypeVar):
        return
    if origin in (typing.Union, types.UnionType):
        yield from _of_several(value, inner, place)
    elif origin is Annotated:
        (kind,) = hint.__metadata__
        if not kind.fits(value):
            yield kind.called or place, value, kind.wanted, kind.error
    elif typing.is_typeddict(hint):
        if not isinstance(value, Mapping):
            yield place, value, "a mapping", InvalidInput
            return
        for key, one in typing.get_type_hints(hint).items():
            if key in value:
                yield from unlike(value[key], one, f"{place}[{key!r}]")
            elif key in hint.__required_keys__:
                yield f"{place}[{key!r}]", None, _words(one), InvalidInput
    elif origin is typing.Literal:
        if not isinstance(value, str) or value not in inner:
            yield place, value, f"one of {', '.join(inner)}", InvalidInput
    elif not _is(value, origin or hint) and not (
        origin in _LISTS and getattr(value, "ndim", None) and _of_numbers(inner)
    ):
        yield place, value, _words(hint), InvalidInput
    elif origin is tuple and inner[1:] != (...,):
        if len(value) != len(inner):
            yield place, value, f"{len(inner)} values", InvalidInput
        for number, (one, kind) in enumerate(zip(value, inner, strict=False)):
            yield from unlike(one, kind, f"{place}[{number}]")
    elif len(inner) == 2 and isinstance(value, Mapping):
        for key, one in value.items():
            yield from unlike(key, inner[0], f"a key of {place}")
            yield from unlike(one, inner[1], f"{place}[{quoted(key)}]")
    elif inner and isinstance(value, collections.abc.Collection) and getattr(value, "dtype", "O") == "O":
        for number, one in enumerate(value):
            yield from unlike(one, inner[0], f"{place}[{number}]")


def quoted(value: Any) -> str:
    """A value for a message, whatever it is: as Python writes it if that is short, else what it is."""
    try:
        number = isinstance(value, Rational) or (type(value).__module__ == "numpy" and not hasattr(value, "__len__"))
        words = str(value) if number else repr(value)
    except Exception:
        words = ""
    if 0 < len(words) <= 200:
        return words
    if isinstance(value, Rational):
        bits = max(int(value.numerator).bit_length(), int(value.denominator).bit_length())
        return f"{'an integer' if isinstance(value, Integral) else 'a fraction'} of {bits} bits"
    return f"a value of type {type(value).__name__}"


def _of_several(value: Any, kinds: tuple[Any, ...], place: str) -> Iterator[Fault]:
    """Of a union: nothing where one of its kinds fits, else the faults by the kind that fits best."""
    if _is_array_like(kinds):
        if not (_is_array(value) or (value is None and type(None) in kinds)):
            yield place, value, "an array of real numbers", InvalidInput
        return
    faults = [list(unlike(value, kind, place)) for kind in kinds]
    if all(faults):
        deeper = [found for found in faults if found[0][0] != place]
        yield from deeper[0] if deeper else [(place, value, _words(typing.Union[kinds]), InvalidInput)]  # noqa: UP007


def _is(value: Any, kind: Any) -> bool:
    if kind is None:
        return value is None
    if kind is bool:
        return isinstance(value, bool)
    if kind is int:
        return not isinstance(value, bool) and isinstance(value, Integral) and int(value).bit_length() <= _BITS
    if kind is float:
        return _is_real(value)
    if kind is collections.abc.Callable:
        return callable(value)
    if kind in _LISTS:
        # A text is no list of its letters.
        listed = isinstance(value, collections.abc.Sequence if kind in (list, tuple) else kind)
        return listed and not isinstance(value, str | bytes)
    try:
        return isinstance(value, kind)
    except TypeError:
        # An annotation that says nothing of values.
        return True


def _of_numbers(inner: tuple[Any, ...]) -> bool:
    """Whether a list with such entries may be an array."""
    lists = (one for one in inner if not _is_table(typing.get_origin(one)))
    return any(one in (Any, int, float) or _of_numbers(typing.get_args(one)) for one in lists)


def _is_table(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Mapping)


def _is_real(value: Any) -> bool:
    if type(value) is float or (type(value) is int and value.bit_length() < sys.float_info.max_exp):
        return True
    if not isinstance(value, bool) and isinstance(value, Rational):
        long = max(int(value.numerator).bit_length(), int(value.denominator).bit_length())
        return long < _MOST_BITS and abs(Fraction(value)) <= sys.float_info.max
    return not isinstance(value, bool) and isinstance(value, Real)


def _is_array_like(kinds: tuple[Any, ...]) -> bool:
    """Whether these are the kinds in NumPy's `ArrayLike`, or None beside them; claims know no NumPy."""
    numpy: Any = sys.modules.get("numpy.typing")
    return numpy is not None and set(typing.get_args(_spelled(numpy.ArrayLike))) <= set(kinds)


def _is_array(value: Any) -> bool:
    numpy: Any = sys.modules["numpy"]
    try:
        found = numpy.asarray(value)
    # Whatever it is, it is none.
    except Exception:
        return False
    return found.dtype.kind in "iuf" or (found.dtype == object and all(map(_is_real, found.ravel())))


def _words(hint: Any) -> str:
    """What an annotation asks for."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(_words(kind) for kind in typing.get_args(hint)))
    if origin is Annotated:
        return str(hint.__metadata__[0].wanted)
    if origin is typing.Literal:
        return f"one of {', '.join(typing.get_args(hint))}"
    kind = origin or hint
    if kind in _WORDS:
        return _WORDS[kind]
    if kind is collections.abc.Callable:
        return "a function"
    name = getattr(kind, "__name__", str(kind))
    if typing.is_typeddict(kind) or _is_table(kind):
        return "a mapping"
    if isinstance(kind, type) and issubclass(kind, collections.abc.Collection) and name != "ndarray":
        return "a list"
    return "an array" if name == "ndarray" else f"a {name}"
