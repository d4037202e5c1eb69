"""Products of rows with vectors in tiles that stay in registers: what full gradients are made of.

For one replica, four or eight rows at once. For replicas that share the rows, a matrix product: z of a tile of rows in
one or two panels, a panel being as many replicas as a line has numbers; and gradients of four replicas over a tile of
columns. A row is loaded once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

from llvmlite import ir
from numba.core import cgutils, config, types
from numba.core.codegen import get_host_cpu_features
from numba.core.typing.templates import signature

from cflag_theory.kernels import formulas
from cflag_theory.kernels.engines.codegen.llvm_lines import (
    Vector,
    accumulator,
    add_product,
    folded,
    gathered,
    lanes,
    line_at,
    line_of,
    load,
    named,
    pointer,
    prefetch,
    splat,
    store,
    width_of,
)

_config: Any = config
#: What machine code may use, as Numba decides.
FEATURES: str = get_host_cpu_features() if _config.CPU_FEATURES is None else _config.CPU_FEATURES
#: Rows and panels of a tile of z, and lines of columns of a tile of gradients: for 32 registers of a line, or for less.
ROWS, PANELS, COLUMNS = (8, 3, 4) if "+avx512f" in FEATURES.split(",") else (4, 1, 1)


def row_dots(count: int) -> Any:
    """Compile (rows, q, X, r, Z, at): Z[at], Z[at + 1], ... = the products of X[r] with `count` rows from q on."""

    def dots(context: Any, rows: Any, q: Any, X: Any, r: Any, Z: Any, at: Any) -> Any:
        def generate(context: Any, builder: Any, chosen: Any, arguments: Any) -> None:
            index, zero = _index(context)
            of, q, x, r, z, at = arguments
            of_rows = [pointer(context, builder, rows, of, (builder.add(q, index(j)), zero)) for j in range(count)]
            of_x, of_z = pointer(context, builder, X, x, (r, zero)), pointer(context, builder, Z, z, (at,))
            width = width_of(context, builder, rows, of)
            total = _dots(context, builder, rows.dtype, width, of_rows, of_x)
            store(builder, total, builder.bitcast(of_z, total.type.as_pointer()))

        return signature(types.void, rows, types.intp, X, types.intp, Z, types.intp), generate

    return named(dots, ("rows", "q", "X", "r", "Z", "at"))


class _Scaled(Vector):
    """A line that is multiplied with a factor before it is divided, which is the order of plain loops."""

    def __init__(self, builder: Any, value: Any, factor: Vector) -> None:
        super().__init__(builder, value)
        self._factor = factor

    def __truediv__(self, other: Any) -> Vector:
        quotient: Vector = self._factor * Vector(self.builder, self.value) / other
        return quotient


def chosen_slopes(count: int, kind: int) -> Any:
    """Compile (rows, lists, r, k, X, shifts, weights, share, Z, S), for `count` rows q = lists[r, k], ...

    Z[k], ... = z, the product of X[r] with a row, less shifts[q]; S[k], ... = share weights[r, k] phi'(z), a quotient.
    """

    def slopes(
        context: Any, rows: Any, lists: Any, r: Any, k: Any, X: Any, shifts: Any, weights: Any, share: Any, Z: Any,
        S: Any,
    ) -> Any:  # fmt: skip
        def generate(context: Any, builder: Any, chosen: Any, arguments: Any) -> None:
            zero = _index(context)[1]
            of, of_lists, r, k, x, shift, weight, share, z, s = arguments
            found = _chosen(context, builder, lists, of_lists, r, k, count)
            of_rows = [pointer(context, builder, rows, of, (q, zero)) for q in found]
            of_x, width = pointer(context, builder, X, x, (r, zero)), width_of(context, builder, rows, of)
            total = _dots(context, builder, rows.dtype, width, of_rows, of_x)
            less = gathered(builder, [pointer(context, builder, shifts, shift, (q,)) for q in found], total.type)
            met = Vector(builder, total) - Vector(builder, less)
            place = pointer(context, builder, weights, weight, (r, k))
            factor = Vector(builder, load(builder, builder.bitcast(place, total.type.as_pointer())))
            scaled = _Scaled(builder, met.value, Vector(builder, splat(builder, share, total.type)) * factor)
            slope = formulas.slope(kind, scaled)
            for array, kind_of, value in ((z, Z, met), (s, S, slope)):
                to = pointer(context, builder, kind_of, array, (k,))
                store(builder, value.value, builder.bitcast(to, total.type.as_pointer()))

        intp = types.intp
        return signature(types.void, rows, lists, intp, intp, X, shifts, weights, rows.dtype, Z, S), generate

    return named(slopes, ("rows", "lists", "r", "k", "X", "shifts", "weights", "share", "Z", "S"))


def add_chosen(count: int) -> Any:
    """Compile (rows, lists, r, k, next_r, next_k, S, G): G[r] += the sum of S[k + j] row over rows lists[r, k], ...

    Four after four; on the way it asks for as many rows lists[next_r, next_k], ...
    """

    def add(context: Any, rows: Any, lists: Any, r: Any, k: Any, next_r: Any, next_k: Any, S: Any, G: Any) -> Any:
        def generate(context: Any, builder: Any, chosen: Any, arguments: Any) -> None:
            index, zero = _index(context)
            line = line_of(context, rows.dtype)
            of, of_lists, r, k, next_r, next_k, s, g = arguments
            of_rows, later = (
                [
                    pointer(context, builder, rows, of, (q, zero))
                    for q in _chosen(context, builder, lists, of_lists, *place, count)
                ]
                for place in ((r, k), (next_r, next_k))
            )
            of_s, of_g = pointer(context, builder, S, s, (k,)), pointer(context, builder, G, g, (r, zero))
            factors = [splat(builder, builder.load(builder.gep(of_s, [index(j)])), line) for j in range(count)]
            width = width_of(context, builder, rows, of)
            with cgutils.for_range_slice(builder, zero, width, index(lanes(rows.dtype)), index) as (offset, _):
                for row in later:
                    prefetch(builder, builder.gep(row, [offset]))
                to = line_at(builder, of_g, offset, line)
                total = Vector(builder, load(builder, to))
                for j in range(0, count, 4):
                    a, b, c, e = (
                        Vector(builder, load(builder, line_at(builder, row, offset, line)))
                        for row in of_rows[j : j + 4]
                    )
                    t, u, v, w = (Vector(builder, factor) for factor in factors[j : j + 4])
                    total = (total + t * a + v * c) + (u * b + w * e)
                store(builder, total.value, to)

        intp = types.intp
        return signature(types.void, rows, lists, intp, intp, intp, intp, S, G), generate

    return named(add, ("rows", "lists", "r", "k", "next_r", "next_k", "S", "G"))


def _chosen(context: Any, builder: Any, lists: Any, of_lists: Any, r: Any, k: Any, count: int) -> list[Any]:
    """The numbers lists[r, k], ..."""
    first = pointer(context, builder, lists, of_lists, (r, k))
    return [builder.load(builder.gep(first, [ir.IntType(64)(j)])) for j in range(count)]


def _dots(context: Any, builder: Any, dtype: Any, width: Any, of_rows: Sequence[Any], of_x: Any) -> Any:
    """The products of a vector with each row, as a vector."""
    index, zero = _index(context)
    line = line_of(context, dtype)
    sums = [accumulator(builder, line) for _ in of_rows]
    with cgutils.for_range_slice(builder, zero, width, index(lanes(dtype)), index) as (offset, _):
        factor = load(builder, line_at(builder, of_x, offset, line))
        for row, place in zip(of_rows, sums, strict=True):
            add_product(builder, place, load(builder, line_at(builder, row, offset, line)), factor)
    return folded(builder, [builder.load(place) for place in sums])


def add_rows(count: int) -> Any:
    """Compile (rows, q, ahead, S, at, G, r): G[r] += the sum of S[at + j] row_(q + j) over j < count.

    On the way it asks for the rows `ahead` from these, which the next products need: sums wait for arithmetic, and
    products for memory.
    """

    def add(context: Any, rows: Any, q: Any, ahead: Any, S: Any, at: Any, G: Any, r: Any) -> Any:
        dtype = rows.dtype

        def generate(context: Any, builder: Any, chosen: Any, arguments: Any) -> None:
            index, zero = _index(context)
            line = line_of(context, dtype)
            of, q, ahead, s, at, g, r = arguments
            places = [builder.add(q, index(j)) for j in range(count)]
            of_rows = [pointer(context, builder, rows, of, (place, zero)) for place in places]
            later = [pointer(context, builder, rows, of, (builder.add(place, ahead), zero)) for place in places]
            of_s, of_g = pointer(context, builder, S, s, (at,)), pointer(context, builder, G, g, (r, zero))
            factors = [splat(builder, builder.load(builder.gep(of_s, [index(j)])), line) for j in range(count)]
            width = width_of(context, builder, rows, of)
            with cgutils.for_range_slice(builder, zero, width, index(lanes(dtype)), index) as (offset, _):
                to = line_at(builder, of_g, offset, line)
                first, second = Vector(builder, load(builder, to)), None
                for j in range(0, count, 2):
                    a, b = (
                        Vector(builder, factors[k])
                        * Vector(builder, load(builder, line_at(builder, of_rows[k], offset, line)))
                        for k in (j, j + 1)
                    )
                    first = first + a
                    second = b if second is None else second + b
                store(builder, (first + second).value, to)
                for row in later:
                    prefetch(builder, builder.gep(row, [offset]))

        intp = types.intp
        return signature(types.void, rows, intp, intp, S, intp, G, intp), generate

    return named(add, ("rows", "q", "ahead", "S", "at", "G", "r"))


def _panel_tile(
    context: Any, rows: Any, q: Any, height: Any, X: Any, panel: Any, panels: Any, first: Any, end: Any, Z: Any,
    start: Any, stride: Any,
) -> Any:  # fmt: skip
    dtype = rows.dtype

    def generate(context: Any, builder: Any, chosen: Any, arguments: Any) -> None:
        index, zero = _index(context)
        size, line = lanes(dtype), line_of(context, dtype)
        of, q, height, x, panel, panels, first, end, z, start, stride = arguments

        def tile(count: int, wide: int) -> None:
            of_rows = [pointer(context, builder, rows, of, (builder.add(q, index(j)), zero)) for j in range(count)]
            of_x = [pointer(context, builder, X, x, (builder.add(panel, index(v)), zero, zero)) for v in range(wide)]
            base, to = pointer(context, builder, Z, z, (zero,)), {}
            for v in range(wide):
                for j in range(count):
                    offset = builder.add(builder.add(start, builder.mul(stride, index(v))), index(j * size))
                    to[j, v] = line_at(builder, base, offset, line)
            sums = {place: accumulator(builder, line) for place in to}
            # Not loaded where nothing stands, because sums would wait for it.
            with builder.if_then(builder.icmp_signed("!=", first, zero)):
                for place, found in sums.items():
                    builder.store(load(builder, to[place]), found)
            with cgutils.for_range_slice(builder, first, end, index(1), index) as (k, _):
                offset = builder.mul(k, index(size))
                columns = [load(builder, line_at(builder, of_panel, offset, line)) for of_panel in of_x]
                for j, row in enumerate(of_rows):
                    factor = splat(builder, builder.load(builder.gep(row, [k])), line)
                    for v, column in enumerate(columns):
                        add_product(builder, sums[j, v], factor, column)
            for place, found in sums.items():
                store(builder, builder.load(found), to[place])

        _choose(builder, (height, panels), product({ROWS, 4}, range(1, PANELS + 1)), tile)

    intp = types.intp
    return signature(types.void, rows, intp, intp, X, intp, intp, intp, intp, Z, intp, intp), generate


#: (rows, q, height, X, panel, panels, first, end, Z, start, stride): products of rows over the columns first, ...,
#: end - 1, for `height` rows, ROWS or 4, and `panels` panels, PANELS at most. Row q + j in panel + v goes to the
#: line of Z that starts at start + v stride + j lines; it is added to what stands there unless `first` is zero.
#: X (panels, columns, lanes) holds the columns of a panel as lines.
panel_tile = named(_panel_tile, ("rows", "q", "height", "X", "panel", "panels", "first", "end", "Z", "start", "stride"))


def panel_slopes(kind: int) -> Any:
    """Compile (shifts, weights, q, count, Z, start, S, to): z -= shift and S = weight phi'(z) for `count` lines.

    They start at `start` and at `to`, a line being one row in a panel.
    """

    def slopes(context: Any, shifts: Any, weights: Any, q: Any, count: Any, Z: Any, start: Any, S: Any, to: Any) -> Any:
        dtype = shifts.dtype

        def generate(context: Any, builder: Any, chosen: Any, arguments: Any) -> None:
            index, zero = _index(context)
            line = line_of(context, dtype)
            shift, weight, q, count, z, start, s, to = arguments
            of_shift = pointer(context, builder, shifts, shift, (q,))
            of_weight = pointer(context, builder, weights, weight, (q,))
            of_z, of_s = pointer(context, builder, Z, z, (start,)), pointer(context, builder, S, s, (to,))
            with cgutils.for_range_slice(builder, zero, count, index(1), index) as (j, _):
                offset = builder.mul(j, index(lanes(dtype)))
                place = line_at(builder, of_z, offset, line)
                one = splat(builder, builder.load(builder.gep(of_shift, [j])), line)
                factor = splat(builder, builder.load(builder.gep(of_weight, [j])), line)
                met = Vector(builder, load(builder, place)) - Vector(builder, one)
                store(builder, met.value, place)
                slope = Vector(builder, factor) * formulas.slope(kind, met)
                store(builder, slope.value, line_at(builder, of_s, offset, line))

        intp = types.intp
        return signature(types.void, shifts, weights, intp, intp, Z, intp, S, intp), generate

    return named(slopes, ("shifts", "weights", "q", "count", "Z", "start", "S", "to"))


def _panel_sums(context: Any, weights: Any, q: Any, count: Any, P: Any, start: Any, sums: Any, at: Any) -> Any:
    dtype = weights.dtype

    def generate(context: Any, builder: Any, chosen: Any, arguments: Any) -> None:
        index, zero = _index(context)
        size, line = lanes(dtype), line_of(context, dtype)
        weight, q, count, p, start, total, at = arguments
        of_weight = pointer(context, builder, weights, weight, (q,))
        of_p = pointer(context, builder, P, p, (start,))
        found = accumulator(builder, line)
        with cgutils.for_range_slice(builder, zero, count, index(1), index) as (j, _):
            factor = splat(builder, builder.load(builder.gep(of_weight, [j])), line)
            add_product(
                builder, found, factor, load(builder, line_at(builder, of_p, builder.mul(j, index(size)), line))
            )
        doubles = ir.VectorType(ir.DoubleType(), size)
        to = line_at(builder, pointer(context, builder, sums, total, (at,)), zero, doubles)
        value = builder.load(found)
        wide = value if value.type == doubles else builder.fpext(value, doubles)
        store(builder, builder.fadd(load(builder, to), wide), to)

    intp = types.intp
    return signature(types.void, weights, intp, intp, P, intp, sums, intp), generate


#: (weights, q, count, P, start, sums, at): sums[at:] += the sum of weight times a line of P over `count` rows from q,
#: the lines from P[start] on; sums are doubles.
panel_sums = named(_panel_sums, ("weights", "q", "count", "P", "start", "sums", "at"))


def _gradient_tile(
    context: Any, rows: Any, q: Any, count: Any, first: Any, columns: Any, S: Any, start: Any, G: Any, r: Any,
    replicas: Any,
) -> Any:  # fmt: skip
    dtype = rows.dtype

    def generate(context: Any, builder: Any, chosen: Any, arguments: Any) -> None:
        index, zero = _index(context)
        size, line = lanes(dtype), line_of(context, dtype)
        of, q, count, first, columns, s, start, g, r, replicas = arguments
        width = width_of(context, builder, rows, of)

        def tile(many: int, wide: int) -> None:
            of_rows, of_s = pointer(context, builder, rows, of, (q, first)), pointer(context, builder, S, s, (start,))
            to, sums = {}, {}
            for i in range(many):
                of_g = pointer(context, builder, G, g, (builder.add(r, index(i)), first))
                for v in range(wide):
                    to[i, v] = line_at(builder, of_g, index(v * size), line)
                    sums[i, v] = accumulator(builder, line)
                    builder.store(load(builder, to[i, v]), sums[i, v])
            with cgutils.for_range_slice(builder, zero, count, index(1), index) as (j, _):
                row = builder.gep(of_rows, [builder.mul(j, width)])
                lines = [load(builder, line_at(builder, row, index(v * size), line)) for v in range(wide)]
                factors = builder.gep(of_s, [builder.mul(j, index(size))])
                for i in range(many):
                    factor = splat(builder, builder.load(builder.gep(factors, [index(i)])), line)
                    for v, one in enumerate(lines):
                        add_product(builder, sums[i, v], factor, one)
            for place, found in sums.items():
                store(builder, builder.load(found), to[place])

        _choose(builder, (replicas, columns), product({4, 1}, range(1, COLUMNS + 1)), tile)

    intp = types.intp
    return signature(types.void, rows, intp, intp, intp, intp, S, intp, G, intp, intp), generate


#: (rows, q, count, first, columns, S, start, G, r, replicas): G[r + i, first:] += the sum of S row over `count` rows
#: from q, for `columns` lines of columns, COLUMNS at most, and 4 replicas or 1. S of row q + j and replica r + i stands
#: i + j lines after `start`.
gradient_tile = named(_gradient_tile, ("rows", "q", "count", "first", "columns", "S", "start", "G", "r", "replicas"))


def _choose(builder: Any, values: Sequence[Any], cases: Iterable[tuple[int, int]], write: Callable[..., None]) -> None:
    """Write one code for each case, which runs where the two values are those of the case."""
    for case in sorted(cases, reverse=True):
        same = [builder.icmp_signed("==", value, value.type(one)) for value, one in zip(values, case, strict=True)]
        with builder.if_then(builder.and_(*same)):
            write(*case)


def _index(context: Any) -> tuple[Any, Any]:
    """The type of indices, and zero."""
    index: Any = context.get_value_type(types.intp)
    return index, index(0)
