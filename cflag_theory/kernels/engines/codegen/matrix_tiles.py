"""Products of rows with vectors, tile by tile: generated as LLVM code, or plain where its version is another.

`llvm_tiles` says what each function takes. Dot products of one replica agree up to rounding, all else to the last bit.
"""

from __future__ import annotations

from cflag_theory.kernels.engines.codegen.versions import REASON

if REASON:
    from cflag_theory.kernels.engines.codegen.plain_tiles import (
        COLUMNS,
        PANELS,
        ROWS,
        add_chosen,
        add_rows,
        chosen_slopes,
        gradient_tile,
        panel_slopes,
        panel_sums,
        panel_tile,
        row_dots,
    )
else:
    from cflag_theory.kernels.engines.codegen.llvm_tiles import (
        COLUMNS,
        PANELS,
        ROWS,
        add_chosen,
        add_rows,
        chosen_slopes,
        gradient_tile,
        panel_slopes,
        panel_sums,
        panel_tile,
        row_dots,
    )

__all__ = [
    "COLUMNS", "PANELS", "ROWS", "add_chosen", "add_rows", "chosen_slopes", "gradient_tile", "panel_slopes",
    "panel_sums", "panel_tile", "row_dots",
]  # fmt: skip
