"""Fused products in registers: the rate of arithmetic that no code on this processor exceeds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.core.typing.templates import signature

from cflag_theory.kernels.engines.codegen.cache import compiled
from cflag_theory.kernels.engines.codegen.kinds import FLAGS
from cflag_theory.kernels.engines.codegen.llvm_lines import (
    lanes,
    line_at,
    line_of,
    load,
    named,
    pointer,
    splat,
    store,
)
from cflag_theory.kernels.engines.codegen.llvm_tiles import PANELS, ROWS

#: Lines that depend on no other line: as many as a tile of products keeps in registers.
CHAINS = ROWS * PANELS


def _chains(context: Any, numbers: Any, rounds: Any, factor: Any) -> Any:
    def generate(context: Any, builder: Any, chosen: Any, arguments: Any) -> None:
        index = context.get_value_type(types.intp)
        line = line_of(context, numbers.dtype)
        start = pointer(context, builder, numbers, arguments[0], (index(0),))
        places = [line_at(builder, start, index(k * line.count), line) for k in range(CHAINS)]
        sums = [cgutils.alloca_once(builder, line) for _ in places]
        for place, kept in zip(places, sums, strict=True):
            builder.store(load(builder, place), kept)
        by = splat(builder, arguments[2], line)
        with cgutils.for_range_slice(builder, index(0), arguments[1], index(1), index):
            for kept in sums:
                product = builder.fmul(builder.load(kept), by, flags=FLAGS)
                builder.store(builder.fadd(product, by, flags=FLAGS), kept)
        for place, kept in zip(places, sums, strict=True):
            store(builder, builder.load(kept), place)

    return signature(types.void, numbers, types.intp, numbers.dtype), generate


chains = named(_chains, ("numbers", "rounds", "factor"))


@compiled
def _run(numbers: Any, rounds: int, factor: float) -> None:
    chains(numbers, rounds, factor)


def fused_products(rounds: int = 1 << 20) -> float:
    """Do them; returns how many flops that were, in float64."""
    size = lanes(types.float64)
    _run(np.ones(CHAINS * size), rounds, 0.5)
    return 2.0 * CHAINS * size * rounds
