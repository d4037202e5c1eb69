"""Products of rows with vectors, tile by tile: generated as LLVM code, or plain where its version is another.

`llvm_tiles` says what each function takes. Dot products of one replica agree up to rounding, all else to the last bit.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from cflag_theory.kernels.engines.codegen.versions import REASON

tiles: Any = import_module(f"{__package__}.{'plain' if REASON else 'llvm'}_tiles")
