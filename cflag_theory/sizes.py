"""Free memory, and one sentence for what does not fit, before anything is allocated."""

from __future__ import annotations

import os
from pathlib import Path

from cflag_theory.errors import InvalidInput

#: Bytes below which nobody asks how much is free.
SMALL = 1 << 28
_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def require_room(needed: int, what: str, remedy: str) -> None:
    """Raise `InvalidInput` if `needed` bytes are more than are free: how much `what` needs, and what to lower."""
    if needed < SMALL:
        return
    free = free_memory()
    if free is not None and needed > free:
        raise InvalidInput(f"{what} needs about {_in_words(needed)} of memory and {_in_words(free)} are free: {remedy}")


def free_memory() -> int | None:
    """Bytes that this process may still take; None where the system does not say."""
    free = [*_of_the_machine(), *_of_the_group(), *_of_the_process()]
    return max(0, min(free)) if free else None


def _in_words(count: int) -> str:
    for power, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB")):
        if count >= 1 << power:
            # Integers may be larger than floats.
            return f"{count // (1 << power)} {unit}" if count >> power >= 10 else f"{count / (1 << power):.1f} {unit}"
    return f"{count} bytes"


def _of_the_machine() -> list[int]:
    for line in _text("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            return [int(line.split()[1]) << 10]
    try:
        return [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    except (AttributeError, OSError, ValueError):
        return []


def _of_the_group() -> list[int]:
    """What is left to the container."""
    for most, used in _GROUPS:
        limits = [_text(most).strip(), _text(used).strip()]
        if all(limit.isdecimal() for limit in limits):
            return [int(limits[0]) - int(limits[1])]
    return []


def _of_the_process() -> list[int]:
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return []
        return [limit - int(_text("/proc/self/statm").split()[0]) * os.sysconf("SC_PAGE_SIZE")]
    except (ImportError, OSError, ValueError, IndexError):
        return []


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""
