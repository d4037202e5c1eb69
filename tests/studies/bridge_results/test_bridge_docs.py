"""docs/bridge.md says what the code says: the switches, the findings, the options, the presets."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest
import typer

from cflag_theory.bridge.measures.metrics import metrics
from cflag_theory.bridge.settings.options import MODE_DATA, MODE_DEFAULTS, MODES, FlagOptions
from cflag_theory.bridge.settings.presets import PRESETS
from cflag_theory.bridge.settings.rules import CLASS_NAMES, METHOD_NAMES
from cflag_theory.bridge.settings.run_settings import RULES, run_settings
from cflag_theory.cli import main as cli
from cflag_theory.cli.tables.bridge import finding_lines
from cflag_theory.errors import UnknownName
from cflag_theory.studies.bridge_results.report import compare
from cflag_theory.studies.bridge_results.summary import WORDS

TEXT = (Path(__file__).parents[3] / "docs" / "bridge.md").read_text(encoding="utf-8")
#: Cells of every table row by its first cell.
ROWS = {
    cells[0].strip("`"): [cell.strip("`") for cell in cells[1:]]
    for cells in (
        [cell.strip() for cell in line.strip("|").split("|")] for line in TEXT.splitlines() if line.startswith("| ")
    )
}


def shown(value):
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else value


@pytest.mark.parametrize("name", [field.name for field in fields(FlagOptions) if field.name != "mode"])
def test_every_switch_with_its_values_and_defaults(name):
    values, *defaults, _ = ROWS[name]
    assert defaults == [shown(MODE_DEFAULTS[mode][name]) for mode in MODES]
    if isinstance(MODE_DEFAULTS["theory"][name], str):
        with pytest.raises(UnknownName) as error:
            FlagOptions(**{name: "nothing"})
        assert str(error.value).endswith(f"use one of {values}")


@pytest.mark.parametrize(
    "name",
    ["memory_kind", "partition", "weights", "rounds", "crop", "flip", "jitter", "image_size", "old_logits"],
)
def test_what_a_mode_says_of_the_run(name):
    found = [getattr(run_settings(mode=mode, data="tinyimagenet"), name) for mode in MODES]
    assert ROWS[name][1:4] == ["64" if value is None else str(shown(value)) for value in found]
    assert all(MODE_DATA[mode].get(name, value) == value for mode, value in zip(MODES, found, strict=True))


def test_the_findings_are_those_of_the_report():
    wanted = "\n".join(finding_lines(compare([])))
    assert wanted in TEXT


def test_every_method_and_metric_has_a_row():
    assert {*METHOD_NAMES, *CLASS_NAMES} <= set(ROWS)
    assert set(WORDS.values()) <= set(ROWS)
    assert set(WORDS) <= set(metrics([[50.0]]).to_json())


def test_options_presets_and_settings_that_are_named_exist():
    command = typer.main.get_command(cli.app).commands["bridge"]
    flags = {flag for parameter in command.params for flag in parameter.opts}
    named = set(re.findall(r"(?<![-\w])--[a-z][a-z-]*", TEXT)) - {"--from-trace", "--nproc-per-node"}
    assert named <= flags
    assert set(re.findall(r"--preset ([\w-]+)", TEXT)) <= set(PRESETS)
    settings = set(re.findall(r"--set (\w+)=", TEXT))
    assert settings <= set(RULES)
