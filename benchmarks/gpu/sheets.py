"""The GPU's results as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.gpu.contest import COMPILED, Row
from benchmarks.sheets import Sheet, number


def gpu_sheet(rows: Sequence[Row], ceilings: dict[str, float]) -> Sheet:
    """A contestant of a case a row: distance, time, ratio to the CPU, and rates against the measured ceilings."""
    compiled = {row.case: row.timing for row in rows if row.who == COMPILED}
    lines = []
    for row in rows:
        cells = [row.case, row.who, f"{row.error:.0e}{'' if row.agrees else ' (too far)'}", str(row.rounds)]
        if row.timing is None:
            cells += [""] * 6
        else:
            cpu = compiled.get(row.case)
            gemm = ceilings.get("sgemm" if "float32" in row.who else "dgemm")
            cells += [
                number(row.timing.median * 1e6),
                f"{row.timing.spread:.0%}",
                number(cpu.median / row.timing.median) if cpu is not None else "",
                number(row.flop_rate / 1e9),
                f"{row.flop_rate / gemm:.1%}" if gemm else "no library",
                f"{row.byte_rate / ceilings['copy']:.1%}",
            ]
        lines.append(tuple(cells))
    return Sheet(
        "CUDA kernels",
        ("case", "who", "distance", "after", "us", "spread", "CPU / this", "Gflop/s", "of gemm", "of copy"),
        tuple(lines),
        frozenset({"case", "who"}),
        "Distance: largest difference of x from the compiled loop's in bitwise mode after so many rounds, over the "
        "largest entry; 1e-10 is allowed in float64, 1e-3 in float32. Microseconds a round of one replica. Flops and "
        "bytes by formula: rates say how far the kernels are from a matrix product and a copy on the same device.",
    )


def ceiling_sheet(device: dict[str, Any], rates: dict[str, float]) -> Sheet:
    """The device and its measured ceilings."""
    rows = [
        ("GPU", device["gpu"]),
        ("compute capability", device["capability"]),
        ("multiprocessors", str(device["multiprocessors"])),
        ("memory, GiB", number(device["memory"] / 2**30)),
        ("copy, GB/s read and written", number(rates["copy"] / 1e9)),
    ]
    rows += [(f"{name}, Gflop/s", number(rates[name] / 1e9)) for name in ("dgemm", "sgemm") if name in rates]
    return Sheet("The device", ("what", "measured"), tuple(rows), frozenset({"what", "measured"}))


def disagreements(rows: Sequence[Row]) -> list[str]:
    """A sentence for every contestant whose iterates are too far from the compiled loop's."""
    return [
        f"case {row.case}, {row.who}: x is {row.error:.1e} from the compiled loop's after {row.rounds} rounds, "
        f"{row.allowed:.0e} is allowed"
        for row in rows
        if not row.agrees
    ]
