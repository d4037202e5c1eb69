"""What `accept` measures once everything agrees: the device, images a second, hours, and a column of Table 3."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from benchmarks.bridge import checks
from benchmarks.bridge.accept import Check, Failed, Ground, LeftOut, TimeUp
from benchmarks.bridge.hours import cfl_needs, needs
from benchmarks.bridge.made_cifar import write_cifar
from benchmarks.bridge.speeds import ON_CPU, ON_GPU, describe_device, fastest, mlp_speed, speeds, ways_on
from benchmarks.machine import describe
from cflag_theory.bridge.settings.presets import preset
from cflag_theory.bridge.training.environment import fast, has_bfloat16
from cflag_theory.bridge.training.run import run_bridge

COLUMN, COMPILED = "table3-cifar10", "compiled"


def environment(ground: Ground) -> Mapping[str, Any]:
    """The device, its memory and the versions."""
    found: dict[str, Any] = describe_device(ground.device) | {"bfloat16": has_bfloat16(ground.device)}
    if ground.cuda:
        about = torch.cuda.get_device_properties(ground.device)
        found |= {
            "GiB": about.total_memory / 2**30,
            "cuda": torch.version.cuda,
            "cudnn": torch.backends.cudnn.version(),
        }
    return found | {"torch": torch.__version__, "machine": describe()}


def rates(ground: Ground) -> Mapping[str, Any]:
    """Image gradients a second by switches, and of ResNet-50; the peak of memory of each."""
    case = ON_GPU if ground.cuda else ON_CPU
    if ground.tiny:
        case = replace(case, network="cnn", samples=16, batch=8, memory=4, sample=4)
    found, memory = [], dict[str, float]()
    for way in ways_on(ground.device):
        if way == COMPILED:
            continue
        if ground.cuda:
            torch.cuda.reset_peak_memory_stats()
        found += speeds(ground.device, case=case, ways=(way,), repeats=2)
        if ground.cuda:
            memory[way] = torch.cuda.max_memory_allocated() / 2**30
    way, ground.rates["resnet18"] = fastest(found)
    if ground.cuda:
        fifty = replace(case, network="resnet50", shape=(3, 64, 64), samples=256, batch=32)
        _, ground.rates["resnet50"] = fastest(speeds(ground.device, case=fifty, ways=(way,), repeats=2))
    faults = {speed.way: speed.note for speed in found if speed.note}
    if faults:
        raise Failed(f"these switches do not run: {faults}")
    by_way = {f"{speed.way} {speed.method}": speed.median for speed in found}
    return {"fastest": way, "images a second": ground.rates["resnet18"], "by switches": by_way, "peak GiB": memory}


def compiled_rate(ground: Ground) -> Mapping[str, Any]:
    """The same with `torch.compile`, which takes its time first."""
    if not ground.cuda or ground.tiny:
        raise LeftOut("generating code takes minutes on a CPU")
    _, images = fastest(speeds(ground.device, case=ON_GPU, ways=(COMPILED,), repeats=2))
    return {"images a second": images, "of the fastest way": images / ground.rates.get("resnet18", math.nan)}


def hours(ground: Ground) -> Mapping[str, Any]:
    """Hours of every preset at these rates."""
    if not ground.rates:
        raise LeftOut("no rate was measured")
    if ground.tiny:
        raise LeftOut("what stands for the ResNet says nothing about it")
    rates = {**ground.rates, "mlp": mlp_speed(ground.device).median}
    found, others = needs(rates), cfl_needs(rates)
    return {
        "all presets": found[-1].hours,
        "all presets of the CFL paper": others[-1].hours,
        "image gradients a second of the mlp": rates["mlp"],
        "by preset": {need.preset: need.hours for need in (*found[:-1], *others[:-1])},
    }


def column(ground: Ground) -> Mapping[str, Any]:
    """A column of Table 3 with made-up images of CIFAR's number and format, for as long as there is time."""
    root = write_cifar(ground.folder / "cifar", 100 if ground.tiny else 10000)
    changes: dict[str, Any] = {"root": str(root), "device": str(ground.device), "seeds": [1234]}
    if ground.tiny:
        changes |= {"model": "cnn", "rounds": 1, "epochs": 1, "batch": 16, "methods": ["c_flag", "ewc"], "threads": 1}
    settings = fast(preset(COLUMN).variations[0].settings(changes))
    ends: dict[str, list[float]] = {}
    begun = time.monotonic()

    def progress(**at: Any) -> None:
        ends.setdefault(at["method"], []).append(time.monotonic())
        if ground.left() < 5:
            raise TimeUp

    complete = False
    try:
        complete = run_bridge(settings, out=ground.folder / COLUMN, progress=progress).complete
    except TimeUp:
        # What it has shown by then is what is asked for.
        if not ends:
            raise
    done = [end for of_method in ends.values() for end in of_method]
    rounds = [late - early for early, late in zip([begun, *done], done, strict=False)]
    return {
        "rounds": len(done),
        "complete": complete,
        "seconds a round": statistics.median(rounds),
        "rounds by method": {method: len(of_method) for method, of_method in ends.items()},
        "folder": str(Path(ground.folder / COLUMN)),
    }


CHECKS = (
    Check("the device", 1, environment),
    Check("every method in float64 as on the CPU", 10, checks.agreement),
    Check("image gradients a round", 2, checks.counts),
    Check("bits after a stop and in a second run", 10, checks.resumed),
    Check("float32, TF32, channels_last and bfloat16 against float64", 5, checks.switches),
    Check("exchanges in one process", 3, checks.exchanges),
    Check("two processes on one device", 20, checks.processes),
    Check("where old gradients are kept", 5, checks.tables),
    Check("image gradients a second", 10, rates),
    Check("hours of every preset", 1, hours),
    Check("image gradients a second, compiled", 150, compiled_rate),
    Check("compiled passes with many sizes of batches", 90, checks.sizes),
    Check("a column of Table 3 on made-up images", 10, column),
)
