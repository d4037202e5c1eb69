"""What a preset is: runs by name, with what the paper leaves open about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cflag_theory.bridge.settings.run_settings import RunSettings, merged, run_settings


@dataclass(frozen=True)
class Variation:
    """One run of a preset.

    Attributes
    ----------
    name : str
        What sets it apart; also the name of its folder. Equal runs of different presets have equal names.
    changes : mapping
        For `run_settings`.
    cells : tuple of (table, data, setting)
        The published numbers that it is compared with, such as ("table3", "cifar10", "iid").
    """

    name: str
    changes: Mapping[str, Any]
    cells: tuple[tuple[str, str, str], ...] = ()

    def settings(self, changes: Mapping[str, Any] | None = None) -> RunSettings:
        """The settings, with more changes such as root, device or fewer methods."""
        return run_settings(merged(self.changes, changes or {}))


@dataclass(frozen=True)
class Preset:
    """One table's column, or one panel of a figure.

    Attributes
    ----------
    name : str
    what : str
        One sentence.
    variations : tuple of Variation
    decided : tuple of str
        What the paper leaves open about it, beside `DECIDED`, and what is done here.
    """

    name: str
    what: str
    variations: tuple[Variation, ...]
    decided: tuple[str, ...] = field(default=())
