"""Every setting of the task-by-task runs on Split-Digits, for the preset digits-all: a table of what changes.

The first is the default run. The axes are those of the paper's ablations (Sec. 7, supplement Sec. 5): zeta, the number
of clients, the size of memory; and what it leaves open: heads, modes, rates, kinds of memory, partitions.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from cflag_theory.bridge.settings.options import ADAPTIVE, MODES, WORST
from cflag_theory.bridge.settings.preset import Variation

#: Those with a memory of samples.
_REMEMBERING: dict[str, Any] = {"methods": ["c_flag", "nccl", "er_ring"]}
_SETTINGS: dict[str, dict[str, Any]] = {
    "": {},
    "zeta0.1": {"zeta": 0.1},
    "zeta1e5": {"zeta": 1e5},
    "list": {"heads": "list"},
    "list-zeta0.1": {"heads": "list", "zeta": 0.1},
    "list-zeta1e5": {"heads": "list", "zeta": 1e5},
    "paper": {"mode": "paper"},
    "released": {"mode": "released"},
    "growing": {"heads": "growing"},
    "growing-masked": {"heads": "growing", "old_logits": "masked"},
    "balanced": {"partition": "balanced"},
    "client-over-classes": {"partition": "client-over-classes"},
    "clients10": {"clients": 10},
    "memory6": _REMEMBERING | {"memory_size": 6, "memory_sample": 3},
    "memory40": _REMEMBERING | {"memory_size": 40, "memory_sample": 20},
    "reservoir": _REMEMBERING | {"memory_kind": "reservoir"},
    "by-task": _REMEMBERING | {"memory_kind": "by-task"},
}


def digits_tasks() -> tuple[Variation, ...]:
    """The runs; C-FLAG by mode and rates stands behind the others, the worst case being in the runs before."""
    rates = {
        f"{mode}-{adaptive}": {"methods": ["c_flag"], "mode": mode, "c_flag": {"adaptive": adaptive}}
        for mode in MODES
        for adaptive in ADAPTIVE
        if adaptive != WORST
    }
    return tuple(
        Variation(f"digits-tasks-{name}".rstrip("-"), MappingProxyType({"data": "digits"} | changes))
        for name, changes in (_SETTINGS | rates).items()
    )
