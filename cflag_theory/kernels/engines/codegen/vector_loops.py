"""Loops over vectors that are whole lines of 64 bytes: generated as LLVM code, or plain where its version is another.

`sweep` compiles a formula for one place of the vectors into a loop. A `Read` or `Write` parameter of the formula
becomes two arguments, an array (rows, width) and a row of it, a `Number` one. A `Later` one is prefetched, and None in
the formula. The formula returns the new vectors of its `Write` parameters in their order and, if it says `Summed` or
`Measured`, the terms of a sum, which the compiled function returns. If it says `Lined`, two more arguments, an array
and a row of it, say where the sum goes as a line, for `fold_lines`: sums of many vectors are cheaper together.
`Chained` is the same with one partial sum in place of four, quicker where many short sweeps fill each other's gaps.

Generated and plain loops agree to the last bit in what they write place by place. Their sums agree up to rounding,
because the plain ones leave the order to the compiler.
"""

from __future__ import annotations

from cflag_theory.kernels.engines.codegen.kinds import (
    GROUP,
    Chained,
    Later,
    Lined,
    Measured,
    Number,
    Read,
    Summed,
    Write,
    Written,
)
from cflag_theory.kernels.engines.codegen.versions import REASON

if REASON:
    from cflag_theory.kernels.engines.codegen.plain_loops import ask_for, fold_lines, folded_slopes, sweep
else:
    from cflag_theory.kernels.engines.codegen.llvm_lines import ask_for, fold_lines, folded_slopes, sweep

__all__ = [
    "GROUP", "Chained", "Later", "Lined", "Measured", "Number", "Read", "Summed", "Write", "Written", "add_multiple",
    "ask_for", "copy", "fold_lines", "folded_slopes", "scale", "subtract", "sweep",
]  # fmt: skip


@sweep
def add_multiple(vector: Read, to: Write, factor: Number) -> Written:
    """to += factor vector."""
    return to + factor * vector


@sweep
def scale(vector: Write, factor: Number) -> Written:
    """vector *= factor."""
    return factor * vector


@sweep
def subtract(a: Read, b: Read, to: Write) -> Written:
    """to = a - b."""
    return a - b


@sweep
def copy(vector: Read, to: Write) -> Written:
    """to = vector."""
    return vector
