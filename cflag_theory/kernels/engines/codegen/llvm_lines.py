"""Loops over vectors, written once on symbols and compiled to the machine's own vector instructions.

A compiler has to prove that arrays do not overlap and to guess how long they are before it vectorises a loop; it does
so again at every call, and for vectors of fifty numbers that costs more than the loop. All vectors here are whole lines
of 64 bytes (see `packed`), so a sweep is written down as such: line by line, nothing before and nothing after.

Sums are taken in an order that depends on the length alone: four partial sums of lines, then neighbours in a line.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import signature
from numba.extending import intrinsic

from cflag_theory.kernels import formulas
from cflag_theory.kernels.engines.codegen.kinds import FLAGS, GROUP, LINES, Formula, formula_of
from cflag_theory.kernels.engines.cpu.layout import LINE

#: Lines with a partial sum each.
PARTIAL = 4


class Vector:
    """A line of numbers while a loop is written down: an operator appends an instruction."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def _value(self, other: Any) -> Any:
        if isinstance(other, Vector):
            return other.value
        return ir.Constant(self.value.type, [float(other)] * self.value.type.count)

    def _append(self, instruction: str, left: Any, right: Any) -> Vector:
        write = getattr(self.builder, instruction)
        return Vector(self.builder, write(self._value(left), self._value(right), flags=FLAGS))

    def __add__(self, other: Any) -> Vector:
        return self._append("fadd", self, other)

    def __radd__(self, other: Any) -> Vector:
        return self._append("fadd", other, self)

    def __sub__(self, other: Any) -> Vector:
        return self._append("fsub", self, other)

    def __rsub__(self, other: Any) -> Vector:
        return self._append("fsub", other, self)

    def __mul__(self, other: Any) -> Vector:
        return self._append("fmul", self, other)

    def __rmul__(self, other: Any) -> Vector:
        return self._append("fmul", other, self)

    def __truediv__(self, other: Any) -> Vector:
        return self._append("fdiv", self, other)


def lanes(dtype: Any) -> int:
    """Numbers of a line."""
    return LINE * 8 // int(dtype.bitwidth)


def line_of(context: Any, dtype: Any) -> Any:
    """The type of a line."""
    return ir.VectorType(context.get_value_type(dtype), lanes(dtype))


def width_of(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Numbers of a row of an array (rows, width)."""
    array = context.make_array(kind)(context, builder, value)
    return cgutils.unpack_tuple(builder, array.shape)[1]


def pointer(context: Any, builder: Any, kind: Any, value: Any, place: Sequence[Any]) -> Any:
    """Where array[place] lies."""
    array = context.make_array(kind)(context, builder, value)
    return cgutils.get_item_pointer(context, builder, kind, array, list(place), wraparound=False)


def line_at(builder: Any, base: Any, offset: Any, line: Any) -> Any:
    """A pointer to the line that starts `offset` numbers after `base`."""
    return builder.bitcast(builder.gep(base, [offset]), line.as_pointer())


def load(builder: Any, place: Any) -> Any:
    """The line there, wherever it starts."""
    return builder.load(place, align=_itemsize(place.type.pointee.element))


def store(builder: Any, value: Any, place: Any) -> None:
    """Write a line."""
    builder.store(value, place, align=_itemsize(value.type.element))


def _itemsize(element: Any) -> int:
    return 4 if isinstance(element, ir.FloatType) else 8


def splat(builder: Any, number: Any, line: Any) -> Any:
    """The number in every place of a line."""
    one = ir.IntType(32)(0)
    first = builder.insert_element(ir.Constant(line, ir.Undefined), number, one)
    return _shuffled(builder, first, first, [0] * line.count)


def _shuffled(builder: Any, a: Any, b: Any, places: Sequence[int]) -> Any:
    mask = ir.Constant(ir.VectorType(ir.IntType(32), len(places)), list(places))
    return builder.shuffle_vector(a, b, mask)


def folded(builder: Any, vectors: Sequence[Any]) -> Any:
    """The sum of each of 1, 2, 4, ... lines, as a vector of as many numbers."""
    found = list(vectors)
    while len(found) > 1:
        found = [
            _neighbours(builder, a, b, a.type.count * 2) for a, b in zip(found[::2], found[1::2], strict=True)
        ]  # fmt: skip
    (one,) = found
    while one.type.count > len(vectors):
        one = _neighbours(builder, one, one, one.type.count)
    return one


def gathered(builder: Any, places: Sequence[Any], kind: Any) -> Any:
    """The numbers at these places, as a vector."""
    found = ir.Constant(kind, ir.Undefined)
    for k, place in enumerate(places):
        found = builder.insert_element(found, builder.load(place), ir.IntType(32)(k))
    return found


def _neighbours(builder: Any, a: Any, b: Any, count: int) -> Any:
    """The sums of neighbours among the first `count` numbers of a and b."""
    even, odd = (_shuffled(builder, a, b, range(first, count, 2)) for first in (0, 1))
    return builder.fadd(even, odd, flags=FLAGS)


def named(function: Callable[..., Any], names: Sequence[str]) -> Any:
    """Numba's intrinsic of a function (context, *types) with these names of arguments."""
    positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, positional) for name in ("context", *names)]
    function.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return intrinsic(function)


