"""The paper's experiments by name, with the settings that it states."""

from __future__ import annotations

import re

import pytest

from cflag_theory.bridge.settings.presets import C_FLAG_PRESETS, preset
from cflag_theory.errors import UnknownName

ALL = [(name, variation) for name, found in C_FLAG_PRESETS.items() for variation in found.variations]


def test_every_table_and_figure_is_there():
    datas = ("cifar10", "cifar100", "tinyimagenet")
    wanted = {f"table{number}-{data}" for number in (2, 3, 6) for data in datas}
    for data in datas[:2]:
        wanted |= {f"table7-{data}"}
        wanted |= {f"table8-{data}", f"figure2-{data}", f"figure3-{data}", f"figure7-{data}"}
        wanted |= {f"figure5-clients-{data}", f"figure5-memory-{data}"}
    assert set(C_FLAG_PRESETS) == wanted | {"figure4", "figure6"}
    with pytest.raises(UnknownName, match="preset 'table4' is unknown: use one of table2-cifar10, "):
        preset("table4")


@pytest.mark.parametrize(("name", "variation"), ALL, ids=lambda value: getattr(value, "name", value))
def test_settings_are_those_of_table_5(name, variation):
    found = variation.settings()
    tiny = found.data == "tinyimagenet"
    assert (found.lr, found.optimizer, found.L, found.rounds, found.epochs) == (1e-4, "adam", 5.0, 20, 2)
    assert (found.model, found.batch, found.tasks) == (("resnet50", 32, 10) if tiny else ("resnet18", 128, 5))
    assert found.seeds == ((1234, 1235, 1236) if name.startswith("table") else (1234,))
    heads = "growing" if name in ("table7-cifar10", "table7-cifar100", "figure6") else "list"
    assert (found.mode, found.heads, found.memory_kind) == ("paper", heads, "ring")
    assert variation.name.startswith(found.data)
    assert re.fullmatch(r"[a-z0-9.-]+", variation.name)


def dials(name, *keys):
    return [tuple(getattr(variation.settings(), key) for key in keys) for variation in preset(name).variations]


def test_what_varies():
    assert dials("table2-cifar100", "zeta", "clients") == [(0.1, 5)]
    assert dials("table3-tinyimagenet", "zeta", "clients") == [(1e5, 5)]
    assert dials("table6-cifar10", "zeta") == [(0.1,), (1e5,)]
    assert dials("table8-cifar10", "clients", "zeta") == [(n, 1e5) for n in (50, 25, 15, 10, 5)]
    assert dials("table8-cifar100", "clients", "zeta") == [(n, 0.1) for n in (50, 25, 15, 10, 5)]
    assert dials("figure3-cifar10", "zeta") == [(0.1,), (1.0,), (1e5,)]
    assert dials("figure4", "zeta", "data") == [(0.1, "cifar10"), (1.0, "cifar10"), (1e5, "cifar10")]
    assert dials("figure5-clients-cifar10", "clients", "zeta") == [(5, 0.1), (10, 0.1), (15, 0.1)]
    assert dials("table7-cifar100", "zeta", "old_logits") == [(0.1, "kept"), (1e5, "kept")]
    assert dials("figure6", "zeta", "data") == [(1e5, "cifar10"), (0.1, "cifar10")]
    samples = [(400, 50), (400, 150), (400, 200), (400, 300)]
    assert dials("figure5-memory-cifar100", "memory_size", "memory_sample") == samples
    halves = dials("figure7-cifar100", "memory_size", "memory_sample")
    assert len(halves) == 12
    assert all(size == 2 * sample for size, sample in halves)
    for found in C_FLAG_PRESETS.values():
        assert len({variation.name for variation in found.variations}) == len(found.variations)


def test_methods_are_the_rows():
    rivals = {"finetune", "ewc", "nccl", "er_ring"}
    (non_iid,), (iid,) = preset("table2-cifar10").variations, preset("table3-cifar10").variations
    # Table 2 prints no FedTrack.
    assert set(non_iid.settings().methods) == {"c_flag"} | rivals
    assert set(iid.settings().methods) == {"c_flag", "fedtrack"} | rivals
    assert set(preset("figure3-cifar10").variations[0].settings().methods) == {"c_flag", "ewc", "fedtrack"}
    assert preset("table8-cifar10").variations[0].settings().methods == ("c_flag",)


def test_runs_that_are_equal_share_a_folder():
    """What two presets have in common is run once, and never two runs are taken for one."""
    by_name = {}
    for _, variation in ALL:
        plain = variation.settings({"methods": ["c_flag"], "seeds": [1]})
        assert by_name.setdefault(variation.name, plain) == plain
    assert preset("table6-cifar10").variations[1] == preset("table3-cifar10").variations[0]


def test_a_preset_can_be_changed():
    (variation,) = preset("table3-cifar10").variations
    found = variation.settings({"c_flag": {"mode": "released"}, "seeds": [1236], "root": "data", "mode": "paper"})
    assert found.options["c_flag"].product == "per-tensor"
    assert found.options["fedtrack"].mode == "paper"
    assert (found.seeds, found.root, found.zeta) == ((1236,), "data", 1e5)
    assert variation.settings().options["c_flag"].mode == "paper"


def test_cells_name_published_numbers():
    cells = {cell for _, variation in ALL for cell in variation.cells}
    assert ("table2", "cifar100", "non-iid") in cells
    assert ("table6", "tinyimagenet", "iid") in cells
    assert ("table8", "cifar10", "iid clients=50") in cells
    assert ("table8", "cifar100", "non-iid clients=5") in cells
    assert ("table7", "cifar100", "iid class-incremental") in cells
    assert len(cells) == 2 * 3 * 2 + 2 * 5 + 2 * 2
