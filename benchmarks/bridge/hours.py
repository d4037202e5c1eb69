"""What the C-FLAG presets take at a measured rate of image gradients."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.bridge.speeds import evaluated
from benchmarks.sheets import Sheet, number
from cflag_theory.bridge.models.flat_model import make_model
from cflag_theory.bridge.settings.preset import Variation
from cflag_theory.bridge.settings.presets import C_FLAG_PRESETS
from cflag_theory.errors import InvalidInput

TRAIN_IMAGES = {"cifar10": 50000, "cifar100": 50000, "tinyimagenet": 100000}
SIDES = {"cifar10": 32, "cifar100": 32, "tinyimagenet": 64}
NETWORKS = ("resnet18", "resnet50")


@dataclass(frozen=True)
class Need:
    """What a preset takes: its runs, each a method with a seed, their image gradients by network, and hours."""

    preset: str
    runs: int
    images: Mapping[str, float]
    hours: float


@cache
def operations(network: str, side: int) -> float:
    """Multiplications and additions of a forward pass of one image; a gradient takes three times as many."""
    model = make_model(network, (3, side, side), (10,), device="meta")
    images, tasks = torch.empty(1, 3, side, side, device="meta"), torch.zeros(1, dtype=torch.int64, device="meta")
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        model.network.eval()(images, tasks)
    return float(counter.get_total_flops())


def seconds_an_image(rates: Mapping[str, float], network: str, side: int) -> float:
    """From the network's own rate, or from another one's by their operations.

    Parameters
    ----------
    rates : mapping of str to float
        Image gradients a second: of resnet18 with images of 32 x 32, of resnet50 with 64 x 64, as the presets have.
    """
    if network in rates:
        return 1 / rates[network]
    known, rate = next(iter(rates.items()))
    return operations(network, side) / operations(known, 64 if known == "resnet50" else 32) / rate


def needs(rates: Mapping[str, float]) -> list[Need]:
    """Every preset of the C-FLAG paper, and all of them together, in which runs that several share count once."""
    found, everything = [], dict[tuple[str, str, int], Variation]()
    for name, preset in C_FLAG_PRESETS.items():
        runs = _runs(preset.variations)
        # Presets whose data come with a library take minutes.
        if all(variation.settings().data in TRAIN_IMAGES for variation in preset.variations):
            everything |= runs
            found.append(_need(name, runs, rates))
    return [*found, _need("all, shared runs once", everything, rates)]


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
    images: dict[str, float] = {}
    seconds = 0.0
    for (_, method, _), variation in runs.items():
        settings = variation.settings()
        count = evaluated(settings, method, TRAIN_IMAGES[settings.data])
        images[settings.model] = images.get(settings.model, 0.0) + count
        seconds += count * seconds_an_image(rates, settings.model, SIDES[settings.data])
    return Need(name, len(runs), images, seconds / 3600)


def hours_sheet(found: Sequence[Need], rates: Mapping[str, float], how: str) -> Sheet:
    """Hours by preset; `how` says where the rates come from."""
    columns = ("preset", "runs", *(f"million images, {network}" for network in NETWORKS), "hours")
    rows = tuple(
        (need.preset, str(need.runs), *(number(need.images.get(n, 0.0) / 1e6) for n in NETWORKS), number(need.hours))
        for need in found
    )
    said = " and ".join(f"{rate:g} image gradients a second of {network}" for network, rate in rates.items())
    return Sheet(
        "Hours of every preset of the C-FLAG paper",
        columns,
        rows,
        frozenset({"preset"}),
        f"At {said}, {how}; a network without a rate of its own by the number of its operations. Runs are methods with "
        "seeds, one after another. Evaluation after every task and the reading of the files are not in it.",
    )


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
