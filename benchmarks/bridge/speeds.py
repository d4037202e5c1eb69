"""Images per second of ResNet-18 in the bridge's rounds, and the time that presets would take at that speed.

For a GPU: bytes on the device, channels_last, bfloat16 passes, compiled steps. It runs on a CPU, too.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch

from benchmarks.bridge.cases import METHODS, NAMES, RESNET, BridgeCase, Ours, World
from benchmarks.measure import seconds_of
from cflag_theory.bridge.settings.presets import preset
from cflag_theory.bridge.settings.run_settings import RunSettings
from cflag_theory.errors import CflagError, InvalidInput

#: Ways to pass through the network; each has what the one before has.
WAYS: dict[str, dict[str, bool]] = {
    "float32": {},
    "channels_last": {"channels_last": True},
    "bfloat16": {"channels_last": True, "autocast": True},
    "compiled": {"channels_last": True, "autocast": True, "compiled": True},
}
#: Batches of the paper, two of them a client on a GPU, so that a round is long enough.
ON_GPU = replace(RESNET, name="ResNet-18, batches of 128", samples=1024, memory=400, batch=128, sample=200)
ON_CPU = replace(ON_GPU, samples=128, epochs=1)
#: Those with ResNet-18; TinyImageNet has ResNet-50.
PRESETS = ("table3-cifar10", "table2-cifar10", "table3-cifar100", "table8-cifar10")
TRAIN_IMAGES = {"cifar10": 50000, "cifar100": 50000}


@dataclass(frozen=True)
class Speed:
    """Images whose gradient was evaluated, a second, in every repetition; or why there are none."""

    way: str
    method: str
    values: tuple[float, ...] = ()
    note: str = ""

    @property
    def median(self) -> float:
        """Median of the repetitions; nan without any."""
        return statistics.median(self.values) if self.values else math.nan


@dataclass(frozen=True)
class Projection:
    """A preset at the fastest way's speed; evaluation and meters are not in it."""

    preset: str
    way: str
    images: float
    seconds: float


def require_device(name: str) -> torch.device:
    """The device of this name, if this machine has it."""
    try:
        device = torch.device(name)
    except RuntimeError:
        raise InvalidInput(f"device {name!r} is unknown: use cuda, cuda:1 or cpu") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InvalidInput("no GPU that torch can use was found: run where nvidia-smi lists one, or with --device cpu")
    return device


def speeds(
    device: torch.device,
    *,
    case: BridgeCase | None = None,
    repeats: int = 3,
    ways: Sequence[str] = tuple(WAYS),
    tell: Callable[[str], None] = lambda words: None,
) -> list[Speed]:
    """Images a second of C-FLAG's and Fine-FL's rounds, in every way; the first round, which compiles, is not timed."""
    found = []
    for way in ways:
        tell(f"bridge-gpu: {way} on {device}")
        try:
            world = World(case or (ON_GPU if device.type == "cuda" else ON_CPU), device=str(device), **WAYS[way])
            for method in METHODS:
                ours = Ours(world, method)
                ours.run(1)
                values = [ours.gradients / seconds_of(partial(ours.run, 1)) for _ in range(repeats)]
                found.append(Speed(way, NAMES[method], tuple(values)))
        # What a compiler or a device says that is not there has many classes.
        except (CflagError, RuntimeError) as error:
            found.append(Speed(way, "", note=str(error).strip().splitlines()[0][:160]))
    return found


def evaluated(settings: RunSettings, method: str, train_images: int) -> float:
    """Images whose gradient a method evaluates in a run with one seed, if all clients have equally many samples.

    A round of n samples takes n for every pass; C-FLAG and FedTrack take n more for grad g_i(x_t) and n for the old
    gradients of the components, and C-FLAG, NCCL-FL and Er-ring-FL those of memory; iCaRL-FL all of it in
    every pass; and TARGET those of images that were made.
    """
    a_task, clients = train_images / settings.tasks, settings.clients
    n = a_task / clients
    steps = settings.epochs * math.ceil(n / settings.batch)
    a_round = a_task * settings.epochs
    of_memory = 0.0
    remembered = min(settings.memory_sample, settings.memory_size)
    if method in ("c_flag", "fedtrack"):
        first_visits = a_task if settings.epochs > 1 else a_task - clients * min(settings.batch, n)
        a_round += a_task + first_visits
    if method == "c_flag":
        of_memory = clients * remembered
    elif method == "icarl":
        of_memory = clients * settings.epochs * settings.memory_size * settings.tasks / 2
    elif method in ("nccl", "er_ring", "target"):
        of_memory = clients * steps * remembered
    total = settings.rounds * (settings.tasks * a_round + (settings.tasks - 1) * of_memory)
    if method == "ewc":
        total += settings.tasks * clients * min(n, settings.options["ewc"].fisher_samples)
    return total


def projections(found: Sequence[Speed], names: Sequence[str] = PRESETS) -> list[Projection]:
    """What presets would take at the speed of the fastest way, C-FLAG's and Fine-FL's mean."""
    timed = {speed.way for speed in found if speed.values}
    if not timed:
        return []
    rates = {
        way: statistics.mean(speed.median for speed in found if speed.way == way and speed.values) for way in timed
    }
    way = max(rates, key=lambda name: rates[name])
    projected = []
    for name in names:
        images = 0.0
        for variation in preset(name).variations:
            settings = variation.settings()
            each = (evaluated(settings, method, TRAIN_IMAGES[settings.data]) for method in settings.methods)
            images += len(settings.seeds) * sum(each)
        projected.append(Projection(name, way, images, images / rates[way]))
    return projected


def describe_device(device: torch.device) -> dict[str, Any]:
    """What it is, and with how many threads."""
    if device.type == "cuda":
        return {"device": torch.cuda.get_device_name(device), "threads": torch.get_num_threads()}
    return {"device": "CPU", "threads": torch.get_num_threads()}
