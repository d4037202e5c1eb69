"""Running an implementation round by round: what it computes, and where it first makes a single-precision number.

An implementation in a user's file runs in a process of its own, and what it computed comes back."""

from __future__ import annotations

import inspect
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, is_dataclass, replace
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Any

import numpy as np

from cflag_theory.conform.algorithm import Algorithm
from cflag_theory.conform.case import Case
from cflag_theory.conform.numbers import EXACT, Vector, copied, is_vector, plain, single_in, vector_of
from cflag_theory.conform.views import ROUNDED, Client, NeedsTensors, Server, World
from cflag_theory.errors import InvalidInput
from cflag_theory.falsify.search.guard import WAIT, cpu_limit, guarded
from cflag_theory.outside import python_files
from cflag_theory.outside.child import Child, NoAnswer

#: Of a quantity: its name, the round, and the client or None for the server.
Key = tuple[str, int, int | None]


@dataclass
class Record:
    """What an implementation computed."""

    #: In the order in which they arise: of each client in turn, then of the server.
    values: dict[Key, Vector] = field(default_factory=dict)
    #: Dict of (round, client) to list of vectors: Where gradients were asked for, without x_t and without repetitions.
    points: dict[tuple[int, int], list[Vector]] = field(default_factory=dict)
    #: Of weights, server_lr and model, what was asked for.
    used: set[str] = field(default_factory=set)


#: What an implementation may define: two halves of a round, or a whole one.
NAMES = ("client_step", "server_step", "round_step")


@dataclass(frozen=True)
class Own:
    """A user's functions; the reference takes the half that is not given."""

    #: Arguments are filled in by their names.
    client_step: Callable[..., Any] | None = None
    server_step: Callable[..., Any] | None = None
    round_step: Callable[..., Any] | None = None
    #: What one call may take, in CPU time of the function itself.
    seconds: float = 10.0
    #: What looks on while the functions run.
    watch: SinglePrecision | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Which of `NAMES` are given."""
        return tuple(name for name in NAMES if getattr(self, name) is not None)

    def compute(self, kind: type[Algorithm], case: Case, numbers: str, *, watched: bool = False) -> tuple[Record, str]:
        """What these functions compute in a case, and where they first make a float32, if that is watched. NeedsTensors
        where they may have failed because numbers are no tensors, or of another precision than the user's own; else
        InvalidInput.
        """
        own = replace(self, watch=SinglePrecision()) if watched else self
        try:
            record = run(kind(), World(case, numbers), own)
        except NeedsTensors:
            raise
        except InvalidInput as error:
            kinds = (NeedsTensors, AttributeError, TypeError, RuntimeError)
            if isinstance(error.__context__, NeedsTensors if "torch" not in sys.modules else kinds):
                raise NeedsTensors(str(error)) from error
            raise
        return record, own.watch.place if own.watch else ""

    def anew(self) -> None:
        """The functions are this process's own and stay as they are."""

    def call(self, function: Callable[..., Any], view: Client | Server, what: str) -> Any:
        """The function with the values that its arguments name; none of them may be changed."""
        given = _arguments(function, view, what)
        before = [
            (name, vector, copied(vector))
            for key, value in given.items()
            if key != "state"
            for name, vector in _vectors_in(value, key)
        ]
        code = getattr(inspect.unwrap(function), "__code__", None)
        files = (code.co_filename,) if code is not None else ()
        with guarded(self.seconds, files, what, limit=cpu_limit), self.watch or nullcontext():
            result = function(**given)
        for name, now, then in before:
            if not np.array_equal(plain(now), plain(then)):
                raise InvalidInput(f"{what} changes its argument {name} in place: work on a copy of it")
        return result


