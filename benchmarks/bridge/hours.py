"""What the presets of both papers take at measured rates of image gradients."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.bridge import cfl_images
from benchmarks.bridge.speeds import evaluated
from benchmarks.sheets import Sheet, number
from cflag_theory.bridge.models.flat_model import make_model
from cflag_theory.bridge.settings.cfl_presets import Variation
from cflag_theory.bridge.settings.presets import C_FLAG_PRESETS, PRESETS
from cflag_theory.bridge.settings.run_settings import TASKS
from cflag_theory.errors import InvalidInput

TRAIN_IMAGES = {"cifar10": 50000, "cifar100": 50000, "tinyimagenet": 100000, "fashion-mnist": 60000}
#: Of each of these data sets; of TinyImageNet its validation images.
TEST_IMAGES = 10000
SIDES = {"cifar10": 32, "cifar100": 32, "tinyimagenet": 64, "fashion-mnist": 28}
#: Their time is their operations; a small mlp waits for the dispatch of its operations, whatever these are.
RESNETS = ("resnet18", "resnet50")
NETWORKS = (*RESNETS, "mlp")
CFL_NETWORKS = ("resnet18", "mlp")
ALL = "all, shared runs once"
#: A forward pass over a gradient, which also passes backward to the activations and to the weights.
FORWARD = 1 / 3


@dataclass(frozen=True)
class Need:
    """What a preset takes: its runs, each a method with a seed.

    Attributes
    ----------
    preset : str
    runs : int
    images : mapping of str to float
        Image gradients of the methods by network.
    hours : float or None
        None where no run has a rate.
    metered, shown : float
        Image gradients of meters alone, and test images; both 0 where the hours do not count them.
    note : str
        What the hours leave out.
    """

    preset: str
    runs: int
    images: Mapping[str, float]
    hours: float | None
    metered: float = 0.0
    shown: float = 0.0
    note: str = ""


@cache
def operations(network: str, side: int) -> float:
    """Multiplications and additions of a forward pass of one image; a gradient takes three times as many."""
    model = make_model(network, (3, side, side), (10,), device="meta")
    images, tasks = torch.empty(1, 3, side, side, device="meta"), torch.zeros(1, dtype=torch.int64, device="meta")
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model.network.eval()(images, tasks)
    return float(counter.get_total_flops())


def seconds_an_image(rates: Mapping[str, float], network: str, side: int) -> float | None:
    """From the network's own rate, or a ResNet's from another one's by their operations; None where that is not known.

    Parameters
    ----------
    rates : mapping of str to float
        Image gradients a second: of resnet18 with images of 32 x 32, of resnet50 with 64 x 64, of the mlp with
        Fashion-MNIST's, as the presets have.
    """
    if network in rates:
        return 1 / rates[network]
    known = next((name for name in RESNETS if name in rates), None)
    if known is None or network not in RESNETS:
        return None
    return operations(network, side) / operations(known, 64 if known == "resnet50" else 32) / rates[known]


def needs(rates: Mapping[str, float]) -> list[Need]:
    """Every preset of the C-FLAG paper, and all of them together, in which runs that several share count once."""
    return _needs({name: each.variations for name, each in C_FLAG_PRESETS.items()}, rates)


def cfl_needs(rates: Mapping[str, float]) -> list[Need]:
    """The same of the CFL paper."""
    return _needs({name: each.variations for name, each in PRESETS.items() if name not in C_FLAG_PRESETS}, rates)


def _needs(presets: Mapping[str, Sequence[Variation]], rates: Mapping[str, float]) -> list[Need]:
    found, everything = [], dict[tuple[str, str, int], Variation]()
    for name, variations in presets.items():
        # Presets whose data come with a library take minutes.
        if all(variation.settings().data in TRAIN_IMAGES for variation in variations):
            runs = _runs(variations)
            everything |= runs
            found.append(_need(name, runs, rates))
    return [*found, _need(ALL, everything, rates)]


def _runs(variations: Sequence[Variation]) -> dict[tuple[str, str, int], Variation]:
    """Methods with seeds; equal runs of different presets have equal names."""
    return {
        (each.name, method, seed): each
        for each in variations
        for settings in [each.settings()]
        for method in settings.methods
        for seed in settings.seeds
    }


def _need(name: str, runs: Mapping[tuple[str, str, int], Variation], rates: Mapping[str, float]) -> Need:
    images, without = dict[str, float](), Counter[str]()
    seconds = metered = shown = 0.0
    for (_, method, _), variation in runs.items():
        settings = variation.settings()
        train = TRAIN_IMAGES[settings.data]
        count = evaluated(settings, method, train)
        images[settings.model] = images.get(settings.model, 0.0) + count
        if settings.protocol != TASKS:
            meters, tests = cfl_images.metered(settings, method, train), cfl_images.shown(settings, TEST_IMAGES)
            metered, shown, count = metered + meters, shown + tests, count + meters + FORWARD * tests
        each = seconds_an_image(rates, settings.model, SIDES[settings.data])
        if each is None:
            without[settings.model] += 1
        else:
            seconds += count * each
    note = ", ".join(f"without the {count} runs of {network}, which has no rate" for network, count in without.items())
    hours = None if without.total() == len(runs) else seconds / 3600
    return Need(name, len(runs), images, hours, metered, shown, note)


def hours_sheet(found: Sequence[Need], rates: Mapping[str, float], how: str) -> Sheet:
    """Hours by preset of the C-FLAG paper; `how` says where the rates come from."""
    columns = ("preset", "runs", *(f"million images, {network}" for network in RESNETS), "hours")
    rows = tuple((need.preset, str(need.runs), *_millions(need, RESNETS), _hours(need)) for need in found)
    return Sheet(
        "Hours of every preset of the C-FLAG paper",
        columns,
        rows,
        frozenset({"preset"}),
        f"At {_said(rates)}, {how}; a ResNet without a rate of its own by the number of its operations. Runs are "
        "methods with seeds, one after another. Evaluation after every task and the reading of the files are not in "
        "it.",
    )


def cfl_sheet(found: Sequence[Need], rates: Mapping[str, float], how: str) -> Sheet:
    """Hours by preset of the CFL paper."""
    columns = (
        "preset",
        "runs",
        *(f"million images, {network}" for network in CFL_NETWORKS),
        "meters",
        "tests",
        "hours",
        "note",
    )
    rows = tuple(
        (
            *(need.preset, str(need.runs), *_millions(need, CFL_NETWORKS)),
            *(number(need.metered / 1e6), number(need.shown / 1e6), _hours(need), need.note),
        )
        for need in found
    )
    return Sheet(
        "Hours of every preset of the CFL paper",
        columns,
        rows,
        frozenset({"preset", "note"}),
        f"At {_said(rates)}, {how}. In millions: image gradients of the methods, image gradients of meters "
        "(past_every, Figures 3 and 6), and test images, which are evaluated after every round and count as a third "
        "of a gradient. An mlp waits for dispatch rather than for arithmetic, so that its hours need a rate of its "
        "own. A rate is that of batches and clients like those of the run: for resnet18 these are batches of 32, and "
        "an mlp's expansions (cfl_reg) take clients one by one and are slower than its rate. Runs are methods with "
        "seeds, one after another. The making of generated images (cfl_gen), herding and the reading of the files are "
        "not in it.",
    )


def _millions(need: Need, networks: Sequence[str]) -> list[str]:
    return [number(need.images.get(network, 0.0) / 1e6) for network in networks]


def _hours(need: Need) -> str:
    return "" if need.hours is None else number(need.hours)


def _said(rates: Mapping[str, float]) -> str:
    return " and ".join(f"{rate:g} image gradients a second of {network}" for network, rate in rates.items())


def rates_from(words: Sequence[str]) -> dict[str, float]:
    """Rates from words such as resnet18=3000.

    Raises
    ------
    InvalidInput
        A word is of another form, or names another network.
    """
    found = {}
    for word in words:
        network, _, text = word.partition("=")
        try:
            rate = float(text)
        except ValueError:
            rate = math.nan
        if network not in NETWORKS or not 0 < rate < math.inf or network in found:
            raise InvalidInput(
                f"--rate {word!r} is no rate: write NETWORK=IMAGES, image gradients a second, such as resnet18=3000, "
                f"once for each of {', '.join(NETWORKS)}"
            )
        found[network] = rate
    return found
