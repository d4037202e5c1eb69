"""Presets and printed numbers name each other: no number without a run, no run of a table without its numbers."""

from __future__ import annotations

from cflag_theory.bridge.settings.presets import PRESETS
from cflag_theory.studies.bridge_results.published import PUBLISHED


def test_every_printed_number_has_a_preset_with_its_method():
    rows = {(number.key[:3], number.method) for number in PUBLISHED.values()}
    runs = {
        (cell, method)
        for preset in PRESETS.values()
        for variation in preset.variations
        for cell in variation.cells
        for method in variation.settings().methods
    }
    assert rows == runs


def test_clients_and_heterogeneity_are_those_of_the_number():
    for preset in PRESETS.values():
        for variation in preset.variations:
            settings = variation.settings()
            for number in PUBLISHED.values():
                if number.key[:3] in variation.cells:
                    assert (number.clients, number.data) == (settings.clients, settings.data)
                    assert {"iid": 1e5, "non-iid": 0.1}[number.setting] == settings.zeta
