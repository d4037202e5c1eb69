"""The CFL paper's experiments by name: Tables 4 to 7 and 9, Figures 3 and 5 to 7; and the same methods on digits.

All have 7 clients with 30 subsets each and 500 rounds at a rate of 0.01 (App. C.1), unless a table says otherwise.
What the paper leaves open is `evolving.DECIDED`. A preset is runs by name, with what the paper leaves open about them.

The preset digits-all has every setting of the task-by-task runs on Split-Digits, as a table of what changes. The first
is the default run. The axes are those of the paper's ablations (Sec. 7, supplement Sec. 5): zeta, the number
of clients, the size of memory; and what it leaves open: heads, modes, rates, kinds of memory, partitions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from cflag_theory.bridge.settings.evolving import CFL_NAMES, ROUNDS
from cflag_theory.bridge.settings.options import ADAPTIVE, MODES, WORST
from cflag_theory.bridge.settings.run_settings import RunSettings, merged, run_settings

SEEDS = (1234, 1235, 1236)
#: beta = 1 everywhere: CFL-Regularization-Full.
FULL = {"last": 1.0, "block": 1.0, "rest": 1.0}
#: The sizes that Table 4 calls small and large, and those of Figure 3, which goes from 20 to 150.
SMALL, LARGE = 50, 150
FIGURE_3 = (20, 50, 75, 100, 125, 150)
_WORDS = {"fashion-mnist": "Split-Fashion-MNIST", "cifar10": "Split-CIFAR10", "cifar100": "Split-CIFAR100"}
_MAIN = ("fedavg", "cfl_reg", "cfl_core")
_TABLE6 = ("fedavg", "fedprox", "mimelite", "cfl_core", "cfl_reg", "cfl_reg_prox")


def cfl_presets() -> list[Preset]:
    """All of them."""
    found = [Preset("cfl-table4", "CFL Table 4: seven approximations on Split-CIFAR10, 10 clients.", _table4())]
    for data, words in _WORDS.items():
        what = f"CFL Table 5 and Figure 5, {words}: FedAvg, CFL-Regularization in top and all layers, CFL-Core-Set."
        found.append(Preset(f"cfl-table5-{data}", what, _table5(data)))
    table6 = tuple(_run(f"cifar10-alpha{a}", _TABLE6, zeta=a) for a in (0.1, 0.2))
    found.append(Preset("cfl-table6", "CFL Table 6: six methods on Split-CIFAR10, alpha = 0.1 and 0.2.", table6))
    stateless = tuple(name for name in _TABLE6 if name != "cfl_core")
    table7 = (_run("cifar10-stateless", stateless, zeta=0.2, stateless=True),)
    found.append(Preset("cfl-table7", "CFL Table 7: stateless clients on Split-CIFAR10, alpha = 0.2.", table7))
    methods = ("fedavg", "mimelite", "cfl_core", "cfl_reg")
    for visits, name, words in (("pointer", "", "by a pointer"), ("random", "-random", "drawn at random")):
        table9 = tuple(
            _run(f"cifar10-overlap{overlap:g}-{visits}", methods, visits=visits, overlap=overlap)
            for overlap in (0.0, 0.25, 0.5)
        )
        found.append(
            Preset(
                f"cfl-table9{name}",
                f"CFL Table 9, local data {words}: overlaps of 0, 25 and 50% on Split-CIFAR10, alpha = 0.1.",
                table9,
                ("Size of local data: 238, because 210 subsets of the 285 that the text says need 59850 images.",),
            )
        )
    # Information loss is measured in the first round and the last.
    sizes = tuple(
        _run(f"cifar10-core{size}", ("cfl_core",), zeta=0.2, past_every=499, cfl_core={"size": size})
        for size in FIGURE_3
    )
    found.append(Preset("cfl-figure3", "CFL Figure 3: CFL-Core-Set by the size of the core sets.", sizes))
    figure6 = (_run("cifar10-past", ("fedavg",), zeta=0.2, rounds=85, past_every=1, seeds=SEEDS[:1]),)
    found.append(Preset("cfl-figure6", "CFL Figure 6: loss on test images and on past training data.", figure6))
    for data in ("fashion-mnist", "cifar10"):
        figure7 = (_run(f"{data}-rounds300", ("fedavg", "cfl_reg"), data=data, rounds=300, seeds=SEEDS[:1]),)
        found.append(Preset(f"cfl-figure7-{data}", f"CFL Figure 7, {_WORDS[data]}: loss by round.", figure7))
    digits = _digits()
    found.append(Preset("digits-cfl", "All CFL methods on digits, five seeds.", digits[:1]))
    found.append(Preset("digits-cfl-settings", "All CFL methods and settings on digits.", digits))
    found.append(
        Preset(
            "digits-all",
            "All methods of both papers on digits, in every setting, with one page that compares them.",
            (*digits_tasks(), *digits),
        )
    )
    return found


def _run(name: str, methods: Sequence[str], **changes: Any) -> Variation:
    usual = {"protocol": ROUNDS, "data": "cifar10", "zeta": 0.1, "seeds": list(SEEDS), "methods": list(methods)}
    return Variation(f"cfl-{name}", MappingProxyType(usual | changes))


def _table4() -> tuple[Variation, ...]:
    ways: dict[str, tuple[str, dict[str, Any]]] = {
        "hutchinson": ("cfl_reg", {"hessian": "hutchinson"}),
        "fisher": ("cfl_reg", {"hessian": "fisher"}),
        "uniform-small": ("cfl_core", {"choice": "uniform", "size": SMALL}),
        "uniform-large": ("cfl_core", {"choice": "uniform", "size": LARGE}),
        "herding-small": ("cfl_core", {"choice": "herding", "size": SMALL}),
        "herding-large": ("cfl_core", {"choice": "herding", "size": LARGE}),
        "mcmc": ("cfl_gen", {}),
    }
    return tuple(
        _run(f"table4-{name}", (method,), zeta=0.2, clients=10, rounds=300, **{method: options})
        for name, (method, options) in ways.items()
    )


def _table5(data: str) -> tuple[Variation, ...]:
    # On CIFAR-10 the first is part of Table 6's run.
    first = _run("cifar10-alpha0.1", _TABLE6) if data == "cifar10" else _run(f"{data}-alpha0.1", _MAIN, data=data)
    return first, _run(f"{data}-full", ("cfl_reg",), data=data, cfl_reg=FULL)


def _digits() -> tuple[Variation, ...]:
    """The comparison with five seeds, the other settings with three."""

    def run(name: str, methods: Sequence[str] = CFL_NAMES, **changes: Any) -> Variation:
        usual: dict[str, Any] = {"protocol": ROUNDS, "data": "digits", "methods": list(methods)}
        usual |= {"seeds": list(SEEDS)} if name else {}
        return Variation(f"digits-cfl{name}", MappingProxyType(usual | changes))

    stateless = [name for name in CFL_NAMES if name not in ("cfl_core", "cfl_gen")]
    return (
        run(""),
        run("-alpha3", zeta=3.0),
        run("-stateless", stateless, stateless=True),
        *(
            run(f"-{visits}-overlap{100 * overlap:g}", visits=visits, overlap=overlap)
            for visits, overlap in (
                ("pointer", 0.0),
                ("pointer", 0.25),
                ("pointer", 0.5),
                ("random", 0.25),
                ("random", 0.5),
            )
        ),
        *(run(f"-core{size}", ("cfl_core",), past_every=59, cfl_core={"size": size}) for size in (3, 7, 14, 21)),
        run("-herding", ("cfl_core",), cfl_core={"choice": "herding"}),
        run("-fisher", ("cfl_reg",), cfl_reg={"hessian": "fisher"}),
        run("-full", ("cfl_reg",), cfl_reg=FULL),
        run("-sum", ("cfl_reg",), cfl_reg={"combine": "sum"}),
        # FedAvg at the cost of the others.
        run("-epochs6", ("fedavg",), epochs=6),
    )


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


@dataclass(frozen=True)
class Variation:
    """One run of a preset."""

    #: What sets it apart; also the name of its folder. Equal runs of different presets have equal names.
    name: str
    #: For `run_settings`.
    changes: Mapping[str, Any]
    #: Tuple of (table, data, setting): The published numbers that it is compared with, such as ("table3", "cifar10",
    #: "iid").
    cells: tuple[tuple[str, str, str], ...] = ()

    def settings(self, changes: Mapping[str, Any] | None = None) -> RunSettings:
        """The settings, with more changes such as root, device or fewer methods."""
        return run_settings(merged(self.changes, changes or {}))


@dataclass(frozen=True)
class Preset:
    """One table's column, or one panel of a figure."""

    name: str
    #: One sentence.
    what: str
    variations: tuple[Variation, ...]
    #: What the paper leaves open about it, beside `DECIDED`, and what is done here.
    decided: tuple[str, ...] = field(default=())