def run(reference: Algorithm, world: World, own: Own | None = None) -> Record:
    """Run all rounds of a case in one kind of numbers (`world`). The reference says what is kept and sent, and takes
    the halves that a user's `own` functions have not; without them it runs alone.
    """
    own = own or Own()
    case, record = world.case, Record()
    # The reference calculates with fractions, NumPy floats and `Rounded`, not with tensors.
    its = world if world.kind in (EXACT, ROUNDED) else World(case, "float64")
    x = world.vector(case.start)
    kept = {name: reference.initial(name, x) for name in reference.server_state}
    clients = [{name: reference.initial(name, x) for name in reference.client_state} for _ in range(case.clients)]
    states: list[dict[str, Any]] = [{} for _ in range(case.clients)]
    server_state: dict[str, Any] = {}
    for t in range(case.rounds):
        sent = {**kept, **reference.broadcast(Server(world, t, x, [], [], kept, {}))}
        present = case.participants[t]
        views = [Client(world, i, t, x, {**sent, **clients[i]}, states[i]) for i in present]
        if own.round_step is not None:
            returned, new = _whole_round(reference, own, Server(world, t, x, views, [], kept, server_state))
        else:
            if own.client_step is not None:
                returned = [_client(reference, own, view) for view in views]
            else:
                views = [Client(its, i, t, _float(x), _floats({**sent, **clients[i]}), states[i]) for i in present]
                returned = [_cast(world, reference.client(view)) for view in views]
            sent_back = [reference.completed(one, clients[i]) for i, one in zip(present, returned, strict=True)]
            before = {f"{name}_before": [clients[i][name] for i in present] for name in reference.client_state}
            if own.server_step is not None:
                new = _server(reference, own, Server(world, t, x, views, sent_back, {**kept, **before}, server_state))
            else:
                _check_complete(reference, sent_back)
                floats = {name: [_float(one) for one in many] for name, many in before.items()}
                view = Server(
                    its, t, _float(x), views, list(map(_floats, sent_back)), _floats(kept) | floats, server_state
                )
                new = _cast(world, reference.server(view))
        for i, one in zip(present, returned, strict=True):
            record.values.update({(name, t, i): value for name, value in one.items()})
            for name, value in reference.completed(one, clients[i]).items():
                if name in clients[i]:
                    clients[i][name] = reference.keep(name, clients[i][name], value)
        record.points.update({(t, view.client): _distinct(view.points, x) for view in views})
        record.values.update({(name, t, None): value for name, value in new.items()})
        # A buffer that is used again within a round is what the server sees; in the next round it is the user's own.
        record.values.update({key: copied(value) for key, value in record.values.items() if key[1] == t})
        clients = [{name: copied(value) for name, value in one.items()} for one in clients]
        x, kept = copied(new["x"]), kept | {name: copied(value) for name, value in new.items() if name in kept}
    record.used = world.used | its.used
    return record


def _float(vector: Vector) -> Vector:
    values = plain(vector)
    return values if values.dtype == object else values.astype(float)


def _floats(vectors: Mapping[str, Vector]) -> dict[str, Vector]:
    return {name: _float(value) for name, value in vectors.items()}


def _cast(world: World, vectors: Mapping[str, Vector]) -> dict[str, Vector]:
    return {name: world.cast(value) for name, value in vectors.items()}


def _client(reference: Algorithm, own: Own, view: Client) -> dict[str, Vector]:
    assert own.client_step is not None
    result = own.call(own.client_step, view, "client_step")
    found = _named(result, ("x_i", *reference.outputs), "client_step", view)
    if "delta" in found and "delta" not in reference.outputs:
        found = {"x_i": view.x + found.pop("delta"), **found}
    return found


def _server(reference: Algorithm, own: Own, view: Server) -> dict[str, Vector]:
    assert own.server_step is not None
    result = own.call(own.server_step, view, "server_step")
    return _with_x(_named(result, ("x", *reference.server_state), "server_step", view))


def _check_complete(reference: Algorithm, returned: Sequence[Mapping[str, Vector]]) -> None:
    needed = reference.outputs if "delta" in reference.outputs else ("x_i", *reference.outputs)
    missing = [name for name in needed if any(name not in one for one in returned)]
    if missing:
        names = ", ".join(f"{name!r}: ..." for name in needed)
        raise InvalidInput(
            f"client_step does not return {' and '.join(missing)}, which the server needs: return {{{names}}}, or give "
            "a server_step"
        )


def _whole_round(reference: Algorithm, own: Own, view: Server) -> tuple[list[dict[str, Vector]], dict[str, Vector]]:
    assert own.round_step is not None
    view.clients = view.views
    result = own.call(own.round_step, view, "round_step")
    if isinstance(result, Mapping):
        lists = {name: value for name, value in result.items() if name in ("x_i", *reference.outputs)}
        rest: Any = {name: value for name, value in result.items() if name not in lists}
    else:
        lists, rest = {}, result
    received: list[dict[str, Vector]] = [{} for _ in view.views]
    for name, vectors in lists.items():
        if not isinstance(vectors, Sequence) or len(vectors) != len(received):
            raise InvalidInput(
                f"round_step returns {name} for other clients: return a list with one for each of clients"
            )
        for place, vector in enumerate(vectors):
            received[place].update(_named({name: vector}, (name,), "round_step", view))
    return received, _with_x(_named(rest, ("x", *reference.server_state), "round_step", view))


def _with_x(found: dict[str, Vector]) -> dict[str, Vector]:
    if "x" not in found:
        raise InvalidInput("the server's new model is missing: return x, or {'x': ...}")
    return found


_EXTRA = {"client_step": ("delta", "delta_c")}


def _named(result: Any, names: tuple[str, ...], what: str, view: Client | Server) -> dict[str, Vector]:
    """What a function returned, by name: a mapping, several in the order of the names, or the first alone."""
    if isinstance(result, Mapping):
        found = dict(result)
    elif is_dataclass(result):
        found = vars(result).copy()
    elif hasattr(result, "_asdict"):
        found = result._asdict()
    elif isinstance(result, tuple | list) and len(result) <= len(names) and all(map(is_vector, result)):
        found = dict(zip(names, result, strict=False))
    else:
        found = {names[0]: result}
    allowed = (*names, *_EXTRA.get(what, ()))
    for name in found:
        if name not in allowed:
            raise InvalidInput(f"{what} returns {name!r}, which has no meaning here: use {', '.join(allowed)}")
    return {name: _vector(value, name, what, view) for name, value in found.items()}


