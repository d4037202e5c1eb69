"""The paper's experiments by name: the rows of Tables 2, 3 and 6 to 8, and the curves of Figures 2 to 7.

All have Table 5's settings and those of the supplement's Sec. 4, which are the defaults of their data sets: 5 clients,
20 rounds a task of 2 epochs, Adam with a rate of 1e-4, batches of 128 (TinyImageNet: 32), L = 5, 400 samples kept a
task and client of which 200 are drawn. Tables are means over the seeds 1234, 1235, 1236; plots have one seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Annotated

from cflag_theory.bridge.settings.cfl_presets import Preset, Variation, cfl_presets
from cflag_theory.public import one_of, require

IID, NON_IID = "iid", "non-iid"
ZETA = MappingProxyType({IID: 1e5, NON_IID: 0.1})
SEEDS = (1234, 1235, 1236)
_RIVALS = ("finetune", "ewc", "nccl", "er_ring")
_WITHOUT_FEDTRACK, _ALL = ("c_flag", *_RIVALS), ("c_flag", "finetune", "ewc", "nccl", "fedtrack", "er_ring")
_CLASSES = ("c_flag", "finetune", "ewc", "lwf", "icarl", "target", "nccl", "fedtrack")
_INCREMENTAL = (
    "The loss while heads grow: over all classes seen; old_logits = masked, which the published code does on current "
    "data, is the switch. LwF-FL and TARGET have the task's own classes there by their definition.",
    "What LwF-FL, iCaRL-FL and TARGET are over clients, and their constants: the methods' own papers, see the options.",
)
_ONE_SEED = "Which seed the plots show: 1234, the first of Table 5."
#: What the paper leaves open about all its experiments, and what is done here.
DECIDED = (
    "Which classes make a task: a new order for each seed, because Avalanche, which the paper takes its sequences of "
    "tasks from, shuffles them.",
    "How a task is dealt out: class over clients, the usual meaning of its words; partition = balanced is what the "
    "published code does.",
    "Which case of Table 1 the tables used: the worst case, which makes the smaller steps.",
    "What a_i is when the steps are Adam's: Adam's displacement, which is line 4 of Algorithm 3; rates_from = "
    "gradients takes the sum of the steps' gradient estimates, as Sec. 5 has it.",
    "Which switches: mode = paper, that is Algorithm 1 with Adam; mode = released is what the published code does.",
)


def preset(name: str) -> Preset:
    """The preset of this name.

    Raises
    ------
    UnknownName
        There is none; the message lists them.
    """
    require("preset", name, Annotated[str, one_of(*PRESETS)])
    return PRESETS[name]


def _variation(
    data: str,
    methods: Sequence[str],
    *,
    zeta: float,
    seeds: Sequence[int],
    clients: int = 5,
    size: int = 400,
    sample: int = 200,
    cells: Sequence[tuple[str, str, str]] = (),
    heads: str = "list",
) -> Variation:
    changes = {
        "data": data,
        "methods": list(methods),
        "zeta": zeta,
        "seeds": list(seeds),
        "clients": clients,
        "memory_size": size,
        "memory_sample": sample,
        "class_order": "shuffled",
        "mode": "paper",
    }
    name = f"{data}-zeta{zeta:g}-clients{clients}-memory{size}-sample{sample}".replace("+", "")
    if heads != "list":
        changes["heads"], name = heads, f"{name}-{heads}"
    return Variation(name, MappingProxyType(changes), tuple(cells))


def _table(data: str, setting: str) -> Variation:
    """A column of Table 2 or 3, which Table 6 repeats with deviations."""
    table, methods = ("table3", _ALL) if setting == IID else ("table2", _WITHOUT_FEDTRACK)
    cells = ((table, data, setting), ("table6", data, setting))
    return _variation(data, methods, zeta=ZETA[setting], seeds=SEEDS, cells=cells)


def _classes(data: str, setting: str, seeds: Sequence[int]) -> Variation:
    """A column of Table 7: class-incremental."""
    cells = (("table7", data, f"{setting} class-incremental"),) if len(seeds) > 1 else ()
    return _variation(data, _CLASSES, zeta=ZETA[setting], seeds=seeds, cells=cells, heads="growing")


def _clients(data: str, setting: str, clients: int, *, seeds: Sequence[int], published: bool) -> Variation:
    cells = [("table8", data, f"{setting} clients={clients}")] if published else []
    return _variation(data, ("c_flag",), zeta=ZETA[setting], seeds=seeds, clients=clients, cells=cells)


def _presets() -> list[Preset]:
    found = []
    datas = {"cifar10": "Split-CIFAR10", "cifar100": "Split-CIFAR100", "tinyimagenet": "Split-TinyImageNet"}
    for number, setting in ((2, NON_IID), (3, IID)):
        found += [
            Preset(f"table{number}-{data}", f"Table {number}, {words}: {setting}, 5 clients.", (_table(data, setting),))
            for data, words in datas.items()
        ]
    for data, words in datas.items():
        both = (_table(data, NON_IID), _table(data, IID))
        found.append(Preset(f"table6-{data}", f"Table 6, {words}: non-IID and IID, with deviations.", both))
    for data in ("cifar10", "cifar100"):
        both = (_classes(data, NON_IID, SEEDS), _classes(data, IID, SEEDS))
        what = f"Table 7, {datas[data]}: class-incremental, non-IID and IID."
        found.append(Preset(f"table7-{data}", what, both, _INCREMENTAL))
    for data, setting in (("cifar10", IID), ("cifar100", NON_IID)):
        clients = tuple(_clients(data, setting, n, seeds=SEEDS, published=True) for n in (50, 25, 15, 10, 5))
        what = f"Table 8, {datas[data]} ({setting}): C-FLAG with 50, 25, 15, 10 and 5 clients."
        decided = ("How many seeds: three, as in the other tables, though Table 8's numbers for 5 clients differ.",)
        found.append(Preset(f"table8-{data}", what, clients, decided))
    seed = SEEDS[:1]
    for data in ("cifar10", "cifar100"):
        found += _figures(data, datas[data], seed)
    gamma = tuple(_variation("cifar10", ("c_flag",), zeta=zeta, seeds=seed) for zeta in (0.1, 1.0, 1e5))
    found.append(Preset("figure4", "Figure 4: Gamma(t) by round on Split-CIFAR10, three zeta.", gamma, (_ONE_SEED,)))
    incremental = (_classes("cifar10", IID, seed), _classes("cifar10", NON_IID, seed))
    what = "Figure 6: average accuracy by task on Split-CIFAR10, class-incremental, IID and non-IID."
    found.append(Preset("figure6", what, incremental, (*_INCREMENTAL, _ONE_SEED)))
    return found


def _figures(data: str, words: str, seed: Sequence[int]) -> list[Preset]:
    one = partial(_variation, data, seeds=seed)
    own, three, non_iid, iid = ("c_flag",), ("c_flag", "ewc", "fedtrack"), ZETA[NON_IID], ZETA[IID]
    by_clients = [_clients(data, NON_IID, clients, seeds=seed, published=False) for clients in (5, 10, 15)]
    by_size = [one(own, zeta=z, size=n, sample=n // 2) for z in (non_iid, iid) for n in range(100, 700, 100)]
    counts = "Which numbers of clients: 5, 10, 15, to which Table 8 is said to add 25 and 50."
    sizes = "Which six sizes: 100 to 600; of them the text names 600, and 400 is its usual one."
    panels: tuple[tuple[str, str, list[Variation], tuple[str, ...]], ...] = (
        ("figure2", "Figure 2, {}: average accuracy by task, IID.", [one(_ALL, zeta=iid)], ()),
        (
            "figure3",
            "Figure 3, {}: C-FLAG, EWC-FL and FedTrack at three heterogeneities.",
            [one(three, zeta=zeta) for zeta in (0.1, 1.0, 1e5)],
            (),
        ),
        ("figure5-clients", "Figure 5 (left), {}: C-FLAG, non-IID, by the number of clients.", by_clients, (counts,)),
        (
            "figure5-memory",
            "Figure 5 (right), {}: C-FLAG, non-IID, by the samples drawn of 400 kept.",
            [one(own, zeta=non_iid, sample=sample) for sample in (50, 150, 200, 300)],
            (),
        ),
        (
            "figure7",
            "Figure 7, {}: C-FLAG by the size of memory, half of it drawn, non-IID and IID.",
            by_size,
            (sizes,),
        ),
    )
    return [
        Preset(f"{name}-{data}", what.format(words), tuple(runs), (*decided, _ONE_SEED))
        for name, what, runs, decided in panels
    ]


#: Every preset by its name: the C-FLAG paper's, and with those of the CFL paper.
C_FLAG_PRESETS: Mapping[str, Preset] = MappingProxyType({each.name: each for each in _presets()})
PRESETS: Mapping[str, Preset] = MappingProxyType({**C_FLAG_PRESETS, **{each.name: each for each in cfl_presets()}})
