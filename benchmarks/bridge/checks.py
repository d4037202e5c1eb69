"""The checks of `accept`, the most important first: the same numbers as the CPU, then bits, memory and speed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from benchmarks.bridge.accept import Failed, Ground, LeftOut
from benchmarks.bridge.cases import RESNET, BridgeCase, L, Ours, World
from benchmarks.bridge.made_cifar import write_cifar
from benchmarks.bridge.shared_device import NOISE, ROUNDS
from benchmarks.bridge.speeds import ways_on
from cflag_theory.bridge.methods.table import make_method
from cflag_theory.bridge.settings.options import AUTO, NO, OPTIONS
from cflag_theory.bridge.settings.rules import METHOD_NAMES
from cflag_theory.bridge.settings.run_settings import RunSettings, run_settings
from cflag_theory.bridge.training.checkpoints import read_checkpoint
from cflag_theory.bridge.training.communication import Communication, InOneProcess, OverProcesses
from cflag_theory.bridge.training.environment import precision, threads
from cflag_theory.bridge.training.rounds import end_task, one_round
from cflag_theory.bridge.training.run import run_bridge

CNN = replace(NOISE, name="noise, cnn", network="cnn", shape=(3, 8, 8))
#: Relative to the largest number; Adam makes a step of full length of a gradient of last bits.
PLAIN, ADAM = 1e-9, 1e-6
#: The largest relative distance of a state after a round: other sums in float32, and bfloat16's 8 bits.
FLOAT32, BFLOAT16 = 1e-3, 2e-2
#: How far a gradient may be from that in float64, in distances of the CPU's with passes in bfloat16. A rounding moves
#: activations over the kink of a ReLU, so that distances grow with the root of the unit roundoff: TF32 has 3 bits more
#: than bfloat16 (0.35), float32 16 (0.004; sums in other orders have taken 0.014). TF32 is no float32.
SHARES = {"float32": 0.05, "channels_last": 0.05, "TF32": 0.5, "bfloat16": 1.25, "graphs": 1.25, "compiled": 1.25}


def net(ground: Ground) -> BridgeCase:
    """A ResNet-18 of few images, or what stands for it."""
    small = replace(RESNET, samples=40, batch=16, clients=2, memory=16, sample=16)
    return replace(small, network="cnn", samples=20, batch=8, shape=(3, 16, 16)) if ground.tiny else small


def away(found: torch.Tensor, expected: torch.Tensor) -> float:
    """The largest difference over the largest number."""
    expected = expected.cpu().double()
    return float((found.cpu().double() - expected).abs().max() / expected.abs().max())


def course(
    case: BridgeCase,
    name: str,
    device: torch.device | str,
    *,
    mode: str = "theory",
    rounds: int = 2,
    together: str = NO,
    dtype: torch.dtype = torch.float64,
    communication: Communication | None = None,
    **switches: Any,
) -> torch.Tensor:
    """The state after some rounds and the end of the task."""
    world, adam = World(case, dtype, str(device)), mode != "theory"
    options = {"mode": mode, **switches} if name in ("c_flag", "fedtrack") else {}
    method = make_method(
        name,
        lr=1e-3 if adam else case.lr,
        L=L,
        epochs=case.epochs,
        batch=case.batch,
        sample=case.sample,
        optimizer="adam" if adam else "plain",
        options=OPTIONS[name](**options) if name in OPTIONS else None,
    )
    state, over = world.start, communication or InOneProcess()
    for number in range(rounds):
        state = one_round(method, world.round(number), world.clients, state, over, together=together).state
    end_task(method, world.round(rounds - 1), world.clients, state, over)
    return state


def agreement(ground: Ground) -> Mapping[str, Any]:
    """Every method in float64 is on the device what it is on the CPU."""
    if not ground.cuda and not ground.tiny:
        raise LeftOut("the device is a CPU")
    cases: list[tuple[BridgeCase, str, str, str]] = []
    for case in (NOISE, CNN):
        cases += [(case, name, "theory", NO) for name in METHOD_NAMES]
        cases += [(case, name, mode, NO) for name in ("c_flag", "fedtrack") for mode in ("paper", "released")]
    cases += [(NOISE, name, "theory", AUTO) for name in METHOD_NAMES]
    large = net(ground)
    cases += [(large, name, "theory", NO) for name in ("c_flag", "er_ring")]
    worst: dict[str, float] = {}
    for case, name, mode, together in cases:
        # On the CPU always one after another, so that both ways are held against the same.
        # Threads of a CPU wait for each other in passes of small networks.
        with threads(None if case is large else 1):
            states = [
                course(case, name, device, mode=mode, together=how, rounds=1 if case is large else 2)
                for device, how in (("cpu", NO), (ground.device, together))
            ]
        worst[f"{case.network} {name} {mode}{' together' if together != NO else ''}"] = away(states[1], states[0])
    bad = {key: error for key, error in worst.items() if not error <= (PLAIN if "theory" in key else ADAM)}
    if bad:
        raise Failed(f"{len(bad)} of {len(worst)} courses leave the CPU's: {bad}")
    return {"courses": len(worst), "largest distance": max(worst.values()), "distances": worst}


def counts(ground: Ground) -> Mapping[str, Any]:
    """A round takes (1 + E) n image gradients and those of memory, counted where they are computed."""
    case = net(ground)
    world = World(case, device=str(ground.device))
    taken, inner = [0], world.model.gradient

    def counted(state: torch.Tensor, batch: Any, **more: Any) -> Any:
        taken[0] += len(batch.labels)
        return inner(state, batch, **more)

    vars(world.model)["gradient"] = counted
    step = one_round(world.method("c_flag"), world.round(0), world.clients, world.start, InOneProcess(), together=NO)
    expected = case.clients * ((1 + case.epochs) * case.samples + min(case.sample, case.memory))
    told = sum(numbers["gradients"] for numbers in step.locals.values())
    if not taken[0] == told == expected:
        raise Failed(f"{taken[0]} image gradients were computed and {told:g} are told, where a round takes {expected}")
    return {"image gradients a round": expected}


@contextmanager
def deterministic() -> Iterator[None]:
    """Algorithms that give the same bits again; where there is none a warning would say so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.use_deterministic_algorithms(True, warn_only=True)
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(False)