def accumulator(builder: Any, line: Any) -> Any:
    """A place for a sum that stays in a register, at zero."""
    place = cgutils.alloca_once(builder, line)
    builder.store(ir.Constant(line, [0.0] * line.count), place)
    return place


def add_product(builder: Any, place: Any, a: Any, b: Any) -> None:
    """place += a * b."""
    product = builder.fmul(a, b, flags=FLAGS)
    builder.store(builder.fadd(builder.load(place), product, flags=FLAGS), place)


def prefetch(builder: Any, place: Any) -> None:
    """Ask for what lies at `place`, or nothing if there is no memory."""
    small, byte = ir.IntType(32), ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [byte, small, small, small])
    wanted = builder.module.declare_intrinsic("llvm.prefetch", (byte,), kind)
    # To be read, to be kept in all caches, data.
    builder.call(wanted, [builder.bitcast(place, byte), small(0), small(3), small(1)])


def _ask_for(context: Any, array: Any, place: Any) -> Any:
    def generate(context: Any, builder: Any, chosen: Any, arguments: Any) -> None:
        prefetch(builder, pointer(context, builder, array, arguments[0], (arguments[1],)))

    return signature(types.void, array, types.intp), generate


#: (array, place): ask for array[place].
ask_for = named(_ask_for, ("array", "place"))


def sweep(body: Callable[..., Any]) -> Any:
    """Compile a formula into a loop over vectors, as `vector_loops` says."""
    formula = formula_of(body)
    kinds, names = formula.kinds, formula.names

    def typed(context: Any, *given: Any) -> Any:
        dtype = given[names.index(formula.vectors[0])].dtype
        expected = [
            dtype if kinds.get(name) == "Number" else types.intp if name.endswith("_row") else given[k]
            for k, name in enumerate(names)
        ]
        found = signature({"Summed": dtype, "Measured": types.float64}.get(formula.returned, types.void), *expected)

        def generate(context: Any, builder: Any, chosen: Any, arguments: Any) -> Any:
            values, kinds_of = (dict(zip(names, found, strict=True)) for found in (arguments, chosen.args))
            return _loop(context, builder, formula, values, kinds_of)

        return found, generate

    typed.__name__, typed.__doc__, typed.__module__ = body.__name__, body.__doc__, body.__module__
    return named(typed, names)


