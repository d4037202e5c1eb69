"""Whether loops are generated as LLVM code: only for the versions of Numba and LLVM that the generator is written for.

With others, loops are plain ones, compiled by `numba.njit` alone. ``CFLAG_LOOPS`` decides by hand.
"""

from __future__ import annotations

import os

import llvmlite.binding
import numba

from cflag_theory.errors import UnknownName

#: First two numbers of Numba's version, and the first of LLVM's.
KNOWN = (0, 68), 22
LOOPS = GENERATED, PLAIN = ("generated", "plain")


def plain_because(wanted: str, found: tuple[tuple[int, ...], int], known: tuple[tuple[int, ...], int] = KNOWN) -> str:
    """Why loops are plain; empty where they are generated.

    `wanted` is what ``CFLAG_LOOPS`` says, `found` and `known` are versions of Numba and LLVM. Raises `UnknownName` for
    a word that is none of `LOOPS`.
    """
    if wanted == GENERATED:
        return ""
    if wanted == PLAIN:
        return "CFLAG_LOOPS is 'plain'"
    if wanted:
        raise UnknownName(f"CFLAG_LOOPS is {wanted!r}: use one of {', '.join(LOOPS)}, or leave it empty")
    if found == known:
        return ""
    here, there = (f"Numba {'.'.join(map(str, numba))} with LLVM {llvm}" for numba, llvm in (found, known))
    return f"this is {here}, and loops are generated for {there} alone"


REASON = plain_because(
    os.environ.get("CFLAG_LOOPS", ""), (tuple(numba.version_info[:2]), llvmlite.binding.llvm_version_info[0])
)