def resumed(ground: Ground) -> Mapping[str, Any]:
    """A run that is stopped and continued ends in the bits of one that is not, and so does a second run."""
    root = write_cifar(ground.folder / "small", 20)
    settings = run_settings(
        data="cifar10", root=str(root), model="cnn", device=str(ground.device), mode="theory", clients=3, rounds=2,
        epochs=1, batch=16, memory_size=8, memory_sample=4, methods=["c_flag", "ewc"], seeds=[5], threads=1,
    )  # fmt: skip
    states = {}
    with deterministic():
        for name, stops in (("whole", ()), ("again", ()), ("stopped", (3, 13))):
            folder = ground.folder / f"resumed-{name}"
            for stop in stops:
                _stopped(settings, folder, stop)
            run_bridge(settings, out=folder)
            kept = (read_checkpoint(folder / f"{method}-5.npz") for method in settings.methods)
            states[name] = [array.tobytes() for each in kept for array in each.arrays.values()]
    same = {name: states[name] == states["whole"] for name in ("again", "stopped")}
    if not all(same.values()):
        raise Failed(f"not the bits of the first run: {', '.join(name for name, equal in same.items() if not equal)}")
    return {"arrays of the same bits": len(states["whole"])}


def _stopped(settings: RunSettings, folder: Path, rounds: int) -> None:
    class Stop(Exception):
        pass

    def progress(**at: Any) -> None:
        progressed.append(at)
        if len(progressed) == rounds:
            raise Stop

    progressed: list[Any] = []
    try:
        run_bridge(settings, out=folder, progress=progress)
    except Stop:
        return
    raise Failed(f"the run ended after {len(progressed)} rounds, before it was stopped in round {rounds}")


def switches(ground: Ground) -> Mapping[str, Any]:
    """Gradients of every switch against float64, each within what its arithmetic does to the CPU's."""
    case = net(ground)
    truth = _gradient(World(case, torch.float64, str(ground.device)), case)
    usual = _apart(_gradient(World(case, torch.float32, "cpu", autocast=True), case), truth)
    ways: dict[str, tuple[bool, dict[str, bool]]] = {way: (False, more) for way, more in ways_on(ground.device).items()}
    ways["TF32"] = (True, {})
    if ground.tiny:
        # Generating code takes minutes; what is captured has tests of its own.
        del ways["compiled"]
    apart = dict[str, float]()
    for way, (tf32, more) in ways.items():
        with precision(tf32):
            found = _gradient(World(case, torch.float32, str(ground.device), **more), case)
        if found.dtype != torch.float32:
            raise Failed(f"{way}: gradients are {found.dtype} instead of float32")
        apart[way] = _apart(found, truth)
    if bad := [way for way in apart if not apart[way] <= SHARES[way] * usual]:
        raise Failed(f"{', '.join(bad)}: too far from float64, {apart}, where the CPU's bfloat16 is {usual:.3g} away")
    return {"largest distance": max(apart.values()), "the CPU's in bfloat16": usual, "distances": apart}