def _loop(context: Any, builder: Any, formula: Formula, values: dict[str, Any], arguments: dict[str, Any]) -> Any:
    kinds, vectors, returned = formula.kinds, formula.vectors, formula.returned
    dtype = arguments[vectors[0]].dtype
    size, index = lanes(dtype), context.get_value_type(types.intp)
    line = line_of(context, dtype)
    start = {
        name: pointer(context, builder, arguments[name], values[name], (values[f"{name}_row"], index(0)))
        for name in vectors
    }
    numbers = {name: splat(builder, values[name], line) for name, kind in kinds.items() if kind == "Number"}
    width = width_of(context, builder, arguments[vectors[0]], values[vectors[0]])
    summed, partial = returned != "Written", 1 if returned == "Chained" else PARTIAL
    doubles = ir.VectorType(ir.DoubleType(), size)
    kind = doubles if returned == "Measured" else line
    sums = [accumulator(builder, kind) for _ in range(partial if summed else 0)]

    def one(offset: Any, place: Any = None) -> None:
        at = {name: line_at(builder, start[name], offset, line) for name in vectors}
        given: dict[str, Any] = {name: Vector(builder, number) for name, number in numbers.items()}
        for name in vectors:
            if kinds[name] == "Later":
                prefetch(builder, at[name])
                given[name] = None
            else:
                given[name] = Vector(builder, load(builder, at[name]))
        results = formula.body(**given)
        results = results if isinstance(results, tuple) else (results,)
        for name, result in zip(formula.written, results, strict=False):
            store(builder, result.value, at[name])
        if summed:
            term = results[-1].value if kind == line else builder.fpext(results[-1].value, doubles)
            builder.store(builder.fadd(builder.load(place), term, flags=FLAGS), place)

    if not summed:
        with cgutils.for_range_slice(builder, index(0), width, index(size), index) as (offset, _):
            one(offset)
        return context.get_dummy_value()
    whole = index(0)
    if partial > 1:
        step = index(partial * size)
        whole = builder.mul(builder.sdiv(width, step), step)
        with cgutils.for_range_slice(builder, index(0), whole, step, index) as (offset, _):
            for k in range(partial):
                one(builder.add(offset, index(k * size)), sums[k])
    with cgutils.for_range_slice(builder, whole, width, index(size), index) as (offset, _):
        one(offset, sums[0])
    totals = [builder.load(place) for place in sums]
    while len(totals) > 1:
        totals = [builder.fadd(a, b, flags=FLAGS) for a, b in zip(totals[::2], totals[1::2], strict=True)]
    (total,) = totals
    if returned in LINES:
        to = pointer(context, builder, arguments["lines"], values["lines"], (values["lines_row"], index(0)))
        store(builder, total, line_at(builder, to, index(0), line))
        return context.get_dummy_value()
    return builder.extract_element(folded(builder, [total]), ir.IntType(32)(0))


def folded_slopes(kind: int) -> Any:
    """Compile (lines, starts, out): out[g] = phi'(starts[g, 0] + the sum of lines[g]) for the first GROUP lines.

    What is written number by number and read as a vector at once is waited for: starts lie apart for that reason.
    """

    def fold(context: Any, lines: Any, starts: Any, out: Any) -> Any:
        def generate(context: Any, builder: Any, chosen: Any, arguments: Any) -> None:
            index, line = context.get_value_type(types.intp), line_of(context, lines.dtype)
            found, given = (
                [pointer(context, builder, kind_of, array, (index(g), index(0))) for g in range(GROUP)]
                for kind_of, array in zip((lines, starts), arguments[:2], strict=True)
            )
            total = folded(builder, [load(builder, line_at(builder, place, index(0), line)) for place in found])
            apart = gathered(builder, given, total.type)
            met = formulas.slope(kind, Vector(builder, total) + Vector(builder, apart)).value
            to = pointer(context, builder, out, arguments[2], (index(0),))
            store(builder, met, builder.bitcast(to, met.type.as_pointer()))

        return signature(types.void, lines, starts, out), generate

    return named(fold, ("lines", "starts", "out"))


#: The same without a slope.
fold_lines = folded_slopes(formulas.QUADRATIC)
