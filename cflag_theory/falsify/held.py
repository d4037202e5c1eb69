"""Conjectures of a user's file, whose functions stay in the process that has run it: numbers and formulas come back.

The file may change what it likes there. What is compared, proved and counted is compared, proved and counted here.
"""

from __future__ import annotations

import builtins
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
import sympy as sp

from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.conjecture import OF_A_RUN, Conjecture, Stated
from cflag_theory.falsify.quantity import place_of, quantity
from cflag_theory.falsify.search.exact_numbers import DIGITS
from cflag_theory.falsify.search.guard import TimeUp, Told, guarded, time_limit, where_raised
from cflag_theory.falsify.search.running import read_only, run_of
from cflag_theory.falsify.tracing import NOTES, Notes, Traced, TracedRelation, traced
from cflag_theory.falsify.vector_terms.words import DECLARED
from cflag_theory.outside import python_files
from cflag_theory.outside.child import KNOWN, Child, NoAnswer, pickled
from cflag_theory.outside.processes import words_of

#: Seconds that a file of claims may always take: `seconds` limits what is done with them.
_READ = 0.5
#: Packages whose types can be passed on.
_PASSED = ("builtins", "fractions", "numpy", "sympy", "cflag_theory")


@dataclass(frozen=True)
class Odd:
    """A value that is no number, by its words."""

    words: str

    def __repr__(self) -> str:
        return self.words


@dataclass(frozen=True, eq=False)
class Held:
    """A function that another process has."""

    home: Home
    #: Its number there, its arguments, and "FILE, line N: ".
    key: int
    __signature__: inspect.Signature
    place: str

    def __call__(self, **values: Any) -> Any:
        sent = {name: None if name in OF_A_RUN else value for name, value in values.items()}
        return self.home.ask(("call", self.key, DIGITS.get(), sent), self.place)

    def traced(self, symbols: Mapping[str, sp.Symbol]) -> Any:
        """Its formula, with notes on how it was found, as `tracing.traced` has it."""
        found, asked, needs = self.home.ask(("trace", self.key, dict(symbols)), self.place)
        if (notes := NOTES.get()) is not None:
            notes.asked += asked
            notes.needs += [need for need in needs if need not in notes.needs]
        if isinstance(found, tuple):
            return TracedRelation(found)
        return Traced(found) if isinstance(found, sp.Expr) else found


class Home:
    """The process that has run a file, from here."""

    def __init__(self, path: Path, seconds: float) -> None:
        self.path, self.seconds = path, seconds
        content = python_files.content_of(path, "give a Python file that holds a Conjecture")
        within = max(seconds, _READ)
        self.child = Child(lambda: _Within(path, content, within), str(path), seconds=within, receive=self._receive)

    def _receive(self, handle: Any) -> Held:
        key, names, defaults, place = handle
        kind = inspect.Parameter.KEYWORD_ONLY
        arguments = [
            *(inspect.Parameter(name, kind) for name in names),
            *(inspect.Parameter(name, kind, default=None) for name in defaults),
        ]
        return Held(self, key, inspect.Signature(arguments), place)

    def claims(self) -> list[Conjecture]:
        """The conjectures of the file, in its order."""
        declared, found = self.ask(("claims",), f"{self.path}: ")
        for declare, word, more, known in declared:
            declare(word, *more, **known)
        claims: list[Conjecture] = []
        for number, values in enumerate(found):
            if "statement" in values:
                claims.append(Stated(**values))
            elif values["algorithm"] is not None or values["local_step"] is not None:
                claims.append(HeldConjecture(**values, home=self, number=number))
            else:
                claims.append(Conjecture(**values))
        return claims

    def ask(self, question: tuple[Any, ...], place: str) -> Any:
        """What the process answers; what a function raised there is raised here, with the place where it was."""
        try:
            word, *found = self.child.ask((*question, self.seconds), self.seconds)
        except NoAnswer:
            raise TimeUp(place.removesuffix(": ")) from None
        if word == "late":
            raise TimeUp(found[0])
        if word == "raised":
            error, told = found
            error.told = told
            raise error
        return found[0]

    def anew(self) -> None:
        """Start again with the next question: nothing is left of what was called."""
        self.child.end()


@dataclass(frozen=True, kw_only=True, eq=False)
class HeldConjecture(Conjecture):
    """A conjecture about runs: they are made where its functions are."""

    home: Any
    number: int

    def run_there(self, seen: Mapping[str, Any]) -> str:
        """Make the run of a case, which stays there: what came of it, as `running.run_of` says it."""
        found: str = self.home.ask(("run", self.number, dict(seen)), f"{self.home.path}: ")
        return found


