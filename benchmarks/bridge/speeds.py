"""Images per second of ResNet-18 in the bridge's rounds, and how many images runs take; `hours` puts them together.

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

from benchmarks.bridge import cfl_images
from benchmarks.bridge.cases import METHODS, NAMES, RESNET, BridgeCase, Ours, World
from benchmarks.measure import seconds_of
from cflag_theory.bridge.methods.target import served
from cflag_theory.bridge.settings.options import AUTO
from cflag_theory.bridge.settings.run_settings import TASKS, RunSettings
from cflag_theory.bridge.training.environment import kept_memory, precision
from cflag_theory.errors import CflagError, InvalidInput

#: Ways to pass through the network; each has what the one before has, but the last, which has no graphs.
WAYS: dict[str, dict[str, bool]] = {
    "float32": {},
    "channels_last": {"channels_last": True},
    "bfloat16": {"channels_last": True, "autocast": True},
    "graphs": {"channels_last": True, "autocast": True, "graphs": True},
    "compiled": {"channels_last": True, "autocast": True, "compiled": True},
}
#: Batches of the paper, two of them a client on a GPU, so that a round is long enough.
ON_GPU = replace(RESNET, name="ResNet-18, batches of 128", samples=1024, memory=400, batch=128, sample=200)
ON_CPU = replace(ON_GPU, samples=128, epochs=1)
#: The CFL paper's clients of Fashion-MNIST: 7 with 285 samples each in a round.
FASHION = BridgeCase("Fashion-MNIST-shaped, mlp", "mlp", (1, 28, 28), 10, 7, 285, 10, 32, 5, 10, lr=0.01)


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


def require_device(name: str) -> torch.device:
    """The device of this name, if this machine has it."""
    try:
        device = torch.device(name)
    except RuntimeError:
        raise InvalidInput(f"device {name!r} is unknown: use cuda, cuda:1 or cpu") from None
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InvalidInput("no GPU that torch can use was found: run where nvidia-smi lists one, or with --device cpu")
    return device


def ways_on(device: torch.device) -> dict[str, dict[str, bool]]:
    """The ways that differ on this device: there are no CUDA graphs on a CPU."""
    return {way: more for way, more in WAYS.items() if device.type == "cuda" or way != "graphs"}


def speeds(
    device: torch.device,
    *,
    case: BridgeCase | None = None,
    repeats: int = 3,
    ways: Sequence[str] | None = None,
    tell: Callable[[str], None] = lambda words: None,
) -> list[Speed]:
    """Images a second of C-FLAG's and Fine-FL's rounds, in every way; the first round, which compiles, is not timed."""
    found = []
    for way in ways or ways_on(device):
        tell(f"bridge-gpu: {way} on {device}")
        try:
            world = World(case or (ON_GPU if device.type == "cuda" else ON_CPU), device=str(device), **WAYS[way])
            for method in METHODS:
                ours = Ours(world, method)
                # What is called float32 is not TF32.
                with precision(False), kept_memory():
                    ours.run(1)
                    values = [ours.gradients / seconds_of(partial(ours.run, 1)) for _ in range(repeats)]
                found.append(Speed(way, NAMES[method], tuple(values)))
                # A command that is stopped has said what it found.
                tell(f"bridge-gpu: {way}, {found[-1].method}: {found[-1].median:.0f} images a second")
        # What a compiler or a device says that is not there has many classes.
        except (CflagError, RuntimeError) as error:
            found.append(Speed(way, "", note=str(error).strip().splitlines()[0][:160]))
    return found


def mlp_speed(device: torch.device, *, case: BridgeCase | None = None, repeats: int = 3) -> Speed:
    """Image gradients a second of the CFL paper's mlp in rounds of FedAvg, whose clients are computed together."""
    ours = Ours(World(case or FASHION, device=str(device)), "fedavg", together=AUTO)
    with precision(False), kept_memory():
        ours.run(1)
        values = [ours.gradients / seconds_of(partial(ours.run, 1)) for _ in range(repeats)]
    return Speed("clients together", NAMES["fedavg"], tuple(values))


def evaluated(settings: RunSettings, method: str, train_images: int) -> float:
    """Images whose gradient a method evaluates in a run with one seed, if all clients have equally many samples.

    A round of n samples takes n for every pass; C-FLAG and FedTrack take n more for grad g_i(x_t), whose components
    are kept for the local steps where there is room, and C-FLAG, NCCL-FL and Er-ring-FL those of the memory of each
    past task; iCaRL-FL all of it in every pass; and TARGET those of images that were made. EWC-FL and TARGET take some
    more at the end of each task. `cfl_images` has the methods of the other protocol.
    """
    if settings.protocol != TASKS:
        return cfl_images.evaluated(settings, method, train_images)
    a_task, clients = train_images / settings.tasks, settings.clients
    n = a_task / clients
    steps = settings.epochs * math.ceil(n / settings.batch)
    a_round = a_task * settings.epochs
    of_memory = 0.0
    remembered = min(settings.memory_sample, settings.memory_size)
    if method in ("c_flag", "fedtrack"):
        a_round += a_task
    if method == "c_flag":
        of_memory = clients * remembered
    elif method == "icarl":
        of_memory = clients * settings.epochs * settings.memory_size
    elif method in ("nccl", "er_ring", "target"):
        of_memory = clients * steps * remembered
    remembering = settings.tasks * (settings.tasks - 1) // 2
    total = settings.rounds * (settings.tasks * a_round + remembering * of_memory)
    if method == "ewc":
        total += settings.tasks * clients * min(n, settings.options["ewc"].fisher_samples)
    elif method == "target":
        total += settings.tasks * served(settings.options["target"])
    return total


def fastest(found: Sequence[Speed]) -> tuple[str, float]:
    """The fastest way and its images a second, C-FLAG's and Fine-FL's mean.

    Raises
    ------
    InvalidInput
        No way was timed.
    """
    timed = [speed for speed in found if speed.values]
    if not timed:
        raise InvalidInput(f"nothing could be timed: {'; '.join(speed.note for speed in found)}")
    rates = {
        way: statistics.mean(speed.median for speed in timed if speed.way == way)
        for way in {each.way for each in timed}
    }
    way = max(rates, key=lambda name: rates[name])
    return way, rates[way]


def describe_device(device: torch.device) -> dict[str, Any]:
    """What it is, and with how many threads."""
    if device.type == "cuda":
        return {"device": torch.cuda.get_device_name(device), "threads": torch.get_num_threads()}
    return {"device": "CPU", "threads": torch.get_num_threads()}