def _vector(value: Any, name: str, what: str, view: Client | Server) -> Vector:
    wanted = f"return a vector of {len(view.x)} numbers"
    if not is_vector(value):
        raise InvalidInput(f"{what} returns {type(value).__name__} for {name}: {wanted}")
    value = vector_of(value)
    if tuple(value.shape) != (len(view.x),):
        raise InvalidInput(f"{what} returns {name} of shape {tuple(value.shape)}: {wanted}")
    if not all(np.isfinite(float(one)) for one in plain(value)):
        raise InvalidInput(f"{what} returns {name} = {plain(value).tolist()}: its numbers must be finite")
    return value


def _vectors_in(value: Any, name: str) -> Iterator[tuple[str, Vector]]:
    """The vectors that a user's function gets in an argument, but for its state and for a module, which is its own."""
    if isinstance(value, Client | Server):
        for key, inner in vars(value).items():
            if not key.startswith("_") and key not in ("state", "views", "points"):
                yield from _vectors_in(inner, f"{name}.{key}")
    elif isinstance(value, list | tuple):
        for place, inner in enumerate(value):
            yield from _vectors_in(inner, f"{name}[{place}]")
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _vectors_in(inner, f"{name}[{key!r}]")
    elif hasattr(value, "__array__"):
        yield name, value


def _arguments(function: Callable[..., Any], view: Client | Server, what: str) -> dict[str, Any]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        raise InvalidInput(f"{what} is {function!r}: pass a Python function") from None
    found = {}
    for one in parameters:
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        try:
            found[one.name] = getattr(view, one.name)
        except AttributeError:
            if one.default is one.empty:
                names = sorted(name for name in {*vars(view), *dir(type(view))} if not name.startswith("_"))
                raise InvalidInput(
                    f"{what} takes an argument {one.name!r}, which has no meaning here: use {', '.join(names)}, or "
                    "give it a default"
                ) from None
    return found


def _distinct(points: Sequence[Vector], x: Vector) -> list[Vector]:
    found: list[Vector] = []
    for one in points:
        values = [float(number) for number in plain(one)]
        seen = [[float(number) for number in plain(other)] for other in (x, *found)]
        if values not in seen:
            found.append(one)
    return found


_CONFORM = str(Path(__file__).parent)
#: Where libraries lie: what is single there need not be so in the user's own lines.
_OTHERS = ("<frozen", str(Path(linecache.__file__).parent))


class SinglePrecision:
    """Looks on while a user's functions run in double precision, for the first line that makes a float32: `place` is
    its file, line and text, "" while there is none.
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


class HeldOwn:
    """The functions of a file, from here, as `running.Own` has a user's functions: which of `NAMES` it defines, its
    ALGORITHM and PARAMETERS. InvalidInput where it cannot be run, or defines none of these.
    """

    def __init__(self, path: Path, seconds: float) -> None:
        content = python_files.content_of(path, f"give a Python file that defines {', '.join(NAMES)}")
        self.path, self._wait = path, WAIT * seconds
        self._child = Child(lambda: _within(path, content, seconds), str(path), seconds=self._wait)
        self.names, self.algorithm, given = self._ask(None)
        self.parameters: Mapping[str, Any] = MappingProxyType(given)
        if not self.names:
            raise InvalidInput(f"{path} holds none of {', '.join(NAMES)}: define at least one at module level")

    def compute(self, kind: type[Algorithm], case: Case, numbers: str, *, watched: bool = False) -> tuple[Record, str]:
        """As `Own.compute`."""
        found: tuple[Record, str] = self._ask((kind, case, numbers, watched))
        return found

    def anew(self) -> None:
        """Run the file again before the next case: nothing is left of what its functions kept."""
        self._child.end()

    def _ask(self, question: Any) -> Any:
        try:
            return self._child.ask(question, self._wait)
        except NoAnswer:
            raise InvalidInput(
                f"{self.path} gives no answer in {self._wait:g} s: fix the loop, or allow more with --seconds"
            ) from None


def _within(path: Path, content: bytes, seconds: float) -> Callable[[Any], Any]:
    """In the process: what answers."""
    with guarded(seconds, (str(path),), "the file", limit=cpu_limit):
        module = vars(python_files.run(path, content, f"own_{path.stem}"))
    functions = {name: module[name] for name in NAMES if callable(module.get(name))}
    own = Own(**functions, seconds=seconds)

    def answer(question: Any) -> Any:
        if question is None:
            meant, given = module.get("ALGORITHM"), module.get("PARAMETERS")
            named = meant if isinstance(meant, str) else None
            return tuple(functions), named, dict(given) if isinstance(given, Mapping) else {}
        kind, case, numbers, watched = question
        record, place = own.compute(kind, case, numbers, watched=watched)
        # Tensors stay here.
        record.values = {key: plain(value) for key, value in record.values.items()}
        record.points = {key: [plain(one) for one in points] for key, points in record.points.items()}
        return record, place

    return answer