def home_of(conjecture: Conjecture) -> Home | None:
    """Where the functions of a conjecture are, if they are elsewhere."""
    parts = [conjecture.left, conjecture.right, *conjecture.given, getattr(conjecture, "home", None)]
    homes = [part if isinstance(part, Home) else part.home for part in parts if isinstance(part, Home | Held)]
    return homes[0] if homes else None


class _Within:
    """In the process: the file, its conjectures and their functions."""

    def __init__(self, path: Path, content: bytes, seconds: float) -> None:
        self.path = path
        self.functions: list[Any] = []
        self.problem: Any = None
        self.trace: Any = None
        with guarded(seconds, (str(path),), "the file"):
            module = python_files.run(path, content, f"claims_of_{path.stem}")
        self.found: list[Conjecture] = []
        for value in list(vars(module).values()):
            for one in value if isinstance(value, list | tuple) else (value,):
                if isinstance(one, Conjecture) and one not in self.found:
                    self.found.append(one)
        # Functions have the numbers that they had where this file was run before.
        pickled(self._claims(), self.send)

    def send(self, value: Any) -> Any:
        """The handle of a function; None for what can leave."""
        if isinstance(value, type | sp.Basic | ModuleType) or not callable(value):
            return None
        if isinstance(value, FunctionType | BuiltinFunctionType) and _is_importable(value):
            return None
        key = next((key for key, one in enumerate(self.functions) if one is value), len(self.functions))
        self.functions[key:] = self.functions[key:] or [value]
        try:
            read = quantity("a function", value)
        except InvalidInput:
            return key, (), (), place_of(value)
        return key, read.names, read.defaults, read.where

    def __call__(self, question: tuple[Any, ...]) -> tuple[Any, ...]:
        word, *rest, seconds = question
        try:
            with np.errstate(all="ignore"), time_limit(seconds, (str(self.path),)):
                return ("found", getattr(self, f"_{word}")(*rest))
        except TimeUp as up:
            return ("late", up.place)
        except BaseException as error:
            told = Told(where_raised(error, (str(self.path),)), words_of(error))
            return ("raised", _passed_error(error), told)

    def _claims(self) -> tuple[list[Any], list[dict[str, Any]]]:
        for one in self.found:
            if type(one) not in (Conjecture, Stated):
                raise InvalidInput(f"{self.path} makes a kind of Conjecture of its own: use Conjecture")
        return DECLARED, [{field.name: getattr(one, field.name) for field in fields(one)} for one in self.found]

    def _call(self, key: int, digits: int, values: dict[str, Any]) -> Any:
        for name in OF_A_RUN:
            if name in values:
                values[name] = getattr(self, name)
        token = DIGITS.set(digits)
        try:
            return _passed(self._function(key)(**read_only(values)))
        finally:
            DIGITS.reset(token)

    def _trace(self, key: int, symbols: dict[str, sp.Symbol]) -> Any:
        notes = Notes()
        token = NOTES.set(notes)
        try:
            found = traced(self._function(key), symbols)
        finally:
            NOTES.reset(token)
        if isinstance(found, TracedRelation):
            found = tuple(found.relations)
        elif isinstance(found, Traced):
            found = found.expr
        return _passed(found), notes.asked, notes.needs

    def _run(self, number: int, seen: dict[str, Any]) -> str:
        how, self.problem, self.trace = run_of(self.found[number], read_only(seen))
        return how

    def _function(self, key: int) -> Callable[..., Any]:
        if key >= len(self.functions):
            raise InvalidInput(f"{self.path} has other functions when it is run again: let it always make the same")
        found: Callable[..., Any] = self.functions[key]
        return found


def _is_importable(function: Any) -> bool:
    """Whether it is a library's function, which an answer names."""
    module = getattr(function, "__module__", None) or ""
    library = (module + ".").startswith(KNOWN)
    return library and getattr(sys.modules.get(module), function.__qualname__, None) is function


def _passed(value: Any) -> Any:
    """A value that can leave the process, or its words."""
    if isinstance(value, tuple):
        return tuple(map(_passed, value))
    if (type(value).__module__.partition(".")[0] in _PASSED and not callable(value)) or isinstance(value, sp.Basic):
        return value
    try:
        return Odd(repr(value))
    except BaseException:
        return Odd(f"a {type(value).__name__}")


def _passed_error(error: BaseException) -> BaseException:
    """The error where it is the package's own, else the kind of Python's that it is."""
    if type(error).__module__.startswith("cflag_theory."):
        return error
    kinds = [one for one in type(error).__mro__ if one.__module__ == "builtins" and issubclass(one, Exception)]
    words = words_of(error).partition(": ")[2]
    return kinds[0](words) if kinds and vars(builtins).get(kinds[0].__name__) is kinds[0] else Exception(words)
