"""What the bridge's benchmarks found, as tables."""

from __future__ import annotations

from typing import Any

from benchmarks.bridge.cases import BridgeCase
from benchmarks.bridge.contest import ROUNDS, BridgeRow
from benchmarks.bridge.speeds import Speed
from benchmarks.sheets import Sheet, number

NO_GPU = "The numbers are those of this machine's CPU."


def rounds_sheet(rows: list[BridgeRow]) -> Sheet:
    """Rounds a second of everybody in every case."""
    cells = []
    for row in rows:
        if row.timing is None:
            cells.append((row.case, row.who, str(row.clients), "", "", "", "", "", row.note))
            continue
        timing = row.timing
        cells.append(
            (
                row.case,
                row.who,
                str(row.clients),
                number(1 / timing.median),
                f"{timing.spread:.0%}",
                f"{timing.busy:.0%}",
                "" if row.ratio is None else number(1 / row.ratio),
                "" if row.error is None else f"{row.error:.0e}",
                row.note,
            )
        )
    return Sheet(
        "Rounds a second of the bridge and of a plain loop with torch.optim",
        ("case", "who", "clients", "rounds/s", "spread", "busy", "speed-up", "distance", "note"),
        tuple(cells),
        frozenset({"case", "who", "note"}),
        "Plain steps in float32, two passes, the second of two tasks; mlps on one thread, the ResNet on all cores. "
        "Medians of interleaved repetitions; spread: half the range over the median; busy: share of the time in which "
        "this process had a core. Speed-up: over the bridge with one client after another, in the same case. Distance: "
        f"of the state after {ROUNDS} rounds in float64 from that of the bridge, over the largest entry. The plain "
        "loop has normalised images and a whole table of gradients from the start of the round.",
    )


def speed_sheet(found: list[Speed], device: dict[str, Any], case: BridgeCase) -> Sheet:
    """Images a second, by way and method."""
    rows = []
    for speed in found:
        spread = f"{number(min(speed.values))} to {number(max(speed.values))}" if len(speed.values) > 1 else ""
        rows.append((speed.way, speed.method, number(speed.median) if speed.values else "", spread, speed.note))
    note = "" if device["device"] != "CPU" else f"{NO_GPU} "
    return Sheet(
        f"Images a second, ResNet-18, {device['device']}",
        ("passes", "method", "images/s", "range", "note"),
        tuple(rows),
        frozenset({"passes", "method", "note"}),
        f"{note}{case.shape[1]} x {case.shape[2]} images in bytes on the device, {case.clients} clients with "
        f"{case.samples} each, batches of {case.batch}, whole rounds with both exchanges; an image counts as often as "
        f"its gradient is evaluated. {device['threads']} threads of the CPU.",
    )