def _gradient(world: World, case: BridgeCase) -> torch.Tensor:
    """Of the first minibatch at the start, in the network's order of parameters."""
    found = world.model.gradient(world.start, world.clients[0].current.batch(slice(0, case.batch)))[1]
    return torch.cat([tensor.reshape(-1) for tensor in world.model.split(found).values()])


def _apart(found: torch.Tensor, truth: torch.Tensor) -> float:
    """The norm of the difference over that of the truth."""
    truth = truth.cpu().double()
    return float((found.cpu().double() - truth).norm() / truth.norm())


def sizes(ground: Ground) -> Mapping[str, Any]:
    """Compiled passes stay compiled for more sizes of batches than torch.compile makes graphs for."""
    if ground.tiny:
        raise LeftOut("generating code takes minutes on a CPU")
    from torch._dynamo.utils import counters

    torch._dynamo.reset()
    counters.clear()
    case = replace(CNN, samples=64)
    plain, compiled = (World(case, torch.float64, str(ground.device), compiled=on) for on in (False, True))
    errors = {}
    for count in (32, 31, 29, 23, 19, 17, 13, 11, 7, 5, 3, 2):
        found = [
            world.model.gradient(world.start, world.clients[0].current.batch(slice(0, count)))[1]
            for world in (compiled, plain)
        ]
        errors[count] = away(*found)
    frames = dict(counters["frames"])
    if frames.get("ok") != frames.get("total") or counters["recompile_limit"]:
        raise Failed(f"passes fell back to being interpreted: {frames}")
    if not max(errors.values()) < PLAIN:
        raise Failed(f"compiled gradients are away from plain ones: {errors}")
    return {"sizes": len(errors), "graphs": frames["ok"], "largest error": max(errors.values())}


def tables(ground: Ground) -> Mapping[str, Any]:
    """Old gradients kept, computed again, on the CPU and in bfloat16: the same course, and what memory it takes."""
    states, memory = dict[str, torch.Tensor](), dict[str, float | None]()
    places: dict[str, dict[str, Any]] = {
        "kept": {},
        "computed again": {"table": "float32"},
        "on the CPU": {"place": "cpu"},
        "bfloat16": {"table": "bfloat16"},
    }
    for name, more in places.items():
        if ground.cuda:
            torch.cuda.reset_peak_memory_stats()
        states[name] = course(net(ground), "c_flag", ground.device, rounds=1, dtype=torch.float32, **more)
        memory[name] = torch.cuda.max_memory_allocated() / 2**30 if ground.cuda else None
    errors = {name: away(state, states["kept"]) for name, state in states.items()}
    bad = {name: error for name, error in errors.items() if not error <= (BFLOAT16 if name == "bfloat16" else FLOAT32)}
    if bad:
        raise Failed(f"courses differ by where old gradients are: {bad}")
    return {"largest distance": max(errors.values()), "distances": errors, "peak GiB": memory}


def exchanges(ground: Ground) -> Mapping[str, Any]:
    """The exchanges of the device's own backend, NCCL on a GPU, in one process."""
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": _free_port()}
    dist.init_process_group("nccl" if ground.cuda else "gloo", rank=0, world_size=1)
    try:
        expected = course(NOISE, "c_flag", ground.device)
        errors = {}
        for how in ("ordered", "reduce"):
            over = OverProcesses(ground.device, sum=how)
            errors[how] = away(course(NOISE, "c_flag", ground.device, communication=over), expected)
    finally:
        dist.destroy_process_group()
    if not max(errors.values()) < PLAIN:
        raise Failed(f"the exchange changes the course: {errors}")
    return {"backend": "nccl" if ground.cuda else "gloo", "largest distance": max(errors.values())}


def processes(ground: Ground) -> Mapping[str, Any]:
    """Two processes on this one device, over gloo, and one: the same course."""
    expected = Ours(World(NOISE, torch.float64, str(ground.device)), "c_flag").run(ROUNDS)
    device = "cuda:0" if ground.device == torch.device("cuda") else str(ground.device)
    errors = {}
    for how in ("ordered", "reduce"):
        file = ground.folder / f"two-{how}.pt"
        torchrun = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m"]
        command = [sys.executable, "-m", *torchrun, "benchmarks.bridge.shared_device", device, how, str(file)]
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=max(1.0, ground.left()),
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        if done.returncode:
            raise Failed(f"two processes ended with {done.returncode}: {done.stderr.strip()[-400:]}")
        errors[how] = away(torch.load(file, weights_only=True), expected)
    if not max(errors.values()) < PLAIN:
        raise Failed(f"two processes leave the course of one: {errors}")
    return {"largest distance": max(errors.values())}


def _free_port() -> str:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])
