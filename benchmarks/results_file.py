"""RESULTS.md: each part is rewritten by the command that measures it, and the others are left as they are."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.peers.c_peer import compiler_version

FILE = Path(__file__).with_name("RESULTS.md")
#: Parts in their order, with their headings.
PARTS = {
    "first-minute": "The first minute",
    "cpu": "CPU",
    "rate": "A rate study",
    "sweep": "A sweep",
    "worst-cases": "Exact worst cases",
    "gpu": "GPU",
    "bridge": "The bridge",
    "bridge-gpu": "The bridge on a GPU",
}


def marks(part: str) -> tuple[str, str]:
    """The comments between which a part stands."""
    return f"<!-- {part} -->", f"<!-- end of {part} -->"


def rewritten(text: str, part: str, lines: Iterable[str]) -> str:
    """The file's text with one part replaced; a part that is not there yet is put before the one that follows it."""
    begin, end = marks(part)
    body = "\n".join([begin, f"## {PARTS[part]}", "", *lines]).rstrip() + f"\n\n{end}"
    if begin in text and end in text:
        before, after = text[: text.index(begin)], text[text.index(end) + len(end) :]
        return before + body + after
    order = list(PARTS)
    for follower in order[order.index(part) + 1 :]:
        at = text.find(marks(follower)[0])
        if at >= 0:
            return f"{text[:at]}{body}\n\n{text[at:]}"
    return f"{text.rstrip()}\n\n{body}\n"


def write_part(part: str, lines: Iterable[str], *, file: Path = FILE) -> None:
    """Replace one part of the file, whole or not at all."""
    text = file.read_text(encoding="utf-8") if file.exists() else "# Benchmarks\n"
    beside = file.with_suffix(".new")
    beside.write_text(rewritten(text, part, lines), encoding="utf-8")
    os.replace(beside, file)


def preamble(machine: dict[str, Any], command: str) -> list[str]:
    """Date, machine and versions, and the command that measures again."""
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    compiler = compiler_version()
    return [
        f"{datetime.now(UTC):%Y-%m-%d}, {machine['processor']}, {machine['cores']} cores, {machine['caches']}, "
        f"{machine['system']}, Python {machine['python']}, {versions}{', ' + compiler if compiler else ''}.",
        "",
        f"`{command}` measures it again and rewrites this part.",
        "",
    ]
