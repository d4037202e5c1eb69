"""The environment of a bridge run: device, threads, versions and data, which can change the last bits of a result, and
what `--fast` switches on."""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import torch

from cflag_theory.bridge.data.datasets import Images
from cflag_theory.bridge.measures.meters import package_versions
from cflag_theory.bridge.settings.options import NO
from cflag_theory.bridge.settings.run_settings import RunSettings
from cflag_theory.bridge.training.communication import Communication
from cflag_theory.errors import InvalidInput


def find_device(name: str) -> torch.device:
    """The device of this name; with cuda under torchrun, each process takes one of its own."""
    if name == "cuda" and "LOCAL_RANK" in os.environ:
        name = f"cuda:{os.environ['LOCAL_RANK']}"
    try:
        device = torch.device(name)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise InvalidInput(f"device {name!r} is not available ({reason}): use cpu, or one that torch finds") from error
    if device.type == "cuda" and device.index is not None:
        # What asks for "the" device, as NCCL's barriers do, would take the first one in every process.
        torch.cuda.set_device(device)
    return device


def digest(images: Images) -> str:
    """What tells a data set from another."""
    found = hashlib.blake2b(digest_size=8)
    for array in (images.train_images, images.train_labels, images.test_images, images.test_labels):
        found.update(str(array.shape).encode())
        found.update(np.ascontiguousarray(array).data.cast("B"))
    return found.hexdigest()


def environment_of(settings: RunSettings, device: torch.device, communication: Communication) -> dict[str, str]:
    """Versions, device, threads, and the number of processes where the order of additions depends on it."""
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
    found = package_versions() | {"device": name, "threads": str(torch.get_num_threads())}
    if device.type == "cuda":
        tf32 = {"products": torch.backends.cuda.matmul.allow_tf32, "convolutions": torch.backends.cudnn.allow_tf32}
        found["tf32"] = ", ".join(name for name, allowed in tf32.items() if allowed) or "none"
    # With one thread a row of a group does not depend on the others; with several, torch divides what there is.
    grouped = settings.together != NO and torch.get_num_threads() > 1
    if settings.exchange == "reduce" or grouped:
        found["processes"] = str(communication.processes)
    return found


@contextmanager
def precision(tf32: bool) -> Iterator[None]:
    """Whether a GPU may compute float32 in TF32, whose mantissa has 10 bits; put back afterwards.

    PyTorch's own choice is convolutions yes, products of matrices no.
    """
    before = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = before


#: Parameters of glibc's mallopt: free bytes at the end of the heap, and bytes of one block, from which the system gets
#: memory back; and the largest values to which glibc itself raises them.
_TRIM, _MMAP = -1, -3
_USUAL = {_TRIM: 64 << 20, _MMAP: 32 << 20}
_KEEP = 1 << 30


@contextmanager
def kept_memory() -> Iterator[None]:
    """The process keeps the memory that it frees, up to a GiB at a time; afterwards glibc decides as usual.

    glibc returns long vectors to the system at once, which then clears every page of the next one: a round of C-FLAG
    with ResNet-18 took a third longer on two cores. Other C libraries are left alone.
    """
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if library is None or not hasattr(library, "mallopt") or not hasattr(library, "malloc_trim"):
        yield
        return
    for parameter, usual in _USUAL.items():
        # Before version 2.35 no block may be above the usual one.
        if not library.mallopt(parameter, _KEEP):
            library.mallopt(parameter, usual)
    try:
        yield
    finally:
        for parameter, usual in _USUAL.items():
            library.mallopt(parameter, usual)
        library.malloc_trim(0)


@contextmanager
def threads(count: int | None) -> Iterator[None]:
    """So many threads of torch, its own choice without a number; put back afterwards."""
    before = torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


#: Networks without convolutions: their clients are computed together, which passes in bfloat16 would prevent.
SMALL = ("linear", "mlp")


def fast(settings: RunSettings) -> RunSettings:
    """The same run with the switches that pay on its device; the settings record them.

    TF32 on a GPU. For networks with convolutions channels_last, autocast where the device has bfloat16, and on a GPU
    CUDA graphs, with which an H200 passed 3.3 times as many images of a ResNet-18. Not `compile`: it gained nothing
    there, and 10 % on a CPU after 260 s.
    """
    device = find_device(settings.device)
    convolutions = settings.model not in SMALL
    return replace(
        settings,
        tf32=settings.tf32 or device.type == "cuda",
        graphs=settings.graphs or (convolutions and device.type == "cuda"),
        channels_last=settings.channels_last or convolutions,
        autocast=settings.autocast or (convolutions and settings.dtype == "float32" and has_bfloat16(device)),
    )


def has_bfloat16(device: torch.device) -> bool:
    """Whether the device has instructions for bfloat16; elsewhere passes in it are slower than in float32."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    tests = (getattr(torch.cpu, name, None) for name in ("_is_avx512_bf16_supported", "_is_amx_tile_supported"))
    return any(test() for test in tests if test is not None)
